"""Claims proved by multipliers: stored ones are tried first, then a search is made. Only what is checked counts."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from verify.multipliers.cases import cases
from verify.multipliers.posing import NeverOccurs, OfOneClient, Posed, pose
from verify.multipliers.proofs import Proof, Tree, Wrong, checked, leaves
from verify.reading.source import Unread

#: Multipliers that were found once, by claims and their cases.
_STORED = Path(__file__).with_name("stored.json")


@dataclass(frozen=True, eq=False)
class Shown:
    """Proofs of all cases of a claim, by their names."""

    claim: Claim
    cases: Mapping[str, Tree]

    @property
    def proofs(self) -> list[Proof]:
        """The proofs of all parts of all cases."""
        return [proof for tree in self.cases.values() for proof in leaves(tree)]


@cache
def stored() -> Mapping[str, Mapping[str, Any]]:
    """Multipliers that were found once: texts, of which nothing is taken unchecked."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(_STORED.read_text())
    return found


def prove(claim: Claim, seconds: float) -> Shown | str:
    """Proofs of all cases of a claim, or what stands in the way.

    ``seconds``: for the search, where no stored multipliers prove a case.
    """
    deadline = time.process_time() + seconds
    known, found = stored().get(claim.id, {}), {}
    waiting = cases(claim)
    while waiting:
        case = waiting.pop(0)
        try:
            posed = pose(claim, case)
        except OfOneClient:
            waiting = [replace(case, alone=True), replace(case, alone=False), *waiting]
            continue
        except NeverOccurs:
            continue
        except Unread as error:
            return str(error)
        tree = _proved(posed, known.get(case.name), deadline)
        if isinstance(tree, str):
            return f"{case.name}: {tree}"
        found[case.name] = tree
    return Shown(claim, found) if found else "the hypotheses are met by no letters"


def _proved(posed: Posed, known: Mapping[str, Any] | None, deadline: float) -> Tree | str:
    if known is not None:
        try:
            return checked(posed, known)
        except Wrong:
            pass
    # Where all is stored, nothing is searched for, and no solver loaded.
    from verify.multipliers.search import search

    left = deadline - time.process_time()
    return search(posed, left) if left > 0 else "no multipliers were found in the time"
