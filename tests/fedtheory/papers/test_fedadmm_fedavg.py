"""Algorithm 2 of FedADMM with one local step of all clients: it is the library's method, and reaches the optimum."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import fedavg_stale
from fedtheory.algorithms.selections import Fixed
from fedtheory.numbers.symbols import L, n
from fedtheory.papers.fedadmm.experiments import gamma
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict
from verify.base.evaluate import meeting
from verify.methods import telescoping
from verify.methods.base import Inquiry

CLAIM = claims.get("fedadmm/algorithm-2/repaired")


def _instances(claim, count):
    found = meeting(claim, islice(claim.instances.recipes(np.random.default_rng(0)), 300))
    return list(islice(found, count))


def test_the_step_is_that_of_algorithm_2():
    for recipe, _ in _instances(CLAIM, 6):
        instance = CLAIM.instances.build(recipe, False)
        problem, state = instance.at(np.random.default_rng(1).standard_normal((2, instance.dimension)))
        everyone = Fixed(np.ones((1, problem.n), dtype=bool))
        params = fedavg_stale.Params(instance.params.gamma, 1, everyone)
        draw = fedavg_stale.draws(problem, params, state).sample(np.random.default_rng(0), (2,))
        for at in (state, CLAIM.statement.algorithm.fixed_point(problem, instance.params)):
            expected = fedavg_stale.step(problem, params, at, draw)
            found = CLAIM.statement.algorithm.step(problem, instance.params, at, None)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(np.broadcast_to(one, other.shape), other, atol=1e-12)


def _short(most):
    kept = tuple(h for h in CLAIM.requires if "gamma" not in h.text)
    assert len(kept) == 1
    return CLAIM.variant(requires=(*kept, Hypothesis("gamma is small", sympy.Le(gamma, most, evaluate=False))))


def _limit(claim):
    given = tuple(recipe for recipe, _ in _instances(claim, 8))
    return telescoping._limit(telescoping.METHOD, Inquiry(claim, given=given))


@pytest.mark.slow
def test_the_limit_is_proved_where_the_step_is_short():
    assert _limit(CLAIM).verdict is Verdict.PROVED
    assert _limit(_short(sympy.Rational(3, 2) * n / L)).verdict is Verdict.PROVED
    # At 2/L a step may turn a point around, and beyond it carries it away.
    for factor in (2, sympy.Rational(51, 25), 3):
        assert _limit(_short(factor * n / L)).verdict is not Verdict.PROVED
