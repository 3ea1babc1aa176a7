"""Entries of arrays as sums of products: a number, the indices of the entry at which it stands, and indices that are
summed over.

The index of a place is a symbol, counted from the last axis. A number is an array without axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import sympy

#: The most axes of an array, the most terms of a sum, and the largest number that is written in an array.
AXES, TERMS, LARGEST = 3, 2000, 2**20
#: The indices of an entry, that of the last axis first.
PLACES = tuple(sympy.Dummy(f"i{k}", integer=True) for k in range(AXES))


class power(sympy.Function):
    """A power with an exponent that may be a letter, which is left as it is written; 0 to the power 0 is 1."""

    @classmethod
    def eval(cls, base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr | None:
        """Return a power whose exponent is an integer."""
        return base**exponent if exponent.is_Integer else None


class Place(NamedTuple):
    """A condition on whole numbers: that ``of`` is 0, or (``least``) that it is at least 0."""

    of: sympy.Expr
    least: bool

    def relation(self) -> sympy.Basic:
        """Return the condition as a relation."""
        return (sympy.Ge if self.least else sympy.Eq)(self.of, 0, evaluate=False)


class Range(NamedTuple):
    """The numbers that an index runs over: ``start``, ``start + step`` and so on, below ``stop``."""

    index: sympy.Symbol
    start: sympy.Expr
    stop: sympy.Expr
    step: sympy.Expr = sympy.S.One

    def holds(self) -> tuple[sympy.Basic, ...]:
        """Return what is known of the index."""
        return sympy.Ge(self.index, self.start, evaluate=False), sympy.Lt(self.index, self.stop, evaluate=False)


class Product(NamedTuple):
    """A number where conditions hold, and 0 elsewhere, summed over indices."""

    number: sympy.Expr
    where: frozenset[Place] = frozenset()
    over: tuple[Range, ...] = ()

    def put(self, values: Mapping[sympy.Symbol, sympy.Expr]) -> Product | None:
        """Return the product with values of symbols; None if it is 0."""
        where = set()
        for place in self.where:
            of = sympy.expand(place.of.xreplace(values))
            if not of.is_number:
                where.add(Place(of, place.least))
            elif not (of >= 0 if place.least else of == 0):
                return None
        over = (Range(r.index, *(part.xreplace(values) for part in r[1:])) for r in self.over)
        return Product(self.number.xreplace(values), frozenset(where), tuple(over))

    def renamed(self) -> Product:
        """Return the product with new names for the indices that are summed over."""
        names = {r.index: sympy.Dummy(r.index.name, integer=True) for r in self.over}
        found = self.put(names)
        assert found is not None
        return found._replace(over=tuple(r._replace(index=names[r.index]) for r in found.over))


@dataclass(frozen=True, eq=False)
class Grid:
    """An array. ``lengths``: of its axes; ``of``: the products whose sum an entry is; ``whole``: True if its entries
    are whole numbers, which in an array have 64 bits."""

    lengths: tuple[sympy.Expr, ...]
    of: tuple[Product, ...]
    whole: bool = False

    def __post_init__(self) -> None:
        if len(self.lengths) > AXES or len(self.of) > TERMS:
            raise ValueError(f"an array has more than {AXES} axes, or an entry more than {TERMS} terms")
        if self.whole and self.lengths and any(not _is_small(one.number) for one in self.of):
            raise ValueError("an array of integers may exceed 2^63 and wrap around")

    def number(self) -> sympy.Expr:
        """Return a number. Raise ``ValueError`` for an array, and for a sum that is not closed."""
        if self.lengths or any(one.where or one.over for one in self.of):
            raise ValueError("a number made of letters is expected")
        return sympy.Add(*(one.number for one in self.of))


def _is_small(number: sympy.Expr) -> bool:
    return bool(number.is_Integer) and abs(number) <= LARGEST


def number(value: Any, whole: bool | None = None) -> Grid:
    """Return a number as an array without axes."""
    found = sympy.sympify(value)
    return Grid((), (Product(found),) if found != 0 else (), bool(found.is_Integer) if whole is None else whole)


def is_same(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Return True if two lengths are equal for all letters."""
    return bool(sympy.expand(one - other) == 0)


def broadcast(*lengths: tuple[sympy.Expr, ...]) -> tuple[sympy.Expr, ...]:
    """Return the lengths of an entrywise operation. Raise ``ValueError`` if they are not seen to agree."""
    found: list[sympy.Expr] = [sympy.S.One] * max(map(len, lengths))
    for of in lengths:
        for k, length in enumerate(reversed(of), 1):
            if length == 1 or is_same(length, found[-k]):
                continue
            if found[-k] != 1:
                raise ValueError(f"an axis of length {length} meets one of length {found[-k]}")
            found[-k] = length
    return tuple(found)


