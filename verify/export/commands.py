"""The command ``fedtheory export``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.claims import Claim

FORMATS = ("json", "latex", "rocq")
#: The default folder of proofs, under the current directory.
DEFAULT_OUT = "fedtheory-proofs"
_EXPORT = """\
Write the shipped proofs and refutations of claims as files that do not need this package. json: one object for each
case or choice of the parameters, with every number in the proof or the arithmetic that refutes the claim, and
checker.py, a single file of standard Python that checks them; an object that only this package can recompute says so.
latex: a proof of each claim to read, every formula of which was parsed back and checked. rocq (Coq 8.16): one file for
each claim, which states and proves it in every inner-product space, or the arithmetic, and Gram.v, on which they
depend; run `coqc Gram.v` first. Claims that are proved by a computation instead are reported.
"""


def register(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; ``command(name, run, help, *examples, description, found)`` makes a parser."""
    exporting = command(
        "export",
        f"{__name__}.run_export",
        "write proofs as files that can be checked independently",
        "fedtheory export baseline/diana/one-step --out proofs && python proofs/checker.py proofs/*.json",
        description=_EXPORT,
        found="one of the claims has no proof object",
    )
    exporting.add_argument(
        "names", nargs="*", metavar="PAPER-OR-ID", help="papers, claims or prefixes of ids (default: all)"
    )
    exporting.add_argument(
        "--own",
        type=Path,
        metavar="FILE.py",
        help="a Python file of your own, which is executed: export what is proved of its claims, or of those named",
    )
    exporting.add_argument("--all", action="store_true", help="export all claims, skipping those without a verdict")
    exporting.add_argument("--format", choices=FORMATS, default="json", help="output format (default: json)")
    exporting.add_argument(
        "--out", type=Path, metavar="DIR", default=Path(DEFAULT_OUT), help=f"output directory (default: {DEFAULT_OUT})"
    )


def run_export(args: Any) -> int:
    """Write the proof objects of claims; 1 where a claim has none."""
    import json
    import re
    from collections import Counter

    from fedtheory import claims
    from fedtheory.naming import file_name
    from verify import checker
    from verify.base import own
    from verify.export import found, latex, rocq
    from verify.export.objects import ProofObjects
    from verify.report import terminal
    from verify.results import files
    from verify.results.places import directory

    if args.all and args.names:
        raise ValueError("--all is of all claims: name none")
    if args.own is not None and args.all:
        raise ValueError("--all is of the registered claims: --own alone exports all of a file")
    selected = claims.select(args.names) if args.own is None else _chosen(own.load(args.own), args.names)
    directory(args.out)
    libraries = {"json": Path(checker.__file__), "rocq": rocq.LIBRARY}
    if library := libraries.get(args.format):
        files.write(args.out / library.name, library.read_text(encoding="utf-8"))
    without, kinds = False, Counter[str]()
    for claim in selected:
        try:
            if args.own is not None:
                proofs, why = found.of_own(claim)
                example = None if proofs else found.refuting(claim, own=True)
                if example is not None and args.format == "json":
                    proofs = found.of_refuted(claim, example)
            elif args.format == "json":
                proofs, why = ProofObjects.of(found.all_of(claim.id)), "it is neither proved, certified nor refuted"
            else:
                proofs, why = found.of_claim(claim.id)
            if args.own is None:
                example = found.refuting(claim, own=False)
            for data in proofs:
                checker.check(json.dumps(data))
            if args.format == "rocq" and any(len(data.get("steps", ())) > rocq.LONGEST for data in proofs):
                proofs, why = (
                    ProofObjects(),
                    f"its calculation has more than {rocq.LONGEST} steps, which take Rocq long to read",
                )
            elif args.format == "rocq" and not proofs and args.own is None:
                arithmetic = [data for data in found.all_of(claim.id) if data["kind"] == "arithmetic"]
                proofs = ProofObjects.of(arithmetic)
        except ValueError as error:
            # A stored proof that fails ends the export of a named claim, and is listed in an export of all.
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
        if example is not None:
            # There is no proof of it, whatever is written.
            without = without or args.own is not None
            print(f"{claim.id}: refuted: {terminal.refutation(example)}")
        elif not written:
            print(f"{claim.id}: {why}")
        without = without or not (written or args.all)
    print(f"objects: {', '.join(f'{kind} {count}' for kind, count in sorted(kinds.items())) or 'none'}")
    return int(without)


def _chosen(given: Sequence[Claim], names: Sequence[str]) -> list[Claim]:
    """The claims of a file that have these names, all where there are none. Raise ``ValueError`` for another name."""
    for name in names:
        if all(claim.id != name for claim in given):
            raise ValueError(f"the file has no claim {name!r}, but {', '.join(claim.id for claim in given)}")
    return [claim for claim in given if not names or claim.id in names]
