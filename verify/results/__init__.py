"""The verdicts of the last audit of all claims, which the package carries: what they are of, and the entries.

They are told at once, where a check takes from seconds to minutes. ``audit.json`` beside this module is an audit's
JSON, one claim a line, with the commit, the date and the digest of the code that found it; ``make results`` writes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from verify.evidence import formats

#: Where they are.
FILE = Path(__file__).with_name("audit.json")
#: The packages whose code finds the results.
_PACKAGES = ("fedtheory", "verify")
#: What the file says of all its entries.
FIELDS = ("version", "commit", "date", "code", "seed", "budget")


class Shipped(NamedTuple):
    """An audit of all claims: with which ``seed`` and ``budget`` it was made, when, of which ``commit`` and of what
    ``code``, as :func:`code` tells it; ``entries``: what it found, by the claims' ids; ``gists``: each claim in
    a line, none where they are not carried."""

    version: str
    commit: str
    date: str
    code: str
    seed: int
    budget: str
    entries: dict[str, dict[str, Any]]
    gists: Mapping[str, str]

    def verdict(self, id: str) -> str:
        """The verdict of the claim, "-" where none is shipped."""
        entry = self.entries.get(id)
        return "-" if entry is None else str(entry["verdict"])

    @property
    def verdicts(self) -> dict[str, str]:
        """All verdicts, by the claims' ids."""
        return {id: str(entry["verdict"]) for id, entry in self.entries.items()}

    def changes(self, verdicts: Mapping[str, str], seed: int, budget: str) -> list[str]:
        """A line for each claim whose verdict is another than the shipped one; none for another seed or budget."""
        if (seed, budget) != (self.seed, self.budget):
            return []
        both = [(id, self.verdict(id), now) for id, now in verdicts.items() if id in self.entries]
        return [f"{id}: was {before}, is {now}" for id, before, now in both if before != now]

    @property
    def origin(self) -> str:
        """Of what these results are, in words."""
        return f"of {self.date}, commit {self.commit[:10]}, seed {self.seed}, budget {self.budget}"


@cache
def shipped() -> Shipped:
    """The results that the package carries. Nothing is computed, and nothing loaded that computes."""
    return read(FILE.read_text(encoding="utf-8"))


@cache
def code(packages: tuple[str, ...] = _PACKAGES) -> str:
    """A digest of this package's code. What it computes with is no part of it: the packages of others, the machine."""
    found = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for path in sorted(path for package in packages for path in (root / package).rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def read(text: str) -> Shipped:
    """The results in a file's text."""
    data = json.loads(text)
    entries = {entry["id"]: entry for entry in data["claims"]}
    return Shipped(**{field: data[field] for field in FIELDS}, entries=entries, gists=data.get("gists", {}))


def written(found: Shipped) -> str:
    """The file's text: one claim a line, so that what changes from one audit to the next can be read."""
    head = {field: getattr(found, field) for field in (*FIELDS, *(["gists"] if found.gists else []))}
    head = formats.named("audit", head)
    lines = ",\n".join(json.dumps(entry) for entry in found.entries.values())
    return f'{json.dumps(head)[:-1]}, "claims": [\n{lines}\n]}}\n'
