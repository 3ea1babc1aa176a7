"""The constructs allowed in a user's file when it is loaded, so that it changes nothing but what it makes itself.

They are listed, as for functions that are run and not read: imports of known packages, definitions, assignments, calls
of functions that are listed or inspected in their turn. A file that does anything else may have changed what a proof
reads, or what proves it.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

from verify.base import neighbours, uses
from verify.reading.harmless import Found, Look, looked_up_outside
from verify.reading.listed import DECORATORS

#: Packages whose modules may be imported: the effect of the import is known, and the names used are inspected.
_PACKAGES = sys.stdlib_module_names | uses.PACKAGES | {"fedtheory", "scipy", "verify"}
#: Names that Python gives to modules, which a file may set.
_SETTABLE = frozenset({"__all__", "__author__", "__doc__", "__version__"})
_IMPORTS = (ast.Import, ast.ImportFrom)
_MAKING = (*_IMPORTS, ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class File:
    """A file of the user's that was loaded, by the name of its module."""

    module: str

    def __str__(self) -> str:
        return neighbours.loaded(self.module)[self.module].path.name


def files(name: str) -> tuple[File, ...]:
    """Return the files that were loaded with one; ``name``: of its module, or the id of one of its claims."""
    return tuple(map(File, neighbours.loaded(name)))


def looked_at(file: File) -> Found:
    """Inspect the code that runs when a file is loaded."""
    read, module = neighbours.loaded(file.module)[file.module], sys.modules.get(file.module)
    if module is None:
        return Found("line 1: its module is gone", (), ())
    look = _FileLook(FunctionType(read.code, vars(module)), _times(read.tree))
    why = next(chain(_set_again(read), look.refused(read.tree.body)), "")
    return Found(why, (*look.holds, vars(module).get("CLAIMS")), tuple(look.attributes))


class _FileLook(Look):
    """A file, without the functions in it: those that are called or passed to others are inspected by themselves."""

    deep = False

    def __init__(self, function: FunctionType, times: Counter[str]) -> None:
        super().__init__(function)
        self.times = times

    def is_set_once(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and self.times[node.id] <= 1

    def nodes(self, body: list[Any]) -> list[ast.AST]:
        # An alias in the file for a function of a library is inspected where it is called, as one that is
        # imported by another name.
        names = (n for n in body if isinstance(n, ast.Assign) and len(n.targets) == 1)
        self.at_once |= {
            id(part)
            for n in names
            for part in (n.value, n.targets[0])
            if isinstance(n.value, ast.Attribute)
            and isinstance(n.targets[0], ast.Name)
            and self.times[n.targets[0].id] == 1
        }
        return list(_run(body))

    def own(self, made: frozenset[str]) -> frozenset[str]:
        # The names of the file are its own.
        return made

    def node_refused(self, node: ast.AST, made: frozenset[str], new: str) -> Iterator[str]:
        if isinstance(node, _IMPORTS):
            yield from _imported(node)
        elif isinstance(node, ast.ClassDef):
            yield from (f"the class {node.name} has keywords" for _ in node.keywords[:1])
            yield from self._decorated(node)
            yield from _of_itself(node)
        elif isinstance(node, ast.Delete):
            yield "it deletes a name"
        elif not isinstance(node, ast.alias):
            if isinstance(node, ast.FunctionDef):
                yield from self._decorated(node)
            yield from super().node_refused(node, made, new)

    def _decorated(self, node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
        for one in node.decorator_list:
            made = one.func if isinstance(one, ast.Call) else one
            if not (self.is_set_once(made) and any(self.known(made) is known for known in DECORATORS)):
                yield f"{node.name} is decorated by {ast.unparse(one)}"


def _run(body: list[Any]) -> Iterator[ast.AST]:
    """Yield the nodes of a file that are run when it is loaded: no function's body, but those of classes."""
    left: list[Any] = list(body)
    while left:
        node = left.pop(0)
        if _is_of_main(node):
            continue
        yield node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            # Its decorators are inspected with it.
            calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
            left += [part for call in calls for part in (*call.args, *call.keywords)]
        if isinstance(node, ast.FunctionDef):
            left += [node.args, *([] if node.returns is None else [node.returns])]
        elif isinstance(node, ast.ClassDef):
            left += [*node.bases, *node.body]
        elif isinstance(node, ast.Lambda):
            left += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        else:
            left += ast.iter_child_nodes(node)


def _is_of_main(node: ast.AST) -> bool:
    """Return True for code that runs only if the file is run as a program."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    return ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _imported(node: ast.AST) -> Iterator[str]:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", ())]
    for name in names:
        # Files beside it are loaded in the same way, and inspected by themselves.
        relative = isinstance(node, ast.ImportFrom) and bool(node.level)
        if not relative and name.partition(".")[0] not in _PACKAGES and not neighbours.loaded(name):
            yield f"it imports {name}"
    if any(alias.name == "*" for alias in getattr(node, "names", ())):
        yield "it imports names that are not written"


def _of_itself(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names of a class body that it uses itself, and that nobody has afterwards by these names alone."""
    body = [n for n in _run(node.body) if isinstance(n, ast.Name)]
    own = {n.id for n in body if not isinstance(n.ctx, ast.Load)}
    own |= {n.name for n in _run(node.body) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    yield from (
        f"the class {node.name} uses its own {n.id}" for n in body if isinstance(n.ctx, ast.Load) and n.id in own
    )


def _set_again(read: neighbours.Read) -> Iterator[str]:
    """Yield the names that a file may not set, or not again: each value that it makes, and each that its functions use,
    has one name. The value inspected is the last one of the name.
    """
    made = {name for node, _ in _setting(read.tree.body) if isinstance(node, _MAKING) for name in _names(node)}
    used = {name for code in read.code.co_consts if isinstance(code, CodeType) for name in looked_up_outside(code)}
    times = _times(read.tree)
    for node, _ in _setting(read.tree.body):
        for name in _names(node):
            if name.startswith("__") and name not in _SETTABLE:
                yield f"line {getattr(node, 'lineno', 1)}: it sets {name}"
            elif times[name] > 1 and name in made | used:
                yield f"line {getattr(node, 'lineno', 1)}: it sets {name} again"


def _times(tree: ast.Module) -> Counter[str]:
    """Return the number of times that each name of a module is set; an assignment in a loop counts twice."""
    found = Counter[str]()
    for node, often in _setting(tree.body):
        found.update(_names(node) * (2 if often else 1))
    return found


def _names(node: ast.AST) -> list[str]:
    """Return the names of a module that a node sets."""
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.partition(".")[0] for alias in names]
        case ast.FunctionDef(name=str() as name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=str() as name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
    return []


def _setting(body: list[Any], often: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes in which names of the module are set, with True if in a loop: not those of functions and
    classes.
    """
    for node in body:
        if not _is_of_main(node):
            yield node, often
            repeats = isinstance(node, ast.For | ast.While | ast.comprehension | ast.expr) and not isinstance(
                node, ast.Tuple
            )
            # The loop variables of a comprehension are its own.
            inner = [node.iter, *node.ifs] if isinstance(node, ast.comprehension) else list(ast.iter_child_nodes(node))
            if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
                yield from _setting(inner, often or repeats)
