"""The command ``fedtheory certify``: exact bounds for every model of a file that is written for PEPit."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from verify.base.plain import counted
from verify.cli.checking import assumptions, limits

if TYPE_CHECKING:
    from verify.pepit import Bounds
    from verify.pepit.certifying import Number
    from verify.pepit.for_all import ForAll
    from verify.pepit.notation import Notation
    from verify.pepit.stated import Stated

#: Digits of a fraction that is shown whole.
_SHORT = 24
#: Bits of the fractions that stand for a bound with roots where fractions are asked for.
_BITS = 128

_CERTIFY = """\
Run a Python file that poses performance estimation problems with PEPit, and prove both ends of each that it solves, in
fractions: an upper bound with the multipliers of PEPit's constraints, and a lower one with a Gram matrix that attains
it. Where both meet in a simple fraction, that is the worst case. PEPit's own number comes from a solver in floats and
may be no bound: it says so. Needs PEPit. See docs/pepit.md.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    valued: Callable[[argparse.ArgumentParser, str], None],
    at_least: Callable[..., Callable[[str], int]],
) -> None:
    """Add the command; the arguments as :mod:`verify.cli.arguments` has them."""
    asking = command(
        "certify",
        f"{__name__}.run_certify",
        "prove exact bounds for the PEPit models of a file",
        "fedtheory certify examples/pepit/gradient_descent.py",
        "fedtheory certify examples/pepit/gradient_descent.py --call wc_gradient_descent --at L=1 gamma=1/2 n=3",
        "fedtheory certify examples/pepit/gradient_descent.py --letters L gamma --where 'gamma*L <= 1' --at n=1",
        "fedtheory certify my_method.py --multipliers --json bounds.json --proofs proofs",
        description=_CERTIFY,
        found="no proof was found for all letters",
    )
    asking.add_argument("file", type=Path, metavar="FILE.py", help="a Python file that solves a PEP")
    asking.add_argument(
        "--call", metavar="NAME", help="call this function of the file, rather than run the file as a program"
    )
    valued(asking, "arguments of the function, such as L=1 gamma=1/10 n=3: fractions are taken exactly")
    asking.add_argument(
        "--letters",
        nargs="+",
        default=[],
        metavar="LETTER",
        help="arguments of the function that stay letters: the value that it returns beside PEPit's, or one that is "
        "found, is proved for all",
    )
    assumptions(asking)
    asking.add_argument("--multipliers", action="store_true", help="print the multipliers of each upper bound")
    asking.add_argument(
        "--json",
        nargs="?",
        const="-",
        type=Path,
        metavar="FILE",
        help="write both ends and their proofs there; - or nothing for an answer as data on stdout",
    )
    asking.add_argument(
        "--proofs", type=Path, metavar="DIR", help="write both ends there as proof objects, with a checker for them"
    )
    asking.add_argument(
        "--format",
        choices=("json", "latex", "rocq"),
        default="json",
        help="of the proofs: for the checker, pages to read (upper bounds only), or theorems for Rocq",
    )
    limits(asking, at_least, "all models")


def run_certify(args: argparse.Namespace) -> int:
    """Print both ends of each model, and write them where that was asked for."""
    import sys

    from verify.base.limits import limited
    from verify.cli import answering
    from verify.report import consoles
    from verify.results import files
    from verify.results.places import directory, writable

    if not args.file.is_file():
        raise ValueError(f"cannot read {args.file}: no such file")
    copy = None if args.json is None or answering.asked() else writable(args.json)
    proofs = None if args.proofs is None else directory(args.proofs)
    if args.letters:
        return _for_all(args, copy, proofs)
    at = _values(args.at)
    if args.where:
        raise ValueError("--where is about --letters, and there are none")
    found: list[tuple[Bounds[Number], Notation]]
    found, stated = limited(
        lambda: _bounds(args.file, args.call, at), args.seconds, args.memory * 2**30, str(args.file)
    )
    report = consoles.console(sys.stdout)
    for number, (one, _) in enumerate(found, 1):
        if len(found) > 1:
            consoles.say(report, f"model {number} of {len(found)}")
        consoles.say(report, *_lines(one, args.multipliers))
    models = [_json(one) for one, _ in found]
    if stated is not None:
        consoles.say(report, f"  stated       {stated.text}, {stated.outcome}")
        models[-1]["stated"] = {"value": stated.text, "is_bound": stated.is_bound, "outcome": stated.outcome}
    answering.add(models=models)
    if copy is not None:
        files.write(copy, json.dumps({"models": models}, indent=1) + "\n")
    if proofs is not None:
        for path, text in _proofs(found, args.file, args.format):
            files.write(proofs / path, text)
            consoles.say(report, f"written: {proofs / path}")
    return 0


