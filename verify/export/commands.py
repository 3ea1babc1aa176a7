"""The command ``fedtheory export``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORMATS = ("json", "latex", "rocq")
#: Where proofs are written unless told otherwise, under the current directory.
DEFAULT_OUT = "fedtheory-proofs"
_EXPORT = """\
Write the proofs and refutations of claims that the package carries as files that need nothing of it. As JSON: an object
for each case or choice of the parameters, with every number of the proof, or the arithmetic that breaks a claim, and
checker.py, one file of standard Python that checks them; what is only to be computed again by this package says so.
As LaTeX: the proof of each claim for people, every formula of which was read again and checked. For Rocq (Coq 8.16): a
file for each claim, whose theorems are what is proved, in every inner-product space, or the arithmetic, and Gram.v,
from which they follow; `coqc Gram.v` first. What is proved by a computation instead is told.
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
    exporting.add_argument(
        "names", nargs="*", metavar="PAPER-OR-ID", help="papers, claims, beginnings of ids (default: all)"
    )
    exporting.add_argument("--all", action="store_true", help="of all claims: those without a verdict are passed over")
    exporting.add_argument("--format", choices=FORMATS, default="json", help="how to write them (default: json)")
    exporting.add_argument(
        "--out", type=Path, metavar="DIR", default=Path(DEFAULT_OUT), help=f"write there (default: {DEFAULT_OUT})"
    )


def run_export(args: Any) -> int:
    """Write the proof objects of claims; 1 where a claim has none."""
    import json
    import re
    from collections import Counter

    from fedtheory import claims
    from fedtheory.naming import file_name
    from verify import checker
    from verify.base import files
    from verify.export import found, latex, rocq

    if args.all and args.names:
        raise ValueError("--all is of all claims: name none")
    selected = claims.select(args.names)
    args.out.mkdir(parents=True, exist_ok=True)
    libraries = {"json": Path(checker.__file__), "rocq": rocq.LIBRARY}
    if library := libraries.get(args.format):
        files.write(args.out / library.name, library.read_text(encoding="utf-8"))
    without, kinds = False, Counter[str]()
    for claim in selected:
        try:
            if args.format == "json":
                proofs, why = found.all_of(claim.id), "it is neither proved, certified nor refuted"
            else:
                proofs, why = found.of_claim(claim.id)
            if args.format == "rocq" and not proofs:
                proofs = [data for data in found.all_of(claim.id) if data["kind"] == "arithmetic"]
        except ValueError as error:
            # What is carried and does not hold ends the export of what is named, and is told among all.
            if not args.all:
                raise
            print(f"{claim.id}: {error}")
            without = True
            continue
        kinds.update(data["kind"] for data in proofs)
        name, written = file_name(claim.id), {}
        if args.format == "json":
            written = {f"{name}_{k}.json": json.dumps(data, indent=1) + "\n" for k, data in enumerate(proofs, 1)}
        elif proofs:
            try:
                if args.format == "latex":
                    written = {f"{name}.tex": latex.checked(claim, proofs)}
                else:
                    # Rocq's files are named as its modules.
                    written = {f"p_{re.sub(r'[^A-Za-z0-9]', '_', name)}.v": rocq.text(proofs)}
            except ValueError as error:
                why = str(error)
        for path, text in written.items():
            files.write(args.out / path, text)
            print(args.out / path)
        if not written:
            without = without or not args.all
            print(f"{claim.id}: {why}")
    print(f"objects: {', '.join(f'{kind} {count}' for kind, count in sorted(kinds.items())) or 'none'}")
    return int(without)
