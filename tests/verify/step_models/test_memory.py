"""Theorem 5.2 with the memory as printed: proofs for all parameters, and planted errors that must have none."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import inexact_feddcd
from fedtheory.algorithms.starts import GradientStart
from fedtheory.papers.feddcd import inexact, memory
from verify import check
from verify.methods import identities
from verify.reading import whole
from verify.step_models import memory as proofs

GAP = claims.get("feddcd/theorem-5.2/eq-8/repaired-memory")
DISTANCE = claims.get("feddcd/theorem-5.2/eq-9/repaired-memory")


@pytest.mark.parametrize("claim", [GAP, DISTANCE], ids=["gap", "distance"])
def test_proved_for_all_parameters(claim):
    found = identities.prove(claim)
    assert found is not None and found.check()
    for name, weights in found.weights.items():
        for k, multiplier in weights.multipliers.items():
            tampered = replace(weights, multipliers={**weights.multipliers, k: multiplier + 1})
            assert not replace(found, weights={**found.weights, name: tampered}).check()


def test_algorithm_is_the_printed_one():
    assert GAP.statement.algorithm is inexact_feddcd.algorithm
    instance = next(proofs.instances(GAP))
    assert instance.params.idle == "keep"
    problem, _ = instance.at(np.zeros((1, instance.dimension), dtype=int))
    state = inexact_feddcd.algorithm.init(problem, instance.params)
    assert not state.y.any() and not state.w.any()
    draws, _ = inexact_feddcd.draws(problem, instance.params, state).support(True)
    later = inexact_feddcd.step(problem, instance.params, state, draws)
    idle = ~np.asarray(draws.clients, dtype=bool)
    assert idle.any() and not np.broadcast_to(later.w, (*idle.shape, problem.d))[idle].any()


def test_weaker_claims_follow():
    weaker = (
        GAP.variant(factor=1 - 2 * inexact.kappa),
        GAP.variant(factor=1 - inexact.kappa),
        GAP.variant(constant=sympy.Integer(2)),
        DISTANCE.variant(constant=2 * DISTANCE.statement.constant),
    )
    assert all(identities.prove(claim) is not None for claim in weaker)


# Planted errors


def refresh(problem, params, state, draw):
    """Idle clients call their oracles too."""
    return inexact_feddcd.step(problem, params._replace(idle="refresh"), state, draw)


def long_step(problem, params, state, draw):
    after = inexact_feddcd.step(problem, params, state, draw)
    return after._replace(y=state.y + 8 * (after.y - state.y))


def stale(problem, params, state, draw):
    return inexact_feddcd.step(problem, params, state, draw)._replace(w=state.w)


def forgets(problem, params, state, draw):
    """Idle clients lose what they stored."""
    after = inexact_feddcd.step(problem, params, state, draw)
    return after._replace(w=np.where(draw.clients[..., None], after.w, 0 * after.w))


def leaves(problem, params, state, draw):
    after = inexact_feddcd.step(problem, params, state, draw)
    return after._replace(y=after.y - after.w / 10)


@pytest.fixture
def compared(monkeypatch):
    """No proof is of a step outside the package: here the comparison itself must find what is wrong with one."""
    monkeypatch.setattr(whole, "foreign", lambda claim: "")


STEPS = [refresh, long_step, stale, forgets, leaves]


@pytest.mark.usefixtures("compared")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("claim", [GAP, DISTANCE], ids=["gap", "distance"])
def test_proofs_are_about_the_step(claim, step):
    planted = claim.variant(algorithm=replace(inexact_feddcd.algorithm, step=step))
    assert identities.prove(planted) is None


@pytest.mark.usefixtures("compared")
@pytest.mark.parametrize("special", ["tau = N", "tau = 2", "two clients", "alpha = beta"])
def test_steps_that_are_wrong_at_an_end_of_a_range_are_not_proved(special):
    def step(problem, params, state, draw):
        n, tau, flat = problem.n, params.tau, problem.mu == problem.L
        here = {"tau = N": tau == n, "tau = 2": tau == 2, "two clients": n == 2, "alpha = beta": flat}[special]
        return (stale if here else inexact_feddcd.step)(problem, params, state, draw)

    assert identities.prove(GAP.variant(algorithm=replace(inexact_feddcd.algorithm, step=step))) is None


def test_numbers_that_are_not_shown():
    planted = (
        GAP.variant(factor=1 - 9 * inexact.kappa),
        GAP.variant(constant=sympy.Rational(99, 100)),
        DISTANCE.variant(constant=DISTANCE.statement.constant * sympy.Rational(99, 100)),
    )
    assert all(identities.prove(claim) is None for claim in planted)


@pytest.mark.parametrize("claim", [GAP, DISTANCE], ids=["gap", "distance"])
def test_every_hypothesis_is_needed(claim):
    kept = [
        h.text
        for h in claim.requires
        if identities.prove(claim.variant(requires=[o for o in claim.requires if o is not h])) is not None
    ]
    # Assumption 3.4 is part of what the setting says, too.
    assert set(kept) <= {memory.PARTICIPATION.text}


@pytest.mark.slow
def test_more_than_16_kappa_is_out_of_reach_of_exact_oracles():
    assert check(GAP.variant(factor=1 - 17 * inexact.kappa)).verdict == "refuted"


def test_without_the_first_error_the_initial_value_is_too_small():
    gap = replace(GAP.statement, initial=inexact.dual.GAP_0.expression, quantities=(memory.GAP_T, inexact.dual.GAP_0))
    assert check(replace(GAP, statement=gap)).verdict == "refuted"


def begun(claim, mapping="conjugate_gradient"):
    """The claim where the first guesses are what a mapping gives at y."""
    algorithm = replace(inexact_feddcd.algorithm, init=GradientStart(inexact_feddcd.algorithm.init, "w", mapping, "y"))
    return replace(claim.variant(algorithm=algorithm), setting=replace(claim.setting, algorithm=algorithm))


PRINTED = [claims.get(f"feddcd/theorem-5.2/{name}") for name in ("eq-8", "eq-9", "zeta")]


@pytest.mark.parametrize("claim", PRINTED, ids=["gap", "norm", "zeta"])
def test_exact_first_guesses_are_enough(claim):
    assert identities.prove(begun(claim)) is not None
    assert identities.prove(claim) is None
    with pytest.raises(ValueError, match="have no gradient"):
        identities.prove(begun(claim, "gradient"))
    at_most = {"eq-8": 1, "eq-9": sympy.Rational(4, 5), "zeta": sympy.Rational(4, 5)}[claim.id.split("/")[-1]]
    least = begun(claim.variant(constant=at_most * claim.statement.constant))
    assert identities.prove(least) is not None
    assert identities.prove(least.variant(constant=least.statement.constant * sympy.Rational(99, 100))) is None


@pytest.mark.parametrize("claim", PRINTED, ids=["gap", "norm", "zeta"])
def test_what_is_called_the_initial_value_is_looked_at(claim):
    claim = begun(claim)
    named = {q.expression: q for q in claim.statement.quantities}
    left, initial = named[claim.statement.left], named[claim.statement.initial]
    for of in (lambda problem, params, state: initial.of(problem, params, state) / 2, left.of, memory.potential):
        if of is not initial.of:
            planted = replace(claim, statement=replace(claim.statement, quantities=(left, replace(initial, of=of))))
            assert identities.prove(planted) is None


def test_what_the_setting_runs_is_all_code_of_the_theory():
    """At numbers of clients at which nothing is compared, runs begin cold, or the idle are called."""
    claim = begun(PRINTED[0])
    warm, made = claim.setting.algorithm, claim.setting.drawing.parameters

    def init(problem, params, y=None, w=None):
        cold = inexact_feddcd.algorithm.init if problem.n == 5 else warm.init
        return cold(problem, params, y=y, w=w)

    def parameters(recipe, problem, exact):
        params = made(recipe, problem, exact)
        return params._replace(idle="refresh") if problem.n == 9 else params

    planted = (
        replace(claim.setting, algorithm=replace(warm, init=init)),
        replace(claim.setting, drawing=replace(claim.setting.drawing, parameters=parameters)),
    )
    assert all(identities.prove(replace(claim, setting=setting)) is None for setting in planted)
