"""The span of potentials of a method: what its state, its functions and its gradients give, as quantities.

The code of each is read by proofs as that of a user's quantities is: a part of the state is written by its place, since
its name would be looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.classes import FunctionClass
from fedtheory.instances import Instance
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem, StateFunction
from fedtheory.settings.relations import Quantity

#: When a measure is taken that a step gains: a bound on it says how good a point is.
Gain = Literal["never", "before", "after"]
#: A function of a problem, parameters and a state.


class Measure(NamedTuple):
    """A quantity of a state that is nowhere negative: its symbol, what it is in words, and its code. ``gain``: whether
    a step may gain it, before or after the step; ``level``: how far it is from the plainest ones, the distances;
    ``parts``: the places of the parts of the state that it measures."""

    symbol: sympy.Symbol
    words: str
    of: StateFunction
    gain: Gain
    level: int
    parts: tuple[int, ...] = ()

    @property
    def before(self) -> Quantity:
        """The quantity before a step."""
        return Quantity(self.symbol, self.of)

    @property
    def after(self) -> Quantity:
        """The quantity after a step."""
        return Quantity(sympy.Symbol(f"{self.symbol}_next", **self.symbol._assumptions_orig), self.of, after=True)

    @property
    def gained(self) -> Quantity:
        """The quantity as a step may gain it."""
        return self.before if self.gain == "before" else self.after


def measures(algorithm: Algorithm, functions: FunctionClass, at: Instance) -> tuple[Measure, ...]:
    """The measures that a potential of a method may consist of, the plainest first.

    ``at``: an instance whose optimum, and whose gradients there, are not 0: where the method rests is seen there.
    """
    problem = at.problem
    rest = algorithm.fixed_point(problem, at.params)
    away = {name: _rest(getattr(rest, name), problem) for name in rest._fields}
    place = {name: k for k, name in enumerate(rest._fields)}
    points = [name for name in away if np.ndim(getattr(rest, name)) == 1]
    clients = [name for name in away if name not in points]
    found: list[Measure] = []

    def add(name: str, words: str, of: StateFunction, gain: Gain, level: int, *parts: str) -> None:
        symbol = sympy.Symbol(name, real=True)
        found.append(Measure(symbol, words, of, gain, level, tuple(place[part] for part in parts)))

    for x in points:
        if away[x] is X_STAR:
            add(f"D_{x}", f"|{x} - x*|^2", distance(place[x]), "never", 0, x)
    for h in clients:
        if (centre := away[h]) is not None:
            add(f"S_{h}", f"mean |{h}_i{centre.words}|^2", centre.spread(place[h]), "never", 0, h)
    for x in points:
        add(f"F_{x}", f"f({x}) - f*", gap(place[x]), "after", 1, x)
    convex = min(functions.curvatures(problem, at.params)[0]) >= 0
    for h in clients:
        if away[h] is X_STAR and convex:
            words = f"mean (f_i({h}_i) - f_i(x*) - <grad f_i(x*), {h}_i - x*>)"
            add(f"T_{h}", words, excess(place[h]), "never", 1, h)
    for x in points:
        add(f"G_{x}", f"|grad f({x})|^2", slope(place[x]), "before", 2, x)
        for h in clients:
            add(f"E_{h}", f"mean |{h}_i - grad f_i({x})|^2", error(place[h], place[x]), "never", 2, h, x)
    if "L" in functions.letters.values() and convex:
        for x in points:
            add(f"B_{x}", f"f({x}) - f* - |grad f({x})|^2/(2 L)", below(place[x]), "after", 3, x)
    return tuple(found)


def distance(part: int) -> StateFunction:
    """|x - x*|^2 of a point of the state."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        return ((state[part] - problem.x_star) ** 2).sum(axis=-1)

    return of


def _from_optimum(part: int) -> StateFunction:
    def of(problem: Any, params: Any, state: Any) -> Any:
        return ((state[part] - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n

    return of


def _from_gradients(part: int) -> StateFunction:
    def of(problem: Any, params: Any, state: Any) -> Any:
        return ((state[part] - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n

    return of


def _from_zero(part: int) -> StateFunction:
    def of(problem: Any, params: Any, state: Any) -> Any:
        return (state[part] ** 2).sum(axis=(-1, -2)) / problem.n

    return of


class Rest(NamedTuple):
    """The resting point of a part of the state, in words, and the mean squared distance of clients' parts from it."""

    words: str
    spread: Callable[[int], StateFunction]


X_STAR, Y_STAR, ZERO = Rest(" - x*", _from_optimum), Rest(" - grad f_i(x*)", _from_gradients), Rest("", _from_zero)


def _rest(fixed: Array, problem: Problem) -> Rest | None:
    """The resting point of a part; None if it is none of the known places."""
    if (fixed == problem.x_star).all():
        return X_STAR
    if np.ndim(fixed) == 2 and (fixed == problem.y_star).all():
        return Y_STAR
    return ZERO if (fixed == 0).all() and np.ndim(fixed) == 2 else None


def gap(part: int) -> StateFunction:
    """f(x) - f* at a point of the state."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        here = problem.f.value(state[part][..., None, :]).sum(axis=-1) / problem.n
        return here - problem.f.value(problem.x_star[..., None, :]).sum(axis=-1) / problem.n

    return of


def slope(part: int) -> StateFunction:
    """|grad f(x)|^2 at a point of the state."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        return ((problem.f.gradient(state[part][..., None, :]).sum(axis=-2) / problem.n) ** 2).sum(axis=-1)

    return of


def error(part: int, point: int) -> StateFunction:
    """The mean squared distance of clients' vectors from the gradients at a point of the state."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        away = state[part] - problem.f.gradient(state[point][..., None, :])
        return (away**2).sum(axis=(-1, -2)) / problem.n

    return of


def below(part: int) -> StateFunction:
    """f(x) - f* - |grad f(x)|^2/(2 L) at a point of the state: at least 0 of a convex f."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        at = state[part][..., None, :]
        slope = problem.f.gradient(at).sum(axis=-2) / problem.n
        here = problem.f.value(at).sum(axis=-1) / problem.n
        least = problem.f.value(problem.x_star[..., None, :]).sum(axis=-1) / problem.n
        return here - least - (slope**2).sum(axis=-1) / (2 * problem.L)

    return of


def excess(part: int) -> StateFunction:
    """The mean excess of the functions over their tangents at x*, at clients' points."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        at, optimum = state[part], problem.x_star[..., None, :]
        tangent = problem.f.value(optimum) + (problem.y_star * (at - optimum)).sum(axis=-1)
        return (problem.f.value(at) - tangent).sum(axis=-1) / problem.n

    return of


def size(part: int) -> StateFunction:
    """The squared size of a part of the state, over all clients."""

    def of(problem: Any, params: Any, state: Any) -> Any:
        return (state[part] ** 2).sum(axis=-1).sum(axis=-1)

    return of
