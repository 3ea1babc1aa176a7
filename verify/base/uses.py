"""What code of others may use for its verdicts to depend on its files alone: no other file, no clock, no environment.

An allow-list, as there are many ways to read a file.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Packages that may be imported.
_PACKAGES = _names("""
    __future__ abc collections dataclasses enum fractions functools itertools math mpmath numbers numpy operator
    sympy types typing
""")
#: Modules of ours that read files.
_READING = frozenset({"fedtheory.data", "fedtheory.plugins", "fedtheory.pytest_plugin"})
#: Names of numpy, besides its ufuncs, and of its module of linear algebra.
_NUMPY = _names("""
    all any arange argmax argmin argsort array asarray block bool_ broadcast_shapes broadcast_to clip concatenate
    cumsum diag dot dtype e einsum empty empty_like expand_dims eye float64 full full_like identity inf inner int64
    isclose kron linalg linspace max mean median min moveaxis nan ndarray newaxis ones ones_like outer pi prod repeat
    reshape roll round shape sort split squeeze stack std sum swapaxes take tensordot tile trace transpose tril triu
    triu_indices var vdot vectorize where zeros zeros_like
""")
_ALGEBRA = _names("""
    cond det eigh eigvalsh inv lstsq matrix_power matrix_rank norm pinv qr slogdet solve svd
""")
#: Names that Python has built in, besides its exceptions.
_BUILTIN = _names("""
    abs all any bool classmethod complex dict divmod enumerate filter float frozenset int isinstance issubclass iter
    len list map max min next object pow print property range repr reversed round set slice sorted staticmethod str sum
    super tuple type zip NotImplemented Ellipsis __doc__ __name__
""")
_DUNDERS = frozenset({"__all__", "__doc__", "__name__", "__init__", "__post_init__"})


def beyond(files: Mapping[str, Path], package: str) -> frozenset[str]:
    """What the files of a package use that is on no list."""
    found: set[str] = set()
    for name, path in files.items():
        nodes = list(ast.walk(ast.parse(path.read_bytes()))) if name.endswith(".py") else []
        asked = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            found.update(_unlisted(node, package))
            if isinstance(node, ast.Name) and node.id == "np" and id(node) not in asked:
                # What it is asked for under another name is not seen.
                found.add("np as a value")
    return frozenset(found)


def _unlisted(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (name for alias in node.names for name in _imported(alias.name, package))
        yield from (f"{a.name} as {a.asname}" for a in node.names if a.name == "numpy" and a.asname != "np")
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield from _imported(str(node.module), package)
        yield from (name for a in node.names for name in _imported(f"{node.module}.{a.name}", package))
    elif isinstance(node, ast.Name) and not _is_plain(node.id):
        yield node.id
    elif isinstance(node, ast.Attribute):
        if node.attr.startswith("__") and node.attr not in _DUNDERS:
            yield node.attr
        asked = ast.unparse(node)
        if asked.startswith("np.") and asked.count(".") <= 2:
            yield from _imported(f"numpy.{asked[3:]}", package)


def _imported(name: str, package: str) -> Iterator[str]:
    top, _, rest = name.partition(".")
    if top in (package, "fedtheory"):
        listed = name not in _READING
    else:
        listed = top in _PACKAGES and (top != "numpy" or _is_numeric(rest))
    if not listed:
        yield name


def _is_plain(name: str) -> bool:
    """Whether a name is the code's own, or one of those that Python has built in and that are listed."""
    builtin = getattr(builtins, name, None)
    error = isinstance(builtin, type) and issubclass(builtin, BaseException)
    return name in _BUILTIN | _DUNDERS or error or (builtin is None and not name.startswith("__"))


@cache
def _is_numeric(name: str) -> bool:
    import numpy as np

    first, _, rest = name.partition(".")
    if first == "linalg":
        return not rest or rest in _ALGEBRA
    # Of an array that numpy holds any method will do.
    return not name or first in _NUMPY or isinstance(getattr(np, first, None), np.ufunc)
