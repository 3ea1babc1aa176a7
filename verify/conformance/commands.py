"""The commands ``fedtheory trace`` and ``fedtheory check-trace``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Seconds of processor time that a check may take.
_SECONDS = 300
#: Steps of a trace that is recorded, at most.
_ROUNDS = 100_000
_CHECK = """\
Compare a recorded run with the algorithm: each transition, given its draw or any draw that explains it; the invariants;
the distribution of the draws; the expected decrease that the claims promise. If only iterates were recorded, hidden
states that explain them are reconstructed, and the bounds along the run are tested. The file format is described in
docs/conformance.md.
"""


def register(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the two commands; ``command(name, run, help, *examples, description, found)`` makes a parser."""
    checking = command(
        "check-trace",
        f"{__name__}.run_check",
        "test a recorded run of an algorithm, from code in any language",
        "fedtheory check-trace locodl run.npz",
        description=_CHECK,
        found="the trace does not conform",
    )
    checking.add_argument(
        "algorithm", metavar="ALGORITHM", help="name of the algorithm, such as locodl, or FILE.py:NAME"
    )
    checking.add_argument("file", type=Path, metavar="FILE.npz", help="the recorded run")
    checking.add_argument(
        "--level", type=float, default=1e-6, metavar="P", help="probability of a false alarm (default: 1e-6)"
    )
    checking.add_argument(
        "--tolerance", type=float, metavar="T", help="relative error accepted as rounding (default: 1e-9)"
    )
    writing = command(
        "trace",
        f"{__name__}.run_trace",
        "record a run of a reference algorithm for check-trace",
        "fedtheory trace locodl --out run.npz",
    )
    writing.add_argument(
        "algorithm", metavar="ALGORITHM", help="name of the algorithm, such as locodl, or FILE.py:NAME"
    )
    writing.add_argument("--out", type=Path, required=True, metavar="FILE.npz", help="file to write")
    writing.add_argument("--rounds", type=int, default=20, metavar="T", help="number of steps (default: 20)")
    writing.add_argument(
        "--seed", type=int, default=0, metavar="S", help="random seed of the problem and the draws (default: 0)"
    )
    writing.add_argument("--hide-draws", action="store_true", help="do not record the draws")
    writing.add_argument("--iterates", action="store_true", help="record only the models, without states and draws")


def run_check(args: Any) -> int:
    """Check a trace; 1 if it does not conform."""
    from verify.base import limits
    from verify.conformance.trace import check_trace

    def checked() -> tuple[str, bool]:
        report = check_trace(args.algorithm, args.file, args.level, args.tolerance)
        return str(report), report.ok

    text, conforms = limits.limited(checked, _SECONDS, name=str(args.file))
    print(text)
    return 0 if conforms else 1


def run_trace(args: Any) -> int:
    """Record a run of the reference."""
    from verify.conformance.trace_file import record

    if not 1 <= args.rounds <= _ROUNDS or args.seed < 0:
        raise ValueError(f"a trace has from 1 to {_ROUNDS} steps, and a nonnegative seed")
    record(args.algorithm, args.out, args.rounds, args.seed, not args.hide_draws, not args.iterates)
    print(args.out)
    return 0
