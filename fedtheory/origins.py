"""The origin of a claim: printed in its paper, implied by it, or observed by us.

``printed``: a sentence or a formula of the paper, at the place that ``where`` names. ``implied``: not a sentence of the
paper, but needed by a proof or a later line. ``observed``: ours, as are repaired statements. A printed sentence may be
false only as literally stated, while what its authors mean is true: then both are claims, and the literal one names the
other.
"""

from __future__ import annotations

import re

#: The origins of a claim, with their meanings in words.
ORIGINS = {
    "printed": "printed in the paper",
    "implied": "not printed, but a proof or a later line relies on it",
    "observed": "not printed: an addition of ours",
}

#: The words that name a place in a paper: things with a number or, in an appendix, a letter.
_NUMBERED = re.compile(
    r"\b(?:(?:Sections?|Appendix|Theorem|Lemma|Proposition|Corollary|Remark|Definition|Example|Assumptions?|Scheme"
    r"|Algorithms?|Tables?|Figures?) (?:[A-Z]\b|[A-Z]?\.?\d)|(?:eqs?\.|before|between|after) \(\d+\)|pages? \d+)"
)


def checked(id: str, origin: str, where: str, formula: str, literal_of: str | None) -> None:
    """Raise ``ValueError`` unless these parts of the claim ``id`` agree; an origin may be left out, as ""."""
    if origin not in ("", *ORIGINS):
        raise ValueError(f"the origin of {id} must be one of {', '.join(ORIGINS)}, got {origin!r}")
    if not (isinstance(where, str) and isinstance(formula, str)):
        raise ValueError(f"where and formula of {id} must be texts")
    if origin == "printed" and not _NUMBERED.search(where):
        raise ValueError(f"{id} is printed: where must name a section, theorem, equation, ... by number, got {where!r}")
    if formula and origin != "printed":
        raise ValueError(f"{id} has a formula as it stands in a paper, but is not declared as printed")
    if literal_of is not None and (origin not in ("", "printed") or literal_of == id):
        raise ValueError(
            f"{id} cannot be the letter of {literal_of}: only what is printed has one, and another meaning"
        )
