"""The symbols of vectors, points and numbers of a proof: LaTeX accepts them, and each is explained."""

import re

import pytest
import sympy

from fedtheory import claims
from verify.export import found, latex
from verify.export.latex_names import symbols
from verify.export.latex_reading import Symbols
from verify.export.latex_reasons import unexplained, words
from verify.export.latex_values import combination
from verify.export.objects import Reasons
from verify.multipliers.reasons import Curvatures, FunctionPoint
from verify.reading.worlds import ONE, Atom, WorldValue

#: A subscript or an exponent of what has one already.
TWICE = re.compile(r"_(\{[^{}]*\}|\w)_|\^(\{[^{}]*\}|\w)\^")
FIELD = sympy.QQ.frac_field(
    *map(sympy.Symbol, ("given L", "given mu", "letter step size", "letter theta_1", "letter theta_2"))
)
L, MU, ODD, FIRST, SECOND = FIELD.gens


def value(**of):
    """A sum of multiples of vectors."""
    return WorldValue({(frozenset(), (Atom(name, 1),)): FIELD(c) for name, c in of.items()})


def number(c):
    return WorldValue({ONE: FIELD(c)} if c else {})


POINT = value(z=FIRST, w=SECOND, y=1 - FIRST - SECOND)


def known(reason, **more):
    item = {"name": reason.name, "words": str(reason), "form": {}, **more}
    return item, Reasons({(item["name"], item["words"]): reason})


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
    of = symbols([an_object(*errors, *others)], Reasons())
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
    # To be used is not to be explained.
    used = r"\(F_{4}\) and \(\nabla f(3)\) are the value and the gradient of \(f\) at \(v_{2}\)."
    assert list(unexplained(of, used)) == [r"\(v_{2}\) is error 0."]


def test_points_are_sums_with_letters_of_any_kind():
    of = Symbols({"theta_1": r"\theta_{1}"}, {f"mean: {x}": x for x in "zwy"}, {}, {})
    assert combination(POINT, of) == r"\theta_{1} z + \theta_{2} w + (1 - \theta_{1} - \theta_{2}) y"
    assert combination(value(z=-L * FIRST, w=-1), of) == r"-L \theta_{1} z - w"
    assert combination(value(z=2), of) == "2 z" and combination(value(), of) == "0"
    assert combination(value(z=-1 / L, w=L**2 / (MU + L)), of) == r"-\frac{1}{L} z + \frac{L^{2}}{L + \mu} w"
    # A name without a symbol is left to words.
    assert combination(value(z=ODD), of) == combination(value(**{"odd name": 1}), of) == ""


def test_a_point_that_is_no_letter_has_its_number():
    points = FunctionPoint(0, "x*", value(y=1)), FunctionPoint(3, "x*", POINT)
    item, reasons = known(Curvatures("f", "f", points, True, number(MU), number(L)))
    of = symbols([an_object("mean: mean of grad f(3)", "mean: mean of grad f(0)", known=[item])], reasons)
    assert of.points == {str(points[1]): "x_{3}"}
    assert of.vectors["mean: mean of grad f(3)"] == r"\overline{\nabla f(x_{3})}"
    assert r"between \(y\) and \(x_{3}=\theta_{1} z" in words(item, reasons, Symbols({}, {}, {}, {}, of.points))


def test_functions_with_names_have_numbers_below_and_points_of_their_own():
    one, other = value(z=2), value(w=2)
    items, reasons = [], Reasons()
    for name, at in (("f1", one), ("f2", other)):
        item, more = known(
            Curvatures(
                name, name, (FunctionPoint(1, "x*", at), FunctionPoint(2, "x*", value(x=1))), False, number(MU), None
            )
        )
        items, reasons = [*items, item], reasons | more
    rows = [f"mean: {of}({k})" for of in ("grad f1", "grad f2") for k in (1, 2)]
    of = symbols([an_object(*rows, "mean: prox f2(0)", known=items)], reasons)
    assert list(of.points.values()) == ["x_{1}", "x_{2}"]
    assert list(of.vectors.values()) == [
        r"\nabla f_{1}(x_{1})",
        r"\nabla f_{1}(x)",
        r"\nabla f_{2}(x_{2})",
        r"\nabla f_{2}(x)",
        r"\mathrm{prox}^{f_{2}}",
    ]
    assert words(items[1], reasons, of).startswith(r"\(f_{2}\) is \(\mu\)-strongly convex, between \(x_{2}=")


def test_the_point_after_a_step_is_x_and_more():
    points = FunctionPoint(1, "x*", value()), FunctionPoint(2, "x*", value(x=1, g=-L))
    item, reasons = known(Curvatures("f", "f", points, True, number(MU), number(L)))
    of = symbols([an_object("mean: grad f(2)", "mean: grad f(1)", known=[item])], reasons)
    assert of.vectors["mean: grad f(2)"] == r"\nabla f(x^{+})"
    assert of.vectors["mean: grad f(1)"] == r"\nabla f(x^{\star})"


@pytest.mark.parametrize(
    ("least", "largest", "said"),
    [
        (MU, L, r"is \(\mu\)-strongly convex and \(L\)-smooth,"),
        (0, L, r"is convex and \(L\)-smooth,"),
        (0, None, "is convex,"),
        (MU, None, r"is \(\mu\)-strongly convex,"),
        (-L, L, r"has curvatures between \(-L\) and \(L\),"),
        (1 / L, 1 / MU, r"is \(1/L\)-strongly convex and \(1/\mu\)-smooth,"),
        (-MU, None, r"has curvatures of at least \(-\mu\),"),
    ],
)
def test_curvatures_are_told_as_they_are_called(least, largest, said):
    points = FunctionPoint(0, "x*", value()), FunctionPoint(1, "x*", value(x=1))
    ends = number(least), None if largest is None else number(largest)
    item, reasons = known(Curvatures("f", "f", points, True, *ends))
    assert words(item, reasons, Symbols({}, {}, {}, {})).startswith(rf"each \(f_{{i}}\) {said} between")
    both, _ = known(Curvatures("f", "f", points, True, *ends), both=True)
    assert words(both, reasons, Symbols({}, {}, {}, {})).endswith(r"between \(x^{\star}\) and \(x\), both ways")


def test_an_inequality_of_which_there_are_only_words_is_told_in_these():
    item = {"name": "f[0,1]", "words": "each f_i has curvatures between 0 and L, between x and y.", "form": {}}
    of = symbols([an_object("mean: x", known=[item])], Reasons())
    assert not of.points
    said = r"each \(f_{i}\) has curvatures between 0 and \(L\), between \(x\) and \(y\)"
    assert words(item, Reasons(), of) == said
