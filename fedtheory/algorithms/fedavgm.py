"""FedAvgM: FedAvg whose server has momentum (Hsu, Qi and Brown 2019).

m <- beta m + Delta, Delta the participants' average change, by their numbers of examples where these are given;
x <- x + eta m. The paper has eta = 1 and the opposite sign of Delta.
"""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Momentum, NamedTuple, Point, Problem, method
from fedtheory.algorithms.examples import Example, Given, StepFunction, Table
from fedtheory.algorithms.minibatch_sgd import Round
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
    """``x``, ``m`` ``(..., d)``: the server's model, which in general leaves the optimum, and its momentum."""

    x: Point
    m: Momentum


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step, without randomness of its own: FedAvgM."""
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


def _moving(
    momentum: Callable[[Params, Array, Array], Array],
    model: Callable[[Params, State, Array, Array], Array] = lambda p, state, m, change: state.x + p.eta * m,
    scale: Callable[[int, Params], float] = lambda n, params: 1.0,
) -> StepFunction:
    """FedAvgM with another momentum, of the old one and the average change, and another model."""

    def other(problem: Problem, params: Params, state: State, draw: Round) -> State:
        change = scale(problem.n, params) * fedavg.mean_change(problem, params, state.x, draw)
        m = momentum(params, state.m, change)
        return State(model(params, state, m, change), m)

    return other


def _kept(params: Params, m: Array, change: Array) -> Array:
    return params.beta * m + change


def _of_models(problem: Problem, params: Params, state: State, draw: Round) -> State:
    models = fedavg.local_descent(problem, params, state.x, draw)
    m = params.beta * state.m + fedavg.averaged(params, draw.clients, models)
    return State(params.eta * m, m)


def _weighing_equally(problem: Problem, params: Params, state: State, draw: Round) -> State:
    return step(problem, params._replace(counts=None), state, draw)


#: What implementations are known to do instead.
SLIPS: Table = (
    (
        "the momentum is forgotten after each round (an optimiser made anew): this is FedAvg",
        "x",
        _moving(lambda p, m, change: change),
    ),
    (
        "the average change is multiplied by 1 - beta in the momentum",
        "m",
        _moving(lambda p, m, change: p.beta * m + (1 - p.beta) * change),
    ),
    (
        "the momentum is Nesterov's: the server moves along Delta + beta m",
        "x",
        _moving(_kept, lambda p, state, m, change: state.x + p.eta * (change + p.beta * m)),
    ),
    (
        "the server moves along the old momentum",
        "x",
        _moving(_kept, lambda p, state, m, change: state.x + p.eta * state.m),
    ),
    (
        "the sign of the average change is wrong: the server moves away from the clients' models",
        "x",
        _moving(_kept, lambda p, state, m, change: state.x - p.eta * m),
    ),
    ("the sign of the average change is wrong in the momentum", "m", _moving(lambda p, m, change: p.beta * m - change)),
    ("the momentum is that of the models instead of their changes", "m", _of_models),
    (
        "the momentum has the server's stepsize in it, and x moves by it once more",
        "m",
        _moving(lambda p, m, change: p.beta * m + p.eta * change),
    ),
    ("the server's stepsize is left out", "x", _moving(_kept, lambda p, state, m, change: state.x + m)),
    (
        "the changes are averaged over all clients instead of the participants",
        "m",
        _moving(_kept, scale=lambda n, p: p.tau / n),
    ),
    ("the changes are summed instead of averaged", "m", _moving(_kept, scale=lambda n, p: p.tau)),
    ("the changes are divided by the local stepsize", "m", _moving(_kept, scale=lambda n, p: 1 / p.eta_l)),
    ("the participants are averaged with equal weights, without the counts", "m", _weighing_equally),
    (fedavg.REPLACED, "m", fedavg.with_replacement(step)),
)
