"""Candidate mistakes of an implementation: known slips, and every change of one place in the reference's source."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, permutations
from numbers import Number
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.parts import off_mean
from fedtheory.algorithms.schedules import at_round
from fedtheory.algorithms.slips import StepFunction
from fedtheory.learning.batches import Batches, Minibatches
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import Distribution, Independent
from verify.conformance.references import written
from verify.mutation import changed_code


class Slip(NamedTuple):
    """``text``: what is done, in words; ``algorithm``: the reference with it; ``letter``: the first that departs;
    ``of``: the parameter that is mistaken, if one is; ``brought``: parameters that stand where they do not belong."""

    text: str
    algorithm: Algorithm
    letter: str = ""
    of: str = ""
    brought: tuple[str, ...] = ()


_PARAMETER = re.compile(r"\bparams\.(\w+)")
#: Returns True if an algorithm does what was seen.
Agrees = Callable[[Algorithm], bool]
#: What a change is multiplied by, of the problem and the parameters.
Factor = Callable[[Problem, Any], Any]


def diagnose(algorithm: Algorithm, agrees: Agrees, read: Collection[str], further: Iterable[Slip] = ()) -> Slip | None:
    """The first slip that agrees with what was seen, or None; ``read``: parameters that may be taken for another;
    ``further``: slips that are tried last."""
    for slip in chain(candidates(algorithm), further):
        if not set(slip.brought) <= set(read):
            continue
        # A changed reference may do anything.
        with np.errstate(all="ignore"):
            try:
                found = agrees(slip.algorithm)
            except Exception:
                continue
        if found:
            return slip
    return None


def read_by(algorithm: Algorithm, cases: Iterable[tuple[Problem, Any, Any]]) -> set[str]:
    """The parameters that are numbers, and that a step of the algorithm reads, in each of these cases (problem,
    params, state): what is None there, or not looked at, is taken for nothing else."""
    found: set[str] | None = None
    for problem, params, state in cases:
        names: set[str] = set()

        class Reading(type(params)):  # type: ignore[misc]
            def __getattribute__(self, name: str, names: set[str] = names) -> Any:
                names.add(name)
                return super().__getattribute__(name)

        try:
            draw = algorithm.draws(problem, params, state).sample(np.random.default_rng(0), ())
            with np.errstate(all="ignore"):
                algorithm.step(problem, Reading(*params), state, draw)
        except Exception:
            # A method of somebody's own that takes no parameters but its own: it may read all of them.
            names |= set(params._fields)
        numbers = {n for n, v in params._asdict().items() if isinstance(v, Number | np.ndarray)}
        found = names & numbers if found is None else found & names & numbers
    return found or set()


def candidates(algorithm: Algorithm) -> Iterator[Slip]:
    """Yield the candidate mistakes."""
    yield from slips(algorithm)
    yield from _without(algorithm)
    yield from _shifted(algorithm)
    yield from _batched(algorithm)
    yield from _participating(algorithm)
    yield from _mistaken(algorithm)
    yield from _changed(algorithm)
    yield from _exchanged(algorithm)
    yield from _rescaled(algorithm)
    yield from _tied(algorithm)


def tied(invariant: object) -> tuple[str, str] | None:
    """Return a part and the part whose mean it is, of an invariant that was declared so; None for another one."""
    return invariant.args[:2] if isinstance(invariant, partial) and invariant.func is off_mean else None


def _tied(reference: Algorithm) -> Iterator[Slip]:
    """The slips of clients' vectors where the server takes the mean of these, in place of a mean that it keeps."""
    pair = tied(reference.invariant)
    if pair is None:
        return
    mean, of = pair
    for slip in chain(slips(reference), _changed(reference), _rescaled(reference)):
        if slip.algorithm.State is reference.State and slip.letter in ("", of):
            step = _then(slip.algorithm.step, partial(_mean_taken, mean, of))
            text = f"{slip.text}; {mean} is then the mean of {of}"
            yield slip._replace(text=text, algorithm=replace(slip.algorithm, step=step), letter=slip.letter or of)


def _mean_taken(mean: str, of: str, problem: Problem, params: Any, state: Any, after: Any) -> Any:
    return after._replace(**{mean: getattr(after, of).sum(axis=-2) / problem.n})


