"""Worst cases to many digits, and what is made of them: proposals that are checked, whatever was proposed."""

from dataclasses import replace
from fractions import Fraction

import pytest

from verify.pepit import capture, certify, certifying, exactly, optimality, points, recognised, systems
from verify.pepit.systems import Rational

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP, Expression  # noqa: E402
from PEPit.functions import ConvexFunction, SmoothStronglyConvexFunction  # noqa: E402
from PEPit.operators import LipschitzStronglyMonotoneOperatorCheap, MonotoneOperator  # noqa: E402
from PEPit.primitive_steps import proximal_step  # noqa: E402


def composite(n=2):
    """The proximal gradient method at gamma L < 1: every constraint is attained, and a solver has seven digits."""
    problem = PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, mu=0.1, L=1)
    h = problem.declare_function(ConvexFunction)
    both = f + h
    minimiser, x = both.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    for _ in range(n):
        x, _, _ = proximal_step(x - f.gradient(x), h, 1)
    problem.set_performance_metric((x - minimiser) ** 2)
    return problem


def resolvents(n):
    problem = PEP()
    A = problem.declare_function(MonotoneOperator)
    zero, x = A.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - zero) ** 2 <= 1)
    before = x
    for _ in range(n):
        before, (x, _, _) = x, proximal_step(x, A, 1)
    problem.set_performance_metric((x - before) ** 2)
    return problem


def forward():
    problem = PEP()
    A = problem.declare_function(LipschitzStronglyMonotoneOperatorCheap, mu=0.1, L=1)
    zero, x = A.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - zero) ** 2 <= 1)
    problem.set_performance_metric((x - 0.1 * A.gradient(x) - zero) ** 2)
    return problem


def rooted(number):
    """t^2 <= number: t is at most its root."""
    problem = PEP()
    x, t = problem.set_initial_point(), Expression()
    problem.set_initial_condition(x**2 <= number)
    problem.add_psd_matrix([[x**2, t], [t, 1]])
    problem.set_performance_metric(t)
    return problem


@pytest.mark.parametrize(
    ("pose", "value"),
    [
        (composite, Fraction(9, 10) ** 4),
        (lambda: resolvents(3), Fraction(4, 27)),
        (forward, 1 - Fraction(2, 100) + Fraction(1, 100)),
        (lambda: rooted(4), Fraction(2)),
        (lambda: rooted(exactly.Exact(Fraction(10**20 + 39, 10**20) ** 2)), Fraction(10**20 + 39, 10**20)),
    ],
    ids=["composite", "resolvents", "forward", "root", "twenty digits"],
)
def test_values_of_many_digits_are_exact(pose, value):
    found = certify(pose())
    assert found.exact == value


def optimal(problem):
    model, _ = capture.model_of(problem)
    primal, dual = model.primal(), model.dual()
    found = systems.optimum(primal)
    first = next(optimality.optimal(primal, dual, found.point, model.multipliers(found, primal)))
    return model, primal, dual, first


def test_an_irrational_optimum_has_its_digits_and_no_fraction():
    model, _, _, found = optimal(rooted(2))
    value = found.primal[-model.values + model.objective]
    assert abs(Fraction(value, 1 << optimality.BITS) ** 2 - 2) < Fraction(1, 10**100)
    assert recognised.fraction(value, optimality.BITS, found.bits) is None
    assert certifying.bounds(model).exact ** 2 == 2
    ends = certifying.bounds(model, roots=False)
    assert ends.exact is None and ends.lower.bound**2 < 2 < ends.upper.bound**2 and ends.gap < Fraction(1, 10**7)


def test_what_is_proposed_wrongly_is_refused():
    """Other factors, other zeros, other digits: a meeting is found of the true value, or none."""
    _, primal, dual, found = optimal(composite())
    true = Fraction(9, 10) ** 4
    assert certifying._meeting(primal, dual, found, primal.field) is not None
    one = 1 << optimality.BITS
    (N,) = found.factors
    planted = [
        replace_digits(found, primal=[v + one // 1000 for v in found.primal]),
        replace_digits(found, dual=[-v for v in found.dual]),
        replace_digits(found, factors=(N[:, :1],), ranks=(1,)),
        replace_digits(found, factors=(N + one // 7,)),
        replace_digits(found, factors=(N[::-1].copy(),)),
        replace_digits(found, attained=frozenset(), idle=frozenset(range(len(primal.scalars)))),
        replace_digits(found, idle=frozenset({0, 1})),
    ]
    for wrong in planted:
        made = certifying._meeting(primal, dual, wrong, primal.field)
        if made is not None:
            point, proof = made
            assert primal.holds(point) and dual.holds(proof)
            assert certifying.fraction(dual.objective.at(proof)) == true


def replace_digits(found, **changed):
    return found._replace(**changed)


def test_no_point_does_better_than_the_worst_case():
    """The systems, at values that are a little too good: nothing is found, from whichever start."""
    _, primal, dual, found = optimal(composite())
    true = Fraction(9, 10) ** 4
    starts = [optimality.rounded(found.dual, 64)]
    made = points.near_optimal(dual, float(true) - 1e-5, starts)
    assert made is None or certifying.fraction(dual.objective.at(made)) >= true
    made = points.near_optimal(primal, -float(true) - 1e-5, [optimality.rounded(found.primal, 64)])
    assert made is None or -certifying.fraction(primal.objective.at(made)) <= true


def test_rounded_coefficients_give_no_exact_value_of_forty_digits():
    """A root of 40 digits is a fraction, and the model's worst case with it: it is not called that of the file."""
    half = exactly.root(Fraction(1, 2))
    found = certify(rooted(half * half))
    assert half.rounded and found.exact is None
    problem = PEP()
    x = problem.set_initial_point()
    problem.set_initial_condition(x**2 <= half)
    problem.set_performance_metric(x**2)
    ends = certify(problem)
    assert ends.rounded and (ends.exact is None or ends.exact.denominator <= 10**12)
    assert ends.gap < Fraction(1, 10**6)


def without_points(metric):
    problem = PEP()
    t, u = Expression(), Expression()
    problem.add_psd_matrix([[u, 1], [1, t]])
    problem.add_constraint(t <= 3)
    problem.set_performance_metric(metric(t))
    return problem


def test_models_without_points_or_without_an_attained_worst_case_have_their_ends():
    """With t u >= 1 the least t is not attained: no exact value, and both ends are near 0."""
    assert certify(without_points(lambda t: 1 * t)).exact == 3
    found = certify(without_points(lambda t: -t))
    assert found.exact is None and found.lower.bound < 0
    assert found.upper is None or 0 <= found.upper.bound


def test_arrays_of_numpy_take_part_as_floats():
    import numpy as np

    number = exactly.Exact(Fraction(1, 3))
    assert ((np.ones(2) + number) == 1 + 1 / 3).all() and ((number - np.ones(2)) == 1 / 3 - 1).all()


def test_a_bound_of_another_model_is_none_of_this():
    """Multipliers of a model do not hold for one whose constants differ in the tenth digit."""
    problem = composite()
    found = certify(problem)
    model = found.model
    changed = []
    for c in model.constraints:
        coefficients = {k: v * Rational(10**10 + 1, 10**10) for k, v in c.expression.coefficients.items()}
        changed.append(c._replace(expression=c.expression._replace(coefficients=coefficients)))
    point = [found.upper.multipliers.get(c.name, Fraction(0)) for c in model.constraints]
    other = replace(model, constraints=tuple(changed))
    assert model.dual().holds([Rational(v.numerator, v.denominator) for v in point])
    assert not other.dual().holds([Rational(v.numerator, v.denominator) for v in point])
