"""Linear matrix inequalities with rational coefficients, and exact points of what they describe.

Both ends of a worst case are points of such a system: multipliers that prove an upper bound, and a Gram matrix with
function values that attains a lower one. A solver proposes a point in floats; what is returned satisfies every
equation, sign and matrix inequality exactly. Where the system has no interior, the equations that all of its points
obey are read off the solver's numbers and imposed (facial reduction). A wrong guess costs a point, never its
exactness: :func:`holds` checks each, and knows no solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import flint
import numpy as np
import scipy.sparse as sp

from fedtheory.numbers.rational import Array
from verify.base import panics
from verify.pep import faces

#: Rational numbers of flint, which is what all of this computes with.
Rational = flint.fmpq


class Affine(NamedTuple):
    """``constant`` + sum of ``coefficients[k]`` * unknown k."""

    coefficients: Mapping[int, Rational]
    constant: Rational = Rational(0)

    def at(self, point: Sequence[Rational]) -> Rational:
        """Value at a point."""
        return sum((c * point[k] for k, c in self.coefficients.items()), self.constant)


class Block(NamedTuple):
    """A symmetric matrix that has to be positive semidefinite: entries (i, j), i <= j; others are zero."""

    size: int
    entries: Mapping[tuple[int, int], Affine]

    def at(self, point: Sequence[Rational]) -> list[list[Rational]]:
        """The matrix at a point."""
        rows = [[Rational(0)] * self.size for _ in range(self.size)]
        for (i, j), entry in self.entries.items():
            rows[i][j] = rows[j][i] = entry.at(point)
        return rows

    def without(self, dropped: frozenset[int]) -> Block:
        """The principal submatrix on the other indices."""
        place = {old: new for new, old in enumerate(i for i in range(self.size) if i not in dropped)}
        kept = {(place[i], place[j]): e for (i, j), e in self.entries.items() if i in place and j in place}
        return Block(len(place), kept)

    def image(self, vector: Sequence[Rational]) -> list[Affine]:
        """The matrix times a vector."""
        sums: list[dict[int, Rational]] = [{} for _ in range(self.size)]
        constants = [Rational(0)] * self.size
        for (i, j), entry in self.entries.items():
            for here, there in {(i, j), (j, i)}:
                factor = vector[there]
                if factor:
                    constants[here] += factor * entry.constant
                    for k, c in entry.coefficients.items():
                        sums[here][k] = sums[here].get(k, Rational(0)) + factor * c
        return [Affine(_nonzero(s), c) for s, c in zip(sums, constants, strict=True)]


def _nonzero(coefficients: Mapping[int, Rational]) -> dict[int, Rational]:
    return {k: c for k, c in coefficients.items() if c}


@dataclass(frozen=True)
class System:
    """Minimise ``objective`` over unknowns that make ``equations`` zero, ``scalars`` >= 0, ``blocks`` semidefinite."""

    unknowns: int
    equations: tuple[Affine, ...]
    scalars: tuple[Affine, ...]
    blocks: tuple[Block, ...]
    objective: Affine

    def holds(self, point: Sequence[Rational]) -> bool:
        """Return True if the point satisfies everything, in exact arithmetic."""
        return (
            not any(equation.at(point) for equation in self.equations)
            and all(scalar.at(point) >= 0 for scalar in self.scalars)
            and all(is_positive_semidefinite(block.at(point)) for block in self.blocks)
        )

    @cached_property
    def rows(self) -> Rows:
        """The system as a solver takes it."""
        return Rows.of(self)


def is_positive_semidefinite(matrix: list[list[Rational]]) -> bool:
    """Return True if a symmetric matrix is positive semidefinite: LDL^T by exact elimination."""
    rows = [row[i:] for i, row in enumerate(matrix)]
    while rows:
        (pivot, *top), *rest = rows
        if pivot < 0 or (pivot == 0 and any(top)):
            return False
        if pivot > 0:
            for i, row in enumerate(rest):
                if top[i]:
                    factor = top[i] / pivot
                    for j in range(len(row)):
                        row[j] -= factor * top[i + j]
        rows = rest
    return True


# What a solver is given


@dataclass(frozen=True)
class Rows:
    """Equations, signs and matrices of a system, one sparse row each, in floats: ``A x + b``."""

    A: sp.csr_matrix
    b: Array
    equations: int
    scalars: int
    sizes: tuple[int, ...]
    objective: Array
    constant: float

    @classmethod
    def of(cls, system: System) -> Rows:
        """The rows of a system."""
        data: list[float] = []
        where: list[int] = []
        starts, b = [0], []
        root = float(np.sqrt(2))

        def add(affine: Affine | None, factor: float = 1.0) -> None:
            if affine is not None:
                for k, c in affine.coefficients.items():
                    data.append(factor * to_float(c))
                    where.append(k)
            starts.append(len(data))
            b.append(0.0 if affine is None else factor * to_float(affine.constant))

        for affine in (*system.equations, *system.scalars):
            add(affine)
        for block in system.blocks:
            for j in range(block.size):
                for i in range(j + 1):
                    add(block.entries.get((i, j)), 1.0 if i == j else root)
        objective = np.zeros(system.unknowns)
        for k, c in system.objective.coefficients.items():
            objective[k] = to_float(c)
        A = sp.csr_matrix((data, where, starts), shape=(len(b), system.unknowns))
        sizes = tuple(block.size for block in system.blocks)
        constant = to_float(system.objective.constant)
        return cls(A, np.array(b), len(system.equations), len(system.scalars), sizes, objective, constant)


def to_float(value: Rational) -> float:
    """The nearest float of a rational number."""
    return int(value.p) / int(value.q)


class Found(NamedTuple):
    """What the solver proposes: a point, the dual of each row, and the objective or the margin there."""

    point: Array
    dual: Array
    value: float


_TOLERANCES = (1e-11, 1e-9, 1e-7)


def optimum(system: System) -> Found | None:
    """A point of least objective, in floats; None if the solver finds none."""
    rows = system.rows
    found = _solve(rows.objective, rows.A, rows.b, rows)
    return found and found._replace(value=found.value + rows.constant)


def furthest(system: System, most: float | None = None, room: float = 1e3) -> Found | None:
    """A point that satisfies signs and matrices with the largest margin, at most 1, in floats.

    ``most``: what the objective may be at most. ``room``: how large the sum of scalars and traces may be.
    """
    rows = system.rows
    n = system.unknowns
    unit = np.zeros(len(rows.b))
    start = rows.equations + rows.scalars
    unit[rows.equations : start] = 1
    for size in rows.sizes:
        diagonal = np.cumsum(np.arange(1, size + 1)) - 1
        unit[start + diagonal] = 1
        start += size * (size + 1) // 2
    A = sp.hstack([rows.A, sp.csr_matrix(-unit[:, None])], format="csr")
    # All that has a sign, together: a point far away has no larger margin for that.
    together = np.zeros(n + 1)
    together[:n] = -(unit @ rows.A)
    extra = [(np.append(np.zeros(n), -1.0), 1.0), (together, room - float(unit @ rows.b))]
    if most is not None:
        extra.append((np.append(-rows.objective, 0.0), most - rows.constant))
    first = rows.equations
    A = sp.vstack([A[:first], sp.csr_matrix(np.array([row for row, _ in extra])), A[first:]], format="csr")
    b = np.concatenate([rows.b[:first], [right for _, right in extra], rows.b[first:]])
    objective = np.append(np.zeros(n), -1.0)
    found = _solve(objective, A, b, replace(rows, scalars=rows.scalars + len(extra)))
    return found and Found(found.point[:n], found.dual, float(found.point[n]))


def _solve(objective: Array, A: sp.csr_matrix, b: Array, rows: Rows) -> Found | None:
    import clarabel

    cones: list[object] = []
    if rows.equations:
        cones.append(clarabel.ZeroConeT(rows.equations))
    if rows.scalars:
        cones.append(clarabel.NonnegativeConeT(rows.scalars))
    cones += [clarabel.PSDTriangleConeT(size) for size in rows.sizes if size]
    n = len(objective)
    for tolerance in _TOLERANCES:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = 100
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        try:
            with panics.caught():
                solver = clarabel.DefaultSolver(sp.csc_matrix((n, n)), objective, sp.csc_matrix(-A), b, cones, settings)
                solution = solver.solve()
        except panics.Panicked:
            continue
        if str(solution.status) in ("Solved", "AlmostSolved"):
            return Found(np.array(solution.x), np.array(solution.z), float(objective @ np.array(solution.x)))
    return None


# From floats to exact points

#: Denominator to which numbers are rounded, before the equations are solved for some of them.
_GRID = 2**50


def satisfying(system: System, near: Array) -> list[Rational] | None:
    """A point near some floats that makes the equations zero exactly; None if they contradict one another.

    The unknowns of the largest size are solved for, so that rounding changes no sign of small ones.
    """
    point = [Rational(round(v * _GRID), _GRID) for v in near.tolist()]
    if not system.equations:
        return point
    order = np.argsort(-abs(near), kind="stable").tolist()
    place = {unknown: column for column, unknown in enumerate(order)}
    width = system.unknowns + 1
    entries = [Rational(0)] * (len(system.equations) * width)
    for r, (coefficients, constant) in enumerate(system.equations):
        for k, c in coefficients.items():
            entries[r * width + place[k]] = c
        entries[r * width + width - 1] = -constant
    reduced, rank = flint.fmpq_mat(len(system.equations), width, entries).rref()
    table = reduced.tolist()
    for r in range(rank):
        row = table[r]
        pivot = next(c for c in range(width) if row[c])
        if pivot == width - 1:
            return None
        rest = sum((row[c] * point[order[c]] for c in range(pivot + 1, width - 1) if row[c]), Rational(0))
        point[order[pivot]] = row[-1] - rest
    # Pivots stand in no other row, so that what was changed is used by none.
    return point


@dataclass(frozen=True)
class Face:
    """A part of a system on which every point of it lies, and the indices of each block that the others decide."""

    system: System
    full: System


#: Shares of the largest eigenvalue, or scalar, below which one is a zero; relative errors of a kernel's entries.
_CUTS = (1e-6, 1e-5, 1e-4, 1e-7, 1e-3)
_ERRORS = (1e-5, 1e-4, 1e-6)
#: The margin above which a system has an interior.
_MARGIN = 1e-8
_LEVELS = 6


def reduced(system: System, found: Found, cut: float, error: float) -> System | None:
    """The system on the face on which the solver's point of no margin lies, as far as its zeros are clear."""
    x = found.point
    rows = system.rows
    equations: list[Affine] = []
    values = rows.A @ x + rows.b
    scalars = values[rows.equations : rows.equations + rows.scalars]
    scale = float(max(abs(scalars).max(initial=0.0), 1e-300))
    zero = scalars < cut * scale
    equations += [s for s, z in zip(system.scalars, zero.tolist(), strict=True) if z]
    kept = tuple(s for s, z in zip(system.scalars, zero.tolist(), strict=True) if not z)
    blocks = []
    start = rows.equations + rows.scalars
    for block in system.blocks:
        r = block.size
        flat = values[start : start + r * (r + 1) // 2]
        start += r * (r + 1) // 2
        matrix = _unpacked(flat, r)
        size, vectors = np.linalg.eigh(matrix)
        kernel = vectors[:, size < cut * max(float(size[-1]), 1e-300)].T.copy() if r else np.zeros((0, 0))
        dropped = set()
        for vector, pivot in faces.reduced(kernel):
            simple = [_rational(faces.simplest(v, Fraction(1), error)) for v in vector.tolist()]
            equations += block.image(simple)
            dropped.add(pivot)
        blocks.append(block.without(frozenset(dropped)))
    if not equations:
        return None
    return System(
        system.unknowns, (*system.equations, *equations), kept, tuple(b for b in blocks if b.size), system.objective
    )


def _unpacked(flat: Array, size: int) -> Array:
    out = np.zeros((size, size))
    at = 0
    for j in range(size):
        for i in range(j + 1):
            out[i, j] = out[j, i] = flat[at] if i == j else flat[at] / np.sqrt(2)
            at += 1
    return out


def _rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def interior(system: System, most: float | None = None) -> Iterator[tuple[System, Found]]:
    """Faces of a system that have an interior, with a point in it, in floats: the system itself where it has one."""
    pending = [(system, 0)]
    while pending:
        part, level = pending.pop(0)
        found = furthest(part, most)
        if found is None:
            continue
        if found.value > _MARGIN:
            yield part, found
            if level == 0:
                return
            continue
        if level == _LEVELS:
            continue
        seen: list[System] = []
        for error in _ERRORS:
            for cut in _CUTS:
                smaller = reduced(part, found, cut, error)
                if smaller is not None and smaller not in seen:
                    seen.append(smaller)
        pending = [(smaller, level + 1) for smaller in seen] + pending


#: Shares of an inner point by which an optimal one is moved inwards, until rounding and the solver's errors fit in.
_SHARES = (1e-10, 1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 1e-5, 1e-4)


def near_optimal(system: System, value: float) -> list[Rational] | None:
    """A point whose objective is little above the least value, ``value`` in floats; None if none was found."""
    most = value + max(1.0, abs(value))
    best: list[Rational] | None = None
    for part, inner in interior(system, most):
        found = optimum(part)
        if found is None:
            continue
        for share in _SHARES:
            point = satisfying(part, (1 - share) * found.point + share * inner.point)
            if point is None:
                break
            if system.holds(point):
                if best is None or system.objective.at(point) < system.objective.at(best):
                    best = point
                break
        if best is not None:
            return best
    return best


def attaining(system: System, value: Rational) -> list[Rational] | None:
    """A point at which the objective is exactly ``value``; None if none was found."""
    equation = Affine(system.objective.coefficients, system.objective.constant - value)
    tied = replace(system, equations=(*system.equations, equation))
    for part, inner in interior(tied):
        point = satisfying(part, inner.point)
        if point is not None and system.holds(point):
            return point
    return None
