"""The bindings of a call: arguments of a function, names that it may set, fields of a record."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any

from verify.reading.source import Unread
from verify.reading.values import Function, Made, NamedTupleValue

#: The statements that a function may consist of, whether they are reached or not.
STATEMENTS = (
    ast.FunctionDef,
    ast.Return,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.For,
    ast.If,
    ast.Raise,
    ast.Assert,
    ast.Expr,
    ast.Pass,
)
#: Expressions that change the kind of the function that contains them, a generator for instance.
_NOT_READ = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def loads(node: ast.Name) -> bool:
    """Return True if a name is looked up, not set."""
    return isinstance(node.ctx, ast.Load)


def record(cls: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> NamedTupleValue:
    """Return the record that a NamedTuple class makes of its fields."""
    fields = dict(zip(cls._fields, given, strict=False))
    if len(given) > len(cls._fields) or set(fields) & set(named) or set(fields) | set(named) != set(cls._fields):
        raise ValueError(f"{cls.__name__} is made of {len(given) + len(named)} parts, where it has {len(cls._fields)}")
    together = {**fields, **named}
    return NamedTupleValue(cls, {name: together[name] for name in cls._fields})


def made(cls: type, given: tuple[Any, ...], named: Mapping[str, Any], lifted: Callable[[Any], Any]) -> Made:
    """Return the object that a dataclass makes of its parts; ``lifted`` returns the meaning of a default."""
    own = fields(cls)
    found = dict(zip((f.name for f in own), given, strict=False))
    if len(given) > len(own) or set(found) & set(named) or not set(named) <= {f.name for f in own}:
        raise ValueError(f"{cls.__name__} is made of other parts than it has")
    found |= named
    for f in own:
        if f.name not in found:
            if f.default is MISSING:
                raise ValueError(f"{cls.__name__} is made without {f.name}")
            found[f.name] = lifted(f.default)
    return Made(cls, {f.name: found[f.name] for f in own})


def replaced(record: NamedTupleValue, **changed: Any) -> NamedTupleValue:
    """Return a record with some parts replaced."""
    if not set(changed) <= set(record.fields):
        raise ValueError(f"{', '.join(changed)} are replaced, of a record that has {', '.join(record.fields)}")
    return NamedTupleValue(record.of, {**record.fields, **changed})


def bound(function: Function, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, by name."""
    a = function.node.args
    if a.vararg is not None or a.kwarg is not None:
        raise ValueError("a function takes a variable number of arguments")
    places = [argument.arg for argument in (*a.posonlyargs, *a.args)]
    all_names = [*places, *(argument.arg for argument in a.kwonlyargs)]
    found = dict(zip(places, given, strict=False))
    by_name = set(all_names) - {argument.arg for argument in a.posonlyargs}
    if len(given) > len(places) or not set(named) <= by_name - set(found):
        raise ValueError("a function is called with the wrong arguments")
    found |= named
    missing = [name for name in all_names if name not in found and name not in function.defaults]
    if missing:
        raise ValueError(f"the argument {missing[0]} is not given")
    return {name: found.get(name, function.defaults.get(name)) for name in all_names}


def set_in(body: list[ast.stmt]) -> frozenset[str]:
    """Return the names that some statements set, with those in nested statements."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and not loads(node))


@lru_cache(maxsize=4096)
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names that a function sets. Raise ``Unread`` if any part of it, reached or not, is not supported."""
    found: set[str] = set()
    stack: list[ast.AST] = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]
    while stack:
        at = stack.pop()
        if (isinstance(at, ast.stmt) and not isinstance(at, STATEMENTS)) or isinstance(at, _NOT_READ):
            raise Unread(f"line {at.lineno}: {type(at).__name__.lower()} is not supported")
        if isinstance(at, ast.FunctionDef):
            found.add(at.name)
            stack += [*at.decorator_list, *at.args.defaults, *(d for d in at.args.kw_defaults if d)]
        elif isinstance(at, ast.Lambda):
            stack += [*at.args.defaults, *(d for d in at.args.kw_defaults if d)]
        elif isinstance(at, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            stack += [at.generators[0].iter]
        else:
            if isinstance(at, ast.Name) and not loads(at):
                found.add(at.id)
            stack += ast.iter_child_nodes(at)
    return frozenset(found)
