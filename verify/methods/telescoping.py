"""Bounds for every number of rounds, sums over them too, from an inequality of one round that is shown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.limit import Limit
from fedtheory.settings.quantities import gap
from fedtheory.settings.relations import OfRun, Quantity
from verify.base.verdict import Verdict
from verify.derivation import lemmas, one_round, starts, telescoping
from verify.derivation.convexity import is_convex
from verify.derivation.potentials import Link
from verify.derivation.printed_rounds import Of, names
from verify.derivation.signs_of_code import is_sum_of_squares
from verify.derivation.spare import square_words, vanishing_squares
from verify.derivation.telescoping import Chain
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods import limits, multipliers
from verify.methods.base import Inquiry, Method, seen
from verify.multipliers import client_proofs
from verify.multipliers.cases import FunctionCase, stated
from verify.multipliers.contraction import check_start
from verify.multipliers.posing import FALLING, PREMISE, Falling
from verify.multipliers.proofs import leaves
from verify.multipliers.proving import Shown, prove
from verify.multipliers.ratios import Ratio, in_letters
from verify.reading.terms import Term
from verify.search import hunting

#: Inequalities of one round that are tried, and potentials of which the start is looked at.
TRIED, MOST = 8, 32


class Followed(NamedTuple):
    """The derivation of a bound: the chain, the proof of its inequality of one round, and all of it in words.

    ``step`` is None where the inequality is shown client by client, or where further parts of the potential were found,
    which it does not have.
    """

    chain: Chain
    step: Shown | None
    note: str


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where an inequality of one round is, from which the bound or limit follows; otherwise nothing is known."""
    if isinstance(inquiry.statement, Limit):
        return _limit(method, inquiry)
    found = follow(inquiry)
    if isinstance(found, str):
        return method.skipped(f"left open: {found}")
    return method.found(Verdict.PROVED, found.note, used=("symbolic",))


def follow(inquiry: Inquiry) -> Followed | str:
    """The derivation of a bound from a proved inequality of one round, or the reason why there is none."""
    claim, why = inquiry.claim, ""
    try:
        if part := telescoping.undefined(claim):
            return f"{part} is not shown to be a real number wherever the hypotheses hold"
        if varies := starts.varying(claim):
            return varies
        of = check_start(claim)
    except (ValueError, ArithmeticError) as error:
        return str(error)
    for later in (False, True):
        try:
            links = _links(claim) if later else []
            known = list(islice(telescoping.chains(claim, later, links), MOST))
            found = _first(inquiry, known)
        except (ValueError, ArithmeticError) as error:
            found = str(error)
        if not isinstance(found, str):
            return found._replace(note=f"{found.note}; {of}" if of else found.note)
        why = why or found
    return why


def _links(claim: Claim) -> list[Link]:
    """The gap between the values, if it links what is bounded with the start: numbers that proofs of it use."""
    single = [q for q in claim.statement.quantities if not isinstance(q.of, OfRun)]
    ends, begun = [q.of for q in single if q.after], [q.of for q in single if not q.after]
    if (len(ends), len(begun)) != (1, 1) or gap in (*ends, *begun) or claim.statement.algorithm.schedules:
        return []
    (end,), (start,), found = ends, begun, []
    for step, premise in (limits.decrease(claim, gap, start), limits.bounded(claim, end, gap)):
        shown = prove(step, premises=(premise,))
        if isinstance(shown, str) or (number := _multiplier(shown)) is None:
            return []
        found.append(number)
    taken, bounding = found
    return [Link(start, gap, end, taken, bounding)]


def _multiplier(shown: Shown) -> sympy.Expr | None:
    """Return the number by which a proof multiplies its premise, in the letters of the claim; None if it varies."""
    found = set()
    for proof in shown.proofs:
        names: dict[int, sympy.Expr] = {}
        for letter, value in proof.posed.env.items():
            if isinstance(value, Ratio) and value.den == proof.posed.domain.ring.constant(1):
                names |= {i: letter for i in value.letters() if value.num == proof.posed.domain.ring.gen(i)}
        number = proof.multipliers.get(f"{PREMISE}0")
        if number is None or not number.letters() <= set(names):
            return None
        found.add(sympy.cancel(in_letters(number, names)))
    return found.pop() if len(found) == 1 else None


