"""Worst cases over a whole class: a semidefinite program, and certificates that are checked without the solver.

The program maximises a form of :mod:`verify.pep.gram` subject to forms that are <= 0, over all Gram matrices and
function values, hence over all functions of the class and all dimensions. Its dual is a set of multipliers: the
objective equals ``bound`` + sum of multiplier * constraint - (a positive semidefinite form), which proves ``objective
<= bound``. The solver only proposes the multipliers; :class:`Certificate` checks the identity and the form in exact
arithmetic. cvxpy is imported where it is used: loading it takes a second."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import mpmath
import numpy as np

from fedtheory.numbers.rational import DIGITS, Array
from verify.base import panics
from verify.exact.elimination import is_positive_semidefinite
from verify.pep.gram import BasisVector, Form, Number

if TYPE_CHECKING:
    import cvxpy as cp

#: The constraint that keeps what a ratio is taken to at one.
BEFORE = "before"
#: Tolerances at which the solver is tried in turn, until it reports a solution.
_TOLERANCES = (1e-10, 1e-8, 1e-6)


class Constraint(NamedTuple):
    """``form <= 0``, with a name under which its multiplier is reported.

    ``why()``: where it comes from, in words; empty where nobody is to read it.
    """

    name: str
    form: Form
    why: Callable[[], str] = str


@dataclass(frozen=True)
class Program:
    """Maximise ``objective`` subject to the constraints. Rows that appear nowhere are no part of it.

    ``units``: what one of each row, and of each function value by its name, was before the program was rescaled.
    Raise ``ValueError`` if two constraints share a name.
    """

    objective: Form
    constraints: tuple[Constraint, ...]
    units: Mapping[Any, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [c.name for c in self.constraints]
        if len(set(names)) != len(names):
            raise ValueError("two constraints of a program share a name")

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The constraints' forms."""
        return tuple(c.form for c in self.constraints)

    @cached_property
    def blocks(self) -> tuple[tuple[BasisVector, ...], ...]:
        """The rows of each diagonal block of the Gram matrix."""
        rows = sorted({row for form in (self.objective, *self.forms) for row in form.rows})
        names = sorted({row.block for row in rows})
        return tuple(tuple(row for row in rows if row.block == name) for name in names)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Names of the function values."""
        return tuple(sorted({v for form in (self.objective, *self.forms) for v in form.values}))

    def numeric(self, form: Form) -> tuple[list[Array], Array]:
        """float64 matrices of a form, one a block, and its coefficients of the function values."""
        matrices = [form.matrix(list(rows)).astype(float) for rows in self.blocks]
        return matrices, np.array([float(form.values.get(v, 0)) for v in self.values])

    @cached_property
    def arrays(self) -> tuple[list[Array], Array, Array, list[Array], Array]:
        """(A, a, b, C, c): constraint k is <A[j][k], X_j> summed over the blocks j, plus a[k] v, <= b[k]."""
        parts = [self.numeric(form) for form in self.forms]
        A = [
            np.array([m[j].ravel() for m, _ in parts]).reshape(len(parts), len(rows) ** 2)
            for j, rows in enumerate(self.blocks)
        ]
        a = np.array([v for _, v in parts]).reshape(len(parts), len(self.values))
        C, c = self.numeric(self.objective)
        return A, a, np.array([-float(form.constant) for form in self.forms]), C, c

    def rescaled(self, rows: Mapping[BasisVector, Number], values: Mapping[str, Number]) -> Program:
        """The same program in other units; its multipliers are the same."""
        constraints = tuple(c._replace(form=c.form.rescaled(rows, values)) for c in self.constraints)
        units = {key: self.units.get(key, 1) * unit for key, unit in (*rows.items(), *values.items())}
        return Program(self.objective.rescaled(rows, values), constraints, units)

    def slack(self, multipliers: Mapping[str, Number]) -> Form:
        """sum of multiplier * constraint - objective, a form whose constant is minus the bound that it proves."""
        total = -self.objective
        for constraint in self.constraints:
            total = total + multipliers.get(constraint.name, 0) * constraint.form
        return total


def scales(after: Form, before: Form, constraints: Sequence[Constraint]) -> bool:
    """Return True if the inequality is homogeneous: no form has a constant, so one size of states represents all."""
    return not any(form.constant != 0 for form in (after, before, *(c.form for c in constraints)))


def ratio(after: Form, before: Form, constraints: Sequence[Constraint]) -> Program:
    """Maximise ``after`` subject to ``before <= 1``: the worst factor, where ``before`` is a potential.

    Raise ``ValueError`` if a constant keeps them from scaling.
    """
    if not scales(after, before, constraints):
        raise ValueError("a side or a known relation of the states has a constant term, so no ratio is the worst case")
    return Program(after, (Constraint(BEFORE, before - 1, _of_size_one), *constraints))


def excess(left: Form, right: Form, constraints: Sequence[Constraint]) -> Program:
    """Maximise ``left - right`` over Gram matrices of trace at most 1: 0 where left <= right throughout.

    What scales with the state is at most 0, or passes any constant: then one by which ``right`` is larger is left out.
    """
    gap = left - right
    growing = gap - gap.constant
    if gap.constant < 0 and scales(growing, growing, constraints):
        gap = growing
    return of_trace_one(Program(gap, tuple(constraints)))


def _of_size_one() -> str:
    return "both sides scale with the state, which is taken to be of size one"


def of_trace_one(program: Program) -> Program:
    """The program over Gram matrices of trace at most 1, in its own units; ``trace`` is the first constraint."""
    trace = Form({(row, row): 1 for rows in program.blocks for row in rows}, {}, -1)
    return Program(program.objective, (Constraint("trace", trace, _of_size_one), *program.constraints), program.units)


@dataclass(frozen=True)
class Solution:
    """The solver's proposal: its ``status``, ``value``, multipliers, Gram blocks and function values.

    With another status than "optimal" the numbers are None, empty, or not to be relied on.
    """

    status: str
    value: float | None
    multipliers: Mapping[str, float]
    gram: tuple[Array, ...]
    values: Array


def power_of_two(size: float) -> Fraction:
    """The power of two nearest to a positive number, as a unit that costs no digits."""
    return Fraction(2) ** int(np.clip(np.round(np.log2(max(size, 1e-300))), -60, 60))


def equilibrated(program: Program, sweeps: int = 10) -> Program:
    """The program in units in which its coefficients are of size one, as nearly as rescaling can (after Ruiz)."""
    A, a, _, C, c = program.arrays
    sizes = [len(rows) for rows in program.blocks]
    matrices = [abs(np.concatenate([A[j].reshape(-1, r, r), C[j][None]])) for j, r in enumerate(sizes)]
    vectors = abs(np.concatenate([a, c[None]]))
    rows, values, forms = [np.ones(r) for r in sizes], np.ones(len(program.values)), np.ones(len(vectors))
    for _ in range(sweeps):
        scaled = [M * d[:, None] * d * forms[:, None, None] for M, d in zip(matrices, rows, strict=True)]
        linear = vectors * values * forms[:, None]
        largest = np.max([*(M.max(axis=(1, 2), initial=0.0) for M in scaled), linear.max(axis=1, initial=0.0)], axis=0)
        forms = forms / np.sqrt(np.where(largest > 0, largest, 1.0))
        # A row enters a form twice, hence the fourth root.
        rows = [d / np.maximum(M.max(axis=(0, 2)), 1e-300) ** 0.25 for M, d in zip(scaled, rows, strict=True)]
        values = values / np.sqrt(np.maximum(linear.max(axis=0), 1e-300))
    flat = zip([row for names in program.blocks for row in names], np.concatenate([*rows, []]).tolist(), strict=True)
    units = zip(program.values, values.tolist(), strict=True)
    return program.rescaled(
        {row: power_of_two(size) for row, size in flat}, {name: power_of_two(size) for name, size in units}
    )


def run(problem: cp.Problem) -> str:
    """Solve with CLARABEL, as accurately as it can, and return its status."""
    import cvxpy as cp

    status = "solver_error"
    for tol in _TOLERANCES:
        with warnings.catch_warnings():
            # The exact checks, not the solver, decide whether a solution is accurate enough.
            warnings.simplefilter("ignore")
            try:
                with panics.caught():
                    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_threads=1)
            except (cp.SolverError, panics.Panicked):
                continue
        status = str(problem.status)
        if status in ("optimal", "optimal_inaccurate"):
            break
    return status


def solve(program: Program) -> Solution:
    """The program's value and multipliers as CLARABEL finds them."""
    import cvxpy as cp

    A, a, b, C, c = program.arrays
    gram = [cp.Variable((len(rows), len(rows)), PSD=True) for rows in program.blocks]
    values = cp.Variable(len(program.values)) if program.values else None
    left = sum(A[j] @ cp.vec(X, order="C") for j, X in enumerate(gram))
    reward = sum(cp.sum(cp.multiply(C[j], X)) for j, X in enumerate(gram))
    if values is not None:
        left, reward = left + a @ values, reward + c @ values
    # Every constraint is scaled to size one: curvatures of very different size otherwise hide each other.
    size = sizes(A, a)
    constraint = cp.multiply(1 / size, left) <= b / size
    problem = cp.Problem(cp.Maximize(reward), [constraint])
    status = run(problem)
    if problem.value is None or constraint.dual_value is None or not np.isfinite(problem.value):
        return Solution(status, None, {}, (), np.zeros(0))
    names = (k.name for k in program.constraints)
    multipliers = dict(zip(names, (constraint.dual_value / size).tolist(), strict=True))
    found = np.zeros(0) if values is None else np.asarray(values.value)
    constant = float(program.objective.constant)
    return Solution(
        status, float(problem.value) + constant, multipliers, tuple(np.asarray(X.value) for X in gram), found
    )


