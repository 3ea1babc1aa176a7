"""Closed convex sets: a constraint beside functions of a class, and sets that have points in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import sympy

from fedtheory.classes.base import Bounds, Declared, FunctionClass, OfAnother, Outside, each
from fedtheory.classes.convex import STEEP, Convex, ConvexLipschitz, StronglyConvex
from fedtheory.classes.smooth import SmoothConvex
from fedtheory.classes.strongly_convex import SmoothStronglyConvex
from fedtheory.instances import Recipe, Source, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import InnerSampler, Sampler, sampler
from fedtheory.numbers.rational import Array, apply
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.sets import Boxes

#: Classes of convex functions that may stand beside a constraint.
_BESIDE = (SmoothStronglyConvex, SmoothConvex, StronglyConvex, Convex, ConvexLipschitz)
#: Tangents of half the angles by which sets are turned.
_TURNS = tuple(Fraction(v) for v in (0, 0, "1/10", "1/3", "-1/3", "2/3", "1"))


@dataclass(frozen=True)
class Constrained(OfAnother):
    """Convex f_1, ..., f_n of the class ``of``, and a closed convex set C: minimise (1/n) sum f_i(x) over the x in C.

    ``problem.project(x)`` is the point of C nearest to ``x (..., d)``. With a letter D no two points of C are farther
    apart than D, and ``problem.lmo(v)`` is a point s of C at which <v, s> is least. A part of the state of the kind
    "feasible" is any point of C. x* is a minimiser in C, in the sense that the vector -(1/n) sum y*_i is normal to C
    there: <-(1/n) sum y*_i, s - x*> <= 0 for all s in C.

    Args:
        of: The class of the f_i.
        D: The letter of the diameter, None for any closed convex set.
        optimum: What x* is: "consensus", a minimiser in C.

    Raises:
        ValueError: For another class of functions, or for a diameter that is not a letter.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Constrained(ft.SmoothConvex(ft.letters("L")), ft.letters("D")).text
        'each convex and L-smooth, over a closed convex set of diameter D'
    """

    D: sympy.Symbol | None = None

    optima: ClassVar[tuple[str, ...]] = ("consensus",)
    alike = True
    has_g = True
    with_g = True
    sets = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.of) not in _BESIDE or self.of.optimum != "consensus":
            names = ", ".join(kind.__name__ for kind in _BESIDE)
            raise ValueError(f"beside a constraint functions are of one of the classes {names}, got {self.of!r:.60}")
        if self.D is not None:
            self._check_letters({**{str(x): x for x in self.of.letters}, "D": self.D})

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{self.of.text}, over a closed convex set" + ("" if self.D is None else f" of diameter {self.D}")

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        own: dict[sympy.Symbol, Source] = {} if self.D is None else {self.D: lambda problem, params: problem.D}
        return {**self.of.letters, **own}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        known = self.of.declares
        return Declared(
            known.bounds,
            of_g=Bounds(sympy.S.Zero, None),
            differentiable=known.differentiable,
            sets=True,
            bounded=self.D is not None,
        )

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the f_i of an instance belong to their class, and the constraint is as wide as declared."""
        C = problem.g
        if not (isinstance(C, Boxes) and self.of.contains(replace(problem, g=None), params)):
            return False
        normal = -problem.y_star.sum(axis=-2, keepdims=True) / problem.n
        return C.are_normal(problem.x_star[None], normal) and (self.D is None or C.is_within(problem.D))

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return self.of.curvatures(replace(problem, g=None), params)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose f_i are just outside their class."""
        for name, worse, changed in self.of.outside(replace(problem, g=None), params, replace(known, g=None)):
            yield name, replace(worse, g=problem.g), changed


@dataclass(frozen=True)
class ConvexSet(FunctionClass):
    """Each client has a closed convex set C_i; x* is a point that is in all of them.

    ``problem.f.project(x)`` are the points of the sets nearest to ``x (..., n, d)``. There are no values, and no
    gradients; y* is 0. There are no letters.

    Args:
        optimum: What x* is: "consensus", any common point.

    Examples:
        >>> import fedtheory as ft
        >>> ft.ConvexSet().text
        'each a closed convex set'
    """

    optima: ClassVar[tuple[str, ...]] = ("consensus",)
    constants: ClassVar[tuple[str, ...]] = ()
    alike = True
    sets = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each a closed convex set"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """None."""
        return {}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(sets=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if x* is a point of all sets of an instance."""
        f = problem.f
        return isinstance(f, Boxes) and f.are_normal(problem.x_star[None] + 0 * problem.y_star, 0 * problem.y_star)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """0 and infinity for each set, ``(n,)``."""
        return each(Fraction(0), problem.n), each(math.inf, problem.n)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """None."""
        yield from ()


