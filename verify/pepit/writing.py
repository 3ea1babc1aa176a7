"""A claim at one choice of its parameters as a script for PEPit: what is maximised, and all that is known.

The script poses the very program from which the worst case over the class is certified here, in vectors (``Point``) and
function values (``Expression``): compression errors and client sampling are vectors of known moments, which PEPit has
no classes for. So PEPit's number is that of the program, up to its solver's accuracy.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.pep import certifying, programs
from verify.pep.gram import BasisVector, Form
from verify.pep.programs import BEFORE, Certificate, Program
from verify.pep.prover import Certified
from verify.tightness import grids

_WIDTH = 110
#: The ratio of coefficients from which vectors and values are written in units that bring them together.
_SPREAD = 1e4


class Posed(NamedTuple):
    """A program, the step of a proof that it is for, and what its value is claimed not to exceed, if known."""

    step: str
    program: Program
    claimed: Fraction | None


class _Recording:
    """A prover that proves nothing, and keeps what it is asked."""

    def __init__(self) -> None:
        self.posed: list[Posed] = []

    def bounds(
        self, step: str, program: Program, claimed: Fraction, homogeneous: bool, relaxed: bool, tight: bool
    ) -> Certified:
        """Keep the program."""
        self.posed.append(Posed(step, program, claimed))
        return Certified(None, None, claimed, Verdict.OPEN)

    def prove(
        self, step: str, program: Program, candidates: Callable[[], Iterable[Fraction]], guesses: int
    ) -> Certificate | None:
        """Keep the program."""
        self.posed.append(Posed(step, program, None))
        return None


def instance_of(claim: Claim, at: Mapping[str, Fraction]) -> tuple[Instance, Mapping[str, Fraction]]:
    """The first instance of a claim's grid with these letters, and the values of all its letters.

    ``ValueError`` for a letter that the claim does not have, and where no instance meets its hypotheses.
    """
    choice = grids.choices(claim, at)[0]
    return claim.instances.build(choice.recipes[0], True), dict(choice.letters)


def programs_of(case: Case) -> list[Posed]:
    """The programs from which a claim is certified at the parameters of an exact instance; each once.

    ``ValueError`` where the claim's worst case cannot be posed.
    """
    recording = _Recording()
    certifying.certify(case, recording)
    found: dict[str, Posed] = {}
    for posed in recording.posed:
        if posed.program.objective.rows or posed.program.objective.values:
            found.setdefault(posed.step, posed)
    if not found:
        raise ValueError(
            f"{case.claim.id} is shown without a program at these parameters: there is nothing for PEPit to solve"
        )
    return list(found.values())


def script(claim: Claim, at: Mapping[str, Fraction]) -> str:
    """The text of a file that solves a claim's programs with PEPit, and prints each value beside the claimed one."""
    instance, letters = instance_of(claim, at)
    where = ", ".join(f"{name} = {value}" for name, value in letters.items()) or "any parameters"
    statement = "; ".join(f"{c.left} {c.relation} {c.right}" for c in claim.statement.comparisons)
    head = [claim.id, "", claim.gist, *textwrap.wrap(statement, _WIDTH), *textwrap.wrap(f"at {where}", _WIDTH)]
    lines = ['"""' + "\n".join(head).replace("\\", "/").replace('"""', "'''"), '"""', ""]
    lines += ["from PEPit import PEP, Expression, Point"]
    for posed in programs_of(Case.of(claim, instance)):
        lines += ["", *_section(posed)]
    return "\n".join(lines) + "\n"


def _section(posed: Posed) -> Iterator[str]:
    program = posed.program if _spread(posed.program) < _SPREAD else programs.equilibrated(posed.program)
    rows = [row for block in program.blocks for row in block]
    names = _names([*(row.name for row in rows), *program.values])
    of_row = dict(zip(rows, names, strict=False))
    of_value = dict(zip(program.values, names[len(rows) :], strict=True))
    units = {key: f", in units of {unit}" for key, unit in program.units.items() if unit != 1}
    yield f"# {posed.step}"
    yield "problem = PEP()"
    yield from (f"{name} = Point()  # {row.name}{units.get(row, '')}" for row, name in of_row.items())
    yield from (f"{name} = Expression()  # the value {value}{units.get(value, '')}" for value, name in of_value.items())
    for constraint in program.constraints:
        if not constraint.form.rows and not constraint.form.values and constraint.form.constant <= 0:
            # PEPit takes no comparison of numbers.
            continue
        why = "the size that the states are taken to have" if constraint.name == BEFORE else constraint.why()
        yield from (f"# {line}" for line in textwrap.wrap(why.rstrip(", ") or constraint.name, _WIDTH))
        yield from _call("problem.add_constraint", f"{_text(constraint.form, of_row, of_value)} <= 0")
    yield from _call("problem.set_performance_metric", _text(program.objective, of_row, of_value))
    yield 'value = problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)'
    claimed = "" if posed.claimed is None else f', "claimed to be at most {posed.claimed}"'
    yield f'print("worst case:", value{claimed})'


def _spread(program: Program) -> float:
    """The largest coefficient of a program by the smallest, beside constants."""
    forms = (program.objective, *program.forms)
    sizes = [abs(float(c)) for form in forms for of in (form.entries, form.values) for c in of.values()]
    return max(sizes) / min(sizes)


def _names(of: Iterable[str]) -> list[str]:
    """Python names, different ones, as near to the given ones as may be."""
    found: list[str] = []
    for text in of:
        plain = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "v"
        base = f"v_{plain}" if plain[0].isdigit() or plain in _TAKEN else plain
        name, k = base, 1
        while name in found:
            k += 1
            name = f"{base}_{k}"
        found.append(name)
    return found


#: Names that a script has already, and words of Python that rows may be named by.
_TAKEN = frozenset(
    {"problem", "value", "PEP", "Point", "Expression", "print", "lambda", "in", "is", "as", "if", "or", "and"}
)


def _call(function: str, argument: str) -> Iterator[str]:
    if len(function) + len(argument) + 2 <= _WIDTH:
        yield f"{function}({argument})"
    else:
        yield f"{function}("
        yield from textwrap.wrap(
            argument, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False
        )
        yield ")"


def _text(form: Form, rows: Mapping[BasisVector, str], values: Mapping[str, str]) -> str:
    """A form as Python's arithmetic of PEPit's objects."""
    terms = [(c, f"{rows[a]}**2" if a == b else f"{rows[a]} * {rows[b]}") for (a, b), c in form.entries.items()]
    terms += [(c, values[v]) for v, c in form.values.items()]
    written = [_times(Fraction(c), of) for c, of in terms]
    if form.constant:
        written.append(str(Fraction(form.constant)))
    return " + ".join(written).replace("+ -", "- ") or "0"


def _times(c: Fraction, of: str) -> str:
    return of if c == 1 else f"-{of}" if c == -1 and "**" not in of else f"{c} * {of}"
