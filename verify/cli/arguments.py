"""The arguments of the command ``fedtheory``: its commands, their options and their help.

Nothing here imports the numerical code, so an error in the arguments is reported at once.
"""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NoReturn

from verify.base.plain import quoted
from verify.cli import best, checking, conforming, discovering, experiments, models, repairing, serving, tightening
from verify.cli import listing as results
from verify.export import commands as export
from verify.report import atlas

#: The default folder of an audit, under the current directory.
DEFAULT_OUT = "fedtheory-audit"
#: Over how many clients the data are split by default.
DEFAULT_CLIENTS = 10
#: Mutants that a self-test tries by default.
DEFAULT_MUTANTS = 200
#: Seeds of its search for false alarms by default.
DEFAULT_SEEDS = 5
#: Mutants that are wrong in a region only.
DEFAULT_REGIONS = 40

#: The largest number of processes.
MOST_JOBS = 4096

# The choices of options. Their definitions are too slow to import here; a test keeps both the same.
BUDGETS = ("quick", "full")
VERDICTS = ("proved", "certified", "supported", "refuted", "ill-posed", "not-tested")
FORMATS = ("text", "markdown", "latex", "html", "csv", "json")
BACKENDS = ("processes", "dask")
BASELINES = ("gradient-descent", "best-gradient-descent")
SHELLS = ("bash", "zsh", "fish")

_DESCRIPTION = """\
Test the theorems of federated optimisation: is the theorem true, how tight is it, and does your code obey it?
"""
_SELF = """\
Test the checker by mutation. Each claim that holds, each method and each compressor is changed in one place: a
constant, a sign, an index, an operator, a dropped term, a hypothesis. N of these mutants are tried, spread evenly over
the kinds of change. A mutant counts as false if a counterexample is confirmed or if the worst case over the class
exceeds its bound; as true if it is proved, follows from the original, or is certified at some parameters and not
refuted elsewhere by the budget "full", which searches again what "quick" left standing. Mutants that are neither are
listed. Next come random mutants that are wrong only in a region (for many clients, for small p, for one number type,
far from the optimum, after some calls) or that weaken a hypothesis slightly; their falsity is established by a search
inside the region, which the checker does not know. Then each claim that holds is searched at several seeds, where any
refutation is a false alarm. Finally, the sequential tests run on 10,000 true cases from each of several distributions.
"""
_AUDIT = f"""\
Test claims, with what runs and how long it may still take. Then run the algorithms on real data with the theorems'
parameters and compare them with the theorems' bounds: the bounds among the claims named or, with --data or --clients,
all measurable bounds of the papers named. DIR (default: {DEFAULT_OUT}) receives report.txt (a table of verdicts, with a
line for each refutation), audit.json, counterexamples/ and certificates/ (JSON files for `fedtheory replay`) and a PNG
for each algorithm that is run. At the end come the totals and the verdicts that differ from the shipped ones for the
same seed and budget; -v prints the rest too. Proofs that ship with the package are checked, not searched for again:
certificates without a solver, counterexamples by evaluation. A claim is searched anew if the code that it depends on
has changed or if its shipped proof fails, which is reported; --from-scratch ignores all shipped proofs. Each verdict is
cached as soon as it is found ($FEDTHEORY_CACHE, or fedtheory in $XDG_CACHE_HOME or ~/.cache): an interrupted audit
resumes when the same command is run again, and a later one tests only the claims that depend on changed files of the
package.
"""
_COMPLETION = """\
Print a shell script that completes commands, options and claim ids. For bash: `fedtheory completion bash >
~/.local/share/bash-completion/completions/fedtheory`; for zsh, save it as _fedtheory in a directory of $fpath; for
fish, as ~/.config/fish/completions/fedtheory.fish.
"""
_FOUND = "1 {}; "
_STATUS = "exit status: 0 success; {}2 bad input, or a file that cannot be written; 130 interrupted"