def draw_set(rng: np.random.Generator, d: int, widths: Sequence[Fraction], bounded: bool) -> Recipe:
    """A box about a point: how wide it is along each axis, which share of that lies below the point where it is not at
    an end, whether there is no end on the other side (1), and how the axes are turned."""
    return {
        "widths": tuple(widths),
        "shares": tuple(pick(rng, (Fraction(0), Fraction(0), Fraction(1), Fraction(1, 2))) for _ in range(d)),
        "open": tuple(Fraction(0) if bounded else pick(rng, (Fraction(0), Fraction(1))) for _ in range(d)),
        "angle": pick(rng, _TURNS) if d == 2 else Fraction(0),
    }


def build_sets(parts: Sequence[Recipe], x: Array, normal: Array, exact: bool, diameter: Scalar | None = None) -> Boxes:
    """The sets of some recipes about ``x (..., d)``, to which the vectors ``normal (..., n, d)`` are normal there.

    ``ValueError`` for shapes that do not fit, and for negative widths.
    """
    d = x.shape[-1]
    width, share, gone = (numbers([c[key] for c in parts], exact) for key in ("widths", "shares", "open"))
    if width.shape != (len(parts), d) or (width < 0).any() or (share < 0).any() or (share > 1).any():
        raise ValueError("the widths of a set are at least 0, one for each coordinate, and shares lie in between")
    axes = np.stack([turned_axes(number(c["angle"], exact), d, exact) for c in parts])
    w = apply(np.swapaxes(axes, -1, -2), normal)
    zero, one = 0 * width, 0 * width + 1
    below = np.where(w > 0, one, np.where(w < 0, zero, share))
    far = np.where(gone > 0, math.inf, width)
    low = np.where((w > 0) & (gone > 0), -far, -below * width)
    high = np.where(w > 0, zero, np.where(gone > 0, far, (1 - below) * width))
    return Boxes(axes, x[..., None, :] + 0 * normal, low, high, diameter)


def turned_axes(t: Scalar, d: int, exact: bool) -> Array:
    """The unit vectors, in the plane turned by twice the angle whose tangent is ``t``."""
    if d != 2:
        return numbers(np.eye(d, dtype=int), exact)
    cos, sin = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    return np.array([[cos, -sin], [sin, cos]], dtype=object if exact else float)


@sampler.register(Constrained)
class ConstrainedSampler(InnerSampler):
    """Functions of a class, and a box about x* to which the gradients there are normal."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipe = self.inner.draw(rng, n, d, False, minimised)
        if isinstance(self.of.of, ConvexLipschitz) and pick(rng, (True, True, False)):
            recipe = {**recipe, "clients": tuple(_leaning(rng, c) for c in recipe["clients"])}
        size, D = members.scale(rng), self.of.D
        if D is None:
            widths = [pick(rng, (0, 1, 1, 3)) * size for _ in range(d)]
            return {**recipe, "g": draw_set(rng, d, widths, False)}
        lengths = pick(rng, STEEP.get(d, (("1", *("0",) * (d - 1)),)))
        found = draw_set(rng, d, [size * Fraction(v) for v in lengths], True)
        return {**recipe, "g": found, str(D): size / pick(rng, members.SHARES)}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the f_i of a recipe; ``ValueError`` unless the diameter is positive."""
        if self.of.D is not None:
            check_shape(recipe["d"], recipe[str(self.of.D)])
        return super().declared(recipe, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions with gradients ``y (..., n, d)`` at ``x (..., d)``, or the set to which y is normal there."""
        if len(parts) == 1 and parts[0] is recipe["g"]:
            D = None if self.of.D is None else number(recipe[str(self.of.D)], exact)
            return cast(Functions, build_sets(parts, x, y, exact, D))
        return super().build(recipe, parts, x, y, exact)


def _leaning(rng: np.random.Generator, client: Recipe) -> Recipe:
    """A function with half of its jumps, and what these give up in its gradient at x*: it is as steep as before."""
    half = tuple(v / 2 for v in client["jump"])
    y = tuple(v + pick(rng, (0, 1, -1)) * h for v, h in zip(client["y"], half, strict=True))
    return {**client, "jump": half, "y": y}


@sampler.register(ConvexSet)
class ConvexSetSampler(Sampler):
    """Boxes that have x* in common."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the sets of a random member."""
        size, none = members.scale(rng), (Fraction(0),) * d

        def client() -> Recipe:
            return {**draw_set(rng, d, [pick(rng, (0, 0, 1, 3)) * size for _ in range(d)], False), "y": none}

        return {"d": d, "x": small(rng, d), "clients": tuple(client() for _ in range(n))}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(0, infinity)."""
        check_shape(recipe["d"])
        return number(Fraction(0), exact), float("inf")

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The sets about ``x (..., d)``, whatever ``y (..., n, d)`` is."""
        return cast(Functions, build_sets(parts, x, 0 * y, exact))
