"""Orders of growth of sums of monomials, decided exactly rather than by sampling.

In logarithms of the variables a monomial is a linear function, a regime such as {n <= d, kappa >= 1} a cone, and a sum
of monomials, up to the constant that counts its terms, the maximum of linear functions. So a term is dominated by
others in a regime if and only if a linear program (Farkas) is feasible. Positive coefficients are left out: they are
constants that an order hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain

import numpy as np
import sympy

#: Relations between monomials, left <= right; a number in them counts as 1.
Regime = tuple[sympy.Rel, ...]


def monomials(expression: object) -> tuple[sympy.Expr, ...]:
    """The terms of an expanded sum, with coefficient 1, each once. Raise ``ValueError`` if one is not a positive
    monomial.
    """
    found: dict[sympy.Expr, None] = {}
    for term in sympy.Add.make_args(sympy.powdenest(sympy.expand(expression), force=True)):
        coefficient, monomial = term.as_independent(*term.free_symbols, as_Add=False)
        if not coefficient.is_positive:
            raise ValueError(f"{term} is not a monomial with a positive coefficient")
        _exponents(monomial)
        found[monomial] = None
    return tuple(found)


@cache
def _exponents(monomial: sympy.Expr) -> dict[sympy.Symbol, float]:
    found: dict[sympy.Symbol, float] = {}
    for base, power in sympy.sympify(monomial).as_powers_dict().items():
        if base.is_number:
            continue
        if not (base.is_Symbol and power.is_Rational):
            raise ValueError(f"{monomial} is not a monomial: {base**power} is not a rational power of a variable")
        found[base] = float(power)
    return found


def dominated(term: sympy.Expr, others: Sequence[sympy.Expr], regime: Regime) -> bool:
    """Return True if term = O(sum of the others) in the regime, all being monomials.

    term <= max_j other_j on the cone {G x >= 0} exactly when some convex combination of the others' exponents, less
    those of the term, is a nonnegative combination of the rows of G.
    """
    if term in others or not others:
        return bool(others)
    # Loading scipy's optimisers takes as long as all else here.
    from scipy.optimize import linprog

    bounds = [(r.rhs / r.lhs if isinstance(r, sympy.Le) else r.lhs / r.rhs) for r in regime]
    symbols = sorted(set().union(*(e.free_symbols for e in (term, *others, *bounds))), key=str)

    def vector(monomial: sympy.Expr) -> list[float]:
        exponents = _exponents(monomial)
        return [exponents.get(symbol, 0.0) for symbol in symbols]

    columns = [[*vector(o), 1.0] for o in others] + [[*(-v for v in vector(b)), 0.0] for b in bounds]
    target = [*vector(term), 1.0]
    return bool(linprog(np.zeros(len(columns)), A_eq=np.array(columns).T, b_eq=target, method="highs").success)


def at_most(left: object, right: object, regime: Regime) -> bool:
    """Return True if left = O(right) in the regime, both sums of monomials."""
    upper = monomials(right)
    return all(dominated(term, upper, regime) for term in monomials(left))


def simplify(expression: object, regime: Regime) -> sympy.Expr:
    """The same order in the regime, without the terms that others dominate.

    ``Max``, ``Min``, ``ceiling`` (the larger of 1 and its argument) and, within a Max, ``floor`` (its argument) are
    resolved by cases, one for each argument that may be the largest or smallest. The answer is the sum of those terms
    of the cases that are valid in all of them. Raise ``ValueError`` if that is not of the same order in each case.
    """
    cases = list(_cases(_continuous(expression), regime))
    sums = [(monomials(case), where) for case, where in cases]
    candidates = dict.fromkeys(chain.from_iterable(_undominated(terms, where) for terms, where in sums))
    valid = [c for c in candidates if all(dominated(c, terms, where) for terms, where in sums)]
    if not all(dominated(term, valid, where) for terms, where in sums for term in terms):
        raise ValueError(f"no sum of monomials is of the order of {expression} in all cases")
    return sympy.Add(*_undominated(valid, regime))


def _undominated(terms: Sequence[sympy.Expr], regime: Regime) -> list[sympy.Expr]:
    kept = list(terms)
    # Costly terms first, so that of two of one order the plainer stays.
    for term in sorted(terms, key=sympy.count_ops, reverse=True):
        others = [t for t in kept if t != term]
        if dominated(term, others, regime):
            kept = others
    return kept


def _continuous(expression: object) -> sympy.Expr:
    """Rounding replaced by what is of the same order: ceil(x) by max(1, x) and, where x >= 1 matters, floor(x) by x."""
    return sympy.sympify(expression).replace(sympy.ceiling, lambda x: sympy.Max(1, x)).replace(sympy.floor, lambda x: x)


def _cases(expression: sympy.Expr, regime: Regime) -> list[tuple[sympy.Expr, Regime]]:
    extrema = [a for a in expression.atoms(sympy.Max, sympy.Min) if not a.args[0].has(sympy.Max, sympy.Min)]
    extrema = [a for a in extrema if not any(b.has(sympy.Max, sympy.Min) for b in a.args)]
    if not extrema:
        return [(expression, regime)]
    extremum = min(extrema, key=lambda a: (sympy.count_ops(a), sympy.default_sort_key(a)))
    found: list[tuple[sympy.Expr, Regime]] = []
    for chosen in extremum.args:
        others = [a for a in extremum.args if a != chosen]
        if isinstance(extremum, sympy.Max):
            more = tuple(sympy.Le(o, chosen, evaluate=False) for o in others)
        else:
            more = tuple(sympy.Le(chosen, o, evaluate=False) for o in others)
        number = sympy.S.One if chosen.is_number else chosen
        found += _cases(expression.xreplace({extremum: number}), (*regime, *more))
    return found
