"""FedBuff: the server averages a buffer of changes that began at models of some rounds before (Nguyen et al. 2022).

A round ends when the buffer holds ``buffer`` changes. Client i, whose change is s_i rounds late, took K local steps
from z_i = x^{t - s_i} to y_i: x <- x + (eta_g/buffer) sum over the buffer of (y_i - z_i)/sqrt(1 + s_i), the
weights of their experiments. Who is in the buffer is a uniformly random subset of the clients here, and each s_i is
uniform on 0, ..., ``delay``; before the first round all models are x^0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Example, Given, NamedTuple, Problem, edits, method, zeros
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.learning.batches import AllRows
from fedtheory.randomness import Product, Size, UniformSubset, check_enumerable


class Params(NamedTuple):
    """``buffer``: changes a round; ``delay``: the largest delay of a change, in rounds; ``epochs``: K, local steps;
    ``eta_l``, ``eta_g``: stepsizes of the clients and of the server."""

    buffer: int
    delay: int
    epochs: int
    eta_l: float
    eta_g: float


class State(NamedTuple):
    """``x (..., d)``: the server's model; ``past (..., delay, d)``: those of the rounds before, the last one first."""

    x: Array
    past: Array


class Arrivals(NamedTuple):
    """``clients (n,)``: whose changes are in the buffer; ``delays (n,)``: by how many rounds each is late."""

    clients: Array
    delays: Array


@dataclass(frozen=True)
class Delays:
    """Independent uniform delays 0, ..., ``most`` of n clients: ``(n,)``."""

    n: int
    most: int

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return (self.most + 1) ** self.n

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return rng.integers(self.most + 1, size=(*size, self.n))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        check_enumerable(self.count)
        chance = Fraction(1, self.count)
        delays = np.array(list(product(range(self.most + 1), repeat=self.n)))
        return delays, np.full(self.count, chance, dtype=object) if exact else np.full(self.count, float(chance))


def init(problem: Problem, params: Params, x: Array | None = None) -> State:
    """x^0 = 0 unless given; all models before it are the same."""
    x = zeros(problem.d) if x is None else x
    return State(x, x[..., None, :] + zeros(params.delay, problem.d))


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The clients in the buffer, and the delays of all clients."""
    return Product(Arrivals, (UniformSubset(problem.n, params.buffer), Delays(problem.n, params.delay)))


def step(problem: Problem, params: Params, state: State, draw: Arrivals) -> State:
    """One step of FedBuff."""
    z = begun(state, draw.delays)
    change = AllRows().descend(problem, z, params.eta_l, params.epochs) - z
    weights = 1 / np.sqrt(1 + draw.delays)[..., None]
    return State(state.x + params.eta_g * mean_over(draw.clients, params.buffer, weights * change), shifted(state))


def begun(state: State, delays: Array) -> Array:
    """z_i ``(..., n, d)``: the models of as many rounds ago as the clients are late, ``delays (..., n)``."""
    z = np.where((delays == 0)[..., None], state.x[..., None, :], 0 * state.x[..., None, :])
    for s in range(1, state.past.shape[-2] + 1):
        z = z + np.where((delays == s)[..., None], state.past[..., s - 1, None, :], 0 * state.x[..., None, :])
    return z


def shifted(state: State) -> Array:
    """The models before the next one, ``(..., delay, d)``."""
    return np.concatenate([state.x[..., None, :], state.past], axis=-2)[..., : state.past.shape[-2], :]


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum, which the method generally leaves, as FedAvg does."""
    return init(problem, params, problem.x_star)


algorithm = method("fedbuff", step, Params, State, init, draws, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x + (eta_g/buffer) sum over the buffer of (y_i - z_i)/sqrt(1 + s_i), y_i after K local steps that start "
    "from z_i, the model of s_i rounds ago",
    "past": "past <- x and all of past but its last",
}


def _example(given: Given) -> Params:
    # Delays of two rounds where their combinations are few.
    delay = 2 if given.problem.n <= 3 else 1
    return Params(given.tau, delay, max(given.epochs, 2), 0.15 / float(given.problem.L), 0.8)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)

#: Known mistakes of implementations.
SLIPS = edits("""
x: late changes have the weight of those that are not
    1 / np.sqrt(1 + draw.delays) => np.ones(draw.delays.shape)
x: late changes have the weight 1/(1 + s) instead of 1/sqrt(1 + s)
    np.sqrt(1 + draw.delays) => (1 + draw.delays)
x: late changes have the weight 1/sqrt(s), and those of this round 1
    1 + draw.delays => np.maximum(draw.delays, 1)
x: late changes have the weight 1/sqrt(2 + s)
    1 + draw.delays => 2 + draw.delays
x: late changes have more weight: sqrt(1 + s)
    1 / np.sqrt(1 + draw.delays) => np.sqrt(1 + draw.delays)
x: late changes are left out
    1 / np.sqrt(1 + draw.delays) => (1.0 * (draw.delays == 0))
x: the weights are made to sum to 1
    params.buffer, weights => mean_over(draw.clients, 1, weights), weights
x: the changes are averaged over all clients instead of the buffer
    params.buffer, weights => problem.n, weights
x: the changes are summed instead of averaged
    params.buffer, weights => 1, weights
x: the change is measured from the server's present model instead of the one that it began from
    params.epochs) - z => params.epochs) - state.x[..., None, :]
x: no client is late: all begin from the present model
    begun(state, draw.delays) => begun(state, 0 * draw.delays)
x: the sign of the changes is wrong
    state.x + params.eta_g => state.x - params.eta_g
x: late clients begin from the model of one round later
    begun(state, draw.delays) => begun(state, np.maximum(draw.delays - 1, 0))
""")
