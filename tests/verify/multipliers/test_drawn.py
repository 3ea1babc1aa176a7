"""Steps on sets of clients, client by client: for all letters, each client's own too, and every number of clients."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import rbcd
from fedtheory.algorithms.feddcd import project
from fedtheory.papers.feddcd import accelerated, appendix_b, descent
from fedtheory.problems.constrained import multiplier
from fedtheory.randomness import UniformSubset, WeightedSubset
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.reading.source import Unread
from verify.search import hunting

RATE, CLIENTWISE = "feddcd/lemma-B.8/rate/repaired", "feddcd/clientwise-constants"
LYAPUNOV, CHANGES = "feddcd/theorem-D.1/lyapunov", "feddcd/eq-31/repaired"
#: Of each sort one: by weights, with gradients at drawn points, with two sets, drawn alike.
FEW = ("feddcd/eq-28", RATE)


def _seen(claim):
    recipes = islice(claim.instances.recipes(hunting.generator(claim, 0)), 12)
    return [instance for _, instance in meeting(claim, recipes)]


def shown(claim):
    """Whether a claim is proved, by what is stored of it."""
    try:
        return not isinstance(client_proofs.prove(claim, _seen(claim), np.random.default_rng(0), 0), str)
    except Unread:
        return False


@pytest.mark.parametrize("id", FEW)
def test_stored_multipliers_prove_their_claims(id):
    assert shown(claims.get(id))


def test_multipliers_are_found():
    claim = replace(claims.get("feddcd/eq-28"), id="mine/other")
    assert not isinstance(client_proofs.prove(claim, _seen(claim), np.random.default_rng(0)), str)


def _right(id, right):
    claim = claims.get(id)
    return replace(claim, statement=replace(claim.statement, right=right(claim.statement.right), factor=None))


def _rate(share):
    return lambda right: (1 - share * appendix_b.r * appendix_b.mu / appendix_b.L_max) * appendix_b.GAP.expression


_MORE, _LESS = sympy.Rational(101, 100), sympy.Rational(99, 100)


@pytest.mark.parametrize(
    "claim",
    (
        _right("feddcd/eq-28", lambda right: right.subs(descent.SLOPE.expression, _LESS * descent.SLOPE.expression)),
        _right(RATE, _rate(_MORE)),
        _right(RATE, _rate(appendix_b.L_max / appendix_b.L_min)),
        _right(CLIENTWISE, _rate(_MORE)),
        _right(LYAPUNOV, lambda right: right * (1 - _MORE * accelerated.A) / (1 - accelerated.A)),
        _right(CHANGES, lambda right: right.subs(descent._H_GAP.expression, _LESS * descent._H_GAP.expression)),
    ),
    ids=("gradients", "rate", "least constant", "own constants", "two sets", "gap"),
)
def test_smaller_sides_are_not_proved(claim):
    assert not shown(claim)


def _without(id, k):
    claim = claims.get(id)
    return replace(claim, requires=claim.requires[:k] + claim.requires[k + 1 :])


@pytest.mark.parametrize(
    "claim", (_without(RATE, 0), _without(LYAPUNOV, 2), _without(CHANGES, 2), _without(CLIENTWISE, 0))
)
def test_hypotheses_are_needed(claim):
    assert not shown(claim)


def _with(id, **parts):
    """A claim about another method."""
    claim = claims.get(id)
    algorithm = replace(claim.statement.algorithm, **parts)
    own = replace(claim.setting.algorithm, **parts)
    return replace(
        claim, setting=replace(claim.setting, algorithm=own), statement=replace(claim.statement, algorithm=algorithm)
    )


def _by_other_weights(problem, params, state, draw):
    gradient = problem.f.gradient(state.x)
    scaled = np.where(draw[..., None], gradient / params.L[:, None], 0 * gradient)
    return rbcd.State(state.x - project(params.L * params.L, draw, scaled))


def _by_a_plain_mean(problem, params, state, draw):
    gradient, weight = problem.f.gradient(state.x), np.where(draw, 1 / params.L, 0 * params.L)[..., None]
    total = np.where(draw[..., None], gradient, 0 * gradient).sum(axis=-2, keepdims=True)
    return rbcd.State(state.x - weight * (gradient - total / params.tau))


def _longer(problem, params, state, draw):
    return rbcd.State(state.x - rbcd.G(params.L, draw, problem.f.gradient(state.x)) * 101 / 100)


@pytest.mark.parametrize(
    "claim",
    (
        _with("feddcd/lemma-B.8/descent", draws=lambda problem, params, state: UniformSubset(problem.n, params.tau)),
        _with("feddcd/lemma-B.8/descent", draws=lambda problem, params, state: WeightedSubset(params.L, params.tau)),
        _with("feddcd/lemma-B.8/descent", step=_longer),
        _with(RATE, step=_by_other_weights),
        _with(RATE, step=_by_a_plain_mean),
        _with(RATE, invariant=None),
    ),
    ids=("alike", "by the L_i", "longer", "other weights", "plain mean", "any blocks"),
)
def test_the_sets_and_the_step_are_those_of_the_claim(claim):
    assert not shown(claim)


def _gap_elsewhere(problem, params, state):
    x = problem.f.conjugate_gradient(2 * multiplier(problem)[..., None, :])
    return (problem.f.value(state.x) - problem.f.value(x)).sum(axis=-1)


def _square_of_the_sum(problem, params, state):
    return (state.x.sum(axis=-2) ** 2).sum(axis=-1)


@pytest.mark.parametrize("of", (_gap_elsewhere, _square_of_the_sum), ids=("another point", "a product of sums"))
def test_other_quantities_are_not_proved(of):
    claim = claims.get(RATE)
    quantities = tuple(replace(q, of=of) for q in claim.statement.quantities)
    assert not shown(replace(claim, statement=replace(claim.statement, quantities=quantities)))


@pytest.mark.parametrize("tau", (2, 3, 4))
def test_expectations_over_sets_are_those_of_all_of_them(tau):
    rng, n = np.random.default_rng(tau), 4
    weights, others, s = ([Fraction(int(k)) for k in rng.integers(1, 9, n)] for _ in range(3))
    masks, chances = WeightedSubset(np.array(weights, dtype=object), tau).support(exact=True)
    share = Fraction(tau - 1, n - 1)
    centre = sum(w * v for w, v in zip(weights, s, strict=True)) / sum(weights)

    def mean(mask, by):
        drawn = [k for k in range(n) if mask[k]]
        return sum(by[k] * s[k] for k in drawn) / sum(by[k] for k in drawn)

    for i in range(n):
        assert sum(p for mask, p in zip(masks, chances, strict=True) if mask[i]) == share + (1 - share) * weights[
            i
        ] / sum(weights)
        moved = sum(p * (s[i] - mean(mask, weights)) for mask, p in zip(masks, chances, strict=True) if mask[i])
        assert moved == share * (s[i] - centre)
    off = sum(
        p * sum(weights[i] * (s[i] - mean(mask, others)) ** 2 for i in range(n) if mask[i])
        for mask, p in zip(masks, chances, strict=True)
    )
    assert off >= share * sum(w * (v - centre) ** 2 for w, v in zip(weights, s, strict=True))


def _twice_the_weights(problem, params, state, draw):
    return rbcd.step(problem, params._replace(L=2 * params.L), state, draw)


def _only_where(condition):
    def step(problem, params, state, draw):
        # Wrong at an end of a range alone, or for numbers of clients that are not seen.
        return (_twice_the_weights if condition(problem, params) else rbcd.step)(problem, params, state, draw)

    return step


def _other_for_many(problem, params, state, draw):
    new, n = rbcd.step(problem, params, state, draw), problem.n
    return new._replace(x=state.x + (new.x - state.x) * (1 + (n - 2) * (n - 3) * (n - 4) * (n - 7) * (n - 12)))


@pytest.mark.parametrize(
    "step",
    (
        _twice_the_weights,
        _other_for_many,
        _only_where(lambda problem, params: params.tau == problem.n),
        _only_where(lambda problem, params: params.tau == 2),
        _only_where(lambda problem, params: problem.n == 2),
    ),
    ids=("weights", "many", "all", "two drawn", "two"),
)
def test_steps_that_are_wrong_somewhere_are_not_proved(step):
    assert not shown(_with(RATE, step=step))
