"""The reads of the code of quantities as it runs, and other values of the same shape that it could read instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from verify.repair.rewriting import Region, paired, rebuilt, text_of, tree_of, written

#: Names in the code that notes reads: no source can contain them.
_PART, _ANSWER, _RESULT, _INDEX = "the part", "the answer", "the result", "the index"


def noting(claim: Claim, notes: Notes) -> Claim:
    """Return the claim with quantities whose code reports its reads to ``notes``."""
    changed: dict[Any, Any] = {}
    for file in sorted({code.co_filename for q in claim.statement.quantities for code in written(q.of)}):
        text = text_of(file)
        if text:
            tree = _Noting(file, text, notes).visit(deepcopy(tree_of(file, text)))
            changed |= paired(file, text, compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True))
    names: dict[str, Any] = {_PART: notes.part, _ANSWER: notes.answer, _RESULT: notes.result, _INDEX: notes.index}
    quantities = tuple(replace(q, of=rebuilt(q.of, changed, names)) for q in claim.statement.quantities)
    return claim.variant(quantities=quantities)


class _Noting(ast.NodeTransformer):
    """A transformer that passes the reads of a file's expressions to functions by the names above, each with its
    place.
    """

    def __init__(self, file: str, text: str, notes: Notes) -> None:
        self._file, self._notes = file, notes
        self._lines = text.encode().split(b"\n")

    def _at(self, node: ast.expr) -> ast.Constant:
        # An expression of several lines is not replaced, so its text does not matter.
        place = Region.of(self._file, node)
        self._notes.texts[place] = self._lines[place.line - 1][place.begin : place.end].decode(errors="replace")
        return ast.copy_location(ast.Constant(tuple(place)), node)  # type: ignore[arg-type]

    def _call(self, name: str, node: ast.expr, *arguments: ast.expr, keywords: Any = ()) -> ast.Call:
        here = ast.Call(ast.Name("locals", ast.Load()), [], [])
        return ast.copy_location(
            ast.Call(ast.Name(name, ast.Load()), [self._at(node), here, *arguments], list(keywords)), node
        )

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        call = (
            self._call(_PART, node, self.visit(node.value), ast.Constant(node.attr))
            if isinstance(node.ctx, ast.Load)
            else node
        )
        return call

    def visit_Call(self, node: ast.Call) -> ast.expr:
        given = [self._index(self.visit(argument), argument) for argument in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if isinstance(node.func, ast.Attribute):
            return self._call(
                _ANSWER, node, self.visit(node.func.value), ast.Constant(node.func.attr), *given, keywords=keywords
            )
        if isinstance(node.func, ast.Name) and node.func.id not in ("locals", "super"):
            return self._call(_RESULT, node, node.func, *given, keywords=keywords)
        return ast.copy_location(ast.Call(self.visit(node.func), given, keywords), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        inner = self._index(self.visit(node.slice), node.slice)
        return ast.copy_location(ast.Subscript(self.visit(node.value), inner, node.ctx), node)

    def _index(self, visited: ast.expr, node: ast.expr) -> ast.expr:
        return self._call(_INDEX, node, visited) if isinstance(node, ast.Name | ast.BinOp) else visited


@dataclass
class Notes:
    """The reads by place: the expression there, and others of the same shape whenever it was run."""

    texts: dict[Region, str] = field(default_factory=dict)
    found: dict[Region, tuple[str, dict[str, str]]] = field(default_factory=dict)
    signed: set[Region] = field(default_factory=set)

    def part(self, place: tuple[Any, ...], scope: Mapping[str, Any], base: Any, name: str) -> Any:
        """Return ``base.name``, at a place of the code; ``scope``: the values of the names there."""
        value = getattr(base, name)
        if _has_parts(base) and _is_array(value):
            others = {n: "part" for n in _parts(base) if n != name and _alike(_got(base, n), value)}
            self._note(place, value, scope, {self._other(place, name, n): s for n, s in others.items()})
        elif _has_parts(base) and hasattr(value, "_fields"):
            others = {n: "part" for n in _parts(base, True) if n != name and _same_parts(_got(base, n), value)}
            self._note(place, None, scope, {self._other(place, name, n): s for n, s in others.items()})
        elif _has_parts(base) and type(value) is int and value > 0:
            text = self.texts[Region(*place)]
            self._keep(place, {f"(2 * {text} - {less})": "count" for less in (2, 1)})
        return self.seen(value) if _has_parts(base) else value

    def answer(
        self, place: tuple[Any, ...], scope: Mapping[str, Any], base: Any, name: str, *given: Any, **by: Any
    ) -> Any:
        """Return ``base.name(...)``: the answer of a method called with integers alone is noted as a part is."""
        value = getattr(base, name)(*given, **by)
        if _has_parts(base) and _is_array(value) and not by and not any(_is_array(g) for g in given):
            text = self.texts[Region(*place)]
            others = {}
            for other in _methods(base) if text.count(f".{name}(") == 1 else ():
                if other != name and _alike(_answered(base, other, given), value):
                    others[text.replace(f".{name}(", f".{other}(")] = "part"
            self._note(place, value, scope, others)
        # Answers of a class of functions are noted too; sums of numbers are not.
        return value if isinstance(base, np.ndarray | ModuleType | type) else self.seen(value)

    def result(self, place: tuple[Any, ...], scope: Mapping[str, Any], function: Any, *given: Any, **by: Any) -> Any:
        """Return ``function(...)``, of a function of the file."""
        value = function(*given, **by)
        # A function that is passed as an argument, by whatever name, is not a helper of the quantity's.
        named = self.texts[Region(*place)].startswith(f"{getattr(function, '__name__', '')}(")
        if named and _is_array(value) and not by and not any(_is_array(g) or callable(g) for g in given):
            self._note(place, value, scope, {})
        return value

    def index(self, place: tuple[Any, ...], scope: Mapping[str, Any], value: Any) -> Any:
        """Return an index, or an argument, that is an integer here."""
        if type(value) is int:
            text = self.texts[Region(*place)]
            self._keep(place, {f"{text} + 1": "index", f"max({text} - 1, 0)": "index"})
        return value

    def seen(self, value: Any) -> Any:
        """Return the value that the code gets for one that it reads."""
        return value

    def _other(self, place: tuple[Any, ...], name: str, other: str) -> str:
        return self.texts[Region(*place)].removesuffix(name) + other

    def _note(self, place: tuple[Any, ...], value: Any, scope: Mapping[str, Any], others: dict[str, str]) -> None:
        text = self.texts[Region(*place)]
        if value is not None:
            others = {**others, f"(-{text})": "negative"}
            if (value < 0).any():
                self.signed.add(Region(*place))
            for letter in _letters(scope, value):
                others[f"({text} * {letter})"] = "multiple"
                others[f"({text} / {letter})"] = "multiple"
        self._keep(place, others)

    def _keep(self, place: tuple[Any, ...], others: dict[str, str]) -> None:
        at = Region(*place)
        _, known = self.found.get(at, ("", others))
        # Values of the same shape by accident differ elsewhere.
        self.found[at] = (self.texts[at], {new: sort for new, sort in known.items() if new in others})


@dataclass
class AnyNumbers(Notes):
    """A replacement of all reads by random numbers: the same for the same value, of the same shape."""

    seed: int = 0
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def seen(self, value: Any) -> Any:
        """Return random numbers, the same for the same value."""
        if not (_is_array(value) and value.ndim > 1):
            return value
        key = (value.shape, value.tobytes())
        if key not in self.known:
            self.known[key] = np.random.default_rng([self.seed, len(self.known)]).normal(size=value.shape)
        return self.known[key]

    def _keep(self, place: tuple[Any, ...], others: dict[str, str]) -> None:
        """Do nothing: no read is noted."""


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "fi"


def _has_parts(value: Any) -> bool:
    """Return True if a value is a record: a named tuple, or an object of a data class."""
    return not isinstance(value, ModuleType | type) and (hasattr(value, "_fields") or is_dataclass(value))


def _parts(base: Any, properties: bool = False) -> list[str]:
    names = list(getattr(base, "_fields", ())) or [f.name for f in fields(base)]
    kinds = vars(type(base)).items()
    return [*names, *(n for n, v in kinds if properties and isinstance(v, property) and not n.startswith("_"))]


def _methods(base: Any) -> list[str]:
    return [n for n, v in vars(type(base)).items() if callable(v) and not n.startswith("_") and hasattr(v, "__code__")]


def _got(base: Any, name: str) -> Any:
    try:
        return getattr(base, name)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None


def _answered(base: Any, name: str, given: tuple[Any, ...]) -> Any:
    try:
        return getattr(base, name)(*given)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None


def _alike(one: Any, other: Any) -> bool:
    return _is_array(one) and one.shape == other.shape


def _same_parts(one: Any, other: Any) -> bool:
    """Return True if two records share parts that hold arrays."""
    if not hasattr(one, "_fields") or one is other:
        return False
    shared = set(_parts(one)) & set(_parts(other))
    return any(_alike(_got(one, name), array) for name in shared if _is_array(array := _got(other, name)))


def _letters(scope: Mapping[str, Any], value: np.ndarray) -> Iterator[str]:
    """Yield positive numbers of the clients, or of the method, that the code can name, with axes matching those of a
    value.
    """
    for name, holder in scope.items():
        inner = [(name, holder)]
        if is_dataclass(holder) and not isinstance(holder, type):
            inner += [(f"{name}.{f.name}", _got(holder, f.name)) for f in fields(holder)]
        for path, record in inner:
            if not hasattr(record, "_fields"):
                continue
            for part in record._fields:
                letter = getattr(record, part)
                if _is_array(letter) and letter.ndim == 1 and (letter > 0).all():
                    if value.shape[-1:] == letter.shape:
                        yield f"{path}.{part}"
                    if value.ndim > 1 and value.shape[-2:-1] == letter.shape:
                        yield f"{path}.{part}[:, None]"
