"""Classify the claims that do not hold: false as intended, false only as literally stated, ill-posed, or false and not
printed.

This module loads nothing that computes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Protocol

from rich.table import Table

from verify.base.verdict import Verdict

#: Verdicts of a claim that is not to be built on.
FALLEN = (Verdict.REFUTED, Verdict.ILL_POSED)

#: Verdicts, by the ids of claims.
Verdicts = Mapping[str, str]


class Fall(StrEnum):
    """In which way a claim falls."""

    MEANT = "false as meant"
    LETTER = "false only if read literally"
    UNDEFINED = "ill-posed"
    UNPRINTED = "false, but not printed"
    UNSAID = "false"


class ClaimFields(Protocol):
    """The fields of :class:`fedtheory.claims.Claim` that this module reads."""

    @property
    def id(self) -> str:
        """The claim's id."""

    @property
    def origin(self) -> str:
        """Whether it is printed, implied or observed; "" where that is not stated."""

    @property
    def literal_of(self) -> str | None:
        """The id of the claim for what is meant, where this one is about the letter."""

    @property
    def root(self) -> str:
        """The fault that makes it fall, where several claims fall with one; "" elsewhere."""


def fall(claim: ClaimFields, verdicts: Verdicts) -> Fall | None:
    """In which way the claim falls; None where it does not.

    A letter falls alone unless what is meant falls too. What is ill-posed is not false, whoever states it. Of a
    user's claim that does not say whether it is printed nothing more is known.
    """
    if verdicts.get(claim.id) not in FALLEN:
        return None
    if verdicts[claim.id] == Verdict.ILL_POSED:
        return Fall.UNDEFINED
    if claim.origin == "printed":
        letter = claim.literal_of is not None and verdicts.get(claim.literal_of) not in FALLEN
        return Fall.LETTER if letter else Fall.MEANT
    return Fall.UNPRINTED if claim.origin else Fall.UNSAID


def grouped(claims: Iterable[ClaimFields], verdicts: Verdicts) -> dict[Fall, list[str]]:
    """The ids of the claims that fall, in their order, by the way in which they do; ways without claims left out."""
    found: dict[Fall, list[str]] = {way: [] for way in Fall}
    for claim in claims:
        if (way := fall(claim, verdicts)) is not None:
            found[way].append(claim.id)
    return {way: ids for way, ids in found.items() if ids}


def by_root(falling: Iterable[ClaimFields]) -> dict[str, list[str]]:
    """The ids of claims that fall, by the fault that makes them fall; one that has no root is one by itself."""
    found: dict[str, list[str]] = {}
    for claim in falling:
        found.setdefault(claim.root or claim.id, []).append(claim.id)
    return found


def number(falling: Collection[ClaimFields], way: str = "") -> str:
    """How many claims fall, in what ``way``, and of how many roots where these are fewer."""
    roots = len(by_root(falling))
    of = f" ({roots} root{'s' if roots > 1 else ''})" if roots < len(falling) else ""
    return f"{len(falling)}{f' {way}' if way else ''}{of}"


def counted(groups: Mapping[Fall, Iterable[str]], claims: Iterable[ClaimFields]) -> str:
    """How many fall in each way, in words; ``claims``: those that fall, among others."""
    known = {claim.id: claim for claim in claims}
    return "; ".join(number([known[id] for id in ids], way) for way, ids in groups.items())


def table(claims: Iterable[ClaimFields], verdicts: Verdicts) -> Table:
    """For each paper, how many claims there are, how many are printed, and how many fall in each way, of how many
    roots."""
    ways = [way for way in Fall if way is not Fall.UNSAID]
    papers: dict[str, list[ClaimFields]] = {}
    for claim in claims:
        papers.setdefault(claim.id.split("/")[0], []).append(claim)
    found = Table("paper", "claims", "of them printed", *ways, box=None, pad_edge=False)
    for name, of_paper in papers.items():
        groups, known = grouped(of_paper, verdicts), {claim.id: claim for claim in of_paper}
        printed = sum(claim.origin == "printed" for claim in of_paper)
        found.add_row(
            name, str(len(of_paper)), str(printed), *(number([known[id] for id in groups.get(way, ())]) for way in ways)
        )
    return found
