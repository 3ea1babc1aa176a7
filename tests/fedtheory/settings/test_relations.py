"""Relations as a paper prints them are the statements that they say."""

import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import locodl
from fedtheory.kinds.bound import bound
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import E, Quantity

rate, constant, x = sympy.symbols("rate constant x", positive=True)
METHOD = locodl.algorithm


def nothing(problem, params, state):
    return 0


BEFORE, AFTER = Quantity("V", nothing), Quantity("V_next", nothing, after=True)
OTHER = Quantity("W", nothing)
V, V_next, W = BEFORE.expression, AFTER.expression, OTHER.expression


@pytest.mark.parametrize("factor", [rate, 1 - rate, (rate * x) ** 2, sympy.Max(rate, 1 - x), sympy.Rational(1, 2)])
@pytest.mark.parametrize("front", [1, constant, 2 / (x * constant**2)])
def test_a_bound_is_taken_apart(factor, front):
    found = bound(METHOD, E(AFTER) <= front * factor**T * BEFORE)
    assert found.left == V_next and found.initial == V and found.override is None
    assert sympy.simplify(found.factor - factor) == 0 and sympy.simplify(found.constant - front) == 0
    assert found.quantities == (AFTER, BEFORE)


def test_a_bound_of_another_shape_is_taken_whole():
    for right in (BEFORE / (T + 1), rate**T * BEFORE + x, T * rate**T * BEFORE):
        found = bound(METHOD, E(AFTER) <= right)
        assert found.bound == right.expression


def test_one_step():
    contraction = one_step(METHOD, E(AFTER) <= (1 - rate) * BEFORE)
    assert contraction.factor == 1 - rate and contraction.right == (1 - rate) * V
    noisy = one_step(METHOD, E(AFTER + x * OTHER) <= BEFORE - OTHER / 2)
    assert noisy.factor is None and noisy.quantities == (AFTER, OTHER, BEFORE)
    assert noisy.left == V_next + x * W and noisy.right == V - W / 2
    assert one_step(METHOD, E(AFTER) <= BEFORE**2).factor is None
    assert one_step(METHOD, E(AFTER) <= x).factor is None


def test_sides_may_be_written_either_way():
    assert inequality(BEFORE >= 2 * OTHER) == inequality(2 * OTHER <= BEFORE)
    assert inequality(BEFORE < OTHER).strict and not inequality(OTHER <= 1 - BEFORE).strict
    assert inequality(x > BEFORE).left == V
    found = identity(BEFORE, -OTHER * rate + 1)
    assert (found.left, found.right, found.quantities) == (V, 1 - rate * W, (BEFORE, OTHER))
    assert identity(BEFORE, x).right == x


def test_what_is_no_relation_is_refused():
    with pytest.raises(TypeError, match="cannot be written as one"):
        inequality(0 <= BEFORE <= OTHER)
    with pytest.raises(ValueError, match="leave E out"):
        E(BEFORE)
    with pytest.raises(ValueError, match="between quantities, letters and numbers"):
        inequality(BEFORE <= "much")


def test_a_claim_stated_so_is_the_same_claim():
    statement = claims.get("locodl/theorem-3.1/one-step").statement
    after, before = statement.quantities
    assert one_step(statement.algorithm, E(after) <= statement.factor * before) == statement
