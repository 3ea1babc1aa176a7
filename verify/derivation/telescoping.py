"""Bounds for every number T of rounds, from an inequality of one round that telescopes.

A bound in one form (:mod:`verify.derivation.printed_rounds`), both sides times a positive number that may depend on T,
is shown by induction on the rounds,

E[V_k + sum_i sum_{j < k} w_i(j, k) S_i(x_j)] <= sum_j r_j(k) q_j(x_0) + b(k),  V_k = sum_j (l_j(k) + e_j(k)) q_j(x_k),

and the bound is what is left of this without the e_j(T) q_j(x_T) >= 0. Weights grow from round to round by one number
rho_k >= 0, w_i(j, k + 1) = rho_k w_i(j, k), and r_j(k + 1) >= rho_k r_j(k); so what has to be shown is

E[V_{k+1}] + sum_i w_i(k, k + 1) S_i(x_k) <= rho_k V_k + b(k + 1) - rho_k b(k)

for every k, from every state that satisfies the invariant, and V_0 <= sum_j r_j(0) q_j(x_0) + b(0) at the start. A q_j
on the right that is the same in all states is a part of b. The e_j are looked for: what the start leaves of the r_j,
growing as weights do or not at all; or the potential of the setting, or of a claim from which the bound is to follow.
Of neither anything is believed.

A least value m over the rounds is a number of which only m <= E[G(x_k)] is known, for each k. With the weight u(T) on
the left, (u(k + 1) - rho_k u(k)) m is added to the inequality of one round, and u(0) m <= u(0) G(x_T) <= V_T has to be
shown. What starts contribute in every round, r_j(T) - r_j(0), may be the weight of a part of V_0 of which each round
uses up some: after k of T rounds it is what T - k rounds are to have, and nothing in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.numbers.symbols import T, round_index
from fedtheory.settings.relations import OfRun
from verify.derivation import printed_rounds, starts
from verify.derivation.lemmas import below_potential, grows, held_from_start, of_one_round, signs_of
from verify.derivation.potentials import Coefficients, Link, Potential, later_potentials, potentials
from verify.derivation.printed_rounds import EARLIER, Of, Printed
from verify.derivation.sequences import NotFollowed, Sequences, Signs, moving_part, plain, quotient
from verify.exact import reals
from verify.multipliers.posing import Lowest
from verify.reading.source import Unread


@dataclass(frozen=True)
class Chain:
    """The premises of a bound: the claim about one round, in the letter k; quantities that must be nonnegative and that
    must be convex; and the excess of V_0 over the right side at the start, which must be nonpositive.

    ``lemma``: that the bounded quantity is at most the potential in all states, where it is not part of it, or that the
    bound holds where ``premise``, an expression in the quantities of the lemma, is at most 0 in expectation; ``words``:
    the inequality of one round, in words; ``ways``: what else is used; ``decrease``: by what a further part of the
    potential must be multiplied in a round if its weights are constants times those of the rest, None if these vary;
    ``lowest``: the least value in it; ``steady``: that parts that are used up by the rounds do not grow.
    """

    step: Claim
    nonnegative: tuple[Of, ...]
    convex: tuple[Of, ...]
    excess: Coefficients
    lemma: Claim | None
    premise: sympy.Expr | None
    words: str
    ways: tuple[str, ...]
    decrease: sympy.Expr | None
    lowest: Lowest | None
    steady: Claim | None

    @property
    def key(self) -> str:
        """Return a key that distinguishes this chain from others."""
        return f"{self.words} {list(self.excess.values())} {self.lemma is None}"


def undefined(claim: Claim) -> sympy.Expr | None:
    """A part of what a bound says that is not shown to be real and finite for every T that it covers, or None."""
    signs, statement = signs_of(claim), claim.statement
    ((left, _, right),) = statement.comparisons
    expressions = [left, right, *(e for q in statement.quantities if isinstance(q.of, OfRun) for e in q.of.expressions)]
    sums = [a for e in expressions for a in e.atoms(sympy.Sum, sympy.Product)]
    return reals.undefined_part([*printed_rounds.sums_defined(expressions, signs), *sums], list(signs.given))


def chains(claim: Claim, later: bool = False, links: Sequence[Link] = ()) -> Iterator[Chain]:
    """Yield the chains from which a bound may follow, the likeliest first; ``later``: those that are tried where none
    of these is shown, with ``links`` too. Raise ``NotFollowed`` if there is none."""
    if claim.statement.algorithm is not claim.setting.algorithm:
        raise NotFollowed("the method is not that of the setting")
    if claim.setting.hints.known is not None or claim.setting.drawing.special is not None:
        raise NotFollowed("what the setting states of all states need not hold at those that are reached")
    method: Any = claim.setting.algorithm
    if round_index in claim.setting.sources or (ROUND in method.Params._fields and not method.schedules):
        raise NotFollowed("a parameter has the name of the round")
    of_bound = signs_of(claim)
    why, seen = "no inequality of one round is known from which it would follow", set()
    constants = starts.constants(claim, {q.of for q in claim.statement.quantities if not isinstance(q.of, OfRun)})
    for form in printed_rounds.read(claim, of_bound):
        if form.least is not None and not later:
            continue
        printed = form.apart(constants)
        signs = signs_of(claim, printed.more) if printed.more else of_bound
        for factor in _factors(printed, signs):
            scaled = printed.times(factor)
            try:
                at = Sequences(signs)
                rho = _rho(scaled, at, signs)
                choices: list[Potential] = []
                if form.least is not None or not later:
                    choices += potentials(claim, scaled, at)
                if later:
                    choices += later_potentials(claim, scaled, at, links)
            except NotFollowed as error:
                why = str(error)
                continue
            for potential in choices:
                try:
                    chain = _chain(claim, scaled, potential, at, rho, signs)
                except (NotFollowed, Unread) as error:
                    why = str(error)
                    continue
                if chain.key not in seen:
                    seen.add(chain.key)
                    yield chain
    if not seen:
        raise NotFollowed(why)


def _factors(form: Printed, signs: Signs) -> Iterator[sympy.Expr]:
    """Positive numbers by which both sides may be multiplied: 1, and what makes a sum's weights the same for all T."""
    yield sympy.S.One
    for c in (*(s.weight.subs(EARLIER, 1) for s in form.sums), *form.starts.values()):
        # Terms that do not depend on T may stay on their side.
        varying = sympy.Mul(*(a for a in sympy.Mul.make_args(sympy.factor_terms(c)) if a.has(T)))
        if varying.has(T) and signs.positive(varying):
            yield 1 / varying
            return


