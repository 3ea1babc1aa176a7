"""Bounds of models with rounded coefficients hold for all numbers that these may stand for, or are not said to."""

import json
import math
import random
from fractions import Fraction

import pytest

from verify.cli import main
from verify.pepit import capture, certify, enclosed, exactly
from verify.pepit.algebraic import rational
from verify.pepit.model import Constraint, Model, Quantity
from verify.pepit.systems import Rational

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP, Expression  # noqa: E402
from PEPit.functions import SmoothConvexFunction  # noqa: E402

#: A float that no simple fraction rounds to, and how far the numbers are from it that it may stand for.
NUMBER = math.exp(-0.3)
FAR = exactly.ULPS * Fraction(math.ulp(NUMBER))


def ball(weight=1, size=1, metric=1, equal=False):
    problem = PEP()
    x = problem.set_initial_point()
    problem.set_initial_condition(weight * x**2 == size if equal else weight * x**2 <= size)
    problem.set_performance_metric(metric * x**2)
    return problem


def descent(step, metric=1, momentum=None):
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=1)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    y = x - step * f.gradient(x)
    if momentum is not None:
        z = momentum * y + (1 - momentum) * x
        y = z - step * f.gradient(z)
    problem.set_performance_metric(metric * (f(y) - f(minimiser)))
    return problem


def matrix(c):
    """t^2 <= c: a matrix of expressions has the rounded coefficient."""
    problem = PEP()
    x = problem.set_initial_point()
    problem.set_initial_condition(x**2 <= 1)
    t = Expression()
    problem.add_psd_matrix([[c * x**2, t], [t, 1]])
    problem.set_performance_metric(t)
    return problem


@pytest.mark.parametrize(
    ("pose", "worst"),
    [
        (lambda c: ball(size=c), lambda c: c),
        (lambda c: ball(size=c, equal=True), lambda c: c),
        (lambda c: ball(weight=c), lambda c: 1 / c),
        (lambda c: ball(weight=c, equal=True), lambda c: 1 / c),
        (lambda c: ball(metric=c), lambda c: c),
        (lambda c: ball(weight=c, size=c, metric=c), lambda c: c),
        (descent, lambda c: 1 / (4 * c + 2)),
        (lambda c: descent(1, metric=c), lambda c: c / 6),
        (lambda c: descent(c, metric=c), lambda c: c / (4 * c + 2)),
    ],
)
def test_a_bound_is_one_at_both_ends_of_what_a_float_may_stand_for(pose, worst):
    found = certify(pose(NUMBER))
    ends = [worst(Fraction(NUMBER) + side * FAR) for side in (1, -1)]
    assert found.rounded and found.exact is None and found.upper.enclosure is not None
    # The planted error: what is proved for the fraction in the middle is no bound at one of the ends.
    assert found.upper.identity < max(ends) <= found.upper.bound
    assert found.upper.bound - found.upper.identity < 100 * FAR and found.lower.bound <= found.upper.bound


def test_a_bound_is_one_at_both_ends_where_several_differ_by_themselves():
    found = certify(ball(weight=NUMBER, size=NUMBER))
    assert (Fraction(NUMBER) + FAR) / (Fraction(NUMBER) - FAR) <= found.upper.bound


def test_a_matrix_may_have_them():
    found = certify(matrix(NUMBER))
    assert found.upper.enclosure is not None and found.upper.bound**2 >= Fraction(NUMBER) + FAR


def test_a_bound_with_momentum_holds_for_what_can_be_shifted():
    momentum = exactly.read(math.exp(-1))
    found = certify(descent(1, momentum=momentum))
    assert found.upper.enclosure is not None and found.upper.enclosure.shifts
    for side in (1, -1):
        moved = certify(descent(1, momentum=exactly.Exact(momentum.exact + side * momentum.error)))
        assert moved.rounded == 0 and moved.lower.bound <= found.upper.bound


