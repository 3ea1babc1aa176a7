"""From a solver's numbers to rational certificates and rational points, which exact arithmetic can check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.exact import elimination
from verify.pep import centring, faces, programs
from verify.pep.centring import Centre, Face
from verify.pep.faces import Equation
from verify.pep.gram import Form
from verify.pep.programs import Certificate, Program, Solution

#: Shares of the largest number below which a multiplier or an eigenvalue may be a zero, and relative errors that the
#: entries of a kernel may have. Where a bound is attained the solver has only half of its digits.
_CUTS = (1e-5, 1e-4, 1e-6, 1e-3, 1e-7)
_TOLERANCES = (1e-4, 1e-5, 1e-3, 1e-6)
#: Faces that are guessed at by default: one for each cut and tolerance.
GUESSES = len(_CUTS) * len(_TOLERANCES)
#: Faces that are guessed at before the worst case is asked.
_GUESSED_FIRST = 3
#: Other units in which a proof is looked for, in turn: they give a solver other last digits.
_UNITS = 6
#: Powers of two by which these differ at most.
_POWERS = 3
#: The largest relative distance of the solver's value from a bound that may be attained.
_NEAR = 1e-6


def prove(
    program: Program, bound: Fraction, variants: Sequence[Program] = (), guesses: int = GUESSES
) -> Certificate | None:
    """A certificate of exactly this bound, or None if none was found (which says nothing about the bound).

    ``variants``: the program in other units, in which the solver may see more; multipliers do not depend on units.
    ``guesses``: how many faces are tried where the bound is attained, the multipliers have no room to be rounded, and
    the worst case does not tell the face. With one, nothing is done in many digits either.
    """
    if not program.constraints:
        certificate = Certificate(program, {}, bound)
        return certificate if certificate.check() else None
    candidates = _candidates(program, bound, variants or (program,), guesses)
    found = (Certificate(program, multipliers, bound) for multipliers in candidates)
    return next((certificate for certificate in found if certificate.check()), None)


def prove_otherwise(program: Program, posed: Program, bound: Fraction) -> Certificate | None:
    """As :func:`prove`, in units that are near those of the program ``posed``, in turn.

    Where a bound is attained, which zeros a solver shows clearly hangs on its last digits, and so on the processor; in
    other units it has others.
    """
    rows = [row for block in posed.blocks for row in block]
    for turn in range(_UNITS):
        steps = np.random.default_rng(turn).integers(-_POWERS, _POWERS + 1, len(rows) + len(posed.values)).tolist()
        units = [Fraction(2) ** step for step in steps]
        near = posed.rescaled(
            dict(zip(rows, units[: len(rows)], strict=True)), dict(zip(posed.values, units[len(rows) :], strict=True))
        )
        certificate = prove(program, bound, (near,))
        if certificate is not None:
            return certificate
    return None


def _named(program: Program, multipliers: Sequence[Fraction]) -> dict[str, Fraction]:
    return {c.name: m for c, m in zip(program.constraints, multipliers, strict=True) if m != 0}


def _candidates(
    program: Program, bound: Fraction, variants: Sequence[Program], guesses: int
) -> Iterator[dict[str, Fraction]]:
    """Multipliers that may prove the bound; what is dear, and seldom needed, comes last."""
    try:
        whole = Face.of(program, bound)
    except ValueError:
        return
    # With room around them.
    first = [centring.centre(posed, whole) for posed in variants]
    for centre in first:
        yield from _rounded(program, whole, centre)
    # Where there is none, on the face on which the leanest lie; or in the interior of that of a worst case.
    for posed, centre in zip(variants, first, strict=True):
        if centre is not None and centre.margin > -_NEAR:
            yield from _guessed(program, posed, centring.leanest(posed, whole), bound, min(guesses, _GUESSED_FIRST))
    tried = [(program, whole, centre) for centre in first[:1]]
    for posed in variants:
        for on, of, face in _attained(program, posed, bound):
            tried.append((on, face, centring.centre(of, face)))
            yield from _rounded(*tried[-1])
    # On other faces; and at last all that in many digits, where floats see no room.
    for posed, centre in zip(variants, first, strict=True):
        if centre is not None and centre.margin <= centring.NO_ROOM:
            yield from _guessed(program, posed, centre.multipliers, bound, guesses)
    for on, face, centre in tried if guesses > 1 else ():
        yield from _centred(on, face, centre)


def _rounded(program: Program, face: Face, centre: Centre | None) -> Iterator[dict[str, Fraction]]:
    if centre is not None and centre.margin > centring.NO_ROOM:
        yield _named(program, centre.rounded(face))


def _centred(program: Program, face: Face, centre: Centre | None) -> Iterator[dict[str, Fraction]]:
    start = np.zeros(len(program.constraints)) if centre is None else centre.multipliers
    yield from (_named(program, found) for found in centring.multipliers(program, face, start.tolist()))


def _attained(program: Program, posed: Program, bound: Fraction) -> Iterator[tuple[Program, Program, Face]]:
    """The faces on which multipliers of a bound may lie that is attained, by its worst cases; with both programs."""
    if not any(form.constant for form in (program.objective, *program.forms)):
        # The worst case of a homogeneous program is given a size. The multiplier of that vanishes with the bound.
        program, posed = (programs.of_trace_one(p) for p in (program, posed))
    solution = programs.solve(posed)
    if solution.value is None or abs(solution.value - float(bound)) > _NEAR * max(1.0, abs(float(bound))):
        return
    for case in faces.worst_cases(posed, solution):
        for equations, tied in faces.equations(program, posed, case):
            with suppress(ValueError):
                yield program, posed, Face.of(program, bound, equations, tied)


def _guessed(
    program: Program, posed: Program, found: Array | None, bound: Fraction, guesses: int
) -> Iterator[dict[str, Fraction]]:
    """Multipliers of a bound that is attained, on some of the faces that these may lie on."""
    if found is None or not found.any():
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


def _on_the_face(
    program: Program, posed: Program, found: Array, bound: Fraction, cut: float, tol: float
) -> list[Fraction]:
    """Multipliers of a bound that is attained.

    There the slack form has a kernel and some multipliers vanish, by complementarity. Both are read off the numbers,
    rounded to simple rationals, and imposed as linear equations, whose exact solution is a candidate.
    """
    largest = float(abs(found).max())
    zero = [k for k, m in enumerate(found.tolist()) if m < cut * largest]
    equations: list[Equation] = [({k: Fraction(1)}, Fraction(0)) for k in zero]
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
    guess = [Fraction(m).limit_denominator(centring.GRID) for m in found.tolist()]
    return faces.nearest_solution(Face.of(program, bound, equations).equations, guess)


def _kernel(matrix: Array, cut: float) -> Array:
    """A basis, row by row, of the numerical kernel of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors[:, values < cut * max(float(values[-1]), 1e-300)].T.copy()


def simplest(value: float, tol: float) -> Fraction:
    """The fraction of smallest denominator within the relative error ``tol``; 0 below ``tol`` itself."""
    return faces.simplest(value, Fraction(1), tol)


class FeasiblePoint(NamedTuple):
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
        """Return True if the Gram matrix is positive semidefinite and every constraint holds, exactly."""
        psd = all(elimination.is_positive_semidefinite(X) for X in self.gram)
        return psd and all(self.evaluate(program, form) <= 0 for form in program.forms)


def lower_bound(program: Program, solution: Solution) -> tuple[Fraction, FeasiblePoint] | None:
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
        point = FeasiblePoint(gram, tuple(values))
        if point.is_feasible(program):
            return point.evaluate(program, program.objective), point
    return None


def _fractions(values: Array) -> Array:
    out = np.empty(values.shape, dtype=object)
    for index, v in np.ndenumerate(values):
        out[index] = Fraction(round(float(v) * centring.GRID), centring.GRID)
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
