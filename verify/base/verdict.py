"""The verdicts on claims."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The verdict on a claim; one vocabulary for claims, methods and single programs (docs/verdicts.md).

    Attributes:
        PROVED: A symbolic derivation, or an exact certificate that was checked, shows it for all letters.
        CERTIFIED: It holds for the whole class at exact choices of the parameters, or up to what the note says.
        SUPPORTED: A search that finds planted errors found no violation.
        REFUTED: A counterexample contradicts it, confirmed in exact arithmetic.
        ILL_POSED: It uses something that is not defined.
        NOT_TESTED: No method tests it, or no instance met its hypotheses.
        OPEN: Of a program or a number that no computation decided, never of a claim.

    Examples:
        >>> from verify import Verdict
        >>> Verdict("refuted") is Verdict.REFUTED
        True
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    ILL_POSED = "ill-posed"
    NOT_TESTED = "not-tested"
    OPEN = "open"
