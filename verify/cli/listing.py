"""The commands ``fedtheory list``, ``show`` and ``why``: what the shipped results say, at once."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory import naming
from fedtheory.origins import ORIGINS
from verify import results
from verify.cli import answering, own_files

if TYPE_CHECKING:
    from rich.console import Console

    from fedtheory.claims import Claim
    from verify.evidence.record import Evidence
    from verify.results import Shipped

_LIST = """\
List the claims with the verdicts that ship with the package, from the last audit of all claims ("-" if there is none).
In a pipe, each claim is one line of tab-separated columns: id, verdict, kind, place, gist, origin. The origin says
whether the paper prints the claim, relies on it without printing it (implied), or neither (observed); "printed
(letter)" marks a literal reading where the authors mean something else. --summary counts the claims of each paper, and
those that do not hold.
"""
_SHOW = """\
Print a claim in words and the evidence for it, from the results that ship with the package. The evidence is recomputed
with --check, for claims of your own, for another seed or budget, and if no result ships.
"""
_WHY = """\
Explain why a claim does not hold, as its authors mean it or only when read literally: a counterexample to follow by
hand, the step of the printed proof that fails, and what holds instead, with the differences in {braces}. For a claim
that holds: what it rests on. The verdicts are those that ship with the package; claims of your own are tested.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    testing: Callable[[argparse.ArgumentParser], None],
    owned: Callable[[argparse.ArgumentParser, str], None],
    valued: Callable[[argparse.ArgumentParser, str], None],
    verdicts: Sequence[str],
) -> None:
    """Add the three commands; ``command(name, run, help, *examples, description, found)`` makes a parser, ``testing``,
    ``owned`` and ``valued`` give it the options that other commands have too."""
    listing = command(
        "list",
        f"{__name__}.run_list",
        "list the claims with their verdicts",
        "fedtheory list feddcd/theorem",
        "fedtheory list feddcd --verdict refuted --origin printed",
        "fedtheory list --summary",
        "fedtheory list | cut -f1",
        description=_LIST,
    )
    listing.add_argument("names", nargs="*", metavar="PAPER", help="papers, or prefixes of ids (default: all)")
    listing.add_argument(
        "--verdict",
        choices=verdicts,
        action="append",
        default=[],
        metavar="VERDICT",
        help=f"only claims with this verdict: {', '.join(verdicts)}; repeatable",
    )

    listing.add_argument(
        "--origin",
        choices=tuple(ORIGINS),
        action="append",
        default=[],
        metavar="ORIGIN",
        help=f"only claims of this origin: {', '.join(ORIGINS)}; repeatable",
    )
    listing.add_argument(
        "--summary", action="store_true", help="count the claims of each paper, and those that do not hold"
    )

    showing = command(
        "show",
        f"{__name__}.run_show",
        "print a claim in words and the evidence for it",
        "fedtheory show feddcd/theorem-6.1/eq-10",
        "fedtheory show feddcd/theorem-6.1/eq-10 --check",
        "fedtheory show locodl/theorem-3.1/eq-5 --latex",
        "fedtheory show baseline/diana/one-step --pepit --at n=2 > diana.py",
        description=_SHOW,
    )
    showing.add_argument("id", metavar="ID", help="a claim; `fedtheory list` lists them")
    showing.add_argument("--check", action="store_true", help="recompute the evidence")
    owned(showing, "its claims can be named too")
    testing(showing)
    # Those of the results, by default.
    showing.set_defaults(seed=None, budget=None)
    showing.add_argument("--latex", action="store_true", help="print the statement in LaTeX instead")
    showing.add_argument(
        "--pepit", action="store_true", help="print a script instead that solves the claim's worst case with PEPit"
    )
    valued(showing, "with --pepit: values of letters, such as n=2 L=1")

    explaining = command(
        "why",
        f"{__name__}.run_why",
        "explain why a claim does not hold, and what holds instead",
        "fedtheory why feddcd/theorem-6.1/eq-10",
        "fedtheory why feddcd",
        "fedtheory why prox/faster --own examples/proximal_point.py",
        description=_WHY,
    )
    explaining.add_argument(
        "id", metavar="ID", help="a claim; or a paper or a prefix of ids, for all claims that do not hold"
    )
    owned(explaining, "its claims can be named too, and are tested")
    plotted(explaining)
    explaining.add_argument(
        "--format",
        choices=("text", "latex"),
        default="text",
        help="latex: a document, of several claims a report, which a paper can include too (default: text)",
    )


