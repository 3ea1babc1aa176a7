"""A worst case of whole runs as a run that can be replayed: functions known at finitely many points, in fractions.

Points and slopes that meet the interpolation conditions of a class are those of one of its functions. A run that asks
for nothing else is then a run on that function, whatever it is elsewhere, and the claim's own code computes both sides
of the statement from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import Optimum
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, sides
from verify.comparisons.deciding import may_agree
from verify.pep import faces, rounding
from verify.pep.gram import BasisVector, Form, Vector
from verify.pep.interpolation import Formal, OfClass, Record
from verify.pep.programs import Program, Solution

#: Relative errors at which the entries of a worst case are taken for simple fractions.
_TOLERANCES = (1e-9, 1e-7, 1e-5, 1e-4)
#: The distance from the solver's value at which a run ends the search.
_CLOSE = 1e-9
#: The denominator of coordinates that are not simple.
_GRID = 2**50
#: The share of its trace that is added to the diagonal of their Gram matrix.
_ROOM = 1e-14


@dataclass(frozen=True)
class At:
    """Coordinates of the rows, and function values: a candidate for a worst case."""

    coordinates: Mapping[BasisVector, Array]
    values: Mapping[str, Any]
    d: int

    def vector(self, of: Any) -> Array:
        """The coordinates ``(d,)`` of a vector."""
        total = np.array([Quotient(0)] * self.d, dtype=object)
        for row, c in getattr(of, "coefficients", {}).items():
            # A variable that occurs in no constraint is free.
            if row in self.coordinates:
                total = total + Quotient(c) * self.coordinates[row]
        return total

    def number(self, form: Form) -> Any:
        """The value of a form."""
        total = Quotient(form.constant)
        for (a, b), c in form.entries.items():
            total += Quotient(c) * (self.coordinates[a] * self.coordinates[b]).sum()
        for name, c in form.values.items():
            total += Quotient(c) * self.values.get(name, Quotient(0))
        return total


class Replayed(NamedTuple):
    """A run on a function of the class, as ``at`` gives both: the sides, computed by the claim's code in fractions."""

    left: Fraction
    right: Fraction
    at: At


