"""The command ``fedtheory``: audit claims, show, list, replay; complexity tables and maps; how tight a claim is.

Exit status: 0 when the command did its work, 1 when a replayed counterexample differs from what was stored, 2 on bad
input (one line on stderr), 130 when interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import joblib

from fedtheory import tables
from verify import commands
from verify.checking import BUDGETS
from verify.conformance import commands as conformance

#: Where an audit writes unless told otherwise, under the current directory.
DEFAULT_OUT = "fedtheory-audit"
#: Where a map is drawn unless told otherwise.
DEFAULT_MAP = "fedtheory-map.png"
#: Where a comparison with the worst case is drawn unless told otherwise.
DEFAULT_TIGHT = "fedtheory-tight.png"

#: Mutants that a self-test tries, and seeds of its search for false alarms, unless told otherwise.
DEFAULT_MUTANTS, DEFAULT_SEEDS = 200, 5

_SELF = """\
Every claim that holds, every method and every compressor is changed in one place at a time: a constant, a sign, an
index, an operator, a term left out, a hypothesis. Of these mutants N are tried, evenly over what was changed. A mutant
counts as false when a counterexample is confirmed, or when the worst case over the class exceeds it; as true when it is
proved or a consequence of the original, or when it is certified at some parameters and the budget "full", which
searches again what "quick" left, refutes it at no others; what is neither is listed. Then every claim that holds is
searched at several seeds, where each refutation is a false alarm. Last, the sequential tests run on 10,000 true cases
of each of several distributions.
"""
_AUDIT = f"""\
Test claims and tell what was found: a table of verdicts, a line for each refutation. Then the algorithms are run on
real data with the theorems' parameters, beside the theorems' bounds: the bounds among the claims named, or, when
--data or --clients is given, all measurable bounds of the papers named. DIR (default: {DEFAULT_OUT}) receives
audit.json, counterexamples/ (one JSON file a refuted claim, for `fedtheory replay`) and a PNG for each algorithm run.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose usage errors are ``ValueError``s, like all other bad input."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on ``argv`` (the process's own arguments by default) and return its exit status."""
    try:
        args = _parser().parse_args(argv)
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of a pipe has gone, as with `| head`: be quiet, also when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}")
    except ValueError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        print("fedtheory: interrupted", file=sys.stderr)
        return 130


def _complain(message: str) -> int:
    print(f"fedtheory: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _at_least(smallest: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if value < smallest:
            raise argparse.ArgumentTypeError(f"an integer of at least {smallest} was expected, got {text!r}")
        return value

    return integer


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="fedtheory", description="Executable theory of federated optimisation.", allow_abbrev=False)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any], int], help: str, description: str = "") -> argparse.ArgumentParser:
        added = subparsers.add_parser(name, help=help, description=description or help, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    def testing(added: argparse.ArgumentParser) -> None:
        added.add_argument("--budget", choices=tuple(BUDGETS), default="quick", help="how long to search")
        added.add_argument("--seed", type=_at_least(0), metavar="S", default=0, help="fixes all draws (default: 0)")

    auditing = command("audit", commands.run_audit, "test claims, and run the algorithms on real data", _AUDIT)
    auditing.add_argument("names", nargs="*", metavar="PAPER-OR-ID", help="papers, claims (default: all)")
    testing(auditing)
    cores = joblib.cpu_count()
    auditing.add_argument(
        "--jobs", type=_at_least(1), metavar="N", default=cores, help="processes (default: the cores)"
    )
    auditing.add_argument("--data", metavar="FILE", help="two classes, in LIBSVM's format (default: breast cancer)")
    auditing.add_argument(
        "--clients", type=_at_least(2), metavar="N", help=f"split over N (default: {commands.DEFAULT_CLIENTS})"
    )
    auditing.add_argument("--out", metavar="DIR", default=DEFAULT_OUT, help=f"results (default: {DEFAULT_OUT})")
    auditing.add_argument("--json", metavar="FILE", help="write the JSON here too; - for stdout, the rest to stderr")

    showing = command("show", commands.run_show, "a claim in words, and the evidence for it")
    showing.add_argument("id", metavar="ID")
    testing(showing)
    showing.add_argument("--latex", action="store_true", help="print the statement in LaTeX instead")

    listing = command("list", commands.run_list, "the claims there are")
    listing.add_argument("names", nargs="*", metavar="PAPER", help="papers, or beginnings of ids (default: all)")

    replaying = command("replay", commands.run_replay, "evaluate a stored counterexample again")
    replaying.add_argument("file", type=Path, metavar="FILE")

    def tabulating(added: argparse.ArgumentParser) -> None:
        names = ", ".join(tables.BUILDERS)
        added.add_argument("name", metavar="TABLE", help=names)
        added.add_argument(
            "--at",
            nargs="+",
            action="extend",
            default=[],
            metavar="LETTER=NUMBER",
            help="values, such as n=100 kappa=1e4",
        )

    table = command("table", commands.run_table, "a complexity table; with --at, numbers beside the formulas")
    tabulating(table)
    table.add_argument("--format", choices=tables.FORMATS, default="text", help="how to write it (default: text)")

    mapping = command("map", commands.run_map, "which method of a table wins where, as two letters vary")
    tabulating(mapping)
    for axis in ("--x", "--y"):
        mapping.add_argument(axis, required=True, metavar="LETTER=LOW:HIGH", help="range, such as n=1:1e6")
    mapping.add_argument("--out", type=Path, metavar="FILE.png", default=DEFAULT_MAP, help=f"default: {DEFAULT_MAP}")

    selftesting = command(
        "selftest", commands.run_selftest, "check the checker on subtly wrong claims, methods, compressors", _SELF
    )
    testing(selftesting)
    selftesting.add_argument(
        "--mutants", type=_at_least(0), metavar="N", default=DEFAULT_MUTANTS, help=f"default: {DEFAULT_MUTANTS}"
    )
    selftesting.add_argument(
        "--seeds",
        type=_at_least(0),
        metavar="N",
        default=DEFAULT_SEEDS,
        help=f"of the search for false alarms (default: {DEFAULT_SEEDS})",
    )
    selftesting.add_argument("--jobs", type=_at_least(1), metavar="N", default=cores, help="processes")
    selftesting.add_argument("--json", metavar="FILE", help="write all results here")

    tightening = command(
        "tight", commands.run_tight, "what a claim prints against its exact worst case, over parameters"
    )
    tightening.add_argument("id", metavar="ID")
    tightening.add_argument(
        "--at", nargs="+", action="extend", default=[], metavar="LETTER=NUMBER", help="fixed values, such as n=2"
    )
    tightening.add_argument("--out", type=Path, metavar="FILE.png", default=DEFAULT_TIGHT, help="the figure")
    tightening.add_argument("--jobs", type=_at_least(1), metavar="N", default=cores, help="processes")
    conformance.register(command)
    return parser
