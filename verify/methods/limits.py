"""Quantities that tend to 0 almost surely, as the sum of their expectations over all rounds is finite.

If V and Q are nonnegative, and Q <= K (V - E[V after a step]) in every state with a number K >= 0, the expectations of
Q sum to at most K V at the start: the sum of Q over the rounds is finite almost surely, and Q tends to 0. If E[V after
a step] <= rho V with rho < 1, the same is true of V, and of every Q <= K V. Nobody states K. It is the multiplier of a
premise, which is the same in all states: of V - E[V after a step] <= 0 in a proof of Q <= 0, or of V <= 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

import sympy

from fedtheory import claims
from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import round_index
from fedtheory.settings.relations import OfRun, Quantity
from verify.derivation.lemmas import in_any_state, signs_of
from verify.derivation.printed_rounds import Of
from verify.derivation.sequences import NotFollowed
from verify.exact import reals

#: No letter of a claim has such a name.
_Q, _V, _AFTER = (
    sympy.Symbol(f"the {name}", real=True) for name in ("quantity", "potential", "potential after a step")
)


class WithPremise(NamedTuple):
    """A claim that is to be shown with a multiple, the same in all states, of an expression that is at most 0."""

    claim: Claim
    premise: sympy.Expr


def quantity(claim: Claim) -> Of:
    """Return what tends to 0. Raise ``NotFollowed`` if the runs that a claim covers are not those of its setting."""
    setting, statement, method = claim.setting, claim.statement, claim.setting.algorithm
    if not isinstance(statement, Limit) or method is None or statement.algorithm is not method:
        raise NotFollowed("the method is not that of the setting")
    of, parameters = statement.potential.of, cast(Any, method.Params)
    if setting.hints.known is not None or setting.drawing.special is not None:
        raise NotFollowed("what the setting states of all states need not hold at those that are reached")
    if method.schedules or round_index in setting.sources or ROUND in (*parameters._fields, *setting.sources.values()):
        raise NotFollowed("parameters that vary with the round are not supported")
    if statement.potential.domain is not None or isinstance(of, OfRun):
        raise NotFollowed("what tends to 0 is not a number of every state")
    return of


def contractions(claim: Claim) -> Iterator[tuple[Of, Claim]]:
    """Yield potentials with claims of the setting that a step multiplies them by a number below 1 in expectation, those
    that ``follows`` names first."""
    known = signs_of(claim).given
    named = {id: claims.get(id) for id in claim.follows}
    for other in {**named, **{other.id: other for other in claims.all()}}.values():
        step = other.statement
        if other.setting is not claim.setting or not isinstance(step, OneStep) or step.factor is None:
            continue
        sides = {q.expression: q for q in step.quantities}
        after, before = sides.get(step.left), sides.get(sympy.cancel(step.right / step.factor))
        if after is None or before is None or after.of is not before.of or not after.after or before.after:
            continue
        if step.algorithm is not claim.statement.algorithm or not set(other.requires) <= set(claim.requires):
            continue
        if before.domain is None and reals.implied(sympy.Lt(step.factor, 1, evaluate=False), known):
            yield before.of, other


def potentials(claim: Claim, of: Of) -> list[Of]:
    """Return the quantities that may decrease by what tends to 0: itself, and the potential of the setting."""
    known = claim.setting.potential
    return list(dict.fromkeys([of, *([] if known is None or known.domain is not None else [known.of])]))


def decrease(claim: Claim, of: Of, potential: Of) -> WithPremise:
    """Return the claim that a quantity is at most a multiple of what a step takes off a potential, in expectation."""
    symbol = _V if of is potential else _Q
    quantities = {s: Quantity(s, q) for s, q in ((symbol, of), (_V, potential))}
    after = Quantity(_AFTER, potential, after=True)
    # The left side is Q: a statement about a step mentions what comes after it.
    step = OneStep(claim.statement.algorithm, symbol + _AFTER, _AFTER, (*quantities.values(), after))
    return WithPremise(replace(claim, statement=step, follows=()), _V - _AFTER)


def bounded(claim: Claim, of: Of, potential: Of) -> WithPremise:
    """Return the claim that a quantity is at most a multiple of a potential in every state."""
    statement = Inequality(_Q, sympy.S.Zero, (Quantity(_Q, of), Quantity(_V, potential)))
    return WithPremise(in_any_state(claim, statement), _V)
