"""Kinks and starts whole numbers of steps apart, and up to a thousand rounds: what fails only there is refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

import fedtheory as ft
from fedtheory import E, T
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.methods import grid_runs
from verify.methods.base import Inquiry

L, M, gamma, alpha = ft.letters("L M gamma alpha")


def _slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def _descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * _slope(problem, state.x)}


def _squared_slope(problem, params, state):
    return (_slope(problem, state.x) ** 2).sum(axis=-1)


def _send(problem, params, state, draw):
    wanted = params.gamma * problem.f.gradient(state.x[..., None, :]) + state.e
    sent = params.compressor.apply(draw, wanted)
    return {"x": state.x - sent.sum(axis=-2) / problem.n, "e": wanted - sent}


def _held(problem, params, state):
    return (state.e**2).sum(axis=(-1, -2)) / problem.n


def _square(problem, params, state, draw):
    return {"x": state.x - params.gamma * (1 + state.x) ** 2}


DESCENT = ft.method("descent", _descend, ["gamma"], {"x": "point"})
FEEDBACK = ft.method("feedback", _send, ["gamma", "alpha", "compressor"], {"x": "point", "e": "clients"})
SQUARES = ft.method("squares", _square, ["gamma"], {"x": "point"})
D, F, G, H = (
    ft.Quantity(name, of) for name, of in (("D", ft.distance), ("F", ft.gap), ("G", _squared_slope), ("H", _held))
)
UNIT = (sympy.Eq(gamma, 1 / L),)


def _claim(method, functions, statement, requires=(), **more):
    setting = ft.Setting(algorithm=method, functions=functions, clients=(1,), **more)
    return ft.Claim("own/grid", setting=setting, statement=ft.bound(method, statement), requires=requires)


def _last_slope(c):
    bound = L**2 * D.zero / (1 + c * T * gamma * L) ** 2
    return _claim(DESCENT, ft.SmoothConvex(L), E(G.T) <= bound, UNIT)


def _least_slope(c):
    bound = 4 * F.zero / (T * gamma * (c - gamma * L) + 2 / L)
    return _claim(DESCENT, ft.Smooth(L), ft.minimum(G, 0, T, expected=True) <= bound, UNIT)


def _error(c):
    bound = c * (1 - alpha) * gamma**2 * M**2 / alpha**2
    return _claim(FEEDBACK, ft.ConvexLipschitz(M), E(H.T) <= bound, adversaries=(ft.ContractiveCompressors(),))


def _found(claim):
    assert grid_runs.METHOD.speaks_of(claim)
    return grid_runs.METHOD.run(grid_runs.METHOD, Inquiry(claim, 0, 0, given=()))


FALSE = {
    "a Huber function": (_last_slope(Fraction(21, 20)), 100),
    "a function that is not convex": (_least_slope(Fraction(41, 10)), 1),
    "errors that add up": (_error(Fraction(19, 5)), 200),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_there_is_refuted(name, monkeypatch):
    monkeypatch.setattr(grid_runs, "LIMITS", replace(grid_runs.LIMITS, attempts=0))
    claim, rounds = FALSE[name]
    found = _found(claim)
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds == rounds
    example = found.counterexample
    assert example.replay() == (example.left, example.right) and example.left > example.right
    assert all(isinstance(side, Fraction) for side in example.replay())


@pytest.mark.parametrize("claim", [_last_slope(1), _least_slope(4), _error(4)])
def test_what_holds_there_is_not(claim):
    found = _found(claim)
    assert found.verdict is None and found.instances > 1


def test_fractions_that_explode_are_not_followed():
    def grows(method):
        claim = _claim(method, ft.SmoothConvex(L), E(D.T) <= D.zero)
        return not grid_runs._grows_slowly(Case(claim, recipe), (Fraction(1, 3),))

    recipe = {"d": 1, "x": (Fraction(0),), "L": Fraction(1), "gamma": Fraction(1, 7)}
    recipe["clients"] = ({"h": (Fraction(1),), "y": (Fraction(0),)},)
    assert grows(SQUARES) and not grows(DESCENT)


def test_functions_outside_the_class_are_no_part_of_the_grid():
    recipe = {"d": 1, "x": (Fraction(0),), "L": Fraction(1), "gamma": Fraction(1)}
    recipe["clients"] = ({"h": (Fraction(1),), "y": (Fraction(0),)},)
    place = grid_runs.Place(recipe, 3, ((Fraction(-1), Fraction(1)),))
    functions = {row[:2] for row in grid_runs._grid(_least_slope(4), place)}
    # A dip so long that x* is no minimiser, and none at all about x*.
    assert ((1, 0, 0), (Fraction(1), Fraction(2))) not in functions
    assert ((1, 0, 1), (Fraction(1), Fraction(3, 2))) in functions
