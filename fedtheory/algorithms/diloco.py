"""DiLoCo: workers take many steps of AdamW, the server one Nesterov step along their average change
(Douillard et al. 2023, Algorithm 1).

Worker i goes from x to y_i by K steps of AdamW, whose moments and number of steps it keeps from round to round:
y <- (1 - eta_l decay) y; m_i <- beta_1 m_i + (1 - beta_1) grad f_i; v_i <- beta_2 v_i + (1 - beta_2) (grad f_i)^2;
y <- y - eta_l M_i/(sqrt(V_i) + eps) with M_i = m_i/(1 - beta_1^s), V_i = v_i/(1 - beta_2^s) in the s-th step of all.
Outside, Delta = (1/n) sum (x - y_i); b <- momentum b + Delta; x <- x - eta (Delta + momentum b).
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, Example, Given, NamedTuple, Problem, everywhere, method, zeros
from fedtheory.algorithms.slips import Table, edits

#: Rounds after which powers of beta_1 and beta_2 are 0.
_LATE = 1e6


class Params(NamedTuple):
    """``epochs``: K, local steps a round; ``eta_l``, ``beta_1``, ``beta_2``, ``eps``, ``decay``: AdamW's stepsize, what
    is kept of its moments, what is added to the root, and the weight decay; ``eta``, ``momentum``: the server's;
    ``adam``: False for plain local gradient steps y <- (1 - eta_l decay) y - eta_l grad f_i(y)."""

    epochs: int
    eta_l: float
    eta: float
    momentum: float
    beta_1: float = 0.9
    beta_2: float = 0.95
    eps: float = 1e-8
    decay: float = 0.0
    adam: bool = True


class State(NamedTuple):
    """``x``, ``b`` ``(..., d)``: the server's model and momentum; ``m``, ``v`` ``(..., n, d)``: the workers' moments;
    ``t (...)``: rounds so far."""

    x: Array
    b: Array
    m: Array
    v: Array
    t: Array


def init(
    problem: Problem, params: Params, x: Array | None = None, b: Array | None = None, m: Array | None = None
) -> State:
    """Zeros unless given."""
    nothing = zeros(problem.n, problem.d)
    x, b = (zeros(problem.d) if value is None else value for value in (x, b))
    return State(x, b, nothing if m is None else m, nothing, zeros())


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of DiLoCo."""
    y, m, v = local_models(problem, params, state)
    change = state.x - y.sum(axis=-2) / problem.n
    b = params.momentum * state.b + change
    return State(state.x - params.eta * (change + params.momentum * b), b, m, v, state.t + 1)


