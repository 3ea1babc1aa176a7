"""A few functions, each in a class of its own, that a method queries one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from fedtheory.classes.base import ELL, MU, WORSE, Declared, FunctionClass, Outside, WithLettersOf, only_declared
from fedtheory.classes.convex import Convex, StronglyConvex
from fedtheory.classes.sets import ConvexSet, build_sets
from fedtheory.classes.smooth import Smooth, SmoothConvex
from fedtheory.classes.strongly_convex import SmoothStronglyConvex
from fedtheory.instances import Recipe, members
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem

#: Classes that say no more of a function than between which numbers its curvatures are.
_OF_CURVATURES = (SmoothStronglyConvex, SmoothConvex, Smooth, StronglyConvex, Convex)
#: The largest number of functions with names.
MOST = 4


@dataclass(frozen=True)
class Named(WithLettersOf):
    """f_1, ..., f_n, two to four, of the classes ``of``, one each; x* is a minimiser of their sum.

    With ``clients=(2,)``, ``problem.f.gradient(x[..., None, :])[..., 0, :]`` is the gradient of f_1, and
    ``problem.f.resolvent(1 / gamma, x[..., None, :] / gamma)[..., 1, :]`` the proximal point of f_2 at x. The constants
    of one of the classes may be letters, those of the others may not. Or all are convex sets with x* in common, and
    ``problem.f.project(x[..., None, :])[..., 1, :]`` is the point of the second that is nearest to x.

    Args:
        of: The classes, in the order of the functions.
        optimum: What x* is: "consensus", a minimiser of the sum.

    Raises:
        ValueError: For fewer than two classes or more than four, for classes that say more of functions than their
            curvatures, or if two of them have letters.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Named((ft.SmoothConvex(ft.letters("L")), ft.Convex())).text
        'f_1 convex and L-smooth; f_2 convex'
    """

    of: tuple[FunctionClass, ...]

    alike = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.of, tuple) or not 2 <= len(self.of) <= MOST:
            raise ValueError(f"named functions are of 2 to {MOST} classes, in a tuple, got {self.of!r:.60}")
        names = ", ".join(kind.__name__ for kind in _OF_CURVATURES)
        for part in self.of:
            if (type(part) not in _OF_CURVATURES and not self.sets) or part.optimum != "consensus":
                raise ValueError(f"a named function is of one of the classes {names}, got {part!r:.60}")
        if sum(bool(part.letters) for part in self.of) > 1:
            raise ValueError("the constants of one named function are letters, of the others none: make these Convex()")

    @property
    def sets(self) -> bool:  # type: ignore[override]
        """True if all are convex sets."""
        return all(type(part) is ConvexSet for part in self.of)

    @property
    def loose(self) -> bool:  # type: ignore[override]
        """True if the formulas of some function are weaker than what is known of its class."""
        return any(part.loose for part in self.of)

    @property
    def named(self) -> int:
        """The number of functions that code asks one by one."""
        return len(self.of)

    @property
    def lettered(self) -> FunctionClass:
        """The class whose constants are letters, or the first."""
        return next((part for part in self.of if part.letters), self.of[0])

    @property
    def text(self) -> str:
        """The class, in words."""
        return "; ".join(f"f_{i} {part.text.removeprefix('each ')}" for i, part in enumerate(self.of, 1))

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        parts = tuple(part.declares for part in self.of)
        if self.sets:
            return Declared(named=parts)
        return Declared(named=parts, convex=all(part.convex for part in parts))

    def _bounds(self, problem: Problem) -> list[tuple[Any, Any]]:
        """The least and the largest curvature that each class allows."""
        values = {sympy.S.Zero: 0 * problem.mu, MU: problem.mu, ELL: problem.L, -ELL: -problem.L, None: math.inf}
        bounds = [part.declares.bounds for part in self.of]
        return [(values[b.least], values[b.largest]) for b in bounds if b is not None]

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if each function of an instance belongs to its class."""
        if self.sets:
            return problem.n == len(self.of) and self.of[0].contains(problem, params)
        bounds = self._bounds(problem)
        f = problem.f
        return f.n == len(bounds) and all(
            mu >= low and L <= high for mu, L, (low, high) in zip(f.mu, f.L, bounds, strict=True)
        )

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: those of its class, or of a function that is beyond it."""
        bounds = self._bounds(problem)
        low = [min(known[0], mu) for known, mu in zip(bounds, problem.f.mu, strict=True)]
        high = [max(known[1], L) for known, L in zip(bounds, problem.f.L, strict=True)]
        return np.array(low, dtype=object), np.array(high, dtype=object)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances with one function a little less convex, or less smooth, than its class allows."""
        low, high = self.curvatures(problem, params)
        f = problem.f
        for i, here in enumerate(np.eye(f.n, dtype=bool)):
            below = np.where(here, np.minimum(low, known.f.mu) - WORSE, f.mu)
            flat = only_declared(f, below, f.L)
            yield "less convex functions", replace(problem, f=flat), params
            if high[i] < math.inf:
                above = np.where(here, np.maximum(high, known.f.L) * (1 + WORSE), f.L)
                steep = only_declared(f, f.mu, above)
                yield "less smooth functions", replace(problem, f=steep), params


@sampler.register(Named)
class NamedSampler(Sampler):
    """Functions of several classes, each drawn as of its own."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipes = [sampler(part, self.drawing).draw(rng, 1, d, False, minimised) for part in self.of.of]
        clients = [recipe["clients"][0] for recipe in recipes]
        if any("dip" in client for client in clients):
            # No function has both kinks and strips of another curvature.
            clients = [{k: v for k, v in client.items() if k not in members.JUMPS} for client in clients]
        if any("jump" in client for client in clients):
            # Kinks are along coordinates, and so are all curvatures.
            clients = [{k: v for k, v in client.items() if k != "turn"} for client in clients]
        letters = {str(x): recipe[str(x)] for recipe in recipes for x in self.of.letters if str(x) in recipe}
        return {"d": d, "x": recipes[0]["x"], "clients": tuple(clients), **letters}

    def at(self, values: Mapping[str, Any], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point; the others have the curvature 0, but gradients of their own."""
        recipe = sampler(self.of.lettered, self.drawing).at(values, 1, stiff, False)
        (own,) = recipe["clients"]
        flat = {"h": tuple(0 * v for v in own["h"]), "y": own["y"]}
        return {**recipe, "clients": tuple(own if part is self.of.lettered else flat for part in self.of.of)}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of the class with letters."""
        return sampler(self.of.lettered, self.drawing).declared(recipe, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Any:
        """The functions with gradients ``y (..., n, d)`` at ``x (..., d)``; ``ValueError`` unless there is one of each
        class, and where coordinates are turned of functions with kinks."""
        if len(parts) != self.of.named:
            raise ValueError(f"there are {self.of.named} named functions, got {len(parts)}")
        if self.of.sets:
            return build_sets(parts, x, 0 * y, exact)
        if any("jump" in c for c in parts) and any(c.get("turn", 0) for c in parts):
            raise ValueError("functions with kinks are sums over coordinates")
        return members.curved(parts, x, y, exact)
