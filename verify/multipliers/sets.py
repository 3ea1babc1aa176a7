"""Closed convex sets in a program of a generic client: what projections and linear minimisation answer, and what is
known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from verify.multipliers.generic_functions import DrawnPoint, KnownInequality
from verify.multipliers.reasons import Phrase
from verify.reading.source import Unread
from verify.reading.worlds import ONE, World, WorldValue


@dataclass(eq=False)
class SetPoint:
    """A point of a set relative to x*, and vectors known to be normal to the set there."""

    point: WorldValue
    normals: list[WorldValue]


@dataclass(eq=False)
class ConvexSets:
    """The sets of the clients, or one set for all (``own`` False), with x* in them.

    ``slope``: a vector normal to the set at x*, 0 where none is known; ``diameter``: no two points of the set are
    farther apart, None where nothing is known of it. All points are relative to x*.
    """

    name: str
    own: bool
    slope: WorldValue
    diameter: WorldValue | None = None
    points: dict[str, SetPoint] = field(default_factory=dict)
    answered: dict[tuple[str, str], WorldValue] = field(default_factory=dict)
    #: No values of functions are asked here.
    drawn: dict[tuple[str, str], DrawnPoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hold(WorldValue({})).normals.append(self.slope)

    def hold(self, point: WorldValue) -> SetPoint:
        """Record that a point is in the set."""
        return self.points.setdefault(point.name(), SetPoint(point, []))

    def project(self, world: World, target: WorldValue) -> WorldValue:
        """The point of the set that is nearest to another one."""
        if target.name() in self.points:
            return target
        return self._answer(world, "projection", target, lambda point: target - point)

    def lmo(self, world: World, v: WorldValue) -> WorldValue:
        """A point s of the set at which <v, s> is least."""
        if self.diameter is None:
            raise Unread("a linear function is minimised over a set that need not be bounded")
        return self._answer(world, "minimiser", v, lambda point: -v)

    def _answer(
        self, world: World, what: str, asked: WorldValue, normal: Callable[[WorldValue], WorldValue]
    ) -> WorldValue:
        key = what, asked.name()
        if key not in self.answered:
            made = world.of_client if self.own else world.atom
            point = made(f"{what} {self.name}({len(self.answered)})", 1)
            self.answered[key] = point
            self.hold(point).normals.append(normal(point))
        return self.answered[key]

    def inequalities(self, world: World) -> Iterator[KnownInequality]:
        """Yield what is known of each two points: by the vectors normal to the set, and by its diameter."""
        whose = "each client's set" if self.own else "the set"
        summed = ", summed over the clients" if self.own else ""

        def known(name: str, words: tuple[Any, ...], form: WorldValue) -> KnownInequality:
            why = Phrase((*words, summed) if summed else words)
            return KnownInequality(f"{self.name} {name}", why, world.total(form) if self.own else form)

        points = list(enumerate(self.points.values()))
        for i, a in points:
            for k, v in enumerate(a.normals):
                for j, b in points:
                    if i != j and not v.is_zero():
                        words: tuple[Any, ...] = (
                            v,
                            f" is normal to {whose} at x* + ",
                            a.point,
                            ", and x* + ",
                            b.point,
                            " is in it",
                        )
                        yield known(f"normal[{i},{j}] {k}", words, world.inner(v * (b.point - a.point)))
        D = self.diameter
        if D is None:
            return
        for (i, a), (j, b) in combinations(points, 2):
            x = a.point - b.point
            words = ("two points of the set, x* + ", a.point, " and x* + ", b.point, ", are not farther apart than ", D)
            yield known(f"diameter[{i},{j}]", words, world.inner(x * x) - D * D)

    def is_inside(self, point: WorldValue, nonnegative: Callable[[Any], bool]) -> bool:
        """Return True if a point is seen to be in the set: a mean, with nonnegative weights, of its points,
        x* among them.
        """
        single = {key: a for a in self.points.values() for key in [_only_vector(a.point)] if key is not None}
        weights = []
        for key, c in point.of.items():
            if key not in single:
                return False
            weights.append(c)
        return all(map(nonnegative, weights)) and nonnegative(1 - sum(weights))


def _only_vector(point: WorldValue) -> Any:
    """The vector that a point is, None where it is a sum."""
    (key, c), *more = point.of.items() if point.of else [(ONE, 0)]
    return key if c == 1 and not more else None
