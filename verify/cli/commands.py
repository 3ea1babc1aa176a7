"""The commands: each takes the arguments parsed by :mod:`verify.cli.arguments` and returns its exit status.

Bad input is a ``ValueError`` or an ``OSError``, raised before any long work.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from fedtheory import claims, naming, tables
from verify import checker, results
from verify.audit import sweeping
from verify.base import limits
from verify.base.plain import clean, counted
from verify.cli import answering, own_files, tightening
from verify.cli.arguments import parser
from verify.evidence import certificates, counterexamples, formats, references
from verify.pep.prover import DoesNotHold
from verify.report import consoles, outcomes, terminal
from verify.results import files
from verify.results.places import writable

#: True cases of each distribution on which the sequential tests are calibrated.
CASES = 10_000
#: Bytes of a proof object: it has numbers of thousands of digits.
_PROOF_BYTES = 50_000_000
_PROOF_SHOWS = {
    "identity": "it is an identity with weights that are shown to be nonnegative: what is known implies the target",
    "arithmetic": "every step was calculated again, in fractions, and what is compared is so",
    "recomputation": "nothing of it is in this file, and so nothing is checked here",
}


def run_completion(args: argparse.Namespace) -> int:
    """A script for a shell, on stdout."""
    from verify.cli import completion

    sys.stdout.write(completion.script(args.shell, parser(), [c.id for c in claims.all()]))
    return 0


def run_replay(args: argparse.Namespace) -> int:
    """Evaluate a stored counterexample, or check a stored certificate, again; 1 if it differs from what was stored, or
    contradicts or proves nothing."""
    own_files.loaded(args.own)
    if (proof := _proof_object(args.file)) is not None:
        lines, stands = proof
        consoles.say(consoles.console(sys.stdout), *lines)
        return 0 if stands else 1
    if (best := _best(args.file)) is not None:
        return best
    if (after := tightening.replayed(args.file)) is not None:
        return after
    entry = None if args.file.exists() else _carried(args.file.as_posix())
    checked = None if entry else _limited_certificate(args.file)
    if checked is not None:
        described, failure = checked
        holds = "holds: every step was posed again and is proved by its multipliers, in exact arithmetic"
        outcome = f"does NOT hold: {failure}" if failure else holds
        consoles.say(consoles.console(sys.stdout), *described, f"the certificate {outcome}")
        return 1 if failure else 0
    found = counterexamples.replay_entry(entry) if entry else counterexamples.replay(args.file)
    agreement = "agree with" if found.same else "DIFFER from"
    conflict = "contradict" if found.fails else "do NOT contradict"
    consoles.say(
        consoles.console(sys.stdout),
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


def _proof_object(path: Path) -> tuple[list[str], bool] | None:
    """Check a proof object: return the lines to print and whether it holds, or None if the file contains none."""
    try:
        data = formats.read(path, _PROOF_BYTES)
    except ValueError:
        return None
    if not isinstance(data, dict) or data.get("format") != checker.FORMAT:
        return None
    lines, holds = limits.limited(lambda: _proof_checked(path), limits.SECONDS, limits.BYTES, str(path))
    return [clean(line) for line in lines], holds


def _proof_checked(path: Path) -> tuple[list[str], bool]:
    try:
        found = checker.check(path.read_text(encoding="utf-8"))
        return _proof_lines(formats.checked("proof", found)), True
    except ValueError as error:
        return [f"{path}: the object does NOT hold: {error}"], False


def _proof_lines(found: dict[str, Any]) -> list[str]:
    lines = [found["claim"], *(f"  {line}" for line in found["says"])]
    if at := found.get("at"):
        lines.append("  at " + ", ".join(f"{name} = {value}" for name, value in at.items()))
    for program in found.get("programs", ()):
        lines += [program["claimed"], *(f"    by {item['words']}" for item in program["known"])]
        lines.append(f"    and squares: {len(program['squares'])}")
    if steps := found.get("steps"):
        lines.append(f"  in {counted(len(steps), 'step')}")
    return [*lines, f"{found['kind']}: {_PROOF_SHOWS[found['kind']]}"]


def _best(path: Path) -> int | None:
    """Check the best number in a file again: 1 where one of its ends is not shown, None where there is none."""
    if not path.exists() or not formats.is_of("best", path):
        return None
    # Loading what searches takes longer than the other checks.
    from verify.best import record, words

    found = record.load(path)

    def failure() -> str:
        try:
            found.check()
        except DoesNotHold as error:
            return str(error)
        return ""

    why = limits.limited(failure, limits.SECONDS, limits.BYTES, str(path))
    outcome = (
        f"does NOT hold: {why}"
        if why
        else "holds: each end that is reported was shown again, in exact arithmetic, without a solver"
    )
    consoles.say(consoles.console(sys.stdout), *words.report_lines(found), f"the interval {outcome}")
    return 1 if why else 0


def _limited_certificate(path: Path) -> tuple[list[str], str] | None:
    """As :func:`_checked_certificate`, with limits on time and memory."""
    return limits.limited(lambda: _checked_certificate(path), limits.SECONDS, limits.BYTES, str(path))


def _carried(id: str) -> dict[str, Any] | None:
    """The carried result that refutes a claim; None for what looks like a file's name rather than an id.

    Raise ``ValueError`` if there is none.
    """
    shipped = results.shipped().entries
    entry = shipped.get(naming.meant(id, shipped))
    if entry is not None and entry["counterexample"] is None:
        raise ValueError(f"no counterexample ships for {id}: it is {entry['verdict']}")
    if entry is None and not Path(id).suffix and id != ".":
        try:
            claims.get(id)
        except ValueError as error:
            raise ValueError(f"{id} is neither a file nor a claim: {error}") from None
        raise ValueError(
            f"no result ships for {id}: `fedtheory check FILE --out DIR` writes files that can be replayed"
        )
    return entry


def _checked_certificate(path: Path) -> tuple[list[str], str] | None:
    """The certificate in a file in words, and why it does not hold, empty if it does; None where there is none.

    The claim is posed again, and proved by the stored multipliers in exact arithmetic, without a solver.
    """
    given = certificates.load(path)
    if given is None:
        return None
    claim = given.claim
    described = [
        f"{claim.id}  ({claim.where})",
        f"  {references.gist(claim)}",
        f"  {given.place()}",
        *outcomes.steps(given),
    ]
    try:
        given.replay()
    except DoesNotHold as error:
        return described, str(error)
    return described, ""


def run_table(args: argparse.Namespace) -> int:
    """A complexity table, at values if given."""
    # Deriving orders takes scipy, which the other commands do not need.
    from fedtheory.tables.rendering import render

    values = tables.assignments(args.at)
    table = tables.get(args.name)
    shown = table.at(values) if values else table
    if answering.asked():
        answering.add(table=json.loads(render(shown, "json")))
    else:
        sys.stdout.write(render(shown, args.format))
    return 0


def run_map(args: argparse.Namespace) -> int:
    """Draw which method of a table wins where."""
    # Loading matplotlib takes as long as all other commands.
    from fedtheory.tables.regions import axis, regions
    from verify.report import figures, style

    x, y, out = axis(args.x), axis(args.y), None if args.out is None else style.checked(writable(args.out))
    found = regions(tables.get(args.name), x, y, tables.assignments(args.at))
    if out is not None:
        with files.replacing(out) as temporary:
            figures.draw_map(found, temporary)
    consoles.say(consoles.console(sys.stdout), *figures.words(found), *([] if out is None else [str(out)]))
    return 0


def run_selftest(args: argparse.Namespace) -> int:
    """Test the checker on mutants, search the claims that hold for false alarms, and calibrate the sequential tests."""
    from verify.cli import calibration
    from verify.comparisons import samplers
    from verify.mutation import attack, selftest
    from verify.mutation import report as reports

    copy = None if args.json is None or answering.asked() else writable(Path(args.json))
    log, report = consoles.console(sys.stderr), consoles.console(sys.stdout)
    jobs = args.jobs or sweeping.cores()
    holding = selftest.holding(own_files.loaded(args.own) or claims.all(), jobs)
    every = selftest.bank(holding)
    mutants = selftest.sample(every, args.mutants)
    local = attack.drawn(holding, args.seed, args.regions)
    trials: list[selftest.Trial] = []
    attacks: list[attack.Attack] = []
    alarms: tuple[selftest.Alarm, ...] = ()
    by_id = {m.id: m for m in mutants}
    seeds = range(args.seed, args.seed + args.seeds)
    try:
        with consoles.progress(log, "mutants", len(mutants)) as advance:
            for trial in selftest.trials(mutants, args.seed, args.budget, jobs):
                trials.append(trial)
                advance(reports.brief(trial, by_id[trial.id]))
        with consoles.progress(log, "mutants in a region", len(local)) as advance:
            for one in attack.attacks(local, args.seed, args.budget, jobs):
                attacks.append(one)
                advance(f"{one.id} {one.verdict}")
        with consoles.progress(log, "claims that hold", len(holding) * len(seeds)) as advance:
            alarms = selftest.alarms(holding, seeds, jobs, advance)
    finally:
        # Results found so far are kept.
        if copy is not None:
            found = reports.to_json(trials, mutants[: len(trials)], attacks, local[: len(attacks)], alarms)
            files.write(copy, formats.text("selftest", found))
    consoles.say(report, *reports.left_over(trials, mutants), f"{len(mutants)} of {len(every)} mutants")
    consoles.show(report, reports.by_operator(trials, mutants))
    consoles.show(report, reports.by_method(trials))
    if local:
        consoles.show(report, reports.by_region(attacks, local))
        consoles.say(report, *reports.standing(attacks, local))
    consoles.say(
        report,
        *reports.sentences(trials, args.budget),
        *reports.false_alarms(alarms, len(holding), len(seeds)),
    )
    strict, loose = (
        reports.Calibration(level, CASES, calibration.false_alarms(CASES, level, args.seed))
        for level in (float(samplers.TOTAL), 0.05)
    )
    consoles.say(report, *reports.calibrated(strict, loose, calibration.power(seed=args.seed)))
    return 0
