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

#: Verdicts of a claim on which nothing may be built.
FAILED = (Verdict.REFUTED, Verdict.ILL_POSED)

#: Verdicts, by the ids of claims.
Verdicts = Mapping[str, str]


class FailureMode(StrEnum):
    """Why a claim fails."""

    MEANT = "false as meant"
    LETTER = "false only if read literally"
    UNDEFINED = "ill-posed"
    UNPRINTED = "false, but not printed"
    UNKNOWN_ORIGIN = "false"


#: The modes from the most to the least serious.
SERIOUS = (
    FailureMode.MEANT,
    FailureMode.UNKNOWN_ORIGIN,
    FailureMode.UNDEFINED,
    FailureMode.UNPRINTED,
    FailureMode.LETTER,
)


class ClaimFields(Protocol):
    """The fields of :class:`fedtheory.claims.Claim` that this module reads."""

    @property
    def id(self) -> str:
        """The claim's id."""

    @property
    def origin(self) -> str:
        """The origin: printed, implied or observed; "" if it is not stated."""

    @property
    def literal_of(self) -> str | None:
        """The id of the claim in the intended sense, if this one is the literal reading."""

    @property
    def root(self) -> str:
        """The fault that makes it fail, if several claims fail for the same one; "" otherwise."""


def failure_mode(claim: ClaimFields, verdicts: Verdicts) -> FailureMode | None:
    """Return why the claim fails; None if it does not.

    A literal reading fails by itself unless the intended sense fails too. An ill-posed claim is not false, whatever its
    origin. Nothing more is known of a user's claim that does not give its origin.
    """
    if verdicts.get(claim.id) not in FAILED:
        return None
    if verdicts[claim.id] == Verdict.ILL_POSED:
        return FailureMode.UNDEFINED
    if claim.origin == "printed":
        letter = claim.literal_of is not None and verdicts.get(claim.literal_of) not in FAILED
        return FailureMode.LETTER if letter else FailureMode.MEANT
    return FailureMode.UNPRINTED if claim.origin else FailureMode.UNKNOWN_ORIGIN


def grouped(claims: Iterable[ClaimFields], verdicts: Verdicts) -> dict[FailureMode, list[str]]:
    """Return the ids of the claims that fail, in order, by failure mode; modes without claims are omitted."""
    found: dict[FailureMode, list[str]] = {mode: [] for mode in FailureMode}
    for claim in claims:
        if (mode := failure_mode(claim, verdicts)) is not None:
            found[mode].append(claim.id)
    return {mode: ids for mode, ids in found.items() if ids}


def by_root(failing: Iterable[ClaimFields]) -> dict[str, list[str]]:
    """Group the ids of failing claims by the fault that makes them fail; a claim without a root is its own group."""
    found: dict[str, list[str]] = {}
    for claim in failing:
        found.setdefault(claim.root or claim.id, []).append(claim.id)
    return found


def number(failing: Collection[ClaimFields], mode: str = "") -> str:
    """Return the number of failing claims, their failure ``mode``, and the number of roots if it is smaller."""
    roots = len(by_root(failing))
    of = f" ({roots} root{'s' if roots > 1 else ''})" if roots < len(failing) else ""
    return f"{len(failing)}{f' {mode}' if mode else ''}{of}"


def counted(groups: Mapping[FailureMode, Iterable[str]], claims: Iterable[ClaimFields]) -> str:
    """Return the number of failures of each mode, in words; ``claims`` contains the failing ones."""
    known = {claim.id: claim for claim in claims}
    return "; ".join(number([known[id] for id in ids], mode) for mode, ids in groups.items())


def table(claims: Iterable[ClaimFields], verdicts: Verdicts) -> Table:
    """Return a table of each paper's claims: all, printed, and failing by mode, with the number of roots."""
    modes = [mode for mode in FailureMode if mode is not FailureMode.UNKNOWN_ORIGIN]
    papers: dict[str, list[ClaimFields]] = {}
    for claim in claims:
        papers.setdefault(claim.id.split("/")[0], []).append(claim)
    found = Table("paper", "claims", "of them printed", *modes, box=None, pad_edge=False)
    for name, of_paper in papers.items():
        groups, known = grouped(of_paper, verdicts), {claim.id: claim for claim in of_paper}
        printed = sum(claim.origin == "printed" for claim in of_paper)
        found.add_row(
            name,
            str(len(of_paper)),
            str(printed),
            *(number([known[id] for id in groups.get(mode, ())]) for mode in modes),
        )
    return found
