"""Errors of a user's function that name the letters there are."""

from __future__ import annotations

from collections import namedtuple

from verify.conformance.adapter import BadAnswer, Unanswered, _raised

Params = namedtuple("Params", ["tau", "eta", "eta_l"])


def _error(asked, name):
    try:
        getattr(asked, name)
    except AttributeError as error:
        return error
    raise AssertionError(f"{asked} has {name}")


class Functions:
    """What a problem has as f."""


class Problem:
    """A problem whose functions have next to nothing."""

    f, g = Functions(), None


def test_a_parameter_that_is_not_there_is_answered_by_those_that_are():
    found = _raised("run", Problem(), _error(Params(1, 2, 3), "eta_g"))
    assert type(found) is BadAnswer
    assert "has no attribute 'eta_g'" in found.text and found.text.endswith("; there are tau, eta, eta_l")


def test_other_errors_are_as_they_were():
    problem = Problem()
    assert type(_raised("run", problem, _error(problem.f, "H"))) is Unanswered
    for error in (_error(problem.f, "H"), _error([], "sum"), ValueError("no")):
        assert "there are" not in _raised("run", problem, error).text
