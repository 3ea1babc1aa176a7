"""Certificates over a whole class, made and replayed: the same code poses the claim, and another prover proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from verify.evidence import Verdict
from verify.faults import attributed
from verify.methods import certificates, generic_states
from verify.outcome import ClassCertificate
from verify.pep import posing
from verify.pep.gram import NotLinear
from verify.pep.prover import Certified, DoesNotHold, Solving, Step, Stored
from verify.pep.worst_case import Refused


def _preserved(claim: Claim, instance: Instance) -> bool:
    """As ``posing.preserved``, which refuses code that mixes coordinates."""
    posing.check_coordinates(claim, instance, ())
    try:
        return posing.preserved(claim, instance)
    except NotLinear:
        raise
    except ValueError as error:
        raise Refused(str(error)) from error


#: How certificates without multipliers are checked: the claim's own code on formal states, at exact parameters.
FORMAL: Mapping[str, Callable[[Claim, Instance], bool]] = {
    "all states": generic_states.holds,
    "invariant": _preserved,
}
#: The name of those with multipliers.
WORST_CASE = "worst case"


def certified(claim: Claim, recipe: Recipe) -> tuple[Certified, ClassCertificate | None]:
    """The worst case at the parameters of a recipe, and the certificate if there is one.

    ``ValueError`` as :func:`verify.methods.certificates.certify`.
    """
    instance = _built(claim, recipe)
    prover = Solving()
    found = certificates.certify(claim, instance, prover)
    certified = found.verdict is Verdict.CERTIFIED
    return found, certificate(claim, WORST_CASE, recipe, instance, prover.steps) if certified else None


def formal(claim: Claim, method: str, recipe: Recipe) -> ClassCertificate | None:
    """A certificate without multipliers, by one of the ``FORMAL`` methods; None if the claim does not hold so."""
    instance = _built(claim, recipe)
    with attributed(claim, recipe):
        holds = FORMAL[method](claim, instance)
    return certificate(claim, method, recipe, instance, {}) if holds else None


def certificate(
    claim: Claim, method: str, recipe: Recipe, instance: Instance, steps: Mapping[str, Step]
) -> ClassCertificate:
    """The certificate with the values of the paper's letters at an instance."""
    return ClassCertificate(claim, method, recipe, _letters(claim, instance), dict(steps), instance.text)


def holds(given: ClassCertificate) -> bool:
    """True if a certificate holds, else a ``ValueError`` that says why not. No solver is used."""
    claim = given.claim
    try:
        instance = claim.instances.build(given.recipe, True)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"the recipe does not describe an instance of {claim.id}: {error!r}") from error
    letters = _letters(claim, instance)
    if letters != dict(given.letters):
        differing = sorted(name for name in {*letters, *given.letters} if letters.get(name) != given.letters.get(name))
        raise DoesNotHold(f"the letters {', '.join(differing)} of {claim.id} have other values at the stored recipe")
    if given.method in FORMAL:
        with attributed(claim, given.recipe):
            if given.steps or not FORMAL[given.method](claim, instance):
                raise DoesNotHold(f"{claim.id} does not hold in all states at the stored recipe")
        return True
    if given.method != WORST_CASE:
        raise ValueError(f"no certificates are known of the kind {given.method[:40]!r}")
    prover = Stored(given.steps)
    found = certificates.certify(claim, instance, prover)
    if found.verdict is not Verdict.CERTIFIED:
        why = f": {found.note}" if found.note else ""
        raise DoesNotHold(f"the stored steps do not prove {claim.id} at the stored recipe{why}")
    idle = sorted(set(given.steps) - prover.used)
    if idle:
        raise DoesNotHold(f"the proof of {claim.id} has no step {idle[0]!r}")
    return True


def _built(claim: Claim, recipe: Recipe) -> Instance:
    with attributed(claim, recipe):
        return claim.instances.build(recipe, True)


def _letters(claim: Claim, instance: Instance) -> dict[str, str]:
    values = claim.setting.bind(instance.problem, instance.params)
    return {str(letter): str(value) for letter, value in values.items()}
