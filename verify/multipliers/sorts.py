"""Clients of which a letter of their own is 0, apart from those of which it is positive.

A letter that may be 0 and has a bound from above is written by no slack: 0 is one case, positive values are another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verify.multipliers.domains import Domain
from verify.multipliers.posing import Posed
from verify.multipliers.ratios import Ratio, replaced, substituted

#: Letters by which clients are distinguished, at most.
_APART = 2


def sorts(posed: Posed, own: frozenset[int]) -> Iterator[tuple[str, Posed]]:
    """Yield the inequality to be shown for each kind of clients, with words that distinguish it; only one if that
    suffices.

    ``own``: the places of letters of each client's own. There is one more sort for each that is 0, unless no client is.
    """
    waiting = sorted(own - posed.domain.positive)[:_APART]
    found = [("", posed)]
    while waiting and not posed.domain.is_regular():
        place = waiting.pop(0)
        name = posed.names[place]
        found = [
            (f"{words}, {name} {sign} 0", part(of, place))
            for words, of in found
            for sign, part in (("=", _without), (">", _with))
        ]
        posed = found[-1][1]
    yield from ((words, of) for words, of in found if not of.domain.is_empty)


def _with(posed: Posed, place: int) -> Posed:
    """Return the part where a letter is positive."""
    domain = posed.domain
    found = Domain(domain.ring, domain.positive | {place})
    for k, c in enumerate(domain.constraints):
        found = found.with_constraint(c.poly, c.strict, _bounded(domain, k))
    return replace(posed, domain=found)


def _without(posed: Posed, place: int) -> Posed:
    """Return the part where a letter is 0."""
    domain = posed.domain
    zero, one = domain.ring.constant(0), domain.ring.constant(1)
    found = Domain(domain.ring, domain.positive)
    for k, c in enumerate(domain.constraints):
        found = found.with_constraint(replaced(c.poly, place, zero, one), c.strict, _bounded(domain, k))

    def put(ratio: Ratio) -> Ratio:
        return substituted(ratio, {place: posed.zero})

    return replace(
        posed,
        domain=found,
        target=posed.target.mapped(put),
        known={name: form.mapped(put) for name, form in posed.known.items()},
        branches={letter: tuple(map(put, bounds)) for letter, bounds in posed.branches.items()},
        hints=tuple(map(put, posed.hints)),
    )


def _bounded(domain: Domain, k: int) -> int | None:
    """The letter for a maximum of which a constraint is a bound."""
    return next((letter for letter, places in domain.bounded.items() if k in places), None)
