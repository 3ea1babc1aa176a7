"""Derivations as data: what a claim that follows from others rests on, with the certificate of each part.

What follows from what is derived again whenever one is checked; only the multipliers are taken from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.evidence import certificates, references
from verify.evidence.certificates import ClassCertificate
from verify.pep import certifying
from verify.pep.prover import DoesNotHold, Step


@dataclass(frozen=True)
class Part:
    """The certificate of a claim, or of what a derivation needs besides claims, by its name: as of a
    :class:`ClassCertificate`."""

    name: str
    method: str
    recipe: Recipe
    steps: Mapping[str, Step]

    @staticmethod
    def of(certificate: ClassCertificate) -> Part:
        """The part that a certificate is."""
        return Part(certificate.claim.id, certificate.method, certificate.recipe, certificate.steps)

    def check(self, claim: Claim) -> None:
        """``ValueError`` where this does not show a claim at its parameters. No solver is used."""
        if claim.id != self.name:
            raise DoesNotHold(f"a certificate of {self.name} shows nothing of {claim.id}")
        letters = certifying.values(claim, claim.instances.build(self.recipe, True))
        certifying.proofs(claim, self.method, self.recipe, letters, self.steps)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives it back."""
        return {
            "claim": self.name,
            "certificate": self.method,
            "recipe": references.encode(self.recipe),
            "steps": certificates.stored(self.steps),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Part:
        """What ``to_json`` stored. ``ValueError`` where it cannot be read."""
        recipe, steps = references.recipe(data["recipe"]), certificates.steps(data["steps"])
        return Part(data["claim"], data["certificate"], recipe, steps)


@dataclass(frozen=True)
class Derived:
    """What a derivation rests on at one choice of the constants of a run, that of a ``recipe``."""

    recipe: Recipe
    parts: tuple[Part, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives it back."""
        return {"recipe": references.encode(self.recipe), "parts": [part.to_json() for part in self.parts]}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Derived:
        """What ``to_json`` stored. ``ValueError`` where it cannot be read."""
        return Derived(references.recipe(data["recipe"]), tuple(map(Part.from_json, data["parts"])))
