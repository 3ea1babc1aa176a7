"""Names of Rocq's for vectors, values, letters and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Words that are no names in Rocq, and what is spoken of in statements and proofs.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        "as at by cofix else end exists exists2 fix for forall fun if in let match mod return then using where with IF "
        "Axiom CoFixpoint Definition Fixpoint Hypothesis Parameter Theorem Variable Prop Set SProp Type "
        "E R holds inner space eq_refl",
    )
)


def names(listed: Sequence[str]) -> dict[str, str]:
    """Different ones for different ones, without the block of a vector where its row says it all."""
    rows = [name.partition(": ")[2] or name for name in listed]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name, row in zip(listed, rows, strict=True):
        plain = re.sub(r"[\W_]+", "_", row if rows.count(row) == 1 else name, flags=re.ASCII).strip("_")
        plain = plain if plain[:1].isalpha() and plain not in _RESERVED else f"v_{plain}"
        while plain in taken:
            plain += "'"
        found[name] = plain
        taken.add(plain)
    return found