def plotted(command: argparse.ArgumentParser) -> None:
    """Add the option that draws a counterexample."""
    command.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.png",
        help="draw the counterexample there: f, each f_i and the run, if they are of one variable",
    )


def plot(evidence: Evidence, path: Path | None) -> None:
    """Draw the counterexample of a claim, if a file is asked for. Raise ``ValueError`` if there is none, or no
    picture.
    """
    if path is None:
        return
    from verify.report import plot, style
    from verify.results import files

    if evidence.counterexample is None:
        raise ValueError(f"{evidence.claim.id} is {evidence.verdict}: there is no counterexample to draw")
    with files.replacing(style.checked(path)) as temporary:
        plot.draw(evidence.counterexample, temporary)


def run_list(args: Any) -> int:
    """A table of the claims with their verdicts."""
    from verify.report import consoles, failures

    found, report = results.shipped(), consoles.console(sys.stdout)
    rows = {row.id: row for row in results.rows()}
    listed = [(rows[id], found.verdict(id)) for id in naming.select(args.names, tuple(rows))]
    listed = [(row, verdict) for row, verdict in listed if not args.verdict or verdict in args.verdict]
    listed = [(row, verdict) for row, verdict in listed if not args.origin or row.origin in args.origin]
    # A line of the report is a claim.
    _warn(found, consoles.console(sys.stderr))
    if args.summary:
        consoles.show(report, failures.table([row for row, _ in listed], found.verdicts))
        return 0
    if answering.asked():
        # The rows are the data: no line repeats them.
        fields = ("id", "kind", "where", "gist", "origin", "literal_of")
        rowed = [{name: getattr(row, name) for name in fields} | {"verdict": verdict} for row, verdict in listed]
        answering.add(claims=rowed)
    elif report.is_terminal and not consoles.fits(listed, report.width):
        consoles.say(report, *consoles.claims_lines(listed))
    else:
        consoles.show(report, consoles.claims_table(listed), headings=report.is_terminal)
    return 0


def run_show(args: Any) -> int:
    """A claim in words, and the evidence for it; or its statement in LaTeX; or a script for PEPit."""
    from fedtheory import claims
    from verify.evidence.record import Evidence
    from verify.report import consoles, statement, terminal

    own_files.loaded(args.own)
    claim = claims.get(args.id)
    if args.latex:
        print(statement.latex(claim))
        return 0
    if args.pepit:
        from verify.pepit import writing
        from verify.tightness import sweep

        print(writing.script(claim, sweep.letters(args.at)), end="")
        return 0
    if args.at:
        raise ValueError("--at is for --pepit: the evidence is about all values")
    report, found = consoles.console(sys.stdout), results.shipped()
    consoles.say(report, *terminal.description(claim))
    sys.stdout.flush()
    seed, budget = found.seed if args.seed is None else args.seed, args.budget or found.budget
    anew = args.check or args.own is not None or (seed, budget) != (found.seed, found.budget)
    if anew or claim.id not in found.entries:
        evidence = (_checked if anew else _stored)(claim, seed, budget)
    else:
        _warn(found, report)
        consoles.say(report, f"shipped results {found.origin}; --check recomputes them")
        evidence = Evidence.from_json(claim, found.entries[claim.id])
    consoles.say(report, *terminal.findings(evidence, claims.repairing(claim.id)))
    if answering.asked():
        from verify.report import answers

        verdicts = found.verdicts | {claim.id: str(evidence.verdict)}
        answering.add(claims=[answers.claim(evidence, verdicts, args.own)])
    return 0


