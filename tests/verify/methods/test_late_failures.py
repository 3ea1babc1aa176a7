"""Bounds that fail late, of methods that draw clients, coins, edges, coordinates or messages; and true neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify.base.verdict import Verdict
from verify.comparisons.deciding import violated
from verify.methods import late_rounds
from verify.methods.base import Inquiry

mu, L, gamma, alpha, p, q = ft.letters("mu L gamma alpha p q")
D_0, D_T = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
F_0, F_T = ft.Quantity("F_0", ft.gap), ft.Quantity("F_T", ft.gap, after=True)
STRONG = ft.SmoothStronglyConvex(mu, L)
COMPRESSORS = (ft.UnbiasedCompressors(independent=True),)


class Both(NamedTuple):
    """A compressor's draw and a coin."""

    sent: Any
    full: Any


def _client(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def _edge(problem, params, state):
    return ft.UniformSubset(problem.n, 2)


def _coordinate(problem, params, state):
    return ft.UniformSubset(problem.d, 1)


def _coin(problem, params, state):
    return ft.Bernoulli(params.p)


def _sent_and_coin(problem, params, state):
    return ft.Product(Both, (params.compressors.draws, ft.Bernoulli(params.p)))


def _slopes(problem, x):
    return problem.f.gradient(x[..., None, :])


def _mean(problem, x):
    return _slopes(problem, x).sum(axis=-2) / problem.n


def _picked(draw, values):
    return np.where(np.asarray(draw)[..., None], values, 0 * values).sum(axis=-2)


def _kept(draw, values):
    return np.where(np.asarray(draw), values, 0 * values)


def _noiseless(problem, draw, x):
    return _picked(draw, _slopes(problem, x) - problem.y_star)


def _begin(problem, x):
    return 0 * problem.x_star if x is None else x


def _with_past(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "past": x}


def _delayed(problem, params, state, draw):
    return {"x": state.x - params.gamma * _noiseless(problem, draw, state.past), "past": state.x}


def _extrapolated(problem, params, state, draw):
    slope = 2 * _noiseless(problem, draw, state.x) - _noiseless(problem, draw, state.past)
    return {"x": state.x - params.gamma * slope, "past": state.x}


def _nesterov(problem, params, state, draw):
    ahead = state.x + 9 * (state.x - state.past) / 10
    return {"x": ahead - params.gamma * _noiseless(problem, draw, ahead), "past": state.x}


def _coordinates(problem, params, state, draw):
    return {"x": state.x - params.gamma * params.q * _kept(draw, _mean(problem, state.x))}


def _heavy_coordinates(problem, params, state, draw):
    v = params.q * state.v + _kept(draw, _mean(problem, state.x))
    return {"x": state.x - params.gamma * v, "v": v}


def _still(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "v": 0 * x}


def _feedback(problem, params, state, draw):
    due = state.v + params.gamma * _mean(problem, state.x)
    sent = _kept(draw, due)
    return {"x": state.x - sent, "v": due - sent}


def _diana(problem, params, state, draw):
    sent = params.compressors.apply(draw, _slopes(problem, state.x) - state.h)
    x = state.x - params.gamma * (state.h + sent).sum(axis=-2) / problem.n
    return {"x": x, "h": state.h + params.alpha * sent}


def _diana_rest(problem, params):
    return diana.State(problem.x_star, problem.y_star)


def _marina(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = params.compressors.apply(draw.sent, _slopes(problem, x) - _slopes(problem, state.x)).sum(axis=-2)
    full = np.asarray(draw.full)[..., None]
    return {"x": x, "g": np.where(full, _mean(problem, x), state.g + change / problem.n)}


def _begin_with_slope(problem, params, x=None):
    x = _begin(problem, x)
    return {"x": x, "g": _mean(problem, x)}


def _lazy(problem, params, state, draw):
    # The slope of the last round with the coin: no answer is waited for.
    g = np.where(np.asarray(draw)[..., None], _mean(problem, state.x), state.g)
    return {"x": state.x - params.gamma * g, "g": g}


def _scaffold(problem, params, state, draw):
    y = state.x[..., None, :] + 0 * problem.y_star
    shift = state.c.sum(axis=-2, keepdims=True) / problem.n - state.c
    for _ in range(2):
        y = y - params.gamma * (problem.f.gradient(y) + shift)
    drawn = np.asarray(draw)[..., None]
    return {"x": _picked(draw, y), "c": np.where(drawn, _slopes(problem, state.x), state.c)}


def _scaffold_rest(problem, params):
    return scaffold.State(problem.x_star, problem.y_star)


def _gossip(problem, params, state, draw):
    x = state.x - params.gamma * (problem.f.gradient(state.x) - problem.y_star)
    drawn = np.asarray(draw)[..., None]
    middle = np.where(drawn, x, 0 * x).sum(axis=-2, keepdims=True) / 2
    # All the way and beyond where q > 1.
    return {"x": np.where(drawn, x + params.q * (middle - x), x)}


def _gossip_rest(problem, params):
    return gossip.State(problem.x_star[..., None, :] + 0 * problem.y_star)


def _sag(problem, params, state, draw):
    drawn = np.asarray(draw)[..., None]
    table = np.where(drawn, _slopes(problem, state.x), state.table)
    return {"x": state.x - params.gamma * table.sum(axis=-2) / problem.n, "table": table}


def _sag_rest(problem, params):
    return sag.State(problem.x_star, problem.y_star)


def _points(problem, params, state):
    return ((state.x - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2))


def _table(problem, params, state):
    return ((state.table - problem.y_star) ** 2).sum(axis=(-1, -2))


def _shifts(problem, params, state):
    return ((state.h - problem.y_star) ** 2).sum(axis=(-1, -2))


def _variates(problem, params, state):
    return ((state.c - problem.y_star) ** 2).sum(axis=(-1, -2))


def _and(part, kind="point"):
    return {"x": "point", part: kind}


delayed = ft.method("delayed", _delayed, ["gamma"], _and("past"), draws=_client, init=_with_past)
extrapolated = ft.method("extrapolated", _extrapolated, ["gamma"], _and("past"), draws=_client, init=_with_past)
nesterov = ft.method("nesterov", _nesterov, ["gamma"], _and("past"), draws=_client, init=_with_past)
coordinates = ft.method("coordinates", _coordinates, ["gamma", "q"], {"x": "point"}, draws=_coordinate)
heavy = ft.method("heavy", _heavy_coordinates, ["gamma", "q"], _and("v"), draws=_coordinate, init=_still)
feedback = ft.method("feedback", _feedback, ["gamma"], _and("v"), draws=_coordinate, init=_still)
diana = ft.method("diana", _diana, ["gamma", "alpha", "compressors"], _and("h", "clients"), fixed_point=_diana_rest)
marina = ft.method(
    "marina", _marina, ["gamma", "p", "compressors"], _and("g"), draws=_sent_and_coin, init=_begin_with_slope
)
lazy = ft.method("lazy", _lazy, ["gamma", "p"], _and("g"), draws=_coin, init=_begin_with_slope)
scaffold = ft.method("scaffold", _scaffold, ["gamma"], _and("c", "clients"), draws=_client, fixed_point=_scaffold_rest)
gossip = ft.method("gossip", _gossip, ["gamma", "q"], {"x": "clients"}, draws=_edge, fixed_point=_gossip_rest)
sag = ft.method("sag", _sag, ["gamma"], _and("table", "clients"), draws=_client, fixed_point=_sag_rest)

P_0, P_T = ft.Quantity("P_0", _points), ft.Quantity("P_T", _points, after=True)
H_0, C_0, G_0 = ft.Quantity("H_0", _shifts), ft.Quantity("C_0", _variates), ft.Quantity("G_0", _table)
HALF, QUARTER, W = sympy.Rational(1, 2), sympy.Rational(1, 4), ft.omega


def _claim(method, left, right, *requires, adversaries=(), clients=(2, 3)):
    setting = ft.Setting(algorithm=method, functions=STRONG, adversaries=adversaries, clients=clients)
    return ft.Claim(
        f"own/{method.name}", setting=setting, statement=ft.bound(method, ft.E(left) <= right), requires=requires
    )


def _both(method, left, right, wrong, holds, **options):
    return tuple(_claim(method, left, right, *requires, **options) for requires in (wrong, holds))


#: Claims that fail after some rounds only, and neighbours that hold.
CLAIMS = {
    "delayed gradients": _both(delayed, D_T, 40 * D_0, (2 * gamma * L <= 3,), (8 * gamma * L <= 1,)),
    "extrapolation": _both(extrapolated, D_T, 40 * D_0, (gamma * L <= 1,), (8 * gamma * L <= 1,)),
    "nesterov": _both(nesterov, D_T, 200 * D_0, (gamma * L <= 1,), (100 * gamma * L <= 1,)),
    # E of what is sent is the slope where q = d.
    "scaled coordinates": _both(
        coordinates, D_T, 20 * D_0, (2 * gamma * L <= 3, sympy.Eq(q, ft.d)), (gamma * L <= 2, sympy.Eq(q, 1))
    ),
    "momentum of coordinates": _both(
        heavy, D_T, 60 * D_0, (gamma * L <= 3, sympy.Eq(q, HALF)), (gamma * L <= QUARTER, sympy.Eq(q, QUARTER))
    ),
    "linear error feedback": _both(feedback, D_T, 10 * D_0, (gamma * L <= 1,), (8 * ft.d * gamma * L <= 1,)),
    "shifts that learn too fast": _both(
        diana,
        D_T,
        40 * (D_0 + gamma**2 * (1 + W) ** 2 * H_0),
        (gamma * L * (1 + W) <= 1, 2 * alpha * (1 + W) <= 5),
        (4 * gamma * L * (1 + W) <= 1, alpha * (1 + W) <= 1),
        adversaries=COMPRESSORS,
    ),
    "differences of compressed slopes": _both(
        marina,
        F_T,
        20 * F_0,
        (gamma * L <= 1, p <= 1),
        (gamma * L + gamma**2 * L**2 * (1 - p) * W / p <= 1, p <= 1),
        adversaries=COMPRESSORS,
        clients=(2,),
    ),
    "stale slopes": _both(lazy, D_T, 40 * D_0, (gamma * L <= 1, p <= 1), (8 * gamma * L <= p, 2 * p <= 1)),
    "variates at a large stepsize": _both(
        scaffold, D_T, 60 * (D_0 + gamma**2 * C_0), (2 * gamma * L <= 3,), (16 * gamma * L <= 1,)
    ),
    "gossip beyond the mean": _both(
        gossip, P_T, 20 * P_0, (gamma * L <= 1, 2 * q <= 5), (gamma * L <= 1, q <= 2), clients=(3,)
    ),
    "sag": _both(sag, D_T, 60 * (D_0 + gamma**2 * G_0), (gamma * L <= 3,), (16 * gamma * L <= 1,)),
}


def _names(*slow):
    """All claims, of which some take long."""
    return [pytest.param(name, marks=pytest.mark.slow if name in slow else ()) for name in CLAIMS]


def _found(claim, seed=0):
    assert late_rounds.METHOD.speaks_of(claim)
    return late_rounds.METHOD.run(late_rounds.METHOD, Inquiry(claim, seed, 0, given=()))


@pytest.mark.parametrize("name", _names("nesterov", "sag", "delayed gradients", "variates at a large stepsize"))
def test_bounds_that_fail_late_are_refuted(name):
    found = _found(CLAIMS[name][0])
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds > 3
    assert violated(*found.counterexample.replay(), "<=")


@pytest.mark.parametrize("name", _names("nesterov", "sag"))
def test_neighbours_that_hold_are_not(monkeypatch, name):
    monkeypatch.setattr(late_rounds, "LIMITS", replace(late_rounds.LIMITS, places=2, higher_places=2))
    found = _found(CLAIMS[name][1])
    assert found.verdict is None and found.instances >= 10
