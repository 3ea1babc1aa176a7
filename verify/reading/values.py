"""The values of names in code that is read: terms, literals, records, functions, distributions, conditions, data."""

from __future__ import annotations

import ast
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from fractions import Fraction
from functools import lru_cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

import sympy

from verify.reading import terms
from verify.reading.source import Module, Unread
from verify.reading.terms import Axis, Term

#: The types of literals, or of a parameter that is not a letter: these, and no subclasses.
CONSTANTS = (Fraction, int, bool, str, type(None))


@dataclass(frozen=True, eq=False)
class NamedTupleValue:
    """A NamedTuple, or a mapping with names that are written. ``of``: its class, None of a mapping."""

    of: type | None
    fields: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Named:
    """A value that has these attributes and no others: the problem, its functions, compressors."""

    what: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Rule:
    """A function that is known by identity: its effect on values. It raises ``ValueError`` for values that it does not
    take. ``fields``: its attributes.
    """

    name: str
    apply: Callable[..., Any]
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Scope:
    """The names of one call; those that it does not set are looked up around it, at last in the closure of
    ``function``, its module and the builtins. ``local``: the names that it may set.
    """

    names: dict[str, Any]
    around: Scope | None
    function: FunctionType | None
    module: Module
    within: str
    local: frozenset[str]


@dataclass(frozen=True, eq=False)
class Function:
    """A function, to be read where it is called: ``defaults``: those of its arguments, by name; ``given``, ``named``:
    arguments that it has already."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: Mapping[str, Any]
    given: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Class:
    """A class of NamedTuples, which makes records."""

    of: type


@dataclass(frozen=True, eq=False)
class Names:
    """A module, whose names are looked up in its dictionary."""

    of: ModuleType


@dataclass(frozen=True, eq=False)
class DataclassValue:
    """A frozen dataclass: its fields, its methods, and its properties, which are read."""

    of: Any


@dataclass(frozen=True, eq=False)
class Made:
    """A frozen dataclass that is made while code is read, from the values ``fields``."""

    of: type
    fields: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Maker:
    """A class of frozen dataclasses that only keep the values that they are made of."""

    of: type


@dataclass(frozen=True, eq=False)
class Shape:
    """The shape of an array, without its last ``cut`` axes. The axes before these are replicas, however many."""

    axes: tuple[Axis, ...]
    cut: int = 0
    batched: bool = False


@dataclass(frozen=True, eq=False)
class Randomness:
    """The randomness of a compressor, which may only be passed on to it."""

    leaf: Term


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probabilities of all draws of a distribution: expectations are taken with them."""

    draws: Term


@dataclass(frozen=True, eq=False)
class Lengths:
    """A shape that is listed, with the lengths that come after it: arrays are spread over it, and it is not counted."""

    shape: Shape
    more: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class SinglePassIterable:
    """An iterable that is consumed once, where it is made."""

    of: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class SymbolicRange:
    """A range that ends at a letter, a term or what a reader of its own has for one."""

    end: object


@dataclass(frozen=True, eq=False)
class Owners:
    """The client of each example."""


@dataclass(frozen=True, eq=False)
class Several:
    """Arrays side by side on one of their axes: a function may return them, and nothing else is done with them."""

    of: tuple[Term, ...]
    axis: int


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition on letters: for a comparison ``by`` is "==", "!=", "<" or "<=" and ``of`` are its sides; otherwise
    "not", "and" or "or", and ``of`` are conditions or known truth values.
    """

    by: str
    of: tuple[Any, ...]

    def terms(self) -> Iterator[terms.Term]:
        """Yield the terms that it compares."""
        for part in self.of:
            if isinstance(part, terms.Term):
                yield part
            elif isinstance(part, Condition):
                yield from part.terms()


@dataclass(frozen=True, eq=False)
class Unknown:
    """A value without a meaning here, and why: it may be passed around, but not used."""

    why: str


@dataclass(frozen=True, eq=False)
class Numbers(Unknown):
    """Unknown numbers: the results of computing with them are unknown too."""


def is_record_class(cls: Any) -> bool:
    """Return True if a class is a NamedTuple whose fields are its items in order, and whose own functions and
    properties override nothing.
    """
    names = getattr(cls, "_fields", None)
    if type(cls) is not type or cls.__mro__ != (cls, tuple, object) or not isinstance(names, tuple):
        return False
    if not all(type(name) is str for name in names):
        return False
    plain = plain_record(names)
    own, made = vars(cls), cls.__new__
    return (
        "__new__" in own
        and all(_adds(name, own[name]) for name in set(own) - set(vars(plain)) - _KEPT)
        and isinstance(made, FunctionType)
        and made.__code__.co_code == plain.__new__.__code__.co_code
        and made.__code__.co_varnames == plain.__new__.__code__.co_varnames
        and made.__code__.co_names == plain.__new__.__code__.co_names
        and isinstance(own.get("_make"), classmethod)
        and own["_make"].__func__.__code__ == vars(plain)["_make"].__func__.__code__
        and made.__globals__.get("_tuple_new") is tuple.__new__
        and isinstance(own.get("_replace"), FunctionType)
        and own["_replace"].__code__ == plain._replace.__code__
        and all(type(own[n]) is type(vars(plain)[n]) for n in names)
        and all(own[n].__reduce__()[1][0] == k for k, n in enumerate(names))
    )


@lru_cache(maxsize=1024)
def plain_record(names: tuple[str, ...]) -> Any:
    """Return a named tuple of these fields, and nothing else."""
    return namedtuple("plain", names)


#: The attributes of a NamedTuple class besides those of its fields.
_KEPT = {"__annotations__", "__orig_bases__", "__module__"}


def _adds(name: str, value: Any) -> bool:
    """Return True if a class may add this attribute: a function or a property under a name that no tuple has."""
    plain = type(value) is FunctionType or (type(value) is property and type(value.fget) is FunctionType)
    return plain and not name.startswith("__") and not hasattr(tuple, name)


def is_keeper(cls: Any) -> bool:
    """Return True if a class is a frozen dataclass with the default attribute lookup and the generated ``__init__``:
    its objects keep what they are given.
    """
    if type(cls) is not type or "__dataclass_fields__" not in vars(cls) or not vars(cls)["__dataclass_params__"].frozen:
        return False
    own = fields(cls)
    if not all(type(f.name) is str for f in own):
        return False
    plain = _plain_init(tuple((f.name, f.default is not MISSING) for f in own))
    made = vars(cls).get("__init__")
    return (
        cls.__mro__ == (cls, object)
        and cls.__new__ is object.__new__
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, "__getattr__")
        and not hasattr(cls, "__post_init__")
        and "__slots__" not in vars(cls)
        and all(f.init and not f.kw_only and f.default_factory is MISSING for f in own)
        and isinstance(made, FunctionType)
        and made.__code__.co_code == plain.co_code
        and made.__code__.co_names == plain.co_names
        and made.__code__.co_consts == plain.co_consts
        and made.__code__.co_varnames == plain.co_varnames
        and all(cell.cell_contents is object for cell in made.__closure__ or ())
        and all(f.default is MISSING or vars(cls).get(f.name) is f.default for f in own)
    )


@lru_cache(maxsize=1024)
def _plain_init(named: tuple[tuple[str, bool], ...]) -> CodeType:
    """Return the code that makes an object of a frozen dataclass of these fields, some with defaults."""
    parts = [(name, Any, field(default=None) if default else field()) for name, default in named]
    made: Any = make_dataclass("plain", parts, frozen=True)
    return made.__init__.__code__


def is_ours(value: Any) -> bool:
    """Return True if a class is one that a module of this package's theory holds by its name."""
    if not isinstance(value, type) or value.__module__.partition(".")[0] != "fedtheory":
        return False
    module = sys.modules.get(value.__module__)
    return module is not None and vars(module).get(value.__qualname__) is value


