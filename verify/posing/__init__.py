"""A claim as a semidefinite program: its own algorithm, run on vectors known only by their inner products.

The problem's oracles are those of :mod:`verify.formal`, the compressors those of :mod:`verify.formal_random`. The
algorithm's ``step`` and the statement's quantities run on them unchanged, with every draw enumerated, and leave both
sides as forms. Nothing of a method is transcribed here, so a changed algorithm gives a changed program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.compressors import Compressor
from fedtheory.statements import Bound, Invariant, OneStep, Quantity
from verify.formal import Formal
from verify.posing import accelerated, baselines, feddcd, inexact, locodl, rivals
from verify.settings import Instance
from verify.sides import hypotheses_hold, rollout

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
_CHARTS = {**feddcd.CHARTS, **locodl.CHARTS, **accelerated.CHARTS}


#: How much worse a member is that must be outside the class.
_WORSE = 10**6


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


def closed(claim: Claim, given: Instance) -> bool:
    """Whether a step leads from every state that is posed to another one, so that what holds of one step holds of all.

    The residuals are the setting's own, not those that the algorithm declares. ``ValueError`` where none are known.
    """
    if claim.setting.name not in _CHARTS:
        raise ValueError(f"the states posed in the setting {claim.setting.name!r} have no known residual")
    assert isinstance(claim.statement, Bound)
    residual = Invariant(claim.statement.algorithm, _CHARTS[claim.setting.name], "")
    return preserved(replace(claim, statement=residual), given)


def preserved(claim: Claim, given: Instance) -> bool:
    """Whether a step preserves an invariant for every function of the class, in every dimension, whatever is drawn.

    The residual after a step from formal vectors that satisfy it must vanish identically; parameters are those given.
    """
    assert isinstance(claim.statement, Invariant)
    posed = pose(claim.setting.name, given).instance
    later, _ = rollout(claim, posed, *posed.at(np.zeros((1, 0))), 1)
    residual = np.asarray(claim.statement.residual(posed.problem, posed.params, later))
    return all(v == 0 if isinstance(v, int | Fraction) else not v.coefficients for v in residual.flat)


def any_functions(claim: Claim, given: Instance) -> bool:
    """Whether the claim's hypotheses allow functions beyond the class that is posed, of which nothing is then known.

    ``ValueError`` where they allow compressors beyond those posed. A member that breaks the class must break a
    hypothesis, unless it changes the letters of the statement.
    """
    letters = claim.setting.bind(given.problem, given.params)
    allowed = [
        name
        for name, outside in _outside(given)
        if claim.setting.bind(outside.problem, outside.params) == letters and hypotheses_hold(claim, outside)
    ]
    for name in allowed:
        if not name.endswith("functions"):
            raise ValueError(f"the hypotheses of {claim.id} allow {name} than those posed")
    return bool(allowed)


def _outside(given: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with one thing far worse than its class allows."""
    problem, params = given.problem, given.params
    for part in ("f", "g"):
        functions = getattr(problem, part, None)
        if functions is not None:
            mu, L, n = functions.mu, functions.L, functions.n
            largest, least = np.maximum(L, problem.L) * _WORSE, np.minimum(mu, problem.mu) / _WORSE
            for name, worse in (("less smooth", (mu, largest)), ("less convex", (least, L))):
                changed: Any = SimpleNamespace(n=n, d=functions.d, mu=worse[0], L=worse[1])
                yield f"{name} functions", replace(given, problem=replace(problem, **{part: changed}))
    if hasattr(params, "compressors"):
        noisier: Any = replace(params.compressors, compressor=_noisier(params.compressors.compressor))
        yield "noisier compressors", replace(given, params=params._replace(compressors=noisier))
    if hasattr(params, "compressor"):
        weaker = replace(params.compressor, alpha=params.compressor.alpha / _WORSE)
        yield "weaker compressors", replace(given, params=params._replace(compressor=weaker))


def _noisier(compressor: Compressor) -> Compressor:
    return replace(compressor, omega=(1 + compressor.omega) * _WORSE)
