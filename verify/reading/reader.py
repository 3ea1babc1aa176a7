"""Reads functions from their syntax trees: what is not allowed here is refused, with its line.

Nothing of what is read is run. Statements are assignments to names, loops over what is written, conditions on what is
known when the claim is made, and returns; expressions are arithmetic, whole axes, and calls of functions that are read
in their turn or are known by identity. A name is looked up where Python looks it up.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from types import FunctionType, ModuleType
from typing import Any

import fedtheory
from verify.reading import terms
from verify.reading.arrays import METHODS, as_term, indexed, length, numbered, shortened
from verify.reading.calls import bound, local_names, made, record, replaced, set_in
from verify.reading.operations import LARGEST, PLAIN, WHOLE, is_number, joined, operated, related
from verify.reading.source import Unread, tree_of
from verify.reading.terms import Op, Term
from verify.reading.values import (
    CONSTANTS,
    Class,
    Condition,
    Function,
    Instance,
    Law,
    Lengths,
    Made,
    Maker,
    Named,
    Names,
    Often,
    Once,
    Record,
    Rule,
    Scope,
    Shape,
    Unknown,
    describe,
    is_keeper,
    is_ours,
    is_record_class,
    is_same,
)
from verify.reading.written import (
    as_written,
    check_as_written,
    check_kept,
    check_no_function_sets,
    check_set_once,
    decimal,
)

#: Calls within calls at most.
DEEPEST = 40
#: Paths through the conditions on letters of what is read, at most.
PATHS = 64


class _Returned(Exception):
    """What a function gives."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Reader:
    """Reads functions. ``known``: functions and objects with rules of their own, as pairs, by identity.

    ``path``: the first answers to conditions on letters, in the order in which they are met; those that come after are
    answered by True. Without it code that depends on such a condition is not read.
    """

    def __init__(self, known: Iterable[tuple[Any, Any]], path: Iterable[bool] | None = None) -> None:
        # The objects are kept, so that no other comes to have the identity of one that is gone.
        self._known = {id(thing): (thing, value) for thing, value in known}
        #: Those of them whose code was seen to be what their files say.
        self._kept: set[int] = set()
        self._left, self._depth, self._loops = LARGEST, 0, 0
        #: How many clients there are, where a statement speaks of that number alone: each may then be named.
        self.clients = 0
        #: Conditions under which what was read raises an error, each with the place where it stands.
        self.raising: list[tuple[str, Condition]] = []
        self._path = None if path is None else list(path)
        #: Conditions on letters on which what was read depends, each with its answer.
        self.taken: list[tuple[Condition, bool]] = []
        #: The same, each with the file in which it decides what is done, as often as it does.
        self.deciding: list[tuple[Condition, str]] = []
        #: Conditions of which it is asked whether they are true before they are put together with others.
        self.asked: list[Condition] = []
        #: Quotients that were made, used or not, each with how many conditions were answered before.
        self.quotients: list[tuple[Term, int]] = []

    def paths(self) -> Iterator[None]:
        """Every path through the conditions on letters that are met, one after the other: on each what was met on the
        one before is forgotten. ``Unread`` where there are too many."""
        answers: list[bool] = []
        for _ in range(PATHS):
            self._path, self._loops = answers, 0
            self.raising, self.taken, self.deciding, self.asked, self.quotients = [], [], [], [], []
            yield
            answers = [answer for _, answer in self.taken]
            while answers and not answers[-1]:
                answers.pop()
            if not answers:
                return
            # The last condition that was answered by True.
            answers[-1] = False
        raise Unread(f"the code has more than {PATHS} paths through conditions on letters")

    def call(self, function: Any, *arguments: Any) -> Any:
        """What a function of somebody's gives for these values. ``Unread`` where something in it is not allowed."""
        return self.call_with(function, arguments, {})

    def call_with(self, function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """As :meth:`call`, with some values by their names."""
        return self._called(function if isinstance(function, Function) else self.lifted(function), given, named)

    # What Python objects stand for

    def lifted(self, value: Any) -> Any:
        """What an object stands for. ``Unread`` for one that is not allowed."""
        if id(value) in self._known:
            if id(value) not in self._kept:
                check_as_written(value)
                self._kept.add(id(value))
            return self._known[id(value)][1]
        if type(value) in CONSTANTS:
            return value
        if type(value) is tuple:
            return tuple(map(self.lifted, value))
        if type(value) is FunctionType:
            return self._function(value)
        if type(value) is partial:
            inner = self.lifted(value.func)
            if not isinstance(inner, Function):
                raise Unread("a partial of what is no function of somebody's is not read")
            named = {name: self.lifted(v) for name, v in value.keywords.items()}
            given = (*inner.given, *map(self.lifted, value.args))
            return replace(inner, given=given, named={**inner.named, **named})
        if type(value) is ModuleType:
            return Names(value)
        if is_record_class(value):
            return Class(value)
        if is_record_class(type(value)):
            return Record(
                type(value), {name: self.lifted(part) for name, part in zip(value._fields, value, strict=True)}
            )
        if is_keeper(value):
            return Maker(value)
        if is_ours(value) and is_dataclass(value):
            # Such classes check what they are given, and keep it.
            name = str(getattr(value, "__name__", ""))
            return Rule(name, lambda *given, **named: Unknown(f"an object of type {name}, of which nothing is known"))
        if _is_plain_instance(value):
            return Instance(value)
        kind = value.__name__ if isinstance(value, type) else type(value).__name__
        return Unknown(f"an object of type {kind}, of which nothing is known")

    def _function(self, function: FunctionType) -> Function:
        node, module = tree_of(function)
        if function.__builtins__ is not vars(builtins):  # type: ignore[attr-defined]
            raise Unread(f"{function.__name__} has builtins of its own")
        within = f"{function.__code__.co_name} ({module.name.rpartition('/')[2]})"
        scope = Scope({}, None, function, module, within, frozenset())
        arguments = [*node.args.posonlyargs, *node.args.args]
        values = function.__defaults__ or ()
        pairs = zip(arguments[len(arguments) - len(values) :], values, strict=True)
        defaults = {argument.arg: self.lifted(value) for argument, value in pairs}
        defaults |= {name: self.lifted(value) for name, value in (function.__kwdefaults__ or {}).items()}
        return Function(node, scope, defaults)

    # Calls

    def _called(self, function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if isinstance(function, Rule):
            return function.apply(*given, **named)
        if isinstance(function, Class):
            return record(function.of, given, named)
        if isinstance(function, Maker):
            return made(function.of, given, named, self.lifted)
        if isinstance(function, Instance | Made):
            return self._called(self._special(function, "__call__"), given, named)
        if not isinstance(function, Function):
            raise ValueError(f"{describe(function)} is called")
        if self._depth == DEEPEST:
            raise ValueError(f"calls are more than {DEEPEST} deep")
        names = bound(function, (*function.given, *given), {**function.named, **named})
        outer, node = function.scope, function.node
        within = outer.within if isinstance(node, ast.Lambda) else f"{node.name} ({outer.within.rpartition('(')[2]}"
        scope = Scope(names, outer, None, outer.module, within, local_names(node) | set(names))
        self._depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self._value(node.body, scope)
            self._run(node.body, scope)
        except _Returned as returned:
            return returned.value
        finally:
            self._depth -= 1
        return None

    # Statements

    def _run(self, body: list[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._do(statement, scope)

    def _do(self, at: ast.stmt, scope: Scope) -> None:
        if isinstance(at, ast.Return):
            raise _Returned(None if at.value is None else self._value(at.value, scope))
        if isinstance(at, ast.Assign):
            if isinstance(at.value, ast.GeneratorExp) and all(isinstance(t, ast.Tuple) for t in at.targets):
                # It is run through where it is made.
                of = at.value
                value = self._placed(of, scope, lambda: self._comprehension(of, scope))
            else:
                value = self._value(at.value, scope)
            for target in at.targets:
                self._bind(target, value, scope)
        elif isinstance(at, ast.AnnAssign) and at.simple:
            if at.value is not None:
                self._bind(at.target, self._value(at.value, scope), scope)
        elif isinstance(at, ast.AugAssign):
            before = self._value(ast.copy_location(ast.Name(_name_of(at.target, scope), ast.Load()), at), scope)
            if type(before) not in (int, Fraction):
                raise _refused(at, scope, f"it changes {describe(before)} in place")
            after = self._placed(at, scope, lambda: operated(at.op, before, self._value(at.value, scope)))
            self._bind(at.target, after, scope)
        elif isinstance(at, ast.FunctionDef):
            if at.decorator_list:
                raise _refused(at, scope, "it is decorated")
            self._bind(ast.Name(at.name, ast.Store()), self._placed(at, scope, lambda: self._inner(at, scope)), scope)
        elif isinstance(at, ast.If) and len(at.body) == 1 and isinstance(at.body[0], ast.Raise):
            value = self._value(at.test, scope)
            if isinstance(value, Condition):
                self.raising.append((f"{scope.within}, line {at.lineno}", value))
            self._run(
                at.body if not isinstance(value, Condition) and self._decided(at.test, scope) else at.orelse, scope
            )
        elif isinstance(at, ast.If):
            self._run(at.body if self._decided(at.test, scope) else at.orelse, scope)
        elif isinstance(at, ast.For):
            over = self._value(at.iter, scope)
            if isinstance(over, Often) and self._path is not None:
                self._loop(at, scope)
                return
            for value in self._each(over, at.iter, scope):
                self._bind(at.target, value, scope)
                self._run(at.body, scope)
            self._run(at.orelse, scope)
        elif isinstance(at, ast.Assert):
            if not self._decided(at.test, scope):
                raise _refused(at, scope, "it does not hold")
        elif isinstance(at, ast.Expr):
            # Of a call that gives nothing the conditions are left under which it raises an error.
            guards = isinstance(at.value, ast.Call) and self._value(at.value, scope) is None
            if not guards and not isinstance(at.value, ast.Constant):
                raise _refused(at, scope, "what it computes is dropped")
        elif not isinstance(at, ast.Pass):
            raise _refused(at, scope, "it is reached" if isinstance(at, ast.Raise) else "no such statement is read")

    def _bind(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = _items(value)
            if items is None or len(items) != len(target.elts):
                raise _refused(target, scope, f"{describe(value)} is unpacked")
            for inner, item in zip(target.elts, items, strict=True):
                self._bind(inner, item, scope)
        else:
            raise _refused(target, scope, "it is set, where only names are")

    def _decided(self, test: ast.expr, scope: Scope) -> bool:
        value = self._value(test, scope)
        if type(value) in CONSTANTS:
            return bool(value)
        if self._path is not None and type(value) is not Fraction and is_number(value):
            value = Condition("!=", (value, terms.constant(0)))
        if self._path is not None and isinstance(value, Condition):
            self.deciding.append((value, scope.module.name))
            return self.answered(value)
        raise _refused(test, scope, f"a condition depends on {describe(value)}")

    def answered(self, condition: Condition) -> bool:
        """What a condition on letters is on the path that is read: the same whenever it is met."""
        assert self._path is not None
        known = next((answer for one, answer in self.taken if is_same(one, condition)), None)
        if known is None:
            known = self._path[len(self.taken)] if len(self.taken) < len(self._path) else True
            self.taken.append((condition, known))
        return known

    def _loop(self, at: ast.For, scope: Scope) -> None:
        """A loop that is run any number of times: what it sets is of one type, and then may be anything of it.

        What is shown of it holds whatever the loop leaves.
        """
        counter, changed = at.target, set_in(at.body)
        if at.orelse or not isinstance(counter, ast.Name) or counter.id in changed:
            raise _refused(at, scope, "a loop that ends at a letter has an else, or sets what it counts by")
        before = {name: scope.names[name] for name in changed if name in scope.names}
        whole = all(isinstance(v, Term) and v.type.degree in (0, 1) and not v.type.mask for v in before.values())
        if not whole or any(isinstance(node, ast.FunctionDef) for part in at.body for node in ast.walk(part)):
            raise _refused(at, scope, "a loop that ends at a letter sets more than arrays")
        self._forget(at, scope, before)
        scope.names[counter.id] = terms.leaf(Op.ANY, f"{counter.id}, line {at.lineno}", terms.NUMBER)
        try:
            self._run(at.body, scope)
        except _Returned as returned:
            raise _refused(at, scope, "it returns from a loop that ends at a letter") from returned
        for name, value in before.items():
            kind = scope.names[name].type if isinstance(scope.names[name], Term) else None
            if kind != value.type:
                raise _refused(at, scope, f"it makes {name} another kind of array")
        for name in changed | {counter.id}:
            scope.names[name] = Unknown(f"{name}, which a loop may leave unset")
        self._forget(at, scope, before)

    def _forget(self, at: ast.For, scope: Scope, before: Mapping[str, Term]) -> None:
        self._loops += 1
        for name, value in before.items():
            scope.names[name] = terms.leaf(Op.ANY, f"{name}, line {at.lineno}, {self._loops}", value.type)

    def _each(self, value: Any, over: ast.expr, scope: Scope) -> tuple[Any, ...]:
        if type(value) is range:
            return tuple(value)
        if isinstance(value, Once) and isinstance(over, ast.Call):
            return value.of
        items = _items(value)
        if items is None:
            raise _refused(over, scope, f"it runs over {describe(value)}")
        return items

    # Expressions

    def _value(self, at: ast.expr, scope: Scope) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _refused(at, scope, f"more than {LARGEST} expressions are computed")
        compute = _EXPRESSIONS.get(type(at))
        if compute is None:
            raise _refused(at, scope, "no such expression is read")
        return self._placed(at, scope, lambda: compute(self, at, scope))

    def _placed(self, at: ast.AST, scope: Scope, compute: Callable[[], Any]) -> Any:
        """What is computed; ``Unread`` with the place where it cannot be."""
        try:
            found = compute()
        except (Unread, _Returned):
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise _refused(at, scope, str(error)) from error
        if isinstance(found, Term) and (found.op is Op.DIVIDE or (found.op is Op.POWER and found.data < 0)):
            self.quotients.append((found, len(self.taken)))
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
        name, here = at.id, scope
        while True:
            if name in here.names:
                return here.names[name]
            if name in here.local:
                raise ValueError(f"{name} has no value yet")
            if here.around is None:
                break
            here = here.around
        function = here.function
        assert function is not None, "what stands outermost is a function of Python's"
        if name in function.__code__.co_freevars:
            check_kept(name, scope)
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            return self.lifted(cell.cell_contents)
        if name in function.__globals__:
            value = function.__globals__[name]
            check_no_function_sets(name, scope)
            if type(value) in (*CONSTANTS, float, tuple):
                check_set_once(name, scope)
            if type(value) in (*PLAIN, float):
                return as_written(name, value, scope)
            return self.lifted(value)
        if name in vars(builtins):
            return self.lifted(vars(builtins)[name])
        raise ValueError(f"{name} is not defined")

    def _attribute(self, at: ast.Attribute, scope: Scope) -> Any:
        return self._attribute_of(self._value(at.value, scope), at.attr)

    def _attribute_of(self, value: Any, name: str) -> Any:
        if name.startswith("__"):
            raise ValueError(f"{name} is no name that is read")
        if isinstance(value, Named | Record | Law) and name in value.fields:
            return value.fields[name]
        if isinstance(value, Record) and value.of is not None:
            return self._of_record(value, name)
        if isinstance(value, Term) and name in METHODS:
            return METHODS[name](value)
        if isinstance(value, Names) and name in vars(value.of):
            return self.lifted(vars(value.of)[name])
        if isinstance(value, Names) and value.of is fedtheory and name in fedtheory.__all__:
            # Names of the package are loaded when they are used, by a function that is known.
            return self.lifted(_loaded(name))
        if isinstance(value, Instance | Made):
            return self._part_of(value, name)
        if isinstance(value, Unknown):
            raise ValueError(value.why)
        raise ValueError(f"nothing is known of {name} of {describe(value)}")

    def _of_record(self, value: Record, name: str) -> Any:
        found = vars(value.of).get(name)
        if name == "_replace":
            return Rule("_replace", partial(replaced, value))
        if name == "_asdict":
            return Rule("_asdict", lambda: Record(None, value.fields))
        if type(found) is property and found.fget is not None:
            return self._called(self.lifted(found.fget), (value,), {})
        if type(found) is FunctionType and not name.startswith("_"):
            return replace(self._function(found), given=(value,))
        raise ValueError(f"nothing is known of {name} of a record")

    def _special(self, value: Instance | Made, name: str) -> Function:
        """A function that Python looks up in the class of an object, bound to it."""
        cls = value.of if isinstance(value, Made) else type(value.of)
        found = next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), None)
        if type(found) is not FunctionType:
            raise ValueError(f"an object of type {cls.__name__} is called")
        return replace(self._function(found), given=(value,))

    def _part_of(self, value: Instance | Made, name: str) -> Any:
        # As Python does: properties, then what the object has, then functions and constants of its class.
        if isinstance(value, Made) and name in value.fields:
            return value.fields[name]
        of = value.of if isinstance(value, Made) else type(value.of)
        found = next((vars(cls)[name] for cls in of.__mro__ if name in vars(cls)), None)
        if type(found) is cached_property and isinstance(value, Made):
            return self._called(self.lifted(found.func), (value,), {})
        if type(found) is property and found.fget is not None:
            return self._called(self.lifted(found.fget), (value,), {})
        if found is not None and type(found) is not FunctionType and hasattr(type(found), "__get__"):
            raise ValueError(f"{name} is computed in a way that is not read")
        if isinstance(value, Instance) and name in vars(value.of):
            return self.lifted(vars(value.of)[name])
        if type(found) is FunctionType:
            return replace(self._function(found), given=(value,))
        if found is not None:
            return self.lifted(found)
        raise ValueError(f"nothing is known of {name} of an object of type {of.__name__}")

    def _subscript(self, at: ast.Subscript, scope: Scope) -> Any:
        value = self._value(at.value, scope)
        if isinstance(value, Term):
            written = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
            given = [item if isinstance(item, ast.Slice) else self._value(item, scope) for item in written]
            return indexed(value, numbered(value, given, self.clients))
        if isinstance(value, Shape) and isinstance(at.slice, ast.Slice):
            return shortened(value, at.slice)
        if isinstance(at.slice, ast.Slice) and (items := _items(value)) is not None:
            ends = [None if end is None else self._value(end, scope) for end in (at.slice.lower, at.slice.upper)]
            if at.slice.step is None and all(end is None or type(end) is int for end in ends):
                return items[ends[0] : ends[1]]
        index = self._value(at.slice, scope)
        if isinstance(value, Shape):
            return length(value, index)
        if isinstance(value, Record) and value.of is None and type(index) is str and index in value.fields:
            return value.fields[index]
        if (items := _items(value)) is not None and type(index) is int and -len(items) <= index < len(items):
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
                raise ValueError("a mask has a sign, which numpy does not give it")
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
                # What comes after is not computed.
                break
        if not any(isinstance(value, Condition) for value in found):
            return found[-1]
        if not all(type(value) is bool or isinstance(value, Condition) for value in found):
            raise ValueError("a condition on letters stands beside what is no truth value")
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
            if isinstance(element, ast.Starred):
                value = self._value(element.value, scope)
                items = _items(value)
                if items is None:
                    raise ValueError(f"{describe(value)} is listed")
                yield from items
            else:
                yield self._value(element, scope)

    def _mapping(self, at: ast.Dict, scope: Scope) -> Record:
        found: dict[str, Any] = {}
        for key, value in zip(at.keys, at.values, strict=True):
            if key is None:
                inner = self._value(value, scope)
                if not isinstance(inner, Record) or inner.of is not None:
                    raise ValueError(f"{describe(inner)} is taken for a mapping")
                found |= inner.fields
            else:
                name = self._value(key, scope)
                if type(name) is not str:
                    raise ValueError(f"{describe(name)} is a key")
                found[name] = self._value(value, scope)
        return Record(None, found)

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
        named: dict[str, Any] = {}
        for keyword in at.keywords:
            value = self._value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, Record) and value.of is None:
                named |= value.fields
            else:
                raise ValueError(f"{describe(value)} is taken for a mapping")
        return self._called(function, given, named)

    def _looked_up(self, value: Any, name: Any, *more: Any) -> Any:
        if type(name) is not str or more:
            raise ValueError("getattr is asked for a name that is not written, or with a default")
        return self._attribute_of(value, name)


_EXPRESSIONS: dict[type[ast.expr], Callable[[Reader, Any, Scope], Any]] = {
    ast.Constant: Reader._constant,
    ast.Name: Reader._name,
    ast.Attribute: Reader._attribute,
    ast.Subscript: Reader._subscript,
    ast.BinOp: Reader._arithmetic,
    ast.UnaryOp: Reader._unary,
    ast.Compare: Reader._compared,
    ast.BoolOp: Reader._both,
    ast.IfExp: Reader._either,
    ast.Tuple: Reader._tuple,
    ast.List: Reader._tuple,
    ast.Dict: Reader._mapping,
    ast.ListComp: Reader._comprehension,
    ast.Lambda: Reader._inner,
    ast.Call: Reader._call,
    ast.JoinedStr: lambda reader, at, scope: Unknown("a text that is made"),
}


_LOADED = fedtheory.__getattr__


def _loaded(name: str) -> Any:
    if vars(fedtheory)["__getattr__"] is not _LOADED:
        raise ValueError("the names of the package are looked up in a way that is not known")
    return _LOADED(name)


def _refused(at: ast.AST, scope: Scope, why: str) -> Unread:
    text = " ".join(ast.unparse(at).split())
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return Unread(f"{scope.within}, line {getattr(at, 'lineno', 0)}: {text}: {why}")


def _name_of(target: ast.expr, scope: Scope) -> str:
    if isinstance(target, ast.Name):
        return target.id
    raise _refused(target, scope, "it is set, where only names are")


def _items(value: Any) -> tuple[Any, ...] | None:
    """What a tuple or a NamedTuple holds; None of anything else."""
    if type(value) is tuple:
        return value
    return tuple(value.fields.values()) if isinstance(value, Record) and value.of is not None else None


def _is_plain_instance(value: Any) -> bool:
    """Whether an object is a frozen dataclass that looks up its attributes as all objects do."""
    cls = type(value)
    return (
        type(cls) is type
        and is_dataclass(cls)
        and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, "__getattr__")
        and hasattr(value, "__dict__")
    )
