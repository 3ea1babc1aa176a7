"""Averages of separable piecewise quadratics, exactly: where they are least, and how fast gradients grow beside that.

Every member that is drawn of a class without convexity is a sum over coordinates of functions of one variable whose
derivatives are piecewise linear, so that what a class asks of the average is decided in fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array, are_diagonal
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems import nonconvex
from fedtheory.problems.functions import Functions
from fedtheory.problems.piecewise import PiecewiseQuadratic
from fedtheory.problems.quadratic import Quadratics
from fedtheory.problems.ridged import Ridged


class Profile(NamedTuple):
    """A function of z in R with value and derivative 0 at 0: ``slopes[k]`` is its curvature between ``knots[k - 1]``
    and ``knots[k]``, which increase."""

    knots: tuple[Any, ...]
    slopes: tuple[Scalar, ...]

    @property
    def mirrored(self) -> Profile:
        """The same function of -z."""
        return Profile(tuple(-k for k in reversed(self.knots)), self.slopes[::-1])


class _Piece(NamedTuple):
    """A piece of a profile at z > 0: its curvature, and its ends, each a (value, derivative); no end at infinity."""

    slope: Scalar
    start: tuple[Scalar, Scalar]
    end: tuple[Scalar, Scalar] | None


def profiles(f: Any, x: Array) -> list[list[Profile]] | None:
    """For each coordinate the profile of each function about ``x (d,)``; None of functions that are not separable.

    A linear part is left out: at the optimum these parts cancel in the average.
    """
    less: Any = 0
    if hasattr(f, "bend"):
        # A given family less a parabola.
        f, less = f.f, f.bend
    if isinstance(f, Quadratics) and are_diagonal(f.H):
        curved = [[Profile((), (f.H[i, j, j],)) for i in range(f.n)] for j in range(f.d)]
    elif isinstance(f, PiecewiseQuadratic):
        away = [np.broadcast_to(kink - x, (f.n, f.d)) for kink in f.kinks]
        curved = [
            [Profile(tuple(k[i, j] for k in away), tuple(s[i, j] for s in f.slopes)) for i in range(f.n)]
            for j in range(f.d)
        ]
    elif isinstance(f, nonconvex.LessHuber) and all((f.u[i] != 0).sum() <= 1 for i in range(f.n)):
        curved = [[_strip(f, i, j, x) for i in range(f.n)] for j in range(f.d)]
    else:
        return None
    return [[Profile(p.knots, tuple(s - less for s in p.slopes)) for p in parts] for parts in curved]


def _strip(f: nonconvex.LessHuber, i: int, j: int, x: Array) -> Profile:
    h, u = f.h[i, j], f.u[i, j]
    if u == 0:
        return Profile((), (h,))
    ends = sorted(((f.t[i] - f.width[i]) / u - x[j], (f.t[i] + f.width[i]) / u - x[j]))
    return Profile(tuple(ends), (h, h - f.b[i] * u**2, h))


def average(parts: Sequence[Profile]) -> Profile:
    """The average of several profiles."""
    knots = tuple(sorted({k for p in parts for k in p.knots}))
    slopes = [sum(p.slopes[0] for p in parts) / len(parts)]
    slopes += [sum(p.slopes[bisect_right(p.knots, k)] for p in parts) / len(parts) for k in knots]
    return Profile(knots, tuple(slopes))


def is_least(of: Profile) -> bool:
    """Return True if the function is minimal at 0."""
    return all(_above(piece) for side in (of, of.mirrored) for piece in _pieces(side))


def lojasiewicz(of: Profile) -> Any:
    """The largest mu with phi'^2 >= 2 mu phi everywhere, for a phi that is least at 0; None where phi = 0.

    phi'^2/(2 phi) is monotone on a piece where phi' keeps its sign, so that it is least at an end.
    """
    found = [ratio for side in (of, of.mirrored) for piece in _pieces(side) for ratio in _ratios(piece)]
    return min(found) if found else None


def _pieces(of: Profile) -> list[_Piece]:
    """The pieces at z > 0, outwards."""
    place: Scalar = 0
    value, derivative, found = 0, 0, []
    k = bisect_right(of.knots, 0)
    for slope, knot in zip(of.slopes[k:], (*of.knots[k:], None), strict=True):
        start = (value, derivative)
        if knot is None:
            found.append(_Piece(slope, start, None))
            break
        width = knot - place
        value, derivative = value + derivative * width + slope * width**2 / 2, derivative + slope * width
        place = knot
        found.append(_Piece(slope, start, (value, derivative)))
    return found


def _vertex(piece: _Piece) -> Any:
    """The value where the derivative vanishes inside the piece, None where it does not."""
    value, derivative = piece.start
    if piece.slope == 0:
        return None
    ahead = piece.slope * derivative < 0
    # The derivative changes its sign before the end, if there is one.
    inside = ahead and (piece.end is None or piece.end[1] * derivative < 0)
    return value - derivative**2 / (2 * piece.slope) if inside else None


def _above(piece: _Piece) -> bool:
    vertex = _vertex(piece)
    if vertex is not None and vertex < 0:
        return False
    if piece.end is not None:
        return bool(piece.end[0] >= 0)
    return bool(piece.slope > 0 or (piece.slope == 0 and piece.start[1] >= 0))


def _ratios(piece: _Piece) -> list[Any]:
    """phi'^2/(2 phi) where it may be least on a piece, those points left out where phi = 0."""
    vertex = _vertex(piece)
    found = [derivative**2 / (2 * value) for value, derivative in (piece.start, piece.end or (0, 0)) if value != 0]
    if vertex is not None and vertex != 0:
        found.append(vertex * 0)
    # Next to a point where phi = 0, and far away, the quotient is the curvature; 0 where phi grows linearly.
    ends_at_zero = piece.start[0] == 0 or (piece.end is not None and piece.end[0] == 0) or vertex == 0
    grows = piece.end is None and (piece.slope != 0 or piece.start[1] != 0)
    if grows or (ends_at_zero and piece.slope != 0):
        found.append(piece.slope)
    return found


def is_minimised(f: Functions, g: Functions | None, x: Array) -> bool:
    """Return True if (1/n) sum f_i + g is known to be minimal at ``x (d,)``, where its gradient vanishes."""
    if isinstance(f, Ridged):
        return g is None and f.secants(x) is not None
    parts = [f] if g is None else [f, *[g] * f.n]
    if sum(v for part in parts for v in part.mu) >= 0:
        return True
    known = [profiles(part, x) for part in parts]
    if any(profiles is None for profiles in known):
        return False
    coordinates = ([p for profiles in known for p in profiles[j]] for j in range(len(x)))  # type: ignore[index]
    return all(is_least(average(profiles)) for profiles in coordinates)


def lojasiewicz_constant(f: Functions, x: Array) -> Any:
    """The Polyak-Lojasiewicz constant of the average, least at ``x (d,)``, where it is known: for a sum over the
    coordinates it is the least of theirs; else a lower bound, 0 where nothing is known."""
    known = profiles(f, x) if hasattr(f, "gradient") else None
    if known is None:
        return max(sum(f.mu) / f.n, 0 * sum(f.mu))
    if not is_minimised(f, None, x):
        return 0
    found = [c for parts in known if (c := lojasiewicz(average(parts))) is not None]
    return min(found, default=0)
