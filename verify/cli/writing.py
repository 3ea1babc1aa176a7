"""Where commands write, and the files of an audit."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from fedtheory.naming import file_name
from verify.base import files
from verify.evidence import formats


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


def directory(path: Path) -> Path:
    """The directory, made if there is none; ``ValueError`` where it cannot be written to."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the directory {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write to the directory {path}")
    return path


def writable(path: Path) -> Path:
    """The file, if it can be written; ``ValueError`` otherwise."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"cannot write the file {path}")
    return path
