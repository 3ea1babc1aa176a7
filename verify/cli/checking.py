"""The command ``fedtheory check``: the theorems of a user's file, each tested with limits on time and memory."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.cli import answering, listing

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from verify.evidence.record import Evidence
    from verify.report.terminal import ResultLine

#: Gigabytes of memory that a claim may take by default.
GIGABYTES = 4

_CHECK = """\
Test the theorems in a Python file of your own, which is executed. Each claim gets one line: its verdict, its margin,
and what the verdict covers; --details adds the statement, the evidence and the counterexample. An error in the code of
one claim is reported, and the other claims are still tested. A claim that exceeds --seconds of processor time or
--memory is stopped: it has no verdict, and what was found by then is kept. See docs/own-theorem.md.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    testing: Callable[[argparse.ArgumentParser], None],
    at_least: Callable[..., Callable[[str], int]],
    verdicts: Sequence[str],
) -> None:
    """Add the command; ``command``, ``testing``, ``at_least`` and ``verdicts`` as :mod:`verify.cli` has them."""
    checking = command(
        "check",
        f"{__name__}.run_check",
        "test the theorems of a file of your own",
        "fedtheory check examples/heavy_ball.py",
        "fedtheory check examples/heavy_ball.py heavy-ball/longer-steps --details",
        "fedtheory check my_theorem.py --json results.json --budget full",
        description=_CHECK,
        found="a verdict named by --fail-on was found",
    )
    checking.add_argument("file", type=Path, metavar="FILE.py", help="a Python file with a module-level CLAIMS")
    checking.add_argument("ids", nargs="*", metavar="ID", help="claims in the file, or prefixes of ids (default: all)")
    checking.add_argument("--details", action="store_true", help="print the statement and all evidence for each claim")
    checking.add_argument(
        "--json",
        nargs="?",
        const="-",
        type=Path,
        metavar="FILE",
        help="write the evidence there, as an audit does; - or nothing for an answer as data on stdout",
    )
    checking.add_argument(
        "--out", type=Path, metavar="DIR", help="write the evidence, counterexamples and certificates there"
    )
    listing.plotted(checking)
    limits(checking, at_least, "each claim")
    checking.add_argument(
        "--fail-on",
        choices=verdicts,
        action="append",
        default=[],
        metavar="VERDICT",
        help="exit with status 1 if a claim has this verdict, for continuous integration; repeatable",
    )
    testing(checking)


def assumptions(command: argparse.ArgumentParser) -> None:
    """Add what is assumed of the letters of a user's file."""
    command.add_argument(
        "--where",
        action="extend",
        nargs="+",
        default=[],
        metavar="'A <= B'",
        help="what is assumed of the letters, such as 'gamma*L <= 1'",
    )


def limits(command: argparse.ArgumentParser, at_least: Callable[..., Callable[[str], int]], what: str) -> None:
    """Add the limits of the process in which a user's code runs."""
    command.add_argument(
        "--seconds",
        type=at_least(1),
        metavar="S",
        help=f"limit on the processor time of {what} (default: none)",
    )
    command.add_argument(
        "--memory",
        type=at_least(1, 4096),
        metavar="GB",
        default=GIGABYTES,
        help=f"limit on the memory of {what} (default: {GIGABYTES})",
    )


def run_check(args: Any) -> int:
    """The result for each claim of a file, as it is found; 2 where one could not be tested, 1 for a verdict that is not
    to be."""
    from fedtheory import naming
    from verify.cli import recovering, saving
    from verify.report import answers, consoles, terminal
    from verify.results import files
    from verify.results.places import directory, writable

    copy = None if args.json is None or answering.asked() else writable(args.json)
    out = None if args.out is None else directory(args.out)
    picture = None if args.plot is None else writable(args.plot)
    found, faults = recovering.load(args.file)
    loaded = {claim.id: claim for claim in found}
    try:
        selected = [loaded[id] for id in (naming.select(args.ids, tuple(loaded)) if args.ids else loaded)]
    except ValueError as error:
        # A claim that is asked for may be one that fails.
        raise error if not faults else ValueError("; ".join(faults)) from error
    entries, failed, examples = [], [], []
    verdicts: dict[str, str] = {}
    unseen: ValueError | None = None
    widths = max(len(claim.id) for claim in selected), max(map(len, consoles.STYLES))
    begun, counts = time.perf_counter(), Counter[str]()
    for claim in selected:
        if args.details:
            _describe(claim)
        evidence, reached, failure, verdict, ended = _tested(claim, args)
        if picture is not None and len(selected) == 1 and evidence.counterexample is not None:
            # Before the text, of which a pipe may read the beginning alone.
            unseen = _drawn(evidence, picture)
        row = terminal.row(evidence)._replace(**({"verdict": verdict, "over": failure} if failure else {}))
        counts[row.verdict] += 1
        failed += [failure] if failure else []
        if args.details and not failure:
            _detail(evidence, reached)
        else:
            _tell(row, widths)
        for fault in () if args.details else terminal.faults(evidence):
            # Beside the table, so that a pipe has one line a claim.
            consoles.say(consoles.console(sys.stderr), f"{claim.id}: {fault}")
        sys.stdout.flush()
        if answering.asked():
            verdicts[claim.id] = row.verdict
            answering.add(
                claims=[
                    answers.claim(evidence, verdicts, args.file, reached) | ({"failed": failure} if failure else {})
                ]
            )
        entries.append(evidence.to_json())
        examples += [evidence] if evidence.counterexample is not None else []
        # Results found so far are kept.
        text = saving.audit_text(entries, args)
        if copy is not None:
            files.write(copy, text)
        if out is not None and (unwritten := saving.write_audit(entries, text, out, None)) is not None:
            raise unwritten
        if out is not None and evidence.counterexample is not None:
            again = saving.replaying(out / "counterexamples" / f"{naming.file_name(claim.id)}.json", args.file)
            consoles.say(consoles.console(sys.stderr), f"{claim.id}: {again}")
        if ended is not None:
            left = len(selected) - len(entries)
            if left:
                consoles.say(consoles.console(sys.stderr), f"not tested: {left} of {len(selected)} claims")
            raise ended
    _summary(args, counts, time.perf_counter() - begun)
    if picture is not None:
        if len(examples) != 1:
            raise ValueError(f"--plot draws one counterexample, and {len(examples)} were found: name one claim")
        unseen = _drawn(examples[0], picture) if len(selected) > 1 else unseen
        if unseen is not None:
            raise unseen
        consoles.say(consoles.console(sys.stdout), str(picture))
    if failed:
        which = "" if len(selected) == 1 else f"{len(failed)} of {len(selected)} claims could not be tested: "
        faults = (*faults, f"{which}{failed[0]}")
    if faults:
        raise ValueError("; ".join(faults))
    return 1 if any(counts[verdict] for verdict in args.fail_on) else 0


