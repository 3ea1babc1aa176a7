"""Calculations with fractions as theorems for Rocq: whatever numbers are made so, they compare so."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verify.export.naming import names
from verify.export.polynomials import integer

_MADE = {"+": "Plus", "-": "Minus", "*": "Times", "/": "Over"}
_COMPARED = {"<": "IsLess", "<=": "IsAtMost", "==": "IsEqual", "!=": "Differs"}
_READ = {"==": "=", "!=": "<>"}


def theorem(name: str, data: Mapping[str, Any]) -> str:
    """The calculation as Rocq does it, and the theorem that is read. ``ValueError`` for steps that are none."""
    steps = data["steps"]
    numbers = [step[0] for step in steps if step[1] not in _COMPARED]
    said, place = names(numbers), {number: k for k, number in enumerate(numbers)}
    computed, read, count, open_ = [], [], 0, 0
    for number, by, *of in steps:
        if not set(of) <= set(numbers[:count]):
            raise ValueError(f"the step {number} of {data['claim']} is of what was not calculated before")
        back = " ".join(str(count - 1 - place[other]) for other in of)
        sides = [said[other] for other in of]
        if by in _COMPARED:
            computed.append(f"Compared {_COMPARED[by]} {back}")
            last = number == steps[-1][0]
            read.append(f" {_READ.get(by, by)} ".join(sides) + ("" if last else " /\\ ("))
            open_ += not last
            continue
        computed.append(f"Made {_MADE[by]} {back}" if of else f"Given ({_fraction(Fraction(by))})")
        made = f" {by} ".join(sides) if of else _read(Fraction(by))
        read.append(f"forall {said[number]} : R, {said[number]} = {made} ->")
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


def _read(x: Fraction) -> str:
    return integer(x.numerator) if x.denominator == 1 else f"{integer(x.numerator)} / {integer(x.denominator)}"
