"""The command ``fedtheory``: audit claims, show, list, replay; complexity tables and maps; how tight a claim is.

Exit status: 0 when the command did its work, 1 when a replayed counterexample differs from what was stored, 2 on bad
input (one line on stderr), 130 when interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import joblib
from rich.console import Console

from fedtheory import claims, tables
from verify import evidence as stored
from verify.audit import audit, to_json
from verify.checking import BUDGETS, check
from verify.evidence import Evidence
from verify.exact import violated
from verify.report import statement, terminal

#: Where an audit writes unless told otherwise, under the current directory.
DEFAULT_OUT = "fedtheory-audit"
#: Where a map is drawn unless told otherwise.
DEFAULT_MAP = "fedtheory-map.png"
#: Where a comparison with the worst case is drawn unless told otherwise.
DEFAULT_TIGHT = "fedtheory-tight.png"
#: Over how many clients the data are split unless told otherwise.
DEFAULT_CLIENTS = 10

#: Mutants that a self-test tries, and seeds of its search for false alarms, unless told otherwise.
DEFAULT_MUTANTS, DEFAULT_SEEDS = 200, 5

_SELF = """\
Every claim that holds, every method and every compressor is changed in one place at a time: a constant, a sign, an
index, an operator, a term left out, a hypothesis. Of these mutants N are tried, evenly over what was changed. A mutant
counts as false when a counterexample is confirmed, or when the worst case over the class exceeds it; as true when it is
proved, certified, or a consequence of the original; what is neither is listed. Then every claim that holds is searched
at several seeds, where each refutation is a false alarm. The budget "full" searches again what "quick" left.
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
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any], int], help: str, description: str = "") -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=description or help, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    def testing(added: argparse.ArgumentParser) -> None:
        added.add_argument("--budget", choices=tuple(BUDGETS), default="quick", help="how long to search")
        added.add_argument("--seed", type=_at_least(0), metavar="S", default=0, help="fixes all draws (default: 0)")

    auditing = command("audit", _audit, "test claims, and run the algorithms on real data", _AUDIT)
    auditing.add_argument("names", nargs="*", metavar="PAPER-OR-ID", help="papers, claims (default: all)")
    testing(auditing)
    cores = joblib.cpu_count()
    auditing.add_argument(
        "--jobs", type=_at_least(1), metavar="N", default=cores, help="processes (default: the cores)"
    )
    auditing.add_argument("--data", metavar="FILE", help="two classes, in LIBSVM's format (default: breast cancer)")
    auditing.add_argument(
        "--clients", type=_at_least(2), metavar="N", help=f"split over N (default: {DEFAULT_CLIENTS})"
    )
    auditing.add_argument("--out", metavar="DIR", default=DEFAULT_OUT, help=f"results (default: {DEFAULT_OUT})")
    auditing.add_argument("--json", metavar="FILE", help="write the JSON here too; - for stdout, the rest to stderr")

    showing = command("show", _show, "a claim in words, and the evidence for it")
    showing.add_argument("id", metavar="ID")
    testing(showing)
    showing.add_argument("--latex", action="store_true", help="print the statement in LaTeX instead")

    listing = command("list", _list, "the claims there are")
    listing.add_argument("names", nargs="*", metavar="PAPER", help="papers, or beginnings of ids (default: all)")

    replaying = command("replay", _replay, "evaluate a stored counterexample again")
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

    table = command("table", _table, "a complexity table; with --at, numbers beside the formulas")
    tabulating(table)
    table.add_argument("--format", choices=tables.FORMATS, default="text", help="how to write it (default: text)")

    mapping = command("map", _map, "which method of a table wins where, as two letters vary")
    tabulating(mapping)
    for axis in ("--x", "--y"):
        mapping.add_argument(axis, required=True, metavar="LETTER=LOW:HIGH", help="range, such as n=1:1e6")
    mapping.add_argument("--out", type=Path, metavar="FILE.png", default=DEFAULT_MAP, help=f"default: {DEFAULT_MAP}")

    selftesting = command(
        "selftest", _selftest, "check the checker on subtly wrong claims, methods, compressors", _SELF
    )
    testing(selftesting)
    selftesting.add_argument(
        "--mutants", type=_at_least(0), metavar="N", default=DEFAULT_MUTANTS, help=f"default: {DEFAULT_MUTANTS}"
    )
    selftesting.add_argument(
        "--seeds", type=_at_least(0), metavar="N", default=DEFAULT_SEEDS, help="of the search for false alarms"
    )
    selftesting.add_argument("--jobs", type=_at_least(1), metavar="N", default=cores, help="processes")
    selftesting.add_argument("--json", metavar="FILE", help="write all results here")

    tightening = command("tight", _tight, "what a claim prints against its exact worst case, over parameters")
    tightening.add_argument("id", metavar="ID")
    tightening.add_argument(
        "--at", nargs="+", action="extend", default=[], metavar="LETTER=NUMBER", help="fixed values, such as n=2"
    )
    tightening.add_argument("--out", type=Path, metavar="FILE.png", default=DEFAULT_TIGHT, help="the figure")
    tightening.add_argument("--jobs", type=_at_least(1), metavar="N", default=cores, help="processes")
    return parser