def test_a_shift_that_rounding_may_end_is_a_condition():
    """Each of the three coefficients of c (x - y)^2 by itself makes the distance unbounded."""
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition(NUMBER * (x - y) ** 2 <= 1)
    problem.set_performance_metric((x - y) ** 2)
    found = certify(problem)
    assert found.upper.enclosure is not None and found.upper.enclosure.shifts
    assert found.upper.bound >= 1 / (Fraction(NUMBER) - FAR)


def test_noise_beside_a_point_that_is_free_is_enclosed_by_nothing():
    """With x^2 + c <x, y> <= 1 and any c but 0, x^2 may be as large as one likes."""
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.add_constraint(x**2 + 2.0**-55 * (x * y) <= 1)
    problem.add_constraint(y**2 - x * y + x**2 >= 0)
    problem.set_performance_metric(x**2)
    found = certify(problem)
    assert found.exact is None and (found.upper is None or found.upper.enclosure is None)


def unbounded(size=None):
    """x^2 + <x, y> + c z^2 where <x, y> = -c z^2: at most 1, unless one c is larger than the other."""
    problem = PEP()
    x, y, z = (problem.set_initial_point() for _ in range(3))
    problem.set_initial_condition(x**2 <= 1)
    problem.add_constraint(x * y + NUMBER * z**2 == 0)
    if size is not None:
        problem.add_constraint(z**2 <= size)
    problem.set_performance_metric(x**2 + x * y + NUMBER * z**2)
    return problem


def test_where_nothing_is_bounded_nothing_is_said_of_other_numbers():
    found = certify(unbounded())
    assert found.upper.enclosure is None and found.upper.bound == found.upper.identity and found.exact is None
    found = certify(unbounded(size=4))
    assert found.upper.enclosure is not None and found.upper.bound >= 1 + 8 * FAR


def of_errors(error, constant=Fraction(0)):
    """t <= x^2 where (1 + something up to the error) x^2 <= 1 + something up to the constant."""
    one, size = Rational(1), rational(error)
    return Model(
        0,
        1,
        1,
        (
            Constraint("metric", Quantity({0: one, (0, 0): -one})),
            Constraint("size", Quantity({(0, 0): one}, -one, {(0, 0): size, None: rational(constant)})),
        ),
    )


@pytest.mark.parametrize(
    "error", [Fraction(1, 100), Fraction(1, 5), Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(2)]
)
@pytest.mark.parametrize("constant", [Fraction(0), Fraction(1, 3)])
def test_errors_that_are_not_small_have_a_bound_or_none(error, constant):
    found = enclosed.enclosure(of_errors(error, constant), [Rational(1), Rational(1)])
    assert (found is None) if error >= 1 else (found is None or 1 + found.excess >= (1 + constant) / (1 - error))
    assert found is not None or error > Fraction(1, 4)


def test_what_is_restored_is_an_error_too():
    problem = descent(1, momentum=math.exp(-1) + 0)
    model, rounded = capture.model_of(problem)
    again, _ = capture._read(problem, capture._Reader(False, exactly.of))
    assert rounded
    for before, after in zip(again.quantities(), model.quantities(), strict=True):
        for key, c in after.coefficients.items():
            assert abs(c - before.coefficients.get(key, Rational(0))) <= after.errors.get(key, Rational(0))


# Errors of numbers


def _near(number, side):
    return number.exact + side * number.error


@pytest.mark.parametrize("seed", range(20))
def test_what_is_computed_lies_within_its_error(seed):
    draws = random.Random(seed)
    numbers = [exactly.read(draws.uniform(0.5, 3)) for _ in range(4)]
    truths = [n.exact + n.error * Fraction(draws.randint(-8, 8), 8) for n in numbers]
    for _ in range(12):
        (a, x), (b, y) = (draws.choice([*zip(numbers, truths, strict=True)]) for _ in range(2))
        kind = draws.choice(["+", "-", "*", "/", "power", "root"])
        if kind == "root" and x > 0 and a > 0:
            made, truth = a.rooted(), exactly._bracket(x)[0]
            # The root of the truth, to 40 digits.
            assert abs(made.exact - truth) <= made.error + Fraction(1, 10**38)
            made = exactly.Exact(made.exact, made.error + Fraction(1, 10**38))
        elif kind == "power":
            exponent = draws.choice([-2, -1, 2, 3])
            if abs(a) < 1e-3:
                continue
            made, truth = a**exponent, x**exponent
        elif kind == "/" and abs(b) < 1e-3:
            continue
        else:
            made, truth = {
                "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b
            }.get(kind, lambda a, b: a + b)(a, b), None  # fmt: skip
            truth = x - y if kind == "-" else x * y if kind == "*" else x / y if kind == "/" else x + y
        assert abs(made.exact - truth) <= made.error
        if abs(made) < 1e6:
            numbers.append(made)
            truths.append(truth)


