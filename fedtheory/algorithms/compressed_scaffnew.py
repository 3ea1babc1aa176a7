"""CompressedScaffnew: Scaffnew with permutation-based compression (Condat, Agarsky, Richtarik 2022).

Minimises (1/n) sum_i f_i. All clients agree on one random permutation of the columns of a d x n template of zeros and
ones; client i sends the entries that its column marks.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Bernoulli, Distribution, NamedTuple, Problem, Product, Scalar, method
from fedtheory.algorithms.scaffnew import State, invariant
from fedtheory.algorithms.starts import OtherStart, centred_gradients
from fedtheory.randomness.masks import Pattern


class Params(NamedTuple):
    """``gamma``, ``eta``: stepsizes; ``p``: communication probability; ``s``: clients that send each coordinate."""

    gamma: Scalar
    eta: Scalar
    p: Scalar
    s: int


class Coins(NamedTuple):
    """``theta (...)``: True if this iteration communicates; ``mask (..., n, d)``: the entries each client sends."""

    theta: Array
    mask: Array


def reals(n: int, d: int, s: int) -> int:
    """Uplink of one communication: the largest number of entries that a client sends, ceil(s d/n)."""
    return -(-s * d // n)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Product(Coins, (Bernoulli(params.p), Pattern(problem.n, problem.d, params.s)))


def step(problem: Problem, params: Params, state: State, draw: Coins) -> State:
    """One step of CompressedScaffnew."""
    gamma, eta, p, s = params
    x_hat = state.x - gamma * problem.f.gradient(state.x) + gamma * state.h
    x_bar = np.where(draw.mask, x_hat, 0 * x_hat).sum(axis=-2, keepdims=True) / s
    correction = np.where(draw.mask, x_bar - x_hat, 0 * x_hat)
    talk = draw.theta[..., None, None]
    return State(
        x=np.where(talk, x_bar, x_hat),
        h=np.where(talk, state.h + p * eta / gamma * correction, state.h),
    )


def theory(problem: Problem, s: int | None = None, p: float | None = None) -> Params:
    """gamma = 2/(L + mu), eta = n (s-1)/(s (n-1)), s = max(2, floor(n/d)), p = min(1, sqrt(n/(s kappa))).

    The rate improves with p^2 until 1 - p^2 eta (s-1)/(n-1) meets (1 - gamma mu)^2; s and p may be given.
    """
    n, d, mu, L = problem.n, problem.d, problem.mu, problem.L
    s = max(2, n // d) if s is None else s
    Pattern(n, d, s)
    p = min(1.0, float(np.sqrt(n * mu / (s * L)))) if p is None else p
    return Params(2 / (L + mu), n * (s - 1) / (s * (n - 1)), p, s)


algorithm = method("compressed-scaffnew", step, Params, State, draws=draws, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x_i <- x_bar = (1/s) sum_j q_j . x_hat_j with probability p, else x_hat_i = x_i - gamma (grad f_i - h_i)",
    "h": "h_i <- h_i + (p eta/gamma) q_i . (x_bar - x_hat_i), where there is a communication",
}

#: Other starts of its runs.
STARTS = (OtherStart("h_i^0 = grad f_i(x^0) - grad f(x^0)", "h", centred_gradients),)
