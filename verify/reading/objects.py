"""The meaning of Python objects in code that is read: names, attributes, constants as written.

A name is looked up where Python looks it up. Numbers have all the digits that are written, and names of modules count
only if they are set once.
"""

from __future__ import annotations

import ast
import builtins
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from types import FunctionType, ModuleType
from typing import Any

import fedtheory
from fedtheory.algorithms.parts import Start, begun
from verify.reading import theory
from verify.reading.arrays import METHODS
from verify.reading.calls import loads, replaced
from verify.reading.operations import PLAIN
from verify.reading.source import Module, Unread, has_plain_names, module_of, tree_of
from verify.reading.terms import Term
from verify.reading.values import (
    CONSTANTS,
    Class,
    DataclassValue,
    Function,
    Law,
    Made,
    Maker,
    Named,
    NamedTupleValue,
    Names,
    Rule,
    Scope,
    Unknown,
    describe,
    is_keeper,
    is_ours,
    is_record_class,
)


class Objects(ABC):
    """The meaning of objects. ``known``: functions and objects with rules of their own, as pairs, by identity."""

    def __init__(self, known: Iterable[tuple[Any, Any]]) -> None:
        # The objects are kept, so that no new object gets the identity of a deleted one.
        self._known = {id(thing): (thing, value) for thing, value in known}
        #: Those of them whose code was found to agree with their files.
        self._kept: set[int] = set()

    @abstractmethod
    def _called(self, function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Return the result of a function for these values."""

    def lifted(self, value: Any) -> Any:
        """Return the meaning of an object. Raise ``Unread`` if it is not allowed."""
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
                raise Unread("a partial of something other than a plain function is not supported")
            named = {name: self.lifted(v) for name, v in value.keywords.items()}
            given = (*inner.given, *map(self.lifted, value.args))
            return replace(inner, given=given, named={**inner.named, **named})
        if type(value) is ModuleType:
            return Names(value)
        if is_record_class(value):
            return Class(value)
        if is_record_class(type(value)):
            return NamedTupleValue(
                type(value), {name: self.lifted(part) for name, part in zip(value._fields, value, strict=True)}
            )
        if type(value) is Start:
            return Rule("init", partial(self._started, value))
        if is_keeper(value):
            return Maker(value)
        if is_ours(value) and is_dataclass(value):
            # Such classes check their arguments, and keep them.
            name = str(getattr(value, "__name__", ""))
            return Rule(name, lambda *given, **named: Unknown(f"an object of type {name}, which is not known here"))
        if _is_plain_instance(value):
            return DataclassValue(value)
        return Unknown(_unread(value))

    def _started(self, start: Start, problem: Any, params: Any, *values: Any, **named: Any) -> Any:
        given = NamedTupleValue(None, start.given(*values, **named))
        made = (self.lifted(start.State), self.lifted(start.starts))
        return self._called(self.lifted(begun), (*made, problem, given), {})

    def _function(self, function: FunctionType) -> Function:
        node, module = tree_of(function)
        if not has_plain_names(function):
            raise Unread(f"{function.__name__} has its own builtins, or looks its names up in another way")
        within = f"{function.__code__.co_name} ({module.name.rpartition('/')[2]})"
        scope = Scope({}, None, function, module, within, frozenset())
        arguments = [*node.args.posonlyargs, *node.args.args]
        values = function.__defaults__ or ()
        pairs = zip(arguments[len(arguments) - len(values) :], values, strict=True)
        defaults = {argument.arg: self.lifted(value) for argument, value in pairs}
        defaults |= {name: self.lifted(value) for name, value in (function.__kwdefaults__ or {}).items()}
        return Function(node, scope, defaults)

    def _named(self, name: str, scope: Scope) -> Any:
        """Return the value of a name in a scope. Raise ``ValueError`` if it has none, or one that may change."""
        here = scope
        while True:
            if name in here.names:
                return here.names[name]
            if name in here.local:
                raise ValueError(f"{name} has no value yet")
            if here.around is None:
                break
            here = here.around
        function = here.function
        assert function is not None, "the outermost function is a Python builtin"
        if name in function.__code__.co_freevars:
            check_kept(name, scope)
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            return self.lifted(cell.cell_contents)
        if name in function.__globals__:
            return self._global(name, function.__globals__[name], scope)
        if name in vars(builtins):
            return self.lifted(vars(builtins)[name])
        raise ValueError(f"{name} is not defined")

    def _global(self, name: str, value: Any, scope: Scope) -> Any:
        """Return the value of a module's name. Raise ``ValueError`` if it may change."""
        check_no_function_sets(name, scope)
        if type(value) in (*CONSTANTS, float, tuple):
            check_set_once(name, scope)
        if type(value) in (*PLAIN, float):
            return as_written(name, value, scope)
        return self.lifted(value)

    def _attribute_of(self, value: Any, name: str) -> Any:
        if name.startswith("__"):
            raise ValueError(f"{name} is not a supported name")
        if isinstance(value, Named | NamedTupleValue | Law | Rule) and name in value.fields:
            return value.fields[name]
        if isinstance(value, NamedTupleValue) and value.of is not None:
            return self._of_record(value, name)
        if isinstance(value, Term) and name in METHODS:
            return METHODS[name](value)
        if isinstance(value, Names) and name in vars(value.of):
            found = vars(value.of)[name]
            if _is_library(value.of) or type(found) is ModuleType:
                return self.lifted(found)
            return self._global(name, found, _scope_of(value.of))
        if isinstance(value, Names) and value.of is fedtheory and name in fedtheory.__all__:
            # Names of the package are loaded when they are used, by a function that is known.
            return self.lifted(_loaded(name))
        if isinstance(value, DataclassValue | Made):
            return self._part_of(value, name)
        if isinstance(value, Unknown):
            raise ValueError(value.why)
        raise ValueError(f"nothing is known of {name} of {describe(value)}")

    def _of_record(self, value: NamedTupleValue, name: str) -> Any:
        found = vars(value.of).get(name)
        if name == "_replace":
            return Rule("_replace", partial(replaced, value))
        if name == "_asdict":
            return Rule("_asdict", lambda: NamedTupleValue(None, value.fields))
        if type(found) is property and found.fget is not None:
            return self._called(self.lifted(found.fget), (value,), {})
        if type(found) is FunctionType and not name.startswith("_"):
            return replace(self._function(found), given=(value,))
        raise ValueError(f"nothing is known of {name} of a record")

    def _special(self, value: DataclassValue | Made, name: str) -> Function:
        """Return a function that Python looks up in the class of an object, bound to it."""
        cls = value.of if isinstance(value, Made) else type(value.of)
        found = next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), None)
        if type(found) is not FunctionType:
            raise ValueError(f"an object of type {cls.__name__} is called")
        return replace(self._function(found), given=(value,))

    def _part_of(self, value: DataclassValue | Made, name: str) -> Any:
        # As Python does: properties, then attributes of the object, then functions and constants of its class.
        if isinstance(value, Made) and name in value.fields:
            return value.fields[name]
        of = value.of if isinstance(value, Made) else type(value.of)
        found = next((vars(cls)[name] for cls in of.__mro__ if name in vars(cls)), None)
        if type(found) is cached_property and isinstance(value, Made):
            return self._called(self.lifted(found.func), (value,), {})
        if type(found) is property and found.fget is not None:
            return self._called(self.lifted(found.fget), (value,), {})
        if found is not None and type(found) is not FunctionType and hasattr(type(found), "__get__"):
            raise ValueError(f"{name} is computed in an unsupported way")
        if isinstance(value, DataclassValue) and name in vars(value.of):
            return self.lifted(vars(value.of)[name])
        if type(found) is FunctionType:
            return replace(self._function(found), given=(value,))
        if found is not None:
            return self.lifted(found)
        raise ValueError(f"nothing is known of {name} of an object of type {of.__name__}")


