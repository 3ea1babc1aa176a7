"""A claim's statement in words, for reading, and in LaTeX, for pasting."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.numbers.symbols import Latex, Plain, positive_first
from fedtheory.settings.iterations import At, Overall, Root
from fedtheory.settings.quantities import Away, Difference, Image, Inner, Square, Total
from fedtheory.settings.relations import Monomial, Quantity
from verify.report import names

#: How a character that LaTeX reads otherwise is written.
_ESCAPED = r"\\\1"
_WORD_BELOW = r"_\{([a-z]{3,}|av)\}"


# Functions that are made by others have names that say nothing of a quantity.
_NO_NAMES = ("<lambda>", "of", "value", "formula", "_zero")

#: What stands before and after a part of a text that is marked, and occurs in no text otherwise.
OPEN, CLOSE = "\ue000", "\ue001"


class _Words(Plain):
    """Names of quantities that are differences are in brackets."""

    def _print_Symbol(self, expr: sympy.Symbol) -> str:
        if expr.name.startswith(OPEN):
            return expr.name
        outside = re.sub(r"\|[^|]*\||<[^>]*>", "", expr.name)
        return f"({expr.name})" if "-" in outside else expr.name


def text(claim: Claim, written: Callable[[sympy.Expr], str] | None = None) -> list[str]:
    """The statement, one line a comparison, with the factor of a rate and the constants of a rule apart.

    ``written`` gives the text of an expression; it is asked once for each, in the order in which they are read.
    """
    return claim.statement.lines(written or expression) or [claim.gist]


def definitions(claim: Claim) -> list[tuple[str, str]]:
    """(name, meaning) of the quantities in the statement whose meaning says more than their name."""
    found = [(expression(q.expression), _meaning(q)) for q in claim.statement.named]
    return [(name, meaning) for name, meaning in found if meaning not in ("", name)]


def meanings(claim: Claim) -> list[tuple[str, str]]:
    """As :func:`definitions`, with the names in LaTeX."""
    written = {expression(q.expression): _latex(q.expression, claim.statement) for q in claim.statement.named}
    return [(written[name], meaning) for name, meaning in definitions(claim)]


def scope(claim: Claim) -> str:
    """For what it is stated and tested: the setting in words, with the restrictions that its words leave out."""
    setting, drawing = claim.setting, claim.setting.drawing
    functions = setting.functions if drawing.special is None else None
    found = [setting.text] if setting.text else []
    if functions is not None and not setting.any_clients:
        counts = sorted(set(setting.clients))
        found.append(f"{' or '.join(map(str, counts))} client{'s' if counts[-1] > 1 else ''} only")
    if functions is not None and functions.quadratics and "quadratic" not in setting.text:
        found.append("quadratic functions only")
    if drawing.conditions:
        found.append(f"tested at L/mu = {', '.join(map(str, drawing.conditions))}")
    if drawing.compressors:
        told = (
            f"rand-{k} of d = {d}" if k else f"Bernoulli's with omega = {omega}" for k, d, omega in drawing.compressors
        )
        found.append(f"tested with the compressors {', '.join(told)}")
    return "; ".join(found)


def parts(claim: Claim) -> list[str]:
    """Names of what ``claim.variant`` can change."""
    return [*claim.statement.part_names(), "requires"]


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
    return claim.statement.formulas(lambda expression: _latex(expression, claim.statement))


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
    return given.name if given.is_Symbol else str(_Words(positive_first).doprint(given))


def _latex(expression: sympy.Expr, statement: Statement) -> str:
    quantities = {s for q in statement.named for s in q.expression.free_symbols}
    written = {s: names.latex(s.name, alone=expression == s) for s in quantities}
    written |= {s: f"{sympy.latex(sympy.Symbol(s.name[:-1]))}'" for s in expression.free_symbols if s.name[-1] == "'"}
    found = str(Latex(positive_first, symbol_names=written, parenthesize_super=False).doprint(expression))
    # Subscripts that are words are upright, and a bar is above its letter.
    return re.sub(_WORD_BELOW, r"_{\\mathrm{\1}}", re.sub(r"(\\?[A-Za-z]+)_\{bar\}", r"\\bar{\1}", found))
