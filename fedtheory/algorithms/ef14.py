"""EF14: error feedback; what a client did not send is added to what it sends next (Seide et al. 2014).

Client i wants to send e_i + gamma grad f_i(x) and sends C_i of it, as in EF-SGD (Stich, Cordonnier and Jaggi 2018;
Karimireddy et al. 2019): x <- x - (1/n) sum_i C_i(e_i + gamma grad f_i(x)); e_i keeps what was not sent. All e_i begin
with 0.
"""

from __future__ import annotations

from collections.abc import Callable

from fedtheory import compressors
from fedtheory.algorithms.dialect import Array, Clients, Draw, NamedTuple, Point, Problem, method
from fedtheory.algorithms.examples import Example, Given, StepFunction, Table, never
from fedtheory.compressors import contractive
from fedtheory.compressors.contractive import Contractive


class Params(NamedTuple):
    """``gamma``: stepsize; ``compressor``: what each client uses, with randomness of its own."""

    gamma: float
    compressor: Contractive


class State(NamedTuple):
    """``x (..., d)``: the model; ``e (..., n, d)``: what the clients did not send yet.

    The method in general leaves the optimum: it is fixed if all clients share a minimiser.
    """

    x: Point
    e: Clients


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: EF14."""
    wanted = state.e + params.gamma * problem.f.gradient(state.x[..., None, :])
    sent = params.compressor.apply(draw, wanted)
    return State(state.x - sent.sum(axis=-2) / problem.n, wanted - sent)


algorithm = method("ef14", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - (1/n) sum C_i(e_i + gamma grad f_i(x))",
    "e": "e_i <- e_i + gamma grad f_i(x) - C_i(e_i + gamma grad f_i(x))",
}


def _example(given: Given) -> Params:
    d = given.problem.d
    # Of two entries the largest, of more a random part, so that both sorts are met.
    largest = contractive.top_k(d, max(1, d // 2))
    compressor = largest if d % 2 == 0 else contractive.scaled(compressors.rand_k(d, max(1, d // 3)))
    return Params(0.3 / float(given.problem.L), compressor)


#: A small problem's parameters.
EXAMPLE = Example("wide", _example)


def _sending(
    wanted: Callable[[Params, State, Array], Array],
    model: Callable[[int, Params, Array], Array] = lambda n, params, sent: sent.sum(axis=-2) / n,
    kept: Callable[[Params, State, Array, Array, Array], Array] = lambda params, state, g, wanted, sent: wanted - sent,
) -> StepFunction:
    """EF14 with other messages, another step of x, and another memory."""

    def other(problem: Problem, params: Params, state: State, draw: Draw) -> State:
        g = problem.f.gradient(state.x[..., None, :])
        due = wanted(params, state, g)
        sent = params.compressor.apply(draw, due)
        return State(state.x - model(problem.n, params, sent), kept(params, state, g, due, sent))

    return other


def _due(params: Params, state: State, g: Array) -> Array:
    return state.e + params.gamma * g


def _uncompressed(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    after = step(problem, params, state, draw)
    return State(
        state.x - _due(params, state, problem.f.gradient(state.x[..., None, :])).sum(axis=-2) / problem.n, after.e
    )


#: What implementations are known to do instead.
SLIPS: Table = (
    (
        "there is no error feedback: what was not sent is forgotten",
        "x",
        _sending(lambda p, s, g: p.gamma * g + 0 * s.e),
    ),
    (
        "what was not sent is kept, but never added to what is sent",
        "x",
        _sending(lambda p, s, g: p.gamma * g, kept=lambda p, s, g, due, sent: s.e + p.gamma * g - sent),
    ),
    ("the memory is never changed", "e", never("e", step)),
    (
        "the memory is never emptied: what was sent stays in it",
        "e",
        _sending(_due, kept=lambda p, s, g, due, sent: due + 0 * sent),
    ),
    (
        "the memory keeps what was sent instead of what was not",
        "e",
        _sending(_due, kept=lambda p, s, g, due, sent: sent + 0 * due),
    ),
    (
        "the memory forgets what it held: it keeps what this gradient lacks only",
        "e",
        _sending(_due, kept=lambda p, s, g, due, sent: p.gamma * g - sent),
    ),
    (
        "the sign of the memory is wrong: what was sent less what was due",
        "e",
        _sending(_due, kept=lambda p, s, g, due, sent: sent - due),
    ),
    ("the memory is subtracted where it is due to be added", "x", _sending(lambda p, s, g: p.gamma * g - s.e)),
    (
        "the stepsize multiplies the memory once more",
        "x",
        _sending(lambda p, s, g: s.e + g, lambda n, p, sent: p.gamma * sent.sum(axis=-2) / n),
    ),
    ("the messages are summed instead of averaged", "x", _sending(_due, lambda n, p, sent: sent.sum(axis=-2))),
    ("nothing is compressed: the server adds what is due, not what is sent", "x", _uncompressed),
)
