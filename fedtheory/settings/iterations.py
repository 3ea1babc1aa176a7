"""Iterations of a method as a setting of their own: what is drawn is part of the point, and runs are sequences of them.

A statement about one iteration, for every draw, then involves every run, and limits of runs can be derived from it.
A statement about a whole run has the run for its instance: the parameters are the run's, the state is all of its
history, and its quantities are given by the iterations, in a form that rules can see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from fedtheory.instances import Recipe, Source, value_of
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import ParamsFunction, Problem, StateFunction
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis


@dataclass(frozen=True, eq=False)
class Iteration:
    """One iteration of a method for each point of a setting.

    ``before``, ``after(problem, params, state)``: the method's own states, from a point. ``drawn``: the parameters that
    differ from one iteration of a run to the next; the others are the run's. ``each``: which of them says which
    client a statement is about, an index (or a slice, for all). ``kept(problem, params, state)``: entries for each
    client, at most 0 in all of the method's states before an iteration. ``selected``, ``idle``: whether that client
    takes part: one of the two holds. ``every(recipe)``: the recipes of all iterations with the constants of one.
    ``of_step(problem, params, state, draw)``: the parameters and points of the iterations that a step of the method
    consists of, for all clients; they are as many in all steps of a run. ``admits(problem, params)``: True if the
    setting covers the constants of an iteration; ``limits``: relations between letters that it means,
    besides their domain. ``recurring``: pairs of cases, one of which holds, the first of them in some iteration of
    every step.
    """

    setting: Setting
    before: Callable[[Problem, Any, Any], Any]
    after: Callable[[Problem, Any, Any], Any]
    drawn: tuple[str, ...]
    each: str
    kept: StateFunction
    selected: Hypothesis
    idle: Hypothesis
    every: Callable[[Recipe], Iterator[Recipe]]
    of_step: Callable[[Problem, Any, Any, Any], Iterator[tuple[Any, Any]]]
    admits: Callable[[Problem, Any], bool]
    recurring: tuple[tuple[Hypothesis, Hypothesis], ...] = ()
    limits: tuple[sympy.Basic, ...] = ()

    @property
    def cases(self) -> tuple[tuple[Hypothesis, Hypothesis], ...]:
        """Pairs of cases, one of which holds in every iteration."""
        return ((self.selected, self.idle), *self.recurring)

    def constants(self, params: Any) -> Any:
        """The parameters without those that are drawn: a function of the method's state must not depend on them."""
        return params._replace(**dict.fromkeys(self.drawn))


@dataclass(frozen=True)
class At:
    """A function of the method's state, before an iteration or (``later``) after it, as a function of its point.

    ``function(problem, params, state)``, of the run's constants; ``each``: its last axis are the clients.
    """

    iteration: Iteration
    function: StateFunction
    later: bool = False
    each: bool = False

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The value at a point of the iteration."""
        at = (self.iteration.after if self.later else self.iteration.before)(problem, params, state)
        value = self.function(problem, self.iteration.constants(params), at)
        return value[..., getattr(params, self.iteration.each)] if self.each else value


@dataclass(frozen=True)
class Overall:
    """A number of an iteration that does not depend on the client that a statement is about."""

    iteration: Iteration
    of: StateFunction

    def __call__(self, problem: Problem, params: Any, state: object) -> Array:
        """The value at a point of the iteration."""
        return self.of(problem, params._replace(**{self.iteration.each: None}), state)


@dataclass(frozen=True)
class Root:
    """The square root of a quantity."""

    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The root at a point."""
        return np.sqrt(self.of(problem, params, state))


@dataclass(frozen=True, eq=False)
class Along:
    """Runs as iterations: ``points(problem, run, history)`` are the parameters and points of the iterations 0, 1, ...,
    each for all clients. ``last``: the letter of the last iteration that a statement covers in a run, which is its
    parameter ``k``. ``alone(problem, params, state)``: a run and its history of one iteration from a point, k = 0, with
    None for all that an iteration does not say of its run."""

    iteration: Iteration
    points: Callable[[Problem, Any, Any], Iterator[tuple[Any, Any]]]
    last: sympy.Symbol
    alone: Callable[[Problem, Any, Any], tuple[Any, Any]] | None = None


