"""What goes wrong in implementations of SCAFFOLD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedavg, scaffold
from fedtheory.algorithms.minibatch_sgd import everywhere, mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from verify.conformance.slips.changes import IN_PLACE, Slip, Step, Table, changed, never

_SIGN = "the sign of the control variates is swapped: the local steps add c_i - c instead of c - c_i"


def _scaffold_in_place(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    """One participant after another trains the server's array, to which y_i and x then both refer."""
    x, c, c_i = state
    lead = 0 * draw.clients[..., :1]
    start, moved, renewed = x + lead, 0 * (x + lead), []
    for i in range(problem.n):
        y = everywhere(problem, start)
        for k in range(fedavg.local_steps(params)):
            slope = params.batches.gradient(problem, y, draw.rows, k)
            y = y - params.eta_l * (slope + everywhere(problem, c) - c_i)
        here = draw.clients[..., i : i + 1]
        renewed.append(np.where(here, -c, 0 * c))
        start = np.where(here, y[..., i, :], start)
    change = np.stack(renewed, axis=-2)
    return scaffold.State(start + params.eta_g * moved, c + change.sum(axis=-2) / problem.n, c_i + change)


def _renewed(divisor: Callable[[Any, int], Any], shared: bool = True) -> Step:
    """SCAFFOLD with c_i+ = c_i - c + (x - y_i)/divisor."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x, c, c_i = state
        anchor, everyone = everywhere(problem, x), everywhere(problem, c)
        y = fedavg.local_descent(problem, params, x, draw, lambda y: everyone - c_i)
        new = c_i - (everyone if shared else 0) + (anchor - y) / divisor(params, fedavg.local_steps(params))
        change = np.where(draw.clients[..., None], new - c_i, 0 * new)
        x = x + params.eta_g * mean_over(draw.clients, params.tau, y - anchor)
        return scaffold.State(x, c + change.sum(axis=-2) / problem.n, c_i + change)

    return step


def _scaffold(correction: Callable[[Any, Array, Array, Array], Array]) -> Step:
    """SCAFFOLD with another correction of the local steps: ``correction(problem, y, shared, own)``."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x, c, c_i = state
        anchor, everyone = everywhere(problem, x), everywhere(problem, c)
        y = fedavg.local_descent(problem, params, x, draw, lambda y: correction(problem, y, everyone, c_i))
        new = c_i - everyone + (anchor - y) / (fedavg.local_steps(params) * params.eta_l)
        change = np.where(draw.clients[..., None], new - c_i, 0 * new)
        x = x + params.eta_g * mean_over(draw.clients, params.tau, y - anchor)
        return scaffold.State(x, c + change.sum(axis=-2) / problem.n, c_i + change)

    return step


class _Late(NamedTuple):
    x: Array
    c: Array
    c_i: Array
    late: Array


def late_server() -> Iterator[Slip]:
    """SCAFFOLD whose clients correct by a stale c, that of a round before."""
    reference = scaffold.algorithm

    def init(problem: Problem, params: Any, **start: Any) -> Any:
        state = reference.init(problem, params, **start)
        return _Late(state.x, state.c, state.c_i, state.c)

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x, c, c_i, late = state
        old = scaffold.step(problem, params, scaffold.State(x, late, c_i), draw)
        return _Late(old.x, c + (old.c - late), old.c_i, c)

    algorithm = replace(reference, State=_Late, init=init, step=step)
    yield Slip("clients correct by the server's average c of the round before the last (a stale c)", algorithm, "x")


def _mean_of_last(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return state.c_i.sum(axis=-2) / problem.n


def _scaled_c(factor: Callable[[Problem, Any], Any]) -> Callable[..., Any]:
    return lambda problem, params, state, after, draw: state.c + (after.c - state.c) * factor(problem, params)


SCAFFOLD: Table = (
    (f"{IN_PLACE}; y_i - x is then 0", "x", _scaffold_in_place),
    (
        "the control variates are never updated: this is FedAvg from the second round on",
        "c_i",
        never("c_i", never("c", scaffold.step)),
    ),
    (_SIGN, "x", _scaffold(lambda problem, y, shared, own: own - shared)),
    (
        "the clients' own control variates are left out of the local steps",
        "x",
        _scaffold(lambda p, y, c, own: c + 0 * y),
    ),
    (
        "the server's control variate is left out of the local steps",
        "x",
        _scaffold(lambda p, y, c, own: 0 * y - own),
    ),
    (
        "control variates are left out of the local steps: this is FedAvg",
        "x",
        _scaffold(lambda p, y, c, own: 0 * y),
    ),
    (
        "the server's control variate is averaged over the participants instead of all clients",
        "c",
        changed(scaffold.step, c=_scaled_c(lambda problem, params: problem.n / params.tau)),
    ),
    (
        "the server's control variate adds the sum of the changes instead of their average",
        "c",
        changed(scaffold.step, c=_scaled_c(lambda problem, params: problem.n)),
    ),
    ("the server's control variate is never updated", "c", never("c", scaffold.step)),
    (
        "the server's control variate is the average of the clients' before this round (a stale average)",
        "c",
        changed(scaffold.step, c=_mean_of_last),
    ),
    (
        "the whole control variates are sent where their changes are meant",
        "c",
        changed(
            scaffold.step,
            c=lambda problem, params, s, a, draw: (
                s.c + np.where(draw.clients[..., None], a.c_i, 0 * a.c_i).sum(axis=-2) / problem.n
            ),
        ),
    ),
    (
        "the control variate is updated with the wrong learning rate: the server's, or both, instead of eta_l",
        "c_i",
        _renewed(lambda params, K: K * params.eta_l * params.eta_g),
    ),
    (
        "the control variate is updated with the wrong learning rate: eta_g instead of eta_l",
        "c_i",
        _renewed(lambda params, K: K * params.eta_g),
    ),
    ("the control variate is updated without dividing by the learning rate", "c_i", _renewed(lambda params, K: K)),
    (
        "the control variate is updated without dividing by the number of local steps K",
        "c_i",
        _renewed(lambda params, K: params.eta_l),
    ),
    (
        "the control variate is updated with the wrong number of local steps: K + 1 instead of K",
        "c_i",
        _renewed(lambda params, K: (K + 1) * params.eta_l),
    ),
    (
        "the control variate is updated with the wrong number of local steps: K - 1 instead of K",
        "c_i",
        _renewed(lambda params, K: max(K - 1, 1) * params.eta_l),
    ),
    (
        "the control variate is updated with the wrong number of local steps: one instead of K",
        "c_i",
        _renewed(lambda params, K: params.eta_l),
    ),
    (
        "the server's control variate is not subtracted when a client renews its own",
        "c_i",
        _renewed(lambda params, K: K * params.eta_l, shared=False),
    ),
)
