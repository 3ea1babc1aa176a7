"""The number of a claim that has a best value: the c by which its right side may be scaled, E[left] <= c * of.

For a contraction it is the rate; for a bound after T rounds, the rate of the potential that proves it; for other
statements, the multiple of their right side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import Quantity
from verify.pep.bounding import enclosed
from verify.reading.program import kinds_at_rest
from verify.tightness.comparison import potential_step

RATE, OF_POTENTIAL, MULTIPLE = "rate", "rate of its potential", "multiple of the right side"
#: Statements that hold or not, without a number; and how they are asked for.
INEQUALITY = "inequality"
DIFFERENCE = (
    "the right side may be negative: left - right is compared with 0, in units of the squared distance from rest"
)


class NoRatio(ValueError):
    """Raised when the statement does not bound the ratio of its two sides."""


@dataclass(frozen=True)
class Subject:
    """A claim whose right side is a multiple of something; ``printed``: the number that it states; ``name``: which
    number that is."""

    claim: Claim
    printed: sympy.Expr
    name: str

    def at(self, c: Fraction) -> Claim:
        """The claim with the number ``c`` in place of what is printed."""
        number = sympy.Rational(c.numerator, c.denominator)
        statement = self.claim.statement
        (comparison,) = statement.comparisons
        parts = {"right": number * comparison.right} if self.scaled else {"factor": number}
        return replace(self.claim, statement=statement.changed(parts))

    @property
    def scaled(self) -> bool:
        """True if worst cases of the claim are relative to its whole right side."""
        return self.claim.statement.factor is None

    def stated(self, instance: Instance) -> Fraction:
        """Return the printed number at an instance, or a rational just below it if it is irrational.

        Raise ``ValueError`` if it is negative: a worst-case ratio is never negative, as a state at rest shows.
        """
        found = enclosed(self.printed, self.claim.setting.bind(instance.problem, instance.params))
        if found[1] < 0:
            raise ValueError(f"the {self.name} that {self.claim.id} states is negative: no number of it is the best")
        return found[0]


def subject(claim: Claim) -> Subject:
    """Return the number of a claim that has a best value. Raise ``ValueError`` if there is none."""
    statement = claim.statement
    if claim.setting.of_constants or claim.setting.algorithm is None or not statement.bounding:
        raise ValueError(
            f"{claim.id} has no best value over a class of functions: statements about one step, bounds and "
            f"inequalities have one, not one of kind {statement.kind}"
        )
    if statement.horizon:
        bound = statement.geometric
        if bound is None or bound.factor.has(T) or bound.constant.has(T):
            raise ValueError(f"the bound of {claim.id} is not a constant times factor^T times the initial value")
        return Subject(potential_step(claim, Fraction(1))[0], bound.factor, OF_POTENTIAL)
    if isinstance(statement, OneStep):
        return _of_step(claim, replace(statement, strict=False))
    if isinstance(statement, Inequality) and statement.middle is None and not statement.also:
        known = {q.expression for q in statement.quantities}
        parts = sympy.Mul.make_args(statement.right)
        if sum(part in known for part in parts) == 1 and not any(
            part.has(q) for part in parts if part not in known for q in known
        ):
            return Subject(replace(claim, statement=replace(statement, strict=False)), sympy.S.One, MULTIPLE)
    raise NoRatio(f"the right side of {claim.id} is not a multiple of one quantity, so no number of it is the best")


def by_difference(claim: Claim) -> Subject:
    """The statement left <= right as left - right + N <= N, N the squared distance of the state from the fixed point:
    what is to hold of it does, whatever the sign of its right side, where N times 1 is an upper bound.

    Raise ``ValueError`` if it makes several comparisons, or its method has a fixed point of its author's.
    """
    statement, algorithm = claim.statement, claim.setting.algorithm
    assert algorithm is not None, "subjects are of methods"
    kinds = kinds_at_rest(algorithm) or {"": ""}
    if len(statement.comparisons) != 1 or statement.horizon or not {"point", "clients"}.issuperset(kinds.values()):
        raise ValueError(
            f"the right side of {claim.id} may be negative, so that no number of it is compared: of such a statement "
            "the values at which it holds are found where it is one inequality, of a method without a fixed_point"
        )
    parts = tuple((name, kind == "clients") for name, kind in kinds.items())
    away = Quantity(f"squared distance from {algorithm.name}'s fixed point", partial(_away, parts))
    (comparison,) = statement.comparisons
    changes: dict[str, Any] = {
        "left": comparison.left - comparison.right + away.expression,
        "right": away.expression,
        "quantities": (*statement.quantities, away),
        "strict": False,
    }
    return Subject(replace(claim, statement=statement.changed(changes)), sympy.S.One, INEQUALITY)


def _away(parts: tuple[tuple[str, bool], ...], problem: Any, params: Any, state: Any) -> Any:
    """The squared distance of a state from the optimum, that of its vectors of clients from 0."""
    total = 0
    for name, own in parts:
        part = getattr(state, name)
        away = (part**2).sum(axis=(-1, -2)) if own else ((part - problem.x_star) ** 2).sum(axis=-1)
        total = total + away
    return total


def _of_step(claim: Claim, statement: OneStep) -> Subject:
    if statement.factor is not None and statement.factor != 0:
        return Subject(replace(claim, statement=statement), statement.factor, RATE)
    if statement.right == 0:
        raise NoRatio(f"the right side of {claim.id} is 0, of which every multiple is the same")
    before = {q.of: q.expression for q in statement.quantities if not q.after}
    later = {q.expression: before.get(q.of) for q in statement.quantities if q.after}
    if all(then is not None for then in later.values()):
        # The potential is a sum of several quantities.
        potential = statement.left.xreplace(later)
        rate = sympy.simplify(statement.right / potential)
        if not any(rate.has(q) for q in before.values()):
            return Subject(replace(claim, statement=_times(statement, rate, potential)), rate, RATE)
    return Subject(replace(claim, statement=_times(statement, sympy.S.One, statement.right)), sympy.S.One, MULTIPLE)


def _times(statement: OneStep, factor: sympy.Expr, of: sympy.Expr) -> OneStep:
    """The statement with a right side that is taken apart into a factor and what it multiplies."""
    if factor == 0:
        raise ValueError("a factor of 0 leaves nothing to scale")
    return replace(statement, right=factor * of, factor=factor)
