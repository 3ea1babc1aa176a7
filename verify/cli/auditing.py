"""The command ``fedtheory audit``: claims are tested, what was found is written as it is found, and methods are run on
real data."""

from __future__ import annotations

import argparse
import io
import itertools
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from fedtheory import claims
from fedtheory.claims import Claim
from verify import results
from verify.audit import FAILED, audit, costs, sweeping
from verify.base.plain import clean, counted
from verify.cli import saving
from verify.cli.arguments import DEFAULT_CLIENTS
from verify.cli.saving import audit_text, write_audit
from verify.evidence import formats
from verify.evidence.record import Evidence
from verify.report import consoles, failures, progress, terminal
from verify.results import files
from verify.results.places import directory, writable

if TYPE_CHECKING:
    from verify.tightness.measure import MeasuredRun

#: The file that has all verdicts as text, beside the JSON; and letters of a line of its table.
REPORT, _WIDE = "report.txt", 200
#: Verdicts that differ from those that ship, as they are listed at the end: the report has them all.
_LISTED = 5


def run_audit(args: argparse.Namespace) -> int:
    """Test claims, write what was found as it is found, and run the methods on real data; 1 for a verdict that is not
    to be."""
    from verify.tightness import measure

    begun = time.perf_counter()
    # All input is checked before the long work.
    selected = claims.select(args.names)
    asked = args.data is not None or args.clients is not None
    papers, ids = {c.paper for c in selected}, {c.id for c in selected}
    bounds = [id for id in measure.measured() if (id.split("/")[0] in papers if asked else id in ids)]
    planned: tuple[MeasuredRun, ...] = ()
    if bounds:
        # Loading scikit-learn takes as long as all other commands.
        from fedtheory.data import bundled, load

        data = bundled() if args.data is None else load(args.data)
        planned = measure.experiments(data, args.clients or DEFAULT_CLIENTS, args.seed, bounds)
    out = directory(Path(args.out))
    to_stdout = args.json == "-"
    copy = None if args.json is None or to_stdout else writable(Path(args.json))
    pages = None if args.html is None else directory(Path(args.html))

    log = consoles.console(sys.stderr)
    report = log if to_stdout else consoles.console(sys.stdout)
    folder = None if args.no_cache else files.directory() / "verdicts"
    kept = saving.Verdicts(folder, args.seed, args.budget, lambda text: consoles.say(log, text), args.from_scratch)
    with sweeping.backend(args.backend, args.scheduler):
        found = _tested(selected, args, kept, out / "audit.json", log)
    entries = [kept.entries.get(e.claim.id) or e.to_json() for e in found]
    text = audit_text(entries, args)
    if to_stdout:
        sys.stdout.write(text)
        sys.stdout.flush()
    overview = _Overview(selected, found, args)
    unwritten = write_audit(entries, text, out, copy) or _report(found, overview.whole(), out)
    if folder is not None:
        files.trim(folder)
    # Results that could not be written are printed, as they are nowhere else.
    if args.verbose or unwritten is not None:
        consoles.show(report, terminal.verdicts(found, report.width if report.is_terminal else None))
        consoles.say(report, *overview.whole())
    figures = [] if unwritten is not None else list(_measured(planned, args, out, log))
    if figures:
        unwritten = _report(found, [*overview.whole(), *itertools.chain(*figures)], out)
    consoles.say(report, *overview.summary(time.perf_counter() - begun))
    if unwritten is not None:
        raise unwritten
    for lines in figures:
        consoles.say(report, *(lines if args.verbose or asked else lines[:1]))
    if pages is not None:
        from verify.report.atlas import site

        consoles.say(report, f"pages: {site.write(formats.checked_audit(json.loads(text)), pages)}")
    consoles.say(report, *_where(entries, out), *overview.next())
    return 1 if any(e.verdict in args.fail_on for e in found) else 0


def _report(found: Sequence[Evidence], lines: Sequence[str], out: Path) -> OSError | None:
    """Write all verdicts as text, and the failure where that cannot be."""
    text = io.StringIO()
    Console(file=text, width=_WIDE, markup=False, highlight=False, emoji=False).print(terminal.verdicts(found))
    try:
        files.write(out / REPORT, "\n".join((text.getvalue(), *map(clean, lines), "")))
    except OSError as error:
        return error
    return None