def local_models(
    problem: Problem, params: Params, state: State, decay: str = "before", start: Array | None = None
) -> tuple[Array, Array, Array]:
    """The workers' models and moments after the local steps of a round, each ``(..., n, d)``.

    ``decay``: the weights decay "before" or "after" a step, or as a part of the "gradient", as in Adam without the W;
    ``start``: where the workers begin, x unless given.
    """
    y, m, v = everywhere(problem, state.x) if start is None else start, state.m, state.v
    kept = 1 - params.eta_l * params.decay
    for k in range(params.epochs):
        slope = problem.f.gradient(y) + (params.decay * y if decay == "gradient" else 0)
        y = kept * y if decay == "before" else y
        if not params.adam:
            y = y - params.eta_l * slope
            continue
        s = state.t[..., None, None] * params.epochs + k + 1
        m = params.beta_1 * m + (1 - params.beta_1) * slope
        v = params.beta_2 * v + (1 - params.beta_2) * slope**2
        root = np.sqrt(v / (1 - params.beta_2**s)) + params.eps
        y = y - params.eta_l * m / (1 - params.beta_1**s) / root
        y = kept * y if decay == "after" else y
    return y, m, v


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum, which the method generally leaves; it is fixed if workers share a minimiser and nothing decays."""
    return init(problem, params, problem.x_star)


algorithm = method("diloco", step, Params, State, init, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - eta (Delta + momentum b), Delta = (1/n) sum (x - y_i), b the new one, y_i after K steps of AdamW",
    "b": "b <- momentum b + Delta",
    "m": "m_i <- beta_1 m_i + (1 - beta_1) grad f_i(y_i) in each of K local steps, kept from round to round",
    "v": "v_i <- beta_2 v_i + (1 - beta_2) grad f_i(y_i)^2 in each of K local steps, kept from round to round",
    "t": "t <- t + 1",
}


def _example(given: Given) -> Params:
    inner = {"beta_1": 0.8, "beta_2": 0.9, "eps": 0.1, "decay": 0.3, "adam": "plain local steps" not in given.features}
    return Params(max(given.epochs, 2), 0.1 / float(given.problem.L), 0.7, 0.8, **inner)  # type: ignore[arg-type]


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _together(problem: Problem, state: State) -> State:
    m, v = (part.sum(axis=-2, keepdims=True) / problem.n + 0 * part for part in (state.m, state.v))
    return state._replace(m=m, v=v)


class _Apart(NamedTuple):
    x: Array
    b: Array
    m: Array
    v: Array
    t: Array
    y: Array


def _apart_init(problem: Problem, params: Params, **start: Array | None) -> _Apart:
    state = init(problem, params, **start)
    return _Apart(*state, everywhere(problem, state.x) + zeros(problem.n, problem.d))


def _apart_step(problem: Problem, params: Params, state: _Apart, draw: Draw) -> _Apart:
    """DiLoCo whose workers go on from their own models."""
    before = State(*state[:-1])
    y, m, v = local_models(problem, params, before, start=state.y)
    change = state.x - y.sum(axis=-2) / problem.n
    b = params.momentum * state.b + change
    return _Apart(state.x - params.eta * (change + params.momentum * b), b, m, v, state.t + 1, y)


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
x: the momentum is a heavy ball's instead of Nesterov's: the server moves along b
    (change + params.momentum * b) => b
x: the server has no momentum
    (change + params.momentum * b) => change
x: the models are averaged: there is no step of the server's
    params.eta * (change + params.momentum * b) => change
x: the sign of the average change is wrong: the server moves away from the workers' models
    state.x - params.eta => state.x + params.eta
x: the server's momentum is not multiplied where it is added
    change + params.momentum * b) => change + b)
b: the average change is multiplied by 1 - momentum in b
    state.b + change => state.b + (1 - params.momentum) * change
b: b is forgotten after each round (an optimiser made anew)
    params.momentum * state.b => 0 * state.b
b: the changes are summed instead of averaged
    change = state.x - y.sum(axis=-2) / problem.n => change = problem.n * state.x - y.sum(axis=-2)
m: the workers' AdamW is made anew in each round: moments and number of steps begin with 0
    params, state) => params, state._replace(m=0 * state.m, v=0 * state.v, t=0 * state.t))
x: the workers' number of steps begins with 0 in each round, but not their moments
    params, state) => params, state._replace(t=0 * state.t))
m: the workers' moments are averaged between rounds
    params, state) => params, _together(problem, state))
m: the weight decay is a part of the gradient, as in Adam without the W
    params, state) => params, state, "gradient")
x: there is no weight decay
    params, state) => params._replace(decay=0.0), state)
x: AdamW's bias is not corrected
    params, state) => params, state._replace(t=_LATE + 0 * state.t))
x: the weights decay after AdamW's step instead of before it
    params, state) => params, state, "after")
b: the change is that of one worker
    y.sum(axis=-2) / problem.n => y[..., 0, :]
"""),
    (
        "the workers go on from their own models instead of the server's",
        "b",
        {"State": _Apart, "init": _apart_init, "step": _apart_step},
    ),
    *edits("""
x: the local steps are plain gradient steps
    params, state) => params._replace(adam=False), state)
"""),
)
