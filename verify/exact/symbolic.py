"""Proofs by sympy: relations between constants, reduced to the sign of polynomials with one sign of coefficients."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.sums import own_indices
from fedtheory.settings.relations import Comparison
from verify.exact.rewriting import rewritable

#: The degree of a sum that is factored, times the number of its symbols, is at most this.
FACTORED = 100


class Unfactored(ValueError):
    """A sum of so high a degree that it is not factored."""


def proves(claim: Claim) -> bool:
    """Return True if the steps below prove the claim for all values of its symbols; False proves nothing.

    Raise ``Unfactored`` if that would require factoring a sum of high degree.

    Each hypothesis ``symbol >= expression`` (or >) is removed by a slack variable, symbol = expression + s with s >= 0
    (or > 0); each ``symbol <= expression`` between positive ones by symbol = expression/(1 + s); each ``symbol =
    expression`` by substitution; and a positive integer becomes 1 + s. Other hypotheses are not used. Each difference
    is then factored, and is nonnegative if every factor is a square or has coefficients of one sign on nonnegative
    symbols.
    """
    statement = claim.statement
    if statement.scope not in (Scope.STATE, Scope.LETTERS):
        return False
    relations = assumed(claim)
    # Declarations about a quantity are not known of its code.
    unsigned = {q.expression: sympy.Dummy(str(q.expression), real=True) for q in statement.quantities}
    comparisons = [
        Comparison(c.left.xreplace(unsigned), c.relation, c.right.xreplace(unsigned)) for c in statement.comparisons
    ]
    return all(_holds(comparison, relations) for comparison in comparisons)


def assumed(claim: Claim) -> list[sympy.Basic]:
    """The relations that a claim requires, or that its setting says of the letters."""
    return [*claim.setting.domain, *(h.relation for h in claim.requires if h.relation is not None)]


def at_most(a: sympy.Expr, b: sympy.Expr, hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if a <= b is proved for all values of the symbols that meet the hypotheses, as in :func:`proves`."""
    return a == b or _follows(Comparison(a, "<=", b), hypotheses)


