"""Orders of growth: what fails along a curve only is found, what holds with a constant stays, the rest is left open."""

import os
import subprocess
import sys

import pytest
import sympy
import z3
from sympy import Le, Lt, Max, Min, Rational, ceiling, exp, log, sqrt

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.order import Order
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.verdict import Verdict
from verify.evidence.counterexamples import Counterexample
from verify.methods import METHODS
from verify.methods.base import Inquiry

GROWTH = next(method for method in METHODS if method.name == "growth")
n, d, tau = sympy.symbols("n d tau", positive=True, integer=True)
x, y, p, kappa, epsilon = sympy.symbols("x y p kappa epsilon", positive=True)
omega = sympy.Symbol("omega", nonnegative=True)


def le(a, b):
    return Le(a, b, evaluate=False)


def found(left, right, *requires, **more):
    statement = Order(sympy.sympify(left), sympy.sympify(right), **more)
    claim = Claim("own/order", setting=Setting("all values"), statement=statement, requires=requires)
    return GROWTH.run(GROWTH, Inquiry(claim))


@pytest.mark.parametrize(
    ("left", "right", "when"),
    [
        (sqrt(n), n**3 / d + d / n**3, ()),
        (x ** Rational(1, 4), x**5 / y**2 + y**2 / x**5, ()),
        (kappa ** Rational(1, 3000), 1, ()),
        (kappa ** Rational(1, 3000), log(kappa + 2), ()),
        (log(log(kappa + 3)), 1, ()),
        (x * log(x + 2), x, ()),
        (exp(kappa), kappa**9 + 1, ()),
        (3**n, 2**n, ()),
        (sqrt(kappa + 1) - sqrt(kappa), 1 / kappa, ()),
        (1 / p**2, 1 / p, (le(p, 1),)),
        # Only next to kappa = 1, p = 1 and x = y.
        (1 / (kappa - 1), 1, (Lt(1, kappa, evaluate=False),)),
        (1 / p, -1 / log(1 - p), (Lt(p, 1, evaluate=False),)),
        (x + y, sympy.Abs(x - y), ()),
        (n, tau, (le(tau, n),)),
        (d, sqrt(n) * tau, (le(tau, n), le(n, d))),
        (ceiling(d / n), d / n, ()),
        (omega, omega**2, ()),
        (Max(x, y), 2 * x * y / (x + y), ()),
        (x, x - 1, ()),
    ],
)
def test_an_order_that_fails_along_a_curve_is_refuted(left, right, when):
    outcome = found(left, right, when=when)
    assert outcome.verdict is Verdict.REFUTED
    power, most = outcome.counterexample.replay()
    assert power > most == 0


@pytest.mark.parametrize(
    ("left", "right", "when"),
    [
        (kappa**2 / (10**30 + kappa), kappa, ()),
        (x + y, Max(x, y), ()),
        (sqrt(x * y), x + y, ()),
        (log(kappa + 2), (kappa + 1) ** Rational(1, 3000), ()),
        (log(log(kappa + 3)), log(kappa + 3), ()),
        (sqrt(kappa + 1) - sqrt(kappa), 1 / sqrt(kappa), ()),
        (1 / (kappa - 1), kappa / (kappa - 1), (Lt(1, kappa, evaluate=False),)),
        (-1 / log(1 - p), 1 / p, (Lt(p, 1, evaluate=False),)),
        (tau**2, n, (le(tau, sqrt(n)),)),
        (ceiling(d / n), d / n + 1, ()),
        (omega + 1, omega**2 + 1, ()),
        (Min(x, y), 2 * x * y / (x + y), ()),
        ((x - y) ** 2, x**2 + y**2, ()),
        (n**2 - n, n**2, ()),
    ],
)
def test_an_order_that_holds_is_proved_with_a_constant(left, right, when):
    outcome = found(left, right, when=when)
    assert outcome.verdict is Verdict.PROVED and "C = " in outcome.note


