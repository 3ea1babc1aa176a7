"""A polynomial with integers as Rocq has it: as a person writes it, and as the term that means just that."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from verify.multipliers.ratios import terms

#: Numbers from here on are written in hexadecimal, which is read much faster.
_LONG = 10**24


def integer(c: Fraction | int) -> str:
    """An integer. ``ValueError`` for another fraction."""
    if c.denominator != 1:
        raise ValueError(f"{c} is no integer")
    n = c.numerator
    size = str(abs(n)) if abs(n) < _LONG else hex(abs(n))
    return f"(- {size})" if n < 0 else size


def has_no_positive(p: Any) -> bool:
    """Whether a polynomial is not 0 and has no positive coefficient."""
    return p != 0 and all(c < 0 for _, c in terms(p))


def _ordered(p: Any) -> list[tuple[tuple[int, ...], int]]:
    """Terms, one before all others that is not subtracted if there is one."""
    listed = [(m, c.numerator) for m, c in terms(p)]
    first = next((k for k, (_, c) in enumerate(listed) if c > 0), 0)
    return [listed[first], *listed[:first], *listed[first + 1 :]] if listed else []


def read(p: Any, names: Sequence[str]) -> str:
    """As a person writes it."""
    out: list[str] = []
    for m, c in _ordered(p):
        parts = [integer(abs(c))] if abs(c) != 1 or not any(m) else []
        parts += [name if k == 1 else f"{name} ^ {k}" for name, k in zip(names, m, strict=False) if k]
        out.append(f"{'- ' if c < 0 else '+ ' if out else ''}{' * '.join(parts)}")
    if out and out[0].startswith("- "):
        return f"- ({read(-p, names)})"
    return " ".join(out) or "0"


def read_quotient(num: Any, den: Any, names: Sequence[str]) -> str:
    """A quotient that may be followed by a product."""
    top = f"({read(num, names)})" if len(num) > 1 or has_no_positive(num) else read(num, names)
    if den == 1:
        return top
    below = read(den, names)
    return f"{top} / {below}" if below.isalnum() else f"{top} / ({below})"


def computed(p: Any) -> str:
    """The term of which :func:`read` is the value."""
    found = ""
    for m, c in _ordered(p):
        parts = [f"PEc {integer(abs(c))}%Z"] if abs(c) != 1 or not any(m) else []
        parts += [f"PEX Z {i}" if k == 1 else f"PEpow (PEX Z {i}) {k}" for i, k in enumerate(m, 1) if k]
        term = parts[0]
        for part in parts[1:]:
            term = f"PEmul ({term}) ({part})"
        if not found and c < 0:
            return f"PEopp ({computed(-p)})"
        found = f"{'PEsub' if c < 0 else 'PEadd'} ({found}) ({term})" if found else term
    return found or "PEc 0%Z"
