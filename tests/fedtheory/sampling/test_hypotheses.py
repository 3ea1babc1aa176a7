"""Every hypothesis of a claim matters somewhere, or follows from what the setting says: none is dropped unseen."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from first_found import first_found
from in_turn import first_of_each

from fedtheory import claims
from fedtheory.kinds.order import Order
from fedtheory.kinds.untested import Untested
from fedtheory.numbers.rational import holds
from verify import Verdict
from verify.exact import reals

#: Recipes of a claim among which one is looked for that breaks a hypothesis alone.
PROPOSED = 3000
TESTED = [c.id for c in claims.all() if c.requires and not isinstance(c.statement, Order | Untested)]


def setting_of(id):
    """What claims share that say the same of their letters."""
    return claims.get(id).setting.text


def hypotheses_of(id):
    """What claims of a paper share that assume the same."""
    claim = claims.get(id)
    return claim.paper, tuple(h.text for h in claim.requires)


#: The pairwise independent coins of this counterexample are fair: omega is 1. The parameters of Theorem C.1's setting
#: are made with the stepsize that is printed.
FIXED = {
    ("locodl/assumption-2.1/literal", "Assumption 2.1: the compressors are in U(omega)"),
    ("feddcd/theorem-C.1", "eta as printed"),
    ("feddcd/theorem-C.1/repaired", "eta as printed"),
    # Accelerated methods are drawn with the a and b of lines 15 and 51.
    *(
        (
            f"feddcd/theorem-D.1/{name}",
            "a = s/(1/r + s) and b = s^2 a r^2 for an s with 0 < s <= sqrt(mu/L_max), as in line 51",
        )
        for name in ("lyapunov", "repaired")
    ),
    (
        "feddcd/theorem-6.1/eq-10/repaired",
        "a = s/(1/r + s) and b = s^2 a r^2 for s = sqrt(alpha/beta), as in line 15",
    ),
    # The chain whose transitions are enumerated is made for so many clients of these.
    ("feddcd/theorem-7.1/eq-14/repaired", "2 <= tau <= N"),
    # All instances of the setting have their features so.
    ("fedopt/naive-fsvrg/scale-of-gradients", "each feature is on one node"),
    # Of convex functions with kinks and without constants convex ones alone are drawn.
    ("feddcd/lemma-B.7", "each convex"),
    # All functions of the long runs are, those that are not coercive too.
    ("fedadmm/theorem-4.3/limit", "eq. (3): f is bounded below"),
    # ADIANA's probability is computed, and is one.
    ("baseline/adiana/invariant", "0 < p <= 1"),
    # In the proof of Theorem C.1 it is computed, and no longer free.
    *((f"feddcd/{name}", "delta = (1 - kappa)/2") for name in ("eq-29", "eq-30", "eq-31", "eq-36")),
    ("feddcd/appendix-C/before-31", "delta = (1 - kappa)/2"),
    # Iterations that begin a round are drawn.
    ("fedadmm/eq-64/repaired", "k is in K: k = t k_0"),
}


def instances(claim, proposed):
    for recipe in islice(claim.instances.recipes(np.random.default_rng(0)), proposed):
        try:
            yield claim.instances.build(recipe, True)
        except ValueError:
            continue


def follows(claim, hypothesis):
    others = [h.relation for h in claim.requires if h is not hypothesis and h.relation is not None]
    return hypothesis.relation is not None and reals.implied(hypothesis.relation, [*claim.setting.domain, *others])


def never_broken_alone(claim, hypotheses):
    """Those of the hypotheses that no instance breaks while it meets all others."""
    left = list(hypotheses)
    found = instances(claim, PROPOSED)
    while left and (instance := next(found, None)) is not None:
        problem, params = instance.problem, instance.params
        values = claim.setting.bind(problem, params)
        broken = [h for h in claim.requires if not h.holds(problem, params, values)]
        left = [h for h in left if broken != [h]]
    return left


@pytest.mark.parametrize("id", first_of_each(TESTED, hypotheses_of))
def test_every_hypothesis_is_broken_alone_or_follows(id):
    claim = claims.get(id)
    open_ = [h for h in claim.requires if (id, h.text) not in FIXED and not follows(claim, h)]
    assert [h.text for h in never_broken_alone(claim, open_)] == []


@pytest.mark.parametrize("id", first_of_each([c.id for c in claims.all() if c.setting.domain], setting_of))
def test_what_a_setting_says_of_its_letters_holds_of_its_instances(id):
    claim = claims.get(id)
    for instance in islice(instances(claim, PROPOSED), 200):
        values = claim.setting.bind(instance.problem, instance.params)
        assert all(holds(relation, values) for relation in claim.setting.domain)


@pytest.mark.parametrize(
    "id, dropped",
    [
        ("locodl/theorem-3.1/one-step", "Assumption 1.1"),
        ("locodl/proof/dual-step", "Assumption 2.1"),
        ("feddcd/theorem-4.1/eq-3", "Assumptions 3.1-3.2"),
        ("feddcd/lemma-B.6/weighted", "Assumption B.1"),
        ("baseline/diana/one-step", "mutually independent"),
        ("baseline/scaffnew/one-step", "strongly convex"),
    ],
)
def test_a_hypothesis_that_is_needed_is_missed(id, dropped):
    claim = claims.get(id)
    rest = tuple(h for h in claim.requires if dropped not in h.text)
    assert len(rest) == len(claim.requires) - 1
    dropped_one = claim.variant(requires=rest)
    assert any(first_found(dropped_one, seed).verdict is Verdict.REFUTED for seed in range(3))


def test_a_claim_that_is_not_registered_may_be_changed_too():
    claim = claims.get("feddcd/lemma-E.2")
    mine = replace(claim, id="mine/lemma")
    assert first_found(mine.variant(requires=())).verdict is Verdict.REFUTED
