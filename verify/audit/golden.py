"""Compare an audit from scratch with the results that ship: ``python -m verify.audit.golden DIR/audit.json``.

Everything that an audit says of a claim is compared but the seconds that it took, the digest of the code, and the lines
of files that notes name, which move with every edit of these. Processors round differently, so that a solver or an
ascent ends elsewhere: points and multipliers that floats propose, all of them checked, how many instances were tried,
and the last digits of margins that floats attain. These differences are counted apart, and are no errors; on the
processor of what ships there are none. The exit status is 0 if nothing else differs, 1 if something does, and 2 if the
file is not such an audit.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from verify import results
from verify.evidence import formats

#: Fields of an entry that differ from run to run, or with code that finds the same.
IGNORED = frozenset({"seconds", results.RESTS_ON})
#: Fields, of an entry or of an outcome, that depend on how a processor rounds.
ROUNDED = frozenset({"attained", "instances"})
#: The largest relative difference of other decimals that is put down to rounding.
_RELATIVE = 1e-2
#: The largest absolute difference, likewise.
_ABSOLUTE = 1e-6
#: Fractions that depend on it in certificates: those as long as a solver's numbers are rounded to.
_LONG = re.compile(r"\d*\d{6}\d*(?:/\d+)?|\d+/\d*\d{6}\d*")
_DECIMAL = re.compile(r"\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+")
_LINE = re.compile(r"(\(\w+\.py\), line )\d+")
#: The dimensions of the instances that were tried.
_TRIED = re.compile(r"\bd=\d+(?:, \d+)+")
#: Characters of a value that are shown, and how many of them come before the first one that differs.
_SHOWN, _BEFORE = 60, 20
_ABSENT = "nothing"

Entry = Mapping[str, object]


class Difference(NamedTuple):
    """A field of a claim's entry that is not as it ships; both values in words, as far as they are shown.

    ``by_rounding``: True if it may differ between processors.
    """

    id: str
    field: str
    shipped: str
    found: str
    by_rounding: bool = False

    def __str__(self) -> str:
        return f"{self.id}: {self.field}: ships {self.shipped}, is {self.found}"


def differences(shipped: Mapping[str, Entry], found: Mapping[str, Entry]) -> list[Difference]:
    """All fields in which entries differ, in the order of what ships; a claim that one side lacks is one difference."""
    listed: list[Difference] = []
    for id in dict.fromkeys((*shipped, *found)):
        if id not in shipped or id not in found:
            one, other = ("an entry" if id in entries else _ABSENT for entries in (shipped, found))
            listed.append(Difference(id, "entry", one, other))
        else:
            before, now = _fields(shipped[id]), _fields(found[id])
            for field in dict.fromkeys((*before, *now)):
                one, other = (json.dumps(side[field]) if field in side else _ABSENT for side in (before, now))
                if _LINE.sub(r"\1", one) != _LINE.sub(r"\1", other):
                    rounded = _is_rounding(field.rpartition(", ")[2], one, other)
                    listed.append(Difference(id, field, *_excerpts(one, other), rounded))
    return listed


def _is_rounding(field: str, one: str, other: str) -> bool:
    """Return True if two values of a field may differ between processors."""
    if field in ROUNDED:
        # There is one on both sides, or on neither.
        return "null" not in (one, other) and _ABSENT not in (one, other)
    if field == "certificates":
        return _LONG.sub("#", one) == _LONG.sub("#", other)
    return _are_close(one, other)


def _are_close(one: str, other: str) -> bool:
    """Return True if two texts differ only in decimals, and in these by little."""
    one, other = (_TRIED.sub("d=", text) for text in (one, other))
    pairs = zip(*(map(float, _DECIMAL.findall(text)) for text in (one, other)), strict=False)
    alike = _DECIMAL.sub("#", one) == _DECIMAL.sub("#", other)
    return alike and all(math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE) for a, b in pairs)


def _fields(entry: Entry) -> dict[str, object]:
    """Return the fields of an entry that are compared, by name; those of outcomes under their method's name."""
    fields = {name: value for name, value in entry.items() if name not in IGNORED}
    outcomes = fields.pop("outcomes", ())
    assert isinstance(outcomes, Sequence)
    methods = [outcome["method"] for outcome in outcomes]
    fields["methods run"] = methods
    for place, outcome in enumerate(outcomes):
        # The n-th of a method is compared with the n-th.
        repeated = methods[:place].count(outcome["method"])
        method = f"{outcome['method']} ({repeated + 1})" if repeated else outcome["method"]
        fields |= {f"{method}, {name}": value for name, value in outcome.items() if name != "method"}
    return fields


def _excerpts(one: str, other: str) -> tuple[str, str]:
    """Two different texts, of long ones the part where they begin to differ."""
    common = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    begin = max(0, common - _BEFORE)

    def shown(text: str) -> str:
        start = begin if len(text) > _SHOWN else 0
        end = "..." if start + _SHOWN < len(text) else ""
        return f"{'...' if start else ''}{text[start : start + _SHOWN]}{end}"

    return shown(one), shown(other)


def compare(path: Path) -> tuple[int, list[Difference]]:
    """The number of entries that ship, and the differences of those of the audit in a file.

    Raise ``ValueError`` or ``OSError`` unless the file is an audit with the seed and the budget of what ships.
    """
    shipped, audit = results.shipped(), formats.read_audit(path)
    if (audit["seed"], audit["budget"]) != (shipped.seed, shipped.budget):
        raise ValueError(
            f"{path} is an audit with seed {audit['seed']} and budget {audit['budget']}: "
            f"what ships has seed {shipped.seed} and budget {shipped.budget}"
        )
    ships = formats.checked_audit(formats.audit(list(shipped.entries.values()), shipped.seed, shipped.budget))
    before, now = ({entry["id"]: entry for entry in data["claims"]} for data in (ships, audit))
    return len(before), differences(before, now)


def main(arguments: Sequence[str]) -> int:
    """Print the differences of the audit in a file; the exit status."""
    if len(arguments) != 1:
        print("usage: python -m verify.audit.golden DIR/audit.json", file=sys.stderr)
        return 2
    try:
        entries, found = compare(Path(arguments[0]))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    wrong = [difference for difference in found if not difference.by_rounding]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    claims, rounded = ({difference.id for difference in of} for of in (wrong, found))
    print(f"{entries} entries, {f'{len(claims)} differ' if claims else 'none differs'}")
    if rounded - claims:
        print(f"as on other processors: other points, multipliers or last digits in {len(rounded - claims)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
