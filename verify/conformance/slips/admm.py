"""What goes wrong in implementations of FedADMM, exact ADMM and FedAvg with stale models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.algorithms import exact_admm, fedadmm, fedavg_stale
from fedtheory.algorithms.fedadmm import State, average
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import Distribution, Product
from verify.conformance.slips.changes import Replaced, Step, Table, changed


def _fedadmm(
    mean: Callable[[Any, State, Array], Array] | None = None,
    local: Callable[..., State] = fedadmm.local_update,
    everyone: bool = False,
) -> Step:
    """FedADMM with another average, ``mean(params, state, clients)``, or other local updates.

    ``everyone``: all clients take part, whoever is drawn.
    """

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        masks = np.ones_like(draw.clients) if everyone else draw.clients
        for k in range(masks.shape[-2] * params.k0):
            clients = masks[..., k // params.k0, :]
            if k % params.k0 == 0:
                state = state._replace(w=average(params, state.Z) if mean is None else mean(params, state, clients))
            state = local(problem, params, state, clients, draw.solver, k)
        return state

    return step


def _participants(params: Any, state: Any, clients: Array) -> Array:
    here = clients[..., None]
    sent, sigma = np.where(here, state.Z, 0 * state.Z), np.where(here, params.sigma[:, None], 0)
    return sent.sum(axis=-2) / sigma.sum(axis=-2)


def _from_own_model(problem: Problem, params: Any, state: Any, clients: Array, draw: Any, iteration: int) -> Any:
    """Inner steps that start from w_i, where the clients stopped, instead of w."""
    steps = getattr(params.solver, "steps", None)
    if steps is None:
        raise ValueError("only inner steps have a start")
    eps = np.where(clients, params.nu * state.eps, state.eps)
    alpha, sigma, w = params.alpha[:, None], params.sigma[:, None], state.w[..., None, :]
    v = state.W
    for _ in range(steps):
        slope = alpha * problem.f.gradient(v) + state.Pi + sigma * (v - w)
        v = v - slope / (params.alpha * params.solver.r + params.sigma)[:, None]
    here = clients[..., None]
    W = np.where(here, v, state.W)
    Pi = np.where(here, state.Pi + sigma * (W - w), state.Pi)
    lead = W.shape[:-2]
    return State(np.broadcast_to(state.w, (*lead, problem.d)), W, Pi, np.where(here, sigma * W + Pi, state.Z), eps)


def _multipliers(change: Callable[[Any, Any, Any], Array]) -> Callable[..., Any]:
    """Local updates whose participants have pi_i + ``change(params, before, after)``."""

    def local(problem: Problem, params: Any, state: Any, clients: Array, draw: Any, iteration: int) -> Any:
        after = fedadmm.local_update(problem, params, state, clients, draw, iteration)
        here, sigma = clients[..., None], params.sigma[:, None]
        Pi = np.where(here, state.Pi + change(params, state, after), state.Pi)
        return after._replace(Pi=Pi, Z=np.where(here, sigma * after.W + Pi, state.Z))

    return local


def _sent(message: Callable[[Any, Any, Any], Array]) -> Callable[..., Any]:
    """Local updates whose participants send ``message(params, before, after)``."""

    def local(problem: Problem, params: Any, state: Any, clients: Array, draw: Any, iteration: int) -> Any:
        after = fedadmm.local_update(problem, params, state, clients, draw, iteration)
        return after._replace(Z=np.where(clients[..., None], message(params, state, after), state.Z))

    return local


def _models_alone(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    alpha, sigma = params.alpha[:, None], params.sigma[:, None]
    w = (sigma * state.W).sum(axis=-2) / params.sigma.sum()
    anchor = w[..., None, :]
    W = problem.f.resolvent(params.sigma / params.alpha, (sigma * anchor - state.Pi) / alpha)
    return exact_admm.State(w, W, state.Pi + sigma * (W - anchor))


def _stale_step(mean: Callable[[Problem, Array, Array], Array], divisor: Callable[[Problem], int]) -> Step:
    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        w, W = state
        for round_ in range(draw.shape[-2]):
            clients = draw[..., round_, :, None]
            w = mean(problem, W, clients)
            V = w[..., None, :] + 0 * W
            for _ in range(params.k0):
                V = V - params.gamma * problem.f.gradient(V) / divisor(problem)
            W = np.where(clients, V, W)
        return fedavg_stale.State(np.broadcast_to(w, (*W.shape[:-2], problem.d)), W)

    return step


def replaced(problem: Problem, params: Any, state: Any) -> Distribution:
    """The participants and the solver's randomness, with replacement."""
    plans = Replaced(problem.n, params.selection.size, params.selection.rounds)
    return Product(fedadmm.Draws, (plans, params.solver.draws(problem, plans.rounds * params.k0)))