def _for_all(args: argparse.Namespace, copy: Path | None, proofs: Path | None) -> int:
    """Print what is shown for all letters; 1 if the stated value is not proved."""
    import sys

    from verify.base.limits import limited
    from verify.cli import answering
    from verify.pepit import for_all
    from verify.report import consoles
    from verify.results import files

    at: dict[str, Fraction | int | str] = {}
    for text in args.at:
        name, _, formula = text.partition("=")
        try:
            at |= _values([text])
        except ValueError:
            if not (name.isidentifier() and formula):
                raise
            at[name] = formula
    found = limited(
        lambda: for_all.prove(args.file, args.letters, args.where, args.call, at),
        args.seconds,
        args.memory * 2**30,
        str(args.file),
    )
    report = consoles.console(sys.stdout)
    there = ", ".join(f"{name} = {x}" for name, x in found.base.items())
    consoles.say(
        report,
        "for all " + ", ".join([*(f"{name} > 0" for name in found.letters), *found.conditions]),
        f"  {'found ' if found.is_found else 'stated'}       {found.stated}",
        f"  {'not proved   ' + found.why if found.why else 'proved       no function of the class does worse'}",
        f"  at {there}",
        *(f"  {line}" for line in _lines(found.there, False)),
        *(f"    {name}: {value}" for name, value in found.multipliers.items() if args.multipliers),
    )
    letters = {
        "names": list(found.letters),
        "conditions": list(found.conditions),
        "stated": found.stated,
        "found": found.is_found,
        "proved": not found.why,
        "why": found.why,
        "multipliers": dict(found.multipliers),
    }
    data = {"models": [{**_json(found.there), "letters": letters}]}
    answering.add(**data)
    if copy is not None:
        files.write(copy, json.dumps(data, indent=1) + "\n")
    if proofs is not None and not found.why:
        for path, text in _proofs_of_letters(found, args.file, args.format):
            files.write(proofs / path, text)
            consoles.say(report, f"written: {proofs / path}")
    return 1 if found.why else 0


