"""FedAlt: personal and shared models, stepped in turn (Pillutla et al. 2022), with the losses of FedADMM's Section 5.3.

The clients' losses are h_i(w, v_i) = (1 - alpha) f_i(w) + alpha f_i(v_i) + (mu/2)|w - v_i|^2; the v_i stay at home.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Clients, NamedTuple, Point, Problem, Scalar, everywhere, method, zeros
from fedtheory.algorithms.examples import Example, Given
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.numbers.rational import apply, inverse
from fedtheory.randomness import Distribution, UniformSubset


class Params(NamedTuple):
    """``tau``: clients a round; ``k0``: local steps of either kind a round; ``alpha`` in (0, 1): weight of the personal
    model; ``mu``: weight of the proximal term; ``gamma_w``, ``gamma_v``: stepsizes of shared and personal models."""

    tau: int
    k0: int
    alpha: Scalar
    mu: Scalar
    gamma_w: Scalar
    gamma_v: Scalar


class State(NamedTuple):
    """``w (..., d)``: the shared model; ``V (..., m, d)``: the personal models."""

    w: Point
    V: Clients


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """A uniformly random tau-subset of the clients."""
    if params.k0 < 1 or not 0 < params.alpha < 1:
        raise ValueError(f"expected a local step or more and alpha in (0, 1), got {params.k0} and {params.alpha}")
    return UniformSubset(problem.n, params.tau)


def shared_slope(problem: Problem, params: Params, W: Array, V: Array) -> Array:
    """The gradients of the h_i in w, ``(..., m, d)``."""
    return (1 - params.alpha) * problem.f.gradient(W) + params.mu * (W - V)


def personal_slope(problem: Problem, params: Params, W: Array, V: Array) -> Array:
    """The gradients of the h_i in v_i, ``(..., m, d)``."""
    return params.alpha * problem.f.gradient(V) - params.mu * (W - V)


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """k_0 steps on the personal models, then as many on copies of the shared one, which the server averages, eq. (17).

    The order is that of Pillutla et al.; FedADMM does not say how its k_0 iterations alternate.
    """
    W, V = everywhere(problem, state.w), state.V
    for _ in range(params.k0):
        V = V - params.gamma_v * personal_slope(problem, params, W, V)
    for _ in range(params.k0):
        W = W - params.gamma_w * shared_slope(problem, params, W, V)
    return State(mean_over(draw, params.tau, W), np.where(draw[..., None], V, state.V))


def fixed_point(problem: Problem, params: Params) -> State:
    """The minimiser of sum_i h_i for quadratics, exact on fractions: fixed if k_0 = 1 and all take part. ``ValueError``
    for other functions."""
    f: Any = problem.f
    if not (hasattr(f, "H") and hasattr(f, "resolvent")):
        raise ValueError("FedAlt and FedSim have their fixed point in closed form for quadratics only")

    def personal(w: Array) -> Array:
        return f.resolvent(params.mu / params.alpha, params.mu / params.alpha * everywhere(problem, w))

    def slope(w: Array) -> Array:
        return shared_slope(problem, params, everywhere(problem, w), personal(w)).sum(axis=-2)

    # The slope is affine in w.
    origin = 0 * f.gradient(zeros(problem.n, problem.d))[0]
    at_origin = slope(origin)
    matrix = (slope(origin + np.eye(problem.d, dtype=int)) - at_origin).T
    w = -apply(inverse(matrix), at_origin)
    return State(w, personal(w))


algorithm = method("fedalt", step, Params, State, draws=draws, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- mean over participants of k_0 steps v <- v - gamma_w ((1 - alpha) grad f_i(v) + mu (v - v_i)) "
    "from w, with the new v_i",
    "V": "v_i <- k_0 steps v_i <- v_i - gamma_v (alpha grad f_i(v_i) - mu (w - v_i)), for participants, before "
    "those on w",
}


def _example(given: Given) -> Params:
    step = 0.4 / given.problem.L
    return Params(given.tau, given.epochs, 0.3, 0.5, step, step / 2)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)
