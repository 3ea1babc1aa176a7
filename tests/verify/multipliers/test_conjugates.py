"""Methods that see functions through conjugates, at points that are drawn: what is proved, and what must not be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import feddcd
from fedtheory.papers.feddcd import dual
from fedtheory.papers.feddcd.dual import N, alpha, beta, rate, tau
from fedtheory.settings.hypotheses import Hypothesis
from verify.multipliers.contraction import step_of
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

CLAIM = claims.get("feddcd/varying-participation")


def shown(claim, work=STEP):
    return not isinstance(prove(claim, work), str)


def _mine(**parts):
    return replace(CLAIM, id="mine/rounds", **parts)


def test_a_round_is_proved_and_so_are_rounds():
    assert shown(CLAIM, 0)
    assert shown(step_of(claims.get("feddcd/theorem-4.1/eq-3")), 0)


def _factor(factor):
    return replace(CLAIM.variant(factor=factor), id="mine/rounds")


@pytest.mark.parametrize("factor", (rate - sympy.Rational(1, 100) * alpha / beta, 1 - tau / N * alpha / beta))
def test_smaller_rates_are_not_proved(factor):
    assert not shown(_factor(factor))


@pytest.mark.parametrize("k", range(len(CLAIM.requires)))
def test_each_hypothesis_is_needed(k):
    # That of participation is the setting's too.
    weaker = _mine(requires=(*CLAIM.requires[:k], *CLAIM.requires[k + 1 :]))
    assert shown(weaker) is (CLAIM.requires[k] == dual.PARTICIPATION)


def test_a_draw_that_may_not_be_made_proves_nothing():
    # Then the code raises an error for tau = 1.
    weaker = tuple(h for h in CLAIM.requires if h != dual.PARTICIPATION)
    assert not shown(_mine(requires=weaker, setting=replace(CLAIM.setting, domain=(sympy.Le(tau, N),))))


def test_weights_are_what_is_said_of_each():
    other = Hypothesis("Lambda = I/(2 alpha)", each={"Lambda": 1 / (2 * alpha)})
    assert not shown(_mine(requires=tuple(other if h == dual.SCALING else h for h in CLAIM.requires)))


def _forgets_one(problem, params, state, draw):
    after = feddcd.step(problem, params, state, draw)
    return after._replace(y=np.where(draw[..., None], after.y + state.y, after.y))


def _of_idle(problem, params, state, draw):
    w = problem.f.conjugate_gradient(state.y)
    mean = np.where(draw[..., None], w, 0 * w).sum(axis=-2, keepdims=True) / params.tau
    return feddcd.State(state.y - problem.mu * np.where(draw[..., None], w - mean, 0 * w), state.w)


def _moved(step):
    algorithm = replace(feddcd.algorithm, step=step)
    return replace(
        _mine(setting=replace(CLAIM.setting, algorithm=algorithm)).variant(algorithm=algorithm), id="mine/rounds"
    )


def test_other_steps():
    # The mean over those drawn is a division by tau; the sum of the y_i is kept.
    assert shown(_moved(_of_idle))
    assert not shown(_moved(_forgets_one))


@pytest.mark.parametrize(
    "special",
    (
        lambda problem, params: params.tau == problem.n,
        lambda problem, params: params.tau == 2,
        lambda problem, params: problem.mu == problem.L,
        lambda problem, params: problem.n == 2,
    ),
)
def test_steps_that_are_wrong_somewhere_are_not_proved(special):
    def step(problem, params, state, draw):
        after = feddcd.step(problem, params, state, draw)
        return after._replace(y=(state.y + after.y) / 2) if special(problem, params) else after

    assert not shown(_moved(step))
