"""What one method found about a claim, with the certificates it rests on, which can be stored and replayed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from verify.evidence import _STORABLE, Counterexample, Verdict, _decode, _encode, _rebuild_claim
from verify.pep.prover import Step

#: A rational number in a file. Exponents are not let through, which could make a number of any length.
_RATIONAL = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


@dataclass(frozen=True)
class ClassCertificate:
    """A proof of a claim for a whole class, in all dimensions, at one choice of the parameters.

    ``recipe`` fixes the parameters, and ``letters`` are the values that the paper's letters then have. ``method``: by
    which it is replayed. ``steps``: each a bound of one program, with its rational multipliers; where there are none
    the claim's own code on formal states is all there is to compute. ``text``: the instance in words.
    """

    claim: Claim = field(repr=False)
    method: str
    recipe: Recipe
    letters: Mapping[str, str]
    steps: Mapping[str, Step]
    text: str

    def replay(self) -> bool:
        """True when the claim, posed again by its own code, is proved by the stored multipliers in exact arithmetic.

        No solver is used. ``ValueError`` of one sentence says what does not hold, with the residual.
        """
        from verify.methods import replay

        return replay.holds(self)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives the certificate back."""
        return {
            "certificate": self.method,
            "claim": self.claim.id,
            "changes": {
                name: str(getattr(self.claim.statement, name)) if name in _STORABLE else None
                for name in self.claim.changes
            },
            "recipe": _encode(self.recipe),
            "letters": dict(self.letters),
            "steps": {
                name: {
                    "bound": str(step.bound),
                    "multipliers": {constraint: str(m) for constraint, m in step.multipliers.items()},
                    "squares": [str(pivot) for pivot in step.squares],
                }
                for name, step in self.steps.items()
            },
            "text": self.text,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> ClassCertificate:
        """The certificate stored by ``to_json``. ``ValueError`` when a part is missing or cannot be rebuilt."""
        try:
            steps = {
                str(name): Step(
                    _rational(step["bound"]),
                    {str(constraint): _rational(m) for constraint, m in step["multipliers"].items()},
                    tuple(_rational(pivot) for pivot in step["squares"]),
                )
                for name, step in data["steps"].items()
            }
            return ClassCertificate(
                _rebuild_claim(str(data["claim"]), data["changes"]),
                str(data["certificate"]),
                _decode(data["recipe"]),
                {str(name): str(value) for name, value in data["letters"].items()},
                steps,
                str(data["text"]),
            )
        except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            raise ValueError(f"this is not a stored certificate: {error!r}") from error


def _rational(text: Any) -> Fraction:
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise ValueError(f"this is not a stored certificate: {str(text)[:40]!r} is not a rational number")
    return Fraction(text)


def load(path: Path) -> ClassCertificate | None:
    """The certificate in a JSON file; None where the file holds something else, or nothing that can be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return ClassCertificate.from_json(data) if isinstance(data, dict) and "certificate" in data else None


@dataclass(frozen=True)
class Outcome:
    """What one method found about a claim.

    ``covers``: what the method speaks of. ``verdict``: None where it says nothing, and then ``note`` says why: it does
    not apply, or this was left open; otherwise what the verdict rests on. ``instances``: how many it examined.
    ``left_open``: instances, or choices of the parameters, that it could not decide, each with the reason.
    ``certificates``: one for each choice of the parameters at which it certifies the claim. ``exceeded``: whether the
    worst case over the class exceeds the claim somewhere, None where that is not known. ``used``: the ways in which it
    worked, as ``Evidence.methods`` names them. ``applied``: False where the method was not run.
    """

    method: str
    covers: str
    verdict: Verdict | None
    note: str
    margin: float | None = None
    instances: int = 0
    left_open: tuple[str, ...] = ()
    certificates: tuple[ClassCertificate, ...] = ()
    counterexample: Counterexample | None = None
    tightest: Recipe | None = None
    exceeded: bool | None = None
    used: tuple[str, ...] = ()
    applied: bool = True

    def to_json(self) -> dict[str, Any]:
        """The outcome in the audit's JSON; the counterexample is the claim's."""
        finite = self.margin is not None and math.isfinite(self.margin)
        return {
            "method": self.method,
            "covers": self.covers,
            "applied": self.applied,
            "verdict": None if self.verdict is None else str(self.verdict),
            "margin": self.margin if finite else None,
            "instances": self.instances,
            "note": self.note,
            "left_open": list(self.left_open),
            "certificates": [certificate.to_json() for certificate in self.certificates],
        }
