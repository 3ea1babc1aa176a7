"""The claims of a user's file of which some lines fail: those that do not depend on these lines.

The file is run again without what failed. What may be left out is listed: an element of ``CLAIMS``, and a statement
that only binds names which nothing else binds, so that whatever needs them fails too. Anything else ends the file
there, as it may have changed what follows. Functions look names up when they are called: no claim is left if what did
not run may have changed what they then find.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from numbers import Number
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType, TracebackType

import numpy as np
import sympy

from fedtheory.claims import Claim
from verify.base import own

#: Parts of a file that are left out at most: it is run once more for each.
_MOST = 20
_CLAIMS = "CLAIMS"


#: The line and the column at which a statement begins, or an element.
Place = tuple[int, int]


def load(path: Path) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Return the claims of a file, which are registered, and why lines of it fail, in a sentence each.

    Raise ``ValueError`` if no claim is left, or if the file cannot be read at all.
    """
    left_out: set[Place] = set()
    lost: set[str] = set()
    failures: list[str] = []
    ended: Place | None = None
    while True:
        try:
            module = own.read(path, lambda tree: _without(tree, left_out))
            break
        except own.Failed as failed:
            # What needs a name that a line before was to bind fails with it.
            if not (isinstance(failed.error, NameError) and failed.error.name in lost):
                failures.append(str(failed))
            node = _failing(failed.tree, failed.error, str(failed.module.__file__))
            if node is None or len(left_out) == _MOST:
                module = failed.module
                ended = _place(failed.error.__traceback__, str(module.__file__)) or (0, 0)
                break
            lost |= set(_bound(node))
            left_out.add(_begin(node))
    if failures and not getattr(module, _CLAIMS, None):
        raise ValueError(failures[0])
    if failures and (name := _unsettled(ast.parse(path.read_bytes()), module, ended)):
        raise ValueError(f"{failures[0]}; what did not run may have changed {name}, which functions look up")
    found, strange = own.sorted_out(path, module)
    return found, (*failures, *strange)


def _unsettled(tree: ast.Module, module: ModuleType, ended: Place | None) -> str:
    """Return what functions of a file look up and what was not run may have changed; empty if there is nothing.

    ``ended``: the place at which the file ended, None if the rest of it ran.
    """
    late = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp
    functions = [node for node in ast.walk(tree) if isinstance(node, late)]
    read = {node.id for of in functions for node in ast.walk(of) if isinstance(node, ast.Name)} & vars(module).keys()
    rest = [] if ended is None else [one for one in tree.body if _holds(one, ended) or _begin(one) > ended]
    changing = (ast.Attribute, ast.Subscript)
    for node in (node for one in rest for node in ast.walk(one)):
        if isinstance(node, changing) and not isinstance(node.ctx, ast.Load):
            return ast.unparse(node)
    again = {name for one in rest for name in _names(one)}
    return min((name for name in read if name in again or not _is_fixed(vars(module)[name])), default="")


def _is_fixed(value: object) -> bool:
    """Return True if a value is of a kind that nothing changes."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_fixed, value))
    frozen: bool = getattr(getattr(value, "__dataclass_params__", None), "frozen", False)
    fixed = (
        Number | np.ufunc | str | bytes | None | sympy.Basic | type | ModuleType | FunctionType | BuiltinFunctionType
    )
    return frozen or isinstance(value, fixed)


def _begin(node: ast.stmt | ast.expr) -> Place:
    return node.lineno, node.col_offset


def _without(tree: ast.Module, left_out: set[Place]) -> ast.Module:
    """The tree without what begins at some places; what is left keeps its place in the text."""
    for statement in tree.body:
        if (listed := _listed(statement)) is not None:
            listed.elts = [element for element in listed.elts if _begin(element) not in left_out]
    return ast.Module([one for one in tree.body if _begin(one) not in left_out], tree.type_ignores)


def _failing(tree: ast.Module, error: BaseException, file: str) -> ast.stmt | ast.expr | None:
    """The part of a file in which an error was raised, if it may be left out."""
    at = _place(error.__traceback__, file)
    statement = None if at is None else next((one for one in tree.body if _holds(one, at)), None)
    if at is None or statement is None:
        return None
    listed = _listed(statement)
    element = None if listed is None else next((one for one in listed.elts if _holds(one, at)), None)
    return element or (statement if _only_binds(statement, tree) else None)


def _place(trace: TracebackType | None, file: str) -> Place | None:
    """The line and the column at which the code of a file, outside all functions, was left by an error."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file and code.co_name == "<module>":
            line, _, column, _ = list(code.co_positions())[trace.tb_lasti // 2]
            return None if line is None or column is None else (line, column)
        trace = trace.tb_next
    return None


def _holds(node: ast.stmt | ast.expr, at: Place) -> bool:
    """Return True if a place is within a statement or an element."""
    first: list[ast.expr] = getattr(node, "decorator_list", [])
    begin = min(map(_begin, (node, *first)))
    return begin <= at < (node.end_lineno or 0, node.end_col_offset or 0)


def _listed(statement: ast.stmt) -> ast.Tuple | ast.List | None:
    """The claims that a statement lists: ``CLAIMS = (...)`` or ``CLAIMS += (...)``."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and all(map(_is_claims, targets)):
        return statement.value if isinstance(statement.value, ast.Tuple | ast.List) else None
    return None


def _is_claims(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Name) and node.id == _CLAIMS


def _only_binds(statement: ast.stmt, tree: ast.Module) -> bool:
    """Return True if all that a statement does for others is to bind names that nothing else binds, or to add a
    claim."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        added = call.func if isinstance(call, ast.Call) else None
        return isinstance(added, ast.Attribute) and added.attr == "append" and _is_claims(added.value)
    names = list(_bound(statement))
    others = [name for other in tree.body if other is not statement for name in _names(other)]
    return bool(names) and not {*names} & ({*others} | vars(builtins).keys()) and "*" not in others


def _bound(statement: ast.stmt | ast.expr) -> Iterator[str]:
    """Yield the names that a definition, an import or an assignment to names binds; none for other statements."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        flat = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
        if all(isinstance(one, ast.Name) for one in flat):
            yield from (one.id for one in flat if isinstance(one, ast.Name))


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield all names that a statement may bind in its file, also those within it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.stmt):
            yield from _bound(node)
        for field in ("names", "name", "rest"):
            names = getattr(node, field, None)
            yield from (n for n in (names if isinstance(names, list) else [names]) if isinstance(n, str))
