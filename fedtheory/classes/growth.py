"""Functions whose average meets a condition between x* and every other point: how fast it grows, how it slopes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import ELL, MU, Average, Bounds, Declared, FunctionClass, each
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.growth import secants, upper_growth


@dataclass(frozen=True)
class ConvexQuadraticGrowth(FunctionClass):
    r"""Each f_i is closed and convex, smooth or not; the average f has a minimiser, x*, from which it grows at most
    quadratically: $f(x) - f^* \le \frac{L}{2} |x - x^*|^2$ for all x.

    The bound is of the average. ``problem.f.gradient`` gives a subgradient, as of
    :class:`fedtheory.classes.convex.Convex`. There is no mu, and no kappa; L is not a smoothness constant: gradients
    may be of length 2 L |x - x*|, and jump.

    That $f(x) - f^* \le \langle g, x - x^* \rangle - |g|^2/(2L)$ for every subgradient g at x follows: f is above its
    tangent at x, and below the bound, at the point x* + g/L. With convexity between each two points it is all that is
    known of one function at finitely many points (Goujaud, Taylor and Dieuleveut, 2022); of the average of several more
    may be known.
    """

    L: sympy.Symbol

    alike = True
    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex, f at most f* + {self.L}/2 |x - x*|^2"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letter of the class, and where its value comes from."""
        return {self.L: "L"}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(sympy.S.Zero, None), average=_below_parabola(ELL), convex=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        return bool(min(problem.f.mu) >= 0 and upper_growth(problem.f, problem.optimum.x) <= problem.L)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        return each(min(0 * problem.L, *problem.f.mu), problem.n), each(math.inf, problem.n)

    def growth(self, problem: Problem) -> tuple[Any, Any]:
        """(0, L) with the L as declared, or as of functions that do not keep to it."""
        return 0 * problem.L, max(problem.L, upper_growth(problem.f, problem.optimum.x))

    def average(self, problem: Problem, params: Any) -> Average:
        """Return what is known of the average f at a point."""
        return _below_parabola(self.growth(problem)[1])


def _below_parabola(L: Any) -> Average:
    def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
        """f* <= f(x) <= f* + L/2 |x - x*|^2, of subgradients f(x) - f* <= <g, x - x*> - |g|^2/(2L)."""
        if gradient is None:
            yield "f at least f*", -1 * gap
            yield "quadratic growth", gap - L / 2 * x**2
            return
        yield "quadratic growth", gap + gradient**2 / (2 * L) - gradient * x

    return formulas


@dataclass(frozen=True)
class RestrictedSecant(FunctionClass):
    r"""The average f of differentiable f_i has a minimiser, x*, and meets the restricted secant inequality and the
    error bound: $\langle \nabla f(x), x - x^* \rangle \ge \mu |x - x^*|^2$ and
    $|\nabla f(x)| \le L |x - x^*|$ for all x.

    The conditions are on the average only, not on the f_i, nor on pairs of points without x*: f need be
    neither convex nor smooth. $\frac{\mu}{2} |x - x^*|^2 \le f(x) - f^* \le \frac{L}{2} |x - x^*|^2$ follows, along the
    line from x*. Worst cases of the class: Guille-Escuret, Ibrahim, Goujaud and Mitliagkas (2022).
    """

    mu: sympy.Symbol
    L: sympy.Symbol

    alike = True
    loose = True
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"f of restricted secant constant {self.mu} and error bound {self.L}"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the two constants, of which the first is at most the other."""
        return self.mu, self.L

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(None, None), average=_sloping(MU, ELL))

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        least, largest = secants(problem.f, problem.optimum.x)
        return bool(least >= problem.mu and largest <= problem.L)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """No least and no largest curvature of any f_i ``(n,)``."""
        return each(-math.inf, problem.n), each(math.inf, problem.n)

    def growth(self, problem: Problem) -> tuple[Any, Any]:
        """(mu, L) as declared, or as of functions that do not keep to them."""
        least, largest = secants(problem.f, problem.optimum.x)
        return min(problem.mu, least), max(problem.L, largest)

    def average(self, problem: Problem, params: Any) -> Average:
        """Return what is known of the average f at a point."""
        return _sloping(*self.growth(problem))


def _sloping(mu: Any, L: Any) -> Average:
    def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
        """mu/2 |x - x*|^2 <= f(x) - f* <= L/2 |x - x*|^2, and what is known of the gradient."""
        yield "growth from below", mu / 2 * x**2 - gap
        yield "growth from above", gap - L / 2 * x**2
        if gradient is not None:
            yield "restricted secant", mu * x**2 - gradient * x
            yield "error bound", gradient**2 - L**2 * x**2

    return formulas
