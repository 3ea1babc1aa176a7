"""Relations as a paper prints them: ``E(gap_T) <= rate**T * gap_0``, and the quantities in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, ClassVar, NamedTuple

import sympy

from fedtheory.numbers import validation
from fedtheory.numbers.literals import in_fractions
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem, StateFunction

#: The endings of the names of quantities, by the times at which they are taken.
_ENDINGS = {"next": "_next", "zero": "_0", "T": "_T"}


class RelationTerm:
    """A term of a relation other than a letter or a number: a quantity, or an expression in quantities.

    ``expression``: the sympy expression that stands for it; ``quantities``: its quantities, each once; ``random``:
    those that come after a step and stand outside every expectation; ``expected``: whether it contains an expectation.
    """

    expression: sympy.Expr
    quantities: tuple[Any, ...]
    random: tuple[Any, ...]
    expected: bool

    def __add__(self, other: object) -> Composed:
        return _composed(operator.add, self, other)

    def __radd__(self, other: object) -> Composed:
        return _composed(operator.add, other, self)

    def __sub__(self, other: object) -> Composed:
        return _composed(operator.sub, self, other)

    def __rsub__(self, other: object) -> Composed:
        return _composed(operator.sub, other, self)

    def __mul__(self, other: object) -> Composed:
        return _composed(operator.mul, self, other)

    def __rmul__(self, other: object) -> Composed:
        return _composed(operator.mul, other, self)

    def __truediv__(self, other: sympy.Expr) -> Composed:
        return _composed(operator.truediv, self, other)

    def __rtruediv__(self, other: object) -> Composed:
        return _composed(operator.truediv, other, self)

    def __pow__(self, other: sympy.Expr) -> Composed:
        return _composed(operator.pow, self, other)

    def __neg__(self) -> Composed:
        return _composed(operator.mul, -1, self)

    def __le__(self, other: object) -> Relation:
        return Relation(side(self), side(other))

    def __ge__(self, other: object) -> Relation:
        return Relation(side(other), side(self))

    def __lt__(self, other: object) -> Relation:
        return Relation(side(self), side(other), strict=True)

    def __gt__(self, other: Scalar) -> Relation:
        return Relation(side(other), side(self), strict=True)


class OfRun:
    """A quantity computed from a whole run of T rounds, from the ``inner`` quantities of its iterates.

    The rounds are ``first``, ..., ``last``. ``never_empty``: whether it is undefined for zero rounds.
    """

    inner: tuple[Quantity, ...]
    first: int
    last: sympy.Expr
    never_empty: ClassVar[bool] = False

    @property
    def expressions(self) -> Iterable[sympy.Expr]:
        """The expressions that contain its letters."""
        raise NotImplementedError

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """``ValueError``: of one state it says nothing."""
        raise ValueError(f"a {self} is of a whole run, and not of one state")


@dataclass(frozen=True)
class Quantity(RelationTerm):
    """A number or array that a statement is about; a term of the relations in which it is stated.

    Args:
        expression: The symbol (or its square) that stands for it, or its name.
        of: ``of(problem, params, state)``: its value, over the leading axes of the state.
        after: True if it is taken after the step (or after T rounds) rather than before; then its expectation is meant.
        domain: ``domain(problem, params, state)``: residuals that must vanish for the quantity to be finite (a dual
            objective is +infinity off its constraint set), or None.
        names: How it is written at the times "next", "zero" and "T"; V is V_next, V_0 and V_T unless given.
        time: Which of these it is taken at; "" where that is not stated, as in every changed copy.

    Raises:
        ValueError: If the expression is not a symbol, a function does not take (problem, params, state), or the time is
            another.

    Examples:
        >>> import fedtheory as ft
        >>> V, V_next = ft.Quantity("V", ft.distance), ft.Quantity("V_next", ft.distance, after=True)
        >>> (2 * V + 1).expression
        2*V + 1
        >>> ft.E(V_next).expression
        V_next
    """

    expression: sympy.Expr
    of: Callable[[Any, Any, Any], Array]
    after: bool = False
    domain: StateFunction | None = None
    names: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False, kw_only=True)
    time: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", validation.measured("a quantity", self.expression))
        for function in (self.of, *(() if self.domain is None else (self.domain,))):
            validation.function(f"the quantity {self.expression}", function, ("problem", "params", "state"))
        try:
            hash(self)
        except TypeError:
            raise ValueError(f"the functions of the quantity {self.expression} must be hashable") from None
        for name in ("of", "domain"):
            object.__setattr__(self, name, in_fractions(getattr(self, name)))
        if not isinstance(self.after, bool):
            raise ValueError(f"whether {self.expression} comes after a step must be True or False, got {self.after!r}")
        for time in self.names.keys() - _ENDINGS.keys():
            raise ValueError(f"the times of {self.expression} are {', '.join(_ENDINGS)}, got {time!r}")

    @property
    def next(self) -> Quantity:
        """The quantity after a step. Raise ``ValueError`` if this one is taken at a time already."""
        return self._taken("next", after=True)

    @property
    def zero(self) -> Quantity:
        """The quantity where a run begins. Raise ``ValueError`` if this one is taken at a time already."""
        return self._taken("zero", after=False)

    @property
    def T(self) -> Quantity:
        """The quantity after T rounds. Raise ``ValueError`` if this one is taken at a time already."""
        return self._taken("T", after=True)

    def _taken(self, time: str, after: bool) -> Quantity:
        if self.after or self.time:
            raise ValueError(
                f"{self.expression} is taken at a time already: write .{time} of the quantity before a step"
            )
        (symbol,) = self.expression.free_symbols
        renamed = sympy.Symbol(self.names.get(time, f"{symbol}{_ENDINGS[time]}"), **symbol._assumptions_orig)
        return at_time(time, replace(self, expression=self.expression.xreplace({symbol: renamed}), after=after))

    @property
    def quantities(self) -> tuple[Quantity, ...]:  # type: ignore[override]
        """The quantity itself."""
        return (self,)

    @property
    def random(self) -> tuple[Quantity, ...]:  # type: ignore[override]
        """The quantity itself, where it comes after a step."""
        return (self,) if self.after else ()

    @property
    def expected(self) -> bool:  # type: ignore[override]
        """False: it is not an expectation."""
        return False


def at_time(time: str, quantity: Quantity) -> Quantity:
    """Return a new quantity as one that is taken at a time."""
    object.__setattr__(quantity, "time", time)
    return quantity


class Comparison(NamedTuple):
    """left relation right, with the relation one of "==", "<=", "<"."""

    left: sympy.Expr
    relation: str
    right: sympy.Expr


@dataclass(frozen=True)
class Monomial:
    """A product of powers of numbers, on every sample of the draws: of it an expectation can be taken."""

    factors: tuple[tuple[Callable[[Any, Any, Any], Array], int], ...]

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """The product, in the shape of its factors."""
        return prod((of(problem, params, state) ** power for of, power in self.factors), start=1)  # type: ignore


@dataclass(frozen=True)
class Composed(RelationTerm):
    """An expression in letters and quantities."""

    expression: sympy.Expr
    quantities: tuple[Quantity, ...]
    random: tuple[Quantity, ...] = ()
    expected: bool = False


@dataclass(frozen=True)
class Relation:
    """left <= right, or left < right where it is ``strict``."""

    left: Composed
    right: Composed
    strict: bool = False

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities of both sides, each once."""
        return each_once(self.left.quantities + self.right.quantities)

    def __bool__(self) -> bool:
        raise TypeError("a relation is stated, not decided: a <= b <= c cannot be written as one")


