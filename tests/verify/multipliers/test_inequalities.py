"""Inequalities without a step, client by client: for all letters and every number of clients."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.papers.baseline import sdca_any_loss
from fedtheory.papers.fedadmm import descent, displays, transition
from fedtheory.papers.fedadmm.letters import m
from fedtheory.papers.feddcd import appendix_b
from fedtheory.papers.fedopt import dual_steps
from fedtheory.papers.fedopt.predictors import Theta
from fedtheory.problems.constrained import multiplier
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.multipliers.common_multipliers import searched
from verify.multipliers.common_relations import agreed
from verify.multipliers.inequalities import invariant_of, pose
from verify.multipliers.proofs import Wrong
from verify.multipliers.work import CLIENTS, Work
from verify.reading import claimed
from verify.reading.source import Unread
from verify.search import hunting

#: Of each sort one: of one client, of sums, with a relation of the server's model, with shares of sums, with proximal
#: points.
FEW = (
    "fedadmm/eq-14",
    "fedadmm/lemma-C.2/c/idle",
    "fedadmm/theorem-4.1/c/begins",
    "fedadmm/theorem-4.3/gradient",
    "fedadmm/lemma-4.1/repaired",
    "feddcd/lemma-B.6/euclidean",
    "feddcd/lemma-E.1/exact",
    "fedopt/cocoa-rounds",
    "baseline/sdca/one-step/any-loss",
    "baseline/sdca/duality-gap/any-loss",
)
_SMALLER = sympy.Rational(99, 100)


def _seen(claim):
    recipes = islice(claim.instances.recipes(hunting.generator(claim, 0)), 12)
    return [instance for _, instance in meeting(claim, recipes)]


def shown(claim, work=0):
    """Return True if a claim is proved, by what is stored of it or by what is found with some work."""
    try:
        return not isinstance(client_proofs.prove(claim, _seen(claim), np.random.default_rng(0), work), str)
    except Unread:
        return False


@pytest.mark.parametrize("id", FEW)
def test_stored_multipliers_prove_their_claims(id):
    assert shown(claims.get(id))


@pytest.mark.parametrize("more", [1 - dual_steps.SHARE, 1 - sympy.Rational(101, 100) * (1 - Theta) * dual_steps.SHARE])
def test_a_round_that_takes_off_more_than_its_share_is_not_proved(more):
    claim = claims.get("fedopt/cocoa-rounds")
    assert not shown(claim.variant(right=more * dual_steps.GAP_BEFORE.expression))


@pytest.mark.parametrize("of", [sdca_any_loss.BEFORE, sdca_any_loss.PRIMAL_DUAL])
def test_a_step_of_sdca_takes_no_more_off_the_gap(of):
    claim = claims.get("baseline/sdca/one-step/any-loss")
    more = sdca_any_loss.BEFORE.expression - sympy.Rational(101, 100) * sdca_any_loss.SHARE * of.expression
    quantities = (*claim.statement.quantities, *({of} - set(claim.statement.quantities)))
    statement = Inequality(sdca_any_loss.AFTER.expression, more, quantities)
    assert not shown(replace(claim, id="mine/sdca", statement=statement), CLIENTS)


def _groups(claim):
    functions = [*(quantity.of for quantity in claim.statement.quantities), *filter(None, [invariant_of(claim)])]
    cases = list(claimed.cases(claim, _seen(claim), functions, False, True))
    return [group for k, case in enumerate(cases) for group in pose(claim, case, f"{k}." if len(cases) > 1 else "")]


def test_everything_that_is_stored_is_of_a_claim_and_reads():
    for id, parts in client_proofs.stored().items():
        assert isinstance(claims.get(id).statement, Inequality | OneStep)
        assert all(set(part) == {"multipliers", "plans"} for part in parts.values())


def _with(id, **parts):
    claim = claims.get(id)
    return replace(claim, id="mine/other", statement=replace(claim.statement, **parts))


def _scaled(id, factor):
    return _with(id, right=claims.get(id).statement.right * factor)


@pytest.mark.parametrize(
    "id",
    (
        "fedadmm/eq-14",
        "fedadmm/lemma-C.2/c/share",
        "fedadmm/theorem-4.1/c/turn",
        "fedadmm/theorem-4.3/gradient",
        "fedadmm/theorem-4.3/iteration",
        "feddcd/lemma-B.6/weighted",
        "feddcd/lemma-E.1/exact",
        "feddcd/lemma-E.2",
    ),
)
def test_smaller_sides_are_not_proved(id):
    # By the multipliers of what is true.
    assert not shown(replace(_scaled(id, _SMALLER), id=id))


def test_smaller_sides_are_not_proved_by_a_search():
    assert not shown(_scaled("fedadmm/theorem-4.1/c/turn", _SMALLER), CLIENTS)


def test_what_holds_for_few_clients_is_not_proved():
    id = "fedadmm/theorem-4.1/c/gradients"
    right = claims.get(id).statement.right
    assert not shown(_with(id, right=right.subs(m, 5)), CLIENTS)


def _requiring(id, *hypotheses):
    return replace(claims.get(id), requires=hypotheses)


@pytest.mark.parametrize(
    "claim",
    (
        _requiring("fedadmm/lemma-4.1/repaired", transition.SMOOTH),
        _requiring("fedadmm/lemma-4.1/repaired", transition.STEP),
        # Beyond the largest share for which it holds at all nu_i.
        _requiring("fedadmm/lemma-4.1/repaired", transition.SMOOTH, transition.step_condition(sympy.Rational(100, 39))),
        _requiring("fedadmm/lemma-C.2/c/selected", transition.IDLE),
        _requiring("fedadmm/lemma-C.2/c/accuracy"),
        _requiring("fedadmm/theorem-4.1/c/turn"),
    ),
    ids=("no step condition", "not smooth", "too large", "idle", "anybody", "any functions"),
)
def test_hypotheses_are_needed(claim):
    assert not shown(claim)


def _along(v):
    return displays.inner_product(
        displays._moved_on(v)[..., None, :], v.params.sigma[:, None] * displays.from_next(v) + v.state.Pi
    )


#: These sum to zero, by the server's step: of one client nothing is known of them, nor of a sum with weights.
OF_ALL = transition.quantity("the sum", lambda v: _along(v).sum(axis=-1))
OF_ONE = transition.of_client("of one", _along)
WEIGHTED = transition.quantity("weighted", lambda v: (_along(v) * v.params.alpha).sum(axis=-1))


@pytest.mark.parametrize(("quantity", "true"), ((OF_ALL, True), (OF_ONE, False), (WEIGHTED, False)))
def test_what_is_known_of_a_sum_is_not_known_of_a_client(quantity, true):
    quantities = (quantity, descent.SERVER)
    claim = _with("fedadmm/eq-47", left=quantity.expression, right=descent.SERVER.expression, quantities=quantities)
    assert shown(claim, CLIENTS) is true


def test_what_is_linked_has_one_multiplier():
    (group, *_) = _groups(claims.get("fedadmm/theorem-4.1/c/begins"))
    known = client_proofs.stored()["fedadmm/theorem-4.1/c/begins"]
    trees = client_proofs.read(group, known)
    links = {of for of, _ in group.linked.values()}
    assert len(group.parts) == 2 and links
    # As if no client but the idle ones had been told.
    for name, part in known.items():
        less = {k: c for k, c in part["multipliers"].items() if k not in group.linked}
        assert less != part["multipliers"]
        with pytest.raises(Wrong):
            client_proofs.read(group, {**known, name: {**part, "multipliers": less}})
    with pytest.raises(Wrong, match="has no proof"):
        agreed(group, dict(list(trees.items())[:1]))


def test_multipliers_are_found_again():
    (group, *_) = _groups(claims.get("fedadmm/theorem-4.1/c/begins"))
    assert searched(group, Work(CLIENTS)).keys() == group.parts.keys()


def test_a_setting_that_says_too_much_of_its_states_proves_nothing():
    claim = claims.get("fedadmm/theorem-4.2/a/residual")
    setting = claim.setting

    def known(problem, params, state):
        return setting.hints.known(problem, params, state) + state.eps[..., None, :]

    lying = replace(setting, hints=replace(setting.hints, known=known))
    assert not shown(replace(claim, setting=lying))


def _moved(id, **of_algorithm):
    """A claim about a method of which something else is said, as of its states or of its optimum."""
    claim = claims.get(id)
    algorithm = replace(claim.setting.algorithm, **of_algorithm)
    return replace(claim, setting=replace(claim.setting, algorithm=algorithm))


def _at_twice_the_multiplier(problem, params, state):
    x = problem.f.conjugate_gradient(2 * multiplier(problem)[..., None, :])
    return (problem.f.value(state.x) - problem.f.value(x)).sum(axis=-1)


@pytest.mark.parametrize(
    "claim",
    (
        _moved("feddcd/lemma-E.2", invariant=None),
        _moved("feddcd/lemma-B.6/weighted", invariant=None),
        # What no state satisfies is not taken for what all do.
        _moved(
            "feddcd/lemma-E.2",
            invariant=lambda problem, params, state: (state.y - problem.y_star).sum(axis=-2) + state.y[..., 0, :],
        ),
        _requiring("feddcd/lemma-E.1/exact"),
        _requiring("feddcd/lemma-B.6/weighted"),
        _with(
            "feddcd/lemma-B.6/weighted",
            quantities=tuple(
                replace(q, of=_at_twice_the_multiplier) if q is appendix_b.GAP else q
                for q in claims.get("feddcd/lemma-B.6/weighted").statement.quantities
            ),
        ),
    ),
    ids=("any duals", "any blocks", "no invariant", "any conjugates", "any functions", "no minimiser"),
)
def test_each_of_what_the_conjugates_are_known_by_is_needed(claim):
    # By what is stored of it.
    known = claim if claim.id != "mine/other" else replace(claim, id="feddcd/lemma-B.6/weighted")
    assert not shown(known)


def test_letters_of_each_client_are_known_as_such_whatever_their_names():
    claim, bound = claims.get("feddcd/lemma-B.6/euclidean"), sympy.Symbol("bound", positive=True)
    # L is a parameter of each client there, and a constant of the class too where code asks the problem for it.
    letters = {**claim.setting.sources, bound: lambda problem, params: problem.L}
    sides = {side: getattr(claim.statement, side) * bound for side in ("left", "right")}
    several = replace(
        claim, setting=replace(claim.setting, letters=letters), statement=replace(claim.statement, **sides)
    )
    for group in _groups(several):
        (names,) = {posed.names for posed in group.parts.values()}
        assert {names[k] for k in group.own} == {"f.mu", "_letter L"}
