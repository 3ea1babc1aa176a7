"""What each command does: from its arguments, as :mod:`verify.cli` parses them, to its exit status.

Bad input is a ``ValueError`` or an ``OSError``, raised before any long work.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fedtheory import claims, tables
from verify import stored
from verify.audit import audit, to_json
from verify.checking import check
from verify.evidence import Evidence
from verify.report import statement, terminal

#: Over how many clients the data are split unless told otherwise.
DEFAULT_CLIENTS = 10
#: True cases of each distribution on which the sequential tests are calibrated.
CASES = 10_000


def run_audit(args: argparse.Namespace) -> int:
    """Test claims, write what was found, and run the algorithms on real data."""
    # Loading scikit-learn and matplotlib takes as long as all other commands.
    from fedtheory.data import bundled, load_libsvm
    from verify import measure
    from verify.report import figures

    begun = time.perf_counter()
    # All input is checked before the long work.
    selected = claims.select(args.names)
    asked = args.data is not None or args.clients is not None
    papers, ids = {c.paper for c in selected}, {c.id for c in selected}
    bounds = [id for id in measure.MEASURED if (id.split("/")[0] in papers if asked else id in ids)]
    planned: tuple[measure.Experiment, ...] = ()
    if bounds:
        data = bundled() if args.data is None else load_libsvm(args.data)
        planned = measure.experiments(data, args.clients or DEFAULT_CLIENTS, args.seed, bounds)
    out = _directory(Path(args.out))
    to_stdout = args.json == "-"
    copy = None if args.json is None or to_stdout else _writable(Path(args.json))

    log = terminal.console(sys.stderr)
    report = log if to_stdout else terminal.console(sys.stdout)
    with terminal.progress(log, "claims", len(selected)) as advance:
        arrived: list[Evidence] = []

        def arrive(evidence: Evidence) -> None:
            arrived.append(evidence)
            advance(terminal.brief(evidence))

        try:
            found = audit(selected, args.seed, args.budget, args.jobs, arrive)
        except KeyboardInterrupt:
            # What is known by now is kept.
            _write(_text(arrived, args), out, copy)
            raise
    text = _text(found, args)
    _write(text, out, copy)
    if to_stdout:
        sys.stdout.write(text)
        sys.stdout.flush()
    _save_counterexamples(found, out / "counterexamples")
    report.print(terminal.verdicts(found))
    _say(report, *terminal.remarks(found), *terminal.coverage(found))
    _say(report, terminal.summary(found, time.perf_counter() - begun))

    for experiment in planned:
        title = f"{experiment.name}: {experiment.seeds} seeds, {experiment.rounds} {experiment.unit}s"
        _say(log, f"running {title}")
        with terminal.progress(log, title, experiment.rounds + 1) as advance:
            measured = measure.measure(experiment, args.seed, advance)
        figure = out / f"{experiment.paper}.png"
        figures.draw(measured, figure)
        _say(report, f"{experiment.name}: {figure}", *(f"  {line}" for line in experiment.setup))
        _say(report, *(f"  {line}" for curve in measured.curves for line in (curve.sentence, curve.verdict)))
    return 0


def _text(found: Sequence[Evidence], args: argparse.Namespace) -> str:
    return json.dumps(to_json(found, args.seed, args.budget), indent=2) + "\n"


def _write(text: str, out: Path, copy: Path | None) -> None:
    for path in (out / "audit.json", *([copy] if copy else [])):
        path.write_text(text, encoding="utf-8")


def _directory(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the directory {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write to the directory {path}")
    return path


def _writable(path: Path) -> Path:
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"cannot write the file {path}")
    return path


def _save_counterexamples(found: Sequence[Evidence], directory: Path) -> None:
    for evidence in found:
        if evidence.counterexample is not None:
            directory.mkdir(exist_ok=True)
            path = directory / f"{evidence.claim.id.replace('/', '_')}.json"
            path.write_text(json.dumps(evidence.counterexample.to_json(), indent=2) + "\n", encoding="utf-8")


def run_show(args: argparse.Namespace) -> int:
    """A claim in words, and the evidence for it; or its statement in LaTeX."""
    claim = claims.get(args.id)
    if args.latex:
        print(statement.latex(claim))
        return 0
    report = terminal.console(sys.stdout)
    _say(report, *terminal.description(claim))
    sys.stdout.flush()
    evidence = check(claim, args.seed, args.budget)
    repaired = [c for c in claims.all() if c.repairs == claim.id]
    _say(report, *terminal.findings(evidence, repaired))
    return 0


def run_list(args: argparse.Namespace) -> int:
    """A table of the claims."""
    terminal.console(sys.stdout).print(terminal.claims_table(claims.select(args.names)))
    return 0


def run_replay(args: argparse.Namespace) -> int:
    """Evaluate a stored counterexample again; 1 if it differs from what was stored, or contradicts nothing."""
    found = stored.replay(args.file)
    agreement = "agree with" if found.same else "DIFFER from"
    conflict = "contradict" if found.fails else "do NOT contradict"
    _say(
        terminal.console(sys.stdout),
        f"{found.id}  ({found.where})",
        f"  {found.gist}",
        f"  {found.text}",
        f"claimed     left {found.relation} right",
        *(
            f"{title:<12}{terminal.shown(left)} {found.relation} {terminal.shown(right)}"
            for title, (left, right) in (("stored", found.before), ("recomputed", found.now))
        ),
        f"the recomputed sides {agreement} the stored ones and {conflict} the claim",
    )
    return 0 if found.same and found.fails else 1


def run_table(args: argparse.Namespace) -> int:
    """A complexity table, at values if given."""
    # Deriving orders takes scipy, which the other commands do not need.
    from fedtheory.rendering import render

    values = tables.assignments(args.at)
    table = tables.get(args.name)
    sys.stdout.write(render(table.at(values) if values else table, args.format))
    return 0


def run_map(args: argparse.Namespace) -> int:
    """Draw which method of a table wins where."""
    # Loading matplotlib takes as long as all other commands.
    from fedtheory.regions import axis, regions
    from verify.report import map as maps

    x, y, out = axis(args.x), axis(args.y), _writable(args.out)
    if out.suffix.lower() != ".png":
        raise ValueError(f"a map is a PNG file: a name that ends in .png was expected, got {out}")
    found = regions(tables.get(args.name), x, y, tables.assignments(args.at))
    maps.draw(found, out)
    _say(terminal.console(sys.stdout), *maps.words(found), str(out))
    return 0


def run_selftest(args: argparse.Namespace) -> int:
    """Test the checker on mutants, search the claims that hold for false alarms, and calibrate the sequential tests."""
    from verify.methods import sampled
    from verify.mutation import selftest
    from verify.report import selftest as told
    from verify.statistics import calibration

    copy = None if args.json is None else _writable(Path(args.json))
    log, report = terminal.console(sys.stderr), terminal.console(sys.stdout)
    holding = selftest.holding(args.jobs)
    every = selftest.bank(holding)
    mutants = selftest.sample(every, args.mutants)
    trials: list[selftest.Trial] = []
    alarms: tuple[selftest.Alarm, ...] = ()
    by_id = {m.id: m for m in mutants}
    seeds = range(args.seed, args.seed + args.seeds)
    try:
        with terminal.progress(log, "mutants", len(mutants)) as advance:
            for trial in selftest.trials(mutants, args.seed, args.budget, args.jobs):
                trials.append(trial)
                advance(told.brief(trial, by_id[trial.id]))
        with terminal.progress(log, "claims that hold", len(holding) * len(seeds)) as advance:
            alarms = selftest.alarms(holding, seeds, args.jobs, advance)
    finally:
        # What is known by now is kept.
        if copy is not None:
            found = told.to_json(trials, mutants[: len(trials)], alarms)
            copy.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    _say(report, *told.left_over(trials, mutants), f"{len(mutants)} of {len(every)} mutants")
    report.print(told.by_operator(trials, mutants))
    report.print(told.by_method(trials))
    _say(report, *told.sentences(trials, args.budget), *told.false_alarms(alarms, len(holding), len(seeds)))
    strict, loose = (
        told.Calibration(level, CASES, calibration.false_alarms(CASES, level, args.seed))
        for level in (float(sampled.TOTAL), 0.05)
    )
    _say(report, *told.calibrated(strict, loose, calibration.power(seed=args.seed)))
    return 0


def run_tight(args: argparse.Namespace) -> int:
    """Compare what a claim prints with its worst case, and draw both."""
    # Loading matplotlib takes as long as all other commands.
    from verify.report import tight
    from verify.tightness import sweep

    claim, out = claims.get(args.id), _writable(args.out)
    if out.suffix.lower() != ".png":
        raise ValueError(f"the figure is a PNG file: a name that ends in .png was expected, got {out}")
    at = sweep.letters(args.at)
    log, report = terminal.console(sys.stderr), terminal.console(sys.stdout)
    with terminal.progress(log, "points", len(sweep.grid(claim, at))) as advance:
        points = sweep.measure(claim, at, args.jobs, advance)
    for table in tight.tables(points):
        report.print(table)
    tight.draw(claim, points, out)
    repaired = [f"repaired: {c.id}" for c in claims.all() if c.repairs == claim.id]
    _say(report, str(out), *tight.words(points), *repaired)
    return 0


def _say(to: Console, *lines: str) -> None:
    for line in lines:
        to.print(line, soft_wrap=True)
