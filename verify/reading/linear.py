"""A linear operator K, its adjoint K.T, and a function of K x, in code that is read."""

from __future__ import annotations

from functools import partial
from typing import Any

from fedtheory.problems.coupling import LinearOperator
from verify.reading import terms
from verify.reading.arrays import as_term
from verify.reading.terms import Axis, Op, Term, Type
from verify.reading.values import Rule

#: The names of an operator, of its adjoint, and of its declared constants.
K, ADJOINT = "K", "K.T"
NORM, LEAST, ADJOINT_LEAST = "K.norm", "K.least", "K.T.least"
#: The optimum of the dual problem.
DUAL = "u_star"


def operator(of: LinearOperator) -> Rule:
    """Return K, which is called with a point, and whose ``T`` is its adjoint, with the constants that are declared of
    an example."""

    def constants(least: str, declared: Any) -> dict[str, Term]:
        named = {"norm": NORM} if declared is None else {"norm": NORM, "least": least}
        return {attribute: terms.leaf(Op.GIVEN, name, terms.NUMBER) for attribute, name in named.items()}

    adjoint = Rule(ADJOINT, partial(_applied, ADJOINT), constants(ADJOINT_LEAST, of.adjoint_least))
    return Rule(K, partial(_applied, K), {"T": adjoint, **constants(LEAST, of.least)})


def _applied(name: str, at: Any) -> Term:
    point = as_term(at)
    if point.type.axes != (Axis.COORDINATES,) or point.type.degree not in (1, terms.ANY_DEGREE):
        raise ValueError(f"{name} is taken of {point.type}, where a point is expected")
    return Term(Op.ORACLE, (point,), Type(point.type.axes, point.type.batched, 1), name)
