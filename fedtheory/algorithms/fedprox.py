"""FedProx: participants minimise f_i plus a proximal term, the server averages their models (Li et al. 2020)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.fedavg import State
from fedtheory.algorithms.minibatch_sgd import Round, everywhere, mean_over
from fedtheory.numbers.rational import Array, apply, inverse
from fedtheory.problems.base import Problem
from fedtheory.problems.oracles import AllRows, Minibatches
from fedtheory.problems.quadratic import Quadratics
from fedtheory.randomness import Distribution


class Params(NamedTuple):
    """``tau``: clients a round; ``mu``: weight of the proximal term (mu/2)|w - x|^2; ``epochs``, ``eta_l``,
    ``batches``: local steps as in FedAvg; ``exact``: solve the local problem in closed form instead (quadratics)."""

    tau: int
    mu: Any
    epochs: int = 1
    eta_l: Any = None
    batches: AllRows | Minibatches = AllRows()
    exact: bool = False


def proximal_point(problem: Problem, mu: Any, x: Array) -> Array:
    """argmin_w f_i(w) + (mu/2)|w - x|^2 for every client, ``(..., d) -> (..., n, d)``; ``ValueError`` unless the
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
    """One step, without randomness of its own: FedProx."""
    x = state.x
    if params.exact:
        models = proximal_point(problem, params.mu, x)
    else:
        anchor = everywhere(problem, x)
        models = fedavg.local_descent(problem, params, x, draw, lambda y: params.mu * (y - anchor))
    return State(mean_over(draw.clients, params.tau, models))


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum, which FedProx in general leaves, as FedAvg does: it is fixed if all clients share a minimiser."""
    return State(problem.x_star)


algorithm = Algorithm("fedprox", Params, State, fedavg.init, draws, step, fixed_point)
