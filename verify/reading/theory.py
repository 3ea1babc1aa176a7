"""Tests that code is entirely this package's theory, as it stands."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import is_dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import sympy

import fedtheory
from verify.reading.source import Unread, tree_of
from verify.reading.values import is_ours

#: The folder of the theory.
_THEORY = Path(fedtheory.__file__).resolve().parent
#: The modules of its classes of functions and compressors.
_CLASSES = "fedtheory.classes."
#: Types of values without code: these, and no subclasses, which may be callable.
_DATA = frozenset({type(None), bool, int, float, str, Fraction})


def is_file(file: str) -> bool:
    """Return True if a file is one of this package's theory."""
    return Path(file).resolve().is_relative_to(_THEORY)


def stands(function: Any) -> bool:
    """Return True if a function or a class is of this package's theory, and does not merely claim to be."""
    if isinstance(function, type):
        return is_ours(function)
    if type(function) is not FunctionType:
        return False
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    try:
        return is_file(tree_of(function)[1].name) and function.__globals__ is vars(module or object)
    except Unread:
        return False


def holds(thing: Any) -> bool:
    """Return True if everything reached from an object is a function in a file of this package's theory, its objects,
    or data.
    """
    return _is_of_theory(thing, set())


def is_class(part: Any) -> bool:
    """Return True if a part of a setting is a class of functions or compressors of this package, and not another of its
    name.

    Tests show that these pose true inequalities of their members, and have no constants but their letters.
    """
    return is_ours(type(part)) and type(part).__module__.startswith(_CLASSES)


def vouches(setting: Any) -> bool:
    """Return True if proofs may assume the inequalities that a setting declares for all its states.

    They may if these and the code that makes the states are code of this package's theory, and if all functions of its
    class may be drawn: inequalities at the states of instances may hold for quadratics alone.
    """
    known, algorithm = setting.hints.known, setting.algorithm
    return known is None or (setting.drawing.kinks and algorithm is not None and holds((known, algorithm.init)))


def _is_of_theory(thing: Any, seen: set[int]) -> bool:
    if id(thing) in seen or type(thing) in _DATA or is_of_sympy(thing):
        return True
    seen.add(id(thing))
    inner: Iterable[Any]
    if type(thing) is FunctionType:
        if not stands(thing):
            return False
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        inner = (*cells, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values())
    elif type(thing) is partial:
        inner = (thing.func, *thing.args, *thing.keywords.values())
    elif type(thing) is MethodType:
        inner = (thing.__func__, thing.__self__)
    elif type(thing) is tuple:
        inner = thing
    elif type(thing) is dict:
        inner = (*thing, *thing.values())
    elif is_ours(type(thing)) and is_dataclass(thing):
        inner = vars(thing).values()
    else:
        return is_ours(thing)
    return all(_is_of_theory(part, seen) for part in inner)


def is_of_sympy(thing: Any) -> bool:
    """Return True if an object is an expression of a class that sympy itself holds by its name."""
    kind = type(thing)
    module = sys.modules.get(kind.__module__) if kind.__module__.partition(".")[0] == "sympy" else None
    return isinstance(thing, sympy.Basic) and vars(module or object).get(kind.__name__) is kind
