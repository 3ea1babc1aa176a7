"""Bounds for every number of rounds, sums over them too, from an inequality of one round that is shown."""

from __future__ import annotations

from itertools import islice

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.settings.quantities import gap
from fedtheory.settings.relations import Quantity
from verify.base.verdict import Verdict
from verify.derivation import starts, telescoping
from verify.derivation.convexity import is_convex
from verify.derivation.printed_rounds import Of
from verify.derivation.telescoping import Chain
from verify.derivation.signs_of_code import is_sum_of_squares
from verify.evidence.record import Outcome
from verify.methods import multipliers
from verify.methods.base import Inquiry, Method, seen
from verify.multipliers import linking
from verify.multipliers.cases import stated
from verify.multipliers.induction import check_start
from verify.multipliers.proving import prove
from verify.search import hunting

#: Inequalities of one round that are tried.
TRIED = 8


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where an inequality of one round is, from which the bound follows; otherwise nothing is known."""
    claim, why = inquiry.claim, ""
    try:
        if part := telescoping.undefined(claim):
            return method.skipped(f"left open: {part} is not shown to be a real number wherever the hypotheses hold")
        check_start(claim)
        for chain in islice(telescoping.chains(claim), TRIED):
            try:
                told = _proved(inquiry, chain)
            except (ValueError, ArithmeticError) as error:
                told = str(error)
            if told is None:
                return method.found(Verdict.PROVED, _note(chain), used=("symbolic",))
            why = why or told
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    return method.skipped(f"left open: {why}")


def _proved(inquiry: Inquiry, chain: Chain) -> str | None:
    """What stands in the way of a chain; None where all of it is shown."""
    claim = inquiry.claim
    if why := next((str(q) for q in chain.convex if not is_convex(claim, q)), ""):
        return f"{why} is not shown to be convex"
    if not starts.at_most(claim, chain.excess, telescoping.signs_of(claim), lambda q: _is_nonnegative(inquiry, q)):
        return "the potential is not shown to be at most the right side where runs begin"
    found = prove(chain.step, read_at=claim)
    if isinstance(found, str):
        return f"of every round, {chain.said} is asked for: {found}"
    if not all(_is_nonnegative(inquiry, q) for q in chain.nonnegative):
        return "a part of the potential is not shown to be nonnegative"
    if chain.lemma is not None and (why := _unshown(inquiry, chain.lemma)):
        return why
    return None


def _is_nonnegative(inquiry: Inquiry, q: Of) -> bool:
    """Return True if a quantity is shown not to be negative in any state."""
    claim = inquiry.claim
    of, setting = claim.setting.functions, claim.setting
    if q is gap and setting.optimum == "consensus" and of is not None and stated(claim, of):
        # x* is a minimiser of the average, where there is no g.
        return not of.with_g and set(setting.drawing.g) == {False}
    if is_sum_of_squares(claim, q):
        return True
    symbol = sympy.Symbol("q", real=True)
    statement = Inequality(sympy.S.Zero, symbol, (Quantity(symbol, q),))
    return not _unshown(inquiry, telescoping.in_any_state(claim, statement))


def _unshown(inquiry: Inquiry, lemma: Claim) -> str:
    """Why an inequality of all states is not shown; empty where it is."""
    told = linking.prove(lemma, seen(inquiry), hunting.generator(lemma, inquiry.seed))
    return f"in every state, {lemma.statement.comparisons[0]}: {told}" if isinstance(told, str) else ""


def _note(chain: Chain) -> str:
    """By what a bound is shown."""
    note = f"by induction on the rounds, from what is shown of every round k: {chain.said}"
    return "; ".join([note, *chain.ways])


METHOD = Method(
    "telescoping sums",
    "the whole class, in all dimensions, at all parameters and numbers of clients and rounds",
    (Bound,),
    run,
    applies=multipliers.METHOD.applies,
)
