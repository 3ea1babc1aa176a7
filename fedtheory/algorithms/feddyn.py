"""FedDyn: participants minimise f_i less a linear term that they learn, beside a proximal term (Acar et al. 2021).

Algorithm 1: y_i = argmin_w f_i(w) - <g_i, w> + (alpha/2)|w - x|^2 for participants, and g_i <- g_i - alpha (y_i - x),
which is then grad f_i(y_i); h <- h - (alpha/n) sum over participants of (y_i - x), n all clients;
x <- mean over participants of y_i - h/alpha. All g_i and h begin with 0.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Gradients, NamedTuple, Point, Problem, Table, edits, everywhere, method
from fedtheory.algorithms.examples import Example, Given
from fedtheory.algorithms.minibatch_sgd import Round, mean_over
from fedtheory.learning.batches import AllRows, Minibatches
from fedtheory.problems.functions import Proximable


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``batches`` as in FedAvg; ``alpha``: weight of the proximal term; ``exact``:
    solve the local problems exactly instead of by K local steps."""

    tau: int
    alpha: float
    epochs: int
    eta_l: float
    batches: AllRows | Minibatches = AllRows()
    exact: bool = False


class State(NamedTuple):
    """``x``, ``h`` ``(..., d)``: the server's model, and the mean of the g_i; ``g (..., n, d)``: the clients' linear
    terms."""

    x: Point
    h: Annotated[Array, "mean of g"]
    g: Gradients


def local_models(problem: Problem, params: Params, x: Array, g: Array, draw: Round) -> Array:
    """Return the clients' models for given x and g_i, ``(..., n, d)``. Raise ``ValueError`` if no exact solution is
    known.
    """
    anchor = everywhere(problem, x)
    if params.exact:
        if not isinstance(problem.f, Proximable) or problem.g is not None:
            raise ValueError("FedDyn has no exact solutions of local problems of these functions")
        return problem.f.resolvent(params.alpha, params.alpha * anchor + g)
    return fedavg.local_descent(problem, params, x, draw, lambda y: params.alpha * (y - anchor) - g)


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedDyn."""
    y = local_models(problem, params, state.x, state.g, draw)
    change = y - everywhere(problem, state.x)
    moved = np.where(draw.clients[..., None], change, 0 * change)
    h = state.h - params.alpha * moved.sum(axis=-2) / problem.n
    return State(mean_over(draw.clients, params.tau, y) - h / params.alpha, h, state.g - params.alpha * moved)


algorithm = method("feddyn", step, Params, State, draws=fedavg.draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- mean over participants of y_i - h/alpha, h the new one, y_i after local steps along "
    "grad f_i(y) - g_i + alpha (y - x)",
    "h": "h <- h - (alpha/n) sum over participants of (y_i - x), n all clients",
    "g": "g_i <- g_i - alpha (y_i - x) for participants",
}


def _example(given: Given) -> Params:
    alpha = 0.4 + given.problem.n / 8
    eta_l = 0.4 / (float(given.problem.L) + alpha)
    return Params(given.tau, alpha, max(given.epochs, 2), eta_l, given.batches, "exact solver" in given.features)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _in_each_step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """FedDyn whose participants renew g_i in each local step."""
    anchor = everywhere(problem, state.x)
    y, g = anchor, state.g
    for k in range(fedavg.local_steps(params)):
        slope = params.batches.gradient(problem, y, draw.rows, k)
        y = y - params.eta_l * (slope + params.alpha * (y - anchor) - g)
        g = g - params.alpha * (y - anchor)
    g = np.where(draw.clients[..., None], g, state.g + 0 * g)
    h = g.sum(axis=-2) / problem.n
    return State(mean_over(draw.clients, params.tau, y) - h / params.alpha, h, g)


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
h: h is the mean of the participants' g_i instead of all clients'
    h = state.h - params.alpha * => h = mean_over(draw.clients, params.tau, state.g - params.alpha * moved) + 0 *
x: h/alpha is subtracted twice
    y) - h / params.alpha => y) - 2 * h / params.alpha
"""),
    ("the g_i are updated in each local step", "g", _in_each_step),
    *edits("""
h: neither h nor the g_i are ever updated
    h = state.h - params.alpha * => h = state.h - 0 *
    state.g - params.alpha * moved => state.g - 0 * moved
h: h is averaged over the participants instead of all clients
    moved.sum(axis=-2) / problem.n => moved.sum(axis=-2) / params.tau
h: h adds the sum of the changes instead of their average
    moved.sum(axis=-2) / problem.n => moved.sum(axis=-2)
h: h lacks its factor alpha
    h = state.h - params.alpha * => h = state.h -
h: the sign of h's change is wrong, or that of h/alpha
    h = state.h - params.alpha * => h = state.h + params.alpha *
h: h is updated by idle clients too
    moved.sum => change.sum
h: h is never updated, or never subtracted
    h = state.h - params.alpha * => h = state.h - 0 *
x: x is computed with the old h
    y) - h / params.alpha => y) - state.h / params.alpha
x: h/alpha is not subtracted from x
    y) - h / params.alpha => y)
x: the sign of h/alpha is wrong
    y) - h / params.alpha => y) + h / params.alpha
x: h is not divided by alpha
    y) - h / params.alpha => y) - h
x: the models are averaged over all clients instead of the participants
    mean_over(draw.clients, params.tau, y) => mean_over(draw.clients, problem.n, y)
g: the g_i are never updated, or left out of the local steps
    state.g - params.alpha * moved => state.g - 0 * moved
g: the g_i of idle clients are updated too
    state.g - params.alpha * moved => state.g - params.alpha * change
g: g_i lacks its factor alpha
    state.g - params.alpha * moved => state.g - moved
g: the sign of g_i's change is wrong, or that of the linear term
    state.g - params.alpha * moved => state.g + params.alpha * moved
"""),
    # Also where the local problems are due to be solved exactly.
    *edits(
        """
x: the linear term is left out of the local steps
    params.alpha * (y - anchor) - g => params.alpha * (y - anchor)
x: the sign of the linear term is wrong in the local steps
    params.alpha * (y - anchor) - g => params.alpha * (y - anchor) + g
x: the proximal term is left out of the local steps
    params.alpha * (y - anchor) - g => 0 * y - g
x: the proximal term pulls to 0 instead of x
    params.alpha * (y - anchor) - g => params.alpha * y - g
x: the proximal term has twice its weight
    params.alpha * (y - anchor) - g => 2 * params.alpha * (y - anchor) - g
x: the sign of the proximal term is wrong
    params.alpha * (y - anchor) - g => params.alpha * (anchor - y) - g
""",
        "if params.exact: => if False:",
    ),
)
