"""What goes wrong in SVRG, SAGA, SAG and SDCA, where one function or example is asked at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.algorithms import sag, saga, sdca, svrg
from fedtheory.algorithms.minibatch_sgd import everywhere, mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from verify.conformance.slips.changes import Step, Table, changed


def _svrg(direction: Callable[[Array, Array, Array], Array]) -> Step:
    """SVRG along ``direction(fresh, stale, full)``: of the function drawn, and of all at the snapshot."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        fresh, stale = (problem.f.gradient(everywhere(problem, v)) for v in (state.w, state.w_tilde))
        full = stale.sum(axis=-2) / problem.n
        slope = direction(mean_over(draw, 1, fresh), mean_over(draw, 1, stale), full)
        return svrg.State(state.w - params.eta * slope, state.w_tilde)

    return step


def _saga(direction: Callable[[Problem, Array, Array, Array], Array]) -> Step:
    """SAGA along ``direction(problem, fresh, stale, table)``: of the function drawn, and of all in the table."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x = everywhere(problem, state.x)
        fresh, table = problem.f.gradient(x), problem.f.gradient(state.phi)
        slope = direction(problem, mean_over(draw, 1, fresh), mean_over(draw, 1, table), table)
        return saga.State(state.x - params.gamma * slope, np.where(draw[..., None], x, state.phi))

    return step


def _mean(problem: Problem, table: Array) -> Array:
    return table.sum(axis=-2) / problem.n


def _at_new_model(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return np.where(draw[..., None], everywhere(problem, after.x), state.phi)


def _sag_old_table(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return state.x - params.alpha * _mean(problem, state.y) + 0 * after.x


def _sag_unbiased(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    change = np.where(draw[..., None], after.y - state.y, 0 * after.y).sum(axis=-2)
    return state.x - params.alpha * (change + _mean(problem, state.y))


def _sag_sum(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return state.x - params.alpha * after.y.sum(axis=-2)


def _sdca(length: Callable[[Any, Array], Array], primal: Callable[[Any, Array], Array]) -> Step:
    """SDCA with another denominator, 1 + ``length(f, |x_i|^2)``, or another w, ``primal(f, alpha)``; squared loss."""

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        f = problem.f
        rise = f.loss.ascent(state.alpha, f.predictions(primal(f, state.alpha)), length(f, f.squared_norms), f.y)
        return sdca.State(state.alpha + np.where(draw, rise, 0 * rise))

    return step


def _length(f: Any, square: Array) -> Array:
    return square / (f.lam * f.examples)


def _primal(f: Any, alpha: Array) -> Array:
    return np.asarray(f.primal(alpha))


SVRG: Table = (
    ("the sign of the correction is swapped", "w", _svrg(lambda fresh, stale, full: fresh + stale - full)),
    ("the sign of the difference is swapped", "w", _svrg(lambda fresh, stale, full: stale - fresh + full)),
    ("the full gradient at the snapshot is left out", "w", _svrg(lambda fresh, stale, full: fresh - stale)),
    ("there is no correction at the snapshot: this is SGD", "w", _svrg(lambda fresh, stale, full: fresh)),
    (
        "the snapshot is renewed in every step: it is the same array as the model",
        "w_tilde",
        changed(svrg.step, w_tilde=lambda problem, params, s, a, draw: a.w),
    ),
)

SAGA: Table = (
    (
        "the table is renewed before its mean is taken",
        "x",
        _saga(lambda problem, g, old, table: g - old + _mean(problem, table) + (g - old) / problem.n),
    ),
    (
        "the difference is divided by n: this is SAG's direction",
        "x",
        _saga(lambda problem, g, old, table: (g - old) / problem.n + _mean(problem, table)),
    ),
    ("the sign of the correction is swapped", "x", _saga(lambda problem, g, old, t: g + old - _mean(problem, t))),
    ("the sign of the difference is swapped", "x", _saga(lambda problem, g, old, t: old - g + _mean(problem, t))),
    ("the mean of the table is left out", "x", _saga(lambda problem, g, old, table: g - old)),
    ("the table is renewed at the new model", "phi", changed(saga.step, phi=_at_new_model)),
    ("the table is never renewed", "phi", changed(saga.step, phi=lambda problem, params, s, a, d: s.phi + 0 * a.phi)),
)

SAG: Table = (
    ("the step takes the old table (a stale average)", "x", changed(sag.step, x=_sag_old_table)),
    ("the difference is not divided by n: this is SAGA's direction", "x", changed(sag.step, x=_sag_unbiased)),
    (
        "the sum of the table is taken instead of its mean",
        "x",
        changed(sag.step, x=_sag_sum),
    ),
)

SDCA: Table = (
    ("w lacks its division by n", "alpha", _sdca(_length, lambda f, alpha: f.primal(alpha) * f.examples)),
    ("the curvature |x_i|^2/(lambda n) lacks its n", "alpha", _sdca(lambda f, square: square / f.lam, _primal)),
    ("the curvature |x_i|^2/(lambda n) is left out", "alpha", _sdca(lambda f, square: 0 * square, _primal)),
    (
        "n is the number of clients instead of that of examples",
        "alpha",
        _sdca(lambda f, square: square / (f.lam * f.n), lambda f, alpha: f.combined(alpha) / (f.lam * f.n)),
    ),
)
