"""From a solver's numbers to rational certificates and rational points, which exact arithmetic can check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from fedtheory.rational import Array
from verify.pep import faces, programs
from verify.pep.gram import Form
from verify.pep.programs import Certificate, Program, Solution

#: Denominator to which numbers with room around them are rounded.
GRID = 2**40
#: Shares of the largest number below which a multiplier or an eigenvalue may be a zero, and relative errors that the
#: entries of a kernel may have. Where a bound is attained the solver has only half of its digits.
_CUTS = (1e-5, 1e-4, 1e-6, 1e-3, 1e-7)
_TOLERANCES = (1e-4, 1e-5, 1e-3, 1e-6)
#: How many faces are guessed at unless told otherwise.
GUESSES = len(_CUTS) * len(_TOLERANCES)
#: The prime modulo which equations are compared: products of two residues are integers of 64 bits.
_PRIME = 2**31 - 1
#: Margins up to which multipliers have no room to be rounded.
_NO_ROOM = 1e-9
#: How near the solver's value must be to a bound that may be attained.
_NEAR = 1e-6


def nearest_solution(equations: list[tuple[dict[int, Fraction], Fraction]], guess: list[Fraction]) -> list[Fraction]:
    """A rational solution of sparse linear equations that keeps the free unknowns at their guess.

    An equation is (coefficients by unknown, right side). Unknowns with large guesses become dependent first, so that
    rounding errors do not change the sign of small ones. ``ValueError`` when there is no solution.
    """
    solved: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for coefficients, right in _independent(equations, len(guess)):
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


def _independent(equations: Sequence[faces.Equation], unknowns: int) -> list[faces.Equation]:
    """Those of the equations from which the others follow, by elimination modulo a prime.

    ``ValueError`` where they contradict one another: in fractions that takes minutes to see, and most faces that are
    guessed at are none. What the prime hides, once in 10^9 times, costs a certificate: each is checked afterwards.
    """
    chosen: list[faces.Equation] = []
    solved: list[tuple[int, Array]] = []
    for coefficients, right in equations:
        row = np.zeros(unknowns + 1, dtype=np.int64)
        for place, value in (*coefficients.items(), (unknowns, right)):
            row[place] = value.numerator * pow(value.denominator, -1, _PRIME) % _PRIME
        for pivot, other in solved:
            if row[pivot]:
                row = (row - row[pivot] * other) % _PRIME
        left = np.flatnonzero(row[:-1])
        if len(left):
            pivot = int(left[0])
            solved.append((pivot, row * pow(int(row[pivot]), -1, _PRIME) % _PRIME))
            chosen.append((coefficients, right))
        elif row[-1]:
            raise ValueError("the linear equations have no solution")
    return chosen


def _equations(program: Program) -> Iterator[tuple[dict[int, Fraction], Fraction]]:
    """The multipliers must cancel every function value."""
    for name in program.values:
        row = {k: Fraction(form.values[name]) for k, form in enumerate(program.forms) if name in form.values}
        yield row, Fraction(program.objective.values.get(name, 0))


def _proves(program: Program, bound: Fraction) -> tuple[dict[int, Fraction], Fraction]:
    """bound = constant of the objective - sum of multiplier * constant of the constraint."""
    row = {k: -Fraction(form.constant) for k, form in enumerate(program.forms) if form.constant != 0}
    return row, bound - Fraction(program.objective.constant)


def prove(
    program: Program, bound: Fraction, variants: Sequence[Program] = (), guesses: int = GUESSES
) -> Certificate | None:
    """A certificate of exactly this bound, or None if none was found (which says nothing about the bound).

    ``variants``: the program in other units, in which the solver may see more; multipliers do not depend on units.
    ``guesses``: how many faces are tried where the bound is attained, the multipliers have no room to be rounded, and
    the worst case does not tell the face.
    """
    if not program.constraints:
        certificate = Certificate(program, {}, bound)
        return certificate if certificate.check() else None
    attempts = (
        attempt(program, posed, bound)
        for attempt in (_with_room, _attained, partial(_guessed, guesses=guesses))
        for posed in variants or (program,)
    )
    found = (Certificate(program, multipliers, bound) for attempt in attempts for multipliers in attempt)
    return next((certificate for certificate in found if certificate.check()), None)


def _named(program: Program, multipliers: Sequence[Fraction]) -> dict[str, Fraction]:
    return {c.name: m for c, m in zip(program.constraints, multipliers, strict=True) if m != 0}


def _with_room(program: Program, posed: Program, bound: Fraction) -> Iterator[dict[str, Fraction]]:
    """Multipliers with room around them, rounded; the equations are then met again exactly."""
    found, margin = programs.interior_multipliers(posed, float(bound))
    if margin > _NO_ROOM:
        with suppress(ValueError):
            yield _named(program, _round([*_equations(program), _proves(program, bound)], found, margin))


def _attained(program: Program, posed: Program, bound: Fraction) -> Iterator[dict[str, Fraction]]:
    """Multipliers of a bound that is attained, in the interior of the face that its worst case determines."""
    if not any(form.constant for form in (program.objective, *program.forms)):
        # The worst case of a homogeneous program is given a size. The multiplier of that vanishes with the bound.
        program, posed = (programs.of_trace_one(p) for p in (program, posed))
    always = [*_equations(program), _proves(program, bound)]
    solution = programs.solve(posed)
    if solution.value is None or abs(solution.value - float(bound)) > _NEAR * max(1.0, abs(float(bound))):
        return
    for case in faces.worst_cases(posed, solution):
        for face in faces.equations(program, posed, case):
            found, margin = faces.interior(posed, [*always, *face], case)
            if margin > _NO_ROOM:
                with suppress(ValueError):
                    yield _named(program, _round([*always, *face], found, margin))


def _guessed(program: Program, posed: Program, bound: Fraction, guesses: int) -> Iterator[dict[str, Fraction]]:
    """Multipliers of a bound that is attained, on faces that the solver's multipliers may lie on."""
    found, margin = programs.interior_multipliers(posed, float(bound))
    if margin > _NO_ROOM or not len(found):
        return
    for cut, tol in [(cut, tol) for tol in _TOLERANCES for cut in _CUTS][:guesses]:
        with suppress(ValueError):
            yield _named(program, _on_the_face(program, posed, found, bound, cut, tol))


