"""Multipliers of a bound that is attained: the face on which they lie, found exactly, and its interior.

Where a bound is attained the slack form vanishes on the worst cases, and multipliers of constraints that have room
there are zero. Both are linear equations in the multipliers once the worst case is known exactly. It is: Newton's
method on the optimality conditions gives it to nearly all digits of a float, and its ratios are then simple rationals.
On the face that these equations cut out the multipliers have room again, and can be rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.exact import elimination
from verify.pep import programs
from verify.pep.gram import BasisVector
from verify.pep.programs import Program, Solution

# Sparse linear equations in fractions.

#: A linear equation: the coefficients of unknowns, by number, and the right side.
Equation = tuple[dict[int, Fraction], Fraction]


class Reduced(NamedTuple):
    """Equations from which the others follow, in their order, and the unknowns that have one value only."""

    equations: list[Equation]
    determined: frozenset[int]


def independent(equations: Sequence[Equation], unknowns: int) -> Reduced:
    """The equations without those that follow from earlier ones.

    Raise ``ValueError`` if they contradict one another: in fractions that takes minutes to see, and most faces that are
    guessed at are none.
    """
    rows = [{**coefficients, unknowns: right} for coefficients, right in equations]
    found = elimination.independent(rows, range(unknowns + 1), unknowns)
    if found.pivots and found.pivots[-1] == unknowns:
        raise ValueError("the linear equations have no solution")
    return Reduced([equations[r] for r in found.rows], frozenset(found.alone))


def nearest_solution(equations: Sequence[Equation], guess: Sequence[Fraction]) -> list[Fraction]:
    """A rational solution of sparse linear equations that keeps the free unknowns at their guess.

    Unknowns with large guesses become dependent first, so that rounding errors do not change the sign of small ones.
    Raise ``ValueError`` if there is no solution.
    """
    solved: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for coefficients, right in independent(equations, len(guess)).equations:
        row, value = dict(coefficients), Fraction(right)
        for unknown in [u for u in row if u in solved]:
            factor = row.pop(unknown, Fraction(0))
            value -= factor * solved[unknown][1]
            for other, c in solved[unknown][0].items():
                row[other] = row.get(other, Fraction(0)) - factor * c
        row = {u: c for u, c in row.items() if c != 0}
        if not row:
            if value != 0:
                raise ValueError("the linear equations have no solution")
            continue
        pivot = max(row, key=lambda u: (abs(guess[u]), -u))
        scale = row.pop(pivot)
        row, value = {u: c / scale for u, c in row.items()}, value / scale
        for unknown, (other_row, other_value) in list(solved.items()):
            factor = other_row.pop(pivot, Fraction(0))
            if factor:
                for u, c in row.items():
                    other_row[u] = other_row.get(u, Fraction(0)) - factor * c
                solved[unknown] = (other_row, other_value - factor * value)
        solved[pivot] = (row, value)
    out = list(guess)
    for unknown, (row, value) in solved.items():
        out[unknown] = value - sum((c * guess[u] for u, c in row.items()), Fraction(0))
    return out


#: Shares of the largest eigenvalue below which the solver's Gram matrix may have a zero.
_RANKS = (3e-1, 1e-1, 1e-2, 1e-3)
#: Relative errors that the entries of a worst case may have: those of a converged one, and those of one that is not.
_TOLERANCES = (1e-9, 1e-7, 1e-5, 1e-4)
#: Shares of the largest multiplier below which one may be zero, when the conditions are set up.
_ACTIVE = 1e-4
#: Steps of Newton's method.
_STEPS = 30
#: Unknowns beyond which the conditions are not solved: a second at this size.
_UNKNOWNS = 250
#: The residual at which Newton's method has converged.
_CONVERGED = 1e-12
#: Room that a constraint has at the worst case if its multiplier is zero.
_ROOM = 1e-6
#: The largest entry of a vector that depends on others.
_DEPENDENT = 1e-12


class WorstCase(NamedTuple):
    """A worst case: Gram matrix ``N N'`` block by block, function values, and multipliers."""

    factors: tuple[Array, ...]
    values: Array
    multipliers: Array


