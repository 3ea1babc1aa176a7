"""FedAdam, FedYogi and FedAdagrad: what they have in common (Reddi et al. 2021, Algorithm 2).

Delta = (1/|S|) sum over the participants S of (y_i - x), y_i after K local steps that start from x;
m <- beta_1 m + (1 - beta_1) Delta; v <- what each method makes of v and Delta^2;
x <- x + eta m / (sqrt(v) + adaptivity), all of it entry by entry.

The paper corrects no bias and begins with v >= adaptivity^2. Frameworks that hand Delta to an optimiser of their own
begin with v = 0 and correct it: ``correction`` has both ways in which they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.base import zeros
from fedtheory.algorithms.examples import Given, StepFunction, Table
from fedtheory.algorithms.minibatch_sgd import Round
from fedtheory.learning.batches import AllRows, Minibatches
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem

#: How the bias of m and v is corrected at the t-th step of the server, t = 1, 2, ...: not at all; m/(1 - beta_1^t) and
#: v/(1 - beta_2^t), as Adam (Kingma and Ba 2015, Algorithm 1) has it; or eta sqrt(1 - beta_2^t)/(1 - beta_1^t), as they
#: write it in Section 2.
CORRECTIONS = ("none", "moments", "stepsize")


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``batches``, ``counts`` as in FedAvg; ``eta``: the server's stepsize; ``beta_1``,
    ``beta_2``: what is kept of m and of v (FedAdagrad keeps all of v); ``adaptivity``: tau in the paper; ``v_0``: v at
    the beginning, adaptivity^2 if it is None; ``correction``: of ``CORRECTIONS``."""

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
    """The optimum, which the method in general leaves, as FedAvg does."""
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


#: What v becomes of params, v and the average change, or of what stands in its place.
Second = Callable[[Params, Array, Array], Array]


