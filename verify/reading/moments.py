"""Expectations over uniformly random subsets of the clients, or over subsets by weights, by their first two moments.

A client is in a uniform subset of tau with probability tau/n, two different ones with tau (tau - 1)/(n (n - 1)). A
subset by weights has tau clients too, and a probability proportional to the sum of their weights, so that its
expectation of F is that of F times this sum over uniform ones, up to a factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from verify.reading.source import Unread
from verify.reading.worlds import ONE, Monomial, Value, World, inverse

#: Sums over drawn clients, and draws of a client, that are multiplied with each other, at most.
_MOMENTS = 2


class Pair(NamedTuple):
    """The terms of two sums over drawn clients, of which the inner product is taken."""

    one: Value
    other: Value


def expected(world: World, value: Value, draw: str) -> Value:
    """The expectation of a value over the subsets of clients that ``draw`` stands for."""
    tau, n = world.totals[draw], world.count("n")
    weights = world.weights.get(draw)
    factor = Value({ONE: world.field.one})
    if weights is not None:
        value = value * world.total(world.drawn(draw) * weights)
        factor = n * inverse(world, tau * world.total(weights))
    found = Value({})
    for monomial, c in value.of.items():
        for rest, sums, own in _factors(world, monomial, c, draw):
            found += rest * _moment(world, sums, own, tau, n)
    return found * factor


def _factors(world: World, monomial: Monomial, c: Any, draw: str) -> Iterator[tuple[Value, list[Value | Pair], bool]]:
    """What does not depend on the draws, the terms of sums over drawn clients, and whether a client must be drawn."""
    draws, atoms = monomial
    kept, sums = [], []
    for atom in atoms:
        terms = _terms(world, atom.name, draw)
        if terms is None:
            kept.append(atom)
        else:
            sums.append(terms)
    left = draws - {draw}, tuple(kept)
    symbols = {str(symbol): name for name, symbol in world.sums.items() if draw in world.meaning[name][2]}
    places = [k for k, symbol in enumerate(world.field.symbols) if str(symbol) in symbols]
    if any(power[k] for power in c.denom for k in places):
        raise Unread("an expectation is taken of a quotient by what depends on the draws")
    for powers, number in c.numer.terms():
        rest, more = world.field(number), []
        for k, (generator, power) in enumerate(zip(world.field.gens, powers, strict=True)):
            if k in places:
                of = _of_sum(world, symbols[str(world.field.symbols[k])], draw)
                more += [of] * power
            else:
                rest *= generator**power
        yield Value({left: rest / world.field(c.denom)}), [*sums, *more], draw in draws


def _terms(world: World, name: str, draw: str) -> Value | Pair | None:
    """The terms, of a generic client, of a sum over drawn clients or of its inner product; None of what is no such."""
    kind, *of = world.meaning.get(name, ("",))
    if kind == "sum":
        return _of_sum(world, name, draw) if draw in of[1] else None
    if kind != "inner product":
        return None
    one, other = (_terms(world, atom.name, draw) for atom in of)
    if isinstance(one, Pair) or isinstance(other, Pair):
        raise Unread("an inner product is one of vectors")
    if one is not None and other is not None:
        return Pair(one, other)
    if one is None and other is None:
        return None
    single = [Value({(frozenset(), (atom,)): world.field.one}) for atom in of]
    return world.inner((one or single[0]) * (other or single[1]))


def _of_sum(world: World, name: str, draw: str) -> Value:
    _, letters, draws, own = world.meaning[name]
    return Value({(draws - {draw}, tuple(own)): letters})


def _moment(world: World, sums: list[Value | Pair], own: bool, tau: Value, n: Value) -> Value:
    """The expectation of a product of sums over drawn clients, and of whether a generic client is drawn."""
    if own + sum(2 if isinstance(terms, Pair) else 1 for terms in sums) > _MOMENTS:
        raise Unread(f"more than {_MOMENTS} draws of clients are multiplied in an expectation")
    one = Value({ONE: world.field.one})
    if not own and not sums:
        return one
    single = tau * inverse(world, n)
    if own and not sums:
        return single
    if not own and len(sums) == 1 and isinstance(sums[0], Value):
        return single * world.total(sums[0])
    pair = single * (tau - one) * inverse(world, n - one)
    first = sums[0]
    if isinstance(first, Pair):
        both = world.total(world.inner(first.one * first.other))
        return single * both + pair * (world.inner(world.total(first.one) * world.total(first.other)) - both)
    if own:
        return single * first + pair * (world.total(first) - first)
    assert isinstance(sums[1], Value)
    both = world.total(first * sums[1])
    return single * both + pair * (world.total(first) * world.total(sums[1]) - both)
