"""Quadratic forms with letters as few squares and products of sums of vectors.

A form is looked at block by block. What is taken from it, one after the other, is what leaves the shortest rest: a
square that has a name already, a square that takes away all products of one vector, or of two, or a product of two
sums. A square of means and one of deviations with the same weight are one of all clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from verify.multipliers.ratios import Ratio

Vector = dict[str, Ratio]
#: Coefficients of the products of two vectors in order.
Pairs = dict[tuple[str, str], Ratio]


class FormPart(NamedTuple):
    """A coefficient and two sums of vectors whose product it stands before; the same twice for a square."""

    coefficient: Ratio
    left: Vector
    right: Vector

    @property
    def is_square(self) -> bool:
        """Return True if it is a square."""
        return self.left is self.right


def pairs(vector: Vector, other: Vector, c: Ratio) -> Pairs:
    """A product of two sums of vectors, multiplied out."""
    found: Pairs = {}
    for a, x in vector.items():
        for b, y in other.items():
            place = (min(a, b), max(a, b))
            found[place] = found[place] + c * x * y if place in found else c * x * y
    return found


def less(form: Pairs, other: Pairs) -> Pairs:
    """A form without another."""
    found = dict(form)
    for place, c in other.items():
        found[place] = found[place] - c if place in found else -c
    return {place: c for place, c in found.items() if not c.is_zero}


def parts(form: Pairs, named: Sequence[Vector], size: Callable[[Ratio], int]) -> list[FormPart]:
    """A form of one block as few parts."""
    found: list[FormPart] = []
    while form:
        best = None
        for part, cost in _candidates(form, named, size):
            rest = less(form, pairs(part.left, part.right, part.coefficient))
            total = cost + size(part.coefficient) + sum(1 + size(c) for c in rest.values())
            if best is None or total < best[0]:
                best = total, part, rest
        here = sum(1 + size(c) for c in form.values())
        if best is None or best[0] >= here:
            break
        found.append(best[1])
        form = best[2]
    return found + [_alone(place, c) for place, c in form.items()]


def _alone(place: tuple[str, str], c: Ratio) -> FormPart:
    one = c / c
    left = {place[0]: one}
    return FormPart(c, left, left if place[0] == place[1] else {place[1]: one})


def _candidates(form: Pairs, named: Sequence[Vector], size: Callable[[Ratio], int]) -> Iterator[tuple[FormPart, int]]:
    """Parts, each with what it costs to write its vectors."""
    for vector in named:
        seen = set()
        for place, c in pairs(vector, vector, next(iter(vector.values())) ** 0).items():
            if place in form and (form[place] / c).key not in seen:
                seen.add((form[place] / c).key)
                yield FormPart(form[place] / c, vector, vector), 2
    rows = sorted({row for place in form for row in place})
    for row in rows:
        if (row, row) not in form:
            continue
        c = form[row, row]
        others = {b if a == row else a: x / c / 2 for (a, b), x in form.items() if row in (a, b) and a != b}
        if others:
            vector = {row: c / c, **others}
            yield FormPart(c, vector, vector), _cost(vector, size)
        for other, x in others.items() if len(others) > 1 else ():
            vector = {row: c / c, other: x}
            yield FormPart(c, vector, vector), _cost(vector, size)
    for a, b in combinations(rows, 2):
        found = _factors(form, a, b)
        if found is not None:
            yield found, _cost(found.left, size) + _cost(found.right, size)


def _cost(vector: Vector, size: Callable[[Ratio], int]) -> int:
    return sum(1 + size(c) for c in vector.values())


def _factors(form: Pairs, a: str, b: str) -> FormPart | None:
    """The part of a form in two vectors as a product of two sums of them, if it is one of quotients."""
    first, cross, last = (form.get(place) for place in ((a, a), (a, b), (b, b)))
    if first is None or cross is None or last is None:
        return None
    root = square_root(cross * cross - 4 * first * last)
    if root is None or root.is_zero:
        return None
    one = first / first
    roots = [(cross + root * sign) / first / 2 for sign in (1, -1)]
    return FormPart(first, {a: one, b: roots[0]}, {a: one, b: roots[1]})


def square_root(c: Ratio) -> Ratio | None:
    """A quotient whose square it is."""
    found = []
    for p in (c.num, c.den):
        constant, factors = p.factor()
        if constant <= 0 or any(int(power) % 2 for _, power in factors):
            return None
        up, down = int(constant.p), int(constant.q)
        roots = round(up**0.5), round(down**0.5)
        if roots[0] ** 2 != up or roots[1] ** 2 != down:
            return None
        root = p.context().constant(roots[0]) / roots[1]
        for factor, power in factors:
            root = root * factor ** (int(power) // 2)
        found.append(root)
    return Ratio.of(*found)


def joined(
    means: list[FormPart], deviations: list[FormPart], partners: Mapping[str, str], n: Ratio
) -> list[tuple[FormPart, bool]]:
    """Parts of both blocks, those of all clients as one; with each, whether it is summed over the clients.

    ``partners``: the deviation of what a row is the mean of.
    """
    left, found = list(deviations), []
    for part in means:
        of = next((k for k, other in enumerate(left) if _one(part, other, partners, n) is not None), None)
        if of is None:
            found.append((part, False))
        else:
            whole = _one(part, left.pop(of), partners, n)
            assert whole is not None
            found.append((whole, True))
    return found + [(part, True) for part in left]


def _one(mean: FormPart, deviation: FormPart, partners: Mapping[str, str], n: Ratio) -> FormPart | None:
    """The part that both belong to, n times for the means."""
    if mean.is_square != deviation.is_square:
        return None
    left = _scaled(mean.left, deviation.left, partners)
    right = left if mean.is_square else _scaled(mean.right, deviation.right, partners)
    if left is None or right is None:
        return None
    c = deviation.coefficient / left[1] / right[1]
    if not (mean.coefficient - n * c).is_zero:
        return None
    both = {**mean.left, **left[0]}
    return FormPart(c, both, both if mean.is_square else {**mean.right, **right[0]})


def _scaled(mean: Vector, deviation: Vector, partners: Mapping[str, str]) -> tuple[Vector, Ratio] | None:
    """A vector of deviations times what makes its coefficients those of the means, and that number."""
    shared = [row for row in mean if partners.get(row) in deviation]
    if not shared:
        return None
    times = mean[shared[0]] / deviation[partners[shared[0]]]
    scaled = {row: c * times for row, c in deviation.items()}
    for row, partner in partners.items():
        a, b = mean.get(row), scaled.get(partner)
        if (a is None) != (b is None) or (a is not None and not (a - b).is_zero):
            return None
    return scaled, times


def size_of(c: Any) -> int:
    """The length of a quotient: the number of terms of its factors."""
    total = 0
    for p in (c.num, c.den):
        constant, factors = p.factor()
        total += sum(len(factor) + (len(factor) > 1) for factor, _ in factors) + (abs(constant) != 1)
    return total
