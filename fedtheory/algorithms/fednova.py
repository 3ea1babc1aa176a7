"""FedNova: changes are divided by what each client did before they are averaged (Wang et al. 2020).

Client i takes K_i local steps, a number of its own, from x to y_i. Its change is (x - y_i)/eta_l = a_i d_i, a_i being
how often its gradients count: K_i, and with local momentum the sum over j = 1, ..., K_i of
1 + momentum + ... + momentum^(j - 1). The server goes x <- x - eta_g eta_l a sum_i p_i d_i, a = sum_i p_i a_i (tau_eff
in the paper), with weights p_i that sum to 1 over the participants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Problem, everywhere, method
from fedtheory.algorithms.examples import Example, Given, StepFunction, Table
from fedtheory.algorithms.fedavg import Params, State
from fedtheory.algorithms.minibatch_sgd import Round


def counted(problem: Problem, params: Params) -> Array:
    """a_i ``(n,)``: how often the gradients of a client count in its change."""
    weight, total = 0.0, np.zeros(problem.n)
    steps = np.full(problem.n, fedavg.local_steps(params)) if params.steps is None else params.steps
    for k in range(fedavg.local_steps(params)):
        weight = 1 + params.momentum * weight
        total = total + np.where(k < steps, weight, 0.0)
    return total


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step, without randomness of its own: FedNova."""
    y = fedavg.local_descent(problem, params, state.x, draw, momentum=params.momentum, steps=params.steps)
    a = counted(problem, params)[..., None]
    d = (everywhere(problem, state.x) - y) / (params.eta_l * a)
    effective = fedavg.averaged(params, draw.clients, a + 0 * d)
    direction = fedavg.averaged(params, draw.clients, d)
    return State(state.x - params.eta_g * params.eta_l * effective * direction)


algorithm = method("fednova", step, Params, State, draws=fedavg.draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - eta_g eta_l a sum p_i d_i, d_i = (x - y_i)/(eta_l a_i), a = sum p_i a_i over the participants, "
    "a_i the local steps of client i"
}


def _example(given: Given) -> Params:
    # That clients take steps of their own numbers is what the method is for.
    epochs = max(given.epochs, 2)
    steps = fedavg.steps_of(given._replace(features=("own local steps",)), epochs * given.batches.per_epoch)
    momentum = 0.6 if "momentum" in given.features else 0
    eta_g = 1.4 if "server stepsize" in given.features else 1
    counts = fedavg.counts_of(given)
    return Params(given.tau, epochs, 0.2 / given.problem.L, eta_g, given.batches, counts, momentum, steps)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _normalised(
    divisor: Callable[[Problem, Params], Array] = counted,
    effective: Callable[[Problem, Params, Array], Array] | None = None,
    weigh: bool = True,
) -> StepFunction:
    """FedNova with other a_i, and another a, of who takes part."""

    def other(problem: Problem, params: Params, state: State, draw: Round) -> State:
        y = fedavg.local_descent(problem, params, state.x, draw, momentum=params.momentum, steps=params.steps)
        moved = y - everywhere(problem, state.x)
        own = params if weigh else params._replace(counts=None)
        direction = fedavg.averaged(own, draw.clients, moved / divisor(problem, params)[..., None])
        if effective is None:
            a = fedavg.averaged(own, draw.clients, counted(problem, params)[..., None] + 0 * moved)
        else:
            a = effective(problem, params, draw.clients)
        return State(state.x + params.eta_g * a * direction)

    return other


def _steps(problem: Problem, params: Params) -> Array:
    """K_i, whatever the momentum."""
    return counted(problem, params._replace(momentum=0))


def _plainly(of: Callable[[Array], Array]) -> Callable[[Problem, Params, Array], Array]:
    """a that depends on all clients' a_i, whoever takes part."""
    return lambda problem, params, clients: of(counted(problem, params))


def _equally(problem: Problem, params: Params, clients: Array) -> Array:
    return np.asarray(np.where(clients, counted(problem, params), 0).sum(axis=-1, keepdims=True) / params.tau)


def _largest(problem: Problem, params: Params, clients: Array) -> Array:
    return np.asarray(np.where(clients, counted(problem, params), 0).max(axis=-1, keepdims=True))


