"""Forms in fewer vectors: where nothing changes along a direction, one vector is told relative to the others.

A form Q with Q(x) = Q(x + t v) for all t is told by the vectors x - (x_r/v_r) v, whose row r is zero. So the row r may
be left out of all forms that have this in common, and these are what they were, in the other vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from verify.multipliers.forms import Form
from verify.multipliers.ratios import Ratio

#: The block of the vectors of a client and of those that all share.
BLOCK = "client"
#: A vector that is a combination of others: the coefficients by rows.
Vector = Mapping[str, Ratio]


def unneeded(
    forms: Iterable[Form], vectors: Iterable[Vector], shared: frozenset[str], own: frozenset[int], one: Ratio
) -> frozenset[str]:
    """Rows that may be left out of forms, and of vectors that are zero when summed over the clients.

    ``shared``: the rows of vectors that all clients share: what these become when others are taken off is shared too,
    so that nothing of a client's own is taken off, nor a multiple by an ``own`` letter.
    """
    of, known = list(forms), list(vectors)
    rows = {row for form in of for key in form.of if key[0] == BLOCK for row in key[1:]} | {r for v in known for r in v}
    ordered = [*sorted(rows - shared), *sorted(rows & shared)]
    zero = one * 0
    lines = [
        [form.of.get((BLOCK, *sorted((a, b))), zero) * (2 if a == b else 1) for b in ordered]
        for form in of
        for a in ordered
    ]
    lines += [[vector.get(row, zero) for row in ordered] for vector in known]
    echelon = _echelon([line for line in lines if not all(c.is_zero for c in line)], len(ordered))
    first_shared = len(rows - shared)
    found = set()
    for k, row in enumerate(ordered):
        # What the row takes off the shared ones among the pivots before it.
        taken = [line[k] for pivot, line in echelon.items() if first_shared <= pivot < k]
        if k not in echelon and not any(c.letters() & own for c in taken):
            found.add(row)
    return frozenset(found)


def without(form: Form, rows: frozenset[str]) -> Form:
    """A form with rows left out."""
    return Form({key: c for key, c in form.of.items() if key[0] != BLOCK or rows.isdisjoint(key[1:])})


def _echelon(lines: Sequence[list[Ratio]], columns: int) -> dict[int, list[Ratio]]:
    """The reduced rows of a system, by their pivots: a column k without one has the null vector that is 1 there and
    less the entry of each row in k at the pivot of that row."""
    left, found = [list(line) for line in lines], dict[int, list[Ratio]]()
    for k in range(columns):
        at = min(
            (i for i, line in enumerate(left) if not line[k].is_zero), key=lambda i: left[i][k].length, default=None
        )
        if at is None:
            continue
        top = left.pop(at)
        line = [c / top[k] for c in top]
        found = {pivot: _less(other, line, k) for pivot, other in found.items()}
        found[k] = line
        left = [other for other in (_less(other, line, k) for other in left) if not all(c.is_zero for c in other)]
    return found


def _less(other: list[Ratio], line: list[Ratio], k: int) -> list[Ratio]:
    return other if other[k].is_zero else [a - b * other[k] for a, b in zip(other, line, strict=True)]