def _on(one: Grid, lengths: tuple[sympy.Expr, ...]) -> Iterator[Product]:
    """Yield the products of an array on axes over which it is broadcast: along an axis of length 1 the index is 0."""
    for k, length in enumerate(reversed(one.lengths)):
        if length == 1 and lengths[-1 - k] != 1:
            one = moved(one, {PLACES[k]: sympy.S.Zero})
    yield from one.of


def moved(one: Grid, values: Mapping[sympy.Symbol, sympy.Expr], lengths: Sequence[sympy.Expr] | None = None) -> Grid:
    """Return the array with values in place of indices, of other lengths if these are given."""
    found = tuple(made for product in one.of if (made := product.put(values)) is not None)
    return Grid(one.lengths if lengths is None else tuple(lengths), found, one.whole)


def add(one: Grid, other: Grid) -> Grid:
    """Return the sum."""
    lengths = broadcast(one.lengths, other.lengths)
    if one.lengths == other.lengths == () and not any(p.where or p.over for p in (*one.of, *other.of)):
        return number(one.number() + other.number(), one.whole and other.whole)
    return Grid(lengths, (*_on(one, lengths), *_on(other, lengths)), one.whole and other.whole)


def multiply(one: Grid, other: Grid) -> Grid:
    """Return the product, entry by entry."""
    lengths = broadcast(one.lengths, other.lengths)
    found = []
    for a, b in product(_on(one, lengths), _on(other, lengths)):
        b = b.renamed()
        found.append(Product(a.number * b.number, a.where | b.where, (*a.over, *b.over)))
    return Grid(lengths, tuple(found), one.whole and other.whole)


def negative(one: Grid) -> Grid:
    """Return the array times -1."""
    return multiply(number(-1), one)


def chosen(one: Grid, where: Iterable[Place]) -> Grid:
    """Return the entries where conditions hold, and 0 elsewhere."""
    given = frozenset(where)
    made = (p._replace(where=p.where | given).put({}) for p in one.of)
    return Grid(one.lengths, tuple(p for p in made if p is not None), one.whole)


def summed(one: Grid, over: Range) -> Grid:
    """Return the sum over an index that stands in the entries. Raise ``ValueError`` if whole numbers in an array may
    become too large: of those few terms may differ from 0."""
    if one.whole and one.lengths and not all(_is_determined(p, over.index) for p in one.of):
        raise ValueError("an array of integers may exceed 2^63 and wrap around")
    return Grid(one.lengths, tuple(p._replace(over=(*p.over, over)) for p in one.of), one.whole)


def _is_determined(one: Product, index: sympy.Symbol) -> bool:
    """Return True if a condition, or the first number of another range, names an index."""
    equal = any(index in place.of.free_symbols for place in one.where if not place.least)
    return equal or any(index in r.start.free_symbols for r in one.over)


def total(one: Grid, place: int) -> Grid:
    """Return the sum along an axis, counted from the last."""
    index = sympy.Dummy("t", integer=True)
    names = {PLACES[k + 1]: PLACES[k] for k in range(place, len(one.lengths) - 1)}
    lengths = list(reversed(one.lengths))
    length = lengths.pop(place)
    found = moved(one, {PLACES[place]: index, **names}, lengths[::-1])
    return summed(found, Range(index, sympy.S.Zero, length))


def inserted(one: Grid, place: int) -> Grid:
    """Return the array with an axis of length 1 at a place, counted from the last."""
    names = {PLACES[k]: PLACES[k + 1] for k in range(place, len(one.lengths))}
    lengths = list(reversed(one.lengths))
    lengths.insert(place, sympy.S.One)
    if len(lengths) > AXES:
        raise ValueError(f"an array has more than {AXES} axes")
    return moved(one, names, lengths[::-1])


def within(place: int, low: sympy.Expr, high: sympy.Expr) -> tuple[Place, Place]:
    """Return that an index is at least ``low`` and below ``high``."""
    return Place(sympy.expand(PLACES[place] - low), True), Place(sympy.expand(high - 1 - PLACES[place]), True)


# Sums over indices, done


def closed(one: Product, known: Any) -> tuple[Product, ...] | None:
    """Return products without sums that make up a product; None if it has a sum of which nothing is known.

    ``known``: what is known of the letters, of :class:`verify.entries.deciding.Facts`.
    """
    while one.over:
        found = _merged(one) or _met(one) or _counted(one, known) or _binomial(one, known) or _geometric(one, known)
        if found is None:
            return None
        one = found
        if not one.where and one.number == 0:
            return ()
        again = one.put({})
        if again is None:
            return ()
        one = again
    return (one,)


def _others(one: Product, *ranges: Range) -> Product:
    return one._replace(over=tuple(r for r in one.over if r not in ranges))


