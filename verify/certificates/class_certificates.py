"""Certificates over a whole class, made at the parameters of recipes."""

from __future__ import annotations

from collections.abc import Mapping

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.comparisons import asserted
from verify.evidence.certificates import ClassCertificate
from verify.pep import certifying
from verify.pep.bounding import Refused
from verify.pep.prover import Certified, Solving, Step


def certified(claim: Claim, recipe: Recipe) -> tuple[Certified, ClassCertificate | None]:
    """The worst case at the parameters of a recipe, and the certificate if there is one.

    ``ValueError`` as :func:`verify.pep.certifying.certify`.
    """
    instance = _built(claim, recipe)
    prover = Solving()
    found = certifying.certify(claim, instance, prover)
    if found.verdict is not Verdict.CERTIFIED:
        return found, None
    return found, certificate(claim, certifying.WORST_CASE, recipe, instance, prover.steps)


def formal(claim: Claim, method: str, recipe: Recipe) -> ClassCertificate | None:
    """A certificate without multipliers, by one of ``certifying.FORMAL``; None if the claim does not hold so."""
    instance = _built(claim, recipe)
    with attributed(claim, recipe):
        holds = certifying.FORMAL[method].holds(claim, instance)
    return certificate(claim, method, recipe, instance, {}) if holds else None


def certificate(
    claim: Claim, method: str, recipe: Recipe, instance: Instance, steps: Mapping[str, Step]
) -> ClassCertificate:
    """The certificate with the values of the paper's letters at an instance."""
    return ClassCertificate(claim, method, recipe, certifying.values(claim, instance), dict(steps), instance.text)


def _built(claim: Claim, recipe: Recipe) -> Instance:
    with attributed(claim, recipe):
        built = claim.instances.build(recipe, True)
        if untrue := asserted.untrue(claim, built):
            raise Refused(untrue)
        return built
