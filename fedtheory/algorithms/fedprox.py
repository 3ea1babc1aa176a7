"""FedProx: participants minimise f_i plus a proximal term, the server averages their models (Li et al. 2020).

Like FedAvg it generally leaves the optimum, which is fixed if all clients share a minimiser.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Scalar, everywhere, method
from fedtheory.algorithms.examples import IN_PLACE, Example, Given
from fedtheory.algorithms.fedavg import State, chained
from fedtheory.algorithms.minibatch_sgd import Round, mean_over
from fedtheory.algorithms.slips import StepFunction, Table, edits
from fedtheory.learning.batches import AllRows, Minibatches
from fedtheory.numbers.rational import apply, inverse
from fedtheory.problems.quadratic import Quadratics


class Params(NamedTuple):
    """``tau``: clients a round; ``mu``: weight of the proximal term (mu/2)|w - x|^2; ``epochs``, ``eta_l``,
    ``batches``: local steps as in FedAvg; ``exact``: solve the local problem in closed form instead (quadratics)."""

    tau: int
    mu: Scalar
    epochs: int = 1
    eta_l: Scalar | None = None
    batches: AllRows | Minibatches = AllRows()
    exact: bool = False


def proximal_point(problem: Problem, mu: object, x: Array) -> Array:
    """argmin_w f_i(w) + (mu/2)|w - x|^2 for every client, ``(..., d) -> (..., n, d)``. Raise ``ValueError`` unless the
    f_i are quadratics without g."""
    f = problem.f
    if not isinstance(f, Quadratics) or problem.g is not None:
        raise ValueError("FedProx has its local minimisers in closed form for quadratics without g only")
    H_mu = f.H + mu * np.eye(f.d, dtype=int)
    return apply(inverse(H_mu), apply(f.H, f.c) + mu * x[..., None, :])


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    if params.eta_l is None and not params.exact:
        raise ValueError("FedProx needs a local stepsize eta_l, unless it solves the local problems exactly")
    return fedavg.draws(problem, params, state)


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedProx."""
    x = state.x
    if params.exact:
        models = proximal_point(problem, params.mu, x)
    else:
        anchor = everywhere(problem, x)
        models = fedavg.local_descent(problem, params, x, draw, lambda y: params.mu * (y - anchor))
    return State(mean_over(draw.clients, params.tau, models))


algorithm = method("fedprox", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {"x": "x <- mean over participants of y_i, y_i <- y_i - eta_l (grad f_i(y_i) + mu (y_i - x)) from y_i = x"}


def _example(given: Given) -> Params:
    mu, eta_l, exact = 0.5 + given.problem.n / 4, 0.25 / given.problem.L, "exact solver" in given.features
    return Params(given.tau, mu, given.epochs + 1, eta_l, given.batches, exact)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _pulling(text: str) -> Table:
    """Slips of the local steps, also where the local problems are due to be solved exactly."""
    return edits(text, "if params.exact: => if False:")


def _prox(pull: Callable[[Array, Array, Array, int], Array]) -> StepFunction:
    """FedProx whose proximal term has ``pull(y, anchor, before, k)`` in place of y - anchor in local step k."""

    def step(problem: Problem, params: Params, state: fedavg.State, draw: Round) -> fedavg.State:
        anchor = everywhere(problem, state.x)
        y, before = anchor, anchor
        for k in range(fedavg.local_steps(params)):
            slope = params.batches.gradient(problem, y, draw.rows, k) + params.mu * pull(y, anchor, before, k)
            y, before = y - params.eta_l * slope, y
        return State(mean_over(draw.clients, params.tau, y))

    return step


def _norm(z: Array) -> Array:
    size = np.sqrt((z**2).sum(axis=-1, keepdims=True))
    return z / np.where(size > 0, size, 1)


#: Known mistakes of implementations.
SLIPS: Table = (
    (IN_PLACE, "x", chained(False)),
    (f"{IN_PLACE}; all are then the same array", "x", chained(True)),
    *_pulling("""
x: the proximal term is dropped, or anchored at the local model where it is always zero: this is FedAvg
    params.mu * (y - anchor) => 0 * y
"""),
    (
        "the proximal term is anchored at the local model of the step before",
        "x",
        _prox(lambda y, at, before, k: y - before),
    ),
    (
        "the proximal term is dropped on the first step in which it is not zero",
        "x",
        _prox(lambda y, at, before, k: (1 if k > 1 else 0) * (y - at)),
    ),
    *_pulling("""
x: the proximal norm is not squared
    params.mu * (y - anchor) => params.mu / 2 * _norm(y - anchor)
x: the proximal term has twice its weight
    params.mu * (y - anchor) => 2 * params.mu * (y - anchor)
x: the proximal term has half its weight
    params.mu * (y - anchor) => params.mu / 2 * (y - anchor)
x: the sign of the proximal term is wrong
    params.mu * (y - anchor) => params.mu * (anchor - y)
"""),
)