@dataclass(frozen=True)
class Least:
    """The least of a number over the iterations ``first``, ``first + every``, ... up to k of a run: expressions in
    ``letters``, pairs of a letter and where its value comes from."""

    along: Along
    of: At
    first: sympy.Expr | int
    every: sympy.Expr | int = 1
    letters: tuple[tuple[sympy.Symbol, Source], ...] = ()

    def __post_init__(self) -> None:
        for index in (self.first, self.every):
            _check_letters(index, self.letters)

    def __call__(self, problem: Problem, run: Any, history: object) -> Array:
        """The least; where there are no such iterations, the number of the first. Raise ``ValueError`` if the run has
        no such iteration."""
        first, every = (_index(index, self.letters, problem, run) for index in (self.first, self.every))
        points = list(self.along.points(problem, run, history))
        if not 0 <= first < len(points) or every < 1:
            raise ValueError(f"a run of {len(points)} iterations has none of the index {first}")
        chosen = points[first : max(run.k, first) + 1 : every]
        return np.min(np.stack([self.of(problem, *point) for point in chosen]), axis=0)


@dataclass(frozen=True)
class Start:
    """A number of the state with which a run begins."""

    along: Along
    of: At

    def __call__(self, problem: Problem, run: object, history: object) -> Array:
        """The number, before the first iteration."""
        return self.of(problem, *next(self.along.points(problem, run, history)))


@dataclass(frozen=True)
class Infimum:
    """The infimum of a function of the state, over all states, as ``value(problem, run)`` computes it."""

    along: Along
    of: At
    value: ParamsFunction

    def __call__(self, problem: Problem, run: object, history: object) -> Array:
        """The infimum, the same for all starts."""
        return np.asarray(self.value(problem, run))[None, None]


@dataclass(frozen=True)
class Then:
    """A number of one iteration of a run: that of the ``index``, an expression in ``letters``, pairs of a letter and
    where its value comes from. Of what each client has, that of the run's client."""

    along: Along
    of: At
    index: sympy.Expr
    letters: tuple[tuple[sympy.Symbol, Source], ...]

    def __post_init__(self) -> None:
        _check_letters(self.index, self.letters)

    def __call__(self, problem: Problem, run: object, history: object) -> Array:
        """The number. Raise ``ValueError`` if the run has no such iteration."""
        j = _index(self.index, self.letters, problem, run)
        points = list(self.along.points(problem, run, history))
        if not 0 <= j < len(points):
            raise ValueError(f"a run of {len(points)} iterations has none of the index {j}")
        found = self.of(problem, *points[j])
        return found[..., getattr(run, self.along.iteration.each)] if self.of.each else found


def _check_letters(index: sympy.Expr | int, letters: tuple[tuple[sympy.Symbol, Source], ...]) -> None:
    """Raise ``ValueError`` if a letter of an index has no value."""
    if unknown := sorted(map(str, sympy.sympify(index).free_symbols - {letter for letter, _ in letters})):
        raise ValueError(f"the index {index} has the letter {unknown[0]}, which has no value")


def _index(
    index: sympy.Expr | int, letters: tuple[tuple[sympy.Symbol, Source], ...], problem: Problem, run: object
) -> int:
    """The value of an index in a run."""
    values = {letter: sympy.Integer(value_of(source, problem, run)) for letter, source in letters}
    return int(sympy.sympify(index).xreplace(values))


@dataclass(frozen=True)
class Alone:
    """A quantity of runs, ``of(problem, run, history)``, for a run of one iteration, as a function of its point."""

    along: Along
    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The value at a point of the iteration."""
        if self.along.alone is None:
            raise ValueError("of its runs none has a single iteration")
        run, history = self.along.alone(problem, params, state)
        return self.of(problem, run, history)