@dataclass(frozen=True)
class Tabulated:
    """n functions at the points where they were asked; ``LookupError`` anywhere else.

    ``tables``: for each function, by point, the slope and the value there; ``solved``: proximal points, by function,
    shift and target.
    """

    mu: Array
    L: Array
    d: int
    tables: tuple[Mapping[tuple[Any, ...], tuple[Array, Any]], ...]
    solved: Mapping[tuple[Any, ...], Array]

    @property
    def n(self) -> int:
        """The number of functions."""
        return len(self.tables)

    def gradient(self, x: Array) -> Array:
        """``(..., n, d) -> (..., n, d)``."""
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape[:-1]):
            out[index] = self.tables[index[-1]][tuple(x[index])][0]
        return out

    def value(self, x: Array) -> Array:
        """``(..., n, d) -> (..., n)``."""
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))
        out = np.empty(x.shape[:-1], dtype=object)
        for index in np.ndindex(out.shape):
            out[index] = self.tables[index[-1]][tuple(x[index])][1]
        return out

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i: ``(..., n, d) -> (..., n, d)``."""
        target, shifts = (
            np.broadcast_to(target, (*target.shape[:-2], self.n, self.d)),
            np.broadcast_to(shift, (self.n,)),
        )
        out = np.empty(target.shape, dtype=object)
        for index in np.ndindex(target.shape[:-1]):
            out[index] = self.solved[index[-1], shifts[index[-1]], tuple(target[index])]
        return out


def replay(claim: Claim, posed: Formal, program: Program, solution: Solution, rounds: int) -> Replayed | None:
    """The largest left/right of runs near a solver's worst case that are those of functions of the class, or None.

    ``program``: as posed of the ``posed`` instance, in any units; ``solution``: of the same program. Methods that ask
    for more than functions, such as compressors, are not replayed.
    """
    if not solution.gram:
        return None
    found = []
    for point in _points(program, solution):
        found.append(rerun(claim, posed, point, rounds))
        if found[-1] is not None and _attained(found[-1], solution):
            break
    return max((run for run in found if run is not None), key=lambda run: run.left / run.right, default=None)


def rerun(claim: Claim, posed: Formal, at: At, rounds: int) -> Replayed | None:
    """The run on the functions that a candidate gives; None where these are none of the class, where the run asks for
    more than is known of them, and where there is no left/right."""
    if posed.wider or not _of_functions(posed):
        return None
    try:
        if any(at.number(c.form) > 0 for c in posed.constraints(True)):
            return None
        found = _run(claim, posed, at, rounds)
    except (LookupError, TypeError):
        # The value is in no table, or is not a vector.
        return None
    return found if found is not None and found.right > 0 else None


def _attained(run: Replayed, solution: Solution) -> bool:
    """Return True if a run attains the solver's worst case up to the solver's accuracy."""
    return solution.value is not None and run.left >= run.right * Fraction(solution.value - _CLOSE)


def _of_functions(posed: Formal) -> bool:
    problem = posed.instance.problem
    parts = [problem.f] if problem.g is None else [problem.f, problem.g]
    known = all(isinstance(part, OfClass) and part.multiplier is None for part in parts)
    return known and posed.oracle is None and len(posed.records) == len(parts)


# Points


def _points(program: Program, solution: Solution) -> Iterator[At]:
    if len(program.blocks) != 1:
        return
    for case in faces.worst_cases(program, solution):
        if case.factors[0].shape[1] == 1:
            yield from _on_a_line(program, case)
    inside = rounding.lower_bound(program, solution)
    if inside is not None:
        yield _in_space(program, inside[1])


def _on_a_line(program: Program, case: faces.WorstCase) -> Iterator[At]:
    """A worst case in one dimension, in units in which its largest coordinate is one."""
    (rows,), units = program.blocks, program.units
    own = case.factors[0][:, 0] * [float(units.get(row, 1)) for row in rows]
    size = own[abs(own).argmax()]
    for tol in _TOLERANCES:
        coordinates = {
            row: np.array([Quotient(rounding.simplest(v, tol))], dtype=object)
            for row, v in zip(rows, (own / size).tolist(), strict=True)
        }
        values = {
            name: Quotient(rounding.simplest(v * float(units.get(name, 1)) / size**2, tol))
            for name, v in zip(program.values, case.values.tolist(), strict=True)
        }
        yield At(coordinates, values, 1)


def _in_space(program: Program, inside: rounding.FeasiblePoint) -> At:
    """A feasible point in as many dimensions as there are rows: coordinates of its Gram matrix, rounded."""
    (rows,), (gram,) = program.blocks, inside.gram
    X = gram.astype(float)
    factor = np.linalg.cholesky(X + _ROOM * np.trace(X) * np.eye(len(X)))
    coordinates = {
        row: np.array([Quotient(Fraction(round(v * _GRID), _GRID)) for v in part], dtype=object)
        * Quotient(program.units.get(row, 1))
        for row, part in zip(rows, factor.tolist(), strict=True)
    }
    values = {
        name: Quotient(v) * Quotient(program.units.get(name, 1))
        for name, v in zip(program.values, inside.values, strict=True)
    }
    return At(coordinates, values, len(rows))


# Runs


def _run(claim: Claim, posed: Formal, point: At, rounds: int) -> Replayed | None:
    """Both sides of the statement after so many rounds, on the functions that take the point's slopes and values; None
    where the hypotheses are not met in so many dimensions, or letters have other values."""
    formal = posed.instance.problem
    assert posed.instance.initial is not None
    f, *rest = (_tabulated(record, point) for record in posed.records)
    y_star = np.array([point.vector(v) for v in formal.y_star[..., 0].flat], dtype=object).reshape(f.n, point.d)
    optimum = Optimum(point.vector(formal.x_star[..., 0].flat[0]), y_star, 0.0)
    problem = Problem(f, rest[0] if rest else None, (formal.mu, formal.L), optimum)  # type: ignore[arg-type]
    _, state = posed.instance.initial(np.zeros((1, 0)))
    fields = [np.apply_along_axis(lambda v: point.vector(v[0]), -1, np.asarray(part)) for part in state]
    start = type(state)(*fields)
    instance = replace(posed.instance, problem=problem, initial=lambda theta: (problem, start))
    case = Case.of(claim, instance)
    if not may_agree(dict(claim.setting.bind(formal, case.params)), dict(case.letters)) or not hypotheses_hold(case):
        return None
    left, right = (np.asarray(side).ravel()[0] for side in sides(case, np.zeros((1, 0)), rounds)[0])
    return Replayed(Fraction(left), Fraction(right), point)


def _tabulated(record: Record, point: At) -> Tabulated:
    tables = []
    for i, known in enumerate(record.asked):
        origin, slope = point.vector(record.origin[i, 0]), point.vector(record.slope[i, 0])
        table: dict[tuple[Any, ...], tuple[Array, Any]] = {}
        for at in known.values():
            away, gradient = point.vector(at.point), point.vector(at.gradient) + slope
            table.setdefault(tuple(origin + away), (gradient, point.number(at.value) + (slope * away).sum()))
        tables.append(table)
    solved = {
        (i, shift, tuple(point.vector(Vector(dict(target))))): point.vector(x)
        for (i, shift, target), x in record.solved.items()
    }
    return Tabulated(record.mu, record.L, point.d, tuple(tables), solved)
