"""One coordinate, drawn by one uniform variate with probabilities in proportion to the sizes of the entries: its code
read in one coordinate, as that of an entry that is drawn with its share of the sum of all sizes.

    below = np.cumsum(abs(x), axis=-1)
    j = (below <= u * below[..., -1:]).sum(axis=-1, keepdims=True).clip(max=d - 1)
    np.arange(d) == j
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from verify.reading import terms
from verify.reading.arrays import as_term
from verify.reading.reader import Reader
from verify.reading.terms import NUMBER, Op, Term
from verify.reading.values import Condition, Named, Rule, Scope

#: The uniform variate of an entry, that of the whole vector, the sum of the sizes of all entries, and the chance of an
#: entry where this is 0.
U, ONE_U, TOTAL, CHANCE = (
    terms.leaf(Op.GIVEN, name, NUMBER) for name in ("u", "the one u", "the sum of all sizes", "chance")
)
_SUMS, _INDEX, _PLACES = "the running sums of the sizes", "the coordinate that is drawn", "all coordinates"


def running_sums(of: Any, sizes: Iterable[Term], axis: Any) -> Named:
    """Return the running sums of one of these terms, the sizes of all entries."""
    if type(axis) is not int or axis != -1 or not any(of is size for size in sizes):
        raise ValueError("running sums are taken of something other than the sizes of the entries, as abs gives them")
    return Named(_SUMS, {"size": of})


def places(count: Any, d: Term) -> Named:
    """Return the numbers of all coordinates."""
    if count is not d:
        raise ValueError("places are numbered that are not those of the coordinates")
    return Named(_PLACES, {})


class EntryReader(Reader):
    """A reader of code in one coordinate, by which one may be selected. ``d``: the number of coordinates."""

    def __init__(self, known: Iterable[tuple[Any, Any]], d: Term) -> None:
        super().__init__(known, ())
        self._count = d

    def _value(self, at: ast.expr, scope: Scope) -> Any:
        if isinstance(at, ast.Compare) and len(at.ops) == 1:
            return self._placed(at, scope, lambda: self._selected(at, scope))
        if isinstance(at, ast.Subscript):
            return self._placed(at, scope, lambda: self._last(at, scope))
        return super()._value(at, scope)

    def _selected(self, at: ast.Compare, scope: Scope) -> Any:
        one, other = self._value(at.left, scope), self._value(at.comparators[0], scope)
        by = at.ops[0]
        if _is(one, _SUMS) and isinstance(by, ast.Lt | ast.LtE):
            # That they are equal has probability 0, where the sum is not 0.
            return self._counted(one, as_term(other))
        if _is(one, _PLACES) and _is(other, _INDEX) and isinstance(by, ast.Eq):
            nothing = self.answered(Condition("==", (TOTAL, terms.constant(0))))
            chance = CHANCE if nothing else terms.divide(other.fields["size"], TOTAL)
            return Condition("<=", (U, chance))
        names = Scope({"left": one, "right": other}, scope, None, scope.module, scope.within, frozenset())
        again = ast.Compare(ast.Name("left", ast.Load()), at.ops, [ast.Name("right", ast.Load())])
        return super()._value(ast.copy_location(again, at), names)

    def _last(self, at: ast.Subscript, scope: Scope) -> Any:
        value = self._value(at.value, scope)
        if _is(value, _SUMS):
            if ast.unparse(at.slice).strip("()") != "..., -1:":
                raise ValueError("of running sums a part is taken that is not [..., -1:]")
            return TOTAL
        names = Scope({"value": value}, scope, None, scope.module, scope.within, frozenset())
        again = ast.Subscript(ast.copy_location(ast.Name("value", ast.Load()), at), at.slice, ast.Load())
        return super()._value(ast.copy_location(again, at), names)

    def _counted(self, of: Named, level: Term) -> Named:
        if level.op is not Op.MULTIPLY or {id(part) for part in level.of} != {id(ONE_U), id(TOTAL)}:
            raise ValueError("running sums are compared with something other than the variate times the last of them")

        def total(axis: Any = None, keepdims: Any = False) -> Named:
            if type(axis) is not int or axis != -1 or keepdims is not True:
                raise ValueError("running sums are counted along another axis, or without keepdims")
            index: dict[str, Any] = {"size": of.fields["size"]}
            return Named(_INDEX, {**index, "clip": Rule("clip", lambda max: self._clipped(index, max))})

        return Named("the running sums below a level", {"sum": Rule("sum", total)})

    def _clipped(self, index: dict[str, Any], largest: Any) -> Named:
        term = as_term(largest)
        one = term.of[1] if term.op is Op.ADD and len(term.of) == 2 and term.of[0] is self._count else None
        if one is None or not _is_minus_one(one):
            raise ValueError("the index of a coordinate is clipped at a number other than d - 1")
        return Named(_INDEX, index)


def _is(value: Any, what: str) -> bool:
    return isinstance(value, Named) and value.what == what


def _is_minus_one(term: Term) -> bool:
    """Return True if a term is -1, as it is written or as 1 with a minus."""
    if term.op is Op.CONSTANT:
        return bool(term.data == -1)
    factors = [part.data for part in term.of if part.op is Op.CONSTANT]
    return term.op is Op.MULTIPLY and sorted(factors) == [-1, 1]
