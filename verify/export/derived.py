"""Objects of what is derived for all letters: what a derivation shows besides the claims that it takes.

Those claims have objects of their own; by which rules all of it gives the claim is told in words.
"""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Claim
from verify.export import letters, objects
from verify.methods import derivation


def of(claim: Claim) -> list[dict[str, Any]]:
    """An object for each inequality that is shown besides the claims. ``ValueError`` says what stands in the way."""
    premises = derivation.premises_of(claim)
    found = derivation.following(claim, premises)
    rules = sorted({step.rule for step in found.steps})
    ids = sorted(premise.id for premise in found.used)
    says = f"of {claim.id}, which follows from it and from {', '.join(ids)}, by the rules: {', '.join(rules)}"
    made = [one for besides in found.own for one in letters.of_each_client(besides)]
    return [objects.sealed({**one, "claim": claim.id, "says": [says, *one["says"]]}) for one in made]