def balanced(program: Program, solution: Solution) -> Program:
    """The same program in units in which the solver's point is of size one, as far as it is known."""
    if not solution.gram:
        return program
    sizes = [np.sqrt(np.maximum(np.diag(X), 1e-8 * max(1e-300, np.diag(X).max()))) for X in solution.gram]
    rows = {
        row: programs.power_of_two(size)
        for of_block, names in zip(sizes, program.blocks, strict=True)
        for row, size in zip(names, of_block.tolist(), strict=True)
    }
    largest = float(abs(solution.values).max(initial=0.0))
    values = {
        name: programs.power_of_two(max(abs(v), 1e-4 * largest))
        for name, v in zip(program.values, solution.values.tolist(), strict=True)
    }
    return program.rescaled(rows, values)


def _round(equations: list[faces.Equation], found: Array, margin: float) -> list[Fraction]:
    grid = GRID * max(1, int(1 / margin))
    return nearest_solution(equations, [Fraction(round(m * grid), grid) for m in found.tolist()])


def _on_the_face(
    program: Program, posed: Program, found: Array, bound: Fraction, cut: float, tol: float
) -> list[Fraction]:
    """Multipliers of a bound that is attained.

    There the slack form has a kernel and some multipliers vanish, by complementarity. Both are read off the numbers,
    rounded to simple rationals, and imposed as linear equations, whose exact solution is a candidate.
    """
    largest = float(abs(found).max())
    zero = [k for k, m in enumerate(found.tolist()) if m < cut * largest]
    equations = [*_equations(program), _proves(program, bound), *(({k: Fraction(1)}, Fraction(0)) for k in zero)]
    A, _, _, C, _ = posed.arrays
    for j, rows in enumerate(program.blocks):
        r = len(rows)
        slack = (A[j].T @ found).reshape(r, r) - C[j]
        kernel = _kernel((slack + slack.T) / 2, cut)
        # A worst function is simple in the program's own units.
        for vector, _ in faces.reduced(kernel * [float(posed.units.get(row, 1)) for row in rows]):
            simple = {row: simplest(v, tol) for row, v in zip(rows, vector.tolist(), strict=True)}
            sparse = {row: v for row, v in simple.items() if v != 0}
            wanted = program.objective.image(sparse)
            images = [(k, form.image(sparse)) for k, form in enumerate(program.forms)]
            for row in rows:
                left = {k: Fraction(image[row]) for k, image in images if image.get(row, 0) != 0}
                equations.append((left, Fraction(wanted.get(row, 0))))
    guess = [Fraction(m).limit_denominator(GRID) for m in found.tolist()]
    return nearest_solution(equations, guess)