def _first(inquiry: Inquiry, known: Sequence[Chain]) -> Followed | str:
    """The first of some chains that is shown, or the reason why none is."""
    # Chains that need no search come first.
    begun = [_begins(inquiry, chain, search=False) for chain in known]
    tried = [chain for chain, begins in zip(known, begun, strict=True) if begins]
    others = (c for c, begins in zip(known, begun, strict=True) if not begins and _begins(inquiry, c, search=True))
    why = "" if all(begun) else "the potential is not shown to be at most the right side where runs begin"
    for chain in islice(itertools.chain(tried, others), TRIED):
        try:
            found = _followed(inquiry, chain)
        except (ValueError, ArithmeticError) as error:
            found = str(error)
        if not isinstance(found, str):
            return found
        why = why or found
    return why


def _followed(inquiry: Inquiry, chain: Chain) -> Followed | str:
    claim, named = inquiry.claim, names(inquiry.claim)
    if why := next((named[q] for q in chain.convex if not is_convex(claim, q)), ""):
        return f"{why} is not shown to be convex"
    if undefined := reals.unreal(chain.step):
        return undefined.removeprefix("left open: ")
    found = prove(chain.step, read_at=claim, lowest=chain.lowest)
    if isinstance(found, str) and one_round.has_own(claim) and chain.lowest is None:
        found = one_round.obstacle(chain.step, seen(inquiry), hunting.generator(chain.step, inquiry.seed))
        further = None if found else ""
    else:
        further = "" if not isinstance(found, str) else _further(claim, chain)
    if further is None:
        return f"of every round, {chain.words} is asked for: {found}"
    if chain.steady is not None and isinstance(prove(chain.steady, read_at=claim), str):
        return "what the rounds use up is not shown not to grow"
    if not all(_is_nonnegative(inquiry, q) for q in chain.nonnegative):
        return "a part of the potential is not shown to be nonnegative"
    if chain.lemma is not None and (why := _unshown(inquiry, chain.lemma, chain.premise)):
        return why
    shown = None if isinstance(found, str) or not (chain.lowest is chain.steady is None) else found
    return Followed(chain, shown, _note(chain, further))


def _begins(inquiry: Inquiry, chain: Chain, search: bool) -> bool:
    """Return True if the potential is shown to be at most the right side where runs begin, as it is read or, with
    ``search``, by multipliers."""
    claim = inquiry.claim
    try:
        if not search:
            signs = lemmas.signs_of(claim)
            return starts.at_most(claim, chain.excess, signs, lambda q: _is_nonnegative(inquiry, q))
        return not _unshown(inquiry, lemmas.at_start(claim, chain.excess), own=one_round.has_own(claim))
    except (ValueError, ArithmeticError):
        return False


def _further(claim: Claim, chain: Chain) -> str | None:
    """Look for further parts of the potential that prove the inequality of one round; return them in words, or None.

    They vanish at the start of runs, are squares, and have constant multiples of the weights of the rest.
    """
    if (by := chain.decrease) is None:
        return None
    squares: dict[str, Sequence[Term]] = {}

    def falling(case: FunctionCase) -> Falling:
        squares[case.name] = vanishing_squares(claim, case)
        return Falling(squares[case.name], by)

    found = prove(chain.step, read_at=claim, falling=falling, lowest=chain.lowest)
    if isinstance(found, str):
        return None
    weights = {
        square_words(squares[case][int(name.removeprefix(FALLING))]): c
        for case, tree in found.cases.items()
        for proof in leaves(tree)
        for name, c in proof.multipliers.items()
        if name.startswith(FALLING)
    }
    return ", ".join(f"({c}) {square}" for square, c in weights.items())


def _is_nonnegative(inquiry: Inquiry, q: Of) -> bool:
    """Return True if a quantity is shown not to be negative in any state."""
    claim = inquiry.claim
    of, setting = claim.setting.functions, claim.setting
    # x* is a minimiser of the average, where there is no g.
    least = setting.optimum == "consensus" and of is not None and stated(claim, of) and not of.with_g
    if q is gap and least and set(setting.drawing.g) == {False}:
        return True
    if is_sum_of_squares(claim, q):
        return True
    symbol = sympy.Symbol("q", real=True)
    statement = Inequality(sympy.S.Zero, symbol, (Quantity(symbol, q),))
    return not _unshown(inquiry, lemmas.in_any_state(claim, statement))


