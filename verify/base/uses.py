"""Decide what foreign code may use so that its verdicts depend on its files alone: no other file, clock or environment.

These are allow-lists, as there are many ways to read a file: builtins, packages, and the modules of this package that
state mathematics. A name that a module imports is judged by the module that defines it; a module used as a value, or
renamed in another file, is not followed.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import SOURCE_SUFFIXES, all_suffixes
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType

import numpy as np

import fedtheory


def names(text: str) -> frozenset[str]:
    """The names in a text, between spaces."""
    return frozenset(text.split())


#: Packages that may be imported: not operator, whose attrgetter is a getattr.
PACKAGES = names("""
    __future__ abc collections dataclasses enum fractions functools itertools math mpmath numbers numpy
    sympy types typing
""")
#: This package, and those of its modules, with all below them, that state mathematics: they read no file.
_OURS = "fedtheory"
_STATING = names("""
    algorithms claims classes compressors instances kinds meanings numbers origins problems randomness sampling sections
    settings tables
""")
_ROOT = Path(fedtheory.__file__).parents[1]
_MISSING = object()
#: Names of numpy, besides its ufuncs, and of its module of linear algebra.
_NUMPY = names("""
    all any arange argmax argmin argsort array asarray atleast_2d block bool_ broadcast_shapes broadcast_to clip
    concatenate cumsum diag dot dtype e einsum empty empty_like expand_dims eye float64 full full_like identity inf
    inner int64 isclose kron linalg linspace max mean median min moveaxis nan ndarray newaxis ones ones_like outer
    pi prod repeat reshape roll round shape sort split squeeze stack std sum swapaxes take tensordot tile trace
    transpose tril triu triu_indices var vdot vectorize where zeros zeros_like
""")
_ALGEBRA = names("""
    cond det eigh eigvalsh inv lstsq matrix_power matrix_rank norm pinv qr slogdet solve svd
""")
#: Numpy's objects of these names, and its ufuncs, as they are when this is imported.
NUMERIC: Mapping[str, object] = {
    **{name: value for name, value in vars(np).items() if name in _NUMPY or isinstance(value, np.ufunc)},
    **{f"linalg.{name}": value for name, value in vars(np.linalg).items() if name in _ALGEBRA},
}
#: Names that Python has built in, besides its exceptions: not id or hash, whose numbers vary from run to run.
BUILTIN = names("""
    abs all any bin bool bytes callable chr classmethod complex dict divmod enumerate filter float format frozenset hex
    int isinstance issubclass iter len list map max min next object oct ord pow print property range repr reversed round
    set slice sorted staticmethod str sum super tuple type zip NotImplemented Ellipsis __doc__ __name__
