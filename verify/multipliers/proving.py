"""Claims proved by multipliers: stored ones are tried first, then a search is made. Only what is checked counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.settings import Setting
from verify.multipliers.answers import OfDrawnPoint
from verify.multipliers.cases import FunctionCase, OfTwoParts, cases
from verify.multipliers.posing import Falling, Lowest, NeverOccurs, OfOneClient, Posed, pose
from verify.multipliers.proofs import CaseProof, Tree, checked, else_searched, leaves, texts
from verify.multipliers.work import LATE, STEP, Work
from verify.reading.source import Unread

#: Polynomials by whose signs a case is split, at most.
PARTS = 6


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
    """Multipliers that were found once, by claims and their cases: texts, all of which are checked again."""
    return texts("stored.json")


def prove(
    claim: Claim,
    work: int = STEP,
    read_at: Claim | None = None,
    falling: Callable[[FunctionCase], Falling] | None = None,
    premises: Sequence[sympy.Expr] = (),
    lowest: Lowest | None = None,
) -> Shown | str:
    """Proofs of all cases of a claim, or what stands in the way.

    ``read_at``: of whose instances the types of parameters are those of the claim, itself unless given; ``falling``:
    numbers of a state, in each case, that are taken to fall in a step (:func:`~verify.multipliers.posing.pose`);
    ``premises``: expressions that are at most 0 in expectation, likewise; ``lowest``: a least value on the left side.
    ``work``: units of :class:`~verify.multipliers.work.Work` for the search in all cases that no stored multipliers
    prove. Where nothing is found, claims that contain it are tried: with any smaller value of a parameter that a
    hypothesis fixes, and with any number of clients where it is about one.
    """
    why = ""
    for wider in _wider(claim):
        found = _searched(wider, work, read_at or wider, falling, premises, lowest)
        if not isinstance(found, str):
            return found
        why = why or found
    return why


def _wider(claim: Claim) -> Iterator[Claim]:
    """The claim, and claims that say more."""
    of_any = [claim]
    if set(claim.setting.clients) == {1}:
        of_any.append(replace(claim, setting=replace(claim.setting, clients=Setting().clients)))
    for one in of_any:
        yield one
        if (weaker := _with_less(one)) is not None:
            yield weaker


def _with_less(claim: Claim) -> Claim | None:
    """The claim with parameters of the method at most what a hypothesis says they are; None where none says so."""
    given = {letter for letter, source in claim.setting.sources.items() if source in _parameters(claim)}
    requires = [
        replace(h, relation=sympy.Le(h.relation.lhs, h.relation.rhs, evaluate=False))
        if isinstance(h.relation, sympy.Eq) and h.relation.lhs in given
        else h
        for h in claim.requires
    ]
    if requires == list(claim.requires):
        return None
    return replace(claim, requires=tuple(requires))


def _parameters(claim: Claim) -> frozenset[str]:
    return frozenset(getattr(getattr(claim.setting.algorithm, "Params", None), "_fields", ()))


def _searched(
    claim: Claim,
    work: int,
    read_at: Claim,
    falling: Callable[[FunctionCase], Falling] | None,
    premises: Sequence[sympy.Expr],
    lowest: Lowest | None,
) -> Shown | str:
    left, late = Work(work), Work(LATE)
    known, found = stored().get(claim.id, {}), {}
    waiting = cases(claim)
    while waiting:
        case = waiting.pop(0)
        try:
            posed = pose(claim, case, read_at, None if falling is None else falling(case), premises, lowest)
        except OfOneClient:
            waiting = [replace(case, alone=True), replace(case, alone=False), *waiting]
            continue
        except OfTwoParts as two:
            if len(case.parts) == PARTS:
                return f"{case.name}: more than {PARTS} comparisons of letters decide"
            waiting = two.of(case) + waiting
            continue
        except NeverOccurs:
            continue
        except OfDrawnPoint as error:
            if case.correlated:
                return str(error)
            waiting = [replace(case, correlated=True), *waiting]
            continue
        except Unread as error:
            return str(error)
        tree = _proved(posed, known.get(case.name), left, late)
        if isinstance(tree, str):
            if posed.apart is not None and len(case.parts) < PARTS and not left.is_spent:
                waiting = posed.apart.of(case) + waiting
                continue
            return f"{case.name}: {tree}"
        found[case.name] = tree
    return Shown(claim, found) if found else "no letters meet the hypotheses"


def _proved(posed: Posed, known: Mapping[str, Any] | None, work: Work, late: Work) -> Tree | str:
    def searched() -> Tree | str:
        # Where all is stored, nothing is searched for, and no solver loaded.
        from verify.multipliers.looser import search_further
        from verify.multipliers.parts import search_parts
        from verify.multipliers.search import search, search_others

        found = search(posed, work)
        if not isinstance(found, str):
            return found
        return search_parts(posed, late) or search_further(posed, late) or search_others(posed, late) or found

    return else_searched(None if known is None else lambda: checked(posed, known), searched, work)
