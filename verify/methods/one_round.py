"""One round of a bound, shown client by client where clients have numbers of their own."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.claims import Claim
from fedtheory.kinds.invariant import Invariant
from fedtheory.numbers.symbols import round_index
from verify.as_read import proving
from verify.exact import reals
from verify.methods.base import Inquiry, seen
from verify.multipliers import client_proofs
from verify.reading.declarations import declarations
from verify.search import hunting


def has_own(claim: Claim) -> bool:
    """Return True if clients have parameters, or constants of their functions, of their own."""
    of = claim.setting.functions
    client = None if of is None else declarations(of).client
    return bool(claim.setting.own) or (
        client is not None and any("f." in end for end in (client.least, client.largest))
    )


def obstacle(inquiry: Inquiry, step: Claim) -> str:
    """Return why a claim about one round is not shown at all states that runs of a bound reach; empty if it is.

    ``inquiry``: into the bound; ``step``: what it asks of one round, from every state that satisfies the invariant. The
    invariant is shown to be kept. Parameters are the same in every round, and there are no adversaries.
    """
    setting, method = step.setting, step.statement.algorithm
    if (
        setting.adversaries
        or method.schedules
        or setting.hints.known is not None
        or setting.drawing.special is not None
    ):
        return "adversaries, parameters that vary and states of a special form are not supported client by client"
    if any(side.has(round_index) for left, _, right in step.statement.comparisons for side in (left, right)):
        return "weights that vary with the round are not supported client by client"
    if undefined := reals.unreal(step):
        return undefined.removeprefix("left open: ")
    instances, rng = seen(inquiry), hunting.generator(step, inquiry.seed)
    try:
        shown = client_proofs.prove(step, instances, rng)
        if isinstance(shown, str) or method.invariant is None:
            return shown if isinstance(shown, str) else ""
        kept = replace(step, statement=Invariant(method, method.invariant, "the invariant"))
        return proving.obstacle(kept, instances, rng)
    except (ValueError, ArithmeticError) as error:
        return str(error)
