"""Worst cases with square roots are exact numbers, proved at both ends; a wrong one is not."""

import json
import math
from fractions import Fraction

import pytest

from verify.cli import main
from verify.pepit import capture, certify, certifying, exactly, points, recognised
from verify.pepit.algebraic import Field
from verify.pepit.systems import Rational

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP, Expression  # noqa: E402
from PEPit.functions import ConvexLipschitzFunction, SmoothConvexFunction  # noqa: E402


def root(value):
    return Field().element([Fraction(value)]).sqrt()


def descent(gamma):
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=1)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    problem.set_performance_metric(f(x - gamma * f.gradient(x)) - f(minimiser))
    return problem


def subgradient(step):
    """One step of the subgradient method, M = 1: at best 1/sqrt(2)."""
    problem = PEP()
    f = problem.declare_function(ConvexLipschitzFunction, M=1)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    g, value = f.oracle(x)
    problem.set_performance_metric(value - f(minimiser))
    problem.set_performance_metric(f(x - step * g) - f(minimiser))
    return problem


def squared(size=1):
    """t^2 <= 2 size: both ends are irrational, the coefficients rational."""
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition((x - y) ** 2 == size)
    t = Expression()
    problem.add_psd_matrix([[2 * (x - y) ** 2, t], [t, 1]])
    problem.set_performance_metric(t)
    return problem


def test_a_file_keeps_its_roots():
    assert (exactly.Exact(Fraction(2)).rooted() * exactly.Exact(Fraction(8)).rooted()).exact == 4
    third = exactly.power(exactly.Exact(Fraction(3)), exactly.Exact(Fraction(3, 4)))
    assert third.surd**4 == 27
    far = exactly.Exact(Fraction(2)).rooted() + math.pi
    assert far.rounded and far.surd is None


@pytest.mark.parametrize(
    ("problem", "value"),
    [
        (lambda: descent(exactly.Exact(Fraction(1, 2)).rooted()), (root(2) - 1) / 2),
        (lambda: subgradient(exactly.Exact(Fraction(1, 2)).rooted()), root(2) / 2),
        (squared, root(2)),
        (lambda: squared(3), root(6)),
    ],
    ids=["in the step", "subgradients", "in the worst case only", "another"],
)
def test_surds_are_proved_at_both_ends(problem, value):
    found = certify(problem())
    assert found.exact == value and found.rounded == 0
    assert found.model.dual().holds(_dual(found)) and found.model.primal().holds(_primal(found))


def _number(value):
    return Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value


def _dual(found):
    numbers = [found.upper.multipliers.get(c.name, Fraction(0)) for c in found.model.constraints]
    for matrix in found.model.inequalities:
        rows = found.upper.matrices[matrix.name]
        numbers += [rows[i][j] for i in range(len(rows)) for j in range(i, len(rows))]
    return [_number(v) for v in numbers]


def _primal(found):
    gram = found.lower.gram
    numbers = [gram[i][j] for i in range(len(gram)) for j in range(i, len(gram))] + list(found.lower.values)
    return [_number(v) for v in numbers]


@pytest.mark.parametrize("error", [Fraction(1, 10**50), Fraction(-1, 10**50)])
def test_a_point_that_is_off_by_fifty_digits_is_none(error):
    found = certify(descent(exactly.Exact(Fraction(1, 2)).rooted()))
    for system, point in ((found.model.dual(), _dual(found)), (found.model.primal(), _primal(found))):
        refused = 0
        for k in range(len(point)):
            moved = [*point]
            moved[k] = moved[k] + _number(error)
            refused += not system.holds(moved)
        assert refused


def test_a_fraction_of_forty_digits_does_not_pass_for_a_root():
    found = certify(descent(exactly.Exact(Fraction(1, 2)).rooted()))
    near = found.model.mapped(lambda c: c if isinstance(c, Rational) else _number(c.between(133)[0]))
    assert near.primal().field.degree == 1
    assert not (near.dual().holds(_dual(found)) and near.primal().holds(_primal(found)))


@pytest.mark.parametrize("wrong", [-root(2) / 2, root(3) / 2, root(2) / 2 - Fraction(1, 10**30)])
def test_conjugates_and_wrong_surds_are_not_attained_from_above(wrong):
    """The planted values: the conjugate, another root, and one inside the enclosure of a float."""
    found = certify(subgradient(exactly.Exact(Fraction(1, 2)).rooted()))
    dual, primal = found.model.dual(), found.model.primal()
    _, wrong = root(2).field.image(wrong)
    below = wrong < root(2) / 2
    assert points.attaining(dual if below else primal, wrong if below else -wrong) is None


def test_numbers_are_recognised_only_where_they_are_simple():
    bits = 400
    for value in (root(2) / 2, (2 + root(2)) / 7):
        assert recognised.number(value.fixed(bits), bits, bits, root(2).field) == value
    assert recognised.number(root(3).fixed(bits), bits, bits, root(2).field) is None
    assert recognised.larger_field(root(3).fixed(bits), bits, bits, Field()) == root(3).field
    assert recognised.larger_field(int(math.pi * 2**60) << bits - 60, bits, bits, Field()) is None


def test_proofs_of_surds_are_written_in_fractions():
    found = certifying.in_fractions(certify(squared()))
    assert isinstance(found.upper.bound, Fraction) and found.lower.bound**2 <= 2 <= found.upper.bound**2


def test_the_command_says_the_surd(tmp_path, capsys):
    file = tmp_path / "model.py"
    file.write_text(
        "from math import sqrt\n"
        "from PEPit import PEP\n"
        "problem = PEP()\n"
        "x = problem.set_initial_point()\n"
        "problem.set_initial_condition(x ** 2 <= sqrt(2))\n"
        "problem.set_performance_metric(x ** 2)\n"
        "problem.solve(verbose=0)\n"
    )
    assert main(["certify", str(file), "--json", str(tmp_path / "out.json"), "--proofs", str(tmp_path / "p")]) == 0
    assert "worst case   sqrt(2) = 1.41421356237" in capsys.readouterr().out
    (model,) = json.loads((tmp_path / "out.json").read_text())["models"]
    assert model["exact"] == "sqrt(2)"
    # Both ends are fractions that are bounds, the root between them.
    upper, lower = Fraction(model["upper"]), Fraction(model["lower"])
    assert lower**2 < 2 < upper**2 and upper - lower < Fraction(1, 10**37)


def test_roots_of_too_many_numbers_are_rounded_and_say_so():
    problem = PEP()
    x = problem.set_initial_point()
    sizes = [exactly.Exact(Fraction(p)).rooted() for p in (2, 3, 5, 7, 11)]
    for size in sizes:
        problem.add_constraint(x**2 <= size)
    problem.set_performance_metric(x**2)
    model, rounded = capture.model_of(problem)
    assert rounded == len(sizes) and model.primal().field.degree == 1
    found = certifying.bounds(model, None, rounded)
    assert found.exact is None and found.upper.identity == found.lower.bound < found.upper.bound
    assert 2 < found.upper.bound**2 < 2 + Fraction(1, 10**38)
