"""States at which the residual of an invariant vanishes, solved for: few that are drawn are such."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fedtheory.kinds.invariant import Invariant
from fedtheory.numbers.rational import Array, exact, is_exact
from fedtheory.sampling.chart import nullspace
from verify.base.case import Case
from verify.base.evaluate import params_after
from verify.comparisons.exact import Coordinates, as_row

#: Newton's steps at most: one is enough where a residual is affine, a few where it is so in pieces.
_STEPS = 4
#: The distance of the states at which a residual is compared: hardly ever is there a kink between them.
_NEAR = Fraction(1, 10**9)


def onto(case: Case, point: Coordinates) -> Coordinates:
    """A state of an exact instance where the residual of an invariant vanishes, with most coordinates of ``point``.

    ``point`` itself where none is found, and of other claims.
    """
    statement = case.statement
    if not isinstance(statement, Invariant) or not point:
        return point

    def residual(rows: Array) -> Array:
        problem, state = case.instance.at(rows)
        if not is_exact(*state):
            raise ValueError("nothing is solved in floats")
        value = statement.residual(problem, params_after(case, problem, 0), state)
        # One residual for all rows is that of each.
        value = (
            np.broadcast_to(value, (len(rows), *np.shape(value)[1:])) if np.ndim(value) else np.full(len(rows), value)
        )
        return exact(value.reshape(len(rows), -1))

    at = as_row(point)
    try:
        for _ in range(_STEPS):
            value = residual(at)[0]
            if not value.any():
                return tuple(map(Fraction, at[0]))
            step = _NEAR * np.eye(len(point), dtype=int)
            # On both sides: of squares too these are the derivatives.
            slopes = (residual(at + step) - residual(at - step)).T / (2 * _NEAR)
            solutions, free = nullspace(exact(np.concatenate([value[:, None], slopes], axis=1)))
            if 0 not in free:
                break
            # The coordinates that are not solved for stay. To where a square vanishes it is twice as far.
            ahead = solutions[None, 1:, free.index(0)]
            at = at + (1 if residual(at + 2 * ahead).any() else 2) * ahead
    except (ValueError, TypeError, ArithmeticError):
        # An undefined number or residual is reported where it is evaluated.
        pass
    return point
