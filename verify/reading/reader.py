"""The reader of functions from their syntax trees: what is not allowed here is refused, with its line.

The code that is read is never run. Statements are assignments to names, loops over known sequences, conditions known
when the claim is made, and returns; functions that are called are read in their turn, or known by identity.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from verify.reading import terms
from verify.reading.calls import bound, local_names, made, record, set_in
from verify.reading.expressions import Expressions, Returned, items_of, refused
from verify.reading.operations import is_number, operated
from verify.reading.source import Unread
from verify.reading.terms import Op, Term
from verify.reading.values import (
    CONSTANTS,
    Class,
    Condition,
    DataclassValue,
    Function,
    Made,
    Maker,
    Rule,
    Scope,
    SinglePassIterable,
    SymbolicRange,
    Unknown,
    describe,
    is_same,
)

#: Calls within calls at most.
DEEPEST = 40
#: Paths through the conditions on letters of what is read, at most.
PATHS = 64


class Reader(Expressions):
    """A reader of functions.

    ``known``: functions and objects with rules of their own, as pairs, by identity. ``path``: the first answers to
    conditions on letters, in the order in which they are met; later ones are answered by True. Without it code that
    depends on such a condition is not read.
    """

    def __init__(self, known: Iterable[tuple[Any, Any]], path: Iterable[bool] | None = None) -> None:
        super().__init__(known)
        self._depth, self._loops = 0, 0
        #: True if loops may end at a letter. Their result has one name, and depends on the state: a quantity would
        #: seem to be the same before and after a step.
        self._open_loops = False
        #: Conditions under which the code that was read raises an error, each with its place.
        self.raising: list[tuple[str, Condition]] = []
        self._path = None if path is None else list(path)
        #: Conditions on letters that decide a branch, each with the file of the branch, once for each.
        self.deciding: list[tuple[Condition, str]] = []

    def paths(self) -> Iterator[None]:
        """Yield once for every path through the conditions on letters; the records of the path before are cleared.
        Raise ``Unread`` if there are too many.
        """
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
        """Return the result of a function for these values. Raise ``Unread`` if something in it is not allowed."""
        return self.call_with(function, arguments, {})

    def call_step(self, function: Any, *arguments: Any) -> Any:
        """Return the result of a step, as :meth:`call` does; its loops may end at a letter."""
        self._open_loops = True
        try:
            return self.call(function, *arguments)
        finally:
            self._open_loops = False

    def is_in_step(self) -> bool:
        """Return True if a step is being read."""
        return self._open_loops

    def call_with(self, function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Return the result of a function, as :meth:`call` does, with some arguments by keyword."""
        try:
            return self._called(function if isinstance(function, Function) else self.lifted(function), given, named)
        except Unread:
            raise
        except ValueError as error:
            # No source location is available yet.
            raise Unread(str(error)) from error

    # Calls

    def _called(self, function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if isinstance(function, Rule):
            return function.apply(*given, **named)
        if isinstance(function, Class):
            return record(function.of, given, named)
        if isinstance(function, Maker):
            return made(function.of, given, named, self.lifted)
        if isinstance(function, DataclassValue | Made):
            return self._called(self._special(function, "__call__"), given, named)
        if isinstance(function, Unknown):
            raise ValueError(function.why)
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
        except Returned as returned:
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
            raise Returned(None if at.value is None else self._value(at.value, scope))
        if isinstance(at, ast.Assign):
            if isinstance(at.value, ast.GeneratorExp) and all(isinstance(t, ast.Tuple) for t in at.targets):
                # It is consumed where it is made.
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
                raise refused(at, scope, f"it changes {describe(before)} in place")
            after = self._placed(at, scope, lambda: operated(at.op, before, self._value(at.value, scope)))
            self._bind(at.target, after, scope)
        elif isinstance(at, ast.FunctionDef):
            if at.decorator_list:
                raise refused(at, scope, "it is decorated")
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
            if isinstance(over, SymbolicRange) and self._path is not None:
                self._loop(at, over, scope)
                return
            for value in self._each(over, at.iter, scope):
                self._bind(at.target, value, scope)
                self._run(at.body, scope)
            self._run(at.orelse, scope)
        elif isinstance(at, ast.Assert):
            if not self._decided(at.test, scope):
                raise refused(at, scope, "it does not hold")
        elif isinstance(at, ast.Expr):
            # A call that returns nothing leaves the conditions under which it raises an error.
            guards = isinstance(at.value, ast.Call) and self._value(at.value, scope) is None
            if not guards and not isinstance(at.value, ast.Constant):
                raise refused(at, scope, "its result is discarded")
        elif not isinstance(at, ast.Pass):
            raise refused(
                at, scope, "it is reached" if isinstance(at, ast.Raise) else "statements of this kind are not supported"
            )

    def _bind(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = items_of(value)
            if items is None or len(items) != len(target.elts):
                raise refused(target, scope, f"{describe(value)} is unpacked")
            for inner, item in zip(target.elts, items, strict=True):
                self._bind(inner, item, scope)
        else:
            raise refused(target, scope, "it is assigned to, where only names may be")

    def _decided(self, test: ast.expr, scope: Scope) -> bool:
        value = self._value(test, scope)
        if type(value) in CONSTANTS:
            return bool(value)
        if self._path is not None and type(value) is not Fraction and is_number(value):
            value = Condition("!=", (value, terms.constant(0)))
        if self._path is not None and isinstance(value, Condition):
            self.deciding.append((value, scope.module.name))
            return self.answered(value)
        raise refused(test, scope, f"a condition depends on {describe(value)}")

    def answered(self, condition: Condition) -> bool:
        """Return the truth value of a condition on letters on the current path: the same whenever it is met."""
        assert self._path is not None
        known = next((answer for one, answer in self.taken if is_same(one, condition)), None)
        if known is None:
            known = self._path[len(self.taken)] if len(self.taken) < len(self._path) else True
            self.taken.append((condition, known))
        return known

    def _loop(self, at: ast.For, over: SymbolicRange, scope: Scope) -> None:
        """Read a loop that runs any number of times: what it sets keeps its type, and may then have any value of it.

        Conclusions hold for all possible results of the loop, and expectations are taken with these fixed: so nothing
        that was drawn may enter it.
        """
        counter, changed = at.target, set_in(at.body)
        if not self._open_loops:
            raise refused(at, scope, "a loop with a symbolic end stands outside of a step")
        if at.orelse or not isinstance(counter, ast.Name) or counter.id in changed:
            raise refused(at, scope, "a loop with a symbolic end has an else, or assigns its counter")
        before = {name: scope.names[name] for name in changed if name in scope.names}
        whole = all(isinstance(v, Term) and v.type.degree in (0, 1) and not v.type.mask for v in before.values())
        if not whole or any(isinstance(node, ast.FunctionDef) for part in at.body for node in ast.walk(part)):
            raise refused(at, scope, "a loop with a symbolic end assigns more than arrays")
        self._forget(at, scope, before)
        scope.names[counter.id] = terms.leaf(Op.ANY, f"{counter.id}, line {at.lineno}", terms.NUMBER)
        try:
            self._run(at.body, scope)
        except Returned as returned:
            raise refused(at, scope, "it returns from a loop with a symbolic end") from returned
        for name, value in before.items():
            kind = scope.names[name].type if isinstance(scope.names[name], Term) else None
            if kind != value.type:
                raise refused(at, scope, f"it makes {name} another kind of array")
            if any(part.op in terms.DRAWN for part in terms.parts(value, scope.names[name])):
                raise refused(at, scope, "a loop with a symbolic end uses what is drawn")
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
        if isinstance(value, SinglePassIterable) and isinstance(over, ast.Call):
            return value.of
        items = items_of(value)
        if items is None:
            raise refused(over, scope, f"it runs over {describe(value)}")
        return items


def _name_of(target: ast.expr, scope: Scope) -> str:
    if isinstance(target, ast.Name):
        return target.id
    raise refused(target, scope, "it is assigned to, where only names may be")
