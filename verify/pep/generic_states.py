"""Identities and inequalities in all states: a statement's own code, run on indeterminates instead of numbers.

An identity holds in every state, of every function of its class, if both sides are the same on formal vectors. Where a
setting has no functions, the coordinates of the state are indeterminates over Q: an identity then asks that both sides
are the same rational function, and an inequality that the difference of its sides is a quadratic form which is positive
semidefinite, by exact elimination.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import QQ
from sympy.polys.fields import FracElement, field

from fedtheory.claims import Claim
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import Array
from verify.base.case import Case
from verify.base.evaluate import sides
from verify.exact.elimination import is_positive_semidefinite
from verify.pep import posing
from verify.pep.gram import BasisVector, Form, Vector
from verify.reading import whole

#: The relations that are shown: a form that is nowhere negative may vanish.
_SHOWN = ("==", "<=")


def applies(claim: Claim) -> bool:
    """Return True if :func:`holds` covers a claim."""
    statement = claim.statement
    # Inequalities over a class are left to its worst case.
    everywhere = statement.scope is Scope.STATE or (statement.scope is Scope.CODE and statement.pointwise)
    if everywhere and not statement.bounding and posing.posable(claim.setting):
        return True
    return statement.scope in (Scope.STATE, Scope.CODE) and claim.setting.hints.complete


def holds(case: Case) -> bool:
    """Return True if a claim is proved at the parameters of an exact instance, in every state; False proves nothing.

    Raise ``TypeError`` or ``ValueError`` if the statement's code compares, or does anything but arithmetic.
    """
    if any(comparison.relation not in _SHOWN for comparison in case.statement.comparisons):
        return False
    return all(
        _vanishes(left - right) if relation == "==" else _at_most(left, right)
        for relation, left, right in formal_sides(case)
    )


def formal_sides(case: Case) -> Iterator[tuple[str, Any, Any]]:
    """The relation and both sides of each comparison in every state: formal vectors, forms in them, or functions of the
    coordinates of a state.

    A setting with functions has equations alone. Errors as of :func:`holds`.
    """
    if posing.posable(case.setting):
        posing.check_read(case)
        posed = posing.pose(case.setting, case.instance).instance
        for left, right in sides(case.with_instance(posed), np.zeros((1, 0))):
            yield from (("==", a, b) for a, b in zip(np.ravel(left), np.ravel(right), strict=True))
        return
    if foreign := whole.foreign(case.claim):
        raise ValueError(f"what indeterminates show of {case.claim.id} is one case: {foreign} is not code of fedtheory")
    letters = [f"t_{k}" for k in range(max(case.instance.dimension, 1))]
    _, *generators = field(letters, QQ)
    theta = np.empty((1, case.instance.dimension), dtype=object)
    theta[0] = generators[: case.instance.dimension]
    for comparison, part in zip(case.statement.comparisons, sides(case, theta), strict=True):
        yield from ((comparison.relation, a, b) for a, b in _entries(*part))


def _vanishes(gap: Any) -> bool:
    if isinstance(gap, Vector):
        return not gap.coefficients
    return gap.is_zero if isinstance(gap, Form) else bool(_exact(gap) == 0)


def _entries(left: Array, right: Array) -> Iterator[tuple[Any, Any]]:
    for a, b in zip(np.ravel(left), np.ravel(right), strict=True):
        yield _exact(a), _exact(b)


def _exact(side: Any) -> Any:
    if isinstance(side, int | Fraction | np.integer | FracElement):
        return int(side) if isinstance(side, np.integer) else side
    raise ValueError(f"{side!r} is not exact")


def _at_most(left: Any, right: Any) -> bool:
    """Return True if right - left is a number >= 0, or a positive semidefinite form."""
    gap = right - left
    if not isinstance(gap, FracElement):
        return bool(gap >= 0)
    form = quadratic(gap)
    return form is not None and is_positive_semidefinite(form.matrix(sorted(form.rows)))


def quadratic(of: FracElement) -> Form | None:
    """A function of coordinates as a form, each coordinate in place of a vector; None if it is not a quadratic form."""
    if not of.denom.is_ground or any(sum(powers) != 2 for powers in of.numer.itermonoms()):
        return None
    whole_form, entries = of.numer.quo_ground(of.denom.coeff(1)), {}
    for powers, c in whole_form.iterterms():
        pair = tuple(BasisVector("state", f"t_{k}") for k, power in enumerate(powers) for _ in range(power))
        entries[pair[0], pair[1]] = Fraction(int(c.numerator), int(c.denominator))
    return Form(entries, {}, 0)
