"""The command ``fedtheory tight``, and what it keeps of worst cases after some rounds."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from verify.tightness.comparison import Point
    from verify.tightness.kept import Store

#: The most rounds that are compared.
MOST_STEPS = 20


def register(
    command: Callable[..., argparse.ArgumentParser],
    owned: Callable[[argparse.ArgumentParser, str], None],
    valued: Callable[[argparse.ArgumentParser, str], None],
    distributed: Callable[[argparse.ArgumentParser], None],
    at_least: Callable[..., Callable[[str], int]],
    baselines: Sequence[str],
) -> None:
    """Add the command; the arguments as :mod:`verify.cli.arguments` has them."""
    asking = command(
        "tight",
        f"{__name__}.run_tight",
        "compare a claim's bound with the exact worst case, over parameters",
        "fedtheory tight locodl/theorem-3.1/one-step --at n=2 --out tight.png",
        "fedtheory tight prox/step --own examples/proximal_point.py",
        "fedtheory tight nesterov-rate/bound --own examples/gallery/nesterov_rate.py --at L=1 --steps 5",
    )
    asking.add_argument("id", metavar="ID", help="a claim; `fedtheory list` lists them")
    owned(asking, "its claims can be named too")
    valued(asking, "values of letters to fix, such as n=2")
    asking.add_argument(
        "--steps",
        type=at_least(1, MOST_STEPS),
        metavar="K",
        help=f"compare a bound after T = 1, ..., K rounds, each by a program of its own (at most {MOST_STEPS}); those "
        "of more than 22 rows are listed, and not solved",
    )
    asking.add_argument(
        "--keep",
        type=Path,
        metavar="FILE.json",
        help="keep what --steps finds there, go on from it, and let `fedtheory replay` check it again",
    )
    asking.add_argument(
        "--baseline",
        choices=baselines,
        help="say where the stated factor is not better than that of this method, step for step",
    )
    asking.add_argument(
        "--out",
        type=Path,
        metavar="FILE.png",
        help="draw the figure there (default: none is drawn)",
    )
    distributed(asking)


def run_tight(args: argparse.Namespace) -> int:
    """Compare what a claim prints with its worst case, and draw both if that is asked for."""
    import sys

    from fedtheory import claims
    from verify.audit import sweeping
    from verify.cli import answering, own_files
    from verify.cli.saving import replaying
    from verify.report import consoles, style, tight
    from verify.results import files
    from verify.results.places import writable
    from verify.tightness import emptiness, rounds, sweep

    loaded = own_files.loaded(args.own)
    claim, out = claims.get(args.id), None if args.out is None else style.checked(writable(args.out))
    at = sweep.letters(args.at)
    if claim in loaded and args.backend != "processes":
        raise ValueError(f"the workers of a cluster do not know {claim.id}, a claim of your own file")
    log, report = consoles.console(sys.stderr), consoles.console(sys.stdout)
    kept = _kept(args, claim)
    choices = len(sweep.tasks(claim, at, args.steps))
    with sweeping.backend(args.backend, args.scheduler), consoles.progress(log, "points", choices) as advance:
        # Other processes do not know the claims of a user's file.
        jobs = 1 if claim in loaded else args.jobs or sweeping.cores()
        points = sweep.measure(claim, at, jobs, advance, args.steps, kept.known, kept.add)
    for table in tight.tables(points):
        consoles.show(report, table)
    answering.add(
        worst_cases=[
            {
                "at": point.where,
                "lower": None if point.lower is None else str(point.lower),
                "upper": None if point.upper is None else str(point.upper),
                "stated": str(point.printed),
                "verdict": str(point.verdict),
            }
            for point in points
        ]
    )
    if out is not None:
        with files.replacing(out) as temporary:
            tight.draw(claim, points, temporary)
    repaired = [f"repaired: {c.id}" for c in claims.repairing(claim.id)]
    consoles.say(
        report,
        *([] if out is None else [str(out)]),
        *tight.words(points),
        *rounds.words(points),
        *emptiness.words(points, args.baseline),
        *repaired,
        *([] if args.keep is None else [f"kept in {args.keep}: {replaying(args.keep, args.own)} checks it again"]),
    )
    return 0


def _kept(args: argparse.Namespace, claim: Claim) -> Store:
    """Return the store of points after some rounds."""
    from verify.results.places import writable
    from verify.tightness import kept

    if args.keep is None:
        return kept.Store(claim)
    if args.steps is None:
        raise ValueError("--keep is for what --steps finds")
    return kept.Store(claim, writable(args.keep))


def replayed(path: Path) -> int | None:
    """Check worst cases after some rounds again: 1 where one is not shown, None where the file holds none."""
    from verify.evidence import formats

    if not path.exists() or not formats.is_of("rounds", path):
        return None
    import sys

    from verify.base import limits
    from verify.pep.prover import DoesNotHold
    from verify.report import consoles
    from verify.tightness import kept

    claim, points = kept.load(path)

    def again() -> tuple[list[str], str]:
        lines: list[str] = []
        for one in points:
            try:
                lines.append(f"  {describe_point(one.again(claim))}")
            except DoesNotHold as error:
                return lines, str(error)
        return lines, ""

    lines, why = limits.limited(again, limits.SECONDS, limits.BYTES, str(path))
    end = f"does NOT hold: {why}" if why else "holds: all ends were shown again, in exact arithmetic, without a solver"
    consoles.say(
        consoles.console(sys.stdout),
        f"{claim.id}  ({claim.where})" if claim.where else claim.id,
        *lines,
        f"what is kept {end}",
    )
    return 1 if why else 0


def describe_point(point: Point) -> str:
    """A worst case after some rounds in a line, its ends rounded outwards where they differ."""
    from verify.tightness.comparison import Subject, short
    from verify.tightness.sweep import rounded

    ends = [None if v is None else rounded(v, up) for v, up in ((point.lower, False), (point.upper, True))]
    known = " and ".join(
        f"at {word} {end}" for word, end in zip(("least", "most"), ends, strict=True) if end is not None
    )
    if point.lower is not None and point.lower == point.upper:
        known = f"exactly {short(point.lower)}"
    what = "left/right" if point.subject is Subject.RATIO else "worst case"
    stated = rounded(point.printed, True)
    return f"{point.where}: {what} {known or 'not bounded'} {point.part}, stated {stated}: {point.verdict}"
