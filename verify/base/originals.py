"""What the libraries are: that nobody's code has put something else in the place of their functions.

A proof knows functions of Python and of numpy, a search calls them and ours. A user's file may set any name of any
module, so what these hold is kept before it is loaded, and compared afterwards. Where something was replaced before
this package was loaded, what numpy and Python have no more is seen by where it comes from.
"""

from __future__ import annotations

import builtins
import gc
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from verify.base import uses

#: Packages that nobody's claim may change.
FOREIGN = frozenset(
    {"builtins", "collections", "dataclasses", "fractions", "functools", "itertools", "math", "numbers", "operator"}
    | {"mpmath", "numpy", "scipy", "sympy", "types"}
)
OURS = frozenset({"fedtheory", "verify"})
#: The flag of a class that was made while a program runs, and is not Python's own.
_MADE = 1 << 9
_MISSING = object()
#: The types of what a module names once and for all.
_CONSTANT = (bool, int, float, complex, str, tuple, frozenset, Fraction, ModuleType)


@dataclass(frozen=True, eq=False)
class Kept:
    """What modules and their classes have, by their names, and what functions consist of."""

    names: Mapping[str, tuple[Any, Mapping[str, Any]]]
    functions: Mapping[FunctionType, tuple[Any, ...]]

    def changed(self) -> str | None:
        """The first name that stands for something else by now, or that somebody has added; None if none is."""
        for owner, (thing, before) in self.names.items():
            # What a prompt has shown last, Python keeps among what is built in.
            now = {name: value for name, value in vars(thing).items() if name != "_" or thing is not builtins}
            for name, value in before.items():
                other = now.get(name, _MISSING)
                if other is value or _is_made_again(owner, value, other):
                    continue
                constant = type(thing) is ModuleType and type(value) in _CONSTANT and _is_fixed(owner, name)
                if constant or callable(value) or (callable(other) and not _is_of_library(other)):
                    return f"{owner}.{name}"
            if len(now) > len(before) or now.keys() != before.keys():
                for name in now.keys() - before.keys():
                    if (
                        _comes_from_elsewhere(now[name])
                        or self._is_put_there(now[name])
                        or (type(thing) is ModuleType and hasattr(builtins, name))
                    ):
                        return f"{owner}.{name}"
        return next((f"{f.__module__}.{f.__qualname__}" for f, of in self.functions.items() if _parts(f) != of), None)

    def _is_put_there(self, thing: Any) -> bool:
        """Return True if a class says that it is of a module that was there before, and did not have it."""
        known = self.names.get(thing.__module__) if isinstance(thing, type) else None
        return known is not None and all(thing is not value for value in known[1].values())


def kept(roots: Collection[str] = FOREIGN | OURS) -> Kept:
    """What those packages are now."""
    names: dict[str, tuple[Any, Mapping[str, Any]]] = {}
    functions: dict[FunctionType, tuple[Any, ...]] = {}
    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] not in roots or type(module) is not ModuleType:
            continue
        names[module_name] = module, {k: v for k, v in vars(module).items() if k != "_" or module is not builtins}
        for thing in vars(module).values():
            if isinstance(thing, type) and thing.__module__ == module_name and thing.__flags__ & _MADE:
                names[f"{module_name}.{thing.__qualname__}"] = thing, dict(vars(thing))
    for _, held in names.values():
        functions.update((thing, _parts(thing)) for thing in held.values() if type(thing) is FunctionType)
    return Kept(names, functions)


def _is_made_again(owner: str, value: Any, other: Any) -> bool:
    """Return True for the function that mpmath puts into a class anew when it makes a context."""
    if not owner.startswith("mpmath.ctx_") or type(value) is not FunctionType or type(other) is not FunctionType:
        return False
    if (value.__closure__ is None) != (other.__closure__ is None) or value.__globals__ is not other.__globals__:
        return False
    given = (value.__defaults__, value.__kwdefaults__, other.__defaults__, other.__kwdefaults__)
    pairs = zip(value.__closure__ or (), other.__closure__ or (), strict=False)
    same = all(one.cell_contents is two.cell_contents for one, two in pairs)
    return value.__code__ is other.__code__ and same and given == (None,) * 4


def _is_fixed(module: str, name: str) -> bool:
    """Return True if a module has a constant by this name: libraries count by names that begin with an underscore."""
    return module.partition(".")[0] in OURS or not name.startswith("_")