def sizes(A: list[Array], a: Array) -> Array:
    """The largest coefficient of each constraint, 1 where all vanish."""
    largest = [abs(part).max(axis=1, initial=0.0) for part in (*A, a)]
    size = np.max(largest, axis=0)
    return np.where(size > 0, size, 1.0)


def interior_point(program: Program) -> tuple[tuple[Array, ...], Array, float]:
    """A Gram matrix and function values that meet every constraint with the largest margin, and that margin."""
    import cvxpy as cp

    A, a, b, _, _ = program.arrays
    size = sizes(A, a)
    margin = cp.Variable()
    gram = [cp.Variable((len(rows), len(rows)), PSD=True) for rows in program.blocks]
    full = [X + margin * np.eye(len(rows)) for X, rows in zip(gram, program.blocks, strict=True)]
    left = sum(A[j] @ cp.vec(X, order="C") for j, X in enumerate(full))
    values = cp.Variable(len(program.values)) if program.values else None
    if values is not None:
        left = left + a @ values
    # Without a bound on the trace the margin can be unbounded where nothing normalises a direction.
    trace = sum(cp.trace(X) for X in full)
    limits = [cp.multiply(1 / size, left) + margin <= b / size, margin <= 1, trace <= 1e3]
    problem = cp.Problem(cp.Maximize(margin), limits)
    run(problem)
    if margin.value is None:
        return (), np.zeros(0), -np.inf
    found = np.zeros(0) if values is None else np.asarray(values.value)
    return tuple(np.asarray(X.value) for X in full), found, float(np.asarray(margin.value))


