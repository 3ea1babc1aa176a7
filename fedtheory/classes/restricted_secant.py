"""Functions whose average slopes towards x*, and not too steeply."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

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
from fedtheory.instances import Recipe, check_shape, members, number, numbers, pick
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.growth import pieces
from fedtheory.problems.ridged import Ridged

#: The heights of ridges, as shares of the curvature along them.
_RIDGES = tuple(Fraction(v) for v in ("1/4", "1/10", "1/100", "-1/4"))


@dataclass(frozen=True)
class RestrictedSecant(OfTwoConstants):
    r"""The average f of differentiable f_i has a minimiser, x*, and meets the restricted secant inequality and the
    error bound: $\langle \nabla f(x), x - x^* \rangle \ge \mu |x - x^*|^2$ and
    $|\nabla f(x)| \le L |x - x^*|$ for all x.

    The conditions concern the average and x*: nothing is assumed of the f_i, or of two points other than x*. f need be
    neither convex nor smooth. $\frac{\mu}{2} |x - x^*|^2 \le f(x) - f^* \le \frac{L}{2} |x - x^*|^2$ follows, along the
    line from x*. Worst cases of the class: Guille-Escuret, Ibrahim, Goujaud and Mitliagkas (2022).

    Args:
        mu: The letter of the restricted secant constant.
        L: The letter of the error bound.
        optimum: "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.RestrictedSecant(*ft.letters("mu L")).text
        'f of restricted secant constant mu and error bound L'
    """

    alike = True
    loose = True
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"f of restricted secant constant {self.mu} and error bound {self.L}"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(None, None), average=_sloping(MU, ELL))

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        least, largest = secants(problem.f, problem.optimum.x)
        return bool(least >= problem.mu and largest <= problem.L)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """No least and no largest curvature of any f_i ``(n,)``."""
        return each(-math.inf, problem.n), each(math.inf, problem.n)

    def growth(self, problem: Problem) -> tuple[Scalar, Scalar]:
        """(mu, L) as declared, or as of functions that do not keep to them."""
        least, largest = secants(problem.f, problem.optimum.x)
        return min(problem.mu, least), max(problem.L, largest)

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f at a point."""
        return _sloping(*self.growth(problem))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose average meets one of the two conditions, and nearly the other."""
        f = problem.f
        low, high = self.growth(problem)
        for mu, L in ((problem.mu, high * (1 + WORSE)), (low * (1 - WORSE), problem.L)):
            changed = only_declared(f, each(mu, f.n), each(L, f.n))
            yield "other functions", replace(problem, f=changed), params


def _sloping(mu: Scalar, L: Scalar) -> Average:
    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        """mu/2 |x - x*|^2 <= f(x) - f* <= L/2 |x - x*|^2, and what is known of the gradient."""
        yield "growth from below", mu / 2 * x**2 - gap
        yield "growth from above", gap - L / 2 * x**2
        if gradient is not None:
            yield "restricted secant", mu * x**2 - gradient * x
            yield "error bound", gradient**2 - L**2 * x**2

    return formulas


def secants(f: Functions, x: Array) -> tuple[Any, Any]:
    r"""(m, M) with m |z|^2 <= <grad f(x + z), z> and |grad f(x + z)| <= M |z| for all z, f the average, stationary at
    ``x (d,)``.

    The best of a sum over coordinates; else what curvatures say. phi'(z)/z is monotone on each piece.
    """
    known = f.secants(x) if isinstance(f, Ridged) else None
    if known is not None:
        return known
    parts = pieces(f, x)
    if parts is None:
        return sum(f.mu) / f.n, sum(np.maximum(f.L, -f.mu)) / f.n
    found: list[Scalar] = []
    for piece in parts:
        found.append(piece.derivative / piece.start if piece.start else piece.slope)
        found.append(piece.slope if piece.end is None else piece.at_end() / piece.end)
    return min(found), max(map(abs, found))


class RidgedSampler(Sampler):
    """Draws also functions with ridges."""

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (n, d)`` at ``x (d,)``; ``ValueError`` where only some have
        ridges."""
        if not any("ridge" in c for c in parts):
            return members.curved(parts, x, y, exact)
        if not all("ridge" in c for c in parts) or any(len(set(c["h"])) > 1 for c in parts):
            raise ValueError("all functions have ridges, and one curvature beside them, or none has")
        a, c = (numbers([c[key] for c in parts], exact) for key in ("h", "ridge"))
        return cast(Functions, Ridged(a[:, 0], c, x, y))

    def ridged(self, rng: np.random.Generator, recipe: Recipe, size: Fraction) -> Recipe:
        """The recipe with functions of the curvature ``size`` along each ray from x*, or half of it, with ridges."""

        def client(given: Recipe) -> Recipe:
            a = size * pick(rng, (Fraction(1), Fraction(1), Fraction(1, 2)))
            return {"h": (a,) * recipe["d"], "y": given["y"], "ridge": a * pick(rng, _RIDGES)}

        return {**recipe, "clients": tuple(map(client, recipe["clients"]))}

    def of_recipe(self, recipe: Recipe) -> tuple[Functions, Array]:
        """The functions of a recipe, less their tangents at x*, and x* = 0, in fractions."""
        x = numbers((0,) * recipe["d"], True)
        y = 0 * numbers([c["y"] for c in recipe["clients"]], True)
        return self.build(recipe, recipe["clients"], x, y, True), x


@sampler.register(RestrictedSecant)
class RestrictedSecantSampler(RidgedSampler):
    """Functions whose average slopes towards x*, some of them with strips that are far from convex."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constants that they have."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        plain = members.draw_functions(rng, n, d, (mu, L), False)
        recipe: Recipe = plain
        sort = pick(rng, ("convex", "strips", "strips", "average", "ridges"))
        if sort == "ridges" and d > 1:
            recipe = self.ridged(rng, plain, L)
        elif sort == "strips":
            recipe = members.draw_strips(rng, plain, -L * pick(rng, (1, 1, 3, 10)), L, monotone=True)
        elif sort == "average":
            ends = (-L * Fraction(6, 7), L)
            recipe = members.draw_functions(rng, n, d, ends, False, turned=False)
        least, largest = secants(*self.of_recipe(recipe))
        if least <= 0:
            recipe = plain
            least, largest = secants(*self.of_recipe(recipe))
        share = pick(rng, members.SHARES)
        return {**recipe, str(self.of.mu): Fraction(least) * share, str(self.of.L): Fraction(largest) / share}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless 0 < mu <= L."""
        mu, L = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], mu, L)
        if mu > L:
            raise ValueError(f"a restricted secant constant is at most the error bound: {self.of.mu} <= {self.of.L}")
        return number(mu, exact), number(L, exact)
