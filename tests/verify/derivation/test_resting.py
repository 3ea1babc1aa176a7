"""Of a client that rests: what stays while it does, and for how long it may under Scheme 4.1; and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.meanings import Cover, Resting
from fedtheory.papers.fedadmm import along, iterates, runs, transition
from fedtheory.papers.fedadmm.along import k_i, t, then
from fedtheory.papers.fedadmm.letters import k, k0, s0
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison
from verify import Verdict
from verify.base.case import Case
from verify.derivation import chains
from verify.derivation import runs as compared
from verify.methods import METHODS, derivation
from verify.methods.base import Inquiry

CLAIM = claims.get("fedadmm/eq-64/repaired")
IDLE, FALLS = map(claims.get, CLAIM.follows)
WAIT = (2 * s0 - 3) * k0 + 1


def _added(claim, *premises):
    iteration = derivation._iteration(claim)
    return chains.added(
        claim, [derivation._premise(premise, iteration, claim) for premise in premises or (IDLE, FALLS)]
    )


def _eps(index, later=False, each=True):
    return then(f"eps^({index})_{later}", iterates.accuracy, index, later, each)


def _value(index, times=29):
    lagrange = then(f"L^({index})", iterates.lagrangian, index)
    return lagrange + times * then(f"E^({index})", iterates.tolerances, index)


def _said(left, right, requires=CLAIM.requires):
    relation = left <= right
    sides = relation.left.expression, relation.right.expression
    return CLAIM.variant(left=sides[0], right=sides[1], quantities=relation.quantities, also=(), requires=requires)


def _letters(left, right, requires=CLAIM.requires):
    """A relation between letters, besides one that holds."""
    holds = _said(_value(k), _value(k_i))
    return holds.variant(also=(Comparison(left, "<=", right),), requires=requires)


def test_the_claim_follows():
    found = _added(CLAIM)
    assert {claim.id for claim in found.used} == set(CLAIM.follows)
    assert [claim.id for claim in found.own] == ["what-is-kept"]


@pytest.mark.parametrize(
    "claim",
    [
        _said(_eps(k), _eps(k_i, later=True)),
        _said(_eps(k, later=True), _eps(k_i, later=True)),
        _said(_eps(k_i, later=True), _eps(k, later=True)),
        _said(_value(k_i), _value(sympy.Max(k - WAIT - k0, 0))),
        _letters(k_i + 1, k),
        _letters(k - (2 * s0 - 2) * k0, k_i),
        _letters(sympy.S.Zero, k_i),
    ],
)
def test_what_is_weaker_follows(claim):
    assert _added(claim)


@pytest.mark.parametrize(
    "claim",
    [
        # Before the last iteration in which the client takes part, and after k.
        _said(_eps(k_i), _eps(k)),
        _said(_eps(k), _eps(k_i)),
        _said(_eps(k), _eps(k_i - 1, later=True)),
        _said(_eps(k + 1), _eps(k_i + 1)),
        _said(2 * _eps(k), _eps(k_i + 1)),
        _said(_eps(k), sympy.Rational(98, 100) * _eps(k_i + 1)),
        # Of all clients at once.
        _said(_eps(k, each=False), _eps(k_i + 1, each=False)),
        # A wait that is shorter, by an iteration or by a round.
        _letters(k - WAIT + 1, k_i),
        _letters(k - (2 * s0 - 4) * k0 - 1, k_i),
        _letters(k - (s0 - 1) * k0 - 1, k_i),
        _letters(k - (2 * s0 - 3) * k0, k_i),
        _letters(k, k_i),
        _letters(k_i + k0, k),
        _letters(k_i + 2, k),
        _letters(k0, k_i),
        _letters(2 * sympy.S.One, s0 - 1),
        _said(_value(k_i), _value(sympy.Max(k - WAIT + 1, 0))),
        _said(_value(k_i), _value(k - WAIT)),
        _said(_value(k_i), _value(k)),
        _said(_value(k, 28), _value(k_i, 28)),
    ],
)
def test_what_is_stronger_does_not_follow(claim):
    with pytest.raises(ValueError):
        _added(claim)


def _but(**changed):
    """The hypotheses with others in place of some, by a word of them; None: without them."""
    words = {"scheme": "Scheme", "idle": "Omega", "whole": "k is in K"}
    kept = [h for h in CLAIM.requires if not any(words[name] in h.text for name in changed)]
    assert len(kept) == len(CLAIM.requires) - len(changed)
    return (*kept, *(h for h in changed.values() if h is not None))


COVER, RESTING = along.SCHEME.says[0], along.IDLE.says[0]


@pytest.mark.parametrize(
    "claim",
    [
        _said(_eps(k), _eps(k_i + 1), _but(idle=None)),
        _said(_eps(k), _eps(k_i + 1), _but(idle=runs.IDLE)),
        _said(_eps(k), _eps(k_i + 1), _but(idle=Hypothesis("rests", sympy.Lt(k_i, k, evaluate=False)))),
        _said(_eps(k), _eps(k_i + 1), _but(idle=replace(along.IDLE, says=(Resting(s0),)))),
        _said(_eps(k), _eps(k_i + 1), (*CLAIM.requires, replace(along.IDLE, text="again"))),
        _letters(k - WAIT, k_i, _but(scheme=None)),
        _letters(k - WAIT, k_i, _but(scheme=runs.SCHEME)),
        _letters(k - WAIT, k_i, _but(scheme=replace(along.SCHEME, says=(replace(COVER, rounds=t),)))),
        _letters(k - WAIT, k_i, _but(scheme=replace(along.SCHEME, says=(replace(COVER, length=s0),)))),
        _letters(k - WAIT, k_i, _but(whole=None)),
        _letters(k - WAIT, k_i, _but(whole=Hypothesis("k", sympy.Eq(k, 2 * t * k0 - k0 / 2, evaluate=False)))),
    ],
)
def test_under_other_hypotheses_nothing_follows(claim):
    with pytest.raises(ValueError):
        _added(claim)


def test_for_any_k_the_wait_is_a_round_longer():
    any_k = _but(whole=None)
    assert _added(_letters(k - (2 * s0 - 2) * k0, k_i, any_k))
    for least in (k - (2 * s0 - 2) * k0 + 1, k - WAIT):
        with pytest.raises(ValueError):
            _added(_letters(least, k_i, any_k))


def _stated(claim, **parts):
    return replace(claim, statement=replace(claim.statement, **parts))


BACK = IDLE.statement.also[0]


@pytest.mark.parametrize(
    "premises",
    [
        (IDLE,),
        (FALLS,),
        (_stated(IDLE, also=()), FALLS),
        (_stated(IDLE, left=BACK.left, right=BACK.right, also=()), FALLS),
        (_stated(IDLE, left=2 * IDLE.statement.left), FALLS),
        (_stated(IDLE, also=(Comparison(BACK.left, "<=", 2 * BACK.right),)), FALLS),
        (replace(IDLE, requires=(transition.SELECTED,)), FALLS),
        (IDLE, replace(FALLS, requires=(*FALLS.requires, transition.BEGINS))),
        (IDLE, _stated(FALLS, right=2 * FALLS.statement.right)),
    ],
)
def test_without_a_premise_the_claim_does_not_follow(premises):
    with pytest.raises(ValueError):
        _added(CLAIM, *premises)


# Runs


def _compared(claim, most=60):
    return compared.compared(claim, chains.read(claim), [], 0, most)


def test_runs_are_as_the_hypotheses_say():
    assert _compared(CLAIM, 30) == 30


@pytest.mark.parametrize(
    "claim, why",
    [
        (replace(CLAIM, requires=_but(scheme=replace(along.SCHEME, met=lambda problem, run: True))), "no round of"),
        (
            replace(CLAIM, requires=_but(scheme=replace(along.SCHEME, says=(Cover(transition.CONTINUES, k0, s0),)))),
            "begin",
        ),
        (
            replace(CLAIM, requires=_but(scheme=replace(along.SCHEME, says=(Cover(transition.BEGINS, s0, k0),)))),
            "begin",
        ),
        (replace(CLAIM, requires=_but(idle=replace(along.IDLE, met=lambda problem, run: True))), "does not rest"),
    ],
)
def test_runs_that_differ_from_what_hypotheses_say_are_seen(claim, why):
    with pytest.raises(ValueError, match=why):
        _compared(claim, 200)


def test_a_last_iteration_that_is_another_is_seen():
    for other in (lambda problem, run: run.last[run.i] - 1, lambda problem, run: run.k - 1):
        setting = replace(CLAIM.setting, letters={**CLAIM.setting.sources, k_i: other})
        numbers = tuple(
            replace(q, of=replace(q.of, letters=tuple((x, setting.sources[x]) for x, _ in q.of.letters)))
            for q in CLAIM.statement.quantities
        )
        claim = replace(CLAIM, setting=setting, statement=replace(CLAIM.statement, quantities=numbers))
        with pytest.raises(ValueError, match="does not rest"):
            _compared(claim, 100)


def test_clients_that_leave_within_a_round_are_seen():
    """Runs whose second iteration of a round has somebody else: told of the participation alone."""
    recipe = next(r for r in CLAIM.instances.recipes(np.random.default_rng(0)) if r["k0"] == 3 and r["k"] == 3)
    case = Case(CLAIM, recipe)
    problem, history = case.floats.instance.at(np.zeros((1, case.floats.instance.dimension)))
    points = list(along.ALONG.points(problem, case.floats.params, history))
    points[1] = (points[1][0]._replace(active=~np.asarray(points[1][0].active)), points[1][1])
    letters = case.setting.bind(problem, case.floats.params)
    found = compared._rests_otherwise(chains.read(CLAIM), letters, problem, case.floats.params, points)
    assert "whole rounds" in found


@pytest.mark.slow
def test_the_claim_is_proved():
    outcome = derivation.METHOD.run(derivation.METHOD, Inquiry(CLAIM, seed=0, size=200, methods=METHODS))
    assert outcome.verdict is Verdict.PROVED and "every iteration" in outcome.note
