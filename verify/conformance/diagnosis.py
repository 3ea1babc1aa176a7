"""Which change of the reference does what an implementation does.

The slips that are known come first, then every change of one place in the reference's source, as the self-test makes
them. An implementation that agrees with one of them wherever it was looked at is told so.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fedtheory.algorithms.base import Algorithm
from verify.conformance.slips import Slip, slips
from verify.mutation import code

#: Whether an algorithm does what was seen.
Agrees = Callable[[Algorithm], bool]


def diagnose(algorithm: Algorithm, agrees: Agrees) -> Slip | None:
    """The first slip that agrees with what was seen, or None."""
    for slip in candidates(algorithm):
        # A changed reference may do anything.
        with np.errstate(all="ignore"):
            try:
                found = agrees(slip.algorithm)
            except (ValueError, TypeError, AttributeError, ArithmeticError, IndexError, KeyError, RecursionError):
                continue
        if found:
            return slip
    return None


def candidates(algorithm: Algorithm) -> Iterator[Slip]:
    """What may have been done instead."""
    yield from slips(algorithm.name)
    yield from _changed(algorithm)


def _changed(algorithm: Algorithm) -> Iterator[Slip]:
    module = inspect.getmodule(algorithm.step)
    if module is None or not hasattr(module, "Params"):
        return
    fields = {"params": module.Params._fields, "state": module.State._fields}
    for change in code.changes(module, ("step",), fields):
        after, before = _sides(change.text)
        text = f"it does what the reference does with `{after}` in place of `{before}` (in {module.__name__}.{change.function})"
        yield Slip(text, replace(algorithm, step=change.namespace["step"]))
    yield from _called(algorithm)


def _called(algorithm: Algorithm) -> Iterator[Slip]:
    """Changes of the functions that a method takes from another one's module."""
    home = inspect.getmodule(algorithm.step)
    names = set(algorithm.step.__code__.co_names)  # type: ignore[attr-defined]
    for value in vars(home).values():
        name = getattr(value, "__name__", "")
        if inspect.ismodule(value) and name.startswith("fedtheory.algorithms.") and value is sys.modules.get(name):
            roots = tuple(n for n in names if inspect.isfunction(getattr(value, n, None)))
            for change in code.changes(value, roots, {}):
                after, before = _sides(change.text)
                text = f"it does what the reference does with `{after}` in place of `{before}` (in {name}.{change.function})"
                yield Slip(text, replace(algorithm, step=code.rebound(algorithm.step, change.namespace, value)))


def _sides(text: str) -> Sequence[str]:
    after, _, before = text.partition(" for ")
    return after, before
