"""What classes say of a generic client's function: its curvatures, and inequalities between points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import sympy

from fedtheory.classes import (
    ConvexBlocks,
    OneStronglyConvex,
    Smooth,
    SmoothBlocks,
    SmoothConvex,
    SmoothEach,
    SmoothOwn,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from verify.multipliers.clients import CONJUGATE, OPTIMUM, GenericClients
from verify.multipliers.words import class_in_words
from verify.reading import terms
from verify.reading.terms import NUMBER, Axis, Op, Term, Type, leaf
from verify.reading.worlds import WorldValue, inverse

#: Classes of smooth and convex functions whose conjugates are known, and those of which the two curvatures may be one.
CONVEX = (ConvexBlocks, SmoothBlocks, SmoothEach, SmoothStronglyConvex)
EQUAL = (*CONVEX, OneStronglyConvex)
#: Classes that say of g, where there is one, what they say of each f_i.
OF_G = (Smooth, SmoothConvex, SmoothStronglyConvex)
#: The Lipschitz constant of a generic client's gradient, where each has one of its own.
_L_i = leaf(Op.GIVEN, "f.L", Type((Axis.CLIENTS,)))


def ends(of: Any) -> tuple[Term, Term] | None:
    """The least and the largest curvature of a generic client's function, as terms; None of a class not posed."""
    each = Type((Axis.CLIENTS,))
    mu, L = (leaf(Op.GIVEN, name, NUMBER) for name in ("mu", "L"))
    if type(of) is SmoothOwn:
        r = leaf(Op.LETTER, "r", each)
        return terms.negative(r), r
    if type(of) is Smooth:
        return terms.negative(L), L
    if type(of) is SmoothConvex:
        return terms.constant(0), L
    if type(of) is WeaklyConvex and of.symmetric:
        # s is at most r.
        return terms.negative(L), L
    if type(of) is ConvexBlocks:
        return terms.constant(0), leaf(Op.LETTER, "L", each)
    if type(of) is SmoothBlocks:
        return mu if of.common else leaf(Op.GIVEN, "f.mu", each), leaf(Op.LETTER, "L", each)
    if type(of) is SmoothEach:
        return mu, _L_i
    if type(of) in (WeaklyConvex, SmoothStronglyConvex, OneStronglyConvex):
        return mu, L
    return None


def of_one(of: Any) -> str | None:
    """Of a class in which the least curvature is that of one client, and others' is 0, the parameter that says which:
    empty where none does. None of other classes."""
    return of.which if type(of) is OneStronglyConvex else None


def signs(of: Any) -> tuple[tuple[Term, bool], ...]:
    """Numbers of each client that are at least 0, or positive, as there are functions of a class."""
    if type(of) is not SmoothEach:
        return ()
    mu, L = (leaf(Op.GIVEN, name, NUMBER) for name in ("mu", "L"))
    apart = ((_L_i, mu), (L, _L_i))
    signed = ((_L_i, True),) if of.mu.is_positive else ()
    return (*signed, *((terms.add(one, terms.negative(other)), False) for one, other in apart))


def between_points(
    clients: GenericClients, of: Any, ends: list[WorldValue], values: list[WorldValue]
) -> Iterator[tuple[str, WorldValue, str]]:
    """What a class says of a generic client's function between each two points at which it is asked, of those that
    ``values`` speak of: by name, what is at most 0, and in words. ``ends``: the least and the largest curvature."""
    world = clients.world
    spoken_of = {a.name for v in values for _, atoms in v.of for atom in atoms for a in clients.parts(atom)}
    optimum = world.atom(OPTIMUM, 1).name()
    points = list(enumerate(clients.asked.items()))
    # A function is given relative to the first point at which it was asked.
    first = {function: k for k, ((function, _), _) in reversed(points)}
    asked = [(function, a) for k, ((function, _), a) in points if not k or not a.atoms.isdisjoint(spoken_of)]
    kept = [(function, a) for k, ((function, name), a) in points if name == optimum or k == first[function]]
    asked += [of for of in kept if of not in asked]
    inner, two = world.inner, world.constant(sympy.Integer(2))
    for (i, (function, a)), (j, (other, b)) in permutations(enumerate(asked), 2):
        if function != other:
            continue
        low, high = ends
        if function == CONJUGATE:
            low, high = inverse(world, high), inverse(world, low)
        x, g = a.point - b.point, a.gradient - b.gradient
        lower = b.value + inner(b.gradient * x) - a.value
        form = two * (high - low) * lower + inner(g * g) + low * high * inner(x * x) - two * low * inner(g * x)
        words = class_in_words(function, low, high, a.point, b.point)
        if type(of) in EQUAL:
            # What it implies, with multipliers that are finite where the two curvatures are one.
            yield f"{function} convex[{i},{j}]", two * lower + low * inner(x * x), words
            yield f"{function} smooth[{i},{j}]", -(two * lower + high * inner(x * x)), words
            yield f"{function} both[{i},{j}]", two * high * lower + inner(g * g), words
        yield f"{function}[{i},{j}]", form, words
