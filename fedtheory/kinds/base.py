"""Typed statements: what each part of a statement is, and that they agree, is checked when a statement is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.scope import Scope
from fedtheory.numbers import validation
from fedtheory.numbers.literals import in_fractions
from fedtheory.numbers.symbols import T
from fedtheory.settings.iterations import Iteration
from fedtheory.settings.relations import Comparison, OfRun, Quantity, each_once

#: A writer of expressions, in words or in LaTeX.
Written = Callable[[sympy.Expr], str]
#: The changes of a formula or a relation in one place, where some symbols are fixed: sort, words, result.
Changes = Callable[[Any, frozenset[sympy.Expr]], Iterable[tuple[str, str, Any]]]

#: Parts that any statement can be asked for: what they are where its kind has none.
_ABSENT: Mapping[str, Any] = {
    "algorithm": None,
    "quantities": (),
    "factor": None,
    "residual": None,
    "observed": None,
    "iteration": None,
    "assignments": MappingProxyType({}),
    "compressor": None,
    # The least number of rounds that a statement about T rounds covers.
    "since": 0,
}

#: The possible behaviours of a quantity along a run.
VANISHES, CONVERGES, BOUNDED = "vanishes", "converges", "is bounded"

#: The scopes of kinds that are about steps, that are evaluated at instances, or whose sides are expressions.
_STEPPING = frozenset({Scope.STEP, Scope.ROUNDS})
_SEARCHED = frozenset(Scope) - {Scope.RUNS, Scope.NONE}
_EXPRESSIONS = _STEPPING | {Scope.STATE}
_OF_ALGORITHMS = _STEPPING | {Scope.CODE, Scope.RESIDUAL, Scope.LIMIT, Scope.RUNS}
_SCOPES = tuple(scope.name for scope in Scope)

_LATEX_RELATION = {"==": "=", "<=": r"\le", "<": "<"}


@dataclass(frozen=True)
class Statement:
    """A kind of statement. Both sides are sympy expressions in the paper's letters and in *quantities*: symbols (or
    squares of symbols) whose value is computed from a problem, its parameters and a state. A statement can therefore be
    read, changed with ``.subs`` and run. Its fields are checked, and brought to one form, by their types and then
    together. Its kind says what it depends on, by a :class:`~fedtheory.kinds.scope.Scope`. Raise ``TypeError`` if one
    that is defined leaves out what follows from the rest.
    """

    #: Its name in reports.
    kind: ClassVar[str]
    #: The things that it depends on, which decide how it is checked.
    scope: ClassVar[Scope]

    if TYPE_CHECKING:
        # Fields of some kinds, for which a property would be the default; _ABSENT has the values of all other kinds.
        @property
        def algorithm(self) -> Any: ...
        @property
        def quantities(self) -> tuple[Quantity, ...]: ...
        @property
        def factor(self) -> sympy.Expr | None: ...
        @property
        def residual(self) -> Callable[[Any, Any, Any], Any] | None: ...
        @property
        def observed(self) -> Callable[[Any, Any, Any], Any] | None: ...
        @property
        def iteration(self) -> Iteration | None: ...
        @property
        def assignments(self) -> Mapping[sympy.Symbol, sympy.Expr]: ...
        @property
        def since(self) -> int: ...
        @property
        def compressor(self) -> Callable[[int, int], Any] | None: ...

    def __init_subclass__(cls) -> None:
        parts = {name for kind in cls.__mro__ for name in inspect.get_annotations(kind)}
        for name in _ABSENT.keys() - parts:
            if not hasattr(cls, name):
                setattr(cls, name, _ABSENT[name])
        for why in _missing_parts(cls, parts):
            raise TypeError(f"the kind of statement {cls.__name__} {why}")

    def __post_init__(self) -> None:
        for field in fields(self):
            part = f"the part {field.name!r} of a statement of kind {self.kind}"
            object.__setattr__(self, field.name, _checked(str(field.type), part, getattr(self, field.name)))
        _check_symbols(self)
        _check_times(self)
        self.check()

    def check(self) -> None:
        """Raise ``ValueError`` if parts do not agree in what only this kind asks for."""

    @property
    def stepping(self) -> bool:
        """True if it compares what comes after a step with what comes before."""
        return self.scope in _STEPPING

    @property
    def horizon(self) -> bool:
        """True if it mentions the horizon T."""
        return self.scope is Scope.ROUNDS

    @property
    def searched(self) -> bool:
        """True if it is evaluated at instances, or at values of its letters, one by one."""
        return self.scope in _SEARCHED

    @property
    def refutable(self) -> bool:
        """True if a search refutes it where it is false, and so where it, or a hypothesis, is perturbed."""
        return self.searched and self.scope is not Scope.LIMIT

    @property
    def bounding(self) -> bool:
        """True if a worst case over a class can be compared with it: a left side is at most a right one."""
        return self.scope in _EXPRESSIONS and not self.pointwise

    @property
    def pointwise(self) -> bool:
        """True if it is decided at points, rather than where the ratio of its sides is largest."""
        return False

    @property
    def geometric(self) -> Any:
        """Itself, if it bounds by constant * factor^T * initial after every number T of rounds; None otherwise."""
        return None

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons: each left side, relation and right side."""
        return ()

    @property
    def printed(self) -> tuple[Comparison, ...]:
        """The comparisons in the form in which they are printed."""
        return self.comparisons

    @property
    def named(self) -> tuple[Quantity, ...]:
        """The quantities that it names."""
        return self.quantities

    @property
    def ends(self) -> tuple[tuple[str, Quantity], ...]:
        """The asserted behaviour of quantities along whole runs: that each vanishes, converges or is bounded."""
        return ()

    def lines(self, plain: Written) -> list[str]:
        """The statement in words, a comparison each; an expression is put in words once, where it is read."""
        sides = self._sides(plain, lambda side: f"E[{plain(side)}]")
        return [f"{left} {relation} {right}" for left, relation, right in sides]

    def formulas(self, latex: Written) -> list[str]:
        """The statement in LaTeX, a formula each; none where it is in words alone."""
        sides = self._sides(latex, lambda side: rf"\mathbb{{E}}\left[{latex(side)}\right]")
        return [f"{left} {_LATEX_RELATION[relation]} {right}" for left, relation, right in sides]

    def _sides(self, written: Written, expected: Written) -> Iterator[tuple[str, str, str]]:
        """Left side, relation and right side of what is printed; what comes after a step is ``expected``."""
        later = [q.expression for q in self.quantities if q.after]
        for left, relation, right in self.printed:
            # If both sides come after it, the first is written so.
            first = self.stepping and (left.has(*later) or not right.has(*later))
            second = self.stepping and not first
            yield (expected if first else written)(left), relation, (expected if second else written)(right)

    @property
    def perturbed(self) -> tuple[str, ...]:
        """The parts whose formulas are changed, one place at a time, to see whether the methods notice."""
        return ()

    @property
    def rewritable(self) -> tuple[str, ...]:
        """The parts whose formulas a repair may rewrite."""
        return self.perturbed

    def perturbations(self, changes: Changes) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Changes in one place: the sort, the part and the change in words, and what :meth:`changed` takes."""
        fixed = frozenset({T} | measured(self))
        for part in self.perturbed:
            if (formula := getattr(self, part)) is not None:
                for sort, text, result in changes(formula, fixed):
                    yield sort, part, text, {part: result}

    @classmethod
    def part_names(cls) -> tuple[str, ...]:
        """The names of the parts that :meth:`changed` replaces."""
        return tuple(field.name for field in fields(cls))

    def changed(self, changes: Mapping[str, Any]) -> Statement:
        """The statement with some parts replaced, by their names; ``ValueError`` says which there are."""
        for name in changes:
            if name not in self.part_names():
                known = ", ".join(self.part_names())
                raise ValueError(f"a statement of kind {self.kind} has no part {name!r}: it has {known}")
        return replace(self, **self._fields_of(dict(changes)))

    def _fields_of(self, parts: dict[str, object]) -> dict[str, Any]:
        """The fields that changed parts give."""
        return parts


def _missing_parts(kind: type[Statement], parts: set[str]) -> Iterator[str]:
    """Yield what a kind of statement must define but does not."""
    compares = kind.comparisons is not Statement.comparisons
    name, others = getattr(kind, "kind", ""), (other for other in Statement.__subclasses__() if other is not kind)
    if not isinstance(name, str) or not name:
        yield 'has no name in reports: write kind = "..."'
    if any(vars(other).get("kind") == name and other.__qualname__ != kind.__qualname__ for other in others):
        yield f"has the name of another one in reports: {name}"
    if not compares and kind.lines is Statement.lines:
        yield "does not say how it is read: define comparisons, or lines"
    scope = getattr(kind, "scope", None)
    if not isinstance(scope, Scope):
        yield f"does not say what it depends on: write scope = Scope.STATE, or another of {', '.join(_SCOPES)}"
        return
    if scope in _SEARCHED and not compares and kind.pointwise is Statement.pointwise:
        yield "does not say what is compared at an instance: define comparisons, or write scope = Scope.NONE"
    if scope in _OF_ALGORITHMS and "algorithm" not in parts:
        yield "mentions steps, but not of which algorithm: give it the part algorithm: Algorithm"
    if scope in (Scope.RESIDUAL, Scope.LIMIT, Scope.COMPRESSOR) and compares:
        yield "has comparisons, and sides are of steps, states, letters or code: write another scope"
    if "residual" in parts and compares:
        yield "has a part residual, which steps keep at zero, and compares something else: name the part otherwise"
    if scope in _STEPPING and "quantities" not in parts:
        yield "mentions what comes after a step: give it the part quantities: tuple[Quantity, ...]"


def free_symbols(statement: Statement) -> set[sympy.Symbol]:
    """Return the letters of a statement and of its parts that are statements.

    Symbols of quantities and letters that the statement assigns are not among them, nor is T where it is the horizon.
    """
    found = sympy.Tuple(*_expressions(statement)).free_symbols - measured(statement)
    found -= {T} if statement.horizon else set()
    return found.union(*map(free_symbols, _inner(statement))) - set(statement.assignments)


def measured(statement: Statement) -> set[sympy.Symbol]:
    """The symbols of the quantities of a statement, and of those that it consists of."""
    quantities = (*statement.quantities, *(inner for of in whole_runs(statement) for inner in of.inner))
    own = {s for q in quantities for s in q.expression.free_symbols}
    return own.union(*map(measured, _inner(statement)))


def whole_runs(statement: Statement) -> list[OfRun]:
    """Return the quantities of a statement that are computed from whole runs."""
    return [q.of for q in statement.quantities if isinstance(q.of, OfRun)]


def _inner(statement: Statement) -> list[Statement]:
    values = [of for value in vars(statement).values() for of in (value if isinstance(value, tuple) else (value,))]
    return [of for of in values if isinstance(of, Statement)]


def numbers(part: str, expression: sympy.Expr | None, quantities: tuple[Quantity, ...]) -> None:
    """Raise ``ValueError`` if an expression is not a number but contains a quantity."""
    for q in quantities:
        if expression is not None and expression.free_symbols & q.expression.free_symbols:
            raise ValueError(f"{part} {expression} must be a number, but mentions the quantity {q.expression}")


def comes_before(part: str, expression: sympy.Expr, quantities: tuple[Quantity, ...]) -> None:
    """Raise ``ValueError`` if an expression contains a quantity taken after a step."""
    for q in quantities:
        if q.after and expression.has(q.expression):
            raise ValueError(f"{part} must come before a step, and {q.expression} comes after it")


def _expressions(statement: Statement) -> list[sympy.Basic]:
    """The expressions and relations that make up a statement."""
    found: list[sympy.Basic] = []
    for value in vars(statement).values():
        several = [*value, *value.values()] if isinstance(value, Mapping) else value
        for one in several if isinstance(several, tuple | list) else (several,):
            found += [v for v in (one if isinstance(one, Comparison) else (one,)) if isinstance(v, sympy.Basic)]
    return found + [e for of in whole_runs(statement) for e in of.expressions]


def _check_symbols(statement: Statement) -> None:
    """A symbol is a letter, the symbol of one quantity, or T; and no two have one name."""
    subject, parts = f"a statement of kind {statement.kind}", sympy.Tuple(*_expressions(statement))
    for quantity in statement.quantities:
        symbols = quantity.expression.free_symbols
        if not quantity.expression.is_Symbol and parts.xreplace({quantity.expression: T}).free_symbols & symbols:
            raise ValueError(
                f"{subject} mentions {min(symbols, key=str)}, and only {quantity.expression} is a quantity"
            )
    letters, known = parts.free_symbols - measured(statement), measured(statement)
    for symbol in sorted(letters, key=str):
        validation.letter(subject, symbol)
    if T in known or (T in letters and statement.stepping and not statement.horizon):
        raise ValueError(f"{subject} mentions T, the number of rounds, which only a bound has: take another letter")
    validation.one_name_each(subject, letters | known | ({T} if statement.horizon else set()))


def _check_times(statement: Statement) -> None:
    """Check that quantities after a step occur only where there is a step, on at least one side, and where their
    expectation is defined.
    """
    later = [q.expression for q in statement.quantities if q.after]
    if whole_runs(statement) and not statement.horizon:
        raise ValueError(f"a statement of kind {statement.kind} is not about T rounds: state sums over them by bound")
    if not statement.stepping:
        if later:
            raise ValueError(f"{later[0]} comes after a step, and a statement of kind {statement.kind} has none")
        return
    sides = [side for c in statement.comparisons for side in (c.left, c.right)]
    if not any(side.has(*later) for side in sides if later):
        raise ValueError(f"a statement of kind {statement.kind} mentions no quantity that comes after a step")
    for side in sides:
        if not validation.affine(side, later):
            fault = f"{side} is not affine in what comes after a step, so that its expectation is not clear"
            raise ValueError(f"{fault}: write E(...) around products, or a quantity for what is expected")


def _checked(type_: str, part: str, value: object) -> Any:
    if type_.endswith(" | None"):
        return None if value is None else _checked(type_.removesuffix(" | None"), part, value)
    if type_ == "StateFunction" or type_.startswith("Callable[[Problem, Any, Any]"):
        return in_fractions(validation.function(part, value, ("problem", "params", "state")))
    if type_.startswith("Callable"):
        return _callable(part, value)
    if type_.startswith("tuple[Callable"):
        return _tuple_of(_callable)(part, value)
    return _FORMS[type_](part, value)


def _is(kind: type, called: str) -> Callable[[str, Any], Any]:
    def checked(part: str, value: object) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"{part} must be {called}, got {value!r}")
        return value

    return checked


def _tuple_of(one: Callable[[str, Any], Any]) -> Callable[[str, Any], tuple[Any, ...]]:
    def checked(part: str, value: object) -> tuple[Any, ...]:
        return tuple(one(part, v) for v in _is(tuple, "a tuple")(part, value))

    return checked


def _callable(part: str, value: object) -> Any:
    if not callable(value):
        raise ValueError(f"{part} must be a function, got {value!r}")
    return in_fractions(value)


def _comparison(part: str, value: Comparison) -> Comparison:
    if not isinstance(value, tuple) or len(value) != 3:
        raise ValueError(f"{part} must be comparisons, each a left side, a relation and a right side, got {value!r}")
    return Comparison(*validation.comparison(part, *value))


def _claim(part: str, value: object) -> Any:
    if not isinstance(getattr(value, "statement", None), Statement):
        raise ValueError(f"{part} must be claims, got {value!r}")
    return value


def _quantities(part: str, value: object) -> tuple[Quantity, ...]:
    return each_once(_tuple_of(_is(Quantity, "a quantity"))(part, value))


#: The types that a field of a statement may have, as they are written.
_FORMS: Mapping[str, Callable[[str, Any], Any]] = {
    "sympy.Expr": validation.expression,
    "sympy.Symbol": validation.letter,
    "tuple[sympy.Basic, ...]": validation.relations,
    "Mapping[sympy.Symbol, sympy.Expr]": validation.assignments,
    "Quantity": _is(Quantity, "a quantity"),
    "tuple[Quantity, ...]": _quantities,
    "tuple[Comparison, ...]": _tuple_of(_comparison),
    "Statement": _is(Statement, "a statement"),
    "tuple[Order, ...]": _tuple_of(_is(Statement, "a statement")),
    "tuple[Any, ...]": _tuple_of(_claim),
    "Algorithm": _is(Algorithm, "an algorithm"),
    "Iteration": _is(Iteration, "an iteration"),
    "bool": _is(bool, "True or False"),
    "int": _is(int, "an integer"),
    "str": _is(str, "a text"),
    "tuple[str, ...]": _tuple_of(_is(str, "a text")),
}