#: Replacements for functions that are not read, by their names.
_INSTEAD = {
    **dict.fromkeys(("dot", "inner", "vdot", "einsum", "matmul"), "(u * v).sum(axis=-1)"),
    **dict.fromkeys(("outer", "kron", "trace", "solve", "inv"), "vectors and their inner products"),
    **dict.fromkeys(("average", "nanmean"), ".mean(axis=-2), or a sum with weights"),
    **dict.fromkeys(("clip", "fmax", "fmin"), "np.where of a draw, or two claims"),
}


def _unread(value: Any) -> str:
    """Return why an object has no meaning here, in its user's terms, and what to write instead."""
    name = str(getattr(value, "__name__", ""))
    root = str(getattr(value, "__module__", "") or "").partition(".")[0]
    if not callable(value) or isinstance(value, type) or not name:
        kind = value.__name__ if isinstance(value, type) else type(value).__name__
        return f"an object of type {kind}, which is not known here"
    whole = f"{'np' if root == 'numpy' else root}.{name}" if root not in ("", "builtins") else name
    if name in _INSTEAD:
        return f"{whole}, which no proof reads: write {_INSTEAD[name]}"
    return f"{whole}, which no proof reads: it may look at single clients, coordinates or values"


def _is_library(module: ModuleType) -> bool:
    """Return True if no function sets the names of a module while a claim is checked."""
    root = module.__name__.partition(".")[0]
    return root in ("fedtheory", "numpy") or root in sys.stdlib_module_names


