"""Every implementation of the conformance tests, right and with each slip, over many seeds: verdicts and seconds.

    python benchmarks/conformance.py [--seeds 0:100] [--only WORD ...] [--full] [--results FILE.jsonl]

One process. Each verdict is a line of the results file, written as it is found; a verdict that is there is not found
again, so that a run that was stopped goes on. The table says of each slip at how many seeds it was rejected, and with a
message that names it, of each right implementation at how many it was accepted, and the most CPU seconds that one test
took. ``--full``: compressors with as many calls as a user makes who says nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import implementations
import planted_compressors

from benchmarks.timing import Line
from fedtheory import algorithms
from verify import conformance
from verify.conformance.scenarios import known


class Trial(NamedTuple):
    """``words``: what the message must hold, or None for what is right; ``test(seed)`` gives the report."""

    what: str
    slip: str
    words: str | None
    test: Callable[[int], Any]


def trials(full: bool) -> Iterator[Trial]:
    """All implementations, algorithms first."""
    for form, (*_, slips) in implementations.FORMS.items():
        for slip, words in {None: None, **slips}.items():

            def test(seed: int, form: str = form, slip: str | None = slip) -> Any:
                return implementations.report_of(form, slip, seed)

            yield Trial(form, slip or "", words, test)
    d, samples = planted_compressors.D, {} if full else {"samples": planted_compressors.SAMPLES}
    right = {name: (compress, options, None) for name, (compress, options) in planted_compressors.RIGHT.items()}
    for table in (right, planted_compressors.WRONG):
        for name, (compress, options, words) in table.items():
            given = {k: v for k, v in options.items() if not (full and k == "samples")}

            def test(seed: int, compress: Any = compress, given: dict[str, Any] = given) -> Any:
                return conformance.compressor(planted_compressors.made(compress), d, seed=seed, **{**samples, **given})

            yield Trial(f"compressor {name}" if words is None else "compressor", name if words else "", words, test)


def found(trial: Trial, seed: int) -> dict[str, Any]:
    """The verdict of one test."""
    begun = time.process_time()
    report = trial.test(seed)
    seconds = time.process_time() - begun
    named = bool(report.failures) and trial.words is not None and trial.words in report.failures[0].evidence
    return {
        "what": trial.what,
        "slip": trial.slip,
        "seed": seed,
        "ok": report.ok,
        "named": named,
        "seconds": round(seconds, 3),
        "said": "" if report.ok == (trial.words is None) and named == (trial.words is not None) else str(report),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The verdicts by implementation and slip, as Markdown, and one line of totals."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        grouped[row["what"], row["slip"]].append(row)
    lines = ["| implementation | slip | rejected | named | worst CPU s |", "| --- | --- | --- | --- | --- |"]
    for (what, slip), own in grouped.items():
        many = len(own)
        rejected, named = sum(not r["ok"] for r in own), sum(r["named"] for r in own)
        worst = max(r["seconds"] for r in own)
        names = f"{named} of {many}" if slip else ""
        lines.append(f"| {what} | {slip or '(right)'} | {rejected} of {many} | {names} | {worst:.2f} |")
    wrong = [r for r in rows if r["slip"]]
    right = [r for r in rows if not r["slip"]]
    lines.append("")
    lines.append(
        f"{len(wrong)} tests of slips: {sum(r['ok'] for r in wrong)} accepted, {sum(not r['named'] for r in wrong)} "
        f"not named; {len(right)} tests of what is right: {sum(not r['ok'] for r in right)} rejected; worst "
        f"{max((r['seconds'] for r in rows), default=0):.1f} CPU s"
    )
    return "\n".join(lines)


def of_references(drawing: bool) -> Any:
    """A provider of all references, whose steps are given draws, or make them."""

    def stepping(name: str) -> Callable[..., Any]:
        own = algorithms.get(name)

        def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
            before = own.State(**{letter: state[letter] for letter in own.State._fields})
            drawn = own.draws(problem, params, before).sample(draw, ()) if drawing else draw
            return own.step(problem, params, before, drawn)._asdict()

        return step

    how = {"randomness": "rng" if drawing else "draw"}
    return {"algorithms": {name: {"step": stepping(name), **how} for name in known()}}


def batteries() -> Iterator[Line]:
    """Processor seconds of a provider's battery of all references."""
    for drawing in (False, True):
        begun = time.process_time()
        report = conformance.battery(of_references(drawing))
        seconds = time.process_time() - begun
        what = f"all {len(known())} references, {'draws of their own' if drawing else 'given draws'}"
        yield Line("battery", what, seconds, "s", at_most=60, note="conforms" if report.ok else "does NOT conform")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--seeds", default="0:100", metavar="A:B", help="seeds A to B - 1 (0:100)")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="implementations with such a word")
    parser.add_argument("--full", action="store_true", help="compressors with the default number of calls")
    parser.add_argument("--results", type=Path, metavar="FILE", help="verdicts, one a line, to go on from")
    given = parser.parse_args(arguments)
    first, _, last = given.seeds.partition(":")
    if not (first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        parser.error(f"--seeds must be A:B with A < B, got {given.seeds}")
    rows: list[dict[str, Any]] = []
    if given.results and given.results.exists():
        rows = [json.loads(line) for line in given.results.read_text().splitlines()]
    known = {(r["what"], r["slip"], r["seed"]) for r in rows}
    chosen = [t for t in trials(given.full) if not given.only or any(word in t.what for word in given.only)]
    try:
        for seed in range(int(first), int(last)):
            for trial in chosen:
                if (trial.what, trial.slip, seed) in known:
                    continue
                rows.append(found(trial, seed))
                if given.results:
                    with given.results.open("a") as file:
                        print(json.dumps(rows[-1]), file=file)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
    print(table(rows))
    bad = [r for r in rows if r["said"]]
    for row in bad:
        print(f"\nseed {row['seed']}: {row['said']}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