def _audit(args: argparse.Namespace) -> int:
    # Loading scikit-learn and matplotlib takes as long as all other commands.
    from fedtheory.data import bundled, load_libsvm
    from verify import measure
    from verify.report import figures

    begun = time.perf_counter()
    # All input is checked before the long work.
    selected = claims.select(args.names)
    asked = args.data is not None or args.clients is not None
    papers, ids = {c.paper for c in selected}, {c.id for c in selected}
    bounds = [id for id in measure.MEASURED if (id.split("/")[0] in papers if asked else id in ids)]
    planned: tuple[measure.Experiment, ...] = ()
    if bounds:
        data = bundled() if args.data is None else load_libsvm(args.data)
        planned = measure.experiments(data, args.clients or DEFAULT_CLIENTS, args.seed, bounds)
    out = _directory(Path(args.out))
    to_stdout = args.json == "-"
    copy = None if args.json is None or to_stdout else _writable(Path(args.json))

    log = terminal.console(sys.stderr)
    report = log if to_stdout else terminal.console(sys.stdout)
    with terminal.progress(log, "claims", len(selected)) as advance:
        arrived: list[Evidence] = []

        def arrive(evidence: Evidence) -> None:
            arrived.append(evidence)
            advance(terminal.brief(evidence))

        try:
            found = audit(selected, args.seed, args.budget, args.jobs, arrive)
        except KeyboardInterrupt:
            # What is known by now is kept.
            _write(_text(arrived, args), out, copy)
            raise
    text = _text(found, args)
    _write(text, out, copy)
    if to_stdout:
        sys.stdout.write(text)
        sys.stdout.flush()
    _save_counterexamples(found, out / "counterexamples")
    report.print(terminal.verdicts(found))
    _say(report, *terminal.remarks(found), terminal.summary(found, time.perf_counter() - begun))

    for experiment in planned:
        title = f"{experiment.name}: {experiment.seeds} seeds, {experiment.rounds} {experiment.unit}s"
        _say(log, f"running {title}")
        with terminal.progress(log, title, experiment.rounds + 1) as advance:
            measured = measure.measure(experiment, args.seed, advance)
        figure = out / f"{experiment.paper}.png"
        figures.draw(measured, figure)
        _say(report, f"{experiment.name}: {figure}", *(f"  {line}" for line in experiment.setup))
        _say(report, *(f"  {line}" for curve in measured.curves for line in (curve.sentence, curve.verdict)))
    return 0


def _text(found: Sequence[Evidence], args: argparse.Namespace) -> str:
    return json.dumps(to_json(found, args.seed, args.budget), indent=2) + "\n"


def _write(text: str, out: Path, copy: Path | None) -> None:
    for path in (out / "audit.json", *([copy] if copy else [])):
        path.write_text(text, encoding="utf-8")


