"""What of a claim has a best value: the number by which its right side may be scaled, E[left] <= c * of.

For a contraction that is the rate; for a bound after T rounds the rate of the potential through which it is shown; for
other statements the multiple of their right side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T
from verify.pep.bounding import enclosed
from verify.tightness.comparison import potential_step

RATE, OF_POTENTIAL, MULTIPLE = "rate", "rate of its potential", "multiple of the right side"


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
        """Whether worst cases of the claim are given relative to its right side as a whole."""
        return self.claim.statement.factor is None

    def stated(self, instance: Instance) -> Fraction:
        """What is printed, at an instance; a rational just below it where it is irrational. ``ValueError`` where it is
        negative, which a worst ratio, that of a state at rest among them, does not reach."""
        found = enclosed(self.printed, self.claim.setting.bind(instance.problem, instance.params))
        if found[1] < 0:
            raise ValueError(f"the {self.name} that {self.claim.id} states is negative: no number of it is the best")
        return found[0]


def subject(claim: Claim) -> Subject:
    """What of a claim has a best value; ``ValueError`` where nothing has."""
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
    raise ValueError(f"the right side of {claim.id} is not a multiple of one quantity, so no number of it is the best")


def _of_step(claim: Claim, statement: OneStep) -> Subject:
    if statement.factor is not None and statement.factor != 0:
        return Subject(replace(claim, statement=statement), statement.factor, RATE)
    if statement.right == 0:
        raise ValueError(f"the right side of {claim.id} is 0, of which every multiple is the same")
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
