"""What goes wrong where messages are compressed or skipped: DIANA, EF21, Scaffnew, LoCoDL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.algorithms import diana, ef21, locodl, scaffnew
from fedtheory.problems.base import Problem
from verify.conformance.slips.changes import Step, Table, changed, never


def _diana_shared(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return state.x - params.gamma * after.h_bar


def _locodl_dual(factor: Callable[[Any], Any]) -> Step:
    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        after = locodl.step(problem, params, state, draw)
        c = factor(params)
        return after._replace(u=state.u + c * (after.u - state.u), v=state.v + c * (after.v - state.v))

    return step


def _ef21_old_gradient(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    c = params.compressor.apply(draw, problem.f.gradient(state.x[..., None, :]) - state.g)
    return ef21.State(state.x - params.gamma * state.g_bar, state.g + c, state.g_bar + c.sum(axis=-2) / problem.n)


def _ef21_plain(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    x = state.x - params.gamma * state.g_bar
    c = params.compressor.apply(draw, problem.f.gradient(x[..., None, :]))
    return ef21.State(x, c + 0 * state.g, c.sum(axis=-2) / problem.n)


def _scaffnew_plain_mean(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    gamma, p = params
    x_hat = state.x - gamma * (problem.f.gradient(state.x) - state.h)
    x = np.where(draw[..., None, None], x_hat.sum(axis=-2, keepdims=True) / problem.n, x_hat)
    return scaffnew.State(x, state.h + p / gamma * (x - x_hat))


DIANA: Table = (
    (
        "the sign of the server's control variate is swapped",
        "x",
        changed(diana.step, x=lambda problem, p, s, a, d: a.x + 2 * p.gamma * s.h_bar),
    ),
    (
        "clients compress the sum of gradient and control variate: its sign is swapped",
        "x",
        lambda problem, p, s, d: diana.step(problem, p, s._replace(h=-s.h), d)._replace(
            h=s.h + (diana.step(problem, p, s._replace(h=-s.h), d).h + s.h)
        ),
    ),
    ("the server steps along the new average of the control variates", "x", changed(diana.step, x=_diana_shared)),
    ("the server's control variate is never updated (a stale average)", "h_bar", never("h_bar", diana.step)),
    ("the clients' control variates are never updated", "h", never("h", diana.step)),
    (
        "the server's control variate adds the sum of the messages instead of their average",
        "h_bar",
        changed(diana.step, h_bar=lambda problem, p, s, a, d: s.h_bar + problem.n * (a.h_bar - s.h_bar)),
    ),
    (
        "the server's average is a stale one: that of the clients' control variates before this step",
        "h_bar",
        changed(diana.step, h_bar=lambda problem, p, s, a, d: s.h.sum(axis=-2) / problem.n + 0 * a.h_bar),
    ),
)

EF21: Table = (
    ("gradients are taken at the old model instead of the new one", "g", _ef21_old_gradient),
    ("there is no error feedback: the gradient itself is compressed", "g", _ef21_plain),
    ("the server's estimate is never updated (a stale average)", "g_bar", never("g_bar", ef21.step)),
)

SCAFFNEW: Table = (
    ("the average leaves out the control variates, which do not sum to zero here", "x", _scaffnew_plain_mean),
    ("the control variates are never updated", "h", never("h", scaffnew.step)),
)

LOCODL: Table = (
    (
        "the dual step has 1 + omega where 1 + 2 omega is meant",
        "u",
        _locodl_dual(lambda p: (1 + 2 * p.omega) / (1 + p.omega)),
    ),
    ("the dual step lacks its factor p", "u", _locodl_dual(lambda p: 1 / p.p)),
    ("the dual step lacks its division by gamma", "u", _locodl_dual(lambda p: p.gamma)),
    ("the control variates are never updated", "u", _locodl_dual(lambda p: 0)),
)
