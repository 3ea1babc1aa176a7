"""What a proof says: the sentences in English, which stand in proof objects, and the same in LaTeX."""

import pytest
import sympy

from verify.export.latex_reading import Symbols
from verify.export.latex_reasons import heading, sentences, words
from verify.export.objects import ProofObjects, Reasons, sealed
from verify.multipliers import reasons as of
from verify.reading.worlds import ONE, Atom, WorldValue

FIELD = sympy.QQ.frac_field(*map(sympy.Symbol, ("given f.L", "given L", "letter gamma", "letter sigma", "n", "sum 0")))
OWN, L, GAMMA, SIGMA, N, SUM = FIELD.gens
SYMBOLS = Symbols({"gamma": r"\gamma"}, {"mean: x": "x", "mean: quotient 1": "v_{3}"}, {"f(2)": "F_{2}"}, {})


def vectors(**by):
    return WorldValue({(frozenset(), (Atom(name.replace("_", " "), 1),)): FIELD(c) for name, c in by.items()})


def number(c):
    return WorldValue({ONE: FIELD(c)} if c else {})


def total(letters, *names, masks=()):
    name = f"sum of ({letters}) {sorted(masks)} {[*names]}"
    return of.ClientSum(name, FIELD(letters), frozenset(masks), tuple(Atom(v, 1, True) for v in names))


def at(k, anchor="x*", **by):
    return of.FunctionPoint(k, anchor, vectors(**by))


TWO = at(0), at(1, x=1, g=-GAMMA)
OWN_TWO = at(0, "", x=1), at(1, "", x=1, w=1 / L)
KNOWN = [
    (
        of.Curvatures("f", "f", TWO, True, number(0), number(L)),
        "each f_i has curvatures between 0 and (given L), between x* + 0 and x* + (1)*x + (-letter gamma)*g, "
        "summed over the clients",
        r"each \(f_{i}\) is convex and \(L\)-smooth, between \(x^{\star}\) and \(x - \gamma g\)",
    ),
    (
        of.OfOperators("f is monotone", "f", TWO, "is monotone", False),
        "each F_i is monotone, between x* + 0 and x* + (1)*x + (-letter gamma)*g",
        r"each \(F_{i}\) is monotone, between \(x^{\star}\) and \(x - \gamma g\)",
    ),
    (
        of.ClientCurvatures("f* convex", "f*", OWN_TWO, number(1 / L), number(1 / GAMMA)),
        "the client's conjugate has curvatures in [1/L, 1/gamma]: between (x) and (x + 1/L w)",
        r"the client's conjugate has curvatures between \(1/L\) and \(1/\gamma\), between \(x\) and "
        r"\(x + \frac{1}{L} w\)",
    ),
    (
        of.ClientCurvatures("g", "g", OWN_TWO[::-1], number(-L), number(L - GAMMA)),
        "g has curvatures in [-L, (L - gamma)]: between (x + 1/L w) and (x)",
        r"\(g\) has curvatures between \(-L\) and \(L-\gamma\), between \(x + \frac{1}{L} w\) and \(x\)",
    ),
    (
        of.MovedCurvatures(number(0), number(L)),
        "the client's function has curvatures in [0, L]: by the tangent from which it moves, if drawn",
        r"the client's function has curvatures between \(0\) and \(L\): by the tangent from which it moves, if drawn",
    ),
    (
        of.DrawnCurvature("f", True, "largest", number(L), at(1, x=1, g=-GAMMA), at(2, x=1), number(1)),
        "the largest curvature of f is (given L): at x* + (1)*x + (-letter gamma)*g, which is drawn, by the gradient "
        "at x* + (1)*x, where (1) is 1",
        r"each \(f_{i}\) is \(L\)-smooth: at the point after the step, by the gradient at \(x\), for the clients that "
        "are drawn",
    ),
    (
        of.DrawnCurvature("g", False, "least", number(0), at(1, x=1), at(2), number(1)),
        "the least curvature of g is 0: at x* + (1)*x, which is drawn, by the gradient at x* + 0, where (1) is 1",
        r"\(g\) is convex: at the point after the step, by the gradient at \(x^{\star}\)",
    ),
    (
        of.Compression("errors", number(1 - GAMMA), vectors(x=1)),
        "E|C_i(v_i) - v_i|^2 <= ((-letter gamma + 1)) |v_i|^2, summed over the clients, v = (1)*x",
        r"compression, of the errors, with \(1-\gamma\)",
    ),
    (
        of.Compression("mean error", number(GAMMA / N), vectors(x=1)),
        "E|mean of C_i(v_i) - v_i|^2 <= ((letter gamma/n)) times the mean of |v_i|^2, v = (1)*x",
        r"compression, of the mean error, with \(\gamma/n\)",
    ),
    (
        of.Compression("error", number(GAMMA), vectors(x=1)),
        "E|C_i(v) - v|^2 <= gamma |v|^2, at v = x",
        r"compression, of the error at \(x\), with \(\gamma\)",
    ),
    (
        of.Smoothness("mean of f", "f", TWO, False),
        "the average is L-smooth, between x* + 0 and x* + (1)*x + (-letter gamma)*g",
        r"the average is \(L\)-smooth, between \(x^{\star}\) and \(x - \gamma g\)",
    ),
    (
        of.Noise(number(SIGMA**2), vectors(x=1)),
        "E|noise of each|^2 <= (letter sigma**2), summed over the clients, at (1)*x",
        r"the noise of each client, at \(x\), has a variance of at most \(\sigma^{2}\)",
    ),
    (
        of.ZeroSum(vectors(x=GAMMA, quotient_1=-1), "quotient 1"),
        "summed over the clients this is zero: <gamma x + -1 quotient 1, quotient 1>",
        r"\(\gamma x - v_{3}\) is 0 in the sum over the clients, so also its product with \(v_{3}\)",
    ),
    (
        of.OfSetting("known 0", "|phi|^2 - eps."),
        "known 0, of what the setting says is at most 0: |phi|^2 - eps.",
        r"by the setting, in which these are at most 0: \(|\phi |^{2} - \varepsilon \)",
    ),
    (
        of.Phrase(("W is symmetric, for ", vectors(x=1), " and ", vectors(x=GAMMA))),
        "W is symmetric, for (1)*x and (letter gamma)*x",
        r"\(W\) is symmetric, for \(x\) and \(\gamma x\)",
    ),
    (of.Stated("no point is nearer."), "no point is nearer.", "no point is nearer"),
]


