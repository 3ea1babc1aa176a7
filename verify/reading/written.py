"""Constants as they are written: numbers with all their digits, names that a module sets once."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from functools import lru_cache
from types import FunctionType
from typing import Any

from verify.reading import theory
from verify.reading.calls import loads
from verify.reading.source import Module, Unread, tree_of
from verify.reading.values import Scope


def decimal(at: ast.Constant, scope: Scope) -> Fraction:
    """The decimal that is written, with all its digits."""
    value = Fraction(ast.get_source_segment(scope.module.text, at) or "")
    held: Any = at.value
    if math.isinf(held) or bool(held) is not bool(value):
        raise ValueError(f"{held} is written, which floats cannot hold")
    return value


def check_set_once(name: str, scope: Scope) -> None:
    """``ValueError`` where a module sets one of its names twice."""
    nodes = list(ast.walk(scope.module.tree))
    if sum(isinstance(n, ast.Name) and n.id == name and not loads(n) for n in nodes) > 1:
        raise ValueError(f"{name} is set more than once")


@lru_cache(maxsize=256)
def _set_by_functions(module: Module) -> frozenset[str]:
    return frozenset(name for n in ast.walk(module.tree) if isinstance(n, ast.Global) for name in n.names)


def check_no_function_sets(name: str, scope: Scope) -> None:
    """``ValueError`` where a function sets a name of its module, be it a constant or a function: it may change."""
    if name in _set_by_functions(scope.module):
        raise ValueError(f"{name} is set more than once")


def check_as_written(thing: Any) -> None:
    """``Unread`` where a function of ours that is known by identity, or one of a class that is, has other code than
    its file says, as where ``__code__`` was replaced, or a method."""
    if getattr(thing, "__module__", "").partition(".")[0] != "fedtheory":
        return
    for name, part in vars(thing).items() if isinstance(thing, type) else (("", thing),):
        # What begins so is made with a class, and has no file.
        if type(part) is FunctionType and not name.startswith("_"):
            _, module = tree_of(part)
            if not theory.is_file(module.name) or part.__code__.co_name != part.__name__:
                raise Unread(f"{part.__name__} is not what its file compiles to")


def check_kept(name: str, scope: Scope) -> None:
    """``ValueError`` where a function sets a name of one around it: what it is now it need not be when it is used."""
    if any(isinstance(n, ast.Nonlocal) and name in n.names for n in ast.walk(scope.module.tree)):
        raise ValueError(f"{name} is set by a function within the one that has it")


def as_written(name: str, value: Any, scope: Scope) -> Any:
    """The constant that a name of the module is set to where it is written, which it must still be; a float is the
    decimal that is written. What is imported is as it was then."""
    for statement in scope.module.tree.body:
        imported = statement.names if isinstance(statement, ast.ImportFrom) and type(value) is not float else []
        if any((alias.asname or alias.name) == name for alias in imported):
            return value
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            written = statement.value
            named = len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name
            if named and type(value) is float and isinstance(written, ast.Constant) and written.value == value:
                return decimal(written, scope)
            if named and type(value) is not float and _is_literal(written, value):
                return value
    raise ValueError(f"{name} is not the constant that is written there")


def _is_literal(written: ast.expr | None, value: Any) -> bool:
    try:
        found = ast.literal_eval(written) if written is not None else written
    except ValueError:
        return False
    return type(found) is type(value) and bool(found == value)
