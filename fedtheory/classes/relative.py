"""Functions whose curvatures are compared with those of a reference function h: relative smoothness and convexity."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import sympy

from fedtheory.classes.base import ELL, MU, Declared, FunctionClass, OfAnother, Outside, each
from fedtheory.classes.convex import Convex, StronglyConvex
from fedtheory.classes.smooth import Smooth, SmoothConvex
from fedtheory.classes.strongly_convex import SmoothStronglyConvex
from fedtheory.instances import Recipe, members, numbers, pick, small
from fedtheory.instances.members import InnerSampler, sampler
from fedtheory.numbers.polynomials import Polynomial
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import less_parabola
from fedtheory.problems.piecewise import Kinked, PiecewiseQuadratic
from fedtheory.problems.quadratic import diagonal
from fedtheory.problems.separable import Profile, profiles

#: Classes that say no more of a function than between which numbers its curvatures are.
_OF_CURVATURES = (SmoothStronglyConvex, SmoothConvex, Smooth, StronglyConvex, Convex)
#: Curvatures of reference functions.
_SIZES = tuple(Fraction(v) for v in (1, 1, 2, 4, 9, 100, "1/4", "1/100"))
#: The largest rounding error of a curvature, relative to it.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Relative(OfAnother):
    """f_1, ..., f_n as of the class ``of``, with the divergence of a reference function h in the place of |x - y|^2/2.

    h is differentiable on R^d, and its gradient is strictly monotone and takes every value; nothing else is known of
    it. With D_h(x, y) = h(x) - h(y) - <grad h(y), x - y>, f_i is L-smooth relative to h if L h - f_i is convex, and
    mu-strongly convex if f_i - mu h is. ``problem.h`` is h, asked as g is; ``problem.divergence(x, y)`` is D_h(x, y),
    ``problem.mirror(z)`` the point where grad h is z, and ``problem.bregman_prox(gamma, z)`` the point x at which
    gamma f(x) + h(x) - <z, x> is least, f the mean of the f_i. All take points ``(..., d)``.

    Args:
        of: The class, one of those that bound the curvatures of each f_i.
        optimum: What x* is: "consensus", a minimiser of the sum.

    Raises:
        ValueError: For another class of functions.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Relative(ft.SmoothConvex(ft.letters("L"))).text
        'each convex and L-smooth, relative to a function h'
    """

    optima: ClassVar[tuple[str, ...]] = ("consensus",)
    alike = True
    reference = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.of) not in _OF_CURVATURES or self.of.optimum != "consensus":
            names = ", ".join(kind.__name__ for kind in _OF_CURVATURES)
            raise ValueError(f"relative to h functions are of one of the classes {names}, got {self.of!r:.60}")

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{self.of.text}, relative to a function h"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        known = self.of.declares
        return Declared(relative=known.bounds, convex=known.convex)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the curvatures of each f_i are, everywhere, within the bounds times that of h."""
        f, h = problem.f, problem.reference
        if h is None or h.mu.min() <= 0 or not h.L.max() < math.inf:
            return False
        least, largest = _declared(self.of, problem)
        if isinstance(f, Kinked):
            if largest is not None and f.jump.any():
                return False
            f = f.f
        x = problem.x_star
        known, of_h = profiles(f, x), profiles(h, x)
        if known is None or of_h is None:
            return False
        room = 0 if is_exact(x) else _ROUNDING
        return all(
            least * c <= s + room * (abs(s) + c) and (largest is None or s <= largest * c + room * abs(s))
            for parts, (own,) in zip(known, of_h, strict=True)
            for part in parts
            for s, c in _curvatures(part, own)
        )

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i relative to h ``(n,)``, as declared."""
        least, largest = _declared(self.of, problem)
        return each(least, problem.n), each(math.inf if largest is None else largest, problem.n)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """None."""
        yield from ()


def _declared(of: FunctionClass, problem: Problem) -> tuple[Scalar, Scalar]:
    """The least and the largest curvature relative to h, the largest None where there is none."""
    bounds = of.declares.bounds
    assert bounds is not None
    values = {sympy.S.Zero: 0 * problem.mu, MU: problem.mu, ELL: problem.L, -ELL: -problem.L, None: None}
    return values[bounds.least], values[bounds.largest]


def _curvatures(one: Profile, other: Profile) -> Iterator[tuple[Scalar, Scalar]]:
    """Yield the curvatures of two functions of one variable between each two of all their places."""
    places = [tuple(map(_known, of.knots)) for of in (one, other)]
    yield one.slopes[0], other.slopes[0]
    for knot in sorted({*places[0], *places[1]}):
        a, b = (of.slopes[bisect_right(knots, knot)] for of, knots in zip((one, other), places, strict=True))
        yield a, b


def _known(knot: Fraction | Polynomial) -> Fraction | Polynomial:
    """A distance from the optimum, which is a number even where runs are started about an optimum that is unknown."""
    if isinstance(knot, Polynomial) and set(knot.terms) <= {()}:
        return Fraction(knot.terms.get((), 0))
    return knot


def _times(client: Recipe, reference: Recipe) -> list[Profile]:
    """For each coordinate the curvatures that a client has relative to a reference function, times those of it."""
    found = []
    for j, _ in enumerate(client["h"]):
        own, by = (
            Profile(tuple(k[j] for k in kinks), tuple(s[j] for s in slopes))
            for slopes, kinks in map(members.pieces, (client, reference))
        )
        # Places that coincide stay apart, so that all profiles have as many pieces.
        knots = sorted((*own.knots, *by.knots))
        slopes = [own.slopes[0] * by.slopes[0]]
        slopes += [own.slopes[bisect_right(own.knots, k)] * by.slopes[bisect_right(by.knots, k)] for k in knots]
        found.append(Profile(tuple(knots), tuple(slopes)))
    return found


@sampler.register(Relative)
class RelativeSampler(InnerSampler):
    """Sums over the coordinates of functions whose curvatures are those of h, times what the class ``of`` has."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with that of h under ``reference``."""
        recipe = self.inner.draw(rng, n, d, False, minimised)
        clients = tuple(map(_along_coordinates, recipe["clients"]))
        return {**recipe, "clients": clients, "reference": _reference(rng, d)}

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        none = (Fraction(0),) * recipe["d"]
        of = [_times(client, recipe["reference"]) for client in parts]
        slopes = [[[p.slopes[k] for p in profiles_] for profiles_ in of] for k in range(5)]
        kinks = [[[p.knots[k] for p in profiles_] for profiles_ in of] for k in range(4)]
        jumps = [numbers([c.get(key, none) for c in parts], exact) for key in ("jump", "jump_at", "choice")]
        jump, at, choice = jumps
        balancing = numbers([c.get("balancing", c.get("choice", none)) for c in parts], exact)
        if jump.min() < 0 or abs(balancing).max() > 1:
            raise ValueError("jumps are at least 0, and what balances is a subgradient")
        sign = np.where(at < 0, 1, np.where(at > 0, -1, balancing))
        jumping = any("jump" in c for c in parts)
        smooth = _separable(slopes, kinks, x, y - jump * sign if jumping else y, exact)
        if not jumping:
            return smooth
        return cast(Functions, Kinked(smooth, x[..., None, :] + at, jump, choice))

    def reference(self, recipe: Recipe, x: Array, exact: bool) -> Functions | None:
        """h, whose gradient at ``x (..., d)`` is that of the recipe."""
        of = recipe["reference"]
        if any(min(of[key]) <= 0 for key in members.SLOPES if key in of):
            raise ValueError("the curvatures of a reference function are positive")
        slope = numbers([of["y"]], exact)
        return members.functions([of], x, slope + 0 * x[..., None, :], exact)


