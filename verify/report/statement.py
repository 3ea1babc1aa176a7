"""A claim's statement in words, for reading, and in LaTeX, for pasting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from fedtheory.claims import Claim
from fedtheory.composed import Away, Difference, Image, Inner, Square, Total
from fedtheory.iterations import At, Overall, Root
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import OneStep
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.reached import Reached
from fedtheory.relations import Comparison, Monomial, Quantity
from verify.report import names

#: How a character that LaTeX reads otherwise is written.
_ESCAPED = r"\\\1"
_WORD_BELOW = r"_\{([a-z]{3,}|av)\}"
_LATEX_RELATION = {"==": "=", "<=": r"\le", "<": "<"}


# Functions that are made by others have names that say nothing of a quantity.
_NO_NAMES = ("<lambda>", "of", "value", "formula", "_zero")

#: What stands before and after a part of a text that is marked, and occurs in no text otherwise.
OPEN, CLOSE = "\ue000", "\ue001"


class _PositiveFirst:
    """Sums start with a term that has no minus sign: 1 - a, not -a + 1."""

    def _as_ordered_terms(self, expr: sympy.Add, order: str | None = None) -> list[sympy.Expr]:
        terms = super()._as_ordered_terms(expr, order=order)  # type: ignore[misc]
        first = next((i for i, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
        return [terms[first], *terms[:first], *terms[first + 1 :]]


class _PlainPrinter(_PositiveFirst, StrPrinter):
    """Powers with ^; names of quantities that are differences in brackets."""

    def _print_Symbol(self, expr: sympy.Symbol) -> str:
        if expr.name.startswith(OPEN):
            return expr.name
        outside = re.sub(r"\|[^|]*\||<[^>]*>", "", expr.name)
        return f"({expr.name})" if "-" in outside else expr.name

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:
        return super()._print_Pow(expr, rational).replace("**", "^")


class _LatexPrinter(_PositiveFirst, LatexPrinter):
    """As sympy's, with the terms of sums in the order of _PositiveFirst."""


def text(claim: Claim, written: Callable[[sympy.Expr], str] | None = None) -> list[str]:
    """The statement, one line a comparison, with the factor of a rate and the constants of a rule apart.

    ``written`` gives the text of an expression; it is asked once for each, in the order in which they are read.
    """
    plain = written or expression
    statement = claim.statement
    match statement:
        case Invariant():
            return [f"{statement.text}, along every run of {statement.algorithm.name}"]
        case Limit():
            return [f"{statement.potential.expression} -> 0 almost surely along {statement.algorithm.name}"]
        case Stays() | Agreement() | Fails() | Reached() | Experiment():
            return [_told(statement)]
        case CompressorClass():
            return [
                "E C(x) = x",
                f"E|C(x) - x|^2 <= omega |x|^2 with omega = {plain(statement.omega)}",
                f"bits of a message = {plain(statement.bits)}",
            ]
        case Order():
            regime = ", ".join(f"{symbol} -> {end}" for symbol, end in _regime(statement))
            order = f"{plain(statement.left)} = O({plain(statement.right)})"
            return [f"{order} as {regime}" if regime else order]
    lines = [f"{name} = {plain(value)}" for name, value in _named(statement)]
    for left, relation, right in _comparisons(statement):
        shown = f"E[{plain(left)}]" if _is_expectation(statement) else plain(left)
        lines.append(f"{shown} {relation} {plain(right)}")
    if isinstance(statement, Bound):
        lines[-1] += ", for T = 0, 1, 2, ..."
    if (factor := getattr(statement, "factor", None)) is not None:
        lines.append(f"factor = {plain(factor)}")
    return lines or [_words(claim)]


def definitions(claim: Claim) -> list[tuple[str, str]]:
    """(name, meaning) of the quantities in the statement whose meaning says more than their name."""
    found = [(expression(q.expression), _meaning(q)) for q in _quantities(claim.statement)]
    return [(name, meaning) for name, meaning in found if meaning not in ("", name)]


def meanings(claim: Claim) -> list[tuple[str, str]]:
    """As :func:`definitions`, with the names in LaTeX."""
    written = {expression(q.expression): _latex(q.expression, claim.statement) for q in _quantities(claim.statement)}
    return [(written[name], meaning) for name, meaning in definitions(claim)]


def parts(claim: Claim) -> list[str]:
    """Names of what ``claim.variant`` can change."""
    names = [field.name for field in fields(claim.statement) if field.name != "override"]
    return [*names, *(["bound"] if isinstance(claim.statement, Bound) else []), "requires"]


def latex(claim: Claim) -> str:
    """The statement in LaTeX, one formula a line; what its quantities mean follows in comments."""
    told = [rf"\text{{{re.sub(r'([_%{}])', _ESCAPED, line)}}}".replace("^", r"\^{}") for line in prose(claim)]
    meanings = [f"% {name}: {meaning}" for name, meaning in definitions(claim)]
    return "\n".join([*told, *formulas(claim), *meanings])


def prose(claim: Claim) -> list[str]:
    """The statement in words, for the kinds that have no formula; else nothing."""
    return [] if formulas(claim) else [" ".join(text(claim))]


