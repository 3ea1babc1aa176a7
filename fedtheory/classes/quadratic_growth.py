"""Convex and smooth functions whose average grows at least quadratically from x*."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import (
    ELL,
    MU,
    WORSE,
    Average,
    Bounds,
    Declared,
    OfTwoConstants,
    Outside,
    each,
    only_declared,
)
from fedtheory.instances import Recipe, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.growth import growths


@dataclass(frozen=True)
class SmoothQuadraticGrowth(OfTwoConstants):
    r"""Each f_i is convex and L-smooth; the average f has a minimiser, x*, from which it grows at least quadratically:
    $f(x) - f^* \ge \frac{\mu}{2} |x - x^*|^2$ for all x.

    The growth is of the average, and from x* alone: f may be flat elsewhere, so that it need not be strongly convex
    (Necoara, Nesterov and Glineur, 2019). That f is above the parabola at the point x + h where its bound by smoothness
    from x is closest to it gives
    $|g - \mu (x - x^*)|^2 \le (L - \mu) (2 (f(x) - f^*) - \mu |x - x^*|^2)$ for the gradient g at x.
    More may be known about two points neither of which is x*.

    Args:
        mu: The letter of the constant of growth.
        L: The letter of the smoothness constant.
        optimum: "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.SmoothQuadraticGrowth(*ft.letters("mu L")).text
        'each convex and L-smooth, f at least f* + mu/2 |x - x*|^2'
    """

    flat: ClassVar[str] = "SmoothConvex({})"
    alike = True
    loose = True
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth, f at least f* + {self.mu}/2 |x - x*|^2"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(sympy.S.Zero, ELL), average=above_parabola(MU, ELL), convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        f = problem.f
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and growths(f, problem.optimum.x)[0] >= problem.mu)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        f = problem.f
        return each(min(0 * problem.L, *f.mu), f.n), each(max(problem.L, *f.L), f.n)

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f at a point."""
        least = min(problem.mu, growths(problem.f, problem.optimum.x)[0])
        return above_parabola(least, max(problem.L, *problem.f.L))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances a little less smooth or convex than the class allows, or whose average grows more slowly."""
        yield from super().outside(problem, params, known)
        f = problem.f
        # Nothing but the mean of the curvatures is known of the growth of such an average.
        slower = only_declared(f, each(problem.mu * (1 - WORSE), f.n), f.L)
        yield "other functions", replace(problem, f=slower), params


def above_parabola(mu: Scalar, L: Scalar) -> Average:
    """Facts of an L-smooth average that grows by at least mu/2 |x - x*|^2."""

    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        """mu/2 |x - x*|^2 <= f(x) - f*, and more of it where the gradient is known."""
        yield "quadratic growth", mu / 2 * x**2 - gap
        if gradient is not None:
            spread = gradient**2 - 2 * mu * (gradient * x) + mu * L * x**2
            yield "quadratic growth and smoothness", spread - 2 * (L - mu) * gap

    return formulas


@sampler.register(SmoothQuadraticGrowth)
class QuadraticGrowthSampler(Sampler):
    """Strongly convex functions, and such that are flat between two places away from x*."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constant that they have."""
        L = members.scale(rng)
        recipe: Recipe = members.draw_functions(rng, n, d, (L / members.condition(rng), L), False)
        if pick(rng, (True, True, False)):
            recipe = {"d": d, "x": small(rng, d), "clients": _flat(rng, n, d, L)}
        share = pick(rng, members.SHARES)
        return {**recipe, str(self.of.mu): self._growth(recipe) * share, str(self.of.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless 0 < mu <= L."""
        return in_order(self.of, recipe, exact, "constant of growth")

    def _growth(self, recipe: Recipe) -> Fraction:
        """The constant of growth of the average of a recipe's functions, or a lower bound."""
        x = numbers((0,) * recipe["d"], True)
        zero = numbers([(0,) * recipe["d"]] * len(recipe["clients"]), True)
        return Fraction(growths(members.curved(recipe["clients"], x, zero, True), x)[0])


def in_order(of: OfTwoConstants, recipe: Recipe, exact: bool, constant: str) -> tuple[Scalar, Scalar]:
    """(mu, L) of a recipe. Raise ``ValueError`` unless 0 < mu <= L, where mu is such a ``constant`` of the average."""
    mu, L = recipe[str(of.mu)], recipe[str(of.L)]
    check_shape(recipe["d"], mu, L)
    if mu > L:
        raise ValueError(f"a {constant} is at most the smoothness constant: {of.mu} <= {of.L}")
    return number(mu, exact), number(L, exact)


def _flat(rng: np.random.Generator, n: int, d: int, L: Fraction) -> tuple[Recipe, ...]:
    """Functions of the curvature L near x* and far from it, and 0 between two places in each coordinate, which most
    functions share."""
    shares = [pick(rng, tuple(Fraction(v) for v in ("1/2", "1/3", "1/10", "1/100"))) for _ in range(d)]
    far = [pick(rng, tuple(Fraction(v) for v in (1, 1, -1, 4))) for _ in range(d)]

    def client() -> Recipe:
        flat = pick(rng, (Fraction(0), Fraction(0), Fraction(0), L / 4))
        near = [min(a, share * a) for a, share in zip(far, shares, strict=True)]
        beyond = [max(a, share * a) for a, share in zip(far, shares, strict=True)]
        return {
            "h": (L,) * d,
            "h_above": (flat,) * d,
            "h_beyond": (L,) * d,
            "kink": tuple(near),
            "kink_beyond": tuple(beyond),
            "y": small(rng, d),
        }

    return tuple(client() for _ in range(n))
