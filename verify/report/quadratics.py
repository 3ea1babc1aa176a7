"""Quadratics in words: "9/2 (x - 1)^2"."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from verify.comparisons.naming import number


def quadratic(H: Sequence[Sequence[Any]], slope: Sequence[Any], level: Any, names: Sequence[str] | None = None) -> str:
    """x'Hx/2 + slope'x + level in words: squares completed where no two variables are multiplied. ``names``: of the
    variables, x or x[1], x[2], ... by default."""
    d = len(slope)
    names = names or (["x"] if d == 1 else [f"x[{j + 1}]" for j in range(d)])
    mixed = any(H[j][k] for j in range(d) for k in range(d) if j != k)
    terms: list[tuple[Any, str]] = []
    for j, name in enumerate(names):
        h, s = H[j][j], slope[j]
        if h and not mixed:
            centre = -Fraction(s) / h
            level -= h * centre**2 / 2
            shifted = f"({name} {'-' if centre > 0 else '+'} {number(abs(centre))})" if centre else name
            terms.append((Fraction(h) / 2, f"{shifted}^2"))
            continue
        terms += [(Fraction(h) / 2, f"{name}^2"), (s, name)]
    terms += [(H[j][k], f"{names[j]} {names[k]}") for j in range(d) for k in range(j) if mixed]
    return _sum([*terms, (level, "")])


def _sum(terms: Sequence[tuple[Any, str]]) -> str:
    found = ""
    for coefficient, name in terms:
        if not coefficient:
            continue
        size = abs(coefficient)
        term = name if size == 1 and name else " ".join(filter(None, (number(size), name)))
        sign = "-" if coefficient < 0 else "+"
        found += f" {sign} {term}" if found else f"{'-' if coefficient < 0 else ''}{term}"
    return found or "0"
