"""Systematic small changes of a formula: each constant, sign, symbol and operator in turn."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import sympy

from fedtheory.numbers.rational import DIGITS, evaluate, real


class FormulaChange(NamedTuple):
    """``operator``: the sort of change, one of ``OPERATORS``; ``text``: it in words; ``result``: what it gives."""

    operator: str
    text: str
    result: sympy.Basic


#: The sorts of change, of formulas and of code.
OPERATORS = ("constant", "sign", "index", "operator", "dropped", "hypothesis")


def changes(expression: sympy.Basic, fixed: frozenset[sympy.Expr] = frozenset()) -> Iterator[FormulaChange]:
    """Every formula, or relation, that differs from ``expression`` in one place, each once.

    ``fixed``: symbols that stand for quantities rather than parameters; they are neither dropped nor exchanged.
    Formulas that take the same values as ``expression`` are left out.
    """
    if isinstance(expression, sympy.Rel):
        for side in (0, 1):
            for operator, text, result in changes(expression.args[side], fixed):
                sides = (result, expression.args[1]) if side == 0 else (expression.args[0], result)
                yield FormulaChange(operator, text, expression.func(*sides, evaluate=False))
        return
    symbols = sorted(expression.free_symbols, key=str)
    letters = [s for s in symbols if s not in fixed]
    seen = [_values(expression, symbols)]
    for operator, place, result in _changed(expression, letters, fixed):
        if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
            continue
        values = _values(result, symbols)
        if any(_same(values, other) for other in seen):
            continue
        seen.append(values)
        yield FormulaChange(operator, place, result)


def _changed(
    node: sympy.Expr, letters: list[sympy.Symbol], fixed: frozenset[sympy.Expr]
) -> Iterator[tuple[str, str, sympy.Expr]]:
    """(operator, words, result) for each change at the node or below it."""
    if node.is_Number:
        for other in dict.fromkeys((node + 1, node - 1, 2 * node)):
            yield "constant", f"{other} for {node}", other
        return
    if node.is_Symbol:
        if node in letters and len(letters) > 1:
            other = letters[(letters.index(node) + 1) % len(letters)]
            yield "index", f"{other} for {node}", other
        return
    if isinstance(node, sympy.Max | sympy.Min):
        opposite = sympy.Min if isinstance(node, sympy.Max) else sympy.Max
        yield "operator", f"{opposite.__name__} for {node.func.__name__}", _built(opposite, *node.args)
    if isinstance(node, sympy.Add | sympy.Max | sympy.Min):
        for i, argument in enumerate(node.args):
            yield "dropped", f"{argument} left out of {node}", _built(node.func, *node.args[:i], *node.args[i + 1 :])
    if isinstance(node, sympy.Add):
        for i, argument in enumerate(node.args):
            yield (
                "sign",
                f"{-argument} for {argument}",
                _built(node.func, *node.args[:i], -argument, *node.args[i + 1 :]),
            )
    if isinstance(node, sympy.Mul):
        for i, argument in enumerate(node.args):
            if not argument.free_symbols & fixed and argument != -1:
                yield (
                    "dropped",
                    f"{argument} left out of {node}",
                    _built(node.func, *node.args[:i], *node.args[i + 1 :]),
                )
    for i, argument in enumerate(node.args):
        for operator, words, result in _changed(argument, letters, fixed):
            yield operator, words, _built(node.func, *node.args[:i], result, *node.args[i + 1 :])


def _built(function: type[sympy.Expr], *args: sympy.Expr) -> sympy.Expr:
    """The expression; not a number where its arguments are not real."""
    try:
        return function(*args)
    except ValueError:
        return sympy.nan


def _values(expression: sympy.Expr, symbols: list[sympy.Symbol]) -> tuple[Any, ...]:
    """The formula at points with primes, large and small in different orders; None where it has no real value."""
    primes = [Fraction(int(sympy.prime(2 + 2 * i))) for i in range(len(symbols))]
    mixed = [v if i % 2 else 1 / v for i, v in enumerate(primes)]
    points = (primes, primes[::-1], [1 / v for v in primes], mixed, [1 / v for v in mixed])
    return tuple(_value(expression, dict(zip(symbols, point, strict=True))) for point in points)


def _value(expression: sympy.Expr, at: dict[sympy.Symbol, Fraction]) -> Any:
    try:
        return evaluate(expression, at)
    except (ValueError, ArithmeticError):
        return None


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two formulas have the same values wherever either has one, and somewhere."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None or y is not None]
    if not pairs or any(x is None or y is None for x, y in pairs):
        return False
    with mpmath.workdps(DIGITS):
        reals = [(real(x), real(y)) for x, y in pairs]
        return all(abs(x - y) <= mpmath.mpf(10) ** -20 * (abs(x) + abs(y)) for x, y in reals)
