"""Instances just outside a class: a claim that allows one of them covers more than the class.

What a proof builds in of a class is therefore what some instance breaks alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from fedtheory import classes
from fedtheory.classes.base import FunctionClass, each
from fedtheory.problems.base import Problem
from fedtheory.problems.blocks import smoothness

#: How much worse a member is that must be just outside a class.
WORSE = Fraction(1, 10**6)
#: A named instance just outside a class.
Outside = Iterator[tuple[str, Problem, Any]]


@singledispatch
def outside(of: Any, problem: Problem, params: Any, known: Any) -> Outside:
    """Named instances just outside the class ``of``, each worse by a little than it allows, or than ``known``: of a
    class of functions the problem that is posed, of others its parameters. Raise ``ValueError`` if there are none."""
    raise ValueError(f"no functions just outside the class {type(of).__name__} are known")


@outside.register(FunctionClass)
def _worse(of: FunctionClass, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances whose functions are a little worse than the class allows, or than those of ``known``.

    One function after the other: a hypothesis may forget about some of them.
    """
    low, high = of.curvatures(problem, params)
    for part, own in (("f", problem.f), ("g", problem.g)):
        if own is None:
            continue
        posed = getattr(known, part)
        for i in range(own.n):
            here = np.arange(own.n) == i
            below = np.minimum(low[: own.n], posed.mu) - WORSE * high[: own.n]
            above = np.maximum(high[: own.n], posed.L) * (1 + WORSE)
            worse = (("less smooth", own.mu, np.where(here, above, own.L)), ("less convex", below, own.L))
            for name, mu, L in worse:
                changed: Any = SimpleNamespace(n=own.n, d=own.d, mu=np.where(here, mu, own.mu), L=L)
                yield f"{name} functions", replace(problem, **{part: changed}), params


