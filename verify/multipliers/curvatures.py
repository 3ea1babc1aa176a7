"""What classes say of the curvatures of a generic client's function, as terms."""

from __future__ import annotations

from typing import Any

from fedtheory.classes import (
    OneStronglyConvex,
    Smooth,
    SmoothBlocks,
    SmoothConvex,
    SmoothEach,
    SmoothOwn,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from verify.reading import terms
from verify.reading.terms import NUMBER, Axis, Op, Term, Type, leaf

#: Classes of strongly convex functions, and those of which the two curvatures may be one.
STRONGLY_CONVEX = (SmoothStronglyConvex, SmoothBlocks, SmoothEach)
EQUAL = (*STRONGLY_CONVEX, OneStronglyConvex)
#: The Lipschitz constant of a generic client's gradient, where each has one of its own.
_L_i = leaf(Op.GIVEN, "f.L", Type((Axis.CLIENTS,)))


def ends(of: Any) -> tuple[Term, Term] | None:
    """The least and the largest curvature of a generic client's function, as terms; None of a class not posed."""
    mu, L = (leaf(Op.GIVEN, name, NUMBER) for name in ("mu", "L"))
    if type(of) is SmoothOwn:
        r = leaf(Op.LETTER, "r", Type((Axis.CLIENTS,)))
        return terms.negative(r), r
    if type(of) is Smooth:
        return terms.negative(L), L
    if type(of) is SmoothConvex:
        return terms.constant(0), L
    if type(of) is WeaklyConvex and of.symmetric:
        # s is at most r.
        return terms.negative(L), L
    if type(of) is SmoothBlocks and not of.common:
        each = Type((Axis.CLIENTS,))
        return leaf(Op.GIVEN, "f.mu", each), leaf(Op.LETTER, "L", each)
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
