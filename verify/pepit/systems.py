"""Linear matrix inequalities with rational coefficients, and exact points of what they describe.

Both ends of a worst case are points of such a system: multipliers that prove an upper bound, and a Gram matrix with
function values that attains a lower one. A solver proposes a point in floats; what is returned satisfies every
equation, sign and matrix inequality exactly. Where the system has no interior, the equations that all of its points
obey are read off the solver's numbers and imposed (facial reduction). A wrong guess costs a point, never its
exactness: :func:`holds` checks each, and knows no solver.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import flint
import numpy as np
import scipy.sparse as sp

from fedtheory.numbers.rational import Array
from verify.base import panics
from verify.exact import elimination
from verify.exact.elimination import PRIME, is_positive_semidefinite, residue
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
            sizes, vectors = np.linalg.eigh(np.array([[to_float(v) for v in row] for row in block.at(point)]))
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
    return _furthest(system.rows, most, room)


def _furthest(rows: Rows, most: float | None, room: float) -> Found | None:
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
_GRID = 2**64


def satisfying(system: System, near: Sequence[Rational]) -> list[Rational] | None:
    """A point near another that makes the equations zero exactly; None if they contradict one another.

    The unknowns of the largest size are solved for, so that rounding changes no sign of small ones.
    """
    point = list(near)
    chosen = _independent(system, sorted(range(len(point)), key=lambda k: -abs(point[k])))
    if chosen is None:
        return None
    solved = _determined(*chosen, point, lambda value: value, flint.fmpq_mat)
    if solved is None:
        return None
    for unknown, value in solved.items():
        point[unknown] = value
    return point


def rounded(near: Array) -> list[Rational]:
    """Floats as fractions of a grid."""
    return [Rational(round(v * _GRID), _GRID) for v in near.tolist()]


def _determined(
    equations: Sequence[Affine],
    pivots: Sequence[int],
    others: Sequence[Any] | Mapping[int, Any],
    number: Callable[[Rational], Any],
    matrix: Callable[[int, int, list[Any]], Any],
) -> dict[int, Any] | None:
    """The unknowns ``pivots`` by as many equations, the others given; None if these do not determine them.

    ``number``, ``matrix``: the field in which this is computed.
    """
    n = len(pivots)
    if not n:
        return {}
    place = {unknown: column for column, unknown in enumerate(pivots)}
    left, right = [number(Rational(0))] * n**2, []
    for r, (coefficients, constant) in enumerate(equations):
        rest = -number(constant)
        for k, c in coefficients.items():
            if k in place:
                left[r * n + place[k]] = number(c)
            else:
                rest -= number(c) * others[k]
        right.append(rest)
    try:
        solved = matrix(n, n, left).solve(matrix(n, 1, right))
    except ZeroDivisionError:
        return None
    return {unknown: solved[column, 0] for unknown, column in place.items()}


def _independent(system: System, order: Sequence[int]) -> tuple[list[Affine], list[int]] | None:
    """Equations from which the others follow, and as many unknowns that they determine, the first in an order that do.

    None where they contradict one another.
    """
    rows = [{**coefficients, system.unknowns: constant} for coefficients, constant in system.equations]
    found = elimination.independent(rows, [*order, system.unknowns])
    if found.pivots and found.pivots[-1] == system.unknowns:
        return None
    return [system.equations[r] for r in found.rows], found.pivots


def _modular(rows: int, columns: int, entries: list[int]) -> flint.nmod_mat:
    return flint.nmod_mat(rows, columns, [entry % PRIME for entry in entries], PRIME)


#: Relative errors that the entries of a kernel may have, and shares of the largest below which a number is zero.
_ERRORS = (1e-5, 1e-4, 1e-3, 1e-7)
_CUTS = (1e-6, 1e-4)
#: How many times what exposes a zero is larger than that, at least.
_RATIO = 30
#: The margin above which a system has an interior.
_MARGIN = 1e-7
_LEVELS = 8


def generic(system: System) -> System:
    """The system without the rows of blocks that the others decide wherever the equations hold.

    A vector that every matrix of a block maps to zero, by the equations alone, costs one row: so does each of the
    translations under which a worst case is the same. Found at points modulo a prime, as :func:`satisfying` has it.
    """
    width = system.unknowns
    chosen = _independent(system, range(width))
    if chosen is None or not system.equations:
        return system
    equations, pivots = chosen
    determined = frozenset(pivots)
    points = []
    for seed in range(3):
        values = random.Random(seed)
        point = {k: values.randrange(PRIME) for k in range(width) if k not in determined}
        solved = _determined(equations, pivots, point, residue, _modular)
        if solved is None:
            return system
        points.append(point | {unknown: int(value) for unknown, value in solved.items()})
    blocks = []
    for block in system.blocks:
        r = block.size
        stacked = [0] * (len(points) * r * r)
        for number, point in enumerate(points):
            for (i, j), entry in block.entries.items():
                v = residue(entry.constant) + sum(residue(c) * point[k] for k, c in entry.coefficients.items())
                stacked[(number * r + i) * r + j] = stacked[(number * r + j) * r + i] = v % PRIME
        # A row that is no pivot is one in whose place a vector of the kernel has its one.
        kept = elimination.pivots(flint.nmod_mat(len(points) * r, r, stacked, PRIME))
        blocks.append(block.without(frozenset(range(r)) - frozenset(kept)))
    return replace(system, blocks=tuple(block for block in blocks if block.size))


class Zeros(NamedTuple):
    """Scalars, by number, that are zero on a face; vectors that each block maps to zero, with the place of a one."""

    scalars: frozenset[int]
    kernels: tuple[tuple[tuple[int, tuple[Fraction, ...]], ...], ...]

    def __bool__(self) -> bool:
        return bool(self.scalars) or any(self.kernels)

    def imposed(self, system: System) -> System:
        """The face of the system."""
        equations = [system.scalars[k] for k in sorted(self.scalars)]
        blocks = []
        for block, kernel in zip(system.blocks, self.kernels, strict=True):
            for _, vector in kernel:
                equations += block.image([Rational(v.numerator, v.denominator) for v in vector])
            blocks.append(block.without(frozenset(pivot for pivot, _ in kernel)))
        kept = tuple(s for k, s in enumerate(system.scalars) if k not in self.scalars)
        left = tuple(block for block in blocks if block.size)
        return System(system.unknowns, (*system.equations, *equations), kept, left, system.objective)


def zeros(system: System, found: Found) -> Iterator[Zeros]:
    """What may be zero all over a system without an interior, by the solver's point of the largest margin.

    First by what exposes the face, which the solver has as dual variables, and then by the point.
    """
    rows = system.rows
    values = rows.A @ found.point + rows.b
    # The duals of what the search for a margin added stand after the equations.
    dual = np.delete(found.dual, slice(rows.equations, rows.equations + len(found.dual) - len(values)))
    start = rows.equations + rows.scalars
    scalars, exposed = values[rows.equations : start], dual[rows.equations : start]
    seen: set[Zeros] = set()
    for by_dual in (True, False):
        for cut in _CUTS:
            if by_dual:
                # What exposes and what is exposed: of the two numbers of a pair, one is zero.
                zero = (exposed > cut) & (exposed > _RATIO * abs(scalars))
            else:
                zero = scalars < cut * max(abs(scalars).max(initial=0.0), 1e-300)
            bases = []
            at = start
            for block, unit in zip(system.blocks, rows.units, strict=True):
                end = at + block.size * (block.size + 1) // 2
                matrix = unpacked(values[at:end], block.size)
                size, vectors = np.linalg.eigh(unpacked(dual[at:end], block.size) if by_dual else matrix)
                if by_dual:
                    few = (size > cut) & (size > _RATIO * abs(np.einsum("ij,ik,kj->j", vectors, matrix, vectors)))
                else:
                    few = size < cut * max(float(size[-1]), 1e-300)
                # The matrix is D X D in the units D, so that D maps the kernel of the one to that of the other.
                bases.append(faces.reduced((vectors[:, few] * unit[:, None]).T.copy()))
                at = end
            for error in _ERRORS:
                kernels = tuple(
                    tuple(
                        (p, tuple(faces.simplest(v, Fraction(1), error) for v in vector.tolist())) for vector, p in base
                    )
                    for base in bases
                )
                if any(v.denominator > _SIMPLE for kernel in kernels for _, vector in kernel for v in vector):
                    continue
                guess = Zeros(frozenset(np.flatnonzero(zero).tolist()), kernels)
                if guess and guess not in seen:
                    seen.add(guess)
                    yield guess


def packed(matrix: Array) -> Array:
    """A symmetric matrix as :func:`unpacked` takes it."""
    j, i = np.tril_indices(len(matrix))
    found: Array = matrix[i, j] * np.where(i == j, 1.0, np.sqrt(2))
    return found


def unpacked(flat: Array, size: int) -> Array:
    """The symmetric matrix of a solver's upper triangle, column by column, off the diagonal times the root of 2."""
    out = np.zeros((size, size))
    at = 0
    for j in range(size):
        for i in range(j + 1):
            out[i, j] = out[j, i] = flat[at] if i == j else flat[at] / np.sqrt(2)
            at += 1
    return out


