"""EF21: error feedback with contractive compressors (Richtarik, Sokolov, Fatkhullin 2021).

Minimises f = (1/n) sum_i f_i. Client i keeps an estimate g_i of its gradient and sends the compressed correction.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Point, Problem, Scalar, edits, method
from fedtheory.algorithms.starts import OtherStart, nothing
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

    x: Point
    g: Annotated[Array, "gradients from x"]
    g_bar: Annotated[Array, "mean of g"]


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of EF21."""
    x = state.x - params.gamma * state.g_bar
    c = params.compressor.apply(draw, problem.f.gradient(x[..., None, :]) - state.g)
    return State(x, state.g + c, state.g_bar + c.sum(axis=-2) / problem.n)


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


algorithm = method("ef21", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - gamma g_bar",
    "g": "g_i <- g_i + C_i(grad f_i(x+) - g_i), at the new x",
    "g_bar": "g_bar <- g_bar + (1/n) sum C_i(grad f_i(x+) - g_i)",
}


def _compressed(problem: Problem, params: Params, points: Array, draw: Draw) -> Array:
    return params.compressor.apply(draw, problem.f.gradient(points))


#: Other starts of its runs.
STARTS = (
    OtherStart("g_i^0 = C_i(grad f_i(x^0))", "g", _compressed, drawn=True),
    OtherStart("g_i^0 = 0", "g", nothing),
)

#: Known mistakes of implementations.
SLIPS = edits("""
g: gradients are taken at the old model instead of the new one
    gradient(x[ => gradient(state.x[
g: there is no error feedback: the gradient itself is compressed
    [..., None, :]) - state.g) => [..., None, :]))
    state.g + c => c
    state.g_bar + c => c
g: the clients' estimates are those of the messages alone: they are overwritten where messages are added
    state.g + c => c
g: the messages are added to the clients' estimates times alpha
    state.g + c => state.g + params.alpha * c
g: the mean of the messages is added to all clients' estimates
    state.g + c => state.g + c.sum(axis=-2, keepdims=True) / problem.n
g_bar: the server's estimate is never updated (a stale average)
    state.g_bar + c => state.g_bar + 0 * c
""")
