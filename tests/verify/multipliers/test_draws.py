"""Steps that use one draw in ways of which nothing is known, and states whose parts are told in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import E
from fedtheory.randomness.masks import Pattern
from verify.multipliers.cases import cases, example
from verify.multipliers.posing import pose
from verify.reading import claimed
from verify.reading.program import fixed_point
from verify.reading.source import Unread

mu, L, alpha, gamma = ft.letters("mu L alpha gamma")
s, n = ft.integers("s n")


def _size(problem: Any, params: Any, state: Any) -> Any:
    return (state.h * state.h).sum(axis=-1).sum(axis=-1)


def _twice(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    left = state.h - params.compressor.apply(draw, state.h)
    return {"h": left - params.compressor.apply(draw, left)}


def test_what_one_biased_draw_leaves_is_not_bounded_by_the_same_draw():
    # Of coordinates that are drawn, the second message is zero: 1 - alpha is left, and not its square.
    method = ft.method(
        "twice",
        _twice,
        ["compressor", "alpha"],
        {"h": "clients"},
        draws=lambda problem, params, _: params.compressor.draws,
    )
    setting = ft.Setting(
        algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.ContractiveCompressors(),)
    )
    statement = ft.contracts(method, _size, (1 - alpha) ** 2)
    claim = ft.Claim("own/twice", setting=setting, statement=statement, requires=(alpha <= 1,))
    with pytest.raises(Unread, match="two vectors are compressed by one draw"):
        pose(claim, cases(claim)[0])


def _mixed(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    x_star = problem.x_star[..., None, :]
    y = np.where(draw, state.h + x_star, 0 * state.h + x_star)
    return {"h": problem.f.gradient(y) - problem.y_star}


def _slopes(problem: Any, params: Any, state: Any) -> Any:
    g = problem.f.gradient(state.h + problem.x_star[..., None, :]) - problem.y_star
    return (g * g).sum(axis=-1).sum(axis=-1)


def test_a_gradient_where_coordinates_are_drawn_is_not_one_of_two():
    method = ft.method(
        "mixed",
        _mixed,
        ["s"],
        {"h": "clients"},
        draws=lambda problem, params, _: Pattern(problem.n, problem.d, params.s),
    )
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    after, before = ft.Quantity("V_next", _size, after=True), ft.Quantity("V", _slopes)
    statement = ft.one_step(method, E(after) <= (s / n) * before)
    claim = ft.Claim("own/mixed", setting=setting, statement=statement, requires=(s <= n, 2 <= s))
    with pytest.raises(Unread, match="masks of single coordinates"):
        pose(claim, cases(claim)[0])


def _first(problem: Any, params: Any, state: Any) -> Any:
    x, _h = state
    return x


def _kept(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    return {"x": state.x, "h": state.h}


def test_a_fixed_point_is_told_in_the_order_of_the_state():
    centre = lambda problem, params: {"h": problem.y_star, "x": problem.x_star}  # noqa: E731
    method = ft.method("kept", _kept, ["gamma"], {"x": "point", "h": "clients"}, fixed_point=centre)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    claim = ft.Claim("own/kept", setting=setting, statement=ft.contracts(method, ft.distance, 1))
    instance = example(claim, cases(claim)[0])
    told = fixed_point(method, instance.problem, instance.params)
    assert list(told) == ["x", "h"] and told["x"].data == "x_star" and told["h"].data == "y_star"
    # Unpacked, the state is in this order too.
    (case,) = claimed.cases(claim, [instance], (_first,), False)
    assert [term.data for term in case.quantities[_first]] == ["x"]
