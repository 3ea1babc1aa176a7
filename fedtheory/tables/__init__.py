"""Complexity tables: formulas side by side, compared as orders and at numbers.

The entries of a table are derived where something implies them (see its ``note``), and the best of each column is
found by comparison, never typed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import mpmath
import sympy

from fedtheory import naming, plugins
from fedtheory.numbers import symbols
from fedtheory.tables import growth

#: The formats of a table, as written by :func:`fedtheory.tables.rendering.render`.
FORMATS = ("text", "markdown", "latex", "html", "csv", "json")
Values = Mapping[sympy.Symbol, sympy.Expr]
#: Digits with which numbers are computed, before they become floats.
_DIGITS = 30
#: Values that differ by less, relatively, are the same number.
_SAME = 1e-9


class Column(NamedTuple):
    """A heading, plain and in LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Entry:
    """A formula, a number, a text, or None where nothing is known; ``best``: state of the art in its column."""

    value: Any
    best: bool = False


@dataclass(frozen=True)
class Row:
    """A method.

    ``entries``: one a column. ``measures``: expressions (or None) for the table's measures. ``method``: False for a
    lower bound, which competes with no method. ``lets``: letters of the measures that the method chooses itself, in
    the order in which they are computed.
    """

    key: str
    label: str
    entries: tuple[Entry, ...]
    measures: tuple[sympy.Expr | None, ...]
    method: bool = True
    lets: tuple[tuple[sympy.Symbol, sympy.Expr], ...] = ()

    def letters(self, measures: int | None = None) -> set[sympy.Symbol]:
        """The letters that the measures, or the first so many of them, need values for."""
        found: set[sympy.Symbol] = set()
        for formula in self.measures[:measures]:
            if formula is not None:
                found |= formula.free_symbols
        for letter, value in reversed(self.lets):
            if letter in found:
                found = (found - {letter}) | value.free_symbols
        return found


@dataclass(frozen=True)
class Table:
    """Methods against formulas.

    ``measures``: headings of the numbers that :meth:`at` adds; the first is what methods are compared by, here and on
    maps. ``required``: the letters it cannot do without. ``domain``: what the values must satisfy. ``derived``:
    letters that others determine. ``title``: what a caption says. Numbers depend on the accuracy epsilon where it is
    given; otherwise they are those for log(1/epsilon) = 1.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str
    measures: tuple[Column, ...] = ()
    required: tuple[sympy.Symbol, ...] = ()
    domain: tuple[sympy.Basic, ...] = ()
    derived: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    title: str = ""

    @property
    def letters(self) -> dict[str, sympy.Symbol]:
        """The letters that can be given values, by name."""
        derived = (f.free_symbols for f in self.derived.values())
        found = set(self.required).union(*(row.letters() for row in self.rows), *derived, self.derived)
        return {s.name: s for s in sorted(found, key=str)}

    def resolve(self, values: Mapping[str, float]) -> dict[sympy.Symbol, sympy.Expr]:
        """Values by letter, with the derived ones. ``ValueError``: unknown or missing letters, impossible values."""
        given = {self.letter(name): _number(self.letter(name), value) for name, value in values.items()}
        for symbol, expression in self.derived.items():
            if expression.free_symbols <= given.keys():
                value = expression.subs(given)
                if abs(given.setdefault(symbol, value) - value) > _SAME * (1 + abs(value)):
                    raise ValueError(f"{symbol} = {expression} is {float(value):g}, not {float(given[symbol]):g}")
        missing = [str(s) for s in self.required if s not in given]
        if missing:
            raise ValueError(f"the table {self.name} needs a value for {', '.join(missing)}")
        return given

    def check(self, given: Values, most: int = 2) -> None:
        """Raise ``ValueError`` unless the values satisfy the relations of the domain between at most ``most``
        letters.
        """
        for relation in self.domain:
            letters = relation.free_symbols
            if letters <= given.keys() and len(letters) <= most and not relation.subs(given):
                raise ValueError(f"the values must satisfy {relation.lhs} {relation.rel_op} {relation.rhs}")

    def letter(self, name: str) -> sympy.Symbol:
        """The letter of this name; ``ValueError`` lists those there are."""
        letters = self.letters
        if name not in letters:
            raise ValueError(f"the table {self.name} has no letter {name!r}: it has {', '.join(letters)}")
        return letters[name]

    def at(self, values: Mapping[str, float]) -> Table:
        """The table with numbers beside the formulas, the best of each column marked, for values by letter's name."""
        given = self.resolve(values)
        self.check(given)
        given.setdefault(symbols.epsilon, sympy.exp(-1).evalf(_DIGITS))
        numbers = [[_value(m, _with(row.lets, given)) for m in row.measures] for row in self.rows]
        shown = [i for i in range(len(self.measures)) if any(line[i] is not None for line in numbers)]
        least = {i: _least(line[i] for line, row in zip(numbers, self.rows, strict=True) if row.method) for i in shown}

        def entry(row: Row, i: int, value: float | None) -> Entry:
            return Entry(value, row.method and value is not None and value <= least[i] * (1 + _SAME))

        rows = tuple(
            replace(row, entries=(*row.entries, *(entry(row, i, line[i]) for i in shown)))
            for row, line in zip(self.rows, numbers, strict=True)
        )
        where = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        accuracy = "" if symbols.epsilon.name in values else "; rounds and bits in units of log(1/epsilon)"
        columns = (*self.columns, *(self.measures[i] for i in shown))
        return replace(self, columns=columns, rows=rows, note=f"{self.note} Numbers at {where}{accuracy}.")


