"""Restrict what sympy may rewrite; every other expression becomes a new symbol.

Sympy takes a sum with reversed limits for minus another sum, and a power with an unknown exponent for a generator of
polynomials. Here an empty sum is 0 and an empty product 1, as where a statement is evaluated. So sympy sees only what
is made of letters by addition, multiplication, rational powers, maxima and absolute values; everything else is a new
symbol, known only to be real and to have the sign that was shown.

All this assumes that the expression is a real number, which a proof shows separately
(:func:`verify.exact.reals.undefined_part`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy

from fedtheory.numbers.rational import evaluate
from fedtheory.numbers.sums import terms_of

#: The functions that sympy may rewrite if it may rewrite their arguments; powers with rational exponents besides.
_REWRITTEN = (sympy.Add, sympy.Mul, sympy.Max, sympy.Min, sympy.Abs)
#: Degree of a polynomial in the index that is summed, at most.
_DEGREE = 12

#: Returns True if an expression is shown to be nonnegative at all values of its symbols.
Shown = Callable[[sympy.Expr], bool]


def rewritable(e: sympy.Expr, nonnegative: Shown) -> sympy.Expr:
    """An expression that equals ``e`` wherever that is a real number and its new symbols are what they stand for.

    ``nonnegative`` decides whether the ends of a sum are in order: only then is it rewritten. Its indices are no
    letters (:func:`fedtheory.numbers.sums.own_indices`).
    """
    return _Rewriting(nonnegative).of(e)


class _Rewriting:
    def __init__(self, nonnegative: Shown) -> None:
        self._nonnegative = nonnegative
        self._seen: dict[sympy.Expr, sympy.Expr] = {}
        self._symbols: dict[sympy.Expr, sympy.Dummy] = {}

    def of(self, e: sympy.Expr) -> sympy.Expr:
        """The same with new symbols; the same symbol for the same expression."""
        if e not in self._seen:
            self._seen[e] = self._made(e)
        return self._seen[e]

    def _made(self, e: sympy.Expr) -> sympy.Expr:
        if e.is_Rational or e.is_Symbol:
            return e
        if isinstance(e, sympy.Sum | sympy.Product):
            return self._repeated(e)
        parts = tuple(map(self.of, e.args))
        same = e if parts == e.args else e.func(*parts)
        if isinstance(e, _REWRITTEN) or (isinstance(e, sympy.Pow) and e.exp.is_Rational):
            return same
        if same.is_number and same.is_real and same.is_finite:
            return same
        return self._power(*parts) if isinstance(e, sympy.Pow) else self._symbol(same)

    def _symbol(self, e: sympy.Expr, nonnegative: bool = False, positive: bool = False) -> sympy.Dummy:
        """Return the symbol for an expression that is not rewritten, with the sign of that expression."""
        if e not in self._symbols:
            of_sums = e.has(sympy.Sum, sympy.Product)
            if positive or (not of_sums and e.is_positive):
                known = {"positive": True}
            elif nonnegative or (not of_sums and e.is_nonnegative):
                known = {"nonnegative": True}
            else:
                known = {} if of_sums or not e.is_nonpositive else {"nonpositive": True}
            self._symbols[e] = sympy.Dummy("of", real=True, **known)
        return self._symbols[e]

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        """b^(2n + 1) is (b^n)^2 b where b is positive, or the terms of the exponent are integers and not negative."""
        terms = sympy.Add.make_args(exponent)
        if not (base.is_positive or all(t.is_integer and t.is_nonnegative for t in terms)):
            return self._symbol(sympy.Pow(base, exponent, evaluate=False))
        found = sympy.S.One
        for term in terms:
            c, rest = term.as_coeff_Mul()
            if rest is sympy.S.One:
                found *= base**c
            elif c.is_integer and (base.is_positive or (rest.is_integer and rest.is_nonnegative)):
                found *= self._symbol(sympy.Pow(base, rest, evaluate=False)) ** c
            else:
                found *= self._symbol(sympy.Pow(base, term, evaluate=False))
        return found

    def _repeated(self, e: sympy.Sum | sympy.Product) -> sympy.Expr:
        """A sum or product: what it is where that is known, else a symbol."""
        if not e.free_symbols:
            value = _number(e)
            return self._opaque(e) if value is None else value
        index, low, high = e.limits[0]
        count = high - low + 1
        ordered = self._nonnegative(count)
        if isinstance(e, sympy.Product):
            constant = ordered and index not in e.function.free_symbols
            return self.of(sympy.Pow(e.function, count)) if constant else self._opaque(e)
        total = sympy.S.Zero
        for term in sympy.Add.make_args(sympy.expand_mul(e.function)):
            factor, rest = term.as_independent(index, as_Add=False)
            power = 0 if rest is sympy.S.One else rest.exp if rest.is_Pow and rest.base == index else 1
            plain = rest in (sympy.S.One, index) or (rest.is_Pow and rest.base == index)
            if ordered and plain and power in range(_DEGREE):
                total += self.of(factor) * _sum_of_powers(int(power), self.of(low), self.of(high))
            else:
                ends = map(sympy.expand, (low, high))
                total += self.of(factor) * self._opaque(sympy.Sum(rest, (index, *ends)))
        return total

    def _opaque(self, e: sympy.Sum | sympy.Product) -> sympy.Expr:
        """A symbol for a sum or product, of nonnegative terms where that is shown; of nothing they are 0 and 1."""
        inner = rewritable(terms_of(e)[0], self._nonnegative)
        terms = sympy.Add.make_args(inner)
        nonnegative = all(t.is_nonnegative for t in terms)
        positive = nonnegative and any(t.is_positive for t in terms)
        return self._symbol(e, nonnegative, isinstance(e, sympy.Product) and positive)


def _number(e: sympy.Sum | sympy.Product) -> sympy.Rational | None:
    """Return the value of a sum or product without letters, or None if it is not rational or not computed."""
    try:
        value = evaluate(e, {})
    except (ValueError, ArithmeticError):
        return None
    return sympy.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else None


def _sum_of_powers(power: int, low: sympy.Expr, high: sympy.Expr) -> sympy.Expr:
    """The sum of i^power over the integers from ``low`` to ``high``, where low <= high + 1."""
    x = sympy.Dummy()
    polynomial = sympy.bernoulli(power + 1, x)
    return (polynomial.subs(x, high + 1) - polynomial.subs(x, low)) / (power + 1)
