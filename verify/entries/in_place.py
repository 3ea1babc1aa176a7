"""Arrays that code changes in place: they have one name, and nothing else sees them before the last change."""

from __future__ import annotations

import ast
from typing import Any


def check(body: list[ast.stmt]) -> None:
    """Raise ``ValueError`` if an array that is changed in place may have another name, or be seen before.

    It is made by ``np.zeros`` in the same block, and up to the last change nothing else mentions it.
    """
    changes = [k for k, at in enumerate(body) for name in _changed(at)]
    for name in {name for at in body for name in _changed(at)}:
        mentioned = [k for k, at in enumerate(body) if any(_is_name(node, name) for node in ast.walk(at))]
        if not mentioned:
            raise ValueError("something other than a named array is changed in place")
        last = max(k for k in changes if name in _changed(body[k]))
        before = [body[k] for k in mentioned if k <= last]
        made: Any = before[0]
        zeros = isinstance(made, ast.Assign) and isinstance(made.value, ast.Call) and len(made.targets) == 1
        if not zeros or not isinstance(made.targets[0], ast.Name) or ast.unparse(made.value.func) != "np.zeros":
            raise ValueError(f"{name} is changed in place, and is not made by np.zeros just before")
        if not all(_only_adds(at, name) for at in before[1:]):
            raise ValueError(f"{name} is used before it is changed in place for the last time")


def _changed(at: ast.stmt) -> set[str]:
    """Return the names of arrays that a statement changes in place."""
    nodes = (node.target for node in ast.walk(at) if isinstance(node, ast.AugAssign))
    return {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Subscript)}


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _only_adds(at: ast.stmt, name: str) -> bool:
    """Return True if a statement, or the only one of a loop, adds to places of an array, and mentions it only there."""
    only = at.body[0] if isinstance(at, ast.For) and len(at.body) == 1 else at
    return isinstance(only, ast.AugAssign) and sum(_is_name(node, name) for node in ast.walk(at)) == 1
