"""The worst states of instances that meet the hypotheses, and counterexamples made as small as can be."""

from __future__ import annotations

import math

import numpy as np

from fedtheory.claims import Claim
from verify.base.verdict import Verdict
from verify.comparisons.deciding import arithmetic, floats_in
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.search import seen, shrinking, states, unmet
from verify.search.refutation import margin

#: Attempts at making each counterexample smaller, before the best one is made as small as can be.
_TRIES = 30


def applies(claim: Claim) -> bool:
    """Whether what the claim says can be evaluated at a state or at constants."""
    return claim.statement.searched


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by the smallest counterexample, or supported by the instances that met the hypotheses, if any did."""
    claim, found = inquiry.claim, inquiry.hunt
    used = tuple(sorted(found.methods))
    if found.untrue and not (found.refutations and claim.statement.ending):
        return method.found(Verdict.ILL_POSED, found.untrue, used=used)
    if found.refutations:
        # Simplifying is greedy: what comes out depends on the start, so each is tried a little, the best one fully.
        tried = (shrinking.smallest(c, tries=_TRIES) for c in found.refutations)
        small = shrinking.smallest(min(tried, key=lambda c: shrinking.complexity(c.recipe)))
        return method.found(
            Verdict.REFUTED,
            f"confirmed {arithmetic(small.left, small.right)}",
            margin=min(margin(c) for c in (*found.refutations, small)),
            instances=found.instances,
            counterexample=small,
            tightest=small.recipe,
            used=(*used, "rational"),
        )
    if found.undefined is not None:
        why, where = found.undefined
        return method.found(Verdict.ILL_POSED, f"{why}, which no hypothesis excludes: at {where}", used=used)
    if found.instances == 0:
        return method.found(Verdict.NOT_TESTED, unmet.reason(claim, np.random.default_rng(inquiry.seed), inquiry.size))
    limit = claim.statement.ending
    note = (
        "the optimum is a fixed point; of the limit that says nothing"
        if limit
        else "no violation at the worst states of the instances"
    )
    if where := states.floats(claim, found.met):
        note += f"; not exact: {floats_in(where)}: nothing stronger can be said of it until it is written in fractions"
    # Where no ratio could be measured the worst is infinite.
    least = round(1 - found.worst, 9) + 0.0 if math.isfinite(found.worst) else None
    looked = frozenset() if limit else found.looked
    note = "; ".join(filter(None, (note, seen.words(looked))))
    details = {"margin": least, "instances": found.instances, "tightest": found.tightest, "used": used, "seen": looked}
    return method.found(None if limit else Verdict.SUPPORTED, note, **details)


METHOD = Method("search", "the worst states of instances that meet the hypotheses", applies, run, role=Role.MEASURES)
