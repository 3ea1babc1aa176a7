"""Worst cases and multipliers to many digits: Newton's method on the conditions under which both are optimal.

A solver's point has eight digits, at which neither the zeros of a worst case nor the ratios of its entries are seen for
sure. Where it is strictly complementary (of each pair of a slack and its multiplier one is zero, and of each matrix and
its multiplier the ranks add up), the conditions determine it up to what is free among the optimal points, and Newton's
method with shortest steps converges. Residuals are computed in integers, so that a Jacobian in floats gives any number
of digits. All of this proposes: what is made of it is checked in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from fedtheory.numbers.rational import Array
from verify.pepit import recognised
from verify.pepit.algebraic import Algebraic, Field
from verify.pepit.points import Zeros
from verify.pepit.systems import Affine, Block, Rational, System, to_float

#: Binary digits of the numbers that are computed with.
BITS = 512
#: Binary digits of a residual that counts as zero.
_VANISHING = 96
#: The same where coefficients that are rounded to 40 decimal digits admit no less.
_NEARLY = 412
#: Binary digits before the point of a number that has left all optimal ones.
_LARGE = 60


@dataclass(frozen=True)
class OptimalityLimits:
    """The work on the conditions of optimality."""

    steps: int = 60  # of Newton's method
    jacobians: int = 12  # computed anew
    unknowns: int = 1500  # the most


_LIMITS = OptimalityLimits()
#: The share of the largest number that may be negative by rounding.
_NEGATIVE = 1e-9
#: Rounds by which what damping takes from a step is restored.
_REFINED = 40
#: Ratios of a slack to its multiplier between which both are taken to be zero; below, and above, one of them is.
_BANDS = ((1e-3, 1e3), (1.0, 1.0), (1e-3, 1e-3), (1e3, 1e3))


class Optimal(NamedTuple):
    """Optimal points of both ends, times 2 ** BITS, in integers, and which of their signs and matrices are attained.

    ``attained``: the scalars of the primal system that are zero; ``idle``: those whose multipliers are. ``factors``:
    matrices, one a block, that the multiplier of the block maps to zero; the block is N N' for their first columns,
    ``ranks`` in number. ``bits``: how many binary digits the conditions hold to.
    """

    primal: list[int]
    dual: list[int]
    attained: frozenset[int]
    idle: frozenset[int]
    factors: tuple[Any, ...]
    ranks: tuple[int, ...]
    bits: int


class _Linear:
    """Affine functions of numbered unknowns, as integers and as floats."""

    def __init__(self, affines: Sequence[Affine], unknowns: int) -> None:
        self.rows = [
            ([(k, _fixed(c)) for k, c in affine.coefficients.items()], _fixed(affine.constant)) for affine in affines
        ]
        places = [(r, k, to_float(c)) for r, affine in enumerate(affines) for k, c in affine.coefficients.items()]
        r, k, c = zip(*places, strict=True) if places else ((), (), ())
        self.matrix = sp.csr_matrix((c, (r, k)), shape=(len(affines), unknowns))

    def at(self, point: Sequence[int]) -> list[int]:
        """The values at a point."""
        return [(sum(c * point[k] for k, c in row) >> BITS) + constant for row, constant in self.rows]


def _fixed(value: Any) -> int:
    if isinstance(value, Algebraic):
        return value.fixed(BITS)
    return (int(value.p) << BITS) // int(value.q)


def _whole(values: Array) -> Any:
    """Floats as integers times 2 ** BITS."""
    out = np.empty(values.shape, dtype=object)
    out.ravel()[:] = [round(v * 2.0**60) << (BITS - 60) for v in values.ravel().tolist()]
    return out


def _floats(values: Any) -> Array:
    return np.array([float(v >> (BITS - 200)) * 2.0**-200 for v in np.ravel(values)]).reshape(np.shape(values))


class _Conditions:
    """The conditions that a point, multipliers and factors satisfy, given what is attained and the ranks."""

    def __init__(
        self,
        primal: System,
        dual: System,
        attained: Sequence[int],
        idle: Sequence[int],
        widths: Sequence[int],
        ranks: Sequence[int],
    ) -> None:
        self.sizes, self.widths, self.ranks = [block.size for block in primal.blocks], widths, ranks
        n = self.sizes[0]
        self.upper = [np.triu_indices(size) for size in self.sizes]
        self.gram = len(self.upper[0][0])
        self.reached = _Linear([*primal.equations, *(primal.scalars[k] for k in attained)], primal.unknowns)
        self.matrices = [
            _Linear([_entry(b, i, j) for i, j in zip(u[0].tolist(), u[1].tolist(), strict=True)], primal.unknowns)
            for b, u in zip(primal.blocks[1:], self.upper[1:], strict=True)
        ]
        self.cancelling = _Linear(dual.equations, dual.unknowns)
        self.slacks = [
            _Linear([_entry(b, i, j) for i in range(b.size) for j in range(b.size)], dual.unknowns) for b in dual.blocks
        ]
        zero = {next(iter(dual.scalars[k].coefficients)) for k in idle}
        self.free = [k for k in range(dual.unknowns) if k not in zero]
        self.multipliers = dual.unknowns
        lengths = [n * widths[0], primal.unknowns - self.gram]
        lengths += [size * width for size, width in zip(self.sizes[1:], widths[1:], strict=True)]
        self.ends = np.cumsum(lengths)
        self.length = int(self.ends[-1]) + len(self.free)

    def parts(self, z: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Factors of the blocks, the primal point, and the multipliers."""
        first, values, *others, given = np.split(z, self.ends)
        shapes = list(zip(self.sizes, self.widths, strict=True))
        factors = [part.reshape(shape) for part, shape in zip([first, *others], shapes, strict=True)]
        gram = self.squared(factors, 0)
        multipliers: list[Any] = [0] * self.multipliers
        for k, value in zip(self.free, given.tolist(), strict=True):
            multipliers[k] = value
        return factors, [*gram.tolist(), *values.tolist()], multipliers

    def squared(self, factors: Sequence[Any], block: int) -> Any:
        """The upper triangle of a block."""
        N = factors[block][:, : self.ranks[block]]
        return (N @ N.T)[self.upper[block]]

    def residual(self, z: Any) -> Any:
        """Return the equations' residuals, in integers."""
        factors, point, multipliers = self.parts(z)
        point[: self.gram] = [v >> BITS for v in point[: self.gram]]
        out = self.reached.at(point) + self.cancelling.at(multipliers)
        for k, matrix in enumerate(self.matrices, 1):
            squares = self.squared(factors, k).tolist()
            out += [v - (w >> BITS) for v, w in zip(matrix.at(point), squares, strict=True)]
        for slack, N, size in zip(self.slacks, factors, self.sizes, strict=True):
            S = np.array(slack.at(multipliers), dtype=object).reshape(size, size)
            out += [v >> BITS for v in (S @ N).ravel().tolist()]
        return np.array(out, dtype=object)

    def jacobian(self, z: Any) -> Array:
        """The derivatives of the residual: in floats."""
        factors, _, multipliers = self.parts(_floats(z))
        u = np.array(multipliers, dtype=float)
        first, *others = map(_squaring, factors, self.ranks, self.upper)
        values = int(self.ends[1] - self.ends[0])
        spread = [sp.csr_matrix((0, N.size)) for N in factors[1:]]

        def of_point(A: sp.csr_matrix) -> list[sp.csr_matrix]:
            return [A[:, : self.gram] @ first, A[:, self.gram :]]

        def row(count: int, parts: Mapping[int, Any]) -> list[Any]:
            widths = [factors[0].size, values, *(s.shape[1] for s in spread), len(self.free)]
            return [parts.get(k, sp.csr_matrix((count, w))) for k, w in enumerate(widths)]

        last = 2 + len(spread)
        A, C = self.reached.matrix, self.cancelling.matrix[:, self.free]
        rows = [row(A.shape[0], dict(enumerate(of_point(A)))), row(C.shape[0], {last: C})]
        for k, (matrix, squared) in enumerate(zip(self.matrices, others, strict=True)):
            rows.append(row(squared.shape[0], {**dict(enumerate(of_point(matrix.matrix))), 2 + k: -squared}))
        for k, (slack, N) in enumerate(zip(self.slacks, factors, strict=True)):
            size, rank = N.shape
            S = (slack.matrix @ u + _floats([c for _, c in slack.rows])).reshape(size, size)
            own = {last: sp.kron(sp.identity(size), sp.csr_matrix(N.T)) @ slack.matrix[:, self.free]}
            own[0 if k == 0 else 1 + k] = sp.kron(sp.csr_matrix(S), sp.identity(rank))
            rows.append(row(size * rank, own))
        return sp.bmat(rows, format="csr").toarray() if self.length else np.zeros((0, 0))


