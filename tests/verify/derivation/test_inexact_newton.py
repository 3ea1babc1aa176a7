"""Inexact steps of Newton's method over T rounds: a round multiplies the gradient by eta at most, and no faster."""

from itertools import islice

import pytest
import sympy

from fedtheory import claims
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.methods import telescoping
from verify.methods.base import Inquiry
from verify.search import hunting

NEWTON = claims.get("feddcd/oracle/newton/repaired")
LESS = sympy.Rational(98, 100)


def _verdict(claim):
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    inquiry = Inquiry(claim, given=tuple(recipe for recipe, _ in meeting(claim, islice(recipes, 20))))
    return telescoping.METHOD.run(telescoping.METHOD, inquiry).verdict


def test_inexact_newton_steps_are_proved():
    assert _verdict(NEWTON) is Verdict.PROVED


@pytest.mark.parametrize(
    "changes",
    [{"factor": LESS * NEWTON.statement.factor}, {"initial": LESS * NEWTON.statement.initial}],
    ids=["faster", "nearer"],
)
def test_neighbours_of_inexact_newton_steps_are_not_proved(changes):
    assert _verdict(NEWTON.variant(**changes)) is not Verdict.PROVED
