"""Verdicts, the evidence for them, and counterexamples that can be replayed (and stored: :mod:`verify.stored`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.rational import DIGITS, real

if TYPE_CHECKING:
    from verify.outcome import Outcome

#: Bits of the integers that are written out: Python reads no more than 4300 digits.
_LONGEST = 12_000


class Verdict(StrEnum):
    """What the evidence says of a claim; one vocabulary for claims, methods and single programs.

    ``OPEN`` is said of a program or a number only, where no computation decided it, and never of a claim.
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    ILL_POSED = "ill-posed"
    NOT_TESTED = "not-tested"
    OPEN = "open"


@dataclass(frozen=True)
class Counterexample:
    """An instance on which a claim fails.

    ``recipe`` and ``point`` fix the problem, the parameters and the state; ``rounds``: after how many rounds;
    ``part``: which comparison of the statement; ``entry``: which entry of it; ``left``, ``right``: the two sides,
    fractions or 50-digit reals; ``relation``: what the claim says of them; ``text``: the instance in words.
    """

    claim: Claim = field(repr=False)
    recipe: Recipe
    point: tuple[Fraction, ...]
    rounds: int
    part: str
    entry: int
    left: Any
    right: Any
    relation: str
    text: str

    def replay(self) -> tuple[Any, Any]:
        """(left, right), evaluated again from the recipe in exact or 50-digit arithmetic."""
        from verify.methods.refutation import evaluate_at

        return evaluate_at(self.claim, self.recipe, self.point, self.rounds, self.part, self.entry)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives the counterexample back."""
        from verify import stored

        return stored.to_json(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Counterexample:
        """The counterexample stored by ``to_json``. ``ValueError`` when a part is missing or cannot be rebuilt."""
        from verify import stored

        return stored.from_json(data)


def number(value: Any) -> str:
    """A fraction as "a/b", a high-precision real or a fraction too long to be read with 30 digits, a float as it is."""
    if isinstance(value, int | Fraction) and max(abs(value.numerator), value.denominator).bit_length() > _LONGEST:
        with mpmath.workdps(DIGITS):
            return mpmath.nstr(real(Fraction(value)), 30)
    return mpmath.nstr(value, 30) if isinstance(value, mpmath.mpf) else str(value)


@dataclass(frozen=True)
class Evidence:
    """What was found about a claim.

    ``outcomes``: what each method found, in the order in which they ran; the verdict is the strongest of theirs.
    ``margin``: 1 - (worst observed left side / right side), for an identity minus the relative residual; where the
    right side can vanish or be negative, relative to |left| + |right|; None when nothing was measured, -inf when a side
    is not a number (null in JSON, as is None). ``methods``: in the order used. ``instances``: how many met the
    hypotheses. ``tightest``: the recipe of the worst instance. ``note``: what the verdict rests on, or why there is
    none.
    """

    claim: Claim = field(repr=False)
    verdict: Verdict
    margin: float | None
    methods: tuple[str, ...]
    instances: int
    counterexample: Counterexample | None = None
    tightest: Recipe | None = None
    note: str = ""
    seconds: float = 0.0
    outcomes: tuple[Outcome, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The claim's entry in the audit's JSON."""
        repaired = f"{self.claim.id}/repaired"
        known = {c.id for c in claims.all()}
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "kind": self.claim.kind,
            "verdict": str(self.verdict),
            "margin": self.margin if self.margin is not None and math.isfinite(self.margin) else None,
            "methods": list(self.methods),
            "instances": self.instances,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "repaired": repaired if repaired in known else None,
            "note": self.note,
            "seconds": round(self.seconds, 3),
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }

    @staticmethod
    def from_json(claim: Claim, entry: Mapping[str, Any]) -> Evidence:
        """The evidence from the claim's entry in results that this package carries, or in its cache.

        Not stored, and so left out: the recipe of the worst instance, and a margin that is not finite.
        """
        from verify import stored
        from verify.outcome import Outcome

        example = entry["counterexample"]
        return Evidence(
            claim,
            Verdict(entry["verdict"]),
            entry["margin"],
            tuple(entry["methods"]),
            entry["instances"],
            counterexample=None if example is None else stored.carried(example),
            note=entry["note"],
            seconds=entry["seconds"],
            outcomes=tuple(Outcome.from_json(outcome) for outcome in entry["outcomes"]),
        )
