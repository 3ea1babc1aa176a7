"""Bounds that hold for all numbers that rounded coefficients may stand for.

A proof is one for the fractions in the middle. With other coefficients it leaves a sum of their differences times
multipliers, inner products and function values. Where bounds of these are proved as well, from the same constraints,
the sum is as small as the differences: that much more is a bound for all. The bounds of inner products and values have
such sums themselves, which are bounded by all of these together.

Where a shift of all points, or of all values of a function, changes nothing, one of each is taken to be zero. Of the
coefficients that are near, those are meant for which a shift still changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from verify.pepit import invariances, points
from verify.pepit.model import Key, Model, Quantity
from verify.pepit.systems import Rational

#: Binary digits of what is added to a bound.
_DIGITS = 8


class Enclosure(NamedTuple):
    """The excess that makes a bound hold for all numbers that coefficients may stand for.

    ``shifts``: those are meant for which shifts change nothing that change nothing with the fractions in the middle;
    where this is False, any.
    """

    excess: Fraction
    shifts: bool


def enclosure(model: Model, multipliers: Sequence[Rational]) -> Enclosure | None:
    """The excess over the bound that multipliers prove for a model of rational coefficients, which have errors.

    None where inner products or function values that have such coefficients are not bounded.
    """
    fixed, shifts = _without_shifts(model)
    total = _spread(fixed, multipliers)
    if not any(total.values()):
        return Enclosure(Fraction(0), shifts)
    sizes = _sizes(fixed, total)
    if sizes is None:
        return None
    return Enclosure(_rounded_up(_at(total, sizes)), shifts)


def _rounded_up(value: Rational) -> Fraction:
    """A number of few digits, at least a positive one."""
    exact = Fraction(int(value.p), int(value.q))
    unit = Fraction(2) ** (exact.numerator.bit_length() - exact.denominator.bit_length() - _DIGITS)
    return -(-exact // unit) * unit


#: Bounds: of the sum of squares of some points, with their numbers, and of the size of function values by number.
class _Sizes(NamedTuple):
    rows: frozenset[int]
    squares: Rational
    values: Mapping[int, Rational]


#: Coefficients of sizes of inner products and function values; None is the place of the constant.
_Spread = Mapping[Key | None, Rational]


def _spread(model: Model, multipliers: Sequence[Rational]) -> _Spread:
    """Bounds of the remainder of a proof, by inner products and function values."""
    total: dict[Key | None, Rational] = {}
    for (quantity, factor), multiplier in zip(model.columns(), multipliers, strict=True):
        if multiplier:
            for key, error in quantity.errors.items():
                total[key] = total.get(key, Rational(0)) + abs(factor * multiplier) * error
    return total


def _rows(spread: _Spread) -> dict[int, Rational]:
    """Coefficients of squares of points that are at least the sum: an inner product is at most the mean of squares."""
    of: dict[int, Rational] = {}
    for key, c in spread.items():
        if isinstance(key, tuple):
            for row in key:
                of[row] = of.get(row, Rational(0)) + c / 2
    return of


def _values(spread: _Spread) -> dict[int, Rational]:
    return {key: c for key, c in spread.items() if isinstance(key, int)}


def _at(spread: _Spread, sizes: _Sizes) -> Rational:
    """The most that the sum may be."""
    rows = _rows(spread)
    assert rows.keys() <= sizes.rows
    total = spread.get(None, Rational(0)) + max(rows.values(), default=Rational(0)) * sizes.squares
    return total + sum((c * sizes.values[v] for v, c in _values(spread).items()), Rational(0))


def _sizes(model: Model, spread: _Spread) -> _Sizes | None:
    """Bounds of all that a sum needs, for all coefficients; None where some are not found."""
    rows, values = frozenset(_rows(spread)), frozenset(_values(spread))
    proofs: dict[frozenset[int] | int, tuple[Rational, list[_Spread]]] = {}
    while True:
        needed: list[frozenset[int] | int] = [*([rows] if rows else []), *values]
        for what in needed:
            if what not in proofs:
                found = _bounded(model, what)
                if found is None:
                    return None
                proofs[what] = found
        of = {what: proofs[what] for what in needed}
        spreads = [s for _, several in of.values() for s in several]
        more_rows = rows.union(*map(_rows, spreads))
        more_values = values.union(*map(_values, spreads))
        if (more_rows, more_values) == (rows, values):
            return _solved(rows, of)
        rows, values = more_rows, more_values


def _bounded(model: Model, what: frozenset[int] | int) -> tuple[Rational, list[_Spread]] | None:
    """A bound of the sum of squares of points, or of the size of a function value, and what its proofs leave."""
    if isinstance(what, int):
        wanted = [Quantity({what: Rational(sign)}) for sign in (1, -1)]
    else:
        wanted = [Quantity({(row, row): Rational(1) for row in what})]
    bound, spreads = Rational(0), []
    for of in wanted:
        dual = model.dual(of)
        point = points.near(dual)
        if point is None:
            return None
        assert dual.holds(point)
        bound = max(bound, dual.objective.at(point))
        spreads.append(_spread(model, point))
    return bound, spreads


def _solved(
    rows: frozenset[int], proofs: Mapping[frozenset[int] | int, tuple[Rational, list[_Spread]]]
) -> _Sizes | None:
    """Numbers that the sizes do not exceed, each of which is at most its bound and what the proof leaves at these.

    Let the sizes be at most t times the numbers, with the least t. A bound and the constants of a proof are at most
    half of its number, and so is what the proof leaves at the numbers: hence the sizes are at most 1/2 + t/2 times
    these, and t is at most 1.
    """
    zero = Rational(0)
    least = {what: bound + max(s.get(None, zero) for s in several) for what, (bound, several) in proofs.items()}
    largest = max(least.values(), default=zero)
    sizes = {what: 2 * bound if bound else largest / 2**20 or Rational(1) for what, bound in least.items()}
    values = {what: size for what, size in sizes.items() if isinstance(what, int)}
    found = _Sizes(rows, sizes.get(rows, zero), values)
    for what, (_, several) in proofs.items():
        for spread in several:
            linear: _Spread = {key: c for key, c in spread.items() if key is not None}
            if 2 * _at(linear, found) > sizes[what]:
                return None
    return found


# Shifts that change nothing


def _without_shifts(model: Model) -> tuple[Model, bool]:
    """The model in which one point and one value of each shift that changes nothing is zero; and whether there are
    coefficients among those that are near for which a shift changes something."""
    dropped: set[Key] = set()
    touched = False
    for pivot, direction in invariances.directions(model):
        if all(_is_mapped_to_zero(quantity, direction) for quantity in model.quantities()):
            dropped |= {(min(pivot, k), max(pivot, k)) for k in range(model.points)}
            moved = {k for k, v in enumerate(direction) if v}
            touched |= any(moved.intersection(key) for key in _erring(model) if isinstance(key, tuple))
    for pivot, direction in invariances.of_values(model):
        dropped.add(pivot)
        touched |= any(isinstance(key, int) and direction[key] for key in _erring(model))
    kept = [
        Quantity(
            {key: c for key, c in quantity.coefficients.items() if key not in dropped},
            quantity.constant,
            {key: e for key, e in quantity.errors.items() if key not in dropped},
        )
        for quantity in model.quantities()
    ]
    return model.replaced(kept), touched


def _erring(model: Model) -> set[Key | None]:
    return {key for quantity in model.quantities() for key in quantity.errors}


def _is_mapped_to_zero(quantity: Quantity, direction: Sequence[Rational]) -> bool:
    image: dict[int, Rational] = {}
    for (i, j), c in quantity.pairs():
        image[i] = image.get(i, Rational(0)) + c * direction[j]
        image[j] = image.get(j, Rational(0)) + c * direction[i]
    return not any(image.values())
