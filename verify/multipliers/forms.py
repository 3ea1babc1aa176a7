"""Quadratic forms in vectors known only by inner products, and their expectation over what is drawn.

Entries: ``("mean", a, b)`` is the inner product of two vectors that are the same for all clients,
``("deviation", a, b)`` the sum over the clients of the inner products of deviations from the mean,
``("error k", a, b)`` the same of compression errors, which are uncorrelated with everything else; ``("value", v)`` is a
number. Where vectors depend on errors, errors stand in the first two kinds of entries too.

Where forms Q share a direction v with Q(x) = Q(x + t v) for all t, they depend on the vectors x - (x_r/v_r) v alone,
whose row r is zero: the row r is left out of all of them, and the others stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from verify.multipliers.ratios import Ratio
from verify.reading.source import Unread
from verify.reading.terms import Term
from verify.reading.worlds import Atom, World, WorldValue

#: The block and the two vectors, or "value" and its name.
Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ProductSum:
    """A sum of multiples of inner products and of numbers: the coefficients by what they multiply."""

    of: Mapping[Key, Ratio]

    #: The number 1.
    ONE: ClassVar[Key] = ("value", "1")

    @classmethod
    def number(cls, c: Ratio) -> ProductSum:
        """A number."""
        return cls({} if c.is_zero else {cls.ONE: c})

    def __add__(self, other: ProductSum) -> ProductSum:
        found = dict(self.of)
        for k, c in other.of.items():
            found[k] = found[k] + c if k in found else c
        return ProductSum({k: c for k, c in found.items() if not c.is_zero})

    def __mul__(self, c: Any) -> ProductSum:
        if isinstance(c, ProductSum):
            raise Unread("a product of two quantities is not a quadratic form")
        return ProductSum({k: p for k, b in self.of.items() if not (p := b * c).is_zero})

    __rmul__ = __mul__

    def __truediv__(self, c: Any) -> ProductSum:
        return ProductSum({k: b / c for k, b in self.of.items()})

    def __neg__(self) -> ProductSum:
        return self * -1

    def __sub__(self, other: ProductSum) -> ProductSum:
        return self + -other

    def mapped(self, change: Callable[[Ratio], Ratio]) -> ProductSum:
        """The form with other coefficients."""
        return ProductSum({k: b for k, c in self.of.items() if not (b := change(c)).is_zero})


class Mask(NamedTuple):
    """A mask that is drawn: the probability that it is true; ``own``: of each client; ``pair``: that those of two
    different clients both are, of own masks."""

    probability: Ratio
    own: bool = False
    pair: Ratio | None = None


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of draws: the masks by name, and compression errors by the names of their vectors.

    ``errors``: for each vector that is an error or a part of one, the error and what it was drawn by. Errors have mean
    zero, and those of different draws are uncorrelated; a client's error that is neither a mean nor a deviation is
    uncorrelated with those of the other clients. ``drawn``: numbers of clients, or of all, that may depend on any draw.
    ``dependent``: the draws on which vectors depend, errors among them, by name, where other vectors than errors do.
    """

    world: World
    masks: Mapping[str, Mask]
    errors: Mapping[str, tuple[str, str]]
    convert: Callable[[Any], Ratio]
    drawn: frozenset[str] = frozenset()
    dependent: Mapping[str, frozenset[str]] | None = None

    def expectation(self, value: WorldValue) -> ProductSum:
        """The expectation of a number, as a form. ``Unread`` where it is none."""
        found: dict[Key, Ratio] = {}
        for (draws, atoms), c in value.of.items():
            for k, b in self._monomial(draws, atoms):
                term = self.convert(c) * b
                found[k] = found[k] + term if k in found else term
        return ProductSum({k: c for k, c in found.items() if not c.is_zero})

    def _monomial(self, draws: frozenset[str], atoms: tuple[Atom, ...]) -> Iterator[tuple[Key, Ratio]]:
        if not atoms:
            yield ProductSum.ONE, self._probability(draws)
            return
        if len(atoms) != 1 or atoms[0].degree != 0 or atoms[0].own:
            raise Unread("a quantity is not a sum of inner products and numbers")
        meaning = self.world.meaning.get(atoms[0].name, ("number",))
        if (found := self._drawn(draws, atoms[0], meaning)) is not None:
            yield found, self.convert(self.world.field.one)
            return
        weight = self._probability(draws)
        if meaning[0] == "inner product":
            yield from ((k, weight * c) for k, c in self._product(meaning[1], meaning[2]))
        elif meaning[0] == "sum":
            yield from ((k, weight * c) for k, c in self._summed(*meaning[1:]))
        else:
            yield ("value", atoms[0].name), weight

    def _drawn(self, draws: frozenset[str], atom: Atom, meaning: tuple[Any, ...]) -> Key | None:
        """The expectation of a number that is drawn, or of a sum of such, where masks are true: a number of its own."""
        if atom.name in self.drawn:
            return "value", f"{sorted(draws)} {atom.name}"
        if meaning[0] != "sum" or not any(own.name in self.drawn for own in meaning[3]):
            return None
        _, letters, masks, own = meaning
        if letters != self.world.field.one or len(own) != 1:
            raise Unread("a sum of drawn numbers has weights or factors that differ between clients")
        return "value", f"{sorted(draws | masks)} sum of {own[0].name}"

    def _probability(self, draws: frozenset[str]) -> Ratio:
        weight = self.convert(self.world.field.one)
        for name in draws:
            mask = self._mask(name)
            if mask.own:
                raise Unread("a quantity belongs to one client, not to all")
            weight = weight * mask.probability
        return weight

    def _mask(self, name: str) -> Mask:
        if name not in self.masks:
            raise Unread(f"the moments of {name} are not known")
        return self.masks[name]

    def _summed(self, letters: Any, draws: frozenset[str], own: tuple[Atom, ...]) -> Iterator[tuple[Key, Ratio]]:
        """The sum over the clients of the product of masks and one number of each."""
        if letters != self.world.field.one or len(own) != 1:
            raise Unread("a sum over the clients has weights that differ between clients")
        meaning = self.world.meaning.get(own[0].name)
        if meaning is None or meaning[0] == "deviation":
            # Each client has its own number: the probability is the same for all, and they sum to zero.
            if not own[0].balanced:
                raise Unread("the clients' numbers are not deviations")
            self._one(draws)
            return
        if meaning[0] != "inner product":
            raise Unread("a sum over the clients is not one of inner products")
        one, other = meaning[1:]
        if not one.own:
            one, other = other, one
        if other.own:
            yield from self._each(one, other, self._one(draws))
        else:
            # For one client's vector and one that all share: the inner product of the sum with it.
            yield from self._pairs(draws, one, *self._as_sum(other))

    def _one(self, draws: frozenset[str]) -> Ratio:
        """The probability that the masks of one client are all true."""
        found = self.convert(self.world.field.one)
        for name in draws:
            found = found * self._mask(name).probability
        return found

    def _as_sum(self, atom: Atom) -> tuple[frozenset[str], Atom]:
        """A vector that all clients share: the masks and the vectors that add up to it, or itself."""
        meaning = self.world.meaning.get(atom.name)
        if meaning is None or meaning[0] != "sum":
            return frozenset(), atom
        _, letters, draws, own = meaning
        if letters != self.world.field.one or len(own) != 1:
            raise Unread("a sum over the clients has weights that differ between clients")
        return draws, own[0]

    def _product(self, one: Atom, other: Atom) -> Iterator[tuple[Key, Ratio]]:
        """The expectation of the inner product of two vectors that all clients share."""
        draws, first = self._as_sum(one)
        more, second = self._as_sum(other)
        if not first.own and not second.own:
            yield from self._row("mean", first, second, self.convert(self.world.field.one))
        elif first.own:
            yield from self._pairs(draws, first, more, second)
        else:
            yield from self._pairs(more, second, draws, first)

    def _pairs(
        self, draws: frozenset[str], one: Atom, more: frozenset[str], other: Atom
    ) -> Iterator[tuple[Key, Ratio]]:
        """The expectation of <sum_i m_i a_i, sum_j k_j b_j>, or of <sum_i m_i a_i, b>."""
        if not other.own:
            # The masks have one probability for all clients, and the a_i sum to zero or have mean zero.
            self._one(draws)
            if not one.balanced and one.name not in self.errors:
                raise Unread("the sum of a vector over the clients is not known")
            return
        both = self._one(draws | more)
        apart = self.convert(self.world.field.one)
        for name in draws | more:
            mask = self._mask(name)
            if name in draws and name in more and mask.own:
                if mask.pair is None:
                    raise Unread(f"the second moments of {name} are not known")
                apart = apart * mask.pair
            else:
                # A mask that all share is its own square.
                apart = apart * mask.probability
        # sum_{i != j} <a_i, b_j> is minus sum_i <a_i, b_i> where one of them sums to zero.
        if one.balanced or other.balanced:
            both = both - apart
        elif not (one.name in self.errors and other.name in self.errors):
            raise Unread("the sum of a vector over the clients is not known")
        yield from self._each(one, other, both)

    def _each(self, one: Atom, other: Atom, c: Ratio) -> Iterator[tuple[Key, Ratio]]:
        yield from self._row("deviation", one, other, c)

    def _row(self, block: str, one: Atom, other: Atom, c: Ratio) -> Iterator[tuple[Key, Ratio]]:
        first, second = self.errors.get(one.name), self.errors.get(other.name)
        if self.dependent is not None:
            # Given all other draws, an error has mean zero.
            free = ((first, other), (second, one))
            if not any(e is not None and e[1] not in self.dependent.get(of.name, ()) for e, of in free):
                yield (block, *sorted((one.name, other.name))), c
        elif first is None and second is None:
            yield (block, *sorted((one.name, other.name))), c
        elif first is not None and second is not None and first != second and first[1] == second[1]:
            raise Unread("how the errors of two vectors compressed by one draw are correlated is not known")
        elif first == second:
            assert first is not None
            yield (f"{first[0]} {block}", *sorted((one.name, other.name))), c


