"""FedADMM's eq. (65) of what all clients did last: states are those of runs, and smaller right sides are not proved."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy
from first_found import first_found

from fedtheory import claims
from fedtheory.papers.fedadmm import histories, rate_proof, runs
from fedtheory.papers.fedadmm.histories import BARS, EPS, MOVES, MOVES_LAST, WAITS
from fedtheory.papers.fedadmm.letters import s0
from verify import Verdict
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.search import hunting

CLAIM = claims.get("fedadmm/eq-65/repaired")
_Q = sympy.Rational


def _shown(claim):
    found = meeting(claim, islice(claim.instances.recipes(np.random.default_rng(0)), 30))
    return client_proofs.prove(claim, [instance for _, instance in found], hunting.generator(claim, 0))


_TERMS = {"moves": MOVES, "last": MOVES_LAST, "waits": WAITS, "eps": EPS}
_PROVED = {"moves": _Q(2, 15), "last": _Q(4, 15), "waits": 2 * (2 * s0 - 2), "eps": 24}


def _right(**changed):
    """The claim with other coefficients."""
    coefficients = {**_PROVED, **changed}
    return CLAIM.variant(right=sympy.Add(*(coefficients[name] * q.expression for name, q in _TERMS.items())))


@pytest.mark.parametrize("claim", [CLAIM, _right(), _right(moves=0), _right(waits=4 * s0)])
def test_it_is_proved_of_all_histories(claim):
    assert not isinstance(_shown(claim), str)


@pytest.mark.parametrize(
    "claim",
    [
        _right(last=_Q(98, 100) * _Q(4, 15)),
        _right(last=_Q(2, 15)),
        _right(waits=2 * (2 * s0 - 3)),
        _right(waits=2 * s0),
        _right(waits=_Q(98, 100) * 2 * (2 * s0 - 2)),
        _right(eps=_Q(98, 100) * 24),
        _right(last=_Q(2, 15), moves=_Q(4, 15)),
    ],
)
def test_less_is_not_proved(claim):
    assert isinstance(_shown(claim), str)


def test_states_that_are_known_less_of_show_nothing():
    """Without what is known of the last change, or of the waits."""
    for kept in (slice(0, 1), slice(1, 2)):
        hints = replace(CLAIM.setting.hints, known=lambda *at, kept=kept: histories._known(*at)[..., kept, :])
        claim = replace(CLAIM, setting=replace(CLAIM.setting, hints=hints))
        with pytest.raises(ValueError, match="not code of"):
            _shown(claim)


@pytest.mark.parametrize("claim", [_right(waits=2 * s0), _right(last=_Q(2, 15)), _right(eps=12)])
def test_what_is_false_is_refuted(claim):
    assert first_found(claim).verdict is Verdict.REFUTED


def test_runs_are_such_histories():
    """The quantities of a run, and what is known of the states, are those of its last iterations."""
    of_runs = {q.expression: q.of for q in rate_proof._OF_ALL}
    printed, seen = claims.get("fedadmm/eq-65"), 0
    for recipe, _ in meeting(printed, islice(printed.instances.recipes(np.random.default_rng(0)), 40)):
        instance = printed.instances.build(recipe, False)
        problem, history = instance.at(np.random.default_rng(1).standard_normal((2, instance.dimension)))
        run, fed = instance.params, instance.params.fed
        Dpi, Dw = (
            np.stack([part[j + 1][..., i, :] - part[j][..., i, :] for i, j in enumerate(run.last)], axis=-2)
            for part in (history.Pi, history.W)
        )
        eps, after = (
            np.stack([history.eps[j + late][..., i] for i, j in enumerate(run.last)], axis=-1) for late in (0, 1)
        )
        now = history.w[run.k + 1]
        moves = np.stack([now - history.w[j + 1] for j in run.last], axis=-2)
        waits = rate_proof.waited(runs.RunView(problem, run, history), run.k)
        N = 2 * run.s0 - 2
        B = moves / N if N else 0 * moves
        assert N or not np.any(moves)
        zero = 0 * Dpi
        state = histories.Last(*(np.asarray(v, dtype=float) for v in (Dpi, Dw, B, zero, zero, zero, eps, after, waits)))
        params = histories.Params(np.asarray(fed.sigma, dtype=float), tuple(~run.idle), run.s0)
        assert np.max(histories._known(problem, params, state)) <= 1e-8
        for q in CLAIM.statement.quantities:
            np.testing.assert_allclose(
                np.broadcast_to(q.of(problem, params, state), (2, 1)).astype(float),
                np.broadcast_to(of_runs[q.expression](problem, run, history), (2, 1)).astype(float),
                rtol=1e-7,
                atol=1e-8,
            )
        seen += 1
    assert seen >= 5


def test_names_are_those_of_the_printed_display():
    assert {q.expression for q in CLAIM.statement.quantities} <= {q.expression for q in rate_proof._OF_ALL}
    assert BARS.expression == CLAIM.statement.left
