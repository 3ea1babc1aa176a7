"""Programs of which each is a theorem by itself: what is shared is taken off the target, with its weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.multipliers.ratios import Ratio, from_terms, polynomials, terms


def taken_off(letters: Sequence[str], program: Mapping[str, Any]) -> dict[str, Any]:
    """The program with target - sum of weight * shared for its target: summed over the clients, no more than that."""
    shared = [item for item in program["known"] if "shared" in item]
    if not shared:
        return dict(program)
    target = {key: _read(letters, c) for key, c in program["target"].items()}
    zero = Ratio.of(*(polynomials(letters).constant(k) for k in (0, 1)))
    for item in shared:
        weight = _read(letters, item["weight"])
        for key, c in item["form"].items():
            same = next((k for k in target if sorted(k.split("|")) == sorted(key.split("|"))), key)
            target[same] = target.get(same, zero) - weight * _read(letters, c)
    written = {key: _written(c) for key, c in target.items() if not c.is_zero}
    claimed = f"{program['claimed']}, less what is shared, with its weights"
    known = [item for item in program["known"] if "shared" not in item]
    return {**program, "claimed": claimed, "target": written, "known": known}


def _read(letters: Sequence[str], c: Any) -> Ratio:
    ring = polynomials(letters)
    if isinstance(c, str):
        return Ratio.of(ring.constant(1), ring.constant(1)) * Fraction(c)
    parts = ({tuple(m): Fraction(number) for number, m in of} for of in (c["num"], c["den"]))
    return Ratio.of(*(from_terms(ring, of) for of in parts))


def _written(c: Ratio) -> dict[str, Any]:
    num, den = ([[str(number), list(m)] for m, number in terms(p)] for p in (c.num, c.den))
    return {"num": num, "den": den}
