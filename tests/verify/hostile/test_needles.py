"""What is false near some values of the letters only is never certified at points that miss it."""

from fractions import Fraction

import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from verify.base.verdict import Verdict

mu, L, gamma, beta = ft.letters("mu L gamma beta")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


METHOD = ft.method("gradient-descent", step, ["gamma", "beta"], {"x": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))


def below_twice(factor):
    """That ``factor(problem, params)`` times the distance is at most twice it."""

    def scaled(problem, params, state):
        return ft.distance(problem, params, state) * factor(problem, params)

    statement = ft.inequality(ft.Quantity("Q", scaled) <= 2 * ft.Quantity("V", ft.distance))
    return ft.Claim("mine/needle", setting=SETTING, statement=statement)


def bump(e, height=10, sharp=10**6):
    return 1 + height / (1 + sharp * e**2)


#: Where each passes 2.
FALSE = {
    "at one value": lambda q, p: bump(p.beta - Fraction(7, 11)),
    "on a curve": lambda q, p: bump(p.beta - p.gamma**3 - Fraction(1, 7)),
    "for very many clients": lambda q, p: 1 + q.n / 300,
}


@pytest.mark.parametrize("factor", FALSE.values(), ids=FALSE)
def test_what_code_makes_false_somewhere_is_not_shown(factor):
    assert first_found(below_twice(factor)).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)


def test_a_bump_after_a_step_is_not_shown():
    def larger(problem, params, state):
        slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
        return (slope**2).sum(axis=-1) * bump(params.beta - Fraction(7, 11), 100)

    V, later = ft.Quantity("V", ft.distance), ft.Quantity("G_next", larger, after=True)
    statement = ft.one_step(METHOD, ft.E(later) <= 2 * L**2 * V)
    claim = ft.Claim("mine/needle", setting=SETTING, statement=statement, requires=(gamma * (mu + L) <= 2,))
    assert first_found(claim).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)


@pytest.mark.parametrize(
    "right",
    [
        lambda V: V * (8 + sympy.log(beta)),
        lambda V: V * (1 + sympy.Rational(1, 10**7) - beta / 10**14),
        lambda V: V * (2 - sympy.ceiling(beta / 70000)),
    ],
    ids=["a logarithm", "small numbers", "whole parts"],
)
def test_what_is_not_on_the_list_is_not_shown_at_points(right):
    V = ft.Quantity("V", ft.distance)
    claim = ft.Claim("mine/needle", setting=SETTING, statement=ft.inequality(V <= right(V)))
    assert first_found(claim).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)