#: Argparse's message for a word that is none of the choices, and where one is missing.
_CHOICE = re.compile(r"(?P<message>.*invalid choice: '(?P<got>[^']*)') \(choose from (?P<known>.*)\)", re.DOTALL)
_NEAR = 0.7
_MISSING = "the following arguments are required"
#: Characters of a complaint.
LONGEST = 1200
#: The file of ``--json`` that is none: the answer goes to stdout.
STDOUT = "-"


class _Parser(argparse.ArgumentParser):
    """A parser whose usage errors are ``ValueError``s, like all other bad input, and say what may be meant.

    ``example``: a line that is complete.
    """

    example = ""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, left = self.parse_known_args(args, namespace)
        asked: argparse.ArgumentParser = getattr(found, "parser", None) or self
        left = _filled_in(asked, found, left)
        if left:
            known = asked._option_string_actions
            options = [word.split("=")[0] for word in left if word.startswith("-")]
            near = [name for option in options for name in get_close_matches(option, known, 1, _NEAR)]
            hint = f", did you mean {' '.join(near)}?" if near else ""
            asked.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return found

    def error(self, message: str) -> NoReturn:
        if (wrong := _CHOICE.fullmatch(message)) is not None:
            near = get_close_matches(wrong["got"], re.findall(r"[\w-]+", wrong["known"]), 1)
            message = f"{wrong['message']}, did you mean {near[0]!r}?" if near else message
        elif message.startswith(_MISSING) and self.example:
            message = f"{message}, as in `{self.example}`"
        # The message quotes what was typed, which may be long.
        shown = message if len(message) <= LONGEST // 2 else f"{message[: LONGEST // 2]}..."
        raise ValueError(f"{shown} (see {self.prog} --help)")