def _rescaled(reference: Algorithm) -> Iterator[Slip]:
    """The reference with a multiple of what a step adds to one part of the state."""
    kinds = get_type_hints(reference.Params)
    factors: dict[str, Factor] = {
        "-1": lambda problem, params: -1,
        "1/n": lambda problem, params: 1 / problem.n,
        "n": lambda problem, params: problem.n,
    }
    if kinds.get("tau") is int:
        factors["tau/n"] = lambda problem, params: params.tau / problem.n
        factors["tau"] = lambda problem, params: params.tau
        factors["1/tau"] = lambda problem, params: 1 / params.tau
    measured = [name for name in reference.Params._fields if kinds.get(name) not in (int, str, bool)]
    for name in measured:
        factors[name] = partial(_parameter, name, 1)
        factors[f"1/{name}"] = partial(_parameter, name, -1)
    for letter in reference.State._fields:
        for form, factor in factors.items():
            text = f"the change of {letter} is that of the reference times {form}"
            slip = replace(reference, step=_then(reference.step, partial(_scaled, letter, factor)))
            yield Slip(text, slip, letter, brought=tuple(name for name in measured if form in (name, f"1/{name}")))
        text = f"{letter} is replaced by what the reference adds to it"
        yield Slip(text, replace(reference, step=_then(reference.step, partial(_added, letter))), letter)


def _parameter(name: str, power: int, problem: Problem, params: Any) -> Any:
    value = getattr(params, name)
    return value if power == 1 else 1 / value


def _scaled(letter: str, factor: Factor, problem: Problem, params: Any, state: Any, after: Any) -> Any:
    before = getattr(state, letter)
    return after._replace(**{letter: before + factor(problem, params) * (getattr(after, letter) - before)})


def _added(letter: str, problem: Problem, params: Any, state: Any, after: Any) -> Any:
    return after._replace(**{letter: getattr(after, letter) - getattr(state, letter)})


