"""The methods of verification: each finds what it should, and says no where it must."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from itertools import islice

import mpmath
import numpy as np
import pytest
import sympy
from first_found import first_found, of_registered

from fedtheory import algorithms, claims
from fedtheory.papers import feddcd, locodl
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict, check
from verify.base.case import Case
from verify.base.evaluate import meeting, sides
from verify.comparisons import dynamics, exact
from verify.comparisons.deciding import violated
from verify.evidence.counterexamples import Counterexample, load
from verify.evidence.formats import audit as document
from verify.exact import symbolic
from verify.methods.second_moments import moment_radius
from verify.search import climbing, convincing, hunting, refutation, shrinking, spectral, states


def quadratic(Q):
    def value(theta):
        lifted = np.c_[np.ones(len(theta)), theta]
        return np.einsum("mi,ij,mj->m", lifted, Q, lifted)

    return value


def test_forms_are_recovered_from_values():
    rng = np.random.default_rng(0)
    A, B = (M + M.T for M in rng.standard_normal((2, 5, 5)))
    left, right = spectral.forms(lambda theta: (quadratic(A)(theta), quadratic(B)(theta)), 4)
    np.testing.assert_allclose(left, A, atol=1e-12)
    np.testing.assert_allclose(right, B, atol=1e-12)


@pytest.mark.parametrize("side", [lambda t: abs(t[:, 0]), lambda t: t[:, 0] ** 3, lambda t: t[:, 0] / 0.0])
def test_what_is_not_quadratic_is_not_taken_for_it(side):
    with np.errstate(all="ignore"):
        assert spectral.forms(lambda theta: (side(theta), side(theta)), 2) is None


def test_ratios_that_differ_in_their_last_digits_are_one():
    ratios = np.array([1, 1 + 3e-16, 1 - 2e-16, 1 + 1e-9, np.inf, -np.inf, 0, 1e-200 / 3])
    found = spectral.steady(ratios)
    assert (found[:3] == 1).all() and 1 < found[3] < 1 + 2e-9
    assert (found[4:7] == ratios[4:7]).all() and found[7] == pytest.approx(1e-200 / 3, rel=1e-10)


def test_worst_state_is_the_generalised_eigenvector():
    rng = np.random.default_rng(1)
    M, N = rng.standard_normal((2, 4, 4))
    left, right = M @ M.T, N @ N.T + np.eye(4)
    found = spectral.worst(left, right)
    lifted = np.concatenate([[1.0], found.theta])
    random = np.c_[np.ones(10_000), 10 * rng.standard_normal((10_000, 3))]
    ratios = np.einsum("mi,ij,mj->m", random, left, random) / np.einsum("mi,ij,mj->m", random, right, random)
    assert found.ratio >= ratios.max()
    assert lifted @ left @ lifted == pytest.approx(found.ratio * (lifted @ right @ lifted))


def test_left_positive_where_right_vanishes_is_infinite():
    assert spectral.worst(np.diag([1.0, 1.0]), np.diag([0.0, 1.0])).ratio == np.inf
    assert spectral.worst(np.zeros((2, 2)), np.zeros((2, 2))).ratio <= 1


def test_an_indefinite_right_side_is_compared_by_difference():
    left, right = np.diag([0.0, 1.0]), np.diag([1.0, -1.0])
    found = spectral.worst(left, right)
    assert found.ratio > 1
    lifted = np.concatenate([[1.0], found.theta])
    assert lifted @ left @ lifted > lifted @ right @ lifted


def test_climbing_finds_the_maximum_of_a_kinked_ratio():
    target = np.array([1.0, -2.0])

    def both(theta):
        return (theta @ target) * (theta[:, 0] > 0), abs(theta).sum(axis=1)

    _, ratio = climbing.climb(both, 2, np.random.default_rng(0), sweeps=20)
    assert ratio == pytest.approx(2.0, rel=1e-2)


def first_instance(id, quadratic=True):
    claim = claims.get(id)
    rng = np.random.default_rng(0)
    for recipe, built in meeting(claim, islice(claim.instances.recipes(rng), 200)):
        if built.quadratic == quadratic and built.dimension > 1:
            return claim, recipe, built
    raise AssertionError


@pytest.mark.parametrize(
    "id", ["feddcd/theorem-4.1/eq-3", "locodl/theorem-3.1/one-step", "feddcd/lemma-B.8/rate/repaired", "locodl/eq-18"]
)
@pytest.mark.parametrize("quadratic", [True, False])
def test_exact_and_float_sides_agree(id, quadratic):
    if id in ("feddcd/lemma-B.8/rate/repaired", "locodl/eq-18") and not quadratic:
        pytest.skip("these settings have quadratics only")
    claim, recipe, built = first_instance(id, quadratic)
    point = tuple(Fraction(i + 1, 2) for i in range(Case.of(claim, built).dimension))
    floats = sides(Case(claim, recipe, exact=False), np.array([[float(v) for v in point]]))
    for (a, b), (c, d) in zip(floats, sides(Case.of(claim, built), exact.as_row(point)), strict=True):
        assert isinstance(c[0], Fraction)
        np.testing.assert_allclose([a[0], b[0]], [float(c[0]), float(d[0])], rtol=1e-10)


def scaled(value, factor, keys, key=None):
    """The recipe with the entries under ``keys`` multiplied by ``factor``."""
    if isinstance(value, dict):
        return {k: scaled(v, factor, keys, k) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(scaled(v, factor, keys, key) for v in value)
    return value * factor if key in keys else value


@pytest.mark.parametrize("id", ["locodl/theorem-3.1/one-step", "feddcd/theorem-4.1/eq-3"])
def test_the_worst_ratio_does_not_depend_on_units_or_order(id):
    claim = claims.get(id)
    units = {"locodl": ("h", "h_above", "y", "mu", "L"), "feddcd": ("h", "h_above", "y", "alpha", "beta")}[claim.paper]
    # Where mu = L the left side vanishes, and a ratio is one of rounding errors.
    met = meeting(claim, claim.instances.recipes(np.random.default_rng(0)))
    recipe = next(recipe for recipe, instance in met if instance.problem.mu < instance.problem.L)
    same_problem = scaled(recipe, Fraction(3), units)
    if claim.paper == "locodl":
        same_problem["gamma"] = recipe["gamma"] / 3
    reordered = {**recipe, "clients": recipe["clients"][::-1]}
    ratios = [
        states.examine(Case(claim, r), np.random.default_rng(0))[0].ratio for r in (recipe, same_problem, reordered)
    ]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


def test_the_smallest_counterexample_is_smaller_and_still_one():
    claim = claims.get("feddcd/lemma-B.8/rate")
    rng = np.random.default_rng(5)
    recipes = islice(claim.instances.recipes(rng), 30)
    found = next(c for r in recipes if len(r["clients"]) > 2 and (c := states.violation(Case(claim, r))) is not None)
    small = shrinking.smallest(found)
    assert convincing.complexity(small.recipe) < convincing.complexity(found.recipe)
    left, right = small.replay()
    assert left > right


@pytest.mark.parametrize("id", ["locodl/eq-6", "locodl/theorem-3.1/tau"])
def test_symbolic_proofs(id):
    assert symbolic.proves(claims.get(id))


def test_symbolic_does_not_prove_what_is_false():
    tau = claims.get("locodl/theorem-3.1/tau")
    assert not symbolic.proves(tau.variant(requires=()))
    assert not symbolic.proves(tau.variant(right=sympy.Rational(1, 2)))
    at_two = Hypothesis("gamma <= 2/L", sympy.Le(locodl.gamma, 2 / locodl.L, evaluate=False))
    assert not symbolic.proves(tau.variant(requires=(locodl.ORDERED, at_two)))
    best = claims.get("locodl/eq-6")
    worse = {locodl.rho: 1 / (1 + locodl.omega_av), locodl.chi: 1 / (1 + 2 * locodl.omega_av)}
    assert not symbolic.proves(best.variant(assignments=worse))
    assert not symbolic.proves(claims.get("feddcd/theorem-4.1/proof-constants"))


def test_hypotheses_that_are_no_relations_are_left_unused():
    a, b, c = sympy.symbols("a b c", positive=True)
    needed = [sympy.Le(a, b, evaluate=False), sympy.Le(b, c, evaluate=False)]
    either = sympy.Or(sympy.Le(a, 1, evaluate=False), sympy.Ge(b, 2, evaluate=False))
    for extra in (either, sympy.true, sympy.false, sympy.Ne(a, b)):
        assert symbolic.at_most(a, c, [*needed, extra])
        assert not symbolic.at_most(a, c, [extra])
    # What holds in one case only is not assumed; what is joined by "and" is, however deep.
    assert not symbolic.at_most(a, c, [sympy.Or(*needed)])
    nested = sympy.And(needed[0], sympy.And(needed[1], either, evaluate=False), evaluate=False)
    assert symbolic.at_most(a, c, [nested])


@pytest.mark.parametrize("wrong", [mpmath.mpf("nan"), mpmath.mpf("inf"), float("nan")])
def test_forms_of_what_is_no_number(wrong):
    def both(theta):
        values = np.array([mpmath.mpf(float(v)) for v in (theta**2).sum(axis=1)], dtype=object)
        other = values.copy()
        other[-1] = wrong
        return values, other

    assert spectral.forms(both, 2) is None
    right, again = spectral.forms(lambda theta: (both(theta)[0],) * 2, 2)
    np.testing.assert_allclose(right, np.diag([0.0, 1, 1]), atol=1e-12)
    assert (right == again).all()


def test_nine_digits_do_not_refute():
    assert not violated(1.0 + 1e-12, Fraction(1), "<=")
    assert violated(Fraction(10**20 + 1, 10**20), Fraction(1), "<=")
    assert violated(mpmath.mpf(1) + mpmath.mpf(10) ** -15, Fraction(1), "<=")
    assert violated(Fraction(1), Fraction(1), "<") and not violated(Fraction(1), Fraction(1), "<=")


def test_second_moments_of_a_method_that_diverges():
    claim, recipe, _ = first_instance("locodl/theorem-3.1/limits")
    long_step = {**recipe, "gamma": 3 / recipe["L"]}
    assert moment_radius(Case(claim, recipe, exact=False)) < 1
    assert moment_radius(Case(claim, long_step, exact=False)) > 1
    far = tuple(h for h in claim.requires if h not in (locodl.STEP, locodl.DAMPING))
    assert first_found(claim.variant(requires=far)).verdict is Verdict.REFUTED


def broken(name, value):
    """The algorithm, with a step that returns states of which the first part is ``value``."""
    algorithm = algorithms.get(name)

    def step(problem, params, state, draw):
        new = algorithm.step(problem, params, state, draw)
        first = np.full(new[0].shape, value, dtype=float)
        return new._replace(**{new._fields[0]: first})

    return dataclasses.replace(algorithm, step=step)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("id", "name"), [("baseline/scaffnew/one-step", "scaffnew"), ("feddcd/theorem-4.1/eq-3", "feddcd")]
)
def test_a_step_that_returns_no_number_is_ill_posed_and_stored(id, name, value):
    evidence = check(claims.get(id).variant(algorithm=broken(name, value)))
    assert evidence.verdict is Verdict.ILL_POSED and evidence.margin is None
    assert "which no hypothesis excludes" in evidence.note
    stored = json.loads(json.dumps(document([evidence.to_json()], 0, "quick"), allow_nan=False))["claims"][0]
    assert stored["margin"] is None and stored["counterexample"] is None


def test_margins_beyond_the_floats():
    found, tiny = refuted(), Fraction(1, 10**200)
    for left, right in ((10**400, 1), (1 / tiny, tiny), (mpmath.mpf("nan"), 1), (1, np.nan), (np.inf, 0)):
        assert refutation.margin(dataclasses.replace(found, left=left, right=right, relation="<=")) == -np.inf
    # In floats both sides would be 0.
    assert refutation.margin(dataclasses.replace(found, left=tiny**3, right=0 * tiny, relation="==")) == -1


def refuted(id="feddcd/lemma-B.8/rate", **changes):
    claim = claims.get(id)
    return (first_found(claim.variant(**changes)) if changes else of_registered(id)).counterexample


def test_counterexamples_are_stored_and_replayed(tmp_path):
    found = refuted()
    file = tmp_path / "found.json"
    file.write_text(json.dumps(found.to_json()), encoding="utf-8")
    again = load(file)
    assert again.recipe == found.recipe and again.point == found.point
    assert again.replay() == (found.left, found.right) == (again.left, again.right)


def test_a_changed_constant_is_stored_with_the_counterexample():
    claim = claims.get("locodl/theorem-3.1/one-step")
    found = refuted(claim.id, factor=claim.statement.factor.subs(1 + 2 * locodl.omega, 1 + locodl.omega))
    again = Counterexample.from_json(json.loads(json.dumps(found.to_json())))
    assert again.replay() == (found.left, found.right)
    shorter = refuted("feddcd/theorem-4.1/eq-3", bound=0 * feddcd.T)
    assert Counterexample.from_json(shorter.to_json()).replay() == (shorter.left, shorter.right)


def test_changed_code_cannot_be_stored():
    claim = claims.get("feddcd/theorem-4.1/eq-3")
    found = refuted(claim.id, requires=claim.requires[:2])
    with pytest.raises(ValueError, match="was changed in 'requires', which a file cannot hold"):
        Counterexample.from_json(found.to_json())


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"claim": "feddcd/lemma-B.8/rate"}', '{"claim": "x", "changes": {}}']
)
def test_bad_counterexample_files(tmp_path, text):
    file = tmp_path / "bad.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        load(file)
    with pytest.raises(ValueError, match="cannot read"):
        load(tmp_path / "missing.json")


@pytest.mark.parametrize("id", ["locodl/theorem-3.1/one-step", "baseline/diana/one-step", "baseline/saga/adaptive"])
def test_of_the_recipes_examined_further_one_is_of_each_regime(id):
    claim = claims.get(id)
    instances = []

    def watched(case, rng):
        findings = examine(case, rng)
        instances.extend([case.recipe] if findings else [])
        return findings

    examine = states.examine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "examine", watched)
        found = hunting.hunt(claim, hunting.generator(claim, 0), 60, 1)
    regimes = {hunting.regime(Case(claim, recipe)) for recipe in instances}
    assert len(regimes) >= 2
    assert {hunting.regime(Case(claim, recipe)) for recipe in found.met} == regimes


def test_second_moments_are_not_taken_where_a_step_reads_what_only_init_fills():
    """SAG from a centred table was refuted so at T = 157: its table is in no coordinate."""
    claim = claims.get("baseline/sag/centred-table")
    clients = tuple({"h": (Fraction(h),), "y": (Fraction(0),)} for h in ("1", "1/2", "1/2", "1/2"))
    recipe = {"d": 1, "x": (Fraction(0),), "clients": clients, "mu": Fraction(1, 2), "L": Fraction(1)}
    instance = claim.instances.build({**recipe, "alpha": Fraction(1, 16)}, True)
    assert instance.quadratic and not dynamics.is_linear(Case.of(claim, instance))
    whole = claims.get("baseline/sag/zero-table")
    assert dynamics.is_linear(Case.of(whole, whole.instances.build({**recipe, "alpha": Fraction(1, 16)}, True)))
