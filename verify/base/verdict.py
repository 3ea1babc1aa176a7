"""The verdicts on claims."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The verdict on a claim; one vocabulary for claims, methods and single programs.

    ``OPEN`` is used for a program or a number that no computation decided, never for a claim.
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    ILL_POSED = "ill-posed"
    NOT_TESTED = "not-tested"
    OPEN = "open"
