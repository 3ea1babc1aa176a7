"""Gradient descent, SAGA and SVRG: reference algorithms, one-step claims over their classes, and planted errors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest
import sympy
from models import Exchangeable
from models import saga as saga_model

from fedtheory import algorithms
from fedtheory.algorithms import gradient_descent, loopless_svrg, saga, svrg
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.rational import to_float
from fedtheory.papers.baseline import finite_sum as paper
from fedtheory.papers.baseline.rival_settings import L, eta, gamma, mu, n, p
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import with_spectra
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, meeting, sides
from verify.pep import posing, rounding
from verify.pep.gram import Form
from verify.pep.programs import Program, ratio
from verify.pep.prover import bounds
from verify.pep.worst_case import certify
from verify.search import hunting, states

#: Those of one step, whose worst cases over the class are posed; the bound of many steps is no power times its start.
CLAIMS = {c.id.removeprefix("baseline/"): c for c in paper.CLAIMS if isinstance(c.statement, OneStep)}
DESCENT, SMOOTH = CLAIMS["gradient-descent/one-step"], CLAIMS["gradient-descent/nonconvex"]
SAGA, ADAPTIVE = CLAIMS["saga/one-step"], CLAIMS["saga/adaptive"]
SVRG, LOOPLESS = CLAIMS["svrg/one-step"], CLAIMS["loopless-svrg/one-step"]
ALGORITHMS = {c.statement.algorithm.name: c.statement.algorithm for c in paper.CLAIMS}


def _recipe(*curvatures, kappa=4, **parameters):
    """Quadratics in one dimension, L = 1, without g."""
    clients = tuple({"h": (Fr(h),), "y": (Fr(0),)} for h in curvatures)
    return {"d": 1, "mu": Fr(1, kappa), "L": Fr(1), "x": (Fr(0),), "clients": clients, **parameters}


def _met(claim, count, wanted=lambda recipe: True):
    """The first recipes of the claim's setting that meet its hypotheses, and their exact instances."""
    proposed = islice(claim.instances.recipes(np.random.default_rng(1)), 2000)
    return list(islice(((r, built) for r, built in meeting(claim, proposed) if wanted(r)), count))


def _built(claim, seed, count):
    """The first recipes of the claim's setting that have an instance, whatever it meets, and their exact instances."""
    found = []
    for recipe in claim.instances.recipes(np.random.default_rng(seed)):
        try:
            found.append((recipe, claim.instances.build(recipe, True)))
        except ValueError:
            continue
        if len(found) == count:
            return found


# Reference algorithms


def _problem(n_=4, d=3):
    return Problem(with_spectra([np.geomspace(1.0, 10.0, d)] * n_, np.random.default_rng(3)))


def _theories(problem):
    return {
        "gradient-descent": gradient_descent.Params(1 / problem.L),
        "saga": saga.theory(problem),
        "svrg": svrg.Params(1 / (10 * problem.L)),
        "loopless-svrg": loopless_svrg.theory(problem),
    }


