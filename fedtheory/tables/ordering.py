"""The order of terms in the papers' tables, for printers."""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.numbers.symbols import kappa


class PaperOrder:
    """Sums in the order of the papers' tables: numbers, then high powers of kappa, plain terms before composed ones."""

    def _as_ordered_terms(self, expr: sympy.Add, order: str | None = None) -> list[sympy.Expr]:
        def rank(term: sympy.Expr) -> tuple[Any, ...]:
            negative = term.could_extract_minus_sign()
            return negative, not term.is_number, -_power(term), sympy.count_ops(term), str(term)

        return sorted(expr.args, key=rank)


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
