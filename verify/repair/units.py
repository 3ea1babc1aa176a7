"""The units of letters, as far as the formulas of a claim determine them: those added or compared share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import free_symbols

#: The logarithm of a unit, as a linear form in those of the symbols.
_Unit = Mapping[sympy.Symbol, sympy.Expr]
_NONE: _Unit = {}


class Units:
    """The equations between units that the statement and the hypotheses of a claim imply."""

    def __init__(self, claim: Claim) -> None:
        relations = [h.relation for h in claim.requires if isinstance(h.relation, sympy.core.relational.Relational)]
        sides = [(c.left, c.right) for c in claim.statement.comparisons] + [(r.lhs, r.rhs) for r in relations]
        equations = [equation for pair in sides for equation in _same(pair)[1]]
        symbols = {s for of in equations for s in of} | free_symbols(claim.statement) | set(claim.setting.sources)
        self._places = {symbol: k for k, symbol in enumerate(sorted((s for s in symbols if s.is_Symbol), key=str))}
        # Counts have no unit.
        counts: list[_Unit] = [{s: sympy.S.One} for s in self._places if s.is_integer]
        rows = [[of.get(symbol, sympy.S.Zero) for symbol in self._places] for of in (*equations, *counts, _NONE)]
        #: All ways of choosing units, as sums of these.
        self._choices = sympy.Matrix(rows).nullspace() if self._places else []

    def alike(self, one: sympy.Symbol, other: sympy.Symbol) -> bool:
        """Return True if two letters have the same unit, whatever those of the others are."""
        k, other_place = self._places[one], self._places[other]
        return all(choice[k] == choice[other_place] for choice in self._choices)

    def is_number(self, expr: sympy.Expr) -> bool:
        """Return True if an expression in letters has no unit."""
        unit, _ = _unit(expr)
        return all(sum(c * choice[self._places[s]] for s, c in unit.items()) == 0 for choice in self._choices)


def _same(parts: Sequence[sympy.Expr]) -> tuple[_Unit, list[_Unit]]:
    """Return the unit of expressions that have the same, and the equations for this. That of 0 is any."""
    found = [_unit(part) for part in parts if part != 0]
    equations = [equation for _, inner in found for equation in inner]
    units = [unit for unit, _ in found]
    return (units[0] if units else _NONE), equations + [_less(unit, units[0]) for unit in units[1:]]


def _unit(expr: sympy.Expr) -> tuple[_Unit, list[_Unit]]:
    """Return the unit of an expression, and the equations that it implies."""
    if expr.is_Symbol:
        return {expr: sympy.S.One}, []
    if isinstance(expr, sympy.Add | sympy.Max | sympy.Min):
        return _same(expr.args)
    if expr.is_Pow and expr.exp.is_Rational:
        unit, equations = _unit(expr.base)
        return {s: expr.exp * c for s, c in unit.items()}, equations
    parts = [_unit(arg) for arg in expr.args]
    equations = [equation for _, inner in parts for equation in inner]
    if expr.is_Mul:
        total: dict[sympy.Symbol, sympy.Expr] = {}
        for unit, _ in parts:
            for symbol, c in unit.items():
                total[symbol] = total.get(symbol, sympy.S.Zero) + c
        return total, equations
    # Logarithms, powers of a letter and the like are of numbers.
    return _NONE, equations + [unit for unit, _ in parts]


def _less(one: _Unit, other: _Unit) -> _Unit:
    return {s: one.get(s, sympy.S.Zero) - other.get(s, sympy.S.Zero) for s in {*one, *other}}
