"""Multipliers with room around them, in units in which they have most.

A solver finds the multipliers that are furthest from every bound, in the units in which they are given to it. Where
coefficients are of very different size it is lost in its own rounding; :mod:`verify.pep.centring` is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.pep import linear, programs
from verify.pep.linear import Equation
from verify.pep.programs import Program

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
        """What multipliers of a bound obey: they cancel every function value, prove the bound, and do what more is
        asked, by which the rows ``tied`` of each block are tied to the others. ``ValueError`` if none do it all."""
        equations: list[Equation] = []
        for name in program.values:
            row = {k: Fraction(form.values[name]) for k, form in enumerate(program.forms) if name in form.values}
            equations.append((row, Fraction(program.objective.values.get(name, 0))))
        # bound = constant of the objective - sum of multiplier * constant of the constraint
        row = {k: -Fraction(form.constant) for k, form in enumerate(program.forms) if form.constant != 0}
        equations.append((row, bound - Fraction(program.objective.constant)))
        reduced = linear.reduced([*equations, *more], len(program.constraints))
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
        return linear.nearest_solution(face.equations, guess)


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
