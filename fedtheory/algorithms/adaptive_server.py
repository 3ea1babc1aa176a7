"""The common part of FedAdam, FedYogi and FedAdagrad (Reddi et al. 2021, Algorithm 2).

Delta = (1/|S|) sum over the participants S of (y_i - x), y_i after K local steps that start from x;
m <- beta_1 m + (1 - beta_1) Delta; v <- an update of v by Delta^2, by which the methods differ;
x <- x + eta m / (sqrt(v) + adaptivity), all of it entry by entry.

The paper corrects no bias and begins with v >= adaptivity^2. Frameworks that hand Delta to an optimiser of their own
begin with v = 0 and correct it: ``correction`` has both ways in which they do.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.dialect import Array, Given, NamedTuple, Problem, zeros
from fedtheory.algorithms.minibatch_sgd import Round
from fedtheory.algorithms.slips import StepFunction, Table, edit, edits
from fedtheory.learning.batches import AllRows, Minibatches

#: How the bias of m and v is corrected at the t-th step of the server, t = 1, 2, ...: not at all; m/(1 - beta_1^t) and
#: v/(1 - beta_2^t), as Adam (Kingma and Ba 2015, Algorithm 1) has it; or eta sqrt(1 - beta_2^t)/(1 - beta_1^t), as they
#: write it in Section 2.
CORRECTIONS = ("none", "moments", "stepsize")


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``batches``, ``counts`` as in FedAvg; ``eta``: the server's stepsize;
    ``beta_1``, ``beta_2``: the weights of the previous m and v (FedAdagrad keeps all of v); ``adaptivity``: tau in the
    paper; ``v_0``: v at the beginning, adaptivity^2 if it is None; ``correction``: of ``CORRECTIONS``."""

    tau: int
    epochs: int
    eta_l: float
    eta: float
    beta_1: float
    beta_2: float
    adaptivity: float
    v_0: float | None = None
    correction: str = "none"
    batches: AllRows | Minibatches = AllRows()
    counts: Array | None = None


class State(NamedTuple):
    """``x``, ``m``, ``v`` ``(..., d)``: the server's model and its two moments; ``t (...)``: its steps so far."""

    x: Array
    m: Array
    v: Array
    t: Array


def init(problem: Problem, params: Params, x: Array | None = None, m: Array | None = None) -> State:
    """x^0 = m^0 = 0 unless given, v^0 = v_0; ``ValueError`` for an unknown correction."""
    if params.correction not in CORRECTIONS:
        raise ValueError(f"the correction is one of {', '.join(CORRECTIONS)}, got {params.correction!r}")
    nothing = zeros(problem.d)
    return State(nothing if x is None else x, nothing if m is None else m, nothing + _first(params), zeros())


def _first(params: Params) -> float:
    return params.adaptivity**2 if params.v_0 is None else params.v_0


def moved(params: Params, state: State, m: Array, v: Array) -> Array:
    """x + eta m / (sqrt(v) + adaptivity), ``(..., d)``, with the bias corrected as ``params.correction`` says."""
    t, factor = state.t[..., None] + 1, np.ones(1)
    if params.correction == "moments":
        m, v = m / (1 - params.beta_1**t), v / (1 - params.beta_2**t)
    if params.correction == "stepsize":
        factor = np.sqrt(1 - params.beta_2**t) / (1 - params.beta_1**t)
    return state.x + params.eta * factor * m / (np.sqrt(v) + params.adaptivity)


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum, which the method generally leaves, as FedAvg does."""
    return init(problem, params, problem.x_star)


def lines(second: str) -> Mapping[str, str]:
    """The line that renews each letter, in words; ``second``: that of v."""
    return {
        "x": "x <- x + eta m/(sqrt(v) + adaptivity), m and v the new ones",
        "m": "m <- beta_1 m + (1 - beta_1) Delta, Delta = mean over participants of (y_i - x)",
        "v": second,
        "t": "t <- t + 1",
    }


def example(given: Given) -> Params:
    """A small problem's parameters."""
    corrected = {"bias correction": "moments", "bias-corrected stepsize": "stepsize"}
    correction = next((kind for feature, kind in corrected.items() if feature in given.features), "none")
    v_0 = 0.0 if correction != "none" or "v from zero" in given.features else None
    return Params(
        tau=given.tau,
        epochs=max(given.epochs, 2),
        eta_l=0.2 / given.problem.L,
        eta=0.3,
        beta_1=0.9,
        beta_2=0.8,
        adaptivity=0.2,
        v_0=v_0,
        correction=correction,
        batches=given.batches,
        counts=fedavg.counts_of(given),
    )


