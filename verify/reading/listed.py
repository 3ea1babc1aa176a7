"""The names that code which is run and not read may use: attributes, functions of Python, of libraries and of this
package.

All are known by identity, as of the import of this module, and change nothing but what they make.
"""

from __future__ import annotations

import ast
import builtins
import collections
import collections.abc
import dataclasses
import functools
import itertools
import math
import re
import sys
import typing
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GeneratorType, ModuleType, TracebackType
from typing import Any

import numpy as np
import sympy
from sympy.logic.boolalg import Boolean

import fedtheory
from verify.base import uses
from verify.reading import theory

#: Attributes of arrays, numbers, texts and containers that change none of them.
_ATTRIBUTES = uses.names("""
    T all any argmax argmin argsort astype clip conj conjugate copy cumsum diagonal dot dtype flatten imag item kind
    max mean min ndim nonzero prod ravel real repeat reshape round shape size squeeze std sum swapaxes take tolist trace
    transpose var denominator limit_denominator numerator bit_length is_integer count index get items keys values
    endswith join lower replace split startswith strip upper
    choice integers normal permutation random standard_normal uniform _asdict _fields _make _replace
    Half NegativeOne One Zero next setting statement variant zero __name__
    """)
#: Methods that change a list, a set, a mapping or their argument: allowed only if the function made it.
CHANGING = uses.names("""
    add append clear discard extend insert pop remove reverse setdefault sort update
    permuted shuffle standard_exponential standard_gamma
    """)
#: Names that Python itself has in what is below every object, and numpy in what may be written to: nobody's fields are
#: known by these.
INNER = frozenset(
    name
    for kind in (
        *(FunctionType, GeneratorType, FrameType, CodeType, TracebackType, ModuleType, functools.partial, type),
        *(np.ndarray, np.ufunc),
    )
    for name in dir(kind)
)
BUILTINS = uses.BUILTIN | {"getattr", "hasattr"}
#: Functions that may be called by any name.
_FUNCTIONS: tuple[Any, ...] = (
    *(vars(builtins)[name] for name in uses.BUILTIN if name in vars(builtins)),
    *(value for value in vars(math).values() if isinstance(value, BuiltinFunctionType)),
    *(functools.partial, functools.reduce, *(v for n, v in vars(itertools).items() if not n.startswith("_"))),
    *(np.ndarray, Fraction),
    *(value for value in vars(collections.abc).values() if isinstance(value, type)),
    *(typing.Any, typing.Callable, typing.ClassVar, typing.Generic, typing.NamedTuple, typing.Optional, typing.Union),
    *(typing.Protocol, typing.Iterator, typing.Mapping, typing.Sequence),
    *(dataclasses.field, functools.cached_property, collections.namedtuple),
)
#: The decorators that a function or a class may have.
DECORATORS = (classmethod, property, staticmethod, dataclasses.dataclass, functools.cached_property)
#: Functions and classes of sympy. They evaluate any text that they are given, but for the names of symbols.
_SYMPY = uses.names("""
    Abs Add And Dummy Eq Function Ge Gt Integer Le Lt Max Min Mul Ne Not Or Piecewise Pow Product Rational S Sum Symbol
    binomial cbrt ceiling cos cosh exp factorial floor log root sign sin sinh sqrt symbols tan tanh
    """)
_OF_SYMPY = {id(thing): thing for thing in map(vars(sympy).__getitem__, _SYMPY)}
#: Those that evaluate none.
NAMING = (sympy.Symbol, sympy.Dummy, sympy.symbols)
#: A number in a text.
_NUMBER = re.compile(r"[-+]?\d+([./]\d+)?")
#: The names for users' own files.
_OPEN = {id(thing): thing for thing in (getattr(fedtheory, name) for name in fedtheory.__all__)}
_KNOWN = {id(thing): thing for thing in _FUNCTIONS}
_NUMERIC = {id(thing): thing for thing in uses.NUMERIC.values() if callable(thing)}
#: The modules of this package whose functions and objects those of a method are given, or make.
_TAKING_PART = tuple(
    f"fedtheory.{part}"
    for part in ("algorithms", "classes", "compressors", "instances", "learning", "problems", "randomness", "sampling")
)
#: Stands for an attribute that a module does not have.
_MISSING = object()


