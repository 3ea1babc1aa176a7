"""Forms that are nonnegative for all vectors and all letters, as what shows that an adversary has an answer."""

from __future__ import annotations

from verify.multipliers.domains import Domain
from verify.multipliers.forms import ProductSum
from verify.multipliers.ratios import Ratio


def is_nonnegative(form: ProductSum, domain: Domain, values: frozenset[str]) -> bool:
    """Return True if a form is shown to be nonnegative wherever the letters are in the domain.

    Of each block of inner products the matrix is eliminated; a pivot that others are divided by has to be positive.
    ``values``: the names of numbers that are nonnegative.
    """
    blocks: dict[str, dict[tuple[str, str], Ratio]] = {}
    for (block, *of), c in form.of.items():
        if not domain.never_zero(c.den):
            return False
        if block != "value":
            blocks.setdefault(block, {})[of[0], of[1]] = c
        elif of[0] not in values | {ProductSum.ONE[1]} or domain.ratio_sign(c) is None:
            return False
    return all(_is_positive_semidefinite(entries, domain) for entries in blocks.values())


def _is_positive_semidefinite(entries: dict[tuple[str, str], Ratio], domain: Domain) -> bool:
    """Return True if the matrix is whose diagonal, and twice whose entries off it, each once, are ``entries``."""
    left = {pair: c if pair[0] == pair[1] else c / 2 for pair, c in entries.items()}
    left |= {(b, a): c for (a, b), c in left.items()}
    rows = sorted({row for pair in left for row in pair})
    while rows:
        # A row that others are combined with is taken only where its pivot is positive.
        row = next((r for r in rows if _is_pivot(r, rows, left, domain)), None)
        if row is None:
            return False
        rows.remove(row)
        line = {other: left[row, other] for other in rows if (row, other) in left}
        for a, c in line.items():
            for b, e in line.items():
                less = c * e / left[row, row]
                entry = left[a, b] - less if (a, b) in left else -less
                left.pop((a, b), None)
                if not entry.is_zero:
                    left[a, b] = entry
    return True


def _is_pivot(row: str, rows: list[str], left: dict[tuple[str, str], Ratio], domain: Domain) -> bool:
    alone = not any((row, other) in left for other in rows if other != row)
    if (row, row) not in left:
        return alone
    return domain.ratio_sign(left[row, row], not alone) is not None
