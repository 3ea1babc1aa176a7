"""DANE: perturbed local losses minimised and averaged (Shamir et al. 2014; Federated Optimization, Algorithm 2)."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Point, Scalar, method
from fedtheory.algorithms.examples import Example, StepFunction, Table
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``mu``: local regulariser; ``eta``: weight of the full gradient. The defaults are the paper's."""

    mu: Scalar = 0
    eta: Scalar = 1


class State(NamedTuple):
    """``w (..., d)``: the server's model."""

    w: Point


def perturbed_minimisers(problem: LinearProblem, w: Array, a: Array, mu: Scalar) -> Array:
    """argmin_v F_k(v) - a_k'v + (mu/2) |v - w|^2, scheme (9): ``w (..., d)``, ``a (..., K, d) -> (..., K, d)``."""
    return problem.f.resolvent(mu, a + mu * w[..., None, :])


def perturbation(problem: LinearProblem, params: Params, w: Array) -> Array:
    """a_k = grad F_k(w) - eta grad f(w), ``(..., K, d)``."""
    f = problem.f
    return f.gradient(w[..., None, :]) - params.eta * f.full_gradient(w)[..., None, :]


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """The plain average of line 5, for all n_k: the paper prints 1/K also where f weighs the F_k by n_k / n."""
    a = perturbation(problem, params, state.w)
    return State(perturbed_minimisers(problem, state.w, a, params.mu).sum(axis=-2) / problem.n)


algorithm = method("dane", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- (1/K) sum_k argmin F_k(v) - <grad F_k(w) - eta grad f(w), v> + (mu/2)|v - w|^2",
}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params(0.5, 0.75))


def _with(sign: int = 1, own: int = 1, weighted: bool = False) -> StepFunction:
    """DANE with a_k = sign (own grad F_k(w) - eta grad f(w)), or the average weighted by n_k/n."""

    def step(problem: LinearProblem, params: Params, state: State, draw: object) -> State:
        f, w = problem.f, state.w
        a = sign * (own * f.gradient(w[..., None, :]) - params.eta * f.full_gradient(w)[..., None, :])
        models = perturbed_minimisers(problem, w, a, params.mu)
        p = f.shares if weighted else np.full(f.n, 1 / f.n)
        return State((p[:, None] * models).sum(axis=-2))

    return step


#: What implementations are known to do instead.
SLIPS: Table = (
    ("the sign of the perturbation a_k is swapped", "w", _with(sign=-1)),
    ("the perturbation lacks the client's own gradient", "w", _with(own=0)),
    ("there is no perturbation: the clients minimise their own losses", "w", _with(sign=0)),
    ("clients are weighted by n_k/n instead of 1/K", "w", _with(weighted=True)),
)
