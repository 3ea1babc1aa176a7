"""Expressions of functions, read from their syntax trees: arithmetic, whole axes, and calls.

Anything not in the table at the end is refused, with its line.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from verify.reading import terms
from verify.reading.arrays import as_term, indexed, length, listed, numbered, shortened
from verify.reading.named import OfEach
from verify.reading.objects import Objects, decimal
from verify.reading.operations import LARGEST, WHOLE, joined, operated, related
from verify.reading.source import Unread
from verify.reading.terms import Op, Term
from verify.reading.values import (
    CONSTANTS,
    Condition,
    Function,
    Lengths,
    NamedTupleValue,
    Scope,
    Shape,
    Unknown,
    describe,
)


class Returned(Exception):
    """The return value of a function."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Expressions(Objects):
    """The evaluation of expressions in a scope."""

    def __init__(self, known: Iterable[tuple[Any, Any]]) -> None:
        super().__init__(known)
        self._left = LARGEST
        #: The number of clients, if a statement is about that number alone: each may then be named.
        self.clients = 0
        #: Conditions on letters on which what was read depends, each with its answer.
        self.taken: list[tuple[Condition, bool]] = []
        #: Conditions whose truth is tested before they are combined with others.
        self.asked: list[Condition] = []
        #: Quotients that were made, used or not, each with the number of conditions answered before.
        self.quotients: list[tuple[Term, int]] = []
        #: The message for each of them, if it is not used.
        self.formed: dict[int, Unread] = {}

    @abstractmethod
    def _decided(self, test: ast.expr, scope: Scope) -> bool:
        """Return True if a condition is true."""

    @abstractmethod
    def _each(self, value: Any, over: ast.expr, scope: Scope) -> tuple[Any, ...]:
        """Return the values that a loop runs over."""

    @abstractmethod
    def _bind(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Set the names of a target."""

    def _value(self, at: ast.expr, scope: Scope) -> Any:
        self._left -= 1
        if self._left < 0:
            raise refused(at, scope, f"more than {LARGEST} expressions are computed")
        compute = _EXPRESSIONS.get(type(at))
        if compute is None:
            raise refused(at, scope, "expressions of this kind are not supported")
        return self._placed(at, scope, lambda: compute(self, at, scope))

    def _placed(self, at: ast.AST, scope: Scope, compute: Callable[[], Any]) -> Any:
        """Return the result of a computation. Raise ``Unread`` with its place in the source if it fails."""
        try:
            found = compute()
        except (Unread, Returned):
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise refused(at, scope, str(error)) from error
        if isinstance(found, Term) and (found.op is Op.DIVIDE or (found.op is Op.POWER and found.data < 0)):
            self.quotients.append((found, len(self.taken)))
            self.formed[id(found)] = refused(at, scope, "it is not used, and may be undefined for some letters")
        return found

    def _constant(self, at: ast.Constant, scope: Scope) -> Any:
        if type(at.value) is float:
            return decimal(at, scope)
        if type(at.value) is int and at.value > WHOLE:
            raise ValueError(f"a number beyond {WHOLE} is written, which whole numbers in arrays may not hold")
        if type(at.value) in CONSTANTS or at.value is Ellipsis:
            return at.value
        raise ValueError(f"a {type(at.value).__name__} is written")

    def _name(self, at: ast.Name, scope: Scope) -> Any:
        return self._named(at.id, scope)

    def _attribute(self, at: ast.Attribute, scope: Scope) -> Any:
        return self._attribute_of(self._value(at.value, scope), at.attr)

    def _subscript(self, at: ast.Subscript, scope: Scope) -> Any:
        value = self._value(at.value, scope)
        if isinstance(value, Term):
            written = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
            given = [item if isinstance(item, ast.Slice) else self._value(item, scope) for item in written]
            return indexed(value, numbered(value, given, self.clients))
        if isinstance(value, OfEach):
            written = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
            return value.at([item if isinstance(item, ast.Slice) else self._value(item, scope) for item in written])
        if isinstance(value, Shape) and isinstance(at.slice, ast.Slice):
            return shortened(value, at.slice)
        if isinstance(at.slice, ast.Slice) and (items := items_of(value)) is not None:
            ends = [None if end is None else self._value(end, scope) for end in (at.slice.lower, at.slice.upper)]
            if at.slice.step is None and all(end is None or type(end) is int for end in ends):
                return items[ends[0] : ends[1]]
        index = self._value(at.slice, scope)
        if isinstance(value, Shape):
            return length(value, index)
        if isinstance(value, NamedTupleValue) and value.of is None and type(index) is str and index in value.fields:
            return value.fields[index]
        if (items := items_of(value)) is not None and type(index) is int and -len(items) <= index < len(items):
            return items[index]
        raise ValueError(f"{describe(index)} is looked up in {describe(value)}")

    def _arithmetic(self, at: ast.BinOp, scope: Scope) -> Any:
        return operated(at.op, self._value(at.left, scope), self._value(at.right, scope))

    def _unary(self, at: ast.UnaryOp, scope: Scope) -> Any:
        value = self._value(at.operand, scope)
        if isinstance(at.op, ast.Not):
            if not isinstance(value, Condition):
                return not self._decided(at.operand, scope)
            self.asked.append(value)
            return Condition("not", (value,))
        if isinstance(at.op, ast.USub | ast.UAdd):
            if isinstance(value, Term) and value.type.mask:
                raise ValueError("a mask is negated, which numpy rejects")
            if type(value) in (int, Fraction):
                return -value if isinstance(at.op, ast.USub) else value
            return terms.negative(as_term(value)) if isinstance(at.op, ast.USub) else as_term(value)
        if type(value) is bool:
            raise ValueError("~ of a truth value is a whole number in Python, and never false")
        return terms.logical(Op.NOT, as_term(value))

    def _compared(self, at: ast.Compare, scope: Scope) -> Any:
        values = [self._value(side, scope) for side in (at.left, *at.comparators)]
        found = [related(by, one, other) for by, one, other in zip(at.ops, values, values[1:], strict=False)]
        self._ask(found[:-1])
        return joined("and", found)

    def _ask(self, values: list[Any]) -> None:
        self.asked.extend(value for value in values if isinstance(value, Condition))

    def _both(self, at: ast.BoolOp, scope: Scope) -> Any:
        by: str = "or" if isinstance(at.op, ast.Or) else "and"
        found: list[Any] = []
        for part in at.values:
            found.append(self._value(part, scope))
            if not isinstance(found[-1], Condition) and self._decided(part, scope) is (by == "or"):
                # The operands that follow are not computed.
                break
        if not any(isinstance(value, Condition) for value in found):
            return found[-1]
        if not all(type(value) is bool or isinstance(value, Condition) for value in found):
            raise ValueError("a condition on letters is combined with something that is not a truth value")
        self._ask(found[:-1])
        return joined(by, found)

    def _either(self, at: ast.IfExp, scope: Scope) -> Any:
        return self._value(at.body if self._decided(at.test, scope) else at.orelse, scope)

    def _tuple(self, at: ast.Tuple | ast.List, scope: Scope) -> tuple[Any, ...] | Lengths:
        first = at.elts[0] if at.elts else None
        if isinstance(first, ast.Starred) and isinstance(shape := self._value(first.value, scope), Shape):
            return Lengths(shape, tuple(self._listed(at.elts[1:], scope)))
        return tuple(self._listed(at.elts, scope))

    def _listed(self, elements: list[ast.expr], scope: Scope) -> Iterator[Any]:
        for element in elements:
            if isinstance(element, ast.Starred) and isinstance(element.value, ast.GeneratorExp):
                # All of it is listed before anything else happens.
                yield from self._comprehension(element.value, scope)
            elif isinstance(element, ast.Starred):
                value = self._value(element.value, scope)
                items = items_of(value)
                if items is None:
                    raise ValueError(f"{describe(value)} is listed")
                yield from items
            else:
                yield self._value(element, scope)

    def _mapping(self, at: ast.Dict, scope: Scope) -> NamedTupleValue:
        found: dict[str, Any] = {}
        for key, value in zip(at.keys, at.values, strict=True):
            if key is None:
                inner = self._value(value, scope)
                if not isinstance(inner, NamedTupleValue) or inner.of is not None:
                    raise ValueError(f"{describe(inner)} is used as a mapping")
                found |= inner.fields
            else:
                name = self._value(key, scope)
                if type(name) is not str:
                    raise ValueError(f"{describe(name)} is a key")
                found[name] = self._value(value, scope)
        return NamedTupleValue(None, found)

    def _comprehension(self, at: ast.ListComp | ast.GeneratorExp, scope: Scope) -> tuple[Any, ...]:
        if len(at.generators) > 1 or at.generators[0].ifs or at.generators[0].is_async:
            raise ValueError("it has conditions, or loops within loops")
        generator, found = at.generators[0], []
        local = frozenset(n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name))
        # One scope for all: a function that is made in it sees the last value.
        inner = Scope({}, scope, None, scope.module, scope.within, local)
        for value in self._each(self._value(generator.iter, scope), generator.iter, scope):
            self._bind(generator.target, value, inner)
            found.append(self._value(at.elt, inner))
        return tuple(found)

    def _inner(self, at: ast.FunctionDef | ast.Lambda, scope: Scope) -> Function:
        a = at.args
        arguments = [*a.posonlyargs, *a.args]
        annotated = isinstance(at, ast.FunctionDef) and (
            at.returns or any(x.annotation for x in (*arguments, *a.kwonlyargs))
        )
        if annotated and not scope.module.unevaluated:
            raise ValueError("a function within another one has annotations, which are computed")
        found = {}
        for argument, default in zip(arguments[len(arguments) - len(a.defaults) :], a.defaults, strict=True):
            found[argument.arg] = self._value(default, scope)
        for argument, among in zip(a.kwonlyargs, a.kw_defaults, strict=True):
            if among is not None:
                found[argument.arg] = self._value(among, scope)
        return Function(at, scope, found)

    def _call(self, at: ast.Call, scope: Scope) -> Any:
        function = self._value(at.func, scope)
        if function is self._known[id(getattr)][1]:
            return self._looked_up(*self._listed(at.args, scope))
        if function is self._known[id(tuple)][1] and len(at.args) == 1 and isinstance(at.args[0], ast.GeneratorExp):
            # Nothing else happens between the making of the generator and its end.
            return self._comprehension(at.args[0], scope)
        given = tuple(self._listed(at.args, scope))
        if function in (self._known[id(np.array)][1], self._known[id(np.asarray)][1]) and _is_list(given[:1]):
            given = (listed(given[0], self.clients), *given[1:])
        named: dict[str, Any] = {}
        for keyword in at.keywords:
            value = self._value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, NamedTupleValue) and value.of is None:
                named |= value.fields
            else:
                raise ValueError(f"{describe(value)} is used as a mapping")
        return self._called(function, given, named)

    def _looked_up(self, value: Any, name: Any, *more: Any) -> Any:
        if type(name) is not str or more:
            raise ValueError("getattr is called with a name that is not a literal, or with a default")
        return self._attribute_of(value, name)


_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any, Scope], Any]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._arithmetic,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compared,
    ast.BoolOp: Expressions._both,
    ast.IfExp: Expressions._either,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._tuple,
    ast.Dict: Expressions._mapping,
    ast.ListComp: Expressions._comprehension,
    ast.Lambda: Expressions._inner,
    ast.Call: Expressions._call,
    ast.JoinedStr: lambda reader, at, scope: Unknown("a computed string"),
}


def _is_list(given: tuple[Any, ...]) -> bool:
    """Return True if several numbers are listed."""
    return bool(given) and type(given[0]) is tuple and len(given[0]) > 1


def refused(at: ast.AST, scope: Scope, why: str) -> Unread:
    """Return the error for code that is not read, with its place."""
    text = " ".join(ast.unparse(at).split())
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return Unread(f"{scope.within}, line {getattr(at, 'lineno', 0)}: {text}: {why}")


def items_of(value: Any) -> tuple[Any, ...] | None:
    """Return the items of a tuple or a NamedTuple; None for anything else."""
    if type(value) is tuple:
        return value
    return tuple(value.fields.values()) if isinstance(value, NamedTupleValue) and value.of is not None else None
