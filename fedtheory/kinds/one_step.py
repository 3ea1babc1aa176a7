"""Inequalities over one step of an algorithm, contractions among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement, Written, comes_before, numbers
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.validation import expression
from fedtheory.problems.base import StateFunction
from fedtheory.settings.relations import Comparison, Quantity, Relation, stated


@dataclass(frozen=True)
class OneStep(Statement):
    """E[left] <= right over one step of the algorithm, from every state that satisfies its invariant.

    Args:
        algorithm: The method.
        left: The left side, an expression in quantities after the step.
        right: The right side, an expression in quantities before it.
        quantities: The quantities of both sides.
        factor: Where the statement is a contraction, E[potential after] <= factor * potential before, this number.
        strict: True for <.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> mu, gamma = ft.letters("mu gamma")
        >>> statement = ft.contracts(algorithms.get("gradient-descent"), ft.distance, (1 - gamma * mu) ** 2)
        >>> statement.lines(str)
        ['E[V_next] <= V*(-gamma*mu + 1)**2', 'factor = (-gamma*mu + 1)**2']
    """

    algorithm: Algorithm
    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...]
    factor: sympy.Expr | None = None
    strict: bool = False
    kind: ClassVar[str] = "one-step"
    scope: ClassVar[Scope] = Scope.STEP

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return (Comparison(self.left, "<" if self.strict else "<=", self.right),)

    def check(self) -> None:
        """Raise ``ValueError`` if the factor is not a number, or multiplies a quantity after the step."""
        numbers("the factor", self.factor, self.quantities)
        if self.factor is not None:
            comes_before("what a factor multiplies", self.right, self.quantities)

    @property
    def perturbed(self) -> tuple[str, ...]:
        return ("left", "right") if self.factor is None else ("factor",)

    @property
    def rewritable(self) -> tuple[str, ...]:
        # With the right side as a whole, terms may be added and grouped otherwise.
        return ("left", "right")

    def lines(self, plain: Written) -> list[str]:
        return super().lines(plain) + ([] if self.factor is None else [f"factor = {plain(self.factor)}"])

    def _fields_of(self, parts: dict[str, object]) -> dict[str, Any]:
        if "factor" not in parts:
            # Other sides are no longer a potential and a multiple of it.
            return parts if not {"left", "right"} & set(parts) else {**parts, "factor": None}
        if self.factor is None:
            raise ValueError("this statement is not a contraction and has no factor: change right instead")
        if "right" in parts:
            raise ValueError("the factor has no place beside a right side that is given as a whole")
        if self.factor == 0:
            raise ValueError("a factor of 0 leaves no potential for another one: change right instead")
        return {**parts, "right": self.right / self.factor * expression("factor", parts["factor"])}


def contracts(
    algorithm: Algorithm,
    potential: StateFunction,
    factor: sympy.Expr,
    noise: Mapping[StateFunction, object] | None = None,
) -> OneStep:
    """State that a potential contracts: E[potential after] <= factor * potential before + noise.

    Args:
        algorithm: The method.
        potential: ``potential(problem, params, state)``: a number, over the leading axes of the state.
        factor: The factor, in letters.
        noise: Further terms on the right side: functions of (problem, params, state), with their coefficients.

    Returns:
        The statement over one step.

    Raises:
        ValueError: If the noise is not a mapping.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> mu, gamma = ft.letters("mu gamma")
        >>> gd = algorithms.get("gradient-descent")
        >>> ft.contracts(gd, ft.distance, 1 - gamma * mu, noise={ft.heterogeneity: gamma**2}).right
        V*(-gamma*mu + 1) + gamma**2*heterogeneity
    """
    before, after = Quantity("V", potential), Quantity("V_next", potential, after=True)
    if noise is not None and not isinstance(noise, Mapping):
        given = getattr(noise, "expression", noise)
        raise ValueError(
            f"the noise is a mapping of functions (problem, params, state) to coefficients, got {given}: "
            "other right sides are written by one_step"
        )
    if not noise:
        return contraction(algorithm, after, expression("the factor", factor), before)
    others = {Quantity(getattr(of, "__name__", repr(of)), of): c for of, c in noise.items()}
    right = sum((c * q for q, c in others.items()), start=factor * before)
    return OneStep(algorithm, after.expression, right.expression, (before, after, *others))


def contraction(algorithm: Algorithm, after: Quantity, factor: sympy.Expr, before: Quantity) -> OneStep:
    """State E[after] <= factor * before, for two quantities.

    Args:
        algorithm: The method.
        after: The quantity after the step.
        factor: The factor, in letters.
        before: The quantity before the step.

    Returns:
        The statement over one step.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> V, V_next = ft.Quantity("V", ft.distance), ft.Quantity("V_next", ft.distance, after=True)
        >>> gamma = ft.letters("gamma")
        >>> ft.contraction(algorithms.get("gradient-descent"), V_next, 1 - gamma, V).right
        V*(1 - gamma)
    """
    return OneStep(algorithm, after.expression, factor * before.expression, (after, before), factor)


def one_step(algorithm: Algorithm, relation: Relation) -> OneStep:
    """State an inequality over one step: ``one_step(method, E(Psi_next) <= (1 - rho) * Psi)``.

    Args:
        algorithm: The method.
        relation: The relation; what comes after the step stands in ``E``.

    Returns:
        The statement, a contraction where the right side is a multiple of a single quantity.

    Raises:
        ValueError: If it is not a relation, or a quantity after the step stands outside every expectation.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> V, V_next = ft.Quantity("V", ft.distance), ft.Quantity("V_next", ft.distance, after=True)
        >>> gamma = ft.letters("gamma")
        >>> ft.one_step(algorithms.get("gradient-descent"), ft.E(V_next) <= (1 - gamma) * V).factor
        1 - gamma
    """
    relation = stated(relation, expected=True, times=("next",))
    left, right = relation.left, relation.right
    before = [q.expression for q in right.quantities if not q.after]
    alone = (
        len(relation.quantities) == 2
        and len(before) == 1
        and left.expression in [q.expression for q in left.quantities]
    )
    factor = right.expression / before[0] if alone else None
    if factor is not None and factor.has(before[0]):
        factor = None
    return OneStep(algorithm, left.expression, right.expression, relation.quantities, factor, relation.strict)
