"""The constructs allowed in a function that is run and not read, so that it changes nothing but what it made itself.

They are listed: kinds of statements, attributes, functions of Python and of numpy. A function sets only its own names,
and parts of containers and arrays that it made.
"""

from __future__ import annotations

import ast
import builtins
import dis
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np
import sympy

from verify.base import uses
from verify.reading.listed import (
    BUILTINS,
    CHANGING,
    INNER,
    NAMING,
    holds_numbers,
    is_error,
    is_numeric,
    is_of_sympy,
    is_open,
    is_written,
    may_be_asked,
    of_module,
)
from verify.reading.source import has_plain_names, tree_of

_STATEMENTS = (
    *(ast.FunctionDef, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Raise),
    *(ast.Try, ast.ExceptHandler, ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Delete),
)
_EXPRESSIONS = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.BinOp, ast.UnaryOp, ast.BoolOp),
    *(ast.Compare, ast.IfExp, ast.NamedExpr, ast.Call, ast.Lambda, ast.JoinedStr, ast.FormattedValue),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Yield, ast.YieldFrom),
)
_PARTS = (
    *(ast.arguments, ast.arg, ast.keyword, ast.comprehension),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
#: The number of positional arguments of numpy's functions before one that they would write to.
_PLACES = {
    **dict.fromkeys(uses.names("conj conjugate"), 1),
    **dict.fromkeys(uses.names("all any argmax argmin concatenate dot max median min outer round stack"), 2),
    **dict.fromkeys(uses.names("clip cumsum mean prod random standard_normal std sum take var"), 3),
    **dict.fromkeys(("trace",), 5),
}
#: Functions that make a container or an array of their own.
_MAKERS = uses.names("array empty empty_like eye full full_like identity ones ones_like zeros zeros_like")


@dataclass(frozen=True, eq=False)
class Found:
    """The findings on one function: ``why`` it is not allowed (empty if it is), the objects that it holds, and the
    attributes that it uses, each with its line.
    """

    why: str
    holds: tuple[Any, ...]
    attributes: tuple[tuple[int, str], ...]


def looked_at(function: FunctionType, makes: bool = False) -> Found:
    """Inspect one function, with the functions in it; ``makes``: True if its first argument is an object under
    construction. Raise ``Unread`` if its source is missing.
    """
    node, _ = tree_of(function)
    if not has_plain_names(function):
        return Found("it has builtins of its own", (), ())
    first = next(iter((*node.args.posonlyargs, *node.args.args)), None) if makes else None
    look = Look(function)
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    why = next(look.refused(body, "" if first is None else first.arg), "")
    return Found(why, tuple(look.holds), tuple(look.attributes))


@dataclass(eq=False)
class Look:
    """One function of the author's, with the functions in it."""

    function: FunctionType
    #: True if named functions in it are inspected with it.
    deep: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.holds: list[Any] = []
        self.attributes: list[tuple[int, str]] = []
        self.called: set[int] = set()
        #: The iterables of loop variables, and the assignments of names.
        self.loops: dict[str, list[ast.expr]] = {}
        self.stores = Counter[str]()
        self.at_once: set[int] = set()
        #: Names that are looked up outside of the function, wherever in it.
        self.outer = looked_up_outside(self.function.__code__) | set(self.function.__code__.co_freevars)

    def refused(self, body: list[Any], new: str = "") -> Iterator[str]:
        """Yield the constructs in a function that are not allowed, each with its line; ``new``: the name of an object
        under construction.
        """
        own = self.nodes(body)
        made = self.own(_made(own, self._makes))
        # A function that is called is not passed on.
        self.called |= {id(node.func) for node in own if isinstance(node, ast.Call)}
        for node in own:
            if isinstance(node, ast.comprehension | ast.For):
                for name in _set(node.target):
                    self.loops.setdefault(name, []).append(node.iter)
        self.stores.update(name for node in own if isinstance(node, ast.Name) for name in _set(node))
        # A module, getattr and type may only be used as listed.
        self.at_once |= {id(node.value) for node in own if isinstance(node, ast.Attribute)}
        self.at_once |= {id(n.func) for n in own if isinstance(n, ast.Call) and _is_one_of(n.func, {"getattr", "type"})}
        if any(isinstance(n, ast.Name) and n.id == new and not isinstance(n.ctx, ast.Load) for n in own):
            new = ""
        for node in own:
            for why in self.node_refused(node, made, new):
                yield f"line {getattr(node, 'lineno', self.function.__code__.co_firstlineno)}: {why}"
            if isinstance(node, ast.Lambda) or (self.deep and isinstance(node, ast.FunctionDef)):
                yield from self.refused(node.body if isinstance(node.body, list) else [node.body])

    def nodes(self, body: list[Any]) -> list[ast.AST]:
        """Return the nodes that are run, without those of functions in them."""
        return list(_within(body))

    def own(self, made: frozenset[str]) -> frozenset[str]:
        """Return those of the names that are set here and nowhere else."""
        return made - self.outer

    def is_set_once(self, node: ast.expr) -> bool:
        """Return True if the value of a name from outside is the only one that it has ever had."""
        return True

    def node_refused(self, node: ast.AST, made: frozenset[str], new: str) -> Iterator[str]:
        """Yield why one node is not allowed."""
        if not isinstance(node, (*_STATEMENTS, *_EXPRESSIONS, *_PARTS)):
            yield f"{type(node).__name__.lower()} is not listed"
        elif isinstance(node, ast.Attribute):
            yield from self._asked(node, made, new)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if not _is_one_of(node.value, made):
                yield f"it sets a part of {ast.unparse(node.value)}"
        elif isinstance(node, ast.AugAssign):
            if not _is_one_of(node.target, made):
                yield f"it changes {ast.unparse(node.target)} in place"
        elif isinstance(node, ast.Name) and node.id in self.outer:
            yield from self._named(node)
        elif isinstance(node, ast.Call):
            yield from self._called(node)

    def _value(self, name: str) -> Any:
        """Return the value of a name that the function looks up outside of it; None if it has none."""
        code = self.function.__code__
        if name not in code.co_freevars:
            return self.function.__globals__.get(name, vars(builtins).get(name))
        try:
            return (self.function.__closure__ or ())[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return None

    def known(self, node: ast.expr) -> Any:
        """Return the value of a name from outside, or of an attribute of a module; None for anything else."""
        if isinstance(node, ast.Name) and node.id in self.outer:
            return self._value(node.id)
        if isinstance(node, ast.Attribute) and type(module := self.known(node.value)) is ModuleType:
            return of_module(module, node.attr)
        return None

    def _named(self, node: ast.Name) -> Iterator[str]:
        value = self._value(node.id)
        is_builtin = node.id not in self.function.__globals__ and node.id not in self.function.__code__.co_freevars
        if type(value) is ModuleType or value is getattr or value is type:
            if id(node) not in self.at_once:
                yield f"it passes on {node.id}"
        elif not is_builtin:
            yield from self._held(node, value)
        elif value is not None and not (node.id in BUILTINS or is_error(value)):
            yield f"it uses {node.id}"

    def _held(self, node: ast.expr, value: Any) -> Iterator[str]:
        """Record an object that the function holds, by a name from outside or of a module; yield why it is not
        allowed.
        """
        if not is_of_sympy(value):
            self.holds.append(value)
        elif id(node) not in self.called | self.at_once:
            yield f"it passes on {ast.unparse(node)}"

    def _asked(self, node: ast.Attribute, made: frozenset[str], new: str) -> Iterator[str]:
        module = self.known(node.value)
        if not isinstance(node.ctx, ast.Load):
            if not _is_one_of(node.value, {new}) or node.attr in INNER:
                yield f"it sets {ast.unparse(node)}"
        elif type(module) is ModuleType:
            value = of_module(module, node.attr)
            if not may_be_asked(module, value, self.function):
                yield f"it uses {ast.unparse(node)}"
            elif type(value) is not ModuleType:
                yield from self._held(node, value)
        elif node.attr in CHANGING:
            if not _is_one_of(node.value, made):
                yield f"it changes {ast.unparse(node.value)} by {node.attr}"
        else:
            self.attributes.append((node.lineno, node.attr))

    def _called(self, node: ast.Call) -> Iterator[str]:
        function = self.known(node.func)
        most, named = _places(node.func, function), {keyword.arg for keyword in node.keywords}
        if "out" in named or (None in named and most is not None):
            yield f"{ast.unparse(node.func)} writes to what it is given"
        if function is getattr:
            name = node.args[1] if len(node.args) > 1 else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value not in CHANGING:
                self.attributes.append((node.lineno, name.value))
            else:
                yield "it looks up an attribute whose name is not written"
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        evaluates = is_of_sympy(function) and not any(function is one for one in NAMING)
        if evaluates and not all(self._is_number(one) or is_written(one) for one in given):
            yield (
                f"sympy evaluates a text, and {ast.unparse(node)} may be given one: give it letters, numbers, names "
                "that are set once and x + 0 for an argument x, which is a number then, and write functions of numpy "
                "in a step or a quantity, such as np.maximum"
            )
        if function is type and (len(node.args) != 1 or node.keywords):
            yield "it makes a class of its parts"
        if most is not None and (len(node.args) > most or any(isinstance(a, ast.Starred) for a in node.args)):
            yield f"{ast.unparse(node.func)} may write to what it is given"

    def _is_number(self, node: ast.expr, single: bool = False) -> bool:
        """Return True if an expression is certainly a number, a relation, or a tuple of such, and no text; ``single``:
        and no tuple."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, int | float)
            case ast.Tuple(elts=parts):
                return not single and all(map(self._is_number, parts))
            case ast.UnaryOp(operand=operand) | ast.BinOp(op=ast.Mod(), left=operand):
                return self._is_number(operand, single)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return self._is_number(left, single) and self._is_number(right, single)
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Div() | ast.Pow(), left=left, right=right):
                # If one is a number the other is not a text, nor does it hold any.
                return self._is_number(left, True) or self._is_number(right, True)
            case ast.Call(func=function):
                known = self.known(function)
                return (is_of_sympy(known) and known is not sympy.symbols) or (not single and is_open(known))
            case ast.Name(id=name) if name in self.loops:
                often = self.stores[name] == len(self.loops[name])
                return not single and often and all(map(self._is_number, self.loops[name]))
            case ast.Name() | ast.Attribute():
                value = self.known(node)
                return self.is_set_once(node) and holds_numbers(value) and not (single and type(value) is tuple)
        return isinstance(node, ast.Compare)

    def _makes(self, node: ast.expr) -> bool:
        """Return True if an expression makes a value that nothing else holds, or one that never changes."""
        if isinstance(node, ast.IfExp):
            return self._makes(node.body) and self._makes(node.orelse)
        if isinstance(node, ast.Call):
            function = self.known(node.func)
            if isinstance(node.func, ast.Attribute) and function is None:
                # No class of the author's defines its own copy.
                return node.func.attr == "copy" and not node.args
            arrays = is_numeric(function) and function.__name__ in _MAKERS
            return (arrays or any(function is one for one in (dict, list, set))) and all(
                k.arg not in ("copy", None) for k in node.keywords
            )
        return isinstance(node, _MAKING)


#: Displays, constants, and arithmetic, which makes another value: no class of the author's defines operators.
_MAKING = (
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple, ast.List, ast.Set, ast.Dict),
    *(ast.ListComp, ast.SetComp, ast.DictComp),
)


def _made(own: list[ast.AST], makes: Callable[[ast.expr], bool]) -> frozenset[str]:
    """Return the names that a function sets only by assignments of values that it makes."""
    names = [node.id for node in own if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    simple: list[str] = []
    for node in own:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            simple.append(node.target.id)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and makes(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            simple += [target.id for target in targets if isinstance(target, ast.Name)]
    others = {n.name for n in own if isinstance(n, ast.FunctionDef | ast.ExceptHandler)}
    return frozenset(name for name in names if names.count(name) == simple.count(name) and name not in others)


def _within(body: list[Any]) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without the bodies of those in it, whose defaults and decorators belong to it."""
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop(0)
        yield node
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            left += [*decorators, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.AnnAssign):
            # Annotations of a function's names are not evaluated.
            left += [node.target, *([] if node.value is None else [node.value])]
        else:
            left += ast.iter_child_nodes(node)


def _set(node: ast.AST) -> list[str]:
    """Return the names that are set within a target, or by a name."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    name = [node.id] if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) else []
    return name + [one for part in parts for one in _set(part)]


def _is_one_of(node: ast.expr, names: Collection[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def looked_up_outside(code: CodeType) -> set[str]:
    """Return the names that a code object, and those in it, look up in the module or among the builtins."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(looked_up_outside(c) for c in code.co_consts if isinstance(c, CodeType)))


def _places(node: ast.expr, function: Any) -> int | None:
    """Return the number of positional arguments of a call before one that it would write to; None if no argument is."""
    if isinstance(function, np.ufunc):
        return function.nin
    if function is not None:
        most = _PLACES.get(function.__name__) if is_numeric(function) else None
        return most
    if isinstance(node, ast.Attribute) and node.attr in _PLACES:
        # The array of a method is not an argument.
        return _PLACES[node.attr] - 1
    return None
