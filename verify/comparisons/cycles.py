"""Runs without randomness that come back to where they were, so that what is not zero there does not tend to zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.base import VANISHES
from fedtheory.numbers.rational import Array
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import rollout, tree_size
from verify.comparisons.exact import Coordinates, as_row

#: What counterexamples call this comparison: after the rounds of a cycle what must vanish is less than before them.
PART = "cycle"
#: The longest cycle that is looked for, in rounds.
LONGEST = 12


def vanishing(claim: Claim) -> tuple[Quantity, ...]:
    """The quantities of states that are said to tend to 0 along every run; none where a claim says nothing like it."""
    if claim.statement.iteration is not None:
        return ()
    return tuple(q for end, q in claim.statement.ends if end == VANISHES)


def is_autonomous(claim: Claim, instance: Instance) -> bool:
    """Whether a state alone tells where the next step leads: nothing is drawn, and parameters do not vary."""
    return not claim.statement.algorithm.schedules and tree_size(claim, instance, 1) == 1


def size(quantity: Quantity, problem: Any, params: Any, state: Any) -> Array:
    """The largest entry, by absolute value, of a quantity at states ``(M, 1, ...)``: ``(M,)``."""
    values = np.asarray(quantity.of(problem, params, state))
    return np.asarray(abs(values.reshape(len(state[0]), -1)).max(axis=-1))


def sides(claim: Claim, instance: Instance, point: Coordinates, rounds: int, entry: int) -> tuple[Any, Any]:
    """(a quantity after the rounds, before them) at a state of an exact instance to which they lead back.

    ``ValueError`` where something is drawn, the state is not the same, or the quantity is zero.
    """
    if not is_autonomous(claim, instance):
        raise ValueError(f"a run of {claim.id} depends on more than its state there")
    problem, state = instance.at(as_row(point))
    later, _ = rollout(claim, instance, problem, state, rounds)
    if not all((np.asarray(one) == np.asarray(two)).all() for one, two in zip(later, state, strict=True)):
        raise ValueError(f"{rounds} rounds of {claim.id} do not lead back to that state")
    quantity = vanishing(claim)[entry]
    after, before = (size(quantity, problem, instance.params, at)[0] for at in (later, state))
    if before == 0:
        raise ValueError(f"{quantity.expression} is zero in that state")
    return after, before
