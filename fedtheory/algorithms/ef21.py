"""EF21: error feedback with contractive compressors (Richtarik, Sokolov, Fatkhullin 2021).

Minimises f = (1/n) sum_i f_i. Client i keeps an estimate g_i of its gradient and sends the compressed correction.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Point, Problem, Scalar, Table, edits, method
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


class _Remembering(NamedTuple):
    """``e (..., n, d)``: what the clients did not send yet, beside the parts of EF21's state."""

    x: Point
    g: Array
    g_bar: Array
    e: Array


def _empty(problem: Problem, params: Params, **start: Any) -> Any:
    state = algorithm.init(problem, params, **start)
    return _Remembering(*state, 0 * state.g)


def _sent(problem: Problem, params: Params, state: Any, x: Array, draw: Draw) -> Any:
    """The messages of EF14 at x as estimates, and what they leave."""
    due = problem.f.gradient(x[..., None, :]) + state.e
    sent = params.compressor.apply(draw, due)
    return sent, sent.sum(axis=-2) / problem.n, due - sent


def _ef14(problem: Problem, params: Params, state: Any, draw: Draw) -> Any:
    g, g_bar, e = _sent(problem, params, state, state.x, draw)
    return _Remembering(state.x - params.gamma * g_bar, g, g_bar, e)


def _ef14_ahead(problem: Problem, params: Params, state: Any, draw: Draw) -> Any:
    x = state.x - params.gamma * state.g_bar
    return _Remembering(x, *_sent(problem, params, state, x, draw))


def _twice(problem: Problem, params: Params, state: Any, draw: Draw) -> Any:
    """Corrections that hold what earlier ones did not send, which g_i lacks already."""
    x = state.x - params.gamma * state.g_bar
    due = problem.f.gradient(x[..., None, :]) - state.g + state.e
    sent = params.compressor.apply(draw, due)
    return _Remembering(x, state.g + sent, state.g_bar + sent.sum(axis=-2) / problem.n, due - sent)


_EF14 = (
    "it is EF14: clients send C_i(grad f_i + e_i), e_i what they did not send before, and the server takes the mean of "
    "these messages in place of that of the g_i"
)

#: Known mistakes of implementations.
SLIPS: Table = (
    (_EF14, "g", {"State": _Remembering, "init": _empty, "step": _ef14}),
    (f"{_EF14}; the first gradients are sent whole", "g", {"State": _Remembering, "init": _empty, "step": _ef14_ahead}),
    (
        "what a correction does not send is added to the next one, which holds it already",
        "g",
        {"State": _Remembering, "init": _empty, "step": _twice},
    ),
    *edits("""
g: the estimate is added to the gradient where it is due to be subtracted: C_i(grad f_i + g_i)
    [..., None, :]) - state.g) => [..., None, :]) + state.g)
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
"""),
)
