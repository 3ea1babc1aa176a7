"""Certificates: proofs of claims for a whole class at one choice of the parameters, which are stored and replayed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from verify.evidence import stored
from verify.evidence.parsing import fraction
from verify.pep import certifying
from verify.pep.prover import Step
from verify.plain import quoted

T = TypeVar("T")

#: What a certificate's file holds, in order, and what each of its steps does.
FIELDS = ("certificate", "claim", "changes", "recipe", "letters", "steps", "text")
STEP = ("bound", "multipliers", "squares")
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
        return certifying.holds(self.claim, self.method, self.recipe, self.letters, self.steps)

    def place(self) -> str:
        """The instance in words, as its recipe has it whatever ``text`` says; empty where there is none."""
        try:
            return self.claim.instances.build(self.recipe, True).text
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            return ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives the certificate back."""
        return {
            "certificate": self.method,
            "claim": self.claim.id,
            "changes": stored.changes(self.claim),
            "recipe": stored.encode(self.recipe),
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
        """The certificate stored by ``to_json``. ``ValueError`` names a field that is not right."""
        stored.whole(data, FIELDS, "certificate")
        return ClassCertificate(
            stored.changed_claim(data),
            stored.read_field(data, "certificate", _name),
            stored.read_field(data, "recipe", stored.recipe),
            stored.read_field(data, "letters", lambda value: _by_name(value, stored.words)),
            stored.read_field(data, "steps", lambda value: _by_name(value, _step)),
            stored.read_field(data, "text", stored.words),
        )


def load(path: Path) -> ClassCertificate | None:
    """The certificate in a JSON file; None where the file holds something else, or nothing that can be read.

    ``ValueError`` of one sentence, with the file and the field, for a certificate that is not right.
    """
    try:
        data = stored.read(path)
    except ValueError:
        return None
    if data is None or "certificate" not in data:
        return None
    try:
        return ClassCertificate.from_json(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _step(value: Any) -> Step:
    if not isinstance(value, dict):
        raise ValueError(f"a bound, multipliers and squares were expected, got {quoted(value)}")
    stored.whole(value, STEP, "step of a certificate")
    return Step(
        stored.read_field(value, "bound", _rational),
        stored.read_field(value, "multipliers", lambda given: _by_name(given, _rational)),
        stored.read_field(value, "squares", _rationals),
    )


def _by_name(value: Any, reader: Callable[[Any], T]) -> dict[str, T]:
    if not isinstance(value, dict) or len(value) > stored.VALUES:
        raise ValueError(f"at most {stored.VALUES} values by name were expected, got {quoted(value)}")
    return {_name(name): reader(given) for name, given in value.items()}


def _name(value: Any) -> str:
    return stored.words(value, stored.NAME)


def _rationals(value: Any) -> tuple[Fraction, ...]:
    if not isinstance(value, list) or len(value) > stored.VALUES:
        raise ValueError(f"a list of at most {stored.VALUES} numbers was expected, got {quoted(value)}")
    return tuple(_rational(v) for v in value)


def _rational(value: Any) -> Fraction:
    if not isinstance(value, str) or not _RATIONAL.fullmatch(value):
        raise ValueError(f"a number such as 3 or 3/4 was expected, got {quoted(value)}")
    return fraction(value)
