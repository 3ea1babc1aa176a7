"""Letters are drawn on all of what they are declared to be."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from fedtheory.numbers import validation
from fedtheory.sampling import letter_values

CASES = [
    ({"positive": True}, (), {1}),
    ({"nonnegative": True}, (), {0, 1}),
    ({"real": True}, (), {-1, 0, 1}),
    ({"integer": True, "positive": True}, (), {1}),
    ({"integer": True, "nonnegative": True}, (), {0, 1}),
    ({"integer": True}, (), {-1, 0, 1}),
    ({"nonnegative": True}, (lambda x: x <= 1,), {0, 1}),
    ({"real": True}, (lambda x: x <= 1,), {-1, 0, 1}),
    ({"real": True}, (lambda x: x < -1,), {-1}),
    ({"real": True}, (lambda x: x >= -2,), {-1, 0, 1}),
    ({"real": True}, (lambda x: x >= -2, lambda x: x < 1), {-1, 0, 1}),
    ({"integer": True}, (lambda x: x >= -2, lambda x: x < 3), {-1, 0, 1}),
]


@pytest.mark.parametrize(("declared", "bounds", "signs"), CASES)
def test_every_sign_that_a_letter_may_have_is_drawn(declared, bounds, signs):
    letter = sympy.Symbol("x", **declared)
    plan = letter_values.plan((letter,), frozenset(), tuple(bound(letter) for bound in bounds), ())
    for cornered in (False, True):
        rng = np.random.default_rng(0)
        found = [letter_values.draw(plan, {}, {}, rng, cornered=cornered)[letter] for _ in range(3000)]
        assert all(validation.admits(letter, value) and all(bound(value) for bound in bounds) for value in found)
        assert cornered or {int(np.sign(value)) for value in found} == signs
    assert validation.admits(letter, letter_values.tightest(plan, {}, {})[letter])


def test_what_an_equality_leaves_is_what_a_letter_may_be():
    m, n = sympy.symbols("m n", integer=True, positive=True)
    plan = letter_values.plan((m, n), frozenset(), (sympy.Eq(2 * m, n),), ())
    drawn = [letter_values.draw(plan, {}, {}, np.random.default_rng(seed)) for seed in range(50)]
    assert any(drawn) and all(values is None or 2 * values[m] == values[n] for values in drawn)
    assert all(values is None or validation.admits(m, values[m]) for values in drawn)


@pytest.mark.parametrize("first", [10**6, 2**63 - 3, 10**30, -(10**30)])
def test_integers_are_drawn_beyond_64_bits(first):
    n = sympy.Symbol("n", integer=True)
    plan = letter_values.plan((n,), frozenset(), (n >= first, n <= first + 4), ())
    rng = np.random.default_rng(0)
    assert {letter_values.draw(plan, {}, {}, rng)[n] for _ in range(200)} == {first + k for k in range(5)}


@pytest.mark.parametrize("relation", (sympy.Le, sympy.Ge, sympy.Lt, sympy.Eq))
def test_a_bound_whose_direction_is_not_decided_is_no_bound(relation):
    mu, L, gamma = sympy.symbols("mu L gamma", positive=True)
    stated = relation(gamma * (sympy.sqrt(mu) - sympy.sqrt(L)), 0, evaluate=False)
    plan = letter_values.plan((gamma,), frozenset({mu, L}), (stated,), ())
    # Of two roots of 3 intervals do not say that they are equal.
    known = {mu: Fraction(3), L: Fraction(3)}
    assert letter_values.draw(plan, known, {}, np.random.default_rng(0))[gamma] > 0
    assert letter_values.tightest(plan, known, {})[gamma] > 0
