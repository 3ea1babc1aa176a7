"""Convex and smooth functions with bounded gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import sympy

from fedtheory.classes.base import WORSE, Declared, FunctionClass, Outside, each, only_declared
from fedtheory.classes.convex import STEEP
from fedtheory.instances import Recipe, Source, check_shape, members, number, pick, small
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.growth import steepest_squared


@dataclass(frozen=True)
class SmoothConvexLipschitz(FunctionClass):
    """Each f_i is convex, L-smooth and M-Lipschitz, so that its gradients are of length M at most; the sum has a
    minimiser, x*. A property of each f_i, so that the average has it too.

    ``problem.L`` is L, ``problem.M`` is M. There is no mu, and no kappa. What holds of convex and smooth functions
    between each two points, and the bound of each gradient, are all that is known at finitely many points: conjugates
    are (1/L)-strongly convex, and finite on the ball of radius M alone, and the maximum of the parabolas which one has
    to exceed is such a function there (Taylor, Hendrickx and Glineur, 2017).

    Args:
        L: The letter of the smoothness constant.
        M: The letter of the Lipschitz constant.
        optimum: What x* is, by default a minimiser of the sum, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.SmoothConvexLipschitz(*ft.letters("L M")).text
        'each convex, L-smooth and M-Lipschitz'
    """

    L: sympy.Symbol
    M: sympy.Symbol

    alike = True
    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex, {self.L}-smooth and {self.M}-Lipschitz"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.L: "L", self.M: lambda problem, params: problem.M}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        f, steepest = problem.f, steepest_squared(problem.f, problem.optimum.x)
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and max(steepest) <= problem.M**2)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        f = problem.f
        return each(min(0 * problem.L, *f.mu), f.n), each(max(problem.L, *f.L), f.n)

    def steepest(self, problem: Problem, params: object) -> Scalar:
        """The square of the length of a gradient, at most: as declared, or as of functions that do not keep to it."""
        return max(problem.M**2, *steepest_squared(problem.f, problem.optimum.x))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances a little less smooth or convex than the class allows, or steeper."""
        f: Any = problem.f
        steepest = self.steepest(problem, params)
        for name, worse, changed in super().outside(problem, params, known):
            # As steep as the class allows.
            cast(Any, worse.f).steepest_squared = each(problem.M**2, f.n)
            yield name, worse, changed
        for i in range(f.n):
            steeper = np.where(np.arange(f.n) == i, steepest * (1 + WORSE), problem.M**2)
            steep = only_declared(f, f.mu, f.L, steepest_squared=steeper)
            yield "steeper functions", replace(problem, f=steep), params


@sampler.register(SmoothConvexLipschitz)
class SmoothLipschitzSampler(Sampler):
    """Sums over coordinates of functions that are quadratic between two lines, mostly as steep as the class allows."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        L, M = members.scale(rng), members.scale(rng)
        steep = [M * Fraction(v) for v in pick(rng, STEEP.get(d, (("1", *("0",) * (d - 1)),)))]
        drawn = [[pick(rng, (-1, 0, 0, 1)) for _ in range(d)] for _ in range(n)]
        means = [Fraction(sum(v[j] for v in drawn), n) for j in range(d)]
        # At x* as steep as the class allows, or less, so that there is something left on both sides.
        most = max(Fraction(1), *(abs(v[j] - means[j]) for v in drawn for j in range(d)))
        share = pick(rng, (Fraction(1), Fraction(1, 2), Fraction(1, 4))) / most
        y = [tuple(share * steep[j] * (v[j] - means[j]) for j in range(d)) for v in drawn]
        used = pick(rng, (Fraction(1), Fraction(1), Fraction(1), Fraction(1, 2)))

        def client(i: int) -> Recipe:
            h = [pick(rng, (L, L, L / 2)) if v else Fraction(0) for v in steep]
            # From x* the gradient has so far to go, down and up, until it is as steep as can be.
            down, up = ([used * (steep[j] + sign * y[i][j]) for j in range(d)] for sign in (1, -1))
            return {
                "h": (Fraction(0),) * d,
                "h_above": tuple(h),
                "h_beyond": (Fraction(0),) * d,
                "kink": tuple(-a / b if b else Fraction(0) for a, b in zip(down, h, strict=True)),
                "kink_beyond": tuple(a / b if b else Fraction(0) for a, b in zip(up, h, strict=True)),
                "y": y[i],
            }

        clients = tuple(client(i) for i in range(n))
        return {"d": d, "x": small(rng, d), "clients": clients, str(self.of.L): L, str(self.of.M): M}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(0, L, M) for the L and the M of a recipe; ``ValueError`` unless they are positive."""
        L, M = recipe[str(self.of.L)], recipe[str(self.of.M)]
        check_shape(recipe["d"], L, M)
        return number(0, exact), number(L, exact), number(M, exact)