@pytest.mark.parametrize("name", ["saga", "svrg", "loopless-svrg"])
def test_step_is_that_of_a_plain_loop(name):
    problem, rng = _problem(), np.random.default_rng(0)
    algorithm, params = algorithms.get(name), _theories(problem)[name]
    gradient = [lambda x, i=i: problem.f.H[i] @ (x - problem.f.c[i]) for i in range(4)]
    x, reference = rng.standard_normal(3), rng.standard_normal(3)
    table = [gradient[i](point) for i, point in enumerate(rng.standard_normal((4, 3)))]
    if name == "saga":
        points = np.array([np.linalg.solve(problem.f.H[i], table[i]) + problem.f.c[i] for i in range(4)])
        state = saga.algorithm.init(problem, params, x, points)
    else:
        table, state = [gradient[i](reference) for i in range(4)], algorithm.init(problem, params, x, reference)
    for _ in range(30):
        draw = algorithm.draws(problem, params, state).sample(rng)
        state = algorithm.step(problem, params, state, draw)
        (j,) = np.flatnonzero(draw if name != "loopless-svrg" else draw.function)
        fresh, before = gradient[j](x), x
        x = x - params[0] * (fresh - table[j] + np.mean(table, axis=0))
        if name == "saga":
            table[j] = fresh
        elif name == "loopless-svrg" and draw.coin:
            table = [gradient[i](before) for i in range(4)]
        np.testing.assert_allclose(state[0], x, rtol=1e-9)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_parameters_of_the_theorem_converge_to_a_fixed_point(name):
    problem, rng = _problem(), np.random.default_rng(4)
    algorithm, params = algorithms.get(name), _theories(problem)[name]
    fixed = algorithm.fixed_point(problem, params)
    draws, _ = algorithm.draws(problem, params, fixed).support()
    for before, after in zip(fixed, algorithm.step(problem, params, fixed, draws), strict=True):
        np.testing.assert_allclose(after, np.broadcast_to(before, after.shape), atol=1e-12)
    state = algorithm.init(problem, params)
    assert all((field == 0).all() for field in state)
    for t in range(1500):
        if name == "svrg" and t % 60 == 0:
            state = svrg.renewed(state)
        state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng))
    assert abs(state[0] - fixed[0]).max() < 1e-8


def test_start_of_the_table_and_of_the_snapshot():
    problem, x = _problem(), np.arange(3.0)
    phi = saga.algorithm.init(problem, None, x).phi
    assert (phi == x).all() and phi.shape == (4, 3)
    assert svrg.algorithm.init(problem, None, x).w_tilde is x and loopless_svrg.algorithm.init(problem, None, x).w is x
    assert saga.theory(problem).gamma == 1 / (2 * (4 * problem.mu + problem.L))
    assert saga.theory(problem, adaptive=True).gamma == 1 / (3 * problem.L)
    assert loopless_svrg.theory(problem) == loopless_svrg.Params(1 / (6 * problem.L), 1 / 4)


# Claims


@pytest.mark.parametrize("id", CLAIMS)
def test_certificates_are_exact_proofs(id):
    for _, instance in _met(CLAIMS[id], 2, lambda r: r.get("mu", 0) < r["L"] and len(r["clients"]) > 1):
        found = certify(Case.of(CLAIMS[id], instance))
        assert found.verdict is Verdict.CERTIFIED and found.certificate.check(), (instance.text, found)


@pytest.mark.parametrize("id", CLAIMS)
def test_every_hypothesis_fails_somewhere_by_itself(id):
    claim, alone = CLAIMS[id], set()
    for _, instance in _built(claim, 0, 150):
        values = claim.setting.bind(instance.problem, instance.params)
        broken = [h for h in claim.requires if not h.holds(instance.problem, instance.params, values)]
        alone.update(broken if len(broken) == 1 else [])
    assert alone == set(claim.requires)


def _sides(claim, recipe, *point):
    """Both sides, exactly, at a state relative to the optimum; the instance meets the hypotheses."""
    instance = claim.instances.build(recipe, True)
    assert hypotheses_hold(Case.of(claim, instance))
    ((left, right),) = sides(Case.of(claim, instance), np.array([[Fr(v) for v in point]]))
    return left[0], right[0]


def test_bounds_are_attained():
    # At both ends of the spectrum, with g, and for curvature L in the descent.
    for curvature, step in ((Fr(1, 4), Fr(4, 3)), (Fr(1), Fr(5, 3))):
        for halves in ({"gamma": step}, {"gamma": step / 2, "g": {"h": (curvature,), "y": (Fr(0),)}}):
            left, right = _sides(DESCENT, _recipe(curvature, curvature, **halves), 1)
            assert left == right > 0
    left, right = _sides(SMOOTH, _recipe(1, 1, gamma=Fr(3, 2)), 1)
    assert left == right
    # kappa = 4 and n = 2, where both stepsizes of SAGA are 1/3.
    for claim in (SAGA, ADAPTIVE):
        left, right = _sides(claim, _recipe("1/4", "1/4", gamma=Fr(1, 3)), 1, 0, 0)
        assert left == right == Fr(3, 4)


