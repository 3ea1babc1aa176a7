"""Linear matrix inequalities with exact coefficients, and what a solver makes of them in floats.

Both ends of a worst case are points of such a system: multipliers that prove an upper bound, and a Gram matrix with
function values that attains a lower one. :meth:`System.holds` checks a point in exact arithmetic, and knows no solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import flint
import numpy as np
import scipy.sparse as sp

from fedtheory.numbers.rational import Array
from verify.base import panics
from verify.exact.elimination import PRIME, is_positive_semidefinite
from verify.pepit.algebraic import Algebraic, Field

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
    def field(self) -> Field:
        """The field of all coefficients: each is of it, of one that it begins with, or rational."""
        affines = [self.objective, *self.equations, *self.scalars]
        affines += [entry for block in self.blocks for entry in block.entries.values()]
        numbers: Iterator[object] = (c for a in affines for c in (a.constant, *a.coefficients.values()))
        fields = {c.field for c in numbers if isinstance(c, Algebraic)}
        return max(fields, key=lambda field: field.degree, default=Field())

    @cached_property
    def prime(self) -> int:
        """A prime modulo which all coefficients have a value."""
        return self.field.prime(PRIME)

    @cached_property
    def rows(self) -> Rows:
        """The system as a solver takes it."""
        return Rows.of(self)


# Input of a solver


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
    units: tuple[Array, ...]
    scales: Array

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
        units = tuple(np.ones(size) for size in sizes)
        rows = cls(
            A,
            np.array(b),
            len(system.equations),
            len(system.scalars),
            sizes,
            objective,
            constant,
            units,
            np.ones(len(b)),
        )
        return rows.balanced()

    def balanced(self) -> Rows:
        """The same in units of the rows of each matrix in which coefficients are of size one, as nearly as may be."""
        start = self.equations + self.scalars
        factors = np.ones(len(self.b))
        units = []
        largest = np.maximum(abs(self.A).max(axis=1).toarray().ravel(), abs(self.b))
        for size in self.sizes:
            end = start + size * (size + 1) // 2
            M = unpacked(largest[start:end], size)
            unit = np.ones(size)
            for _ in range(10):
                now = M * unit[:, None] * unit
                most = now.max(axis=1, initial=0.0)
                unit = unit / np.where(most > 0, most, 1.0) ** 0.25
            units.append(unit)
            for j in range(size):
                for i in range(j + 1):
                    factors[start + j * (j + 1) // 2 + i] = unit[i] * unit[j]
            start = end
        factors[: self.equations] = 1 / np.where(largest[: self.equations] > 0, largest[: self.equations], 1.0)
        A = sp.diags(factors) @ self.A
        return replace(self, A=A.tocsr(), b=factors * self.b, units=tuple(units), scales=factors)

    def near(self, system: System, point: Sequence[Rational], radius: float) -> Rows:
        """The rows in what is to be added to a point, in multiples of ``radius``: in units in which what is of that
        size, or larger, is one there. A solver's errors are then as much smaller."""
        A, b = self.A, np.zeros(len(self.b))
        first = self.equations + self.scalars
        values = [to_float(affine.at(point)) for affine in (*system.equations, *system.scalars)]
        size = np.array([radius] * self.equations + [max(abs(v), radius) for v in values[self.equations :]])
        blocks = [sp.diags(radius / size) @ sp.diags(1 / self.scales[:first]) @ A[:first]]
        b[:first] = np.array(values) / size
        at = first
        for block, unit in zip(system.blocks, self.units, strict=True):
            end = at + block.size * (block.size + 1) // 2
            matrix = [to_float(v) for row in block.at(point) for v in row]
            sizes, vectors = np.linalg.eigh(np.array(matrix).reshape(block.size, block.size))
            turn = vectors / np.sqrt(np.maximum(abs(sizes), radius))
            b[at:end] = packed(np.diag(sizes / np.maximum(abs(sizes), radius)))
            inner = turn / unit[:, None]
            columns = [packed(inner.T @ unpacked(c, block.size) @ inner) for c in A[at:end].toarray().T]
            blocks.append(sp.csr_matrix(radius * np.array(columns).T))
            at = end
        constant = to_float(system.objective.at(point))
        return replace(
            self, A=sp.vstack(blocks, format="csr"), b=b, objective=radius * self.objective, constant=constant
        )


def to_float(value: Rational) -> float:
    """The nearest float of a number."""
    return float(value) if isinstance(value, Algebraic) else int(value.p) / int(value.q)


class Found(NamedTuple):
    """The solver's proposal: a point, the dual of each row, and the objective or the margin there."""

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
    return furthest_of(system.rows, most, room)


def furthest_of(rows: Rows, most: float | None, room: float = 1e3) -> Found | None:
    """The same of rows."""
    n = len(rows.objective)
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
        settings.max_threads = 1
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


def packed(matrix: Array) -> Array:
    """A symmetric matrix as :func:`unpacked` takes it."""
    j, i = np.tril_indices(len(matrix))
    return matrix[i, j] * np.where(i == j, 1.0, np.sqrt(2))


def unpacked(flat: Array, size: int) -> Array:
    """The symmetric matrix of a solver's upper triangle, column by column, off the diagonal times the root of 2."""
    out = np.zeros((size, size))
    at = 0
    for j in range(size):
        for i in range(j + 1):
            out[i, j] = out[j, i] = flat[at] if i == j else flat[at] / np.sqrt(2)
            at += 1
    return out
