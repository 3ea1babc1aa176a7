"""Quantities of a whole run in LaTeX: sums over rounds, least values, averages of iterates; x_k begins round k."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from fedtheory.numbers.symbols import Latex, positive_first
from fedtheory.settings.relations import OfRun, Quantity
from fedtheory.settings.whole_runs import AtAverage, RunMinimum, RunTotal
from verify.report import names


def latex(of: OfRun, alone: bool = True) -> str:
    """Return the LaTeX of such a quantity, a sum in brackets unless it stands ``alone``."""
    last = _written(of.last)
    sum_over = rf"\sum_{{k={of.first}}}^{{{last}}}"
    at_k = {s: f"{name}(x_k)" for q in of.inner for s, name in _names(q).items()}
    if isinstance(of, RunTotal):
        found = f"{sum_over} {_factor(of.term, at_k)}"
        return found if alone else rf"\left({found}\right)"
    (q,) = of.inner
    if isinstance(of, RunMinimum):
        value = _written(q.expression, at_k)
        expected = rf"\mathbb{{E}}\left[{value}\right]" if of.expected else value
        return rf"\min_{{{of.first} \le k \le {last}}} {expected}"
    if isinstance(of, AtAverage):
        count = _written(of.last - of.first + 1)
        weight = "" if of.weight == 1 else f"{_factor(of.weight)} "
        total = f"{sum_over} {weight}".rstrip()
        mean = rf"\frac{{1}}{{{count}}} {total} x_k" if of.weight == 1 else rf"\frac{{{total} x_k}}{{{total}}}"
        return _written(q.expression, {s: rf"{name}\left({mean}\right)" for s, name in _names(q).items()})
    return names.latex(str(of), alone)


def _names(q: Quantity) -> dict[sympy.Symbol, str]:
    return {s: names.latex(s.name, alone=False) for s in q.expression.free_symbols if isinstance(s, sympy.Symbol)}


def _factor(expression: sympy.Expr, symbols: Mapping[sympy.Symbol, str] | None = None) -> str:
    found = _written(expression, symbols)
    return rf"\left({found}\right)" if expression.is_Add else found


def _written(expression: sympy.Expr, symbols: Mapping[sympy.Symbol, str] | None = None) -> str:
    return str(Latex(positive_first, symbol_names=dict(symbols or {}), parenthesize_super=False).doprint(expression))
