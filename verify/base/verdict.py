"""What the evidence says of a claim, in a word."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What the evidence says of a claim; one vocabulary for claims, methods and single programs.

    ``OPEN`` is said of a program or a number only, where no computation decided it, and never of a claim.
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    ILL_POSED = "ill-posed"
    NOT_TESTED = "not-tested"
    OPEN = "open"
