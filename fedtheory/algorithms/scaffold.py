"""SCAFFOLD: local steps corrected by control variates (Karimireddy et al. 2020, Algorithm 1)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Gradients, NamedTuple, Point, Problem, Scalar, everywhere, method, zeros
from fedtheory.algorithms.examples import IN_PLACE, Example, Given
from fedtheory.algorithms.minibatch_sgd import Round, mean_over
from fedtheory.algorithms.slips import Table, edit, edits
from fedtheory.algorithms.starts import OtherStart
from fedtheory.learning.batches import AllRows, Minibatches
from fedtheory.randomness import Distribution


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``eta_g``, ``batches``, ``steps`` as in FedAvg; ``option``: how a participant
    renews c_i.

    Option "I": the gradient of f_i at the server's model, on all rows. Option "II": c_i - c + (x - y_i)/(K eta_l), the
    average of the stochastic gradients of its K local steps, K its own number where it has one.
    """

    tau: int
    epochs: int
    eta_l: Scalar
    eta_g: Scalar = 1
    batches: AllRows | Minibatches = AllRows()
    option: str = "II"
    steps: Array | None = None


class State(NamedTuple):
    """``x (..., d)``: the server's model; ``c (..., d)``: its control variate; ``c_i (..., n, d)``: the clients'."""

    x: Point
    c: Annotated[Array, "mean of c_i"]
    c_i: Gradients


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    if params.option not in ("I", "II"):
        raise ValueError(f"SCAFFOLD has the options 'I' and 'II', got {params.option!r}")
    return fedavg.draws(problem, params, state)


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of SCAFFOLD."""
    x, c, c_i = state
    anchor, shared = everywhere(problem, x), everywhere(problem, c)
    y = fedavg.local_descent(problem, params, x, draw, lambda y: shared - c_i, steps=params.steps)
    if params.option == "I":
        renewed = AllRows().gradient(problem, anchor, draw.rows, 0)
    else:
        K = fedavg.local_steps(params) if params.steps is None else params.steps[..., None]
        renewed = c_i - shared + (anchor - y) / (K * params.eta_l)
    change = np.where(draw.clients[..., None], renewed - c_i, 0 * renewed)
    return State(
        x + params.eta_g * mean_over(draw.clients, params.tau, y - anchor),
        # Changes are averaged over all clients, those that sat out with change 0, so that c stays the mean of the c_i.
        c + change.sum(axis=-2) / problem.n,
        c_i + change,
    )


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum with c_i = grad (f_i + g)(x*) and their mean c = 0; with batches it is fixed only on average."""
    x = problem.x_star
    c_i = AllRows().gradient(problem, everywhere(problem, x), zeros(0), 0)
    return State(x, c_i.sum(axis=-2) / problem.n, c_i)


algorithm = method("scaffold", step, Params, State, draws=draws, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x + (eta_g/tau) sum over participants of (y_i - x), y_i <- y_i - eta_l (grad f_i(y_i) - c_i + c)",
    "c": "c <- c + (1/n) sum over participants of (c_i+ - c_i), n all clients",
    "c_i": "c_i+ <- c_i - c + (x - y_i)/(K eta_l) for participants (option I: grad f_i(x)), K local steps",
}


def _example(given: Given) -> Params:
    option = "I" if "option I" in given.features else "II"
    own = "own local steps" in given.features
    epochs = max(given.epochs, 2) if own else given.epochs
    steps = fedavg.steps_of(given, epochs * given.batches.per_epoch)
    return Params(given.tau, epochs, 0.25 / given.problem.L, 0.8, given.batches, option, steps)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _gradients(problem: Problem, params: Params, points: Array, draw: object) -> Array:
    return AllRows().gradient(problem, points, zeros(0), 0)


#: Other starts of its runs.
STARTS = (OtherStart("c_i^0 = grad f_i(x^0), c^0 their mean", "c_i", _gradients),)


def _in_place(problem: Problem, params: Params, state: State, draw: Round) -> State:
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
    return State(start + params.eta_g * moved, c + change.sum(axis=-2) / problem.n, c_i + change)


class _Late(NamedTuple):
    x: Array
    c: Array
    c_i: Array
    late: Array


def _late_init(problem: Problem, params: Params, **start: Any) -> Any:
    state = algorithm.init(problem, params, **start)
    return _Late(state.x, state.c, state.c_i, state.c)


def _late_step(problem: Problem, params: Params, state: Any, draw: Any) -> Any:
    """Clients correct by a stale c, that of a round before."""
    x, c, c_i, late = state
    old = step(problem, params, State(x, late, c_i), draw)
    return _Late(old.x, c + (old.c - late), old.c_i, c)


