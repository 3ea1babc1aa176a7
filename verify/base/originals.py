"""Check that no code has replaced a function on which this package relies.

A proof knows functions of Python and of numpy; a search calls them and ours. Everything that the code of this package
refers to by name, and everything that the tables of known functions list, is recorded before a user's file is loaded
and compared by identity afterwards. Names of libraries that nothing here uses may change freely. Replacements made
before this package was loaded are recognised by the module in which a function is defined.
"""

from __future__ import annotations

import builtins
import gc
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from verify.base import uses

#: Packages of which this one uses functions.
FOREIGN = frozenset(
    {"builtins", "collections", "dataclasses", "fractions", "functools", "itertools", "math", "numbers", "operator"}
    | {"mpmath", "numpy", "scipy", "sympy", "types"}
)
OURS = frozenset({"fedtheory", "verify"})
#: The flag of a class that was made while a program runs, and is not Python's own.
_MADE = 1 << 9
_MISSING = object()
#: The attributes in which a stand-in for a function keeps that function.
_WITHIN: dict[type, str] = {
    **dict.fromkeys((staticmethod, classmethod, MethodType), "__func__"),
    **{property: "fget", cached_property: "func", type(cache(len)): "__wrapped__"},
    type(np.linalg.norm): "_implementation",
}


@dataclass(frozen=True, eq=False)
class Kept:
    """``names``: of modules and classes, each with what it stands for, and what that consists of if it is a function;
    ``whole``: modules and classes to which no function may be added, with all their names."""

    names: tuple[tuple[Any, str, Any, tuple[Any, ...]], ...]
    whole: tuple[tuple[Any, frozenset[str]], ...]

    def changed(self) -> str | None:
        """The first name that stands for something else by now, or that somebody has added; None if none is."""
        for owner, name, value, parts in self.names:
            now = vars(owner).get(name, _MISSING)
            if now is value and not parts:
                continue
            # mpmath makes functions of its classes again, of the same parts.
            if not (now is value or type(now) is type(value) is FunctionType) or not _are_same(_parts(now), parts):
                return _called(owner, name)
        for owner, before in self.whole:
            for name in vars(owner).keys() - before:
                if _acts(vars(owner)[name]):
                    return _called(owner, name)
        return None

    def current(self) -> bool:
        """Return True if what is recorded here is what would be recorded now."""
        mine = {id(owner) for owner, _ in self.whole if type(owner) is ModuleType}
        same = mine == set(map(id, _mine())) and all(vars(owner).keys() == before for owner, before in self.whole)
        return same and self.changed() is None


def kept(ours: bool = True) -> Kept:
    """Return what this package uses of other modules, as it is now; with ``ours``, also what its own
    modules contain.
    """
    mine = _mine()
    names = {(id(owner), name): (owner, name) for owner, name in _listed()}
    for module in mine:
        names.update({(id(owner), name): (owner, name) for owner, name in _used(module)})
        for name, value in vars(module).items():
            if ours or (type(value) is FunctionType and _root(value.__module__) in FOREIGN):
                names[id(module), name] = module, name
    values = [vars(owner)[name] for owner, name in names.values()] + [v for m in mine for v in vars(m).values()]
    among = FOREIGN | OURS if ours else FOREIGN
    made = dict.fromkeys(cls for value in values for cls in _classes(value) if _root(cls.__module__) in among)
    names.update({(id(c), name): (c, name) for c in made for name, value in vars(c).items() if _acts(value)})
    found = ((owner, name, vars(owner)[name]) for owner, name in names.values())
    return Kept(
        tuple((owner, name, value, _parts(value)) for owner, name, value in found),
        tuple((owner, frozenset(vars(owner))) for owner in [*made, *(mine if ours else ())]),
    )


def _mine() -> list[ModuleType]:
    """The modules of this package that are loaded."""
    return [m for n, m in list(sys.modules.items()) if _root(n) in OURS and type(m) is ModuleType]


def _listed() -> Iterator[tuple[Any, str]]:
    """Yield the modules and names in the tables of known functions."""
    yield from ((np.linalg if "." in name else np, name.rpartition(".")[2]) for name in uses.NUMERIC)
    yield from ((math, name) for name in vars(math) if not name.startswith("_"))
    yield from ((builtins, name) for name in uses.BUILTIN if name in vars(builtins))


def _used(module: ModuleType) -> Iterator[tuple[Any, str]]:
    """Yield the builtins and the names of library modules that the functions of a module refer to."""
    held = list(vars(module).values())
    held += [
        v for cls in held if isinstance(cls, type) and cls.__module__ == module.__name__ for v in vars(cls).values()
    ]
    for function in map(_function, held):
        for code in codes_within(function.__code__) if type(function) is FunctionType else ():
            for name in code.co_names:
                if name in vars(builtins):
                    yield builtins, name
                yield from _asked(vars(module).get(name, sys.modules.get(name)), code)


