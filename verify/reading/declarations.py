"""The properties of a class of functions that proofs may assume."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fedtheory.classes import FunctionClass
from fedtheory.classes.base import Declared
from verify.reading.values import is_ours


def declarations(of: FunctionClass | None) -> Declared:
    """Return the properties that a class declares of its members.

    None are declared if the class, or a class that it is made of, is not one of ``fedtheory.classes``, or inherits the
    declaration from a class whose members may be others.
    """
    return of.declares if of is not None and _declares(of) else Declared()


def _declares(of: Any) -> bool:
    kind = type(of)
    if not is_ours(kind) or not kind.__module__.startswith("fedtheory.classes.") or "declares" not in vars(kind):
        return False
    given = [getattr(of, f.name) for f in fields(of)]
    parts = [part for value in given for part in (value if isinstance(value, tuple) else (value,))]
    return all(_declares(part) for part in parts if isinstance(part, FunctionClass))
