"""Code that divides by zero where the hypotheses allow it: ill-posed, unless the claim is false elsewhere."""

import pytest
import sympy

import fedtheory as ft
from verify.base.verdict import Verdict
from verify.methods.base import Inquiry
from verify.methods.search import METHOD as SEARCH

mu, L, gamma = ft.letters("mu L gamma")
b = sympy.Symbol("b", nonnegative=True)
D = ft.Quantity("D", ft.distance)


def gradient(problem, state):
    return problem.f.gradient(state.x[..., None, :]).mean(axis=-2)


def scaled(problem, params, state, draw):
    return {"x": state.x - params.b / params.b * params.gamma * gradient(problem, state)}


def polyak(problem, params, state, draw):
    g = gradient(problem, state)
    return {"x": state.x - (ft.gap(problem, params, state) / (g * g).sum(axis=-1))[..., None] * g}


def of_heterogeneity(problem, params, state):
    part = ft.heterogeneity(problem, params, state)
    return part / part * ft.distance(problem, params, state)


SCALED, POLYAK = (
    ft.method("scaled", scaled, ["gamma", "b"], {"x": "point"}),
    ft.method("polyak", polyak, [], {"x": "point"}),
)


def searched(method, statement, *requires):
    letters = (mu, L, gamma, b) if method is SCALED else (mu, L)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,), letters=letters)
    claim = ft.Claim("own/divides", setting=setting, statement=statement, requires=requires)
    return SEARCH.run(SEARCH, Inquiry(claim, 0, 40))


SHORT = gamma * L <= 1


@pytest.mark.parametrize(
    ("method", "statement", "requires", "note"),
    [
        (
            SCALED,
            ft.contracts(SCALED, ft.distance, 1),
            (SHORT,),
            "a step of scaled divides by zero in scaled (test_undefined.py, line ",
        ),
        (SCALED, ft.Limit(SCALED, D, "x -> x*"), (SHORT,), "scaled (test_undefined.py, line "),
        (
            POLYAK,
            ft.Limit(POLYAK, D, "x -> x*"),
            (),
            "a step of polyak divides by zero in polyak (test_undefined.py, line ",
        ),
        (
            POLYAK,
            ft.inequality(ft.Quantity("H", of_heterogeneity) <= D),
            (),
            "the quantity H divides by zero in of_heterogeneity (test_undefined.py, line ",
        ),
    ],
)
def test_what_divides_by_zero_is_ill_posed(method, statement, requires, note):
    found = searched(method, statement, *requires)
    assert found.verdict is Verdict.ILL_POSED and found.note.startswith(note)
    assert ": at n=1" in found.note


def test_a_violation_elsewhere_refutes():
    found = searched(SCALED, ft.contracts(SCALED, ft.distance, sympy.Rational(1, 10**6)), SHORT)
    assert found.verdict is Verdict.REFUTED


def test_a_hypothesis_excludes_it():
    assert searched(SCALED, ft.contracts(SCALED, ft.distance, 1), SHORT, b > 0).verdict is Verdict.SUPPORTED


def test_a_method_may_stop_at_its_optimum():
    assert searched(POLYAK, ft.contracts(POLYAK, ft.distance, 1)).verdict is Verdict.SUPPORTED