def _entry(block: Block, i: int, j: int) -> Affine:
    return block.entries.get((min(i, j), max(i, j)), Affine({}))


def _squaring(N: Array, rank: int, upper: tuple[Array, Array]) -> sp.csr_matrix:
    """The derivative of the upper triangle of N N', of the first columns, by the entries of all."""
    i, j = upper
    k = np.arange(rank)
    rows = np.repeat(np.arange(len(i)), rank)
    at_i, at_j = (i[:, None] * N.shape[1] + k).ravel(), (j[:, None] * N.shape[1] + k).ravel()
    entries = np.concatenate([N[j, :rank].ravel(), N[i, :rank].ravel()])
    where = (np.concatenate([rows, rows]), np.concatenate([at_i, at_j]))
    return sp.csr_matrix((entries, where), shape=(len(i), N.size))


def optimal(primal: System, dual: System, point: Array, multipliers: Array) -> Iterator[Optimal]:
    """Both ends to many digits, from a solver's, with what may be zero there by several measures.

    Every inequality of ``primal`` has a multiplier of its own in ``dual``, in their order, and so have the blocks.
    """
    slack = _values(primal.scalars, point)
    weight = _values(dual.scalars, multipliers)
    pairs = [
        (_matrix(b, point), _matrix(other, multipliers)) for b, other in zip(primal.blocks, dual.blocks, strict=True)
    ]
    seen = set()
    for low, high in _BANDS:
        attained = tuple(np.flatnonzero(slack <= high * weight).tolist())
        idle = tuple(np.flatnonzero(slack > low * weight).tolist())
        factors, ranks = zip(*(_factor(X, S, low, high) for X, S in pairs), strict=True)
        key = attained, idle, tuple(N.shape[1] for N in factors), ranks
        if key in seen:
            continue
        seen.add(key)
        conditions = _Conditions(primal, dual, *key)
        if conditions.length > _LIMITS.unknowns:
            continue
        values = point[conditions.gram :]
        start = [factors[0].ravel(), values, *(N.ravel() for N in factors[1:]), multipliers[conditions.free]]
        z = _converged(conditions, _whole(np.concatenate(start)))
        if z is not None:
            found, at, given = conditions.parts(z)
            at[: conditions.gram] = [v >> BITS for v in at[: conditions.gram]]
            if not (_feasible(primal, _floats(at)) and _feasible(dual, _floats(given))):
                continue
            left = max((abs(v).bit_length() for v in conditions.residual(z).tolist()), default=0)
            yield Optimal(at, given, frozenset(attained), frozenset(idle), tuple(found), ranks, BITS - left)


