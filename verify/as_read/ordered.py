"""Inequalities of all states shown as they are read: what the larger side has more is a sum of squares.

Their difference is a quadratic form of sums over the clients and of what all of them share, and a sum over the clients
of a form of each one, whether a vector of a client is read as one or as its mean and its deviation. Squares of the sums
are taken off first. What is left is written as one sum over the clients, and the form of a generic client is shown not
to be negative: by squares, by the hypotheses on letters, and by the least and the largest of the clients' numbers,
between which those of every client lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.scope import Scope
from verify.as_read import proving
from verify.as_read.obligations import BOUNDS, Ground, learn_sums, unmet
from verify.as_read.proving import grounded, of_expression
from verify.reading import comparing
from verify.reading.claimed import CodePath
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import Op, parts
from verify.reading.worlds import ONE, Atom, World, WorldValue, symbol_of

#: What is multiplied with a number that stands alone.
UNIT = Atom("1", 0)
#: Two numbers, or two vectors, in order: their product is meant.
Pair = tuple[Atom, Atom]


@dataclass
class Form:
    """A quadratic form: the coefficients of products of two atoms, each product once."""

    world: World
    of: dict[Pair, Any] = field(default_factory=dict)

    def add(self, one: Atom, other: Atom, c: Any) -> None:
        """Add a multiple of the product of two atoms."""
        pair = (one, other) if one <= other else (other, one)
        total = self.of.get(pair, self.world.field.zero) + c
        if total:
            self.of[pair] = total
        else:
            self.of.pop(pair, None)

    def beside(self, one: Atom) -> dict[Atom, Any]:
        """Return the coefficients of the products of an atom with others."""
        return {b if a == one else a: c for (a, b), c in self.of.items() if (a == one) != (b == one)}

    def less_square(self, one: Atom, among: Sequence[Atom]) -> None:
        """Take off the square in which an atom stands beside those of ``among``; of these no product with the atom is
        left. Its own coefficient is not 0."""
        own = self.of[one, one]
        linear = {other: c / (2 * own) for other, c in self.beside(one).items() if other in among}
        square = [(one, self.world.field.one), *linear.items()]
        for k, (a, x) in enumerate(square):
            self.add(a, a, -own * x * x)
            for b, y in square[k + 1 :]:
                self.add(a, b, -2 * own * x * y)


def note(claim: Claim) -> str:
    """Return in words what a proof shows."""
    return "read off the code, with squares: for every n and d, in all states, at all values of the letters"


def applies(claim: Claim) -> bool:
    """Return True if a claim states that a side is at most another in every state."""
    orders = any(comparison.relation == "<=" for comparison in claim.statement.comparisons)
    return proving.applies(claim) and claim.statement.scope is Scope.STATE and orders


def prove(claim: Claim, instances: Sequence[Instance]) -> str:
    """Return why a claim is not shown; empty if it is. ``instances``: some that meet the hypotheses, at which what is
    read is compared with the code. Raise ``ValueError`` if the code is not read."""
    paths = proving.read(claim, instances)
    why = next((why for path in paths if (why := _unshown(claim, path))), "")
    if why or not paths:
        return why or "no letters meet the hypotheses"
    comparing.check(claim, paths, instances, np.random.default_rng(0))
    return ""


def _unshown(claim: Claim, case: CodePath) -> str:
    about = grounded(claim, case)
    if about.never_occurs():
        return ""
    pairs = list(_sides(claim, case, about))
    differing = {k for k, (left, right) in enumerate(pairs) if not (left - right).is_zero()}
    if not differing <= _ordered(claim, case):
        return "the two sides do not reduce to the same expression, or to one that is larger by squares"
    learn_sums(about)
    return next(unmet(about, case), "")


def _sides(claim: Claim, case: CodePath, about: Ground) -> Iterator[tuple[WorldValue, WorldValue]]:
    """Yield the two sides of each comparison; letters may be the least or the largest of the clients' numbers."""
    here = about.world
    env = {letter: evaluated(here, [term])[0] for letter, term in case.letters.items()}
    for quantity in claim.statement.quantities:
        values = evaluated(here, case.quantities[quantity.of])
        if len(values) > 1:
            raise Unread("several vectors are compared")
        env[quantity.expression] = values[0]
    for comparison in claim.statement.comparisons:
        yield of_expression(comparison.left, env, here), of_expression(comparison.right, env, here)