def replaced_stale(problem: Problem, params: Any, state: Any) -> Distribution:
    """The participants, with replacement."""
    return Replaced(problem.n, params.selection.size, params.selection.rounds)


FEDADMM: Table = (
    (
        "the server averages the messages of the participants instead of the last ones of all clients",
        "w",
        _fedadmm(mean=_participants),
    ),
    (
        "the server averages the models and leaves out the multipliers",
        "w",
        _fedadmm(mean=lambda params, state, clients: average(params, params.sigma[:, None] * state.W)),
    ),
    (
        "the server divides by the number of clients instead of the sum of the sigma_i",
        "w",
        _fedadmm(mean=lambda params, state, clients: state.Z.sum(axis=-2) / len(params.sigma)),
    ),
    ("all clients update, whoever takes part", "W", _fedadmm(everyone=True)),
    ("the inner steps start from the client's own model w_i instead of w", "W", _fedadmm(local=_from_own_model)),
    (
        "the sign of the multipliers' update is swapped",
        "Pi",
        _fedadmm(local=_multipliers(lambda params, s, a: params.sigma[:, None] * (s.w[..., None, :] - a.W))),
    ),
    (
        "the multipliers' update lacks its factor sigma_i",
        "Pi",
        _fedadmm(local=_multipliers(lambda params, s, a: a.W - s.w[..., None, :])),
    ),
    (
        "the multipliers are updated with the old w_i",
        "Pi",
        _fedadmm(local=_multipliers(lambda params, s, a: params.sigma[:, None] * (s.W - s.w[..., None, :]))),
    ),
    ("the multipliers are never updated", "Pi", _fedadmm(local=_multipliers(lambda params, s, a: 0 * a.Pi))),
    (
        "the message is sent with the old multiplier pi_i",
        "Z",
        _fedadmm(local=_sent(lambda params, s, a: params.sigma[:, None] * a.W + s.Pi)),
    ),
    (
        "the message lacks its factor sigma_i",
        "Z",
        _fedadmm(local=_sent(lambda params, s, a: a.W + a.Pi)),
    ),
)

EXACT_ADMM: Table = (
    ("the server averages the models and leaves out the multipliers", "w", _models_alone),
    (
        "the sign of the multipliers' update is swapped",
        "Pi",
        changed(exact_admm.step, Pi=lambda problem, params, s, a, draw: 2 * s.Pi - a.Pi),
    ),
    (
        "the multipliers' update lacks its factor sigma_i",
        "Pi",
        changed(exact_admm.step, Pi=lambda problem, params, s, a, draw: s.Pi + (a.W - a.w[..., None, :])),
    ),
)

FEDAVG_STALE: Table = (
    (
        "the server averages the participants instead of the last models of all clients",
        "w",
        _stale_step(
            lambda problem, W, clients: np.where(clients, W, 0 * W).sum(axis=-2) / clients.sum(axis=-2),
            lambda problem: problem.n,
        ),
    ),
    (
        "the local stepsize is gamma instead of gamma/m",
        "W",
        _stale_step(lambda problem, W, clients: W.sum(axis=-2) / problem.n, lambda problem: 1),
    ),
)
