"""The functions of a claim that are run, read by a proof or not: none of them may change what the proof reads.

Everything that a claim reaches is visited: each function of the author's is inspected, and all else must be listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, make_dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType, GeneratorType, GetSetDescriptorType, MappingProxyType, MethodType
from typing import Any, Generic, Protocol

import numpy as np
import sympy

from fedtheory.algorithms.base import place
from verify.base import uses
from verify.reading import harmless, listed, loading, theory
from verify.reading.harmless import Found
from verify.reading.loading import File
from verify.reading.source import Unread
from verify.reading.values import is_record_class, plain_record

#: Types of values without code: these, and no subclasses.
_DATA = frozenset(
    {
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        Fraction,
        range,
        slice,
        type(Ellipsis),
        re.Pattern,
        type(Path()),
    }
    | {np.float64, np.float32, np.int64, np.int32, np.bool_, np.str_, np.random.Generator}
)
#: Classes of Python's that classes of the author's derive from.
_BASES = frozenset({object, tuple, Generic, Protocol})
#: The names looked up by Python itself that a class of the author's may define.
_SPECIAL = uses.names("""
    __abstractmethods__ __annotations__ __call__ __dataclass_fields__ __dataclass_params__ __delattr__ __dict__ __doc__
    __eq__ __getnewargs__ __hash__ __init__ __match_args__ __module__ __new__ __orig_bases__ __parameters__
    __post_init__ __repr__ __setattr__ __slots__ __weakref__
""")


@dataclass(eq=False)
class Reached:
    """The objects that a claim reaches, from when this is made: each with its parts, the author's functions and files,
    the fields of the author's records; ``why``: the first that is on no list, empty if there is none.
    """

    claim: Any
    parts: dict[int, tuple[Any, list[Any]]] = field(default_factory=dict)
    looked_at: dict[FunctionType | File, Found] = field(default_factory=dict)
    fields: set[str] = field(default_factory=set)
    why: str = ""

    def __post_init__(self) -> None:
        left = [self.claim]
        while left and not self.why:
            at = left.pop()
            if id(at) not in self.parts:
                try:
                    self.parts[id(at)] = at, list(self._parts(at))
                except Unread as error:
                    self.why = str(error)
                else:
                    left += self.parts[id(at)][1]

    def changing(self) -> str:
        """Return why the code read for a proof may differ from the code that runs; empty if it cannot."""
        return self.why or self._unlisted() or self._changed()

    def _changed(self) -> str:
        """Return which object has changed since it was read, as code of the claim was run; empty if none has."""
        for at, parts in self.parts.values():
            # Cached attributes come after the original ones.
            now = list(self._parts(at))[: len(parts)]
            if len(now) < len(parts) or not all(map(_is_still, now, parts)):
                return f"{getattr(at, '__qualname__', type(at).__name__)} was changed while the claim was checked"
        return ""

    def _unlisted(self) -> str:
        named = frozenset(self.fields)
        for at, found in self.looked_at.items():
            if found.why:
                return f"{_where(at)}{found.why}"
            for line, name in found.attributes:
                if not listed.is_listed(name, named) or (name == "copy" and name in named):
                    return f"{_where(at)}line {line}: it uses {name}"
        return ""

    def _parts(self, at: Any) -> Iterator[Any]:
        """Yield the parts of an object. Raise ``Unread`` if it is on no list."""
        kind = type(at)
        if kind is _Base:
            if not listed.is_error(at.of):
                yield from self._of_class(at.of)
        elif kind is File:
            yield from self._noted(at, loading.looked_at(at))
        elif kind is _Init:
            yield from self._of_function(at.function, makes=True)
        elif kind in _DATA or listed.is_known(at) or _is_exhausted(at):
            return
        elif isinstance(at, sympy.Basic) and (theory.is_of_sympy(at) or theory.stands(kind)):
            yield from at.args
        elif kind is FunctionType:
            yield from self._of_function(at)
        elif kind is partial:
            yield from (at.func, *at.args, *at.keywords.values())
        elif kind is MethodType:
            yield from (at.__func__, at.__self__)
        elif kind in (tuple, list, set, frozenset):
            yield from at
        elif kind in (dict, MappingProxyType):
            yield from (*at, *at.values())
        elif kind is property:
            yield from (at.fget, at.fset, at.fdel)
        elif kind in (staticmethod, classmethod):
            yield at.__func__
        elif kind is cached_property:
            yield at.func
        elif kind is np.ndarray:
            yield from at.flat if at.dtype == object else ()
        elif isinstance(at, type):
            yield from self._of_class(at)
        elif is_record_class(kind):
            yield from (kind, *at)
        elif hasattr(at, "__dict__") and (is_dataclass(at) or uses.is_foreign(kind) or theory.stands(kind)):
            self.fields.update(vars(at) if uses.is_foreign(kind) else ())
            yield from (kind, *vars(at).values())
        else:
            raise Unread(f"the claim holds a {kind.__name__}, of which it is not known what it does")

    def _of_function(self, function: FunctionType, makes: bool = False) -> Iterator[Any]:
        yield from (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        if theory.stands(function):
            for cell in function.__closure__ or ():
                try:
                    yield cell.cell_contents
                except ValueError:
                    continue
            return
        yield from loading.files(str(function.__globals__.get("__name__")))
        yield from self._noted(function, harmless.looked_at(function, makes))

    def _noted(self, at: FunctionType | File, found: Found) -> Iterator[Any]:
        """Record the findings on a function or a file, and yield the objects that it holds."""
        # A caller by another name may pass it an existing object.
        known = self.looked_at.get(at)
        if known is None or not known.why:
            self.looked_at[at] = found
        for thing in found.holds:
            if theory.stands(thing) and not listed.is_stated(thing):
                raise Unread(f"{_where(at)}it uses {thing.__name__}")
            yield thing

    def _of_class(self, cls: Any) -> Iterator[Any]:
        self.fields.update(vars(cls).get("_fields", ()))
        if theory.stands(cls) or cls in _BASES:
            return
        record = is_record_class(cls)
        if type(cls) is not type or not (uses.is_foreign(cls) or record):
            raise Unread(f"the claim holds the class {cls.__name__}, of which it is not known what it does")
        self.fields.update(vars(cls).get("__annotations__", ()))
        for name, value in vars(cls).items():
            if not name.startswith("__"):
                self.fields.add(name)
            elif name not in _SPECIAL:
                raise Unread(f"the class {cls.__name__} of the claim has a {name} of its own")
            # The generated methods of a record class or a dataclass have no source.
            if not _is_generated(cls, name, value, record):
                yield _Init(value) if name == "__init__" and type(value) is FunctionType else value
        for one in fields(cls) if is_dataclass(cls) else ():
            yield from (each for each in (one.default, one.default_factory) if each is not MISSING)
        # A subclass of a container holds items that were not visited.
        yield from (_Base(base) for base in cls.__bases__ if base not in _BASES)


def _is_exhausted(at: Any) -> bool:
    """Return True for a generator that has ended: it holds nothing any more, runs no code, and yields nothing."""
    return type(at) is GeneratorType and at.gi_frame is None


@dataclass(frozen=True)
class _Base:
    """A class from which one of the author's derives."""

    of: type


