"""What a search says that it has not seen."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import fedtheory as ft
from verify.methods.second_moments import EVER
from verify.search.seen import FunctionsSeen, caveat, unmoved, with_draws, words

mu, L, gamma = ft.letters("mu L gamma")
METHOD = ft.method("still", lambda problem, params, state, draw: {"x": state.x}, ["gamma"], {"x": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))
BOUND = ft.Claim(
    "own/still",
    setting=SETTING,
    statement=ft.bound(
        METHOD,
        ft.E(ft.Quantity("D_T", ft.distance, after=True)) <= gamma**ft.T * ft.Quantity("D", ft.distance),
    ),
)
LIMIT = dataclasses.replace(BOUND, statement=ft.Limit(METHOD, ft.Quantity("D", ft.distance), "x -> x*"))
QUADRATICS = ft.SmoothStronglyConvex(mu, L, quadratics=True)


@pytest.mark.parametrize(
    ("claim", "seen", "said"),
    [
        (BOUND, [], ""),
        (BOUND, [("quadratics", 2, 100)], "supported on quadratics only: "),
        (BOUND, [("quadratics", 1, 100)], "supported on quadratics only, and in one dimension only: "),
        (BOUND, [("quadratics", 1, 100), ("two slopes", 2, 100)], ""),
        (BOUND, [("quadratics", 2, 100), ("two slopes", 2, 3)], "supported beyond 3 rounds on quadratics only: "),
        (BOUND, [("quadratics", 2, 3), ("two slopes", 2, 3)], "supported for the first 3 rounds only: "),
        (BOUND, [("two slopes", 1, 100)], "supported in one dimension only: "),
        (LIMIT, [("quadratics", 2, EVER)], "supported on quadratics only: "),
        (LIMIT, [("quadratics", 2, EVER), ("three slopes", 1, 100)], ""),
        (
            dataclasses.replace(BOUND, setting=dataclasses.replace(SETTING, functions=QUADRATICS)),
            [("quadratics", 2, 100)],
            "",
        ),
    ],
)
def test_what_was_not_seen_comes_first(claim, seen, said):
    assert caveat(claim, {FunctionsSeen(*one) for one in seen}) == said


def _swapped(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    return {"x": state.y - params.gamma * gradient, "y": state.y}


def _both(problem, params, x=None):
    x = 0 * problem.x_star if x is None else x
    return {"x": x, "y": x}


def _given(problem, params):
    return {"x": problem.x_star + 1, "y": problem.x_star}


@pytest.mark.parametrize(
    ("init", "parts"),
    [(None, ()), (_both, ("y",)), (_given, ("x", "y"))],
)
def test_parts_that_init_determines_are_told_where_a_step_may_find_others(init, parts):
    swapped = ft.method("swapped", _swapped, ["gamma"], {"x": "point", "y": "point"}, init=init)
    setting = dataclasses.replace(SETTING, algorithm=swapped)
    one = ft.Claim("own/step", setting=setting, statement=ft.contracts(swapped, ft.distance, (1 - gamma * mu) ** 2))
    recipes = [next(one.instances.recipes(np.random.default_rng(0)))]
    assert unmoved(one, recipes) == parts and unmoved(one, []) == ()
    last, first = ft.Quantity("D_T", ft.distance, after=True), ft.Quantity("D", ft.distance)
    assert unmoved(dataclasses.replace(one, statement=ft.bound(swapped, ft.E(last) <= first)), recipes) == ()


def test_what_only_init_makes_comes_first():
    assert caveat(BOUND, (), ("y",)) == "supported with y searched only as init makes it: "
    assert caveat(BOUND, {FunctionsSeen("two slopes", 1, 100)}, ("x", "y")) == (
        "supported in one dimension only, and with x, y searched only as init makes them: "
    )


def test_how_far_draws_were_followed():
    same = FunctionsSeen("quadratics", 2, 100)
    drawn = {FunctionsSeen("quadratics", 1, 60, True), FunctionsSeen("quadratics", 2, 3, True)}
    assert with_draws({same}) == ""
    assert with_draws({same, *drawn}) == "with draws: quadratics of d=1 up to T=60"
    assert with_draws({*drawn, FunctionsSeen("quadratics", 2, 60, True), FunctionsSeen("kinks", 1, 3, True)}) == (
        "with draws: kinks of d=1 up to T=3, quadratics up to T=60"
    )


def test_what_was_seen_in_words():
    assert words(()) == ""
    seen = {
        FunctionsSeen("quadratics", 2, 100),
        FunctionsSeen("quadratics", 1, 3),
        FunctionsSeen("two slopes", 1, 3),
        FunctionsSeen("kinks", 1, 1),
    }
    assert words(seen) == "seen: kinks, quadratics up to T=100, two slopes up to T=3; d=1, 2"
    assert words({FunctionsSeen("quadratics", 3, EVER)}) == "seen: quadratics; d=3"
