"""The reader of code about data: as that of other code, with arrays in index notation for whatever it computes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from verify.data import arrays, folds, stacked
from verify.data.arrays import Array, AtMost, Greatest, Owners
from verify.data.folds import Counter, Fold, Picks
from verify.data.space import Space
from verify.data.stacked import SideBySide, Sizes
from verify.reading.arrays import shortened
from verify.reading.calls import set_in
from verify.reading.expressions import Expressions, Returned, refused
from verify.reading.operations import PLAIN, joined
from verify.reading.reader import Reader
from verify.reading.terms import Axis
from verify.reading.values import Condition, Rule, Scope, Shape, SymbolicRange, Unknown

#: The prefix of the names of parts of a state.
PART = "state."


class DataReader(Reader):
    """A reader whose values are arrays in index notation. ``space``: their letters and named quantities."""

    def __init__(self, known: Iterable[tuple[Any, Any]], space: Space) -> None:
        super().__init__(known, ())
        self.space = space
        #: Parts of a state to which something is added that no part of it enters, each with that.
        self.shifts: list[tuple[str, Array]] = []

    def _value(self, at: ast.expr, scope: Scope) -> Any:
        compute = _OWN.get(type(at))
        if compute is None:
            return super()._value(at, scope)
        self._left -= 1
        return self._placed(at, scope, lambda: compute(self, at, scope))

    def _attribute_of(self, value: Any, name: str) -> Any:
        if isinstance(value, Array) and name in _METHODS:
            return _METHODS[name](value)
        if isinstance(value, SideBySide) and name in _OF_PARTS:
            return _OF_PARTS[name](value)
        return super()._attribute_of(value, name)

    def _indexed(self, at: ast.Subscript, scope: Scope) -> Any:
        value = self._value(at.value, scope)
        written = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
        if isinstance(value, Array | Owners):
            items = [item if isinstance(item, ast.Slice) else self._value(item, scope) for item in written]
            if isinstance(value, Array):
                return arrays.indexed(value, items)
            return Owners(arrays.indexed(Array(self.space, value.axes, {}), items).axes)
        if isinstance(value, SideBySide):
            return stacked.cut(value, [self._ends(item, scope) for item in written])
        if isinstance(value, Sizes):
            return value.length(self._value(at.slice, scope))
        if isinstance(value, Picks):
            return value.at([self._value(item, scope) for item in written])
        if isinstance(value, Shape):
            if isinstance(at.slice, ast.Slice):
                return shortened(value, at.slice)
            return _length(self.space, value, self._value(at.slice, scope))
        return Expressions._subscript(self, at, scope)

    def _ends(self, item: ast.expr, scope: Scope) -> Any:
        """Return an index, or both ends of a slice, None where there is none."""
        if not isinstance(item, ast.Slice):
            return self._value(item, scope)
        if item.step is not None:
            raise refused(item, scope, "arrays side by side are cut in steps")
        return tuple(None if end is None else self._value(end, scope) for end in (item.lower, item.upper))

    def _loop(self, at: ast.For, over: SymbolicRange, scope: Scope) -> None:
        """Read a loop that runs to a letter as a fold: its step is read once, of quantities that stand for what it
        renews."""
        changed = set_in(at.body)
        if at.orelse or not isinstance(at.target, ast.Name) or at.target.id in changed:
            raise refused(at, scope, "a loop with a symbolic end has an else, or assigns its counter")
        if self._loops or any(isinstance(node, ast.FunctionDef) for part in at.body for node in ast.walk(part)):
            raise refused(at, scope, "a loop with a symbolic end is within another, or defines a function")
        before = {name: scope.names[name] for name in _in_order(at.body) if name in scope.names}
        if not isinstance(over.end, Array) or not all(isinstance(value, Array) for value in before.values()):
            raise refused(at, scope, "a loop with a symbolic end assigns more than arrays")
        starts = tuple(before.values())
        stands = self._placed(at, scope, lambda: folds.renewed(self.space, starts))
        scope.names.update(zip(before, stands, strict=True))
        scope.names[at.target.id] = Counter(over.end)
        self._loops += 1
        try:
            self._run(at.body, scope)
        except Returned as returned:
            raise refused(at, scope, "it returns from a loop with a symbolic end") from returned
        self._loops -= 1
        after = [scope.names[name] for name in before]
        if not all(isinstance(value, Array) for value in after):
            raise refused(at, scope, "a loop with a symbolic end makes something other than an array of an array")
        for name in changed | {at.target.id}:
            scope.names[name] = Unknown(f"{name}, which a loop may leave unset")
        fold = Fold(over.end, starts, tuple(after))
        left = self._placed(at, scope, lambda: folds.folded(self.space, fold))
        scope.names.update(zip(before, left, strict=True))

    def _computed(self, at: ast.BinOp, scope: Scope) -> Any:
        one, other = self._value(at.left, scope), self._value(at.right, scope)
        if isinstance(one, SideBySide) or isinstance(other, SideBySide):
            return stacked.combined(partial(operated, self.space, at.op), one, other)
        if not isinstance(one, Array) and not isinstance(other, Array):
            # Such an operation is read as in other code, from the values of its two sides.
            names = Scope({"left": one, "right": other}, scope, None, scope.module, scope.within, frozenset())
            left, right = ast.Name("left", ast.Load()), ast.Name("right", ast.Load())
            return Expressions._arithmetic(self, ast.copy_location(ast.BinOp(left, at.op, right), at), names)
        found = operated(self.space, at.op, one, other)
        if isinstance(at.op, ast.Add | ast.Sub):
            self.shifts += _shifts(found)
        return found

    def _signed(self, at: ast.UnaryOp, scope: Scope) -> Any:
        if isinstance(at.op, ast.Not):
            return Expressions._unary(self, at, scope)
        value = self._value(at.operand, scope)
        if isinstance(value, Array):
            if isinstance(at.op, ast.USub):
                return arrays.negative(value)
            if isinstance(at.op, ast.UAdd):
                return value
            if not value.mask:
                raise ValueError("~ is taken of something other than a mask")
            opposite = arrays.add(arrays.constant(self.space, 1), arrays.negative(arrays.as_numbers(value)))
            return Array(self.space, opposite.axes, opposite.of, opposite.batched, True)
        if type(value) in (int, Fraction) and isinstance(at.op, ast.USub | ast.UAdd):
            return -value if isinstance(at.op, ast.USub) else value
        raise ValueError("a sign is put before something that is not a number")

    def _related(self, at: ast.Compare, scope: Scope) -> Any:
        values = [self._value(side, scope) for side in (at.left, *at.comparators)]
        found = [compared(self.space, by, *pair) for by, *pair in zip(at.ops, values, values[1:], strict=False)]
        if len(found) > 1 and any(isinstance(value, Array) for value in found):
            raise ValueError("masks are compared in a chain")
        self._ask(found[:-1])
        return found[0] if len(found) == 1 else joined("and", found)


_OWN: Mapping[type[ast.expr], Callable[[DataReader, Any, Scope], Any]] = {
    ast.Subscript: DataReader._indexed,
    ast.BinOp: DataReader._computed,
    ast.UnaryOp: DataReader._signed,
    ast.Compare: DataReader._related,
}


def _in_order(body: list[ast.stmt]) -> list[str]:
    """Return the names that statements set, in the order in which they are written."""
    nodes = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Name)]
    stored = [node for node in nodes if isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(node.id for node in sorted(stored, key=lambda one: (one.lineno, one.col_offset))))


def _shifts(of: Array) -> Iterator[tuple[str, Array]]:
    """Yield the name of a part of a state, and what is added to it, if an array is the sum of both."""
    in_parts = [made for made in of.of if any(f.name.startswith(PART) for f in made)]
    if len(in_parts) == 1 and of.of[in_parts[0]] == of.space.field.one and len(in_parts[0]) == 1:
        f, rest = in_parts[0][0], {made: c for made, c in of.of.items() if made != in_parts[0]}
        # Expressions in other quantities may depend on the state.
        plain = all(g.name not in of.space.made_of for made in rest for g in made)
        if rest and plain and f.power == 1 and f.at == tuple(range(len(of.axes))):
            yield f.name, Array(of.space, of.axes, rest)


def operated(space: Space, by: ast.operator, one: Any, other: Any) -> Array:
    """Return the result of an operator on two values, of which one is an array."""
    if isinstance(by, ast.Pow):
        if type(other) is not int:
            raise ValueError("a power has an exponent that is not a written integer")
        return arrays.power(arrays.of(space, one), other)
    a, b = arrays.of(space, one), arrays.of(space, other)
    if isinstance(by, ast.Add):
        return arrays.add(a, b)
    if isinstance(by, ast.Sub):
        return arrays.add(a, arrays.negative(b))
    if isinstance(by, ast.Mult):
        return arrays.multiply(a, b)
    if isinstance(by, ast.Div):
        return arrays.divide(a, b)
    if isinstance(by, ast.BitAnd) and a.mask and b.mask:
        return arrays.multiply(a, b)
    raise ValueError(f"no rule says what {type(by).__name__} is")


def compared(space: Space, by: ast.cmpop, one: Any, other: Any) -> Any:
    """Return the result of a comparison: a truth value, a condition on letters, or a mask."""
    if isinstance(by, ast.Is | ast.IsNot) and other is None:
        return (one is None) is isinstance(by, ast.Is)
    if isinstance(one, Owners) and isinstance(by, ast.Eq):
        if isinstance(other, Owners):
            return arrays.same_owner(space, one, other)
        if type(other) is int and other == 0:
            # There is a first client, and there may be no other.
            return arrays.owned_by(space, one, other)
    if type(one) in PLAIN and type(other) in PLAIN and type(by) in _PLAINLY:
        return _PLAINLY[type(by)](one, other)
    if isinstance(one, Greatest) and type(other) is int and isinstance(by, ast.LtE):
        return AtMost(one.of, other)
    a, b = arrays.of(space, one), arrays.of(space, other)
    if a.axes and b.is_zero() and not b.axes and not a.mask:
        if isinstance(by, ast.NotEq):
            return arrays.nonzero(a)
        if isinstance(by, ast.Gt):
            return arrays.positive(a)
    if type(by) in _LETTERS:
        # Numbers of the letters alone.
        a.number(), b.number()
        text, turned = _LETTERS[type(by)]
        return Condition(text, (b, a) if turned else (a, b))
    raise ValueError("a comparison is neither of letters nor with 0")


_PLAINLY: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: bool(a == b),
    ast.NotEq: lambda a, b: bool(a != b),
    ast.Lt: lambda a, b: bool(a < b),
    ast.LtE: lambda a, b: bool(a <= b),
    ast.Gt: lambda a, b: bool(a > b),
    ast.GtE: lambda a, b: bool(a >= b),
}
#: The canonical form of comparisons of letters: from the left, or from the right.
_LETTERS: Mapping[type[ast.cmpop], tuple[str, bool]] = {
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
    ast.Lt: ("<", False),
    ast.LtE: ("<=", False),
    ast.Gt: ("<", True),
    ast.GtE: ("<=", True),
}


def _length(space: Space, shape: Shape, place: Any) -> Any:
    if type(place) is not int or shape.cut or not -len(shape.axes) <= place < (0 if shape.batched else len(shape.axes)):
        raise ValueError("the shape of the axes of replicas is read")
    axis = shape.axes[place]
    return 1 if axis is Axis.ONE else arrays.letter(space, space.count(axis))


def axis_of(space: Space, length: Any) -> Axis:
    """Return the axis of this length. Raise ``ValueError`` for any other."""
    if type(length) is int and length == 1:
        return Axis.ONE
    if isinstance(length, Array):
        found = length.number()
        for axis in (Axis.EXAMPLES, Axis.CLIENTS, Axis.COORDINATES):
            if space.count(axis) == found:
                return axis
    raise ValueError("the length of an axis is not n, d, 1 or the number of examples")


def _summed(one: Array, axis: Any = None, keepdims: Any = False) -> Array:
    if axis is None and not one.batched:
        axis = tuple(range(-len(one.axes), 0))
    if type(keepdims) is not bool or axis is None:
        raise ValueError("a sum must name its axes as literals, counted from the last")
    return arrays.total(one, arrays.from_last(one, axis), keepdims)


def _cast(one: Array, to: Any) -> Array:
    if not isinstance(to, Rule) or to.name != "int" or not one.mask:
        raise ValueError("only masks are cast, to whole numbers")
    return arrays.as_numbers(one)


def _turned(one: Array) -> Array:
    if one.batched:
        raise ValueError("an array with replicas is transposed")
    return arrays.transposed(one, range(len(one.axes))[::-1])


def _largest(one: Array, axis: Any = None) -> Greatest:
    if axis is not None or one.batched or one.mask:
        raise ValueError("the largest entry is taken along an axis, of replicas, or of truth values")
    return Greatest(one)


_OF_PARTS: Mapping[str, Callable[[SideBySide], Any]] = {
    "sum": lambda one: Rule("sum", partial(stacked.total, one)),
    "shape": Sizes,
}
_METHODS: Mapping[str, Callable[[Array], Any]] = {
    "sum": lambda one: Rule("sum", lambda *given, **named: _summed(one, *given, **named)),
    "max": lambda one: Rule("max", lambda *given, **named: _largest(one, *given, **named)),
    "astype": lambda one: Rule("astype", lambda to: _cast(one, to)),
    "shape": arrays.shape,
    "T": _turned,
}
