"""Members of function classes, from recipes of small rationals: quadratics, turned, bent, and two-slope functions.

Curvatures are mostly at the ends of the class. Every function is placed by a point x and its gradients there, so that x
is the optimum where the gradients balance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fedtheory.instances.base import Recipe, check_shape, generic, numbers, pick, small
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import Quadratics, diagonal
from fedtheory.problems.two_slope import TwoSlope
from fedtheory.rational import Array, apply, inverse

#: Tangents of half the angles by which Hessians are turned.
_TURNS = tuple(Fraction(v) for v in (0, "1/10", "-1/10", "1/3", "-1/3", "2/3", "-2/3"))
#: How often the condition number is extreme.
_EXTREME = 0.03


@dataclass(frozen=True)
class Bent:
    """f_i(x) - (bend/2)|x - centre|^2 for given functions f_i, ``centre (..., d)``; no conjugates."""

    f: Functions
    centre: Array
    bend: Any

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return self.f.n

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return self.f.d

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        curvature: Array = self.f.mu - self.bend
        return curvature

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""
        curvature: Array = self.f.L - self.bend
        return curvature

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        value: Array = self.f.value(x) - self.bend * ((x - self.centre[..., None, :]) ** 2).sum(axis=-1) / 2
        return value

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        slope: Array = self.f.gradient(x) - self.bend * (x - self.centre[..., None, :])
        return slope


@dataclass(frozen=True)
class Turned(Quadratics):
    """Quadratics whose Hessians have the eigenvalues ``spectra (n, d)``, which are exact where the numbers are."""

    spectra: Any = None

    @cached_property
    def _spectrum(self) -> Array:
        return np.sort(self.spectra, axis=-1)


def functions(parts: Sequence[Recipe], x: Array, y: Array, exact: bool) -> Functions:
    """Functions with gradients ``y (..., n, d)`` at ``x (..., d)``: quadratics, diagonal or turned, or two-slope ones.

    ``ValueError`` without clients or positive curvatures, or where Hessians are turned outside the plane.
    """
    if not parts:
        raise ValueError("there must be at least one client")
    check_shape(len(parts[0]["h"]), *(v for c in parts for v in (*c["h"], *c.get("h_above", ()))))
    below = numbers([c["h"] for c in parts], exact)
    if any("h_above" in c for c in parts):
        above = numbers([c.get("h_above", c["h"]) for c in parts], exact)
        kink = numbers([c.get("kink", (0,) * len(c["h"])) for c in parts], exact)
        if (below != above).any():
            return TwoSlope(below, above, x[..., None, :] + kink, y + np.where(kink > 0, below, above) * kink)
    if any(c.get("turn", 0) for c in parts):
        H = _turned(numbers([c.get("turn", 0) for c in parts], exact), below)
        return Turned(H, x[..., None, :] - apply(inverse(H), y), spectra=below)
    return diagonal(below, x[..., None, :] - y / below)


def _turned(t: Array, h: Array) -> Array:
    """Every Hessian diag(h) turned in the plane, by twice the angle whose tangent is ``t``."""
    if h.shape[-1] != 2:
        raise ValueError("Hessians are turned in the plane only")
    cos, sin = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    Q = np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)
    return np.matmul(Q * h[:, None, :], np.swapaxes(Q, -1, -2))


def bent(f: Functions, x: Array, bend: Any) -> Functions:
    """The functions, each less (bend/2)|. - x|^2."""
    if not bend:
        return f
    found: Any = Bent(f, x, bend)
    return found


def is_quadratic(f: Functions) -> bool:
    """Whether every gradient is an affine map."""
    return not isinstance(f.f if isinstance(f, Bent) else f, TwoSlope)


def parts(problem: Problem) -> tuple[Functions, ...]:
    """f, and g where there is one."""
    return (problem.f,) if problem.g is None else (problem.f, problem.g)


def curvatures(problem: Problem) -> tuple[Any, Any]:
    """Least mu and largest L of the f_i and g: the declared ones, or those of a problem that does not keep to them."""
    known = parts(problem)
    return min(problem.mu, *(v for part in known for v in part.mu)), max(problem.L, *(v for p in known for v in p.L))


# Drawing


class Style(NamedTuple):
    """What the functions of one recipe are: whether two-slope, whether turned, and where their curvatures lie."""

    kinks: bool
    turned: bool
    places: tuple[Fraction, ...]


def scale(rng: np.random.Generator) -> Fraction:
    """A size of the functions: sizes far from 1 show what is of the wrong dimension."""
    return pick(rng, (Fraction(1), Fraction(1), Fraction(1), generic(rng, Fraction(1, 100), Fraction(100))))


def condition(rng: np.random.Generator) -> Fraction:
    """A condition number: 1, near 1, moderate or large."""
    low, high = pick(rng, ((1, 1), (1, 2), (1, 10), (2, 10), (10, 100), (100, 1000)))
    if rng.random() < _EXTREME:
        low, high = 1000, 10**5
    return max(Fraction(1), generic(rng, Fraction(low), Fraction(high)))


def draw_style(rng: np.random.Generator, d: int, kinks: bool, turned: bool) -> Style:
    """A style for functions on R^d: where curvatures lie, whether they have ``kinks``, whether axes are ``turned``."""
    places = pick(
        rng, ((0,), (1,), (0, 1), (0, 1), (0, 1, Fraction(1, 2)), (0, 1, generic(rng, Fraction(1, 20), Fraction(1))))
    )
    two = kinks and bool(pick(rng, (False, False, False, True)))
    return Style(two, turned and d == 2 and not two and bool(pick(rng, (True, False))), tuple(map(Fraction, places)))


def draw_client(rng: np.random.Generator, d: int, mu: Fraction, L: Fraction, style: Style) -> Recipe:
    """One function: ``h``, its curvatures; ``y``, its gradient; what else the style asks for."""

    def somewhere() -> tuple[Fraction, ...]:
        return tuple(mu + (L - mu) * pick(rng, style.places) for _ in range(d))

    client: dict[str, Any] = {"h": somewhere(), "y": small(rng, d)}
    if style.kinks:
        client |= {"h_above": tuple(pick(rng, (mu, L)) for _ in range(d)), "kink": small(rng, d)}
    if style.turned:
        client["turn"] = pick(rng, _TURNS)
    return client


# Simplifying


def simpler(recipe: Recipe, mu: str, L: str) -> Iterator[Recipe]:
    """The same problem with plain quadratics, with the least constant 1, and with smaller condition numbers."""
    clients = recipe["clients"]
    extra = [name for name in ("turn", "h_above", "kink") if any(name in c for c in clients)]
    if extra:
        for slopes in ("h", "h_above") if "h_above" in extra else ("h",):
            plain = tuple(
                {k: v for k, v in {**c, "h": c.get(slopes, c["h"])}.items() if k not in extra} for c in clients
            )
            yield {**recipe, "clients": plain}
    if mu not in recipe or L not in recipe:
        return
    low, high = recipe[mu], recipe[L]
    for end in (low, high):
        yield {**recipe, "clients": tuple({**c, "h": (end,) * recipe["d"]} for c in clients)}
    if low <= 0 or high < low:
        return
    for kappa in map(Fraction, (1, 2, 4, 9, 16, 25, high / low)):
        # Curvatures at the ends of the class stay there; others keep their place between the ends.
        span = (kappa - 1) / (high - low) if high != low else Fraction(0)

        def moved(client: Recipe, kappa: Fraction = kappa, span: Fraction = span) -> Recipe:
            places = {low: Fraction(1), high: kappa}
            slopes = {
                k: tuple(places.get(v, 1 + (v - low) * span) for v in client[k])
                for k in ("h", "h_above")
                if k in client
            }
            return {**client, **slopes}

        yield {**recipe, mu: Fraction(1), L: kappa, "clients": tuple(map(moved, clients))}
