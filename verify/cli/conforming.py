"""The commands ``fedtheory conform``, ``fedtheory trace`` and ``fedtheory check-trace``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.conformance.report import Report

#: Seconds of processor time that a check may take.
_SECONDS = 300
#: Steps of a trace that is recorded, at most.
_ROUNDS = 100_000
_CONFORM = """\
Test code against the theory: a Python file with a loop, run(problem, params, rounds, rng), or a step, step(problem,
params, state, draw), of the algorithm that is named, or with a compressor, compress(x, rng), on vectors of D entries,
of which --omega or --alpha is claimed. What departs is reported with the line at fault, the smallest problem and, where
one is known, the slip. The functions, and what else can be tested, are described in docs/conformance.md.
"""
_CHECK = """\
Compare a recorded run with the algorithm: each transition, given its draw or any draw that explains it; the invariants;
the distribution of the draws; the expected decrease that the claims promise. If only iterates were recorded, hidden
states that explain them are reconstructed, and the bounds along the run are tested. The file format is described in
docs/conformance.md.
"""


def register(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the two commands; ``command(name, run, help, *examples, description, found)`` makes a parser."""
    conforming = command(
        "conform",
        f"{__name__}.run_conform",
        "test the code of an algorithm or a compressor",
        "fedtheory conform my_loop.py diana",
        "fedtheory conform my_loop.py scaffold --function train --feature 'option I'",
        "fedtheory conform my_compressor.py --d 40 --omega 3",
        description=_CONFORM,
        found="the code does not conform",
    )
    conforming.add_argument("file", type=Path, metavar="FILE.py", help="a Python file, which is executed")
    conforming.add_argument(
        "algorithm",
        nargs="?",
        metavar="ALGORITHM",
        help="name of the algorithm, such as diana; without it, a compressor",
    )
    conforming.add_argument(
        "--function", metavar="NAME", help="the function to test (default: run, step or compress, whichever there is)"
    )
    conforming.add_argument(
        "--feature", action="append", default=[], metavar="F", help="an option of the algorithm that it has; repeatable"
    )
    conforming.add_argument("--d", type=int, metavar="D", help="the entries of the vectors of a compressor")
    conforming.add_argument("--omega", type=float, metavar="W", help="the compressor is unbiased, with this variance")
    conforming.add_argument("--alpha", type=float, metavar="A", help="the compressor contracts: its factor is 1 - A")
    conforming.add_argument("--bits", type=int, metavar="B", help="the length of a compressor's message")
    conforming.add_argument("--tolerance", type=float, metavar="T", help="relative error accepted as rounding")
    conforming.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: 0)")
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


def run_conform(args: Any) -> int:
    """Test the function of a file; 1 if it does not conform."""
    from fedtheory import algorithms
    from verify.base import limits

    compressing = args.algorithm is None
    claimed = {name: getattr(args, name) for name in ("d", "omega", "alpha", "bits")}
    if compressing and args.feature:
        raise ValueError("--feature is of an algorithm: name one")
    if compressing and args.d is None:
        raise ValueError("name an algorithm, or for a compressor give --d, and --omega or --alpha")
    given = [name for name, value in claimed.items() if value is not None]
    if not compressing and given:
        raise ValueError(f"--{given[0]} is of a compressor, and {args.algorithm} of an algorithm: give one of them")
    kinds = ("compress",) if compressing else ("run", "step")
    if not compressing and ".py" not in args.algorithm:
        # Not what is wrong with the file.
        algorithms.get(args.algorithm)

    def tested() -> Report:
        from verify import conformance

        names = _executed(args.file)
        name, function = _function(names, args.file, args.function, kinds)
        common: dict[str, Any] = {"tolerance": args.tolerance, "seed": args.seed}
        if compressing:
            return _naming(conformance.compressor(function, **claimed, **common), "(compress,", f"({name},")
        kind = name if name in kinds else "step" if _takes(function, "state") else "run"
        loop: dict[str, Any] = {"run": function} if kind == "run" else {"step": function, "init": names.get("init")}
        report = conformance.algorithm(args.algorithm, features=args.feature, **loop, **common)
        return _naming(report, f"{kind}={kind}", f"{kind}={name}")

    return _reported(limits.limited(lambda: _as_data(tested()), _SECONDS, name=str(args.file)))


def _naming(report: Report, usual: str, own: str) -> Report:
    """The report with the function as it is called in the file, in the calls that show a failure again."""
    from dataclasses import replace

    failures = tuple(replace(failure, replay=failure.replay.replace(usual, own)) for failure in report.failures)
    return replace(report, failures=failures)


def _executed(path: Path) -> dict[str, Any]:
    """The names of a file, which is executed as it is: it may use any library. Raise ``ValueError`` if it fails."""
    import runpy
    import sys

    from verify.conformance.report import raised

    if not path.is_file():
        raise ValueError(f"cannot read {path}: no such file")
    # It may import what lies beside it.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return runpy.run_path(str(path), run_name=path.stem)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{path} {raised(error)}") from None


def _function(
    names: dict[str, Any], path: Path, name: str | None, kinds: tuple[str, ...]
) -> tuple[str, Callable[..., Any]]:
    """The function of a file with this name, or that has one of the usual ones. Raise ``ValueError`` if there is none,
    or more than one."""
    found = {kind: names[kind] for kind in ((name,) if name else kinds) if callable(names.get(kind))}
    if not found:
        own = [key for key, value in names.items() if callable(value) and getattr(value, "__module__", "") == path.stem]
        raise ValueError(
            f"{path} has no function {name or ' or '.join(kinds)}: it has {', '.join(own) or 'none'}"
            f"{'' if name else '; --function names one'}"
        )
    if len(found) > 1:
        raise ValueError(f"{path} has both {' and '.join(found)}: --function names one")
    return next(iter(found.items()))


def _takes(function: Callable[..., Any], name: str) -> bool:
    from inspect import signature

    return name in signature(function).parameters


def _as_data(report: Report) -> tuple[str, dict[str, Any]]:
    """The text of a report, and the report as data, which other processes can send."""
    failures = [
        {"where": f.where, "evidence": f.evidence, "violates": f.violated, "replay": f.replay.splitlines()}
        for f in report.failures
    ]
    data = {"ok": report.ok, "subject": report.subject, "failures": failures, "checked": list(report.checked)}
    data |= {"detects": dict(report.detects), "notes": list(report.notes), "few": report.few}
    return str(report), {**data, "level": report.level, "tolerance": report.tolerance}


def _reported(found: tuple[str, dict[str, Any]]) -> int:
    """Print a report, as data too; 1 if there are failures."""
    from verify.cli import answering

    text, data = found
    answering.add(conformance=data)
    print(text)
    return 0 if data["ok"] else 1


def run_check(args: Any) -> int:
    """Check a trace; 1 if it does not conform."""
    from verify.base import limits
    from verify.conformance.trace import check_trace

    def checked() -> tuple[str, dict[str, Any]]:
        return _as_data(check_trace(args.algorithm, args.file, args.level, args.tolerance))

    return _reported(limits.limited(checked, _SECONDS, name=str(args.file)))


def run_trace(args: Any) -> int:
    """Record a run of the reference."""
    from verify.conformance.trace_file import record

    if not 1 <= args.rounds <= _ROUNDS or args.seed < 0:
        raise ValueError(f"a trace has from 1 to {_ROUNDS} steps, and a nonnegative seed")
    record(args.algorithm, args.out, args.rounds, args.seed, not args.hide_draws, not args.iterates)
    print(args.out)
    return 0