def formulas(claim: Claim) -> list[str]:
    """The statement in LaTeX, a formula each; nothing for a statement in words."""
    statement = claim.statement
    match statement:
        case Invariant():
            lines = [names.latex(statement.text)] if "=" in statement.text else []
        case Limit():
            lines = [rf"{_latex(statement.potential.expression, statement)} \to 0 \quad\text{{almost surely}}"]
        case Stays() | Agreement() | Fails() | Reached() | Experiment():
            lines = []
        case Eventually():
            ends = (
                (statement.vanishing, r"\to 0"),
                (statement.bounded, r"\text{ is bounded}"),
                (statement.converging, r"\text{ converges}"),
            )
            lines = [f"{_latex(q.expression, statement)} {end}" for quantities, end in ends for q in quantities]
        case CompressorClass():
            lines = [
                r"\mathbb{E}\,\mathcal{C}(x) = x",
                r"\mathbb{E}\|\mathcal{C}(x) - x\|^2 \le \omega \|x\|^2, \qquad \omega = "
                + _latex(statement.omega, statement),
                rf"\text{{bits}} = {_latex(statement.bits, statement)}",
            ]
        case Order():
            regime = ", ".join(
                rf"{_latex(symbol, statement)} \to {sympy.latex(end)}" for symbol, end in _regime(statement)
            )
            left, right = (_latex(side, statement) for side in (statement.left, statement.right))
            lines = [rf"{left} = O\left({right}\right)" + (rf", \qquad {regime}" if regime else "")]
        case _:
            lines = [f"{_latex(name, statement)} = {_latex(value, statement)}" for name, value in _named(statement)]
            for left, relation, right in _comparisons(statement):
                side = _latex(left, statement)
                side = rf"\mathbb{{E}}\left[{side}\right]" if _is_expectation(statement) else side
                lines.append(rf"{side} {_LATEX_RELATION[relation]} {_latex(right, statement)}")
    if isinstance(statement, Bound):
        lines[-1] += r", \qquad T = 0, 1, 2, \dots"
    return lines


def _told(statement: Stays | Agreement | Fails | Reached | Experiment) -> str:
    """What a statement says of steps, of an instance, or of an experiment."""
    match statement:
        case Reached():
            rounds = f"{statement.rounds} round{'s' if statement.rounds != 1 else ''} of {statement.algorithm.name}"
            left = "nothing" if statement.share == 0 else f"at most {statement.share}"
            return f"{rounds} leave{'s' if statement.rounds == 1 else ''} {left} of the gap, from any start"
        case Fails():
            return f"on some data it is false that {statement.text}"
        case Experiment():
            return f"seen: {statement.text}"
    return statement.text


def _words(claim: Claim) -> str:
    """A statement that has no formulas."""
    return str(getattr(claim.statement, "text", claim.gist))


def _regime(statement: Order) -> list[tuple[sympy.Symbol, sympy.Expr]]:
    """What tends to what."""
    ends = ((statement.small, sympy.S.Zero), (statement.large, sympy.oo))
    return [(symbol, end) for symbol, end in ends if symbol is not None]


def _named(statement: Statement) -> list[tuple[Any, sympy.Expr]]:
    """The constants of a rule; for a kind of statement without comparisons, all its expressions."""
    if isinstance(statement, ParameterRule):
        return list(statement.assignments.items())
    if hasattr(statement, "comparisons"):
        return []
    values = ((sympy.Symbol(field.name), getattr(statement, field.name)) for field in fields(statement))
    return [(name, value) for name, value in values if isinstance(value, sympy.Expr)]


def _comparisons(statement: Statement) -> Iterator[Comparison]:
    """The comparisons; those of a rule before its constants are put in."""
    if not isinstance(statement, ParameterRule):
        yield from getattr(statement, "comparisons", ())
        return
    for r in statement.relations:
        left, right = (r.rhs, r.lhs) if r.rel_op in (">=", ">") else (r.lhs, r.rhs)
        yield Comparison(left, r.rel_op.replace(">", "<"), right)


def _is_expectation(statement: Statement) -> bool:
    return isinstance(statement, OneStep | Bound)


def _quantities(statement: Statement) -> tuple[Quantity, ...]:
    if isinstance(statement, Limit):
        return (statement.potential,)
    return getattr(statement, "quantities", ())


def _meaning(quantity: Quantity) -> str:
    """The first sentence on what computes the quantity, or that function's name, or "" when it has none."""
    of = quantity.of
    if isinstance(of, Root | Away | Difference | Image | Inner | Monomial | Square | Total):
        # Their names say how they are composed.
        return ""
    if isinstance(of, Overall):
        return _meaning(Quantity(quantity.expression, of.of))
    if isinstance(of, At):
        said = _meaning(Quantity(quantity.expression, of.function))
        return f"{said}, after the iteration" if said and of.later else said
    while isinstance(of, partial):
        of = of.func
    if of.__doc__:
        return of.__doc__.split("\n")[0].rstrip(".")
    name = getattr(of, "__name__", "<lambda>")
    return "" if name in _NO_NAMES else name.replace("_", " ").strip()


def expression(given: sympy.Expr) -> str:
    """An expression in words of one line."""
    # A name that stands alone needs no brackets.
    return given.name if given.is_Symbol else str(_PlainPrinter().doprint(given))


def _latex(expression: sympy.Expr, statement: Statement) -> str:
    quantities = {s for q in _quantities(statement) for s in q.expression.free_symbols}
    written = {s: names.latex(s.name, alone=expression == s) for s in quantities}
    written |= {s: f"{sympy.latex(sympy.Symbol(s.name[:-1]))}'" for s in expression.free_symbols if s.name[-1] == "'"}
    found = str(_LatexPrinter({"symbol_names": written, "parenthesize_super": False}).doprint(expression))
    # Subscripts that are words are upright, and a bar is above its letter.
    return re.sub(_WORD_BELOW, r"_{\\mathrm{\1}}", re.sub(r"(\\?[A-Za-z]+)_\{bar\}", r"\\bar{\1}", found))