def interior(system: System, most: float | None = None) -> Iterator[tuple[System, Found]]:
    """Faces of a system that have an interior, with a point in it, in floats: the system itself where it has one."""
    left = _TRIED

    def down(part: System, level: int) -> Iterator[tuple[System, Found]]:
        nonlocal left
        found = furthest(part, most) if left else None
        left -= 1
        if found is None:
            return
        if found.value > _MARGIN:
            yield part, found
        elif level < _LEVELS:
            for guess in zeros(part, found):
                if left <= 0:
                    return
                smaller = guess.imposed(part)
                if _independent(smaller, range(smaller.unknowns)) is not None:
                    yield from down(generic(smaller), level + 1)

    yield from down(generic(system), 0)


#: Programs that are solved for one system at most.
_TRIED = 24
#: The largest denominator of a kernel's entries.
_SIMPLE = 10**5


#: Shares of an inner point by which an optimal one is moved inwards, until rounding and the solver's errors fit in.
_SHARES = (1e-10, 1e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3)
#: Distances from a point within which a better one is looked for.
_RADII = (1e-5, 1e-6, 1e-7)
#: Unknowns beyond which that is not done: every entry of a matrix depends on all there.
_DENSE = 450
#: Relative excess of an objective that is near enough.
_EXCESS = 3e-7


