"""Code that is watched while it runs for a proof: it may compute, and must not look.

What formal vectors show of a step, they show of the branch that was taken. So the code runs once more with letters for
the numbers of its ``Params`` and of the problem, and with sizes for its counts, which refuse to be looked at
(:mod:`verify.pep.letters`); and somebody's own code is read for what such values do not see: conditions on shapes,
types, indices and on what the code remembers from one call to the next.
"""

from __future__ import annotations

import dis
import gc
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.problems.base import Problem
from verify.base.faults import is_own
from verify.pep.gram import Form, Vector
from verify.pep.letters import Letter, Looked, Size, stripped

# What somebody's own code may not do

#: Operators of integers that make conditions of them.
_ROUNDING = frozenset({"//", "%", "&", "|", "^", "<<", ">>"})
#: Functions that look at a value, a type or a shape, or that round.
_LOOKING = frozenset(
    re.findall(
        r"\w+",
        """
    abs absolute all any argmax argmin argsort bool bytes ceil choose clip count_nonzero digitize divmod dtype
    equal eval exec fabs fix float floor getattr globals greater greater_equal hasattr hash heaviside id int
    isclose isfinite isinf isinstance isnan issubclass less less_equal locals max maximum min minimum mod
    nonzero not_equal piecewise remainder repr rint round searchsorted select sign signbit sort sorted str
    trunc type unique vars
    """,
    )
)
#: Objects that change between calls.
_MUTABLE = (list, dict, set, bytearray, np.random.Generator, np.random.RandomState, SimpleNamespace)


