"""Every algorithm of a registered claim keeps to what ``Algorithm`` documents."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.algorithms.base import Algorithm, no_step
from verify.base.case import Case
from verify.base.evaluate import meeting


def _cases():
    found = {}
    for claim in claims.all():
        algorithm = getattr(claim.statement, "algorithm", None)
        if isinstance(algorithm, Algorithm) and algorithm.step is not no_step:
            found.setdefault(algorithm.name, claim)
    return found


CASES = _cases()
REPLICAS = 3


def _instances(claim, count=3):
    met = meeting(claim, claim.instances.recipes(np.random.default_rng(0)))
    return [next(met) for _ in range(count)]


@pytest.mark.parametrize("name", CASES)
def test_a_step_keeps_types_and_shapes_over_replicas(name):
    claim = CASES[name]
    algorithm, rng = claim.statement.algorithm, np.random.default_rng(1)
    for recipe, _ in _instances(claim):
        instance = claim.instances.build(recipe, False)
        case = Case.of(claim, instance)
        problem, state = case.start(rng.standard_normal((REPLICAS, case.dimension)))
        assert isinstance(state, algorithm.State)
        # Of a problem without a known optimum there is none.
        with suppress(ValueError):
            assert isinstance(algorithm.fixed_point(problem, instance.params), algorithm.State)
        draws = algorithm.draws(problem, instance.params, state)
        after = algorithm.step(problem, instance.params, state, draws.sample(rng, (REPLICAS, 1)))
        assert isinstance(after, algorithm.State)
        for field, before, later in zip(algorithm.State._fields, state, after, strict=True):
            assert np.broadcast_shapes(np.shape(before), np.shape(later)) == np.shape(before), (name, field)


@pytest.mark.parametrize("name", CASES)
def test_the_support_has_the_probabilities_and_fractions_stay_fractions(name):
    claim = CASES[name]
    algorithm = claim.statement.algorithm
    for recipe, instance in _instances(claim, 2):
        size = Case.of(claim, instance).dimension
        theta = np.array([[Fraction(k % 5 - 2, 3) for k in range(size)]], dtype=object)
        problem, state = Case.of(claim, instance).start(theta)
        draws = algorithm.draws(problem, instance.params, state)
        if draws.count is None or draws.count > 256:
            continue
        support, p = draws.support(True)
        assert len(p) == draws.count and sum(p) == 1 and all(q > 0 for q in p), recipe
        after = algorithm.step(problem, instance.params, state, support)
        assert isinstance(after, algorithm.State)
        if algorithm.invariant is not None:
            before = np.asarray(algorithm.invariant(problem, instance.params, state))
            if before.any():
                # Some statements speak of states off the invariant too.
                continue
            residual = np.asarray(algorithm.invariant(problem, instance.params, after), dtype=object)
            assert all(abs(float(v)) < 1e-12 for v in residual.flat)
