"""Proofs of inequalities client by client, in which what is linked has one multiplier for all clients."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from verify.multipliers.inequalities import Group, pose
from verify.multipliers.links import agreed
from verify.multipliers.proofs import Proof, Tree, Wrong, checked, leaves
from verify.reading import claimed, comparing

#: Multipliers that were found once, by claims and their parts.
_STORED = Path(__file__).with_name("stored_inequalities.json")


@cache
def stored() -> Mapping[str, Mapping[str, Any]]:
    """Multipliers that were found once, by claims and parts: texts, of which nothing is taken unchecked."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(_STORED.read_text())
    return found


def prove(claim: Claim, instances: Sequence[Instance], rng: np.random.Generator, seconds: float) -> list[Proof] | str:
    """Proofs of all parts of an inequality, or what stands in the way.

    ``instances``: some that meet the hypotheses, at which what is read is compared with the code; ``seconds``: for the
    search, where no stored multipliers prove a part. ``ValueError`` where the code is not read.
    """
    deadline = time.process_time() + seconds
    functions = tuple(quantity.of for quantity in claim.statement.quantities)
    cases = list(claimed.cases(claim, instances, functions, False, True))
    if not cases:
        return "the hypotheses are met by no letters"
    found: list[Proof] = []
    for k, case in enumerate(cases):
        for group in pose(claim, case, f"{k}." if len(cases) > 1 else ""):
            trees = _proved(group, stored().get(claim.id, {}), deadline)
            if isinstance(trees, str):
                return trees
            found += [proof for tree in trees.values() for proof in leaves(tree)]
    comparing.check(claim, cases, instances, rng)
    return found


def _proved(group: Group, known: Mapping[str, Any], deadline: float) -> Mapping[str, Tree] | str:
    if all(name in known for name in group.parts):
        try:
            return read(group, known)
        except Wrong:
            pass
    # Where all is stored, nothing is searched for, and no solver loaded.
    from verify.multipliers.linked_search import searched

    left = deadline - time.process_time()
    return searched(group, left) if left > 0 else "no multipliers were found in the time"


def read(group: Group, known: Mapping[str, Any]) -> dict[str, Tree]:
    """Proofs from texts, checked anew. ``Wrong`` for what is none."""
    trees = {name: checked(posed, known[name]) for name, posed in group.parts.items()}
    agreed(group, trees)
    return trees
