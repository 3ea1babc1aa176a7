"""The source of the user's functions, compiled so that literals and quotients of integers are fractions."""

from __future__ import annotations

import ast
import builtins
import linecache
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType
from typing import Any

import numpy as np

from fedtheory.numbers import exact_functions
from fedtheory.numbers.exact_functions import called, constant, divided, filled, power, quotient
from fedtheory.numbers.quotients import Quotient

#: Names that replace operators and literals, and that nobody can write.
_QUOTIENT, _DIVIDED, _POWER, _LITERAL = "the quotient", "the quotient in place", "the power", "the literal "
_FILLED, _CALLED, _CONSTANT = "the numbers of", "the method ", "the constant"
#: The name that replaces a function that is called; whoever runs the code defines it.
FUNCTION = "the function"
#: Functions of numpy that fill with integers as floats, and methods that make floats of integers.
_FILLS, _MAKES = frozenset({"ones", "zeros", "eye", "identity", "ones_like", "zeros_like"}), ("mean", "astype")
#: A float as Python reads one, the longest that is taken, and how much of one is shown.
_DECIMAL = re.compile(r"(?:\d[\d_]*)?\.?(?:\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?")
_LONGEST, _SHOWN = 1000, 30


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

    def denoted(self, node: ast.expr, value: object, values: Mapping[str, object]) -> Any:
        """The fraction that an expression of literals and of names set once denotes, in floats ``value``.

        The float itself for any other expression, and where floats make another value of it. ``values``: those of
        names.
        """
        found = self._read(node, values, frozenset())
        if found is None or not _is_same(found[1], value):
            return value
        return Quotient(found[0]) if type(found[0]) in (int, float) else found[0]

    def constant(self, name: str, values: Mapping[str, Any]) -> Any:
        """As :meth:`denoted`, for what a name of the module holds."""
        node = self.set_once.get(name)
        return values[name] if node is None else self.denoted(node, values[name], values)

    def _read(self, node: ast.expr, values: Mapping[str, object], within: frozenset[str]) -> tuple[Any, Any] | None:
        """Return the value that an expression denotes, and its value in floats."""
        match node:
            case ast.Constant(value=float() as value) if math.isfinite(value):
                return _literal(node, self.lines), value
            case ast.Constant(value=int() | str() as value):
                return value, value
            case ast.Name(id=name):
                meant = None if name in within else self.set_once.get(name)
                found = None if meant is None else self._read(meant, values, within | {name})
                return found if found is not None and _is_same(found[1], values.get(name)) else None
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return self._all(elements, values, within)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._computed([operand], values, within, operator.neg, operator.neg)
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _ARITHMETIC:
                return self._computed([left, right], values, within, *_ARITHMETIC[type(operation)])
            case ast.Subscript(value=of, slice=index):
                return self._computed([of, index], values, within, operator.getitem, operator.getitem)
            case ast.Attribute(value=ast.Name(id=module), attr="pi" | "e" as name):
                on = values.get(module)
                return (constant(on, name), getattr(on, name)) if on in _MODULES else None
            case ast.Call(func=of, args=arguments, keywords=[]):
                function = _looked_up(of, values)
                if exact_functions.is_known(function):
                    return self._computed(arguments, values, within, exact_functions.of_fractions(function), function)
        return None

    def _all(
        self, nodes: list[ast.expr], values: Mapping[str, object], within: frozenset[str]
    ) -> tuple[list[Any], list[Any]] | None:
        found = [self._read(node, values, within) for node in nodes]
        known = [pair for pair in found if pair is not None]
        return ([one for one, _ in known], [two for _, two in known]) if len(known) == len(found) else None

    def _computed(
        self,
        nodes: list[ast.expr],
        values: Mapping[str, object],
        within: frozenset[str],
        in_fractions: Callable[..., object],
        in_floats: Callable[..., object],
    ) -> tuple[Any, Any] | None:
        found = self._all(nodes, values, within)
        if found is None:
            return None
        try:
            return in_fractions(*found[0]), in_floats(*found[1])
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return None


