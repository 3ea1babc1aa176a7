"""Add nonnegative multiples of inequalities of one setting, which hold in all states, or of one step of one method.

Where L_j <= R_j are premises, in expectation over the draws of a step, and right - left = sum_j c_j (R_j - L_j) with
multipliers c_j >= 0 that do not depend on the state, left <= right. The c_j are found by elimination: a quantity that
right - left has with a negative coefficient is cancelled by a premise that has it so, one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.problems.base import StateFunction
from fedtheory.settings.iterations import At, Infimum, Least, Start, Then
from fedtheory.settings.relations import Comparison
from verify.derivation.facts import Coefficient
from verify.exact import reals, symbolic

#: The rule's name.
RULE = "adding multiples"
#: Quantities of whole runs, or of iterations of runs, for which there are other rules.
_OF_RUNS = (At, Infimum, Least, Start, Then)
#: A function of the state, before a step or (True) after it.
Term = tuple[StateFunction, bool]
Sum = Mapping[Term, Coefficient]


class _Fact(NamedTuple):
    """A sum that is at least 0 in expectation, and the claim that says so."""

    claim: Claim
    terms: Sum


def speaks_of(claim: Claim) -> bool:
    """Return True if a claim is an inequality of states, or of one step, that the rule may cover."""
    of_states = isinstance(claim.statement, OneStep) or type(claim.statement) is Inequality
    quantities = claim.statement.quantities
    return of_states and bool(quantities) and not any(isinstance(q.of, _OF_RUNS) for q in quantities)


def added(claim: Claim, premises: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the premises of which multiples add up to a claim, for all letters. Raise ``ValueError`` with the reason
    if none do."""
    assumed = tuple(symbolic.assumed(claim))
    known: list[_Fact] = []
    for premise in premises:
        _check(claim, premise, assumed)
        known += [_Fact(premise, _terms(premise, c, assumed)) for c in premise.statement.comparisons]
    used: dict[str, Claim] = {}
    for comparison in claim.statement.comparisons:
        if comparison.relation != "<=":
            raise ValueError("inequalities that are not strict are added up, and give no other ones")
        used |= {premise.id: premise for premise in _eliminated(_terms(claim, comparison, assumed), known)}
    return tuple(used.values())


def _check(claim: Claim, premise: Claim, assumed: tuple[sympy.Basic, ...]) -> None:
    """Raise ``ValueError`` unless a premise holds wherever a claim is about, and is of the same step."""
    if not speaks_of(premise) or premise.setting is not claim.setting:
        raise ValueError(f"{premise.id} is of another setting")
    steps = [c.statement.algorithm for c in (claim, premise) if isinstance(c.statement, OneStep)]
    if isinstance(premise.statement, OneStep) and len(steps) < 2:
        raise ValueError(f"{premise.id} is of steps, and {claim.id} of states")
    if any(algorithm is not claim.setting.algorithm for algorithm in steps):
        raise ValueError("the steps are not of the method of the setting")
    for h in premise.requires:
        relation = h.relation if h.met is None and not h.each and h.every is None else None
        if h not in claim.requires and (relation is None or not reals.implied(relation, assumed)):
            raise ValueError(f"{premise.id} rests on {h.text}, which is not assumed")


def _terms(claim: Claim, comparison: Comparison, assumed: tuple[sympy.Basic, ...]) -> Sum:
    """right - left. Raise ``ValueError`` if a comparison is not linear in quantities that are finite."""
    if comparison.relation not in ("<=", "<"):
        raise ValueError(f"{claim.id} is not an inequality")
    rest = sympy.expand(comparison.right - comparison.left)
    names = {q.expression for q in claim.statement.quantities}
    found: dict[Term, Coefficient] = {}
    for q in claim.statement.quantities:
        if q.domain is not None or (q.after and not isinstance(claim.statement, OneStep)):
            raise ValueError(f"{claim.id} involves quantities that need not be finite, or are not of a state")
        c = rest.coeff(q.expression)
        rest = sympy.expand(rest - c * q.expression)
        if c.has(*names):
            raise ValueError(f"{claim.id} is not linear in its quantities")
        if c != 0:
            term = q.of, q.after
            found[term] = Coefficient.of(c, assumed) + found.get(term, 0)
    if rest != 0:
        raise ValueError(f"{claim.id} is not linear in its quantities")
    return {t: c for t, c in found.items() if c.value != 0}


def _eliminated(goal: Sum, known: Sequence[_Fact]) -> list[Claim]:
    """The premises of which nonnegative multiples are a sum."""
    used, left = [], list(known)
    while (t := next((t for t, c in goal.items() if c < 0), None)) is not None:
        place = next((k for k, fact in enumerate(left) if t in fact.terms and fact.terms[t] < 0), None)
        if place is None:
            raise ValueError("nothing bounds a quantity from above")
        fact = left.pop(place)
        times = goal[t] / fact.terms[t]
        if not times >= 0:
            raise ValueError("an inequality would need a negative multiplier")
        terms = dict(goal)
        for other, c in fact.terms.items():
            terms[other] = terms[other] - c * times if other in terms else -(c * times)
        goal = {t: c for t, c in terms.items() if c.value != 0}
        used.append(fact.claim)
    if goal:
        raise ValueError("a quantity is left that is not bounded from below")
    return used
