"""An inequality between forms, and the identity that proves it for all values of its parameters.

The weights of an identity stand in the hints of the claim's setting; nothing that they say is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.settings import Identities
from fedtheory.settings.relations import Quantity
from verify.exact import symbolic
from verify.pep.gram import ZERO, Form, Vector


class Unprovable(ValueError):
    """The claim is not of a kind that is proved here, or a condition of the proof does not follow from it."""


@dataclass(frozen=True)
class GapInequality:
    """``gap >= 0`` is to be shown, from ``known`` forms that are <= 0.

    ``slack``: symbols that stand for nonnegative expressions, with those expressions; their sign has been derived.
    """

    name: str
    gap: Form
    known: Mapping[str, Form]
    slack: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class IdentityWeights:
    """The proof: gap = - sum of ``multipliers[k] * known[k]`` + sum of coefficient * |vector|^2 over ``squares``.

    Multipliers and coefficients are nonnegative closed forms in the parameters and slack symbols.
    """

    multipliers: Mapping[str, sympy.Expr]
    squares: tuple[tuple[sympy.Expr, Vector], ...]

    def prove(self, posed: GapInequality, claim: Claim) -> bool:
        """Return True if the identity expands to zero and every weight is nonnegative by the assumptions on its
        symbols.
        """
        if not set(self.multipliers) <= set(posed.known):
            return False
        if not all(is_nonnegative(w, claim) for w in (*self.multipliers.values(), *(c for c, _ in self.squares))):
            return False
        residual = posed.gap
        for name, weight in self.multipliers.items():
            residual = residual + weight * posed.known[name]
        for weight, vector in self.squares:
            residual = residual - weight * vector**2
        return vanishes(residual, posed.slack)


class StepModel(Protocol):
    """A model of a step, about which a setting's identities are proved."""

    def pose(self, claim: Claim) -> Iterator[tuple[GapInequality, IdentityWeights]]:
        """Yield the inequalities to be shown, with their proofs. Raise ``Unprovable`` for claims of other forms."""

    def instances(self, claim: Claim) -> Iterator[Instance]:
        """Exact instances that meet the hypotheses, without constants that would hide a difference."""

    def larger(self, claim: Claim, sizes: Iterable[int]) -> Iterator[Instance]:
        """Likewise, one for each number of clients."""

    def special(self, claim: Claim) -> Iterator[Instance]:
        """Likewise, with constants at the ends of their ranges."""

    def outside(self, claim: Claim, instance: Instance) -> Iterator[tuple[str, Instance]]:
        """The instance with one assumption of the proof broken at a time, and which."""

    def constants(self, instance: Instance) -> Mapping[str, Any]:
        """The constants of the model, by the names of its letters."""

    def differs(self, claim: Claim, instance: Instance) -> str | None:
        """The name of something that is not, in the code, what the proof takes it for; None if all agrees."""


def stated(
    claim: Claim, name: str, letters: Mapping[str, sympy.Expr], vectors: Mapping[str, Vector]
) -> IdentityWeights:
    """The weights of the identity ``name``, with what its letters and vectors stand for; ``Unprovable`` without any."""
    hints = identities_of(claim)
    if name not in hints.weights:
        raise Unprovable(f"no weights are stated for {name} of {claim.id}")
    given = hints.weights[name]

    def at(expression: Any) -> sympy.Expr:
        value = sympy.sympify(expression)
        return value.xreplace({s: letters[s.name] for s in value.free_symbols if s.name in letters})

    squares = []
    for coefficient, parts in given.squares:
        if not set(parts) <= set(vectors):
            raise Unprovable(f"{name} of {claim.id} has squares of other vectors than {', '.join(vectors)}")
        squares.append((at(coefficient), sum((at(times) * vectors[v] for v, times in parts.items()), ZERO)))
    return IdentityWeights({known: at(weight) for known, weight in given.multipliers.items()}, tuple(squares))


def identities_of(claim: Claim) -> Identities:
    """Return the proofs known in the claim's setting. Raise ``Unprovable`` if there are none."""
    hints = claim.setting.hints.identities
    if hints is None:
        raise Unprovable(f"no proofs are known in the setting of {claim.id}")
    return hints


def role(claim: Claim, quantity: sympy.Expr) -> str:
    """Return what a quantity of the claim is in the model, as the setting declares, which :meth:`StepModel.differs`
    compares with its code. Raise ``Unprovable`` if the setting does not declare it.
    """
    for name, declared in identities_of(claim).quantities.items():
        if declared.expression == quantity:
            return name
    raise Unprovable(f"the setting of {claim.id} does not declare what {quantity} is in the model of a step")


def by_role(claim: Claim) -> dict[str, Quantity]:
    """Return the claim's quantities by what they are in the model. Raise ``Unprovable`` if that is not declared."""
    return {role(claim, quantity.expression): quantity for quantity in claim.statement.quantities}


def vanishes(form: Form, slack: Mapping[sympy.Symbol, sympy.Expr]) -> bool:
    """Return True if every coefficient is identically zero after substituting for the slack symbols."""
    coefficients = (*form.entries.values(), *form.values.values(), form.constant)
    return all(is_zero(sympy.sympify(c).subs(slack)) for c in coefficients)


def is_zero(expression: sympy.Expr) -> bool:
    """Return True if a rational function is identically zero: its numerator is expanded."""
    numerator, _ = sympy.fraction(sympy.together(expression))
    return bool(sympy.expand(numerator) == 0)


def relations(claim: Claim) -> list[sympy.Basic]:
    """Return the assumptions of the claim and its setting on the letters, with conjunctions split."""
    return symbolic.conjuncts(symbolic.assumed(claim))


def is_nonnegative(expression: sympy.Expr, claim: Claim) -> bool:
    """Return True if an expression is proved >= 0 from its symbols' assumptions and the claim's simple hypotheses."""
    value = sympy.sympify(expression)
    return bool(value.is_nonnegative) or symbolic.at_most(sympy.S.Zero, value, relations(claim))
