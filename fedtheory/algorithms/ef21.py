"""EF21: error feedback with contractive compressors (Richtarik, Sokolov, Fatkhullin 2021).

Minimises f = (1/n) sum_i f_i. Client i keeps an estimate g_i of its gradient and sends the compressed correction.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Problem, Scalar, method, zeros
from fedtheory.algorithms.slips import edits
from fedtheory.compressors.contractive import Contractive
from fedtheory.numbers.rational import to_float


class Params(NamedTuple):
    """``gamma``: stepsize; ``alpha``: the contraction factor given to the method; ``compressor``: what each client
    uses, with randomness of its own."""

    gamma: Scalar
    alpha: Scalar
    compressor: Contractive


class State(NamedTuple):
    """``x (..., d)``: model; ``g (..., n, d)``: the clients' gradient estimates; ``g_bar (..., d)``: the server's."""

    x: Array
    g: Array
    g_bar: Array


def init(problem: Problem, params: Params, x: Array | None = None, g: Array | None = None) -> State:
    """x^0 = 0 and g_i^0 = grad f_i(x^0) (sent uncompressed once) unless given; the server's g is the mean."""
    x = zeros(problem.d) if x is None else x
    g = problem.f.gradient(x[..., None, :]) if g is None else g
    return State(x, g, g.sum(axis=-2) / problem.n)


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: EF21."""
    x = state.x - params.gamma * state.g_bar
    c = params.compressor.apply(draw, problem.f.gradient(x[..., None, :]) - state.g)
    return State(x, state.g + c, state.g_bar + c.sum(axis=-2) / problem.n)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step may leave."""
    g = problem.y_star
    return State(problem.x_star, g, g.sum(axis=-2) / problem.n)


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """The server's gradient estimate minus the mean of the clients', ``(..., d)``."""
    return state.g_bar - state.g.sum(axis=-2) / problem.n


def theory(problem: Problem, compressor: Contractive) -> Params:
    """The largest stepsize of the theorem under the Polyak-Lojasiewicz condition, with the curvatures of the average.

    gamma = min{1/(L + L~ sqrt(2 beta/theta)), theta/(2 mu)}, theta = 1 - sqrt(1 - alpha), beta = (1 - alpha)/theta,
    L~^2 = (1/n) sum L_i^2.
    """
    alpha = float(compressor.alpha)
    theta = 1 - np.sqrt(1 - alpha)
    L_i = to_float(problem.f.L)
    mu, L, L_tilde = to_float(problem.f.mu).mean(), L_i.mean(), np.sqrt((L_i**2).mean())
    gamma = min(1 / (L + L_tilde * np.sqrt(2 * (1 - alpha)) / theta), theta / (2 * mu))
    return Params(float(gamma), alpha, compressor)


algorithm = method("ef21", step, Params, State, init, fixed_point=fixed_point, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - gamma g_bar",
    "g": "g_i <- g_i + C_i(grad f_i(x+) - g_i), at the new x",
    "g_bar": "g_bar <- g_bar + (1/n) sum C_i(grad f_i(x+) - g_i)",
}

#: What implementations are known to do instead.
SLIPS = edits("""
g: gradients are taken at the old model instead of the new one
    gradient(x[ => gradient(state.x[
g: there is no error feedback: the gradient itself is compressed
    [..., None, :]) - state.g) => [..., None, :]))
    state.g + c => c
    state.g_bar + c => c
g_bar: the server's estimate is never updated (a stale average)
    state.g_bar + c => state.g_bar + 0 * c
""")
