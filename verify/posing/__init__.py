"""A claim as a semidefinite program: its own algorithm, run on vectors known only by their inner products.

The problem's oracles are those of :mod:`verify.formal`. The algorithm's ``step`` and the statement's quantities run on
them unchanged, with every draw enumerated, and leave both sides as forms. Nothing of a method is transcribed here, so a
changed algorithm gives a changed program.
"""

from __future__ import annotations

from collections.abc import Callable

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.statements import Bound, OneStep, Quantity
from verify.formal import Formal
from verify.posing import accelerated, baselines, feddcd, locodl
from verify.settings import Instance

_SETTINGS: dict[str, Callable[[Instance], Formal]] = {
    **locodl.SETTINGS,
    **feddcd.SETTINGS,
    **accelerated.SETTINGS,
    **baselines.SETTINGS,
}
_POTENTIALS = {**feddcd.POTENTIALS, **locodl.POTENTIALS}


def settings() -> tuple[str, ...]:
    """Names of the settings that can be posed formally."""
    return tuple(_SETTINGS)


def pose(setting: str, given: Instance) -> Formal:
    """The formal instance with the class, the number of clients and the parameters of an exact instance.

    ``ValueError`` when the setting has no formal instance.
    """
    if setting not in _SETTINGS:
        raise ValueError(f"no worst case over a class is known for the setting {setting!r}")
    return _SETTINGS[setting](given)


def potential(claim: Claim) -> Quantity:
    """The potential through which a bound for every T, or a one-step inequality, is shown.

    It is the left side where the right side speaks of the same function of the state, else that which the theorem of
    the setting contracts. ``ValueError`` if there is none.
    """
    statement = claim.statement
    assert isinstance(statement, Bound | OneStep)
    for left in statement.quantities:
        if left.expression == statement.left and any(q is not left and q.of is left.of for q in statement.quantities):
            return left
    if claim.setting.name not in _POTENTIALS:
        raise ValueError(f"no potential is known through which {claim.id} could be shown")
    theorem = claims.get(_POTENTIALS[claim.setting.name]).statement
    assert isinstance(theorem, Bound)
    return next(q for q in theorem.quantities if q.expression == theorem.left)