def near_optimal(system: System, value: float, starts: Sequence[Sequence[Rational]]) -> list[Rational] | None:
    """A point whose objective is little above the least value, ``value`` in floats; None if none was found.

    ``starts``: points of about the least objective, the most precise first.
    """
    most = value + (abs(value) if abs(value) > 1e-6 else 1.0)
    best: list[Rational] | None = None
    scale = max(abs(value), 1e-6)

    def excess(point: Sequence[Rational]) -> float:
        return to_float(system.objective.at(point)) - value

    for part, inner in interior(system, most):
        found = optimum(part)
        begins = [*starts] if found is None else [*starts, rounded(found.point)]
        # The nearer an inner point is to the best ones, the more margin it has for what it costs.
        for nearness in (1.0, 1e-2, 1e-4):
            centre = inner if nearness == 1 else furthest(part, value + nearness * (most - value))
            if centre is None:
                continue
            for begun in begins:
                inwards = centre.point - np.array([to_float(v) for v in begun])
                for share in _SHARES:
                    if best is not None and excess(best) <= share * nearness * (most - value):
                        break
                    moved = [v + step for v, step in zip(begun, rounded(share * inwards), strict=True)]
                    point = satisfying(part, moved)
                    if point is not None and system.holds(point):
                        if best is None or excess(point) < excess(best):
                            best = point
                        break
            if best is not None and excess(best) <= _EXCESS * scale:
                return best
        for begun in begins if system.unknowns <= _DENSE else ():
            for radius in _RADII:
                found = _furthest(part.rows.near(part, begun, radius), value + _EXCESS * scale, 1e3)
                if found is None:
                    continue
                moved = [v + step for v, step in zip(begun, rounded(radius * found.point), strict=True)]
                point = satisfying(part, moved)
                if point is not None and system.holds(point) and (best is None or excess(point) < excess(best)):
                    best = point
                if best is not None and excess(best) <= 2 * _EXCESS * scale:
                    return best
    return best


def attaining(system: System, value: Rational) -> list[Rational] | None:
    """A point at which the objective is exactly ``value``; None if none was found."""
    equation = Affine(system.objective.coefficients, system.objective.constant - value)
    tied = replace(system, equations=(*system.equations, equation))
    for part, inner in interior(tied):
        point = satisfying(part, rounded(inner.point))
        if point is not None and system.holds(point):
            return point
    return None
