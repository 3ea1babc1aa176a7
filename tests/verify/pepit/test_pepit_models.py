"""Models for PEPit: both ends are exact, proofs are proofs, and what cannot be taken is refused in one sentence."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from verify.cli import main
from verify.exact import elimination
from verify.pepit import capture, certify, certifying, exactly, points
from verify.pepit.systems import Rational

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP, Expression, PSDMatrix  # noqa: E402
from PEPit.functions import (  # noqa: E402
    ConvexFunction,
    SmoothConvexFunction,
    SmoothStronglyConvexFunction,
    SmoothStronglyConvexQuadraticFunction,
)
from PEPit.operators import CocoerciveOperator  # noqa: E402
from PEPit.primitive_steps import proximal_step  # noqa: E402

DESCENT = "examples/pepit/gradient_descent.py"


def descent(L=1, gamma=1, n=1, cls=SmoothConvexFunction, **given):
    problem = PEP()
    f = problem.declare_function(cls, L=L, **given)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    start = x
    for _ in range(n):
        x = x - gamma * f.gradient(x)
    return problem, f, minimiser, start, x


def gap(**given):
    problem, f, minimiser, _, x = descent(**given)
    problem.set_performance_metric(f(x) - f(minimiser))
    return problem


def contraction(cls=SmoothStronglyConvexFunction):
    problem, _, minimiser, _, x = descent(cls=cls, mu=0.1, gamma=1)
    problem.set_performance_metric((x - minimiser) ** 2)
    return problem


def proximal():
    problem = PEP()
    f = problem.declare_function(ConvexFunction)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    for _ in range(3):
        x, _, _ = proximal_step(x, f, 4)
    problem.set_performance_metric(f(x) - f(minimiser))
    return problem


def cocoercive():
    problem = PEP()
    A = problem.declare_function(CocoerciveOperator, beta=1)
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition((x - y) ** 2 <= 1)
    problem.set_performance_metric((x - A.gradient(x) - y + A.gradient(y)) ** 2)
    return problem


def squared():
    """t^2 <= 2 (x - y)^2 <= 2 by a matrix of expressions: t is at most the root of 2."""
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition((x - y) ** 2 == 1)
    t = Expression()
    problem.add_psd_matrix([[2 * (x - y) ** 2, t], [t, 1]])
    problem.set_performance_metric(t)
    return problem


@pytest.mark.parametrize(
    ("pose", "value"),
    [
        (gap, Fraction(1, 6)),
        (lambda: gap(n=3), Fraction(1, 14)),
        (lambda: gap(L=3, gamma=exactly.Exact(Fraction(1, 7)), n=2), Fraction(21, 38)),
        (contraction, Fraction(81, 100)),
        (lambda: contraction(SmoothStronglyConvexQuadraticFunction), Fraction(81, 100)),
        (proximal, Fraction(1, 48)),
        (cocoercive, Fraction(1)),
    ],
    ids=["one step", "three steps", "letters", "contraction", "quadratics, by a matrix", "proximal", "operator"],
)
def test_worst_cases_that_are_known_are_proved(pose, value):
    found = certify(pose())
    assert found.exact == value
    model = found.model
    assert model.dual().holds(_dual_point(found))
    assert model.primal().holds(_primal_point(found))


def _dual_point(found):
    numbers = [found.upper.multipliers.get(c.name, Fraction(0)) for c in found.model.constraints]
    for matrix in found.model.inequalities:
        rows = found.upper.matrices[matrix.name]
        numbers += [rows[i][j] for i in range(len(rows)) for j in range(i, len(rows))]
    return [Rational(v.numerator, v.denominator) for v in numbers]


def _primal_point(found):
    gram = found.lower.gram
    numbers = [gram[i][j] for i in range(len(gram)) for j in range(i, len(gram))] + list(found.lower.values)
    return [Rational(v.numerator, v.denominator) for v in numbers]


def test_a_proof_is_an_identity_in_all_points_and_values():
    """Independently of the system: at random vectors what the multipliers leave is a square, up to rounding."""
    found = certify(gap(n=2))
    model, rng = found.model, np.random.default_rng(0)
    for _ in range(20):
        X = rng.standard_normal((model.points, 3))
        gram, values = X @ X.T, rng.standard_normal(model.values)

        def at(quantity, gram=gram, values=values):
            terms = (
                float(Fraction(int(c.p), int(c.q))) * (values[key] if isinstance(key, int) else gram[key])
                for key, c in quantity.coefficients.items()
            )
            return sum(terms) + float(Fraction(int(quantity.constant.p), int(quantity.constant.q)))

        rest = float(found.upper.bound) - values[model.objective]
        for constraint in model.constraints:
            rest += float(found.upper.multipliers.get(constraint.name, 0)) * at(constraint.expression)
        assert rest >= -1e-9


def test_an_irrational_worst_case_has_both_ends():
    found = certifying.in_fractions(certify(squared()))
    assert found.exact is None and found.lower.bound**2 <= 2 <= found.upper.bound**2
    assert found.gap < Fraction(1, 10**6)


@pytest.mark.parametrize("change", [Fraction(1, 10**9), Fraction(-1, 10**9)])
def test_changed_multipliers_prove_nothing(change):
    found = certify(gap(n=2))
    point = _dual_point(found)
    for k in range(len(point)):
        moved = list(point)
        moved[k] += Rational(change.numerator, change.denominator)
        # Each multiplier is tied to others by the function values.
        assert not found.model.dual().holds(moved) or k == _initial(found)


def _initial(found):
    """The constraint that alone has no function values: its multiplier may be larger, for a larger bound."""
    return [c.name for c in found.model.constraints].index("Initial condition")


def test_a_bound_below_the_worst_case_has_no_multipliers():
    found = certify(gap(n=2))
    below = found.exact - Fraction(1, 10**6)
    assert points.attaining(found.model.dual(), Rational(below.numerator, below.denominator)) is None
    above = found.exact + Fraction(1, 10**6)
    assert points.attaining(found.model.primal(), Rational(-above.numerator, above.denominator)) is None


def test_matrices_with_a_negative_direction_are_not_semidefinite():
    def of(rows):
        return [[Rational(v) for v in row] for row in rows]

    assert elimination.is_positive_semidefinite(of([[1, 1], [1, 1]]))
    assert elimination.is_positive_semidefinite(of([[0, 0], [0, 2]]))
    assert not elimination.is_positive_semidefinite(of([[0, 1], [1, 2]]))
    assert not elimination.is_positive_semidefinite(of([[1, 2], [2, 1]]))
    assert not elimination.is_positive_semidefinite(of([[2, 1, 0], [1, 2, 0], [0, 0, -1]]))


def test_pepits_number_is_no_bound_where_an_instance_does_worse():
    found = certify(gap(n=4))
    assert replace(found, pepit=float(found.exact) - 1e-7).pepit_is_bound is False
    assert replace(found, pepit=float(found.exact) + 1e-7).pepit_is_bound is True
    assert replace(found, pepit=None).pepit_is_bound is None


def test_what_is_deactivated_is_left_out():
    problem, f, minimiser, start, x = descent()
    free = (start - minimiser) ** 2 <= 0.5
    problem.add_constraint(free)
    free.deactivate()
    problem.set_performance_metric(f(x) - f(minimiser))
    assert certify(problem).exact == Fraction(1, 6)


def test_the_least_of_several_metrics_is_bounded():
    problem, f, minimiser, start, x = descent()
    problem.set_performance_metric(f(x) - f(minimiser))
    problem.set_performance_metric((f(start) - f(minimiser)) / 4)
    found = certify(problem)
    assert found.upper.bound - found.lower.bound <= Fraction(1, 10**7)
    assert found.upper.bound <= Fraction(1, 8)


@pytest.mark.parametrize("pose", [gap, squared, lambda: contraction(SmoothStronglyConvexQuadraticFunction)])
def test_what_pepit_answers_is_what_it_returned(pose):
    problem = pose()
    value = problem.solve(verbose=0)
    assert certify(problem).pepit == value
    assert certify(pose()).pepit is None


def test_what_has_no_bound_is_said():
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=1)
    x = problem.set_initial_point()
    problem.set_performance_metric(f(x))
    with pytest.raises(ValueError, match=r"no bound \(proved\)"):
        certify(problem)
    with pytest.raises(ValueError, match="no performance metric"):
        certify(PEP())


@pytest.mark.parametrize(
    "more",
    [
        lambda f, minimiser, x: (x - minimiser) ** 2 >= 2,
        # It follows from |x - minimiser| <= 1 that this is at most 1/2.
        lambda f, minimiser, x: f(x) - f(minimiser) >= 0.51,
        lambda f, minimiser, x: (x - minimiser) ** 2 <= -1,
    ],
)
def test_constraints_that_contradict_one_another_are_named(more):
    problem, f, minimiser, start, x = descent()
    problem.add_constraint(more(f, minimiser, start))
    problem.set_performance_metric(f(x) - f(minimiser))
    with pytest.raises(ValueError, match=r"contradict one another \(proved\): .*\"Constraint 1\""):
        certify(problem)


@pytest.mark.parametrize("number", [1e-17, np.finfo(float).eps, 3e-16])
def test_a_small_number_that_is_meant_is_not_taken_for_zero(number):
    problem, _, minimiser, start, _ = descent()
    problem.list_of_constraints.clear()
    problem.set_initial_condition((start - minimiser) ** 2 <= np.float64(number))
    problem.set_performance_metric((start - minimiser) ** 2)
    found = certify(problem)
    assert found.exact is None or found.exact == Fraction(number)
    assert found.upper is None or found.upper.bound >= Fraction(number)


def test_a_problem_that_pepit_would_read_wrongly_is_refused():
    first, second = gap(n=1), gap(n=2)
    with pytest.raises(ValueError, match="another PEP was begun"):
        certify(first)
    assert certify(second).exact == Fraction(1, 10)
    problem, f, minimiser, start, x = descent()
    problem.set_performance_metric(f(x) - f(minimiser))
    assert certify(problem).exact == Fraction(1, 6)
    problem.add_constraint((start - minimiser) ** 2 <= 1 / 4)
    with pytest.raises(ValueError, match="added after"):
        certify(problem)


# Numbers of a file


def test_numbers_are_what_the_file_says():
    source = """
