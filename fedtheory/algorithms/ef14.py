"""EF14: error feedback; a client adds what it did not send to its next message (Seide et al. 2014).

Client i wants to send e_i + gamma grad f_i(x) and sends C_i of it, as in EF-SGD (Stich, Cordonnier and Jaggi 2018;
Karimireddy et al. 2019): x <- x - (1/n) sum_i C_i(e_i + gamma grad f_i(x)); e_i keeps what was not sent. All e_i begin
with 0.
"""

from __future__ import annotations

from fedtheory import compressors
from fedtheory.algorithms.dialect import Clients, Draw, Example, Given, NamedTuple, Point, Problem, edits, method
from fedtheory.compressors import contractive
from fedtheory.compressors.contractive import Contractive


class Params(NamedTuple):
    """``gamma``: stepsize; ``compressor``: what each client uses, with randomness of its own."""

    gamma: float
    compressor: Contractive


class State(NamedTuple):
    """``x (..., d)``: the model; ``e (..., n, d)``: what the clients did not send yet.

    The method generally leaves the optimum, which is fixed if all clients share a minimiser.
    """

    x: Point
    e: Clients


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of EF14."""
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
    # Top-k in even dimensions, a scaled random part in odd ones, so that both kinds occur.
    largest = contractive.top_k(d, max(1, d // 2))
    compressor = largest if d % 2 == 0 else contractive.scaled(compressors.rand_k(d, max(1, d // 3)))
    return Params(0.3 / float(given.problem.L), compressor)


#: A small problem's parameters.
EXAMPLE = Example("wide", _example)

#: Known mistakes of implementations.
SLIPS = edits("""
x: there is no error feedback: what was not sent is forgotten
    state.e + params => 0 * state.e + params
x: what was not sent is kept, but never added to what is sent
    state.e + params => params
    wanted - sent) => state.e + wanted - sent)
e: the memory is never changed
    wanted - sent) => state.e + 0 * sent)
e: the memory is never emptied: what was sent stays in it
    wanted - sent) => wanted + 0 * sent)
e: the memory keeps what was sent instead of what was not
    wanted - sent) => sent)
e: the memory forgets what it held: it keeps what this gradient lacks only
    wanted - sent) => wanted - state.e - sent)
e: the sign of the memory is wrong: what was sent less what was due
    wanted - sent) => sent - wanted)
x: the memory is subtracted where it is due to be added
    state.e + params => -state.e + params
x: the stepsize multiplies the memory once more
    + params.gamma * problem.f => + problem.f
    state.x - sent => state.x - params.gamma * sent
x: the messages are summed instead of averaged
    sent.sum(axis=-2) / problem.n => sent.sum(axis=-2)
x: nothing is compressed: the server adds what is due, not what is sent
    state.x - sent.sum => state.x - wanted.sum
""")