def slips(step: StepFunction) -> Table:
    """Return the known mistakes in implementations of a method with this ``step``, all of which are written alike."""
    return (
        *edits("""
x: m and v are empty again in each round (an optimiser made anew): nothing is kept of the rounds before
    state.m => 0.0 * state.m
    second(params, state.v, => second(params, adaptive_server.init(problem, params).v + 0.0 * state.v,
    moved(params, state, => moved(params, state._replace(t=0 * state.t),
x: the bias is not corrected
    moved(params, => moved(params._replace(correction="none"),
"""),
        (
            "v begins with 0, and the bias of m and v is corrected: the Adam of frameworks, which the feature "
            '"bias correction" is for',
            "x",
            {"init": _from_zero, "step": edit('moved(params, => moved(params._replace(correction="moments"),')},
        ),
        (
            "v begins with 0, and the bias is corrected in the stepsize: the Adam of frameworks, which the feature "
            '"bias-corrected stepsize" is for',
            "x",
            {"init": _from_zero, "step": edit('moved(params, => moved(params._replace(correction="stepsize"),')},
        ),
        *edits("""
m: beta_1 and beta_2 are swapped
    change = fedavg => params = params._replace(beta_1=params.beta_2, beta_2=params.beta_1); change = fedavg
x: the bias of m and v is corrected, as Adam does and this method does not
    moved(params, => moved(params._replace(correction="moments"),
x: the bias is corrected in the stepsize alone, so that adaptivity counts for something else
    moved(params, => moved(params._replace(correction="stepsize"),
x: the bias is corrected for one step more than were made
    moved(params, state, => moved(params, state._replace(t=state.t + 1),
x: adaptivity is added inside the root
    moved(params, state, m, v) => state.x + params.eta * m / (v + params.adaptivity) ** 0.5
x: the square of adaptivity is added inside the root
    moved(params, state, m, v) => state.x + params.eta * m / (v + params.adaptivity**2) ** 0.5
x: v is not under a root
    moved(params, state, m, v) => state.x + params.eta * m / (v + params.adaptivity)
x: the sign of the average change is wrong: the server moves away from the clients' models
    moved(params, state, m, v) => 2 * state.x - moved(params, state, m, v)
x: x is renewed by the old m
    moved(params, state, m, v) => moved(params, state, state.m, v)
x: x is renewed by the old v
    moved(params, state, m, v) => moved(params, state, m, state.v)
x: x is renewed along the average change, without m
    moved(params, state, m, v) => moved(params, state, change, v)
m: m lacks its factor 1 - beta_1
    (1 - params.beta_1) * change => change
v: v is that of the momentum m instead of the average change
    state.v, change) => state.v, m)
v: v is that of the clients' own changes: the mean of squares instead of the square of the mean
    state.v, change) => state.v, adaptive_server.root_of_squares(problem, params, state, draw))
v: v never changes
    second(params, state.v, change) => state.v + 0 * change
v: v is never decayed: it adds up the squares, as FedAdagrad does
    second(params, state.v, change) => state.v + change**2
v: v is FedAdam's
    second(params, state.v, change) => params.beta_2 * state.v + (1 - params.beta_2) * change**2
v: v lacks its factor 1 - beta_2
    second(params, state.v, change) => params.beta_2 * state.v + change**2
v: the sign of v's change is wrong
    second(params, state.v, change) => 2 * state.v - second(params, state.v, change)
"""),
        ("v begins with 0 instead of adaptivity^2", "v", {"init": _from_zero}),
        (
            "v begins with adaptivity instead of adaptivity^2",
            "v",
            {"init": lambda problem, params, **given: init(problem, params._replace(v_0=params.adaptivity), **given)},
        ),
        *edits("""
m: the changes are averaged over all clients instead of the participants
    change = fedavg => change = params.tau / problem.n * fedavg
m: the changes are summed instead of averaged
    change = fedavg => change = params.tau * fedavg
m: the changes are divided by the local stepsize
    change = fedavg => change = 1 / params.eta_l * fedavg
m: the participants are averaged with equal weights, without the counts
    mean_change(problem, params, => mean_change(problem, params._replace(counts=None),
"""),
        (fedavg.REPLACED, "m", fedavg.with_replacement(step)),
    )


def _from_zero(problem: Problem, params: Params, **given: Array | None) -> State:
    return init(problem, params._replace(v_0=0.0), **given)


def root_of_squares(problem: Problem, params: Params, state: State, draw: Round) -> Array:
    """The root of the mean square of the clients' changes, ``(..., d)``."""
    own = fedavg.local_descent(problem, params, state.x, draw) - state.x[..., None, :]
    return np.sqrt(fedavg.averaged(params, draw.clients, own**2))
