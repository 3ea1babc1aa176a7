"""Functions of a variable each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from fedtheory.classes.base import Declared, OfClient, OfTwoConstants, Outside, each
from fedtheory.classes.strongly_convex import StronglyConvexSampler, beyond_constants
from fedtheory.instances import Recipe, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import diagonal


@dataclass(frozen=True)
class SmoothBlocks(OfTwoConstants):
    """h_1, ..., h_n, each of a variable of its own, each mu_i-strongly convex and L_i-smooth with the L_i ``(n,)`` of a
    field ``L`` of ``Params``, which the setting's ``parameters`` make of the clients' entries ``L``.

    ``mu``, ``L``: the least of the mu_i and the largest of the L_i. ``common``: whether one mu is declared of all. The
    members are quadratics with any centres.
    """

    common: bool = False

    optima: ClassVar[tuple[str, ...]] = ("sum zero", "none")

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each mu_i-strongly convex and L_i-smooth"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        client = OfClient("mu" if self.common else "f.mu", "params.L", conjugates=True, equal=True)
        return Declared(client=client, differentiable=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        convex = bool(min(problem.f.mu) >= problem.mu)
        return convex and all(h <= bound for h, bound in zip(problem.f.L, params.L, strict=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(min(problem.mu, *problem.f.mu), problem.n), params.L

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        return beyond_constants(self, problem, params, known)


@dataclass(frozen=True)
class ConvexBlocks(SmoothBlocks):
    """h_1, ..., h_n, each of a variable of its own, convex and L_i-smooth; the members are strongly convex."""

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each convex and L_i-smooth"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(client=OfClient("0", "params.L", conjugates=True, equal=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(min(0 * problem.mu, *problem.f.mu), problem.n), params.L


@sampler.register(SmoothBlocks)
class BlocksSampler(StronglyConvexSampler):
    """Quadratics with any centres, each of a variable of its own."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        top = members.scale(rng)
        mu = top / self.condition(rng)
        spread = pick(rng, ((1,), (1, 2, 3, 4), (1, 10, 100), (1, 4))) if not self.of.common else (1, 1, 2)
        bounds = [max(mu, top / pick(rng, spread)) for _ in range(n - 1)] + [top]
        # Each function at the ends of its own class, or flatter.
        clients = tuple(
            {"L": L, "h": tuple(pick(rng, (L, L, mu, (L + mu) / 2)) for _ in range(d)), "c": small(rng, d)}
            for L in bounds
        )
        level = Fraction(0) if self.of.common else pick(rng, tuple(Fraction(v) for v in (0, 0, 1, -2, 50)))
        recipe = {"d": d, "level": level, "clients": clients}
        return {**recipe, str(self.of.mu): mu} if self.of.common else recipe

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """L_1 = 1, the other L_i = 1/``values["spread"]``, or all of them 1; mu = 1/kappa."""
        base, spread = super().at(values, n, stiff, False), values.get("spread", Fraction(1))
        mu = 1 / values["kappa"]
        if not mu <= 1 / spread <= 1:
            raise ValueError("spread = L_max/L_min must lie between 1 and kappa")
        bounds = [Fraction(1), *[1 / spread] * (n - 1)]
        slopes = [c["h"] if self.of.common else (mu,) for c in base["clients"]]
        clients = tuple({"L": L, "h": h, "c": (Fraction(0),)} for L, h in zip(bounds, slopes, strict=True))
        recipe = {"d": 1, "level": Fraction(0), "clients": clients}
        return {**recipe, str(self.of.mu): mu} if self.of.common else recipe

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe."""
        check_shape(recipe["d"], *(v for c in recipe["clients"] for v in c["h"]))
        low = min(v for c in recipe["clients"] for v in c["h"])
        mu = recipe[str(self.of.mu)] if self.of.common else low
        return number(mu, exact), number(max(c["L"] for c in recipe["clients"]), exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        h, c = (numbers([client[key] for client in parts], exact) for key in ("h", "c"))
        return diagonal(h, c, number(recipe["level"], exact) / len(parts))