def _feasible(system: System, point: Array) -> bool:
    """Return True if signs and matrices are as they have to be, up to rounding."""
    values = _values(system.scalars, point)
    sizes = [np.linalg.eigvalsh(_matrix(block, point)) for block in system.blocks]
    return all(v.min(initial=0.0) >= -_NEGATIVE * max(1.0, v.max(initial=0.0)) for v in (values, *sizes))


def _values(affines: Sequence[Affine], point: Array) -> Array:
    return np.array(
        [sum((to_float(c) * point[k] for k, c in a.coefficients.items()), to_float(a.constant)) for a in affines]
    )


def _matrix(block: Block, point: Array) -> Array:
    out = np.zeros((block.size, block.size))
    for ((i, j), _), v in zip(block.entries.items(), _values(list(block.entries.values()), point), strict=True):
        out[i, j] = out[j, i] = v
    return out


def _factor(X: Array, S: Array, low: float, high: float) -> tuple[Array, int]:
    """N with X = N N' for its first columns, how many there are, and what both X and S map to zero, by their sizes."""
    values, vectors = np.linalg.eigh(X)
    other = np.einsum("ij,ik,kj->j", vectors, S, vectors)
    kept = (values > 0) & (values > high * other)
    both = (values > 0) & ~kept & (values > low * other)
    return np.hstack([vectors[:, kept] * np.sqrt(values[kept]), vectors[:, both]]), int(kept.sum())