def _parts(function: FunctionType) -> tuple[Any, ...]:
    """What a function consists of, by identity: its code, its defaults, what it closes over."""
    cells = tuple(map(id, function.__closure__ or ()))
    named = function.__kwdefaults__
    return id(function.__code__), id(function.__defaults__), named and tuple(map(id, named.values())), cells


def _is_of_library(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "") or "").partition(".")[0].lstrip("_") in FOREIGN | OURS


def _comes_from_elsewhere(thing: Any) -> bool:
    """Return True if a function, or what acts as one in a class, is neither of a library nor of Python's own."""
    function = getattr(thing, "fget", None) or getattr(thing, "__func__", thing)
    if type(function) is not FunctionType and not (isinstance(thing, type) and thing.__flags__ & _MADE):
        return False
    root = function.__module__.partition(".")[0] if isinstance(function.__module__, str) else ""
    return root not in FOREIGN | OURS and root not in sys.stdlib_module_names


# What was replaced before this was loaded


def _strange() -> Iterator[str]:
    """The names of numpy, of fractions and of what is built in, that stand for something else than they should."""
    folder = Path(np.__file__).parent
    for module in (np, np.linalg):
        for name in getattr(module, "__all__", ()):
            value = vars(module).get(name)
            # What numpy looks through before it calls a function of its own.
            inner: Any = getattr(value, "_implementation", None) if type(value) is _ARRAY_FUNCTION else value
            if isinstance(value, np.ufunc):
                # Of no function that is made while a program runs can this name be chosen.
                right = value.__name__ in (name, _ALIASES.get(name))
            else:
                listed = name in _NOT_NUMPYS or not callable(value) or _is_in(folder, inner)
                right = listed and (module is not np or name not in _UFUNCS)
            if not right:
                yield f"{module.__name__}.{name}"
    for name, value in vars(Fraction).items():
        if type(value) is FunctionType and not (_is_in(_FRACTIONS, value) and value.__name__ == name):
            yield f"Fraction.{name}"
    for name, value in vars(builtins).items():
        if (type(value) is FunctionType and name in _BUILT_IN) or (name in _TYPES and value.__flags__ & _MADE):
            yield name


def _is_in(place: Path, value: Any) -> bool:
    """Return True if a function or a class comes from a file in a folder, or from no file at all, as those in C do."""
    if type(value) is FunctionType:
        return Path(value.__code__.co_filename).is_relative_to(place)
    if isinstance(value, type):
        return not value.__flags__ & _MADE or _is_of_library(value)
    return isinstance(value, BuiltinFunctionType)


#: What numpy's functions of arrays are, where they ask their arguments first.
_ARRAY_FUNCTION: Any = type(np.linalg.norm)
_FRACTIONS = Path(sys.modules[Fraction.__module__].__file__ or "")
#: The functions and classes that Python has built in, of which code is read that calls them.
_BUILT_IN = frozenset(
    {"abs", "all", "any", "getattr", "hasattr", "isinstance", "iter", "len", "max", "min", "next", "sum"}
)
_TYPES = frozenset({"bool", "dict", "float", "int", "list", "object", "range", "set", "str", "tuple", "type", "zip"})

#: Names of numpy that stand for functions of another name.
_ALIASES = {
    **{"abs": "absolute", "bitwise_invert": "invert", "bitwise_not": "invert", "conj": "conjugate", "mod": "remainder"},
    **{"pow": "power", "true_divide": "divide", "atan2": "arctan2"},
    **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    **{f"bitwise_{side}_shift": f"{side}_shift" for side in ("left", "right")},
}
#: What numpy has from elsewhere, or as an object that may be called.
_NOT_NUMPYS = frozenset({"printoptions", "test"})
#: Functions that numpy has in C, of which the right one has this name.
_UFUNCS = frozenset(_ALIASES) | uses.names("""
    absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil conjugate copysign cos cosh deg2rad
    divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd greater
    greater_equal hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp
    logical_and logical_not logical_or logical_xor matmul maximum minimum modf multiply negative not_equal positive
    power reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt square subtract tan tanh trunc
    """)

#: What stood for something else when this was loaded.
REPLACED = next(_strange(), None)
#: What the libraries are, before a file of a user's is loaded by this package.
_AT_FIRST = kept(FOREIGN)


def replaced() -> str | None:
    """The name of a function of Python's or of a library's that somebody has replaced; None where there is none."""
    return REPLACED or _AT_FIRST.changed()


def running() -> tuple[object, ...]:
    """What runs beside the code that is called, or is called at whatever it does."""
    return sys.gettrace(), sys.getprofile(), tuple(map(id, gc.callbacks)), frozenset(sys._current_frames())
