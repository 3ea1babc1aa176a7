"""Bounds for every number of rounds that follow from one step: E V after T rounds <= rate^T V at the start.

Where another quantity is bounded, or by another one at the start, inequalities that are claimed of all states join
them to the potential of the setting: they are shown too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import Quantity
from verify.exact import reals
from verify.exact.symbolic import assumed
from verify.multipliers.cases import cases, example, stated
from verify.reading import program
from verify.reading.generic_client import evaluated, world_of
from verify.reading.source import Unread
from verify.reading.terms import Op
from verify.reading.worlds import WorldValue


@dataclass(frozen=True)
class Chain:
    """The premises of a bound: a claim about one step, and inequalities of all states. ``of``: the starts that it
    is shown for, if not all."""

    step: Claim
    lemmas: tuple[Claim, ...]
    of: str = ""


def chain_of(claim: Claim) -> Chain:
    """Return the premises of a bound. Raise ``Unread`` if none are known."""
    statement, potential = claim.statement.geometric, claim.setting.potential
    if statement is None:
        raise Unread("it is not a bound that shrinks by a rate in each round")
    named = {q.expression: q for q in statement.quantities}
    left, initial = named.get(statement.left), named.get(statement.initial)
    if left is None or initial is None or left.of is initial.of or potential is None:
        return Chain(step_of(claim), (), check_start(claim))
    before = Quantity(sympy.Symbol("the potential at the start"), potential.of)
    step = step_of(replace(claim, statement=_of_potential(statement, replace(potential, after=True), before)))
    if claim.setting.hints.known is not None:
        raise Unread("what the setting states of all states need not hold at those that are reached")
    first: list[tuple[sympy.Expr, Any, Claim | None]] = [*_lemmas(claim, left.of), (sympy.S.One, left.of, None)]
    for factor, _, lemma in (way for way in first if way[1] is potential.of):
        for more, at_start, second in _at_start(claim, potential.of, initial.of):
            # Nothing is known of signs of quantities.
            whole = sympy.cancel(factor * more * at_start - statement.constant) == 0
            if whole and all(_is_nonnegative(c, claim) for c in (factor, more)):
                return Chain(step, tuple(c for c in (lemma, second) if c is not None), check_start(claim))
    raise Unread("no inequalities link both sides to the potential of the setting")


def _of_potential(statement: Bound, after: Quantity, before: Quantity) -> Bound:
    sides = {"left": after.expression, "initial": before.expression, "quantities": (after, before)}
    return replace(statement, constant=sympy.S.One, **sides)


def _is_nonnegative(number: sympy.Expr, claim: Claim) -> bool:
    return bool(number.is_nonnegative) or reals.implied(sympy.Ge(number, 0), _known(claim))


def _lemmas(claim: Claim, small: Any) -> Iterator[tuple[sympy.Expr, Any, Claim]]:
    """Claims of all states of the setting that a quantity is at most a multiple of another: that number, and this."""
    for other in claims.all():
        if other.setting is claim.setting and set(other.requires) <= set(claim.requires):
            yield from ((factor, right.of, other) for factor, left, right in _multiple(other) if left.of is small)


def _multiple(claim: Claim) -> Iterator[tuple[sympy.Expr, Quantity, Quantity]]:
    """Yield the factor and both quantities if a claim states that one quantity is at most a multiple of the other."""
    statement = claim.statement
    if not isinstance(statement, Inequality) or len(statement.comparisons) != 1 or len(statement.quantities) != 2:
        return
    for left, right in permutations(statement.quantities):
        factor = statement.right / right.expression
        if statement.left == left.expression and not factor.has(*(q.expression for q in statement.quantities)):
            yield factor, left, right


def _at_start(claim: Claim, potential: Any, initial: Any) -> Iterator[tuple[sympy.Expr, sympy.Expr, Claim | None]]:
    """Yield bounds of the potential by the initial value at the start: two numbers, and the claim that proves the
    first.
    """
    if potential is initial:
        yield sympy.S.One, sympy.S.One, None
    for factor, right, other in _lemmas(claim, potential):
        at_start = _ratio_at_start(claim, right, initial)
        if at_start is not None:
            yield factor, at_start, other


def _ratio_at_start(claim: Claim, of: Any, initial: Any) -> sympy.Expr | None:
    """1 where two quantities are one at the start; n where the second is the largest number of a client, and the first
    the sum of these; None where neither is seen."""
    algorithm, free = claim.setting.algorithm, claim.setting.drawing.start
    if algorithm is None:
        return None
    count = next((letter for letter, source in claim.setting.sources.items() if source == "n"), None)
    found: set[sympy.Expr | None] = set()
    for case in cases(claim):
        given = example(claim, case)
        one, other = (program.at_start(q, algorithm, given.problem, given.params, free) for q in (of, initial))
        if len(one) != 1 or len(other) != 1:
            return None
        largest = other[0].op is Op.MOST
        term = other[0].of[0] if largest else other[0]
        here = world_of(*one, term)
        left, right = evaluated(here, [one[0], term])
        same = (left - (here.total(right) if largest else right)).is_zero()
        found.add((count if largest else sympy.S.One) if same else None)
    return found.pop() if len(found) == 1 else None


def step_of(claim: Claim) -> Claim:
    """The claim about one step, from every state that satisfies the invariant, that implies a bound.

    It is where both sides are one quantity, the constant is 1, the rate is a number >= 0 that is the same in all
    rounds, and states satisfy the invariant at the start: later they do as it is kept, which the step's proof shows.
    ``Unread`` where this is not so.
    """
    statement = claim.statement.geometric
    if statement is None or statement.strict:
        raise Unread("it is not a bound that shrinks by a rate in each round")
    named = {q.expression: q for q in statement.quantities}
    left, initial = named.get(statement.left), named.get(statement.initial)
    if left is None or initial is None or not left.after or initial.after or left.of is not initial.of:
        raise Unread("it does not compare one quantity at the start and after T rounds")
    rate = statement.factor
    if statement.constant != 1 or rate.has(T):
        raise Unread("it is not a power of a rate that is the same in all rounds")
    if not _is_nonnegative(rate, claim):
        raise Unread("the rate may be negative")
    check_start(claim)
    step = OneStep(statement.algorithm, left.expression, rate * initial.expression, statement.quantities, rate)
    return replace(claim, id=_as_stored(claim, step) or claim.id, statement=step)


def _known(claim: Claim) -> list[sympy.Basic]:
    """Return the known relations between letters: the hypotheses, and the bounds of a nonempty class."""
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


#: What runs of a method with parts that may be given begin with, where not all starts satisfy the invariant.
GIVEN_START = "from starts that satisfy the invariant"


def check_start(claim: Claim) -> str:
    """Return which starts a bound is of, empty if all that its setting names. Raise ``Unread`` where states are not
    shown to satisfy the invariant at the start.

    Parts of the state that may be given are given such that they do, as in instances: what is left of the invariant is
    linear in them, and so some are.
    """
    algorithm, free = claim.setting.algorithm, claim.setting.drawing.start
    if algorithm is None or claim.statement.algorithm is not algorithm:
        raise Unread("the method is not that of the setting")
    if algorithm.invariant is None:
        return ""
    of = ""
    for case in cases(claim):
        given = example(claim, case)
        residuals = program.at_start(algorithm.invariant, algorithm, given.problem, given.params, free)
        for value in evaluated(world_of(*residuals), residuals):
            if not value.is_zero():
                if not _is_linear(value, free):
                    raise Unread("states are not shown to satisfy the invariant at the start")
                of = GIVEN_START
    return of


def _is_linear(value: WorldValue, parts: Sequence[str]) -> bool:
    """Return True if a vector is linear in parts of the state."""
    names = {name for part in parts for name in (part, f"mean of {part}")}
    return all(not draws and [atom.name in names for atom in atoms] == [True] for draws, atoms in value.of)
