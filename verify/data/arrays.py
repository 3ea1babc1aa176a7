"""Arrays over whole axes of examples, clients and features, whose entries are formal sums: what numpy does to them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import sympy

from verify.data import sums
from verify.data.space import COUNTS, OWNED, SIZE, SUMMED, Factor, Leaf, Product, Space, same
from verify.data.sums import Sum
from verify.reading.terms import Axis
from verify.reading.values import Shape, describe


@dataclass(frozen=True)
class Array:
    """The entries of an array: a sum whose free indices are the places of its axes.

    ``batched``: True if replicas may come before the axes; ``mask``: True if the entries are truth values; ``chosen``:
    the mask and both values of what is chosen by a mask.
    """

    space: Space = field(compare=False, repr=False)
    axes: tuple[Axis, ...]
    of: Mapping[Product, Any]
    batched: bool = False
    mask: bool = False
    chosen: tuple[Array, Array, Array] | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.axes, frozenset(self.of)))

    def is_zero(self) -> bool:
        """Return True if all entries are 0, whatever the data."""
        return not self.of

    def number(self) -> Any:
        """Return a number that is made of letters, as an element of the field. Raise ``ValueError`` for anything
        else."""
        if self.axes or self.mask or not set(self.of) <= {()}:
            raise ValueError("a number of the letters is asked for, and this depends on the data or the state")
        return self.of.get((), self.space.field.zero)


@dataclass(frozen=True)
class Owners:
    """The client of each example, along these axes."""

    axes: tuple[Axis, ...]


@dataclass(frozen=True)
class Inverse:
    """The inverse of a matrix over the last two axes."""

    of: Array


@dataclass(frozen=True)
class Greatest:
    """The largest entry of an array."""

    of: Array


@dataclass(frozen=True)
class AtMost:
    """The assertion that all entries of an array are at most a number that is written."""

    of: Array
    number: int


def constant(space: Space, value: Fraction | int) -> Array:
    """Return a number that is written."""
    c = space.field(sympy.Rational(Fraction(value).numerator, Fraction(value).denominator))
    return Array(space, (), {(): c} if c else {}, mask=type(value) is bool)


def letter(space: Space, c: Any) -> Array:
    """Return a number that is made of letters."""
    return Array(space, (), {(): c} if c else {})


def leaf(space: Space, name: str, axes: tuple[Axis, ...], batched: bool = False, **known: Any) -> Array:
    """Return an array about which nothing but its axes is known, and what ``known`` says, as :class:`Leaf` does."""
    long = tuple(axis for axis in axes if axis is not Axis.ONE)
    space.leaves.setdefault(name, Leaf(long, **known))
    places = tuple(k for k, axis in enumerate(axes) if axis is not Axis.ONE)
    return Array(space, axes, {(Factor(name, places),): space.field.one}, batched, known.get("mask", False))


def of(space: Space, value: Any) -> Array:
    """Return an array, or the number that is written as one. Raise ``ValueError`` for anything else."""
    if isinstance(value, Array):
        return value
    if type(value) in (int, bool, Fraction):
        return constant(space, value)
    raise ValueError(f"{describe(value)} is neither a number nor an array")


def broadcast(one: Array, other: Array) -> tuple[tuple[Axis, ...], bool]:
    """Return the axes of an entrywise operation, and True if the result has replicas."""
    long, short = (one, other) if len(one.axes) >= len(other.axes) else (other, one)
    if len(short.axes) < len(long.axes) and short.batched:
        raise ValueError("replicas of one array stand where the axes of the other begin")
    axes = list(long.axes)
    for k in range(1, len(short.axes) + 1):
        a, b = long.axes[-k], short.axes[-k]
        if a != b and Axis.ONE not in (a, b):
            raise ValueError(f"{a} of the one stand where the other has {b}")
        axes[-k] = b if a is Axis.ONE else a
    return tuple(axes), one.batched or other.batched


def placed(one: Array, axes: tuple[Axis, ...]) -> Sum:
    """Return the entries of an array as those of one with these axes, with which it broadcasts."""
    shift = len(axes) - len(one.axes)
    names = {k: k + shift for k in range(len(one.axes))}
    return moved(one.space, one.of, names)


def moved(space: Space, entries: Sum, names: Mapping[int, int]) -> dict[Product, Any]:
    """Return entries with their free indices renamed, each product in canonical form again."""
    found: dict[Product, Any] = {}
    for made, c in entries.items():
        for again, b in sums.canonical(space, sums.renamed(made, names)):
            found[again] = found.get(again, space.field.zero) + b * c
    return {made: c for made, c in found.items() if c}


def add(one: Array, other: Array) -> Array:
    """Return the sum."""
    if one.mask or other.mask:
        raise ValueError("truth values are added: take astype(int) first")
    axes, batched = broadcast(one, other)
    return Array(one.space, axes, sums.added(placed(one, axes), placed(other, axes)), batched)


def multiply(one: Array, other: Array) -> Array:
    """Return the product, entry by entry."""
    axes, batched = broadcast(one, other)
    entries = sums.multiplied(one.space, placed(one, axes), placed(other, axes))
    chosen = None
    for number, choice in ((one, other), (other, one)):
        if choice.chosen is not None and not number.axes and set(number.of) == {()}:
            mask, first, second = choice.chosen
            chosen = (mask, multiply(number, first), multiply(number, second))
    return Array(one.space, axes, entries, batched, one.mask and other.mask, chosen)


def negative(one: Array) -> Array:
    """Return the array times -1."""
    if one.mask:
        raise ValueError("a truth value is negated")
    return Array(one.space, one.axes, sums.scaled(one.of, -one.space.field.one), one.batched)


def divide(one: Array, other: Array) -> Array:
    """Return the quotient. The divisor is a product without sums, or one that a mask chooses."""
    return multiply(one, reciprocal(other))


def reciprocal(one: Array) -> Array:
    """Return 1 over each entry; that it is not 0 becomes an obligation. Raise ``ValueError`` if it cannot be one."""
    space = one.space
    if one.mask:
        raise ValueError("a truth value is a divisor")
    if one.chosen is not None:
        mask, first, second = one.chosen
        times = set(first.of.values())
        c = times.pop() if len(times) == 1 else space.field.one
        counted = Array(space, first.axes, sums.scaled(first.of, 1 / c), first.batched)
        if times or not is_positive_where(counted, mask):
            raise ValueError("what is chosen by a mask is not seen to be nonzero where it is a divisor")
        there, elsewhere = multiply(reciprocal(letter(space, c)), opaque(counted, "1 over")), reciprocal(second)
        return choose(mask, there, elsewhere)
    if len(one.of) > 1 and one.axes and not one.batched and Axis.ONE not in one.axes:
        return _named_reciprocal(one)
    if len(one.of) != 1:
        raise ValueError("it divides by a sum, or by 0")
    ((made, c),) = one.of.items()
    if any(i >= SUMMED for f in made for i in f.at) or any(space.is_mask(f.name) for f in made):
        raise ValueError("it divides by a sum over the data, or by a mask")
    space.divisors.append(c)
    space.divided.append(made)
    return Array(space, one.axes, {tuple(f._replace(power=-f.power) for f in made): 1 / c}, one.batched)


def _named_reciprocal(one: Array) -> Array:
    """Return 1 over each entry of a sum of the data, by a name; that it is positive becomes an obligation."""
    name = f"the reciprocal of ({text(one)})"
    one.space.made_of[name] = ("1 over", one)
    one.space.reciprocals[name] = one
    one.space.divisors += one.of.values()
    return leaf(one.space, name, one.axes, positive=True)


def power(one: Array, exponent: int) -> Array:
    """Return a whole power of each entry."""
    if one.mask:
        raise ValueError("a power of a mask is taken, which overflows in numpy")
    base = one if exponent >= 0 else reciprocal(one)
    found = constant(one.space, 1)
    for _ in range(abs(exponent)):
        found = multiply(found, base)
    return found if exponent else Array(one.space, one.axes, found.of, one.batched)


def opaque(one: Array, how: str, **known: Any) -> Array:
    """Return an array that is a function of another, of which no more is known than that."""
    name = f"{how} ({text(one)})"
    one.space.made_of[name] = (how, one)
    return leaf(one.space, name, one.axes, one.batched, **known)


def text(one: Array) -> str:
    """Return the axes and entries of an array in words, which differ for different arrays."""
    entries = " + ".join(f"({c}) {[tuple(f) for f in made]}" for made, c in sorted(one.of.items())) or "0"
    return f"{', '.join(map(str, one.axes))}: {entries}"


def choose(mask: Array, one: Array, other: Array) -> Array:
    """Return ``one`` where a mask is true, else ``other``."""
    if not mask.mask or one.mask or other.mask:
        raise ValueError("a choice depends on something other than a mask, or is between masks")
    number = as_numbers(mask)
    found = add(multiply(number, add(one, negative(other))), other)
    return Array(found.space, found.axes, found.of, found.batched, chosen=(mask, one, other))


def as_numbers(one: Array) -> Array:
    """Return truth values as the numbers 0 and 1."""
    return Array(one.space, one.axes, one.of, one.batched)


def nonzero(one: Array) -> Array:
    """Return where the entries of a matrix of the data are not 0."""
    if len(one.of) != 1 or one.mask:
        raise ValueError("only entries of one array are compared with 0")
    ((made, c),) = one.of.items()
    if len(made) != 1 or c != one.space.field.one or made[0].power != 1 or max(made[0].at, default=0) >= SUMMED:
        raise ValueError("only entries of one array are compared with 0")
    places = tuple(range(len(made[0].at)))
    known = (Factor(made[0].name, places),)
    name = f"nonzero {made[0].name}"
    one.space.leaves.setdefault(name, Leaf(one.space.leaves[made[0].name].axes, mask=True, absorbed=(known,)))
    one.space.made_of[name] = ("nonzero", made[0].name)
    return Array(one.space, one.axes, {(made[0]._replace(name=name),): c}, one.batched, True)


def is_count(one: Array) -> bool:
    """Return True if the entries are sums of indicators, so that they are whole numbers that are not negative."""
    space = one.space
    return all(c == space.field.one and all(space.is_mask(f.name) for f in made) for made, c in one.of.items())


def is_whole(one: Array) -> bool:
    """Return True if the entries are sums of whole multiples of counts and of indicators."""
    space, counted = one.space, set(COUNTS.values())
    for made, c in one.of.items():
        letters = {str(symbol) for symbol in c.as_expr().free_symbols}
        if c.denom != 1 or not letters <= counted or any(int(b.denominator) != 1 for b in c.numer.values()):
            return False
        if not all(f.power > 0 and (space.is_mask(f.name) or f.name == SIZE) for f in made):
            return False
    return True


def positive(one: Array) -> Array:
    """Return where counts are above 0: a mask that is 1 beside any of the indicators that are counted."""
    if not is_count(one) or Axis.ONE in one.axes:
        raise ValueError("only counts are compared with 0, along whole axes")
    patterns = tuple(alike for made in one.of for alike in ((*made,), *(_behind(one.space, made))))
    return Array(
        one.space,
        one.axes,
        opaque(Array(one.space, one.axes, one.of, one.batched), "positive", mask=True, absorbed=patterns).of,
        one.batched,
        True,
    )


def _behind(space: Space, made: Product) -> list[Product]:
    """Return products beside which a product of indicators is 1 where they are not 0: of what is not 0 itself."""
    found: list[Factor] = []
    for f in made:
        known = space.made_of.get(f.name, ("", ""))
        found.append(f._replace(name=known[1]) if known[0] == "nonzero" else f)
    return [tuple(found)]


def is_positive_where(one: Array, mask: Array) -> bool:
    """Return True if a mask says of all entries of an array that they are above 0."""
    try:
        return positive(Array(one.space, one.axes, one.of, one.batched)).of == mask.of
    except ValueError:
        return False


def total(one: Array, places: Sequence[int], kept: bool) -> Array:
    """Return the sum along axes, counted from the first."""
    space, entries, axes = one.space, dict(one.of), list(one.axes)
    for place in sorted(places, reverse=True):
        if axes[place] is not Axis.ONE:
            entries = sums.summed(space, entries, place, axes[place])
        else:
            names = {i: i - 1 for i in range(place + 1, len(axes))}
            entries = moved(space, entries, names)
        del axes[place]
    found = Array(space, tuple(axes), entries, one.batched)
    for place in sorted(places) if kept else ():
        found = inserted(found, place)
    return found


def inserted(one: Array, place: int) -> Array:
    """Return an array with an axis of length 1 before this place."""
    names = {i: i + 1 for i in range(place, len(one.axes))}
    axes = (*one.axes[:place], Axis.ONE, *one.axes[place:])
    return Array(one.space, axes, moved(one.space, one.of, names), one.batched, one.mask)


def transposed(one: Array, order: Sequence[int]) -> Array:
    """Return an array with its axes in another order."""
    names = {old: new for new, old in enumerate(order)}
    axes = tuple(one.axes[k] for k in order)
    return Array(one.space, axes, moved(one.space, one.of, names), one.batched, one.mask)


def spread(one: Array, axes: tuple[Axis, ...], batched: bool) -> Array:
    """Return an array at all places of axes of length 1, or that it lacks."""
    like = Array(one.space, axes, {}, batched)
    found, replicas = broadcast(one, like)
    if found != axes:
        raise ValueError(f"an array is spread over {' and '.join(axes)}")
    return Array(one.space, axes, placed(one, axes), replicas, one.mask)


def held(one: Array, place: int) -> Array:
    """Return, along the axis at this place, for each example the entry of the client that holds it."""
    if one.axes[place] is Axis.ONE:
        raise ValueError("the clients that hold examples are looked up in an axis of length 1")
    if one.axes[place] is not Axis.CLIENTS:
        raise ValueError(f"the clients that hold examples are looked up among {one.axes[place]}")
    entries: dict[Product, Any] = {}
    for made, c in one.of.items():
        factors = [*sums.renamed(made, {place: SUMMED * 9}), Factor(OWNED, (place, SUMMED * 9))]
        for again, b in sums.canonical(one.space, factors):
            entries[again] = entries.get(again, one.space.field.zero) + b * c
    axes = (*one.axes[:place], Axis.EXAMPLES, *one.axes[place + 1 :])
    return Array(one.space, axes, {f: c for f, c in entries.items() if c}, one.batched, one.mask)


def within(one: Array, place: int) -> Array:
    """Return the sums over the examples of each client, along the axis at this place."""
    if one.axes[place] is not Axis.EXAMPLES:
        raise ValueError(f"sums over the examples of each client are taken along {one.axes[place]}")
    if one.mask:
        raise ValueError("truth values are added: take astype(int) first")
    entries: dict[Product, Any] = {}
    for made, c in one.of.items():
        factors = [*sums.renamed(made, {place: SUMMED * 9}), Factor(OWNED, (SUMMED * 9, place))]
        for again, b in sums.canonical(one.space, factors):
            entries[again] = entries.get(again, one.space.field.zero) + b * c
    axes = (*one.axes[:place], Axis.CLIENTS, *one.axes[place + 1 :])
    return Array(one.space, axes, {f: c for f, c in entries.items() if c}, one.batched)


def same_owner(space: Space, one: Owners, other: Owners) -> Array:
    """Return where two arrays of clients of examples name one client."""
    axes, _ = broadcast(Array(space, one.axes, {}), Array(space, other.axes, {}))
    places = [len(axes) - len(o.axes) + o.axes.index(Axis.EXAMPLES) for o in (one, other)]
    factors = [Factor(OWNED, (place, SUMMED)) for place in places]
    return Array(space, axes, dict(sums.canonical(space, factors)), False, True)


def owned_by(space: Space, one: Owners, number: int) -> Array:
    """Return where the client of an example is that with a written number."""
    factors = [Factor(OWNED, (one.axes.index(Axis.EXAMPLES), -1 - number))]
    return Array(space, one.axes, dict(sums.canonical(space, factors)), False, True)


def identity(space: Space, axis: Axis) -> Array:
    """Return the identity matrix over an axis."""
    return Array(space, (axis, axis), {(same(axis, 0, 1),): space.field.one})


def indexed(one: Array, items: Sequence[Any]) -> Array:
    """Return an array with whole axes kept, axes of length 1 inserted or removed, and clients looked up by example."""
    items = list(items)
    if (owners := sum(isinstance(item, Owners) for item in items)) and (
        owners > 1 or any(type(item) is int for item in items)
    ):
        # numpy pairs several indices, or moves their axes to the front.
        raise ValueError("the clients of examples are indexed together with other places")
    if items and items[0] is Ellipsis:
        items.pop(0)
        taken = sum(item is not None for item in items)
        if taken > len(one.axes):
            raise ValueError("an index reaches the axes of replicas")
        place = len(one.axes) - taken
    elif one.batched:
        raise ValueError("an index counts from the axes of replicas: start it with ...")
    else:
        place = 0
    found = one
    for item in items:
        if item is None:
            found = inserted(found, place)
        elif place >= len(found.axes):
            raise ValueError("an array has more indices than axes")
        elif isinstance(item, Owners):
            if item.axes != (Axis.EXAMPLES,):
                raise ValueError("the clients of examples are indexed in more than one axis")
            found = held(found, place)
        elif isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None:
            pass
        elif found.axes[place] is Axis.ONE and type(item) is int and item in (0, -1):
            found = total(found, [place], False) if not found.mask else _cut(found, place)
            continue
        elif found.axes[place] is Axis.CLIENTS and type(item) is int and item == 0:
            # There is a first client, and there may be no other.
            found = _of_first(found, place)
            continue
        else:
            raise ValueError(f"a part of the {found.axes[place]} is taken")
        place += 1
    return found


def _of_first(one: Array, place: int) -> Array:
    """Return the entries of the first client, along the axis at this place."""
    names = {place: -1, **{i: i - 1 for i in range(place + 1, len(one.axes))}}
    axes = (*one.axes[:place], *one.axes[place + 1 :])
    return Array(one.space, axes, moved(one.space, one.of, names), one.batched, one.mask)


def _cut(one: Array, place: int) -> Array:
    """Return truth values without an axis of length 1."""
    found = total(as_numbers(one), [place], False)
    return Array(found.space, found.axes, found.of, found.batched, True)


def from_last(one: Array, axis: Any) -> list[int]:
    """Return the places of axes that are written, counted from the first."""
    along = axis if type(axis) is tuple else (axis,)
    found = []
    for k in along:
        if type(k) is not int or not -len(one.axes) <= k < (0 if one.batched else len(one.axes)):
            raise ValueError("an axis is not named by a literal, counted from the last")
        found.append(k % len(one.axes))
    if len(set(found)) < len(found):
        raise ValueError("an axis is named twice")
    return found


def substituted(one: Array, name: str, more: Array) -> Array:
    """Return an array with a quantity plus ``more``, which has its axes, in place of the quantity."""
    space = one.space
    found: dict[Product, Any] = {}
    for made, c in one.of.items():
        kept = [f for f in made if f.name != name]
        places = [f.at for f in made if f.name == name for _ in range(f.power)]
        if any(f.power < 0 for f in made if f.name == name):
            raise ValueError("a quantity is substituted in a divisor")
        for chosen in product([None, *more.of], repeat=len(places)):
            factors, b = list(kept), c
            for k, (at, other) in enumerate(zip(places, chosen, strict=True), 2):
                own = (Factor(name, tuple(range(len(at)))),) if other is None else other
                b = b if other is None else b * more.of[other]
                apart = {i: i + k * 10 * SUMMED for f in own for i in f.at if i >= SUMMED}
                factors += sums.renamed(own, {**apart, **dict(enumerate(at))})
            for again, a in sums.canonical(space, factors):
                found[again] = found.get(again, space.field.zero) + a * b
    return Array(space, one.axes, {made: c for made, c in found.items() if c}, one.batched)


def shape(one: Array) -> Shape:
    """Return the shape of an array."""
    return Shape(one.axes, 0, one.batched)
