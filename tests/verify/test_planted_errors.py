"""Every checker must be able to fail: planted errors are refuted, true claims are not."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from first_found import first_found
from in_turn import in_turn, of_claim

from fedtheory import algorithms, claims, compressors
from fedtheory.claims import Claim
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.rational import is_exact
from fedtheory.papers import feddcd, locodl
from fedtheory.papers.feddcd import exact as section_4
from fedtheory.papers.feddcd.dual import UNIT_RATE
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict, check
from verify.comparisons.deciding import certain, violated

LOCODL, FEDDCD = algorithms.get("locodl"), algorithms.get("feddcd")


def _with_step(name, step):
    return dataclasses.replace(algorithms.get(name), step=step)


def _dual_step_too_long(problem, params, state, draw):
    """1 + omega in place of 1 + 2 omega in the dual step."""
    return LOCODL.step(problem, params._replace(omega=params.omega / 2), state, draw)


def _dual_stepsize(params):
    return params.p * params.chi / (params.gamma * (1 + 2 * params.omega))


def _mean_doubled(problem, params, state, draw):
    """1/n in place of 1/(2n) in d_bar. What v gained tells d_bar (zero in a silent iteration)."""
    new = LOCODL.step(problem, params, state, draw)
    gained = new.v - state.v
    d_bar = gained / _dual_stepsize(params)
    return new._replace(
        x=new.x + params.rho * d_bar[..., None, :],
        y=new.y + params.rho * d_bar,
        u=new.u + gained[..., None, :],
        v=new.v + gained,
    )


def _rho_dropped(problem, params, state, draw):
    """y <- y_hat + d_bar without rho."""
    new = LOCODL.step(problem, params, state, draw)
    d_bar = (new.v - state.v) / _dual_stepsize(params)
    return new._replace(y=new.y + (1 - params.rho) * d_bar)


def _no_projection(problem, params, state, draw):
    """FedDCD without the projection of the directions."""
    w = problem.f.conjugate_gradient(state.y)
    direction = np.where(draw[..., None], w / params.Lambda[:, None], 0 * w)
    return type(state)(state.y - params.eta * direction, np.where(draw[..., None], w, state.w))


def _short_rand_k(d, k):
    """rand-k scaled by 0.98 d/k."""
    one = compressors.rand_k(d, k)

    def apply(draw, x):
        return one.apply(draw, x) * (Fraction(98, 100) if is_exact(x) else 0.98)

    return dataclasses.replace(one, apply=apply)


def _planted() -> dict[str, Claim]:
    one_step, eq_5 = claims.get("locodl/theorem-3.1/one-step"), claims.get("locodl/theorem-3.1/eq-5")
    rand_k = claims.get("locodl/eq-2/rand-k")
    found = {
        "rand-k scale": rand_k.variant(compressor=_short_rand_k),
        "rand-k omega": rand_k.variant(omega=locodl.d / locodl.k - sympy.Rational(102, 100)),
        "rand-k bits": rand_k.variant(bits=32 * locodl.k),
        "natural omega": claims.get("locodl/eq-2/natural").variant(omega=sympy.Rational(1, 9)),
        "l1 omega": claims.get("locodl/eq-2/l1-selection").variant(omega=locodl.d - 2),
        "omega_av/n for shared": claims.get("locodl/eq-3/independent").variant(requires=()),
        "feasibility, mean doubled": claims.get("locodl/algorithm-1/feasibility").variant(
            algorithm=_with_step("locodl", _mean_doubled)
        ),
        "feasibility, no projection": claims.get("feddcd/algorithm-1/feasibility").variant(
            algorithm=_with_step("feddcd", _no_projection)
        ),
        "no damping": one_step.variant(requires=tuple(h for h in one_step.requires if h is not locodl.DAMPING)),
        "tau without a stepsize bound": claims.get("locodl/theorem-3.1/tau").variant(requires=()),
        "eq-18 without the 2": claims.get("locodl/eq-18").variant(right=sympy.Symbol("|W(x, y)|^2")),
        "E.1 halved": claims.get("feddcd/lemma-E.1/exact").variant(
            right=claims.get("feddcd/lemma-E.1/exact").statement.right / 2
        ),
        "eta free": claims.get("feddcd/theorem-4.1/eq-3").variant(
            requires=tuple(h for h in section_4.THEOREM if h is not UNIT_RATE)
        ),
    }
    for name, claim in (("one-step", one_step), ("eq-5", eq_5)):
        steps = {"dual step": _dual_step_too_long, "mean doubled": _mean_doubled, "rho dropped": _rho_dropped}
        for error, step in steps.items():
            found[f"{name}, {error}"] = claim.variant(algorithm=_with_step("locodl", step))
        factor = claim.statement.factor.subs(1 + 2 * locodl.omega, 1 + locodl.omega)
        found[f"{name}, factor"] = claim.variant(factor=factor)
    for number in (3, 4, 5):
        claim = claims.get(f"feddcd/theorem-4.1/eq-{number}")
        found[f"eq-{number}, squared rate"] = claim.variant(factor=claim.statement.factor**2)
        found[f"eq-{number}, no projection"] = claim.variant(algorithm=_with_step("feddcd", _no_projection))
    return found


PLANTED = _planted()
#: How the names begin of those whose counterexamples are made small here.
SMALL = ("one-step", "eq-3", "feasibility", "rand-k", "E.1")


@pytest.mark.parametrize("name", in_turn(PLANTED, lambda name: of_claim(PLANTED[name])))
def test_planted_error_is_refuted(name):
    evidence = (check if name.startswith(SMALL) else first_found)(PLANTED[name])
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.margin is not None and evidence.margin < 0
    example = evidence.counterexample
    replayed, stored = example.replay(), (example.left, example.right)
    # After many rounds sides are enclosed: what contradicts the claim is then enclosed in the same way.
    assert certain(*stored) and list(map(_ends, replayed)) == list(map(_ends, stored))
    assert violated(*replayed, example.relation)


def _ends(side):
    """Between which fractions a side lies."""
    enclosed = Interval.of(side)
    return enclosed.low, enclosed.high


@pytest.mark.slow
def test_a_rate_that_is_still_true_is_not_refuted():
    """With tau = N the squared rate is the exact one on quadratics: only partial participation refutes it."""
    claim = claims.get("feddcd/theorem-4.1/eq-3")
    full = Hypothesis("tau = N", sympy.Eq(feddcd.tau, feddcd.N, evaluate=False))
    squared = claim.variant(factor=claim.statement.factor**2, requires=(*claim.requires, full))
    evidence = check(squared)
    assert evidence.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED)
    assert evidence.margin == 0


def test_a_claim_that_no_instance_meets_is_vacuous():
    claim = claims.get("locodl/theorem-3.1/one-step")
    impossible = Hypothesis("gamma < 0", sympy.Lt(locodl.gamma, -locodl.L, evaluate=False))
    evidence = check(claim.variant(requires=(*claim.requires, impossible)))
    assert evidence.verdict is Verdict.NOT_TESTED
    assert evidence.instances == 0 and "no instance" in evidence.note


def test_the_same_seed_gives_the_same_evidence():
    first, second = (check(claims.get("feddcd/lemma-B.8/rate"), seed=3).to_json() for _ in range(2))
    first.pop("seconds"), second.pop("seconds")
    assert first == second


@pytest.mark.parametrize(("argument", "value"), [("budget", "huge"), ("seed", -1)])
def test_bad_arguments(argument, value):
    with pytest.raises(ValueError, match=argument):
        check(claims.get("locodl/eq-6"), **{argument: value})


def test_the_fast_subset_plants_errors_of_every_sort():
    names = [f"{place}, {error}" for place in "abc" for error in range(5)]
    chosen = [p for p in in_turn(names, lambda name: name[0], lambda name: name[-1]) if not p.marks]
    found = {name for (name,) in (p.values for p in chosen)}
    assert {name[0] for name in found} == {*"abc"} and {name[-1] for name in found} == {*"01234"}
    assert len(found) < len(names)
