"""The common vocabulary of the papers, as sympy symbols with their assumptions, and how formulas are printed.

Each paper keeps its own letters; its ``glossary`` maps them to these. ``fedtheory`` offers ``T`` (the number of
rounds), ``n`` (clients), ``d`` (dimension), ``k`` (coordinates that a compressor keeps), ``round_index`` (the index k
of a round, from 0 on) and ``omega`` (the variance of a compressor).

Examples:
    >>> import fedtheory as ft
    >>> ft.T.is_nonnegative, ft.n.is_positive, ft.omega.is_integer
    (True, True, None)
    >>> ft.round_index == ft.k
    False
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.str import StrPrinter

#: Strong convexity and smoothness constants of the clients' functions.
mu, L = sympy.symbols("mu L", positive=True)
#: Condition number L/mu.
kappa = sympy.Symbol("kappa", positive=True)
#: Number of clients and dimension of the model.
n, d = sympy.symbols("n d", integer=True, positive=True)
#: Coordinates that a compressor keeps.
k = sympy.Symbol("k", integer=True, positive=True)
#: The index of a round: of the first one 0.
round_index = sympy.Symbol("k", integer=True, nonnegative=True)
#: Clients that take part in a round.
m = sympy.Symbol("m", integer=True, positive=True)
#: Variance of one compressor, and joint variance of all.
omega, omega_av = sympy.symbols("omega omega_av", nonnegative=True)
#: Target accuracy, relative to the initial error.
epsilon = sympy.Symbol("epsilon", positive=True)
#: Heterogeneity: a bound on |grad f_i(x*)|.
zeta = sympy.Symbol("zeta", positive=True)
#: Rounds.
T = sympy.Symbol("T", integer=True, nonnegative=True)


def letters(names: str) -> Any:
    """Return positive real letters, from their names.

    Args:
        names: The names, separated by spaces.

    Returns:
        One symbol for one name, a tuple of symbols for several, as ``sympy.symbols`` does.

    Raises:
        ValueError: If there is no name.

    Examples:
        >>> import fedtheory as ft
        >>> mu, L = ft.letters("mu L")
        >>> mu.is_positive
        True
    """
    return sympy.symbols(names, positive=True)


def integers(names: str) -> Any:
    """Return positive integer letters, from their names.

    Args:
        names: The names, separated by spaces.

    Returns:
        One symbol for one name, a tuple of symbols for several.

    Raises:
        ValueError: If there is no name.

    Examples:
        >>> import fedtheory as ft
        >>> tau = ft.integers("tau")
        >>> tau.is_integer and tau.is_positive
        True
    """
    return sympy.symbols(names, integer=True, positive=True)


# All arguments stay if none is always the largest, and looking for that one takes as long as loading all else.
Max, Min = partial(sympy.Max, evaluate=False), partial(sympy.Min, evaluate=False)


# Formulas as text, LaTeX and MathML: what is printed of them everywhere, and the orders in which sums are.

#: The terms of a sum as sympy would print them, put in order.
Order = Callable[[list[sympy.Expr]], list[sympy.Expr]]


class _Ordered:
    """A printer of sympy's that has the terms of sums in an order of ours."""

    def __init__(self, order: Order, **settings: object) -> None:
        super().__init__(settings)  # type: ignore[call-arg]
        self._put = order

    def _as_ordered_terms(self, expr: sympy.Add, order: str | None = None) -> list[sympy.Expr]:
        return self._put(super()._as_ordered_terms(expr, order=order))  # type: ignore[misc]


class Plain(_Ordered, StrPrinter):
    """Text, with ^ for powers."""

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:
        return super()._print_Pow(expr, rational).replace("**", "^")


class Latex(_Ordered, LatexPrinter):
    """LaTeX without its dollars."""


class MathML(_Ordered, MathMLPresentationPrinter):
    """Printer of the contents of a ``math`` element."""


def positive_first(terms: list[sympy.Expr]) -> list[sympy.Expr]:
    """Terms that start with one that has no minus sign: 1 - a, not -a + 1."""
    first = next((i for i, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
    return [terms[first], *terms[:first], *terms[first + 1 :]]


def as_in_tables(terms: Iterable[sympy.Expr]) -> list[sympy.Expr]:
    """The order of the papers' tables: numbers, then high powers of kappa, plain terms before composed ones."""

    def rank(term: sympy.Expr) -> tuple[Any, ...]:
        negative = term.could_extract_minus_sign()
        return negative, not term.is_number, -_power(term), sympy.count_ops(term), str(term)

    return sorted(terms, key=rank)


def _power(term: sympy.Expr) -> float:
    power = sympy.sympify(term.as_powers_dict().get(kappa, 0))
    return float(power) if power.is_number else 0.0


def grouped(formula: sympy.Expr) -> sympy.Expr:
    """A sum with the terms of each power of kappa together: sqrt(kappa) + a sqrt(kappa) is (1 + a) sqrt(kappa)."""
    if not isinstance(formula, sympy.Add):
        return formula
    groups: dict[float, list[sympy.Expr]] = {}
    for term in formula.args:
        groups.setdefault(_power(term), []).append(term)

    def together(power: float, terms: list[sympy.Expr]) -> sympy.Expr:
        common = kappa ** sympy.Rational(power) if power else sympy.S.One
        return common * sympy.Add(*(term / common for term in terms))

    return sympy.Add(*(together(power, terms) for power, terms in groups.items()))
