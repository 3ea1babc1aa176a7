"""The analytic centre of the multipliers of a face, by Newton's method in many digits.

A solver in floats loses multipliers of very different size in its rounding, in one way on one processor and in another
on the next. Newton's method on the logarithmic barrier of the multipliers and of the slack form does not depend on the
units, and in :data:`_DIGITS` digits nothing is lost: from wherever it begins it finds the same (Boyd and Vandenberghe,
Convex Optimization, section 11.4; Nesterov and Nemirovskii 1994).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import numpy as np
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from fedtheory.numbers.intervals import as_fraction
from fedtheory.numbers.rational import Array
from verify.pep import linear, programs
from verify.pep.interior import Face
from verify.pep.programs import Program

#: Decimal digits of the computation.
_DIGITS = 80
#: Multipliers beyond which no centre is looked for: a step takes a tenth of a second at this size.
_LARGEST = 20
#: Ratio of the coefficients of a program from which on floats may lose some.
_FAR = 10**6
#: By how much the weight of the distance grows, the weight at which there is no room, and the steps for each weight.
_GROWTH, _NO_ROOM, _STEPS = 1000, 1e18, 50
#: Newton decrement below which a point counts as central; how often a step is halved before it counts as none.
_CENTRAL, _HALVINGS = 0.1, 60
#: What terms may cancel by, for floats to be enough.
_LOST = 1e8
#: Binary digits to which multipliers are rounded, each in units of itself, in turn.
_BITS = (20, 40, 80, 160)


def multipliers(program: Program, face: Face, start: Sequence[float]) -> Iterator[list[Fraction]]:
    """Rational multipliers on the face near its analytic centre, rounded more and more finely; none without room, nor
    where coefficients are of one size, so that a solver in floats sees all.

    ``start``: where to begin, which need not prove anything. ``ValueError`` if the face has no solution.
    """
    free = [k for k in range(len(program.constraints)) if k not in face.determined]
    if not 0 < len(free) <= _LARGEST or _range(program) < _FAR:
        return
    guess = linear.nearest_solution(face.equations, [Fraction(v) for v in start])
    with mpmath.workdps(_DIGITS):
        found = _centre(program, face, free, guess)
        if found is None:
            return
        units = [programs.power_of_two(float(v)) for v in found]
        exact = [as_fraction(v) for v in found]
    for bits in _BITS:
        rounded = list(guess)
        for k, v, unit in zip(free, exact, units, strict=True):
            rounded[k] = round(v / unit * 2**bits) * unit / 2**bits
        with suppress(ValueError):
            yield linear.nearest_solution(face.equations, rounded)


def _range(program: Program) -> Fraction:
    """The largest coefficient of the program over the smallest."""
    forms = (program.objective, *program.forms)
    found = [abs(Fraction(v)) for form in forms for v in (*form.entries.values(), *form.values.values()) if v]
    return max(found) / min(found) if found else Fraction(1)


class _Slacks(NamedTuple):
    """What is positive: numbers, and blocks by the inverses of their Cholesky factors."""

    numbers: Array
    inverses: list[Array]

    @property
    def barrier(self) -> Any:
        """- sum of log(number) - sum of log det(block)."""
        diagonals = (mpmath.log(v) for inverse in self.inverses for v in inverse.diagonal())
        return 2 * sum(diagonals) - sum(mpmath.log(v) for v in self.numbers)


class _Cone(NamedTuple):
    """What has to be positive, of unknowns x: the numbers c + ``rows`` x, and each block C + sum of x_k A_k.

    ``numbers``: (c, rows); ``blocks``: (C, A) each.
    """

    numbers: tuple[Array, Array]
    blocks: list[tuple[Array, Array]]

    def slacks(self, x: Array) -> _Slacks | None:
        """What is positive at x; None where something is not."""
        c, rows = self.numbers
        numbers = c + rows @ x
        if not all(v > 0 for v in numbers):
            return None
        try:
            return _Slacks(numbers, [_inverse_factor(C + np.tensordot(x, A, axes=1)) for C, A in self.blocks])
        except ValueError:
            return None

    def step(self, at: _Slacks, slope: Array) -> tuple[Array, float]:
        """Newton's step on slope . x + barrier, and its decrement.

        Where it goes is decided in floats, since in units of what is positive there is nothing large or small.
        """
        local = [self.numbers[1] / at.numbers[:, None]]
        ones = [np.ones(len(at.numbers))]
        for inverse, (_, A) in zip(at.inverses, self.blocks, strict=True):
            local.append(np.array([_congruent(inverse, part).ravel() for part in A]).T)
            ones.append(np.eye(len(inverse)).ravel())
        J = np.concatenate(local)
        # In units in which every unknown counts alike.
        units = 1 / np.array([mpmath.sqrt(column @ column) for column in J.T])
        Q, R = np.linalg.qr((J * units).astype(float))
        right = Q.T @ np.concatenate(ones) - np.linalg.lstsq(R.T, (slope * units).astype(float), rcond=1e-14)[0]
        return units * np.linalg.lstsq(R, right, rcond=1e-14)[0], float(np.linalg.norm(right))

    def descended(self, slope: Array, x: Array, at: _Slacks) -> tuple[Array, _Slacks, bool]:
        """x after a step, shortened until it descends as it promises; and whether there was nothing left to gain."""
        step, decrement = self.step(at, slope)
        share, now = mpmath.mpf(1), slope @ x + at.barrier
        for _ in range(_HALVINGS):
            to = x + share * step
            there = self.slacks(to)
            if there is not None and slope @ to + there.barrier <= now - share * decrement**2 / 10:
                return to, there, decrement < _CENTRAL
            share /= 2
        return x, at, True


def _centre(program: Program, face: Face, free: list[int], guess: Sequence[Fraction]) -> Array | None:
    """The free multipliers at the centre, where there is room."""
    place = {k: i for i, k in enumerate(free)}
    start, directions = _many(np.array([guess[k] for k in free])), _along(face, place)
    blocks = []
    for rows, kept in zip(program.blocks, face.kept, strict=True):
        if kept:
            here, of_kept = list(rows), np.ix_(kept, kept)
            total = -program.objective.matrix(here)
            total = total + sum(v * program.forms[k].matrix(here) for k, v in enumerate(guess) if v)
            parts = np.array([_many(program.forms[k].matrix(here)[of_kept]) for k in free])
            blocks.append((_many(total[of_kept]), np.tensordot(directions.T, parts, axes=1)))
    cone = _Cone((start, directions), blocks)
    units = _many(1 / programs.sizes(*program.arrays[:2])[free])
    found = _inside(cone, np.maximum(abs(start), units))
    if found is None:
        return None
    at, central = cone.slacks(found), False
    for _ in range(_STEPS):
        if central or at is None:
            break
        found, at, central = cone.descended(0 * found, found, at)
    return start + directions @ found


def _along(face: Face, place: Mapping[int, int]) -> Array:
    """A basis, column by column, of the changes of the free multipliers that keep the equations."""
    rows = [[QQ.zero] * len(place) for _ in face.equations]
    for row, (left, _) in zip(rows, face.equations, strict=True):
        for k, v in left.items():
            if k in place:
                row[place[k]] = QQ(v.numerator, v.denominator)
    found = DomainMatrix(rows, (len(rows), len(place)), QQ).nullspace().to_Matrix()
    return _many(np.array([[Fraction(int(v.p), int(v.q)) for v in row] for row in found.tolist()]).T)


def _inside(cone: _Cone, sizes: Array) -> Array | None:
    """A point at which everything is positive, or None where there is none.

    The least distance by which everything has to be moved to be positive, along the central path, until it is below 0.
    ``sizes``: of the numbers, in which they are moved.
    """
    numbers, rows = cone.numbers
    moved = []
    for C, A in cone.blocks:
        size = np.maximum(abs(C).sum(axis=1), mpmath.mpf(10) ** -30 * (1 + abs(C).sum()))
        moved.append((C, np.concatenate([A, (np.eye(len(C)) * size)[None]])))
    wider = _Cone((numbers, np.concatenate([rows, sizes[:, None]], axis=1)), moved)
    point, weight = np.append(_many(np.zeros(rows.shape[1])), mpmath.mpf(3)), mpmath.mpf(1)
    at = wider.slacks(point)
    degree = len(numbers) + sum(len(C) for C, _ in moved)
    while at is not None and weight < _NO_ROOM:
        slope, central = np.append(0 * point[:-1], weight), False
        for _ in range(_STEPS):
            point, at, central = wider.descended(slope, point, at)
            if point[-1] < 0:
                return point[:-1]
            if central:
                break
        # Near the central path the distance is within degree / weight of the least.
        if central and point[-1] > 2 * degree / weight:
            return None
        weight *= _GROWTH
    return None


def _congruent(inverse: Array, part: Array) -> Array:
    """inverse part inverse^T, in floats where these lose nothing."""
    left, middle = inverse.astype(float), part.astype(float)
    found = left @ middle @ left.T
    lost = abs(left) @ abs(middle) @ abs(left).T
    return found if lost.max() <= _LOST * abs(found).max() else inverse @ part @ inverse.T


def _inverse_factor(P: Array) -> Array:
    """The inverse of the Cholesky factor; ``ValueError`` where the matrix is not positive definite."""
    return np.array(mpmath.inverse(mpmath.cholesky(mpmath.matrix(P.tolist()))).tolist(), dtype=object)


def _many(values: Array) -> Array:
    """The same numbers in the digits of the computation."""
    out = np.empty(values.shape, dtype=object)
    for index, v in np.ndenumerate(values):
        out[index] = mpmath.mpf(v.numerator) / v.denominator if isinstance(v, Fraction) else mpmath.mpf(v)
    return out