def _chain(claim: Claim, form: Printed, potential: Potential, at: Sequences, rho: sympy.Expr, signs: Signs) -> Chain:
    """Return the chain that gives the bound for one choice of the e_j. Raise ``NotFollowed`` if it does not give it."""
    zero, added = sympy.S.Zero, potential.added
    if any(c.has(round_index) for c in (*added.values(), *potential.less.values())):
        raise NotFollowed("a weight of the potential is not one of the number of rounds")
    nonnegative = list(form.nonnegative)
    for q, r in form.starts.items():
        gain = plain(at.after(r) - rho * at.now(r))
        if gain != 0:
            if not signs.nonnegative(gain):
                raise NotFollowed("what the start contributes falls faster than the weights grow")
            nonnegative.append(q)
    for e in () if potential.through else added.values():
        if not signs.nonnegative(e.subs(T, round_index)):
            raise NotFollowed("a weight of the potential may be negative")
    nonnegative += [] if potential.through else list(added)
    ends = {} if potential.through else form.ends
    of = dict.fromkeys([*ends, *added])
    whole = {q: ends.get(q, zero) + added.get(q, zero) for q in of}
    less = {q: potential.less.get(q, ends.get(q, zero)) + added.get(q, zero) for q in of}
    for q, c in less.items():
        # There is no less after any round, nor after those that the bound does not cover.
        gain = plain(at.after(whole[q]) - at.after(c))
        if gain != 0:
            if not claim.statement.since or not signs.nonnegative(gain):
                raise NotFollowed("a weight of the potential is larger before a round than after it")
            nonnegative.append(q)
    left, right = {q: at.after(c) for q, c in whole.items()}, {q: rho * at.now(c) for q, c in less.items()}
    for s in form.sums:
        if s.after:
            left[s.of] = left.get(s.of, zero) + at.after(s.weight).subs(EARLIER, round_index + 1)
        else:
            right[s.of] = right.get(s.of, zero) - at.after(s.weight).subs(EARLIER, round_index)
    for q, c in form.constants.items():
        right[q] = right.get(q, zero) + at.after(c) - rho * at.now(c)
    least, at_end = _of_least(form, potential, rho, at, signs)
    noise = at.after(form.noise) - rho * at.now(form.noise)
    if not signs.nonnegative(plain(at.start(form.noise))):
        raise NotFollowed("what is added on the right may be negative at T = 0")
    begun = {**form.starts, **form.constants}
    excess = {q: at.start(less.get(q, zero)) - at.start(begun.get(q, zero)) for q in (*of, *begun)}
    if potential.spent:
        _spend(claim, form, potential.spent, rho, at, (left, right, excess), (noise, least))
    excess = {q: c for q, found in excess.items() if not potential.held and (c := plain(found)) != 0}
    small, large, noise, least, factor = _reduced(left, right, (noise, least), at, signs)
    step, words, lowest = of_one_round(claim, small, large, noise, form.least, least)
    steady = None
    if potential.spent:
        weights = {q: c.subs(T, 1) for q, c in potential.spent.items()}
        steady, steadily, _ = of_one_round(claim, weights, weights, zero, None, zero)
        words += f" and {steadily}"
    lemma, premise = None, None
    if potential.held:
        lemma, premise = held_from_start(claim, form, added, rho, at)
    elif form.least is not None and at_end != 0:
        lemma = below_potential(claim, {form.least.of: at_end}, added, True)
    elif potential.through:
        lemma = below_potential(claim, form.ends, added, potential.varying)
    decrease = plain(rho * factor.subs(round_index, round_index - 1) / factor)
    varies = sympy.Tuple(*small.values(), *large.values(), noise, least, decrease)
    if varies.has(round_index, *at.named.values()) or claim.statement.algorithm.schedules:
        decrease = None
    known = tuple(dict.fromkeys(nonnegative))
    return Chain(step, known, form.convex, excess, lemma, premise, words, form.ways, decrease, lowest, steady)