import math
import numpy as np
a = 0.1 + 0.2
b = 1 / 3 + 2 / 3
c = math.sqrt(0.25) * np.sqrt(4)
d = 2 ** -2 + 0.25 ** 0.5
e = np.sqrt(2)
f = 1
f /= 3
class A:
    g = 1 / 7
match 0.5:
    case 0.5:
        i = True
h = f"{a:.2f}"
"""
    code, names = exactly.compiled(source, "file.py")
    exec(code, names)
    assert names["a"].exact == Fraction(3, 10) and names["b"] == 1 and names["c"].exact == 1
    assert names["d"].exact == Fraction(3, 4) and not names["d"].rounded
    assert names["e"].rounded and abs(names["e"].exact ** 2 - 2) < Fraction(1, 10**38)
    assert names["f"].exact == Fraction(1, 3) and names["A"].g.exact == Fraction(1, 7) and names["h"] == "0.30"


def test_floats_are_read_as_the_simple_fractions_they_round():
    assert exactly.read(0.1).exact == Fraction(1, 10) and exactly.read(1 / 3).exact == Fraction(1, 3)
    noise = exactly.read(0.1 + 0.2 - 0.3)
    assert noise.exact == 0 and noise.rounded
    assert exactly.read(1e-17).exact == Fraction(1e-17)
    # One that only comes near a simple fraction is no rounding of it.
    assert exactly.read(1.0000000001e-6).exact == Fraction(1.0000000001e-6)
    root = exactly.read(2**0.5)
    assert root.rounded and root.exact == Fraction(2**0.5)


# The command


def run(capsys, *arguments):
    status = main(["certify", *map(str, arguments)])
    return status, *capsys.readouterr()


def test_the_command_proves_the_model_of_a_file(capsys, tmp_path):
    out = tmp_path / "bounds.json"
    status, shown, errors = run(capsys, DESCENT, "--at", "L=3", "gamma=1/7", "n=2", "--json", out, "--multipliers")
    assert (status, errors) == (0, "") and "21/38" in shown and "is not a bound" in shown
    (model,) = json.loads(out.read_text())["models"]
    assert model["exact"] == model["upper"] == model["lower"] == "21/38"
    assert model["pepit"] == pytest.approx(21 / 38, abs=1e-3) and model["multipliers"]["Initial condition"] == "21/38"


_PROGRAM = """
import argparse, sys
from dataclasses import dataclass
from PEPit import PEP
from PEPit.functions import SmoothConvexFunction