def _directory(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the directory {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write to the directory {path}")
    return path


def _writable(path: Path) -> Path:
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"cannot write the file {path}")
    return path


def _save_counterexamples(found: Sequence[Evidence], directory: Path) -> None:
    for evidence in found:
        if evidence.counterexample is not None:
            directory.mkdir(exist_ok=True)
            path = directory / f"{evidence.claim.id.replace('/', '_')}.json"
            path.write_text(json.dumps(evidence.counterexample.to_json(), indent=2) + "\n", encoding="utf-8")


def _show(args: argparse.Namespace) -> int:
    claim = claims.get(args.id)
    if args.latex:
        print(statement.latex(claim))
        return 0
    report = terminal.console(sys.stdout)
    _say(report, *terminal.description(claim))
    sys.stdout.flush()
    evidence = check(claim, args.seed, args.budget)
    repaired = [c for c in claims.all() if c.repairs == claim.id]
    _say(report, *terminal.findings(evidence, repaired))
    return 0


def _list(args: argparse.Namespace) -> int:
    terminal.console(sys.stdout).print(terminal.claims_table(claims.select(args.names)))
    return 0


def _replay(args: argparse.Namespace) -> int:
    example = stored.load(args.file)
    claim = example.claim
    if example.relation not in ("==", "<=", "<"):
        raise ValueError(f"{args.file} claims an unknown relation {example.relation!r}")
    try:
        left, right = example.replay()
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{args.file} does not hold an instance of {claim.id}: {error!r}") from error
    same = _agree(left, example.left) and _agree(right, example.right)
    fails = violated(left, right, example.relation)
    relation = example.relation
    _say(
        terminal.console(sys.stdout),
        f"{claim.id}  ({claim.where})",
        f"  {claim.gist}",
        f"  {example.text}",
        f"claimed     left {relation} right",
        f"stored      {terminal.shown(example.left)} {relation} {terminal.shown(example.right)}",
        f"recomputed  {terminal.shown(left)} {relation} {terminal.shown(right)}",
        f"the recomputed sides {'agree with' if same else 'DIFFER from'} the stored ones "
        f"and {'contradict' if fails else 'do NOT contradict'} the claim",
    )
    return 0 if same else 1


def _table(args: argparse.Namespace) -> int:
    # Deriving orders takes scipy, which the other commands do not need.
    from fedtheory.rendering import render

    values = tables.assignments(args.at)
    table = tables.get(args.name)
    sys.stdout.write(render(table.at(values) if values else table, args.format))
    return 0


def _map(args: argparse.Namespace) -> int:
    # Loading matplotlib takes as long as all other commands.
    from fedtheory.regions import axis, regions
    from verify.report import map as maps

    x, y, out = axis(args.x), axis(args.y), _writable(args.out)
    if out.suffix.lower() != ".png":
        raise ValueError(f"a map is a PNG file: a name that ends in .png was expected, got {out}")
    found = regions(tables.get(args.name), x, y, tables.assignments(args.at))
    maps.draw(found, out)
    _say(terminal.console(sys.stdout), *maps.words(found), str(out))
    return 0


def _selftest(args: argparse.Namespace) -> int:
    from verify import selftest
    from verify.report import selftest as told

    copy = None if args.json is None else _writable(Path(args.json))
    log, report = terminal.console(sys.stderr), terminal.console(sys.stdout)
    holding = selftest.holding()
    every = selftest.bank(holding)
    mutants = selftest.sample(every, args.mutants)
    by_id = {m.id: m for m in mutants}
    with terminal.progress(log, "mutants", len(mutants)) as advance:
        trials = selftest.trials(
            mutants, args.seed, args.budget, args.jobs, lambda trial: advance(told.brief(trial, by_id[trial.id]))
        )
    seeds = range(args.seed, args.seed + args.seeds)
    with terminal.progress(log, "claims that hold", len(holding) * len(seeds)) as advance:
        alarms = selftest.alarms(holding, seeds, args.jobs, lambda count: advance())
    if copy is not None:
        copy.write_text(json.dumps(told.to_json(trials, mutants, alarms), indent=2) + "\n", encoding="utf-8")
    _say(report, *told.left_over(trials, mutants), f"{len(mutants)} of {len(every)} mutants")
    report.print(told.by_operator(trials, mutants))
    report.print(told.by_method(trials))
    _say(report, *told.sentences(trials, args.budget), *told.false_alarms(alarms, len(holding), len(seeds)))
    return 0


def _tight(args: argparse.Namespace) -> int:
    # Loading matplotlib takes as long as all other commands.
    from verify import tightness
    from verify.report import tight

    claim, out = claims.get(args.id), _writable(args.out)
    if out.suffix.lower() != ".png":
        raise ValueError(f"the figure is a PNG file: a name that ends in .png was expected, got {out}")
    at = tightness.letters(args.at)
    log, report = terminal.console(sys.stderr), terminal.console(sys.stdout)
    with terminal.progress(log, "points", len(tightness.grid(claim, at))) as advance:
        points = tightness.measure(claim, at, args.jobs, advance)
    for table in tight.tables(points):
        report.print(table)
    tight.draw(claim, points, out)
    repaired = [f"repaired: {c.id}" for c in claims.all() if c.repairs == claim.id]
    _say(report, str(out), *tight.words(points), *repaired)
    return 0


def _agree(computed: Any, before: Any) -> bool:
    """Whether a side is what was stored: exactly for fractions, to the digits that are kept for other numbers."""
    a, b = (Fraction(stored.number(v)) for v in (computed, before))
    if isinstance(computed, int | Fraction):
        return a == b
    return abs(a - b) <= Fraction(1, 10 ** (9 if isinstance(computed, float) else 25)) * max(abs(a), abs(b))


def _say(to: Console, *lines: str) -> None:
    for line in lines:
        to.print(line, soft_wrap=True)
