"""What is false near some values of the letters only: never certified at points that miss it, and often found."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.search import critical

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


@pytest.mark.parametrize("factor", FALSE.values(), ids=FALSE)
def test_what_code_makes_false_somewhere_is_not_shown(factor):
    assert first_found(below_twice(factor)).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)


def test_a_bump_after_a_step_is_found():
    def larger(problem, params, state):
        slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
        return (slope**2).sum(axis=-1) * bump(params.beta - Fraction(7, 11), 100)

    V, later = ft.Quantity("V", ft.distance), ft.Quantity("G_next", larger, after=True)
    statement = ft.one_step(METHOD, ft.E(later) <= 2 * L**2 * V)
    claim = ft.Claim("mine/needle", setting=SETTING, statement=statement, requires=(gamma * (mu + L) <= 2,))
    assert first_found(claim).verdict is Verdict.REFUTED


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


def test_sums_that_vanish_at_once_are_found():
    letters = b = ft.letters("b1 b2 b3")
    method = ft.method("gradient-descent", step, ["gamma", *map(str, letters)], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    # False next to (7/3, 1/3, 3) alone.
    sums = (b[0] - b[1] - 2, b[1] * b[2] - 1, b[2] - 3)
    V, least = ft.Quantity("V", ft.distance), sympy.Rational(99, 100)
    statement = ft.inequality(V <= (sum(map(sympy.Abs, sums)) + least) * V)
    claim = ft.Claim("mine/needle", setting=setting, statement=statement)
    assert critical.together(sums, [])[0] == tuple(sorted(sums, key=str))
    found = critical.at_zeros(Case(claim, next(claim.instances.recipes(np.random.default_rng(0)))), sums)
    assert all(abs(found[str(x)] - value) < 1e-6 for x, value in zip(b, (7 / 3, 1 / 3, 3), strict=True))


def test_all_sums_that_vanish_at_once_are_found_beside_others_that_vanish_with_some_of_them(monkeypatch):
    x, y, z = ft.letters("b1 b2 b3")
    sums, decoys = [x - y - 2, y * z - 1, z - 3], [z - 1, x - 1]
    found = critical.together([*decoys, *sums], [])
    assert tuple(sorted(sums, key=str)) in found and all(len(one) < 5 for one in found)
    monkeypatch.setattr(critical, "_ASKED", 40)
    assert critical.together([x - k for k in range(2, 5)], []) == []
    assert critical.together([x - k for k in range(2, 60)], []) is None


def test_sums_turn_between_their_kinks_too():
    sharp = beta**2 - sympy.Rational(3, 2) * beta + 1
    kinked = sympy.Max(beta**2, 1 / gamma) - sympy.Rational(3, 2) * beta + 1
    assert 4 * beta - 3 in critical.turns([sharp], []) and 4 * beta - 3 in critical.turns([kinked], [])
    many = [gamma**2 - k * gamma + k**2 for k in range(1, 20)]
    assert {2 * gamma - k for k in (1, 19)} <= set(critical.turns(many, []))


def test_where_a_sum_of_a_whole_letter_turns_is_looked_at():
    m = ft.integers("m")
    method = ft.method("gradient-descent", step, ["gamma", "beta", "m"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    V = ft.Quantity("V", ft.distance)
    statement = ft.inequality(V * (1 + 1 / (m**2 - 62 * m + 962)) <= V * 19 / 10)
    claim = ft.Claim("mine/whole", setting=setting, statement=statement)
    recipe = next(claim.instances.recipes(np.random.default_rng(0)))
    assert {at["m"] for at in critical.with_whole(Case(claim, recipe), 2 * m - 62)} == {30, 31, 32}
    assert {at["m"] for at in critical.with_whole(Case(claim, recipe), 2 * m - 63)} == {31, 32}


def test_terms_of_a_minimum_that_are_equal_are_looked_at_together():
    x, y, z = ft.letters("b1 b2 b3")
    V = ft.Quantity("V", ft.distance)
    method = ft.method("gradient-descent", step, ["gamma", "b1", "b2", "b3"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    least = sympy.Min(x * y / 3, 3 / (x * y)) + sympy.Min(y * z / 5, 5 / (y * z)) + sympy.Min(x * z / 7, 7 / (x * z))
    claim = ft.Claim("mine/ridges", setting=setting, statement=ft.inequality(V * least / 3 <= V))
    ties = critical.ties(claim, [])
    (all_of_them,) = critical.together(ties, [])
    assert len(ties) == 3 and set(all_of_them) == set(ties)


def test_sums_of_the_number_of_clients_vanish_at_once_too():
    sums = (ft.n - 4 * beta, beta - 3)
    V = ft.Quantity("V", ft.distance)
    statement = ft.inequality(V <= (sum(map(sympy.Abs, sums)) + sympy.Rational(99, 100)) * V)
    claim = ft.Claim("mine/needle", setting=SETTING, statement=statement)
    found = critical.at_zeros(Case(claim, next(claim.instances.recipes(np.random.default_rng(0)))), sums)
    assert len(found["clients"]) == 12 and abs(found["beta"] - 3) < 1e-6
