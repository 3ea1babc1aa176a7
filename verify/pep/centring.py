"""Multipliers with room around them: by a solver in floats, and by Newton's method in many digits.

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
from verify.pep import faces, programs
from verify.pep.faces import Equation
from verify.pep.programs import Program

# Multipliers with room around them, in units in which they have most.
#
# A solver finds the multipliers that are furthest from every bound, in the units in which they are given to it. Where
# coefficients are of very different size it is lost in its own rounding; the analytic centre below is not.

#: Denominator to which numbers with room around them are rounded, in their own units.
GRID = 2**40
#: Margins up to which multipliers have no room to be rounded.
NO_ROOM = 1e-9


class Face(NamedTuple):
    """Linear equations that multipliers obey, none of which follows from others, and those with one value only.

    ``kept``: the rows of each block whose part of the slack form decides whether it is positive semidefinite; the
    equations tie the others to them.
    """

    equations: list[Equation]
    determined: frozenset[int]
    kept: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls, program: Program, bound: Fraction, more: Sequence[Equation] = (), tied: Sequence[Sequence[int]] = ()
    ) -> Face:
        """Return the affine set of multipliers of a bound: they cancel every function value, prove the bound, and
        satisfy the further equations, which tie the rows ``tied`` of each block to the others. Raise ``ValueError`` if
        it is empty.
        """
        equations: list[Equation] = []
        for name in program.values:
            row = {k: Fraction(form.values[name]) for k, form in enumerate(program.forms) if name in form.values}
            equations.append((row, Fraction(program.objective.values.get(name, 0))))
        # bound = constant of the objective - sum of multiplier * constant of the constraint
        row = {k: -Fraction(form.constant) for k, form in enumerate(program.forms) if form.constant != 0}
        equations.append((row, bound - Fraction(program.objective.constant)))
        reduced = faces.independent([*equations, *more], len(program.constraints))
        out = tied or [()] * len(program.blocks)
        kept = (tuple(i for i in range(len(b)) if i not in rows) for b, rows in zip(program.blocks, out, strict=True))
        return cls(*reduced, tuple(kept))


class Centre(NamedTuple):
    """Multipliers on a face, their units, and by how much they and the slack form stay clear of 0 in these units."""

    multipliers: Array
    units: Array
    margin: float

    def rounded(self, face: Face) -> list[Fraction]:
        """Rational multipliers that obey the equations exactly."""
        finer = GRID * max(1, int(1 / self.margin))
        steps = [programs.power_of_two(unit) / finer for unit in self.units.tolist()]
        guess = [round(Fraction(m) / step) * step for m, step in zip(self.multipliers.tolist(), steps, strict=True)]
        return faces.nearest_solution(face.equations, guess)


def centre(posed: Program, face: Face) -> Centre | None:
    """Multipliers on the face, in the units of the program ``posed``; None where the solver gives none.

    The margin, at most 1, is the least of the multipliers that the face does not determine and of the eigenvalues of
    what it keeps of the slack form.
    """
    import cvxpy as cp

    weights, margin = cp.Variable(len(posed.constraints)), cp.Variable()
    units, conditions = _conditions(posed, face, weights, margin)
    free = [k for k in range(len(units)) if k not in face.determined]
    if free:
        conditions.append(weights[free] >= margin)
    programs.run(cp.Problem(cp.Maximize(margin), [margin <= 1, *conditions]))
    if weights.value is None or not np.isfinite(weights.value).all():
        return None
    return Centre(units * np.asarray(weights.value), units, float(np.asarray(margin.value)))


def leanest(posed: Program, face: Face) -> Array | None:
    """Multipliers on the face whose sum is least, in units of their constraints' sizes; None where there are none.

    Those that are not needed vanish, and the slack form with them on as many rows as it can: where there is no room
    that is seen clearly, and it is the same whatever the solver's last digits are.
    """
    import cvxpy as cp

    weights = cp.Variable(len(posed.constraints), nonneg=True)
    units, conditions = _conditions(posed, face, weights)
    programs.run(cp.Problem(cp.Minimize(cp.sum(weights)), conditions))
    if weights.value is None or not np.isfinite(weights.value).all():
        return None
    return np.asarray(units * weights.value)


def _conditions(posed: Program, face: Face, weights: Any, margin: Any = None) -> tuple[Array, list[Any]]:
    """The units of the multipliers, and what these, ``weights`` in their units, obey on the face: its equations, and
    that what it keeps of the slack form is positive semidefinite, with a ``margin`` where there is one."""
    import cvxpy as cp

    units, forms, objectives = _arrays(posed, face)
    conditions = []
    for form, part in zip(forms, objectives, strict=True):
        # A symmetric matrix variable tells the solver what it cannot see by itself.
        S = cp.Variable(part.shape, PSD=True)
        slack = _slack(form, part, units, weights)
        conditions.append((slack if margin is None else slack - margin * np.eye(len(part))) == S)
    if face.equations:
        M, right = _floats(face.equations, units)
        conditions.append(M @ weights == right)
    return units, conditions


def _arrays(posed: Program, face: Face) -> tuple[Array, list[Array], list[Array]]:
    """The units of multipliers, and what the face keeps of each block of the constraints and of the objective."""
    A, a, _, C, _ = posed.arrays
    units = 1 / programs.sizes(A, a)
    forms = [part.reshape(len(units), len(b), len(b)) for part, b in zip(A, posed.blocks, strict=True)]
    kept = [(np.array(k, dtype=int)[:, None], np.array(k, dtype=int)) for k in face.kept]
    forms = [form[:, i, j] for form, (i, j) in zip(forms, kept, strict=True)]
    found = [(form, part[i, j]) for form, part, (i, j) in zip(forms, C, kept, strict=True) if len(j)]
    return units, [form for form, _ in found], [part for _, part in found]


def _slack(form: Array, part: Array, units: Array, weights: Any) -> Any:
    import cvxpy as cp

    return cp.reshape((units[:, None] * form.reshape(len(units), -1)).T @ weights, part.shape, order="C") - part


def _floats(equations: Sequence[Equation], units: Array) -> tuple[Array, Array]:
    """The equations in these units, each of size one."""
    M, right = np.zeros((len(equations), len(units))), np.zeros(len(equations))
    for i, (left, value) in enumerate(equations):
        size = max(abs(v) for v in left.values())
        for k, v in left.items():
            M[i, k] = float(v / size)
        right[i] = float(value / size)
    M = M * units
    size = abs(M).max(axis=1)
    return M / size[:, None], right / size


#: Multipliers beyond which no centre is looked for: a step takes a tenth of a second at this size.
_MULTIPLIERS = 20
#: Steps of Newton's method, for each weight of the distance.
_STEPS = 50
#: The number of halvings after which a step counts as zero.
_HALVINGS = 60
#: Decimal digits of the computation.
_DIGITS = 80
#: The factor by which the weight of the distance grows.
_GROWTH = 1000
#: The weight at which there is no room.
_NO_ROOM = 1e18
#: Newton decrement below which a point counts as central.
_CENTRAL = 0.1
#: Ratio of the coefficients of a program from which on floats may lose some.
_FAR = 10**6
#: What terms may cancel by, for floats to be enough.
_LOST = 1e8
#: Binary digits to which multipliers are rounded, each in units of itself, in turn.
_BITS = (20, 40, 80, 160)


def multipliers(program: Program, face: Face, start: Sequence[float]) -> Iterator[list[Fraction]]:
    """Rational multipliers on the face near its analytic centre, rounded more and more finely; none without room, nor
    where coefficients are of one size, so that a solver in floats sees all.

    ``start``: where to begin, which need not prove anything. Raise ``ValueError`` if the face has no solution.
    """
    free = [k for k in range(len(program.constraints)) if k not in face.determined]
    if not 0 < len(free) <= _MULTIPLIERS or _range(program) < _FAR:
        return
    guess = faces.nearest_solution(face.equations, [Fraction(v) for v in start])
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
            yield faces.nearest_solution(face.equations, rounded)


def _range(program: Program) -> Fraction:
    """The largest coefficient of the program over the smallest."""
    forms = (program.objective, *program.forms)
    found = [abs(Fraction(v)) for form in forms for v in (*form.entries.values(), *form.values.values()) if v]
    return max(found) / min(found) if found else Fraction(1)


class _Slacks(NamedTuple):
    """The positive slacks: numbers, and blocks by the inverses of their Cholesky factors."""

    numbers: Array
    inverses: list[Array]

    @property
    def barrier(self) -> Any:
        """- sum of log(number) - sum of log det(block)."""
        diagonals = (mpmath.log(v) for inverse in self.inverses for v in inverse.diagonal())
        return 2 * sum(diagonals) - sum(mpmath.log(v) for v in self.numbers)


class _Cone(NamedTuple):
    """The cone constraints on unknowns x: the numbers c + ``rows`` x and each block C + sum of x_k A_k are positive.

    ``numbers``: (c, rows); ``blocks``: (C, A) each.
    """

    numbers: tuple[Array, Array]
    blocks: list[tuple[Array, Array]]

    def slacks(self, x: Array) -> _Slacks | None:
        """Return the slacks at x; None if one is not positive."""
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
    """The inverse of the Cholesky factor. Raise ``ValueError`` if the matrix is not positive definite."""
    return np.array(mpmath.inverse(mpmath.cholesky(mpmath.matrix(P.tolist()))).tolist(), dtype=object)


def _many(values: Array) -> Array:
    """The same numbers in the digits of the computation."""
    out = np.empty(values.shape, dtype=object)
    for index, v in np.ndenumerate(values):
        out[index] = mpmath.mpf(v.numerator) / v.denominator if isinstance(v, Fraction) else mpmath.mpf(v)
    return out
