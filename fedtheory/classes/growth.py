"""Convex functions whose average grows at most quadratically from x*."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import ELL, WORSE, Average, Bounds, Declared, FunctionClass, Outside, each, only_declared
from fedtheory.instances import Recipe, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.growth import growths


@dataclass(frozen=True)
class ConvexQuadraticGrowth(FunctionClass):
    r"""Each f_i is closed and convex, smooth or not; the average f has a minimiser, x*, from which it grows at most
    quadratically: $f(x) - f^* \le \frac{L}{2} |x - x^*|^2$ for all x.

    The bound is of the average. ``problem.f.gradient`` gives a subgradient, as of
    :class:`fedtheory.classes.convex.Convex`. There is no mu, and no kappa; L does not bound curvatures: gradients may
    be of length 2 L |x - x*|, and jump.

    That $f(x) - f^* \le \langle g, x - x^* \rangle - |g|^2/(2L)$ for every subgradient g at x follows: f is above its
    tangent at x, and below the bound, at the point x* + g/L. With convexity between each two points it is all that is
    known of one function at finitely many points (Goujaud, Taylor and Dieuleveut, 2022); of the average of several more
    may be known.

    Args:
        L: The letter of the constant of growth.
        optimum: "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.ConvexQuadraticGrowth(ft.letters("L")).text
        'each convex, f at most f* + L/2 |x - x*|^2'
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
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(sympy.S.Zero, None), average=_below_parabola(ELL), convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        return bool(min(problem.f.mu) >= 0 and growths(problem.f, problem.optimum.x)[1] <= problem.L)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        return each(min(0 * problem.L, *problem.f.mu), problem.n), each(math.inf, problem.n)

    def growth(self, problem: Problem) -> tuple[Scalar, Scalar]:
        """(0, L) with the L as declared, or as of functions that do not keep to it."""
        return 0 * problem.L, max(problem.L, growths(problem.f, problem.optimum.x)[1])

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f at a point."""
        return _below_parabola(self.growth(problem)[1])

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances with one function a little less convex than allowed, or whose average grows faster."""
        f = problem.f
        _, high = self.growth(problem)
        for i in range(f.n):
            mu = np.where(np.arange(f.n) == i, min(0 * problem.L, *known.f.mu) - WORSE, f.mu)
            less = only_declared(f, mu, each(problem.L, f.n))
            yield "less convex functions", replace(problem, f=less), params
        faster = only_declared(f, f.mu, each(high * (1 + WORSE), f.n))
        yield "other functions", replace(problem, f=faster), params


def _below_parabola(L: Scalar) -> Average:
    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        """f* <= f(x) <= f* + L/2 |x - x*|^2, of subgradients f(x) - f* <= <g, x - x*> - |g|^2/(2L)."""
        if gradient is None:
            yield "f at least f*", -1 * gap
            yield "quadratic growth", gap - L / 2 * x**2
            return
        yield "quadratic growth", gap + gradient**2 / (2 * L) - gradient * x

    return formulas


@sampler.register(ConvexQuadraticGrowth)
class QuadraticGrowthSampler(Sampler):
    """Convex functions with a kink in each coordinate, beside x*, whose average is below a parabola."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constant that they have."""
        L = members.scale(rng)

        def client() -> Recipe:
            # A line that touches the parabola L z^2/2 is 0 at half the place where it does.
            jump = tuple(L * pick(rng, tuple(Fraction(v) for v in (0, "1/2", "1/2", 1))) for _ in range(d))
            side = tuple(pick(rng, (1, -1)) for _ in range(d))
            share = pick(rng, (Fraction(0), Fraction(0), Fraction(0), Fraction(1), Fraction(1, 2)))
            low, high = share * L, pick(rng, (share * L, L))
            # On the other side of x* it may be as high as it can: a step from the kink leads there.
            return {
                "h": tuple(high if s > 0 else low for s in side),
                "h_above": tuple(low if s > 0 else high for s in side),
                "kink": (Fraction(0),) * d,
                "jump": jump,
                "jump_at": tuple(s * (a / L or Fraction(1)) for s, a in zip(side, jump, strict=True)),
                "choice": tuple(pick(rng, (Fraction(1), Fraction(-1), Fraction(0))) for _ in range(d)),
                "y": small(rng, d),
            }

        recipe: Recipe = {"d": d, "x": small(rng, d), "clients": tuple(client() for _ in range(n))}
        own = Fraction(growths(*_average(recipe, members.curved))[1])
        return {**recipe, str(self.of.L): own / pick(rng, members.SHARES) if own > 0 else L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(0, L) for the L of a recipe; ``ValueError`` unless it is positive."""
        L = recipe[str(self.of.L)]
        check_shape(recipe["d"], L)
        return number(0, exact), number(L, exact)


def _average(recipe: Recipe, build: Callable[..., Functions]) -> tuple[Functions, Array]:
    """The functions of a recipe, less their tangents at x*, in fractions, and x* = 0."""
    clients, x = recipe["clients"], numbers((0,) * recipe["d"], True)
    return build(clients, x, numbers([(0,) * recipe["d"]] * len(clients), True), True), x
