"""What a function may consist of that is run and not read, so that it changes nothing but what it made itself.

By lists of what is allowed: kinds of statements, attributes, functions of Python and of numpy. What a function sets
are its own names, and parts of containers and arrays that it made.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GeneratorType, ModuleType, TracebackType
from typing import Any

import numpy as np

import fedtheory
from verify.base import uses
from verify.reading import theory
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
#: What arrays, numbers, texts and containers have that changes none of them.
_ATTRIBUTES = uses.names("""
    T all any argmax argmin argsort astype clip conj conjugate copy cumsum diagonal dot dtype flatten imag item kind
    max mean min ndim nonzero prod ravel real repeat reshape round shape size squeeze std sum swapaxes take tolist trace
    transpose var denominator limit_denominator numerator bit_length is_integer count index get items keys values
    endswith join lower replace split startswith strip upper
    choice integers normal permutation random standard_normal uniform _asdict _fields _make _replace
    """)
#: What changes a list, a set or a mapping: of those that the function made alone.
_CHANGING = uses.names("add append clear discard extend insert pop remove reverse setdefault sort update")
#: Names that Python itself has in what is below every object: nobody's fields are known by these.
_INNER = frozenset(
    name
    for kind in (FunctionType, GeneratorType, FrameType, CodeType, TracebackType, ModuleType, functools.partial, type)
    for name in dir(kind)
)
#: How many arguments functions of numpy take by their places before one that they would write to.
_PLACES = {
    **dict.fromkeys(uses.names("all any argmax argmin concatenate dot max min outer round stack"), 2),
    **dict.fromkeys(uses.names("clip cumsum mean prod std sum take var"), 3),
    **dict.fromkeys(("trace",), 5),
}
#: Functions that make a container or an array of their own.
_MAKERS = uses.names("array empty empty_like eye full full_like identity ones ones_like zeros zeros_like")
_BUILTINS = uses.BUILTIN | {"getattr", "hasattr"}
#: What may be called by any name.
_FUNCTIONS: tuple[Any, ...] = (
    *(vars(builtins)[name] for name in uses.BUILTIN if name in vars(builtins)),
    *(value for value in vars(math).values() if isinstance(value, BuiltinFunctionType)),
    *(functools.partial, functools.reduce, *(v for n, v in vars(itertools).items() if not n.startswith("_"))),
    *(np.ndarray, Fraction),
)
_KNOWN = {id(thing): thing for thing in _FUNCTIONS}
_NUMERIC = {id(thing): thing for thing in uses.NUMERIC.values() if callable(thing)}
#: The modules of this package whose functions and objects those of a method are given, or make.
_TAKING_PART = tuple(
    f"fedtheory.{part}"
    for part in ("algorithms", "classes", "compressors", "instances", "problems", "randomness", "sampling")
)
_MISSING = object()


@dataclass(frozen=True, eq=False)
class Found:
    """What a function does that is not allowed (empty where there is nothing), what it holds, and which attributes it
    uses, each with its line."""

    why: str
    holds: tuple[Any, ...]
    attributes: tuple[tuple[int, str], ...]


def looked_at(function: FunctionType, makes: bool = False) -> Found:
    """What one function does, with the functions in it; ``makes``: whether its first argument is an object that is just
    being made. ``Unread`` where its source is not there."""
    node, _ = tree_of(function)
    if not has_plain_names(function):
        return Found("it has builtins of its own", (), ())
    first = next(iter((*node.args.posonlyargs, *node.args.args)), None) if makes else None
    look = _Look(function)
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    why = next(look.refused(body, "" if first is None else first.arg), "")
    return Found(why, tuple(look.holds), tuple(look.attributes))


def is_listed(name: str, fields: frozenset[str]) -> bool:
    """Return True if code that is not read may use an attribute; ``fields``: those of the author's own records."""
    return name in _ATTRIBUTES or (name in fields | _public() and name not in _INNER | _CHANGING)


def is_known(thing: Any) -> bool:
    """Return True if a function or a class of a library is one that changes nothing, by any name."""
    return _KNOWN.get(id(thing)) is thing or is_numeric(thing) or is_error(thing)


