"""Functions with Lipschitz gradients, each with a constant of its own among the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from fedtheory.classes.base import WORSE, FunctionClass, Outside
from fedtheory.instances.base import Recipe, check_shape, number, numbers, pick, small
from fedtheory.instances.sources import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.bent import Bent
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import diagonal


@dataclass(frozen=True)
class SmoothOwn(FunctionClass):
    """Each f_i has an r_i-Lipschitz gradient, convex or not, with the r_i ``(n,)`` of a field ``r`` of ``Params``,
    which the setting's ``parameters`` make of the clients' entries ``r``.

    A property of each f_i. Nothing is known of an optimum, and the class has no letters. The members are quadratics,
    and quadratics less a bend.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    optima: ClassVar[tuple[str, ...]] = ("none",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each with an r_i-Lipschitz gradient"

    @property
    def letters(self) -> Mapping[Any, Source]:
        """None: the r_i are parameters."""
        return {}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        f = problem.f
        return all(-r <= mu and r >= L for mu, L, r in zip(f.mu, f.L, params.r, strict=True))

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""

        def client() -> Recipe:
            h = tuple(pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", "1/50"))) for _ in range(d))
            bend = pick(rng, tuple(Fraction(v) for v in (0, 0, 1, 2, 2)))
            width = pick(rng, (Fraction(1), Fraction(100)))
            if pick(rng, (True, False, False)):
                # Nearly as concave as the class allows, wherever states are.
                h, bend, width = (Fraction(1, 50), *h[1:]), Fraction(2), Fraction(100)
            size = max(*h, bend - min(h))
            scale = pick(rng, (Fraction(1), Fraction(1), Fraction(3)))
            more = {"c": small(rng, d), "width": width}
            return {"h": tuple(scale * v for v in h), "bend": scale * bend, "r": scale * size, **more}

        return {"d": d, "clients": tuple(client() for _ in range(n))}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe."""
        r = max(c["r"] for c in recipe["clients"])
        return number(-r, exact), number(r, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """Functions with their bends at the origin."""
        check_shape(recipe["d"], *(v for c in parts for v in (*c["h"], c["r"], c["width"])))
        if any(c["bend"] < 0 for c in parts):
            raise ValueError("bends must not be negative")
        h, c, b, width = (numbers([client[key] for client in parts], exact) for key in ("h", "c", "bend", "width"))
        if not any(client["bend"] for client in parts):
            return diagonal(h, c)
        u = np.zeros(h.shape, dtype=int) + (b > 0)[:, None] * np.eye(1, recipe["d"], dtype=int)
        f: Any = Bent(h, c, u.astype(h.dtype), np.where(b > 0, b, 1 + 0 * b), 0 * b, width)
        return f

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        r = np.maximum(params.r, np.maximum(problem.f.L, -problem.f.mu))
        return -r, r

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Named instances just outside the class, each worse by a little."""
        r = (1 + WORSE) * known.f.L
        for i in range(problem.n):
            L = np.where(np.arange(problem.n) == i, r, problem.f.L)
            for name, mu in (("less smooth", problem.f.mu), ("less convex", -L)):
                changed: Any = SimpleNamespace(n=problem.n, d=problem.f.d, mu=mu, L=L)
                yield f"{name} functions", replace(problem, f=changed), params
