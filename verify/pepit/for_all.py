"""The worst case of a model for PEPit, for all values of its letters: the value that the file states, or that is found,
proved.

The file runs on :class:`~verify.pepit.numbers_in_letters.NumberInLetters`. The coefficients of its model are then
functions of them; it is posed as claims are, and proved by the same search and the same checks
(:mod:`verify.multipliers`).
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from verify.export.objects import ProofObjects
from verify.multipliers import search
from verify.multipliers.domains import Domain
from verify.multipliers.forms import BLOCK, ProductSum, unneeded, without
from verify.multipliers.posing import Posed
from verify.multipliers.proofs import Tree, leaves
from verify.multipliers.ratios import Ratio
from verify.multipliers.reasons import Stated
from verify.multipliers.work import STEP, Work
from verify.pepit import capture, certifying, exactly, fitted, notation, objects
from verify.pepit.certifying import Bounds, Number
from verify.pepit.notation import Notation
from verify.pepit.numbers_in_letters import NumberInLetters, Run, shown

#: Values of letters that are tried for the base point, in this order, and how many combinations of them.
_VALUES = tuple(Fraction(k, 37) for k in (11, 29, 43, 5, 17, 61, 2, 97, 23, 150, 7, 400))
_TRIES = 2000


@dataclass(frozen=True)
class ForAll:
    """The result that is proved for a model at all values of its letters.

    Attributes:
        letters: Their names; all are positive.
        conditions: What else is assumed of them: what was asked for, and what the file compared.
        stated: The value that the file states, as a function of the letters; where it states none, that which goes
            through its worst cases at points.
        base: The values at which the file ran.
        there: Both ends of the worst case at these values, in fractions.
        multipliers: Of PEPit's constraints, by name, as functions of the letters; empty where nothing was proved, or
            where proofs of several regions are put together.
        value: The stated value at the base point.
        why: What stands in the way of a proof; empty where the stated value is proved to bound the worst case.
        objects: The proof, an object for each region; none where nothing was proved.
        defined: Sentences on the points of the model, in whose names the objects are.
        is_found: The value is not the file's.
    """

    letters: tuple[str, ...]
    conditions: tuple[str, ...]
    stated: str
    base: Mapping[str, Fraction]
    there: Bounds[Number]
    multipliers: Mapping[str, str]
    value: Fraction
    why: str
    objects: ProofObjects
    defined: tuple[str, ...]
    is_found: bool

    @property
    def is_attained(self) -> bool:
        """Return True if the stated value is the exact worst case at the base point."""
        return self.there.exact is not None and self.there.exact == self.value


def prove(
    file: Path,
    letters: Sequence[str],
    where: Sequence[str] = (),
    call: str | None = None,
    at: Mapping[str, Fraction | int | str] | None = None,
    work: int = STEP,
) -> ForAll:
    """Prove the value that a function of a file states, for all positive values of some of its arguments.

    Where it states none, one is sought that goes through the worst cases at points.

    Args:
        file: A file with a function that solves one PEP and returns PEPit's value and the stated one, or None.
        letters: The arguments that are letters.
        where: What is assumed of them, as "gamma*L <= 1".
        call: The function, by default the one that begins with ``wc_``.
        at: Values of the other arguments, numbers or texts such as "1/L"; those of letters are the base point.
        work: Units of work that the search for multipliers may spend.

    ``ValueError`` if there is no such function, the file computes what is not a function of its letters, or it states
    no value and none is found.
    """
    given = dict(at or {})
    conditions = [_Condition(text, letters) for text in where]
    fixed = {name: Fraction(given.pop(name)) for name in letters if name in given}
    run = Run(_base(letters, conditions, fixed))
    computed = {name: NumberInLetters(_formula(name, x, run), run) for name, x in given.items() if isinstance(x, str)}
    problem, answer = _solved(file, call, {**given, **computed, **{name: run.letter(name) for name in letters}})
    run.check()
    written = run.written
    asked = [c.of(run) for c in conditions]
    from_file = _stated(answer, run)
    stated = fitted.value(problem, run, asked) if from_file is None else from_file
    names = notation.of(problem, partial(_written, run=run))
    posed, why, called = _posed(problem, run, stated, asked, names)
    model, rounded = capture.model_of(problem)
    value = run.at(stated, run.base)
    there = certifying.bounds(model, None, rounded, value)
    worse = there.lower is not None and there.lower.bound > value
    found: Tree | str = _FALSE if worse else why
    if posed is not None and not (worse and not rounded):
        found = search.search(posed, Work(work))
    if not isinstance(found, str) and worse:
        raise AssertionError("an exact point does worse than what was proved")
    assumed = tuple(c.text for c in conditions) + tuple(_words(run)) + ((_TEXT,) if written else ())
    multipliers, made = {}, ProofObjects()
    if not isinstance(found, str):
        proofs = [*leaves(found)]
        if len(proofs) == 1:
            multipliers = {name: shown(c, run.names) for name, c in proofs[0].multipliers.items()}
        says = [f"the objective is at most {shown(stated, run.names)}", "the objective is tau"]
        used = {
            row for form in (proofs[0].posed.target, *proofs[0].posed.known.values()) for key in form.of for row in key
        }
        # Variables set to 0 when the program is posed occur in no form.
        zero = [name for row, name in called.items() if row.startswith("x") and row not in used]
        if zero:
            says.append(f"Nothing changes where vectors are shifted so that {' = '.join(zero)} = 0, as they are here")
        made = objects.of_letters(proofs, file.name, says, called)
    return ForAll(
        run.names,
        assumed,
        shown(stated, run.names),
        run.base,
        there,
        multipliers,
        value,
        found if isinstance(found, str) else "",
        made,
        names.defined,
        from_file is None,
    )


class _Condition:
    """A comparison of polynomials in the letters, from its text; ``ValueError`` for anything else."""

    def __init__(self, text: str, letters: Sequence[str]) -> None:
        self.text = text
        tree: ast.AST = ast.Pass()
        with contextlib.suppress(SyntaxError):
            tree = ast.parse(text, mode="eval").body
        plain = isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in _RELATIONS
        if not plain or not all(isinstance(node, _PARTS) for node in ast.walk(tree)):
            raise ValueError(f"--where takes a comparison such as 'gamma*L <= 1', got {text!r}")
        self.tree: Any = tree
        names = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        if alien := sorted(names - set(letters)):
            raise ValueError(f"--where {text!r}: {alien[0]} is none of the letters {', '.join(letters)}")

    def of(self, run: Run) -> tuple[Ratio, bool]:
        """Return the quotient that is >= 0, and True if it is > 0."""
        larger, strict = _RELATIONS[type(self.tree.ops[0])]
        left, right = _value(self.tree.left, run), _value(self.tree.comparators[0], run)
        return (left - right if larger else right - left), strict

    def holds(self, point: Mapping[str, Fraction]) -> bool:
        """Return True if it holds there, with room: at a base point nothing is at a boundary by chance."""
        run = Run(point)
        return run.at(self.of(run)[0], point) > 0


#: Why what is stated is not proved, where it is not so.
_FALSE = "it is false: at the values below an exact point of the model does worse"
#: What is assumed where a file prints its letters: texts that differ may be those of numbers that are equal.
_TEXT = "no text of the letters decides what the file does"


def _formula(name: str, text: Any, run: Run) -> Ratio:
    """Return an argument as a function of the letters, from its text."""
    try:
        return _value(ast.parse(text, mode="eval").body, run)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"--at {name}={text}: a number, or a formula in the letters {', '.join(run.names)}") from error


_RELATIONS = {ast.LtE: (False, False), ast.Lt: (False, True), ast.GtE: (True, False), ast.Gt: (True, True)}
_PARTS = (
    ast.Compare, *_RELATIONS, ast.BinOp, ast.UnaryOp, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow,
    ast.Name, ast.Load, ast.Constant,
)  # fmt: skip
_OPERATIONS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def _value(node: Any, run: Run) -> Ratio:
    if isinstance(node, ast.Name):
        return run.letter(node.id).of
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return run.constant(Fraction(str(node.value)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, run)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        if type(node.right.value) is int and 0 <= node.right.value <= 20:
            return _value(node.left, run) ** node.right.value
    elif isinstance(node, ast.BinOp):
        left, right = _value(node.left, run), _value(node.right, run)
        return _OPERATIONS[type(node.op)](left, right)
    raise ValueError(f"--where takes polynomials in the letters, got {ast.unparse(node)}")


def _base(
    letters: Sequence[str], conditions: Sequence[_Condition], fixed: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """A point at which the conditions hold, with the ``fixed`` values. ``ValueError`` where none is found."""
    free = [name for name in letters if name not in fixed]
    for number in range(_TRIES):
        # Digits of the number to the base of the values: every combination comes up.
        point, left = dict(fixed), number
        for place, name in enumerate(free):
            left, digit = divmod(left, len(_VALUES))
            point[name] = _VALUES[(digit + place) % len(_VALUES)]
        if all(c.holds(point) for c in conditions):
            return {name: point[name] for name in letters}
    raise ValueError("no values of the letters were found that meet the conditions: give some by --at")


def _solved(file: Path, call: str | None, arguments: Mapping[str, Any]) -> tuple[Any, Any]:
    """The only problem that a function solves, and what it returns."""
    problems, answer = capture.read(file, lambda problem, value: problem, call, arguments, solved=False)
    if len(problems) != 1:
        raise ValueError(f"{file}: one problem is taken with letters, and {len(problems)} were solved")
    capture.prepare(problems[0])
    return problems[0], answer


def _stated(answer: Any, run: Run) -> Ratio | None:
    """The last number that a function returns, if there are several; None where it is None, or there are not."""
    last = answer[-1] if isinstance(answer, tuple) and len(answer) > 1 else None
    if last is None:
        return None
    if type(last) is NumberInLetters:
        return last.of
    number = exactly.of(last)
    if number is None or number.rounded:
        raise ValueError(
            "the stated value that the function returns beside PEPit's is not a function of its letters: "
            "let it return one, as in `return problem.solve(), L / (4*n + 2)`, or None"
        )
    return run.constant(number.exact)


def _posed(
    problem: Any, run: Run, stated: Ratio, asked: Sequence[tuple[Ratio, bool]], names: Notation
) -> tuple[Posed | None, str, Mapping[str, str]]:
    """The model as what follows from what is known, and else why it cannot be posed; and the names of its rows and
    function values, by those that they have there."""
    if any(m.activated for m in problem._list_of_prepared_psd):
        return None, "matrix inequalities are not taken with letters", {}
    reader = _Forms(run)
    known, reasons = {}, {}
    for name, c in capture.named(problem._list_of_prepared_constraints, "constraint"):
        form = reader.form(c.expression)
        sides = ((name, 1), (f"{name}, from above", -1)) if c.equality_or_inequality == "equality" else ((name, 1),)
        for key, side in sides:
            if form.of:
                known[key], reasons[key] = form * run.constant(side), Stated(names.constraint(name) or name)
    target = reader.form(problem.objective) - ProductSum.number(stated)
    domain = Domain(run.ring, frozenset(range(len(run.names))))
    conditions = [*asked, *((a.of, a.strict) for a in run.answers.values() if not a.apart)]
    for of, strict in conditions:
        if domain.ratio_sign(of, strict) is None:
            # Where a denominator is not 0 the sign is that of the product.
            domain = domain.with_constraint(of.num * of.den, strict)
    one = run.constant(1)
    rows = unneeded([target, *known.values()], [], frozenset(), frozenset(), one)
    known = {name: without(form, rows) for name, form in known.items()}
    posed = Posed(run.names, domain, without(target, rows), known, reasons, {}, (stated,))
    for form in (target, *known.values()):
        for c in form.of.values():
            if not domain.never_zero(c.den):
                by = shown(Ratio.of(c.den, run.ring.constant(1)), run.names)
                return None, f"{by} may be 0, and is divided by: exclude it by --where", {}
    return posed, "", reader.called(names)


class _Forms:
    """Expressions of PEPit as forms, with points and function values numbered as they come."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._points: dict[int, str] = {}
        self._values: dict[int, str] = {}

    def called(self, names: Notation) -> dict[str, str]:
        """The names of points and values, by those that they have here."""
        pairs = ((self._points, names.points), (self._values, names.values))
        return {here: known[counter] for of, known in pairs for counter, here in of.items() if counter in known}

    def form(self, expression: Any) -> ProductSum:
        """One expression. ``ValueError`` for a coefficient that is not a function of the letters."""
        total: dict[tuple[str, ...], Ratio] = {}
        for key, weight in expression.decomposition_dict.items():
            c = _coefficient(weight, self.run)
            name: tuple[str, ...]
            if isinstance(key, tuple):
                pair = (self._points.setdefault(p.counter, f"x{len(self._points):03d}") for p in key)
                name = (BLOCK, *sorted(pair))
            elif hasattr(key, "counter"):
                name = ("value", self._values.setdefault(key.counter, f"f{len(self._values):03d}"))
            else:
                name = ProductSum.ONE
            total[name] = total[name] + c if name in total else c
        return ProductSum({name: c for name, c in total.items() if not c.is_zero})


def _written(weight: Any, run: Run) -> str:
    return shown(_coefficient(weight, run), run.names)


def _coefficient(weight: Any, run: Run) -> Ratio:
    if type(weight) is NumberInLetters:
        return weight.of
    number = exactly.of(weight)
    if number is None or number.rounded:
        raise ValueError(f"a coefficient is {float(weight)!r}, which is not a quotient of polynomials in the letters")
    return run.constant(number.exact)


def _words(run: Run) -> Iterator[str]:
    """Yield the comparisons of the file that do not hold for all positive letters."""
    domain = Domain(run.ring, frozenset(range(len(run.names))))
    for answer in run.answers.values():
        relation = "!= 0" if answer.apart else "> 0" if answer.strict else ">= 0"
        if answer.apart:
            if not (domain.never_zero(answer.of.num) and domain.never_zero(answer.of.den)):
                yield f"{shown(answer.of, run.names)} {relation}"
        elif domain.ratio_sign(answer.of, answer.strict) is None:
            yield f"{shown(answer.of, run.names)} {relation}"