def _then(step: StepFunction, end: Callable[[Problem, Any, Any, Any], Any]) -> StepFunction:
    """The step, after which ``end(problem, params, state, after)`` has the state that it leads to."""

    def ended(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        return end(problem, params, state, step(problem, params, state, draw))

    return ended


def _without(reference: Algorithm) -> Iterator[Slip]:
    """The reference with the usual value of a parameter that may be left out."""
    usual: Mapping[str, Any] = reference.Params._field_defaults
    for name, value in usual.items():

        def changed(problem: Problem, params: Any, name: str = name, value: Any = value) -> Any:
            return params._replace(**{name: value})

        yield Slip(f"it does what the reference does without `{name}`", _given(reference, changed), of=name)


def slips(reference: Algorithm) -> Iterator[Slip]:
    """The slips known of an algorithm, the most specific first."""
    for text, letter, change in algorithms.slips_of(reference):
        parts = change if isinstance(change, Mapping) else {"step": change}
        yield Slip(text, replace(reference, **parts), letter)
    for name in [name for name in reference.Params._fields if name in ("compressors", "compressor")]:
        for factor in (1.01, 0.99, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9):
            text = f"the compressed messages are {factor:g} times what they should be: the compressor is biased"
            yield Slip(text, replace(reference, step=_with(reference.step, name, partial(_Scaled, factor))))


# Substitutes for a parameter: for numbers of steps or clients, and for others.
_COUNTED: Mapping[str, Callable[[Any], Any]] = {"{} - 1": lambda v: v - 1, "{} + 1": lambda v: v + 1}
_MEASURED: Mapping[str, Callable[[Any], Any]] = {
    "2 {}": lambda v: 2 * v,
    "{} / 2": lambda v: v / 2,
    "{}^2": lambda v: v**2,
    "1 / {}": lambda v: 1 / v,
    "1 - {}": lambda v: 1 - v,
    "0": lambda v: 0 * v,
    "1": lambda v: 0 * v + 1,
}


class _Reweighed(NamedTuple):
    """Batches whose gradients are off by a factor that depends on how many rows there are of how many."""

    own: Minibatches
    factor: Callable[[int, int], float]

    def gradient(self, problem: Problem, x: Array, rows: Array, step: int) -> Array:
        size, before = self.own.size, step % self.own.per_epoch * self.own.size
        here = min(size, self.own.parts.m - before)
        return self.factor(here, size) * self.own.gradient(problem, x, rows, step)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


class _OneAnEpoch(Minibatches):
    """One batch of each epoch."""

    per_epoch = 1

    def draws(self, n: int, steps: int) -> Distribution:
        return Independent(Independent(Batches(self.parts.m, self.size, 1), steps), n)

    def gradient(self, problem: Problem, x: Array, rows: Array, step: int) -> Array:
        return super().gradient(problem, x, rows[..., 0, :], step)


# Mistakes with batches.
_BATCHES: Mapping[str, Callable[[Minibatches], Any]] = {
    "the gradients of a batch are summed instead of averaged": lambda b: _Reweighed(b, lambda here, size: here),
    "the gradients of a smaller last batch are divided by the size of the others": lambda b: _Reweighed(
        b, lambda here, size: here / size
    ),
    "the rows that are left over at the end of an epoch are dropped, which are a batch here": lambda b: replace(
        b, drop_last=True
    ),
    "the rows that are left over at the end of an epoch are a batch, which are dropped here": lambda b: replace(
        b, drop_last=False
    ),
    "an epoch is one batch instead of a pass over all rows": lambda b: _OneAnEpoch(b.parts, b.size),
}


# Who takes part instead, of tau and n.
_PARTICIPANTS: Mapping[str, Callable[[int, int], int]] = {
    "one client takes part, whatever `tau` is": lambda tau, n: 1,
    "all clients take part, whatever `tau` is": lambda tau, n: n,
    "`tau - 1` clients take part in place of `tau`": lambda tau, n: max(tau - 1, 1),
    "`tau + 1` clients take part in place of `tau`": lambda tau, n: min(tau + 1, n),
}


def _batched(reference: Algorithm) -> Iterator[Slip]:
    """The reference with something else in place of its batches."""
    if "batches" not in reference.Params._fields:
        return
    for text, change in _BATCHES.items():

        def changed(problem: Problem, params: Any, change: Callable[[Minibatches], Any] = change) -> Any:
            # Steps on all rows are the reference's.
            return (
                params._replace(batches=change(params.batches)) if isinstance(params.batches, Minibatches) else params
            )

        yield Slip(text, _given(reference, changed))


def _participating(reference: Algorithm) -> Iterator[Slip]:
    """The reference with other numbers of participants."""
    if get_type_hints(reference.Params).get("tau") is not int:
        return
    for text, change in _PARTICIPANTS.items():

        def changed(problem: Problem, params: Any, change: Callable[[int, int], int] = change) -> Any:
            return params._replace(tau=change(params.tau, problem.n))

        yield Slip(text, _given(reference, changed), of="tau")


def _given(reference: Algorithm, changed: Callable[[Problem, Any], Any]) -> Algorithm:
    """The reference when it is given changed parameters."""

    def init(problem: Problem, params: Any) -> Any:
        return reference.init(problem, changed(problem, params))

    def draws(problem: Problem, params: Any, state: Any) -> Distribution:
        return reference.draws(problem, changed(problem, params), state)

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        return reference.step(problem, changed(problem, params), state, draw)

    return replace(reference, init=init, draws=draws, step=step)


def _mistaken(reference: Algorithm) -> Iterator[Slip]:
    """The reference with something else in place of one parameter, but for the draws."""
    kinds = get_type_hints(reference.Params)
    for name in reference.Params._fields:
        # Where nothing says what a parameter is, it may be either.
        forms = {int: _COUNTED, None: {**_COUNTED, **_MEASURED}}.get(kinds.get(name), _MEASURED)
        for form, change in forms.items():
            text = f"it does what the reference does with `{form.format(name)}` in place of `{name}`"
            yield Slip(text, replace(reference, step=_with(reference.step, name, change)), of=name)


def _exchanged(reference: Algorithm) -> Iterator[Slip]:
    """The reference with one parameter in place of another of the same type, wherever its step reads it."""
    kinds = get_type_hints(reference.Params)
    for name, other in permutations(reference.Params._fields, 2):
        if kinds.get(name) == kinds.get(other) and kinds.get(name) not in (str, bool):

            def step(problem: Problem, params: Any, state: Any, draw: Any, name: str = name, other: str = other) -> Any:
                return reference.step(problem, params._replace(**{name: getattr(params, other)}), state, draw)

            text = f"it does what the reference does with `{other}` in place of `{name}`"
            yield Slip(text, replace(reference, step=step), of=name, brought=(other,))


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

    factor: float
    own: Any

    def apply(self, draw: Any, x: Array) -> Array:
        return self.factor * self.own.apply(draw, x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


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
        slip = replace(algorithm, step=own.as_step(change.namespace[root]))
        yield Slip(text, slip, brought=_brought(after, before))
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


def _brought(after: str, before: str) -> tuple[str, ...]:
    """The parameters of one expression that the other lacks."""
    return tuple(set(_PARAMETER.findall(after)) - set(_PARAMETER.findall(before)))


def _instead(after: str, before: str, module: str, function: str) -> str:
    return f"it does what the reference does with `{after}` in place of `{before}` (in {function} of {module})"
