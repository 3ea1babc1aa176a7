"""Which change of the reference does what an implementation does.

The slips that are known come first, then every change of one place in the reference's source, as the self-test makes
them. An implementation that agrees with one of them wherever it was looked at is told so.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.examples import Step
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import map_leaves, support_of
from verify.base import changed_code
from verify.conformance import matching


class Slip(NamedTuple):
    """``text``: what is done, in words; ``algorithm``: the reference with it; ``letter``: the first that departs."""

    text: str
    algorithm: Algorithm
    letter: str = ""


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
    yield from slips(algorithm.name)
    yield from _changed(algorithm)


def slips(name: str) -> Iterator[Slip]:
    """The slips known of an algorithm, the most specific first."""
    reference = algorithms.get(name)
    for text, letter, change in algorithms.slips_of(name):
        parts = change if isinstance(change, Mapping) else {"step": change}
        yield Slip(text, replace(reference, **parts), letter)
    for factor in (1.01, 0.99, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9):
        if {"compressors", "compressor"} & set(reference.Params._fields):  # type: ignore[attr-defined]
            text = f"the compressed messages are {factor:g} times what they should be: the compressor is biased"
            yield Slip(text, replace(reference, step=_biased(reference.step, factor)))


class _Scaled(NamedTuple):
    """Compressors whose values are off by a factor."""

    own: Any
    factor: float

    def apply(self, draw: Any, x: Array) -> Array:
        return self.factor * self.own.apply(draw, x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def _biased(step: Step, factor: float) -> Step:
    """The step whose compressors' values are ``factor`` times what they should be."""

    def scaled(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        name = "compressors" if hasattr(params, "compressors") else "compressor"
        return step(problem, params._replace(**{name: _Scaled(getattr(params, name), factor)}), state, draw)

    return scaled


def _changed(algorithm: Algorithm) -> Iterator[Slip]:
    module = inspect.getmodule(algorithm.step)
    if module is None or not hasattr(module, "Params"):
        return
    fields = {"params": module.Params._fields, "state": module.State._fields}
    for change in changed_code.changes(module, ("step",), fields):
        after, before = _sides(change.text)
        text = _instead(after, before, module.__name__, change.function)
        yield Slip(text, replace(algorithm, step=change.namespace["step"]))
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
    return f"it does what the reference does with `{after}` in place of `{before}` (in {module}.{function})"


def replaced(
    algorithm: Algorithm, problem: Problem, params: Any, state: Any, seen: Mapping[str, Array], tol: float
) -> Slip | None:
    """The slip of participants that are drawn with replacement, where some client drawn twice explains the model."""
    tau, letter = getattr(params, "tau", None), algorithm.State._fields[0]  # type: ignore[attr-defined]
    draws = algorithm.draws(problem, params, state)
    single = getattr(getattr(draws, "make", None), "_fields", ())
    if "clients" not in single or letter not in seen or not isinstance(tau, int) or not 2 <= tau <= 6 or problem.n > 8:
        return None
    alone = params._replace(tau=1)
    one, _ = support_of(algorithm.draws(problem, alone, state))
    after = matching.advanced(algorithm, problem, alone, matching.stacked(state), one)
    models, clients = getattr(after, letter)[0], one.clients.argmax(axis=1)
    again = _again(algorithm, problem, alone, state, after, one)
    counts = getattr(params, "counts", None)
    weights = np.ones(problem.n) if counts is None else np.asarray(counts, dtype=float)
    size = max(float(abs(models).max(initial=0)), 1e-300)
    for picks in combinations_with_replacement(range(len(models)), tau):
        if len(set(picks)) < tau:
            w = weights[clients[list(picks)]][:, None]
            visits = [again[i] if i in picks[:t] else models[i] for t, i in enumerate(picks)]
            means = [(w * np.array(m)).sum(axis=0) / w.sum() for m in (models[list(picks)], visits)]
            if any(abs(mean - seen[letter]).max(initial=0) <= max(tol, 1e-9) * size for mean in means):
                twice = ", ".join(str(clients[i]) for i in picks)
                text = f"participants are drawn with replacement: the model is the mean over the clients {twice}"
                return Slip(text, algorithm, "")
    return None


def _again(algorithm: Algorithm, problem: Problem, alone: Any, state: Any, after: Any, one: Any) -> Array:
    """The models ``(n, d)`` of clients that are visited a second time, with what they kept of the first."""
    found = []
    for i in range(len(one.clients)):
        own = {name: value[0, i] for name, value in zip(state._fields, after, strict=True) if value.ndim == 4}
        second = map_leaves(lambda a, i=i: a[i : i + 1], one)
        later = matching.advanced(algorithm, problem, alone, matching.stacked(state._replace(**own)), second)
        found.append(later[0][0, 0])
    return np.array(found)
