"""The user's code, read as it is written: what its floats denote where it runs in fractions.

In a step everybody writes ``0.1 * x``, ``1 / 3`` or ``x / problem.n``, and means a tenth, a third and the n-th part.
Where such code is given fractions, it runs as :mod:`fedtheory.numbers.sourcecode` compiles it, with its literals and
its quotients of integers as fractions; so do the functions that it calls of its module, and of those of its package
that it names, and their constants are what they denote. Where it is given floats it runs as it is. A float that comes
about in another way stays one: its effect on fractions is described in :mod:`fedtheory.numbers.intervals`. Functions of
Python, ``math`` and numpy that make floats are taken as :mod:`fedtheory.numbers.exact_functions` has them.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, wraps
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from fedtheory.numbers import exact_functions, sourcecode
from fedtheory.numbers.intervals import Interval, rounded
from fedtheory.numbers.rational import exact

#: Packages whose code is not read: this one's, which makes no floats of fractions, and libraries'.
_KNOWN = frozenset({"fedtheory", "verify", "numpy", "scipy", "sympy", "mpmath"})
#: The operations that set names of modules.
_SETS = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"})


def in_fractions(function: object) -> Any:
    """The function, which reads its literals as fractions where it is given fractions; all but functions of the
    user's as they are."""
    if type(function) is partial:
        inner = in_fractions(function.func)
        return function if inner is function.func else partial(inner, *function.args, **function.keywords)
    return _reading(function) if isinstance(function, FunctionType) and _is_own(function) else function


def _is_own(function: FunctionType) -> bool:
    root = _root(function.__globals__)
    return bool(root) and root not in _KNOWN and (root == "__main__" or root not in sys.stdlib_module_names)


def _root(names: Mapping[str, object]) -> str:
    return str(names.get("__name__", "")).split(".")[0]


def _is_beside(module: ModuleType, names: Mapping[str, object]) -> bool:
    """Return True if a module belongs to the same package as the module with these names."""
    return _root(vars(module)) == _root(names)


@lru_cache(maxsize=4096)
def _reading(function: FunctionType) -> Callable[..., Any]:
    @wraps(function)
    def reading(*given: object, **named: object) -> Any:
        written = _written(function) if are_fractions(*given, *named.values()) else None
        if written is None:
            return function(*given, **named)
        written.refresh(frozenset({function}))
        try:
            return written.function(*map(_counted, given), **{name: _counted(value) for name, value in named.items()})
        except (TypeError, AttributeError) as error:
            # Functions that take only floats get them; the results are distinguished from fractions.
            try:
                return function(*given, **named)
            except (TypeError, AttributeError):
                raise error from None

    return reading


def are_fractions(*given: object) -> bool:
    """Return True if (problem, params, state) are given in fractions. The first that shows it decides, starting with
    states, since integers do not show it.
    """
    return next((kind for value in reversed(given) if (kind := _kind(value)) is not None), False)


def _kind(value: Any) -> bool | None:
    """Return True if a number, or a container of numbers, is made of fractions; None if nothing shows it."""
    if isinstance(value, float):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "O" if value.size and value.dtype.kind in "fO" else None
    if isinstance(value, tuple):
        return next((kind for part in value if (kind := _kind(part)) is not None), None)
    if hasattr(value, "declared"):
        return _kind(value.f.mu if value.declared is None else value.declared)
    return True if isinstance(value, Fraction | Interval) or hasattr(value, "exact") else None