@contextmanager
def reading() -> Iterator[list[str]]:
    """The list of what somebody's own code, run inside, might make depend on what a proof does not see."""
    found: list[str] = []

    def called(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and is_own(frame):
            found.extend(why for why in (*_doings(frame.f_code), *_memory(frame)) if why not in found)

    # Whoever measures this program by profiles goes on doing so.
    tracing = sys.getprofile() is not None
    write: Callable[[Any], None] = sys.settrace if tracing else sys.setprofile
    before = sys.gettrace() if tracing else None
    # What others run when memory is collected is none of this code.
    collecting = gc.isenabled()
    gc.disable()
    write(called)
    try:
        yield found
    finally:
        write(before)
        if collecting:
            gc.enable()


@cache
def _doings(code: CodeType) -> tuple[str, ...]:
    """Conditions, caught errors, rounding and memory in one function, each with its line."""
    found, line = [], code.co_firstlineno
    for made in dis.get_instructions(code):
        line = made.starts_line or line
        what = _doing(made, code)
        if what is not None:
            found.append(f"{code.co_name} ({Path(code.co_filename).name}, line {line}) {what}")
    return tuple(found)


def _doing(made: dis.Instruction, code: CodeType) -> str | None:
    name = made.opname
    if name in ("COMPARE_OP", "CONTAINS_OP") or ("JUMP" in name and "_IF_" in name and "NONE" not in name):
        return "has a condition"
    if name == "PUSH_EXC_INFO":
        return "catches errors"
    if name == "BINARY_OP" and made.argrepr.rstrip("=") in _ROUNDING:
        return f"computes with {made.argrepr}"
    if name.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD")) and made.argval in _LOOKING:
        return f"asks for {made.argval}"
    remembers = name in ("STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR") or (
        name == "STORE_DEREF" and made.argval in code.co_freevars
    )
    return f"remembers {made.argval}" if remembers else None


def _memory(frame: FrameType) -> Iterator[str]:
    """Names of what a function may remember from one call to the next: what it did not make, and can change."""
    code = frame.f_code
    writes = any(made.opname == "STORE_SUBSCR" for made in dis.get_instructions(code))
    outer = [(name, frame.f_locals[name]) for name in code.co_freevars if name in frame.f_locals]
    outer += [(name, frame.f_globals[name]) for name in code.co_names if name in frame.f_globals]
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name, value in (*outer, *((name, frame.f_locals.get(name)) for name in given)):
        changes = isinstance(value, _MUTABLE) or hasattr(value, "__next__")
        if name not in given:
            changes = changes or (writes and isinstance(value, np.ndarray))
        elif isinstance(value, SimpleNamespace):
            # Problems, and what acts on vectors, are such objects here.
            changes = False
        # What a comprehension runs over was made just before.
        if changes and not name.startswith("."):
            yield f"{code.co_name} ({Path(code.co_filename).name}) may remember something in {name}"


# Letters and sizes


@dataclass(frozen=True)
class _Watch:
    """Letters in the places of numbers, and back."""

    named: dict[str, Any] = field(default_factory=dict)

    def dressed(self, value: Any, name: str) -> Any:
        """Numbers as letters, integers as sizes, arrays of numbers as arrays of letters; vectors as they are."""
        if isinstance(value, bool | np.bool_ | str | Vector | Form) or value is None:
            return value
        if isinstance(value, float) and value == math.inf:
            # The largest curvature of what need not be smooth.
            return value
        if isinstance(value, int | np.integer):
            return Size(int(value), name)
        if isinstance(value, Fraction):
            return Letter(value, name)
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if isinstance(value, tuple):
            parts = [self.dressed(v, f"{name}[{k}]") for k, v in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value if callable(value) and not hasattr(value, "__dict__") else self.acting(value, name)

    def _array(self, value: np.ndarray, name: str) -> np.ndarray:
        if value.dtype != object or not any(isinstance(v, Fraction) for v in value.flat):
            return value
        out = np.empty(value.shape, dtype=object)
        for index, v in np.ndenumerate(value):
            out[index] = Letter(v, name) if isinstance(v, Fraction) else v
        return out

    def acting(self, thing: Any, name: str) -> SimpleNamespace:
        """An object whose constants are letters, and whose methods answer to what lies behind letters."""
        attributes: dict[str, Any] = {}
        for key in dir(thing):
            if key.startswith("_"):
                continue
            try:
                value = getattr(thing, key)
            except (ValueError, AttributeError):
                # Some properties are not defined in every setting.
                continue
            attributes[key] = _answering(value) if callable(value) else self.dressed(value, f"{name}.{key}")
        return SimpleNamespace(**attributes)

    def problem(self, given: Any) -> Any:
        """A problem whose n, d, mu and L are watched."""
        if not isinstance(given, Problem):
            return given if given is None else self.acting(given, "the problem")
        f: Any = self.acting(given.f, "the problem")
        g: Any = None if given.g is None else self.acting(given.g, "the problem")
        declared = given.declared and tuple(
            self.dressed(v, letter) for v, letter in zip(given.declared, ("mu", "L"), strict=True)
        )
        return _Watched(f, g, declared, given.known)

    def params(self, given: Any) -> Any:
        """Parameters that are watched."""
        if not hasattr(given, "_fields"):
            return given
        return type(given)(*(self.dressed(v, name) for v, name in zip(given, given._fields, strict=True)))


class _Watched(Problem):
    """A problem that was checked when it was made, and whose sizes are not to be looked at."""

    def __post_init__(self) -> None:
        pass


def _answering(call: Callable[..., Any]) -> Callable[..., Any]:
    def answering(*given: Any, **named: Any) -> Any:
        return call(*map(plain, given), **{key: plain(value) for key, value in named.items()})

    return answering


def plain(value: Any) -> Any:
    """A value with numbers in the places of letters, wherever they are."""
    if isinstance(value, Letter | Size):
        return stripped(value)
    if isinstance(value, Vector):
        return Vector({row: stripped(c) for row, c in value.coefficients.items()})
    if isinstance(value, Form):
        entries = {pair: stripped(c) for pair, c in value.entries.items()}
        values = {name: stripped(c) for name, c in value.values.items()}
        return Form(entries, values, stripped(value.constant))
    if isinstance(value, np.ndarray) and value.dtype == object:
        out = np.empty(value.shape, dtype=object)
        for index, v in np.ndenumerate(value):
            out[index] = plain(v)
        return out.view(type(value)) if type(value) is not np.ndarray else out
    if isinstance(value, tuple):
        parts = map(plain, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def watched(claim: Claim) -> Claim:
    """The claim, with all code that runs on states given letters and sizes in place of numbers."""
    statement = claim.statement
    changes: dict[str, Any] = {}
    if statement.algorithm is not None:
        changes["algorithm"] = replace(statement.algorithm, step=_on_letters(statement.algorithm.step))
    if statement.quantities:
        changes["quantities"] = tuple(
            replace(q, of=_on_letters(q.of), domain=None if q.domain is None else _on_letters(q.domain))
            for q in statement.quantities
        )
    if statement.residual is not None:
        changes["residual"] = _on_letters(statement.residual)
    return replace(claim, statement=replace(statement, **changes)) if changes else claim


@cache
def _on_letters(code: Callable[..., Any]) -> Callable[..., Any]:
    # Quantities of one function stay quantities of one function.
    def run(problem: Any, params: Any, *others: Any) -> Any:
        watch = _Watch()
        return plain(code(watch.problem(problem), watch.params(params), *others))

    return run


__all__ = ["Looked", "plain", "reading", "watched"]