def _asked(module: Any, code: CodeType) -> Iterator[tuple[Any, str]]:
    """Yield the names that a code object may look up in a library module and its submodules."""
    # Modules of a library may name one another.
    pending, seen = [module], set[int]()
    while pending:
        owner = pending.pop()
        if type(owner) is not ModuleType or _root(owner.__name__) not in FOREIGN or id(owner) in seen:
            continue
        seen.add(id(owner))
        for name in code.co_names:
            if name in vars(owner):
                yield owner, name
                pending.append(vars(owner)[name])


def codes_within(code: CodeType) -> Iterator[CodeType]:
    """A code object, and those of the functions and classes that are defined in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes_within(inner)


def _classes(value: Any) -> list[type]:
    """A class, or that of an object or of whose method it is, with those that it derives from, but for Python's own."""
    value = value.__self__ if type(value) is MethodType else value
    cls = value if isinstance(value, type) else type(value)
    return [c for c in cls.__mro__ if c.__flags__ & _MADE]


def _function(value: Any) -> Any:
    """The function that is called in the end, if a value is one, or holds one."""
    while type(value) in _WITHIN:
        value = getattr(value, _WITHIN[type(value)])
    return value


def _parts(value: Any) -> tuple[Any, ...]:
    """Return the parts of a function: its code, globals, defaults and closure; empty for other objects."""
    function = _function(value)
    if type(function) is not FunctionType:
        return ()
    defaults, named = function.__defaults__ or (), (function.__kwdefaults__ or {}).values()
    return function.__code__, function.__globals__, *defaults, *named, *map(_content, function.__closure__ or ())


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _are_same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def _acts(value: Any) -> bool:
    """Return True if a value is called, or is asked where its name is."""
    return callable(value) or hasattr(type(value), "__get__")


def _called(owner: Any, name: str) -> str:
    return f"{owner.__name__ if type(owner) is ModuleType else f'{owner.__module__}.{owner.__qualname__}'}.{name}"


def _root(name: Any) -> str:
    return name.partition(".")[0] if isinstance(name, str) else ""


# Replacements made before this module was loaded


def _strange() -> Iterator[str]:
    """The names of numpy, of fractions and of what is built in, that stand for something else than they should."""
    folder = Path(np.__file__).parent
    for module in (np, np.linalg):
        for name in module.__all__:
            value = vars(module).get(name)
            if callable(value) and not isinstance(value, type) and name not in _NOT_NUMPYS:
                # No function that is made while a program runs can be given this name.
                right = value.__name__ in (name, _ALIASES.get(name)) and value.__module__ == module.__name__
                if not right or not (isinstance(value, np.ufunc) or _is_in(folder, _function(value))):
                    yield f"{module.__name__}.{name}"
    for name, value in vars(Fraction).items():
        if type(value) is FunctionType and not (_is_in(_FRACTIONS, value) and value.__name__ == name):
            yield f"Fraction.{name}"
    for name in uses.BUILTIN & vars(builtins).keys():
        value = vars(builtins)[name]
        if type(value) is FunctionType or (isinstance(value, type) and value.__flags__ & _MADE):
            yield name


def _is_in(place: Path, value: Any) -> bool:
    """Return True if a function or a class comes from a file in a folder, or from no file at all, as those in C do."""
    if type(value) is FunctionType:
        return Path(value.__code__.co_filename).is_relative_to(place)
    return isinstance(value, BuiltinFunctionType | type)


_FRACTIONS = Path(sys.modules[Fraction.__module__].__file__ or "")
#: Names of numpy that stand for functions of another name.
_ALIASES = {
    **{"abs": "absolute", "bitwise_invert": "invert", "bitwise_not": "invert", "conj": "conjugate", "mod": "remainder"},
    **{"pow": "power", "true_divide": "divide", "atan2": "arctan2"},
    **{"concat": "concatenate", "permute_dims": "transpose", "row_stack": "vstack"},
    **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    **{f"bitwise_{side}_shift": f"{side}_shift" for side in ("left", "right")},
}
#: Names of numpy from elsewhere, or of objects that may be called.
_NOT_NUMPYS = frozenset({"printoptions", "test"})

#: A name that stood for something else when this was loaded, or None.
REPLACED = next(_strange(), None)


@cache
def _at_first() -> Kept:
    return kept(ours=False)


def replaced() -> str | None:
    """The name of a function of Python's or of a library's that somebody has replaced since this was first asked, or
    before this was loaded; None where there is none."""
    return REPLACED or _at_first().changed()


#: What was recorded before a file was loaded last. A list, since a name of this module that stands for something else
#: afterwards would itself be a replacement.
_recorded: list[Kept] = []


def before_loading() -> Kept:
    """Return what this package uses and contains now, as :func:`kept` does; recorded anew only if that has changed."""
    if not _recorded or not _recorded[-1].current():
        _recorded[:] = [kept()]
    return _recorded[-1]


def running() -> tuple[object, ...]:
    """Return what runs beside the called code or hooks into it: trace, profiler, gc callbacks, threads."""
    return sys.gettrace(), sys.getprofile(), tuple(map(id, gc.callbacks)), frozenset(sys._current_frames())
