"""Has Rocq check files of proofs, and counts: ``python -m verify.export.prove DIR``.

A file is accepted if it has nothing but what the export writes, upon the library that the export writes, if ``coqc``
compiles it within the time limit, and says at its end that all its theorems rest on the axioms of the library of reals
and on nothing else.
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

from verify.export.rocq import LIBRARY

_NAME = r"(?:proof_[0-9]+_step_[0-9]+|calculation_[0-9]+)"
#: The sentences of a file, in which nothing else is defined, assumed or left unproved.
_SENTENCES = re.compile(
    "From Coq Require Import QArith Reals ZArith List Ring_polynom Lra|Require Import Gram|Import ListNotations"
    r"|Local Open Scope R_scope|Proof|Qed|vm_cast_no_check \(eq_refl true\)|intros [\w' ]+"
    rf"|Definition {_NAME}_(?:claim : claim|proof : proof|lines : list line) := .*"
    rf"|Lemma (?P<of>{_NAME})_checked : (?:check (?P=of)_claim (?P=of)_proof|calculate \[\] (?P=of)_lines) = true"
    rf"|Theorem (?P<theorem>{_NAME}) : .*"
    r"|Example (?P<example>inside_[0-9]+) : exists .*|exists [0-9/(), -]+|repeat split; lra"
    rf"|exact \((?:holds _ _ {_NAME}_checked E .*|calculated _ \[\] {_NAME}_checked)\)"
)
_END = re.compile(r"Definition all_of_them := \(([\w, ]+)\)\.\s+Print Assumptions all_of_them\.\s*")
#: On what the library of reals rests.
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}


class Answer(NamedTuple):
    """The number of theorems of a file that were accepted, the seconds, and the reason if it was not accepted."""

    path: Path
    theorems: int
    seconds: float
    why: str = ""


def compiled(path: Path, limit: float = 300.0) -> Answer:
    """Return Rocq's answer on a file, run in its folder, where the library has been compiled."""
    start = monotonic()
    text = path.read_text(encoding="utf-8")
    if why := misshapen(text):
        return Answer(path, 0, 0.0, why)
    command = ["coqc", "-q", path.name]
    try:
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Answer(path, 0, monotonic() - start, f"it takes more than {limit:g} seconds")
    why = " ".join(done.stderr.split())[-300:] if done.returncode else rests_on(done.stdout)
    theorems = 0 if why else len(re.findall(r"^Theorem ", text, re.MULTILINE))
    return Answer(path, theorems, monotonic() - start, why)


def misshapen(text: str) -> str:
    """Why a file is not one that the export writes; empty where it is. What its theorems say is for people to read."""
    plain = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    if not text.isascii() or '"' in text or "(*" in plain or "*)" in plain:
        return "it has other comments, texts or signs than are written"
    body, _, end = plain.rpartition("Definition all_of_them")
    closing = _END.fullmatch(f"Definition all_of_them{end}")
    if closing is None:
        return "it does not end by asking on what its theorems rest"
    theorems = []
    for sentence in re.split(r"\.(?=\s)", body):
        plain = " ".join(sentence.split())
        found = _SENTENCES.fullmatch(plain)
        if plain and found is None:
            return f"it has a sentence that is not written: {plain[:80]}"
        name = found and (found["theorem"] or found["example"])
        theorems += [name] if name else []
    return "" if closing[1].split(", ") == theorems else "it does not ask of all its theorems on what they rest"


def rests_on(output: str) -> str:
    """Return why the ``output`` of ``Print Assumptions`` is not acceptable; empty if it is."""
    if output.strip() == "Closed under the global context":
        return ""
    lines = output.splitlines()
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
    if (args.folder / LIBRARY.name).read_bytes() != LIBRARY.read_bytes():
        print(f"{LIBRARY.name}: NOT ACCEPTED: it is another library", flush=True)
        return 1
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
