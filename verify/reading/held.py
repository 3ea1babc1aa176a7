"""The functions of a claim that are run, whether a proof reads them or not: none of them may change what it reads.

By a list of what is allowed: they set local names and parts of local objects only, use listed names of those that are
built in, and modules of listed packages.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from fedtheory.algorithms.base import place
from verify.base import uses
from verify.reading import theory

#: What sets something that is not local, or brings in what is not known.
_SETS = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "STORE_NAME"})
_BUILT_IN = uses.BUILTIN | {"getattr", "hasattr", "type"}


def changing(claim: Any) -> str:
    """A function of a claim that may change what a proof reads, and by what; empty where there is none."""
    return next((why for function in _functions(claim) if (why := _unlisted(function))), "")


def _functions(thing: Any) -> Iterator[FunctionType]:
    """The functions outside of this package's theory that are reached from a thing."""
    seen: dict[int, Any] = {}
    left = [thing]
    while left:
        at = left.pop()
        if id(at) in seen:
            continue
        seen[id(at)] = at
        if type(at) is FunctionType:
            left += [*(at.__defaults__ or ()), *(at.__kwdefaults__ or {}).values(), *_closed_over(at)]
            if not theory.is_file(at.__code__.co_filename) and not uses.is_of_library(at):
                yield at
                left += [v for name in _globals(at.__code__) if (v := at.__globals__.get(name)) is not None]
        elif type(at) is partial:
            left += [at.func, *at.args, *at.keywords.values()]
        elif type(at) is MethodType:
            left += [at.__func__, at.__self__]
        elif type(at) in (tuple, list, set, frozenset):
            left += at
        elif type(at) is dict:
            left += at.values()
        elif isinstance(at, type):
            if not uses.is_foreign(at):
                continue
            left += [getattr(v, "fget", None) or getattr(v, "__func__", v) for v in vars(at).values()]
        elif is_dataclass(at) or (hasattr(at, "__dict__") and uses.is_foreign(type(at))):
            left += [type(at), *vars(at).values()] if hasattr(at, "__dict__") else [type(at)]


def _closed_over(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _globals(code: CodeType) -> set[str]:
    return {i.argval for c in _codes(code) for i in dis.get_instructions(c) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _unlisted(function: FunctionType) -> str:
    for code in _codes(function.__code__):
        line = code.co_firstlineno
        for at in dis.get_instructions(code):
            line, name = at.starts_line or line, str(at.argval)
            where = f"{place(function)}, which is run, may change what is read: line {line}: "
            if at.opname in _SETS or (at.opname in ("STORE_DEREF", "DELETE_DEREF") and name in code.co_freevars):
                return f"{where}it sets {name}"
            if at.opname in ("LOAD_ATTR", "LOAD_METHOD") and name.startswith("__"):
                return f"{where}it uses {name}"
            if at.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                value = function.__globals__.get(name)
                if type(value) is ModuleType and not uses.may_be_used(value, function.__globals__):
                    return f"{where}it uses the module {name}"
                if name not in function.__globals__ and hasattr(builtins, name) and not _is_listed(name):
                    return f"{where}it uses {name}"
    return ""


def _is_listed(name: str) -> bool:
    known = getattr(builtins, name)
    return name in _BUILT_IN or (isinstance(known, type) and issubclass(known, BaseException))
