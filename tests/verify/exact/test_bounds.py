"""left <= C right with a constant: it holds at points, what is false or undefined somewhere has none, and weights prove
the order alone for which they were found."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy import Le, Lt, Max, Min, Rational, ceiling, floor, log, sqrt

from fedtheory.kinds.order import Order
from verify.exact import bounds
from verify.exact.domination import DominationWeights
from verify.exact.magnitudes import NoMagnitude

n, d, k, tau = sympy.symbols("n d k tau", positive=True, integer=True)
x, y, p, kappa, epsilon = sympy.symbols("x y p kappa epsilon", positive=True)
omega = sympy.Symbol("omega", nonnegative=True)


def le(a, b):
    return Le(a, b, evaluate=False)


def lt(a, b):
    return Lt(a, b, evaluate=False)


def proof(left, right, *when, **more):
    return bounds.proof(Order(sympy.sympify(left), sympy.sympify(right), **more), when)


FACTOR = Max((1 - 1 / kappa) ** 2, 1 - p**2)


@pytest.mark.parametrize(
    ("left", "right", "when"),
    [
        # Only on a part of the domain.
        (kappa**2, kappa**2 / (kappa + 1), ()),
        (1 / (1 - p), 1, (lt(p, 1),)),
        (n, n - tau, (le(tau, n - 1),)),
        (1 + omega, omega, ()),
        (x, Min(x, 10**30), ()),
        (-1 / log(FACTOR), 1 / p**2, (le(p, 1), le(1, kappa))),
        # False by a logarithm.
        (kappa * log(kappa), kappa, (le(2, kappa),)),
        (kappa, kappa * log(log(kappa)), (le(1, kappa),)),
        (log(kappa) ** 2, log(kappa), (le(2, kappa),)),
        (-log(1 - p), sqrt(p), (lt(p, 1),)),
        # False along kappa = omega^2, or near it, only.
        (sqrt(kappa) * omega, kappa + omega, (le(1, kappa),)),
        (kappa, sympy.Abs(kappa - omega**2), ()),
        (kappa, (kappa - omega**2) ** 2 + 1, ()),
        # A hidden power, or a hidden domain.
        (kappa ** Rational(1, 3000), 1, (le(1, kappa),)),
        (kappa, kappa**2 / (10**30 + kappa), ()),
        (ceiling(x) - x, x, ()),
        (1, ceiling(x) - x, ()),
        (d / n, floor(d / n), ()),
        (sqrt(x - 1), x, ()),
        (x, x / log(y), ()),
        (x, sqrt(3) * x - Rational(1732050807, 10**9) * x - Rational(1, 10**8) * x, ()),
    ],
)
def test_what_fails_or_is_undefined_somewhere_is_not_shown(left, right, when):
    with pytest.raises(NoMagnitude):
        proof(left, right, *when)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1 / epsilon, x / epsilon ** Rational(999, 1000)),
        (log(1 / epsilon), log(2 / epsilon) - log(1 / epsilon)),
        (log(1 / epsilon) ** 2, x * log(1 / epsilon)),
        (x / epsilon, 1 / epsilon),
        # The difference vanishes with epsilon.
        (1 / (1 - sqrt(1 - epsilon)), epsilon ** Rational(-1, 2)),
    ],
)
def test_what_fails_in_a_limit_is_not_shown(left, right):
    with pytest.raises(NoMagnitude):
        proof(left, right, small=epsilon)


HELD = [
    (-1 / log(FACTOR), kappa + 1 / p**2, (le(p, 1), le(1, kappa))),
    (1 / (1 - sqrt(1 - 1 / (omega + 1))), omega + 1, ()),
    (log(x * y), log(x) * log(y), (le(2, x), le(2, y))),
    (d, n * floor(d / n), (le(n, d),)),
    (sqrt(d), sqrt(d / k - 1) * sqrt(k) + sqrt(k), (le(k, d),)),
    (1 + x, Max(1, x - 1), ()),
    (kappa * log(kappa), kappa ** Rational(5, 4), (le(1, kappa),)),
    (x + y, sqrt(x**2 + y**2), ()),
]


@pytest.mark.parametrize(("left", "right", "when"), HELD)
def test_the_constant_that_is_shown_holds_at_points(left, right, when):
    found = proof(left, right, *when)
    letters = sorted(sympy.Tuple(left, right).free_symbols, key=str)
    ratio = sympy.lambdify(letters, left / right)
    rng, met = np.random.default_rng(0), 0
    for _ in range(400):
        values = {s: np.ceil(10 ** rng.uniform(0, 4)) if s.is_integer else 10 ** rng.uniform(-3, 3) for s in letters}
        if all(relation.subs(values) for relation in when):
            met += 1
            with np.errstate(divide="ignore"):
                assert ratio(*values.values()) <= float(found.constant) * (1 + 1e-6)
    assert met > 20


def test_a_proof_is_checked_from_the_order_alone():
    part = Order(sqrt(d * kappa) + d, d + kappa)
    found = bounds.proof(part, ())
    assert bounds.constant(part, (), found) == found.constant == Fraction(3, 2)
    # The same weights say nothing of another order, and other weights nothing of this one.
    assert bounds.constant(Order(d * kappa, d + kappa), (), found) is None
    (case,) = found.cases
    for changed in (
        DominationWeights((Fraction(1), Fraction(0)), case.weights[0].of_constraints),
        DominationWeights((Fraction(3, 2), Fraction(-1, 2)), case.weights[0].of_constraints),
        DominationWeights((), ()),
    ):
        forged = replace(found, cases=(replace(case, weights=(changed, *case.weights[1:])),))
        assert bounds.constant(part, (), forged) is None
    assert bounds.constant(part, (), replace(found, cases=())) is None
    assert bounds.constant(part, (), replace(found, cases=(replace(case, empty=True),))) is None


def test_what_nothing_meets_is_not_shown():
    with pytest.raises(NoMagnitude):
        proof(x, 1, le(x, y), le(2 * y, x))
