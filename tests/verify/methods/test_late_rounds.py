"""Bounds of methods that draw, which hold for three rounds and fail later, are refuted; and those that hold are not."""

from __future__ import annotations

import numpy as np
import pytest

import fedtheory as ft
from verify.base.verdict import Verdict
from verify.methods import late_rounds
from verify.methods.base import Inquiry

L, gamma = ft.letters("L gamma")


def _slope(problem, x):
    return problem.f.gradient(x[..., None, :])


def _sarah(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = _slope(problem, x) - _slope(problem, state.x)
    return {"x": x, "g": state.g + np.where(np.asarray(draw)[..., None], change, 0 * change).sum(axis=-2)}


def _start(problem, params, x=None):
    x = 0 * problem.x_star if x is None else x
    return {"x": x, "g": _slope(problem, x).sum(axis=-2) / problem.n}


def _claim(functions):
    parts = {"x": "point", "g": "point"}
    method = ft.method(
        "sarah",
        _sarah,
        ["gamma"],
        parts,
        draws=lambda problem, params, state: ft.UniformSubset(problem.n, 1),
        init=_start,
    )
    first, last = ft.Quantity("F_0", ft.gap), ft.Quantity("F_T", ft.gap, after=True)
    setting = ft.Setting(algorithm=method, functions=functions, clients=(2,))
    statement = ft.bound(method, ft.E(last) <= first)
    return ft.Claim("own/sarah", setting=setting, statement=statement, requires=(gamma * L <= 1,))


def _found(claim, seed=0):
    return late_rounds.METHOD.run(late_rounds.METHOD, Inquiry(claim, seed, 0, given=()))


@pytest.mark.parametrize("seed", range(3))
def test_sarah_without_restarts_fails_late(seed):
    found = _found(_claim(ft.Smooth(L)), seed)
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds > 3
    assert found.counterexample.replay() == (found.counterexample.left, found.counterexample.right)


def test_on_convex_functions_no_failure_is_found():
    found = _found(_claim(ft.SmoothConvex(L)))
    assert found.verdict is None and found.instances > 20
