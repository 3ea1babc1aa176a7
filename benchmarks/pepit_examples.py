"""Both ends of the worst cases that PEPit's own examples pose, and how long they take beside PEPit itself.

``python -m benchmarks.pepit_examples [--seconds S] [--kept FILE.json] [--out FILE.md] [NAME ...]`` runs every example
of the installed package (those whose name holds a NAME), unedited, each in a process of its own, and writes a table:
PEPit's number, both exact bounds or the exact value, and the times of PEPit and of proving both ends. The search ends
after counted work; with ``--seconds`` it is stopped before. ``--kept``: where each row is kept as it comes, and taken
from in the next run, except that of an example that was stopped.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from verify.base import limits
from verify.pepit import capture, certifying


class Row(NamedTuple):
    """What is found of the last model of an example: numbers in floats, ``exact`` as text; seconds of wall time."""

    name: str
    pepit: float | None
    upper: float | None
    lower: float | None
    exact: str
    is_bound: bool | None
    rounded: int
    solving: float
    proving: float

    @property
    def ratio(self) -> float:
        """How many times as long as PEPit the proofs take."""
        return self.proving / self.solving

    @property
    def has_both(self) -> bool:
        """Return True if both ends are within 1e-6 of one another."""
        if self.upper is None or self.lower is None:
            return False
        return self.upper - self.lower <= 1e-6 * max(abs(self.upper), abs(self.lower))


def examples(names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The files of PEPit's examples that run as programs, by folder and name."""
    spec = importlib.util.find_spec("PEPit.examples")
    assert spec is not None and spec.submodule_search_locations
    root = Path(next(iter(spec.submodule_search_locations)))
    for file in sorted(root.glob("*/*.py")):
        name = f"{file.parent.name}/{file.stem}"
        if "__main__" in file.read_text(encoding="utf-8") and (not names or any(n in name for n in names)):
            yield name, file


def measured(name: str, file: Path) -> Row:
    """Solve and prove one example."""
    start = time.perf_counter()
    last = capture.run(file)[-1]
    solved = time.perf_counter()
    found = certifying.bounds(last.model, last.pepit, last.rounded)
    ended = time.perf_counter()
    upper = None if found.upper is None else float(found.upper.bound)
    lower = None if found.lower is None else float(found.lower.bound)
    exact = "" if found.exact is None else str(found.exact)
    if len(exact) > _SHORT:
        exact = "a root" if "sqrt" in exact else "a fraction"
    return Row(
        name, last.pepit, upper, lower, exact, found.pepit_is_bound, last.rounded, solved - start, ended - solved
    )


#: The longest exact value that is printed.
_SHORT = 36


def table(rows: Sequence[Row], failed: Sequence[tuple[str, str]]) -> str:
    """The table in Markdown, with what it comes to."""
    number = "{:.9g}".format
    lines = ["| example | PEPit | upper bound | lower bound | worst case | PEPit, s | proofs, s |", "|---" * 7 + "|"]
    for row in rows:
        pepit = "" if row.pepit is None else number(row.pepit) + (" (no bound)" if row.is_bound is False else "")
        ends = [("" if end is None else number(end)) + ("~" if row.rounded else "") for end in (row.upper, row.lower)]
        lines.append(
            f"| {row.name} | {pepit} | {' | '.join(ends)} | {row.exact} | {row.solving:.2f} | {row.proving:.2f} |"
        )
    both, exact = sum(row.has_both for row in rows), sum(bool(row.exact) for row in rows)
    wrong = sum(row.is_bound is False for row in rows)
    total = len(rows) + len(failed)
    summary = [
        f"Of {total} examples {both} have both ends within 1e-6, {exact} of these an exact value; PEPit's number is "
        f"below an exact instance in {wrong}. Median time of the proofs: "
        f"{statistics.median([row.proving for row in rows]):.2f} s, of PEPit: "
        f"{statistics.median([row.solving for row in rows]):.2f} s; median of their ratios: "
        f"{statistics.median([row.ratio for row in rows]):.1f}."
    ]
    summary += [f"Not done: {name} ({why})." for name, why in failed]
    return "\n".join([*summary, "", *lines, ""])


def main() -> None:
    """Measure, print each row as it comes, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, metavar="S")
    parser.add_argument("--kept", type=Path, metavar="FILE.json")
    parser.add_argument("--out", type=Path, metavar="FILE.md")
    args = parser.parse_args()
    kept: dict[str, Row] = {}
    if args.kept is not None and args.kept.exists():
        kept = {row[0]: Row(*row) for row in json.loads(args.kept.read_text(encoding="utf-8"))}
    rows: list[Row] = []
    failed: list[tuple[str, str]] = []
    for name, file in examples(args.names):
        if name in kept:
            rows.append(kept[name])
            continue
        try:
            rows.append(limits.limited(partial(measured, name, file), args.seconds, name=name))
            kept[name] = rows[-1]
            if args.kept is not None:
                args.kept.write_text(json.dumps([*kept.values()], indent=1), encoding="utf-8")
            print(*rows[-1], flush=True)
        except ValueError as error:
            failed.append((name, str(error).removeprefix(f"{name}: ")))
            print(*failed[-1], flush=True)
        if args.out is not None and rows:
            args.out.write_text(table(rows, failed), encoding="utf-8")
    print(table(rows, failed).split("\n\n")[0])


if __name__ == "__main__":
    main()
