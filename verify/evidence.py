"""The evidence for a claim: what every method found, and the verdict that it amounts to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from verify import counterexamples
from verify.counterexamples import Counterexample
from verify.outcome import Outcome
from verify.verdict import Verdict

#: What is taken from an author as it is, in the JSON, in notes and on the terminal.
ASSUMED = "assumed, not checked"


@dataclass(frozen=True)
class Evidence:
    """What was found about a claim.

    ``outcomes``: what each method found, in the order in which they ran; the verdict is the strongest of theirs.
    ``margin``: 1 - (worst observed left side / right side), for an identity minus the relative residual; where the
    right side can vanish or be negative, relative to |left| + |right|; None when nothing was measured, -inf when a side
    is not a number (null in JSON, as is None). ``methods``: in the order used. ``instances``: how many met the
    hypotheses. ``tightest``: the recipe of the worst instance. ``note``: what the verdict rests on, or why there is
    none. ``assumed``: what it takes from the claim's author as it is.
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
    assumed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The claim's entry in the audit's JSON."""
        repaired = f"{self.claim.id}/repaired"
        known = {c.id for c in claims.all() if c.repairs == self.claim.id}
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "kind": self.claim.kind,
            "origin": self.claim.origin,
            "literal_of": self.claim.literal_of,
            "verdict": str(self.verdict),
            "margin": self.margin if self.margin is not None and math.isfinite(self.margin) else None,
            "methods": list(self.methods),
            "instances": self.instances,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "repaired": repaired if repaired in known else None,
            "note": self.note,
            ASSUMED: list(self.assumed),
            "seconds": round(self.seconds, 3),
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }

    @staticmethod
    def from_json(claim: Claim, entry: Mapping[str, Any]) -> Evidence:
        """The evidence from the claim's entry in results that this package carries, or in its cache.

        Not stored, and so left out: the recipe of the worst instance, and a margin that is not finite.
        """
        example = entry["counterexample"]
        return Evidence(
            claim,
            Verdict(entry["verdict"]),
            entry["margin"],
            tuple(entry["methods"]),
            entry["instances"],
            counterexample=None if example is None else counterexamples.carried(example),
            note=entry["note"],
            seconds=entry["seconds"],
            outcomes=tuple(Outcome.from_json(outcome) for outcome in entry["outcomes"]),
            assumed=tuple(entry.get(ASSUMED, ())),
        )
