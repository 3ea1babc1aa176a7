"""Whose fault an error is: a claim's own code may fail in any way, ours may not.

Searches and proofs run code that the author of a claim wrote: steps, draws, quantities, oracles. Where that does not
run, the evidence says so, with the error. The same error in the code of this package is a defect, which must not be
taken for a limit of a method: it stops the check.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim

#: The packages whose code is ours, and where it is. Code that was changed for a self-test has another place.
_OURS = {name: Path(__file__).resolve().parents[2] / name for name in ("fedtheory", "verify")}
#: Modules of ours whose functions stand for an author's code.
_STAND_INS = frozenset({"verify.mutation.regions"})
#: Packages that our code calls and that call nothing of a claim's by themselves.
_LIBRARIES = frozenset(
    {"numpy", "scipy", "sympy", "mpmath", "cvxpy", "clarabel", "flint", "z3", "joblib", "threadpoolctl"}
)
#: Errors that say that code is wrong rather than its input.
DEFECTS = (TypeError, AttributeError, LookupError, NameError, AssertionError, NotImplementedError, RuntimeError)

#: Hints for an author whose code fails on some kind of numbers.
_ALIKE = "a step or a quantity must run on arrays of floats, of fractions and of formal vectors alike"
#: The word for the round where the parameters hold none.
_UNSCHEDULED = (
    "only a method with schedules knows the round: method(..., schedules={'gamma': c / (ft.round_index + 1)}), and "
    "params.gamma in the step"
)
#: Names of an object that are listed.
_MOST = 12


class Unrunnable(ValueError):
    """A claim's own code failed where it was run; the message quotes its error."""


class Defect(RuntimeError):
    """An error of this package, with the claim and the recipe at which it occurred."""


def theirs(error: BaseException) -> str | None:
    """The function of a claim's own code in which an error was raised, or which called what raised it; None if ours."""
    found = None
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if _is_theirs(step.tb_frame):
            code = step.tb_frame.f_code
            found = f"{code.co_name} ({Path(code.co_filename).name}, line {step.tb_lineno})"
        step = step.tb_next
    return found


def within(error: BaseException) -> str:
    """The words for where in a claim's own code an error was raised, to follow a sentence; "" if in ours."""
    place = theirs(error)
    return "" if place is None else f" in {place}"


def _is_theirs(frame: FrameType) -> bool:
    if frame.f_globals.get("__name__") in _STAND_INS:
        return True
    root = str(frame.f_globals.get("__name__", "")).split(".")[0]
    if root in _OURS and frame.f_code.co_filename == "<string>":
        # Methods that a dataclass derives from its fields.
        return False
    if root in _OURS:
        return not Path(frame.f_code.co_filename).is_relative_to(_OURS[root])
    return bool(root) and root not in _LIBRARIES and (root == "__main__" or root not in sys.stdlib_module_names)


@contextmanager
def attributed(claim: Claim, recipe: Any = None) -> Iterator[None]:
    """Turns a defect in a claim's own code into :class:`Unrunnable`, and one in ours into :class:`Defect`.

    ``recipe``: the instance that was looked at. Other errors pass.
    """
    try:
        yield
    except (Defect, Unrunnable):
        raise
    except DEFECTS as error:
        message = f"{type(error).__name__}: {error}"
        culprit = theirs(error)
        if culprit is not None:
            advice = "" if isinstance(error, AttributeError) else f"; {_ALIKE}"
            where = _instance(claim, recipe)
            raise Unrunnable(
                f"{claim.id}: its own code fails in {culprit}: {message}{_names(error)}{where}{advice}"
            ) from error
        where = "" if recipe is None else f" at the recipe {words(recipe)}"
        place = _place(error)
        advice = "this is an error of fedtheory, not of the claim: please report it with this line"
        raise Defect(f"{claim.id}: {message} in {place}{where}; {advice}") from error


def _names(error: BaseException) -> str:
    """Suggest attributes in place of one that an object lacks; empty if there is nothing useful to suggest."""
    if not isinstance(error, AttributeError) or error.obj is None or not error.name:
        return ""
    if error.name == ROUND and type(error.obj).__name__ == "Params":
        return f" ({_UNSCHEDULED})"
    there = getattr(error.obj, "_fields", None) or [name for name in dir(error.obj) if not name.startswith("_")]
    found = get_close_matches(error.name, there) or there
    return f" (it has {', '.join(found)})" if 0 < len(found) <= _MOST else ""


@contextmanager
def placed(claim: Claim) -> Iterator[None]:
    """Says of an error in numbers that nothing expected where in a claim's own code it occurred, if it did there."""
    try:
        yield
    except Unrunnable:
        raise
    except (ValueError, ArithmeticError) as error:
        culprit = theirs(error)
        if culprit is None:
            raise
        message = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise Unrunnable(f"{claim.id}: its own code fails in {culprit}: {message}") from error


def _instance(claim: Claim, recipe: Any) -> str:
    """The words for an instance that an author reads, to follow a sentence: its clients, its dimension, its letters."""
    if not isinstance(recipe, Mapping):
        return "" if recipe is None else f", at the instance {recipe}"
    sizes = {"n": len(recipe.get("clients", ())) or recipe.get("n"), "d": recipe.get("d")}
    letters = {name: recipe.get(name) for name in map(str, claim.setting.sources) if name not in sizes}
    known = (f"{name}={value}" for name, value in {**sizes, **letters}.items() if isinstance(value, int | Fraction))
    return f", at the instance {', '.join(known)}"


def words(recipe: Any) -> str:
    """A recipe in a line."""
    if isinstance(recipe, Mapping):
        return "{" + ", ".join(f"{name}: {words(value)}" for name, value in recipe.items()) + "}"
    return "(" + ", ".join(map(words, recipe)) + ")" if isinstance(recipe, tuple | list) else str(recipe)


def _place(error: BaseException) -> str:
    """The innermost line of ours."""
    found, step = "unknown code", error.__traceback__
    while step is not None:
        root = str(step.tb_frame.f_globals.get("__name__", "")).split(".")[0]
        if root in _OURS:
            found = f"{step.tb_frame.f_globals['__name__']}, line {step.tb_lineno}"
        step = step.tb_next
    return found
