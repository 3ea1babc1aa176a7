"""FedExP: FedAvg whose server stepsize grows with how far the clients' changes point apart (Jhunjhunwala, Wang and
Joshi 2023).

Delta_i = y_i - x, Delta their mean over the participants; eta_g = max(1, mean over participants of |Delta_i|^2 /
(2 (|Delta|^2 + eps))); x <- x + eta_g Delta. The paper has the opposite sign of Delta_i, and returns the mean of the
last two x.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import NamedTuple, Problem, Scalar, everywhere, method
from fedtheory.algorithms.examples import Example, Given
from fedtheory.algorithms.fedavg import State
from fedtheory.algorithms.minibatch_sgd import Round, mean_over
from fedtheory.algorithms.slips import Table, edits
from fedtheory.learning.batches import AllRows, Minibatches


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``batches`` as in FedAvg; ``eps``: what keeps the server stepsize finite."""

    tau: int
    epochs: int
    eta_l: float
    eps: Scalar
    batches: AllRows | Minibatches = AllRows()


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step, without randomness of its own: FedExP."""
    changes = fedavg.local_descent(problem, params, state.x, draw) - everywhere(problem, state.x)
    mean = mean_over(draw.clients, params.tau, changes)
    apart = mean_over(draw.clients, params.tau, (changes**2).sum(axis=-1, keepdims=True))
    eta_g = apart / (2 * ((mean**2).sum(axis=-1, keepdims=True) + params.eps))
    return State(state.x + np.maximum(1, eta_g) * mean)


algorithm = method("fedexp", step, Params, State, draws=fedavg.draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x + eta_g Delta, eta_g = max(1, mean over participants of |Delta_i|^2 / (2 (|Delta|^2 + eps))), "
    "Delta_i = y_i - x and Delta = mean over participants of Delta_i",
}


def _example(given: Given) -> Params:
    return Params(given.tau, max(given.epochs, 2), 0.2 / given.problem.L, 0.001, given.batches)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)

#: Known mistakes of implementations.
SLIPS: Table = edits("""
x: the server stepsize may be below 1: its maximum with 1 is left out
    np.maximum(1, eta_g) => eta_g
x: the server stepsize is always 1: this is FedAvg
    np.maximum(1, eta_g) => 1
x: the server stepsize lacks the half
    apart / (2 * => apart / (1 *
x: the norms of the changes are summed instead of averaged in the server stepsize
    apart / (2 => params.tau * apart / (2
x: the norms are averaged over all clients instead of the participants in the server stepsize
    mean_over(draw.clients, params.tau, (changes**2) => mean_over(draw.clients, problem.n, (changes**2)
x: the norms in the server stepsize are not squared
    (changes**2).sum(axis=-1, keepdims=True) => np.sqrt((changes**2).sum(axis=-1, keepdims=True))
    (mean**2).sum(axis=-1, keepdims=True) => np.sqrt((mean**2).sum(axis=-1, keepdims=True))
x: eps is left out of the server stepsize
    + params.eps) => )
x: the server stepsize is that of each coordinate
    (changes**2).sum(axis=-1, keepdims=True) => changes**2
    (mean**2).sum(axis=-1, keepdims=True) => mean**2
""")
