"""Sums and products over an index, which is a name of their own: what stands for it elsewhere is something else."""

from __future__ import annotations

from functools import lru_cache

import sympy


@lru_cache(maxsize=100)
def _index(depth: int) -> sympy.Dummy:
    """The index of a sum in which sums are nested so deep."""
    return sympy.Dummy(f"i{depth}", integer=True)


def own_indices(e: sympy.Basic) -> sympy.Basic:
    """An expression or a relation in which no index of a sum or product is a letter.

    What is then put in for a letter, ``k`` for ``x``, say, is not taken for an index. Sums that differ in the name of
    the index alone become the same. What contains no sum stays as it is.
    """
    if not e.has(sympy.Sum, sympy.Product):
        return e
    if isinstance(e, sympy.Sum | sympy.Product):
        index, *ends = e.limits[0]
        inner = own_indices(e.function)
        own = _index(_depth(inner))
        return e.func(inner.xreplace({index: own}), (own, *map(own_indices, ends)))
    parts = [own_indices(a) for a in e.args]
    return e.func(*parts, evaluate=False) if isinstance(e, sympy.Rel) else e.func(*parts)


def _depth(e: sympy.Basic) -> int:
    """The depth of nested sums in an expression."""
    inside = max(map(_depth, e.args), default=0)
    return inside + isinstance(e, sympy.Sum | sympy.Product)


def terms_of(e: sympy.Sum | sympy.Product) -> tuple[sympy.Expr, list[sympy.Rel]]:
    """Return the term of a sum or product, with a fresh index, and the bounds of that index."""
    index, low, high = e.limits[0]
    sign = {"positive": True} if low.is_positive else {"nonnegative": True} if low.is_nonnegative else {}
    own = sympy.Dummy(str(index), integer=True, **sign)
    return e.function.xreplace({index: own}), [
        sympy.Le(low, own, evaluate=False),
        sympy.Le(own, high, evaluate=False),
    ]
