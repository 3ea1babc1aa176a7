"""FedAvgM: FedAvg whose server has momentum (Hsu, Qi and Brown 2019).

m <- beta m + Delta, Delta the participants' average change, by their numbers of examples where these are given;
x <- x + eta m. The paper has eta = 1 and the opposite sign of Delta.
"""

from __future__ import annotations

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Example, Given, Momentum, NamedTuple, Point, Problem, method
from fedtheory.algorithms.minibatch_sgd import Round
from fedtheory.algorithms.slips import Table, edits
from fedtheory.learning.batches import AllRows, Minibatches


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``batches``, ``counts`` as in FedAvg; ``eta``, ``beta``: the server's stepsize
    and momentum."""

    tau: int
    epochs: int
    eta_l: float
    eta: float
    beta: float
    batches: AllRows | Minibatches = AllRows()
    counts: Array | None = None


class State(NamedTuple):
    """``x``, ``m`` ``(..., d)``: the server's model, which generally leaves the optimum, and its momentum."""

    x: Point
    m: Momentum


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedAvgM."""
    m = params.beta * state.m + fedavg.mean_change(problem, params, state.x, draw)
    return State(state.x + params.eta * m, m)


algorithm = method("fedavgm", step, Params, State, draws=fedavg.draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x + eta m, m the new one",
    "m": "m <- beta m + Delta, Delta = mean over participants of (y_i - x)",
}


def _example(given: Given) -> Params:
    local = (given.tau, max(given.epochs, 2), 0.2 / given.problem.L)
    return Params(*local, 0.6, 0.7, given.batches, fedavg.counts_of(given))


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)

#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
x: the momentum is forgotten after each round (an optimiser made anew): this is FedAvg
    params.beta * state.m + => 0 * state.m +
m: the average change is multiplied by 1 - beta in the momentum
    + fedavg => + (1 - params.beta) * fedavg
x: the momentum is Nesterov's: the server moves along Delta + beta m
    params.eta * m, => params.eta * (m - params.beta * state.m + params.beta * m),
x: the server moves along the old momentum
    params.eta * m, => params.eta * state.m,
x: the sign of the average change is wrong: the server moves away from the clients' models
    state.x + params.eta => state.x - params.eta
m: the sign of the average change is wrong in the momentum
    + fedavg => - fedavg
m: the momentum is that of the models instead of their changes
    + fedavg => + state.x + fedavg
    state.x + params.eta * m, => params.eta * m,
m: the momentum has the server's stepsize in it, and x moves by it once more
    + fedavg => + params.eta * fedavg
x: the server's stepsize is left out
    params.eta * m, => m,
m: the changes are averaged over all clients instead of the participants
    + fedavg => + params.tau / problem.n * fedavg
m: the changes are summed instead of averaged
    + fedavg => + params.tau * fedavg
m: the changes are divided by the local stepsize
    + fedavg => + 1 / params.eta_l * fedavg
m: the participants are averaged with equal weights, without the counts
    (problem, params, state.x => (problem, params._replace(counts=None), state.x
"""),
    (fedavg.REPLACED, "m", fedavg.with_replacement(step)),
)