def is_numeric(thing: Any) -> bool:
    """Return True if a function or a class of numpy's is on the list."""
    return _NUMERIC.get(id(thing)) is thing


@dataclass(eq=False)
class _Look:
    """One function of the author's, with the functions in it."""

    function: FunctionType

    def __post_init__(self) -> None:
        self.holds: list[Any] = []
        self.attributes: list[tuple[int, str]] = []
        #: Names that are looked up outside of the function, wherever in it.
        self.outer = _looked_up_outside(self.function.__code__) | set(self.function.__code__.co_freevars)

    def refused(self, body: list[Any], new: str = "") -> Iterator[str]:
        """What may not stand in a function, each with its line; ``new``: the name of an object that is being made."""
        own = list(_within(body))
        made = _made(own, self._makes) - self.outer
        # Of a module and of getattr nothing else may be done than what is listed.
        at_once = {id(node.value) for node in own if isinstance(node, ast.Attribute)}
        at_once |= {id(node.func) for node in own if isinstance(node, ast.Call) and _is_one_of(node.func, {"getattr"})}
        if any(isinstance(n, ast.Name) and n.id == new and not isinstance(n.ctx, ast.Load) for n in own):
            new = ""
        for node in own:
            for why in self._refused(node, made, at_once, new):
                yield f"line {getattr(node, 'lineno', self.function.__code__.co_firstlineno)}: {why}"
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                yield from self.refused(node.body if isinstance(node, ast.FunctionDef) else [node.body])

    def _refused(self, node: ast.AST, made: frozenset[str], at_once: set[int], new: str) -> Iterator[str]:
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
            yield from self._named(node, id(node) in at_once)
        elif isinstance(node, ast.Call):
            yield from self._called(node)

    def _value(self, name: str) -> Any:
        """What a name stands for that the function looks up outside of it; None where it has no value."""
        code = self.function.__code__
        if name not in code.co_freevars:
            return self.function.__globals__.get(name, vars(builtins).get(name))
        try:
            return (self.function.__closure__ or ())[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return None

    def _known(self, node: ast.expr) -> Any:
        """What a name from outside is, or a name of a module; None of all else."""
        if isinstance(node, ast.Name) and node.id in self.outer:
            return self._value(node.id)
        if isinstance(node, ast.Attribute) and type(module := self._known(node.value)) is ModuleType:
            return _of_module(module, node.attr)
        return None

    def _named(self, node: ast.Name, at_once: bool) -> Iterator[str]:
        value = self._value(node.id)
        is_builtin = node.id not in self.function.__globals__ and node.id not in self.function.__code__.co_freevars
        if type(value) is ModuleType or value is getattr:
            if not at_once:
                yield f"it passes on {node.id}"
        elif not is_builtin:
            self.holds.append(value)
        elif value is not None and not (node.id in _BUILTINS or is_error(value)):
            yield f"it uses {node.id}"

    def _asked(self, node: ast.Attribute, made: frozenset[str], new: str) -> Iterator[str]:
        module = self._known(node.value)
        if not isinstance(node.ctx, ast.Load):
            if not _is_one_of(node.value, {new}) or node.attr in _INNER:
                yield f"it sets {ast.unparse(node)}"
        elif type(module) is ModuleType:
            value = _of_module(module, node.attr)
            if not _may_be_asked(module, value, self.function):
                yield f"it uses {ast.unparse(node)}"
            elif type(value) is not ModuleType:
                self.holds.append(value)
        elif node.attr in _CHANGING:
            if not _is_one_of(node.value, made):
                yield f"it changes {ast.unparse(node.value)} by {node.attr}"
        else:
            self.attributes.append((node.lineno, node.attr))

    def _called(self, node: ast.Call) -> Iterator[str]:
        function = self._known(node.func)
        most, named = _places(node.func, function), {keyword.arg for keyword in node.keywords}
        if "out" in named or (None in named and most is not None):
            yield f"{ast.unparse(node.func)} writes to what it is given"
        if function is getattr:
            name = node.args[1] if len(node.args) > 1 else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value not in _CHANGING:
                self.attributes.append((node.lineno, name.value))
            else:
                yield "it looks up an attribute whose name is not written"
        if most is not None and (len(node.args) > most or any(isinstance(a, ast.Starred) for a in node.args)):
            yield f"{ast.unparse(node.func)} may write to what it is given"

    def _makes(self, node: ast.expr) -> bool:
        """Return True if an expression makes a value that nothing else holds, or one that never changes."""
        if isinstance(node, ast.IfExp):
            return self._makes(node.body) and self._makes(node.orelse)
        if isinstance(node, ast.Call):
            function = self._known(node.func)
            if isinstance(node.func, ast.Attribute) and function is None:
                # No class of the author's has a copy of its own.
                return node.func.attr == "copy" and not node.args
            arrays = is_numeric(function) and function.__name__ in _MAKERS
            return (arrays or any(function is one for one in (dict, list, set))) and all(
                k.arg not in ("copy", None) for k in node.keywords
            )
        return isinstance(node, _MAKING)


#: Displays, constants, and arithmetic, which makes another value: no class of the author's has operators of its own.
_MAKING = (
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple, ast.List, ast.Set, ast.Dict),
    *(ast.ListComp, ast.SetComp, ast.DictComp),
)