def below(a: sympy.Expr, b: sympy.Expr, hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if a < b is proved, as in :func:`at_most`."""
    return _follows(Comparison(a, "<", b), hypotheses)


def _follows(comparison: Comparison, hypotheses: Iterable[sympy.Basic]) -> bool:
    try:
        return _holds(comparison, hypotheses)
    except Unfactored:
        return False


def _holds(comparison: Comparison, hypotheses: Iterable[sympy.Basic]) -> bool:
    left, right = own_indices(comparison.left), own_indices(comparison.right)
    hypotheses, relation = [own_indices(h) for h in hypotheses], comparison.relation
    if relation == "==":
        return bool(sympy.simplify(_plain(left - right)) == 0)
    lefts = left.args if isinstance(left, sympy.Max) else (left,)
    rights = right.args if isinstance(right, sympy.Min) else (right,)
    return all(_is_signed(_with_slack(b - a, hypotheses), relation == "<") for a in lefts for b in rights)


def conjuncts(hypotheses: Iterable[sympy.Basic]) -> list[sympy.Rel]:
    """The relations among the hypotheses, with conjunctions split; others, such as an "or", are not used."""
    found: list[sympy.Rel] = []
    for hypothesis in hypotheses:
        if isinstance(hypothesis, sympy.And):
            found += conjuncts(hypothesis.args)
        elif isinstance(hypothesis, sympy.Rel):
            found.append(hypothesis)
    return found


def _with_slack(expression: sympy.Expr, hypotheses: Iterable[sympy.Basic]) -> sympy.Expr:
    """The expression on the set that the hypotheses allow, in slack symbols that are only nonnegative (or positive)."""
    # Between symbols first, so that what they leave behind can still be bounded by numbers.
    waiting = sorted(conjuncts(hypotheses), key=lambda r: not (r.lhs.is_Symbol and r.rhs.is_Symbol))
    for index, relation in enumerate(waiting):
        found = _solved(relation, index)
        if found is not None:
            expression = expression.subs(*found)
            waiting[index + 1 :] = [
                r.func(*(a.subs(*found) for a in r.args), evaluate=False) for r in waiting[index + 1 :]
            ]
    return _from_one(expression)


def _from_one(expression: sympy.Expr) -> sympy.Expr:
    """The expression with each positive integer as 1 + s."""
    whole = sorted((s for s in expression.free_symbols if s.is_integer and s.is_positive), key=str)
    return expression.subs({s: 1 + sympy.Dummy(f"slack_{s}", integer=True, nonnegative=True) for s in whole})


def _plain(expression: sympy.Expr) -> sympy.Expr:
    """The expression as sympy may rewrite it."""
    return rewritable(expression, _is_nonnegative)


def _is_nonnegative(expression: sympy.Expr) -> bool:
    """Return True if an expression is shown to be nonnegative by what is known of its symbols alone."""
    try:
        return _is_signed(_from_one(expression), False)
    except Unfactored:
        return False


def _solved(relation: sympy.Rel, index: int) -> tuple[sympy.Symbol, sympy.Expr] | None:
    """A symbol of the relation and what takes its place: a = b + s or a = b/(1 + s) with a slack s of one sign."""
    if isinstance(relation, sympy.Eq):
        coefficient, symbol = relation.lhs.as_coeff_Mul()
        free = symbol.is_Symbol and symbol not in relation.rhs.free_symbols
        return (symbol, relation.rhs / coefficient) if free else None
    if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        return None
    small, large = relation.lts, relation.gts
    sign = {"positive": True} if isinstance(relation, sympy.Lt | sympy.Gt) else {"nonnegative": True}
    slack = sympy.Dummy(f"slack_{index}", **sign)
    if large.is_Symbol and large not in small.free_symbols:
        return large, small + slack
    if small.is_Symbol and small.is_positive and large.is_positive and small not in large.free_symbols:
        return small, large / (1 + slack)
    return None


def _is_signed(expression: sympy.Expr, strict: bool) -> bool:
    """Return True if the expression is shown to be nonnegative (positive if ``strict``) under its symbols'
    assumptions.
    """
    expression = _plain(expression)
    together = sympy.together(expression)
    if _is_long(together):
        raise Unfactored(f"a difference of sides is not factored: its degree times its letters is beyond {FACTORED}")
    numerator, denominator = sympy.fraction(sympy.factor(together))
    if numerator != 0 and _product_is_positive(denominator, True) and _product_is_positive(numerator, strict):
        return True
    if strict or expression.is_rational_function():
        return not strict and numerator == 0
    # Factoring may not see that roots and exponentials cancel.
    return bool(sympy.simplify(expression) == 0)


def _is_long(quotient: sympy.Expr) -> bool:
    """Return True if a factor is a sum whose degree times the number of its symbols exceeds ``FACTORED``."""
    factors = (factor for part in sympy.fraction(quotient) for factor in sympy.Mul.make_args(part))
    sums = (f.base if f.is_Pow and f.exp.is_Integer else f for f in factors)
    return any(_degree(f) * len(f.free_symbols) > FACTORED for f in sums if f.is_Add)


def _degree(expression: sympy.Expr) -> int:
    """A bound on the degree of a polynomial; anything else has that of a symbol."""
    if expression.is_Add:
        return max(map(_degree, expression.args))
    if expression.is_Mul:
        return sum(map(_degree, expression.args))
    if expression.is_Pow and expression.exp.is_Integer:
        return abs(int(expression.exp)) * _degree(expression.base)
    return int(not expression.is_number)


def _product_is_positive(expression: sympy.Expr, strict: bool) -> bool:
    if expression.is_number:
        return bool(expression.is_positive or (not strict and expression.is_nonnegative))
    try:
        constant, factors = sympy.factor_list(expression)
    except sympy.PolynomialError:
        return False
    sign = 1 if constant > 0 else -1
    for factor, power in factors:
        if power % 2 == 0:
            if strict and not (_one_sign(factor, True) or _one_sign(-factor, True)):
                return False
        elif not _one_sign(factor, strict):
            if not _one_sign(-factor, strict):
                return False
            sign = -sign
    return sign > 0


def _one_sign(polynomial: sympy.Expr, strict: bool) -> bool:
    """Return True if every term is nonnegative by its symbols' assumptions and, if ``strict``, one of them
    is positive.
    """
    terms = sympy.Add.make_args(sympy.expand(polynomial))
    return all(t.is_nonnegative for t in terms) and (not strict or any(t.is_positive for t in terms))
