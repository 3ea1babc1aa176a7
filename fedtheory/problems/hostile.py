"""The answers of an adversary: vectors at a distance from a centre, exact on fractions where roots are rational, or
that meet other conditions too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, exact, is_exact, root_below, square, square_root

#: Vectors, each with a number: centres with squares of radii, or directions with least inner products.
Conditions = Sequence[tuple[Any, Any]]

#: Farther away than any sphere is.
_FAR = 10**40
#: Axes of vectors that all clients share, after those of states and of draws; and of directions for one state.
_SHARED, _OF_ONE_STATE = 3, 3


@dataclass(frozen=True)
class Hostile:
    """Answers at ``share`` of the largest distance from the centre that is allowed.

    ``direction (d,)``: of length 1. ``radial``: along the centre instead, away from 0 where ``share`` is positive;
    where the centre is 0, along the direction. ``turning``: every other answer within a step is on the other side.
    ``directions (K, m, d)``, or ``(M, K, m, d)`` for M states: of length at most 1, in the place of ``direction``;
    those of K answers within a step, one after the other, each for m clients or, with m = 1, for all of them.
    """

    share: Fraction | float
    direction: Array
    radial: bool = False
    turning: bool = False
    directions: Array | None = None

    @property
    def name(self) -> str:
        """The answer in words."""
        if self.directions is not None:
            along = "; ".join(", ".join(map(_vector, answer)) for answer in self.directions)
            if len(self.directions) > 1:
                along += " (one answer after the other)"
        else:
            along = "the centre divided by its length" if self.radial else _vector(self.direction)
        share = Fraction(self.share)
        if not share:
            return "answers c, the centre"
        words = f"answers c {_times(share)} r u, with c the centre, r the radius, u = {along}"
        return f"{words}, and every other time c {_times(-share)} r u" if self.turning else words

    def in_step(self) -> Asked:
        """The adversary as one step asks it."""
        return Asked(self)

    def along(self, asked: int, centre: Array) -> Hostile:
        """The adversary whose direction is that of its answer number ``asked`` within a step, about ``centre``."""
        if self.directions is None:
            return self
        u = self.directions[..., asked % self.directions.shape[-3], :, :]
        each = centre.ndim > _SHARED and centre.shape[-2] == u.shape[-2]
        u = u if each else u[..., 0, :]
        if self.directions.ndim > _OF_ONE_STATE:
            u = u.reshape(len(u), *(1,) * (centre.ndim - u.ndim), *u.shape[1:])
        return replace(self, direction=u, directions=None)

    def answer(self, centre: Array, bound: object, *more: Any, **named: Any) -> Array:
        """``ValueError``: before and after a step the answers would seem to be the same."""
        raise ValueError("an adversary is asked outside of a step")

    def at(
        self,
        centre: Array,
        bound: Any,
        within: Conditions = (),
        along: Conditions = (),
        feasible: Array | None = None,
    ) -> Array:
        """A vector, or one for each client, whose distance from ``centre (..., d)`` or ``(..., n, d)`` has a square of
        at most ``bound``: a number, or one for each vector.

        ``within``: centres and bounds of other balls in which it is too; ``along``: directions, and the least inner
        product of the vector with each; ``feasible``: a vector that meets all of these, by default the centre. With
        such conditions the answer is on the ray from that vector along the direction, ``share`` of the way to where the
        first condition ends.

        ``ValueError`` where ``bound`` is negative, or of another shape, or where that vector does not meet a condition.
        """
        if within or along:
            return self._among(centre, [(centre, bound), *within], along, centre if feasible is None else feasible)
        kept = exact if is_exact(self.direction) else np.asarray
        centre, bound = kept(centre), kept(bound)
        _check_shape(bound, centre)
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
        away = np.where(at_zero[..., None], self.direction, centre)
        return self._moved(centre, _roots(bound / np.where(at_zero, 1, own))[..., None] * away)

    def _among(self, centre: Array, balls: Conditions, halves: Conditions, feasible: Array) -> Array:
        given = [*balls, *halves, (feasible, 0)]
        kept = exact if is_exact(self.direction, *(part for pair in given for part in pair)) else np.asarray
        start: Array
        centre, start = np.broadcast_arrays(kept(centre), kept(feasible))
        away = np.broadcast_to(self.direction, centre.shape)
        if self.radial:
            away = np.where((square(centre) == 0)[..., None], away, centre)
        away = kept(-away if self.share < 0 else away)
        reach = None
        for to_end, conditions in ((_to_sphere, balls), (_to_plane, halves)):
            for vector, number in conditions:
                _check_shape(kept(number), centre)
                to = to_end(start, away, kept(vector), kept(number))
                reach = to if reach is None else np.where(to < reach, to, reach)
        assert reach is not None
        return start + (abs(self.share) * reach)[..., None] * away

    def _moved(self, centre: Array, by: Array) -> Array:
        return centre + self.share * by


@dataclass
class Asked:
    """An adversary as one step asks it; ``answers``: how often it did so far."""

    of: Hostile
    answers: int = 0

    def answer(
        self,
        centre: Array,
        bound: object,
        within: Conditions = (),
        along: Conditions = (),
        feasible: Array | None = None,
    ) -> Array:
        """As :meth:`Hostile.at`; every other time on the other side, where the adversary turns."""
        self.answers += 1
        of = self.of.along(self.answers - 1, np.asarray(centre))
        turned = of.turning and self.answers % 2 == 0
        return (replace(of, share=-of.share) if turned else of).at(centre, bound, within, along, feasible)


def _vector(u: Array) -> str:
    return "(" + ", ".join(str(Fraction(v)) for v in u) + ")"


def _times(share: Fraction) -> str:
    """A number with its sign, as it stands before the letter that it multiplies: "+", "- 1/2"."""
    return ("-" if share < 0 else "+") + ("" if abs(share) == 1 else f" {abs(share)}")


def in_step(params: Any) -> Any:
    """The parameters with adversaries as one step asks them: what they answer depends on what they answered before."""
    fields = getattr(params, "_fields", ())
    asked = {name: getattr(params, name).in_step() for name in fields if hasattr(getattr(params, name), "in_step")}
    return params._replace(**asked) if asked else params


def _check_shape(bound: Array, vectors: Array) -> None:
    if bound.ndim not in (0, vectors.ndim - 1):
        raise ValueError(
            f"an adversary is given a bound of shape {bound.shape} for vectors of shape {vectors.shape}: "
            "one number for each vector is due, as by bound[..., None] for those of all clients"
        )


def _to_sphere(start: Array, away: Array, centre: Array, bound: Array) -> Array:
    """By which multiple of ``away`` one gets from ``start`` to the sphere about ``centre``, or nearly there; ``start``
    is in the ball."""
    off = start - centre
    a, b, c = square(away), (off * away).sum(axis=-1), _nonnegative(bound - square(off))
    found: Array = (root_below(b * b + a * c) - b) / a
    return np.where(found < 0, 0 * found, found)


def _to_plane(start: Array, away: Array, direction: Array, least: Array) -> Array:
    """By which multiple of ``away`` one gets from ``start`` to where the inner product with ``direction`` is ``least``;
    a large number where that is nowhere."""
    room, slope = _nonnegative((start * direction).sum(axis=-1) - least), (away * direction).sum(axis=-1)
    return np.where(slope < 0, room / np.where(slope < 0, -slope, 1), room + _FAR)


def _nonnegative(room: Array) -> Array:
    """The slack of a vector in a condition; ``ValueError`` if it is known to be negative."""
    if is_exact(room) and (room < 0).any():
        raise ValueError("no answer of an adversary is known: what is to meet its conditions does not; say feasible=")
    return np.where(room < 0, 0 * room, room)


def _roots(of: Array) -> Array:
    """The square root of each entry, an interval where it is irrational."""
    if not is_exact(of):
        return np.sqrt(of)
    found = np.empty(of.shape, dtype=object)
    found.flat[:] = [square_root(value) for value in of.flat]
    return found
