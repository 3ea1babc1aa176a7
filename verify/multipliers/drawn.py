"""The expectation of a step over the clients that it draws, with letters and vectors of each client's own.

A set of tau of the n clients is drawn uniformly, or by weights: then with a probability proportional to the sum of the
weights in it. A step may take the mean c of vectors s_i over the clients that are drawn, weighted by w_i, so that each
of them moves along s_i - c. Random vectors are set to 0 where their client is not drawn. They are elements of a Hilbert
space, in which the expectation of an inner product is the inner product: what is shown of vectors is shown of them.

With r = (tau - 1)/(n - 1), m_i = 1 where client i is drawn, else 0, and c* the mean over all by the same weights:

- E m_i = r + (1 - r) w_i/sum_j w_j for sets drawn by the w_i, which are all alike for uniform sets;
- E[m_i (s_i - c)] = r (s_i - c*) for sets drawn by the w_i, by two moments of uniform sets: with the probability of a
  set the sum by which c divides cancels;
- sum_i m_i w_i <s_i - c, c> = 0 for every set;
- sum_i v_i E[m_i |s_i - c|^2] >= r sum_i v_i |s_i - c*|^2 for sets drawn by v_i, c* weighted by them, and every c: the
  mean weighted by the v_i is nearest, and of that it is an equality.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy

from verify.multipliers.clients import FUNCTION, ClientsAt, GenericClients
from verify.multipliers.reasons import MovedCurvatures, Reason, Stated
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.values import Law
from verify.reading.worlds import ONE, Atom, WorldValue, inverse

_NONE: frozenset[str] = frozenset()
#: Distributions of sets of clients.
_SETS = ("subset", "weighted subset")


@dataclass(frozen=True, eq=False)
class Sets:
    """The distribution of a set of clients: how many there are, and by which weights it is drawn."""

    size: WorldValue
    weights: WorldValue


@dataclass(frozen=True, eq=False)
class Move:
    """``along``: s_i - c, where the client is drawn; ``mask``: by which it is drawn; ``of``: s_i; ``weight``: w_i."""

    mask: str
    along: WorldValue
    of: WorldValue
    weight: WorldValue


@dataclass(frozen=True, eq=False)
class Moved:
    """A client's function at a point that depends on the set that is drawn: ``by`` how much it is off ``base``, and by
    how much the value and the gradient there are off the tangent and the gradient at ``base``."""

    mask: str
    base: ClientsAt
    by: WorldValue
    value: WorldValue
    gradient: WorldValue


class SetRelation(NamedTuple):
    """A number that is at most 0, under a name, and why; ``link``: the name under which a sum is linked, and with which
    sign."""

    name: str
    value: WorldValue
    why: Reason
    link: tuple[str, int] | None = None


@dataclass(eq=False)
class DrawnClients:
    """The sets that a step draws, in a world of clients, with their properties. ``random``: the masks, by names of
    atoms.
    """

    clients: GenericClients
    sets: dict[str, Sets]
    moves: dict[str, Move] = field(default_factory=dict)
    points: dict[str, Moved] = field(default_factory=dict)
    random: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, clients: GenericClients, law: Law) -> DrawnClients:
        """The sets of a distribution. ``Unread`` where it draws anything else."""
        found = cls(clients, dict(_sets(clients, law, "draw")))
        for name, of in found.sets.items():
            clients.world.totals[name] = of.size
        clients.drawn = found
        return found

    # Quantities that depend on the sets

    def depends(self, value: WorldValue) -> bool:
        """Return True if a value depends on the sets by more than the draw of the client itself."""
        return any(self._summed(c) or any(map(self._is_drawn, atoms)) for (_, atoms), c in value.of.items())

    def _summed(self, c: Any) -> list[sympy.Symbol]:
        """The sums of numbers over drawn clients in a coefficient."""
        free = c.as_expr().free_symbols
        return [s for name, s in self.clients.world.sums.items() if s in free and self._is_drawn(Atom(name, 0))]

    def _is_drawn(self, atom: Atom) -> bool:
        if atom.name in self.random:
            return True
        for known in (self.clients.totals.get(atom.name), self.clients.relations.get(atom.name)):
            if known is not None:
                # The relation of a quotient involves the quotient too.
                left = {k: c for k, c in known.of.items() if atom not in k[1]}
                below = [c for k, c in known.of.items() if atom in k[1]]
                return self._depends_at_all(WorldValue(left)) or any(self._summed(c) for c in below)
        kind, *of = self.clients.world.meaning.get(atom.name, ("",))
        if kind == "sum":
            letters, draws, own = of
            return bool(draws & set(self.sets)) or bool(self._summed(letters)) or any(map(self._is_drawn, own))
        return kind == "inner product" and any(map(self._is_drawn, of))

    def _depends_at_all(self, value: WorldValue) -> bool:
        return self.depends(value) or any(draws & set(self.sets) for draws, _ in value.of)

    # Moves and points

    def moved(self, value: WorldValue) -> WorldValue:
        """A part of the state after a step, with how clients move in place of means over those that are drawn."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            term = WorldValue({(draws, atoms): c})
            found += self._move(draws, atoms, c) if self.depends(term) else term
        return found

    def _move(self, draws: frozenset[str], atoms: tuple[Atom, ...], c: Any) -> WorldValue:
        """Return the value that replaces a sum over the drawn clients divided by the sum of their weights.

        Raise ``Unread`` if the sum is not their mean.
        """
        world, masks = self.clients.world, draws & set(self.sets)
        below = self._summed(c)
        if len(masks) != 1 or len(below) > 1 or len(atoms) != 1 or atoms[0].degree != 1:
            raise Unread("a sum over the drawn clients is not their mean")
        (mask,) = masks
        # By weights of 1 it is the sum of the drawn clients over how many there are.
        letters, of, over = world.field.one, masks, self.sets[mask].size.of[ONE]
        if below:
            name = next(name for name, symbol in world.sums.items() if symbol == below[0])
            (_, letters, of, _), over = world.meaning[name], world.field(below[0])
        rest = c * over
        if of != masks or self._summed(rest) or self._summed(letters):
            raise Unread("a sum over the drawn clients is not divided by the sum of their weights")
        each = self.clients.of_each(atoms[0])
        if any(set(k[0]) != masks or any(map(self._is_drawn, k[1])) or self._summed(b) for k, b in each.of.items()):
            raise Unread("a mean over the drawn clients depends on the set")
        s = WorldValue({(_NONE, atoms): b / letters for (_, atoms), b in each.of.items()})
        along = self._along(mask, s, WorldValue({ONE: letters}))
        return WorldValue({(draws, ()): rest}) * (s - along)

    def _along(self, mask: str, s: WorldValue, weight: WorldValue) -> WorldValue:
        key = f"{mask}: {s.name()} by {weight.name()}"
        if key not in self.moves:
            name = f"move {len(self.moves)}"
            self.random[name] = mask
            self.moves[key] = Move(mask, self.clients.world.of_client(name, 1), s, weight)
        return self.moves[key].along

    def at(self, point: WorldValue, base: WorldValue) -> ClientsAt:
        """A client's function at a point, which may depend on the set that is drawn: then it is given by ``base``."""
        return self._moved_to(point, base) if self.depends(point) else self.clients.at(point)

    def _moved_to(self, point: WorldValue, base: WorldValue) -> ClientsAt:
        world = self.clients.world
        by = point - base
        masks = {self.random[a.name] for _, atoms in by.of for a in atoms if a.name in self.random}
        known = all(not self._summed(c) and not draws and len(atoms) == 1 for (draws, atoms), c in by.of.items())
        plain = all(a.name in self.random or not self._is_drawn(a) for _, atoms in by.of for a in atoms)
        if len(masks) != 1 or not known or not plain or self.depends(base):
            raise Unread("the point at which a function is evaluated depends on several sets, or on more than a move")
        at = self.clients.at(base)
        if point.name() not in self.points:
            (mask,) = masks
            k = len(self.points)
            names = f"grad {FUNCTION} moved({k})", f"{FUNCTION} moved({k})"
            self.random |= dict.fromkeys(names, mask)
            value, gradient = world.of_client(names[1], 0), world.of_client(names[0], 1)
            self.points[point.name()] = Moved(mask, at, by, value, gradient)
        found = self.points[point.name()]
        value = at.value + world.inner(at.gradient * by) + found.value
        return ClientsAt(point, at.gradient + found.gradient, value, _NONE)

    # Expectations

    def expectation(self, value: WorldValue) -> WorldValue:
        """The expectation of a number. ``Unread`` where it is not known."""
        world, found = self.clients.world, WorldValue({})
        for (draws, atoms), c in value.of.items():
            if draws & set(self.sets) or self._summed(c):
                raise Unread("a number depends on a set by more than sums over the clients")
            kind, *of = world.meaning.get(atoms[0].name, ("",)) if len(atoms) == 1 else ("",)
            if kind == "sum" and atoms[0].degree == 0:
                letters, masks, own = of
                found += self.clients.summed(self.of_each(WorldValue({(masks, own): letters}))) * WorldValue(
                    {(draws, ()): c}
                )
            elif kind == "inner product" and sum(map(self._is_drawn, of)) == 1:
                total, other = sorted(of, key=self._is_drawn, reverse=True)
                product = self.clients.of_each(total) * WorldValue({(_NONE, (other,)): world.field.one})
                found += self.clients.summed(self.of_each(world.inner(product))) * WorldValue({(draws, ()): c})
            elif any(map(self._is_drawn, atoms)):
                raise Unread("a product of sums over drawn clients is compared")
            else:
                found += WorldValue({(draws, atoms): c})
        return found

    def of_each(self, value: WorldValue) -> WorldValue:
        """The expectation of a number of each client's own, or of a vector in inner products."""
        world, found = self.clients.world, WorldValue({})
        for (draws, atoms), c in value.of.items():
            if self._summed(c):
                raise Unread("a client's weight depends on the set")
            masks = draws & set(self.sets)
            vectors = [part for atom in atoms for part in self.clients.parts(atom)]
            by = {self.random[part.name] for part in vectors if part.name in self.random}
            if any(part.name not in self.random and self._is_drawn(part) for part in vectors):
                raise Unread("an inner product with a sum over drawn clients is compared")
            if len(by) > 1 or not by <= masks:
                raise Unread("a client's contribution depends on several sets, or on one that may not contain it")
            term = WorldValue({(draws - masks, ()): c})
            for mask in masks - by:
                term *= self._chance(mask)
            found += term * (self._of_random(atoms, vectors) if by else WorldValue({(_NONE, atoms): world.field.one}))
        return found

    def _of_random(self, atoms: tuple[Atom, ...], vectors: list[Atom]) -> WorldValue:
        """The expectation of a random number, or inner product, of a client that is drawn."""
        world = self.clients.world
        if len(atoms) != 1:
            raise Unread("a product of random numbers is compared")
        fixed = [part for part in vectors if part.name not in self.random]
        move = next((m for m in self.moves.values() if len(vectors) == 2 and _is(m.along, vectors)), None)
        if len(fixed) == 1 and move is not None and self._by_law(move):
            return world.inner(self._mean_move(move) * WorldValue({(_NONE, (fixed[0],)): world.field.one}))
        return WorldValue({(_NONE, atoms): world.field.one})

    def _by_law(self, move: Move) -> bool:
        """Return True if sets are drawn by the weights of a mean, up to a number that is the same for all clients."""
        ratio = move.weight.of[ONE] / self.sets[move.mask].weights.of[ONE]
        return not {str(s) for s in ratio.as_expr().free_symbols} & self.clients.world.indexed

    def _mean_move(self, move: Move) -> WorldValue:
        """r (s_i - c*)."""
        return self._share(move.mask) * (move.of - self._centre(move.of, move.weight))

    def _centre(self, s: WorldValue, weight: WorldValue) -> WorldValue:
        """The mean over all clients."""
        clients = self.clients
        return clients.named_total(weight * s) * inverse(clients.world, clients.world.total(weight))

    def _share(self, mask: str) -> WorldValue:
        """(tau - 1)/(n - 1)."""
        world, one = self.clients.world, self.clients.world.constant(sympy.Integer(1))
        return (self.sets[mask].size - one) * inverse(world, world.count("n") - one)

    def _chance(self, mask: str) -> WorldValue:
        """The probability that a client is drawn."""
        world, weights, share = self.clients.world, self.sets[mask].weights, self._share(mask)
        one = world.constant(sympy.Integer(1))
        return share + (one - share) * weights * inverse(world, world.total(weights))

    # Known facts

    def known(self, ends: list[WorldValue], convex: bool) -> Iterator[SetRelation]:
        """Yield the bounds on moves that the least and the largest curvature of a client's function give."""
        low, high = ends
        world, two = self.clients.world, self.clients.world.constant(sympy.Integer(2))
        why = MovedCurvatures(low, high)
        for k, at in enumerate(self.points.values()):
            drawn, square = world.drawn(at.mask), world.inner(at.by * at.by)
            forms = {"above": two * at.value - high * square, "below": low * square - two * at.value}
            if convex:
                forms["gradient"] = world.inner(at.gradient * at.gradient) - two * high * at.value
            for name, form in forms.items():
                yield SetRelation(f"moved {k} {name}", self.of_each(drawn * form), why)

    def linked(self) -> Iterator[SetRelation]:
        """Yield the known relations of sums over the clients."""
        world = self.clients.world
        for k, move in enumerate(self.moves.values()):
            drawn, link = world.drawn(move.mask), f"move {k} balances"
            rest = world.inner(move.along * (move.of - move.along))
            balance = self.expectation(world.total(move.weight * drawn * rest))
            why = Stated("weighted, the moves of the drawn clients sum to zero")
            yield SetRelation(f"{link} +", balance, why, (link, 1))
            yield SetRelation(f"{link} -", -balance, why, (link, -1))
            if not self._by_law(move):
                weights, link = self.sets[move.mask].weights, f"move {k} is no less"
                least = self._share(move.mask) * world.inner((move.of - self._centre(move.of, weights)) * move.of)
                square = drawn * world.inner(move.along * move.along)
                below = world.total(weights * least) - self.expectation(world.total(weights * square))
                why = Stated("no point is nearer to the drawn clients' vectors than their mean")
                yield SetRelation(link, below, why, (link, 1))


def draws_sets(law: Law) -> bool:
    """Return True if a distribution draws sets of clients, perhaps among others."""
    return law.name in _SETS or (law.name == "product" and any(map(draws_sets, law.of)))


def _is(along: WorldValue, vectors: list[Atom]) -> bool:
    return any((_NONE, (part,)) in along.of for part in vectors)


def _sets(clients: GenericClients, law: Law, name: str) -> Iterator[tuple[str, Sets]]:
    """The sets of clients that a distribution draws, independent of each other, by the names of their masks."""
    if law.name == "product" and law.make is not None:
        for part, of in zip(law.make._fields, law.of, strict=True):  # type: ignore[attr-defined]
            yield from _sets(clients, of, f"{name}.{part}")
    elif law.name in _SETS:
        *weights, size = evaluated(clients.world, law.of[law.name == "subset" :])
        of = Sets(size, *weights or [clients.world.constant(sympy.Integer(1))])
        if any(set(number.of) != {ONE} for number in (of.size, of.weights)):
            raise Unread("the distribution of a set of clients depends on more than letters")
        yield name, of
    else:
        raise Unread(f"the draw is not a set of clients, but of the kind {law.name}")