def _corrected(words: str, added: str) -> Table:
    """The slip of local steps that add something else than c - c_i, c_i renewed as printed or by their gradients."""
    local = f"lambda y: shared - c_i => lambda y: {added}"
    mean = f"c_i - shared + (anchor - y) / (K * params.eta_l) => (anchor - y) / (K * params.eta_l) - ({added})"
    renewed = f"{words}; c_i is renewed by the mean of the gradients at the local models"
    return (words, "x", edit(local)), (renewed, "x", edit(local, mean))


#: Known mistakes of implementations.
SLIPS: Table = (
    (f"{IN_PLACE}; y_i - x is then 0", "x", _in_place),
    *edits("""
c_i: c_i is renewed by option II, the average of the local gradients, where option I is asked for
    params.option == "I" => False
c_i: c_i is renewed by option I, the gradient at the server's model, where option II is asked for
    params.option == "I" => True
c_i: the control variates are never updated: this is FedAvg from the second round on
    change.sum(axis=-2) / problem.n => 0 * change.sum(axis=-2)
    c_i + change => c_i + 0 * change
x: the changes of the models are averaged over all clients instead of the participants
    mean_over(draw.clients, params.tau, y - anchor) => mean_over(draw.clients, problem.n, y - anchor)
c: the server's control variate is averaged over the participants instead of all clients
    change.sum(axis=-2) / problem.n => change.sum(axis=-2) / params.tau
c: the server's control variate adds the sum of the changes instead of their average
    change.sum(axis=-2) / problem.n => change.sum(axis=-2)
c: the server's control variate is never updated
    change.sum(axis=-2) / problem.n => 0 * change.sum(axis=-2)
c: the server's control variate is the average of the clients' before this round (a stale average)
    c + change.sum(axis=-2) => c_i.sum(axis=-2)
c: the whole control variates are sent where their changes are meant
    c + change.sum => c + np.where(draw.clients[..., None], c_i + change, 0 * change).sum
"""),
    *_corrected(
        "the sign of the control variates is swapped: the local steps add c_i - c instead of c - c_i", "c_i - shared"
    ),
    *_corrected("the sign of the client's own control variate is wrong: the local steps add c_i + c", "c_i + shared"),
    *_corrected("the sign of the server's control variate is wrong: the local steps add -c_i - c", "-c_i - shared"),
    *_corrected("the clients' own control variates are left out of the local steps", "shared + 0 * y"),
    *_corrected("the server's control variate is left out of the local steps", "0 * y - c_i"),
    *_corrected("control variates are left out of the local steps: this is FedAvg", "0 * y"),
    # Also where option I is asked for.
    *edits(
        """
c_i: the control variate is updated with the wrong learning rate: the server's, or both, instead of eta_l
    (K * params.eta_l) => (K * params.eta_l * params.eta_g)
c_i: the control variate is updated with the wrong learning rate: eta_g instead of eta_l
    (K * params.eta_l) => (K * params.eta_g)
c_i: the control variate is updated without dividing by the learning rate
    (K * params.eta_l) => K
c_i: the control variate is updated without dividing by the number of local steps K
    (K * params.eta_l) => params.eta_l
c_i: the control variate is updated with the wrong number of local steps: K + 1 instead of K
    (K * params.eta_l) => ((K + 1) * params.eta_l)
c_i: the control variate is updated with the wrong number of local steps: K - 1 instead of K
    (K * params.eta_l) => (np.maximum(K - 1, 1) * params.eta_l)
c_i: the control variate is updated with the wrong number of local steps: one instead of K
    (K * params.eta_l) => params.eta_l
c_i: the control variate is updated with the most local steps that a client may take instead of the client's own
    (K * params.eta_l) => (fedavg.local_steps(params) * params.eta_l)
c_i: the control variate is updated with the mean number of local steps instead of the client's own
    (K * params.eta_l) => (np.mean(K) * params.eta_l)
c_i: the control variate is updated with the participants' mean number of local steps instead of the client's own
    (K * params.eta_l) => (mean_over(draw.clients, params.tau, K + 0 * y[..., :1])[..., None, :] * params.eta_l)
c_i: the server's control variate is not subtracted when a client renews its own
    renewed = c_i - shared + => renewed = c_i +
""",
        'params.option == "I" => False',
    ),
    (
        "clients correct by the server's average c of the round before the last (a stale c)",
        "x",
        {"State": _Late, "init": _late_init, "step": _late_step},
    ),
)
