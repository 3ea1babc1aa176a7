"""What holds of every iteration holds of any one, and between any two, of a run: and nothing else is derived."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy
from first_found import first_found

from fedtheory import claims
from fedtheory.kinds.inequality import inequality
from fedtheory.papers.fedadmm import ages, iterates, runs, transition
from fedtheory.papers.fedadmm.along import ALONG, then
from fedtheory.papers.fedadmm.letters import k, k0, nu_i
from fedtheory.settings.iterations import At, Then
from fedtheory.settings.quantities import Square
from verify import Verdict
from verify.base.case import Case
from verify.derivation import chains
from verify.derivation import runs as compared
from verify.methods import METHODS, derivation
from verify.methods.base import Inquiry

ANY, BETWEEN = claims.get("fedadmm/lemma-C.1/b"), claims.get("fedadmm/eq-68")
_BEGINS = sympy.floor(k / k0) * k0


def _added(claim):
    iteration = derivation._iteration(claim)
    premises = [derivation._premise(claims.get(id), iteration, claim) for id in claim.follows]
    return chains.added(claim, premises)


def _value(at, index, later=True, times=29):
    lagrange = then(f"L^{at}", iterates.lagrangian, index, later)
    return lagrange + times * then(f"E^{at}", iterates.tolerances, index, later)


def _said(claim, left, right, **more):
    return replace(claim, id=f"{claim.id}*", statement=inequality(left <= right), **more)


def _phi(index, later=False):
    return then(f"phi^({index})", Square(iterates.residual), index, later, each=True)


def _eps(index, later=False):
    return then(f"eps^({index})", iterates.accuracy, index, later, each=True)


@pytest.mark.parametrize("claim", (ANY, BETWEEN), ids=lambda claim: claim.id)
def test_what_every_iteration_says_holds_along_a_run(claim):
    found = _added(claim)
    assert [used.id for used in found.used] == list(claim.follows)
    assert [own.id for own in found.own] == ["what-is-kept"]


@pytest.mark.parametrize(
    "left, right",
    [
        (_value("k+1", k), _value("0", 0 * k)),
        (_value("k", k, False), _value("l", _BEGINS, False)),
        (_value("k", k, False), _value("0", 0 * k, False)),
    ],
    ids=("after the first", "before the round", "before the first"),
)
def test_between_any_two_iterations_it_does_not_rise(left, right):
    assert _added(_said(BETWEEN, left, right)).used


@pytest.mark.parametrize(
    "left, right",
    [
        (_value("l", _BEGINS), _value("k", k)),
        (_value("k", k + 1), _value("l", _BEGINS)),
        (_value("k", k), _value("l", _BEGINS - 1)),
        (_value("k", k), _value("l", sympy.ceiling(k / k0) * k0)),
        (_value("k", k, times=28), _value("l", _BEGINS, times=28)),
        (_value("k", k), _value("l", _BEGINS, times=28)),
        (_value("k", k), _value("l", _BEGINS, later=False)),
        (_value("k", k, later=False), _value("l", _BEGINS)),
        (2 * _value("k", k), _value("l", _BEGINS)),
        (2 * _value("k", k), 2 * _value("l", _BEGINS)),
        (_value("k", k) + _value("0", 0 * k), 2 * _value("l", _BEGINS)),
        (_value("k", k), 1 + _value("l", _BEGINS)),
    ],
)
def test_nothing_else_is_derived_of_two_iterations(left, right):
    """The other order, iterations that a run may not have, other functions, another state of one of the iterations; and
    what is true, but not said: another multiple, a third iteration, a number besides."""
    with pytest.raises(ValueError):
        _added(_said(BETWEEN, left, right))


@pytest.mark.parametrize(
    "left, right",
    [
        (_eps(k), _phi(k)),
        (2 * _phi(k), _eps(k)),
        (_phi(k), _eps(0 * k)),
        (_phi(k, later=True), _eps(k)),
        (_phi(k + 1), _eps(k + 1)),
        (_phi(k) + _phi(0 * k), _eps(k) + _eps(0 * k)),
    ],
)
def test_nothing_else_is_derived_of_one_iteration(left, right):
    with pytest.raises(ValueError):
        _added(_said(ANY, left, right))


# What is said in cases


CASES = claims.get("fedadmm/eq-55/tolerances/repaired")
SELECTED, IDLE = map(claims.get, CASES.follows)


def _of(claim, *premises):
    iteration = derivation._iteration(claim)
    return chains.added(claim, [derivation._premise(premise, iteration, claim) for premise in premises])


def _times(claim, factor):
    """A premise with so many times its right side."""
    return replace(claim, statement=replace(claim.statement, right=factor * claim.statement.right))


def test_what_falls_in_either_of_two_cases_does_not_rise():
    found = _added(CASES)
    assert {used.id for used in found.used} == set(CASES.follows)
    assert [own.id for own in found.own] == ["what-is-nonnegative", "what-is-kept"]
    assert _of(CASES, _times(SELECTED, sympy.Rational(1, 3)), _times(IDLE, sympy.Rational(1, 2))).used


@pytest.mark.parametrize(
    "premises",
    [
        (SELECTED,),
        (IDLE,),
        (SELECTED, replace(SELECTED, id="mine/again")),
        (SELECTED, _times(IDLE, sympy.Rational(1001, 1000))),
        (_times(SELECTED, 2), IDLE),
        (_times(SELECTED, 1 / nu_i**2), IDLE),
        (_times(SELECTED, -1), IDLE),
        (SELECTED, replace(IDLE, statement=replace(IDLE.statement, left=-IDLE.statement.left))),
    ],
    ids=(
        "selected alone",
        "idle alone",
        "one case twice",
        "a little more",
        "nu_i above 1/2",
        "1/nu_i",
        "a negative multiple",
        "of what is negative",
    ),
)
def test_a_premise_of_a_case_says_nothing_of_the_other(premises):
    with pytest.raises(ValueError):
        _of(CASES, *premises)


def test_iterations_that_meet_both_cases_are_seen():
    iteration = replace(ALONG.iteration, idle=ALONG.iteration.selected)
    said = chains.read(CASES)
    along = replace(ALONG, iteration=iteration)
    said = replace(said, numbers=tuple((symbol, replace(of, along=along)) for symbol, of in said.numbers))
    recipe = next(CASES.instances.recipes(np.random.default_rng(0)))
    assert "two cases" in compared.departs(Case(CASES, recipe), said, [], 0)


def test_what_a_premise_assumes_has_to_be_assumed():
    for h in BETWEEN.requires[:2]:
        with pytest.raises(ValueError, match="not assumed"):
            _added(replace(BETWEEN, requires=tuple(other for other in BETWEEN.requires if other is not h)))


def test_a_run_that_does_not_begin_as_iterations_do_is_seen():
    """With multipliers that start at 0 the residuals are larger than the accuracies allow."""
    without = replace(ANY, id=f"{ANY.id}*", requires=())
    with pytest.raises(ValueError, match="does not preserve"):
        compared.compared(without, chains.read(without), [claims.get(ANY.follows[0])], 0, 60)
    assert first_found(ANY.variant(requires=())).verdict is Verdict.REFUTED


def test_a_run_whose_iterations_are_others_is_seen():
    def longer(problem, run, history):
        for params, point in ALONG.points(problem, run, history):
            yield params, point._replace(D=2 * point.D)

    along = replace(ALONG, points=longer)
    said = chains.read(ANY)
    said = replace(said, numbers=tuple((symbol, replace(of, along=along)) for symbol, of in said.numbers))
    recipe = next(recipe for recipe in ANY.instances.recipes(np.random.default_rng(0)))
    assert compared.departs(Case(ANY, recipe), said, [], 0)


def test_runs_of_ones_own_are_only_seen():
    """Code that anybody wrote may look at how many clients there are."""
    along = replace(ALONG, points=lambda *at: ALONG.points(*at))
    own = tuple(replace(q, of=replace(q.of, along=along)) for q in ANY.statement.quantities)
    claim = replace(ANY, id="mine/37", statement=replace(ANY.statement, quantities=own))
    known = dict.fromkeys(claim.follows, Verdict.PROVED)
    outcome = derivation.METHOD.run(derivation.METHOD, Inquiry(claim, seed=0, size=200, methods=METHODS, known=known))
    assert outcome.verdict is None and "only seen" in outcome.note


@pytest.mark.parametrize(
    "of",
    [
        Then(ALONG, At(transition.ITERATION, iterates.accuracy, each=True), k, ((k, "s0"),)),
        Then(ALONG, At(ages.ITERATION, iterates.accuracy, each=True), k, ((k, runs.LETTERS[k]),)),
    ],
    ids=("another number", "other iterations"),
)
def test_an_index_is_in_the_letters_of_the_claim(of):
    eps = replace(ANY.statement.quantities[1], of=of)
    bent = replace(ANY, statement=replace(ANY.statement, quantities=(ANY.statement.quantities[0], eps)))
    with pytest.raises(ValueError):
        chains.read(bent)
    with pytest.raises(ValueError, match="which has no value"):
        replace(of, letters=())


def test_an_iteration_that_a_run_does_not_have_has_no_number():
    instance = next(ANY.instances.build(r, True) for r in ANY.instances.recipes(np.random.default_rng(0)))
    problem, history = instance.at(np.zeros((1, instance.dimension), dtype=object))
    with pytest.raises(ValueError, match="has none of the index"):
        _eps(k + 20).of(problem, instance.params, history)


@pytest.mark.slow
def test_claims_about_runs_are_proved():
    for claim in (ANY, BETWEEN, CASES):
        outcome = derivation.METHOD.run(derivation.METHOD, Inquiry(claim, seed=0, size=200, methods=METHODS))
        assert outcome.verdict is Verdict.PROVED and "every iteration" in outcome.note
