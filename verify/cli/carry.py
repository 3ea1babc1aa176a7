"""Make an audit's results those that the package carries: ``python -m verify.cli.carry DIR/audit.json``."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from fedtheory import claims
from verify import results
from verify.audit import FAILED
from verify.evidence import formats
from verify.evidence.record import Evidence
from verify.results import digests as code
from verify.results import files


def main(audit: Path) -> None:
    """Store the audit, which must be whole and of all claims, with the commit and the digest of the code."""
    data = formats.read_audit(audit)
    entries = {entry["id"]: entry for entry in data["claims"]}
    try:
        found = [Evidence.from_json(claims.get(id), entry) for id, entry in entries.items()]
    except ValueError as error:
        raise ValueError(f"{audit}: {error}") from error
    tested = {evidence.claim.id for evidence in found if not evidence.note.startswith(FAILED)}
    missing = [claim.id for claim in claims.all() if claim.id not in tested]
    if missing:
        raise ValueError(f"{audit} is not an audit of all claims: {len(missing)} were not tested, such as {missing[0]}")
    asked = ["git", "-C", str(results.FILE.parent), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    head = (data["version"], commit, f"{datetime.now(UTC):%Y-%m-%d}", results.code(), data["seed"], data["budget"])
    for claim in claims.all():
        entries[claim.id][results.RESTS_ON] = code.theory(claim)
    gists = {claim.id: claim.gist for claim in claims.all()}
    files.write(results.FILE, results.written(results.Shipped(*head, entries, gists, code.checker())))


if __name__ == "__main__":
    try:
        main(Path(*sys.argv[1:2]))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
