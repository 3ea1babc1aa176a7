"""The verdicts of an audit on disk, one file each, written as they are found, so that an audit that ended goes on.

A verdict is taken up again only if the code, the versions of what it computes with, the seed and the budget are those
with which it was found, and the file is as it was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from verify import files, stored
from verify.evidence import Evidence, Verdict

#: Packages, besides this one, on whose version a verdict depends.
_PACKAGES = ("clarabel", "cvxpy", "mpmath", "numpy", "scipy", "sympy", "z3-solver")


class Verdicts:
    """The verdicts in a directory, for one seed and budget.

    What is read has no outcomes of methods: an audit tells them, and their certificates, from ``entries``.

    ``entries``: by claim, what an audit's JSON says of it, for verdicts read or stored; ``saved``: the claims whose
    verdicts are on the disk. ``warn`` is told, in a sentence, of files that are not as they were written, and once that
    something cannot be written.
    """

    def __init__(self, directory: Path, seed: int, budget: str, warn: Callable[[str], None]) -> None:
        self.directory = directory
        self.entries: dict[str, dict[str, Any]] = {}
        self.saved: set[str] = set()
        self._key = {"code": code(), "seed": seed, "budget": budget}
        self._warn = warn
        self._failed = False

    def read(self, claims: Sequence[Claim]) -> list[Evidence]:
        """The evidence that is stored for these claims."""
        found = []
        for claim in claims:
            path = self._path(claim)
            try:
                data = json.loads(path.read_bytes())
                if data["sum"] != _sum(data["entry"]):
                    raise ValueError("its contents were changed")
                if data["key"] != self._key or data["entry"]["id"] != claim.id:
                    continue
                found.append(_evidence(claim, data["entry"], data["margin"]))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
                self._warn(f"{path} is not a verdict that was stored ({error}): {claim.id} is tested again")
                continue
            self.entries[claim.id] = data["entry"]
            self.saved.add(claim.id)
        return found

    def store(self, evidence: Evidence) -> None:
        """Write a verdict. A disk that is full ends no audit: there is a warning, and what follows is tried all the
        same."""
        entry = evidence.to_json()
        self.entries[evidence.claim.id] = entry
        margin = None if evidence.margin is None else repr(evidence.margin)
        data = {"key": self._key, "entry": entry, "margin": margin, "sum": _sum(entry)}

        def save() -> None:
            self.directory.mkdir(parents=True, exist_ok=True)
            files.write(self._path(evidence.claim), json.dumps(data) + "\n")
            self.saved.add(evidence.claim.id)

        self.attempt(save)

    def attempt(self, save: Callable[[], None]) -> None:
        """Write something that can be done without; the first failure is told."""
        try:
            save()
        except OSError as error:
            if not self._failed:
                self._warn(f"cannot write {error.filename}: {error.strerror}; the audit goes on")
            self._failed = True

    def discard(self, claims: Iterable[Claim]) -> None:
        """Remove the verdicts of these claims, and the directory if nothing else is there."""
        for claim in claims:
            self._path(claim).unlink(missing_ok=True)
        if self.directory.is_dir() and not any(self.directory.iterdir()):
            self.directory.rmdir()

    def _path(self, claim: Claim) -> Path:
        return self.directory / f"{file_name(claim.id)}.json"


def file_name(id: str) -> str:
    """A claim's id as the name of a file."""
    return id.replace("/", "_")


def _evidence(claim: Claim, entry: dict[str, Any], margin: str | None) -> Evidence:
    example = entry["counterexample"]
    return Evidence(
        claim,
        Verdict(entry["verdict"]),
        None if margin is None else float(margin),
        tuple(entry["methods"]),
        entry["instances"],
        counterexample=None if example is None else stored.from_json(example),
        note=entry["note"],
        seconds=entry["seconds"],
    )


def _sum(entry: Any) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


@cache
def code() -> str:
    """A digest of this package's code and of the versions of the packages with which it computes."""
    found = hashlib.sha256()
    here = Path(__file__).resolve().parents[1]
    for package in ("fedtheory", "verify"):
        for path in sorted((here / package).rglob("*.py")):
            found.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for name in _PACKAGES:
        try:
            found.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            continue
    return found.hexdigest()
