"""Has Rocq check files of proofs, and counts: ``python -m verify.export.prove DIR``.

A file is accepted if ``coqc`` compiles it within the time limit, and says at its end that its theorems rest on the
axioms of the library of reals and on nothing else.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import NamedTuple

#: On what the library of reals rests.
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}


class Answer(NamedTuple):
    """How many theorems of a file were accepted, in how many seconds, and if it was not why."""

    path: Path
    theorems: int
    seconds: float
    why: str = ""


def compiled(path: Path, limit: float = 300.0) -> Answer:
    """What Rocq says of a file, in its folder, where the library has been compiled."""
    start = monotonic()
    command = ["coqc", "-q", path.name]
    try:
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Answer(path, 0, monotonic() - start, f"it takes more than {limit:g} seconds")
    why = " ".join(done.stderr.split())[-300:] if done.returncode else rests_on(done.stdout)
    theorems = 0 if why else len(re.findall(r"^Theorem ", path.read_text(encoding="utf-8"), re.MULTILINE))
    return Answer(path, theorems, monotonic() - start, why)


def rests_on(said: str) -> str:
    """Why what ``Print Assumptions`` said is not right; empty where it is."""
    if said.strip() == "Closed under the global context":
        return ""
    lines = said.splitlines()
    if lines.count("Axioms:") != 1 or lines[0] != "Axioms:":
        return "it does not say once on what its theorems rest"
    named = {line.split()[0] for line in lines[1:] if line[:1].strip()}
    others = sorted(named - AXIOMS)
    return f"it rests on {', '.join(others)}" if others else ""


def main(arguments: list[str] | None = None) -> int:
    """Check all files of a folder; 1 where one is not accepted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where fedtheory export --format rocq wrote")
    parser.add_argument("--jobs", type=int, default=2, help="how many files at a time (default: 2)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a file (default: 300)")
    args = parser.parse_args(arguments)
    start = monotonic()
    library = subprocess.run(["coqc", "-q", "Gram.v"], cwd=args.folder, check=False)
    if library.returncode:
        return 1
    # The largest first, so that none is left to run alone at the end.
    paths = sorted(args.folder.glob("p_*.v"), key=lambda path: -path.stat().st_size)
    refused = theorems = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for answer in pool.map(lambda path: compiled(path, args.limit), paths):
            refused, theorems = refused + bool(answer.why), theorems + answer.theorems
            verdict = f"NOT ACCEPTED: {answer.why}" if answer.why else f"accepted, {answer.theorems} theorems"
            print(f"{answer.path.name}: {verdict}, {answer.seconds:.1f} s", flush=True)
    accepted = len(paths) - refused
    print(f"{accepted} files of {len(paths)} accepted, {theorems} theorems, {monotonic() - start:.0f} s")
    return int(refused > 0 or not paths)


if __name__ == "__main__":
    sys.exit(main())
