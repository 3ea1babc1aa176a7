"""Claims proved by multipliers: stored ones are tried first, then a search is made. Only what is checked counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fedtheory.claims import Claim
from verify.multipliers.cases import FunctionCase, cases
from verify.multipliers.posing import NeverOccurs, OfOneClient, Posed, pose
from verify.multipliers.proofs import CaseProof, Tree, checked, else_searched, leaves, texts
from verify.multipliers.work import STEP, Work
from verify.reading.source import Unread
from verify.reading.terms import Term


@dataclass(frozen=True, eq=False)
class Shown:
    """Proofs of all cases of a claim, by their names."""

    claim: Claim
    cases: Mapping[str, Tree]

    @property
    def proofs(self) -> list[CaseProof]:
        """The proofs of all parts of all cases."""
        return [proof for tree in self.cases.values() for proof in leaves(tree)]


def stored() -> Mapping[str, Mapping[str, Any]]:
    """Multipliers that were found once, by claims and their cases: texts, of which nothing is taken unchecked."""
    return texts("stored.json")


def prove(
    claim: Claim,
    work: int = STEP,
    read_at: Claim | None = None,
    falling: Callable[[FunctionCase], Sequence[Term]] | None = None,
) -> Shown | str:
    """Proofs of all cases of a claim, or what stands in the way.

    ``read_at``: of whose instances the types of parameters are those of the claim, itself unless given; ``falling``:
    numbers of a state, in each case, that are taken to fall in a step (:func:`~verify.multipliers.posing.pose`).
    ``work``: units of :class:`~verify.multipliers.work.Work` for the search in all cases that no stored multipliers
    prove.
    """
    left = Work(work)
    known, found = stored().get(claim.id, {}), {}
    waiting = cases(claim)
    while waiting:
        case = waiting.pop(0)
        try:
            posed = pose(claim, case, read_at or claim, () if falling is None else falling(case))
        except OfOneClient:
            waiting = [replace(case, alone=True), replace(case, alone=False), *waiting]
            continue
        except NeverOccurs:
            continue
        except Unread as error:
            return str(error)
        tree = _proved(posed, known.get(case.name), left)
        if isinstance(tree, str):
            return f"{case.name}: {tree}"
        found[case.name] = tree
    return Shown(claim, found) if found else "no letters meet the hypotheses"


def _proved(posed: Posed, known: Mapping[str, Any] | None, work: Work) -> Tree | str:
    def searched() -> Tree | str:
        # Where all is stored, nothing is searched for, and no solver loaded.
        from verify.multipliers.search import search

        return search(posed, work)

    return else_searched(None if known is None else lambda: checked(posed, known), searched, work)