def test_roots_that_no_field_has_lie_within_their_errors():
    total = exactly.Exact(Fraction(0))
    for p in (2, 3, 5, 7, 11, 13):
        total = total + exactly.Exact(Fraction(p)).rooted()
    low, high = (
        sum(Fraction(math.isqrt(p * 10**200) + more, 10**100) for p in (2, 3, 5, 7, 11, 13)) for more in (0, 1)
    )
    assert total.surd is None and 0 < total.error < Fraction(1, 10**35)
    assert total.exact - total.error <= low and high <= total.exact + total.error
    nested = (1 + total).rooted()
    assert abs(nested.exact**2 - 1 - total.exact) <= 8 * nested.error


def test_a_division_by_what_may_be_zero_is_refused():
    zero = exactly.read(0.1 + 0.2 - 0.3) + exactly.read(2.0**-54)
    assert zero.exact == 0 and zero.error > 0
    small = zero + exactly.Exact(Fraction(1, 2**60))
    with pytest.raises(ValueError, match="may be 0"):
        1 / small


def test_noise_is_what_lies_beside_larger_numbers():
    noise = exactly.read(0.1 + 0.2 - 0.3)
    assert noise.exact == 0 and noise.error >= 0.1 + 0.2 - 0.3
    assert exactly.read(2.0**-55, small=True).exact == Fraction(1, 2**55)
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition(2.0**-55 * x**2 <= 1)
    problem.add_constraint(x**2 + 2.0**-55 * (x * y) <= 1)
    problem.set_performance_metric(x**2)
    first, second = (
        c.expression for c in capture.model_of(problem)[0].constraints if "onstraint" in c.name or "ondition" in c.name
    )
    assert first.coefficients[0, 0] == Rational(1, 2**55)
    assert (0, 1) not in second.coefficients and second.errors[0, 1] >= Rational(1, 2**55)


# The command


FILE = """
from math import sqrt
from PEPit import PEP
problem = PEP()
x, y, z = (problem.set_initial_point() for _ in range(3))
size = sqrt(2) + sqrt(3) + sqrt(5) + sqrt(7) + sqrt(11)
problem.set_initial_condition(x ** 2 <= {size})
problem.add_constraint({constraint})
problem.set_performance_metric({metric})
problem.solve(verbose=0)
"""


@pytest.mark.parametrize(
    ("size", "constraint", "metric", "sentence"),
    [
        ("size", "y ** 2 <= 1", "x ** 2", "holds for all that they may stand for"),
        (
            "1",
            "x * y + size * z ** 2 == 0",
            "x ** 2 + x * y + size * z ** 2",
            "both bounds are for the fractions in their place",
        ),
    ],
)
def test_the_command_says_what_the_bound_holds_for(tmp_path, capsys, size, constraint, metric, sentence):
    file = tmp_path / "model.py"
    file.write_text(FILE.format(size=size, constraint=constraint, metric=metric))
    assert main(["certify", str(file), "--json", str(tmp_path / "out.json"), "--proofs", str(tmp_path / "p")]) == 0
    assert sentence in capsys.readouterr().out
    (model,) = json.loads((tmp_path / "out.json").read_text())["models"]
    assert model["exact"] is None and model["enclosed"] is ("all" in sentence)
    true = sum(Fraction(math.isqrt(p * 10**120), 10**60) for p in (2, 3, 5, 7, 11))
    if model["enclosed"]:
        assert Fraction(model["upper"]) >= true + Fraction(1, 10**50) and Fraction(model["lower"]) <= true + Fraction(
            1, 10**35
        )
