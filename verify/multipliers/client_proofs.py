"""Proofs of inequalities client by client, in which what is linked has one multiplier for all clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.one_step import OneStep
from verify.multipliers.common_relations import agreed
from verify.multipliers.inequalities import ComparisonProof, invariant_of, pose
from verify.multipliers.proofs import CaseProof, Tree, checked, else_searched, leaves, texts
from verify.multipliers.work import CLIENTS, Work
from verify.reading import claimed, comparing


def stored() -> Mapping[str, Mapping[str, Any]]:
    """Multipliers that were found once, by claims and parts: texts, of which nothing is taken unchecked."""
    return texts("stored_inequalities.json")


def prove(
    claim: Claim,
    instances: Sequence[Instance],
    rng: np.random.Generator,
    work: int = CLIENTS,
    premises: Sequence[sympy.Expr] = (),
) -> list[CaseProof] | str:
    """Proofs of all parts of an inequality, or what stands in the way. Arguments as of :func:`shown`."""
    found = shown(claim, instances, rng, work, premises)
    if isinstance(found, str):
        return found
    return [proof for _, trees in found for tree in trees.values() for proof in leaves(tree)]


def shown(
    claim: Claim,
    instances: Sequence[Instance],
    rng: np.random.Generator,
    work: int = CLIENTS,
    premises: Sequence[sympy.Expr] = (),
) -> list[tuple[ComparisonProof, Mapping[str, Tree]]] | str:
    """Return each comparison of an inequality with the proofs of its parts, or the obstacle.

    ``instances``: some that meet the hypotheses, at which what is read is compared with the code; ``work``: units of
    :class:`~verify.multipliers.work.Work` for the search, if no stored multipliers prove a part; ``premises``:
    expressions in the letters and quantities that are at most 0, each with one multiplier for all clients and states.
    Raise ``ValueError`` if the code is not read.
    """
    left = Work(work)
    functions = [quantity.of for quantity in claim.statement.quantities]
    if (invariant := invariant_of(claim)) is not None:
        functions.append(invariant)
    cases = list(claimed.cases(claim, instances, functions, isinstance(claim.statement, OneStep), True))
    if not cases:
        return "no letters meet the hypotheses"
    found: list[tuple[ComparisonProof, Mapping[str, Tree]]] = []
    for k, case in enumerate(cases):
        for group in pose(claim, case, f"{k}." if len(cases) > 1 else "", premises):
            trees = _proved(group, stored().get(claim.id, {}), left)
            if isinstance(trees, str):
                return trees
            found.append((group, trees))
    comparing.check(claim, cases, instances, rng)
    return found


def _proved(group: ComparisonProof, known: Mapping[str, Any], work: Work) -> Mapping[str, Tree] | str:
    def search() -> Mapping[str, Tree] | str:
        # Where all is stored, nothing is searched for, and no solver loaded.
        from verify.multipliers.common_multipliers import searched

        return searched(group, work)

    whole = all(name in known for name in group.parts)
    return else_searched((lambda: read(group, known)) if whole else None, search, work)


def read(group: ComparisonProof, known: Mapping[str, Any]) -> dict[str, Tree]:
    """Proofs from texts, checked anew. ``Wrong`` for what is none."""
    trees = {name: checked(posed, known[name]) for name, posed in group.parts.items()}
    agreed(group, trees)
    return trees
