"""The source of the user's functions, compiled so that literals and quotients of integers are fractions."""

from __future__ import annotations

import ast
import linecache
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType
from typing import Any

import numpy as np

from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import exact

#: What operators and literals become: names that nobody can write.
_QUOTIENT, _DIVIDED, _POWER, _LITERAL = "the quotient", "the quotient in place", "the power", "the literal "
_FILLED, _CALLED = "the numbers of", "the method "
#: What numpy fills with integers that are floats, and methods that make floats of integers.
_FILLS, _MAKES = frozenset({"ones", "zeros", "eye", "identity", "ones_like", "zeros_like"}), ("mean", "astype")


@dataclass(frozen=True)
class ModuleSource:
    """A module's source.

    ``codes``: what its functions are compiled to, and what to with fractions for floats; ``names``: what stands for
    literals and operators in the latter; ``set_once``: the expressions of the names that the module sets once, at its
    top level; ``defaults``: those of the arguments of functions, by their names and first lines.
    """

    lines: tuple[str, ...]
    codes: Mapping[CodeType, CodeType]
    names: Mapping[str, Any]
    set_once: Mapping[str, ast.expr]
    defaults: Mapping[tuple[str, int], list[ast.expr]]

    def denoted(self, node: ast.expr, value: Any, values: Mapping[str, Any]) -> Any:
        """The fraction that an expression of literals and of names set once denotes, in floats ``value``.

        The float itself for any other expression, and where floats make another value of it. ``values``: those of
        names.
        """
        found = self._read(node, values, frozenset())
        return value if found is None or found[1] != value else found[0]

    def constant(self, name: str, values: Mapping[str, Any]) -> Any:
        """As :meth:`denoted`, for what a name of the module holds."""
        node = self.set_once.get(name)
        return values[name] if node is None else self.denoted(node, values[name], values)

    def _read(self, node: ast.expr, values: Mapping[str, Any], within: frozenset[str]) -> tuple[Any, Any] | None:
        """What an expression denotes, and what floats make of it."""
        if isinstance(node, ast.Constant):
            if type(node.value) is float and math.isfinite(node.value):
                return _literal(node, self.lines), node.value
            return (Quotient(node.value), node.value) if type(node.value) is int else None
        if isinstance(node, ast.Name):
            meant = None if node.id in within else self.set_once.get(node.id)
            found = None if meant is None else self._read(meant, values, within | {node.id})
            return found if found is not None and found[1] == values.get(node.id) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self._read(node.operand, values, within)
            return None if found is None else (-found[0], -found[1])
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            one, two = self._read(node.left, values, within), self._read(node.right, values, within)
            if one is None or two is None or (isinstance(node.op, ast.Div) and not two[1]):
                return None
            of = _ARITHMETIC[type(node.op)]
            return of(one[0], two[0]), of(one[1], two[1])
        return None


_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