def stated(relation: Any, expected: bool = False, times: Collection[str] = ("next", "zero", "T")) -> Relation:
    """The relation, which may be one between letters alone; ``ValueError`` for what is none by <=, <, >= or >.

    ``expected``: what comes after a step is random, and must stand in E. ``times``: those at which quantities may be
    taken, all unless given.
    """
    if isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        relation = Relation(side(relation.lts), side(relation.gts), isinstance(relation, sympy.Lt | sympy.Gt))
    if not isinstance(relation, Relation):
        raise ValueError(f"a statement is a relation by <=, <, >= or >, got {relation!r}")
    taken_at(times, relation.quantities)
    outside = relation.left.random + relation.right.random
    if expected and outside:
        name = outside[0].expression
        raise ValueError(f"{name} comes after a step and may be random: write E({name}), around all that is expected")
    return relation


def taken_at(times: Collection[str], quantities: Iterable[Quantity]) -> None:
    """Raise ``ValueError`` if one of the quantities is taken at a stated time that is none of these."""
    for quantity in quantities:
        # Statements refuse what is of whole runs themselves.
        if quantity.time not in ("", *times) and not isinstance(quantity.of, OfRun):
            allowed = " or ".join(f".{time}" for time in times) or "the quantity as it is"
            raise ValueError(f"{quantity.expression} is taken at .{quantity.time}: write {allowed} in this statement")


