"""A claim as a semidefinite program: its own algorithm, run on vectors known only by their inner products.

The problem's oracles are those of :mod:`verify.formal`, the compressors those of :mod:`verify.formal_random`. The
algorithm's ``step`` and the statement's quantities run on them unchanged, with every draw enumerated, and leave both
sides as forms. Nothing of a method is transcribed here, so a changed algorithm gives a changed program.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fedtheory.claims import Claim
from fedtheory.statements import Bound, Invariant, OneStep, Quantity
from verify.formal import Formal
from verify.posing import accelerated, baselines, feddcd, inexact, locodl, rivals
from verify.settings import Instance
from verify.sides import rollout

_SETTINGS: dict[str, Callable[[Instance], Formal]] = {
    **locodl.SETTINGS,
    **feddcd.SETTINGS,
    **accelerated.SETTINGS,
    **baselines.SETTINGS,
    **rivals.SETTINGS,
    **inexact.SETTINGS,
}
_POTENTIALS = {**feddcd.POTENTIALS, **locodl.POTENTIALS, **accelerated.POTENTIALS}
_BASES = accelerated.BASES


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

    For a bound it is the one that contracts in the setting, where one is declared. Otherwise it is the left side, if
    the right side speaks of the same function of the state. ``ValueError`` if there is none.
    """
    statement = claim.statement
    assert isinstance(statement, Bound | OneStep)
    declared = _POTENTIALS.get(claim.setting.name)
    if isinstance(statement, Bound) and declared is not None:
        return declared
    for left in statement.quantities:
        if left.expression == statement.left and any(q is not left and q.of is left.of for q in statement.quantities):
            return left
    if declared is None:
        raise ValueError(f"no potential is known through which {claim.id} could be shown")
    return declared


def basis(claim: Claim) -> tuple[Quantity, ...]:
    """Quantities of the setting of which other potentials may be composed; the first needs no gradient of its own."""
    return _BASES.get(claim.setting.name, ())


def preserved(claim: Claim, given: Instance) -> bool:
    """Whether a step preserves an invariant for every function of the class, in every dimension, whatever is drawn.

    The residual after a step from formal vectors that satisfy it must vanish identically; parameters are those given.
    """
    assert isinstance(claim.statement, Invariant)
    posed = pose(claim.setting.name, given).instance
    later, _ = rollout(claim, posed, *posed.at(np.zeros((1, 0))), 1)
    residual = np.asarray(claim.statement.residual(posed.problem, posed.params, later))
    return all(v == 0 if isinstance(v, int | Fraction) else not v.coefficients for v in residual.flat)
