"""Counterexamples can be followed by hand: named states, both sides as the claim writes them, at most ten lines."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.problems.operators import TurningOperators
from verify import check
from verify.base.case import Case
from verify.comparisons import naming
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Evidence
from verify.report import by_hand, formulas, placing, plot, quadratics, statement, terminal
from verify.results import shipped

EXAMPLES = [id for id, entry in shipped().entries.items() if entry["counterexample"]]
mu, L, gamma = ft.letters("mu L gamma")


def carried(id):
    return Counterexample.from_json(shipped().entries[id]["counterexample"])


@pytest.mark.parametrize("id", EXAMPLES)
def test_every_carried_counterexample_names_its_state_and_both_sides(id):
    example = carried(id)
    lines = by_hand.lines(example)
    assert 2 <= len(lines) <= by_hand.MOST
    assert "state (" not in example.place() + " ".join(lines)
    told = " ".join(lines)
    if example.claim.statement.kind == "order":
        # What is compared are the exponents of a curve.
        assert "left/right" in terminal.refutation(example) and "<= 0" not in terminal.refutation(example)
    else:
        assert all(terminal.shown(side) in told for side in (example.left, example.right))
    assert all(name in told for name in by_hand.sides(example))


def test_the_dual_gap_of_theorem_6_1_by_hand():
    lines = by_hand.lines(carried("feddcd/theorem-6.1/eq-10"))
    assert lines[0] == "f_1(x) = 9/2 (x + 1/9)^2, least at x = -1/9; f_2(x) = 9/2 (x - 1/9)^2, least at x = 1/9; x* = 0"
    assert "y_i = z_i = v_i = u_i = 0" in lines[2]
    assert "left: E[G(y^T)-G*] = 64/729, about 0.0877915" in lines


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("fedadmm/lemma-C.1/a/intermediate", "phi_i = pi_i + alpha_i grad f_i(w_i)"),
        ("locodl/assumption-2.1/literal", "exactly one of the two iterations before"),
    ],
)
def test_states_of_no_algorithm_say_what_their_parts_are(id, words):
    assert words in "\n".join(by_hand.lines(carried(id)))


def test_an_inexact_oracle_says_what_it_answers():
    lines = by_hand.lines(carried("feddcd/theorem-5.2/eq-8"))
    assert lines[1].startswith("the oracle of client i answers g + c_i (h - g)") and "c = (" in lines[1]


def test_functions_that_are_not_written_out_are_told():
    assert by_hand.lines(carried("feddcd/oracle/newton"))[0].startswith("f(w) with f'(w) = alpha w + ")


def test_a_determinant_says_what_it_means():
    told = " ".join(by_hand.lines(carried("fedopt/algorithm-6/linear/literal")))
    assert "an eigenvalue below -1" in told and "diverges" in told


def test_the_matrix_of_a_determinant_is_shown():
    assert "M = ((0, -4/7, -4/7), (-4/7, 0, -4/7), (-4/7, -4/7, 0))" in by_hand.lines(
        carried("fedopt/algorithm-6/linear/literal")
    )


def test_a_state_that_is_never_left_is_told_and_not_where_a_run_may_begin():
    # f_1(x) = (x - 1/4)^2, f_2(x) = (x + 1/2)^2/2, two steps of 1/2 each: w = (w_1 + w_2)/2, w_i from w.
    lines = by_hand.lines(carried("fedadmm/algorithm-2"))
    assert "state: w = -1/14, w_1 = 1/4, w_2 = -11/28" in lines
    # The tolerances fall in every step, and nothing else depends on them.
    (state,) = (line for line in by_hand.lines(carried("fedadmm/theorem-4.1/c/literal")) if line.startswith("state: "))
    assert "pi_1 = 1/4" in state and "eps" not in state


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("fedadmm/lemma-4.1", "L^k: sum_i (alpha_i f_i(w_i^k) + <pi_i^k, w_i^k - w^{tau_k}> + "),
        ("fedadmm/eq-64", "k_i: the last iteration up to k in which client i takes part"),
        ("fedadmm/eq-45/use", "theta = 1/2"),
        ("feddcd/eq-36", "drift <- delta (drift + "),
        ("feddcd/appendix-F/class", "H = ((181/486, "),
        ("locodl/assumption-2.1/literal", "|x - x*|_X^2/gamma + (gamma (1 + 2 omega)/(p^2 chi)) |u - u*|_X^2"),
    ],
)
def test_what_the_letters_of_a_comparison_are_is_written_out(id, words):
    assert words in "\n".join(by_hand.lines(carried(id)))


def test_a_name_that_a_claim_defines_anew_is_not_told_as_the_paper_s():
    told = by_hand.lines(carried("fedadmm/eq-34"))[-1]
    assert "Dbar_i^{k+1}: w_i^{k+1} - w^{tau_{k+1}}" in told and "Dpi_i^{k+1}: " not in told
    assert ("Dpi_i^{k+1}", "pi_i^{k+1} - pi_i^k") in statement.definitions(claims.get("fedadmm/eq-34/repaired"))


def test_quantities_of_other_comparisons_are_left_out():
    assert not any("Lt^k" in line for line in by_hand.lines(carried("fedadmm/eq-64")))


def test_a_compressor_says_which_omega_is_exceeded():
    claim = claims.get("locodl/eq-2/rand-k")
    found = check(claim.variant(omega=claim.statement.omega / 2)).counterexample
    assert found is not None
    left, right = by_hand.sides(found)
    assert "omega" in right and left != right


def test_functions_are_written_by_their_pieces():
    def written(**parts):
        return formulas.written(replace(PLAIN, f=ft_bent(**parts)))

    assert written(b=Fraction(0)) == ["f_1(x) = 1/2 (x - 1)^2, least at x = 1"]
    assert written(b=Fraction(1)) == [
        "f_1(x) = {1/2 x^2 + 1 for x <= -1; -x + 1/2 for -1 <= x <= 1; 1/2 (x - 2)^2 - 1 for x >= 1}, least at x = 2"
    ]
    for width in (Fraction(1, 10**6), Fraction(10**6)):
        assert written(b=Fraction(1), width=width)[0].count(";") == 2


def test_a_function_that_is_no_sum_of_pieces_is_not_written():
    class Cubic:
        n = d = 1

        def value(self, x):
            return (x**3).sum(axis=-1)

    assert formulas.written(SimpleNamespace(f=Cubic())) == []


@pytest.mark.parametrize(
    ("places", "pieces", "least"),
    [
        ((), [(1, -4, 0)], [(2, 2)]),
        ((), [(0, 0, 5)], [(None, None)]),
        ((), [(0, 1, 0)], None),
        ((), [(-1, 0, 0)], None),
        ((0,), [(0, -1, 0), (0, 1, 0)], [(0, 0)]),
        ((-1, 1), [(0, -1, 0), (0, 0, 1), (0, 1, 0)], [(-1, 1)]),
        ((0,), [(0, -1, 0), (0, 0, 0)], [(0, None)]),
        # Two wells of one depth.
        ((0,), [(1, 2, 0), (1, -2, 0)], [(-1, -1), (1, 1)]),
    ],
)
def test_where_a_function_of_pieces_is_least(places, pieces, least):
    line = formulas.Line(tuple(map(Fraction, places)), tuple(formulas.Piece(*map(Fraction, p)) for p in pieces))
    found = line.least()
    assert found == least


def test_a_function_of_several_variables_is_written_with_positive_parts():
    from fedtheory.problems.piecewise import PiecewiseQuadratic

    def numbers(*values):
        return np.array([[Fraction(v) for v in values]], dtype=object)

    f = PiecewiseQuadratic((numbers(1, 2), numbers(3, 2)), (numbers(1, 0),), numbers(0, -2))
    told = "1/2 (x[1] - 1)^2 + max(0, x[1] - 1)^2 + (x[2] - 1)^2 - 1"
    assert formulas.written(SimpleNamespace(f=f)) == [f"f_1(x) = {told}, least at x = (1, 1)"]


def test_a_kink_says_which_subgradient_is_given():
    from fedtheory.problems.piecewise import Kinked, PiecewiseQuadratic

    def numbers(*values):
        return np.array([[Fraction(v) for v in values]], dtype=object)

    smooth = PiecewiseQuadratic((numbers(1), numbers(1)), (numbers(0),), numbers(0))
    f = Kinked(smooth, numbers(0), numbers(2), numbers("1/2"))
    (told,) = formulas.written(SimpleNamespace(f=f))
    assert told == (
        "f_1(x) = {1/2 (x - 2)^2 - 2 for x <= 0; 1/2 (x + 2)^2 - 2 for x >= 0}, least at x = 0, "
        "with the subgradient 1 at x = 0"
    )


def ft_bent(b, width=Fraction(1)):
    from fedtheory.problems.nonconvex import LessHuber

    def numbers(*values):
        return np.array([Fraction(v) for v in values], dtype=object)

    u = numbers(int(b > 0))[None]
    return LessHuber(numbers(1)[None], numbers(1)[None], u, numbers(b or 1), numbers(0), numbers(width))


PLAIN = carried("fedadmm/lemma-4.1").claim.instances.build(carried("fedadmm/lemma-4.1").recipe, True).problem


@pytest.mark.parametrize(
    ("H", "slope", "level", "expected"),
    [
        ([[1]], [0], 0, "1/2 x^2"),
        ([[2]], [-4], 5, "(x - 2)^2 + 1"),
        ([[0]], [-3], 0, "-3 x"),
        ([[0]], [0], 0, "0"),
        ([[1, 0], [0, 4]], [1, 0], Fraction(1, 2), "1/2 (x[1] + 1)^2 + 2 x[2]^2"),
        ([[1, -1], [-1, 2]], [0, 1], 0, "1/2 x[1]^2 + x[2]^2 + x[2] - x[2] x[1]"),
    ],
)
def test_quadratics_in_words(H, slope, level, expected):
    assert quadratics.quadratic(H, slope, level) == expected


def test_states_of_ones_own_methods_have_their_names():
    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :], "before": state.x}

    method = ft.method("own", step, ["gamma"], {"x": "point", "before": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    claim = ft.Claim("own/fast", setting=setting, statement=ft.contracts(method, ft.distance, sympy.Rational(1, 100)))
    found = check(claim).counterexample
    assert "; x = " in found.text and ", before = " in found.text
    assert naming.state(Case(claim, found.recipe), found.point) in found.place()


def test_what_a_statement_is_for_names_every_restriction():
    def of(**more):
        functions = ft.SmoothStronglyConvex(mu, L, **{k: v for k, v in more.items() if k == "quadratics"})
        rest = {k: v for k, v in more.items() if k != "quadratics"}
        method = ft.method("m", lambda p, q, s, draw: s, [], {"x": "point"})
        setting = ft.Setting("all functions", algorithm=method, functions=functions, **rest)
        return statement.scope(ft.Claim("own/m", setting=setting, statement=ft.contracts(method, ft.distance, 1)))

    assert of() == "all functions"
    assert of(clients=(1,)) == "all functions; 1 client only"
    assert of(clients=(1, 2), quadratics=True) == "all functions; 1 or 2 clients only; quadratic functions only"
    drawing = ft.Drawing(conditions=(Fraction(1), Fraction(9, 4)))
    assert of(drawing=drawing) == "all functions; tested at L/mu = 1, 9/4"


@pytest.mark.parametrize(
    ("id", "rounds", "outcomes"),
    [
        ("fedadmm/theorem-3.1/proof", 1, 0),
        ("fedadmm/lemma-4.1", 2, 0),
        # Two clients' models; a state of dual vectors, which are no points of the picture.
        ("feddcd/theorem-5.2/eq-8", 2, 0),
        ("feddcd/theorem-6.1/eq-10", 0, 0),
    ],
)
def test_a_counterexample_in_one_dimension_is_drawn(tmp_path, id, rounds, outcomes):
    example = carried(id)
    plot.draw(example, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    case = example.case
    visited = plot._visited(example, case, *placing.posed(example, case))
    assert (len(visited.rounds), len(visited.outcomes)) == (rounds, outcomes)


@pytest.mark.parametrize(
    ("id", "why"),
    [
        ("fedopt/fsvrg/property-b", "it is in 2 dimensions"),
        ("feddcd/table-1/fedavg/literal", "it is a curve of constants"),
        ("feddcd/projection", "it is not of functions of one variable"),
    ],
)
def test_other_counterexamples_have_no_picture(tmp_path, id, why):
    with pytest.raises(ValueError, match=f"has no picture: {why}"):
        plot.draw(carried(id), tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()


def test_evidence_is_told_in_a_line_and_in_a_small_table():
    entries = shipped().entries
    fallen, holding = (
        Evidence.from_json(claims.get(id), entries[id])
        for id in ("feddcd/theorem-6.1/eq-10", "locodl/theorem-3.1/eq-5")
    )
    assert str(fallen) == "refuted: 64/729 <= 1/12" and str(holding) == "proved, margin 0"
    assert "<th>at</th>" in fallen._repr_html_() and "&lt;=" in fallen._repr_html_()


def test_operators_are_written_out():
    h = np.array([[1, 1], [2, Fraction(1, 2)]], dtype=object)
    x, y = np.array([1, 0], dtype=object), np.array([[0, 0], [1, 0]], dtype=object)
    turning = TurningOperators(h, np.array([1, 0], dtype=object), x, y)
    assert formulas.written(SimpleNamespace(f=turning)) == [
        "F_1(x) = (x[1] - x[2] - 1, x[1] + x[2] - 1)",
        "F_2(x) = (2 x[1] - 1, 1/2 x[2])",
    ]
    still = replace(turning, h=0 * h, b=np.array([0, 0], dtype=object))
    assert formulas.written(SimpleNamespace(f=still)) == ["F_1(x) = (0, 0)", "F_2(x) = (1, 0)"]
    # In many coordinates they are described.
    many = replace(turning, h=np.ones((2, 4), dtype=object), x=np.zeros(4, dtype=object))
    assert formulas.written(SimpleNamespace(f=many)) == []


def spread(problem, params, state):
    return (state.x**2).sum(axis=-1)


def test_quantities_without_a_docstring_are_named_by_their_place_and_operators_have_their_letter():
    method = ft.method("operators", lambda problem, params, state, draw: state, ["gamma"], {"x": "point"})
    D, I, H = ft.Quantity("D", ft.distance), ft.Quantity("I", spread), ft.Quantity("H", ft.heterogeneity)
    found = {}
    for functions in (ft.Cocoercive(L), ft.SmoothConvex(L)):
        setting = ft.Setting(algorithm=method, functions=functions)
        claim = ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, ft.E(D.next) <= D + I + H))
        found[type(functions)] = dict(statement.definitions(claim))
    line = spread.__code__.co_firstlineno
    assert all(meanings["I"] == f"spread (test_by_hand.py, line {line})" for meanings in found.values())
    assert found[ft.Cocoercive]["H"] == "(1/n) sum_i |F_i(x*)|^2"
    assert found[ft.SmoothConvex]["H"] == "(1/n) sum_i |grad f_i(x*)|^2"


def test_a_margin_says_what_multiple_of_the_right_side_it_is():
    results = shipped()
    id = next(id for id, e in results.entries.items() if e["counterexample"] and -100 < (e["margin"] or 0) < -2)
    evidence = Evidence.from_json(claims.get(id), results.entries[id])
    times = f"(the left side {1 - evidence.margin:.3g} times the right one)"
    assert any(times in line for line in terminal.findings(evidence, ()))
    equality = claims.get("feddcd/projection")
    found = terminal.findings(Evidence.from_json(equality, results.entries[equality.id]), ())
    assert not any("times the right one)" in line for line in found)


def test_the_same_quantity_at_two_times_has_two_meanings():
    named = dict(statement.definitions(claims.get("locodl/theorem-3.1/one-step")))
    assert sorted(meaning.rpartition(", ")[2] for meaning in named.values()) == ["after the step", "before the step"]


def test_parameters_that_only_the_step_names_have_their_values():
    (line,) = (line for line in by_hand.lines(carried("fedadmm/theorem-4.1/c/literal")) if line.startswith("with "))
    assert "alpha_i = 1/2" in line and "sigma_i = 3/2" in line and "k_0 = 1" in line


@pytest.mark.parametrize("id", ["feddcd/projection", "locodl/assumption-2.1/literal", "feddcd/theorem-5.2/eq-8"])
def test_the_instance_is_stated_once_and_in_words(id):
    example = carried(id)
    by = by_hand.lines(example)
    line = placing.instance(example, by)
    assert not any(insider in line for insider in ("bernoulli", "worst-case", "scale=", "N=", "n="))
    assert placing.instance(example, []).startswith(placing.in_words(placing.place(example)))
