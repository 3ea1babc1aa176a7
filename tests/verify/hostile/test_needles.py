"""What is false near some values of the letters only, by what code computes: never certified at points that miss it."""

from fractions import Fraction

import pytest
import sympy

import fedtheory as ft
from verify import check
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
    "a peak": lambda q, p: 3 - 10**6 * (p.beta - Fraction(7, 11)) ** 2,
    "peaks in two letters": lambda q, p: (
        3 - 10**4 * (p.beta - Fraction(7, 11)) ** 2 * (p.beta - 9) ** 2 - 10**4 * (p.gamma - 3) ** 2
    ),
    "on a curve": lambda q, p: bump(p.beta - p.gamma**3 - Fraction(1, 7)),
    "where curves cross": lambda q, p: 1 + 10 / (1 + 10**6 * (p.beta * p.gamma - 5) ** 2 + 10**6 * (p.beta - 9) ** 2),
    "at one number of clients": lambda q, p: bump(q.n - 23, sharp=9),
    "at a root for the number of clients": lambda q, p: bump(q.n**2 - 4 * q.n - 117, sharp=9),
    "for very many clients": lambda q, p: 1 + q.n / 300,
}
#: Of the same forms, and true.
TRUE = {
    "a bump below": lambda q, p: bump(p.beta - Fraction(7, 11), height=Fraction(1, 2), sharp=3),
    "clients that count": lambda q, p: 1 + (q.n - 1) / q.n,
}


@pytest.mark.parametrize("factor", FALSE.values(), ids=FALSE)
def test_what_code_makes_false_somewhere_is_not_shown(factor):
    assert check(below_twice(factor)).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)


@pytest.mark.parametrize("factor", TRUE.values(), ids=TRUE)
def test_what_is_true_is_shown(factor):
    assert check(below_twice(factor)).verdict in (Verdict.PROVED, Verdict.CERTIFIED)


def test_a_bump_after_a_step_is_found():
    def larger(problem, params, state):
        slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
        return (slope**2).sum(axis=-1) * bump(params.beta - Fraction(7, 11), 100)

    V, later = ft.Quantity("V", ft.distance), ft.Quantity("G_next", larger, after=True)
    statement = ft.one_step(METHOD, ft.E(later) <= 2 * L**2 * V)
    claim = ft.Claim("mine/needle", setting=SETTING, statement=statement, requires=(gamma * (mu + L) <= 2,))
    assert check(claim).verdict is Verdict.REFUTED


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
    assert check(claim).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)
