"""Files of one's own that import files beside them.

Each file that is loaded is a module of a package of its own, whose folder is that of the file: what it imports from
beside it are modules of that package. Nothing is added to the path, so that no file there can take the place of a
module that is not the user's, and two files have nothing in common, not even what is beside both.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from fedtheory import extras

#: The beginnings of the names of these packages.
_PREFIX = "own_"
#: Names that always mean what is installed: what this package is, and needs.
_INSTALLED = frozenset({"fedtheory", "verify", "mpmath", "numba", "numpy", "rich", "sympy", "threadpoolctl"})
#: Kinds of node in which no import can stand.
_NO_STATEMENTS = ast.expr | ast.expr_context | ast.operator | ast.arguments | ast.pattern


def fresh(path: Path) -> ModuleType:
    """The module of a file, which is not run yet. What was loaded of the file before is forgotten."""
    package = _package(path)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    for name in loaded(package):
        del _READ[name]
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    around = ModuleType(package)
    around.__path__ = [str(path.resolve().parent)]
    # No import names a file with a dot in its name.
    name = f"{package}.{path.stem.replace('.', ' ')}"
    spec = ModuleSpec(name, Loader(name, str(path.absolute())), origin=str(path.absolute()))
    spec.has_location = True
    module = module_from_spec(spec)
    sys.modules.update({package: around, name: module})
    return module


def files(path: Path) -> dict[str, Path]:
    """A file and those beside it that its code imports, by their paths from its folder."""
    folder, found, left = path.resolve().parent, dict[str, Path](), [path.resolve()]
    package = _package(path)
    loaded = (getattr(m, "__file__", None) for name, m in list(sys.modules.items()) if _is_of(name, package))
    left += [Path(file).resolve() for file in loaded if file is not None]
    while left:
        file = left.pop()
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file)
        if name not in found:
            found[name] = file
            left += _imported(file, folder)
    return dict(sorted(found.items()))


def digest(path: Path) -> str:
    """A digest of the code of a file, and of what it imports from beside it."""
    lines = (f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n" for name, file in files(path).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def hidden(path: Path) -> list[str]:
    """The files beside one whose names it imports and that are not meant, since something installed has the name."""
    folder = path.resolve().parent
    names = {name.partition(".")[0] for file in files(path).values() for name, level in _imports(file) if not level}
    beside = (file for name in sorted(names) if _is_installed(name) and (file := _file(folder, name)) is not None)
    return [file.name if file.name != "__init__.py" else file.parent.name for file in beside if not _is_ours(file)]


def _is_ours(file: Path) -> bool:
    """Return True if a file is the very module loaded under its name, as in the folder where this package
    is developed.
    """
    name = file.parent.name if file.name == "__init__.py" else file.stem
    known = getattr(sys.modules.get(name), "__file__", None)
    return known is not None and Path(known).resolve() == file.resolve()


def _package(path: Path) -> str:
    return _PREFIX + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]


def _is_of(name: str, package: str) -> bool:
    return name.startswith(f"{package}.")


def _is_installed(name: str) -> bool:
    return name in _INSTALLED or name in extras.AUDIT or name in sys.stdlib_module_names


def _file(folder: Path, name: str) -> Path | None:
    """The module or package of this name in a folder."""
    return next((file for file in (folder / name / "__init__.py", folder / f"{name}.py") if file.is_file()), None)


def _is_beside(folder: Path, name: str) -> bool:
    """Return True if a module of this name lies beside a file, possibly as a folder without an ``__init__.py``."""
    first = name.partition(".")[0]
    if _is_installed(first) or _file(folder, first) is not None:
        return not _is_installed(first)
    # Between such a folder and an installed package, Python takes the package.
    return any((folder / first).glob("*.py")) and getattr(_spec(first), "origin", None) is None


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except (ImportError, ValueError):
        return None


def _imports(file: Path) -> Iterator[tuple[str, int]]:
    """The names that a file imports, with what may be modules in them, and their levels."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module or ''}.{alias.name}".lstrip("."), node.level) for alias in node.names)


def _imported(file: Path, folder: Path) -> Iterator[Path]:
    """The files in the folder that another may import, with those of the packages around them."""
    for name, level in _imports(file):
        if level > len(file.parents) or (not level and not _is_beside(folder, name)):
            continue
        at = file.parents[level - 1] if level else folder
        for part in name.split("."):
            if (found := _file(at, part)) is not None:
                yield found.resolve()
            at /= part


class _Beside(ast.NodeTransformer):
    """Imports of what is beside a file as imports from the package that stands for its folder."""

    def __init__(self, package: str) -> None:
        self._package, self._folder = package, Path(sys.modules[package].__path__[0])

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, _NO_STATEMENTS) else super().visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if not node.level and node.module is not None and _is_beside(self._folder, node.module):
            node.module = f"{self._package}.{node.module}"
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt]:
        if not any(_is_beside(self._folder, alias.name) for alias in node.names):
            return node
        found: list[ast.stmt] = []
        for alias in node.names:
            if not _is_beside(self._folder, alias.name):
                found.append(ast.Import([alias]))
                continue
            within, _, last = f"{self._package}.{alias.name}".rpartition(".")
            first = alias.name.partition(".")[0]
            # For a.b Python binds a, unless it is given another name, but loads both.
            found.append(ast.ImportFrom(within, [ast.alias(last, alias.asname or first)], 0))
            if alias.asname is None and first != last:
                found.append(ast.ImportFrom(self._package, [ast.alias(first)], 0))
        return [ast.copy_location(statement, node) for statement in found]


class Read(NamedTuple):
    """The syntax tree and the code of a file as it was when loaded."""

    path: Path
    tree: ast.Module
    code: CodeType


#: The files that were loaded, by the names of their modules.
_READ: dict[str, Read] = {}
#: The packages of the files whose claims these are, by the claims' ids.
_OF: dict[str, str] = {}


def loaded(name: str) -> dict[str, Read]:
    """The files that were loaded with one, by the names of their modules; ``name``: that of one of these, of their
    package, or the id of a claim of theirs. Empty for all other names."""
    package = _OF.get(name, name.partition(".")[0])
    return {module: read for module, read in _READ.items() if _is_of(module, package)}


def claimed(path: Path, ids: Iterable[str]) -> None:
    """Remember of which file the claims with these ids are."""
    _OF.update(dict.fromkeys(ids, _package(path)))


class Loader(SourceFileLoader):
    """Runs what a file says now, whatever was compiled of it before; ``change``: of its code, before it runs."""

    change: Callable[[ast.Module], ast.Module] = staticmethod(lambda tree: tree)

    def get_code(self, fullname: str) -> Any:
        """The code of the file, as changed."""
        path = self.get_filename(fullname)
        tree = self.change(ast.parse(self.get_data(path), path))
        tree = ast.fix_missing_locations(_Beside(fullname.partition(".")[0]).visit(tree))
        _READ[fullname] = Read(Path(path), tree, compile(tree, path, "exec", dont_inherit=True))
        return _READ[fullname].code


class _Finder(MetaPathFinder):
    """Finds the modules of the packages that stand for folders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PREFIX) or path is None:
            return None
        for folder in path:
            spec = FileFinder(folder, (Loader, [".py"])).find_spec(fullname)
            if spec is not None:
                return spec
        return None


_FINDER = _Finder()

__all__: Sequence[str] = ["Loader", "Read", "claimed", "digest", "files", "fresh", "hidden", "loaded"]