@outside.register(classes.SmoothStronglyConvex)
@outside.register(classes.SmoothEach)
@outside.register(classes.SmoothBlocks)
def _less_convex_or_smooth(of: FunctionClass, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
    for part in ("f", "g"):
        functions = getattr(problem, part, None)
        if functions is None:
            continue
        posed = getattr(known, part)
        mu, L = np.minimum(functions.mu, problem.mu), np.maximum(np.maximum(functions.L, posed.L), problem.L)
        # The class of each function may be wider than what is declared of all.
        lower = (mu - WORSE * abs(mu), np.minimum(mu, posed.mu) - WORSE * L)
        worse = [("less smooth", functions.mu, (1 + WORSE) * L)]
        worse += [("less convex", below, functions.L) for below in lower]
        for name, of_mu, of_L in worse:
            changed: Any = SimpleNamespace(n=functions.n, d=functions.d, mu=of_mu, L=of_L)
            yield f"{name} functions", replace(problem, **{part: changed}), params


@outside.register(classes.StronglyConvexOnAverage)
def _on_average(of: classes.StronglyConvexOnAverage, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances whose functions are a little worse than the class allows, or whose average is."""
    yield from _worse(of, problem, params, known)
    f: Any = problem.f
    changed: Any = SimpleNamespace(n=f.n, d=f.d, mu=each(problem.mu * (1 - WORSE), f.n), L=f.L)
    yield "less convex functions", replace(problem, f=changed), params


@outside.register(classes.SmoothOwn)
def _own(of: classes.SmoothOwn, problem: Problem, params: Any, known: Problem) -> Outside:
    """Named instances just outside the class, each worse by a little."""
    r = (1 + WORSE) * known.f.L
    for i in range(problem.n):
        L = np.where(np.arange(problem.n) == i, r, problem.f.L)
        for name, mu in (("less smooth", problem.f.mu), ("less convex", -L)):
            changed: Any = SimpleNamespace(n=problem.n, d=problem.f.d, mu=mu, L=L)
            yield f"{name} functions", replace(problem, f=changed), params


@outside.register(classes.PolyakLojasiewicz)
def _less_steep(of: classes.PolyakLojasiewicz, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances a little less smooth than the class allows, or whose average does not meet the condition."""
    yield from _worse(of, problem, params, known)
    f: Any = problem.f
    # Nothing is known of the growth of such an average.
    changed: Any = SimpleNamespace(n=f.n, d=f.d, mu=-np.maximum(f.L, -f.mu), L=f.L)
    yield "other functions", replace(problem, f=changed), params


@outside.register(classes.SmoothConvexLipschitz)
def _steeper(of: classes.SmoothConvexLipschitz, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances a little less smooth or convex than the class allows, or steeper."""
    f: Any = problem.f
    steepest = of.steepest(problem, params)
    for name, worse, changed in _worse(of, problem, params, known):
        # As steep as the class allows.
        cast(Any, worse.f).steepest_squared = each(problem.M**2, f.n)
        yield name, worse, changed
    for i in range(f.n):
        steep: Any = SimpleNamespace(n=f.n, d=f.d, mu=f.mu, L=f.L)
        steep.steepest_squared = np.where(np.arange(f.n) == i, steepest * (1 + WORSE), problem.M**2)
        yield "steeper functions", replace(problem, f=steep), params


@outside.register(classes.ConvexQuadraticGrowth)
def _growing(of: classes.ConvexQuadraticGrowth, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances of which one function is a little less convex than the class allows, or whose average grows faster."""
    f: Any = problem.f
    _, high = of.growth(problem)
    for i in range(f.n):
        mu = np.where(np.arange(f.n) == i, min(0 * problem.L, *known.f.mu) - WORSE, f.mu)
        less: Any = SimpleNamespace(n=f.n, d=f.d, mu=mu, L=each(problem.L, f.n))
        yield "less convex functions", replace(problem, f=less), params
    faster: Any = SimpleNamespace(n=f.n, d=f.d, mu=f.mu, L=each(high * (1 + WORSE), f.n))
    yield "other functions", replace(problem, f=faster), params


@outside.register(classes.BlockSmoothConvex)
def _in_blocks(of: classes.BlockSmoothConvex, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances of which one function is a little less convex than the class allows, or less smooth along one block."""
    f: Any = problem.f
    own, L = smoothness(f, problem.optimum.x, problem.blocks.sizes), of.along(problem)  # type: ignore[union-attr]
    for i in range(f.n):
        here = np.arange(f.n) == i
        less = np.where(here, min(0 * problem.L, *f.mu) - WORSE, f.mu)
        for mu, j in ((less, None), *((f.mu, j) for j in range(len(L)))):
            along = own.copy()
            if j is not None:
                along[i, j] = L[j] * (1 + WORSE)
            changed: Any = SimpleNamespace(n=f.n, d=f.d, mu=mu, L=f.L, block_smoothness=along)
            yield f"less {'convex' if j is None else 'smooth'} functions", replace(problem, f=changed), params


@outside.register(classes.RestrictedSecant)
def _sloping(of: classes.RestrictedSecant, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances whose average meets one of the two conditions, and nearly the other."""
    f: Any = problem.f
    low, high = of.growth(problem)
    for mu, L in ((problem.mu, high * (1 + WORSE)), (low * (1 - WORSE), problem.L)):
        changed: Any = SimpleNamespace(n=f.n, d=f.d, mu=each(mu, f.n), L=each(L, f.n))
        yield "other functions", replace(problem, f=changed), params


@outside.register(classes.Convex)
@outside.register(classes.StronglyConvex)
@outside.register(classes.ConvexLipschitz)
def _not_convex(of: FunctionClass, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances of which one function is a little less convex than the class allows, or than those of ``known``; or
    steeper, where it bounds gradients."""
    low, _ = of.curvatures(problem, params)
    steepest = of.steepest(problem, params)
    for part, own in (("f", problem.f), ("g", problem.g)):
        if own is None:
            continue
        posed, f = getattr(known, part), cast(Any, own)
        squares = getattr(f, "steepest_squared", None)
        for i in range(f.n):
            here = np.arange(f.n) == i
            flat: Any = SimpleNamespace(
                n=f.n, d=f.d, mu=np.where(here, np.minimum(low[0], posed.mu) - WORSE, f.mu), L=f.L
            )
            flat.steepest_squared = squares
            yield "less convex functions", replace(problem, **{part: flat}), params
            if steepest is not None:
                steep: Any = SimpleNamespace(n=f.n, d=f.d, mu=f.mu, L=f.L)
                steep.steepest_squared = np.where(here, steepest * (1 + WORSE), squares)
                yield "steeper functions", replace(problem, **{part: steep}), params


@outside.register(classes.Composite)
def _composite(of: classes.Composite, problem: Problem, params: Any, known: Problem) -> Outside:
    """Instances whose f_i are just outside their class, or whose g is not convex."""
    alone = replace(known, g=None)
    for name, worse, changed in outside(of.of, replace(problem, g=None), params, alone):
        yield name, replace(worse, g=problem.g), changed
    least, _ = of.curvatures_of_g(problem, params)
    g: Any = problem.g
    other: Any = SimpleNamespace(n=1, d=g.d, mu=each(min(least, *known.g.mu) - WORSE, 1), L=g.L)  # type: ignore[union-attr]
    yield "other functions", replace(problem, g=other), params


@outside.register(classes.NoisyGradients)
def _noisier_gradients(of: classes.NoisyGradients, problem: Problem, params: Any, known: Any) -> Outside:
    """Instances with a little more noise than the class allows, or than is ``known``, and with dependent noise."""
    noise, least = getattr(params, of.field), getattr(known, of.field).variance
    more: Any = SimpleNamespace(n=noise.n, variance=max(noise.variance, least) + WORSE, joint=noise.joint)
    yield "noisier gradients", problem, params._replace(**{of.field: more})
    if getattr(known, of.field).joint == "independent":
        shared: Any = SimpleNamespace(n=noise.n, variance=noise.variance, joint="shared")
        yield "dependent gradients", problem, params._replace(**{of.field: shared})


@outside.register(classes.UnbiasedCompressors)
def _noisier(of: classes.UnbiasedCompressors, problem: Problem, params: Any, known: Any) -> Outside:
    """Instances whose compressors are a little noisier than the class allows, or than those ``known``."""
    family = getattr(params, of.field)
    omega = max(family.omega, getattr(known, of.field).omega) + WORSE
    noisier: Any = replace(family, compressor=replace(family.compressor, omega=omega))
    yield "noisier compressors", problem, params._replace(**{of.field: noisier})
    # With errors of other dependence the joint constant may be the same.
    same = {"n": family.n, "joint": family.joint, "omega_av": family.omega_av}
    other: Any = SimpleNamespace(compressor=noisier.compressor, omega=omega, **same)
    yield "noisier compressors", problem, params._replace(**{of.field: other})
    dependent = replace(family, joint="shared")
    if dependent.omega_av > getattr(known, of.field).omega_av:
        yield "dependent compressors", problem, params._replace(**{of.field: dependent})


@outside.register(classes.ContractiveCompressors)
def _weaker(of: classes.ContractiveCompressors, problem: Problem, params: Any, known: Any) -> Outside:
    """The instance with compressors whose alpha is just below what the class asks for."""
    one = getattr(params, of.field)
    alpha = min(one.alpha, getattr(known, of.field).alpha) * (1 - WORSE)
    yield "weaker compressors", problem, params._replace(**{of.field: replace(one, alpha=alpha)})


@outside.register(classes.InexactOracles)
def _inexact(of: classes.InexactOracles, problem: Problem, params: Any, known: Any) -> Outside:
    """The instance with oracles whose delta is just above what the class allows."""
    wrong = replace(getattr(known, of.field), delta=getattr(known, of.field).delta + WORSE)
    yield "worse oracles", problem, params._replace(**{of.field: wrong})


@outside.register(classes.Adversary)
def _farther(of: classes.Adversary, problem: Problem, params: Any, known: Any) -> Outside:
    """The instance with answers a little farther away than the class allows."""
    far: Any = SimpleNamespace(share=1 + WORSE)
    yield "farther answers", problem, params._replace(**{of.field: far})