@dataclass(frozen=True)
class _Init:
    """The ``__init__`` of a class of the author's."""

    function: FunctionType


def _is_still(one: Any, other: Any) -> bool:
    return one is other or (type(one) in (_Base, _Init, File) and type(one) is type(other) and one == other)


def _is_generated(cls: Any, name: str, value: Any, record: bool) -> bool:
    """Return True if a class has this because it is one of records, or a dataclass, as any with these fields has."""
    if name in ("__dict__", "__weakref__"):
        return type(value) is GetSetDescriptorType
    if name in ("__annotations__", "__dataclass_params__", "__dataclass_fields__", "__orig_bases__"):
        return True
    if record:
        plain = vars(plain_record(cls._fields)).get(name)
        return plain is not None and (name in _SEEN or type(value) is not FunctionType or _same(value, plain))
    made = is_dataclass(cls) and type(value) is FunctionType and name in _SPECIAL
    return made and _same(value, vars(_plain(cls)).get(name)) and all(map(_is_kept(cls), *_closed_over(value)))


#: Attributes checked already by the test for record classes.
_SEEN = frozenset({"__new__", "_make", "_replace"})


def _same(function: FunctionType, plain: Any) -> bool:
    parts = ("co_code", "co_names", "co_varnames", "co_consts")
    made, other = function.__code__, getattr(plain, "__code__", None)
    return other is not None and all(getattr(made, part) == getattr(other, part) for part in parts)


def _closed_over(function: FunctionType) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    return function.__code__.co_freevars, tuple(cell.cell_contents for cell in function.__closure__ or ())


def _is_kept(cls: Any) -> Callable[[str, Any], bool]:
    """Return True if a function of a dataclass closes over the values that its decorator gives it: defaults, and
    object.
    """
    defaults = {f"_dflt_{f.name}": (f.default, f.default_factory) for f in fields(cls)}

    def is_kept(name: str, value: Any) -> bool:
        if name == "__dataclass_builtins_object__":
            return value is object
        return name not in defaults or any(value is one for one in defaults[name])

    return is_kept


def _plain(cls: Any) -> type:
    """Return a dataclass of the same fields, made in the same way, and nothing else."""
    params = cls.__dataclass_params__
    ways = {name: getattr(params, name) for name in ("init", "repr", "eq", "order", "unsafe_hash", "frozen")}
    after = {"__post_init__": lambda self: None} if hasattr(cls, "__post_init__") else {}
    named = [(f.name, Any, _again(f)) for f in fields(cls)]
    return make_dataclass("plain", named, namespace=after, **ways)


def _again(one: Any) -> Any:
    ways: dict[str, Any] = {name: getattr(one, name) for name in ("init", "repr", "hash", "compare", "kw_only")}
    if one.default_factory is not MISSING:
        return field(default_factory=tuple, **ways)
    return field(**ways) if one.default is MISSING else field(default=None, **ways)


def _where(at: FunctionType | File) -> str:
    what = f"{at}, as it is loaded," if isinstance(at, File) else f"{place(at)}, which is run,"
    return f"{what} may change what is read: "