@pytest.mark.parametrize(("reason", "english", "latex"), KNOWN, ids=lambda one: type(one).__name__)
def test_where_an_inequality_comes_from(reason, english, latex):
    assert str(reason) == english
    item = {"name": "known", "words": english}
    assert words(item, Reasons({("known", english): reason}), SYMBOLS) == latex


def test_names_of_inequalities_are_those_of_their_points():
    one = of.Curvatures("f", "f", TWO, True, number(0), number(L))
    other = of.Curvatures("f", "f", TWO[::-1], True, number(0), number(L))
    assert (one.name, one.opposite) == ("f[0,1]", "f[1,0]") == (other.opposite, other.name)


def said(*lines):
    known = Reasons(lines={str(line): line for line in lines})
    return list(sentences([*map(str, lines)], known, SYMBOLS))


def relation(top, sums=(), below=N):
    return of.Relation("quotient 1", top + vectors(quotient_1=-below), {s.name: s for s in sums})


def test_a_quotient_is_defined_by_all_of_its_sums_and_their_signs():
    weights, one, other = total(SIGMA), total(SIGMA, "W", masks=["active"]), total(1, "Pi")
    sums = WorldValue({(frozenset(), (Atom(s.name, 1),)): c for s, c in ((one, FIELD(1)), (other, FIELD(-2)))})
    value = of.Total("total 0", sums + vectors(x=-SUM), {s.name: s for s in (one, other)})
    letter = of.SumLetter("sum 0", weights)
    assert str(letter) == "sum 0 = sum of (sigma) [] []"
    assert str(value) == ("total 0 = sum of (sigma) ['active'] ['W'] + -2 sum of (1) [] ['Pi'] + -sum 0 x")
    quotient = relation(vectors(total_0=1), below=SUM)
    assert str(quotient) == "quotient 1: 0 = total 0 + -sum 0 quotient 1"
    assert said(value, quotient, letter) == [
        r"\(v_{3} = (\sum_{i\,\text{active}} \sigma_{i} W_{i} - 2 \sum_{i} \Pi_{i} - (\sum_{i} \sigma_{i}) x)"
        r"/\sum_{i} \sigma_{i}\)."
    ]