@pytest.mark.parametrize("id", CLAIMS)
def test_exact_and_float_instances_agree(id):
    claim = CLAIMS[id]
    for recipe, _ in _built(claim, 2, 25):
        found = []
        for is_exact in (True, False):
            instance = claim.instances.build(recipe, is_exact)
            theta = np.random.default_rng(5).integers(-3, 4, (1, instance.dimension))
            _, state = instance.at(theta * Fr(1) if is_exact else theta.astype(float))
            assert np.allclose(to_float(instance.coordinates(state))[0], theta)
            fixed = claim.statement.algorithm.fixed_point(instance.problem, instance.params)
            problem, x = instance.problem, fixed[0][None, :]
            slope = problem.f.gradient(x).sum(axis=0) + (
                0 if problem.g is None else problem.n * problem.g.gradient(x)[0]
            )
            assert np.allclose(to_float(slope), 0, atol=1e-9)
            values = [q.of(instance.problem, instance.params, state) for q in claim.statement.quantities]
            found.append(np.ravel([to_float(v) for v in values]))
        np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-9)


# Planted errors


def _without_mean(problem, params, state, draw):
    """SAGA without the mean of the table."""
    new = saga.step(problem, params, state, draw)
    return new._replace(x=new.x + params.gamma * problem.f.gradient(state.phi).sum(axis=-2) / problem.n)


def _frozen_table(problem, params, state, draw):
    return saga.step(problem, params, state, draw)._replace(phi=state.phi)


def _plain_sgd(problem, params, state, draw):
    """SVRG without its correction."""
    correction = svrg.step(problem, params, state._replace(w=state.w_tilde), draw)
    new = svrg.step(problem, params, state, draw)
    fresh = problem.f.gradient(state.w_tilde[..., None, :])
    lost = np.where(draw[..., None], fresh, 0 * fresh).sum(axis=-2) + (correction.w - state.w_tilde) / params.eta
    return new._replace(w=new.w - params.eta * lost)


def _unlucky_coin(problem, params, state, draw):
    return loopless_svrg.step(problem, params, state, draw._replace(coin=~draw.coin))


def _longer(algorithm, times):
    """Steps longer than the method is told."""

    def step(problem, params, state, draw):
        return algorithm.step(problem, params._replace(gamma=params.gamma * times), state, draw)

    return replace(algorithm, step=step)


def _with_step(claim, step):
    return claim.variant(algorithm=replace(claim.statement.algorithm, step=step))


def _instead(claim, text, relation):
    """Another hypothesis in the place of the one that begins with ``text``."""
    kept = tuple(h for h in claim.requires if not h.text.startswith(text))
    assert len(kept) == len(claim.requires) - 1
    return claim.variant(requires=(*kept, Hypothesis("planted", relation)))


def _equal(value):
    return sympy.Eq(gamma, value, evaluate=False)


