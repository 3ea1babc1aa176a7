"""Functions whose gradients differ from one client to another by a bounded amount."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import Declared, OfAnother, Outside
from fedtheory.classes.smooth import Smooth, SmoothConvex
from fedtheory.classes.strongly_convex import SmoothStronglyConvex
from fedtheory.instances import Recipe, Source, check_shape, members, number, numbers, pick
from fedtheory.instances.members import InnerSampler, sampler
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.separable import is_minimised, profiles

#: Classes that say no more of each function than between which numbers its curvatures are.
_OF_CURVATURES = (SmoothStronglyConvex, SmoothConvex, Smooth)
#: The largest rounding error of a square, relative to it.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class BoundedDissimilarity(OfAnother):
    """f_1, ..., f_n of the class ``of``, with (1/n) sum_i |grad f_i(x) - grad f(x)|^2 <= zeta^2 at every x.

    ``problem.M`` is zeta. Proofs know this at each point at which gradients are asked and that all clients share, and
    at x*.

    Args:
        of: The class of the f_i: ``SmoothStronglyConvex``, ``SmoothConvex`` or ``Smooth``.
        zeta: The letter of the bound.
        optimum: What x* is, by default a minimiser of the average, "consensus".

    Raises:
        ValueError: For another class of functions, or a bound that is not a letter.

    Examples:
        >>> import fedtheory as ft
        >>> L, zeta = ft.letters("L zeta")
        >>> ft.BoundedDissimilarity(ft.Smooth(L), zeta).text
        'each L-smooth, convex or not, and of gradients that differ by zeta at most'
    """

    zeta: sympy.Symbol

    alike = True
    loose = True
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.of) not in _OF_CURVATURES or self.of.optimum != "consensus":
            names = ", ".join(kind.__name__ for kind in _OF_CURVATURES)
            raise ValueError(
                f"gradients of bounded dissimilarity are of one of the classes {names}, got {self.of!r:.60}"
            )
        self._check_letters({**{str(x): x for x in self.of.letters}, "zeta": self.zeta})

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{self.of.text}, and of gradients that differ by {self.zeta} at most"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {**self.of.letters, self.zeta: lambda problem, params: problem.M}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return replace(self.of.declares, between=False, dissimilar=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        if not self.of.contains(problem, params):
            return False
        room = 0 if is_exact(problem.x_star) else _ROUNDING
        return bool(dissimilarity_squared(problem.f, problem.x_star) <= problem.M**2 * (1 + room))

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return self.of.curvatures(problem, params)

    def average(self, problem: Problem, params: object) -> Any:
        """Return what is known of the average of the f_i beyond the f_i."""
        return self.of.average(problem, params)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are just outside the class ``of``."""
        return self.of.outside(problem, params, known)


def dissimilarity_squared(f: Functions, x: Array) -> Any:
    """The largest (1/n) sum_i |grad f_i - grad f|^2, of sums over the coordinates; infinite of other functions.

    Between two kinks it is a convex function of each coordinate, so that it is largest at one of them; beyond the last
    it is constant where the curvatures of all f_i are the same, and else has no bound. ``x (d,)``: any point.
    """
    lines = profiles(f, x)
    if lines is None:
        return 0 * x.sum() if f.n == 1 else math.inf
    found = 0 * x.sum()
    for j, parts in enumerate(lines):
        if any(len({of.slopes[end] for of in parts}) > 1 for end in (0, -1)):
            return math.inf
        along = np.zeros((f.n, f.d), dtype=int)
        along[:, j] = 1
        places = {0 * x[j], *(knot for of in parts for knot in of.knots)}
        found = found + max(_variance(list(f.gradient(x + place * along)[:, j])) for place in places)
    return found


def _variance(of: list[Any]) -> Any:
    mean = sum(of) / len(of)
    return sum((v - mean) ** 2 for v in of) / len(of)


def _root_above(square: Fraction) -> Fraction:
    """The square root of a fraction, or a fraction that is a little more."""
    whole = square.numerator * square.denominator * 10**6
    root = math.isqrt(whole)
    return Fraction(root + (root**2 < whole), square.denominator * 10**3)


@sampler.register(BoundedDissimilarity)
class BoundedDissimilaritySampler(InnerSampler):
    """Functions that are the same but for a linear part and, in some, for the curvatures between two places."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, mostly as far apart as the class allows."""
        drawn = self.inner.draw(rng, n, d, False, minimised)
        low, high = self.inner.declared(drawn, True)[:2]
        # Outside a strip around x* or beside it all are convex, so that the average has a minimiser.
        outer = tuple(abs(v) for v in drawn["clients"][0]["h"])
        between, width = (pick(rng, (Fraction(0), Fraction(1), Fraction(-1, 2))), pick(rng, (Fraction(1), Fraction(2))))
        strips = pick(rng, (True, False))

        def client(given: Recipe) -> Recipe:
            if not strips:
                return {"h": outer, "y": given["y"]}
            inner = tuple(pick(rng, (low, high)) for _ in range(d))
            kinks = {"kink": (between,) * d, "kink_beyond": (between + width,) * d}
            return {"h": outer, "h_above": inner, "h_beyond": outer, "y": given["y"], **kinks}

        clients = tuple(map(client, drawn["clients"]))
        x, none = numbers((0,) * d, True), numbers([(0,) * d] * n, True)
        if minimised and not is_minimised(self.inner.build(drawn, clients, x, none, True), None, x):
            clients = tuple({k: v for k, v in c.items() if k in ("h", "y")} for c in clients)
        y = numbers([c["y"] for c in clients], True)
        built = self.inner.build(drawn, clients, x, y - y.sum(axis=0) / n, True)
        zeta = (_root_above(Fraction(dissimilarity_squared(built, x))) or members.scale(rng)) / pick(
            rng, members.SHARES
        )
        return {**drawn, "clients": clients, str(self.of.zeta): zeta}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L, zeta) of a recipe. Raise ``ValueError`` unless zeta is positive."""
        mu, L = self.inner.declared(recipe, exact)[:2]
        check_shape(recipe["d"], recipe[str(self.of.zeta)])
        return mu, L, number(recipe[str(self.of.zeta)], exact)
