"""The command ``fedtheory export``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Where proofs are written unless told otherwise, under the current directory.
DEFAULT_OUT = "fedtheory-proofs"
_EXPORT = """\
Write the proofs of claims that the package carries as files that need nothing of it: a JSON object for each choice of
the parameters, with every number of the proof, which one file of standard Python checks. DIR receives the objects and
that file, checker.py. What is proved by a computation instead is told.
"""


def register(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; ``command(name, run, help, *examples, description, found)`` makes a parser."""
    exporting = command(
        "export",
        f"{__name__}.run_export",
        "write proofs as files that anybody can check",
        "fedtheory export baseline/diana/one-step --out proofs && python proofs/checker.py proofs/*.json",
        description=_EXPORT,
        found="there is no proof object of one of the claims",
    )
    exporting.add_argument("names", nargs="+", metavar="PAPER-OR-ID", help="papers, claims, beginnings of ids")
    exporting.add_argument(
        "--out", type=Path, metavar="DIR", default=Path(DEFAULT_OUT), help=f"write there (default: {DEFAULT_OUT})"
    )


def run_export(args: Any) -> int:
    """Write the proof objects of claims; 1 where a claim has none."""
    import json

    from fedtheory import claims
    from fedtheory.naming import file_name
    from verify import checker
    from verify.base import files
    from verify.export import objects

    selected = claims.select(args.names)
    args.out.mkdir(parents=True, exist_ok=True)
    files.write(args.out / "checker.py", Path(checker.__file__).read_text(encoding="utf-8"))
    without = False
    for claim in selected:
        found, why = objects.of_claim(claim.id)
        for k, data in enumerate(found, 1):
            path = args.out / f"{file_name(claim.id)}_{k}.json"
            files.write(path, json.dumps(data, indent=1) + "\n")
            print(path)
        if not found:
            without = True
            print(f"{claim.id}: {why}")
    return int(without)