def _scope_of(module: ModuleType) -> Scope:
    """Return the names of a module of the author's that another one names."""
    file = getattr(module, "__file__", None)
    found = None if file is None else module_of(file)
    if found is None:
        raise ValueError(f"the source of the module {module.__name__} is not there")
    return Scope({}, None, None, found, "", frozenset())


def decimal(at: ast.Constant, scope: Scope) -> Fraction:
    """Return the decimal that is written, with all its digits."""
    value = Fraction(ast.get_source_segment(scope.module.text, at) or "")
    held: Any = at.value
    if math.isinf(held) or bool(held) is not bool(value):
        raise ValueError(f"{held} is a literal that floats cannot represent")
    return value


def check_set_once(name: str, scope: Scope) -> None:
    """Raise ``ValueError`` if a module sets one of its names twice."""
    nodes = list(ast.walk(scope.module.tree))
    if sum(isinstance(n, ast.Name) and n.id == name and not loads(n) for n in nodes) > 1:
        raise ValueError(f"{name} is set more than once")


@lru_cache(maxsize=256)
def _set_by_functions(module: Module) -> frozenset[str]:
    return frozenset(name for n in ast.walk(module.tree) if isinstance(n, ast.Global) for name in n.names)


def check_no_function_sets(name: str, scope: Scope) -> None:
    """Raise ``ValueError`` if a function sets a name of its module, be it a constant or a function: it may change."""
    if name in _set_by_functions(scope.module):
        raise ValueError(f"{name} is set more than once")


def check_as_written(thing: Any) -> None:
    """Raise ``Unread`` if a function or class of this package that is known by identity differs from its file, for
    instance because ``__code__`` or a method was replaced.
    """
    if getattr(thing, "__module__", "").partition(".")[0] != "fedtheory":
        return
    for name, part in vars(thing).items() if isinstance(thing, type) else (("", thing),):
        # Names that begin so are generated with a class, and have no file.
        if type(part) is FunctionType and not name.startswith("_"):
            _, module = tree_of(part)
            if not theory.is_file(module.name) or part.__code__.co_name != part.__name__:
                raise Unread(f"{part.__name__} is not what its file compiles to")


def check_kept(name: str, scope: Scope) -> None:
    """Raise ``ValueError`` if a function sets a name of an enclosing one: its value may change before it is used."""
    if any(isinstance(n, ast.Nonlocal) and name in n.names for n in ast.walk(scope.module.tree)):
        raise ValueError(f"{name} is set by a function within the one that has it")


def as_written(name: str, value: Any, scope: Scope) -> Any:
    """Return the constant that a name of the module is set to in the source, which it must still be; a float is the
    decimal that is written. An imported one is as it was then.
    """
    for statement in scope.module.tree.body:
        imported = statement.names if isinstance(statement, ast.ImportFrom) else []
        if any((alias.asname or alias.name) == name for alias in imported):
            if type(value) is float:
                raise ValueError(
                    f"{name} is a float of another file: import that file, and write its name before {name}"
                )
            return value
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            written = statement.value
            named = len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name
            if named and type(value) is float and isinstance(written, ast.Constant) and written.value == value:
                return decimal(written, scope)
            if named and type(value) is not float and _is_literal(written, value):
                return value
    raise ValueError(f"{name} differs from the constant in the source")


def _is_literal(written: ast.expr | None, value: Any) -> bool:
    try:
        found = ast.literal_eval(written) if written is not None else written
    except ValueError:
        return False
    return type(found) is type(value) and bool(found == value)


_LOADED = fedtheory.__getattr__


def _loaded(name: str) -> Any:
    if vars(fedtheory)["__getattr__"] is not _LOADED:
        raise ValueError("names of the package are looked up in an unknown way")
    return _LOADED(name)


def _is_plain_instance(value: Any) -> bool:
    """Return True if an object is a frozen dataclass that looks up its attributes as all objects do."""
    cls = type(value)
    return (
        type(cls) is type
        and is_dataclass(cls)
        and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, "__getattr__")
        and hasattr(value, "__dict__")
    )