class _Version(argparse.Action):
    """Looks the version up when it is asked for, which takes longer than all else that has to be done then."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        try:
            found = version("fedtheory")
        except PackageNotFoundError:
            found = "of unknown version: the package is not installed"
        print(f"fedtheory {found}")
        parser.exit()


def _filled_in(asked: argparse.ArgumentParser, found: argparse.Namespace, left: list[str]) -> list[str]:
    """The words that are left once those that stand after an option, where argparse expects none, are taken for the
    arguments that may be left out: ``check FILE --seconds 9 ID``."""
    words = [word for word in left if not word.startswith("-")]
    for action in asked._actions:
        if len(words) < len(left) or not words or action.option_strings or action.nargs not in ("*", "?"):
            continue
        if action.nargs == "*":
            setattr(found, action.dest, [*(getattr(found, action.dest) or ()), *words])
            return []
        if getattr(found, action.dest) is None:
            setattr(found, action.dest, words.pop(0))
            left = words
    return left


def _at_least(smallest: int, largest: int = 10**12) -> Callable[[str], int]:
    def integer(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if value < smallest:
            raise argparse.ArgumentTypeError(f"an integer of at least {smallest} was expected, got {quoted(text)}")
        if value > largest:
            raise argparse.ArgumentTypeError(f"an integer of at most {largest} was expected, got {quoted(text)}")
        return value

    return integer


def _filled(text: str) -> str:
    width = max(40, shutil.get_terminal_size().columns - 2)
    return textwrap.fill(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


def _epilog(examples: Sequence[str], found: str = "") -> str:
    title = "example" if len(examples) == 1 else "examples"
    lines = "\n".join(f"  {example}" for example in examples)
    return f"{title}:\n{lines}\n\n{_filled(_STATUS.format(_FOUND.format(found) if found else ''))}"


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments; ``run`` of what it gives is the name of a function, of :mod:`verify.cli.commands`
    where it names no module, or None for no command."""
    top = _Parser(
        prog="fedtheory",
        description=_filled(_DESCRIPTION),
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_epilog(
            (
                "fedtheory list feddcd --verdict refuted",
                "fedtheory why feddcd/theorem-6.1/eq-10",
                "fedtheory show locodl/theorem-3.1/one-step",
                "fedtheory audit locodl --out results",
                "fedtheory COMMAND --help",
            )
        ),
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    top.set_defaults(run=None, parser=None, command=None)
    subparsers = top.add_subparsers(metavar="COMMAND")

    def command(
        name: str, run: str, help: str, *examples: str, description: str = "", found: str = ""
    ) -> argparse.ArgumentParser:
        added = subparsers.add_parser(
            name,
            help=help,
            description=_filled(description or f"{help[0].upper()}{help[1:]}."),
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog=_epilog(examples, found),
        )
        added.example = examples[0]
        added.set_defaults(run=run, parser=added, command=name)
        return added

    def testing(added: argparse.ArgumentParser) -> None:
        added.add_argument(
            "--budget", choices=BUDGETS, default="quick", help="how thoroughly to search (default: quick)"
        )
        added.add_argument("--seed", type=_at_least(0), metavar="S", default=0, help="random seed (default: 0)")

    def parallel(added: argparse.ArgumentParser) -> None:
        added.add_argument(
            "--jobs", type=_at_least(1, MOST_JOBS), metavar="N", help="number of processes (default: one per core)"
        )

    def distributed(added: argparse.ArgumentParser) -> None:
        parallel(added)
        added.add_argument("--backend", choices=BACKENDS, default="processes", help="where to run (default: processes)")
        added.add_argument(
            "--scheduler", metavar="ADDRESS", help="address of a Dask scheduler, such as tcp://host:8786"
        )

    def owned(added: argparse.ArgumentParser, what: str) -> None:
        added.add_argument(
            "--own", type=Path, metavar="FILE.py", help=f"a Python file of your own, which is executed: {what}"
        )

    def valued(added: argparse.ArgumentParser, help: str) -> None:
        added.add_argument("--at", nargs="+", action="extend", default=[], metavar="LETTER=NUMBER", help=help)

    auditing = command(
        "audit",
        "verify.cli.auditing.run_audit",
        "test claims, and run the algorithms on real data",
        "fedtheory audit feddcd/theorem-6.1",
        "fedtheory audit locodl --data a5a --clients 87 --out results",
        "fedtheory audit --budget full --fail-on refuted --fail-on not-tested",
        "fedtheory audit --backend dask --scheduler tcp://host:8786",
        description=_AUDIT,
        found="a verdict named by --fail-on was found",
    )
    auditing.add_argument(
        "names", nargs="*", metavar="PAPER-OR-ID", help="papers, claims or prefixes of ids (default: all)"
    )
    testing(auditing)
    distributed(auditing)
    auditing.add_argument(
        "--data", metavar="FILE", help="two-class data in LIBSVM format or CSV (default: breast cancer)"
    )
    auditing.add_argument(
        "--clients",
        type=_at_least(2),
        metavar="N",
        help=f"number of clients that share the data (default: {DEFAULT_CLIENTS})",
    )
    auditing.add_argument(
        "--out", metavar="DIR", default=DEFAULT_OUT, help=f"output directory (default: {DEFAULT_OUT})"
    )
    auditing.add_argument("--from-scratch", action="store_true", help="ignore the proofs that ship with the package")
    auditing.add_argument("--no-cache", action="store_true", help="neither read nor write the cache of verdicts")
    auditing.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="also write the JSON here; - or nothing for stdout, with messages on stderr",
    )
    auditing.add_argument("--html", metavar="DIR", help="also write HTML pages there, as `fedtheory atlas` does")
    auditing.add_argument(
        "-v", "--verbose", action="store_true", help="print all that report.txt has, and in a log a line for each claim"
    )
    auditing.add_argument(
        "--fail-on",
        choices=VERDICTS,
        action="append",
        default=[],
        metavar="VERDICT",
        help=f"exit with status 1 if a claim has this verdict: {', '.join(VERDICTS)}; repeatable",
    )

    results.register(command, testing, owned, valued, VERDICTS)

    replaying = command(
        "replay",
        "run_replay",
        "recheck a stored counterexample or certificate",
        "fedtheory replay feddcd/theorem-6.1/eq-10",
        f"fedtheory replay {DEFAULT_OUT}/counterexamples/feddcd_theorem-6.1_eq-10.json",
        found="the sides of a counterexample differ from the stored ones or do not contradict the claim, or a "
        "certificate does not hold",
    )
    replaying.add_argument(
        "file", type=Path, metavar="FILE-OR-ID", help="a JSON file, or a claim that the shipped results refute"
    )
    owned(replaying, "its claims can be replayed too")

    checking.register(command, testing, _at_least, VERDICTS)

    table = command(
        "table",
        "run_table",
        "print a complexity table; with --at, with numbers beside the formulas",
        "fedtheory table locodl/table-2 --at n=100 d=300 kappa=1e4 --format latex",
    )
    table.add_argument("name", metavar="TABLE", help="name, such as locodl/table-2; an unknown name lists all")
    valued(table, "values, such as n=100 kappa=1e4")
    table.add_argument("--format", choices=FORMATS, default="text", help="output format (default: text)")

    mapping = command(
        "map",
        "run_map",
        "draw which method of a table is cheapest as two letters vary",
        "fedtheory map locodl/table-2 --x n=1:1e6 --y d=1:1e6 --at kappa=1e4 --out map.png",
    )
    mapping.add_argument("name", metavar="TABLE", help="name, such as locodl/table-2; an unknown name lists all")
    valued(mapping, "values, such as n=100 kappa=1e4")
    for axis in ("--x", "--y"):
        mapping.add_argument(
            axis, required=True, metavar="LETTER=LOW:HIGH", help="letter and its range, such as n=1:1e6"
        )
    mapping.add_argument(
        "--out", type=Path, metavar="FILE.png", help="draw the map there (default: the shares of the methods alone)"
    )

    selftesting = command(
        "selftest",
        "run_selftest",
        "test the checker on subtly wrong claims, methods and compressors",
        "fedtheory selftest --mutants 40 --regions 20 --seeds 1",
        "fedtheory selftest --own my_theorem.py",
        description=_SELF,
    )
    testing(selftesting)
    selftesting.add_argument(
        "--mutants",
        type=_at_least(0),
        metavar="N",
        default=DEFAULT_MUTANTS,
        help=f"number of mutants (default: {DEFAULT_MUTANTS})",
    )
    selftesting.add_argument(
        "--regions",
        type=_at_least(0),
        metavar="N",
        default=DEFAULT_REGIONS,
        help=f"number of mutants that are wrong only in a region (default: {DEFAULT_REGIONS})",
    )
    selftesting.add_argument(
        "--seeds",
        type=_at_least(0),
        metavar="N",
        default=DEFAULT_SEEDS,
        help=f"number of seeds searched for false alarms (default: {DEFAULT_SEEDS})",
    )
    parallel(selftesting)
    owned(selftesting, "only its claims are mutated")
    selftesting.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="also write the results here as JSON; - or nothing for an answer as data on stdout",
    )

    tightening.register(command, owned, valued, distributed, _at_least, BASELINES)
    best.register(command, owned, valued, _at_least)
    discovering.register(command, _at_least)
    repairing.register(command, owned, _at_least)
    models.register(command, valued, _at_least)
    conforming.register(command)
    experiments.register(command, _at_least)
    atlas.register(command)
    export.register(command)

    completing = command(
        "completion",
        "run_completion",
        "print a script for shell completion",
        "fedtheory completion bash > ~/.local/share/bash-completion/completions/fedtheory",
        description=_COMPLETION,
    )
    completing.add_argument("shell", choices=SHELLS)
    serving.register(command, _at_least)
    for each in subparsers.choices.values():
        # Where the option takes a file that is the place of the data, - for stdout.
        if "--json" not in each._option_string_actions:
            each.add_argument("--json", action="store_true", dest="as_json", help="print the answer as JSON")
    return top
