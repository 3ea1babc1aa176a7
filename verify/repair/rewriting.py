"""Functions with an expression of their source replaced by another one.

The result has a source of its own, so that everything that reads code can read it too.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from fedtheory.numbers.literals import in_fractions
from verify.reading.program import held, is_made_by

#: The ending of the names of sources with substitutions.
_SUBSTITUTED = re.compile(r" \([0-9a-f]{12}\)$")


class Region(NamedTuple):
    """The place of an expression: the file, and the first and last lines and bytes."""

    file: str
    line: int
    begin: int
    last: int
    end: int

    @classmethod
    def of(cls, file: str, node: ast.expr) -> Region:
        """Return the place of an expression of a file."""
        return cls(file, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)

    def meets(self, other: Region) -> bool:
        """Return True if two expressions of a line overlap: then they are not both replaced."""
        return (self.file, self.line) == (other.file, other.line) and self.begin < other.end and other.begin < self.end


@dataclass(frozen=True)
class Substitution:
    """``new`` for ``old`` at a place."""

    place: Region
    old: str
    new: str


def text_of(file: str) -> str:
    """Return the text of a file; empty if there is none."""
    return "".join(linecache.getlines(file))


@lru_cache(maxsize=64)
def tree_of(file: str, text: str) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(text, file)


def codes(compiled: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all that are in it."""
    yield compiled
    for inner in compiled.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


@lru_cache(maxsize=64)
def _plain(file: str, text: str) -> tuple[CodeType, ...]:
    return tuple(codes(compile(text, file, "exec", dont_inherit=True)))


def paired(file: str, text: str, compiled: CodeType) -> dict[CodeType, CodeType]:
    """Return the code objects of another version of a file, by those of this one."""
    pairs = zip(_plain(file, text), codes(compiled), strict=True)
    return {a: b for a, b in pairs if (a.co_name, a.co_firstlineno) == (b.co_name, b.co_firstlineno)}


def substituted(substitutions: Iterable[Substitution]) -> dict[CodeType, CodeType]:
    """Return the code objects of the files with the substitutions, by those without them. Raise ``SyntaxError`` if the
    substitution is not possible.

    Their sources are kept under names of their own in Python's ``linecache``, from which the sources of functions are
    read.
    """
    made = tuple(substitutions)
    found: dict[CodeType, CodeType] = {}
    for file in sorted({s.place.file for s in made}):
        text = text_of(file)
        lines = text.encode().split(b"\n")
        for one in sorted((s for s in made if s.place.file == file), key=lambda s: s.place, reverse=True):
            _, line, begin, last, end = one.place
            if line != last:
                raise SyntaxError("an expression of several lines is not replaced")
            lines[line - 1] = lines[line - 1][:begin] + one.new.encode() + lines[line - 1][end:]
        changed = b"\n".join(lines).decode()
        name = f"{file} ({hashlib.sha256(changed.encode()).hexdigest()[:12]})"
        pairs = paired(file, text, compile(changed, name, "exec", dont_inherit=True))
        found |= {a: b for a, b in pairs.items() if _differs(a, b)}
        linecache.cache[name] = (len(changed), None, changed.splitlines(keepends=True), name)
    return found


def _differs(one: CodeType, other: CodeType) -> bool:
    """Return True if two code objects, with those in them, do something else, places aside."""
    if (one.co_code, one.co_names, len(one.co_consts)) != (other.co_code, other.co_names, len(other.co_consts)):
        return True
    return any(
        _differs(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else (type(a), a) != (type(b), b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )


def written(of: Any) -> Iterator[CodeType]:
    """Yield the code objects of a quantity's components: those that :func:`rebuilt` may change."""
    seen: dict[int, Any] = {}

    def visit(value: Any) -> Iterator[CodeType]:
        if id(value) in seen or isinstance(value, type) or not callable(value):
            return
        seen[id(value)] = value
        if type(value) is partial:
            yield from visit(value.func)
        elif isinstance(value, FunctionType):
            inner = _authors(value)
            yield inner.__code__
            for part in (*(_contents(cell) for cell in inner.__closure__ or ()), *_called(inner).values()):
                yield from visit(part)
        elif is_dataclass(value):
            for part in fields(value):
                yield from visit(getattr(value, part.name))

    return visit(of)


def _authors(function: FunctionType) -> FunctionType:
    """Return the author's function without the wrapper that reads its literals as fractions. A decorator of the
    author's is kept: it computes.
    """
    while is_made_by(function, in_fractions):
        function = held(function, "function")
    return function


def _called(function: FunctionType) -> dict[str, FunctionType]:
    """Return the functions of the same file that a function calls, by their names there, with a substitution or
    without.
    """
    known, file = function.__globals__, _SUBSTITUTED.sub("", function.__code__.co_filename)
    names = {name for inner in codes(function.__code__) for name in inner.co_names}
    found = {name: known[name] for name in sorted(names & known.keys()) if isinstance(known[name], FunctionType)}
    return {n: f for n, f in found.items() if _SUBSTITUTED.sub("", f.__code__.co_filename) == file}


def _contents(cell: CellType) -> Any:
    """Return the content of a cell; None if it is still empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def rebuilt(of: Any, changed: Mapping[CodeType, CodeType], names: Mapping[str, Any] | None = None) -> Any:
    """Return a function, or a composition of functions, with other code objects: its own, those that it closes over,
    and those of functions of the same file that it calls.

    ``names``: names that the code finds beside those of its module. Components that no change reaches are returned as
    they are.
    """
    return _Rebuilding(changed, names or {}).of(of)


class _Rebuilding:
    def __init__(self, changed: Mapping[CodeType, CodeType], names: Mapping[str, Any]) -> None:
        self._changed, self._names = changed, names
        # A function being rebuilt stands for itself: functions may call each other.
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        if not callable(value) or isinstance(value, type):
            return value
        if id(value) not in self._known:
            self._known[id(value)] = (value, value)
            self._known[id(value)] = (value, self._made(value))
        return self._known[id(value)][1]

    def _made(self, value: Any) -> Any:
        if type(value) is partial:
            inner = self.of(value.func)
            return value if inner is value.func else partial(inner, *value.args, **value.keywords)
        if isinstance(value, FunctionType):
            inner = _authors(value)
            made = self._function(inner)
            if made is inner:
                return value
            return made if inner is value else in_fractions(made)
        if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
            others = {name: made for name, part in parts.items() if (made := self.of(part)) is not part}
            return replace(value, **others) if others else value
        return value

    def _function(self, function: FunctionType) -> FunctionType:
        code = function.__code__
        cells = tuple(self._cell(cell) for cell in function.__closure__ or ())
        called = _called(function)
        others = {name: made for name, value in called.items() if (made := self.of(value)) is not value}
        new = self._changed.get(code, code)
        same = all(a is b for a, b in zip(cells, function.__closure__ or (), strict=True))
        if new is code and same and not others:
            return function
        known = function.__globals__
        globals_ = {**known, **others, **self._names} if others or self._names else known
        made = FunctionType(new, globals_, function.__name__, function.__defaults__, cells or None)
        made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        return made

    def _cell(self, cell: CellType) -> CellType:
        value = _contents(cell)
        made = self.of(value)
        return cell if made is value else CellType(made)
