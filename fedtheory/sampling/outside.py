"""Instances just outside a class: a claim that allows one of them covers more than the class.

What a proof builds in of a class is therefore what some instance breaks alone.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from types import SimpleNamespace
from typing import Any

from fedtheory import classes
from fedtheory.classes.base import WORSE, FunctionClass, Outside
from fedtheory.problems.base import Problem
from fedtheory.problems.mixing import of_graph


@singledispatch
def outside(of: object, problem: Problem, params: object, known: object) -> Outside:
    """Named instances just outside the class ``of``, each worse by a little than it allows, or than ``known``: of a
    class of functions the problem that is posed, of others its parameters. Raise ``ValueError`` if there are none."""
    raise ValueError(f"no functions just outside the class {type(of).__name__} are known")


@outside.register(FunctionClass)
def _functions(of: FunctionClass, problem: Problem, params: object, known: Problem) -> Outside:
    """Instances whose functions are just outside."""
    return of.outside(problem, params, known)


@outside.register(classes.NoisyGradients)
def _noisier_gradients(of: classes.NoisyGradients, problem: Problem, params: Any, known: object) -> Outside:
    """Instances with a little more noise than the class allows, or than is ``known``, and with dependent noise."""
    noise, least = getattr(params, of.field), getattr(known, of.field).variance
    more: Any = SimpleNamespace(n=noise.n, variance=max(noise.variance, least) + WORSE, joint=noise.joint)
    yield "noisier gradients", problem, params._replace(**{of.field: more})
    if getattr(known, of.field).joint == "independent":
        shared: Any = SimpleNamespace(n=noise.n, variance=noise.variance, joint="shared")
        yield "dependent gradients", problem, params._replace(**{of.field: shared})


@outside.register(classes.BoundedNoise)
def _noisier_than_allowed(of: classes.BoundedNoise, problem: Problem, params: Any, known: object) -> Outside:
    """Instances with a little more noise than the step allows, and with dependent noise."""
    noise = getattr(params, of.field)
    more: Any = SimpleNamespace(share=1 + WORSE, joint=noise.joint)
    yield "noisier gradients", problem, params._replace(**{of.field: more})
    if getattr(known, of.field).joint == "independent":
        shared: Any = SimpleNamespace(share=noise.share, joint="shared")
        yield "dependent gradients", problem, params._replace(**{of.field: shared})


@outside.register(classes.UnbiasedCompressors)
def _noisier(of: classes.UnbiasedCompressors, problem: Problem, params: Any, known: object) -> Outside:
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
def _weaker(of: classes.ContractiveCompressors, problem: Problem, params: Any, known: object) -> Outside:
    """The instance with compressors whose alpha is just below what the class asks for."""
    one = getattr(params, of.field)
    alpha = min(one.alpha, getattr(known, of.field).alpha) * (1 - WORSE)
    yield "weaker compressors", problem, params._replace(**{of.field: replace(one, alpha=alpha)})


@outside.register(classes.InexactOracles)
def _inexact(of: classes.InexactOracles, problem: Problem, params: Any, known: object) -> Outside:
    """The instance with oracles whose delta is just above what the class allows."""
    wrong = replace(getattr(known, of.field), delta=getattr(known, of.field).delta + WORSE)
    yield "worse oracles", problem, params._replace(**{of.field: wrong})


@outside.register(classes.MixingMatrix)
def _mixing_less(of: classes.MixingMatrix, problem: Problem, params: Any, known: object) -> Outside:
    """The instance with a matrix of the complete graph whose gap is a little smaller than the letter says."""
    gap = Fraction(getattr(params, of.gap)) * (1 - WORSE)
    worse: Any = of_graph("complete", problem.n, gap)
    yield "slower mixing", problem, params._replace(**{of.field: worse})


@outside.register(classes.Adversary)
def _farther(of: classes.Adversary, problem: Problem, params: Any, known: object) -> Outside:
    """The instance with answers a little farther away than the class allows."""
    far: Any = SimpleNamespace(share=1 + WORSE)
    yield "farther answers", problem, params._replace(**{of.field: far})
