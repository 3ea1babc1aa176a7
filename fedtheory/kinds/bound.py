"""Bounds after T rounds, for every T."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement, Written, comes_before, numbers, whole_runs
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import Comparison, OfRun, Quantity, Relation, each_once, stated


@dataclass(frozen=True)
class Bound(Statement):
    """E[left after T rounds] <= constant * factor^T * initial, for every T >= since, from the initial state printed.

    The left side may be of the whole run (:mod:`fedtheory.settings.whole_runs`). Made by :func:`bound`.

    Args:
        algorithm: The method.
        left: The left side, an expression in quantities after T rounds.
        factor: The number whose power T stands on the right.
        initial: An expression in quantities of the initial state.
        quantities: The quantities of both sides.
        constant: A number in front.
        override: The right side as a whole, in T, where it has not this form.
        strict: True for <.
        since: The least T that is meant.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> mu, L, gamma = ft.letters("mu L gamma")
        >>> D_T, D_0 = ft.Quantity("D_T", ft.distance, after=True), ft.Quantity("D_0", ft.distance)
        >>> gd = algorithms.get("gradient-descent")
        >>> statement = ft.bound(gd, ft.E(D_T) <= (1 - gamma * mu) ** (2 * ft.T) * D_0)
        >>> statement.factor, statement.initial
        ((-gamma*mu + 1)**2, D_0)
    """

    algorithm: Algorithm
    left: sympy.Expr
    factor: sympy.Expr
    initial: sympy.Expr
    quantities: tuple[Quantity, ...]
    constant: sympy.Expr = sympy.S.One
    override: sympy.Expr | None = None
    strict: bool = False
    since: int = 0
    kind: ClassVar[str] = "bound"
    scope: ClassVar[Scope] = Scope.ROUNDS

    def check(self) -> None:
        """Raise ``ValueError`` if the factor or the constant is not a number, or the initial value comes after T
        rounds.
        """
        numbers("the factor", self.factor, self.quantities)
        numbers("the constant", self.constant, self.quantities)
        if self.override is None:
            comes_before("the initial value", self.initial, self.quantities)
        if self.since < 0:
            raise ValueError(f"the least number of rounds must be at least 0, got {self.since}")
        # A quantity may be meant at the start and along the run, under one name.
        each_once(tuple(replace(q, after=False) for q in _named(self)))
        for of in whole_runs(self):
            if of.never_empty and int(of.last.subs(T, self.since)) < of.first:
                advice = f"write bound(..., since={of.first + 1}), or other rounds"
                raise ValueError(f"of T = {self.since} rounds there is no {of}: {advice}")

    @property
    def bound(self) -> sympy.Expr:
        """The right-hand side, in T."""
        if self.override is not None:
            return self.override
        return self.constant * self.factor**T * self.initial

    @property
    def geometric(self) -> Bound | None:
        return self if self.override is None else None

    @property
    def right(self) -> sympy.Expr:
        """The right-hand side, as :attr:`bound`."""
        return self.bound

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return (Comparison(self.left, "<" if self.strict else "<=", self.bound),)

    @property
    def perturbed(self) -> tuple[str, ...]:
        return ("factor", "constant") if self.override is None else ("bound",)

    def lines(self, plain: Written) -> list[str]:
        rounds = f"T = {', '.join(str(self.since + k) for k in range(3))}, ..."
        return [*(f"{line}, for {rounds}" for line in super().lines(plain)), f"factor = {plain(self.factor)}"]

    def formulas(self, latex: Written) -> list[str]:
        rounds = ", ".join(str(self.since + k) for k in range(3))
        return [rf"{formula}, \qquad T = {rounds}, \dots" for formula in super().formulas(latex)]

    @classmethod
    def part_names(cls) -> tuple[str, ...]:
        """The names of the parts that can be changed; ``bound`` is the whole right-hand side."""
        return (*(name for name in super().part_names() if name != "override"), "bound")

    def _fields_of(self, parts: dict[str, object]) -> dict[str, Any]:
        apart = {"factor", "constant", "initial"} & set(parts)
        if apart and (self.override is not None or "bound" in parts):
            raise ValueError(f"{min(apart)} has no place in a bound that is given as a whole")
        if "bound" in parts:
            parts["override"] = parts.pop("bound")
        return parts


def _named(statement: Bound) -> list[Quantity]:
    """The quantities of one state, of both sides and of what is of whole runs."""
    plain = [q for q in statement.quantities if not isinstance(q.of, OfRun)]
    return [*plain, *(inner for of in whole_runs(statement) for inner in of.inner)]


def bound(algorithm: Algorithm, relation: Relation, since: int = 0) -> Bound:
    """State a bound for every T: ``bound(method, E(gap_T) <= constant * rate**T * gap_0)``.

    Args:
        algorithm: The method.
        relation: The relation; what comes after T rounds stands in ``E``.
        since: The least T that is meant, 1 where the relation divides by T.

    Returns:
        The statement, with the right side as constant * factor^T * initial if it has that form.

    Raises:
        ValueError: If it is not a relation, or a quantity after T rounds stands outside every expectation.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> gamma = ft.letters("gamma")
        >>> F_T, D_0 = ft.Quantity("F_T", ft.gap, after=True), ft.Quantity("D_0", ft.distance)
        >>> sublinear = ft.bound(algorithms.get("gradient-descent"), ft.E(F_T) <= D_0 / (2 * gamma * ft.T), since=1)
        >>> sublinear.right
        D_0/(2*T*gamma)
    """
    relation = stated(relation, expected=True, times=("zero", "T"))
    left, right = relation.left.expression, relation.right.expression
    as_a_whole = Bound(
        algorithm, left, sympy.S.One, right, relation.quantities, override=right, strict=relation.strict, since=since
    )
    initial_of = {s for q in relation.right.quantities for s in q.expression.free_symbols}
    if any(q.after for q in relation.right.quantities):
        return as_a_whole
    factor = constant = initial = sympy.S.One
    for part in sympy.Mul.make_args(right):
        if part.has(sympy.Sum, sympy.Product):
            return as_a_whole
        if part.has(T):
            # A number in front may have been put into the power: 2 * (1/2)^T is 2^(1 - T).
            first = part.subs(T, 0)
            rate = part.subs(T, 1) / first
            geometric = part == first * rate**T or sympy.powsimp(part / (first * rate**T)) == 1
            if not geometric or part.free_symbols & initial_of:
                return as_a_whole
            constant, factor = constant * first, factor * rate
        elif part.free_symbols & initial_of:
            initial *= part
        else:
            constant *= part
    return replace(as_a_whole, factor=factor, initial=initial, constant=constant, override=None)
