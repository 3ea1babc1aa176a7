"""Mini-batch SGD: participants send one stochastic gradient each for one step of the server (Woodworth et al. 2020)."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Example, NamedTuple, Point, Problem, Scalar, edits, everywhere, method
from fedtheory.learning.batches import AllRows, Minibatches
from fedtheory.randomness import Distribution, Draw, Product, UniformSubset


class Params(NamedTuple):
    """``tau``: clients a round; ``eta``: stepsize for the average of the f_i; ``batches``: rows of one gradient."""

    tau: int
    eta: Scalar
    batches: AllRows | Minibatches = AllRows()


class State(NamedTuple):
    """``x``: the server's model ``(..., d)``.

    The optimum is fixed on average; in every round if all clients and rows take part, or share a minimiser.
    """

    x: Point


class Round(NamedTuple):
    """``clients (n,)``: who takes part; ``rows (n, steps, size)``: the batches of each, empty if all rows are used."""

    clients: Array
    rows: Draw


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """A uniformly random tau-subset of the clients, and one batch for each client."""
    return Product(Round, (UniformSubset(problem.n, params.tau), params.batches.draws(problem.n, 1)))


def mean_over(clients: Array, tau: int, messages: Array) -> Array:
    """Average of the participants' messages: ``(..., n, d) -> (..., d)``."""
    return np.where(clients[..., None], messages, 0 * messages).sum(axis=-2) / tau


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of mini-batch SGD."""
    gradient = params.batches.gradient(problem, everywhere(problem, state.x), draw.rows, 0)
    return State(state.x - params.eta * mean_over(draw.clients, params.tau, gradient))


algorithm = method("minibatch-sgd", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {"x": "x <- x - (eta/tau) sum over participants of grad f_i(x)"}


#: A small problem's parameters.
EXAMPLE = Example("clients", lambda given: Params(given.tau, 0.4 / given.problem.L, given.batches))

#: Known mistakes of implementations.
SLIPS = edits("""
x: the average divides by all clients instead of the participants
    mean_over(draw.clients, params.tau, => mean_over(draw.clients, problem.n,
""")
