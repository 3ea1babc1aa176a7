"""The function g that all clients share, in inequalities of states: of it no more is known than the class says."""

from dataclasses import replace

import pytest
import sympy
from linked import shown

import fedtheory as ft
from fedtheory import claims

OPTIMALITY = claims.get("locodl/optimality")
mu, L = claims.get("locodl/optimality").setting.functions.ends


def _with(left, right, **more):
    statement = OPTIMALITY.statement
    square = statement.quantities[0].expression
    changed = replace(statement, left=left * square, right=right * square)
    return replace(OPTIMALITY, id="mine/optimality", statement=changed, **more)


@pytest.mark.parametrize(
    ("left", "right", "right_so"),
    (
        (mu, L, True),
        (sympy.Rational(101, 100) * mu, L, False),
        (mu, sympy.Rational(99, 100) * L, False),
        (mu, (L + mu) / 2, False),
    ),
)
def test_what_f_and_g_grow_by_from_their_tangents(left, right, right_so):
    assert shown(_with(left, right)) is right_so


@pytest.mark.parametrize("functions", (ft.Composite(ft.SmoothStronglyConvex(mu, L)), ft.Composite(ft.SmoothConvex(L))))
def test_of_a_g_that_is_only_convex_nothing_more_is_known(functions):
    letters = {} if isinstance(functions.of, ft.SmoothStronglyConvex) else {mu: "mu"}
    setting = replace(OPTIMALITY.setting, functions=functions, letters={**OPTIMALITY.setting.letters, **letters})
    requires = tuple(h for h in OPTIMALITY.requires if not h.states_membership((OPTIMALITY.setting.functions,)))
    assert not shown(_with(mu, L, setting=setting, requires=requires))
