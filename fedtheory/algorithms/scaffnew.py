"""Scaffnew: local training with control variates, ProxSkip on the consensus problem (Mishchenko et al. 2022).

Minimises (1/n) sum_i f_i, one communication every 1/p iterations in expectation.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Gradients, Models, NamedTuple, Problem, Scalar, method
from fedtheory.algorithms.slips import Table, edits
from fedtheory.algorithms.starts import OtherStart, centred_gradients
from fedtheory.randomness import Bernoulli, Independent


class Params(NamedTuple):
    """``gamma``: stepsize; ``p``: communication probability."""

    gamma: Scalar
    p: Scalar


class State(NamedTuple):
    """``x``, ``h`` ``(..., n, d)``: local models and control variates; these should sum to zero."""

    x: Models
    h: Gradients


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """A coin: True if this iteration communicates."""
    return Bernoulli(params.p)


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """One step of Scaffnew."""
    gamma, p = params
    x_hat = state.x - gamma * (problem.f.gradient(state.x) - state.h)
    return communicate(gamma, p, x_hat, state.h, draw)


def communicate(gamma: Scalar, p: Scalar, x_hat: Array, h_hat: Array, theta: Array) -> State:
    """Average x_hat - (gamma/p) h_hat over the clients where ``theta (...)``, else keep x_hat; then correct h_hat."""
    mean = (x_hat - gamma / p * h_hat).sum(axis=-2, keepdims=True) / x_hat.shape[-2]
    x = np.where(theta[..., None, None], mean, x_hat)
    return State(x, h_hat + p / gamma * (x - x_hat))


def invariant(problem: Problem, params: object, state: State) -> Array:
    """sum_i h_i, ``(..., d)``."""
    return state.h.sum(axis=-2)


def theory(problem: Problem, p: float | None = None) -> Params:
    """gamma = 1/L and p = 1/sqrt(kappa) unless given."""
    return Params(1 / problem.L, float(np.sqrt(problem.mu / problem.L)) if p is None else p)


algorithm = method("scaffnew", step, Params, State, draws=draws, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x_i <- (1/n) sum_j (x_hat_j - (gamma/p) h_j) with probability p, else x_hat_i = x_i - gamma (grad f_i - h_i)",
    "h": "h_i <- h_i + (p/gamma)(x_i+ - x_hat_i)",
}

#: Other starts of its runs.
STARTS = (OtherStart("h_i^0 = grad f_i(x^0) - grad f(x^0)", "h", centred_gradients),)


def _own_coins(problem: Problem, params: Params, state: State) -> Distribution:
    return Independent(Bernoulli(params.p), problem.n)


def _by_own_coins(problem: Problem, params: Params, state: State, draw: Array, among: bool = False) -> State:
    """Clients whose coins ``draw (..., n)`` say so take the average, of all clients or ``among`` themselves."""
    gamma, p = params
    x_hat = state.x - gamma * (problem.f.gradient(state.x) - state.h)
    coins = draw[..., None]
    counted = np.where(coins, 1.0, 0.0) if among else np.ones(coins.shape)
    sent = counted * (x_hat - gamma / p * state.h)
    mean = sent.sum(axis=-2, keepdims=True) / np.maximum(counted.sum(axis=-2, keepdims=True), 1)
    x = np.where(coins, mean, x_hat)
    return State(x, state.h + p / gamma * (x - x_hat))


_OWN_COINS = "each client tosses a coin of its own where one coin is for all"

#: Known mistakes of implementations.
SLIPS: Table = (
    (
        f"{_OWN_COINS}; those that communicate take the average of all",
        "x",
        {"draws": _own_coins, "step": _by_own_coins},
    ),
    (
        f"{_OWN_COINS}; those that communicate take the average among themselves",
        "x",
        {"draws": _own_coins, "step": partial(_by_own_coins, among=True)},
    ),
    *edits("""
x: the average leaves out the control variates, which do not sum to zero here
    (x_hat - gamma / p * h_hat).sum => x_hat.sum
h: the control variates are never updated
    h_hat + p / gamma * (x - x_hat) => h_hat + 0 * x
h: the control variates are corrected without the probability p
    h_hat + p / gamma * (x - x_hat) => h_hat + 1 / gamma * (x - x_hat)
"""),
)
