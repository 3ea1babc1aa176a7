"""A claim certified at one choice of its parameters, and certificates checked: the same code poses the claim for both.

What is certified is the worst case over a class, with multipliers that a prover finds or reads, or what the claim's own
code shows on formal states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from verify.base.evaluate import hypotheses_hold
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.pep import generic_states, induction, posing, worst_case
from verify.pep.bounding import Refused
from verify.pep.gram import NotLinear
from verify.pep.programs import Certificate
from verify.pep.prover import Certified, DoesNotHold, ProofStep, Prover, Stored


def _preserved(claim: Claim, instance: Instance) -> bool:
    """As ``posing.preserved``, which refuses code that is not read."""
    try:
        return posing.preserved(claim, instance)
    except NotLinear:
        raise
    except ValueError as error:
        raise Refused(str(error)) from error


class FormalCheck(NamedTuple):
    """Certificates without multipliers: of which claims they speak, and whether one holds at an exact instance."""

    applies: Callable[[Claim], bool]
    holds: Callable[[Claim, Instance], bool]


#: How certificates without multipliers are checked: the claim's own code on formal states, at exact parameters.
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


def certify(claim: Claim, instance: Instance, prover: Prover | None = None) -> Certified:
    """The worst case over the class at the parameters of an exact instance; by induction where a bound asks for it.

    ``prover``: what proves the steps, a solver by default. Raise ``ValueError`` if the claim cannot be posed at
    these parameters, or a hypothesis fails; its subclass ``Refused`` when the claim cannot be certified at any.
    """
    if induction.applies(claim):
        return induction.certify(claim, instance, prover)
    return worst_case.certify(claim, instance, prover=prover)


def values(claim: Claim, instance: Instance) -> dict[str, str]:
    """The values of the paper's letters at an instance, in words."""
    bound = claim.setting.bind(instance.problem, instance.params)
    return {str(letter): str(value) for letter, value in bound.items()}


def proofs(
    claim: Claim, method: str, recipe: Recipe, letters: Mapping[str, str], steps: Mapping[str, ProofStep]
) -> Mapping[str, Certificate]:
    """The steps of a certificate that holds, posed anew and checked; ``ValueError`` says why it does not. No solver is
    used, and there are no steps where the claim's own code on formal states is all there is to compute.

    ``method``: one of ``FORMAL``, or ``WORST_CASE``, whose multipliers are in ``steps``; ``letters``: the values that
    the letters are to have at the parameters of the ``recipe``. What the claim's author asserts of its states
    is not checked here.
    """
    if not applies(claim, method):
        kind = claim.statement.kind
        raise DoesNotHold(f"certificates of the kind {method!r} say nothing of {claim.id}, a statement of kind {kind}")
    try:
        instance = claim.instances.build(recipe, True)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"the recipe does not describe an instance of {claim.id}: {error!r}") from error
    known = values(claim, instance)
    if known != dict(letters):
        differing = sorted(name for name in {*known, *letters} if known.get(name) != letters.get(name))
        raise DoesNotHold(f"the letters {', '.join(differing)} of {claim.id} have other values at the stored recipe")
    with attributed(claim, recipe):
        if not hypotheses_hold(claim, instance):
            raise DoesNotHold(f"the stored recipe does not meet the hypotheses of {claim.id}")
    if method in FORMAL:
        with attributed(claim, recipe):
            if steps or not FORMAL[method].holds(claim, instance):
                raise DoesNotHold(f"{claim.id} does not hold in all states at the stored recipe")
        return {}
    prover = Stored(steps)
    found = certify(claim, instance, prover)
    if found.verdict is not Verdict.CERTIFIED:
        why = f": {found.note}" if found.note else ""
        raise DoesNotHold(f"the stored steps do not prove {claim.id} at the stored recipe{why}")
    idle = sorted(set(steps) - set(prover.used))
    if idle:
        raise DoesNotHold(f"the proof of {claim.id} has no step {idle[0]!r}")
    return prover.used
