"""GradSkip: Scaffnew in which well-conditioned clients may skip gradients (Maranjyan, Safaryan, Richtarik 2022).

Minimises (1/n) sum_i f_i. A client whose coin eta_i is 0 sets its control variate to its gradient, after which
its local steps stand still until the next communication.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Scalar, method
from fedtheory.algorithms.scaffnew import State, communicate
from fedtheory.algorithms.starts import OtherStart, centred_gradients
from fedtheory.numbers.rational import to_float
from fedtheory.randomness import Bernoulli, Product, participation


class Params(NamedTuple):
    """``gamma``: stepsize; ``p``: communication probability; ``q (n,)``: each client's probability to keep its control
    variate."""

    gamma: Scalar
    p: Scalar
    q: Array


class Coins(NamedTuple):
    """``theta (...)``: True if this iteration communicates; ``eta (..., n)``: the clients that keep their h_i."""

    theta: Array
    eta: Array


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Product(Coins, (Bernoulli(params.p), participation.Coins(params.q)))


def step(problem: Problem, params: Params, state: State, draw: Coins) -> State:
    """One step of GradSkip."""
    gamma, p, _ = params
    gradient = problem.f.gradient(state.x)
    h_hat = np.where(draw.eta[..., None], state.h, gradient)
    return communicate(gamma, p, state.x - gamma * (gradient - h_hat), h_hat, draw.theta)


def theory(problem: Problem) -> Params:
    """gamma = 1/L_max, p = 1/sqrt(kappa_max), q_i = (1 - 1/kappa_i)/(1 - 1/kappa_max), with kappa_i = L_i/mu.

    Where all kappa_i are 1 the q_i are arbitrary; they are then 1, as in Scaffnew.
    """
    L_i, mu = to_float(problem.f.L), problem.mu
    largest = float(L_i.max())
    q = (1 - mu / L_i) / (1 - mu / largest) if largest > mu else np.ones(problem.n)
    return Params(1 / largest, float(np.sqrt(mu / largest)), q)


# No invariant: sum_i h_i is zero only just after a communication.
algorithm = method("gradskip", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x_i <- (1/n) sum_j (x_hat_j - (gamma/p) h_hat_j) with probability p, else x_hat_i = x_i - gamma (grad f_i - "
    "h_hat_i)",
    "h": "h_i <- h_hat_i + (p/gamma)(x_i+ - x_hat_i), h_hat_i = h_i where eta_i is 1, else grad f_i(x_i)",
}

#: Other starts of its runs.
STARTS = (OtherStart("h_i^0 = grad f_i(x^0) - grad f(x^0)", "h", centred_gradients),)
