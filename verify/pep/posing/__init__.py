"""A claim as a semidefinite program: its own algorithm, run on vectors known only by their inner products.

The problem's oracles are those of :mod:`verify.pep.functions`, the compressors those of :mod:`verify.pep.randomness`.
The algorithm's ``step`` and the statement's quantities run on them unchanged, with every draw enumerated, and leave
both sides as forms. Nothing of a method is transcribed here, so a changed algorithm gives a changed program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.statements import Bound, Invariant, OneStep, Quantity, Setting
from verify.evaluate import hypotheses_hold, rollout
from verify.pep import coordinates
from verify.pep.functions import Formal
from verify.pep.posing import accelerated, baselines, feddcd, finite_sum, inexact, locodl, rivals

_SETTINGS: dict[str, Callable[[Instance], Formal]] = {
    **locodl.SETTINGS,
    **feddcd.SETTINGS,
    **accelerated.SETTINGS,
    **baselines.SETTINGS,
    **rivals.SETTINGS,
    **inexact.SETTINGS,
    **finite_sum.SETTINGS,
}
_POTENTIALS = {**feddcd.POTENTIALS, **locodl.POTENTIALS, **accelerated.POTENTIALS}
_BASES = accelerated.BASES
_CHARTS = {**feddcd.CHARTS, **locodl.CHARTS, **accelerated.CHARTS}


#: How much worse a member is that must be outside the class.
_WORSE = Fraction(1, 10**6)


def posable(setting: Setting) -> bool:
    """Whether the class of a setting can be posed formally."""
    return setting.name in _SETTINGS


def pose(setting: Setting, given: Instance) -> Formal:
    """The formal instance with the class, the number of clients and the parameters of an exact instance.

    ``ValueError`` when the setting has no formal instance.
    """
    if not posable(setting):
        raise ValueError(f"no worst case over a class is known for the setting {setting.name!r}")
    return _SETTINGS[setting.name](given)


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
    That the step treats coordinates alike is for :func:`check_coordinates` to say.
    """
    if claim.setting.name not in _CHARTS:
        raise ValueError(f"the states posed in the setting {claim.setting.name!r} have no known residual")
    assert isinstance(claim.statement, Bound)
    residual = Invariant(claim.statement.algorithm, _CHARTS[claim.setting.name], "")
    return _vanishes_later(replace(claim, statement=residual), given)


def preserved(claim: Claim, given: Instance) -> bool:
    """Whether a step preserves an invariant for every function of the class, in every dimension, whatever is drawn.

    The residual after a step from formal vectors that satisfy it must vanish identically; parameters are those given.
    ``ValueError`` where coordinates are mixed.
    """
    check_coordinates(claim, given)
    return _vanishes_later(claim, given)


def _vanishes_later(claim: Claim, given: Instance) -> bool:
    assert isinstance(claim.statement, Invariant)
    posed = pose(claim.setting, given).instance
    later, _ = rollout(claim, posed, *posed.at(np.zeros((1, 0))), 1)
    residual = np.asarray(claim.statement.residual(posed.problem, posed.params, later))
    return all(v == 0 if isinstance(v, int | Fraction) else not v.coefficients for v in residual.flat)


def check_coordinates(claim: Claim, given: Instance, sizes: tuple[int, ...] = coordinates.SIZES) -> None:
    """``ValueError`` unless the claim's step and quantities treat all coordinates alike, in dimensions ``sizes``.

    What is found of them on formal vectors, which have one entry, holds in every dimension only then.
    """
    problem = given.problem
    if problem is not None and pose(claim.setting, given).instance.problem.d > 1:
        # Formal vectors in parts already, because a method draws coordinates: here they have one part.
        f: Any = SimpleNamespace(n=problem.n, d=1, mu=problem.f.mu, L=problem.f.L)
        given = replace(given, problem=replace(problem, f=f))
    found = coordinates.mixing(claim, lambda: pose(claim.setting, given).instance, sizes)
    if found is not None:
        raise ValueError(f"the code of {claim.id} does not treat all coordinates alike: {found}")


def any_functions(claim: Claim, given: Instance) -> bool:
    """Whether the claim's hypotheses allow functions beyond the class that is posed, of which nothing is then known.

    ``ValueError`` where they allow compressors or oracles beyond those posed. A member that breaks the class must break
    a hypothesis, unless it changes the letters of the statement. The instance given must meet the hypotheses.
    """
    letters = claim.setting.bind(given.problem, given.params)
    allowed = [
        name
        for name, outside in _outside(given, pose(claim.setting, given))
        if claim.setting.bind(outside.problem, outside.params) == letters and hypotheses_hold(claim, outside)
    ]
    for name in allowed:
        if not name.endswith("functions"):
            raise ValueError(f"the hypotheses of {claim.id} allow {name} than those posed")
    return bool(allowed)


def _outside(given: Instance, posed: Formal) -> Iterator[tuple[str, Instance]]:
    """The instance with one thing a little worse than the class posed allows."""
    problem, params = given.problem, given.params
    for part in ("f", "g"):
        functions = getattr(problem, part, None)
        if functions is not None:
            known = getattr(posed.instance.problem, part)
            mu, L = np.minimum(functions.mu, problem.mu), np.maximum(np.maximum(functions.L, known.L), problem.L)
            # The class of each function may be wider than what is declared of all.
            lower = (mu - _WORSE * abs(mu), np.minimum(mu, known.mu) - _WORSE * L)
            worse = [("less smooth", functions.mu, (1 + _WORSE) * L)]
            worse += [("less convex", below, functions.L) for below in lower]
            for name, of_mu, of_L in worse:
                changed: Any = SimpleNamespace(n=functions.n, d=functions.d, mu=of_mu, L=of_L)
                yield f"{name} functions", replace(given, problem=replace(problem, **{part: changed}))
    if hasattr(params, "compressors"):
        omega = max(params.compressors.omega, posed.instance.params.compressors.omega) + _WORSE
        family = params.compressors
        noisier: Any = replace(family, compressor=replace(family.compressor, omega=omega))
        yield "noisier compressors", replace(given, params=params._replace(compressors=noisier))
        # With errors of other dependence the joint constant may be the same.
        known = {"n": family.n, "joint": family.joint, "omega_av": family.omega_av}
        other: Any = SimpleNamespace(compressor=noisier.compressor, omega=omega, **known)
        yield "noisier compressors", replace(given, params=params._replace(compressors=other))
    if hasattr(params, "compressor"):
        alpha = min(params.compressor.alpha, posed.instance.params.compressor.alpha) * (1 - _WORSE)
        weaker = replace(params.compressor, alpha=alpha)
        yield "weaker compressors", replace(given, params=params._replace(compressor=weaker))
    if posed.oracle is not None:
        wrong = replace(posed.oracle, delta=posed.oracle.delta + _WORSE)
        yield "worse oracles", replace(given, params=params._replace(oracle=wrong))
