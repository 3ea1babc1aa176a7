"""What every class of functions states: its letters, its members, their curvatures, what is known of the average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem

#: How much worse a member is that must be just outside a class.
WORSE = Fraction(1, 10**6)
#: A named instance just outside a class.
Outside = Iterator[tuple[str, Problem, Any]]
#: What is known of the average f of the f_i: formulas <= 0 of x - x*, f(x) - f* and grad f(x), which is None where it
#: was not asked, each with its name.
Average = Callable[[Any, Any, Any | None], Iterator[tuple[str, Any]]]


def each(value: Any, n: int) -> Array:
    """One value for each of n functions, ``(n,)``."""
    return np.array([value] * n, dtype=object)


@dataclass(frozen=True)
class FunctionClass:
    """f_1, ..., f_n of a class, which says nothing yet: each class states its members, curvatures and formulas itself.

    A point x* of which a setting speaks is a minimiser of the average, unless the setting's ``optimum`` says that it is
    stationary only.

    ``loose``: whether the formulas say less than all that is known of the class, so that a bound that they do not give
    may hold; ``conjugates``: whether the method sees the f_i through their conjugates; ``quadratics``: whether the
    class is of quadratics only; ``constants``: the constants of the problem that the class has, of which letters may
    speak by name; ``optima``: the meanings of x* in which members are built; ``has_g``: whether the class says what g
    is; ``ends``: the letters of the least and the largest curvature, where the class has both.
    """

    loose = False
    conjugates = False
    quadratics = False
    constants: ClassVar[tuple[str, ...]] = ("mu", "L", "kappa")
    optima: ClassVar[tuple[str, ...]] = ("consensus", "stationary")
    has_g = False

    def __post_init__(self) -> None:
        letters = [getattr(self, f.name) for f in fields(self) if f.name in ("mu", "L")]
        if not all(isinstance(letter, sympy.Symbol) for letter in letters) or len(set(letters)) < len(letters):
            raise ValueError(f"the letters of {type(self).__name__} are different symbols: see fedtheory.letters")

    @property
    def text(self) -> str:
        """The class, in words."""
        raise NotImplementedError

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from: its ends, unless a class says otherwise."""
        if self.ends is None:
            raise NotImplementedError
        return dict(zip(self.ends, ("mu", "L"), strict=True))

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol] | None:
        """The letters of the least and the largest curvature, where the class has both."""
        return None

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        raise NotImplementedError

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        raise NotImplementedError

    def average(self, problem: Problem, params: Any) -> Average | None:
        """What is known of the average of the f_i beyond the f_i, where x* is its minimiser."""
        return None

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``.

        One function after the other: a hypothesis may forget about some of them.
        """
        low, high = self.curvatures(problem, params)
        for part, of in (("f", problem.f), ("g", problem.g)):
            if of is None:
                continue
            posed = getattr(known, part)
            for i in range(of.n):
                here = np.arange(of.n) == i
                below = np.minimum(low[: of.n], posed.mu) - WORSE * high[: of.n]
                above = np.maximum(high[: of.n], posed.L) * (1 + WORSE)
                worse = (("less smooth", of.mu, np.where(here, above, of.L)), ("less convex", below, of.L))
                for name, mu, L in worse:
                    changed: Any = SimpleNamespace(n=of.n, d=of.d, mu=np.where(here, mu, of.mu), L=L)
                    yield f"{name} functions", replace(problem, **{part: changed}), params


def f_star(L: Any) -> Average:
    """|grad f(x)|^2/(2L) <= f(x) - f*: all that an L-smooth f with the minimum f* must satisfy at one point."""

    def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
        yield "f at least f*", -1 * gap if gradient is None else gradient**2 / (2 * L) - gap

    return formulas


def parts(problem: Problem) -> tuple[Any, ...]:
    """f, and g where there is one."""
    return (problem.f,) if problem.g is None else (problem.f, problem.g)


def extremes(problem: Problem) -> tuple[Any, Any]:
    """Least mu and largest L of the f_i and g: the declared ones, or those of a problem that does not keep to them."""
    known = parts(problem)
    return min(problem.mu, *(v for part in known for v in part.mu)), max(problem.L, *(v for p in known for v in p.L))
