"""What is all code of this package's theory as it stands."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import is_dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import sympy

import fedtheory
from verify.reading.source import Unread, tree_of
from verify.reading.values import is_ours

#: Where the theory is.
_THEORY = Path(fedtheory.__file__).resolve().parent
#: What has no code of anybody's own in it.
_DATA = (int, float, str, Fraction, np.ndarray, np.generic, sympy.Basic)


def is_file(file: str) -> bool:
    """Whether a file is one of this package's theory."""
    return Path(file).resolve().is_relative_to(_THEORY)


def holds(thing: Any) -> bool:
    """Whether what is reached from a thing are functions in files of this package's theory, its objects, and data."""
    return _is_of_theory(thing, set())


def _is_of_theory(thing: Any, seen: set[int]) -> bool:
    if id(thing) in seen or thing is None or isinstance(thing, _DATA):
        return True
    seen.add(id(thing))
    inner: tuple[Any, ...]
    if type(thing) is FunctionType:
        try:
            _, module = tree_of(thing)
        except Unread:
            return False
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        inner = (*cells, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values())
        if not is_file(module.name):
            return False
    elif type(thing) is partial:
        inner = (thing.func, *thing.args, *thing.keywords.values())
    elif type(thing) is MethodType:
        inner = (thing.__func__, thing.__self__)
    elif isinstance(thing, tuple):
        inner = thing
    elif isinstance(thing, Mapping):
        inner = tuple(thing.values())
    elif is_ours(type(thing)) and is_dataclass(thing):
        inner = tuple(vars(thing).values())
    else:
        return is_ours(thing) or any(thing is found for module in (np, builtins) for found in vars(module).values())
    return all(_is_of_theory(part, seen) for part in inner)