@lru_cache(maxsize=64)
def source(filename: str, text: str) -> ModuleSource | None:
    """The source of a module; None where it does not compile."""
    lines = tuple(text.splitlines(keepends=True))
    try:
        tree = ast.parse(text)
        plain = compile(tree, filename, "exec", dont_inherit=True)
        reader = _Rationaliser(lines)
        read = compile(ast.fix_missing_locations(reader.visit(ast.parse(text))), filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    pairs = zip(_codes(plain), _codes(read), strict=False)
    codes = {a: b for a, b in pairs if (a.co_name, a.co_firstlineno) == (b.co_name, b.co_firstlineno)}
    methods = {f"{_CALLED}{name}": partial(called, name) for name in _MAKES}
    names = {_QUOTIENT: quotient, _DIVIDED: divided, _POWER: power, _FILLED: filled, **methods, **reader.literals}
    return ModuleSource(lines, codes, names, _set_once(tree), _defaults(tree))


def text_of(filename: str) -> str:
    """The text of a module, empty where there is none."""
    return "".join(linecache.getlines(filename))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _set_once(tree: ast.Module) -> dict[str, ast.expr]:
    stored = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    stored.update(name for n in ast.walk(tree) if isinstance(n, ast.Global) for name in n.names)
    found = {}
    for statement in tree.body:
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None and len(targets) == 1:
            target = targets[0]
            if isinstance(target, ast.Name) and stored[target.id] == 1:
                found[target.id] = statement.value
    return found


def _defaults(tree: ast.Module) -> dict[tuple[str, int], list[ast.expr]]:
    found: dict[tuple[str, int], list[ast.expr]] = {}
    twice: set[tuple[str, int]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            at = getattr(node, "name", "<lambda>"), first
            twice |= {at} & set(found)
            found[at] = node.args.defaults
    return {at: nodes for at, nodes in found.items() if at not in twice}


def _literal(node: ast.Constant, lines: tuple[str, ...]) -> Quotient:
    """The decimal that is written, with all its digits."""
    try:
        text = lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()
        found = Quotient(text)
        if float(found) == node.value:
            return found
    except (ValueError, IndexError, OverflowError):
        pass
    return Quotient(repr(node.value))


class _Rationaliser(ast.NodeTransformer):
    """Puts names of fractions in the places of float literals, and functions in those of ``/``, of ``**`` and of calls
    that make floats of integers."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.literals: dict[str, Quotient] = {}
        self._lines = lines

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is not float or not math.isfinite(node.value):
            return node
        value = _literal(node, self._lines)
        name = f"{_LITERAL}{value}"
        self.literals[name] = value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = {ast.Div: _QUOTIENT, ast.Pow: _POWER}.get(type(node.op))
        return node if name is None else _call(name, node, node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        literal = len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id.startswith(_LITERAL)
        if literal and name in ("float", "float64"):
            return node.args[0]
        if not isinstance(node.func, ast.Attribute):
            return node
        if name in _FILLS and getattr(node.func.value, "id", "") in ("np", "numpy"):
            return _call(_FILLED, node, node)
        if name in _MAKES:
            call = _call(f"{_CALLED}{name}", node, node.func.value, *node.args)
            call.keywords = node.keywords
            return call
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not isinstance(node.target, ast.Name):
            return node
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        return ast.copy_location(ast.Assign([node.target], _call(_DIVIDED, node, before, node.value)), node)


def _call(name: str, at: ast.AST, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), at), list(arguments), []), at)


def quotient(a: Any, b: Any) -> Any:
    """a / b, of integers and of arrays of integers as fractions."""
    return _counted(a) / b if _counts(a) and _counts(b) else a / b


def divided(a: Any, b: Any) -> Any:
    """As :func:`quotient`, for ``a /= b``."""
    if _counts(a) and _counts(b):
        return _counted(a) / b
    a /= b
    return a


def power(a: Any, b: Any) -> Any:
    """a ** b, of integers to powers that are negative or no integers as fractions."""
    return Quotient(a) ** b if _counts(a) and np.ndim(a) == 0 and not (_counts(b) and np.all(b >= 0)) else a**b


def filled(values: Any) -> Any:
    """The integers of an array as fractions."""
    return exact(values) if getattr(values, "dtype", None) == np.float64 else values


def called(name: str, on: Any, *given: Any, **named: Any) -> Any:
    """A method of an array, or numpy's function, which would make floats of integers: of these as fractions."""
    if on is np and given and isinstance(given[0], np.ndarray) and _counts(given[0]):
        given = (exact(given[0]), *given[1:])
    if isinstance(on, np.ndarray) and _counts(on):
        if name == "astype" and given in ((float,), (np.float64,)):
            return exact(on)
        on = exact(on) if name == "mean" else on
    return getattr(on, name)(*given, **named)


def _counts(value: Any) -> bool:
    """Whether a value is an integer, or an array of some; what only looks like one has quotients of its own."""
    return type(value) in (int, bool) or (isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iub")


def _counted(value: Any) -> Any:
    return exact(value) if np.ndim(value) else Quotient(int(value))