def _drawn(evidence: Evidence, picture: Path) -> ValueError | None:
    """Draw the counterexample; return the reason if it cannot be drawn, as the verdict is wanted all the same."""
    try:
        listing.plot(evidence, picture)
    except ValueError as error:
        return error
    return None


def _tested(claim: Claim, args: Any) -> tuple[Evidence, str, str, str, BaseException | None]:
    """Return the evidence for a claim, and how far was searched; why its test did not come to an end, and what stands
    in the place of a verdict then, both empty where it did; and what ends the command."""
    from verify.audit import FAILED
    from verify.base.limits import Stopped, limited
    from verify.base.verdict import Verdict
    from verify.checking import check
    from verify.evidence.record import Evidence
    from verify.methods import METHODS
    from verify.report import answers
    from verify.report.terminal import FAILED as NO_VERDICT
    from verify.report.terminal import STOPPED
    from verify.results import files

    def untested(note: str) -> Evidence:
        return Evidence(claim, Verdict.NOT_TESTED, None, (), 0, note=note)

    size = args.memory * 2**30
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.json"

        def keep(found: Evidence) -> None:
            files.write(kept, json.dumps(found.to_json()))
            last, following = found.outcomes[-1], [method.name for method in METHODS[len(found.outcomes) :][:1]]
            ended = [f"{last.method} found {last.verdict or 'nothing'}"] if last.applied else []
            answering.progress(f"{claim.id}: {', now '.join((*ended, *following))}")

        answering.progress(f"{claim.id}: {METHODS[0].name}")

        def tested() -> tuple[str, str]:
            found = check(claim, args.seed, args.budget, keep=keep)
            # Of functions; what a search of letters tried is in its note.
            looked = frozenset().union(*(outcome.seen for outcome in found.outcomes))
            return json.dumps(found.to_json()), answers.reached(looked)

        try:
            text, reached = limited(tested, args.seconds, size, claim.id)
            return Evidence.from_json(claim, json.loads(text)), reached, "", "", None
        except (Stopped, KeyboardInterrupt, answering.Ended) as error:
            ended = None if isinstance(error, Stopped) else error
            why = str(error).removeprefix(f"{claim.id}: ") if ended is None else answering.reason(ended)
            if not kept.exists():
                return untested(why), "", f"{claim.id}: {why}", STOPPED, ended
            found = Evidence.from_json(claim, json.loads(kept.read_text(encoding="utf-8")))
            by_then = "nothing was found by then"
            if found.verdict is not Verdict.NOT_TESTED:
                by_then = f"found by then: {found}"
            return replace(found, note=f"{why}; {found.note}"), "", f"{claim.id}: {why}; {by_then}", STOPPED, ended
        except ValueError as error:
            return untested(f"{FAILED}: {error}"), "", str(error), NO_VERDICT, None


def _describe(claim: Claim) -> None:
    from verify.report import consoles, terminal

    consoles.say(consoles.console(sys.stdout), *terminal.description(claim))
    sys.stdout.flush()


def _tell(row: ResultLine, widths: tuple[int, int]) -> None:
    """A line on a terminal, and cells parted by tabs in a pipe."""
    from verify.base.plain import clean
    from verify.report import consoles, terminal

    report = consoles.console(sys.stdout)
    if report.is_terminal:
        consoles.say(report, *terminal.lines(row, widths, report.width))
    else:
        print("\t".join(map(clean, row)))


def _detail(evidence: Evidence, reached: str) -> None:
    from verify.base.verdict import Verdict
    from verify.report import consoles, terminal

    further = [reached] if reached and evidence.verdict is Verdict.SUPPORTED else []
    consoles.say(consoles.console(sys.stdout), *terminal.findings(evidence, []), *further)


def _summary(args: Any, counts: Counter[str], seconds: float) -> None:
    """The number of claims with each verdict, and where to read more, on a terminal only."""
    from verify.report import consoles

    report = consoles.console(sys.stdout)
    if not report.is_terminal:
        return
    total = counts.total()
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    consoles.say(report, f"{total} claim{'s' if total != 1 else ''}: {counted}; {seconds:.1f} s")
    if not args.details:
        left = "what is left open, " if counts["supported"] else ""
        consoles.say(report, f"{left}counterexamples and evidence: fedtheory check {args.file} --details")


__all__: Sequence[str] = ["GIGABYTES", "limits", "register", "run_check"]
