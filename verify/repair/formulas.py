"""The formulas of a statement, and changes of them that apply wherever the same expression stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy

from fedtheory.kinds.base import Statement, measured
from fedtheory.settings.relations import Comparison

#: A function from expressions to expressions.
Rewriting = Callable[[sympy.Expr], sympy.Expr]
#: Numbers that are not constants of a formula.
_STRUCTURE = (sympy.S.Zero, sympy.S.One, sympy.S.NegativeOne)


def formulas(statement: Statement) -> dict[str, Any]:
    """Return the parts of a statement that hold formulas, by the names that ``variant`` takes."""
    found = {name: getattr(statement, name) for name in statement.rewritable}
    if also := getattr(statement, "also", ()):
        found["also"] = also
    return {name: part for name, part in found.items() if part is not None}


def expressions(part: Any) -> Iterator[sympy.Expr]:
    """Yield the expressions that a part of a statement consists of."""
    if isinstance(part, Mapping):
        yield from part.values()
    elif isinstance(part, tuple):
        for one in part:
            yield from (one.left, one.right) if isinstance(one, Comparison) else one.args
    else:
        yield part


def rewritten(statement: Statement, rewriting: Rewriting) -> dict[str, Any]:
    """Return the parts that a rewriting of all formulas changes, as ``variant`` takes them; empty if it changes
    nothing.
    """
    try:
        return _changed(statement, rewriting)
    except (TypeError, ValueError):
        # A maximum of numbers that are not real, say: it is not a statement.
        return {}


def _changed(statement: Statement, rewriting: Rewriting) -> dict[str, Any]:
    found = {}
    for name, part in formulas(statement).items():
        changed: Any
        if isinstance(part, Mapping):
            changed = {symbol: rewriting(value) for symbol, value in part.items()}
        elif isinstance(part, tuple):
            changed = tuple(_rewritten(one, rewriting) for one in part)
        else:
            changed = rewriting(part)
        if changed != part:
            found[name] = changed
    return found


def _rewritten(one: Any, rewriting: Rewriting) -> Any:
    if isinstance(one, Comparison):
        return Comparison(rewriting(one.left), one.relation, rewriting(one.right))
    return one.func(*(rewriting(side) for side in one.args), evaluate=False)


def replacing(old: sympy.Expr, new: sympy.Expr) -> Rewriting:
    """Return the rewriting that puts ``new`` wherever ``old`` stands."""
    return lambda expression: expression.xreplace({old: new})


def raising(node: sympy.Expr, exponent: sympy.Rational) -> Rewriting:
    """Return the rewriting that raises an expression to a power wherever it has none."""

    def changed(expr: sympy.Expr) -> sympy.Expr:
        if expr == node:
            return sympy.Pow(expr, exponent)
        if not expr.args or (expr.is_Pow and expr.base == node):
            return expr
        return expr.func(*map(changed, expr.args))

    return changed


def rescaling(size: sympy.Rational, by: sympy.Expr) -> Rewriting:
    """Return the rewriting that multiplies a number, of either sign, wherever it stands outside of exponents."""

    def changed(node: sympy.Expr) -> sympy.Expr:
        if node.is_Number:
            return node * by if abs(node) == size else node
        if not node.args:
            return node
        if node.is_Pow:
            return sympy.Pow(changed(node.base), node.exp)
        return node.func(*map(changed, node.args))

    return changed


def constants(statement: Statement) -> list[sympy.Rational]:
    """Return the sizes of the numbers in the formulas, exponents left out."""
    found: set[sympy.Rational] = set()

    def visit(node: sympy.Expr) -> None:
        if node.is_Rational and abs(node) not in _STRUCTURE:
            found.add(abs(node))
        for argument in (node.base,) if node.is_Pow else node.args:
            visit(argument)

    for part in formulas(statement).values():
        for expression in expressions(part):
            visit(expression)
    return sorted(found)


def terms(statement: Statement) -> list[sympy.Expr]:
    """Return the expressions that may be multiplied by something: terms of sums, alternatives of maxima, arguments of
    functions, bases of powers and letters; those near the root first. Whole sides are left out, and of a quantity that
    stands alone only the coefficient may change.
    """
    found: dict[sympy.Expr, int] = {}

    def visit(node: sympy.Expr, depth: int, term: bool) -> None:
        if node.is_Number:
            return
        if term or (node.is_Symbol and node not in measured(statement)):
            found[node] = min(depth, found.get(node, depth))
        factors = node.is_Mul
        for argument in (node.base,) if node.is_Pow else node.args:
            visit(argument, depth + 1, not factors)

    for part in formulas(statement).values():
        for expression in expressions(part):
            visit(expression, 0, isinstance(part, Mapping))
    return sorted(found, key=lambda node: (found[node], sympy.default_sort_key(node)))


def nodes(statement: Statement, kinds: Any) -> list[sympy.Expr]:
    """Return the expressions of some kinds that occur in the formulas, each once."""
    found: dict[sympy.Expr, None] = {}
    for part in formulas(statement).values():
        for expression in expressions(part):
            for node in sympy.preorder_traversal(expression):
                if isinstance(node, kinds):
                    found[node] = None
    return list(found)


def right_sides(statement: Statement) -> list[tuple[str, sympy.Expr, Rewriting]]:
    """Return the right sides of inequalities as (part, expression, function that multiplies it)."""
    if statement.horizon:
        name = "bound" if statement.geometric is None else "constant"
        return [(name, getattr(statement, name), lambda by: getattr(statement, name) * by)]
    right = getattr(statement, "right", None)
    if right is None or any(c.relation == "==" for c in statement.comparisons):
        return []
    return [("right", right, lambda by: right * by)]
