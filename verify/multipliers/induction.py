"""Bounds for every number of rounds that follow from one step: E V after T rounds <= rate^T V at the start."""

from __future__ import annotations

from dataclasses import replace

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T
from verify.exact import reals
from verify.exact.symbolic import assumed
from verify.multipliers.cases import cases, example, stated
from verify.reading import program
from verify.reading.generic_client import evaluated, world_of
from verify.reading.source import Unread


def step_of(claim: Claim) -> Claim:
    """The claim about one step, from every state that satisfies the invariant, of which a bound is the consequence.

    It is where both sides are one quantity, the constant is 1, the rate is a number >= 0 that is the same in all
    rounds, and states satisfy the invariant at the start: later they do as it is kept, which the step's proof shows.
    ``Unread`` where this is not so.
    """
    statement = claim.statement
    if not isinstance(statement, Bound) or statement.override is not None or statement.strict:
        raise Unread("it is no bound that a rate makes smaller in each round")
    named = {q.expression: q for q in statement.quantities}
    left, initial = named.get(statement.left), named.get(statement.initial)
    if left is None or initial is None or not left.after or initial.after or left.of is not initial.of:
        raise Unread("it does not speak of one quantity, at the start and after T rounds")
    rate = statement.factor
    if statement.constant != 1 or rate.has(T):
        raise Unread("it is no power of a rate that is the same in all rounds")
    if not rate.is_nonnegative and not reals.implied(sympy.Ge(rate, 0), _known(claim)):
        raise Unread("the rate may be negative")
    _check_start(claim)
    step = OneStep(statement.algorithm, left.expression, rate * initial.expression, statement.quantities, rate)
    return replace(claim, id=_as_stored(claim, step) or claim.id, statement=step)


def _known(claim: Claim) -> list[sympy.Basic]:
    """What is known of letters: the hypotheses, and that there are functions of the class."""
    of = claim.setting.functions
    ends = of.ends if of is not None and stated(claim, of) else None
    return [*assumed(claim), *(() if ends is None else [sympy.Le(*ends)])]


def _as_stored(claim: Claim, step: OneStep) -> str:
    """A registered claim that says the same of one step, whose multipliers are tried first; empty where none does."""
    for other in claims.all():
        says = other.statement
        if other.setting is claim.setting and isinstance(says, OneStep) and says.factor == step.factor:
            return other.id
    return ""


def _check_start(claim: Claim) -> None:
    """``Unread`` where states are not seen to satisfy the invariant at the start."""
    algorithm, free = claim.setting.algorithm, claim.setting.drawing.start
    if algorithm is None or claim.statement.algorithm is not algorithm:
        raise Unread("the method is not that of the setting")
    if algorithm.invariant is None:
        return
    for case in cases(claim):
        given = example(claim, case)
        residuals = program.at_start(algorithm.invariant, algorithm, given.problem, given.params, free)
        if not all(value.is_zero() for value in evaluated(world_of(*residuals), residuals)):
            raise Unread("states are not seen to satisfy the invariant at the start")
