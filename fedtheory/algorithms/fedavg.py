"""FedAvg, or local SGD: participants take local steps, the server averages their models (McMahan et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Point, Problem, Scalar, everywhere, method
from fedtheory.algorithms.examples import IN_PLACE, Example, Given, Multisets, Ordered
from fedtheory.algorithms.minibatch_sgd import Round, mean_over
from fedtheory.algorithms.slips import StepFunction, Table, edit, edits
from fedtheory.learning.batches import AllRows, Minibatches
from fedtheory.randomness import Product, UniformSubset


class Params(NamedTuple):
    """``tau``: clients a round; ``epochs``: passes over its rows that a client makes in a round; ``eta_l``: local
    stepsize for f_i; ``eta_g``: server stepsize, 1 for the plain average of models; ``batches``: rows of one local
    step; ``counts (n,)``: weights of the clients in the average, such as their numbers of rows, None for equal ones;
    ``momentum``: weight of a client's previous direction, which is 0 when its round begins; ``steps (n,)``: the local
    steps of each client, at most K, None if each takes K = epochs * batches.per_epoch."""

    tau: int
    epochs: int
    eta_l: Scalar
    eta_g: Scalar = 1
    batches: AllRows | Minibatches = AllRows()
    counts: Array | None = None
    momentum: Scalar = 0
    steps: Array | None = None


class State(NamedTuple):
    """``x``: the server's model ``(..., d)``.

    FedAvg generally leaves the optimum, which is fixed if all clients share a minimiser, or if K = 1 and all clients
    and rows take part.
    """

    x: Point


def local_steps(params: Any) -> int:
    """K, the local steps of a round."""
    if params.epochs < 1:
        raise ValueError(f"a client makes at least one local epoch, got {params.epochs}")
    return int(params.epochs * params.batches.per_epoch)


def draws(problem: Problem, params: Any, state: object) -> Distribution:
    """A uniformly random tau-subset of the clients, and the batches of all their local steps."""
    batches = params.batches.draws(problem.n, local_steps(params))
    return Product(Round, (UniformSubset(problem.n, params.tau), batches))


def local_descent(
    problem: Problem,
    params: Any,
    x: Array,
    draw: Round,
    correction: Callable[[Array], Array] | None = None,
    momentum: Scalar = 0,
    steps: Array | None = None,
) -> Array:
    """The models ``(..., n, d)`` of all clients after K steps y_i <- y_i - eta_l b_i from x, or ``steps (n,)`` of them.

    b_i <- momentum b_i + g_i(y_i) + correction(y), from b_i = 0.
    """
    y = everywhere(problem, x)
    buffer = 0 * y
    for k in range(local_steps(params)):
        direction = params.batches.gradient(problem, y, draw.rows, k)
        direction = direction if correction is None else direction + correction(y)
        buffer = momentum * buffer + direction if momentum else direction
        moved = y - params.eta_l * buffer
        y = moved if steps is None else np.where((k < steps)[..., None], moved, y)
    return y


def averaged(params: Any, clients: Array, messages: Array) -> Array:
    """The average of the participants' messages by ``params.counts``, if there are any: ``(..., n, d) -> (..., d)``."""
    if params.counts is None:
        return mean_over(clients, params.tau, messages)
    weights = np.where(clients, params.counts, 0 * params.counts)[..., None]
    return (weights * messages).sum(axis=-2) / weights.sum(axis=-2)


def mean_change(problem: Problem, params: object, x: Array, draw: Round) -> Array:
    """The average of y_i - x over the participants, y_i their models after K local steps from x: ``(..., d)``."""
    return averaged(params, draw.clients, local_descent(problem, params, x, draw) - everywhere(problem, x))


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedAvg."""
    start = everywhere(problem, state.x)
    if not params.momentum and params.steps is None and isinstance(params.batches, AllRows):
        y = params.batches.descend(problem, start, params.eta_l, local_steps(params))
    else:
        y = local_descent(problem, params, state.x, draw, momentum=params.momentum, steps=params.steps)
    return State(state.x + params.eta_g * averaged(params, draw.clients, y - start))


algorithm = method("fedavg", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x + eta_g (mean over participants of (y_i - x)), y_i after K steps y_i <- y_i - eta_l grad f_i(y_i) "
    "that start from x",
}


def counts_of(given: Given) -> Array | None:
    """Weights of the clients, no two alike, where they are asked for."""
    return given.rng.permutation(np.arange(1.0, given.problem.n + 1) ** 2) if "counts" in given.features else None


def steps_of(given: Given, most: int) -> Array | None:
    """Numbers of local steps of each client's own, from 1 to ``most``, where they are asked for."""
    own = "own local steps" in given.features
    return given.rng.permutation(1 + np.arange(given.problem.n) % most) if own else None


def _example(given: Given) -> Params:
    counts = counts_of(given)
    eta_g = 1.5 if "server stepsize" in given.features else 1
    momentum = 0.75 if "momentum" in given.features else 0
    epochs = max(given.epochs, 2)
    steps = steps_of(given, epochs * given.batches.per_epoch)
    return Params(given.tau, epochs, 0.2 / given.problem.L, eta_g, given.batches, counts, momentum, steps)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def ordered(problem: Problem, params: Params, state: object) -> Distribution:
    """The draws of a round in which participants come one after another: ``clients`` are their places, from 1."""
    batches = params.batches.draws(problem.n, local_steps(params))
    return Product(Round, (Ordered(problem.n, params.tau), batches))


def places(draw: Round) -> Array:
    """The places of the participants ``(n,)``, 0 for others; by their numbers where a draw does not say."""
    return draw.clients * np.cumsum(draw.clients, axis=-1) if draw.clients.dtype == bool else draw.clients


