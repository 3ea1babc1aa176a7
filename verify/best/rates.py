"""Simple functions of the letters that lie just beyond numbers known at points: rates, and gains of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.numbers.rational import Array

#: Powers of the letters in a product.
_POWERS = (-2, -1, 1, 2)
#: The most letters of a product.
_LETTERS = 4
#: Numbers in front of a product.
_CONSTANTS = tuple(
    Fraction(v) for v in ("1", "2", "1/2", "4", "1/4", "3", "1/3", "3/2", "2/3", "8", "1/8", "6", "1/6", "3/4")
)
#: The largest distance of a function on the wrong side, relative to 1 - rate.
_ROOM = 1e-4
#: Functions that are paired, two at a time.
_PAIRED = 300
#: The most functions that are returned.
_KEPT = 40
#: The factor by which a longer function has to be nearer if one of them is the least rate.
_LONGER = 0.02
#: The same factor elsewhere: larger, since plain functions have proofs.
_PLAINER = 0.3
#: At which part of the points a function has to be beyond the number there, as a solver is not sure of all of them.
_NEARLY = 0.9
#: The largest distance of a function beyond the ends of intervals, which a solver finds.
_WITHIN = 1e-3
#: The loss of what is exact but for the errors of a solver.
EXACT = 1e-2


#: A function of a product, of its values too.
Shape = Callable[[Any], Any]


class Named(NamedTuple):
    """A function of the letters, its values ``(points,)``, and how far it is from the numbers there."""

    expression: sympy.Expr
    values: Array
    loss: float


@dataclass(frozen=True, eq=False)
class Products:
    """Products of powers of letters and a number: powers ``(products, letters)``, values ``(products, points)``, and
    lengths ``(products,)``."""

    letters: tuple[sympy.Symbol, ...]
    powers: Array
    constants: Sequence[Fraction]
    values: Array
    lengths: Array

    def expression(self, k: int) -> sympy.Expr:
        """One of them."""
        c = self.constants[k]
        factors = (x ** int(e) for x, e in zip(self.letters, self.powers[k], strict=True) if e)
        return sympy.Rational(c.numerator, c.denominator) * sympy.Mul(*factors)


def products(at: Mapping[sympy.Symbol, Array], degrees: Mapping[sympy.Symbol, Array], of: Array) -> Products:
    """All products of the degrees ``of (gradings,)``, of letters with values ``at`` points and with degrees."""
    letters = tuple(at)
    found = [()] if not letters else [
        tuple(dict(zip(some, powers, strict=True)).get(i, 0) for i in range(len(letters)))
        for count in range(min(_LETTERS, len(letters)) + 1)
        for some in combinations(range(len(letters)), count)
        for powers in product(_POWERS, repeat=count)
    ]  # fmt: skip
    E = np.array(found, float).reshape(len(found), len(letters))
    D = np.array([degrees[x] for x in letters]).reshape(len(letters), len(of))
    E = E[(np.abs(E @ D - of) < 1e-9).all(axis=1)]
    V = np.exp(E @ np.log([at[x] for x in letters]))
    c = np.array([float(v) for v in _CONSTANTS])
    size = 0.5 * np.array([v.numerator + v.denominator - 2 for v in _CONSTANTS])
    return Products(
        letters,
        np.repeat(E, len(c), axis=0).astype(int),
        _CONSTANTS * len(E),
        (V[:, None, :] * c[:, None]).reshape(len(E) * len(c), -1),
        (np.abs(E).sum(axis=1)[:, None] + size).ravel(),
    )


def rates(of: Products, least: Array) -> list[Named]:
    """Rates that are at nearly no point below the ``least`` ones ``(points,)``, the nearest first: one minus a product,
    a product, squares of these, quotients, and the larger one of two. Where none is the least, those that are one minus
    a product, or the square of one minus letters, the plainest first: what else is near it by chance has no short
    proof.
    """
    found = _rates(of, least, [(shape, more, False) for shape, more in _SHAPES], _LONGER)
    if found and min(one.loss for one in found) <= EXACT:
        return found
    return _rates(of, least, [(*_SHAPES[0], False), (*_SHAPES[1], True)], _PLAINER)


def _rates(of: Products, least: Array, shapes: Sequence[tuple[Shape, float, bool]], longer: float) -> list[Named]:
    """The same of shapes, each with its length, and whether it is one of letters without a number; ``longer``: what
    a longer one has to be nearer."""
    left, known, values, lengths = 1 - least, [], [], []
    bare = np.array([c == 1 for c in of.constants])
    for shape, more, is_bare in shapes:
        with np.errstate(divide="ignore"):
            V = shape(of.values)
        good = np.flatnonzero(((V >= 0) & (V <= 1)).all(axis=1) & (of.powers != 0).any(axis=1) & (bare | (not is_bare)))
        known += [(shape, int(k)) for k in good]
        values.append(V[good])
        lengths.append(of.lengths[good] + more)
    V, size = np.concatenate(values), np.concatenate(lengths)
    whole, everywhere = (_is_beyond(V, left, part) for part in (_NEARLY, 1))
    ranked: list[tuple[float, tuple[int, ...]]] = []
    ranked += [(_rank(_loss(left, 1 - V[k]), size[k], longer), (int(k),)) for k in np.flatnonzero(whole)]
    pool = np.argsort(size, kind="stable")
    # What is beyond the least rate at all points but a few may be one of two that are beyond it at all.
    pool = pool[~everywhere[pool]][:_PAIRED]
    for place, a in enumerate(pool):
        rest = pool[place + 1 :]
        both = np.maximum(V[a], V[rest])
        enough = _is_beyond(both, left, 1) | (_is_beyond(both, left, _NEARLY) & ~whole[rest] & ~whole[a])
        for b in np.flatnonzero(enough):
            length = size[a] + size[rest[b]] + 1
            ranked.append((_rank(_loss(left, 1 - both[b]), length, longer), (int(a), int(rest[b]))))
    found: dict[sympy.Expr, Named] = {}
    for _, some in sorted(ranked)[:_KEPT]:
        expression = sympy.Max(*(shape(of.expression(k)) for shape, k in (known[j] for j in some)))
        at = V[list(some)].max(axis=0)
        found.setdefault(expression, Named(expression, at, _loss(left, 1 - at)))
    return list(found.values())


def between(of: Products, low: Array, high: Array) -> list[Named]:
    """Products that are between two numbers at all points ``(points,)``, the shortest first."""
    inside = (of.values >= low * (1 - _WITHIN)) & (of.values <= high * (1 + _WITHIN))
    good = np.flatnonzero(inside.all(axis=1))
    ranked = sorted((float(of.lengths[k]), int(k)) for k in good)
    return [Named(of.expression(k), of.values[k], 0.0) for _, k in ranked]


def gains(of: Products, most: Array) -> list[Named]:
    """Products that are nowhere above the ``most`` ``(points,)``, the nearest first."""
    good = np.flatnonzero((of.values <= most * (1 + _ROOM)).all(axis=1))
    ranked = sorted((_rank(_loss(most, of.values[k]), of.lengths[k], _LONGER), int(k)) for k in good)
    return [Named(of.expression(k), of.values[k], _loss(most, of.values[k])) for _, k in ranked[:_KEPT]]


_SHAPES: tuple[tuple[Shape, float], ...] = (
    (lambda p: 1 - p, 0.0),
    (lambda p: (1 - p) ** 2, 0.5),
    (lambda p: p, 0.5),
    (lambda p: 1 / (1 + p), 1.0),
    (lambda p: 1 / (1 + p) ** 2, 1.5),
)


def _is_beyond(values: Array, left: Array, part: float) -> Array:
    """Return True for rates ``(..., points)`` that are no less than the least ones at all points, or at more than this
    part of them."""
    share = (1 - values <= left * (1 + _ROOM)).mean(axis=-1)
    beyond = (share > part) | (share == 1)
    return np.asarray(beyond & (values < 1).all(axis=-1))


def _loss(most: Array, values: Array) -> float:
    """The shortfall of values from the largest possible ones: the mean of the logarithms."""
    return float(np.mean(np.log(np.maximum(most, 1e-300) / values)))


def _rank(loss: float, length: float, longer: float) -> float:
    return round(max(loss, 0.0) + longer * float(length), 4)
