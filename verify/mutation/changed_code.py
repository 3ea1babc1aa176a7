"""Systematic small changes of a function: each constant, sign, name, operator and term of its source in turn."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_OPPOSITE: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
}
_PAIRS = {"maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max"}


class CodeChange(NamedTuple):
    """``operator``: the sort of change; ``function``: where; ``text``: the change in words; ``namespace``: the
    module's functions, with that one changed."""

    operator: str
    function: str
    text: str
    namespace: Mapping[str, Any]


def changes(module: ModuleType, roots: tuple[str, ...], fields: Mapping[str, tuple[str, ...]]) -> Iterator[CodeChange]:
    """Every change of one place in the functions of a module that ``roots`` call.

    ``fields``: for the names of parameters that are tuples ("state", "params"), the fields that may be taken for one
    another. Indices, keywords, conditions and messages are left alone.
    """
    functions = {node.name: node for node in _tree(module).body if isinstance(node, ast.FunctionDef)}
    reached = _reached(functions, roots)
    for name in reached:
        for position, node in enumerate(_walk(functions[name])):
            for operator, replacement in _replacements(node, fields, set(functions)):
                # Only what is reached is compiled again: classes keep their identity.
                bodies = [copy.deepcopy(functions[other]) for other in reached]
                changed = bodies[reached.index(name)]
                _put(changed, position, replacement)
                text = f"{ast.unparse(replacement)} for {ast.unparse(node)}"
                yield CodeChange(operator, name, text, _compiled(module, bodies))


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(module)))


def _reached(functions: Mapping[str, ast.FunctionDef], roots: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    waiting = [name for name in roots if name in functions]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            names = (node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name))
            waiting += [other for other in names if other in functions]
    return found


def _walk(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions below a node that compute, in a fixed order."""
    for field, value in ast.iter_fields(node):
        if field in ("slice", "annotation", "returns", "decorator_list", "test", "args") and not isinstance(
            node, ast.Call
        ):
            continue
        if isinstance(node, ast.Call) and field == "keywords":
            # State(x=..., y=...) computes; sum(axis=-2) does not.
            value = [k.value for k in value if not isinstance(k.value, ast.Constant | ast.UnaryOp)]
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            # A call whose value is not used checks its arguments.
            checks = isinstance(node, ast.Expr)
            if isinstance(child, ast.expr) and not checks and not isinstance(getattr(child, "ctx", None), ast.Store):
                yield child
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _put(function: ast.FunctionDef, position: int, replacement: ast.expr) -> None:
    target = next(node for k, node in enumerate(_walk(function)) if k == position)

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return ast.copy_location(replacement, node) if node is target else super().visit(node)

    Replace().visit(function)


def _compiled(module: ModuleType, bodies: list[ast.FunctionDef]) -> Mapping[str, Any]:
    tree = ast.fix_missing_locations(ast.Module(body=list[ast.stmt](bodies), type_ignores=[]))
    namespace = dict(vars(module))
    exec(compile(tree, f"{module.__name__}, changed", "exec"), namespace)
    return namespace


def _replacements(
    node: ast.expr, fields: Mapping[str, tuple[str, ...]], functions: set[str]
) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "constant", ast.Constant(node.value + 1)
    elif isinstance(node, ast.BinOp) and _is_zero(node.left):
        # 0 * x only gives zero the shape of x: no factor matters.
        return
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        opposite = ast.BinOp(node.left, _OPPOSITE[type(node.op)], node.right)
        yield "sign" if isinstance(node.op, ast.Add | ast.Sub) else "operator", opposite
        yield "dropped", node.left
        if isinstance(node.op, ast.Mult | ast.Add):
            yield "dropped", node.right
        if isinstance(node.op, ast.Mult | ast.Div):
            eleven_tenths = ast.BinOp(node, ast.Mult(), ast.Constant(11))
            yield "constant", ast.BinOp(eleven_tenths, ast.Div(), ast.Constant(10))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield from (("index", ast.Attribute(node.value, other, node.ctx)) for other in _others(node, fields))
    elif isinstance(node, ast.Name) and node.id in fields.get("params", ()):
        names = fields["params"]
        yield "index", ast.Name(names[(names.index(node.id) + 1) % len(names)], node.ctx)
    elif isinstance(node, ast.Call):
        yield from _calls(node, functions)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _others(node: ast.Attribute, fields: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    assert isinstance(node.value, ast.Name)
    names = fields.get(node.value.id, ())
    if node.attr in names:
        yield from (name for name in names if name != node.attr)
    if node.value.id in ("np", "numpy") and node.attr in _PAIRS:
        yield _PAIRS[node.attr]


def _calls(node: ast.Call, functions: set[str]) -> Iterator[tuple[str, ast.expr]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "where" and len(node.args) == 3:
        condition, yes, no = node.args
        yield "operator", ast.Call(node.func, [condition, no, yes], node.keywords)
    elif name in ("max", "min") and isinstance(node.func, ast.Name):
        yield "operator", ast.Call(ast.Name(_PAIRS[name], ast.Load()), node.args, node.keywords)
    elif name in functions and node.args:
        yield "dropped", node.args[-1]


def rebound(function: Any, changed: Mapping[str, Any], module: ModuleType) -> FunctionType:
    """A function with the module it calls replaced by one with ``changed`` functions."""
    other = ModuleType(module.__name__)
    vars(other).update(changed)
    names = {name: other if value is module else value for name, value in function.__globals__.items()}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