def is_same(one: Any, other: Any) -> bool:
    """Return True if two conditions, or two sides of them, are written alike: the leaves of terms are compared by
    name.
    """
    if isinstance(one, Condition) and isinstance(other, Condition):
        return one.by == other.by and len(one.of) == len(other.of) and all(map(is_same, one.of, other.of))
    if isinstance(one, Term) and isinstance(other, Term):
        made = (one.op, one.type, one.data) == (other.op, other.type, other.data)
        return made and len(one.of) == len(other.of) and all(map(is_same, one.of, other.of))
    return type(one) is type(other) and bool(one == other)


#: Types that error messages describe in words of their own.
_NAMES: dict[type, str] = {
    SinglePassIterable: "an iterable that is read once",
    SymbolicRange: "a range of symbolic length",
}


def describe(value: Any) -> str:
    """Return a value in words."""
    if isinstance(value, Term):
        return str(value.type)
    if isinstance(value, Named):
        return value.what
    if isinstance(value, Unknown):
        return value.why
    if isinstance(value, Condition):
        return "the values of letters"
    if type(value) in CONSTANTS:
        return repr(value)
    return _NAMES.get(type(value)) or f"a {type(value).__name__.lower()}"


@dataclass(frozen=True, eq=False)
class Law:
    """A distribution: its kind, and its terms and component distributions."""

    name: str
    of: tuple[Any, ...] = ()
    make: type | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The attributes that code may read: all draws, and their probabilities."""
        return {"support": Rule("support", partial(support, self))}

    def terms(self) -> Iterator[terms.Term]:
        """Yield the terms on which it and its components depend."""
        for part in self.of:
            if isinstance(part, terms.Term):
                yield part
            elif isinstance(part, Law):
                yield from part.terms()


def support(law: Law, exact: Any = False) -> tuple[Any, Any]:
    """Return all draws of subsets of clients, or of compressors, and their probabilities."""
    if law.name == "compression":
        drawn = terms.all_compressions(law.of[0])
        return Randomness(drawn), Probabilities(drawn)
    if law.name not in ("subset", "weighted subset"):
        raise ValueError(f"all outcomes are requested of a distribution of the kind {law.name}")
    draws = terms.all_draws(law.name, law.of)
    return draws, Probabilities(draws)


#: Comparisons, by their symbols in a condition.
COMPARISONS: Mapping[str, Any] = {"==": sympy.Eq, "!=": sympy.Ne, "<": sympy.Lt, "<=": sympy.Le}
#: The values of quotients by zero.
_NO_NUMBERS = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo)


def relation_of(condition: Any, number: Callable[[Any], sympy.Expr]) -> sympy.Basic:
    """Return a condition, or a known truth value, as a relation; ``number`` returns the expression of a side.

    Raise ``Unread`` if a side is not a number.
    """
    if not isinstance(condition, Condition):
        return sympy.sympify(bool(condition))
    if condition.by in COMPARISONS:
        sides = [number(side) for side in condition.of]
        if any(side.has(*_NO_NUMBERS) for side in sides):
            raise Unread("a side of a condition is divided by zero")
        return COMPARISONS[condition.by](*sides)
    join: Any = {"not": sympy.Not, "and": sympy.And, "or": sympy.Or}[condition.by]
    return join(*(relation_of(part, number) for part in condition.of))
