"""Validate the parts of a statement: letters, expressions and relations, each where it is constructed.

Everything here is an allow-list. Anything else raises a ``ValueError`` that names the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any

import numpy as np
import sympy

from fedtheory.numbers.intervals import Interval

#: Assumptions that a letter may have: instances are drawn for these sets, with all of their values in reach.
_DOMAINS: tuple[Mapping[str, bool], ...] = (
    {"positive": True},
    {"nonnegative": True},
    {"real": True},
    {"integer": True, "positive": True},
    {"integer": True, "nonnegative": True},
    {"integer": True},
)
_LETTERS = tuple(sympy.Symbol("x", **facts).assumptions0 for facts in _DOMAINS)
#: What the symbol of a quantity may be declared to be: its code determines the sign of its values, and sympy
#: would simplify what is written by what is declared. The sign of a square is known.
_QUANTITIES = tuple(sympy.Symbol("x", **facts).assumptions0 for facts in ({}, {"real": True}))
_SQUARED = (*_QUANTITIES, *_LETTERS[:2])
_SAYS = "positive, nonnegative, real, or an integer that is one of these"

#: The constituents of an expression.
_NODES = (
    sympy.Add,
    sympy.Mul,
    sympy.Pow,
    sympy.Max,
    sympy.Min,
    sympy.Abs,
    sympy.exp,
    sympy.log,
    sympy.ceiling,
    sympy.floor,
)
#: Terms of a sum or factors of a product between two numbers, and powers by a number, at most: each is computed in
#: fractions wherever a claim is looked at.
_TERMS, _POWER = 1000, 10_000
_BUILT = "sums, products, powers, Max, Min, Abs, exp, log, ceiling, floor, and one Sum or Product over an index"
#: Relations, and those that are turned round.
_RELATIONS = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt, sympy.Eq)
_TURNED = {"<=": "<=", "<": "<", "==": "==", ">=": "<=", ">": "<"}


def function(part: str, value: object, given: tuple[str, ...]) -> Callable[..., Any]:
    """Check that a value can be called with these arguments, in this order, and return it."""
    due = f"{part} must be a function of ({', '.join(given)})"
    if not callable(value):
        raise ValueError(f"{due}, got {_short(value)}")
    try:
        taken = signature(value)
    except (TypeError, ValueError):  # Some builtins have none.
        return value
    try:
        taken.bind(*given)
    except TypeError as error:
        name = getattr(value, "__name__", type(value).__name__)
        raise ValueError(f"{due}, and {name} takes {taken}") from error
    return value


def letter(part: str, value: sympy.Expr) -> sympy.Symbol:
    """A letter: a symbol of a name and of one of the domains that are drawn."""
    if type(value) is not sympy.Symbol or not value.name.strip():
        raise ValueError(f"{part} must be a letter, a sympy symbol with a name, got {value!r}")
    if value.assumptions0 not in _LETTERS:
        declared = ", ".join(f"{name}={fact}" for name, fact in value._assumptions_orig.items()) or "nothing"
        raise ValueError(f"{part}: the letter {value} is declared {declared}, and a letter must be {_SAYS}")
    return value


def admits(letter: sympy.Symbol, value: Any) -> bool:
    """Return True if a number provably satisfies the assumptions declared for a letter."""
    number = value.item() if isinstance(value, np.ndarray) else value
    try:
        if letter.is_integer and (isinstance(number, Interval) or number != int(number)):
            return False
        return bool(number > 0 if letter.is_positive else number >= 0 if letter.is_nonnegative else True)
    except (ArithmeticError, ValueError):
        # An interval around 0, what is not known, infinity.
        return False


def measured(part: str, value: Any) -> sympy.Expr:
    """Return the symbol of a quantity, or the square of a symbol, given by name or as an expression."""
    if isinstance(value, str):
        value = sympy.Symbol(value)
    symbol = value.base if isinstance(value, sympy.Pow) and value.exp == 2 else value
    if type(symbol) not in (sympy.Symbol, sympy.Dummy) or not symbol.name.strip():
        raise ValueError(f"{part} must be a name, a symbol or the square of one, got {value!r}")
    if symbol.assumptions0 not in (_QUANTITIES if symbol is value else _SQUARED):
        raise ValueError(f"{part}: {symbol} may be declared real and nothing else, since its values are computed")
    return value


def expression(part: str, value: object) -> sympy.Expr:
    """An expression in symbols and exact numbers; whose symbols they are is for the statement to say."""
    try:
        found = sympy.sympify(value, strict=True)
    except (sympy.SympifyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{part} must be a sympy expression or a number, got {_short(value)}") from error
    if not isinstance(found, sympy.Expr):
        raise ValueError(f"{part} must be a sympy expression or a number, got {_short(value)}")
    _check(part, found)
    return found


def _check(part: str, node: sympy.Expr) -> None:
    if isinstance(node, sympy.Float):
        shown = sympy.Rational(str(node)) if node.is_finite else node
        raise ValueError(f"{part}: {float(node)!r} is a float, which is not exact: write a fraction, as {shown}")
    if node.is_Rational or node is sympy.S.Exp1 or type(node) in (sympy.Symbol, sympy.Dummy):
        return
    if isinstance(node, sympy.Sum | sympy.Product):
        _check_repeated(part, node)
    elif isinstance(node, sympy.Pow) and node.exp.is_Rational and abs(node.exp) > _POWER:
        raise ValueError(f"{part}: {_short(node)} is a power beyond {_POWER}, which is not computed: use a letter")
    elif not isinstance(node, _NODES):
        raise ValueError(f"{part}: {_short(node)} is none of what a statement may be made of: {_BUILT}")
    else:
        for argument in node.args:
            _check(part, argument)


def _check_repeated(part: str, node: sympy.Expr) -> None:
    """A sum or product over one index, which is declared nothing that some of its values are not."""
    index, *ends = node.limits[0]
    if len(node.limits) > 1:
        name = type(node).__name__
        raise ValueError(
            f"{part}: {_short(node)} goes over {len(node.limits)} indices, and must go over one: sympy joins a {name} "
            f"whose terms are a {name} with it, so take a factor or a term out of the inner one, as "
            f"{name}(i * {name}(l, (l, 1, m)), (i, 1, n)), or write its value"
        )
    if len(ends) != 2:
        raise ValueError(f"{part}: {node} must go over one index, from one integer to another")
    for inner in (node.function, *ends):
        _check(part, inner)
    if (terms := ends[1] - ends[0] + 1).is_number and terms > _TERMS:
        raise ValueError(
            f"{part}: {_short(node)} has {terms} terms, and at most {_TERMS} are computed: "
            "write its value, or a letter for the last index"
        )
    first, declared = ends[0], index.assumptions0
    low = first.is_positive if index.is_positive else first.is_nonnegative if index.is_nonnegative else True
    if type(index) is not sympy.Symbol or declared not in (*_LETTERS, sympy.Symbol("x").assumptions0) or not low:
        fault = f"{node} goes from {first} on, and its index {index} is declared otherwise"
        raise ValueError(f"{part}: {fault}: write sympy.Symbol({index.name!r}) for it")


def comparison(part: str, left: object, relation: object, right: object) -> tuple[sympy.Expr, str, sympy.Expr]:
    """Sides and relation of a comparison, by ``==``, ``<=`` or ``<``: what is written with ``>=`` is turned round."""
    if not isinstance(relation, str) or relation not in _TURNED:
        raise ValueError(f"{part}: a comparison is by one of {', '.join(_TURNED)}, got {relation!r}")
    a, b = expression(f"{part}, its left side", left), expression(f"{part}, its right side", right)
    return (b, _TURNED[relation], a) if relation.startswith(">") else (a, _TURNED[relation], b)


def relation(part: str, value: object) -> sympy.Basic:
    """A relation between expressions, or a conjunction of some."""
    if isinstance(value, sympy.And):
        for one in value.args:
            relation(part, one)
        return value
    if isinstance(value, bool) or value in (sympy.true, sympy.false):
        raise ValueError(f"{part} is {bool(value)} whatever the letters are, which is not a condition on them")
    if not isinstance(value, _RELATIONS):
        raise ValueError(f"{part} must be a relation by <=, <, >=, > or Eq, or an And of some, got {_short(value)}")
    for one in value.args:
        expression(part, one)
    return value


def relations(part: str, value: object) -> tuple[sympy.Basic, ...]:
    """Relations, each a single one: conjunctions are taken apart."""
    if not isinstance(value, tuple | list):
        raise ValueError(f"{part} must be a tuple of relations, got {_short(value)}")
    found = [relation(f"{part}, its relation {k}," if len(value) > 1 else part, one) for k, one in enumerate(value, 1)]
    return tuple(single for one in found for single in conjuncts(one))


def conjuncts(value: sympy.Basic) -> Iterable[sympy.Basic]:
    """The single relations of a conjunction, or the relation itself."""
    return [single for one in value.args for single in conjuncts(one)] if isinstance(value, sympy.And) else [value]


def assignments(part: str, value: object) -> dict[sympy.Symbol, sympy.Expr]:
    """Values of letters, none of which contains a letter that is assigned."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{part} must be a mapping of letters to expressions, got {_short(value)}")
    found = {letter(part, name): expression(f"{part}, {name}", given) for name, given in value.items()}
    for name, given in found.items():
        again = sorted(given.free_symbols & set(found), key=str)
        if again:
            raise ValueError(f"{part}: {name} = {given} mentions {again[0]}, which is assigned too: put its value in")
        if name.is_integer and not given.is_integer:
            raise ValueError(f"{part}: {name} is an integer, and {given} is not seen to be one")
    return found


def one_name_each(part: str, symbols: Iterable[sympy.Symbol]) -> None:
    """Raise ``ValueError`` if two symbols have one name, and so differ only in what they are declared to be."""
    named: dict[str, sympy.Symbol] = {}
    for symbol in sorted(symbols, key=lambda symbol: symbol.name):
        if named.setdefault(symbol.name.strip(), symbol) != symbol:
            raise ValueError(f"{part}: two symbols named {symbol} have different assumptions")


def affine(expression: sympy.Expr, unknowns: Iterable[sympy.Expr]) -> bool:
    """Return True if an expression is jointly affine in the unknowns, so that its expectation is its
    value at theirs.
    """
    known = {unknown: sympy.Dummy() for unknown in unknowns}
    random = set(known.values())
    plain = expression.xreplace(known)
    if not plain.free_symbols & random:
        return True
    rates = (sympy.diff(plain, one) for one in random)
    return not any(rate.free_symbols & random and sympy.expand(rate).free_symbols & random for rate in rates)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
