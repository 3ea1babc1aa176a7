"""The letters of a claim as those of polynomials, each client's own among them, and the domain that its hypotheses say.

A letter has a sign that is declared, of the letter itself or of one that it is written by: others are not taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.settings.relations import Comparison
from verify.as_read.obligations import Ground
from verify.exact.symbolic import conjuncts
from verify.multipliers.case_letters import at_least
from verify.multipliers.clients import without
from verify.multipliers.domains import Domain
from verify.multipliers.ratios import Ratio, polynomials
from verify.reading.claimed import CodePath
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import Op
from verify.reading.worlds import ONE

#: The beginnings of letters of the world that are the least or the largest of the clients' numbers.
_EXTREME = (f"{Op.LEAST} ", f"{Op.MOST} ")


class GroundLetters:
    """The letters of one case of a claim: polynomials in them, and what is known of them.

    ``whose``: the client of a statement; its letters are those of any client (``mine``), or are not known.
    ``maxima``: letters that stand for maxima, with what they are at least.
    """

    def __init__(
        self, case: CodePath, about: Ground, whose: str | None, mine: bool, maxima: Mapping[sympy.Symbol, Any]
    ) -> None:
        self.case, self.about, self.whose, self.mine, self.maxima = case, about, whose, mine, maxima
        self.field = about.world.field
        #: Letters of polynomials, by name, and whether they are positive.
        self.signs: dict[str, bool] = {}
        #: Letters of the world by what they are: the name of one of polynomials, or a multiple of one and a number.
        self.made: dict[sympy.Symbol, tuple[str, Fraction, Fraction]] = {}
        #: Letters of the world that a hypothesis says to be a number.
        self.fixed: dict[sympy.Symbol, Fraction] = {}
        #: Letters of the world that a hypothesis writes by others.
        self.equal: dict[sympy.Symbol, Any] = {}
        #: Letters of the claim, by what they are in the world.
        self.elements: dict[sympy.Basic, Any] = {}
        self._name()

    def _name(self) -> None:
        world, names = self.about.world, self.about.names
        others: set[sympy.Basic] = set()
        # A parameter of the method and a constant of the class may have one name: they have those of the claim.
        shorts = Counter(_short(str(symbol)) for symbol in self.field.symbols)
        for symbol in self.field.symbols:
            generic = sympy.Symbol(without(str(symbol), self.whose)) if self.whose is not None else symbol
            letter = names[symbol]
            if generic != symbol:
                if self.mine:
                    self.elements[letter] = self.field(generic)
                else:
                    others.add(letter)
                continue
            self.elements[letter] = self.field(symbol)
            summed = symbol in world.sums.values() and sympy.Gt(letter, 0) in self.about.relations
            least = self._least(symbol)
            if letter.is_nonnegative or least is not None or summed:
                short = _short(str(symbol))
                name = str(letter) if str(symbol).startswith(_EXTREME) or shorts[short] > 1 else short
                self._sign(name, bool(letter.is_positive or least) or summed)
                self.made[symbol] = name, Fraction(1), Fraction(0)
        for letter, term in self.case.letters.items():
            if letter not in self.elements and letter not in others:
                value = evaluated(world, [term])[0]
                if set(value.of) <= {ONE}:
                    self._link(letter, value.of.get(ONE, self.field.zero))
        for relation in conjuncts(self.about.relations):
            if isinstance(relation, sympy.Eq):
                self._fix(relation)
                self._equate(relation)

    def _least(self, symbol: sympy.Symbol) -> bool | None:
        """Return True if numbers of the clients are positive, as the least of them is, False if nonnegative, None if
        neither.
        """
        own = {ONE: self.field(symbol)}
        signs = [(term, strict) for term, strict in self.case.signs]
        signs += [
            (term.of[0], bool(letter.is_positive))
            for letter, term in self.case.letters.items()
            if term.op is Op.LEAST and letter.is_nonnegative
        ]
        return max((strict for term, strict in signs if evaluated(self.about.world, [term])[0].of == own), default=None)

    def _link(self, letter: sympy.Expr, c: Any) -> None:
        """A letter of the claim that is made of letters of the world; one of them may have no known sign."""
        self.elements[letter] = c
        free = sorted(c.as_expr().free_symbols - set(self.made), key=str)
        if len(free) != 1 or c.denom != 1 or not letter.is_nonnegative:
            return
        whole = sympy.Poly(c.as_expr(), free[0])
        if whole.degree() == 1 and all(a.is_Rational for a in whole.all_coeffs()):
            a, b = (Fraction(int(v.p), int(v.q)) for v in whole.all_coeffs())
            self._sign(str(letter), bool(letter.is_positive))
            self.made[free[0]] = str(letter), 1 / a, -b / a

    def _fix(self, relation: sympy.Eq) -> None:
        """A letter of the claim that is a number, where it is made of one letter of the world."""
        for letter, number in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
            if letter not in self.elements or not number.is_Rational:
                continue
            c = self.elements[letter]
            free = sorted(c.as_expr().free_symbols, key=str)
            if len(free) != 1 or str(free[0]) in {"n", *self.about.world.indexed}:
                continue
            line = sympy.Poly(c.as_expr() - number, free[0]) if c.denom == 1 else None
            if line is not None and line.degree() == 1 and all(a.is_Rational for a in line.all_coeffs()):
                slope, rest = line.all_coeffs()
                self.fixed[free[0]] = Fraction(int(-rest.p), int(rest.q)) / Fraction(int(slope.p), int(slope.q))

    def _equate(self, relation: sympy.Eq) -> None:
        """A positive parameter of the method that an equation between letters of the claim writes by others."""
        difference = self._read(relation.lhs - relation.rhs)
        symbols = dict(zip(self.field.gens, self.field.symbols, strict=True))
        if difference is None:
            return
        for letter in sorted(relation.free_symbols, key=str):
            symbol = symbols.get(self.elements[letter])
            if not str(symbol).startswith(f"{Op.LETTER} "):
                continue
            line = sympy.Poly(difference.numer.as_expr(), symbol)
            others = line.free_symbols - {symbol}
            if line.degree() != 1 or not others or others & {*self.equal, *self.fixed} or not letter.is_positive:
                continue
            slope, rest = map(self.field.from_sympy, line.all_coeffs())
            if str(symbol) not in self.about.world.indexed and self.about.is_never_zero(slope):
                self.equal[symbol] = -rest / slope
                return

    def _read(self, expression: sympy.Expr) -> Any | None:
        """An expression in letters of the claim as an element of the field; None where it is not understood."""
        if not expression.free_symbols <= set(self.elements):
            return None
        try:
            return self.field.from_sympy(expression.xreplace({s: c.as_expr() for s, c in self.elements.items()}))
        except (ValueError, NotImplementedError, sympy.CoercionFailed, sympy.PolynomialError):
            return None

    def _put(self, c: Any) -> Any:
        """An element of the field with others in place of letters that are written by them."""
        free = c.as_expr().free_symbols & set(self.equal)
        return self.field.from_sympy(c.as_expr().xreplace({s: self.equal[s].as_expr() for s in free})) if free else c

    def _sign(self, name: str, positive: bool) -> None:
        if name in self.signs or "]" in name:
            raise Unread("two letters have one name")
        self.signs[name] = positive

    # Known signs of letters

    def signed(self) -> Iterator[tuple[Any, bool]]:
        """Elements of the field that are >= 0 (> 0 where marked so)."""
        least = [
            (term.of[0], bool(letter.is_positive))
            for letter, term in self.case.letters.items()
            if term.op is Op.LEAST and letter.is_nonnegative
        ]
        for term, strict in (*least, *self.case.signs):
            value = evaluated(self.about.world, [term])[0]
            if set(value.of) == {ONE}:
                yield value.of[ONE], strict
        for relation in conjuncts(self.about.relations):
            if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt | sympy.Eq):
                continue
            small, large = map(self._read, _sides(relation))
            if small is None or large is None:
                # Relations that are not understood are not assumed.
                continue
            strict = isinstance(relation, sympy.Lt | sympy.Gt)
            yield large - small, strict
            if isinstance(relation, sympy.Eq):
                yield small - large, False

    def _bounds(self) -> Iterator[tuple[Any, Any]]:
        """Letters that stand for maxima, with each of their fully known bounds."""
        for letter, bounds in self.maxima.items():
            for bound in bounds:
                c = self._read(bound)
                if c is not None and self._is_signed(c := self._put(c)):
                    yield self.elements[letter], c

    def domain(self, coefficients: Iterable[Any]) -> Space:
        """The letters that occur, and those on which these depend, as far as the claim allows them."""
        used = {s for c in coefficients for s in c.as_expr().free_symbols}
        used = {s for symbol in used for s in self._put(self.field(symbol)).as_expr().free_symbols}
        numbers = [*self.signed(), *((self.field(symbol), True) for symbol in self.equal)]
        known = [(put, strict) for c, strict in numbers if self._is_signed(put := self._put(c))]
        bounds = list(self._bounds())
        before = None
        while before != used:
            before = set(used)
            for c in (*(c for c, _ in known), *(top - bound for top, bound in bounds)):
                free = c.as_expr().free_symbols
                if free & used:
                    used |= free
        used -= set(self.fixed)
        if unsigned := sorted(map(str, used - set(self.made))):
            raise Unread(f"the sign of {unsigned[0]} is not known")
        names = tuple(name for name in self.signs if any(self.made[s][0] == name for s in used))
        allowed = used | set(self.fixed)
        numbers = [(c, strict) for c, strict in known if c.as_expr().free_symbols <= allowed]
        return Space(self, names, numbers, [(top, bound) for top, bound in bounds if top.as_expr() in allowed])

    def _is_signed(self, c: Any) -> bool:
        return set(c.as_expr().free_symbols) <= set(self.made)


def without_maxima(comparisons: Iterable[Comparison]) -> tuple[dict[sympy.Symbol, sympy.Expr], list[Comparison]]:
    """Return the letters that stand for maxima, and the comparisons written with them: 1 - min(a, b) is max(1 - a, 1 -
    b).

    Raise ``Unread`` if a maximum is taken of others.
    """
    found: dict[sympy.Expr, sympy.Symbol] = {}

    def put(e: sympy.Expr) -> sympy.Expr:
        e = e.replace(lambda a: isinstance(a, sympy.Min), lambda a: 1 - sympy.Max(*(1 - b for b in a.args)))
        for maximum in sorted(e.atoms(sympy.Max), key=str):
            if any(bound.has(sympy.Max) for bound in maximum.args):
                raise Unread("a maximum is taken of others")
            found.setdefault(maximum, sympy.Symbol(f"max {len(found)}", nonnegative=True))
        return e.xreplace(found)

    without = [c._replace(left=put(c.left), right=put(c.right)) for c in comparisons]
    return {letter: maximum for maximum, letter in found.items()}, without


class Space:
    """Polynomials in some letters, and where these may be. ``branches``: of the letters that stand for maxima, by their
    places, the bounds."""

    def __init__(
        self,
        letters: GroundLetters,
        names: tuple[str, ...],
        signed: list[tuple[Any, bool]],
        bounds: list[tuple[Any, Any]],
    ) -> None:
        self.ring = polynomials(names)
        # A ring has a letter, if none occurs.
        self.names = tuple(map(str, self.ring.names()))
        unit = self.ring.constant(1)
        one = self.one = Ratio(unit, unit)
        gens = {name: Ratio(g, unit) for name, g in zip(names, self.ring.gens(), strict=False)}
        self._images = {
            s: gens[name] * factor + shift for s, (name, factor, shift) in letters.made.items() if name in gens
        }
        self._images |= {s: one * value for s, value in letters.fixed.items()}
        self._symbols = letters.field.symbols
        for symbol, c in letters.equal.items():
            if c.as_expr().free_symbols <= set(self._images):
                self._images[symbol] = self.ratio(c)
        indexed = letters.about.world.indexed
        #: The places of letters that each client has of its own.
        self.own = frozenset(
            names.index(name) for s, (name, _, _) in letters.made.items() if str(s) in indexed and name in names
        )
        domain = Domain(self.ring, frozenset(k for k, name in enumerate(names) if letters.signs[name]))
        count = self._images.get(sympy.Symbol("n"))
        if count is not None:
            domain = at_least(domain, count - 1, False)
        for c, strict in signed:
            if (difference := self.ratio(c)).letters():
                domain = at_least(domain, difference, strict)
        self.branches: dict[int, tuple[Ratio, ...]] = {}
        for top, bound in ((self.ratio(top), self.ratio(bound)) for top, bound in bounds):
            if not domain.never_zero(bound.den):
                raise Unread(f"it is divided by {bound.den}, which may be zero")
            (place,) = top.letters()
            domain = at_least(domain, top - bound, False, place)
            self.branches[place] = (*self.branches.get(place, ()), bound)
        self.domain = domain

    def ratio(self, c: Any) -> Ratio:
        """An element of the field."""
        num, den = self._polynomial(c.numer), self._polynomial(c.denom)
        return num / den

    def _polynomial(self, p: Any) -> Ratio:
        total = self.one * 0
        for monomial, number in p.terms():
            term = self.one * Fraction(int(number.numerator), int(number.denominator))
            for symbol, power in zip(self._symbols, monomial, strict=True):
                if power:
                    term = term * self._images[symbol] ** power
            total = total + term
        return total


def nonzero(space: Space, ratios: Iterable[Ratio]) -> None:
    """``Unread`` where a denominator is not shown to be nonzero."""
    for den in {str(r.den): r.den for r in ratios}.values():
        if not space.domain.never_zero(den):
            raise Unread(f"it is divided by {den}, which may be zero")


def _sides(relation: Any) -> tuple[sympy.Expr, sympy.Expr]:
    """The smaller and the larger side."""
    return (relation.lhs, relation.rhs) if isinstance(relation, sympy.Eq) else (relation.lts, relation.gts)


def _short(symbol: str) -> str:
    """The name of a letter without what it is of."""
    for kind in (Op.LETTER, Op.GIVEN):
        symbol = symbol.removeprefix(f"{kind} ")
    return symbol
