"""Smooth functions, convex or not, whose average is strongly convex towards x*."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

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
from fedtheory.classes.quadratic_growth import above_parabola, in_order
from fedtheory.classes.restricted_secant import RidgedSampler
from fedtheory.instances import Recipe, members, pick
from fedtheory.instances.members import sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.growth import pieces
from fedtheory.problems.ridged import Ridged

#: The shares of a derivative that are left where it has fallen; below 2 - sqrt 2 the function alone is not a member.
_LEFT = tuple(Fraction(v) for v in ("3/5", "3/4", "9/10"))


@dataclass(frozen=True)
class QuasiStronglyConvex(OfTwoConstants):
    r"""Each f_i is L-smooth, convex or not; the average f has a minimiser, x*, and is quasi-strongly convex:
    $f^* \ge f(x) + \langle \nabla f(x), x^* - x \rangle + \frac{\mu}{2} |x - x^*|^2$ for all x.

    The inequality is that of strong convexity with x* as one of the two points, so that f need not be convex (Gower et
    al., 2019). Along the line from x* it says that (f - f*)/r grows by at least mu/2, hence
    $f(x) - f^* \ge \frac{\mu}{2} |x - x^*|^2$. That f is above this parabola where its bound by smoothness from x is
    closest to it gives $|g - \mu (x - x^*)|^2 \le (L - \mu) (2 (f(x) - f^*) - \mu |x - x^*|^2)$ for the gradient g at
    x. More may be known about two points neither of which is x*.

    Args:
        mu: The letter of the constant of quasi-strong convexity.
        L: The letter of the smoothness constant.
        optimum: "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.QuasiStronglyConvex(*ft.letters("mu L")).text
        'f mu-quasi-strongly convex, each f_i L-smooth'
    """

    alike = True
    loose = True
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"f {self.mu}-quasi-strongly convex, each f_i {self.L}-smooth"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(-ELL, ELL), average=_towards(MU, ELL))

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        f = problem.f
        return bool(max(_lipschitz(f)) <= problem.L and quasi_convexity(f, problem.optimum.x) >= problem.mu)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, or those of functions that do not keep to it."""
        largest = max(problem.L, *_lipschitz(problem.f))
        return each(-largest, problem.n), each(largest, problem.n)

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f at a point."""
        f = problem.f
        return _towards(min(problem.mu, quasi_convexity(f, problem.optimum.x)), max(problem.L, *_lipschitz(f)))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances a little less smooth than the class allows, or whose average is less quasi-strongly convex."""
        yield from super().outside(problem, params, known)
        f = problem.f
        # Nothing but the mean of the curvatures is known of such an average.
        less = only_declared(f, each(problem.mu * (1 - WORSE), f.n), f.L)
        yield "other functions", replace(problem, f=less), params


def _towards(mu: Scalar, L: Scalar) -> Average:
    growing = above_parabola(mu, L)

    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        """mu/2 |x - x*|^2 <= f(x) - f*, and what is known where the gradient is."""
        yield from growing(x, gap, gradient)
        if gradient is not None:
            yield "quasi-strong convexity", gap + mu / 2 * x**2 - gradient * x
            yield "f at least f*", gradient**2 / (2 * L) - gap

    return formulas


def _lipschitz(f: Functions) -> Array:
    """The Lipschitz constants of the gradients, ``(n,)``."""
    return np.maximum(f.L, -f.mu)


def quasi_convexity(f: Functions, x: Array) -> Any:
    r"""The largest m with f(x + z) - f(x) <= <grad f(x + z), z> - m |z|^2/2 for all z, f the average, stationary at
    ``x (d,)``.

    The best of a sum over coordinates; else what curvatures say. Of a piece A + B z + C z^2/2 it is C - 2A/z^2, least
    at an end.
    """
    known = f.secants(x) if isinstance(f, Ridged) else None
    if known is not None:
        return known[0]
    parts = pieces(f, x)
    if parts is None:
        return sum(f.mu) / f.n
    found: list[Scalar] = []
    for piece in parts:
        constant = piece.value - piece.derivative * piece.start + piece.slope * piece.start**2 / 2
        found.append(piece.slope - 2 * constant / piece.start**2 if piece.start else piece.slope)
        found.append(piece.slope if piece.end is None else piece.slope - 2 * constant / piece.end**2)
    return min(found)


@sampler.register(QuasiStronglyConvex)
class QuasiStronglyConvexSampler(RidgedSampler):
    """Functions whose average is strongly convex towards x*, some of them with dents or ridges."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constants that they have."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        plain = members.draw_functions(rng, n, d, (mu, L), False)
        recipe: Recipe = plain
        sort = pick(rng, ("convex", "dented", "dented", "average", "ridges"))
        if sort == "ridges" and d > 1:
            recipe = self.ridged(rng, plain, L)
        elif sort == "dented":
            recipe = {**plain, "clients": tuple(_dented(rng, c["y"], L) for c in plain["clients"])}
        elif sort == "average":
            ends = (-L * Fraction(6, 7), L)
            recipe = members.draw_functions(rng, n, d, ends, False, turned=False)
        least, largest = self._constants(recipe)
        if least <= 0:
            recipe = plain
            least, largest = self._constants(recipe)
        share = pick(rng, members.SHARES)
        return {**recipe, str(self.of.mu): Fraction(least) * share, str(self.of.L): Fraction(largest) / share}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless 0 < mu <= L."""
        return in_order(self.of, recipe, exact, "constant of quasi-strong convexity")

    def _constants(self, recipe: Recipe) -> tuple[Any, Any]:
        """The best mu and L of a recipe's functions."""
        f, x = self.of_recipe(recipe)
        return quasi_convexity(f, x), max(_lipschitz(f))


def _dented(rng: np.random.Generator, y: tuple[Fraction, ...], L: Fraction) -> Recipe:
    """A function of the curvature L, but for -L on a short way on one side of x*, in each coordinate."""
    start = pick(rng, tuple(Fraction(v) for v in ("1/4", 1, 2)))
    ends = [(start, start * (2 - pick(rng, _LEFT))) for _ in y]
    turned = [(near, far) if pick(rng, (True, False)) else (-far, -near) for near, far in ends]
    slopes: Recipe = {"h": (L,) * len(y), "h_above": (-L,) * len(y), "h_beyond": (L,) * len(y), "y": y}
    return {**slopes, "kink": tuple(a for a, _ in turned), "kink_beyond": tuple(b for _, b in turned)}
