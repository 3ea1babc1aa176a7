"""FedNova: changes are divided by what each client did before they are averaged (Wang et al. 2020).

Client i takes K_i local steps, a number of its own, from x to y_i. Its change is (x - y_i)/eta_l = a_i d_i, a_i being
how often its gradients count: K_i, and with local momentum the sum over j = 1, ..., K_i of
1 + momentum + ... + momentum^(j - 1). The server goes x <- x - eta_g eta_l a sum_i p_i d_i, a = sum_i p_i a_i (tau_eff
in the paper), with weights p_i that sum to 1 over the participants.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Example, Given, Problem, everywhere, method
from fedtheory.algorithms.fedavg import Params, State
from fedtheory.algorithms.minibatch_sgd import Round
from fedtheory.algorithms.slips import Table, edit, edits


def counted(problem: Problem, params: Params) -> Array:
    """a_i ``(n,)``: how often the gradients of a client count in its change."""
    weight, total = 0.0, np.zeros(problem.n)
    steps = np.full(problem.n, fedavg.local_steps(params)) if params.steps is None else params.steps
    for k in range(fedavg.local_steps(params)):
        weight = 1 + params.momentum * weight
        total = total + np.where(k < steps, weight, 0.0)
    return total


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedNova."""
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


def _of_all(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """FedNova with p_i that do not sum to 1 over the participants, in a and in the average."""
    after = step(problem, params, state, draw)
    counts = np.ones(problem.n) if params.counts is None else params.counts
    share = np.where(draw.clients, counts, 0.0).sum(axis=-1, keepdims=True) / counts.sum()
    return State(state.x + share**2 * (after.x - state.x))


_OF_THE_LAST = edit(
    "fedavg.averaged(params, draw.clients, a + 0 * d) => fedavg.mean_over(fedavg.places(draw) == params.tau, 1, a)",
    "draw.clients, d) => fedavg.places(draw) > 0, d)",
)

#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
x: the changes are not normalised: this is FedAvg
    / (params.eta_l * a) =>
    params.eta_l * effective * direction => direction
x: the normalised changes are not multiplied by a, the effective number of steps
    effective * direction => direction
x: a is the mean of all clients' numbers of steps, whoever takes part
    fedavg.averaged(params, draw.clients, a + 0 * d) => a.mean()
x: a is the largest number of steps of all clients
    fedavg.averaged(params, draw.clients, a + 0 * d) => a.max()
x: a is K, the most local steps that a client may take
    fedavg.averaged(params, draw.clients, a + 0 * d) => fedavg.local_steps(params)
"""),
    ("the weights p_i are shares of all clients, not of the participants", "x", _of_all),
    *edits("""
x: a_i is the weight of the first gradient instead of the sum of all weights
    total + np.where(k < steps, weight, 0.0) => np.where(k < steps, weight, total)
x: a is the largest number of steps of the participants
    fedavg.averaged(params, draw.clients, a + 0 * d) => np.where(draw.clients[..., None], a, 0).max(axis=-2)
x: a is the least number of steps of the participants
    fedavg.averaged(params, draw.clients, a + 0 * d) => np.where(draw.clients[..., None], a, np.inf).min(axis=-2)
x: a is the sum of the participants' numbers of steps instead of their mean
    fedavg.averaged(params, draw.clients, a + 0 * d) => fedavg.mean_over(draw.clients, 1, a)
x: a is the mean number of steps without the weights of the clients
    fedavg.averaged(params, draw.clients, a + 0 * d) => fedavg.mean_over(draw.clients, params.tau, a)
x: neither a nor the changes are weighed by the counts
    fedavg.averaged(params, draw.clients, a => fedavg.averaged(params._replace(counts=None), draw.clients, a
    fedavg.averaged(params, draw.clients, d) => fedavg.averaged(params._replace(counts=None), draw.clients, d)
x: the changes are normalised by the numbers of steps as if there were no momentum
    (params.eta_l * a) => (params.eta_l * counted(problem, params._replace(momentum=0))[..., None])
x: the changes are normalised by the numbers of steps as if there were no momentum, and a is such a mean too
    a = counted(problem, params) => a = counted(problem, params._replace(momentum=0))
    fedavg.averaged(params, draw.clients, a + 0 * d) => fedavg.mean_over(draw.clients, params.tau, a)
x: the changes are normalised by one step more than were made
    (params.eta_l * a) => (params.eta_l * (a + 1))
x: the changes are multiplied by a without having been normalised
    (params.eta_l * a) => params.eta_l
"""),
    # Participants come in any order: the last one may be any of them.
    (
        "a is the number of steps of one participant, such as the last",
        "x",
        {"step": _OF_THE_LAST, "draws": fedavg.ordered},
    ),
    (fedavg.REPLACED, "x", fedavg.with_replacement(step)),
)
