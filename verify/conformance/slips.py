"""What may have been done instead of the reference: known slips, and every change of one place in its source."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.examples import StepFunction
from fedtheory.algorithms.schedules import at_round
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from verify.base import changed_code
from verify.conformance.references import written


class Slip(NamedTuple):
    """``text``: what is done, in words; ``algorithm``: the reference with it; ``letter``: the first that departs;
    ``of``: the parameter that is mistaken, if one is."""

    text: str
    algorithm: Algorithm
    letter: str = ""
    of: str = ""


#: Whether an algorithm does what was seen.
Agrees = Callable[[Algorithm], bool]


def diagnose(algorithm: Algorithm, agrees: Agrees) -> Slip | None:
    """The first slip that agrees with what was seen, or None."""
    for slip in candidates(algorithm):
        # A changed reference may do anything.
        with np.errstate(all="ignore"):
            try:
                found = agrees(slip.algorithm)
            except Exception:
                continue
        if found:
            return slip
    return None


def candidates(algorithm: Algorithm) -> Iterator[Slip]:
    """What may have been done instead."""
    yield from slips(algorithm)
    yield from _shifted(algorithm)
    yield from _mistaken(algorithm)
    yield from _changed(algorithm)


def slips(reference: Algorithm) -> Iterator[Slip]:
    """The slips known of an algorithm, the most specific first."""
    for text, letter, change in algorithms.slips_of(reference):
        parts = change if isinstance(change, Mapping) else {"step": change}
        yield Slip(text, replace(reference, **parts), letter)
    for factor in (1.01, 0.99, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9):
        if {"compressors", "compressor"} & set(reference.Params._fields):  # type: ignore[attr-defined]
            text = f"the compressed messages are {factor:g} times what they should be: the compressor is biased"
            yield Slip(text, replace(reference, step=_biased(reference.step, factor)))


# What may be taken for a parameter: for numbers of steps or clients, and for others.
_COUNTED: Mapping[str, Callable[[Any], Any]] = {"{} - 1": lambda v: v - 1, "{} + 1": lambda v: v + 1}
_MEASURED: Mapping[str, Callable[[Any], Any]] = {
    "2 {}": lambda v: 2 * v,
    "{} / 2": lambda v: v / 2,
    "{}^2": lambda v: v**2,
    "1 / {}": lambda v: 1 / v,
    "1 - {}": lambda v: 1 - v,
}


def _mistaken(reference: Algorithm) -> Iterator[Slip]:
    """The reference with something else in place of one parameter, but for the draws."""
    kinds = get_type_hints(reference.Params)
    for name in reference.Params._fields:  # type: ignore[attr-defined]
        # Where nothing says what a parameter is, it may be either.
        forms = {int: _COUNTED, None: {**_COUNTED, **_MEASURED}}.get(kinds.get(name), _MEASURED)
        for form, change in forms.items():
            text = f"it does what the reference does with `{form.format(name)}` in place of `{name}`"
            yield Slip(text, replace(reference, step=_with(reference.step, name, change)), of=name)


def _shifted(reference: Algorithm) -> Iterator[Slip]:
    """The reference with the parameters of another round, where some vary with it."""
    for by, text in ((1, "one round later"), (-1, "one round earlier")) if reference.schedules else ():

        def step(problem: Problem, params: Any, state: Any, draw: Any, by: int = by) -> Any:
            k = max(params.round + by, 0)
            return reference.step(problem, at_round(reference.schedules, problem, params, k, False), state, draw)

        yield Slip(f"the parameters that vary with the round are those of {text}", replace(reference, step=step))


def _with(step: StepFunction, name: str, change: Callable[[Any], Any]) -> StepFunction:
    def mistaken(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        return step(problem, params._replace(**{name: change(getattr(params, name))}), state, draw)

    return mistaken


class _Scaled(NamedTuple):
    """Compressors whose values are off by a factor."""

    own: Any
    factor: float

    def apply(self, draw: Any, x: Array) -> Array:
        return self.factor * self.own.apply(draw, x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def _biased(step: StepFunction, factor: float) -> StepFunction:
    """The step whose compressors' values are ``factor`` times what they should be."""

    def scaled(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        name = "compressors" if hasattr(params, "compressors") else "compressor"
        return step(problem, params._replace(**{name: _Scaled(getattr(params, name), factor)}), state, draw)

    return scaled


def _changed(algorithm: Algorithm) -> Iterator[Slip]:
    own = written(algorithm)
    if own is None:
        return
    kinds: Any = (algorithm.Params, algorithm.State)
    fields = {name: kind._fields for name, kind in zip(("params", "state"), kinds, strict=True)}
    root = own.function.__name__
    for change in changed_code.changes(own.module, (root,), fields):
        after, before = _sides(change.text)
        text = _instead(after, before, own.place, change.function)
        yield Slip(text, replace(algorithm, step=own.as_step(change.namespace[root])))
    if own.function is algorithm.step:
        yield from _called(algorithm)


def _called(algorithm: Algorithm) -> Iterator[Slip]:
    """Changes of the functions that a method takes from another one's module."""
    home = inspect.getmodule(algorithm.step)
    names = set(algorithm.step.__code__.co_names)
    for value in vars(home).values():
        name = getattr(value, "__name__", "")
        if inspect.ismodule(value) and name.startswith("fedtheory.algorithms.") and value is sys.modules.get(name):
            roots = tuple(n for n in names if inspect.isfunction(getattr(value, n, None)))
            for change in changed_code.changes(value, roots, {}):
                after, before = _sides(change.text)
                text = _instead(after, before, name, change.function)
                yield Slip(text, replace(algorithm, step=changed_code.rebound(algorithm.step, change.namespace, value)))


def _sides(text: str) -> Sequence[str]:
    after, _, before = text.partition(" for ")
    return after, before


def _instead(after: str, before: str, module: str, function: str) -> str:
    return f"it does what the reference does with `{after}` in place of `{before}` (in {function} of {module})"
