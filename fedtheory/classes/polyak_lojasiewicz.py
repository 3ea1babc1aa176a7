"""Smooth functions whose average is Polyak-Lojasiewicz."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from fedtheory.classes.base import ELL, MU, Average, Bounds, Declared, OfTwoConstants, Outside, each, only_declared
from fedtheory.classes.quadratic_growth import in_order
from fedtheory.instances import Recipe, generic, members, numbers, pick
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.separable import lojasiewicz_constant


@dataclass(frozen=True)
class PolyakLojasiewicz(OfTwoConstants):
    r"""The average f of the f_i is mu-Polyak-Lojasiewicz, |grad f(x)|^2 \ge 2 mu (f(x) - f^*), and has a minimiser, x*;
    each f_i is L-smooth, convex or not.

    The condition is of the average: the f_i need not meet it, nor be bounded below. x* is one of perhaps many
    minimisers. ``own``: each f_i is smooth with an L_i of its own, which ``problem.f.L`` gives, and L, of f, is the
    mean of the L_i.

    What is known of the average are these inequalities at every point, and that f is L-smooth: necessary conditions, so
    that a bound that they give holds, and one that they do not give may hold. Among the members are functions that are
    not convex, and flat directions.

    Args:
        mu: The letter of the constant of the condition.
        L: The letter of the smoothness constant.
        own: True if each f_i has a smoothness constant of its own.
        optimum: What x* is, by default a minimiser of the average, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.PolyakLojasiewicz(*ft.letters("mu L")).text
        'f mu-Polyak-Lojasiewicz, each f_i L-smooth'
    """

    own: bool = False

    flat: ClassVar[str] = "Smooth({})"
    loose = True

    @property
    def alike(self) -> bool:  # type: ignore[override]
        """True if its letters are all the constants that the class has."""
        return not self.own

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.own:
            return f"f {self.mu}-Polyak-Lojasiewicz and {self.L}-smooth, f_i L_i-smooth, {self.L} the mean of the L_i"
        return f"f {self.mu}-Polyak-Lojasiewicz, each f_i {self.L}-smooth"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(-ELL, ELL, own=self.own), average=_steep(MU, ELL))

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        smooth = _lipschitz(problem.f)
        within = smooth.mean() <= problem.L if self.own else max(smooth) <= problem.L
        return bool(within and lojasiewicz_constant(problem.f, problem.optimum.x) >= problem.mu)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, of ``own`` constants -L_i and L_i."""
        smooth = _lipschitz(problem.f)
        largest = smooth if self.own else each(max(problem.L, *smooth), problem.n)
        return -largest, largest

    def mean_square(self, problem: Problem, params: object) -> Scalar:
        """The mean of the squares of the Lipschitz constants of the gradients, of ``own`` constants the L_i."""
        return (self.curvatures(problem, params)[1] ** 2).mean()

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f at a point."""
        smooth = _lipschitz(problem.f)
        return _steep(problem.mu, max(problem.L, smooth.mean() if self.own else max(smooth)))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances a little less smooth than the class allows, or whose average does not meet the condition."""
        yield from super().outside(problem, params, known)
        f = problem.f
        # Nothing is known of the growth of such an average.
        changed = only_declared(f, -np.maximum(f.L, -f.mu), f.L)
        yield "other functions", replace(problem, f=changed), params


def _steep(mu: Scalar, L: Scalar) -> Average:
    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        """|grad f(x)|^2/(2L) <= f(x) - f* <= |grad f(x)|^2/(2 mu)."""
        if gradient is None:
            yield "f at least f*", -1 * gap
            return
        yield "f at least f*", gradient**2 / (2 * L) - gap
        yield "Polyak-Lojasiewicz", gap - gradient**2 / (2 * mu)

    return formulas


def _lipschitz(f: Functions) -> Array:
    """The Lipschitz constants of the gradients, ``(n,)``."""
    return np.maximum(f.L, -f.mu)


@sampler.register(PolyakLojasiewicz)
class LojasiewiczSampler(Sampler):
    """Functions whose average is Polyak-Lojasiewicz, some of them not convex, and flat directions."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constant that they have."""
        # Stepsizes have nine digits: of a size far from 1 they leave certificates no room.
        L = pick(rng, (Fraction(1), Fraction(1), generic(rng, Fraction(1, 2), Fraction(4))))
        mu = L / members.condition(rng)
        recipe: Recipe = members.draw_functions(rng, n, d, (mu, L), False)
        sort = pick(rng, ("convex", "convex", "strips", "average", "flat"))
        if sort == "strips":
            recipe = members.minimised(members.draw_strips(rng, recipe, -L, L, monotone=True))
        elif sort == "average":
            # Curvatures between the ends are not 0: a function that is linear has no L_i.
            ends = (-L * Fraction(6, 7), L)
            recipe = members.minimised(members.draw_functions(rng, n, d, ends, False, kinks=False, turned=False))
        elif sort == "flat" and d > 1:
            plain = members.draw_functions(rng, n, d, (mu, L), False, kinks=False, turned=False)
            flat = tuple({**c, "h": (Fraction(0), *c["h"][1:])} for c in plain["clients"])
            recipe = {**plain, "clients": flat}
        own = _constant(recipe)
        if own <= 0:
            # No constant serves: plain functions have one.
            recipe = members.draw_functions(rng, n, d, (mu, L), False)
            own = _constant(recipe)
        if self.of.own:
            L = sum(max(members.sizes(c)) for c in recipe["clients"]) / n
        return {**recipe, str(self.of.mu): own * pick(rng, members.SHARES), str(self.of.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless 0 < mu <= L."""
        return in_order(self.of, recipe, exact, "Polyak-Lojasiewicz constant")


def _constant(recipe: Recipe) -> Fraction:
    """The Polyak-Lojasiewicz constant of the average of a recipe's functions, or a lower bound, as a fraction."""
    x = numbers((0,) * recipe["d"], True)
    f = members.curved(recipe["clients"], x, numbers([(0,) * recipe["d"]] * len(recipe["clients"]), True), True)
    return Fraction(lojasiewicz_constant(f, x))
