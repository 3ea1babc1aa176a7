"""The letters of a claim as they stand in a program: the ring of polynomials in them, and which of them are allowed.

All of it comes from the claim: its class, its domain and its hypotheses. A hypothesis that is not understood is not
assumed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.classes.base import S
from fedtheory.settings.relations import Comparison
from verify.exact.symbolic import assumed, conjuncts
from verify.multipliers.cases import FunctionCase, OfTwoParts, at_most_one, stated
from verify.multipliers.domains import Domain
from verify.multipliers.forms import ProductSum
from verify.multipliers.ratios import Ratio, coefficients, degree, from_terms, polynomials, substituted
from verify.multipliers.reasons import Reason, RootLetter, Stated
from verify.reading.declarations import declarations
from verify.reading.source import Unread
from verify.reading.terms import Op, Term
from verify.reading.worlds import ONE, World, WorldValue

#: Letters that are reserved for maxima in a statement, and for square roots.
MAXIMA, ROOTS = 6, 2
#: The beginning of the names of letters that stand for square roots in the code.
_ROOT = f"{Op.ROOT} "


class CaseLetters:
    """The letters of one case. ``terms``: what letters of the claim stand for, where it is known; ``without``:
    symbols of the world that stand in no value."""

    def __init__(
        self,
        claim: Claim,
        case: FunctionCase,
        world: World,
        terms: Sequence[tuple[sympy.Expr, Term]],
        without: Iterable[str],
    ) -> None:
        self.claim, self.case, self.setting, self.terms = claim, case, claim.setting, terms
        self.symbols = [str(s) for s in world.field.symbols]
        left_out = set(without)
        self.kept = [s for s in self.symbols if not s.startswith("sum ") and s not in left_out]
        spare = (*(f"max {k}" for k in range(MAXIMA)), *(f"root {k}" for k in range(ROOTS)))
        rooted = {s: f"root {ROOTS + k}" for k, s in enumerate(s for s in self.kept if s.startswith(_ROOT))}
        self.names = (*(rooted.get(s) or _short(s) for s in self.kept), *spare)
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise Unread(f"params.{twice} has the name of a constant of the problem: write problem.{twice} for it")
        self.ring = polynomials(self.names)
        self.one = Ratio(self.ring.constant(1), self.ring.constant(1))
        #: Letters that are eliminated, in terms of others; square roots; and for letters that are one less a root of
        #: one less another letter, that letter.
        self.eliminated: dict[int, Ratio] = {}
        self.roots: list[Ratio] = []
        self.apart: dict[int, int] = {}
        #: What letters are at least the square roots of, and which of these letters are positive.
        self.above: list[tuple[Ratio, Ratio]] = []
        self.nonzero: set[int] = set()
        self.env: dict[sympy.Expr, Ratio] = {}
        #: The letters by what is known of them before roots are.
        self.plain: Domain | None = None

    def generator(self, i: int) -> Ratio:
        """A letter, by its place."""
        return Ratio(self.ring.gen(i), self.ring.constant(1))

    def maximum(self, k: int) -> int:
        """The place of the letter for a maximum."""
        if k == MAXIMA:
            raise Unread(f"there are more than {MAXIMA} maxima")
        return len(self.kept) + k

    def converted(self, c: Any) -> Ratio:
        """A coefficient of the world."""
        parts = []
        for p in (c.numer, c.denom):
            found = {}
            for monomial, number in p.terms():
                powers = dict(zip(self.symbols, monomial, strict=True))
                if any(k for s, k in powers.items() if s not in self.kept):
                    raise Unread("a sum of numbers over the clients is not supported here")
                exponents = (*(powers[s] for s in self.kept), *([0] * (MAXIMA + ROOTS)))
                found[exponents] = Fraction(int(number.numerator), int(number.denominator))
            parts.append(from_terms(self.ring, found))
        return self.reduced(Ratio.of(*parts))

    def number(self, value: WorldValue) -> Ratio:
        """A number that depends on letters alone."""
        if not set(value.of) <= {ONE}:
            raise Unread("a number depends on vectors")
        return self.converted(value.of[ONE]) if value.of else self.one * 0

    def reduced(self, ratio: Ratio) -> Ratio:
        """Return a quotient with the eliminated letters replaced."""
        try:
            return substituted(ratio, self.eliminated) if self.eliminated else ratio
        except ZeroDivisionError as error:
            raise Unread("a divisor is zero here") from error

    # Which are allowed

    def domain(
        self,
        values: Mapping[sympy.Expr, WorldValue],
        own: set[int],
        rooted: Mapping[str, WorldValue],
        positive: Collection[int] = (),
    ) -> Domain:
        """The letters that the claim allows.

        ``values``: of the letters of the claim that are known; ``own``: places of more letters that are nonnegative,
        ``positive``: that are positive; ``rooted``: of what letters of the world are square roots.
        """
        place = {name: k for k, name in enumerate(self.names)}
        signs = self._signs(place, own) | dict.fromkeys(positive, True)
        if missing := [n for k, n in enumerate(map(_short, self.kept)) if n != "d" and k not in signs]:
            raise Unread(f"the sign of {missing[0]} is not known")
        domain = Domain(self.ring, frozenset(k for k, strict in signs.items() if strict))
        if self.case.single or self.case.alone:
            self.eliminated[place["n"]] = self.one
        if self.case.equal:
            self.eliminated[place["mu"]] = self.generator(place["L"])
        self.env = {letter: self.number(value) for letter, value in values.items()}
        for p, by in self.case.parts:
            if by == "=" and not self._solved(self.reduced(Ratio(p, self.ring.constant(1))), domain):
                raise Unread(f"no letter is determined by {p} = 0")
        domain = self._parted(domain)
        relations = [part for relation in conjuncts(assumed(self.claim)) for part in _without_extremes(relation)]
        # Where a root in a hypothesis is none of a real number, it is not met.
        plain = self._limited(domain, [relation for relation in relations if not _has_root(relation)])
        self.plain = self._of_class(plain, place)
        self._find_roots(relations)
        for symbol, value in rooted.items():
            radicand = self.reduced(self.number(value))
            if self._known_root(radicand) is None and plain.ratio_sign(radicand) is None:
                raise Unread("the code takes the square root of a number that is not known to be nonnegative")
            self._eliminate(self.kept.index(symbol), self._root(radicand))
        self._find_roots(side for c in self.claim.statement.comparisons for side in (c.left, c.right))
        for relation in relations:
            if isinstance(relation, sympy.Eq):
                self._equation(relation, domain)
        self.env = {letter: self.reduced(value) for letter, value in self.env.items()}
        apart = {i for i, k in self.apart.items() if k in domain.positive}
        domain = self._parted(Domain(self.ring, domain.positive | apart | self.nonzero))
        for radicand, root in self.above:
            domain = at_least(domain, root**2 - self.reduced(radicand), False)
        for i in self.apart:
            domain = at_least(domain, 1 - self.generator(i), False)
        several = self.case.alone is False
        domain = at_least(domain, self.reduced(self.generator(place["n"])) - 1, several)
        for letter, term in self.terms:
            if letter.is_integer and letter.is_positive and term.op is Op.LETTER:
                # Whole numbers.
                domain = at_least(domain, self.reduced(self.generator(place[str(term.data)])) - 1, False)
        of = self.setting.functions
        domain = self._of_class(domain, place)
        bounds = declarations(of).bounds
        if bounds is not None and bounds.least == -S and stated(self.claim, of):
            least, largest = (self.generator(place[c]) for c in (str(S), "L"))
            domain = at_least(domain, self.reduced(largest - least), False)
        # Letters that are written by others keep their signs.
        for k, replacement in self.eliminated.items():
            if k in signs:
                domain = at_least(domain, replacement, signs[k])
        return self._of_adversaries(self._limited(domain, relations), place)

    def _of_adversaries(self, domain: Domain, place: Mapping[str, int]) -> Domain:
        """The letters for which mixing matrices with such gaps exist, and compressors that contract so far."""
        for name in at_most_one(self.claim):
            if name in place:
                rest = 1 - self.reduced(self.generator(place[name]))
                within = domain if domain.ratio_sign(rest) is not None else at_least(domain, rest, False)
                # More is shown without it, where the letters within it are not shown to be limits of others.
                domain = within if within.is_regular() or not domain.is_regular() else domain
        return domain

    def _of_class(self, domain: Domain, place: Mapping[str, int]) -> Domain:
        """The letters for which the class has functions."""
        of = self.setting.functions
        if self.case.equal is True or of is None or of.ends is None or not stated(self.claim, of):
            return domain
        strict = self.case.equal is False
        return at_least(domain, self.reduced(self.generator(place["L"]) - self.generator(place["mu"])), strict)

    def _parted(self, domain: Domain) -> Domain:
        """The part of a domain where the polynomials are positive that are so in this case."""
        for p, by in self.case.parts:
            letters = {i for i in range(len(self.kept)) if by == ">" and p == self.ring.gen(i)}
            if letters:
                domain = Domain(self.ring, domain.positive | letters, domain.constraints, domain.bounded)
            elif by != "=":
                domain = at_least(domain, self.reduced(Ratio(p, self.ring.constant(1))), by == ">")
        return domain

    def _limited(self, domain: Domain, relations: list[sympy.Rel]) -> Domain:
        """The part of a domain where one side of each relation is at most the other, or below it."""
        for relation in relations:
            if isinstance(relation, sympy.Eq):
                continue
            strict = isinstance(relation, sympy.StrictLessThan | sympy.StrictGreaterThan)
            try:
                small, large = (self._plain(side) for side in (relation.lts, relation.gts))
            except Unread:
                # Relations that are not understood are not assumed.
                continue
            domain = at_least(domain, large - small, strict)
        return domain

    def _signs(self, place: Mapping[str, int], own: set[int]) -> dict[int, bool]:
        """Return the places of nonnegative letters, each with True if the letter is positive."""
        found = {place["n"]: True}
        for letter, term in self.terms:
            if term.op in (Op.LETTER, Op.GIVEN) and letter.is_nonnegative:
                k = place[str(term.data)]
                found[k] = found.get(k, False) or bool(letter.is_positive)
        roots = {k for k, s in enumerate(self.kept) if s.startswith(_ROOT)}
        return dict.fromkeys(own | roots, False) | found

    def _eliminate(self, i: int, replacement: Ratio) -> None:
        self.eliminated = {k: substituted(v, {i: replacement}) for k, v in self.eliminated.items()}
        self.eliminated[i] = replacement
        self.env = {letter: self.reduced(value) for letter, value in self.env.items()}

    def _equation(self, relation: sympy.Eq, domain: Domain) -> None:
        """Eliminate a letter that a relation equates to others, or for which it has one solution.

        ``domain``: the letters by their signs.
        """
        for one, other in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
            value = self.env.get(one) if one.is_Symbol else None
            if value is None or value.den != 1 or len(value.num) != 1 or value.num.total_degree() != 1:
                continue
            (i,) = value.letters()
            if value.num != self.ring.gen(i) or i in self.eliminated:
                continue
            try:
                replacement = self.reduced(self._plain(other))
            except Unread:
                continue
            if i not in replacement.letters():
                self._eliminate(i, replacement)
                return
        try:
            difference = self.reduced(self._plain(relation.lhs) - self._plain(relation.rhs))
        except Unread:
            return
        self._solved(difference, domain)

    def _solved(self, difference: Ratio, domain: Domain) -> bool:
        """Solve ``difference`` = 0 for a letter, which is eliminated. Return True if that succeeds."""
        left = [factor for factor, _ in difference.num.factor()[1] if not domain.never_zero(factor)]
        for i in sorted(k for k in difference.letters() if k < len(self.kept)) if len(left) == 1 else ():
            if degree(left[0], i) == 1:
                slope, rest = coefficients(left[0], i)[1], coefficients(left[0], i).get(0, self.ring.constant(0))
                if domain.never_zero(slope):
                    self._eliminate(i, Ratio.of(-rest, slope))
                    return True
        return False

    # Square roots

    def _find_roots(self, expressions: Iterable[sympy.Basic]) -> None:
        """Letters for the square roots in hypotheses, or in the statement."""
        found = {radicand for e in expressions for radicand in _radicands(e)}
        for base in sorted(found, key=sympy.default_sort_key):
            try:
                self._evaluated_root(base)
            except Unread:
                continue

    def _evaluated_root(self, base: sympy.Expr) -> Ratio:
        return self._root(self.reduced(self._plain(base)))

    def _root(self, radicand: Ratio) -> Ratio:
        """The square root, by a letter by which another is written, of which the radicand is made.

        Where the radicand is negative there is no root, and nothing is claimed: roots may be any that are nonnegative.
        """
        if (known := self._known_root(radicand)) is not None:
            return known
        if (plain := self._of_square(radicand)) is not None:
            return plain
        if len(self.roots) == ROOTS:
            raise Unread(f"there are more than {ROOTS} square roots")
        i, rest = len(self.names) - ROOTS + len(self.roots), 1 - radicand
        slopes: list[tuple[int, Any]] = []
        for k in sorted(radicand.letters() - set(self.eliminated)):
            slope = coefficients(radicand.num, k).get(1, self.ring.constant(0))
            if k >= len(self.kept) or degree(radicand.num, k) != 1 or degree(radicand.den, k):
                continue
            if not slope.is_constant():
                slopes.append((k, slope))
                continue
            if (rest - self.generator(k)).is_zero:
                # x = t (2 - t), and the root of 1 - x is 1 - t, for t <= 1: so x > 0 where t > 0.
                root = 1 - self.generator(i)
                replacement = self.generator(i) * (2 - self.generator(i))
                self.apart[i] = k
            else:
                root, replacement = self._by_root(i, radicand, k, slope)
            self.roots.append(root)
            self._eliminate(k, replacement)
            return root
        for k, slope in slopes:
            if self.plain is not None and self.plain.never_zero(slope):
                root, replacement = self._by_root(i, radicand, k, slope)
                self.roots.append(root)
                self._eliminate(k, replacement)
                return root
        for _, slope in slopes:
            self._check_parts(slope)
        if not self._by_quotient(i, radicand):
            # Any number that is at least the root: what holds for all of these holds for the root.
            self._check_parts(radicand.num)
            self.above.append((radicand, self.generator(i)))
            self._note_positive(i, radicand)
        self.roots.append(self.generator(i))
        return self.generator(i)

    def _by_root(self, i: int, radicand: Ratio, k: int, slope: Any) -> tuple[Ratio, Ratio]:
        """The letter for a root, and what another letter is that by ``slope`` times it is in the radicand."""
        root = self.generator(i)
        self._note_positive(i, radicand)
        below, other = (
            Ratio(p, self.ring.constant(1)) for p in (radicand.den, radicand.num - slope * self.ring.gen(k))
        )
        return root, (root**2 * below - other) / Ratio(slope, self.ring.constant(1))

    def _note_positive(self, i: int, radicand: Ratio) -> None:
        """The root of a number that is nowhere zero is positive."""
        if self.plain is not None and self.plain.never_zero(radicand.num):
            self.nonzero.add(i)
            known = self.plain
            self.plain = Domain(self.ring, known.positive | {i}, known.constraints, known.bounded)

    def _by_quotient(self, i: int, radicand: Ratio) -> bool:
        """Eliminate a letter x by the root r of (a x + b)/(c x + e): it is (b - e r^2)/(c r^2 - a). Return True if that
        succeeds."""
        square, zero = self.ring.gen(i) ** 2, self.ring.constant(0)
        for k in sorted(radicand.letters() - set(self.eliminated)):
            if k < len(self.kept) and degree(radicand.num, k) == degree(radicand.den, k) == 1:
                (a, b), (c, e) = (
                    (of[1], of.get(0, zero)) for of in (coefficients(radicand.num, k), coefficients(radicand.den, k))
                )
                if self.plain is not None and self.plain.never_zero(c * square - a):
                    self._eliminate(k, Ratio.of(b - e * square, c * square - a))
                    return True
        return False

    def _check_parts(self, slope: Any) -> None:
        """:class:`OfTwoParts` where all but one factor of a polynomial are nowhere zero, and that one has a sign."""
        if self.plain is None:
            return
        left = [factor for factor, _ in slope.factor()[1] if not self.plain.never_zero(factor)]
        sign = next((s for s in (1, -1) if len(left) == 1 and self.plain.sign(left[0] * s) is not None), 0)
        if sign:
            raise OfTwoParts((left[0] * sign, "="), (left[0] * sign, ">"))

    def _of_square(self, radicand: Ratio) -> Ratio | None:
        """The root of a square of a quotient whose sign is known; None of anything else."""
        parts = []
        for p in (radicand.num, radicand.den):
            c, factors = (p, []) if p.is_constant() else p.factor()
            number = Fraction(int(c.p), int(c.q)) if not p.is_constant() else _constant(p)
            ends = [math.isqrt(abs(v)) for v in (number.numerator, number.denominator)]
            if number < 0 or Fraction(ends[0] ** 2, ends[1] ** 2) != number or any(power % 2 for _, power in factors):
                return None
            of = self.ring.constant(1)
            for factor, power in factors:
                of = of * factor ** (int(power) // 2)
            parts.append((Fraction(*ends), of))
        (up, num), (down, den) = parts
        root = Ratio.of(num, den) * (up / down)
        if root.is_zero:
            return root
        if self.plain is None:
            return None
        known = self.plain
        for t in self.apart:
            known = at_least(known, 1 - self.generator(t), False)
        sign = next((s for s in (1, -1) if known.ratio_sign(root * s) is not None), 0)
        return root * sign if sign else None

    def meanings(self) -> Iterator[Reason]:
        """Yield the meanings of letters that are written by square roots, and of those that are at least one."""
        roots = range(len(self.names) - ROOTS, len(self.names))
        for i, replacement in self.eliminated.items():
            if i < len(self.kept) and not self.names[i].startswith("root ") and replacement.letters() & set(roots):
                yield RootLetter(self.names[i], replacement, self.names)
        for radicand, root in self.above:
            yield Stated(f"{root} is any number that is at least the square root of {self.reduced(radicand)}")

    def _known_root(self, radicand: Ratio) -> Ratio | None:
        above = (root for known, root in self.above if (radicand - self.reduced(known)).is_zero)
        return next((root for root in self.roots if (radicand - root**2).is_zero), None) or next(above, None)

    # Expressions

    def _plain(self, expression: sympy.Expr) -> Ratio:
        """The value of an expression without maxima in letters."""
        found = self.evaluated(expression, self.env)
        if not isinstance(found, Ratio):
            raise Unread(f"{expression} is not a number")
        return found

    def parts_of(self, comparison: Comparison) -> Iterator[Ratio]:
        """Numbers that factors in the two sides of a comparison are made of."""
        for e in sympy.preorder_traversal(comparison.left - comparison.right):
            if e.is_Add or (e.is_Pow and e.exp.is_Integer):
                try:
                    yield self.reduced(self._plain(e.base if e.is_Pow else e))
                except Unread:
                    continue

    def evaluated(self, e: sympy.Expr, env: Mapping[Any, Any]) -> Any:
        """Return the value of an expression, a number or a form. Raise ``Unread`` if it is not a rational function."""
        if e in env:
            return env[e]
        if e.is_Rational:
            return self.one * Fraction(int(e.p), int(e.q))
        if e.is_Mul and len(halves := [a for a in e.args if _is_half(a)]) > 1:
            # Roots of numbers with common factors are taken together.
            rest = [self.evaluated(a, env) for a in e.args if a not in halves]
            parts = [self._evaluated_root(_radicand(halves)), *rest]
            return math.prod(sorted(rest, key=lambda part: isinstance(part, ProductSum)), start=parts[0])
        if e.is_Add or e.is_Mul:
            parts = [self.evaluated(a, env) for a in e.args]
            # Numbers first, so that forms are multiplied by them.
            parts.sort(key=lambda part: isinstance(part, ProductSum))
            total = parts[0]
            for part in parts[1:]:
                total = _sum(total, part) if e.is_Add else part * total
            return total
        if e.is_Pow and e.exp.is_Rational and e.exp.q <= 2:
            base = self.evaluated(e.base, env) if e.exp.q == 1 else self._evaluated_root(e.base)
            if isinstance(base, Ratio) and not (base.is_zero and e.exp < 0):
                return base ** int(e.exp * e.exp.q)
        if isinstance(e, sympy.Abs):
            size = self._plain(e.args[0])
            if (known := self._of_square(size * size)) is not None:
                return known
        raise Unread(f"{e} is not a rational function of what is known")


def at_least(domain: Domain, difference: Ratio, strict: bool, bounds: int | None = None) -> Domain:
    """The domain where a quotient is >= 0 (> 0)."""
    num, den = difference.num, difference.den
    if domain.sign(den, True) is None:
        num = -num if domain.sign(-den, True) is not None else num * den
    return domain.with_constraint(num, strict, bounds)


def _without_extremes(relation: sympy.Rel) -> Iterator[sympy.Rel]:
    """A relation; of one that says a side to be the least or the most of several, that it is at most each of them, or
    at least, where these are no roots."""
    for one, other in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
        if isinstance(relation, sympy.Eq) and isinstance(other, sympy.Min | sympy.Max):
            by = sympy.Le if isinstance(other, sympy.Min) else sympy.Ge
            parts = (by(one, bound, evaluate=False) for bound in other.args)
            yield from (part for part in parts if not _has_root(part) and not part.has(sympy.Min, sympy.Max))
            return
    yield relation


def _is_half(e: sympy.Basic) -> bool:
    """Return True if e is a power with the exponent k/2, k odd."""
    return bool(e.is_Pow and e.exp.is_Rational and e.exp.q == 2)


def _radicand(halves: Iterable[sympy.Expr]) -> sympy.Expr:
    """Return the radicand of a product of roots."""
    return sympy.Mul(*(a.base ** (2 * a.exp) for a in halves))


def _radicands(e: sympy.Basic) -> Iterator[sympy.Expr]:
    """Yield the radicands of the square roots in an expression, those of a product taken together."""
    halves = [a for a in e.args if _is_half(a)] if isinstance(e, sympy.Mul) else []
    if len(halves) > 1:
        yield _radicand(halves)
    elif _is_half(e):
        yield e.base
    for part in e.args:
        inner = part.base if len(halves) > 1 and part in halves else part
        yield from _radicands(inner)


def _constant(p: Any) -> Fraction:
    """The number that a constant polynomial is."""
    if p == 0:
        return Fraction(0)
    c = p.leading_coefficient()
    return Fraction(int(c.p), int(c.q))


def _has_root(relation: sympy.Rel) -> bool:
    return any(p.exp.is_Rational and p.exp.q == 2 for p in relation.atoms(sympy.Pow))


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, ProductSum) is not isinstance(other, ProductSum):
        form, number = (one, other) if isinstance(one, ProductSum) else (other, one)
        return form + ProductSum.number(number)
    return one + other


def _short(symbol: str) -> str:
    """The name of a letter without what it is of."""
    for kind in (Op.LETTER, Op.GIVEN):
        symbol = symbol.removeprefix(f"{kind} ")
    return symbol
