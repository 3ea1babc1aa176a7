"""Gaps are those of what is minimised."""

import pytest

import fedtheory as ft
from fedtheory.instances import value_of

L = ft.letters("L")
SMOOTH = ft.SmoothConvex(L)


def still(problem, params, state, draw):
    return {"x": state.x}


def bounded(quantity, functions):
    method = ft.method("still", still, ["gamma"], {"x": "point"})
    Q = ft.Quantity("Q", quantity)
    statement = ft.bound(method, ft.E(ft.total(Q)) <= ft.T * Q.zero)
    return ft.Claim("mine/gap", setting=ft.Setting(algorithm=method, functions=functions), statement=statement)


@pytest.mark.parametrize(
    ("quantity", "functions", "message"),
    [
        (ft.gap, ft.Composite(SMOOTH), "write ft.composite_gap"),
        (ft.composite_gap, SMOOTH, "its functions have no g: write ft.gap"),
        (ft.composite_gap, ft.Cocoercive(L), "which have no values"),
    ],
)
def test_a_gap_of_other_problems_is_refused(quantity, functions, message):
    with pytest.raises(ValueError, match=message):
        bounded(quantity, functions)


@pytest.mark.parametrize(
    ("quantity", "functions"),
    [(ft.gap, SMOOTH), (ft.gap, ft.Constrained(SMOOTH)), (ft.composite_gap, ft.Composite(SMOOTH))],
)
def test_a_gap_of_its_problems_is_not(quantity, functions):
    assert bounded(quantity, functions).statement.quantities


def test_the_round_is_named_where_nothing_gives_its_number():
    with pytest.raises(ValueError, match="k is the round only inside a sum"):
        value_of("k", None, None)
