"""Labelled examples on clients as arrays in index notation: any number of examples, on any clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import squared
from verify.data import arrays
from verify.data.arrays import Array, Owners
from verify.data.comparing import There
from verify.data.reader import DataReader
from verify.data.rules import functions
from verify.data.solving import solved
from verify.data.space import COUNTS, LEAST, SIZE, Leaf, Space
from verify.reading.data import is_squared
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.reading.values import Made, Named, Rule

#: The names of the matrix of examples, the labels, and the numbers of the problem.
X, Y, STRENGTH, SMOOTHNESS = "f.X", "f.y", "f.lam", "f.loss.gamma"
#: The name of the optimum of the dual.
DUAL = "the dual optimum"


def space_of(names: Sequence[str]) -> Space:
    """Return a space with these letters besides those of the problem."""
    letters = sorted({*names, *COUNTS.values(), LEAST, STRENGTH, SMOOTHNESS})
    leaves = {SIZE: Leaf((Axis.CLIENTS,), positive=True)}
    return Space(sympy.QQ.frac_field(*map(sympy.Symbol, letters)), leaves)


def reader_of(space: Space) -> DataReader:
    """Return a reader of code about data."""
    return DataReader(functions(space), space)


def problem(problems: Sequence[Any], reader: DataReader, fixed: Mapping[str, Fraction], optimal: bool = False) -> Named:
    """Return the symbolic problem of labelled examples with a squared loss; ``fixed``: letters that are numbers.

    ``optimal``: True if x* is known to be the minimiser, so that with the dual optimum alpha* it is X'alpha*/(lambda
    n), and the labels are gamma alpha* + X x*, where lambda is not 0; otherwise nothing is known of it. Raise
    ``Unread`` unless all problems share the examples in one way.
    """
    if any(type(p) is not LinearProblem or type(p.f) is not LinearModels for p in problems):
        raise Unread("the problem is not one of labelled examples")
    shares = {p.f.share for p in problems}
    if len(shares) > 1 or not all(is_squared(p.f.loss) for p in problems):
        raise Unread("the losses are not squared, or shared in two ways")
    if optimal and any(p.known is not None for p in problems):
        raise Unread("an optimum is given, and not computed")
    space = reader.space
    n, d, examples = (
        arrays.letter(space, space.count(axis)) for axis in (Axis.CLIENTS, Axis.COORDINATES, Axis.EXAMPLES)
    )
    lam, gamma = (
        arrays.constant(space, fixed[name]) if name in fixed else arrays.letter(space, space.field(sympy.Symbol(name)))
        for name in (STRENGTH, SMOOTHNESS)
    )
    data = arrays.leaf(space, X, (Axis.EXAMPLES, Axis.COORDINATES))
    x_star, labels = arrays.leaf(space, "x_star", (Axis.COORDINATES,)), arrays.leaf(space, Y, (Axis.EXAMPLES,))
    if optimal:
        dual = arrays.leaf(space, DUAL, (Axis.EXAMPLES,))
        space.made_of[DUAL] = (_dual_at, ())
        image = _combined(arrays.transposed(data, (1, 0)), dual)
        x_star = arrays.multiply(arrays.reciprocal(arrays.multiply(lam, examples)), image)
        labels = arrays.add(arrays.multiply(gamma, dual), _combined(data, x_star))
    fields: dict[str, Any] = {
        "X": data,
        "_dense": data,
        "y": labels,
        "sizes": arrays.leaf(space, SIZE, (Axis.CLIENTS,)),
        "lam": lam,
        "share": shares.pop(),
        "loss": reader.call(squared, gamma),
        "n": n,
        "d": d,
        "examples": examples,
        "owner": Owners((Axis.EXAMPLES,)),
        "sparse": False,
        "exact": True,
        "_number": Rule("_number", lambda count: arrays.of(space, count)),
        "predictions": Rule("predictions", lambda w: _combined(data, arrays.of(space, w))),
        "combined": Rule("combined", lambda c: _combined(arrays.transposed(data, (1, 0)), arrays.of(space, c))),
        "per_client": Rule("per_client", _per_client(space)),
        "solved": Rule("solved", lambda *given: _blocks(space, data, *(arrays.of(space, one) for one in given))),
    }
    f = Made(LinearModels, fields)
    fields["dense"] = Rule("dense", lambda: f)
    return Named("the problem", {"f": f, "n": n, "d": d, "x_star": x_star})


def _dual_at(of: tuple[()], there: There) -> Any:
    return there.f.dual_of(there.problem.x_star)


def _combined(matrix: Array, v: Array) -> Array:
    """The products of a matrix and vectors, over any leading axes."""
    if v.axes[-1:] != matrix.axes[-1:]:
        raise ValueError("examples are combined with something of another length")
    product = arrays.multiply(_widened(matrix, len(v.axes) - 1), arrays.inserted(v, len(v.axes) - 1))
    return arrays.total(product, [len(product.axes) - 1], False)


def _widened(one: Array, more: int) -> Array:
    for _ in range(more):
        one = arrays.inserted(one, 0)
    return one


def _per_client(space: Space) -> Callable[..., Array]:
    def per_client(values: Any, axis: Any) -> Array:
        one = arrays.of(space, values)
        return arrays.within(one, arrays.from_last(one, axis)[0])

    return per_client


def _blocks(space: Space, data: Array, coupling: Array, shift: Array, target: Array) -> Array:
    """The roots u of coupling X_k X_k' u_k + shift u_k = target_k, side by side: ``(..., examples)``."""
    if target.axes != (Axis.EXAMPLES,):
        raise ValueError("systems of the clients have a right side that is not of the examples")
    first, second = arrays.inserted(data, 1), arrays.inserted(data, 0)
    gram = arrays.total(arrays.multiply(first, second), [2], False)
    owner = Owners((Axis.EXAMPLES,))
    own = arrays.same_owner(space, Owners((Axis.EXAMPLES, Axis.ONE)), owner)
    inside = arrays.multiply(coupling, arrays.multiply(arrays.as_numbers(own), gram))
    return solved(arrays.add(inside, arrays.multiply(shift, arrays.identity(space, Axis.EXAMPLES))), target)
