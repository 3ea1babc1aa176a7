"""Linear systems whose matrix is a multiple of the identity and one of products of examples, or of features.

With Q = (I + r X X')^{-1} over the examples, the solution of (m I + c X X') u = v is Q v/m for r = c/m, and that of
(m I + c X'X) u = v is (v - r X' Q X v)/m. So every such system is one of the same matrix Q, and two methods that solve
in other spaces are compared. Of blocks, one for each client, the same holds with products within a client alone.
"""

from __future__ import annotations

from typing import Any

from verify.data import arrays, sums
from verify.data.arrays import Array
from verify.data.space import OWNED, SUMMED, Factor, Product, Space, same
from verify.reading.source import Unread
from verify.reading.terms import Axis


def solved(A: Array, v: Array) -> Array:
    """Return the solution u of A u = v over the last axes. Raise ``Unread`` if A has another form."""
    space, axis = A.space, A.axes[-1]
    if v.axes[-1:] != (axis,):
        raise ValueError("a system has a right side of another length")
    shift, rate, block, matrix = _parts(A, axis)
    space.divisors.append(shift)
    name = space.kernel(rate / shift, block, matrix)
    Q = Array(space, (Axis.EXAMPLES, Axis.EXAMPLES), {(Factor(name, (0, 1)),): space.field.one})
    over = arrays.letter(space, 1 / shift)
    if axis is Axis.EXAMPLES:
        return arrays.multiply(over, _times(Q, v))
    X = Array(space, (Axis.EXAMPLES, Axis.COORDINATES), {(Factor(matrix, (0, 1)),): space.field.one})
    if not block:
        inside = _times(Q, _times(X, v))
        back = _times(arrays.transposed(X, (1, 0)), inside)
    else:
        own = _own(v)
        images = arrays.total(arrays.multiply(X, own), [len(own.axes) - 1], False)
        weighted = arrays.multiply(arrays.inserted(_times(Q, images), len(images.axes)), X)
        back = arrays.within(weighted, len(weighted.axes) - 2)
    less = arrays.multiply(arrays.letter(space, rate / shift), back)
    return arrays.multiply(over, arrays.add(v, arrays.negative(less)))


def _own(v: Array) -> Array:
    """Return, for each example, the vector of the client that holds it."""
    if len(v.axes) < 2 or v.axes[-2] not in (Axis.CLIENTS, Axis.ONE):
        raise Unread("a system of each client has a right side that is not of the clients")
    if v.axes[-2] is Axis.ONE:
        v = arrays.spread(v, (*v.axes[:-2], Axis.CLIENTS, v.axes[-1]), v.batched)
    return arrays.held(v, len(v.axes) - 2)


def _times(M: Array, v: Array) -> Array:
    product = arrays.multiply(M, arrays.inserted(v, len(v.axes) - 1))
    return arrays.total(product, [len(product.axes) - 1], False)


def _parts(A: Array, axis: Axis) -> tuple[Any, Any, bool, str]:
    """Return the factor of the identity, that of the products, True if these are of each client, and the name of X."""
    space, last = A.space, len(A.axes) - 1
    own = A.axes[:-2] == (Axis.CLIENTS,)
    if A.axes[:-2] not in ((), (Axis.CLIENTS,)) or A.batched:
        raise Unread("a matrix is inverted that depends on the state, or has other axes")
    shift, rates = space.field.zero, dict[tuple[bool, str], Any]()
    for made, c in A.of.items():
        if made == (same(axis, last - 1, last),):
            shift += c
        elif (found := _product(space, made, axis, last, own)) is not None:
            rates[found] = rates.get(found, space.field.zero) + c
        else:
            raise Unread("a matrix is inverted that is not made of the identity and products of examples")
    if len(rates) != 1 or not shift:
        raise Unread("a matrix is inverted that is not made of the identity and products of examples")
    (((block, matrix), rate),) = rates.items()
    if block is not own and axis is Axis.COORDINATES:
        raise Unread("a matrix is inverted that is the same for all clients, or is not")
    return shift, rate, block, matrix


def _product(space: Space, made: Product, axis: Axis, last: int, own: bool) -> tuple[bool, str] | None:
    """Return True if a product is one of examples of one client, False if of all, and the name of X; None if it is
    another."""
    names = [f.name for f in made if f.name != OWNED and space.axes(f.name) == (Axis.EXAMPLES, Axis.COORDINATES)]
    if len(names) != 2 or len(set(names)) > 1 or space.is_mask(names[0]):
        return None
    X, i = names[0], SUMMED
    if axis is Axis.COORDINATES:
        pair = [Factor(X, (i, last - 1)), Factor(X, (i, last))]
        owned = [Factor(OWNED, (i, 0))]
    else:
        pair = [Factor(X, (last - 1, i)), Factor(X, (last, i))]
        owned = [Factor(OWNED, (last - 1, i + 1)), Factor(OWNED, (last, i + 1))]
        if own:
            return None
    forms = {False: pair, True: [*pair, *owned]}
    return next(((block, X) for block, form in forms.items() if sums.canonical(space, form)[0][0] == made), None)
