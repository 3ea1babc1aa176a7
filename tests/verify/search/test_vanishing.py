"""Invariants are tested at states where their residual vanishes, which are solved for and not waited for."""

from __future__ import annotations

import pytest
from first_found import first_found

import fedtheory as ft
from verify.base.verdict import Verdict

mu, L, gamma = ft.letters("mu L gamma")


def _mean(problem, v):
    return v.sum(axis=-2, keepdims=True) / problem.n + 0 * v


def _step(problem, params, state, base):
    x = _mean(problem, state.x) - params.gamma * state.y
    return {"x": x, "y": state.y + problem.f.gradient(x) - problem.f.gradient(base)}


def _tracks(problem, params, state, draw):
    return _step(problem, params, state, state.x)


def _loses_track(problem, params, state, draw):
    return _step(problem, params, state, _mean(problem, state.x))


def _sum(problem, params, state):
    return (state.y - problem.f.gradient(state.x)).sum(axis=-2)


def _square(problem, params, state):
    return (_sum(problem, params, state) ** 2).sum(axis=-1)


def _start(problem, params, x=None, y=None):
    x = 0 * problem.y_star if x is None else x
    return {"x": x, "y": problem.f.gradient(x) if y is None else y}


def _rest(problem, params):
    return {"x": problem.x_star[..., None, :] + 0 * problem.y_star, "y": problem.y_star}


def _claim(step, residual, functions):
    parts = {"x": "clients", "y": "clients"}
    method = ft.method("tracking", step, ["gamma"], parts, init=_start, fixed_point=_rest)
    setting = ft.Setting(algorithm=method, functions=functions)
    return ft.Claim("own/tracks", setting=setting, statement=ft.Invariant(method, residual, "the sums stay equal"))


@pytest.mark.parametrize("functions", [ft.SmoothStronglyConvex(mu, L), ft.Smooth(L)], ids=["convex", "smooth"])
@pytest.mark.parametrize("residual", [_sum, _square])
def test_states_are_solved_for(functions, residual):
    found = first_found(_claim(_loses_track, residual, functions))
    assert found.verdict is Verdict.REFUTED
    example = found.counterexample
    assert example.replay() == (example.left, example.right) and example.left != 0


@pytest.mark.parametrize("residual", [_sum, _square])
def test_what_is_kept_is_not_refuted(residual):
    found = first_found(_claim(_tracks, residual, ft.SmoothStronglyConvex(mu, L)))
    assert found.verdict is not Verdict.REFUTED