@dataclass(frozen=True)
class Certificate:
    """A proof of ``program.objective <= bound``: rational multipliers >= 0 that leave a positive semidefinite form."""

    program: Program
    multipliers: Mapping[str, Fraction]
    bound: Fraction

    def slack(self) -> Form:
        """The form that has to be positive semidefinite: bound - objective + sum of multiplier * constraint."""
        return self.program.slack(self.multipliers) + self.bound

    def check(self) -> bool:
        """Return True if the proof holds, in exact arithmetic and without the solver."""
        names = {c.name for c in self.program.constraints}
        if not set(self.multipliers) <= names or any(m < 0 for m in self.multipliers.values()):
            return False
        slack = self.slack()
        if slack.values or slack.constant < 0:
            return False
        return all(is_positive_semidefinite(slack.matrix(list(rows))) for rows in self.program.blocks)


class Quality(NamedTuple):
    """The margins of multipliers as a proof, recomputed at 50 digits: all three are 0 or more for a proof.

    ``multiplier``: the smallest one; ``eigenvalue``: the smallest of the slack form; ``residual``: minus the largest
    coefficient of a function value that does not cancel, plus what the bound falls short of.
    """

    multiplier: float
    eigenvalue: float
    residual: float


def quality(program: Program, multipliers: Mapping[str, float], bound: Fraction) -> Quality:
    """Recomputes, without the solver and at ``DIGITS`` digits, how nearly the multipliers prove the bound."""
    exact = {name: Fraction(m) for name, m in multipliers.items()}
    slack = program.slack(exact) + bound
    smallest = mpmath.mpf(0)
    with mpmath.workdps(DIGITS):
        for rows in program.blocks:
            matrix = mpmath.matrix(slack.matrix(list(rows)).tolist())
            smallest = min(smallest, *mpmath.eigsy(matrix, eigvals_only=True))
    off = max((abs(v) for v in slack.values.values()), default=Fraction(0))
    return Quality(float(min(exact.values(), default=0)), float(smallest), float(min(slack.constant, 0) - off))
