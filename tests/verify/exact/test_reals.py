"""Relations between constants, decided by z3: the translation, and that nothing false is accepted."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from in_turn import first_of_each

import fedtheory as ft
from fedtheory import algorithms, claims
from fedtheory.claims import Claim
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Undefined, evaluate
from fedtheory.settings import Setting
from fedtheory.settings.relations import Comparison
from verify.base.case import Case
from verify.exact import reals
from verify.results import shipped
from verify.search import hunting, states

a, b = sympy.symbols("a b", positive=True)
x = sympy.Symbol("x", real=True)
n, t = sympy.symbols("n t", integer=True, positive=True)

CONSTANTS = [
    c.id
    for c in claims.all()
    if isinstance(c.statement, Inequality | ParameterRule | Identity) and not c.statement.quantities
]
_leaves = st.sampled_from([a, b, x, n, sympy.Integer(2), sympy.Rational(1, 3), sympy.Integer(-1)])


def _grown(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] / p[1] if p[1] != 0 else p[0]),
        pairs.map(lambda p: sympy.Max(*p)),
        pairs.map(lambda p: sympy.Min(*p)),
        inner.map(lambda e: e**2),
        inner.map(lambda e: sympy.Pow(e**2, sympy.Rational(1, 2), evaluate=False)),
    )


def _and_rounded(inner):
    return st.one_of(_grown(inner), inner.map(sympy.ceiling), inner.map(sympy.floor))


_VALUES = (
    st.tuples(*(st.fractions(Fraction(1, 5), 5, max_denominator=5) for _ in range(2))),
    st.fractions(-3, 3, max_denominator=5),
    st.integers(1, 6),
)


def _value(expression, positive, real, whole):
    """The value of an expression, and what says at which values of its letters."""
    at = {a: positive[0], b: positive[1], x: real, n: whole}
    assume(not expression.has(sympy.zoo, sympy.nan, sympy.I, sympy.Abs))
    try:
        value = evaluate(expression, at)
    except Undefined:
        assume(False)
    assume(isinstance(value, int | Fraction))
    fixed = [sympy.Eq(s, sympy.Rational(*Fraction(v).as_integer_ratio()), evaluate=False) for s, v in at.items()]
    return sympy.Rational(*Fraction(value).as_integer_ratio()), fixed


@settings(max_examples=40, deadline=None)
@given(st.recursive(_leaves, _grown, max_leaves=6), *_VALUES)
def test_an_expression_has_the_value_that_it_has_elsewhere(expression, positive, real, whole):
    exact, fixed = _value(expression, positive, real, whole)
    assert reals.implied(sympy.Eq(expression, exact, evaluate=False), fixed)
    assert not reals.implied(sympy.Lt(expression, exact, evaluate=False), fixed)


@settings(max_examples=40, deadline=None)
@given(st.recursive(_leaves, _and_rounded, max_leaves=5), *_VALUES)
def test_nothing_else_is_said_of_what_is_rounded(expression, positive, real, whole):
    exact, fixed = _value(expression, positive, real, whole)
    for order in (sympy.Lt, sympy.Gt):
        assert not reals.implied(order(expression, exact, evaluate=False), fixed)


def sort(id):
    claim = claims.get(id)
    return claim.paper, claim.statement.kind, shipped().verdict(id)


@pytest.mark.parametrize("id", first_of_each(CONSTANTS, sort))
def test_what_a_search_refutes_is_not_proved(id):
    claim = claims.get(id)
    refuted = bool(hunting.hunt(claim, hunting.generator(claim, 1), 100, 1).refutations)
    assert reals.proves(claim) is (not refuted)


def test_what_is_wrong_by_little_is_not_proved():
    holds = Comparison(2 * a * b, "<=", a**2 + b**2)
    assert reals.holds(holds, [])
    assert not reals.holds(Comparison(2 * a * b, "<", a**2 + b**2), [])
    assert reals.holds(Comparison(2 * a * b, "<", a**2 + b**2), [sympy.Ne(a, b)])
    assert not reals.holds(Comparison(2 * a * b, "<=", (1 - sympy.Rational(1, 10**9)) * (a**2 + b**2)), [])
    assert reals.holds(Comparison(sympy.sqrt(a * b), "==", sympy.sqrt(a) * sympy.sqrt(b)), [])
    assert reals.holds(Comparison(sympy.ceiling(a), "<", a + 1), [])
    assert not reals.holds(Comparison(sympy.ceiling(a), "<=", a + sympy.Rational(1, 2)), [])


_up, _down = sympy.ceiling, sympy.floor


@pytest.mark.parametrize(
    "left, right",
    [
        (_up(_up(a) / n), _up(a / n)),
        (_down(_down(a) / (2 * n)), _down(a / (2 * n))),
        (_up(_up((a + b * n) * t / b) / t), _up(a / b) + n),
        (_up(((_up((n + 1) / t) - 1) * t + 1) / t), _up((n + 1) / t)),
        (_up(_up((a + b * n) * (t + 1) / b) / (t + 1)), _up(a / b) + n),
        (_up((_up(a) + n) / t), _up((a + n) / t)),
        (_down((_down(x) - n) / (t + 1)), _down((x - n) / (t + 1))),
    ],
)
def test_what_is_rounded_twice_is_rounded_once(left, right):
    assert reals.holds(Comparison(left, "==", right), [])


@pytest.mark.parametrize(
    "left, right",
    [
        (_up(_up(a) / b), _up(a / b)),
        (_up(_down(a) / n), _up(a / n)),
        (_down(_up(a) / n), _down(a / n)),
        (n * _up(a), _up(n * a)),
        (_up(_up(a) / n**2), _up(a / n)),
        (_up(1 / a), sympy.S.One),
        (_down(1 / n), sympy.S.Zero),
        (2 * _up(a), _up(2 * a)),
        (_up(_up(-a) / (n - 3)), _up(-a / (n - 3))),
        (_up((_up(a) + b) / n), _up((a + b) / n)),
        (_up((_up(a) + _up(b)) / n), _up((a + b) / n)),
        (_up(-_up(a) / n), _up(-a / n)),
        (_up(n * _up(a) / t), _up(n * a / t)),
        (_up((_down(a) + n) / t), _up((a + n) / t)),
    ],
)
def test_what_is_rounded_otherwise_is_something_else(left, right):
    assert not reals.holds(Comparison(left, "==", right), [])


def test_a_quotient_of_integers_is_rounded_by_less_than_one():
    assert reals.holds(Comparison(_up(n / t), "<=", (n + t - 1) / t), [])
    assert reals.holds(Comparison((n - t + 1) / t, "<=", _down(n / t)), [])
    assert not reals.holds(Comparison(_up(n / t), "<=", (n + t - 2) / t), [])
    assert not reals.holds(Comparison(_up(a / t), "<=", (a + t - 1) / t), [])
    assert not reals.holds(Comparison(_up(n / b), "<=", (n + b - 1) / b), [])


def test_powers_of_unknown_exponent_have_the_order_of_their_bases():
    assert reals.holds(Comparison(a**t, "<=", b**t), [sympy.Le(a, b)])
    assert reals.holds(Comparison(a**t, "<", b**t), [sympy.Lt(a, b)])
    assert reals.holds(Comparison(b * a**t, "<=", b), [sympy.Le(a, 1)])
    assert not reals.holds(Comparison(a**t, "<=", b**t), [sympy.Ge(a, b)])
    # (-2)^2 > 1^2.
    assert not reals.holds(Comparison(x**t, "<=", b**t), [sympy.Le(x, b)])
    assert not reals.holds(Comparison(a**t, "<=", a), [sympy.Ge(a, 1)])


def test_hypotheses_that_nothing_meets_imply_nothing():
    assert not reals.implied(sympy.Le(a, b), [sympy.Lt(a, 1), sympy.Gt(a, 1)])
    assert not reals.implied(sympy.Le(a, b), [sympy.false])
    assert reals.contradictory([sympy.Lt(a, 1), sympy.Gt(a, 1)]) and reals.contradictory(
        [sympy.Eq(n, 0, evaluate=False)]
    )
    assert not reals.contradictory([sympy.Le(a, 1), sympy.Ge(a, 1)]) and not reals.contradictory([])
    assert reals.implied(sympy.Ge(n, 1), [sympy.true])
    assert reals.implied(sympy.Le(a, 2), [sympy.Or(sympy.Lt(a, 1), sympy.Lt(a, 2))])


def test_symbols_of_one_name_are_different_where_their_assumptions_are():
    other = sympy.Symbol("a", real=True)
    assert not reals.holds(Comparison(other, "<=", a), []) and not reals.holds(Comparison(a, "<=", other), [])


_SPLIT, c = 1 / (1 + sympy.sqrt(a / b)) ** 2, sympy.Symbol("c", positive=True)


def _time(accuracy: sympy.Expr) -> sympy.Expr:
    return (a - b * sympy.log(accuracy)) / (1 - accuracy)


@pytest.mark.parametrize(
    ("left", "right", "given"),
    [
        (sympy.log(1 + a), a, ()),
        (a / (1 + a), sympy.log(1 + a), ()),
        (sympy.log(a) + sympy.log(b), sympy.log(a * b), ()),
        (sympy.log(a), sympy.log(b), (sympy.Le(a, b),)),
        (sympy.log(1 + x), x, (sympy.Gt(x, -1),)),
        (_time(_SPLIT), _time(c), (sympy.Le(c, _SPLIT, evaluate=False),)),
    ],
)
def test_logarithms_lie_below_their_tangents(left, right, given):
    assert reals.holds(Comparison(left, "<=", right), given)


@pytest.mark.parametrize(
    ("left", "right", "given"),
    [
        (sympy.log(1 + a), sympy.Rational(98, 100) * a, ()),
        (a / (1 + a) * sympy.Rational(102, 100), sympy.log(1 + a), ()),
        (sympy.log(a * b), sympy.log(a), (sympy.Lt(b, 2),)),
        (sympy.log(a), sympy.log(a) / 2, ()),
        (sympy.log(a), sympy.log(a**2), ()),
        # Nothing is known of the logarithm of what need not be positive, nor is log x^2 = 2 log x there.
        (sympy.log(x**2), 2 * sympy.log(x), ()),
        (2 * sympy.log(x), sympy.log(x**2), ()),
        (sympy.log(1 + x), x, ()),
        (sympy.Rational(102, 100) * _time(_SPLIT), _time(c), (sympy.Le(c, _SPLIT, evaluate=False),)),
        (_time(_SPLIT), _time(c), (sympy.Le(c, 2 * _SPLIT, evaluate=False),)),
        (_time(_SPLIT), _time(c), (sympy.Lt(c, 1),)),
    ],
)
def test_of_logarithms_nothing_else_is_known(left, right, given):
    assert not reals.holds(Comparison(left, "<=", right), given)


def test_what_is_not_algebraic_is_left_alone():
    assert not reals.holds(Comparison(a, "<=", sympy.exp(a)), [])
    assert not reals.holds(Comparison(sympy.Symbol("z"), "<=", sympy.Symbol("z") + 1), [])
    assert not reals.proves(claims.get("feddcd/lemma-E.2"))


@pytest.mark.parametrize(
    ("left", "right"),
    [(a, 10**12), ((a - sympy.Rational(123457, 1000)) ** 2 * -1, -sympy.Rational(1, 10**8)), (1, (n - 1234567) ** 2)],
)
def test_values_at_which_z3_finds_a_claim_broken_are_tried(left, right):
    statement = Inequality(*map(sympy.sympify, (left, right)))
    letters = tuple(statement.left.free_symbols | statement.right.free_symbols)
    claim = Claim("own/constants", setting=Setting("", letters=letters), statement=statement)
    assert any(states.violation(Case(claim, recipe)) for recipe in reals.suspects(claim))


@pytest.mark.parametrize("since", [0, 1])
def test_a_bound_is_of_the_rounds_of_which_it_speaks(since):
    gd = algorithms.get("gradient-descent")
    F_T, D_0, gamma = ft.Quantity("F_T", ft.gap, after=True), ft.Quantity("D_0", ft.distance), ft.letters("gamma")
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(ft.letters("L")))
    statement = ft.bound(gd, ft.E(F_T) <= D_0 / (2 * gamma * ft.T), since=since)
    undefined = reals.undefined(ft.Claim("mine/from", setting=setting, statement=statement))
    assert undefined == (None if since else 1 / ft.T)


def test_what_cancels_once_constants_are_put_in_has_to_be_defined():
    mu, L, gamma, beta = ft.letters("mu L gamma beta")
    setting = ft.Setting(letters=(mu, L, gamma, beta), domain=(mu <= L,))

    def shown(assigned, relation, *requires):
        rule = ft.ParameterRule(assigned, (relation,))
        return reals.undefined(ft.Claim("mine/rule", setting=setting, statement=rule, requires=requires)) is None

    assert not shown({gamma: 1 / (L - mu)}, gamma * (L - mu) <= 1)
    assert shown({gamma: 1 / (L - mu)}, gamma * (L - mu) <= 1, mu < L)
    assert not shown({gamma: beta}, (gamma - mu) / (beta - mu) <= 1)
    assert shown({gamma: beta + mu}, (gamma - mu) / beta <= 1)
