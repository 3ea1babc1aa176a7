"""One round of a bound, shown client by client where clients have numbers of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.invariant import Invariant
from fedtheory.numbers.symbols import round_index
from verify.as_read import proving
from verify.exact import reals
from verify.multipliers import client_proofs
from verify.reading.declarations import declarations


def has_own(claim: Claim) -> bool:
    """Return True if clients have parameters, constants of their functions, or blocks of the minimiser of their own."""
    of = claim.setting.functions
    client = None if of is None else declarations(of).client
    constants = client is not None and "f." in f"{client.least} {client.largest}"
    return bool(claim.setting.own) or constants or claim.setting.optimum == "sum zero"


def obstacle(step: Claim, instances: Sequence[Instance], rng: np.random.Generator) -> str:
    """Return why a claim about one round is not shown at all states that runs of a bound reach; empty if it is.

    ``step``: what the bound asks of one round, from every state that satisfies the invariant; ``instances``: some of
    the bound, at which what is read is compared with the code. The invariant is shown to be kept. Parameters are the
    same in every round, and there are no adversaries.
    """
    setting, method = step.setting, step.statement.algorithm
    special = setting.hints.known is not None or setting.drawing.special is not None
    if setting.adversaries or method.schedules or special:
        return "adversaries, parameters that vary and states of a special form are not supported client by client"
    if any(side.has(round_index) for left, _, right in step.statement.comparisons for side in (left, right)):
        return "weights that vary with the round are not supported client by client"
    if undefined := reals.unreal(step):
        return undefined.removeprefix("left open: ")
    try:
        shown = client_proofs.prove(step, instances, rng)
        if isinstance(shown, str) or method.invariant is None:
            return shown if isinstance(shown, str) else ""
        kept = replace(step, statement=Invariant(method, method.invariant, "the invariant"))
        return proving.obstacle(kept, instances, rng)
    except (ValueError, ArithmeticError) as error:
        return str(error)