def E(term: Any) -> Composed:
    """Take the expectation over the draws, of an expression in quantities after a step or after T rounds.

    Where these are multiplied with each other, the product is taken on every sample, as a quantity of its own.

    Args:
        term: A quantity after a step, or a sum of products of such.

    Returns:
        The expectation, a term of a relation.

    Raises:
        ValueError: If nothing comes after a step, or what does stands in anything but sums and products.

    Examples:
        >>> import fedtheory as ft
        >>> V, V_next = ft.Quantity("V", ft.distance), ft.Quantity("V_next", ft.distance, after=True)
        >>> relation = ft.E(V_next) <= V / 2
        >>> relation.right.expression
        V/2
        >>> ft.E(V)
        Traceback (most recent call last):
        ...
        ValueError: E is taken of what comes after a step, and V comes before: leave E out
    """
    if not isinstance(term, RelationTerm):
        raise ValueError(f"E is taken of quantities after a step, got {term!r}")
    if term.expected:
        raise ValueError(f"{term.expression} holds an expectation already: write E once, around the whole")
    later = [q.expression for q in term.random]
    if not later:
        raise ValueError(f"E is taken of what comes after a step, and {term.expression} comes before: leave E out")
    if validation.affine(term.expression, later):
        return Composed(term.expression, term.quantities, expected=True)
    symbols = {expression: sympy.Dummy() for expression in later}
    try:
        polynomial = sympy.Poly(term.expression.xreplace(symbols), *symbols.values())
    except sympy.PolynomialError:
        fault = f"E is taken of sums and products of quantities, and {term.expression} is none"
        raise ValueError(f"{fault}: write a quantity for what is expected") from None
    found = [q for q in term.quantities if not q.after]
    total = sympy.S.Zero
    for powers, coefficient in polynomial.terms():
        factors = tuple((q, power) for q, power in zip(term.random, powers, strict=True) if power)
        if factors:
            found.append(_product(factors))
            coefficient *= found[-1].expression
        total += coefficient
    return Composed(total, each_once(found), expected=True)


def _product(factors: tuple[tuple[Quantity, int], ...]) -> Quantity:
    """The quantity that is a product of powers of some after a step."""
    if [power for _, power in factors] == [1]:
        return factors[0][0]
    whole = [q.expression for q, _ in factors if isinstance(q.of, OfRun)]
    if whole:
        raise ValueError(f"E is taken of products of quantities of one state, and {whole[0]} is of a whole run")
    infinite = [q.expression for q, _ in factors if q.domain is not None]
    if infinite:
        raise ValueError(f"E is taken of products of finite quantities, and {infinite[0]} may be infinite")
    name = " ".join(str(q.expression) if power == 1 else f"({q.expression})^{power}" for q, power in factors)
    times = {q.time for q, _ in factors if q.time}
    if len(times) > 1:
        raise ValueError(f"E is taken of products of quantities of one state, and those of {name} are of two times")
    factored = Monomial(tuple((q.of, power) for q, power in factors))
    return at_time("".join(times), Quantity(sympy.Symbol(name), factored, after=True))


def side(term: object) -> Composed:
    """A side of a relation; ``ValueError`` for what is neither a term, nor a letter, nor a number."""
    if isinstance(term, RelationTerm):
        return Composed(term.expression, term.quantities, term.random, term.expected)
    return Composed(validation.expression("a side of a relation between quantities, letters and numbers", term), ())


def _composed(join: Callable[[Any, Any], object], left: object, right: object) -> Composed:
    a, b = side(left), side(right)
    quantities, random = each_once(a.quantities + b.quantities), each_once(a.random + b.random)
    return Composed(join(a.expression, b.expression), quantities, random, a.expected or b.expected)


def of_one_state(quantities: Iterable[Quantity]) -> tuple[Quantity, ...]:
    """The quantities, with those of the iterates in place of what is of a whole run."""
    found: list[Quantity] = []
    for q in quantities:
        found += q.of.inner if isinstance(q.of, OfRun) else (q,)
    return tuple(dict.fromkeys(found))


def each_once(quantities: Iterable[Quantity]) -> tuple[Quantity, ...]:
    """The quantities without repetitions. Raise ``ValueError`` if one symbol stands for two of them."""
    found = tuple(dict.fromkeys(quantities))
    named: dict[sympy.Basic, Quantity] = {}
    for quantity in found:
        for symbol in sorted(quantity.expression.free_symbols, key=str):
            other = named.setdefault(symbol, quantity)
            if other is not quantity:
                same = "the same before a step and after it" if other.of == quantity.of else "two functions"
                raise ValueError(f"{symbol} stands for {same}, and a symbol belongs to one quantity")
    return found
