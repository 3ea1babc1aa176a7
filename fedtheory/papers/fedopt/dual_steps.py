"""Federated Optimization, Sections 2.3.1 and A.3: a round of Algorithm 6, its blocks solved to an accuracy Theta, for
all convex and 1/gamma-smooth phi_i.

As in :mod:`fedtheory.papers.fedopt.conjugates` dual variables are known by slopes: X_k alpha_k with a minus is the
slope of L_k(w) = sum_i phi_i(x_i'w), i in P_k, at some point v_k, and sum_i phi_i^*(-alpha_i) is at least <v_k, slope>
less L_k(v_k), the least of all alpha_k with that X_k alpha_k. L_k is convex and beta-smooth, beta = |X_k|^2/gamma.

x* is the minimiser of (1/n) sum_k L_k(w) + (lambda/2) |w|^2. The functions of a problem here are L_k with (lambda n/K)
<x*, w> added to each, so that x* is a minimiser of their sum.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.base import Algorithm, no_step
from fedtheory.classes import SmoothConvex
from fedtheory.instances import Recipe, generic, members, number, pick
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.predictors import K, Theta, lamda, n, sigma
from fedtheory.problems.base import Problem
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity


class Params(NamedTuple):
    """``lamda``; ``n``: the number of examples; ``sigma``: that of Algorithm 6; ``progress``: 1 less the local accuracy
    Theta."""

    lamda: Scalar
    n: int
    sigma: Scalar
    progress: Scalar


class State(NamedTuple):
    """``v (..., K, d)``: where the L_k have the slopes of alpha^t; ``E``: vectors, by whose squares the conjugates are
    more than the least; ``a``, ``F``: the same of alpha^(t+1), and ``c``, ``G``: what need not be accurate enough."""

    v: Array
    E: Array
    c: Array
    G: Array
    a: Array
    F: Array


class Losses(NamedTuple):
    """The L_k of a problem, whose functions have ``tilt`` besides; ``shift``: of the roots that are asked for."""

    problem: Problem
    tilt: Array
    shift: Scalar

    def slope(self, v: Array) -> Array:
        """grad L_k(v_k), ``(..., K, d)``."""
        return self.problem.f.gradient(v) - self.tilt

    def value(self, v: Array) -> Array:
        """L_k(v_k), ``(..., K)``."""
        return self.problem.f.value(v) - (v * self.tilt).sum(axis=-1)

    def conjugate(self, v: Array) -> Array:
        """L_k^* at the slope that L_k has at v_k, ``(..., K)``."""
        return (v * self.slope(v)).sum(axis=-1) - self.value(v)

    def root(self, target: Array) -> Array:
        """The u_k with grad L_k(u_k) + shift u_k = target_k."""
        of: Any = self.problem.f
        return of.resolvent(self.shift, target + self.tilt)


def _losses(problem: Problem, params: Params) -> Losses:
    strength = params.lamda * params.n
    return Losses(problem, strength * problem.x_star / problem.n, strength / params.sigma)


def _model(problem: Problem, params: Params, v: Array) -> Array:
    """w = X alpha/(lambda n), ``(..., d)``."""
    return -_losses(problem, params).slope(v).sum(axis=-2) / (params.lamda * params.n)


def _exact(problem: Problem, params: Params, v: Array) -> Array:
    """Where the L_k have the slopes after exact solutions of (15): grad L_k(u) = grad L_k(v_k) - (lambda n/sigma)(u -
    w)."""
    losses, w = _losses(problem, params), _model(problem, params, v)[..., None, :]
    return losses.root(losses.slope(v) + losses.shift * w)


def _local(problem: Problem, params: Params, v: Array, a: Array, F: Array) -> Array:
    """n times what (15) minimises, D_k(h), for the h that takes the slopes at v_k to those at a_k: ``(..., K)``."""
    losses, w = _losses(problem, params), _model(problem, params, v)[..., None, :]
    h = losses.slope(v) - losses.slope(a)
    found: Array = (w * h).sum(axis=-1) + square(h) / (2 * losses.shift) + losses.conjugate(a)
    return found + square(F)


def _inaccurate(problem: Problem, params: Params, v: Array, E: Array, a: Array, F: Array) -> Array:
    """The excess of the solutions over the accuracy Theta, at most 0 where they have it: ``(..., K)``."""
    best = _local(problem, params, v, _exact(problem, params, v), 0 * F)
    start = _local(problem, params, v, v, E)
    return _local(problem, params, v, a, F) - params.progress * best - (1 - params.progress) * start


def _init(problem: Problem, params: Params, v: Array, E: Array, c: Array, G: Array) -> State:
    """The c_k that are accurate enough, and the exact solutions in the place of others."""
    off = _inaccurate(problem, params, v, E, c, G)
    try:
        wrong = (off > 0)[..., None]
    except (TypeError, ValueError):
        # Forms do not compare: of them the setting says it.
        return State(v, E, c, G, c, G)
    return State(v, E, c, G, np.where(wrong, _exact(problem, params, v), c), np.where(wrong, 0 * G, G))


def _known(problem: Problem, params: Params, state: State) -> Array:
    """The accuracy of the solutions, and |X h|^2 - sigma |h|_B^2 for the step h."""
    losses = _losses(problem, params)
    h = losses.slope(state.v) - losses.slope(state.a)
    gap = square(h.sum(axis=-2)) - params.sigma * square(h).sum(axis=-1)
    off = _inaccurate(problem, params, state.v, state.E, state.a, state.F)
    return np.concatenate([off, gap[..., None]], axis=-1)


def _centre(problem: Problem, params: Params) -> State:
    x = np.broadcast_to(problem.x_star, (problem.n, problem.d))
    none = np.zeros((problem.n, problem.d), dtype=int)
    return State(x, none, x, none, x, none)


def _dual(problem: Problem, params: Params, v: Array, E: Array) -> Array:
    """D(alpha), eq. (13)."""
    losses = _losses(problem, params)
    image = square(losses.slope(v).sum(axis=-2)) / (2 * params.lamda * params.n**2)
    return -image - (losses.conjugate(v) + square(E)).sum(axis=-1) / params.n


def _gap(at: str, more: str) -> Any:
    def value(problem: Problem, params: Params, state: State) -> Array:
        v, E = getattr(state, at), getattr(state, more)
        best = _dual(problem, params, np.broadcast_to(problem.x_star, (problem.n, problem.d)), 0 * E)
        return best - _dual(problem, params, v, E)

    value.__doc__ = f"D* - D(alpha), alpha by the slopes at {at} and {more}"
    return value


def _draw(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """Every coordinate on as many nodes at most as sigma, or any sigma of at least K."""
    clients, d = recipe["clients"], recipe["d"]
    count = len(clients)
    most = int(rng.integers(1, count + 1))
    held = np.array([rng.permutation(count) < most for _ in range(d)]).T
    kept = tuple(
        {
            key: tuple(v if on else Fraction(0) for v, on in zip(part, own, strict=True))
            if key in members.SLOPES
            else part
            for key, part in client.items()
            if key != "turn"
        }
        for client, own in zip(clients, held, strict=True)
    )
    return {
        **recipe,
        "clients": kept,
        "examples": count * int(pick(rng, (1, 1, 3))),
        "sigma": Fraction(most) * pick(rng, tuple(Fraction(v) for v in (1, 1, "3/2"))),
        "lamda": generic(rng, Fraction(1, 50), Fraction(5)),
        "Theta": pick(rng, tuple(Fraction(v) for v in (0, 0, "1/4", "1/9", "81/100"))),
    }


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    clients = recipe["clients"]
    held = np.array(
        [[any(c[key][j] for key in members.SLOPES if key in c) for j in range(recipe["d"])] for c in clients]
    )
    if any(c.get("turn") for c in clients) or held.sum(axis=0).max() > recipe["sigma"]:
        raise ValueError("a coordinate lies on at most sigma nodes, so that X'X <= sigma B")
    if recipe["examples"] < len(clients) or min(recipe["sigma"], recipe["lamda"]) <= 0 or not 0 <= recipe["Theta"] < 1:
        raise ValueError("every node has an example, sigma and lambda are positive, and 0 <= Theta < 1")
    lam, sig, accuracy = (number(recipe[name], exact) for name in ("lamda", "sigma", "Theta"))
    return Params(lam, recipe["examples"], sig, 1 - accuracy)


beta = sympy.Symbol("beta", positive=True)
#: 1 - Theta, which is positive.
_progress = sympy.Symbol("progress", positive=True)
_CLASS = SmoothConvex(beta)
SETTING = Setting(
    "phi_i convex and 1/gamma-smooth on any data and nodes, beta = max_k |X_k|^2/gamma; any lambda > 0, any sigma with "
    "X'X <= sigma B, any alpha; solutions of (15) of accuracy Theta in [0, 1), which are added",
    letters={
        beta: "L",
        K: "n",
        n: lambda problem, params: params.n,
        lamda: "lamda",
        sigma: "sigma",
        Theta: lambda problem, params: 1 - params.progress,
        _progress: "progress",
    },
    algorithm=Algorithm("a round of Algorithm 6", Params, State, _init, no_step, no_step, _centre),
    functions=_CLASS,
    drawing=Drawing(classes_stated=True, draw=_draw, parameters=_parameters),
    domain=(sympy.Le(_progress, 1, evaluate=False),),
    hints=Hints(known=_known),
    clients=(1, 2, 2, 3),
)
CONVEX = Hypothesis("phi_i is convex and 1/gamma-smooth", met=_CLASS.contains)
GAP_AFTER, GAP_BEFORE = (
    Quantity(sympy.Symbol(name), _gap(*which)) for name, which in (("D*-D(alpha^(t+1))", "aF"), ("D*-D(alpha^t)", "vE"))
)
#: The decrease of the gap in an exact round.
SHARE = lamda * n / (lamda * n + sigma * beta)