def _libraries(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the file that proofs need beside them."""
    from verify import checker
    from verify.export import rocq

    if kind != "latex":
        library = Path(checker.__file__) if kind == "json" else rocq.LIBRARY
        yield library.name, library.read_text(encoding="utf-8")


def _proofs_of_letters(found: ForAll, file: Path, kind: str) -> Iterator[tuple[str, str]]:
    """The files of a proof for all letters: names and texts. Each was checked."""
    from verify import checker
    from verify.export import rocq
    from verify.pepit import pages

    yield from _libraries(kind)
    for data in found.objects:
        checker.check(json.dumps(data))
    stem = _stem(file)
    if kind == "latex":
        there = ", ".join(f"{name} = {x}" for name, x in found.base.items())
        attained = f"It is attained, for instance at {there}." if found.is_attained else ""
        yield f"{stem}_letters.tex", pages.text(found.objects, found.defined, attained)
    elif kind == "rocq":
        yield f"p_{stem}_letters.v", rocq.text(found.objects)
    else:
        for number, data in enumerate(found.objects, 1):
            yield f"{stem}_letters_{number}.json", json.dumps(data, indent=1) + "\n"


def _stem(file: Path) -> str:
    return re.sub(r"\W", "_", file.stem, flags=re.ASCII)


def _proofs(found: Sequence[tuple[Bounds[Number], Notation]], file: Path, kind: str) -> Iterator[tuple[str, str]]:
    """The files of proofs: names and texts. Each was checked."""
    from verify import checker
    from verify.export import rocq
    from verify.export.objects import ProofObjects
    from verify.pepit import certifying, objects, pages
    from verify.pepit.notation import Notation

    yield from _libraries(kind)
    stem = _stem(file)
    for number, (one, names) in enumerate(found, 1):
        # The checker and Rocq know fractions.
        known = names if kind == "latex" else Notation()
        proofs = objects.of(certifying.in_fractions(one), f"{file.name}, model {number}", known)
        for data in proofs.values():
            checker.check(json.dumps(data))
        if kind == "latex":
            attained = "It is attained." if one.exact is not None and not one.rounded else ""
            if "upper" in proofs:
                yield f"{stem}_{number}.tex", pages.text(ProofObjects.of([proofs["upper"]]), names.defined, attained)
        elif kind == "rocq":
            yield f"p_{stem}_{number}.v", rocq.text(list(proofs.values()))
        else:
            for end, data in proofs.items():
                yield f"{stem}_{number}_{end}.json", json.dumps(data, indent=1) + "\n"


def _bounds(
    file: Path, call: str | None, at: dict[str, Fraction | int]
) -> tuple[list[tuple[Bounds[Number], Notation]], Stated | None]:
    """Both ends of each model of a file, and how it is written; what the function that is called states of its only
    one."""
    from verify.pepit import capture, certifying, notation
    from verify.pepit.stated import compared

    def read(problem: object, value: float | None) -> tuple[capture.Captured, Notation]:
        one = capture.numbers(problem, value)
        return one, notation.of(problem, notation.fraction).numbered(*capture.numbering(problem))

    found, answer = capture.read(file, read, call, at)
    ends = [(certifying.bounds(one.model, one.pepit, one.rounded), names) for one, names in found]
    return ends, compared(answer, ends[0][0]) if len(ends) == 1 else None


def _values(given: Sequence[str]) -> dict[str, Fraction | int]:
    """Raise ``ValueError`` unless it has the form NAME=NUMBER."""
    found: dict[str, Fraction | int] = {}
    for text in given:
        name, sign, number = text.partition("=")
        try:
            value = Fraction(number)
        except (ValueError, ZeroDivisionError):
            sign = ""
        if not sign or not name.isidentifier():
            raise ValueError(f"--at takes NAME=NUMBER, such as mu=1/10, got {text}")
        # Numbers without a point or a bar are often counts.
        found[name] = int(number) if number.lstrip("+-").isdigit() else value
    return found


def _lines(found: Bounds[Number], multipliers: bool) -> Iterator[str]:
    model = found.model
    matrices = len(model.inequalities)
    sizes = f"{counted(model.points, 'point')}, {counted(len(model.constraints), 'constraint')}"
    yield sizes + (f", {matrices} matrix {'inequality' if matrices == 1 else 'inequalities'}" if matrices else "")
    upper = None if found.upper is None else found.upper.bound
    lower = None if found.lower is None else found.lower.bound
    if found.pepit is not None:
        wrong = "  is not a bound: an exact point of the model does worse" if found.pepit_is_bound is False else ""
        unknown = "  is below the proved bound" if found.pepit_is_bound is None and upper is not None else ""
        yield f"  PEPit        {found.pepit!r}{wrong}{unknown}"
    if found.exact is not None:
        yield f"  worst case   {_shown(found.exact)}, proved: both ends meet"
    else:
        yield f"  upper bound  {_shown(upper)}" + ("" if upper is None else ", proved")
        yield f"  lower bound  {_shown(lower)}" + ("" if lower is None else ", attained by an exact point")
        if found.gap is not None:
            yield f"  gap          {float(found.gap):.1e}"
    if found.rounded:
        count = "1 coefficient is" if found.rounded == 1 else f"{found.rounded} coefficients are"
        yield f"  {count} rounded: {_meant(found)}"
    if multipliers and found.upper is not None:
        for name, value in found.upper.multipliers.items():
            yield f"    {name}: {_shown(value)}"
        for name, matrix in found.upper.matrices.items():
            for row in matrix:
                yield f"    {name}: {'  '.join(map(_shown, row))}"


def _meant(found: Bounds[Number]) -> str:
    """Return for which numbers bounds hold that have fractions for coefficients."""
    if found.upper is None or found.upper.enclosure is None:
        return "both bounds are for the fractions in their place"
    from verify.pepit.exactly import ULPS

    kept = " if shifts of all points and values change nothing, as here" if found.upper.enclosure.shifts else ""
    return (
        f"the upper bound holds for all that they may stand for (floats: within {ULPS} units in the last place){kept}, "
        "the lower one for the fractions in their place"
    )


def _shown(value: Number | None) -> str:
    if value is None:
        return "none found"
    text = str(value)
    if isinstance(value, Fraction) and value.denominator == 1:
        return text
    return f"{text} = {float(value):.12g}" if len(text) <= _SHORT else f"{float(value):.15g}"


def _fractions(bound: Number) -> tuple[Number, Number]:
    """Return fractions, at most and at least a bound: the bound itself, unless it has roots."""
    from verify.pepit.algebraic import Algebraic

    return bound.between(_BITS) if isinstance(bound, Algebraic) else (bound, bound)


def _json(found: Bounds[Number]) -> dict[str, object]:
    upper, lower = found.upper, found.lower
    return {
        "pepit": found.pepit,
        "upper": None if upper is None else str(_fractions(upper.bound)[1]),
        "lower": None if lower is None else str(_fractions(lower.bound)[0]),
        "exact": None if found.exact is None else str(found.exact),
        "pepit_is_bound": found.pepit_is_bound,
        "rounded": found.rounded,
        "enclosed": None if not found.rounded or upper is None else upper.enclosure is not None,
        "multipliers": None if upper is None else {name: str(v) for name, v in upper.multipliers.items()},
        "matrices": None
        if upper is None
        else {n: [list(map(str, row)) for row in m] for n, m in upper.matrices.items()},
        "gram": None if lower is None else [list(map(str, row)) for row in lower.gram],
        "values": None if lower is None else list(map(str, lower.values)),
    }
