"""Functions that are compared with a reference function h in a program of a generic client: what they answer, and what
the convexity of L h - f and f - mu h gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from verify.multipliers.generic_functions import ClassFunctions, FunctionAt, KnownInequality, is_shared
from verify.multipliers.reasons import Phrase
from verify.reading.source import Unread
from verify.reading.worlds import ONE, World, WorldValue


class Reference(ClassFunctions):
    """h, which is differentiable and strictly convex: asked at points that all clients share, or known to have a
    gradient there."""

    def at(self, world: World, point: WorldValue, apart: bool = False) -> FunctionAt:
        """Return the value and gradient at a point relative to x*, which all clients share; else ``Unread``."""
        if any(atom.own for _, atoms in point.of for atom in atoms):
            raise Unread(f"{self.name} is asked at a point of each client's own")
        return super().at(world, point, apart)

    def mirror(self, world: World, z: WorldValue) -> WorldValue:
        """The point, relative to x*, where the gradient is ``z``: there is one."""
        for known in self.asked.values():
            if (self.slope + known.gradient - z).is_zero():
                return known.point
        point = world.atom(f"mirror({len(self.solved)})", 1)
        self.solved["", z.name()] = point
        self.hold(world, point, z)
        return point

    def hold(self, world: World, point: WorldValue, gradient: WorldValue) -> None:
        """Record the gradient at a new point relative to x*."""
        self.asked[point.name()] = FunctionAt(point, gradient - self.slope, self._value(world, point))

    def inequalities(self, world: World) -> Iterator[KnownInequality]:
        """None by itself: they stand among those of the functions that are compared with it, before these."""
        yield from ()

    def convexity(self, world: World) -> Iterator[KnownInequality]:
        """Yield the inequalities of a convex function for each pair of points."""
        yield from super().inequalities(world)

    def divergence(self, world: World, x: WorldValue, y: WorldValue) -> WorldValue:
        """D_h at two points relative to x*: tangents drop out."""
        one, other = self.at(world, x), self.at(world, y)
        return one.value - other.value - world.inner(other.gradient * (x - y))


@dataclass(eq=False)
class RelativeFunctions(ClassFunctions):
    """The f_i, with the least and the largest curvature relative to ``reference``, the largest None where there is
    none. Gradients at points of each client's own are compared with nothing."""

    reference: Reference | None = None
    least: WorldValue | None = None
    largest: WorldValue | None = None

    def prox(self, world: World, gamma: WorldValue, z: WorldValue) -> tuple[WorldValue, tuple[WorldValue, ...]]:
        """The point x, relative to x*, where gamma times the mean of the gradients is z - grad h(x), and numbers that
        have to be positive for it to be the only one."""
        h, least = self.reference, self.least
        if h is None or least is None or set(gamma.of) != {ONE}:
            raise Unread("Bregman proximal points are taken with a number that is not made of letters")
        key = gamma.name(), z.name()
        if key not in self.solved:
            point = world.atom(f"prox h({len(self.solved)})", 1)
            self.solved[key] = point
            # The gradients at x* balance, so that the mean is that of what they differ by.
            mean = self._averaged(world, self.at(world, point, apart=True)).gradient
            h.hold(world, point, z - gamma * mean)
        one = WorldValue({ONE: world.field.one})
        return self.solved[key], (gamma, one + gamma * least)

    def inequalities(self, world: World) -> Iterator[KnownInequality]:
        """Yield what is known for each pair of points that all clients share, summed over the clients, and of the mean
        that x* is its minimiser."""
        h, least = self.reference, self.least
        assert h is not None and least is not None
        self.at(world, WorldValue({}), apart=True)
        # Where h is known, what links f to it may be of use, as at the next iterate.
        seen = {at.point.name() for at in self.asked.values()}
        for known in h.asked.values():
            if known.point.name() not in seen:
                self.at(world, known.point)
        shared = [(k, at) for k, at in enumerate(self.asked.values()) if is_shared(at)]
        others = {k: h.at(world, at.point) for k, at in shared}
        # A search prefers what comes first, and here nothing is divided by L - mu.
        yield from h.convexity(world)
        whose = f"each {self.name}_i" if self.own else self.name
        for (i, a), (j, b) in permutations(shared, 2):
            mine, of_h = _divergence(world, a, b), _divergence(world, others[i], others[j])
            words = [(f"{whose} is as convex as its bound times h", least * of_h - mine)]
            if self.largest is not None:
                words.append((f"{whose} is as smooth as its bound times h", mine - self.largest * of_h))
            for number, (says, form) in enumerate(words):
                why = Phrase((f"{says}, at x* + ", a.point, " from x* + ", b.point))
                total = world.total(form) if self.own else form
                yield KnownInequality(f"{self.name} {('below', 'above')[number]}[{i},{j}]", why, total)
        for k, at in shared:
            if not at.point.is_zero():
                why = Phrase(("f is least at x*, and no less at x* + ", at.point))
                yield KnownInequality(f"{self.name} least[{k}]", why, -self._averaged(world, at).value)


def _divergence(world: World, a: FunctionAt, b: FunctionAt) -> WorldValue:
    return a.value - b.value - world.inner(b.gradient * (a.point - b.point))
