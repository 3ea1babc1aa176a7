"""A claim certified at one choice of its parameters, and certificates checked: the same code poses the claim for both.

What is certified is the worst case over a class, with multipliers that a prover finds or reads, or what the claim's own
code shows on formal states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from fedtheory.claims import Claim
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.pep import class_induction, generic_states, posing, worst_case
from verify.pep.bounding import Refused
from verify.pep.gram import NotLinear
from verify.pep.programs import Certificate
from verify.pep.prover import Certified, DoesNotHold, ProofStep, Prover, Stored


def _preserved(case: Case) -> bool:
    """As ``posing.preserved``, which refuses code that is not read."""
    try:
        return posing.preserved(case)
    except NotLinear:
        raise
    except ValueError as error:
        raise Refused(str(error)) from error


class FormalCheck(NamedTuple):
    """Certificates without multipliers: which claims they cover, and whether one holds at an exact instance."""

    applies: Callable[[Claim], bool]
    holds: Callable[[Case], bool]


#: The check of certificates without multipliers: the claim's own code on formal states, at exact parameters.
FORMAL: Mapping[str, FormalCheck] = {
    "all states": FormalCheck(generic_states.applies, generic_states.holds),
    "invariant": FormalCheck(lambda claim: claim.statement.residual is not None, _preserved),
}
#: The name of those with multipliers.
WORST_CASE = "worst case"


def applies(claim: Claim, method: str) -> bool:
    """Return True if certificates of this kind cover the claim's statement. Raise ``ValueError`` if there is no such
    kind.
    """
    if method in FORMAL:
        return FORMAL[method].applies(claim)
    if method != WORST_CASE:
        raise ValueError(f"no certificates are known of the kind {method[:40]!r}")
    return claim.statement.bounding


def certify(case: Case, prover: Prover | None = None) -> Certified:
    """The worst case over the class at the parameters of an exact instance; by induction where a bound asks for it.

    ``prover``: what proves the steps, a solver by default. Raise ``ValueError`` if the claim cannot be posed at
    these parameters, or a hypothesis fails; its subclass ``Refused`` when the claim cannot be certified at any.
    """
    if class_induction.applies(case.claim):
        return class_induction.certify(case, prover)
    return worst_case.certify(case, prover=prover)


def values(case: Case) -> dict[str, str]:
    """The values of the paper's letters at an instance, in words."""
    return {str(letter): str(value) for letter, value in case.letters.items()}


def proofs(
    case: Case, method: str, letters: Mapping[str, str], steps: Mapping[str, ProofStep]
) -> Mapping[str, Certificate]:
    """The steps of a certificate that holds, posed anew and checked; ``ValueError`` says why it does not. No solver is
    used, and there are no steps where the claim's own code on formal states is all there is to compute.

    ``method``: one of ``FORMAL``, or ``WORST_CASE``, whose multipliers are in ``steps``; ``letters``: the values that
    the letters are to have at the parameters of the ``recipe``. What the claim's author asserts of its states
    is not checked here.
    """
    if not applies(case.claim, method):
        kind = case.statement.kind
        raise DoesNotHold(
            f"certificates of the kind {method!r} say nothing of {case.claim.id}, a statement of kind {kind}"
        )
    try:
        _ = case.instance
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"the recipe does not describe an instance of {case.claim.id}: {error!r}") from error
    known = values(case)
    if known != dict(letters):
        differing = sorted(name for name in {*known, *letters} if known.get(name) != letters.get(name))
        raise DoesNotHold(
            f"the letters {', '.join(differing)} of {case.claim.id} have other values at the stored recipe"
        )
    with attributed(case.claim, case.recipe):
        if not hypotheses_hold(case):
            raise DoesNotHold(f"the stored recipe does not meet the hypotheses of {case.claim.id}")
    if method in FORMAL:
        with attributed(case.claim, case.recipe):
            if steps or not FORMAL[method].holds(case):
                raise DoesNotHold(f"{case.claim.id} does not hold in all states at the stored recipe")
        return {}
    prover = Stored(steps)
    found = certify(case, prover)
    if found.verdict is not Verdict.CERTIFIED:
        why = f": {found.note}" if found.note else ""
        raise DoesNotHold(f"the stored steps do not prove {case.claim.id} at the stored recipe{why}")
    idle = sorted(set(steps) - set(prover.used))
    if idle:
        raise DoesNotHold(f"the proof of {case.claim.id} has no step {idle[0]!r}")
    return prover.used
