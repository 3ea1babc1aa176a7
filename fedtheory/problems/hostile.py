"""What an adversary answers: vectors at a distance from a centre, exact on fractions where roots are rational."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, exact, is_exact, square, square_root


@dataclass(frozen=True)
class Hostile:
    """Answers at ``share`` of the largest distance from the centre that is allowed.

    ``direction (d,)``: of length 1. ``radial``: along the centre instead, away from 0 where ``share`` is positive;
    where the centre is 0, along the direction. ``turning``: every other answer within a step is on the other side.
    """

    share: Any
    direction: Array
    radial: bool = False
    turning: bool = False

    @property
    def name(self) -> str:
        """What it is, in words."""
        shown = "(" + ", ".join(str(Fraction(v)) for v in self.direction) + ")"
        along = "the centre divided by its length" if self.radial else shown
        words = f"answers c + ({Fraction(self.share)}) r u, with c the centre, r the radius, u = {along}"
        return f"{words}, and every other time c - ({Fraction(self.share)}) r u" if self.turning else words

    def in_step(self) -> Asked:
        """The adversary as one step asks it."""
        return Asked(self)

    def answer(self, centre: Array, bound: object) -> Array:
        """``ValueError``: before and after a step the answers would seem to be the same."""
        raise ValueError("an adversary is asked outside of a step")

    def at(self, centre: Array, bound: Any) -> Array:
        """A vector, or one for each client, whose distance from ``centre (..., d)`` or ``(..., n, d)`` has a square of
        at most ``bound``: a number, or one for each vector.

        ``ValueError`` where ``bound`` is negative, or of another shape.
        """
        kept = exact if is_exact(self.direction) else np.asarray
        centre, bound = kept(centre), kept(bound)
        if bound.ndim not in (0, centre.ndim - 1):
            raise ValueError(
                f"an adversary is given a bound of shape {bound.shape} for vectors of shape {centre.shape}: "
                "one number for each vector is due, as by bound[..., None] for those of all clients"
            )
        if is_exact(bound) and (bound < 0).any():
            raise ValueError(f"no answer of an adversary is there: its squared distance is at most {bound.min()}")
        bound = np.broadcast_to(bound, centre.shape[:-1])
        if not is_exact(bound):
            bound = np.maximum(bound, 0)
        if not self.radial:
            return self._moved(centre, _roots(bound)[..., None] * self.direction)
        own = square(centre)
        at_zero = own == 0
        if not at_zero.any():
            return self._moved(centre, _roots(bound / own)[..., None] * centre)
        along = np.where(at_zero[..., None], self.direction, centre)
        return self._moved(centre, _roots(bound / np.where(at_zero, 1, own))[..., None] * along)

    def _moved(self, centre: Array, by: Array) -> Array:
        moved: Array = centre + self.share * by
        return moved


@dataclass
class Asked:
    """An adversary as one step asks it; ``answers``: how often it did so far."""

    of: Hostile
    answers: int = 0

    def answer(self, centre: Array, bound: object) -> Array:
        """As :meth:`Hostile.at`; every other time on the other side, where the adversary turns."""
        self.answers += 1
        turned = self.of.turning and self.answers % 2 == 0
        return (replace(self.of, share=-self.of.share) if turned else self.of).at(centre, bound)


def in_step(params: Any) -> Any:
    """The parameters with adversaries as one step asks them: what they answer depends on what they answered before."""
    fields = getattr(params, "_fields", ())
    asked = {name: getattr(params, name).in_step() for name in fields if hasattr(getattr(params, name), "in_step")}
    return params._replace(**asked) if asked else params


def _roots(of: Array) -> Array:
    """The square root of each entry, an interval where it is irrational."""
    if not is_exact(of):
        return np.sqrt(of)
    found = np.empty(of.shape, dtype=object)
    found.flat[:] = [square_root(value) for value in of.flat]
    return found
