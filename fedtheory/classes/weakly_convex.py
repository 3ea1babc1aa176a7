"""Smooth functions that are convex but for a parabola."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import (
    ELL,
    Average,
    Bounds,
    Declared,
    FunctionClass,
    OfClient,
    S,
    each,
    extremes,
    f_star,
)
from fedtheory.instances import Recipe, Source, check_shape, members, number, pick
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class WeaklyConvex(FunctionClass):
    """Each f_i has curvatures between -s and r >= s >= 0: f_i + (s/2)|.|^2 is convex, f_i is r-smooth. A property of
    each f_i, so that the average has it too; the average has a minimiser, x*.

    ``mu`` is the letter of s, ``L`` that of r. ``symmetric``: s = r, so that all that is known is that gradients are
    r-Lipschitz. There is no kappa.

    Args:
        mu: The letter of s.
        L: The letter of r.
        symmetric: True for s = r.
        optimum: What x* is, by default a minimiser of the average, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.WeaklyConvex(*ft.letters("s r")).text
        'each with curvatures between -s and r'
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    symmetric: bool = False

    flat: ClassVar[str] = "SmoothConvex({})"
    alike = True
    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.symmetric:
            return f"each with an {self.L}-Lipschitz gradient"
        return f"each with curvatures between -{self.mu} and {self.L}"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.mu: lambda problem, params: -problem.mu, self.L: "L"}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        low, word = (-ELL, "-L") if self.symmetric else (-S, "mu")
        return Declared(Bounds(low, ELL), average=f_star(ELL), client=OfClient(word, "L"), weak=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        # Declared are -s and r.
        ordered = 0 <= -problem.mu <= problem.L
        return bool(ordered and min(problem.f.mu) >= problem.mu and max(problem.f.L) <= problem.L)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -s and r, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f: it is r-smooth, and at least f*."""
        return f_star(max(problem.L, *problem.f.L))


@sampler.register(WeaklyConvex)
class WeaklyConvexSampler(Sampler):
    """Weakly convex and smooth functions."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        r = members.scale(rng)
        # Convex functions are among them where the letter may be 0.
        least = "1/14" if self.of.mu.is_positive else 0
        s = r * (
            Fraction(1) if self.of.symmetric else pick(rng, tuple(Fraction(v) for v in (least, "1/7", "3/7", 1, 1)))
        )
        low = (r + s) / members.condition(rng) - s
        recipe: Recipe = members.draw_functions(rng, n, d, (low, r), with_g)
        if minimised and low < 0:
            recipe = members.minimised(members.draw_strips(rng, recipe, -s, r) if pick(rng, (True, False)) else recipe)
        return {**recipe, str(self.of.mu): s, str(self.of.L): r}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(-s, r) for the s and r of a recipe; ``ValueError`` unless 0 <= s <= r, s = r where they must be equal."""
        s, r = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], r)
        if not 0 <= s <= r or (self.of.symmetric and s != r) or (self.of.mu.is_positive and s == 0):
            raise ValueError(f"curvatures lie between -{self.of.mu} and {self.of.L} >= {self.of.mu} >= 0")
        return number(-s, exact), number(r, exact)
