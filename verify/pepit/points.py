"""Exact points of linear matrix inequalities, from a solver's floats.

What is returned satisfies every equation, sign and matrix inequality exactly. Where the system has no interior, the
equations that all of its points obey are read off the solver's numbers and imposed (facial reduction). A wrong guess
costs a point, never its exactness: :meth:`~verify.pepit.systems.System.holds` checks each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import flint
import numpy as np

from fedtheory.numbers.rational import Array
from verify.exact import elimination
from verify.exact.elimination import residue
from verify.pep import faces
from verify.pepit.algebraic import Algebraic, AlgebraicMatrix, rational
from verify.pepit.systems import (
    Affine,
    Found,
    Rational,
    System,
    furthest,
    furthest_of,
    optimum,
    to_float,
    unpacked,
)

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
    field = system.field
    matrix = partial(AlgebraicMatrix, field) if field.squares else flint.fmpq_mat
    solved = _determined(*chosen, point, lambda value: value, matrix)
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
    found = elimination.independent(rows, [*order, system.unknowns], prime=system.prime)
    if found.pivots and found.pivots[-1] == system.unknowns:
        return None
    return [system.equations[r] for r in found.rows], found.pivots


def _modular(prime: int, rows: int, columns: int, entries: list[int]) -> flint.nmod_mat:
    return flint.nmod_mat(rows, columns, [entry % prime for entry in entries], prime)


#: Relative errors that the entries of a kernel may have, and shares of the largest below which a number is zero.
_ERRORS = (1e-5, 1e-4, 1e-3, 1e-7)
_CUTS = (1e-6, 1e-4)
#: How many times what exposes a zero is larger than that, at least.
_RATIO = 30
#: The margin above which a system has an interior.
_MARGIN = 1e-7
_LEVELS = 8


def generic(system: System) -> System | None:
    """The system without the rows of blocks that the others decide wherever the equations hold; None if there is no
    such point.

    A vector that every matrix of a block maps to zero, by the equations alone, costs one row: so does each of the
    translations under which a worst case is the same. Found at points modulo a prime, as :func:`satisfying` has it.
    """
    width = system.unknowns
    chosen = _independent(system, range(width))
    if chosen is None or not system.equations:
        return system if chosen is not None else None
    equations, pivots = chosen
    determined, prime = frozenset(pivots), system.prime
    points = []
    for seed in range(3):
        values = random.Random(seed)
        point = {k: values.randrange(prime) for k in range(width) if k not in determined}
        solved = _determined(equations, pivots, point, partial(residue, prime=prime), partial(_modular, prime))
        if solved is None:
            return system
        points.append(point | {unknown: int(value) for unknown, value in solved.items()})
    blocks = []
    for block in system.blocks:
        r = block.size
        stacked = [0] * (len(points) * r * r)
        for number, point in enumerate(points):
            for (i, j), entry in block.entries.items():
                terms = (residue(c, prime) * point[k] for k, c in entry.coefficients.items())
                v = residue(entry.constant, prime) + sum(terms)
                stacked[(number * r + i) * r + j] = stacked[(number * r + j) * r + i] = v % prime
        # A row without a pivot is one in whose place a vector of the kernel has its one.
        kept = elimination.pivots(flint.nmod_mat(len(points) * r, r, stacked, prime))
        blocks.append(block.without(frozenset(range(r)) - frozenset(kept)))
    return replace(system, blocks=tuple(block for block in blocks if block.size))


def _exact(value: Fraction | Algebraic) -> Any:
    return value if isinstance(value, Algebraic) else rational(value)


class Zeros(NamedTuple):
    """Scalars, by number, that are zero on a face; vectors that each block maps to zero, with the place of a one."""

    scalars: frozenset[int]
    kernels: tuple[tuple[tuple[int, tuple[Fraction | Algebraic, ...]], ...], ...]

    def __bool__(self) -> bool:
        return bool(self.scalars) or any(self.kernels)

    def imposed(self, system: System) -> System:
        """The face of the system."""
        equations = [system.scalars[k] for k in sorted(self.scalars)]
        blocks = []
        for block, kernel in zip(system.blocks, self.kernels, strict=True):
            for _, vector in kernel:
                equations += block.image(list(map(_exact, vector)))
            blocks.append(block.without(frozenset(pivot for pivot, _ in kernel)))
        kept = tuple(s for k, s in enumerate(system.scalars) if k not in self.scalars)
        left = tuple(block for block in blocks if block.size)
        return System(system.unknowns, (*system.equations, *equations), kept, left, system.objective)


def zeros(system: System, found: Found) -> Iterator[Zeros]:
    """Yield what may be zero all over a system without an interior, by the solver's point of the largest margin.

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
                # The exposing vector and the exposed one: of the two numbers of a pair, one is zero.
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
            guesses = []
            for error in _ERRORS:
                kernels = tuple(
                    tuple(
                        (p, tuple(faces.simplest(v, Fraction(1), error) for v in vector.tolist())) for vector, p in base
                    )
                    for base in bases
                )
                largest = max((v.denominator for kernel in kernels for _, vector in kernel for v in vector), default=1)
                guess = Zeros(frozenset(np.flatnonzero(zero).tolist()), kernels)
                if largest <= _SIMPLE and guess and guess not in seen:
                    seen.add(guess)
                    guesses.append((largest**2 * error > _CHANCE, guess))
            # Those first whose numbers are simpler than chance makes them.
            yield from (guess for _, guess in sorted(guesses, key=lambda pair: pair[0]))