PLANTED = {
    "descent: slow end only": DESCENT.variant(factor=(1 - gamma * mu) ** 2),
    "descent: fast end only": DESCENT.variant(factor=(1 - gamma * L) ** 2),
    "descent: longer steps": DESCENT.variant(algorithm=_longer(gradient_descent.algorithm, 2)),
    "descent: any function": DESCENT.variant(requires=()),
    "nonconvex: L gamma/3": SMOOTH.variant(right=paper._f - gamma * (1 - L * gamma / 3) * paper._norm),
    "nonconvex: f at least f*": SMOOTH.variant(left=-paper._f_next, right=0),
    "saga: no mean": _with_step(SAGA, _without_mean),
    "saga: frozen table": _with_step(SAGA, _frozen_table),
    "saga: rate": SAGA.variant(factor=1 - 2 * gamma * mu),
    "saga: gamma = 1/(2L)": _instead(SAGA, "gamma", _equal(1 / (2 * L))),
    "saga: any function": SAGA.variant(requires=SAGA.requires[1:]),
    "adaptive: rate without n": ADAPTIVE.variant(factor=1 - mu / (3 * L)),
    "adaptive: 1/(2n)": ADAPTIVE.variant(factor=1 - sympy.Min(1 / (2 * n), mu / L)),
    "adaptive: gamma = 2/(3L)": _instead(ADAPTIVE, "gamma", _equal(2 / (3 * L))),
    "svrg: no correction": _with_step(SVRG, _plain_sgd),
    "svrg: gain 2 eta": SVRG.variant(left=paper._w_next + 2 * eta * paper._gap),
    "svrg: L for 4 L": SVRG.variant(right=paper._w + L * eta**2 * paper._gap_snapshot),
    "loopless: coin": _with_step(LOOPLESS, _unlucky_coin),
    "loopless: p for p/2": LOOPLESS.variant(factor=sympy.Max(1 - eta * mu, 1 - p)),
    "loopless: squared rate": LOOPLESS.variant(factor=LOOPLESS.statement.factor**2),
    "loopless: eta free": LOOPLESS.variant(requires=LOOPLESS.requires[:1]),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_error_is_refuted(name):
    claim = PLANTED[name]
    found = hunting.hunt(claim, hunting.generator(claim, 0), 160, 1)
    assert found.refutations
    (counterexample,) = found.refutations
    assert counterexample.replay() == (counterexample.left, counterexample.right)
    # Nor is it certified where it is false.
    instance = claim.instances.build(counterexample.recipe, True)
    try:
        assert certify(Case.of(claim, instance)).verdict is not Verdict.CERTIFIED
    except ValueError as error:
        assert "other functions" in str(error)


# Worst cases over the class


def _told(kappa, n_):
    """SAGA's first theorem for n functions."""
    mu_ = Fr(1, kappa)
    step = 1 / (2 * (mu_ * n_ + 1))
    return _recipe(*[1] * n_, kappa=kappa, gamma=step), step, 1 / (2 * step * (1 - step * mu_) * n_)


@pytest.mark.parametrize(("kappa", "n_", "times"), [(10, 3, Fr(1)), (100, 2, Fr(11, 10)), (10, 2, Fr(3))])
def test_worst_case_of_saga_is_that_of_the_reduced_program(kappa, n_, times):
    """The model is compared with PEPit's elsewhere; at the last two points the rate is not that of the theorem."""
    recipe, step, weight = _told(kappa, n_)
    claim = SAGA.variant(algorithm=_longer(saga.algorithm, times))
    found = certify(Case(claim, recipe), tight=True)
    model = saga_model(Exchangeable(n_), Fr(1, kappa), Fr(1), times * step, weight)
    program = ratio(model.quantities["Phi_next"], model.quantities["Phi"], model.constraints)
    theirs = bounds(program, 1 - step * Fr(1, kappa))
    assert found.upper - found.lower < Fr(1, 10**5) and theirs.upper - theirs.lower < Fr(1, 10**5)
    assert max(found.lower, theirs.lower) <= min(found.upper, theirs.upper)
    assert (found.verdict is Verdict.REFUTED) == (theirs.verdict is Verdict.REFUTED) == (times > 1)


def test_hessians_that_commute_hide_a_stepsize_too_long():
    """With kappa = 100 ten percent are too much, and no state of a diagonal problem shows it."""
    recipe, _, _ = _told(100, 2)
    recipe = {**recipe, "d": 2, "x": (Fr(0), Fr(0))}
    claim = SAGA.variant(algorithm=_longer(saga.algorithm, Fr(11, 10)))
    ends, flat = (Fr(1), Fr(1, 100)), (Fr(0), Fr(0))
    for turn in (Fr(0), Fr(1, 10)):
        clients = tuple({"h": ends, "y": flat, "turn": t} for t in (turn, -turn))
        assert (states.violation(Case(claim, {**recipe, "clients": clients})) is not None) == (turn > 0)
        assert states.violation(Case(SAGA, {**recipe, "clients": clients})) is None


@pytest.mark.parametrize("id", CLAIMS)
def test_claims_that_allow_any_function_are_not_certified(id):
    claim = CLAIMS[id]
    ((_, instance),) = _met(claim, 1, lambda r: r.get("mu", 0) < r["L"] and len(r["clients"]) == 2)
    free = claim.variant(requires=claim.requires[1:])
    assert certify(Case.of(claim, instance)).verdict is Verdict.CERTIFIED
    try:
        assert certify(Case.of(free, instance)).verdict is not Verdict.CERTIFIED
    except ValueError as error:
        assert "other functions" in str(error)


def _values(record, curvatures, numbers):
    """Numbers for all rows and values of what was asked of quadratics with these curvatures, in one dimension."""
    for h, known in zip(curvatures, record.asked, strict=True):
        for at in known.values():
            z = sum(c * numbers[r.name] for r, c in at.point.coefficients.items())
            numbers |= {name: h * z**2 / 2 for name in at.value.values}
            numbers |= {r.name: h * z for r in (at.gradient.coefficients if at.gradient is not None else ())}
    return numbers


def _at(form: Form, numbers):
    pairs = sum(c * numbers[a.name] * numbers[b.name] for (a, b), c in form.entries.items())
    return pairs + sum(c * numbers[name] for name, c in form.values.items()) + form.constant


@pytest.mark.parametrize("claim", [SVRG, LOOPLESS], ids=lambda claim: claim.id)
def test_constraints_on_the_average_are_those_of_its_strong_convexity(claim):
    """They hold for quadratics whose mean curvature is mu, with equality, and fail for others."""
    parameters = {"eta": Fr(1, 6), "p": Fr(1, 2)} if claim is LOOPLESS else {"eta": Fr(1, 6)}
    instance = claim.instances.build(_recipe("1/2", 1, **parameters), True)
    posed = posing.pose(claim.setting, instance)
    sides(Case.of(claim, posed.instance), np.zeros((1, 0)))
    (record,) = posed.records
    start = {"x*": Fr(2), "y*_0": Fr(-3), "w_0": Fr(5, 7), "w_tilde_0": Fr(-2), "x_0": Fr(3, 4)}
    for curvatures, holds in (((0, Fr(1, 2)), True), ((1, 1), True), ((Fr(1, 8), Fr(1, 4)), False)):
        numbers = _values(record, curvatures, dict(start))
        found = {c.name: _at(c.form, numbers) for c in posed.constraints(True)}
        average = [v for name, v in found.items() if name.startswith("average")]
        assert len(average) == 4 and all(v <= 0 for v in average) is holds
        assert all(v <= 0 for name, v in found.items() if not name.startswith("average"))
        if sum(curvatures) == Fr(1, 2):
            assert all(v == 0 for v in average)


def test_loopless_svrg_needs_the_average_only():
    """No f_i is more than convex in the program; without strong convexity of the average nothing is proved."""
    ((_, instance),) = _met(LOOPLESS, 1, lambda r: r["mu"] < r["L"] and len(r["clients"]) == 2 and r["p"] == Fr(1, 2))
    posed = posing.pose(LOOPLESS.setting, instance)
    left, right = (side[0] for side in sides(Case.of(LOOPLESS, posed.instance), np.zeros((1, 0)))[0])
    assert all(v == 0 for v in posed.records[0].mu) and posed.wider
    every = posed.constraints(True)
    kept = tuple(c for c in every if not c.name.startswith("average"))
    assert len(kept) == len(every) - 4
    assert rounding.prove(Program(left - right, every), Fr(0)) is not None
    assert rounding.prove(Program(left - right, kept), Fr(0)) is None