@threadpool_limits.wrap(limits=1)  # Several threads give other digits, and wait for one another where others work.
def _converged(conditions: _Conditions, z: Any) -> Any | None:
    """Newton's method with the shortest steps, as nearly as normal equations give them."""
    step: tuple[Array, Any] | None = None
    before, left = None, _LIMITS.jacobians
    for _ in range(_LIMITS.steps):
        residual = conditions.residual(z)
        size = max((abs(v) for v in residual.tolist()), default=0)
        if size.bit_length() <= _VANISHING:
            return z
        if before is not None and size > before >> 2 and size.bit_length() <= _NEARLY:
            return z
        if before is not None and (size > before << 20 or (not left and size > before >> 2)):
            return None
        if step is None or before is None or (left and size > before >> 12):
            left -= 1
            J = conditions.jacobian(z)
            normal = J @ J.T
            normal[np.diag_indices_from(normal)] += 1e-12 * max(float(normal.diagonal().max(initial=0.0)), 1e-300)
            try:
                step = J, scipy.linalg.cho_factor(normal)
            except np.linalg.LinAlgError:
                return None
        before = size
        shift = max(size.bit_length() - 200, 0)
        scaled = np.array([float(v >> shift) for v in residual.tolist()])
        exponent = max(size.bit_length() - shift, 1)
        change = _shortest(*step, scaled * 2.0**-exponent)
        if not np.isfinite(change).all():
            return None
        z = z - np.array([_scaled(v, exponent + shift) for v in change.tolist()], dtype=object)
        if max(abs(v) for v in z.tolist()).bit_length() > BITS + _LARGE:
            return None
    return None


def _shortest(J: Array, normal: Any, right: Array) -> Array:
    """The shortest solution of J x = right, as nearly as there is one, from damped normal equations."""
    found, left = np.zeros(J.shape[1]), right
    size = float(np.linalg.norm(right))
    for _ in range(_REFINED):
        found = found + J.T @ scipy.linalg.cho_solve(normal, left)
        left = right - J @ found
        before, size = size, float(np.linalg.norm(left))
        if not size < 0.98 * before:
            break
    return found


def _scaled(value: float, exponent: int) -> int:
    """The integer nearest to value * 2 ** exponent."""
    whole = round(value * 2.0**60)
    return whole << (exponent - 60) if exponent >= 60 else whole >> (60 - exponent)


# From many digits to what they are the digits of


def faces(found: Optimal, field: Field) -> tuple[Zeros, Zeros] | None:
    """Return the entries that are zero at all optimal points of the primal and of the dual system; None where the field
    lacks their ratios.

    Of each block, the factor's columns span what the multiplier maps to zero, and its first columns the block's range.
    """
    of_primal, of_dual = [], []
    for N, rank in zip(found.factors, found.ranks, strict=True):
        size = len(N)
        within, across = (_reduced(rows, found.bits, field) for rows in (N[:, :rank].T, N.T))
        if within is None or across is None:
            return None
        pivots = dict(within)
        kernel = []
        for q in range(size):
            if q not in pivots:
                vector: list[Fraction | Algebraic] = [Fraction(0)] * size
                vector[q] = Fraction(1)
                for p, row in within:
                    vector[p] = -row[q]
                kernel.append((q, tuple(vector)))
        of_primal.append(tuple(kernel))
        of_dual.append(tuple(across))
    return Zeros(found.attained, tuple(of_primal)), Zeros(found.idle, tuple(of_dual))


def _reduced(rows: Any, bits: int, field: Field) -> list[tuple[int, tuple[Fraction | Algebraic, ...]]] | None:
    """The row space in simple numbers of a field, by row reduction: each row with the place of its one, where others
    have 0."""
    left = [[int(v) for v in row] for row in rows]
    done: list[tuple[int, list[int]]] = []
    while left:
        _, r, p = max((abs(v), r, p) for r, row in enumerate(left) for p, v in enumerate(row))
        row = left.pop(r)
        if abs(row[p]).bit_length() < BITS - bits // 3:
            break
        row = [(v << BITS) // row[p] for v in row]
        left = [[v - (other[p] * w >> BITS) for v, w in zip(other, row, strict=True)] for other in left]
        done = [(q, [v - (other[p] * w >> BITS) for v, w in zip(other, row, strict=True)]) for q, other in done]
        done.append((p, row))
    found = []
    for p, row in done:
        simple = [recognised.number(v, BITS, bits, field) for v in row]
        if None in simple:
            return None
        found.append((p, tuple(v for v in simple if v is not None)))
    return found


def rounded(values: Sequence[int], bits: int) -> list[Rational]:
    """Integers times 2 ** -BITS, to so many binary digits."""
    return [Rational((v >> (BITS - bits - 1)) + 1 >> 1, 1 << bits) for v in values]