def _kernel(matrix: Array, cut: float) -> Array:
    """A basis, row by row, of the numerical kernel of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors[:, values < cut * max(float(values[-1]), 1e-300)].T.copy()


def simplest(value: float, tol: float) -> Fraction:
    """The fraction of smallest denominator within the relative error ``tol``; 0 below ``tol`` itself."""
    return faces.simplest(value, Fraction(1), tol)


class Attained(NamedTuple):
    """A rational Gram matrix (block by block) and function values: a worst case that can be rebuilt."""

    gram: tuple[Array, ...]
    values: tuple[Fraction, ...]

    def evaluate(self, program: Program, form: Form) -> Fraction:
        """Value of a form at this point."""
        total = Fraction(form.constant)
        for rows, X in zip(program.blocks, self.gram, strict=True):
            total += (form.matrix(list(rows)) * X).sum()
        values = zip(program.values, self.values, strict=True)
        return total + sum((Fraction(form.values.get(name, 0)) * v for name, v in values), Fraction(0))

    def is_feasible(self, program: Program) -> bool:
        """Whether the Gram matrix is positive semidefinite and every constraint holds, exactly."""
        psd = all(programs.is_positive_semidefinite(X) for X in self.gram)
        return psd and all(self.evaluate(program, form) <= 0 for form in program.forms)


def lower_bound(program: Program, solution: Solution) -> tuple[Fraction, Attained] | None:
    """The objective at an exactly feasible rational point near the solver's, or None if none was found.

    The solver's point is moved towards an interior one just far enough for its residuals and rounding.
    """
    if not solution.gram:
        return None
    inner, inner_values, margin = programs.interior_point(program)
    if margin <= 0:
        return None
    for share in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        gram = tuple(
            _fractions((1 - share) * (X + X.T) / 2 + share * (Y + Y.T) / 2)
            for X, Y in zip(solution.gram, inner, strict=True)
        )
        values = _fractions((1 - share) * solution.values + share * inner_values)
        point = Attained(gram, tuple(values))
        if point.is_feasible(program):
            return point.evaluate(program, program.objective), point
    return None


def _fractions(values: Array) -> Array:
    out = np.empty(values.shape, dtype=object)
    for index, v in np.ndenumerate(values):
        out[index] = Fraction(round(float(v) * GRID), GRID)
    return out


def just_above(value: float) -> Iterator[Fraction]:
    """Numbers of twelve digits slightly above a solver's value, nearest first."""
    size = max(1.0, abs(value))
    for excess in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        yield Fraction(round((value + excess * size) * 10**12), 10**12)


def upper_bound(program: Program, value: float, variants: Sequence[Program] = ()) -> Certificate | None:
    """A certificate of a bound slightly above the solver's value, or None; ``variants`` as in :func:`prove`."""
    found = (prove(program, bound, variants, guesses=1) for bound in just_above(value))
    return next((certificate for certificate in found if certificate is not None), None)