def _least(problem: Problem, params: Params, clients: Array) -> Array:
    return np.asarray(np.where(clients, counted(problem, params), np.inf).min(axis=-1, keepdims=True))


def _most(problem: Problem, params: Params, clients: Array) -> Array:
    return np.full(1, fedavg.local_steps(params))


def _weight(problem: Problem, params: Params) -> Array:
    """Return a_i if it is overwritten rather than accumulated: 1 + momentum + ... + momentum^(K_i - 1)."""
    fewer = np.maximum(_steps(problem, params) - 1, 0)
    return counted(problem, params) - counted(problem, params._replace(steps=fewer))


def _weights(problem: Problem, params: Params, clients: Array) -> Array:
    return fedavg.averaged(params, clients, _weight(problem, params)[..., None])


def _of_the_last(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """FedNova, whose a is that of who came last."""
    order = fedavg.places(draw)
    a = np.where(order == params.tau, counted(problem, params), 0.0).sum(axis=-1, keepdims=True)
    last = _normalised(effective=lambda problem, params, clients: a)
    return last(problem, params, state, draw._replace(clients=order > 0))


def _of_all(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """FedNova with p_i that do not sum to 1 over the participants, in a and in the average."""
    after = step(problem, params, state, draw)
    counts = np.ones(problem.n) if params.counts is None else params.counts
    share = np.where(draw.clients, counts, 0.0).sum(axis=-1, keepdims=True) / counts.sum()
    return State(state.x + share**2 * (after.x - state.x))


def _summed(problem: Problem, params: Params, clients: Array) -> Array:
    return np.asarray(np.where(clients, counted(problem, params), 0).sum(axis=-1, keepdims=True))


def _ones(problem: Problem, params: Params) -> Array:
    return np.ones(problem.n)


def _nothing(problem: Problem, params: Params, clients: Array) -> Array:
    return np.ones(1)


def _average(problem: Problem, params: Params, state: State, draw: Round) -> State:
    return fedavg.step(problem, params, state, draw)


#: What implementations are known to do instead.
SLIPS: Table = (
    ("the changes are not normalised: this is FedAvg", "x", _average),
    (
        "the normalised changes are not multiplied by a, the effective number of steps",
        "x",
        _normalised(effective=_nothing),
    ),
    (
        "a is the mean of all clients' numbers of steps, whoever takes part",
        "x",
        _normalised(effective=_plainly(np.mean)),
    ),
    ("a is the largest number of steps of all clients", "x", _normalised(effective=_plainly(np.max))),
    ("a is K, the most local steps that a client may take", "x", _normalised(effective=_most)),
    ("the weights p_i are shares of all clients, not of the participants", "x", _of_all),
    ("a_i is the weight of the first gradient instead of the sum of all weights", "x", _normalised(_weight, _weights)),
    ("a is the largest number of steps of the participants", "x", _normalised(effective=_largest)),
    ("a is the least number of steps of the participants", "x", _normalised(effective=_least)),
    ("a is the sum of the participants' numbers of steps instead of their mean", "x", _normalised(effective=_summed)),
    ("a is the mean number of steps without the weights of the clients", "x", _normalised(effective=_equally)),
    ("neither a nor the changes are weighed by the counts", "x", _normalised(weigh=False)),
    ("the changes are normalised by the numbers of steps as if there were no momentum", "x", _normalised(_steps)),
    (
        "the changes are normalised by the numbers of steps as if there were no momentum, and a is such a mean too",
        "x",
        _normalised(_steps, lambda problem, p, clients: _equally(problem, p._replace(momentum=0), clients)),
    ),
    (
        "the changes are normalised by one step more than were made",
        "x",
        _normalised(lambda problem, p: counted(problem, p) + 1),
    ),
    ("the changes are multiplied by a without having been normalised", "x", _normalised(_ones)),
    # Of participants in any order, the last one may be any.
    (
        "a is the number of steps of one participant, such as the last",
        "x",
        {"step": _of_the_last, "draws": fedavg.ordered},
    ),
    (fedavg.REPLACED, "x", fedavg.with_replacement(step)),
)