class _Overview:
    """The text that an audit prints about its verdicts."""

    def __init__(self, selected: Sequence[Claim], found: Sequence[Evidence], args: argparse.Namespace) -> None:
        self._selected, self._found, self._args = selected, found, args
        self._verdicts = {e.claim.id: str(e.verdict) for e in found}
        self._changes = results.shipped().changes(self._verdicts, args.seed, args.budget)

    def whole(self) -> list[str]:
        """Return a line for each claim with a remark, and for each verdict that differs from the shipped one."""
        found = self._found
        return [
            *terminal.remarks(found),
            *terminal.coverage(found),
            *terminal.fallen(found),
            *self._counted(),
            *self._changes,
        ]

    def summary(self, seconds: float) -> Iterator[str]:
        """Yield the number of claims with each verdict, and the differences from the shipped results."""
        yield terminal.summary(self._found, seconds)
        yield from (line for line in self._counted() if not self._args.verbose)
        yield from terminal.sources(self._found)
        if failed := [e.claim.id for e in self._found if e.fallen]:
            yield f"shipped proofs that fail: {len(failed)} ({', '.join(failed[:_LISTED])})"
        yield from self._compared()

    def _counted(self) -> list[str]:
        groups = failures.grouped(self._selected, self._verdicts)
        return [f"of the claims that do not hold: {failures.counted(groups, self._selected)}"] if groups else []

    def _compared(self) -> Iterator[str]:
        ships = results.shipped()
        if (self._args.seed, self._args.budget) != (ships.seed, ships.budget):
            yield f"not compared with the results that ship, which are of seed {ships.seed} and budget {ships.budget}"
            return
        count = len(self._changes)
        yield f"verdicts that differ from those that ship: {count or 'none'}"
        yield from (f"  {line}" for line in self._changes[:_LISTED])
        if count > _LISTED:
            yield f"  and {count - _LISTED} more, in {REPORT}"

    def next(self) -> Iterator[str]:
        """Yield the commands that the user may run next."""
        fallen = [id for id, verdict in self._verdicts.items() if verdict in ("refuted", "ill-posed")]
        one = fallen[0] if fallen else next(iter(self._verdicts), None)
        if one is not None:
            papers = {id.split("/")[0] for id in fallen} or {one.split("/")[0]}
            wide = f"fedtheory why {sorted(papers)[0]}" if len(fallen) > 1 else f"fedtheory show {one}"
            yield f"next: fedtheory why {one}; {wide}; fedtheory audit --help"


def _where(entries: Sequence[dict[str, object]], out: Path) -> Iterator[str]:
    """The files that an audit writes."""
    folders = [(name, sum(1 for _ in (out / name).glob("*.json"))) for name in ("counterexamples", "certificates")]
    held = ", ".join(f"{name}/ ({count})" for name, count in folders if count)
    yield f"in {out}: {REPORT} (each verdict, each counterexample in a line), audit.json{held and f', {held}'}"


def _measured(planned: Sequence[MeasuredRun], args: argparse.Namespace, out: Path, log: Console) -> Iterator[list[str]]:
    """Run the methods and plot them; yield the lines to print on each, the figure first."""
    for experiment in planned:
        # Loading matplotlib takes as long as all other commands.
        from verify.report import figures
        from verify.tightness import measure

        title = f"{experiment.name}: {counted(experiment.seeds, 'seed')}, {counted(experiment.rounds, experiment.unit)}"
        consoles.say(log, f"running {title}")
        with consoles.progress(log, title, experiment.rounds + 1) as advance:
            measured = measure.measure(experiment, args.seed, advance)
        figure = out / f"{experiment.paper}.png"
        with files.replacing(figure) as temporary:
            figures.draw(measured, temporary)
        curves = (line for curve in measured.curves for line in (curve.sentence, curve.verdict))
        kept = max(measured.curves, key=lambda curve: curve.ratio[curve.worst])
        share = f"at most {kept.ratio[kept.worst]:.3g} of its bound"
        yield [
            f"{experiment.name} on real data, {share}: {figure}",
            *(f"  {line}" for line in (*experiment.setup, *curves)),
        ]


def _tested(
    selected: Sequence[Claim], args: argparse.Namespace, kept: saving.Verdicts, path: Path, log: Console
) -> list[Evidence]:
    """The evidence for each claim: that which an audit found before, and the rest.

    What is found is on disk at once, as a verdict of its own and, as it grows, in an audit's JSON that says what it
    lacks.
    """
    found = {e.claim.id: e for e in kept.read(selected)}
    if found:
        consoles.say(log, f"{len(found)} of {len(selected)} verdicts are taken from {kept.directory}")
    written = 0

    def save() -> None:
        nonlocal written
        missing = [c for c in selected if c.id not in found]
        if missing and len(found) > written:
            entries = [kept.entries.get(c.id) or found[c.id].to_json() for c in selected if c.id in found]
            kept.attempt(lambda: files.write(path, audit_text(entries, args, missing)))
            written = len(found)

    def arrive(evidence: Evidence) -> None:
        found[evidence.claim.id] = evidence
        if not evidence.note.startswith(FAILED):
            kept.store(evidence)
        # Not each time, so that what is written grows as what is found does.
        if len(found) >= 1.1 * written:
            save()
        with suppress(OSError):
            # An audit is not lost with the reader of its log.
            consoles.say(log, *terminal.fallen([evidence]))
            shown.arrive(evidence.claim.id, terminal.brief(evidence))

    remaining = [c for c in selected if c.id not in found]
    if not remaining:
        return [found[c.id] for c in selected]
    jobs, alone = args.jobs or sweeping.cores(), args.backend == "processes"
    each = costs(remaining, not args.from_scratch)
    pace = progress.Pace(each, max(sum(each.values()) / jobs, max(each.values())))
    processes = f" with {jobs} process{'es' if jobs != 1 else ''}" if alone else ""
    consoles.say(
        log,
        f"{len(remaining)} claim{'s' * (len(remaining) != 1)} to test{processes}: about {progress.duration(pace.left)}",
    )
    with progress.shown(log, pace, args.verbose) as shown:
        try:
            # Which claims a cluster's workers test is not known.
            audit(
                remaining,
                args.seed,
                args.budget,
                jobs,
                arrive,
                rechecking=not args.from_scratch,
                running=lambda ids: shown.run(ids if alone else ()),
            )
        except BaseException:
            save()
            if kept.saved:
                with suppress(OSError):
                    share = f"{len(kept.saved)} of {len(selected)}"
                    consoles.say(log, f"{share} verdicts are kept in {kept.directory}: run the same command to resume")
            raise
    return [found[c.id] for c in selected if c.id in found]