def interior(system: System, most: float | None = None) -> Iterator[tuple[System, Found]]:
    """Faces of a system that have an interior, with a point in it, in floats: the system itself where it has one."""
    whole, first, room = generic(system), None, _ROOMS[0]
    if whole is None:
        return
    for room in _ROOMS:
        first = furthest(whole, most, room)
        if first is not None and first.value > -_EMPTY:
            break
    left = max(_TRIED * _WIDTH // max(system.unknowns, _WIDTH), _FEW)

    def down(part: System, found: Found | None, level: int) -> Iterator[tuple[System, Found]]:
        nonlocal left
        left -= 1
        if found is None:
            return
        if found.value > _MARGIN:
            yield part, found
        elif level < _LEVELS:
            for guess in zeros(part, found):
                if left <= 0:
                    return
                face = generic(guess.imposed(part))
                if face is not None:
                    yield from down(face, furthest(face, most, room), level + 1)

    yield from down(whole, first, 0)


#: Programs that are solved for one system at most; with more unknowns than so many, fewer, down to the least.
_TRIED, _WIDTH, _FEW = 24, 700, 6
#: How large the sum of scalars and traces may be, one after another until the margin is not below minus a share.
_ROOMS, _EMPTY = (1e3, 1e5, 1e7), 1e-4
#: The largest denominator of a kernel's entries; its square times the error beyond which it may be chance.
_SIMPLE, _CHANCE = 10**5, 0.1


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
                found = furthest_of(part.rows.near(part, begun, radius), value + _EXCESS * scale)
                if found is None:
                    continue
                moved = [v + step for v, step in zip(begun, rounded(radius * found.point), strict=True)]
                point = satisfying(part, moved)
                if point is not None and system.holds(point) and (best is None or excess(point) < excess(best)):
                    best = point
                if best is not None and excess(best) <= 2 * _EXCESS * scale:
                    return best
    return best


def attaining(system: System, value: Rational | Algebraic) -> list[Rational] | None:
    """A point at which the objective is exactly ``value``; None if none was found."""
    equation = Affine(system.objective.coefficients, system.objective.constant - value)
    tied = replace(system, equations=(*system.equations, equation))
    for part, inner in interior(tied):
        point = satisfying(part, rounded(inner.point))
        if point is not None and system.holds(point):
            return point
    return None


def near(system: System) -> list[Rational] | None:
    """A point whose objective is about the least one, if that needs no more than a few programs; None otherwise."""
    found = optimum(system)
    if found is None:
        return None
    most = found.value + max(abs(found.value), _COARSE)
    for part, inner in interior(system, most):
        point = satisfying(part, rounded(inner.point))
        if point is not None and system.holds(point):
            return point
    return None


#: What an objective may exceed the least one by, where that is small.
_COARSE = 1e-3
