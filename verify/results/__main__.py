"""Make an audit's results those that the package carries: ``python -m verify.results DIR/audit.json``."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from fedtheory import claims
from verify import files, results
from verify.audit import FAILED


def main(audit: Path) -> None:
    """Store the audit, which must be whole and of all claims, with the commit and the digest of the code."""
    data = json.loads(audit.read_text(encoding="utf-8"))
    entries = {entry["id"]: entry for entry in data["claims"]}
    tested = {id for id, entry in entries.items() if not entry["note"].startswith(FAILED)}
    missing = [claim.id for claim in claims.all() if claim.id not in tested]
    if missing:
        raise ValueError(f"{audit} is no audit of all claims: {len(missing)} were not tested, such as {missing[0]}")
    asked = ["git", "-C", str(results.FILE.parent), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    head = (data["version"], commit, f"{datetime.now(UTC):%Y-%m-%d}", results.code(), data["seed"], data["budget"])
    files.write(results.FILE, results.written(results.Shipped(*head, entries)))


if __name__ == "__main__":
    try:
        main(Path(*sys.argv[1:2]))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
