"""Quantities that most theorems involve, and numbers that are composed of vectors and numbers of a method's state, in
a form that the rules of limits can see.

Each is a function of (problem, params, state), as are its parts. A vector has shape ``(..., d)``, or ``(..., m, d)``
where there is one for each client; what is composed of it has shape ``(...)``, or ``(..., m)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, square
from fedtheory.problems.base import ParamsFunction, Problem, StateFunction

#: A function of a problem, parameters and a state.


@dataclass(frozen=True)
class Square:
    """|u|^2."""

    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The square of the vector's length."""
        return square(self.of(problem, params, state))


@dataclass(frozen=True)
class Inner:
    """<u, v>."""

    left: StateFunction
    right: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The inner product of the two vectors."""
        product: Array = (self.left(problem, params, state) * self.right(problem, params, state)).sum(axis=-1)
        return product


@dataclass(frozen=True)
class Shared:
    """The vector u for each client."""

    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """``(..., d) -> (..., m, d)``."""
        u = self.of(problem, params, state)
        return np.broadcast_to(u[..., None, :], (*u.shape[:-1], problem.n, u.shape[-1]))


@dataclass(frozen=True)
class Difference:
    """The vector, or number, u - v."""

    left: StateFunction
    right: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The difference of the two."""
        found: Array = self.left(problem, params, state) - self.right(problem, params, state)
        return found


@dataclass(frozen=True)
class Away:
    """The vector, or number, u - a for an ``a``, a function of (problem, params) alone: the same all along a run.

    Raise ``ValueError`` if u is one that all clients share and ``a`` differs from client to client.
    """

    of: StateFunction
    fixed: ParamsFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The difference to what is fixed."""
        fixed = self.fixed(problem, params)
        if isinstance(self.of, Shared) and np.ndim(fixed) > 1:
            raise ValueError("what all clients share is compared with one vector, the same for all of them")
        found: Array = self.of(problem, params, state) - fixed
        return found


@dataclass(frozen=True)
class Image:
    """The vectors h(u), for a function ``map(problem, params, u)`` of those of all clients, ``(..., m, d)``."""

    map: StateFunction
    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """``(..., m, d)``."""
        return self.map(problem, params, self.of(problem, params, state))


@dataclass(frozen=True)
class Value:
    """The vectors h(a), for a vector a that is the same all along a run and for all clients."""

    map: StateFunction
    fixed: ParamsFunction

    def __call__(self, problem: Problem, params: object) -> Array:
        """``(m, d)``."""
        a = self.fixed(problem, params)
        return self.map(problem, params, np.broadcast_to(a, (problem.n, problem.d)))


@dataclass(frozen=True)
class Total:
    """The sum over the clients of a number that each of them has."""

    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """``(..., m) -> (...)``. Raise ``ValueError`` if there are not as many numbers as clients."""
        parts = self.of(problem, params, state)
        if parts.shape[-1] != problem.n:
            raise ValueError(f"a sum over {problem.n} clients has {parts.shape[-1]} parts")
        total: Array = parts.sum(axis=-1)
        return total


@dataclass(frozen=True)
class Among:
    """The sum of a number that each client has, over those of whom ``who``, ``(..., m)``, is true."""

    who: StateFunction
    of: StateFunction

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """``(..., m) -> (...)``."""
        chosen = np.where(self.who(problem, params, state), self.of(problem, params, state), 0)
        total: Array = chosen.sum(axis=-1)
        return total


# Of a state with a point ``x``


def distance(problem: Problem, params: object, state: Any) -> Array:
    """|x - x*|^2.

    Args:
        problem: The problem, whose minimiser is x*.
        params: The parameters, which are not used.
        state: A state with a point ``x (..., d)``.

    Returns:
        The squared distance, ``(...)``.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> problem = Problem(diagonal([[2.0]], [[1.0]]))
        >>> state = algorithms.get("gradient-descent").init(problem, None)
        >>> float(ft.distance(problem, None, state))
        1.0
    """
    return square(state.x - problem.x_star)


def gap(problem: Problem, params: object, state: Any) -> Array:
    """f(x) - f(x*), f the mean of the f_i.

    Beside a g it is not the gap of what is minimised, and may be negative: claims about a ``Composite`` problem are
    refused that use it, and have :func:`composite_gap`.

    Args:
        problem: The problem, whose minimiser is x*.
        params: The parameters, which are not used.
        state: A state with a point ``x (..., d)``.

    Returns:
        The gap, ``(...)``.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> problem = Problem(diagonal([[4.0]], [[1.0]]))
        >>> state = algorithms.get("gradient-descent").init(problem, None)
        >>> float(ft.gap(problem, None, state))
        2.0
    """
    here, there = (problem.f.value(x[..., None, :]).sum(axis=-1) / problem.n for x in (state.x, problem.x_star))
    found: Array = here - there
    return found


def composite_gap(problem: Problem, params: object, state: Any) -> Array:
    """f(x) + g(x) - f(x*) - g(x*), f the mean of the f_i.

    Args:
        problem: A composite problem, whose minimiser is x*.
        params: The parameters, which are not used.
        state: A state with a point ``x (..., d)``.

    Returns:
        The gap, ``(...)``.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> problem = Problem(diagonal([[2.0]], [[3.0]]), g=diagonal([[1.0]], [[0.0]]))
        >>> state = algorithms.get("gradient-descent").init(problem, None)
        >>> float(ft.composite_gap(problem, None, state))
        6.0
    """
    g: Any = problem.g
    here, there = (g.value(x[..., None, :])[..., 0] for x in (state.x, problem.x_star))
    found: Array = gap(problem, params, state) + here - there
    return found


def heterogeneity(problem: Problem, params: object, state: object) -> Array:
    """(1/n) sum_i |grad f_i(x*)|^2.

    Args:
        problem: The problem.
        params: The parameters, which are not used.
        state: The state, which is not used.

    Returns:
        The mean of the squared gradients at the optimum, a number.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> float(ft.heterogeneity(Problem(diagonal([[2.0], [2.0]], [[1.0], [0.0]])), None, None))
        1.0
    """
    found: Array = (problem.y_star**2).sum(axis=(-1, -2)) / problem.n
    return found