def _made(own: list[ast.AST], makes: Callable[[ast.expr], bool]) -> frozenset[str]:
    """The names that a function sets by nothing but assignments of what it makes."""
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
    """The nodes of a function, without the bodies of those in it, whose defaults and decorators belong to it."""
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop(0)
        yield node
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            left += [*decorators, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.AnnAssign):
            # What annotates a name of a function is not computed.
            left += [node.target, *([] if node.value is None else [node.value])]
        else:
            left += ast.iter_child_nodes(node)


def _is_one_of(node: ast.expr, names: Collection[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def is_error(value: Any) -> bool:
    """Return True if a class is one of Python's errors."""
    return isinstance(value, type) and issubclass(value, BaseException) and vars(builtins).get(value.__name__) is value


def _looked_up_outside(code: CodeType) -> set[str]:
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_looked_up_outside(c) for c in code.co_consts if isinstance(c, CodeType)))


def _of_module(module: ModuleType, name: str) -> Any:
    """What a module has by a name; this package loads its names when they are asked for."""
    if module is fedtheory and name in fedtheory.__all__:
        return getattr(fedtheory, name)
    return vars(module).get(name, _MISSING)


def _may_be_asked(module: ModuleType, value: Any, function: FunctionType) -> bool:
    """Whether a function may use what a module has: of a library what is listed, of the author's own anything, as it is
    looked at in its turn."""
    root = module.__name__.partition(".")[0]
    own = str(function.__globals__.get("__name__", "")).partition(".")[0]
    if root == own and root not in uses.PACKAGES | {"fedtheory", "verify"}:
        return value is not _MISSING and sys.modules.get(module.__name__) is module
    if type(value) is ModuleType:
        return value is np.linalg or (root == value.__name__.partition(".")[0] == "fedtheory")
    return is_known(value) or is_stated(value) or (value is not _MISSING and type(value) in (type(None), int, float))


def is_stated(value: Any) -> bool:
    """Return True if a function or a class is one of this package's that take part in methods, and change nothing."""
    name = str(getattr(value, "__module__", ""))
    is_ours = name.startswith((*_TAKING_PART, "fedtheory.settings.quantities")) and theory.stands(value)
    return is_ours and isinstance(value, FunctionType | type)


def _places(node: ast.expr, function: Any) -> int | None:
    """How many arguments a call takes by their places before one that it would write to; None if there is no such."""
    if isinstance(function, np.ufunc):
        return function.nin
    if function is not None:
        most = _PLACES.get(function.__name__) if is_numeric(function) else None
        return most
    if isinstance(node, ast.Attribute) and node.attr in _PLACES:
        # Of a method the array is no argument.
        return _PLACES[node.attr] - 1
    return None


@cache
def _public() -> frozenset[str]:
    """The public names of the classes of problems, of distributions, of compressors and of instances."""
    found: set[str] = set()
    for name, module in list(sys.modules.items()):
        if name.startswith(_TAKING_PART):
            for cls in vars(module).values():
                if isinstance(cls, type) and cls.__module__ == name:
                    found.update(vars(cls), getattr(cls, "__annotations__", ()))
    return frozenset(name for name in found if not name.startswith("_"))