def _number(symbol: sympy.Symbol, value: float) -> sympy.Expr:
    kind = "an integer" if symbol.is_integer else "a number"
    least = "at least 0" if not symbol.is_positive else "at least 1" if symbol.is_integer else "above 0"
    fits = math.isfinite(value) and (value > 0 if symbol.is_positive else value >= 0)
    if not fits or (symbol.is_integer and value != int(value)):
        raise ValueError(f"{symbol} must be {kind} {least}, got {value:g}")
    return sympy.Integer(int(value)) if value == int(value) else sympy.Float(value, _DIGITS)


def _with(lets: Sequence[tuple[sympy.Symbol, sympy.Expr]], given: Values) -> Values:
    """The values with those of the letters that they determine."""
    found = dict(given)
    for letter, expression in lets:
        if expression.free_symbols <= found.keys():
            found[letter] = expression.subs(found)
    return found


def _value(expression: sympy.Expr | None, given: Values) -> float | None:
    """The number, or None where a letter has no value or the expression none (a theorem at the edge of its domain)."""
    if expression is None or not expression.free_symbols <= given.keys():
        return None
    # Rounding is exact: ceil(log2 d) in floating point is one too large for some powers of two.
    rounded = {a: a.subs(given) for a in expression.atoms(sympy.ceiling, sympy.floor)}
    letters = list(given)
    with mpmath.workdps(_DIGITS):
        try:
            function = sympy.lambdify(letters, expression.xreplace(rounded), "mpmath")
            value = function(*(mpmath.mpf(str(given[letter].evalf(_DIGITS))) for letter in letters))
        except ZeroDivisionError:
            return None
        return float(value) if mpmath.isfinite(value) and not isinstance(value, mpmath.mpc) else None


def _least(values: Iterable[float | None]) -> float:
    return min((v for v in values if v is not None), default=math.inf)


def get(name: str) -> Table:
    """The table of this name, or of the paper of this name if it has a single one; ``ValueError`` lists those there
    are.
    """
    wanted = naming.meant(name, builders())
    of_paper = [known for known in builders() if known == wanted or known.startswith(f"{wanted}/")]
    if len(of_paper) != 1:
        near = of_paper or get_close_matches(name, builders(), n=1)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(builders())}"
        raise ValueError(f"unknown table {name!r}: {hint}")
    return _built(of_paper[0])


@cache
def builders() -> dict[str, str]:
    """The papers' tables by name, each with the module that builds it. ``ValueError`` for two of one name."""
    found: dict[str, str] = {}
    for paper in plugins.every().values():
        for name, module in paper.tables.items():
            if found.setdefault(name, module) != module:
                raise ValueError(f"the paper {paper.id} has a table {name}, as another paper has")
    return found


@cache
def _built(name: str) -> Table:
    return import_module(builders()[name]).build(name)


def assignments(texts: Sequence[str], number: Callable[[str], object] = float) -> dict[str, Any]:
    """Values by name from texts such as "kappa=1e4". Raise ``ValueError`` if one is not of this form or is repeated.

    ``number``: reads a value, ``ValueError`` for what is none.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, _, digits = text.partition("=")
        try:
            value = number(digits)
        except ValueError:
            raise ValueError(f"LETTER=NUMBER was expected, such as kappa=1e4, got {text!r}") from None
        if not name or name in found:
            raise ValueError(f"{name} is given twice" if name else f"LETTER=NUMBER was expected, got {text!r}")
        found[name] = value
    return found


def best(costs: Sequence[sympy.Expr], competes: Sequence[bool], regime: growth.Regime) -> list[bool]:
    """State of the art: which of the costs (sums of monomials) are of the order of the least in the whole regime."""
    rivals = [c for c, method in zip(costs, competes, strict=True) if method]
    return [
        method and all(growth.at_most(cost, rival, regime) for rival in rivals)
        for cost, method in zip(costs, competes, strict=True)
    ]


def per_digit(rounds: object) -> sympy.Expr:
    """At least one round, from a number of rounds in units of log(1/epsilon)."""
    # Unevaluated: sympy would try to order the two.
    return sympy.Max(1, rounds * sympy.log(1 / symbols.epsilon), evaluate=False)


def columns_of(
    makers: Sequence[tuple[Callable[[str], sympy.Expr], growth.Regime]], keys: Sequence[str], competes: Sequence[bool]
) -> dict[str, tuple[Entry, ...]]:
    """For each key its entry in every column, a column being a formula for each key and the regime it is meant in."""
    found: dict[str, list[Entry]] = {key: [] for key in keys}
    for formula, regime in makers:
        costs = [formula(key) for key in keys]
        for key, cost, leads in zip(keys, costs, best(costs, competes, regime), strict=True):
            found[key].append(Entry(cost, leads))
    return {key: tuple(entries) for key, entries in found.items()}
