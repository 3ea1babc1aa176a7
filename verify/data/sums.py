"""Formal sums in index notation: entries of arrays over any numbers of examples, clients and features.

An entry is a sum of products with coefficients that are quotients of polynomials in the letters. A product has factors,
each a named quantity at some indices; indices that are not free are summed over their whole range. Products that differ
in the names of their summed indices alone have one canonical form, so that two entries that are written alike are equal
for all data. Nothing is assumed of how many examples, clients or features there are, or of how examples are dealt out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product
from typing import Any

from verify.data.space import OWNED, SIZE, SUMMED, Factor, Kernel, Product, Space, is_same, same
from verify.reading.source import Unread
from verify.reading.terms import Axis

#: A sum: the coefficients of its products.
Sum = Mapping[Product, Any]
#: The orders of summed indices that are compared, the factors and the products of a sum, at most.
ORDERS, FACTORS, PRODUCTS = 5040, 24, 4000
#: The highest power of the number of examples of a client: these are whole numbers of 31 bits, in arrays that have 64.
WHOLE = 2


def renamed(factors: Iterable[Factor], names: Mapping[int, int]) -> list[Factor]:
    """Return factors with some of their indices renamed."""
    return [f._replace(at=tuple(names.get(i, i) for i in f.at)) for f in factors]


def added(*sums: Sum) -> dict[Product, Any]:
    """Return the sum of sums with the same free indices."""
    found: dict[Product, Any] = {}
    for one in sums:
        for made, c in one.items():
            found[made] = found[made] + c if made in found else c
    if len(found) > PRODUCTS:
        raise Unread(f"a sum has more than {PRODUCTS} products")
    return {made: c for made, c in found.items() if c}


def scaled(one: Sum, c: Any) -> dict[Product, Any]:
    """Return a sum times an element of the field."""
    return {made: b * c for made, b in one.items()} if c else {}


def multiplied(space: Space, one: Sum, other: Sum) -> dict[Product, Any]:
    """Return the product of two sums, entry by entry."""
    if len(one) * len(other) > PRODUCTS:
        raise Unread(f"a product of sums has more than {PRODUCTS} products")
    found: dict[Product, Any] = {}
    for first, b in one.items():
        for second, c in other.items():
            apart = renamed(second, {i: i + SUMMED for f in second for i in f.at if i >= SUMMED})
            for made, a in canonical(space, [*first, *apart]):
                total = found.get(made, space.field.zero) + a * b * c
                found[made] = total
    return {made: c for made, c in found.items() if c}


def canonical(space: Space, factors: list[Factor]) -> list[tuple[Product, Any]]:
    """Return a product, summed over the summed indices of its factors, as a sum of products in canonical form."""
    ranges = {i: axis for f in factors for i, axis in zip(f.at, space.axes(f.name), strict=True)}
    return _canonical(space, factors, {i: a for i, a in ranges.items() if i >= SUMMED})


def summed(space: Space, one: Sum, place: int, axis: Axis) -> dict[Product, Any]:
    """Return a sum over one of its free indices, of this range; the free indices after it move up."""
    found: dict[Product, Any] = {}
    for made, b in one.items():
        new = 1 + max((i for f in made for i in f.at), default=0) + SUMMED
        names = {place: new, **{i: i - 1 for f in made for i in f.at if place < i < SUMMED}}
        factors = renamed(made, names)
        ranges = {i: a for f in factors for i, a in zip(f.at, space.axes(f.name), strict=True) if i >= SUMMED}
        for product_, c in _canonical(space, factors, {**ranges, new: axis}):
            found[product_] = found.get(product_, space.field.zero) + b * c
    return {made: c for made, c in found.items() if c}


def _canonical(space: Space, factors: list[Factor], bound: dict[int, Axis]) -> list[tuple[Product, Any]]:
    pending, done = [(list(factors), dict(bound), space.field.one)], []
    while pending:
        here, summed_over, c = pending.pop()
        simple = _simplified(space, here, summed_over)
        if simple is None:
            continue
        here, summed_over, more = simple
        c = c * more
        if len(here) > FACTORS:
            raise Unread(f"a product has more than {FACTORS} factors")
        split = _without_grams(space, here, summed_over) or _without_reciprocals(space, here, summed_over)
        if split is None:
            done.append((_labelled(space, here, summed_over), c))
        else:
            pending.extend((f, b, c * a) for f, b, a in split)
    return done


def _simplified(
    space: Space, factors: list[Factor], bound: dict[int, Axis]
) -> tuple[list[Factor], dict[int, Axis], Any] | None:
    """Return a product with equal indices identified, masks absorbed and sums of numbers taken; None if it is 0."""
    c = space.field.one
    if space.alone:
        factors, bound, c = _of_one_client(space, factors, bound)
    while True:
        found = _identified(space, factors, bound)
        if found is None:
            return None
        factors = _closed(space, _joined(space, found))
        if clash := _two_owners(factors):
            factors.append(clash)
            continue
        if known := _exclusive(space, factors):
            factors += known
            continue
        before = len(factors), len(bound)
        factors = _absorbed(space, factors, bound)
        somebody = [f for f in factors if _is_free_owner(space, f, factors, bound)]
        factors = [f for f in factors if f not in somebody]
        for client in {f.at[1] for f in somebody}:
            # Exactly one client is meant.
            del bound[client]
        factors, times = _counted(space, factors, bound)
        c = c * times
        if (len(factors), len(bound)) == before:
            return factors, bound, c


def _of_one_client(
    space: Space, factors: list[Factor], bound: dict[int, Axis]
) -> tuple[list[Factor], dict[int, Axis], Any]:
    """Return a product where there is one client, the first, who holds all examples."""
    clients = {i: -1 for f in factors for i, a in zip(f.at, space.axes(f.name), strict=True) if a is Axis.CLIENTS}
    c, left = space.field.one, list[Factor]()
    for f in renamed(factors, clients):
        if f.name == SIZE:
            c = c * space.count(Axis.EXAMPLES) ** f.power
        elif f.name != OWNED:
            left.append(f)
    return left, {i: a for i, a in bound.items() if a is not Axis.CLIENTS}, c


def _identified(space: Space, factors: list[Factor], bound: dict[int, Axis]) -> list[Factor] | None:
    """Return factors with indices that are one named alike; None if two that differ are one. What is no longer summed
    over leaves ``bound``."""
    kept: list[Factor] = []
    pending = list(factors)
    rest: list[Factor] = []
    while pending:
        f = pending.pop()
        if not is_same(f):
            rest.append(f)
            continue
        one, other = min(f.at), max(f.at)
        if one == other:
            continue
        if one < 0 and other < 0:
            return None
        # Summed indices give way to free ones, and free ones to written numbers.
        names = {other: one}
        pending, rest = renamed(pending, names), renamed(rest, names)
        if other in bound:
            del bound[other]
            kept = renamed(kept, names)
        else:
            kept = [*renamed(kept, names), f]
    # Indicators of free indices name the least of those that are one.
    return [*rest, *(f._replace(at=(min(f.at), max(f.at))) for f in kept if f.at[0] != f.at[1])]


def _joined(space: Space, factors: list[Factor]) -> list[Factor]:
    """Return factors with powers of one quantity joined."""
    powers: dict[tuple[str, tuple[int, ...]], int] = {}
    for f in factors:
        at = tuple(sorted(f.at)) if f.name in space.kernels else f.at
        powers[f.name, at] = powers.get((f.name, at), 0) + f.power
    if any(abs(power) > WHOLE for (name, _), power in powers.items() if name == SIZE):
        raise Unread("numbers of examples are multiplied that may exceed 2^63 in an array, and wrap around")
    return [
        Factor(name, at, 1 if space.is_mask(name) else power) for (name, at), power in sorted(powers.items()) if power
    ]


def _closed(space: Space, factors: list[Factor]) -> list[Factor]:
    """Return factors with the client of an example named for all examples that an inverse by blocks ties to it."""
    owners = {f.at for f in factors if f.name == OWNED}
    links = [f.at for f in factors if f.name in space.kernels and space.kernels[f.name].block]
    changed = bool(links)
    while changed:
        more = {(j, k) for i, k in owners for a, b in links for j in ((b,) if a == i else (a,) if b == i else ())}
        changed = not more <= owners
        owners |= more
    return [*(f for f in factors if f.name != OWNED), *(Factor(OWNED, at) for at in sorted(owners))]


def _two_owners(factors: list[Factor]) -> Factor | None:
    """Return that two clients are one, if an example is held by both."""
    owner: dict[int, int] = {}
    for f in factors:
        if f.name == OWNED and owner.setdefault(f.at[0], f.at[1]) != f.at[1]:
            known = {g.at for g in factors if is_same(g)}
            made = same(Axis.CLIENTS, owner[f.at[0]], f.at[1])
            if made.at not in known:
                return made
    return None


def _exclusive(space: Space, factors: list[Factor]) -> list[Factor]:
    """Return that clients are one, or hold an example, where at most one client has a feature."""
    found: set[Factor] = set()
    for mask in (f for f in factors if f.name in space.exclusive):
        client, feature = mask.at
        for f in factors:
            if f.name == mask.name and f.at[1] == feature and f.at[0] != client:
                found.add(same(Axis.CLIENTS, client, f.at[0]))
        for pattern in space.leaves[mask.name].absorbed:
            # An example of a client, and what is not 0 there.
            row = next((p for p in pattern if p.at[1:] == (1,)), None)
            if row is not None and sorted(pattern) == sorted((row, Factor(OWNED, (row.at[0], 0)))):
                found |= {
                    Factor(OWNED, (f.at[0], client))
                    for f in factors
                    if f.name == row.name and f.at[1] == feature and f.power > 0
                }
    return sorted(found - set(factors))


def _groups(space: Space, factors: list[Factor]) -> dict[int, int]:
    """Return the least of the examples that inverses by blocks tie to each of them."""
    least: dict[int, int] = {}
    links = [f.at for f in factors if f.name in space.kernels and space.kernels[f.name].block]
    for at in links:
        a, b = (least.get(i, i) for i in at)
        least = {i: min(a, b) if g in (a, b) else g for i, g in {**dict(zip(at, at, strict=True)), **least}.items()}
        least.update({i: min(a, b) for i in (*at, a, b)})
    return least


def _is_free_owner(space: Space, f: Factor, factors: list[Factor], bound: dict[int, Axis]) -> bool:
    """Return True if a factor says that some client holds an example, as one does, or the examples that are tied to
    it."""
    if f.name != OWNED or f.at[1] not in bound:
        return False
    groups = _groups(space, factors)
    client, group = f.at[1], groups.get(f.at[0], f.at[0])
    others = [g for g in factors if client in g.at]
    return all(g.name == OWNED and groups.get(g.at[0], g.at[0]) == group for g in others)


def _absorbed(space: Space, factors: list[Factor], bound: dict[int, Axis]) -> list[Factor]:
    """Return factors without masks that are 1 wherever the others are not 0."""
    left = list(factors)
    for f in factors:
        leaf = space.leaves.get(f.name)
        if leaf is not None and leaf.mask and any(_occurs(p, f.at, [g for g in left if g != f]) for p in leaf.absorbed):
            left.remove(f)
    return left


def _occurs(pattern: Product, at: tuple[int, ...], among: list[Factor]) -> bool:
    """Return True if factors of a pattern occur among others, by some choice of its summed indices."""

    def matched(rest: list[Factor], names: dict[int, int]) -> bool:
        if not rest:
            return True
        first, *more = rest
        for f in among:
            if f.name == first.name and f.power > 0 and len(f.at) == len(first.at):
                # A written number stands for itself alone.
                found = {**names, **{i: i for i in first.at if i < 0}}
                here = all(found.setdefault(i, j) == j for i, j in zip(first.at, f.at, strict=True))
                if here and matched(more, found):
                    return True
        return False

    return matched(list(pattern), dict(enumerate(at)))


def _counted(space: Space, factors: list[Factor], bound: dict[int, Axis]) -> tuple[list[Factor], Any]:
    """Return the factors that are left, and a number, where sums run over what does not depend on their index."""
    c = space.field.one
    for i, axis in list(bound.items()):
        holding = [f for f in factors if i in f.at]
        if not holding:
            c = c * space.count(axis)
        elif axis is Axis.EXAMPLES and [f.name for f in holding] == [OWNED]:
            # As many examples as the client holds.
            factors = [*(f for f in factors if f not in holding), Factor(SIZE, (holding[0].at[1],))]
        elif axis is Axis.CLIENTS and holding == [Factor(SIZE, (i,))]:
            factors, c = [f for f in factors if f not in holding], c * space.count(Axis.EXAMPLES)
        else:
            continue
        del bound[i]
        return factors, c
    return factors, c


def _without_grams(
    space: Space, factors: list[Factor], bound: dict[int, Axis]
) -> list[tuple[list[Factor], dict[int, Axis], Any]] | None:
    """Return a product as two, by (I + r X X')^{-1} r X X' = I - (I + r X X')^{-1}; None if it has no such part."""
    for kernel in factors:
        known = space.kernels.get(kernel.name)
        if known is None or kernel.power != 1:
            continue
        for outer, inner in (kernel.at, kernel.at[::-1]):
            found = None if outer == inner else _gram(space, known, kernel, inner, factors, bound)
            if found is not None:
                feature, other, used = found
                rest = [f for f in factors if f not in used and f != kernel]
                left = {i: a for i, a in bound.items() if i not in (inner, feature)}
                share = 1 / known.rate
                again = Factor(kernel.name, (outer, other))
                first = [*rest, same(Axis.EXAMPLES, outer, other)]
                return [(first, dict(left), share), ([*rest, again], dict(left), -share)]
    return None


def _without_reciprocals(
    space: Space, factors: list[Factor], bound: dict[int, Axis]
) -> list[tuple[list[Factor], dict[int, Axis], Any]] | None:
    """Return a product as two, by p/(a + b p) = (1 - a/(a + b p))/b, of numbers a and b; None if it has no such
    part."""
    for r in factors:
        of = space.reciprocals[r.name].of if r.name in space.reciprocals and r.power > 0 else {}
        if len(of) != 2 or () not in of:
            continue
        ((part, b),) = ((made, c) for made, c in of.items() if made != ())
        for f in factors if len(part) == 1 else ():
            if (f.name, f.power) != (part[0].name, part[0].power):
                continue
            pairs = list(zip(part[0].at, f.at, strict=True))
            summed_over = {j for i, j in pairs if i >= SUMMED}
            here = all(j == r.at[i] for i, j in pairs if 0 <= i < SUMMED) and all(i == j for i, j in pairs if i < 0)
            alone = all(j in bound and [g for g in factors if j in g.at] == [f] for j in summed_over)
            if not here or not alone or len({j for _, j in pairs}) < len(pairs):
                continue
            rest = [g for g in factors if g not in (f, r)]
            left = {j: axis for j, axis in bound.items() if j not in summed_over}
            less = [r._replace(power=r.power - 1)] if r.power > 1 else []
            return [([*rest, *less], dict(left), 1 / b), ([*rest, r], dict(left), -of[()] / b)]
    return None


def _gram(
    space: Space, known: Kernel, kernel: Factor, inner: int, factors: list[Factor], bound: dict[int, Axis]
) -> tuple[int, int, list[Factor]] | None:
    """Return the feature and the other example of X X' at an example of an inverse, and their factors."""
    at_inner = [f for f in factors if inner in f.at and f != kernel]
    rows = [f for f in at_inner if f.name != OWNED]
    if inner not in bound or len(rows) != 1 or rows[0].name != known.matrix or rows[0].power != 1:
        return None
    feature = rows[0].at[1]
    pair = [f for f in factors if feature in f.at]
    if feature not in bound or len(pair) != 2 or any(f.name != known.matrix or f.power != 1 for f in pair):
        return None
    other = next(f.at[0] for f in pair if f != rows[0])
    owned = [f for f in at_inner if f.name == OWNED]
    if known.block:
        groups = _groups(space, factors)
        owner = {f.at[0]: f.at[1] for f in factors if f.name == OWNED}
        tied = groups.get(other, other) == groups.get(inner, inner)
        if not tied and (inner not in owner or owner.get(other) != owner[inner]):
            return None
    elif owned:
        return None
    return feature, other, [*pair, *owned]


def _labelled(space: Space, factors: list[Factor], bound: dict[int, Axis]) -> Product:
    """Return the canonical form of a product: its summed indices are named in the one order that makes it least."""
    places = [i for i in bound if any(i in f.at for f in factors)]
    colours: dict[int, Any] = {i: str(bound[i]) for i in places}
    for _ in range(4):
        seen = {
            i: (
                colours[i],
                sorted(
                    (f.name, f.power, tuple("" if j == i else str(colours.get(j, j)) for j in _ordered(space, f, i)))
                    for f in factors
                    if i in f.at
                ),
            )
            for i in places
        }
        ranks = {text: rank for rank, text in enumerate(sorted({str(s) for s in seen.values()}))}
        colours = {i: f"{bound[i]} {ranks[str(seen[i])]:04}" for i in places}
    classes = [[i for i in places if colours[i] == colour] for colour in sorted(set(colours.values()))]
    if _orders(classes) > ORDERS:
        raise Unread("a product has too many sums that are alike")
    best: Product | None = None
    for order in product(*(permutations(one) for one in classes)):
        names = {i: SUMMED + k for k, i in enumerate(i for one in order for i in one)}
        made = tuple(
            sorted(f._replace(at=tuple(sorted(f.at)) if _turns(space, f) else f.at) for f in renamed(factors, names))
        )
        best = made if best is None or made < best else best
    assert best is not None
    return best


def _turns(space: Space, f: Factor) -> bool:
    return f.name in space.kernels or is_same(f)


def _ordered(space: Space, f: Factor, first: int) -> tuple[int, ...]:
    """Return the indices of a factor, of a symmetric one with ``first`` before the other."""
    return (first, f.at[0] if f.at[1] == first else f.at[1]) if _turns(space, f) else f.at


def _orders(classes: list[list[int]]) -> int:
    found = 1
    for one in classes:
        for k in range(2, len(one) + 1):
            found *= k
    return found


def indices(one: Product) -> Iterator[int]:
    """Yield the summed indices of a product, each once."""
    yield from sorted({i for f in one for i in f.at if i >= SUMMED})
