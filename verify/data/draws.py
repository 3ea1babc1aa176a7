"""Draws: one example of all, with the expectation of sums in which it occurs, or a coin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.data import arrays, sums
from verify.data.arrays import Array
from verify.data.comparing import There
from verify.data.space import Product, Space, same
from verify.reading.source import Unread
from verify.reading.terms import Axis

#: The name of the indicator of the example that is drawn.
CHOSEN = "the example that is drawn"
#: The name of the side on which a coin falls.
COIN = "the coin"


@dataclass(frozen=True)
class OneExample:
    """The law of one example, uniform over all: a mask."""

    space: Space

    def drawn(self) -> Array:
        """Return the mask of a draw."""
        self.space.made_of[CHOSEN] = (_drawn_at, ())
        return arrays.leaf(self.space, CHOSEN, (Axis.EXAMPLES,), True, mask=True)


@dataclass(frozen=True)
class Coin:
    """The law of a coin with the probability ``p``."""

    space: Space
    p: Array

    def drawn(self) -> Array:
        """Return a draw."""
        self.space.made_of[COIN] = (_drawn_at, ())
        return arrays.leaf(self.space, COIN, (), True, mask=True)


def coin(space: Space, p: Any) -> Coin:
    """Return the law of a coin. That its probability is one is an obligation of who draws it."""
    chance = arrays.of(space, p)
    chance.number()
    return Coin(space, chance)


def subset(space: Space, n: Any, tau: Any) -> OneExample:
    """Return the law of a uniform subset of all examples that has one element."""
    if not isinstance(n, Array) or n.number() != space.count(Axis.EXAMPLES) or type(tau) is not int or tau != 1:
        raise ValueError("a subset is drawn that is not one of all examples")
    return OneExample(space)


def _drawn_at(of: tuple[()], there: There) -> Any:
    return np.asarray(there.draw).astype(int)


def occurs_in(one: Array) -> bool:
    """Return True if an array depends on the draw."""
    return any(CHOSEN in f.name for made in one.of for f in made)


def expected(one: Array) -> Array:
    """Return the expectation over the draw. Raise ``Unread`` if the draw is within something of which little is
    known."""
    space, found = one.space, dict[Product, Any]()
    if any(CHOSEN in f.name and f.name != CHOSEN for made in one.of for f in made):
        raise Unread("an expression that is not a sum of products depends on the draw")
    for made, c in one.of.items():
        drawn = [f.at[0] for f in made if f.name == CHOSEN]
        factors = [f for f in made if f.name != CHOSEN]
        if drawn:
            # It is one example, each with the same probability: all that are drawn are the first.
            factors += [same(Axis.EXAMPLES, drawn[0], at) for at in drawn]
            c = c / space.count(Axis.EXAMPLES)
        for again, b in sums.canonical(space, factors):
            found[again] = found.get(again, space.field.zero) + b * c
    return Array(space, one.axes, {made: c for made, c in found.items() if c}, one.batched)