def _stands_in(one: Product, index: sympy.Symbol) -> bool:
    """Return True if an index stands in a product, apart from the range that it has."""
    parts = [one.number, *(place.of for place in one.where), *(part for r in one.over for part in r[1:])]
    return any(index in part.free_symbols for part in parts)


def _merged(one: Product) -> Product | None:
    """Return a sum over numbers in steps of m, summed over m consecutive first ones, as one over all numbers: each is
    reached from one first number alone, the one that it has the same remainder as."""
    for steps, first in product(one.over, one.over):
        if steps.step == 1 or first.step != 1 or not is_same(first.stop - first.start, steps.step):
            continue
        offset = sympy.expand(steps.start - first.index)
        rest = _others(one, steps, first)._replace(
            over=(*_others(one, steps, first).over, Range(steps.index, offset + first.start, steps.stop))
        )
        if not _stands_in(rest, first.index) and steps.index not in offset.free_symbols:
            return rest
    return None


def _met(one: Product) -> Product | None:
    """Return a sum over an index that a condition determines: its term there, if it lies in the range."""
    for r in one.over:
        if r.step != 1:
            continue
        for place in one.where:
            factor = sympy.expand(place.of).coeff(r.index)
            value = sympy.expand(r.index - place.of / factor) if factor in (1, -1) else None
            if place.least or value is None or r.index in value.free_symbols or not _is_whole(value):
                continue
            if any(r.index in part.free_symbols for other in one.over for part in other[1:]):
                continue
            more = {Place(r.index - r.start, True), Place(r.stop - 1 - r.index, True)}
            rest = _others(one, r)._replace(where=(one.where - {place}) | more)
            return rest.put({r.index: value}) or Product(sympy.S.Zero)
    return None


def _is_whole(e: sympy.Expr) -> bool:
    """Return True if an expression is a sum of whole multiples of whole numbers."""
    return all(c.is_Integer and (x == 1 or x.is_integer) for x, c in e.as_coefficients_dict().items())


def _alone(one: Product) -> Range | None:
    """Return the last range, if its index stands in the number alone."""
    r = one.over[-1]
    rest = _others(one, r)._replace(number=sympy.S.One)
    return r if r.step == 1 and not _stands_in(rest, r.index) else None


def _counted(one: Product, known: Any) -> Product | None:
    """Return a sum of equal terms: their number times one of them."""
    for r in one.over:
        rest = _others(one, r)
        some = sympy.Ge(r.stop, r.start, evaluate=False)
        if r.step == 1 and not _stands_in(rest, r.index) and known.implies(some):
            return rest._replace(number=rest.number * (r.stop - r.start))
    return None


def _factors(number: sympy.Expr, index: sympy.Symbol) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Return the factors of a number without an index, multiplied, and those in which it stands."""
    own = [f for f in sympy.Mul.make_args(number) if index in f.free_symbols]
    return sympy.Mul(*(f for f in sympy.Mul.make_args(number) if f not in own)), own


def _binomial(one: Product, known: Any) -> Product | None:
    """Return the sum of binomial(t, i) a^i b^(t - i) over i from 0 to t, which is (a + b)^t."""
    if (r := _alone(one)) is None or r.start != 0:
        return None
    rest, own = _factors(one.number, r.index)
    t = sympy.expand(r.stop - 1)
    if sympy.binomial(t, r.index) not in own or not known.implies(sympy.Ge(t, 0, evaluate=False)):
        return None
    own.remove(sympy.binomial(t, r.index))
    bases = {r.index: sympy.S.One, t - r.index: sympy.S.One}
    for f in own:
        exponent = sympy.expand(f.args[1]) if isinstance(f, power) else None
        if exponent not in bases or r.index in f.args[0].free_symbols:
            return None
        bases[exponent] *= f.args[0]
    return _others(one, r)._replace(number=rest * power(sympy.Add(*bases.values()), t))


def _geometric(one: Product, known: Any) -> Product | None:
    """Return the sum of a^(i + c) over i, which is (a^(stop + c) - a^(start + c))/(a - 1), where a is not 1."""
    if (r := _alone(one)) is None or not known.implies(sympy.Ge(r.stop, r.start, evaluate=False)):
        return None
    rest, own = _factors(one.number, r.index)
    ratio, first = sympy.S.One, rest
    for f in own:
        if not isinstance(f, power) or r.index in f.args[0].free_symbols:
            return None
        exponent = sympy.expand(f.args[1])
        if exponent.coeff(r.index) != 1 or r.index in (exponent - r.index).free_symbols:
            return None
        ratio *= f.args[0]
        first *= power(f.args[0], sympy.expand(exponent.xreplace({r.index: r.start})))
    if not own or not known.is_nonzero(ratio - 1):
        return None
    return _others(one, r)._replace(number=first * (power(ratio, sympy.expand(r.stop - r.start)) - 1) / (ratio - 1))
