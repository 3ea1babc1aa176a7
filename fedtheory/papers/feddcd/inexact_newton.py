"""FedDCD, Section 5: Newton's method with inexact steps on quadratics, from any warm start."""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.algorithms.base import method
from fedtheory.classes import Adversary, SmoothStronglyConvex
from fedtheory.kinds.bound import bound
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import T
from fedtheory.papers.feddcd.dual import alpha, beta
from fedtheory.problems.base import Problem
from fedtheory.randomness import Draw
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity


def _slope(problem: Problem, w: Array) -> Array:
    """grad f(w) of the only function."""
    return problem.f.gradient(w[..., None, :]).sum(axis=-2)


def step(problem: Any, params: Any, state: Any, draw: Draw) -> dict[str, Array]:
    """The w at which the gradient is the residual: on quadratics that of an inexact Newton step."""
    slope = _slope(problem, state.w)
    residual = params.residual.answer(0 * slope, params.eta**2 * (slope**2).sum(axis=-1))
    return {"w": problem.f.resolvent(0, residual[..., None, :]).sum(axis=-2)}


def scaled_gradient(problem: Problem, params: object, state: Any) -> Array:
    """|grad f(w)|^2/alpha^2."""
    found: Array = (_slope(problem, state.w) ** 2).sum(axis=-1) / problem.mu**2
    return found


def squared_error(problem: Problem, params: object, state: Any) -> Array:
    """|w - w*|^2."""
    found: Array = ((state.w - problem.x_star) ** 2).sum(axis=-1)
    return found


#: ``eta``: the forcing term; ``residual``: gives the residuals; ``w (..., d)``.
algorithm = method("inexact-newton", step, ["eta", "residual"], {"w": "point"})
eta = sympy.Symbol("eta", positive=True)
_FUNCTIONS = SmoothStronglyConvex(alpha, beta, quadratics=True)
QUADRATIC = Hypothesis("f is an alpha-strongly convex and beta-smooth quadratic", met=_FUNCTIONS.contains)
SETTING = Setting(
    "a quadratic f with curvatures between alpha and beta; any residuals of at most eta |grad f(w)|, eta < 1",
    letters={alpha: "mu", beta: "L", eta: "eta"},
    algorithm=algorithm,
    functions=_FUNCTIONS,
    adversaries=(Adversary("residual"),),
    domain=(sympy.Lt(eta, 1, evaluate=False),),
    clients=(1,),
    potential=Quantity("|grad f(w_T)|^2/alpha^2", scaled_gradient, after=True),
)
_LAST, _FIRST = Quantity("|w_T-w*|^2", squared_error, after=True), Quantity("|w_0-w*|^2", squared_error)
FROM_THE_START = bound(algorithm, E(_LAST) <= (beta / alpha) ** 2 * eta ** (2 * T) * _FIRST)