def worst_cases(posed: Program, solution: Solution) -> Iterator[WorstCase]:
    """The solver's point, with as many of its eigenvectors as may belong to it, made precise."""
    if not solution.gram:
        return
    found = np.array([solution.multipliers[c.name] for c in posed.constraints])
    largest = max(float(np.linalg.eigvalsh((X + X.T) / 2)[-1]) for X in solution.gram)
    seen: set[tuple[int, ...]] = set()
    for share in _RANKS:
        factors = tuple(_factor(X, share * largest) for X in solution.gram)
        ranks = tuple(N.shape[1] for N in factors)
        if ranks in seen or not any(ranks):
            continue
        seen.add(ranks)
        start = WorstCase(factors, solution.values, np.where(found > _ACTIVE * found.max(), found, 0.0))
        case = _converged(posed, start)
        if case is not None:
            yield case


def _factor(X: Array, least: float) -> Array:
    values, vectors = np.linalg.eigh((X + X.T) / 2)
    kept = values > max(least, 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def _converged(posed: Program, start: WorstCase) -> WorstCase | None:
    """Newton's method on: every active constraint is attained, the slack form vanishes on the worst case, and cancels
    every function value. Steps are the shortest ones, since worst case and multipliers need not be unique."""
    A, a, b, C, c = posed.arrays
    active = np.flatnonzero(start.multipliers)
    sizes = [len(rows) for rows in posed.blocks]
    matrices = [A[j].reshape(-1, r, r)[active] for j, r in enumerate(sizes)]
    a, b = a[active], b[active]
    ranks = [N.shape[1] for N in start.factors]
    lengths = [r * k for r, k in zip(sizes, ranks, strict=True)]
    if sum(lengths) + len(c) + len(active) > _UNKNOWNS:
        return None
    x = np.concatenate([*(N.ravel() for N in start.factors), start.values, start.multipliers[active]])
    ends = np.cumsum([*lengths, len(c)])

    def parts(x: Array) -> tuple[list[Array], Array, Array]:
        *flat, v, m = np.split(x, ends)
        return [N.reshape(r, k) for N, r, k in zip(flat, sizes, ranks, strict=True)], v, m

    for _ in range(_STEPS):
        factors, v, m = parts(x)
        slack = [np.tensordot(m, M, axes=1) - C[j] for j, M in enumerate(matrices)]
        images = [M @ N for M, N in zip(matrices, factors, strict=True)]
        reached = sum(np.einsum("kia,ia->k", image, N) for image, N in zip(images, factors, strict=True)) + a @ v - b
        vanishing = [S @ N for S, N in zip(slack, factors, strict=True)]
        residual = np.concatenate([reached, *(part.ravel() for part in vanishing), a.T @ m - c])
        if abs(residual).max(initial=0.0) < _CONVERGED:
            break
        J = np.zeros((len(residual), len(x)))
        J[: len(m), ends[-2] : ends[-1]] = a
        J[len(residual) - len(c) :, ends[-1] :] = a.T
        at, place = len(m), 0
        for j, (r, k) in enumerate(zip(sizes, ranks, strict=True)):
            own = slice(place, place + r * k)
            J[: len(m), own] = 2 * images[j].reshape(len(m), r * k)
            J[at : at + r * k, own] = np.kron(slack[j], np.eye(k))
            J[at : at + r * k, ends[-1] :] = images[j].reshape(len(m), r * k).T
            at, place = at + r * k, place + r * k
        x = x - np.linalg.lstsq(J, residual, rcond=1e-11)[0]
        if not np.isfinite(x).all():
            return None
    else:
        if abs(residual).max() > 1e-6:
            return None
    factors, v, m = parts(x)
    everything = np.zeros(len(start.multipliers))
    everything[active] = m
    return WorstCase(tuple(factors), v, everything)


def equations(program: Program, posed: Program, case: WorstCase) -> Iterator[tuple[list[Equation], list[list[int]]]]:
    """Yield the equations that multipliers satisfy by complementarity, with the worst case rounded in several ways.

    ``posed`` is the program in the units of the case. Each set of equations comes with the rows of each block that it
    ties to the others, since the slack form vanishes on the worst case.
    """
    A, a, b, _, _ = posed.arrays
    grams = [N @ N.T for N in case.factors]
    reached = sum(np.einsum("kij,ij->k", A[j].reshape(-1, *X.shape), X) for j, X in enumerate(grams)) + a @ case.values
    size = np.maximum(programs.sizes(A, a), 1e-300)
    idle: list[Equation] = [({k: Fraction(1)}, Fraction(0)) for k in _places((b - reached) / size > _ROOM)]
    seen: list[list[dict[BasisVector, Fraction]]] = []
    for tol in _TOLERANCES:
        blocks = zip(posed.blocks, case.factors, strict=True)
        simple = [list(_simple(program, posed, rows, N, tol)) for rows, N in blocks]
        kernel = [vector for of_block in simple for vector, _ in of_block]
        if kernel in seen:
            continue
        seen.append(kernel)
        found = list(idle)
        for vector in kernel:
            wanted = program.objective.image(vector)
            images = [(k, form.image(vector)) for k, form in enumerate(program.forms)]
            # In the order of the program, not of a set: the multipliers that are found depend on it.
            for row in dict.fromkeys([row for _, image in images for row in image] + list(wanted)):
                left = {k: Fraction(image[row]) for k, image in images if image.get(row, 0) != 0}
                found.append((left, Fraction(wanted.get(row, 0))))
        yield found, [[pivot for _, pivot in of_block] for of_block in simple]


def _places(where: Array) -> list[int]:
    return [int(k) for k in np.flatnonzero(where)]


def _simple(
    program: Program, posed: Program, rows: tuple[BasisVector, ...], factor: Array, tol: float
) -> Iterator[tuple[dict[BasisVector, Fraction], int]]:
    """A basis of the range of a factor, by row reduction, with simple rational entries in the program's own units; each
    with the place of its one, where the others have zeros."""
    units = [Fraction(posed.units.get(row, 1)) / Fraction(program.units.get(row, 1)) for row in rows]
    for vector, pivot in reduced(factor.T.copy()):
        simple = {
            row: simplest(v, u / units[pivot], tol) for row, v, u in zip(rows, vector.tolist(), units, strict=True)
        }
        yield {row: v for row, v in simple.items() if v != 0}, pivot


def reduced(basis: Array) -> list[tuple[Array, int]]:
    """The basis by row reduction, its entries ratios, with the place of the one in each vector; others are left out."""
    found: list[tuple[Array, int]] = []
    for i in range(len(basis)):
        pivot = int(abs(basis[i]).argmax())
        if not abs(basis[i, pivot]) > _DEPENDENT:
            continue
        found.append((basis[i], pivot))
        basis[i] /= basis[i, pivot]
        for k in range(len(basis)):
            if k != i:
                basis[k] -= basis[k, pivot] * basis[i]
    return found


def simplest(value: float, unit: Fraction, tol: float) -> Fraction:
    """The fraction of smallest denominator near value * unit, to the relative error ``tol``; 0 where the value is less
    than ``tol``."""
    if abs(value) < tol:
        return Fraction(0)
    low, high = sorted(Fraction(value) * unit * (1 + sign * Fraction(tol)) for sign in (-1, 1))
    return -between(-high, -low) if high < 0 else between(low, high)


def between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator in [low, high], 0 < low: by continued fractions."""
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    return whole - 1 + 1 / between(1 / (high - whole + 1), 1 / (low - whole + 1))