def slips(step: StepFunction, second: Second) -> Table:
    """Return the known mistakes in implementations of a method with this ``step``; ``second``: the update of v."""

    def without_root(params: Params, state: State, m: Array, v: Array, change: Array) -> Array:
        return state.x + params.eta * m / (v + params.adaptivity)

    def inside(power: int) -> Callable[..., Array]:
        return lambda p, state, m, v, change: state.x + p.eta * m / np.sqrt(v + p.adaptivity**power)

    def later(params: Params, state: State, m: Array, v: Array, change: Array) -> Array:
        return moved(params, state._replace(t=state.t + 1), m, v)

    def anew(problem: Problem, params: Params, state: State, draw: Round) -> State:
        first = init(problem, params)
        empty = state._replace(m=first.m + 0.0 * state.m, v=first.v + 0.0 * state.v, t=0 * state.t)
        return step(problem, params, empty, draw)._replace(t=state.t + 1)

    return (
        (
            "m and v are empty again in each round (an optimiser made anew): nothing is kept of the rounds before",
            "x",
            anew,
        ),
        ("the bias is not corrected", "x", _corrected(step, "none")),
        (
            "v begins with 0, and the bias of m and v is corrected: the Adam of frameworks, which the feature "
            '"bias correction" is for',
            "x",
            {"init": _from_zero, "step": _corrected(step, "moments")},
        ),
        (
            "v begins with 0, and the bias is corrected in the stepsize: the Adam of frameworks, which the feature "
            '"bias-corrected stepsize" is for',
            "x",
            {"init": _from_zero, "step": _corrected(step, "stepsize")},
        ),
        (
            "beta_1 and beta_2 are swapped",
            "m",
            lambda problem, params, state, draw: step(
                problem, params._replace(beta_1=params.beta_2, beta_2=params.beta_1), state, draw
            ),
        ),
        ("the bias of m and v is corrected, as Adam does and this method does not", "x", _corrected(step, "moments")),
        (
            "the bias is corrected in the stepsize alone, so that adaptivity counts for something else",
            "x",
            _corrected(step, "stepsize"),
        ),
        ("the bias is corrected for one step more than were made", "x", _variant(second, model=later)),
        ("adaptivity is added inside the root", "x", _variant(second, model=inside(1))),
        ("the square of adaptivity is added inside the root", "x", _variant(second, model=inside(2))),
        ("v is not under a root", "x", _variant(second, model=without_root)),
        (
            "the sign of the average change is wrong: the server moves away from the clients' models",
            "x",
            _variant(second, model=lambda p, state, m, v, change: 2 * state.x - moved(p, state, m, v)),
        ),
        (
            "x is renewed by the old m",
            "x",
            _variant(second, model=lambda p, state, m, v, change: moved(p, state, state.m, v)),
        ),
        (
            "x is renewed by the old v",
            "x",
            _variant(second, model=lambda p, state, m, v, change: moved(p, state, m, state.v)),
        ),
        (
            "x is renewed along the average change, without m",
            "x",
            _variant(second, model=lambda p, s, m, v, change: moved(p, s, change, v)),
        ),
        ("m lacks its factor 1 - beta_1", "m", _variant(second, first=lambda p, m, change: p.beta_1 * m + change)),
        (
            "v is that of the momentum m instead of the average change",
            "v",
            _variant(second, of=lambda params, state, m, change: m),
        ),
        (
            "v is that of the clients' own changes: the mean of squares instead of the square of the mean",
            "v",
            _of_squares(second),
        ),
        ("v never changes", "v", _variant(lambda p, v, change: v + 0 * change)),
        (
            "v is never decayed: it adds up the squares, as FedAdagrad does",
            "v",
            _variant(lambda p, v, change: v + change**2),
        ),
        (
            "v is FedAdam's",
            "v",
            _variant(lambda p, v, change: p.beta_2 * v + (1 - p.beta_2) * change**2),
        ),
        ("v lacks its factor 1 - beta_2", "v", _variant(lambda p, v, change: p.beta_2 * v + change**2)),
        ("the sign of v's change is wrong", "v", _variant(lambda p, v, change: 2 * v - second(p, v, change))),
        (
            "v begins with 0 instead of adaptivity^2",
            "v",
            {"init": _from_zero},
        ),
        (
            "v begins with adaptivity instead of adaptivity^2",
            "v",
            {"init": lambda problem, params, **given: init(problem, params._replace(v_0=params.adaptivity), **given)},
        ),
        (
            "the changes are averaged over all clients instead of the participants",
            "m",
            _variant(second, scale=lambda n, p: p.tau / n),
        ),
        ("the changes are summed instead of averaged", "m", _variant(second, scale=lambda n, p: p.tau)),
        ("the changes are divided by the local stepsize", "m", _variant(second, scale=lambda n, p: 1 / p.eta_l)),
        (
            "the participants are averaged with equal weights, without the counts",
            "m",
            lambda problem, params, state, draw: step(problem, params._replace(counts=None), state, draw),
        ),
        (fedavg.REPLACED, "m", fedavg.with_replacement(step)),
    )


def _from_zero(problem: Problem, params: Params, **given: Array | None) -> State:
    return init(problem, params._replace(v_0=0.0), **given)


def _corrected(step: StepFunction, correction: str) -> StepFunction:
    return lambda problem, params, state, draw: step(problem, params._replace(correction=correction), state, draw)


def _plain_model(params: Params, state: State, m: Array, v: Array, change: Array) -> Array:
    return moved(params, state, m, v)


def _plain_first(params: Params, m: Array, change: Array) -> Array:
    return params.beta_1 * m + (1 - params.beta_1) * change


def _variant(
    second: Second,
    first: Callable[[Params, Array, Array], Array] = _plain_first,
    of: Callable[[Params, State, Array, Array], Array] = lambda params, state, m, change: change,
    model: Callable[[Params, State, Array, Array, Array], Array] = _plain_model,
    scale: Callable[[int, Params], float] = lambda n, params: 1.0,
) -> StepFunction:
    """The method with other parts: m and v, what v is of, x, and a factor of the average change."""

    def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
        change = scale(problem.n, params) * fedavg.mean_change(problem, params, state.x, draw)
        m = first(params, state.m, change)
        v = second(params, state.v, of(params, state, m, change))
        return State(model(params, state, m, v, change), m, v, state.t + 1)

    return step


def _of_squares(second: Second) -> StepFunction:
    """The method whose v is of the root of the mean square of the clients' changes."""

    def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
        own = fedavg.local_descent(problem, params, state.x, draw) - state.x[..., None, :]
        change = fedavg.averaged(params, draw.clients, own)
        m = _plain_first(params, state.m, change)
        v = second(params, state.v, np.sqrt(fedavg.averaged(params, draw.clients, own**2)))
        return State(moved(params, state, m, v), m, v, state.t + 1)

    return step
