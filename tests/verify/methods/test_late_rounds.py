"""Bounds of methods that draw, which hold for three rounds and fail later, are refuted; and those that hold are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.comparisons.deciding import violated
from verify.methods import late_rounds
from verify.methods.base import Inquiry
from verify.search import seen

mu, L, gamma, p, q = ft.letters("mu L gamma p q")
D_0, D_T = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
Z = ft.Quantity("Z", ft.heterogeneity)


class Draw(NamedTuple):
    client: Any
    renewed: Any


def _client(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def _coin(problem, params, state):
    return ft.Bernoulli(params.p)


def _both(problem, params, state):
    return ft.Product(Draw, (ft.UniformSubset(problem.n, 1), ft.Bernoulli(params.p)))


def _slopes(problem, x):
    return problem.f.gradient(x[..., None, :])


def _picked(draw, values):
    return np.where(np.asarray(draw)[..., None], values, 0 * values).sum(axis=-2)


def _begin(problem, x):
    return 0 * problem.x_star if x is None else x


def _sarah(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    return {"x": x, "g": state.g + _picked(draw, _slopes(problem, x) - _slopes(problem, state.x))}


def _sarah_init(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "g": _slopes(problem, x).sum(axis=-2) / problem.n}


def _svrg(problem, params, state, draw):
    here, there = _slopes(problem, state.x), _slopes(problem, state.w)
    x = state.x - params.gamma * (_picked(draw, here - there) + there.sum(axis=-2) / problem.n)
    return {"x": x, "w": state.w}


def _svrg_init(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "w": x}


def _loopless(problem, params, state, draw):
    w = np.where(np.asarray(draw.renewed)[..., None], state.x, state.w)
    return {**_svrg(problem, params, state, draw.client), "w": w}


def _saga(problem, params, state, draw):
    drawn, here = np.asarray(draw)[..., None], state.x[..., None, :]
    fresh, stale = problem.f.gradient(here), problem.f.gradient(state.phi)
    x = state.x - params.gamma * (_picked(draw, fresh - stale) + stale.sum(axis=-2) / problem.n)
    return {"x": x, "phi": np.where(drawn, here, state.phi)}


def _saga_init(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "phi": x[..., None, :] + 0 * problem.y_star}


def _compressed(problem, params, state, draw):
    slope = _slopes(problem, state.x).sum(axis=-2) / problem.n
    sent = np.where(np.asarray(draw)[..., None], slope, 0 * slope) / params.p
    return {"x": state.x - params.gamma * sent}


def _diana(problem, params, state, draw):
    change = _slopes(problem, state.x) - state.h
    sent = np.where(np.asarray(draw)[..., None, None], change, 0 * change) / params.p
    return {"x": state.x - params.gamma * (state.h + sent).sum(axis=-2) / problem.n, "h": state.h + params.p * sent}


def _diana_rest(problem, params):
    return diana.State(problem.x_star, problem.y_star)


def _momentum(problem, params, state, draw):
    slope = _picked(draw, _slopes(problem, state.x) - problem.y_star)
    return {"x": state.x - params.gamma * slope + 9 * (state.x - state.past) / 10, "past": state.x}


def _momentum_init(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "past": x}


def _scaffnew(problem, params, state, draw):
    local = state.x - params.gamma * (problem.f.gradient(state.x) - state.h)
    mean = local.sum(axis=-2, keepdims=True) / problem.n
    together = np.asarray(draw)[..., None, None]
    # As it should be for q = p.
    corrected = state.h + params.q / params.gamma * (mean - local)
    return {"x": np.where(together, mean + 0 * local, local), "h": np.where(together, corrected, state.h)}


def _scaffnew_rest(problem, params):
    return scaffnew.State(problem.x_star[..., None, :] + 0 * problem.y_star, problem.y_star)


def _balance(problem, params, state):
    return state.h.sum(axis=-2)


def _local(problem, params, state, draw):
    x = state.x[..., None, :] + 0 * problem.y_star
    for _ in range(2):
        x = x - params.gamma * problem.f.gradient(x)
    return {"x": _picked(draw, x)}


def _errors(problem, params, state):
    return ((state.h - problem.y_star) ** 2).sum(axis=(-1, -2))


def _points(problem, params, state):
    return ((state.x - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2))


def _potential(problem, params, state):
    return _points(problem, params, state) + params.gamma**2 / params.p**2 * _errors(problem, params, state)


def _behind(problem, params, state):
    return ((state.w - problem.x_star) ** 2).sum(axis=-1)


def _points_and(part, kind="point"):
    return {"x": "point", part: kind}


sarah = ft.method("sarah", _sarah, ["gamma"], _points_and("g"), draws=_client, init=_sarah_init)
svrg = ft.method("svrg", _svrg, ["gamma"], _points_and("w"), draws=_client, init=_svrg_init)
loopless = ft.method("loopless", _loopless, ["gamma", "p"], _points_and("w"), draws=_both)
saga = ft.method("saga", _saga, ["gamma"], _points_and("phi", "clients"), draws=_client, init=_saga_init)
compressed = ft.method("compressed", _compressed, ["gamma", "p"], {"x": "point"}, draws=_coin)
diana = ft.method("diana", _diana, ["gamma", "p"], _points_and("h", "clients"), draws=_coin, fixed_point=_diana_rest)
momentum = ft.method("momentum", _momentum, ["gamma"], _points_and("past"), draws=_client, init=_momentum_init)
scaffnew = ft.method(
    "scaffnew",
    _scaffnew,
    ["gamma", "p", "q"],
    {"x": "clients", "h": "clients"},
    draws=_coin,
    fixed_point=_scaffnew_rest,
    invariant=_balance,
)
fedavg = ft.method("fedavg", _local, ["gamma"], {"x": "point"}, draws=_client)

F_0, F_T = ft.Quantity("F_0", ft.gap), ft.Quantity("F_T", ft.gap, after=True)
W_0, H_0 = ft.Quantity("W_0", _behind), ft.Quantity("H_0", _errors)
S_0, S_T = ft.Quantity("S_0", _potential), ft.Quantity("S_T", _points, after=True)
THIRD, HALF = sympy.Rational(1, 3), sympy.Rational(1, 2)
STRONG = ft.SmoothStronglyConvex(mu, L)


def _claim(method, left, right, *requires, functions=STRONG):
    setting = ft.Setting(algorithm=method, functions=functions, clients=(2,))
    statement = ft.bound(method, ft.E(left) <= right)
    return ft.Claim(f"own/{method.name}", setting=setting, statement=statement, requires=requires)


def _of_sarah(functions):
    return _claim(sarah, F_T, F_0, gamma * L <= 1, functions=functions)


#: What is claimed of E of the first quantity, and the hypotheses under which it fails late, and those of a neighbour.
BOUNDS = {
    "svrg without end": (svrg, D_T, 4 * D_0, (gamma * L <= 2,), (gamma * L <= THIRD,)),
    "saga": (saga, D_T, 4 * D_0, (2 * gamma * L <= 3,), (gamma * L <= THIRD,)),
    "loopless svrg": (loopless, D_T, 6 * D_0 + 6 * W_0, (gamma * L <= 2, p <= 1), (6 * gamma * L <= 1, p <= 1)),
    "omega ignored": (compressed, D_T, 6 * D_0, (gamma * L <= 1, 5 * p >= 2, p <= 1), (gamma * L <= p, p <= 1)),
    "diana": (
        diana,
        D_T,
        40 * (D_0 + gamma**2 / p**2 * H_0),
        (4 * gamma * L <= 5, p >= HALF, p <= 1),
        (4 * gamma * L <= p, p <= 1),
    ),
    "momentum": (momentum, D_T, 40 * D_0, (gamma * L <= 1,), (50 * gamma * L <= 1,)),
    "scaffnew with another p": (
        scaffnew,
        S_T,
        6 * S_0,
        (gamma * L <= 1, sympy.Eq(q, 3 * p), 3 * p <= 2),
        (gamma * L <= 1, sympy.Eq(q, p), p <= 1),
    ),
}


def _found(claim, seed=0):
    assert late_rounds.METHOD.speaks_of(claim)
    return late_rounds.METHOD.run(late_rounds.METHOD, Inquiry(claim, seed, 0, given=()))


def _fails_late(found):
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds > 3
    # In fractions, or by enclosures.
    assert violated(*found.counterexample.replay(), "<=")


@pytest.mark.parametrize("seed", range(5))
def test_sarah_without_restarts_fails_late(seed):
    _fails_late(_found(_of_sarah(ft.Smooth(L)), seed))


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_that_fail_late_are_refuted(name):
    method, left, right, wrong, _ = BOUNDS[name]
    _fails_late(_found(_claim(method, left, right, *wrong)))


def test_local_steps_drift_where_one_client_takes_part():
    _fails_late(_found(_claim(fedavg, D_T, 24 * (D_0 + gamma**2 * Z), 2 * gamma * L <= 1)))


@pytest.mark.parametrize("name", BOUNDS)
def test_neighbours_that_hold_are_not(monkeypatch, name):
    monkeypatch.setattr(late_rounds, "LIMITS", replace(late_rounds.LIMITS, places=2, higher_places=2))
    method, left, right, _, holds = BOUNDS[name]
    found = _found(_claim(method, left, right, *holds))
    assert found.verdict is None and found.instances >= 25


def test_bounds_that_are_given_as_a_whole_are_followed(monkeypatch):
    monkeypatch.setattr(late_rounds, "LIMITS", replace(late_rounds.LIMITS, places=2))
    # What is drawn adds up, as T does.
    claim = _claim(fedavg, D_T, 4 * D_0 + 64 * ft.T * gamma**2 * Z, 2 * gamma * L <= 1, 2 * mu >= L)
    assert claim.statement.geometric is None
    found = _found(claim)
    assert found.verdict is None and found.instances >= 25
    _fails_late(_found(_claim(fedavg, D_T, 8 * D_0 + (24 + ft.T / 100) * gamma**2 * Z, 2 * gamma * L <= 1)))


def test_on_convex_functions_no_failure_is_found(monkeypatch):
    monkeypatch.setattr(late_rounds, "LIMITS", replace(late_rounds.LIMITS, places=2))
    found = _found(_of_sarah(ft.SmoothConvex(L)))
    assert found.verdict is None and found.instances > 20
    assert found.seen >= {seen.FunctionsSeen(seen.QUADRATICS, d, late_rounds.LIMITS.last, True) for d in (1, 2)}


def test_what_is_drawn_makes_no_difference_among_equal_curvatures():
    claim = _of_sarah(ft.SmoothConvex(L))
    recipes = list(late_rounds._places(Inquiry(claim, 0, 0, given=()), np.random.default_rng(0)))
    place, _ = recipes[0]
    for second, differs in ((place["clients"][0]["h"], False), ((place["clients"][0]["h"][0] / 2 + 1,), True)):
        clients = (place["clients"][0], {**place["clients"][1], "h": second})
        assert seen.is_drawn(Case.of(claim, claim.instances.build({**place, "clients": clients}, True))) is differs
