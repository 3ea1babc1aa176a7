"""The regions in which each method of a table wins, as two of its letters vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import NDArray

from fedtheory.numbers import symbols
from fedtheory.tables import Row, Table, growth

#: Costs within this factor of the least are a tie: an order says no more.
TIE = 2.0
#: Points a decade, and the most on an axis.
_DENSITY, _MOST = 40, 400
#: A lead, in e-foldings, beyond which it does not matter how large it is.
_FAR = 50.0
#: Costs that differ by less, relatively, are equal.
_ROUNDING = 1e-9
#: The largest end of a range: products of a few such numbers are still finite.
_LARGEST = 1e30


class LetterRange(NamedTuple):
    """A letter that varies from ``low`` to ``high``, in equal ratios."""

    name: str
    low: float
    high: float

    @property
    def values(self) -> NDArray[np.float64]:
        """The points of the axis, in equal ratios."""
        decades = np.log10(self.high / self.low)
        return np.geomspace(self.low, self.high, int(np.clip(_DENSITY * decades, 2, _MOST - 1)) + 1)


@dataclass(frozen=True)
class Regions:
    """The winners over a grid.

    ``costs (methods, ny, nx)``: NaN where the values are impossible; ``winners``, of the same shape: whether a method
    is within the tie of the least; ``groups``: the sets of methods that win somewhere, the most frequent first;
    ``index (ny, nx)``: which of them wins, -1 where the values are impossible; ``values``: of all letters.
    """

    table: Table
    x: LetterRange
    y: LetterRange
    at: Mapping[str, float]
    tie: float
    methods: tuple[str, ...]
    costs: NDArray[np.float64]
    winners: NDArray[np.bool_]
    groups: tuple[tuple[str, ...], ...]
    index: NDArray[np.int_]
    values: Mapping[sympy.Symbol, Any]

    def share(self, group: int) -> float:
        """The share of the grid, where values are possible, in which this group wins."""
        return float((self.index == group).sum() / (self.index >= 0).sum())

    def leading(self) -> tuple[tuple[sympy.Expr, ...], NDArray[np.float64]]:
        """Terms of the costs, and by how many e-foldings each leads the others in the least cost ``(terms, ny, nx)``.

        Negative where it does not lead, NaN where values are impossible. Without terms when a cost is not a sum of
        monomials.
        """
        compared = {row.label: row.measures[0] for row in self.table.rows}
        try:
            sums = [growth.monomials(compared[label]) for label in self.methods]
        except ValueError:
            return (), np.empty((0, *self.index.shape))
        terms = tuple(dict.fromkeys(term for terms in sums for term in terms))
        sizes = np.log([np.broadcast_to(_numbers(term, self.values), self.index.shape) for term in terms])
        # Among equal methods, the one that is best most often, so that no line is drawn where nothing changes.
        costs = np.nan_to_num(self.costs, nan=np.inf)
        often = np.argsort(-np.bincount(np.argmin(costs, axis=0).ravel(), minlength=len(sums)), kind="stable")
        best = often[np.argmax(costs[often] <= costs.min(axis=0) * (1 + _ROUNDING), axis=0)]
        part = np.array([[term in kept for kept in sums] for term in terms])[:, best]
        sizes = np.where(part, sizes, -np.inf)
        others = np.array([np.delete(sizes, i, axis=0).max(axis=0, initial=-_FAR) for i in range(len(terms))])
        return terms, np.where(self.index >= 0, np.clip(sizes - others, -_FAR, _FAR), np.nan)


def axis(text: str) -> LetterRange:
    """An axis from "n=1:1e6". Raise ``ValueError`` if it is not one."""
    name, _, ends = text.partition("=")
    low, _, high = ends.partition(":")
    try:
        found = LetterRange(name, float(low), float(high))
    except ValueError:
        raise ValueError(f"a range LETTER=LOW:HIGH was expected, such as n=1:1e6, got {text!r}") from None
    if not (name and 1 / _LARGEST <= found.low < found.high <= _LARGEST):
        raise ValueError(f"a range needs 0 < LOW < HIGH, from {1 / _LARGEST:g} to {_LARGEST:g}, got {text!r}")
    return found


def regions(table: Table, x: LetterRange, y: LetterRange, at: Mapping[str, float], tie: float = TIE) -> Regions:
    """Compare the methods by the table's first measure. ``ValueError`` as for :meth:`Table.resolve`."""
    if x.name == y.name or {x.name, y.name} & at.keys():
        raise ValueError(f"{x.name if x.name in (y.name, *at) else y.name} is given twice")
    for ends in ((x.low, y.low), (x.high, y.high)):
        # An integer need not be one on the axis: orders are meant for all values.
        corner = {
            axis.name: float(round(end)) if table.letter(axis.name).is_integer and end >= 1 else end
            for axis, end in zip((x, y), ends, strict=True)
        }
        given = table.resolve({**at, **corner})
        table.check(given, most=1)
    values: dict[sympy.Symbol, Any] = {symbol: float(value) for symbol, value in given.items()}
    values.setdefault(symbols.epsilon, np.exp(-1))
    values[table.letter(x.name)], values[table.letter(y.name)] = np.meshgrid(x.values, y.values)
    for symbol, expression in table.derived.items():
        if symbol.name not in (*at, x.name, y.name) and expression.free_symbols <= values.keys():
            values[symbol] = _numbers(expression, values)
    rows = [r for r in table.rows if r.method and r.measures[0] is not None and r.letters(1) <= values.keys()]
    shape = values[table.letter(x.name)].shape
    costs = np.array([np.broadcast_to(_cost(r, values), shape) for r in rows])
    for relation in table.domain:
        if relation.free_symbols <= values.keys():
            costs = np.where(_numbers(relation, values), costs, np.nan)
    if not np.isfinite(costs).any():
        raise ValueError(f"no values in these ranges are possible for the table {table.name}")
    winners = costs <= tie * costs.min(axis=0)
    codes = np.tensordot(2 ** np.arange(len(rows)), winners, axes=1)
    found, counts = np.unique(codes[codes > 0], return_counts=True)
    ordered = found[np.argsort(-counts, kind="stable")]
    labels = tuple(r.label for r in rows)
    groups = tuple(tuple(label for i, label in enumerate(labels) if code >> i & 1) for code in ordered)
    index = np.full(shape, -1)
    for group, code in enumerate(ordered):
        index[codes == code] = group
    return Regions(table, x, y, dict(at), tie, labels, costs, winners, groups, index, values)


def _cost(row: Row, values: Mapping[sympy.Symbol, object]) -> Any:
    known = dict(values)
    for letter, expression in row.lets:
        known[letter] = _numbers(expression, known)
    return _numbers(row.measures[0], known)


def _numbers(expression: Any, values: Mapping[sympy.Symbol, object]) -> Any:
    # numpy's own extrema want arguments of one shape.
    extrema = {
        "amax": lambda parts, axis: reduce(np.maximum, parts),
        "amin": lambda parts, axis: reduce(np.minimum, parts),
    }
    letters = sorted(expression.free_symbols, key=str)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sympy.lambdify(letters, expression, [extrema, "numpy"])(*(values[s] for s in letters))
