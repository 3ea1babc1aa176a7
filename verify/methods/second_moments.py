"""Convergence to zero, through the exact dynamics of second moments.

On quadratics with linear draws, z <- A_k z with probability p_k, so E[z z'] evolves by the linear operator
sum_k p_k A_k (x) A_k. If its spectral radius is below 1 then sum_t E|z_t|^2 is finite, hence z_t -> 0 almost surely.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from fedtheory.kinds.limit import Limit
from fedtheory.numbers.rational import exact
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.comparisons.dynamics import is_linear
from verify.comparisons.second_moments import maps, superoperator
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.search import seen

#: Coordinates beyond which the operator of second moments, of as many rows as their pairs, takes seconds.
LARGEST = 44
#: The remark where an instance has a single run.
_FIXED = (
    "init makes every part of a state, so that there is one run to an instance: to cover all starts let it take the "
    "parts that may be anything, as in init(problem, params, x)"
)
#: The number that stands for all rounds.
EVER = 10**9


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Test whether second moments contract on every instance that meets the hypotheses.

    A radius of 1 or more refutes nothing (convergence may be almost sure without it): the claim is then not tested.
    """
    claim, worst, tightest, tested, fixed = inquiry.claim, 0.0, None, 0, False
    # The search draws first, from the same random numbers.
    searched = inquiry.hunt.instances
    assert searched >= 0
    looked: frozenset[seen.FunctionsSeen] = frozenset()
    for recipe, built in meeting(claim, islice(claim.instances.recipes(inquiry.rng), inquiry.size)):
        case = Case.of(claim, built, recipe)
        instance = case.floats.instance
        fixed |= instance.dimension == 0
        if instance.dimension > LARGEST or not is_linear(case) or not _vanishes(case):
            continue
        tested += 1
        # For all rounds at once.
        looked |= seen.of(instance.problem, EVER)
        radius = moment_radius(case.floats)
        if radius > worst:
            worst, tightest = radius, recipe
    if not tested:
        note = _FIXED if fixed else "no instance was found that meets the hypotheses and whose steps are linear maps"
        return method.found(Verdict.NOT_TESTED, note)
    used = ("exact", "spectral")
    if worst >= 1:
        note = "second moments do not contract on some instance"
        return method.found(Verdict.NOT_TESTED, note, instances=tested, used=used)
    note = "the optimum is a fixed point and E|z_t|^2 is summable on every instance"
    note = "; ".join(filter(None, (note, seen.words(looked))))
    details = {"instances": tested, "tightest": tightest, "used": used, "seen": looked}
    return method.found(Verdict.SUPPORTED, note, margin=round(1 - worst, 9), **details)


def _vanishes(case: Case) -> bool:
    """Return True if the quantities that should vanish do so at the optimum of an exact instance, at coordinates 0."""
    problem, state = case.instance.at(exact(np.zeros((1, case.instance.dimension), dtype=int)))
    values = [np.asarray(quantity.of(problem, case.params, state)) for _, quantity in case.statement.ends]
    return all(bool((value == 0).all()) for value in values)


def moment_radius(case: Case) -> float:
    """Spectral radius of the operator of second moments, on the states that satisfy the invariant."""
    A, p = maps(case)
    return float(abs(np.linalg.eigvals(superoperator(A, p.astype(float)))).max())


METHOD = Method(
    "second moments",
    "almost sure limits, on quadratics with linear draws",
    (Limit,),
    run,
    role=Role.ALONE,
)
