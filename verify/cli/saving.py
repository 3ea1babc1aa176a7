"""Files that commands write: those of an audit, and verdicts, one file each, as they are found.

An audit that ended goes on from the verdicts on disk, and a second one is done at once. A verdict is taken up again
only if all that it rests on (:mod:`verify.results.digests`), the seed and the budget are those with which it was found,
and the file is as it was written. Claims of a user's file are never taken from here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import verify
from fedtheory.claims import Claim
from fedtheory.naming import file_name
from verify.evidence import formats
from verify.evidence.record import Evidence
from verify.results import digests as code
from verify.results import files


def audit_text(entries: Sequence[dict[str, Any]], args: argparse.Namespace, missing: Sequence[Claim] = ()) -> str:
    """An audit's JSON of these entries."""
    lacking = [claim.id for claim in missing]
    return json.dumps(formats.audit(entries, args.seed, args.budget, lacking), indent=2) + "\n"


def write_audit(entries: Sequence[dict[str, Any]], text: str, out: Path, copy: Path | None) -> OSError | None:
    """Write an audit's files; the first failure, once all was tried."""
    failures = []
    examples = out / "counterexamples"
    contents = [(out / "audit.json", text), *([(copy, text)] if copy else [])]
    for entry in entries:
        if entry["counterexample"] is not None:
            path = examples / f"{file_name(entry['id'])}.json"
            contents.append((path, formats.text("counterexample", entry["counterexample"])))
        certificates = [certificate for found in entry["outcomes"] for certificate in found["certificates"]]
        for number, certificate in enumerate(certificates, 1):
            path = out / "certificates" / f"{file_name(entry['id'])}_{number}.json"
            contents.append((path, formats.text("certificate", certificate)))
    for path, content in contents:
        try:
            path.parent.mkdir(exist_ok=True)
            files.write(path, content)
        except OSError as error:
            failures.append(error)
    return failures[0] if failures else None


def replaying(path: Path, own: Path | None = None) -> str:
    """The command that replays a file of evidence; ``own``: the user's file that has the claim, where there is one."""
    words = ["fedtheory", "replay", str(path), *([] if own is None else ["--own", str(own)])]
    return shlex.join(words)


class Verdicts:
    """The verdicts in a directory, for one seed and budget; in none, where ``directory`` is None.

    ``anew``: only those that were found anew are read, and none for which something that is carried was checked.
    ``entries``: by claim, what an audit's JSON says of it, for verdicts read or stored; ``saved``: the claims whose
    verdicts are on the disk. ``warn`` receives a sentence for each file that is not as it was written, and once if
    something cannot be written.
    """

    def __init__(
        self, directory: Path | None, seed: int, budget: str, warn: Callable[[str], None], anew: bool = False
    ) -> None:
        self.directory = directory
        self.entries: dict[str, dict[str, Any]] = {}
        self.saved: set[str] = set()
        self._seed, self._budget, self._anew = seed, budget, anew
        self._warn = warn
        self._failed = False
        self._stamp = code.stamp()
        if self._stamp[0] > verify.LOADED and directory is not None:
            warn(
                "files of this package were changed after it was loaded: nothing is taken from the cache, or left there"
            )
            self.directory = None

    def read(self, claims: Sequence[Claim]) -> list[Evidence]:
        """The evidence that is stored for these claims."""
        found = []
        for claim in claims if self.directory is not None else ():
            key = self._key(claim)
            if key is None:
                continue
            path = self._path(claim, key)
            try:
                data = files.load(path)
                if data["key"] != key or data["entry"]["id"] != claim.id:
                    raise ValueError("it is about something else")
                margin = None if data["margin"] is None else float(data["margin"])
                found.append(replace(Evidence.from_json(claim, data["entry"]), margin=margin))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, LookupError, TypeError) as error:
                self._warn(f"{path} is not a verdict that was stored ({error}): {claim.id} is tested again")
                continue
            self.entries[claim.id] = data["entry"]
            self.saved.add(claim.id)
        return found

    def store(self, evidence: Evidence) -> None:
        """Write a verdict. A disk that is full ends no audit: there is a warning, and what follows is tried all the
        same. Once the code has changed on disk it is not known which of it was run, and nothing is written."""
        entry = evidence.to_json()
        self.entries[evidence.claim.id] = entry
        margin = None if evidence.margin is None else repr(evidence.margin)

        def save() -> None:
            key = self._key(evidence.claim)
            if key is not None:
                files.save(self._path(evidence.claim, key), {"key": key, "entry": entry, "margin": margin})
                self.saved.add(evidence.claim.id)

        if self.directory is not None and code.stamp() == self._stamp:
            self.attempt(save)

    def attempt(self, save: Callable[[], None]) -> None:
        """Write something that can be done without; the first failure is reported."""
        try:
            save()
        except OSError as error:
            if not self._failed:
                self._warn(f"cannot write {error.filename}: {error.strerror}; the audit goes on")
            self._failed = True

    def _key(self, claim: Claim) -> str | None:
        """Return the key under which a verdict on the claim is cached, or None if its code has no digest."""
        try:
            digest = code.of(claim)
        except ValueError:
            return None
        return hashlib.sha256(f"{claim.id} {digest} {self._seed} {self._budget} {self._anew}".encode()).hexdigest()

    def _path(self, claim: Claim, key: str) -> Path:
        assert self.directory is not None
        return self.directory / f"{file_name(claim.id)}-{key[:16]}.json"