def _counted(value: object) -> Any:
    """A state with the integers of its arrays as fractions: numpy makes floats of their means."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(exact(v) if isinstance(v, np.ndarray) and v.dtype.kind == "i" else v for v in value))
    return value


@dataclass(frozen=True, eq=False)
class _Written:
    """A function as it is written: ``function``, which looks names up in its own copy of what ``original`` has."""

    original: FunctionType
    source: sourcecode.ModuleSource
    function: FunctionType
    called: tuple[str, ...]

    def refresh(self, seen: frozenset[object]) -> None:
        """Look names up again, of the functions that it calls too: what modules hold may change."""
        known = self.original.__globals__
        literals = {name: rounded(value) for name, value in self.source.names.items() if isinstance(value, Fraction)}
        self.function.__globals__.update(literals)
        self.function.__defaults__ = _defaults(self.original, self.source)
        for value in map(_content, self.original.__closure__ or ()):
            if isinstance(value, FunctionType) and not value.__closure__:
                _helper(value, seen)
        self.function.__globals__.update(_meant(known, self.called, self.source, seen))


def _meant(
    known: Mapping[str, object],
    called: Collection[str],
    source: sourcecode.ModuleSource | None,
    seen: frozenset[object],
) -> dict[str, Any]:
    """Return the values of the names that code uses: constants as they are written, functions that read their literals
    so, and the user's modules that contain both.
    """
    found = {}
    for name in called:
        if name in known:
            value = known[name]
            if type(value) is float and source is not None:
                value = rounded(source.constant(name, known))
            elif isinstance(value, FunctionType):
                value = _helper(value, seen)
            elif type(value) is ModuleType and value not in seen and _is_beside(value, known):
                file = getattr(value, "__file__", None) or ""
                inner = _meant(vars(value), called, sourcecode.source(file, sourcecode.text_of(file)), seen | {value})
                copied = ModuleType(value.__name__)
                vars(copied).update({**vars(value), **inner})
                value = copied
            found[name] = value
    return found


def _helper(function: FunctionType, seen: frozenset[object]) -> FunctionType:
    """A function that the user's code calls, as it is written; ``seen``: those that are looked up already."""
    written = _written(function) if _is_own(function) else None
    if written is None:
        return function
    if function not in seen:
        written.refresh(seen | {function})
    return written.function


@lru_cache(maxsize=4096)
def _written(function: FunctionType) -> _Written | None:
    """A function as it is written; None where its source is not known, or it changes its module."""
    code = function.__code__
    source = sourcecode.source(code.co_filename, sourcecode.text_of(code.co_filename))
    found = None if source is None else source.codes.get(code)
    if source is None or found is None or any(_SETS & _operations(c) for c in _parts(found)):
        return None
    # numpy imports what it needs by the builtins of who calls it.
    kept = ("__name__", "__file__", "__builtins__")
    names = {name: function.__globals__[name] for name in kept if name in function.__globals__}
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(_cell(cells[name], function) for name in found.co_freevars)
    made = FunctionType(
        found, names | {**source.names, sourcecode.FUNCTION: _function}, function.__name__, None, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return _Written(function, source, made, tuple({name for part in _parts(found) for name in part.co_names}))


def _content(cell: CellType) -> Any:
    """Return the contents of a cell; None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _cell(cell: CellType, function: FunctionType) -> CellType:
    """Return a cell of a closure; a function in it that closes over nothing is replaced by one that reads its literals
    as written.
    """
    value = _content(cell)
    if not isinstance(value, FunctionType) or value.__closure__:
        return cell
    return CellType(_helper(value, frozenset({function})))


def _defaults(function: FunctionType, source: sourcecode.ModuleSource) -> tuple[Any, ...] | None:
    """The defaults of a function's arguments, floats as what they are written as."""
    given, nodes = function.__defaults__, source.defaults.get((function.__name__, function.__code__.co_firstlineno))
    if not given or nodes is None or len(nodes) != len(given):
        return given
    pairs = zip(given, nodes, strict=True)
    known = function.__globals__
    return tuple(rounded(source.denoted(node, v, known)) if type(v) is float else v for v, node in pairs)


def _function(function: object) -> Any:
    """Return the version of a function that computes in fractions: of known functions, and of the user's own."""
    if type(function) is MethodType:
        return MethodType(_function(function.__func__), function.__self__)
    if type(function) is not FunctionType:
        return exact_functions.of_fractions(function)
    # One that such code made reads its literals so by itself.
    is_read = sourcecode.FUNCTION in function.__globals__
    return _helper(function, frozenset()) if _is_own(function) and not is_read else function


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def _operations(code: CodeType) -> set[str]:
    return {made.opname for made in dis.get_instructions(code)}
