"""Reference optima: closed form or cvxpy, then polished; each answer has its KKT residual.

cvxpy is imported where it is used: loading it takes a second, and quadratics never need it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fedtheory import extras
from fedtheory.numbers.rational import Array, apply, inverse, is_exact, to_float
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import Quadratics

if TYPE_CHECKING:
    import cvxpy as cp

#: Largest relative KKT residual of an answer.
TOLERANCE = 1e-10

# A step shorter than 2^-60 of Newton's changes nothing in floating point.
_HALVINGS = 60


@dataclass(frozen=True)
class Optimum:
    """A minimiser ``x (..., d)``, the dual variables ``y (..., n, d)`` = grad f_i(x), and their accuracy.

    ``kkt`` is the relative KKT residual, the largest over leading (replica) axes; 0.0 for exact solutions.
    """

    x: Array
    y: Array
    kkt: float


class Objective(Protocol):
    """The objective sum_i f_i(x) + n g(x), as of a :class:`fedtheory.problems.base.Problem`."""

    @property
    def f(self) -> Functions:
        """The f_i."""

    @property
    def g(self) -> Functions | None:
        """One function, or None."""

    @property
    def n(self) -> int:
        """Number of the f_i."""

    @property
    def d(self) -> int:
        """Dimension of a point."""


@runtime_checkable
class Conic(Protocol):
    """Functions that cvxpy can minimise: what an objective offers to be solved here."""

    def cvxpy_value(self, x: cp.Variable) -> cp.Expression:
        """sum_i f_i(x), for a variable of shape ``(d,)``."""


def solve(problem: Objective) -> Optimum:
    """The minimiser of sum_i f_i + n g.

    Quadratics: closed form, exact on fractions, for all replicas of their centres at once. Otherwise cvxpy,
    polished by Newton steps. ``kkt`` is |sum_i grad f_i(x) + n grad g(x)| / max(1, sum_i |grad f_i(x)|).
    Raises ``ValueError`` when polishing leaves it above ``TOLERANCE``, when an objective cannot be stated to
    cvxpy, and when one that cvxpy must solve has replica axes.
    """
    f, g = problem.f, problem.g
    if isinstance(f, Quadratics) and (g is None or isinstance(g, Quadratics)):
        x = _closed_form(f, g)
        y, residual = _forces(problem, x)
        return Optimum(x, y, float(np.max(_norm(residual) / _scale(y))))

    def total_hessian(x: Array) -> Array:
        total = f.hessian(np.broadcast_to(x, (f.n, f.d))).sum(axis=0)
        return total if g is None else total + f.n * g.hessian(x[None])[0]

    start = _primal_by_cvxpy(problem)
    tolerance = 1e-14 * _scale(_forces(problem, start)[0])
    x, _ = newton(lambda v: _forces(problem, v)[1], total_hessian, start, tolerance)
    y, residual = _forces(problem, x)
    return _accepted(Optimum(x, y, float(_norm(residual) / _scale(y))))


def newton(
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    start: Array,
    tolerance: Array,
    iterations: int = 100,
) -> tuple[Array, Array]:
    """Minimise strongly convex functions by Newton's method with a line search, over leading axes at once.

    ``gradient``: ``(..., d) -> (..., d)``; ``hessian``: ``(..., d) -> (..., d, d)``; ``start (..., d)``;
    ``tolerance (...)`` on the norm of the gradient. Returns the points and whether each is done: within
    tolerance, or at the level of rounding, where steps no longer help.
    """
    x = np.array(start, dtype=np.float64)
    slope = gradient(x)
    size = _norm(slope)
    active = size > tolerance
    for _ in range(iterations):
        if not active.any():
            break
        H = hessian(x)
        # Rounding x alone costs a gradient of this size: below it, a step that does not help is the last.
        rounding = size <= 100 * np.finfo(np.float64).eps * np.linalg.norm(H, axis=(-2, -1)) * _norm(x)
        direction = np.linalg.solve(H, slope[..., None])[..., 0]
        length = _line_search(gradient, x, slope, direction, active & ~rounding)
        trial = x - length[..., None] * direction
        trial_slope = gradient(trial)
        trial_size = _norm(trial_slope)
        moved = active & ~(rounding & (trial_size >= size))
        stalled = rounding & (trial_size > size / 2)
        x = np.where(moved[..., None], trial, x)
        slope = np.where(moved[..., None], trial_slope, slope)
        size = np.where(moved, trial_size, size)
        active = active & ~stalled & (size > tolerance)
    return x, ~active


def _line_search(
    gradient: Callable[[Array], Array], x: Array, slope: Array, direction: Array, searching: Array
) -> Array:
    """Step lengths along ``-direction``: 1, halved until the slope there has not turned by more than a tenth.

    Slopes, not values: values differ by rounding alone long before the gradient is small. By convexity the slope
    turns where the step is too long; the tenth lets full steps pass near the solution.
    """
    initial = (slope * direction).sum(axis=-1)
    length = np.ones_like(initial)
    for _ in range(_HALVINGS):
        now = (gradient(x - length[..., None] * direction) * direction).sum(axis=-1)
        long = searching & (now < -initial / 10)
        if not long.any():
            break
        length = np.where(long, length / 2, length)
    return length


def _closed_form(f: Quadratics, g: Quadratics | None) -> Array:
    """(sum H_i + n H_g)^{-1} (sum H_i c_i + n H_g c_g), ``(..., d)``; exact on fractions."""
    H, force = f.H.sum(axis=0), apply(f.H, f.c).sum(axis=-2)
    if g is not None:
        H, force = H + f.n * g.H[0], force + f.n * apply(g.H, g.c)[..., 0, :]
    H_inverse = inverse(H)
    x = apply(H_inverse, force)
    # One refinement makes up for the rounding of an explicit inverse; fractions have none.
    return x if is_exact(x) else x + apply(H_inverse, force - apply(H, x))


def _forces(problem: Objective, x: Array) -> tuple[Array, Array]:
    """grad f_i(x), ``(..., n, d)``, and the gradient of sum_i f_i + n g at x, ``(..., d)``."""
    point = x[..., None, :]
    y = problem.f.gradient(np.broadcast_to(point, (*x.shape[:-1], problem.n, problem.d)))
    total = y.sum(axis=-2)
    return (y, total) if problem.g is None else (y, total + problem.n * problem.g.gradient(point)[..., 0, :])


def _norm(v: Array) -> Array:
    return np.linalg.norm(to_float(v), axis=-1)


def _scale(y: Array) -> Array:
    """max(1, sum_i |y_i|), the size that makes a KKT residual relative: ``(..., n, d) -> (...)``."""
    return np.maximum(1, _norm(y).sum(axis=-1))


def _accepted(answer: Optimum) -> Optimum:
    if not answer.kkt <= TOLERANCE:
        raise ValueError(f"no optimum found: relative KKT residual {answer.kkt:.1e}, expected at most {TOLERANCE:.0e}")
    return answer


def _one_replica(f: Functions) -> Functions:
    """The same functions in floats; cvxpy knows neither fractions nor replicas."""
    if not isinstance(f, Quadratics):
        return f
    if f.c.ndim > 2 or np.asarray(f.v).ndim > 1:
        raise ValueError("cvxpy solves one problem at a time, but the quadratics have replica axes")
    return Quadratics(to_float(f.H), to_float(f.c), to_float(f.v))


def _primal_by_cvxpy(problem: Objective) -> Array:
    extras.require("cvxpy")
    import cvxpy as cp

    x = cp.Variable(problem.d)
    objective = _cvxpy_value(problem.f, x)
    if problem.g is not None:
        objective = objective + problem.n * _cvxpy_value(problem.g, x)
    return _minimised(cp.Problem(cp.Minimize(objective)), x)


def _cvxpy_value(f: Functions, x: cp.Variable) -> cp.Expression:
    """sum_i f_i(x), up to a constant for quadratics."""
    import cvxpy as cp

    f = _one_replica(f)
    if isinstance(f, Quadratics):
        return cp.quad_form(x, cp.psd_wrap(f.H.sum(axis=0))) / 2 - apply(f.H, f.c).sum(axis=0) @ x
    if isinstance(f, Conic):
        return f.cvxpy_value(x)
    raise ValueError(f"{type(f).__name__} has no value that cvxpy can minimise")


def _minimised(program: cp.Problem, variable: cp.Variable) -> Array:
    """The solution, or zeros when the solver gives none: it is only a start, the KKT residual decides."""
    import cvxpy as cp

    with warnings.catch_warnings():
        # cvxpy warns of an inaccurate solution, which is all that is needed here.
        warnings.simplefilter("ignore", UserWarning)
        try:
            program.solve(solver=cp.CLARABEL, max_threads=1)
        except cp.SolverError:
            return np.zeros(variable.shape)
    return np.zeros(variable.shape) if variable.value is None else np.asarray(variable.value)
