"""The symbols of vectors, points and numbers of a proof: LaTeX accepts them, and each is explained."""

import re

import pytest

from fedtheory import claims
from verify.export import found, latex
from verify.export.latex_names import symbols
from verify.export.latex_words import combination, unexplained

#: A subscript of what has one already.
TWICE = re.compile(r"_(\{[^{}]*\}|\w)_|\^(\{[^{}]*\}|\w)\^")


@pytest.mark.parametrize("id", ["baseline/5gcs-cc/one-step", "baseline/adiana/one-step"])
def test_no_symbol_has_two_subscripts(id):
    objects, _ = found.of_claim(id)
    assert not TWICE.search(latex.checked(claims.get(id), objects))


def test_a_symbol_without_a_name_of_its_own_is_explained():
    objects, _ = found.of_claim("locodl/proof/compressed-norm")
    written = latex.checked(claims.get("locodl/proof/compressed-norm"), objects)
    assert r"\(v_{2}\) is error 0." in written
    of = symbols(objects)
    assert list(unexplained(of, r"\(v_{2} = \)")) == []
    assert list(unexplained(of, "")) == [r"\(v_{2}\) is error 0."]


def test_points_are_sums_with_letters_of_any_kind():
    objects, _ = found.of_claim("baseline/adiana/one-step")
    of = symbols(objects[1:])
    point = "x* + (theta_1)*z + (theta_2)*w + (-theta_1 - theta_2 + 1)*y"
    assert combination(point, of) == r"\theta_{1} z + \theta_{2} w + (1 - \theta_{1} - \theta_{2}) y"
    assert of.points[point] == "x_{3}"
    assert combination("x* + (-L*theta_1)*z + (-1)*w", of) == r"-L \theta_{1} z - w"
    # A name without a symbol is left to words.
    assert combination("x* + (step size)*z", of) == ""