def _ordered(claim: Claim, case: CodePath) -> set[int]:
    """Return the places of the pairs whose first side is shown to be at most the second, where the claim says so."""
    due = [k for k, comparison in enumerate(claim.statement.comparisons) if comparison.relation == "<="]
    found = set()
    for split in (False, True):
        there = grounded(claim, case, split)
        sides = list(_sides(claim, case, there))
        there.relations.extend(_bounds(there, case))
        learn_sums(there)
        found |= {k for k in due if _is_ordered(there, case, *sides[k])}
    return found


def _is_ordered(about: Ground, case: CodePath, left: WorldValue, right: WorldValue) -> bool:
    """Return True if one side is shown to be at most the other in all states."""
    world = about.world
    found = _split(world, right - left)
    if found is None:
        return False
    shared, own = found
    if not _less_sums(about, shared):
        return False
    each = _of_each(world, shared, own)
    if each is None:
        return False
    for op, symbol, value in _extremes(case, world):
        _less_extreme(about, each, op, symbol, value)
    return _is_nonnegative(about, each)


def _bounds(about: Ground, case: CodePath) -> Iterator[sympy.Basic]:
    """Yield that the letters of any client lie between the least and the largest of these numbers of letters."""
    for op, symbol, value in _extremes(case, about.world):
        if set(value.of) <= {ONE}:
            number = about.expression(about.world.field(symbol))
            yield BOUNDS[op](number, about.number(value), evaluate=False)


def _extremes(case: CodePath, world: World) -> list[tuple[Op, sympy.Symbol, WorldValue]]:
    """Return the least and the largest numbers in a case, each with the number of a generic client."""
    read = parts(*case.letters.values(), *(term for several in case.quantities.values() for term in several))
    terms = [term for term in read if term.op in BOUNDS]
    values = evaluated(world, [term.of[0] for term in terms])
    return [(term.op, symbol_of(term), value) for term, value in zip(terms, values, strict=True)]


# The difference of the sides as forms


def _split(world: World, value: WorldValue) -> tuple[Form, Form] | None:
    """Return the form in what clients share, and that of a generic client over which the rest is a sum; None if the
    value is not made of such."""
    shared, own = Form(world), Form(world)
    places = [k for k, symbol in enumerate(world.field.symbols) if str(symbol) in world.indexed]
    for (draws, atoms), c in value.of.items():
        # A letter of one client is not that over which a sum runs.
        if draws or any(powers[k] for polynomial in (c.numer, c.denom) for powers in polynomial for k in places):
            return None
        summed = _summed_pair(world, atoms)
        if summed is not None:
            letters, pair = summed
            own.add(*pair, c * letters)
        elif (alone := _pair(world, atoms)) is not None:
            shared.add(*alone, c)
        else:
            return None
    if any(atom.own or atom.example for pair in shared.of for atom in pair):
        return None
    return shared, own


def _summed_pair(world: World, atoms: tuple[Atom, ...]) -> tuple[Any, Pair] | None:
    """Return the letters and the two atoms of a generic client of a sum over the clients; None if there is no such
    product."""
    kind, *of = world.meaning.get(atoms[0].name, ("",)) if len(atoms) == 1 else ("",)
    if kind != "sum":
        return None
    letters, draws, own = of
    pair = None if draws else _pair(world, own)
    return None if pair is None or UNIT in pair else (letters, pair)


def _pair(world: World, atoms: tuple[Atom, ...]) -> Pair | None:
    """Return the two atoms whose product a number is; None if it is not one of two."""
    if len(atoms) == 1:
        kind, *of = world.meaning.get(atoms[0].name, ("",))
        return (of[0], of[1]) if kind == "inner product" else (UNIT, atoms[0])
    if len(atoms) == 2 and not any(world.meaning.get(atom.name, ("",))[0] == "inner product" for atom in atoms):
        return atoms[0], atoms[1]
    return (UNIT, UNIT) if not atoms else None


