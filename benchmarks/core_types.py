"""The same checks as on other processors: OpenBLAS takes the kernels of the core type that its environment names.

``python -m benchmarks.core_types --out build/core_types`` checks what is carried of claims once for each core type and
seed, as an audit does, in processes of their own, and compares verdicts, margins and counts; with ``--from-scratch``
all is found anew, in a directory of its own. What a check finds is a file of its own: a run that was ended
goes on when the same command is given again, and what the code of before found is found anew. The status is 1 where
verdicts differ. On other processors than x86-64 the names change nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from fedtheory.naming import file_name
from verify import results

#: One of each family of kernels, by the instructions that they take.
CORES = ("Haswell", "Zen", "SkylakeX", "Nehalem", "Sandybridge", "Prescott")
#: Methods whose outcomes rest on a solver.
SOLVED = ("worst cases", "derivation")
#: What is compared, and must be the same; the first decides the status.
COMPARED = ("verdict", "margin", "instances", "left_open", "certificates")


def sensitive() -> list[str]:
    """The claims of which a solver decided something in the results that the package carries."""
    entries = results.shipped().entries
    return [
        id for id, entry in entries.items() if any(o["method"] in SOLVED and o["applied"] for o in entry["outcomes"])
    ]


def version() -> str:
    """Of which code, and with which carried results, a check is."""
    return f"{results.code()} {results.shipped().commit}"


def place(out: Path, core: str, seed: int, id: str) -> Path:
    """Where the check of a claim is kept."""
    return out / core / str(seed) / f"{file_name(id)}.json"


def read(path: Path, code: str) -> dict[str, Any] | None:
    """What was found by this code, None where it is not there or was cut off."""
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if found["code"] == code else None


def work(ids: Sequence[str], core: str, seed: int, out: Path, scratch: bool) -> None:
    """Checks the claims in this process, and keeps what is found."""
    from fedtheory import claims
    from verify import check
    from verify.base.verdict import Verdict

    kernels = sorted({f"{lib['filepath'].split('/')[-2]}: {lib['architecture']}" for lib in threadpool_info()})
    # As in an audit, what follows from others comes after them, and is told what was found of these.
    code = version()
    kept = [entry for path in (out / core / str(seed)).glob("*.json") if (entry := read(path, code)) is not None]
    known = {entry["id"]: Verdict(entry["verdict"]) for entry in kept}
    for claim in sorted(map(claims.get, ids), key=lambda claim: bool(claim.follows)):
        evidence = check(claim, seed, known=known, carried=None if scratch else results.carried(claim))
        known[claim.id] = evidence.verdict
        found = evidence.to_json()
        solved = [o for o in evidence.outcomes if o.method in SOLVED]
        told = {name: found[name] for name in ("id", "verdict", "margin", "instances", "seconds")}
        told["left_open"] = sum(len(o.left_open) for o in solved)
        told["certificates"] = sum(len(o.certificates) + sum(len(d.parts) for d in o.derived) for o in solved)
        told["fallen"] = list(evidence.fallen)
        path = place(out, core, seed, claim.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps({**told, "core": core, "seed": seed, "kernels": kernels, "code": code}))
        part.replace(path)


def started(ids: Sequence[str], core: str, seed: int, out: Path, scratch: bool) -> int:
    """The exit status of a process that checks those of the claims that are not kept yet."""
    code = version()
    left = [id for id in ids if read(place(out, core, seed, id), code) is None]
    if not left:
        return 0
    arguments = ["--worker", core, "--seeds", str(seed), "--out", str(out), "--claims", *left]
    arguments += ["--from-scratch"] if scratch else []
    # An empty name is OpenBLAS's own choice.
    env = {**os.environ, "OPENBLAS_CORETYPE": core}
    return subprocess.run([sys.executable, "-m", "benchmarks.core_types", *arguments], env=env, check=False).returncode


def table(ids: Sequence[str], cores: Sequence[str], seeds: Sequence[int], out: Path) -> Iterator[str]:
    """A line for each core type and seed, and one for each claim of which not all say the same."""
    code, told = version(), defaultdict[tuple[int, str], dict[str, Any]](dict)
    for core in cores:
        for seed in seeds:
            found = [entry for id in ids if (entry := read(place(out, core, seed, id), code)) is not None]
            for entry in found:
                told[seed, entry["id"]][core] = entry
                yield from (f"FALLEN {core} seed {seed} {entry['id']}: {why}" for why in entry["fallen"])
            verdicts = Counter(entry["verdict"] for entry in found)
            words = ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items()))
            programs = ", ".join(f"{sum(e[name] for e in found)} {name}" for name in ("certificates", "left_open"))
            yield f"{core:<12} seed {seed}: {len(found)} of {len(ids)} claims: {words}; {programs}"
    for (seed, id), of_cores in told.items():
        for what in COMPARED:
            values = {core: entry[what] for core, entry in of_cores.items()}
            if len(set(map(str, values.values()))) > 1:
                yield f"DIFFERS seed {seed} {id}: {what} " + ", ".join(f"{v} ({core})" for core, v in values.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 where a verdict differs, or a check has failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", nargs="+", default=CORES, help="core types, as OpenBLAS calls them")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--claims", nargs="+", help="ids; all of which a solver decides something, unless given")
    parser.add_argument("--every", action="store_true", help="all claims")
    parser.add_argument("--from-scratch", action="store_true", help="find everything anew, whatever is carried")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--out", type=Path, default=Path("build/core_types"))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    ids = given.claims or (list(results.shipped().entries) if given.every else sensitive())
    if given.worker is not None:
        work(ids, given.worker, given.seeds[0], given.out, given.from_scratch)
        return 0
    if given.from_scratch:
        given.out = given.out / "from-scratch"
    pairs = [(core, seed) for seed in given.seeds for core in given.cores]
    with ThreadPoolExecutor(given.jobs) as pool:
        failed = [
            status
            for status in pool.map(lambda pair: started(ids, *pair, given.out, given.from_scratch), pairs)
            if status
        ]
    lines = list(table(ids, given.cores, given.seeds, given.out))
    print("\n".join(lines))
    return int(bool(failed) or any(f": {COMPARED[0]} " in line for line in lines if line.startswith("DIFFERS")))


if __name__ == "__main__":
    sys.exit(main())