def _unshown(inquiry: Inquiry, lemma: Claim, premise: sympy.Expr | None = None, own: bool = True) -> str:
    """Return why an inequality of all states, where the premise is at most 0, is not shown; empty if it is.

    ``own``: True if it may be shown client by client.
    """
    ((small, _, large),) = lemma.statement.comparisons
    found: object = "its letters may be no numbers"
    if premise is None and own:
        found = _client_by_client(inquiry, lemma)
    if isinstance(found, str) and not reals.unreal(lemma):
        premises = () if premise is None else (premise,)
        found = prove(lemma, read_at=inquiry.claim, premises=premises)
    return f"in every state, {small} <= {large} is asked for: {found}" if isinstance(found, str) else ""


def _client_by_client(inquiry: Inquiry, lemma: Claim, premises: tuple[sympy.Expr, ...] = ()) -> object:
    """Return the proofs of an inequality of all states, or the reason why there are none."""
    try:
        rng = hunting.generator(lemma, inquiry.seed)
        return client_proofs.prove(lemma, seen(inquiry), rng, premises=premises)
    except (ValueError, ArithmeticError) as error:
        return str(error)


def _note(chain: Chain, further: str) -> str:
    """The argument that shows a bound."""
    note = f"by induction on the rounds, from what is shown of every round: {chain.words}"
    more = [f"where the potential has besides {further}, which is 0 at the start"] if further else []
    if chain.lemma is not None:
        ((small, _, large),) = chain.lemma.statement.comparisons
        where = "in all states" if chain.premise is None else f"where {chain.premise} <= 0"
        more.append(f"and {small} <= {large} {where}")
    return "; ".join([note, *more, *chain.ways])


def _limit(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the sum of what tends to 0 over the rounds is finite in expectation."""
    try:
        of = check_start(inquiry.claim)
        found = _summed(inquiry)
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    return method.found(Verdict.PROVED, f"{found}; {of}" if of else found, used=("symbolic",))


def _summed(inquiry: Inquiry) -> str:
    """Return the reason why a sum over all rounds is finite. Raise ``ValueError`` if none is found."""
    claim = inquiry.claim
    of = limits.quantity(claim)
    if not _is_nonnegative(inquiry, of):
        raise ValueError("what tends to 0 is not shown to be nonnegative")
    name, why = inquiry.statement.potential.expression, "no potential is known"
    for potential, step in limits.contractions(claim):
        if not _is_nonnegative(inquiry, potential) or isinstance(prove(step), str):
            continue
        factor = step.statement.factor
        words = f"by {step.id}, which is shown too, a step multiplies the potential by at most {factor} < 1"
        if potential is of:
            return words
        if not (why := _unbounded(inquiry, *limits.bounded(claim, of, potential))):
            return f"{words}, and {name} is at most a multiple of it in all states"
    for potential in limits.potentials(claim, of):
        if not _is_nonnegative(inquiry, potential):
            continue
        step, premise = limits.decrease(claim, of, potential)
        found = "its letters may be no numbers" if reals.unreal(step) else prove(step, premises=(premise,))
        if not isinstance(found, str):
            taken = "itself" if potential is of else "the potential"
            cases = ", ".join(found.cases)
            return f"{name} is at most a multiple of what a step takes off {taken} in expectation: {cases}"
        why = found
    raise ValueError(why)


def _unbounded(inquiry: Inquiry, lemma: Claim, premise: sympy.Expr) -> str:
    """Return why a quantity is not shown to be at most a multiple of a potential; empty if it is.

    The multiples of several cases of states may differ, as the potential is nonnegative.
    """
    found: object = "its letters may be no numbers" if reals.unreal(lemma) else prove(lemma, premises=(premise,))
    if isinstance(found, str):
        found = _client_by_client(inquiry, lemma, (premise,))
    return found if isinstance(found, str) else ""


METHOD = Method(
    "telescoping sums",
    "the whole class, in all dimensions, at all parameters and numbers of clients and rounds",
    (Bound, Limit),
    run,
    applies=multipliers.METHOD.applies,
)
