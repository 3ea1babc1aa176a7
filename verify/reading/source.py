"""The syntax tree of a function, which is what runs: its file compiles to the very code that the function has."""

from __future__ import annotations
import __future__ as future

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType


class Unread(ValueError):
    """Code that is not read: where it stands, and what stands in the way."""


@dataclass(frozen=True, eq=False)
class Module:
    """The file of a module: its name, its text, its tree, and the code of each function in it; ``unevaluated``: whether
    annotations in it are not computed."""

    name: str
    text: str
    tree: ast.Module
    codes: tuple[CodeType, ...]
    unevaluated: bool


@lru_cache(maxsize=256)
def _module(filename: str, text: str) -> Module | None:
    try:
        tree = ast.parse(text)
        whole = compile(text, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return Module(filename, text, tree, tuple(_codes(whole)), bool(whole.co_flags & future.annotations.compiler_flag))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def tree_of(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, Module]:
    """The definition of a function, and the module in whose file it stands.

    ``Unread`` where the file is not there, or is not what was compiled, or holds two definitions that may be meant.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename))
    found = _module(code.co_filename, text) if text else None
    if found is None:
        raise Unread(f"the source of {code.co_name} is not there")
    if not any(_same(code, known) for known in found.codes):
        raise Unread(f"{code.co_name} (line {code.co_firstlineno}) is not what its file compiles to")
    nodes = [node for node in ast.walk(found.tree) if _begins(node, code)]
    if len(nodes) > 1:
        nodes = [node for node in nodes if isinstance(node, ast.Lambda) and _spans(node, code)]
    if len(nodes) != 1:
        raise Unread(f"{code.co_name} (line {code.co_firstlineno}) cannot be told from others on its line")
    node = nodes[0]
    assert isinstance(node, ast.FunctionDef | ast.Lambda)
    return node, found


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same at the same places."""
    return one == other and list(one.co_positions()) == list(other.co_positions())


def _begins(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.FunctionDef):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        return node.name == code.co_name and first == code.co_firstlineno
    return isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno


def _spans(node: ast.Lambda, code: CodeType) -> bool:
    """Whether what a code does stands in the body of this lambda, from its first place to its last."""
    places = [place for place in code.co_positions() if None not in place and place[0] != 0]
    begun = [(line, column) for line, _, column, _ in places if (line, column) != (code.co_firstlineno, 0)]
    ended = [(line, column) for _, line, _, column in places]
    body = node.body
    if not begun or body.end_lineno is None or body.end_col_offset is None:
        return False
    return min(begun) == _first(body) and max(ended) == (body.end_lineno, body.end_col_offset)


def _first(body: ast.expr) -> tuple[int, int]:
    """Where the first thing that a body does begins: parentheses around it do nothing."""
    return min((node.lineno, node.col_offset) for node in ast.walk(body) if isinstance(node, ast.expr))