def _sum_of(world: World, atom: Atom) -> tuple[Any, Atom] | None:
    """Return the letters and the atom of a generic client over which an atom is a sum; None if it is none."""
    kind, *of = world.meaning.get(atom.name, ("",))
    if kind != "sum" or of[1] or len(of[2]) != 1 or world.meaning.get(of[2][0].name, ("",))[0] == "inner product":
        return None
    return of[0], of[2][0]


def _less_sums(about: Ground, shared: Form) -> bool:
    """Take off squares of sums over the clients; return False if one has a coefficient that may be negative, or stands
    beside another sum and not in a square."""
    world = about.world
    sums = sorted({atom for pair in shared.of for atom in pair if _sum_of(world, atom) is not None})
    for k, one in enumerate(sums):
        rest = sums[k + 1 :]
        if (one, one) in shared.of:
            between = any(other in rest for other in shared.beside(one))
            if not _has_sign(about, shared.of[one, one], strictly=between):
                return False
            shared.less_square(one, rest)
        if any(other in sums for other in shared.beside(one)):
            return False
    return True


def _of_each(world: World, shared: Form, own: Form) -> Form | None:
    """Return the form of a generic client whose sum over the clients is that of all; None if it is not written."""
    each = Form(world, dict(own.of))
    count = world.field(sympy.Symbol("n"))
    for (a, b), c in shared.of.items():
        found = _sum_of(world, a), _sum_of(world, b)
        if all(found):
            return None
        for known, other in ((found[0], b), (found[1], a)):
            if known is not None:
                each.add(known[1], other, c * known[0])
        if not any(found):
            for letters, part in _terms_of(world, c):
                each.add(a, b, part / count if letters is None else part * letters)
    return each


def _terms_of(world: World, c: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the terms of a coefficient: what it is times a sum of letters over the clients, with the letters, and the
    rest."""
    places = {k: name for k, s in enumerate(world.field.symbols) for name, own in world.sums.items() if own == s}
    below = world.field(c.denom)
    if any(powers[k] for powers in c.denom for k in places):
        yield None, c
        return
    for powers, number in c.numer.terms():
        product = world.field(number)
        for generator, power in zip(world.field.gens, powers, strict=True):
            product *= generator**power
        summed = [k for k in places if powers[k]]
        if len(summed) == 1 and powers[summed[0]] == 1:
            _, letters, draws, _ = world.meaning[places[summed[0]]]
            if not draws:
                yield letters, product / world.field.gens[summed[0]] / below
                continue
        yield None, product / below


# The form of a generic client


def _less_extreme(about: Ground, each: Form, op: Op, symbol: sympy.Symbol, value: WorldValue) -> None:
    """Take off, as often as it stands there, what the largest number is above that of a client, or what that is above
    the least."""
    world = about.world
    letter, at = world.field(symbol), (UNIT, UNIT)
    if set(value.of) <= {ONE} or at not in each.of:
        return
    c = each.of[at]
    place = world.field.symbols.index(symbol)
    if any(powers[place] for powers in c.denom) or any(powers[place] > 1 for powers in c.numer):
        return
    times = c.diff(letter)
    if not _has_sign(about, times if op is Op.MOST else -times):
        return
    pairs = [(_pair(world, atoms), b) for (draws, atoms), b in value.of.items() if not draws]
    if len(pairs) < len(value.of) or any(pair is None for pair, _ in pairs):
        return
    each.add(*at, -times * letter)
    for pair, b in pairs:
        assert pair is not None
        each.add(*pair, times * b)


def _is_nonnegative(about: Ground, form: Form) -> bool:
    """Return True if squares with coefficients that are not negative make up a form."""
    for one in sorted({atom for pair in form.of for atom in pair}, key=lambda atom: (not atom.own, atom)):
        beside = form.beside(one)
        if (one, one) not in form.of:
            if beside:
                return False
            continue
        if not _has_sign(about, form.of[one, one], strictly=bool(beside)):
            return False
        form.less_square(one, list(beside))
    return not form.of


def _has_sign(about: Ground, c: Any, strictly: bool = False) -> bool:
    """Return True if a coefficient is at least 0, or above it, for all letters that the hypotheses allow."""
    if any(about.world.holds_drawn(about.world.meaning[name][1]) for name in about.world.sums_in(c)):
        raise Unread("a coefficient depends on what is drawn")
    return about.implies((sympy.Gt if strictly else sympy.Ge)(about.expression(c), 0, evaluate=False))