def sizes(law: Any) -> Iterator[Term]:
    """Yield the numbers of clients in the subsets that a distribution draws."""
    if law.name == "product":
        for of in law.of:
            yield from sizes(of)
    elif law.name in ("subset", "pattern"):
        yield law.of[1]


def masks(law: Any, name: str, number: Any) -> Iterator[tuple[str, Mask]]:
    """The masks of a distribution, by name."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from masks(of, f"{name}.{part}", number)
    elif law.name in ("bernoulli", "coins of coordinates"):
        # If each coordinate has a coin of its own, one stands in each term of a sum over the coordinates.
        yield name, Mask(number(law.of[0]))
    elif law.name == "independent" and law.of[0].name == "bernoulli":
        p = number(law.of[0].of[0])
        yield name, Mask(p, True, p * p)
    elif law.name in ("subset", "pattern"):
        n, tau = (number(term) for term in law.of[:2])
        if (n - 1).is_zero and not (tau - 1).is_zero:
            raise Unread("subsets of one client are stated to have other sizes")
        # One of n at random: two different ones never are.
        pair = tau * 0 if (tau - 1).is_zero else tau * (tau - 1) / (n * (n - 1))
        yield name, Mask(tau / n, True, pair)


#: The block of the vectors of a client and of those that all share.
BLOCK = "client"
#: A vector that is a combination of others: the coefficients by rows.
Vector = Mapping[str, Ratio]


def unneeded(
    forms: Iterable[ProductSum], vectors: Iterable[Vector], shared: frozenset[str], own: frozenset[int], one: Ratio
) -> frozenset[str]:
    """Rows that may be left out of forms, and of vectors that are zero when summed over the clients.

    ``shared``: the rows of vectors that all clients share: what these become when others are taken off is shared too,
    so that nothing of a client's own is taken off, nor a multiple by an ``own`` letter.
    """
    of, known = list(forms), list(vectors)
    rows = {row for form in of for key in form.of if key[0] == BLOCK for row in key[1:]} | {r for v in known for r in v}
    ordered = [*sorted(rows - shared), *sorted(rows & shared)]
    zero = one * 0
    lines = [
        [form.of.get((BLOCK, *sorted((a, b))), zero) * (2 if a == b else 1) for b in ordered]
        for form in of
        for a in ordered
    ]
    lines += [[vector.get(row, zero) for row in ordered] for vector in known]
    echelon = _echelon([line for line in lines if not all(c.is_zero for c in line)], len(ordered))
    first_shared = len(rows - shared)
    found = set()
    for k, row in enumerate(ordered):
        # The part that this row subtracts from the shared rows among the earlier pivots.
        taken = [line[k] for pivot, line in echelon.items() if first_shared <= pivot < k]
        if k not in echelon and not any(c.letters() & own for c in taken):
            found.add(row)
    return frozenset(found)


def without(form: ProductSum, rows: frozenset[str]) -> ProductSum:
    """A form with rows left out."""
    return ProductSum({key: c for key, c in form.of.items() if key[0] != BLOCK or rows.isdisjoint(key[1:])})


def _echelon(lines: Sequence[list[Ratio]], columns: int) -> dict[int, list[Ratio]]:
    """The reduced rows of a system, by their pivots: a column k without one has the null vector that is 1 there and
    less the entry of each row in k at the pivot of that row."""
    left, found = [list(line) for line in lines], dict[int, list[Ratio]]()
    for k in range(columns):
        at = min(
            (i for i, line in enumerate(left) if not line[k].is_zero), key=lambda i: left[i][k].length, default=None
        )
        if at is None:
            continue
        top = left.pop(at)
        line = [c / top[k] for c in top]
        found = {pivot: _less(other, line, k) for pivot, other in found.items()}
        found[k] = line
        left = [other for other in (_less(other, line, k) for other in left) if not all(c.is_zero for c in other)]
    return found


def _less(other: list[Ratio], line: list[Ratio], k: int) -> list[Ratio]:
    return other if other[k].is_zero else [a - b * other[k] for a, b in zip(other, line, strict=True)]