def test_weights_of_each_client_and_several_masks_stand_in_sums():
    one = total(OWN**2 / SIGMA, "grad f(1)", masks=["seen", "active"])
    (line,) = said(relation(WorldValue({(frozenset(), (Atom(one.name, 1),)): FIELD(1)}), [one]))
    assert line == r"\(v_{3} = (\sum_{i\,\text{active, seen}} \frac{L_{i}^{2}}{\sigma_{i}} \nabla f_{i})/n\)."


def test_what_sums_to_zero_and_quotients_of_vectors():
    one = total(1, "y")
    zero = of.Relation("invariant 0", WorldValue({(frozenset(), (Atom(one.name, 1),)): FIELD(1)}), {one.name: one})
    assert str(zero) == "invariant 0: 0 = sum of (1) [] ['y']"
    assert said(zero) == [r"\(\sum_{i} y_{i} = 0\)."]
    assert said(relation(vectors(x=N * GAMMA))) == [r"\(v_{3} = \gamma x\)."]
    # A name of which nothing is known is left to words.
    assert said(relation(vectors(odd_name=1)))[0].startswith("quotient 1: ")


def test_tangents_and_shifts():
    tangent = of.Tangent("f(2)", "f", True, vectors(x=1), vectors())
    assert str(tangent) == "f(2), grad f(2): of the client's f at (x), less its tangent at (0)"
    assert said(tangent, of.Shifted(("x", "z 1"))) == [
        r"\(F_{2}\) and \(\nabla f(2)\) are the value and the gradient of the client's \(f\) at \(x\), less its "
        r"tangent at \(0\).",
        r"Nothing changes where vectors are shifted so that \(x = z 1 = 0\), as they are here.",
    ]
    follows = of.Follows("own/bound", "by induction on the rounds")
    assert str(follows) == "of own/bound, which follows from it by induction on the rounds:"
    assert said(follows) == ["From this own/bound follows by induction on the rounds:"]


LESS = of.Comparison("<", number(GAMMA * L), number(1))
ZERO = of.Comparison("==", number(SIGMA), number(0))


@pytest.mark.parametrize(
    ("condition", "holds", "english", "latex"),
    [
        (ZERO, True, "so that sigma == 0", r"\(\sigma = 0\)"),
        (ZERO, False, "not so that sigma == 0", r"\(\sigma \ne 0\)"),
        (LESS, False, "not so that L*gamma < 1", r"\(L \gamma >= 1\)".replace(">=", r"\ge")),
        (of.Combined("not", (LESS,)), True, "so that not (L*gamma < 1)", r"\(L \gamma \ge 1\)"),
        (
            of.Combined("and", (LESS, ZERO)),
            False,
            "not so that (L*gamma < 1) and (sigma == 0)",
            r"\(L \gamma \ge 1\) or \(\sigma \ne 0\)",
        ),
        (
            of.Combined("or", (LESS, of.Combined("and", (ZERO, "true")))),
            True,
            "so that (L*gamma < 1) or ((sigma == 0) and (true))",
            r"\(L \gamma < 1\) or (\(\sigma = 0\) and true)",
        ),
    ],
)
def test_a_case_is_called_by_what_is_true_in_it(condition, holds, english, latex):
    case = of.InCase(condition, holds)
    assert str(case) == f"in this case it is {english}"
    data = {"says": [str(case)], "at": {"case": "0."}}
    assert heading(data, Reasons(lines={str(case): case})) == latex


def test_objects_keep_what_they_say_whatever_they_are_called():
    line = of.Follows("own/größe", "by induction")
    data = {"claim": "own/größe", "kind": "recomputation", "says": []}
    (made,) = objects = ProofObjects((sealed(data),)).saying(line)
    assert objects.reasons.lines[made["says"][0]] is line and made["says"][0].isascii()