def is_listed(name: str, fields: frozenset[str]) -> bool:
    """Return True if code that is not read may use an attribute; ``fields``: those of the author's own records."""
    return name in _ATTRIBUTES or (name in fields | _public() and name not in INNER | CHANGING)


def is_known(thing: Any) -> bool:
    """Return True if a function or a class of a library is one that changes nothing, by any name."""
    return _has(_KNOWN, thing) or is_numeric(thing) or is_error(thing)


def is_numeric(thing: Any) -> bool:
    """Return True if a function or a class of numpy's is on the list."""
    return _has(_NUMERIC, thing)


def _has(table: Mapping[int, Any], thing: Any) -> bool:
    return thing is not None and table.get(id(thing)) is thing


def is_written(node: ast.expr) -> bool:
    """Return True for a number that is written as a text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_NUMBER.fullmatch(node.value))


def holds_numbers(value: Any) -> bool:
    """Return True if a value is a number or an expression, or a tuple of such: no text is in it."""
    inner = type(value) is tuple and all(map(holds_numbers, value))
    return inner or isinstance(value, int | float | Fraction | sympy.Expr | Boolean)


def is_error(value: Any) -> bool:
    """Return True if a class is one of Python's errors."""
    return isinstance(value, type) and issubclass(value, BaseException) and vars(builtins).get(value.__name__) is value


def of_module(module: ModuleType, name: str) -> Any:
    """Return the value of a module's attribute; this package loads its names lazily."""
    if module is fedtheory and name in fedtheory.__all__:
        return getattr(fedtheory, name)
    return vars(module).get(name, _MISSING)


def may_be_asked(module: ModuleType, value: Any, function: FunctionType) -> bool:
    """Return True if a function may use a module's attribute: of a library only listed ones, of the author's own
    modules any, as they are inspected in their turn.
    """
    root = module.__name__.partition(".")[0]
    own = str(function.__globals__.get("__name__", "")).partition(".")[0]
    if root == own and root not in uses.PACKAGES | {"fedtheory", "verify"}:
        return value is not _MISSING and sys.modules.get(module.__name__) is module
    if type(value) is ModuleType:
        return value is np.linalg or (root == value.__name__.partition(".")[0] == "fedtheory")
    return any(is_one(value) for is_one in (is_known, is_stated, is_of_sympy, theory.is_of_sympy)) or (
        type(value) in (type(None), int, float)
    )


def is_stated(value: Any) -> bool:
    """Return True if a function or a class is one of this package's that take part in methods, and change nothing."""
    if is_open(value):
        return True
    name = str(getattr(value, "__module__", ""))
    is_ours = name.startswith((*_TAKING_PART, "fedtheory.settings.quantities")) and theory.stands(value)
    return is_ours and isinstance(value, FunctionType | type)


def is_open(value: Any) -> bool:
    """Return True if a function, a class or a letter is one that files of users are written with."""
    return _has(_OPEN, value)


def is_of_sympy(value: Any) -> bool:
    """Return True if a function or a class is one of sympy's on the list, which may be called, and not passed on."""
    return _has(_OF_SYMPY, value)


@cache
def _public() -> frozenset[str]:
    """Return the public names of the classes of problems, of distributions, of compressors and of instances.

    They are read from the files: which modules happen to be loaded may decide no verdict.
    """
    folders = [Path(str(fedtheory.__file__)).parent / part.partition(".")[2] for part in _TAKING_PART]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for folder in folders for path in folder.rglob("*.py")]
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    return frozenset(name for cls in classes for part in cls.body for name in _names(part) if not name.startswith("_"))


def _names(part: ast.stmt) -> list[str]:
    """Return the names that a statement in the body of a class gives to it."""
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return [part.name]
    targets = part.targets if isinstance(part, ast.Assign) else [part.target] if isinstance(part, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
