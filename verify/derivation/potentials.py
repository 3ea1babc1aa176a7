"""Potentials from which a bound of T rounds may follow: those that are named, and what the start leaves.

What the start leaves of a quantity may go on as the quantity of another part of the state that begins where this one
does, as |z - x*|^2 does for |x - x*|^2 where z begins at x. What is bounded may have less than its weight in the
potential: none at the start, where this is shown of it in all states or there has been a round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T, round_index
from verify.derivation import starts
from verify.derivation.printed_rounds import EARLIER, Of, Printed
from verify.derivation.sequences import Sequences, plain, quotient
from verify.reading.program import Exchanged
from verify.reading.source import Unread

#: Coefficients by quantities.
Coefficients = Mapping[Of, sympy.Expr]


@dataclass(frozen=True)
class Potential:
    """The e_j, in T.

    ``through``: True if the bounded quantity is not a part of V_k, but at most V_T. ``less``: smaller numbers that
    replace the l_j in V_k, before a round. ``held``: True if V_0 is compared with the right side together with what is
    bounded, in states that hold what they began with. ``spent``: further weights, in the number T of rounds left.
    ``varying``: True if weights may vary where what is bounded is at most V_T.
    """

    added: Coefficients
    through: bool = False
    less: Coefficients = field(default_factory=dict)
    held: bool = False
    spent: Coefficients = field(default_factory=dict)
    varying: bool = False


class _Hint(NamedTuple):
    """A potential that is named: its coefficients after a round and before it, and the multiples of quantities by
    which it decreases, in k."""

    of: Coefficients
    before: Coefficients = MappingProxyType({})
    descent: Coefficients = MappingProxyType({})


def _hints(claim: Claim) -> Iterator[_Hint]:
    """Those of the claims from which a bound is to follow, and that of its setting."""
    for id in claim.follows:
        premise = claims.get(id)
        says = premise.statement
        if isinstance(says, OneStep) and says.algorithm is claim.statement.algorithm:
            stand = {q.expression: sympy.Dummy() for q in says.quantities}
            left, right = (side.xreplace(stand) for side in (says.left, says.right))
            found = {q: sympy.diff(left - right, stand[q.expression]) for q in says.quantities}
            # After a step parameters are those of the next round.
            varies = starts.depend_on_round(claim, [q.of for q in found])
            if not varies and not any(c.free_symbols & set(stand.values()) for c in found.values()):
                after = {q.of: c for q, c in found.items() if q.after and c != 0}
                before = {q.of: -c for q, c in found.items() if not q.after}
                yield _Hint(after, before, {q: -c for q, c in before.items() if q not in after})
    if claim.setting.potential is not None and not starts.depend_on_round(claim, [claim.setting.potential.of]):
        yield _Hint({claim.setting.potential.of: sympy.S.One})


def potentials(claim: Claim, form: Printed, at: Sequences) -> Iterator[Potential]:
    """Choices of the e_j."""
    zero = sympy.S.Zero
    begun = {q: at.start(r) for q, r in form.starts.items()}
    left = {q: plain(c - at.start(form.ends.get(q, zero))) for q, c in begun.items()}
    for hint in _hints(claim):
        # After T rounds the last one was round T - 1.
        others = {q: c.subs(round_index, T - 1) for q, c in hint.of.items() if q not in form.ends}
        begin = {q: a for q, c in others.items() if (a := c.subs(T, 0)) != 0}
        scales = [c / a for q, c in left.items() for p, a in begin.items() if c != 0 and (q is p or p not in left)]
        for s in form.sums:
            decrease = hint.descent.get(s.of, zero)
            if decrease != 0 and not s.after:
                # So much of the fall of round k = T - 1 is what the sum adds there.
                scale = quotient(at.after(s.weight).subs(EARLIER, round_index), decrease)
                scales.append(scale.subs(round_index, T - 1))
        less = {}
        for q, end in form.ends.items():
            # What is left before a round of what there was after the one before.
            a, b = (of.get(q, zero) for of in (hint.of, hint.before))
            if a.has(round_index) and b != 0 and claim.statement.since:
                less[q] = quotient(end * b.subs(round_index, T), a.subs(round_index, T - 1))
        for scale in dict.fromkeys(scales):
            for growth in _growths(form):
                added = {q: plain(c * scale * growth) for q, c in others.items()}
                yield Potential(added)
                if less:
                    yield Potential(added, less=less)
        if not form.sums and not any(c.has(round_index) for c in hint.of.values()):
            yield from _as_named(form, hint)
    for growth in _growths(form):
        yield Potential({q: plain(c * growth) for q, c in left.items() if c != 0})
    if form.ends:
        yield Potential({q: c for q, c in begun.items() if c != 0}, through=True)
    # Where the code of the start is not read, the other choices remain.
    with suppress(Unread):
        yield from _further(claim, form, begun, at)


class Link(NamedTuple):
    """A quantity ``of`` that may be at most ``taken`` times what a round takes off ``start``, where ``end`` is at most
    ``bounding`` times it. Nobody has to have shown it."""

    start: Of
    of: Of
    end: Of
    taken: sympy.Expr
    bounding: sympy.Expr


def _linked(form: Printed, link: Link, at: Sequences) -> Potential:
    """The choice in which the weight of a link grows with the rounds, as what it is at most is taken off in each, and
    what is bounded has what its weight is then short of."""
    begun, end = at.start(form.starts[link.start]), form.ends[link.end]
    short = at.start(end) + T * begun / (link.taken * link.bounding)
    added = {link.start: begun, link.of: plain(T * begun / link.taken), link.end: plain(end - short)}
    return Potential(added, through=True, varying=True)


def later_potentials(claim: Claim, form: Printed, at: Sequences, links: Sequence[Link]) -> Iterator[Potential]:
    """Further choices, of which none is likely."""
    for link in links:
        if not form.sums and set(form.starts) == {link.start} and set(form.ends) == {link.end}:
            yield _linked(form, link, at)
    begun = {q: r for q, c in form.starts.items() if (r := at.start(c)) != 0}
    left = {q: r for q, c in begun.items() if (r := plain(c - at.start(form.ends.get(q, sympy.S.Zero)))) != 0}
    if form.ends and left:
        # What is bounded may begin as something else, of which all is used up.
        yield Potential({})
    with suppress(Unread):
        yield from (Potential(of) for of in _exchanged(claim, left) if of is not left)
    for hint in _hints(claim):
        if any(c.has(round_index) for c in hint.of.values()):
            continue
        for r in form.starts.values():
            grown = plain(r - at.start(r))
            for scale in dict.fromkeys(quotient(grown, c) for c in hint.of.values() if grown != 0):
                yield Potential(begun, spent={q: plain(c * scale) for q, c in hint.of.items()})
    for hint in _hints(claim) if form.ends and not form.sums else ():
        before = {q: c.subs(round_index, T) for q, c in hint.before.items()}
        if not any(c.has(T) for c in before.values()):
            continue
        scales = [quotient(r, b) for q, r in begun.items() if (b := at.start(before.get(q, sympy.S.Zero))) != 0]
        for scale in dict.fromkeys(scales):
            yield Potential({q: plain(c * scale) for q, c in before.items()}, through=True, varying=True)


def _as_named(form: Printed, hint: _Hint) -> Iterator[Potential]:
    """Choices that are multiples of a named potential; what is bounded is a part of it or at most all of it."""
    for q, end in form.ends.items():
        scale = quotient(end, hint.of[q]) if hint.of.get(q, sympy.S.Zero) != 0 else end
        added = {p: plain(c * scale) for p, c in hint.of.items()}
        if q in added:
            yield Potential({p: c for p, c in added.items() if p not in form.ends})
        else:
            yield Potential(added, through=True)


def _further(claim: Claim, form: Printed, begun: Coefficients, at: Sequences) -> Iterator[Potential]:
    """Choices in which what is bounded has less weight, and what the start leaves is of other parts of the state."""
    zero = sympy.S.Zero
    grown = {q: plain(c - at.start(c)) for q, c in form.ends.items()}
    less = grown if any(plain(grown[q] - c) != 0 for q, c in form.ends.items()) else {}
    for hint in _hints(claim) if form.ends and not form.sums else ():
        before = {q: c.subs(round_index, T) for q, c in hint.before.items()}
        after = {q: c.subs(round_index, T - 1) for q, c in hint.of.items()}
        ratios = [
            quotient(end, of[q]) for q, end in form.ends.items() for of in (before, after) if of.get(q, zero) != 0
        ]
        for scale in dict.fromkeys(ratio for ratio in ratios if not ratio.has(T)):
            whole = {q: plain(c * scale) for q, c in before.items()}
            added = {q: c for q, c in whole.items() if q not in form.ends}
            yield Potential(added, less={q: whole.get(q, zero) for q in form.ends})
        if before:
            yield Potential(before, through=True, held=True)
    for exchanged in _exchanged(claim, {q: c for q, c in begun.items() if c != 0}):
        of_others = exchanged is not begun and set(exchanged) != {q for q, c in begun.items() if c != 0}
        if of_others:
            yield Potential(exchanged)
        if less and claim.statement.since:
            yield Potential(exchanged, less=less)
        if less:
            yield Potential(
                {q: exchanged.get(q, zero) + grown.get(q, zero) for q in {**exchanged, **grown}}, through=True
            )


def _exchanged(claim: Claim, of: Coefficients) -> Iterator[Coefficients]:
    """The quantities, and those of other parts of the state that are equal where runs begin."""
    yield of
    for name, other in starts.equal(claim):
        changed: dict[Of, sympy.Expr] = {
            Exchanged(q, ((name, other),)): c for q, c in of.items() if starts.depends(claim, q, name)
        }
        if changed:
            yield {**{q: c for q, c in of.items() if not starts.depends(claim, q, name)}, **changed}


def _growths(form: Printed) -> Iterator[sympy.Expr]:
    """The growth with T that is allowed of a potential's weights: none, or that of a sum."""
    yield sympy.S.One
    for s in form.sums:
        if s.weight.has(EARLIER) and not s.weight.has(T) and s.weight.subs(EARLIER, 0) != 0:
            yield quotient(s.weight.subs(EARLIER, T), s.weight.subs(EARLIER, 0))