def _separable(slopes: Any, kinks: Any, x: Array, y: Array, exact: bool) -> Functions:
    """Sums over the coordinates, of any curvatures, with gradients ``y (..., n, d)`` at ``x (..., d)``."""
    low, high = (of(v for piece in slopes for row in piece for v in row) for of in (min, max))
    # Scaled like them, so that rounding stays as small as they are.
    bend = max(abs(low), abs(high)) - low or Fraction(1) if low <= 0 else Fraction(0)
    lifted = [numbers([[v + bend for v in row] for row in piece], exact) for piece in slopes]
    first, away = lifted[0], [numbers(at, exact) for at in kinks]
    found: Any
    if any((piece != first).any() for piece in lifted[1:]):
        about = PiecewiseQuadratic(tuple(lifted), tuple(away), 0 * first)
        places = tuple(x[..., None, :] + at for at in away)
        found = PiecewiseQuadratic(tuple(lifted), places, y - about.gradient(0 * first))
    else:
        found = diagonal(first, x[..., None, :] - y / first)
    return less_parabola(found, x, numbers(bend, exact)[()])


def _along_coordinates(client: Recipe) -> Recipe:
    """A function with no axes turned; a strip of another curvature, if it has one, is given by pieces."""
    gone = ("turn", "dip", "dip_from", "dip_to")
    plain = {key: value for key, value in client.items() if key not in gone}
    if "dip" not in client:
        return plain
    h, none = client["h"], (Fraction(0),) * (len(client["h"]) - 1)
    ends = {"kink": (client["dip_from"], *none), "kink_beyond": (client["dip_to"], *none)}
    return {**plain, **ends, "h_above": (client["dip"], *h[1:]), "h_beyond": h}


def _reference(rng: np.random.Generator, d: int) -> Recipe:
    """A strictly convex function of two or three curvatures in each coordinate, or of one."""

    def sizes() -> tuple[Fraction, ...]:
        return tuple(pick(rng, _SIZES) for _ in range(d))

    found: dict[str, Any] = {"h": sizes(), "y": small(rng, d)}
    if pick(rng, (True, True, True, False)):
        found |= {"h_above": sizes(), "kink": small(rng, d)}
        if pick(rng, (True, False)):
            beyond = tuple(kink + abs(width) for kink, width in zip(found["kink"], small(rng, d), strict=True))
            found |= {"h_beyond": sizes(), "kink_beyond": beyond}
    return found
