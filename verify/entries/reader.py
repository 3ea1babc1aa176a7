"""The reader of code about arrays whose lengths are letters: as that of other code, with entries for what it computes.

Comprehensions and loops run over an index that is a symbol; a loop may only add to places of an array of zeros. What
has to hold so that the code runs as it is read is kept, with what is known of the indices there.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy

from verify.entries import in_place, sums
from verify.entries.arrays import Listed, array, index, matmul
from verify.entries.rules import functions
from verify.entries.sums import PLACES, Grid, Place, Range, power
from verify.reading.expressions import refused
from verify.reading.operations import PLAIN, joined
from verify.reading.reader import Reader
from verify.reading.values import Condition, Rule, Scope, SymbolicRange, Unknown, relation_of

#: What is owed: a relation, with what is known where it is.
Owed = tuple[sympy.Basic, tuple[sympy.Basic, ...]]


class EntryReader(Reader):
    """A reader whose values are arrays entry by entry. ``owed``: what has to hold for the code to run as read."""

    def __init__(self) -> None:
        super().__init__(functions(self.owe), ())
        self.owed: list[Owed] = []
        self._within: tuple[sympy.Basic, ...] = ()

    def owe(self, *relations: sympy.Basic) -> None:
        """Keep relations that have to hold here."""
        self.owed += [(relation, self._within) for relation in relations if relation is not sympy.true]

    def answered(self, condition: Condition) -> bool:
        """Refuse to read on past a branch that depends on letters."""
        raise ValueError("a branch depends on letters or indices")

    # Expressions

    def _value(self, at: ast.expr, scope: Scope) -> Any:
        compute = _OWN.get(type(at))
        if compute is None:
            return super()._value(at, scope)
        self._left -= 1
        return self._placed(at, scope, lambda: compute(self, at, scope))

    def _attribute_of(self, value: Any, name: str) -> Any:
        if isinstance(value, Grid):
            if name == "sum":
                return Rule("sum", lambda axis=None: self._total(value, axis))
            raise ValueError(f"nothing is known of {name} of an array")
        return super()._attribute_of(value, name)

    def _total(self, one: Grid, axis: Any) -> Grid:
        place = -1 if axis is None and len(one.lengths) == 1 else axis
        if type(place) is not int or not -len(one.lengths) <= place < 0:
            raise ValueError("a sum must name its axis, counted from the last")
        return sums.total(one, -1 - place)

    def _called_with(self, at: ast.Call, scope: Scope) -> Any:
        function = self._value(at.func, scope)
        if any(isinstance(part, ast.Starred) for part in at.args) or any(k.arg is None for k in at.keywords):
            raise ValueError("arguments are unpacked")
        # A generator is used up where it is made.
        generator = len(at.args) == 1 and isinstance(at.args[0], ast.GeneratorExp)
        if generator and function is self.lifted(builtins.sum):
            given: tuple[Any, ...] = (self._placed(at, scope, lambda: self._comprised(at.args[0], scope)),)
        else:
            given = tuple(self._value(part, scope) for part in at.args)
        named = {str(keyword.arg): self._value(keyword.value, scope) for keyword in at.keywords}
        return self._called(function, given, named)

    def _comprised(self, at: Any, scope: Scope) -> Listed:
        generator = at.generators[0]
        if len(at.generators) > 1 or generator.ifs or not isinstance(generator.target, ast.Name):
            raise ValueError("it has conditions, or loops within loops")
        over = self._range(self._value(generator.iter, scope), generator.target.id)
        names = {generator.target.id: index(over)}
        inner = Scope(names, scope, None, scope.module, scope.within, frozenset(names))
        value = self._for_each(over, lambda: self._value(at.elt, inner))
        if type(value) is bool or isinstance(value, Condition):
            raise ValueError("truth values are listed")
        return Listed(over, array(value))

    def _range(self, value: Any, name: str) -> Range:
        if isinstance(value, SymbolicRange) and isinstance(value.end, tuple):
            start, stop, step = value.end
        elif type(value) is range:
            start, stop, step = map(sympy.Integer, (value.start, value.stop, value.step))
        else:
            raise ValueError("a loop runs over something other than a range")
        return Range(sympy.Dummy(name, integer=True), start, stop, step)

    def _for_each(self, over: Range, compute: Any) -> Any:
        before, self._within = self._within, (*self._within, *over.holds())
        try:
            return compute()
        finally:
            self._within = before

    def _computed(self, at: ast.BinOp, scope: Scope) -> Any:
        one, other = self._value(at.left, scope), self._value(at.right, scope)
        if all(type(side) is bool or isinstance(side, Condition) for side in (one, other)):
            raise ValueError("two truth values are computed with, which numpy takes as a logical operation")
        return self.operated(at.op, one, other)

    def operated(self, by: ast.operator, one: Any, other: Any) -> Grid:
        """Return the result of an operator."""
        a, b = array(one), array(other)
        if isinstance(by, ast.Add):
            return sums.add(a, b)
        if isinstance(by, ast.Sub):
            return sums.add(a, sums.negative(b))
        if isinstance(by, ast.Mult):
            return sums.multiply(a, b)
        if isinstance(by, ast.Div):
            divisor = b.number()
            self.owe(sympy.Ne(divisor, 0, evaluate=False))
            return sums.multiply(Grid(a.lengths, a.of), sums.number(1 / divisor, False))
        if isinstance(by, ast.Pow):
            return self._power(a, b.number(), b.whole)
        if isinstance(by, ast.MatMult):
            return matmul(a, b)
        raise ValueError(f"no rule says what {type(by).__name__} is")

    def _power(self, base: Grid, exponent: sympy.Expr, whole: bool) -> Grid:
        if not whole:
            raise ValueError("a power has an exponent that is not a whole number")
        if exponent.is_Integer and 0 < exponent <= 8:
            found = base
            for _ in range(int(exponent) - 1):
                found = sums.multiply(found, base)
            return found
        of = base.number()
        least = sympy.Ge(exponent, 0, evaluate=False)
        # An integer to a negative power is a float.
        self.owe(least if base.whole else sympy.Or(least, sympy.Ne(of, 0, evaluate=False)))
        return sums.number(power(of, exponent), base.whole)

    def _signed(self, at: ast.UnaryOp, scope: Scope) -> Any:
        value = self._value(at.operand, scope)
        if isinstance(at.op, ast.Not):
            if not isinstance(value, Condition):
                raise ValueError("not is taken of something other than a condition on letters")
            return Condition("not", (value,))
        if type(value) in (int, Fraction) and isinstance(at.op, ast.USub | ast.UAdd):
            return -value if isinstance(at.op, ast.USub) else value
        if isinstance(at.op, ast.USub) and isinstance(value, Grid):
            return sums.negative(array(value))
        raise ValueError("a sign is put before something that is not a number")

    def _related(self, at: ast.Compare, scope: Scope) -> Any:
        values = [self._value(side, scope) for side in (at.left, *at.comparators)]
        found = []
        for by, one, other in zip(at.ops, values, values[1:], strict=False):
            if type(one) in PLAIN and type(other) in PLAIN and type(by) in _PLAINLY:
                found.append(_PLAINLY[type(by)](one, other))
            elif type(by) in _ORDERS:
                text, turned = _ORDERS[type(by)]
                sides = sums.number(array(one).number()), sums.number(array(other).number())
                found.append(Condition(text, sides[::-1] if turned else sides))
            else:
                raise ValueError("a comparison is neither of letters nor of literals")
        return joined("and", found)

    # Indices

    def _indexed(self, at: ast.Subscript, scope: Scope) -> Any:
        value = self._value(at.value, scope)
        if not isinstance(value, Grid):
            raise ValueError("something other than an array is indexed")
        return self._taken(value, list(self._items(at, scope)))

    def _items(self, at: ast.Subscript, scope: Scope) -> Iterator[Any]:
        """Yield what stands between the brackets: None, an ellipsis, a number, or the ends of a slice."""
        for item in at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]:
            if isinstance(item, ast.Slice):
                if item.step is not None:
                    raise ValueError("a slice has a step")
                yield tuple(None if end is None else self._value(end, scope) for end in (item.lower, item.upper))
            else:
                found = self._value(item, scope)
                yield found if found is None or found is Ellipsis else array(found).number()

    def _taken(self, one: Grid, items: list[Any]) -> Grid:
        taken = sum(item is not None and item is not Ellipsis for item in items)
        if items.count(Ellipsis) > 1 or taken > len(one.lengths):
            raise ValueError("an array has more indices than axes")
        axis = 0
        for k, item in enumerate(items):
            if item is Ellipsis:
                axis += len(one.lengths) - axis - sum(i is not None for i in items[k + 1 :])
                continue
            place = len(one.lengths) - 1 - axis
            if item is None:
                one = sums.inserted(one, place + 1)
            elif isinstance(item, tuple):
                one = self._part(one, place, *item)
            else:
                one = self._at(one, place, item)
                continue
            axis += 1
        return one

    def _at(self, one: Grid, place: int, index: sympy.Expr) -> Grid:
        """Return the entries at one index along an axis."""
        lengths = list(reversed(one.lengths))
        length = lengths.pop(place)
        at = index if not (index.is_Integer and index < 0) else index + length
        self.owe(sympy.Ge(at, 0, evaluate=False), sympy.Lt(at, length, evaluate=False))
        if one.whole and not lengths:
            raise ValueError("a whole number is taken out of an array, where it has 64 bits")
        names = {PLACES[k + 1]: PLACES[k] for k in range(place, len(lengths))}
        return sums.moved(one, {PLACES[place]: at, **names}, lengths[::-1])

    def _ends(self, length: sympy.Expr, low: Any, high: Any) -> tuple[sympy.Expr, sympy.Expr]:
        """Return the ends of a slice, which have to lie within the axis and in order."""
        ends = [default if end is None else array(end).number() for end, default in ((low, 0), (high, length))]
        first, last = (sympy.sympify(end + length if end.is_negative else end) for end in map(sympy.sympify, ends))
        self.owe(*(sympy.Ge(gap, 0, evaluate=False) for gap in (first, last - first, length - last) if gap != 0))
        return first, last

    def _part(self, one: Grid, place: int, low: Any, high: Any) -> Grid:
        lengths = list(reversed(one.lengths))
        first, last = self._ends(lengths[place], low, high)
        lengths[place] = sympy.expand(last - first)
        return sums.moved(one, {PLACES[place]: PLACES[place] + first}, lengths[::-1])

    # Statements

    def _do(self, at: ast.stmt, scope: Scope) -> None:
        if isinstance(at, ast.AugAssign) and isinstance(at.target, ast.Subscript):
            more = self._placed(at, scope, lambda: self._added(at, scope))
            name, before = self._name_of(at, scope)
            scope.names[name] = sums.add(before, more)
        elif isinstance(at, ast.For):
            self._placed(at, scope, lambda: self._looped(at, scope))
        elif isinstance(at, ast.If) and len(at.body) == 1 and isinstance(at.body[0], ast.Raise) and not at.orelse:
            value = self._value(at.test, scope)
            if isinstance(value, Condition):
                self.owe(sympy.Not(self.relation(value)))
            elif value is not False:
                raise refused(at, scope, "an error is raised")
        elif isinstance(at, ast.FunctionDef | ast.AugAssign):
            raise refused(at, scope, "statements of this kind are not read here")
        else:
            super()._do(at, scope)

    def _run(self, body: list[ast.stmt], scope: Scope) -> None:
        in_place.check(body)
        super()._run(body, scope)

    def relation(self, condition: Any) -> sympy.Basic:
        """Return a condition as a relation."""
        return relation_of(condition, lambda side: side.number())

    def _name_of(self, at: ast.AugAssign, scope: Scope) -> tuple[str, Grid]:
        target: Any = at.target
        name = target.value.id if isinstance(target.value, ast.Name) else ""
        before = scope.names.get(name)
        if not isinstance(before, Grid) or not before.whole or not isinstance(at.op, ast.Add):
            raise refused(at, scope, "it changes something other than an array of whole zeros that this call made")
        return name, before

    def _added(self, at: ast.AugAssign, scope: Scope) -> Grid:
        """Return what a statement adds to an array, at all of its places."""
        _, before = self._name_of(at, scope)
        target: Any = at.target
        items, value = list(self._items(target, scope)), array(self._value(at.value, scope))
        if len(items) != len(before.lengths) or any(item is None or item is Ellipsis for item in items):
            raise ValueError("an array is changed at places that are not all named")
        if not value.whole:
            raise ValueError("numbers that are not whole are added to whole ones")
        names: dict[sympy.Symbol, sympy.Expr] = {}
        where: list[Place] = []
        axes = 0
        for k, item in enumerate(reversed(items)):
            length = before.lengths[-1 - k]
            if isinstance(item, tuple):
                low, high = self._ends(length, *item)
                if axes >= len(value.lengths) or not sums.is_same(high - low, value.lengths[-1 - axes]):
                    raise ValueError("an array is added to a part of another shape")
                names[PLACES[axes]] = PLACES[k] - low
                where += sums.within(k, low, high)
                axes += 1
            else:
                at_index = item if not item.is_negative else item + length
                self.owe(sympy.Ge(at_index, 0, evaluate=False), sympy.Lt(at_index, length, evaluate=False))
                where.append(Place(sympy.expand(PLACES[k] - at_index), False))
        if axes != len(value.lengths):
            raise ValueError("an array is added to a part of another shape")
        return sums.chosen(sums.moved(value, names, before.lengths), where)

    def _looped(self, at: ast.For, scope: Scope) -> None:
        """Read a loop whose only statement adds to places of an array: all that it adds, summed over the index."""
        only = at.body[0] if len(at.body) == 1 else None
        if at.orelse or not isinstance(at.target, ast.Name) or not isinstance(only, ast.AugAssign):
            raise ValueError("a loop does more than to add to places of an array")
        if not isinstance(only.target, ast.Subscript):
            raise ValueError("a loop does more than to add to places of an array")
        over = self._range(self._value(at.iter, scope), at.target.id)
        name, before = self._name_of(only, scope)
        inner = {**scope.names, at.target.id: index(over)}
        there = Scope(inner, scope.around, scope.function, scope.module, scope.within, scope.local)
        more = self._for_each(over, lambda: self._added(only, there))
        scope.names[name] = sums.add(before, sums.summed(more, over))
        scope.names[at.target.id] = Unknown(f"{at.target.id}, which a loop may leave unset")


_OWN: Mapping[type[ast.expr], Any] = {
    ast.Subscript: EntryReader._indexed,
    ast.BinOp: EntryReader._computed,
    ast.UnaryOp: EntryReader._signed,
    ast.Compare: EntryReader._related,
    ast.Call: EntryReader._called_with,
    ast.ListComp: EntryReader._comprised,
}
_PLAINLY: Mapping[type[ast.cmpop], Any] = {
    ast.Eq: lambda a, b: bool(a == b),
    ast.NotEq: lambda a, b: bool(a != b),
    ast.Lt: lambda a, b: bool(a < b),
    ast.LtE: lambda a, b: bool(a <= b),
    ast.Gt: lambda a, b: bool(a > b),
    ast.GtE: lambda a, b: bool(a >= b),
}
#: The canonical form of comparisons of letters: from the left, or from the right.
_ORDERS: Mapping[type[ast.cmpop], tuple[str, bool]] = {
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
    ast.Lt: ("<", False),
    ast.LtE: ("<=", False),
    ast.Gt: ("<", True),
    ast.GtE: ("<=", True),
}