@pytest.mark.parametrize(("left", "right"), [(kappa**9, exp(kappa)), (n**n, (n + 1) ** (n + 1))])
def test_what_is_neither_is_left_open(left, right):
    outcome = found(left, right)
    assert outcome.verdict is Verdict.NOT_TESTED and outcome.left_open


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (x * log(1 / epsilon), x * log(2 / epsilon**3), Verdict.PROVED),
        (log(x / epsilon), log(y / epsilon), Verdict.PROVED),
        (x * log(1 / epsilon), log(2 / epsilon**3), Verdict.REFUTED),
        (1 / epsilon, log(1 / epsilon), Verdict.REFUTED),
        # The logarithms cancel: what is left is no multiple of one.
        (log(1 / epsilon), log(2 / epsilon) - log(1 / epsilon), Verdict.REFUTED),
    ],
)
def test_what_goes_to_its_limit_first(left, right, verdict):
    assert found(left, right, small=epsilon).verdict is verdict


def test_of_several_orders_one_that_falls_is_enough():
    further = (Order(x**2, x + 1),)
    assert found(x, x + 1, also=further).counterexample.part == "order 1"
    assert found(x, x + 1, both=True).counterexample.part == "order 1"
    nested = (Order(x, x, also=further),)
    assert found(x, x + 1, also=nested).counterexample.part == "order 2"


def test_a_side_that_is_undefined_where_letters_vanish_together_is_no_number():
    phi = sympy.Symbol("phi", nonnegative=True)
    assert found(omega / (omega + phi), 1).verdict is Verdict.NOT_TESTED
    assert found(omega * x / (omega + phi + 1), x).verdict is Verdict.PROVED
    assert found(Min(1 / omega, x), x).verdict is Verdict.NOT_TESTED
    assert found(Max(x, y), 2 * x + y + ceiling(Max(0, Min(Rational(1, 2), y) - y))).verdict is Verdict.PROVED


def test_hypotheses_that_are_code_or_of_other_letters_are_kept():
    """Nothing is refuted where a hypothesis may exclude it; and y is at most 1 here, so that x is."""
    code = Hypothesis("x is small", met=lambda problem, params: params.x < 1)
    assert found(x, 1, code).verdict is Verdict.NOT_TESTED
    tied = Hypothesis("x <= y <= 1", sympy.And(le(x, y), le(y, 1)))
    assert found(x, 1, tied).verdict is Verdict.PROVED


def test_hypotheses_that_nothing_meets_support_nothing():
    assert found(x, 1, Hypothesis("none", sympy.And(le(x, y), le(2 * y, x)))).verdict is Verdict.NOT_TESTED


def test_a_counterexample_is_stored_and_read():
    data = found(sqrt(n), 1 + n**2 / d + d / n**2).counterexample.to_json()
    assert data["recipe"] == {
        "d": [{"ratio": "0"}, {"ratio": "1"}, {"ratio": "2"}],
        "n": [{"ratio": "0"}, {"ratio": "1"}, {"ratio": "1"}],
    }
    assert (data["left"], data["relation"], data["right"]) == ("1/2", "<=", "0")
    with pytest.raises(ValueError, match="own/order"):
        Counterexample.from_json(data)


def test_letters_of_orders_are_words_as_files_name_them():
    with pytest.raises(ValueError, match="must be a word"):
        Order(sympy.Symbol("N-tau", positive=True), n)


def test_a_curve_does_not_depend_on_what_was_asked_before():
    claim = claims.get("feddcd/table-1/feddcd/literal")
    first = GROWTH.run(GROWTH, Inquiry(claim)).note
    others = [z3.Real(f"other {k}") for k in range(40)]
    asked = z3.Solver()
    asked.add(*(a + 2 * b >= c for a, b, c in zip(others, others[1:], others[2:], strict=False)))
    assert asked.check() == z3.sat
    assert GROWTH.run(GROWTH, Inquiry(claim)).note == first


@pytest.mark.slow
def test_a_curve_does_not_depend_on_the_hashes_of_names():
    code = (
        "from fedtheory import claims\nfrom verify import check\n"
        "for name in ('fedavg', 'feddcd'): print(check(claims.get(f'feddcd/table-1/{name}/literal')).note)"
    )
    asked = [sys.executable, "-c", code]
    notes = {
        subprocess.run(asked, env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout
        for seed in "123"
    }
    assert len(notes) == 1
