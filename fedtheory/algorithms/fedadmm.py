"""FedADMM: inexact ADMM with random participation (Zhou and Li 2022, Algorithm 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Draw, NamedTuple, Problem, Table, edits, method, zeros
from fedtheory.algorithms.examples import Example, Given, Replaced, weights
from fedtheory.algorithms.selections import Selection, Uniform
from fedtheory.learning.subproblems import Exact, InnerSteps, Solver, Task
from fedtheory.numbers.rational import to_float
from fedtheory.problems.base import stationary_point
from fedtheory.randomness import Product


class Params(NamedTuple):
    """``alpha (m,)``: weights of the f_i, which sum to 1; ``sigma (m,)``: penalties; ``nu (m,)``: factors of the
    tolerances; ``eps (m,)``: the tolerances eps_i^0; ``k0``: iterations a communication round; ``selection``: plans of
    participants (see :mod:`fedtheory.algorithms.selections`); ``solver``: how clients meet eq. (6)."""

    alpha: Array
    sigma: Array
    nu: Array
    eps: Array
    k0: int
    selection: Selection
    solver: Solver


class State(NamedTuple):
    """``w (..., d)``: the server's model w^{tau_k}; ``W``, ``Pi``, ``Z (..., m, d)``: the clients' models, multipliers
    and messages; ``eps (..., m)``: their tolerances."""

    w: Array
    W: Array
    Pi: Array
    Z: Array
    eps: Array


class Draws(NamedTuple):
    """``clients (rounds, m)``: who takes part in the rounds of one step; ``solver``: the randomness of the solver."""

    clients: Array
    solver: Draw


def init(
    problem: Problem, params: Params, W: Array | None = None, Pi: Array | None = None, w: Array | None = None
) -> State:
    """W^0 = 0 unless given, pi_i^0 = -alpha_i grad f_i(w_i^0), z_i^0 = sigma_i w_i^0 + pi_i^0.

    The paper never defines w^{tau_0}, which the state has and L^0 uses: 0 unless ``w`` is given. Its experiments start
    from ``Pi`` = 0, against Algorithm 1.
    """
    W = zeros(problem.n, problem.d) if W is None else W
    Pi = -params.alpha[:, None] * problem.f.gradient(W) if Pi is None else Pi
    w = zeros(problem.d) if w is None else w
    return State(w, W, Pi, params.sigma[:, None] * W + Pi, params.eps)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The participants of the rounds that the selection plans together, and the solver's randomness in them."""
    if params.k0 < 1:
        raise ValueError(f"a round has at least one iteration, got {params.k0}")
    iterations = params.selection.rounds * params.k0
    return Product(Draws, (params.selection, params.solver.draws(problem, iterations)))


def average(params: Any, Z: Array) -> Array:
    """The server's model sum_i z_i / sigma, eq. (4), ``(..., m, d) -> (..., d)``."""
    return Z.sum(axis=-2) / params.sigma.sum()


def local_update(problem: Problem, params: Params, state: State, clients: Array, draw: Draw, iteration: int) -> State:
    """Eqs. (5)-(8) for the ``clients (..., m)`` around the server's model, eq. (9) for the others.

    In eq. (5) the tolerances shrink by no more than they must.
    """
    eps = np.where(clients, params.nu * state.eps, state.eps)
    task = Task(state.w, state.Pi, eps, clients, params.alpha, params.sigma)
    answer = params.solver.answer(problem, task, draw, iteration).w
    chosen, sigma = clients[..., None], params.sigma[:, None]
    W = np.where(chosen, answer, state.W)
    Pi = np.where(chosen, state.Pi + sigma * (W - state.w[..., None, :]), state.Pi)
    # The server's model knows nothing of this round's draws, but has as many replicas as what depends on them.
    w = np.broadcast_to(state.w, (*W.shape[:-2], problem.d))
    return State(w, W, Pi, np.where(chosen, sigma * W + Pi, state.Z), eps)


