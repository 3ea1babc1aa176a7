"""The symbols of vectors, points and numbers of a proof: LaTeX accepts them, and each is explained."""

import re

import pytest

from fedtheory import claims
from verify.export import found, latex
from verify.export.latex_names import symbols
from verify.export.latex_reading import Symbols
from verify.export.latex_words import combination, unexplained, words

#: A subscript or an exponent of what has one already.
TWICE = re.compile(r"_(\{[^{}]*\}|\w)_|\^(\{[^{}]*\}|\w)\^")
POINT = "x* + (theta_1)*z + (theta_2)*w + (-theta_1 - theta_2 + 1)*y"


def an_object(*rows, known=()):
    target = {f"{row}|{row}": "1" for row in rows}
    return {"letters": {"L": "> 0"}, "programs": [{"target": target, "known": list(known), "squares": []}]}


@pytest.mark.slow
@pytest.mark.parametrize("id", ["baseline/5gcs-cc/one-step", "baseline/adiana/one-step"])
def test_no_formula_has_two_scripts(id):
    objects, _ = found.of_claim(id)
    assert not TWICE.search(latex.checked(claims.get(id), objects))


def test_no_symbol_has_two_scripts():
    errors = [f"error {k} of compressors deviation: error {k} of compressors" for k in range(3)]
    others = [
        "mean: mean of odd name",
        "deviation: deviation of odd name",
        "mean: mean of prox f(0)",
        "mean: prox g(1)",
    ]
    of = symbols([an_object(*errors, *others)])
    every = [*of.vectors.values(), *(symbol for symbol, _ in of.clients.values())]
    assert len(set(every)) == len(every) and not any(map(TWICE.search, every)), every
    assert [of.vectors[e] for e in errors] == ["e_{i}", "e'_{i}", "e''_{i}"]
    # What each client has is so marked, whether it has a name or not.
    assert of.vectors["deviation: deviation of odd name"] == "v_{i, 5}"
    assert of.vectors["mean: mean of prox f(0)"] == r"\overline{\mathrm{prox}}"


def test_a_symbol_without_a_name_of_its_own_is_explained():
    of = Symbols({}, {"error: error 0": "v_{2}", "mean: x": "x"}, {"mean of f(3)": "F_{4}"}, {})
    assert list(unexplained(of, "")) == [r"\(v_{2}\) is error 0.", r"\(F_{4}\) is mean of \(f(3)\)."]
    assert list(unexplained(of, r"\(v_{2} = x\)")) == [r"\(F_{4}\) is mean of \(f(3)\)."]


def test_points_are_sums_with_letters_of_any_kind():
    of = Symbols({"theta_1": r"\theta_{1}"}, {f"mean: {x}": x for x in "zwy"}, {}, {}, {POINT: "x_{3}"})
    assert combination(POINT, of) == r"\theta_{1} z + \theta_{2} w + (1 - \theta_{1} - \theta_{2}) y"
    assert combination("x* + (-L*theta_1)*z + (-1)*w", of) == r"-L \theta_{1} z - w"
    assert combination("x* + (2)*z", of) == "2 z"
    # A name without a symbol is left to words.
    assert combination("x* + (step size)*z", of) == combination("x* + (a/b)*z", of) == ""


def test_a_point_that_is_no_letter_has_its_number():
    between = f"each f_i has curvatures between (given mu) and (given L), between x* + (1)*y and {POINT}"
    item = {"name": "f[0,3]", "words": between, "form": {}}
    of = symbols([an_object("mean: mean of grad f(3)", "mean: mean of grad f(0)", known=[item])])
    assert of.points == {POINT: "x_{3}"}
    assert of.vectors["mean: mean of grad f(3)"] == r"\overline{\nabla f(x_{3})}"
    assert r"between \(y\) and \(x_{3}=\theta_{1} z" in words(item, Symbols({}, {}, {}, {}, of.points))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("(given mu) and (given L)", r"is \(\mu\)-strongly convex and \(L\)-smooth,"),
        ("0 and (given L)", r"is convex and \(L\)-smooth,"),
        ("0 and any", "is convex,"),
        ("(given mu) and any", r"is \(\mu\)-strongly convex,"),
        ("(-given L) and (given L)", r"has curvatures between \(-L\) and \(L\),"),
    ],
)
def test_curvatures_are_told_as_they_are_called(ends, said):
    item = {"name": "f[0,1]", "words": f"each f_i has curvatures between {ends}, between x* + 0 and x* + (1)*x"}
    assert words(item, Symbols({}, {}, {}, {})).startswith(rf"each \(f_{{i}}\) {said} between")
