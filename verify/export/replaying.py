"""Proof objects told on the terminal, once the checker has accepted them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verify import checker
from verify.base import limits
from verify.base.plain import clean
from verify.evidence import formats

#: Objects have numbers of thousands of digits.
_MOST = 50_000_000
_SHOWS = {
    "identity": "it is an identity with weights that are shown to be nonnegative: what is known implies the target",
    "arithmetic": "every step was calculated again, in fractions, and what is compared is so",
    "recomputation": "nothing of it is in this file, and so nothing is checked here",
}


def told(path: Path) -> tuple[list[str], bool] | None:
    """What a proof object shows, in lines, and whether it holds; None where a file holds none."""
    try:
        data = formats.read(path, _MOST)
    except ValueError:
        return None
    if not isinstance(data, dict) or data.get("format") != checker.FORMAT:
        return None
    lines, holds = limits.limited(lambda: _checked(path), limits.SECONDS, limits.BYTES, str(path))
    return [clean(line) for line in lines], holds


def _checked(path: Path) -> tuple[list[str], bool]:
    try:
        found = checker.check(path.read_text(encoding="utf-8"))
        return _lines(formats.checked("proof", found)), True
    except ValueError as error:
        return [f"{path}: the object does NOT hold: {error}"], False


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [found["claim"], *(f"  {line}" for line in found["says"])]
    if at := found.get("at"):
        lines.append("  at " + ", ".join(f"{name} = {value}" for name, value in at.items()))
    for program in found.get("programs", ()):
        lines += [program["claimed"], *(f"    by {item['words']}" for item in program["known"])]
        lines.append(f"    and squares: {len(program['squares'])}")
    if steps := found.get("steps"):
        lines.append(f"  in {len(steps)} steps")
    return [*lines, f"{found['kind']}: {_SHOWS[found['kind']]}"]
