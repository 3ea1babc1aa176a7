"""Limits that fail: on linear draws whose determinants are all at least 1 in size no product of rounds tends to 0.

On quadratics with linear draws a step is z <- A_k z with probability p_k, in coordinates z of R^m about the optimum. If
|det A_k| >= 1 for every k that is drawn, every product of such maps has a determinant of at least 1 in size. If the
runs with the same draws from m starts that span R^m all tended to 0, the product would, and so would its determinant.
So along every sequence of draws the run from one of these starts at least does not tend to the optimum, and from one of
them that happens with a probability of at least 1/m: the limit is not almost sure from every state.

Where nothing is drawn a step is one map A, and an eigenvalue of a modulus of at least 1 is enough.

What is assumed of draws, steps and the potential is compared with the code: :mod:`verify.comparisons.limits`.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from fedtheory.kinds.limit import Limit
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.comparisons import limits, parts, second_moments
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method
from verify.search import choosing

#: Counterexamples looked for, of which the simplest is made smaller, and coordinates beyond which none is. They are
#: rare: recipes for each of those that the search proposes.
ENOUGH, LARGEST, TIMES = 4, 8, 10
#: The largest shortfall of floats from 1.
_ROUNDING = 1e-9


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by one instance in exact arithmetic; where none is found nothing is known."""
    claim = inquiry.claim
    recipes = claim.instances.recipes(np.random.default_rng([inquiry.seed, 4]))
    proposed = (recipe for recipe in islice(recipes, TIMES * inquiry.size) if _may_fail(Case(claim, recipe)))
    met = (recipe for recipe, _ in meeting(claim, proposed))
    found = list(islice((c for c in (_violation(Case(claim, recipe)) for recipe in met) if c is not None), ENOUGH))
    if not found:
        why = (
            "no instance was found where all draws have determinants, or the only one an eigenvalue, of size 1 or more"
        )
        return method.skipped(f"{why}: open")
    example = choosing.chosen(found, again=_violation)
    what = "powers of a map that has an eigenvalue of at least 1 in size"
    if example.part == limits.PRODUCTS:
        what = "products of maps whose determinants are at least 1 in size"
    note = f"{what} do not tend to 0: confirmed in exact arithmetic"
    return method.found(
        Verdict.REFUTED,
        note,
        margin=round(1 - float(example.left), 9) + 0.0,
        instances=len(found),
        counterexample=example,
        tightest=example.recipe,
        used=("exact", "rational"),
    )


def _may_fail(case: Case) -> bool:
    """Return True if the limit may fail at an instance according to floats, since fractions are expensive and few fail.

    Code may raise at an instance that the hypotheses exclude.
    """
    try:
        return _suspect(case.floats)
    except Exception:
        return True


def _violation(case: Case) -> Counterexample | None:
    try:
        if not _suspect(case.floats):
            return None
        if limits.is_autonomous(case.floats):
            part = limits.SCHUR_COHN
            why = "the linear map of a step fails the Schur-Cohn test, so that some run does not tend to 0"
        else:
            part = limits.PRODUCTS
            why = (
                "the linear maps of all draws have determinants of at least 1 in size (the least against 1), so that "
                "from one of any starts that span the states there is no convergence"
            )
        left, right = parts.evaluate_at(case, (), 1, part, 0)
    except (ValueError, ArithmeticError):
        return None
    if left < right:
        return None
    text = case.instance.text
    return Counterexample(case.claim, case.recipe, (), 1, part, 0, left, right, "<", f"{text}: {why}")


def _suspect(case: Case) -> bool:
    """Return True if floats find no determinant below 1 or, where nothing is drawn, an eigenvalue that is not."""
    if not case.instance.quadratic or case.instance.coordinates is None or not 0 < case.instance.dimension <= LARGEST:
        return False
    A, p = second_moments.maps(case)
    A = A[p > 0].astype(float)
    sizes = abs(np.linalg.eigvals(A[0])).max() if len(A) == 1 else abs(np.linalg.det(A))
    return bool(np.all(sizes >= 1 - _ROUNDING))


METHOD = Method("determinants", "limits that fail, on quadratics with linear draws", (Limit,), run)
