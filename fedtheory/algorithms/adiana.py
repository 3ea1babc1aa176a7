"""ADIANA: DIANA with Nesterov's acceleration (Li, Kovalev, Qian, Richtarik 2020, Algorithm 2).

Minimises f = (1/n) sum_i f_i. Every iteration each client sends two compressed messages: one for the gradient at x, one
for the control variate, which learns the gradient at the anchor w.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from fedtheory.algorithms.dialect import Array, Gradients, NamedTuple, Point, Problem, Scalar, method
from fedtheory.algorithms.starts import OtherStart, gradients
from fedtheory.compressors import Family
from fedtheory.randomness import Bernoulli, Distribution, Draw, Product


class Params(NamedTuple):
    """``alpha``: stepsize of the control variates; ``p``: probability that the anchor moves; ``eta``, ``gamma``:
    stepsizes; ``beta``, ``theta_1``, ``theta_2``: momentum; ``compressors``: the family C_1, ..., C_n."""

    alpha: Scalar
    p: Scalar
    eta: Scalar
    theta_1: Scalar
    theta_2: Scalar
    gamma: Scalar
    beta: Scalar
    compressors: Family


class State(NamedTuple):
    """``y``, ``z``, ``w`` ``(..., d)``: model, momentum and anchor; ``h (..., n, d)``: the clients' control variates;
    ``h_bar (..., d)``: the server's."""

    y: Point
    z: Annotated[Array, "point from y"]
    w: Annotated[Array, "point from y"]
    h: Gradients
    h_bar: Annotated[Array, "mean of h"]


class Coins(NamedTuple):
    """``theta (...)``: True if the anchor moves; ``gradient``, ``control``: randomness of the two messages."""

    theta: Array
    gradient: Draw
    control: Draw


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    compression = params.compressors.draws
    return Product(Coins, (Bernoulli(params.p), compression, compression))


def step(problem: Problem, params: Params, state: State, draw: Coins) -> State:
    """One step of ADIANA."""
    alpha, _, eta, theta_1, theta_2, gamma, beta, compressors = params
    x = theta_1 * state.z + theta_2 * state.w + (1 - theta_1 - theta_2) * state.y
    message = compressors.apply(draw.gradient, problem.f.gradient(x[..., None, :]) - state.h)
    g = state.h_bar + message.sum(axis=-2) / problem.n
    control = compressors.apply(draw.control, problem.f.gradient(state.w[..., None, :]) - state.h)
    y = x - eta * g
    return State(
        y=y,
        z=beta * state.z + (1 - beta) * x + gamma / eta * (y - x),
        w=np.where(draw.theta[..., None], state.y, state.w),
        h=state.h + alpha * control,
        h_bar=state.h_bar + alpha * (control.sum(axis=-2) / problem.n),
    )


def theory(problem: Problem, compressors: Family) -> Params:
    """The parameters of the theorem, eta, p and theta_1 at their printed values. Without compression the terms with
    1/omega drop out."""
    mu, L, n, omega = problem.mu, problem.L, problem.n, float(compressors.omega)
    p = min(1.0, max(1.0, np.sqrt(n / (32 * omega)) - 1) / (2 * (1 + omega))) if omega else 1.0
    noise = 64 * omega * (2 * p * (omega + 1) + 1) ** 2
    eta = min(1 / (2 * L), n / (noise * L)) if omega else 1 / (2 * L)
    theta_1 = min(0.25, float(np.sqrt(eta * mu / p)))
    gamma = eta / (2 * (theta_1 + eta * mu))
    return Params(1 / (1 + omega), float(p), eta, theta_1, 0.5, gamma, 1 - gamma * mu, compressors)


algorithm = method("adiana", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "y": "y <- x - eta g, x = theta_1 z + theta_2 w + (1 - theta_1 - theta_2) y",
    "z": "z <- beta z + (1 - beta) x + (gamma/eta)(y+ - x)",
    "w": "w <- y (the old one) with probability p",
    "h": "h_i <- h_i + alpha C_i(grad f_i(w) - h_i)",
    "h_bar": "h_bar <- h_bar + alpha (1/n) sum C_i(grad f_i(w) - h_i)",
}

#: Other starts of its runs.
STARTS = (OtherStart("h_i^0 = grad f_i(y^0)", "h", gradients),)