def run_why(args: Any) -> int:
    """Print why a claim fails, or what it rests on; for several claims, why the failing ones do."""
    from fedtheory import claims, plugins
    from verify.cli import saving
    from verify.evidence.record import Evidence
    from verify.report import consoles, failures, why
    from verify.results.places import writable

    found, report = results.shipped(), consoles.console(sys.stdout)
    out = None if args.plot is None else writable(args.plot)
    loaded = own_files.loaded(args.own)
    own = {c.id: c for c in (*loaded, *(c for c in claims.all() if c.paper in plugins.installed()))}
    ids = naming.select([args.id], [*(c.id for c in claims.all()), *(c.id for c in loaded)])
    asked = naming.meant(args.id, ids)
    ids = [asked] if asked in ids else ids
    missing = [id for id in ids if id not in found.entries and id not in own]
    if missing == ids:
        raise ValueError(f"no result ships for {missing[0]}: fedtheory show {missing[0]} tests it")
    ids = [id for id in ids if id not in missing]
    if any(id not in own for id in ids):
        _warn(found, report if args.format == "text" else consoles.console(sys.stderr))
    tested = {id: _stored(own[id], found.seed, found.budget) for id in _reached(ids, own)}
    verdicts = found.verdicts | {id: str(evidence.verdict) for id, evidence in tested.items()}
    records = [tested[id] if id in own else Evidence.from_json(claims.get(id), found.entries[id]) for id in ids]
    if answering.asked():
        from verify.report import answers

        answering.add(claims=[answers.claim(one, verdicts, args.own) for one in records])
    if out is not None and len(records) > 1:
        raise ValueError(f"--plot draws one counterexample: {args.id} names {len(ids)} claims")
    # Before the answer, of which a pipe may read the beginning alone.
    plot(records[0], out)
    if args.format == "latex":
        from verify.export import latex_why

        sys.stdout.write(latex_why.document(records, verdicts))
        return 0
    if len(records) == 1 and not missing:
        again = f"fedtheory replay {ids[0]}"
        if args.own is not None:
            file = Path("DIR", "counterexamples", f"{naming.file_name(ids[0])}.json")
            checked = shlex.join(["fedtheory", "check", str(args.own), ids[0], "--out", "DIR"])
            again = f"{checked}, then {saving.replaying(file, args.own)}"
        consoles.say(report, *why.lines(records[0], verdicts, again), *([] if out is None else [str(out)]))
        return 0
    evidence = {e.claim.id: e for e in records}
    groups = failures.grouped([e.claim for e in records], verdicts)
    known = not groups.keys() <= {failures.FailureMode.UNKNOWN_ORIGIN}
    apart = f" ({failures.counted(groups, [e.claim for e in records])})" if known else ""
    count = sum(map(len, groups.values()))
    consoles.say(report, f"{count} of {len(records)} claims do not hold{apart}; fedtheory why ID explains each")
    for mode, failing in groups.items():
        if groups.keys() != {failures.FailureMode.UNKNOWN_ORIGIN}:
            consoles.say(report, f"{mode}:")
            consoles.say(report, *why.roots([evidence[id].claim for id in failing]))
        for id in failing:
            consoles.say(report, *why.brief(evidence[id], verdicts))
    if missing:
        consoles.say(report, f"no result ships for {', '.join(missing)}: fedtheory show ID tests it")
    return 0


def _reached(ids: Sequence[str], own: Mapping[str, Claim]) -> list[str]:
    """The user's claims that are named, on which the proofs of these rest, that repair these, and that say
    what these mean, or mention their letter."""
    found: list[str] = []
    left = [id for id in ids if id in own]
    while left:
        id = left.pop(0)
        if id not in found:
            found.append(id)
            beside = (other.id for other in own.values() if id in (other.repairs, other.literal_of))
            meant = own[id].literal_of or ""
            left += [other for other in (*own[id].uses, meant, *beside) if other in own]
    return found


def _warn(found: Shipped, report: Console) -> None:
    """Say so, beside the verdicts, if they are of other code and so perhaps of other statements."""
    from verify.report import consoles

    if results.code() != found.code:
        consoles.say(
            report,
            "these results were found by another version of the code, and the statements may have changed since: "
            "fedtheory show ID --check recomputes one, fedtheory audit all",
        )


def _stored(claim: Claim, seed: int, budget: str) -> Evidence:
    """The evidence for a claim of which none is carried: what an audit left in the cache, or computed."""
    from verify.cli import saving
    from verify.report import consoles
    from verify.results import files

    log = consoles.console(sys.stderr)
    kept = saving.Verdicts(files.directory() / "verdicts", seed, budget, lambda text: consoles.say(log, text))
    return next(iter(kept.read([claim])), None) or _checked(claim, seed, budget)


def _checked(claim: Claim, seed: int, budget: str) -> Evidence:
    """The evidence, computed; on a terminal with a bar that counts the methods."""
    # Loading the methods takes longer than telling the claim.
    from verify.checking import METHODS, check
    from verify.report import consoles

    with consoles.progress(consoles.console(sys.stderr), claim.id, len(METHODS)) as advance:
        return check(claim, seed, budget, advance)