#: Modules whose constants are known.
_MODULES = (math, np)
#: Operations, in fractions and in floats.
_ARITHMETIC: dict[type, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    ast.Add: (operator.add, operator.add),
    ast.Sub: (operator.sub, operator.sub),
    ast.Mult: (operator.mul, operator.mul),
    ast.Div: (quotient, operator.truediv),
    ast.Mod: (operator.mod, operator.mod),
    ast.FloorDiv: (operator.floordiv, operator.floordiv),
    ast.Pow: (power, operator.pow),
}


def _looked_up(node: ast.expr, values: Mapping[str, object]) -> Any:
    """A function by its name, or of a module by both names; None for what else is called."""
    match node:
        case ast.Name(id=name):
            return values.get(name, getattr(builtins, name, None))
        case ast.Attribute(value=ast.Name(id=module), attr=name) if values.get(module) in _MODULES:
            return getattr(values[module], name, None)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=module), attr="linalg"), attr=name):
            return getattr(np.linalg, name, None) if values.get(module) is np else None
    return None


def _is_same(one: object, two: object) -> bool:
    """Return True if two values of a module are the same, as far as that is looked at."""
    return type(one) is type(two) and not isinstance(one, np.ndarray) and bool(one == two)


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
    names = {
        _QUOTIENT: quotient,
        _DIVIDED: divided,
        _POWER: power,
        _FILLED: filled,
        _CONSTANT: constant,
        **methods,
        **reader.literals,
    }
    return ModuleSource(lines, codes, names, _set_once(tree), _defaults(tree))


def check_numbers(place: str, text: str) -> None:
    """Raise ``ValueError`` if a number in a source is not taken as it is written: Python makes infinity of 1e400 and 0
    of 1e-400, before anything of it is seen. ``place``: the source in words."""
    lines = tuple(text.splitlines(keepends=True))
    try:
        nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and type(n.value) is float]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Who runs it says so. The parser takes what is nested too deeply for a lack of memory.
        return
    for node in sorted(nodes, key=lambda n: (n.lineno, n.col_offset)):
        written = _text(node, lines)
        if node.value == math.inf or (_DECIMAL.fullmatch(written) and not _is_taken(node, lines)):
            shown = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."
            if len(written) > _LONGEST:
                why = f"has more than {_LONGEST} characters"
            else:
                why = f"is {'infinity' if node.value else '0'} to Python"
            raise ValueError(
                f"{place}, line {node.lineno}: {shown} {why}: write it with integers, as 10**400 or 1/10**400"
            )


def text_of(filename: str) -> str:
    """The text of a module, empty where there is none."""
    return "".join(linecache.getlines(filename))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


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


def _text(node: ast.Constant, lines: tuple[str, ...]) -> str:
    """Return the source text of a literal; for one in an f-string, some versions of Python give other text."""
    if node.lineno > len(lines):
        return ""
    return lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode(errors="replace")


def _is_taken(node: ast.Constant, lines: tuple[str, ...]) -> bool:
    """Return True if the fraction that stands for a float literal is what is written."""
    digits = re.split("[eE]", _text(node, lines))[0]
    # What underflows is not written out, since it may be of any length.
    if node.value == 0:
        return not re.search("[1-9]", digits)
    return len(digits) <= _LONGEST


def _literal(node: ast.Constant, lines: tuple[str, ...]) -> Quotient:
    """The decimal that is written, with all its digits."""
    written = _text(node, lines)
    if _DECIMAL.fullmatch(written) and len(written) <= _LONGEST:
        found = Quotient(written)
        if float(found) == node.value:
            return found
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
        if not isinstance(node.func, ast.Attribute):
            return self._called(node)
        if name in _FILLS and getattr(node.func.value, "id", "") in ("np", "numpy"):
            return _call(_FILLED, node, node)
        if name in _MAKES:
            call = _call(f"{_CALLED}{name}", node, node.func.value, *node.args)
            call.keywords = node.keywords
            return call
        return self._called(node)

    def _called(self, node: ast.Call) -> ast.expr:
        node.func = _call(FUNCTION, node.func, node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr not in ("pi", "e") or not isinstance(node.ctx, ast.Load):
            return node
        return _call(_CONSTANT, node, node.value, ast.copy_location(ast.Constant(node.attr), node))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not isinstance(node.target, ast.Name):
            return node
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        return ast.copy_location(ast.Assign([node.target], _call(_DIVIDED, node, before, node.value)), node)


def _call(name: str, at: ast.AST, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), at), list(arguments), []), at)
