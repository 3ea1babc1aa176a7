"""The syntax tree of a function, checked to be what runs: its file compiles to the very code that the function has."""

from __future__ import annotations
import __future__ as future

import ast
import builtins
import linecache
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TypeAlias

from verify.base.originals import codes_within

#: The name and the first line of a code object.
_Place: TypeAlias = tuple[str, int]


class Unread(ValueError):
    """The error for code that is not read: its place, and the reason."""


@dataclass(frozen=True, eq=False)
class Module:
    """The file of a module: its name, its text, its tree; the code objects and the definitions of its functions, by
    name and first line; ``unevaluated``: True if its annotations are not evaluated.
    """

    name: str
    text: str
    tree: ast.Module
    codes: Mapping[_Place, Sequence[CodeType]]
    definitions: Mapping[_Place, Sequence[ast.FunctionDef | ast.Lambda]]
    unevaluated: bool


@lru_cache(maxsize=256)
def _module(filename: str, text: str) -> Module | None:
    try:
        tree = ast.parse(text)
        whole = compile(text, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    unevaluated = bool(whole.co_flags & future.annotations.compiler_flag)
    codes: dict[_Place, list[CodeType]] = defaultdict(list)
    definitions: dict[_Place, list[ast.FunctionDef | ast.Lambda]] = defaultdict(list)
    for code in codes_within(whole):
        codes[code.co_name, code.co_firstlineno].append(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            definitions[_begins(node)].append(node)
    return Module(filename, text, tree, dict(codes), dict(definitions), unevaluated)


def module_of(file: str) -> Module | None:
    """Return the module in a file as it is now; None if it is empty or does not compile."""
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    return _module(file, text) if text else None


def tree_of(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, Module]:
    """Return the definition of a function, and the module in whose file it stands.

    Raise ``Unread`` if the file is missing, differs from what was compiled, or holds two definitions that may be meant.
    """
    code = function.__code__
    found = module_of(code.co_filename)
    if found is None:
        raise Unread(f"the source of {code.co_name} is not there")
    place = code.co_name, code.co_firstlineno
    if not any(_same(code, known) for known in found.codes.get(place, ())):
        raise Unread(f"{code.co_name} (line {code.co_firstlineno}) is not what its file compiles to")
    nodes = found.definitions.get(place, ())
    if len(nodes) > 1:
        nodes = [node for node in nodes if isinstance(node, ast.Lambda) and _spans(node, code)]
    if len(nodes) != 1:
        raise Unread(f"{code.co_name} (line {code.co_firstlineno}) cannot be distinguished from others on its line")
    return nodes[0], found


def has_plain_names(function: FunctionType) -> bool:
    """Return True if a function looks its names up in a plain dictionary, and then in Python's builtins."""
    built_in: object = getattr(function, "__builtins__")  # noqa: B009
    return type(function.__globals__) is dict and built_in is vars(builtins)


def _same(one: CodeType, other: CodeType) -> bool:
    """Return True if two code objects do the same at the same places."""
    return one == other and (
        # The places, as they are stored.
        one.co_linetable == other.co_linetable or list(one.co_positions()) == list(other.co_positions())
    )


def _begins(node: ast.FunctionDef | ast.Lambda) -> _Place:
    """Return the name and the first line of the code object of a definition."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _spans(node: ast.Lambda, code: CodeType) -> bool:
    """Return True if the code of a function lies exactly in the body of this lambda, from its first place to its
    last.
    """
    places = [place for place in code.co_positions() if None not in place and place[0] != 0]
    begun = [(line, column) for line, _, column, _ in places if (line, column) != (code.co_firstlineno, 0)]
    ended = [(line, column) for _, line, _, column in places]
    body = node.body
    if not begun or body.end_lineno is None or body.end_col_offset is None:
        return False
    return min(begun) == _first(body) and max(ended) == (body.end_lineno, body.end_col_offset)


def _first(body: ast.expr) -> tuple[int, int]:
    """Return the position of the first expression in a body, without parentheses around it."""
    return min((node.lineno, node.col_offset) for node in ast.walk(body) if isinstance(node, ast.expr))