REPLACED = "participants are drawn with replacement: a client that is drawn twice counts twice"


def with_replacement(step: StepFunction) -> Mapping[str, Any]:
    """A method that averages by ``params.counts``, if its participants are drawn with replacement."""

    def drawn(problem: Problem, params: Params, state: object) -> Distribution:
        batches = params.batches.draws(problem.n, local_steps(params))
        return Product(Round, (Multisets(problem.n, params.tau), batches))

    def other(problem: Problem, params: Params, state: State, draw: Any) -> Any:
        counts = draw.clients * (1.0 if params.counts is None else params.counts)
        return step(problem, params._replace(counts=counts), state, draw._replace(clients=draw.clients > 0))

    return {"step": other, "draws": drawn}


def chained(aliased: bool) -> Mapping[str, Any]:
    """One client after another, in any order, trains the same array: each starts from where the one before it ended.

    ``aliased``: what is averaged is that array too, as often as there are participants.
    """

    def step(problem: Problem, params: Any, state: State, draw: Any) -> Any:
        x = state.x
        order = places(draw)
        start = x + 0 * order[..., :1]
        total = 0 * start
        for place in range(1, params.tau + 1):
            y = everywhere(problem, start)
            for k in range(local_steps(params)):
                slope = params.batches.gradient(problem, y, draw.rows, k)
                if hasattr(params, "mu"):
                    slope = slope + params.mu * (y - everywhere(problem, x))
                y = y - params.eta_l * slope
            start = np.where((order == place)[..., None], y, 0 * y).sum(axis=-2)
            total = total + start
        mean = start if aliased else total / params.tau
        return type(state)(x + getattr(params, "eta_g", 1) * (mean - x))

    return {"step": step, "draws": ordered}


def _carried(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """FedAvg whose momentum buffer goes from one participant to the next."""
    x = state.x
    buffer = 0 * (x + 0 * draw.clients[..., :1])
    total = 0 * buffer
    for i in range(problem.n):
        y, b = everywhere(problem, x + 0 * buffer), everywhere(problem, buffer)
        for k in range(local_steps(params)):
            b = params.momentum * b + params.batches.gradient(problem, y, draw.rows, k)
            y = y - params.eta_l * b
        here = draw.clients[..., i : i + 1]
        buffer = np.where(here, b[..., i, :], buffer)
        weight = 1 / params.tau if params.counts is None else params.counts[i]
        total = total + np.where(here, weight * (y[..., i, :] - x), 0 * buffer)
    if params.counts is not None:
        total = total / np.where(draw.clients, params.counts, 0).sum(axis=-1, keepdims=True)
    return State(x + params.eta_g * total)


_IN_ORDER = edit(
    "steps=params.steps) => steps=np.asarray(params.steps)[np.maximum(places(draw) - 1, 0)])",
    "averaged(params, draw.clients => averaged(params, places(draw) > 0",
)

#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
x: every client takes K local steps, whatever its own number is
    steps=params.steps) => steps=None)
x: every client takes as many local steps as the first one
    steps=params.steps) => steps=params.steps[:1])
x: every client takes the least number of local steps of all of them
    steps=params.steps) => steps=params.steps.min(keepdims=True))
x: a client takes one local step more than its own number
    steps=params.steps) => steps=params.steps + 1)
x: a client takes one local step less than its own number
    steps=params.steps) => steps=params.steps - 1)
x: every client takes the least number of local steps of the participants
    steps=params.steps) => steps=np.where(draw.clients, params.steps, np.inf).min(axis=-1, keepdims=True))
x: every client takes the largest number of local steps of the participants
    steps=params.steps) => steps=np.where(draw.clients, params.steps, 0).max(axis=-1, keepdims=True))
x: the clients are weighed by their numbers of local steps
    averaged(params, draw => averaged(params._replace(counts=1.0 * params.steps), draw
x: the clients are weighed by the inverses of their numbers of local steps
    averaged(params, draw => averaged(params._replace(counts=1 / params.steps), draw
"""),
    (
        "clients take the numbers of local steps of the first in the list, whoever takes part",
        "x",
        {"step": _IN_ORDER, "draws": ordered},
    ),
    (IN_PLACE, "x", chained(False)),
    (f"{IN_PLACE}; all are then the same array", "x", chained(True)),
    ("the momentum buffer is carried from one client to the next", "x", _carried),
    *edits("""
x: the average divides by all clients instead of the participants
    mean_over(clients, params.tau, => mean_over(clients, clients.shape[-1],
    / weights.sum(axis=-2) => / params.counts.sum()
x: the participants are averaged with equal weights, without the counts
    averaged(params, draw => averaged(params._replace(counts=None), draw
x: the counts of other clients are used: those of the first in the list, whoever takes part
    averaged(params, draw => averaged(params._replace(counts=params.counts[np.maximum(places(draw) - 1, 0)]), draw
x: the weights are wrong: 1/counts instead of counts
    averaged(params, draw => averaged(params._replace(counts=1 / params.counts), draw
x: the weights are wrong: the clients' numbers 1, 2, ... instead of their counts
    averaged(params, draw => averaged(params._replace(counts=np.arange(1, problem.n + 1)), draw
x: models, not their changes, are divided by all clients
    state.x + params.eta_g * averaged(params, draw.clients, y - start) => mean_over(draw.clients, problem.n, y)
x: the gradients of all local steps are taken at the server's model, not at the client's own
    not params.momentum and params.steps is None and => False and
    gradient(problem, y, draw.rows, k) => gradient(problem, everywhere(problem, x), draw.rows, k)
"""),
)
