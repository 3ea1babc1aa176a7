"""Labelled examples on clients, as code of linear models reads them: any number of examples, on any clients.

All that code asks of this package's model of data is read, but for a few products of the matrix of examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import squared
from verify.reading import terms
from verify.reading.arrays import EXAMPLES, as_term
from verify.reading.reader import Reader
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, Type
from verify.reading.values import Made, Named, Owners, Rule

#: The functions of a squared loss, which close over its gamma alone.
_LOSS = ("value", "slope", "curvature", "conjugate", "ascent")


def problem(problems: Sequence[Any], reader: Reader) -> Named:
    """Return the symbolic problem of labelled examples with a squared loss. Raise ``Unread`` unless all problems share
    them in one way.
    """
    if any(type(p) is not LinearProblem or type(p.f) is not LinearModels for p in problems):
        raise Unread("some of the problems are of an unknown type")
    shares = {p.f.share for p in problems}
    if len(shares) > 1 or not all(is_squared(p.f.loss) for p in problems):
        raise Unread("the losses are not squared, or shared in two ways")
    n, d = (terms.leaf(Op.COUNT, name, terms.NUMBER) for name in ("n", "d"))
    examples, lam, gamma = (terms.leaf(Op.GIVEN, name, terms.NUMBER) for name in (EXAMPLES, "f.lam", "f.loss.gamma"))
    X = terms.leaf(Op.GIVEN, "f.X", Type((Axis.EXAMPLES, Axis.COORDINATES), False, 1))
    fields = {
        "X": X,
        "_dense": X,
        "y": terms.leaf(Op.GIVEN, "f.y", Type((Axis.EXAMPLES,))),
        "sizes": terms.leaf(Op.GIVEN, "f.sizes", Type((Axis.CLIENTS,))),
        "lam": lam,
        "share": shares.pop(),
        "loss": reader.call(squared, gamma),
        "n": n,
        "d": d,
        "examples": examples,
        "owner": Owners(),
        "_number": Rule("_number", as_term),
        "predictions": Rule("predictions", lambda w: _predictions(X, w)),
        "combined": Rule("combined", lambda c: _combined(X, c)),
        "per_client": Rule("per_client", lambda values, axis: terms.within(as_term(values), axis)),
    }
    return Named("the problem", {"f": Made(LinearModels, fields), "n": n, "d": d})


def is_squared(loss: Any) -> bool:
    """Return True if a loss is the squared loss, with its code."""
    made = squared(loss.gamma)
    return loss.name == "squared" and all(getattr(loss, f).__code__ is getattr(made, f).__code__ for f in _LOSS)


def _predictions(X: Term, w: Any) -> Term:
    """x_i'w: ``(..., d) -> (..., examples)``."""
    point = as_term(w)
    if point.type.axes != (Axis.COORDINATES,):
        raise ValueError(f"predictions are asked at {point.type}, where one vector is due")
    return terms.total(terms.multiply(X, terms.view(point, (Axis.ONE, Axis.COORDINATES))), -1, False)


def _combined(X: Term, coefficients: Any) -> Term:
    """sum_i c_i x_i: ``(..., examples) -> (..., d)``."""
    c = as_term(coefficients)
    if c.type.axes != (Axis.EXAMPLES,):
        raise ValueError(f"examples are combined with {c.type}, where a number for each is due")
    return terms.total(terms.multiply(terms.view(c, (Axis.EXAMPLES, Axis.ONE)), X), -2, False)
