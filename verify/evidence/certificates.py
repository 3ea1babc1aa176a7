"""Certificates: proofs of claims for a whole class at one choice of the parameters, made, stored and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.case import Case
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.comparisons import asserted
from verify.evidence import formats, references
from verify.evidence.parsing import exact, texts
from verify.pep import certifying
from verify.pep.bounding import Refused
from verify.pep.programs import Certificate
from verify.pep.prover import Certified, DoesNotHold, ProofStep, Solving


@dataclass(frozen=True)
class ClassCertificate:
    """A proof of a claim for a whole class, in all dimensions, at one choice of the parameters.

    Attributes:
        claim: The claim.
        method: The method by which it is replayed.
        recipe: The rationals that fix the parameters.
        letters: The values that the paper's letters then have.
        steps: Each a bound of one program, with its rational multipliers; where there are none the claim's own code on
            formal states is all there is to compute.
        text: The instance in words.
    """

    claim: Claim = field(repr=False)
    method: str
    recipe: Recipe
    letters: Mapping[str, str]
    steps: Mapping[str, ProofStep]
    text: str

    def replay(self) -> bool:
        """Check the stored multipliers against the claim, which its own code poses again, in exact arithmetic.

        No solver is used.

        Returns:
            True.

        Raises:
            ValueError: In one sentence, with the residual, if something does not hold.
        """
        self.proofs()
        return True

    def proofs(self) -> Mapping[str, Certificate]:
        """The program of each step with its multipliers, by the steps' names, checked as ``replay`` checks them."""
        proved = certifying.proofs(Case(self.claim, self.recipe), self.method, self.letters, self.steps)
        with attributed(self.claim, self.recipe):
            if failed := asserted.failed_assertion(Case(self.claim, self.recipe)):
                raise DoesNotHold(f"{failed}: of {self.claim.id}, at the stored recipe")
        return proved

    def place(self) -> str:
        """The instance in words, from its recipe, not from ``text``; empty where there is none."""
        try:
            return self.claim.instances.build(self.recipe, True).text
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            return ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives the certificate back."""
        return {
            "certificate": self.method,
            "claim": self.claim.id,
            "changes": references.changes(self.claim),
            "recipe": references.encode(self.recipe),
            "letters": dict(self.letters),
            "steps": stored(self.steps),
            "text": self.text,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> ClassCertificate:
        """The certificate stored by ``to_json``. ``ValueError`` names a field that is not right."""
        formats.checked("certificate", data)
        return ClassCertificate(
            references.changed_claim(data),
            data["certificate"],
            references.read_field(data, "recipe", references.recipe),
            data["letters"],
            references.read_field(data, "steps", read_steps),
            data["text"],
        )


def certified(case: Case) -> tuple[Certified, ClassCertificate | None]:
    """The worst case at the parameters of a recipe, and the certificate if there is one.

    ``ValueError`` as :func:`verify.pep.certifying.certify`.
    """
    _check(case)
    prover = Solving()
    found = certifying.certify(case, prover)
    if found.verdict is not Verdict.CERTIFIED:
        return found, None
    return found, certificate(case, certifying.WORST_CASE, prover.steps)


def formal(case: Case, method: str) -> ClassCertificate | None:
    """A certificate without multipliers, by one of ``certifying.FORMAL``; None if the claim does not hold so."""
    _check(case)
    with attributed(case.claim, case.recipe):
        holds = certifying.FORMAL[method].holds(case)
    return certificate(case, method, {}) if holds else None


def certificate(case: Case, method: str, steps: Mapping[str, ProofStep]) -> ClassCertificate:
    """The certificate with the values of the paper's letters at an instance."""
    return ClassCertificate(case.claim, method, case.recipe, certifying.values(case), dict(steps), case.instance.text)


def _check(case: Case) -> None:
    with attributed(case.claim, case.recipe):
        if failed := asserted.failed_assertion(case):
            raise Refused(failed)


def load(path: Path) -> ClassCertificate | None:
    """The certificate in a JSON file; None where the file holds something else, or nothing that can be read.

    ``ValueError`` of one sentence, with the file and the field, for a certificate that is not right.
    """
    try:
        data = formats.read(path)
    except ValueError:
        return None
    if not isinstance(data, dict) or "certificate" not in data:
        return None
    try:
        return ClassCertificate.from_json(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def stored(steps: Mapping[str, ProofStep]) -> dict[str, Any]:
    """Steps as JSON; :func:`steps` gives them back."""
    return {name: texts(step._asdict()) for name, step in steps.items()}


def read_steps(data: Mapping[str, Any]) -> dict[str, ProofStep]:
    """The steps that :func:`stored` wrote. Raise ``ValueError`` if one cannot be read."""
    return {name: ProofStep(**exact(step)) for name, step in data.items()}
