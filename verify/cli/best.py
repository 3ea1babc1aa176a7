"""The command ``fedtheory best``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.best.record import Record

_BEST = """\
Find the smallest rate (or multiple of the right side) for which a claim about one step holds over its whole class, at
given letters, as an exact interval: the upper end has a certificate, the lower end a function and a state. With
--largest or --smallest: the value of a letter beyond which what is stated fails. With --potential: the sum of squared
distances of the state from the fixed point, and of quantities of the claim, that contracts fastest. Letters that are
not given have usual values, which are printed. With --out the result is kept: the same command goes on from it, and
`fedtheory replay` checks it again without a solver. See docs/best.md.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    owned: Callable[[argparse.ArgumentParser, str], None],
    valued: Callable[[argparse.ArgumentParser, str], None],
    at_least: Callable[..., Callable[[str], int]],
) -> None:
    """Add the command; ``command``, ``owned``, ``valued`` and ``at_least`` as :mod:`verify.cli.arguments` has them."""
    asking = command(
        "best",
        f"{__name__}.run_best",
        "find the best rate that is true, as an exact interval",
        "fedtheory best locodl/theorem-3.1/one-step --at kappa=10 omega=1",
        "fedtheory best prox/step --own examples/proximal_point.py --at gamma=2",
        "fedtheory best gradient-descent/step --own examples/gallery/gradient_descent.py --largest gamma",
        "fedtheory best saga/step --own examples/gallery/saga.py --potential --out saga.json",
        description=_BEST,
    )
    asking.add_argument("id", nargs="?", metavar="ID", help="a claim; of a file with a single one it may be left out")
    owned(asking, "its claims can be named too")
    valued(asking, "values of letters, such as gamma=20/11 n=2")
    which = asking.add_mutually_exclusive_group()
    which.add_argument("--largest", metavar="X", help="find the largest X at which what is stated holds")
    which.add_argument("--smallest", metavar="X", help="find the smallest X at which what is stated holds")
    which.add_argument("--over", nargs="+", metavar="X", help="find the best values of these parameters")
    which.add_argument("--potential", action="store_true", help="find the best potential, with its weights")
    asking.add_argument("--every-n", action="store_true", help="then prove the rate for every number of clients")
    asking.add_argument(
        "--seconds",
        type=at_least(1),
        metavar="S",
        help="begin nothing further after so many seconds (default: search to the end)",
    )
    asking.add_argument("--out", type=Path, metavar="FILE.json", help="keep what is found there, and go on from it")


def run_best(args: Any) -> int:
    """The best number of a claim at given letters."""
    import json
    import math
    import sys
    import time
    from dataclasses import replace

    from verify.best import every_n, factors, parameters, places, potentials, record, thresholds, words
    from verify.best.subjects import subject
    from verify.cli import answering, own_files
    from verify.cli.saving import replaying
    from verify.report import consoles
    from verify.results import files
    from verify.results.places import writable
    from verify.tightness import sweep

    claim, over = own_files.asked(args.own, args.id), tuple(args.over or ())
    if args.every_n and (args.potential or args.largest or args.smallest):
        raise ValueError("--every-n is of the smallest rate, alone or with --over")
    at = given_letters = sweep.letters(args.at)
    path = None if args.out is None else writable(args.out)
    log, report = consoles.console(sys.stderr), consoles.console(sys.stdout)
    begun = time.perf_counter()
    deadline = math.inf if args.seconds is None else begun + args.seconds

    def say(text: str) -> None:
        consoles.say(log, f"[{time.perf_counter() - begun:.0f} s] {text}")

    def keep(found: Record) -> None:
        if path is not None:
            files.write(path, record.text(found))

    asked = record.Record(claim, args.largest or args.smallest or "", (), {} if args.potential else None, over)
    if not (asked.letter or over) and (further := places.others(claim, at)):
        chosen = ", ".join(f"{name} = {value}" for name, value in further.items())
        say(f"at {chosen}, as the usual values break a hypothesis: --at gives others")
        at = {**further, **at}
    before = _kept(path, asked, at)
    if before is not None and (before.found[0].upper is not None or before.letter):
        say(f"taken from {path}, where both ends are shown")
        found = before
    elif asked.letter:
        ends = thresholds.threshold(claim, asked.letter, at, args.largest is not None, deadline, say)
        found = replace(asked, found=ends)
    elif args.potential:
        best = potentials.best(claim, at, deadline, say)
        found = replace(asked, found=(best.rate,), weights=best.weights)
    else:
        of, given = parameters.best(claim, over, at, deadline, say) if over else (subject(claim), at)
        known = None if before is None or over else before.found[0]
        interval = factors.smallest(of, given, deadline, say, lambda part: keep(replace(asked, found=(part,))), known)
        found = replace(asked, found=(interval,))
    keep(found)
    answering.add(best={**words.plain(found), **json.loads(record.text(found))})
    first, *lines = words.report_lines(found)
    asked_for = {*given_letters, *over, asked.letter}
    chosen = ", ".join(name for name in places.known(claim) if name not in asked_for)
    consoles.say(report, first, *([f"  usual values, which --at changes: {chosen}"] if chosen else []), *lines)
    if args.every_n:
        number, why = every_n.proved(found.of, found.found[0], at, say)
        consoles.say(report, words.every_n(number, why))
    if path is not None:
        consoles.say(report, f"kept in {path}: {replaying(path, args.own)} checks it again")
    return 0


def _kept(path: Path | None, asked: Record, at: Any) -> Record | None:
    """Return the record in the file if it answers the same question and passes its checks again.

    Raise ``ValueError`` if the file holds anything else.
    """
    from verify.best import record
    from verify.evidence import formats

    if path is None or not path.exists() or not path.stat().st_size:
        return None
    found = record.load(path) if formats.is_of("best", path) else None
    if found is None or not record.same(found, asked, at):
        raise ValueError(f"{path} holds something else: give another file, or remove it")
    found.check()
    return found