def _of_least(
    form: Printed, potential: Potential, rho: sympy.Expr, at: Sequences, signs: Signs
) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the multiple of the least value that a round adds to the left side, and that of which the potential has to
    be at least in the end. Raise ``NotFollowed`` if it may not be."""
    if form.least is None:
        return sympy.S.Zero, sympy.S.Zero
    weight = form.least.weight
    at_end = plain(at.start(weight))
    if at_end != 0 and not (form.least.to_end and plain(rho - 1) == 0 and signs.nonnegative(at_end)):
        raise NotFollowed("the bound of a least value at T = 0 is not one of the end of each run")
    if potential.through:
        raise NotFollowed("what is bounded besides a least value is not a part of the potential")
    return plain(at.after(weight) - rho * at.now(weight)), at_end


def _spend(
    claim: Claim,
    form: Printed,
    spent: Coefficients,
    rho: sympy.Expr,
    at: Sequences,
    sides: tuple[dict[Of, sympy.Expr], dict[Of, sympy.Expr], dict[Of, sympy.Expr]],
    others: tuple[sympy.Expr, ...],
) -> None:
    """Add parts whose weights are multiples of how many rounds are left to the right side of the inequality of one
    round, which uses up one, and to the excess at the start, to which then all belongs that starts contribute.

    Besides, the sum of the parts must not grow in a round: where k rounds are left, k times this is all else it takes.
    Raise ``NotFollowed`` if something else in the inequality depends on the round.
    """
    left, right, excess = sides
    varying = (*left.values(), *right.values(), *others)
    if claim.statement.algorithm.schedules or plain(rho - 1) != 0 or any(plain(c).has(round_index) for c in varying):
        raise NotFollowed("weights that depend on the rounds that are left stand beside others that vary")
    if at.named or any(plain(c - T * c.subs(T, 1)) != 0 for c in spent.values()):
        raise NotFollowed("a part of the potential is not used up alike by all rounds")
    zero = sympy.S.Zero
    for q, c in spent.items():
        right[q] = right.get(q, zero) + c.subs(T, 1)
        excess[q] = excess.get(q, zero) + c
    for q, r in form.starts.items():
        excess[q] = excess.get(q, zero) - (r - at.start(r))


def _rho(form: Printed, at: Sequences, signs: Signs) -> sympy.Expr:
    """The factor by which weights grow from one round to the next. Raise ``NotFollowed`` if they grow differently, or
    may change their sign."""
    found: sympy.Expr | None = None
    for s in form.sums:
        rho = quotient(at.after(s.weight), at.now(s.weight))
        if rho.has(EARLIER) or (found is not None and plain(found - rho) != 0):
            raise NotFollowed("the weights of sums do not grow alike from round to round")
        found = rho
    if found is None:
        r = next((r for r in form.starts.values() if r != 0), sympy.S.One)
        found = quotient(at.after(r), at.now(r))
    if reals.undefined_part([found], list(signs.given)) is not None or not signs.nonnegative(found):
        # At no round may it be infinite, where what it multiplies vanishes.
        raise NotFollowed(f"the weights grow by {found} a round, which may be negative or infinite")
    return found


def _reduced(
    left: Coefficients, right: Coefficients, others: tuple[sympy.Expr, sympy.Expr], at: Sequences, signs: Signs
) -> tuple[Coefficients, Coefficients, sympy.Expr, sympy.Expr, sympy.Expr]:
    """Both sides of the inequality of one round, and other numbers in it, as rational functions of k, less a common
    factor that is positive; and that factor."""
    named = tuple(at.named.values())
    first = next((c for c in map(plain, left.values()) if c != 0), sympy.S.One)
    factor = moving_part(first, named)
    # One quantity of the potential without a factor, if that does not vary.
    units = (quotient(c, factor) for c in left.values() if c != 0)
    factor *= next((u for u in units if not u.has(round_index, *named) and signs.positive(u)), sympy.S.One)
    if not signs.positive(factor):
        raise NotFollowed(f"{factor} is not shown to be positive")

    def reduced(c: sympy.Expr) -> sympy.Expr:
        found = quotient(c, factor)
        if found.has(*named) or grows(found):
            raise NotFollowed("the inequality of one round has coefficients that are not rational in k")
        return found

    number, other = map(reduced, others)
    return {q: reduced(c) for q, c in left.items()}, {q: reduced(c) for q, c in right.items()}, number, other, factor