""")
#: Ends of the names of modules that are no Python, and may do anything.
_COMPILED = tuple(set(all_suffixes()) - set(SOURCE_SUFFIXES))
DUNDERS = frozenset({"__all__", "__doc__", "__name__", "__init__", "__post_init__"})


def beyond(files: Mapping[str, Path], package: str) -> frozenset[str]:
    """Return what the files of a package use that is on no list."""
    texts = [decode_source(path.read_bytes()) for name, path in files.items() if name.endswith(".py")]
    nodes = [list(ast.walk(ast.parse(text))) for text in texts]
    # A file may have modules from the imports of another.
    modules: dict[str, set[str]] = {}
    for name, module in (pair for each in nodes for node in each for pair in _bound(node)):
        modules.setdefault(name, set()).add(module)
    found = {name for name in files if name.endswith(_COMPILED)}
    for text in texts:
        found.update(name for name in _looked_up(symtable.symtable(text, "", "exec")) if not _is_plain(name))
    for each in nodes:
        asked = {id(node.value): node for node in each if isinstance(node, ast.Attribute)}
        for node in each:
            found.update(_unlisted(node, package))
            found.update(_renamed(node, package, modules))
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            for module in modules.get(name, ()):
                found.update(_followed(node, module, asked))
    return frozenset(found)


def _unlisted(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if not _may_be_imported(alias.name, package))
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield from (f"{node.module}.{a.name}" for a in node.names if not _has(str(node.module), a.name, package))
    elif isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr not in DUNDERS:
        yield node.attr


def _looked_up(table: symtable.SymbolTable) -> Iterator[str]:
    """The names of a text, but for those that are a function's own wherever they stand in it: its parameters, and what
    it sets."""
    of_function = table.get_type() == "function"
    for symbol in table.get_symbols():
        if not (symbol.is_free() or (of_function and symbol.is_local())):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _looked_up(inner)


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import gives to modules of listed packages, and these."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if top in PACKAGES | {_OURS}:
                yield (alias.asname, alias.name) if alias.asname else (top, top)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        module = str(node.module)
        if module.partition(".")[0] in PACKAGES | {_OURS}:
            for alias in node.names:
                if _holds_module(module, alias.name):
                    yield alias.asname or alias.name, f"{module}.{alias.name}"


def _renamed(node: ast.AST, package: str, modules: Collection[str]) -> Iterator[str]:
    """Modules that one file of the package takes from another under a name of its own."""
    if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).partition(".")[0] == package):
        for alias in node.names:
            if alias.asname not in (None, alias.name) and alias.name in modules:
                yield f"{alias.name} as {alias.asname}"


def _followed(node: ast.AST, module: str, asked: Mapping[int, ast.Attribute]) -> Iterator[str]:
    """Yield the attributes not on any list that are looked up in a module, at the expression that denotes it."""
    outer = asked.get(id(node))
    if outer is None:
        if module.partition(".")[0] in (_OURS, "numpy"):
            yield f"{module} as a value"
    elif not _has(module, outer.attr):
        yield f"{module}.{outer.attr}"
    elif _holds_module(module, outer.attr):
        yield from _followed(outer, f"{module}.{outer.attr}", asked)


def _may_be_imported(name: str, package: str) -> bool:
    top, _, rest = name.partition(".")
    if top == _OURS:
        return _is_module(name) and (not rest or _states(name))
    return top == package or (top in PACKAGES and (top != "numpy" or _is_numeric(rest)))


def _has(module: str, name: str, package: str = "") -> bool:
    """Return True if a name may be looked up in a module or imported from it."""
    top, _, rest = module.partition(".")
    if top == package:
        return True
    if top == "numpy":
        return _is_numeric(f"{rest}.{name}".strip("."))
    if top in PACKAGES:
        return _is_listed(_value(module, name))
    if top != _OURS:
        return False
    if _is_module(f"{module}.{name}"):
        return _states(f"{module}.{name}")
    if module == _OURS:
        return name in fedtheory.__all__
    if module == f"{_OURS}.plugins":
        return name == fedtheory.Paper.__name__
    value = _value(module, name)
    return _states(module) and not isinstance(value, ModuleType) and _is_listed(value)


def _is_listed(value: object) -> bool:
    """Return True if a value is defined in a listed package, or in our modules that state mathematics."""
    home = value.__name__ if isinstance(value, ModuleType) else _home(value)
    top = home.partition(".")[0].lstrip("_")
    return value is not _MISSING and (_states(home) if top == _OURS else top in PACKAGES | {"builtins"})


def _home(value: object) -> str:
    """The module that defines a function or a class, or the class of another value."""
    return str(getattr(value, "__module__", None) or type(value).__module__)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _OURS


def _states(module: str) -> bool:
    """Return True if a module of ours may be imported."""
    return _is_ours(module) and module.partition(".")[2].partition(".")[0] in _STATING


def _holds_module(module: str, name: str) -> bool:
    """Return True if the name denotes a module; for our own package only files are consulted."""
    ours = _is_ours(module)
    return _is_module(f"{module}.{name}") if ours else isinstance(_value(module, name), ModuleType)


def _is_module(name: str) -> bool:
    path = _ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()


@cache
def _value(module: str, name: str) -> object:
    """Return the value of a name in a module of a listed package, or ``_MISSING``."""
    try:
        return getattr(import_module(module), name, _MISSING)
    except ImportError:
        return _MISSING


def _is_plain(name: str) -> bool:
    """Return True if a name is defined by the code itself, or is a listed builtin."""
    builtin = getattr(builtins, name, None)
    error = isinstance(builtin, type) and issubclass(builtin, BaseException)
    return name in BUILTIN | DUNDERS or error or (builtin is None and not name.startswith("__"))


def _is_numeric(name: str) -> bool:
    # Any method of an array that numpy holds will do.
    return name in ("", "linalg") or name in NUMERIC or (name.partition(".")[0] in NUMERIC and name[:7] != "linalg.")


def is_foreign(cls: type) -> bool:
    """Return True if a class is none of Python's, of a listed package or of this package."""
    return cls.__module__.partition(".")[0] not in PACKAGES | {_OURS, "verify", "builtins", "sympy", "numpy", "scipy"}
