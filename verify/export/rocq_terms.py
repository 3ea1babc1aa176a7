"""The terms in files for Rocq: names, polynomials with integer coefficients, and calculations with fractions as
theorems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.multipliers.ratios import terms

#: Words that cannot be names in Rocq, and names that statements and proofs use.
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


#: Numbers from here on are written in hexadecimal, which is read much faster.
_LONG = 10**24


def integer(c: Fraction | int) -> str:
    """An integer. ``ValueError`` for another fraction."""
    if c.denominator != 1:
        raise ValueError(f"{c} is not an integer")
    n = c.numerator
    size = str(abs(n)) if abs(n) < _LONG else hex(abs(n))
    return f"(- {size})" if n < 0 else size


def has_no_positive(p: Any) -> bool:
    """Return True if a polynomial is nonzero and has no positive coefficient."""
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
    """The term whose value is :func:`read`."""
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


_MADE = {"+": "Plus", "-": "Minus", "*": "Times", "/": "Over"}
_COMPARED = {"<": "IsLess", "<=": "IsAtMost", "==": "IsEqual", "!=": "Differs"}
_READ = {"==": "=", "!=": "<>"}


def theorem(name: str, data: Mapping[str, Any]) -> str:
    """The calculation as Rocq does it, and the theorem that is read. ``ValueError`` for steps that are none."""
    steps = data["steps"]
    numbers = [step[0] for step in steps if step[1] not in _COMPARED]
    rocq_names, place = names(numbers), {number: k for k, number in enumerate(numbers)}
    computed, read, count, open_ = [], [], 0, 0
    for number, by, *of in steps:
        if not set(of) <= set(numbers[:count]):
            raise ValueError(f"the step {number} of {data['claim']} is of what was not calculated before")
        back = " ".join(str(count - 1 - place[other]) for other in of)
        sides = [rocq_names[other] for other in of]
        if by in _COMPARED:
            computed.append(f"Compared {_COMPARED[by]} {back}")
            last = number == steps[-1][0]
            read.append(f" {_READ.get(by, by)} ".join(sides) + ("" if last else " /\\ ("))
            open_ += not last
            continue
        computed.append(f"Made {_MADE[by]} {back}" if of else f"Given ({_fraction(Fraction(by))})")
        made = f" {by} ".join(sides) if of else fraction(Fraction(by))
        read.append(f"forall {rocq_names[number]} : R, {rocq_names[number]} = {made} ->")
        count += 1
    if not steps or steps[-1][1] not in _COMPARED:
        raise ValueError(f"the calculation of {data['claim']} compares nothing in the end")
    lines = "".join(f"\n  {line}" for line in read)
    return "\n".join(
        [
            f"Definition {name}_lines : list line := [" + ";\n  ".join(computed) + "].",
            f"Lemma {name}_checked : calculate [] {name}_lines = true.",
            "Proof. vm_cast_no_check (eq_refl true). Qed.",
            f"Theorem {name} :{lines}{')' * open_}.",
            f"Proof. exact (calculated _ [] {name}_checked). Qed.",
        ]
    )


def _fraction(x: Fraction) -> str:
    return f"Qmake {integer(x.numerator)} {integer(x.denominator)}"


def fraction(x: Fraction) -> str:
    """A fraction as a person writes it."""
    return integer(x.numerator) if x.denominator == 1 else f"{integer(x.numerator)} / {integer(x.denominator)}"
