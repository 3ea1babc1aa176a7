"""What holds along every run holds where runs begin; and compressors that draw nothing."""

from fractions import Fraction

import pytest

import fedtheory as ft
from verify import check
from verify.base.verdict import Verdict

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope, "y": state.y}


METHOD = ft.method("gradient-descent", step, ["gamma"], {"x": "point", "y": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))


@pytest.mark.parametrize(
    ("residual", "verdict"),
    [
        (lambda problem, params, state: state.y - problem.x_star, Verdict.ILL_POSED),
        (lambda problem, params, state: state.y - 1, Verdict.ILL_POSED),
        (lambda problem, params, state: problem.f.gradient(state.x[..., None, :]).sum(axis=-2), Verdict.ILL_POSED),
        (lambda problem, params, state: state.y, Verdict.PROVED),
    ],
    ids=["the optimum", "one", "a gradient", "zero"],
)
def test_a_residual_is_zero_where_runs_begin(residual, verdict):
    claim = ft.Claim("mine/invariant", setting=SETTING, statement=ft.Invariant(METHOD, residual, "it stays"))
    found = check(claim)
    assert found.verdict is verdict and ("nonzero at the start" in found.note) is (verdict is Verdict.ILL_POSED)


def test_a_product_may_stay_zero():
    statement = ft.Invariant(METHOD, lambda problem, params, state: state.y * state.y, "it stays")
    assert check(ft.Claim("mine/invariant", setting=SETTING, statement=statement)).verdict in (
        Verdict.SUPPORTED,
        Verdict.CERTIFIED,
        Verdict.PROVED,
    )


@pytest.mark.parametrize(("factor", "verdict"), [(1, Verdict.PROVED), (1 - Fraction(1, 10**9), Verdict.REFUTED)])
def test_a_compressor_may_draw_nothing(factor, verdict):
    def make(d, k):
        return ft.Compressor("scaled", d, ft.Constant(), lambda draw, v: v * factor, 0)

    assert check(ft.compressor_claim("mine/scaled", make, omega=0)).verdict is verdict
