"""How steep and how high separable functions get, exactly: bounds that classes state of gradients and of values from
x*, of sums over coordinates of functions whose derivatives are piecewise linear and may jump."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions
from fedtheory.problems.piecewise import Kinked
from fedtheory.problems.separable import Profile, average, profiles


class Piece(NamedTuple):
    """phi(z) = value + derivative (z - start) + slope (z - start)^2/2 from ``start`` >= 0 to ``end``, or without an
    end."""

    start: Scalar
    end: Scalar | None
    value: Scalar
    derivative: Scalar
    slope: Scalar

    def at_end(self) -> Scalar:
        """The derivative at the end; of a piece without one, infinite unless it is constant."""
        if self.end is not None:
            return self.derivative + self.slope * (self.end - self.start)
        return self.derivative if self.slope == 0 else math.copysign(math.inf, self.slope)


#: The jumps of derivatives, by their places.
_Jumps = Mapping[Scalar, Scalar]


class _Line(NamedTuple):
    """A function of one variable with value and derivative 0 at 0: its curvatures, and the jumps of its derivative,
    none of them at 0."""

    profile: Profile
    jumps: _Jumps

    def sides(self) -> tuple[list[Piece], list[Piece]]:
        """The pieces at z > 0, and those of the function of -z."""
        mirrored = {-place: jump for place, jump in self.jumps.items()}
        return list(_outwards(self.profile, self.jumps)), list(_outwards(self.profile.mirrored, mirrored))


def _outwards(of: Profile, jumps: _Jumps) -> Iterator[Piece]:
    slopes = dict(zip((-math.inf, *of.knots), of.slopes, strict=False))
    start, value, derivative = 0, 0, 0
    slope = slopes[max(place for place in slopes if place <= 0)]
    for place in sorted({place for place in (*of.knots, *jumps) if place > 0}):
        yield Piece(start, place, value, derivative, slope)
        width = place - start
        value, derivative = value + derivative * width + slope * width**2 / 2, derivative + slope * width
        start, derivative, slope = place, derivative + jumps.get(place, 0), slopes.get(place, slope)
    yield Piece(start, None, value, derivative, slope)


def _lines(f: object, x: Array) -> list[list[_Line]] | None:
    """For each coordinate each function about ``x (d,)``, less its tangent there; None where they are not separable,
    or a derivative jumps at x."""
    if not isinstance(f, Kinked):
        found = profiles(f, x) if hasattr(f, "gradient") else None
        return None if found is None else [[_Line(p, {}) for p in parts] for parts in found]
    plain, away = profiles(f.f, x), np.broadcast_to(f.kink - x, (f.n, f.d))
    if plain is None or ((away == 0) & (f.jump != 0)).any():
        return None
    return [[_Line(p, {away[i, j]: 2 * f.jump[i, j]}) for i, p in enumerate(parts)] for j, parts in enumerate(plain)]


def _averages(f: Functions, x: Array) -> list[_Line] | None:
    lines = _lines(f, x)
    if lines is None:
        return None
    found = []
    for parts in lines:
        jumps: dict[Scalar, Scalar] = {}
        for place, jump in (item for line in parts for item in line.jumps.items()):
            jumps[place] = jumps.get(place, 0) + jump / len(parts)
        found.append(_Line(average([line.profile for line in parts]), jumps))
    return found


def pieces(f: Functions, x: Array) -> list[Piece] | None:
    """All pieces of the average about ``x (d,)``, where it is stationary, outwards on both sides of each coordinate;
    None where it is not known to be a sum over coordinates."""
    lines = _averages(f, x)
    return None if lines is None else [piece for line in lines for side in line.sides() for piece in side]


def growths(f: Functions, x: Array) -> tuple[Any, Any]:
    r"""(m, M) with m |z|^2/2 <= f(x + z) - f(x) <= M |z|^2/2 for all z, f the average, stationary at ``x (d,)``.

    The best of a sum over coordinates; else the means of the curvatures. Of a piece A + B z + C z^2/2 the ratio is
    C + 2B/z + 2A/z^2, least and largest at an end or at z = -2A/B.
    """
    parts = pieces(f, x)
    if parts is None:
        return sum(f.mu) / f.n, sum(f.L) / f.n
    found: list[Scalar] = []
    for piece in parts:
        start, end, slope = piece.start, piece.end, piece.slope
        linear = piece.derivative - slope * start
        constant = piece.value - piece.derivative * start + slope * start**2 / 2
        found.append(2 * piece.value / start**2 if start else slope)
        if linear != 0 and constant != 0:
            z = -2 * constant / linear
            if z > start and (end is None or z < end):
                found.append(slope + linear / z)
        if end is None:
            found.append(slope)
    return min(found), max(found)


def steepest_squared(f: Any, x: Array) -> Array:
    """The square of the least Lipschitz constant of each f_i, ``(n,)``, as functions tell it or of differentiable sums
    over coordinates; infinite where it is not known."""
    known: Array | None = getattr(f, "steepest_squared", None)
    if known is not None:
        return known
    lines = None if isinstance(f, Kinked) else _lines(f, x)
    if lines is None:
        return np.array([math.inf] * f.n, dtype=object)
    y = f.gradient(x[None, :] + np.zeros((f.n, 1), dtype=int))

    def along(line: _Line, slope: object) -> Any:
        """The largest derivative in absolute value. Infinity is kept out of arithmetic with fractions."""
        ends = zip(line.sides(), (1, -1), strict=True)
        known = [(sign, v) for side, sign in ends for p in side for v in (p.derivative, p.at_end())]
        return (
            math.inf if any(abs(v) == math.inf for _, v in known) else max(abs(slope + sign * v) for sign, v in known)
        )

    each = ([along(parts[i], y[i, j]) for j, parts in enumerate(lines)] for i in range(f.n))
    return np.array([math.inf if math.inf in steep else sum(v**2 for v in steep) for steep in each], dtype=object)