def iterations(problem: Problem, params: Params, state: State, draw: Draws) -> list[State]:
    """The states after each of the rounds * k_0 iterations of one step; the first of every k_0 averages first."""
    found = []
    for k in range(draw.clients.shape[-2] * params.k0):
        if k % params.k0 == 0:
            state = state._replace(w=average(params, state.Z))
        state = local_update(problem, params, state, draw.clients[..., k // params.k0, :], draw.solver, k)
        found.append(state)
    return found


def step(problem: Problem, params: Params, state: State, draw: Draws) -> State:
    """The rounds of one plan, each an exchange with the server and k_0 iterations."""
    return iterations(problem, params, state, draw)[-1]


def fixed_point(problem: Problem, params: Params) -> State:
    """The stationary point of (19), with tolerances that have vanished."""
    w = stationary_point(problem, params.alpha)
    W = np.broadcast_to(w, (problem.n, problem.d))
    Pi = -params.alpha[:, None] * problem.f.gradient(W)
    return State(w, W, Pi, params.sigma[:, None] * W + Pi, 0 * params.eps)


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """Eq. (8) for all clients: z_i - sigma_i w_i - pi_i, ``(..., m, d)``."""
    return state.Z - params.sigma[:, None] * state.W - state.Pi


def theory(
    problem: Problem, alpha: Array, selection: Selection, solver: Solver, k0: int, nu: Array, eps: Array
) -> Params:
    """sigma_i = 3 alpha_i r_i, the least penalties that Theorems 4.1 to 4.3 allow."""
    return Params(alpha, 3 * alpha * problem.f.L, nu, eps, k0, selection, solver)


algorithm = method("fedadmm", step, Params, State, init, draws, fixed_point, invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- (sum of all z_i)/(sum of all sigma_i), once every k_0 iterations",
    "W": "w_i <- w and then steps w_i - (alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w))/(alpha_i r_i + sigma_i) "
    "for participants",
    "Pi": "pi_i <- pi_i + sigma_i (w_i - w) for participants, with the new w_i",
    "Z": "z_i <- sigma_i w_i + pi_i for participants, both new",
    "eps": "eps_i <- nu_i eps_i for participants, in every iteration",
}


def _example(given: Given) -> Params:
    alpha, sigma = weights(given)
    # With r_i = L_i one step would solve the problem of a client in one dimension, wherever it starts.
    n, r = given.problem.n, 1.5 * to_float(given.problem.f.L)
    solver = Exact() if "exact solver" in given.features else InnerSteps(r, given.epochs + 1)
    return Params(alpha, sigma, np.full(n, 0.5), np.ones(n), given.epochs, Uniform(n, given.tau), solver)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _participants(params: Params, state: State, clients: Array) -> Array:
    here = clients[..., None]
    sent, sigma = np.where(here, state.Z, 0 * state.Z), np.where(here, params.sigma[:, None], 0)
    return sent.sum(axis=-2) / sigma.sum(axis=-2)


def _from_own_model(problem: Problem, params: Any, state: State) -> Array:
    """The clients' models ``(..., m, d)`` after inner steps that start from w_i, where they stopped, instead of w."""
    steps = getattr(params.solver, "steps", None)
    if steps is None:
        raise ValueError("only inner steps have a start")
    alpha, sigma, v = params.alpha[:, None], params.sigma[:, None], state.W
    for _ in range(steps):
        slope = alpha * problem.f.gradient(v) + state.Pi + sigma * (v - state.w[..., None, :])
        v = v - slope / (params.alpha * params.solver.r + params.sigma)[:, None]
    return v


def _with_replacement(problem: Problem, params: Any, state: State) -> Distribution:
    """The participants and the solver's randomness, with replacement."""
    plans = Replaced(problem.n, params.selection.size, params.selection.rounds)
    return Product(Draws, (plans, params.solver.draws(problem, plans.rounds * params.k0)))


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
w: the server averages the messages of the participants instead of the last ones of all clients
    average(params, state.Z) => _participants(params, state, draw.clients[..., k // params.k0, :])
w: the server averages the models and leaves out the multipliers
    average(params, state.Z) => average(params, params.sigma[:, None] * state.W)
w: the server divides by the number of clients instead of the sum of the sigma_i
    params.sigma.sum() => len(params.sigma)
W: all clients update, whoever takes part
    state, draw.clients[..., k // params.k0, :] => state, np.ones_like(draw.clients[..., k // params.k0, :])
W: the inner steps start from the client's own model w_i instead of w
    params.solver.answer(problem, task, draw, iteration).w => _from_own_model(problem, params, state)
Pi: the sign of the multipliers' update is swapped
    state.Pi + sigma * (W => state.Pi - sigma * (W
Pi: the multipliers' update lacks its factor sigma_i
    state.Pi + sigma * (W => state.Pi + (W
Pi: the multipliers are updated with the old w_i
    state.Pi + sigma * (W => state.Pi + sigma * (state.W
Pi: the multipliers are never updated
    state.Pi + sigma * (W => state.Pi + 0 * (W
Z: the message is sent with the old multiplier pi_i
    sigma * W + Pi, => sigma * W + state.Pi,
Z: the message lacks its factor sigma_i
    sigma * W + Pi, => W + Pi,
"""),
    ("participants are drawn with replacement: fewer than there should be", "", {"draws": _with_replacement}),
)
