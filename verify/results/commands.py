"""The commands ``fedtheory list``, ``show`` and ``why``: what the shipped results say, at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from verify import results

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from verify.evidence import Evidence
    from verify.results import Shipped

_LIST = """\
The claims there are, with the verdicts of the last audit of all claims, which the package carries ("-" where it has
none). In a pipe every claim is one line: id, verdict, kind, place, gist, parted by tabs.
"""
_SHOW = """\
A claim in words, and the evidence for it: that of the last audit of all claims, which the package carries, at once. It
is computed anew with --check, for a claim of your own, for another seed or budget, and where none is carried.
"""
_WHY = """\
Why a claim falls: the counterexample in numbers, the step of the printed proof that fails, and what holds instead, with
what differs in {braces}; or, for a claim that holds, what it rests on. The verdicts are those that the package carries.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    testing: Callable[[argparse.ArgumentParser], None],
    owned: Callable[[argparse.ArgumentParser, str], None],
    verdicts: Sequence[str],
) -> None:
    """Add the three commands; ``command(name, run, help, *examples, description, found)`` makes a parser, ``testing``
    and ``owned`` give it the options that other commands have too."""
    listing = command(
        "list",
        f"{__name__}.run_list",
        "the claims there are, with their verdicts",
        "fedtheory list feddcd/theorem",
        "fedtheory list feddcd --verdict refuted",
        "fedtheory list | cut -f1",
        description=_LIST,
    )
    listing.add_argument("names", nargs="*", metavar="PAPER", help="papers, or beginnings of ids (default: all)")
    listing.add_argument(
        "--verdict",
        choices=verdicts,
        action="append",
        default=[],
        metavar="VERDICT",
        help=f"only claims that are {', '.join(verdicts)}; may be repeated",
    )

    showing = command(
        "show",
        f"{__name__}.run_show",
        "a claim in words, and the evidence for it",
        "fedtheory show feddcd/theorem-6.1/eq-10",
        "fedtheory show feddcd/theorem-6.1/eq-10 --check",
        "fedtheory show locodl/theorem-3.1/eq-5 --latex",
        description=_SHOW,
    )
    showing.add_argument("id", metavar="ID")
    showing.add_argument("--check", action="store_true", help="compute the evidence anew")
    owned(showing, "its claims have ids too")
    testing(showing)
    # Those of the results, unless told otherwise.
    showing.set_defaults(seed=None, budget=None)
    showing.add_argument("--latex", action="store_true", help="print the statement in LaTeX instead")

    explaining = command(
        "why",
        f"{__name__}.run_why",
        "why a claim falls, and what holds instead",
        "fedtheory why feddcd/theorem-6.1/eq-10",
        "fedtheory why feddcd",
        description=_WHY,
    )
    explaining.add_argument("id", metavar="ID", help="a claim; or a paper, or the beginning of ids: each that falls")


def run_list(args: Any) -> int:
    """A table of the claims with their verdicts."""
    from fedtheory import naming
    from verify import index
    from verify.report import consoles, listing

    found, report = results.shipped(), consoles.console(sys.stdout)
    rows = {row.id: row for row in index.rows()}
    listed = [(rows[id], found.verdict(id)) for id in naming.select(args.names, tuple(rows))]
    listed = [(row, verdict) for row, verdict in listed if not args.verdict or verdict in args.verdict]
    if report.is_terminal and not listing.fits(listed, report.width):
        consoles.say(report, *listing.claims_lines(listed))
    else:
        consoles.show(report, listing.claims_table(listed), headings=report.is_terminal)
    return 0


def run_show(args: Any) -> int:
    """A claim in words, and the evidence for it; or its statement in LaTeX."""
    from fedtheory import claims
    from verify.evidence import Evidence
    from verify.report import statement, terminal

    if args.own is not None:
        from verify import own

        own.load(args.own)
    claim = claims.get(args.id)
    if args.latex:
        print(statement.latex(claim))
        return 0
    report, found = terminal.console(sys.stdout), results.shipped()
    terminal.say(report, *terminal.description(claim))
    sys.stdout.flush()
    seed, budget = found.seed if args.seed is None else args.seed, args.budget or found.budget
    anew = args.check or args.own is not None or (seed, budget) != (found.seed, found.budget)
    if anew or claim.id not in found.entries:
        evidence = _checked(claim, seed, budget)
    else:
        _warn(found)
        terminal.say(report, f"found before, {found.origin}; --check computes it anew")
        evidence = Evidence.from_json(claim, found.entries[claim.id])
    repaired = [c for c in claims.all() if c.repairs == claim.id]
    terminal.say(report, *terminal.findings(evidence, repaired))
    return 0


def run_why(args: Any) -> int:
    """Why a claim falls, or what it rests on; of several claims, why those fall that do. By the shipped results."""
    from fedtheory import claims
    from verify.evidence import Evidence
    from verify.report import terminal, why

    found, report, chosen = results.shipped(), terminal.console(sys.stdout), claims.select([args.id])
    if args.id in [c.id for c in chosen]:
        chosen = (claims.get(args.id),)
    missing = [c.id for c in chosen if c.id not in found.entries]
    if missing:
        raise ValueError(f"no result for {missing[0]} is carried: fedtheory show {missing[0]} tests it")
    _warn(found)
    evidence = [Evidence.from_json(c, found.entries[c.id]) for c in chosen]
    if len(chosen) == 1:
        terminal.say(report, *why.lines(evidence[0], found))
        return 0
    falling = [e for e in evidence if e.verdict in why.FALLEN]
    for one in falling:
        terminal.say(report, *why.brief(one, found))
    terminal.say(report, f"{len(falling)} of {len(chosen)} claims fall; of each fedtheory why ID tells more")
    return 0


def _warn(found: Shipped) -> None:
    """Say so if the results may be out of date."""
    from verify.report import terminal

    if results.code() != found.code:
        changed = "the code has changed since the carried results were found; fedtheory show ID --check finds them anew"
        terminal.say(terminal.console(sys.stderr), changed)


def _checked(claim: Claim, seed: int, budget: str) -> Evidence:
    """The evidence, computed; on a terminal with a bar that counts the methods."""
    # Loading the methods takes longer than telling the claim.
    from verify.checking import METHODS, check
    from verify.report import terminal

    with terminal.progress(terminal.console(sys.stderr), claim.id, len(METHODS)) as advance:
        return check(claim, seed, budget, advance)