@dataclass
class Settings:
    L: float = 1.0

def wc_start(L=1, verbose=1):
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=Settings(L).L)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    problem.set_performance_metric(f(x) - f(minimiser))
    print(problem.solve("cvxpy", "dual", True, verbose))
    return 0

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--L", type=float, default=1.0)
    sys.exit(wc_start(parser.parse_args().L))
"""


@pytest.mark.parametrize(("arguments", "value"), [((), "1/2"), (("--at", "L=3"), "3/2")])
def test_a_program_with_arguments_of_its_own_runs(capsys, tmp_path, arguments, value):
    file = tmp_path / "model.py"
    file.write_text(_PROGRAM)
    status, shown, errors = run(capsys, file, *arguments)
    assert (status, errors) == (0, "") and f"worst case   {value}" in shown


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        ("x = (", (), "never closed"),
        ("import sys; sys.exit(3)", (), "ends by itself, with exit status 3"),
        ("x = 1", (), "no PEP was solved"),
        ("1 / 0", (), "division by zero"),
        ("def wc_a(n): pass", ("--at", "m=1"), "no argument m"),
        ("def wc_a(n, m): pass", ("--at", "m=1"), "needs n"),
        ("def wc_a(n): pass\ndef wc_b(n): pass", ("--at", "n=1"), "2 functions begin with wc_"),
        ("x = 1", ("--call", "wc_a"), "no function wc_a"),
        ("x = 1", ("--at", "m"), "NAME=NUMBER"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(capsys, tmp_path, text, arguments, sentence):
    file = tmp_path / "model.py"
    file.write_text(text)
    status, shown, errors = run(capsys, file, *arguments)
    assert (status, shown) == (2, "") and sentence in errors and errors.count("\n") == 1


def test_a_file_that_is_not_there_is_said(capsys, tmp_path):
    status, _, errors = run(capsys, tmp_path / "none.py")
    assert status == 2 and "no such file" in errors


def test_a_matrix_that_is_not_symmetric_is_made_so():
    problem = squared()
    x = problem.set_initial_point()
    problem.set_initial_condition(x**2 <= 1)
    problem.add_psd_matrix(PSDMatrix([[2 + 0 * x**2, x**2], [1 + 0 * x**2, x**2]]).matrix_of_expressions)
    model, _ = capture.model_of(problem)
    assert [c.name for c in model.constraints if "[1,0]" in c.name]
    assert certifying.bounds(model).gap < Fraction(1, 10**6)


@pytest.mark.parametrize("solved", [True, False])
def test_what_a_file_prints_is_beside_the_report(solved, capsys):
    with capture.captured(lambda problem, value: value, solved):
        print("of the file")
    out, err = capsys.readouterr()
    assert not out and err == ("of the file\n" if solved else "")


def test_the_constraints_that_contradict_are_the_fewest():
    problem, f, minimiser, start, x = descent()
    problem.add_constraint((start - minimiser) ** 2 <= 7)
    problem.add_constraint(f(start) - f(minimiser) <= 9)
    problem.add_constraint((start - minimiser) ** 2 >= 2)
    problem.set_performance_metric(f(x) - f(minimiser))
    named = r': "Initial condition" and "Constraint 3" cannot hold together'
    with pytest.raises(ValueError, match=named):
        certify(problem)
