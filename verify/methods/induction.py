"""Bounds for every number of rounds, by multipliers for one step."""

from __future__ import annotations

from fedtheory.kinds.bound import Bound
from verify.base.verdict import Verdict
from verify.derivation import one_round
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods import multipliers
from verify.methods.base import Inquiry, Method, seen
from verify.multipliers import client_proofs
from verify.multipliers.contraction import chain_of
from verify.multipliers.proving import prove
from verify.search import hunting


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the step is by multipliers that were checked; otherwise nothing is known."""
    if undefined := reals.unreal(inquiry.claim):
        return method.skipped(undefined)
    try:
        chain = chain_of(inquiry.claim)
        found = prove(chain.step)
        why = found if isinstance(found, str) else ""
        if why and one_round.has_own(inquiry.claim):
            why = one_round.obstacle(chain.step, seen(inquiry), hunting.generator(chain.step, inquiry.seed))
        if why:
            return method.skipped(f"left open: {why}")
        for lemma in chain.lemmas:
            lemma_proof = client_proofs.prove(lemma, seen(inquiry), hunting.generator(lemma, inquiry.seed))
            if isinstance(lemma_proof, str):
                return method.skipped(f"left open: {lemma.id}: {lemma_proof}")
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    shown = "client by client" if isinstance(found, str) else ", ".join(found.cases)
    note = f"by induction on the rounds, each of which shrinks it by the rate: {shown}"
    note += "".join(f"; with {lemma.id}, which is shown too" for lemma in chain.lemmas)
    note += f"; {chain.of}" if chain.of else ""
    return method.found(Verdict.PROVED, note, used=("symbolic",))


METHOD = Method(
    "induction on rounds",
    "the whole class, in all dimensions, at all parameters and numbers of clients and rounds",
    (Bound,),
    run,
    applies=multipliers.METHOD.applies,
)
