"""The primal method: local losses perturbed by learnt vectors, minimised (Federated Optimization, Algorithm 5).

It is scheme (9) with a_k = grad F_k(w) - (eta grad F_k(w) + g_k), for the F_k of eq. (12), whose mean is f.
"""

from __future__ import annotations

from typing import Any

from fedtheory.algorithms.dane import perturbed_minimisers
from fedtheory.algorithms.dialect import Array, Draw, Example, Given, NamedTuple, Scalar, method, zeros
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``sigma``: in [1, K]; eta = K / sigma and mu = lambda (eta - 1) follow."""

    sigma: Scalar


class State(NamedTuple):
    """``w (..., d)``: the server's model; ``g (..., K, d)``: the learnt vectors, of sum 0."""

    w: Array
    g: Array


def eta(problem: LinearProblem, params: Params) -> Scalar:
    """K / sigma; raises ``ValueError`` unless sigma > 0 and the F_k are those of eq. (12)."""
    f = problem.f
    if f.share != "equal" and (f.sizes != f.sizes[0]).any():
        raise ValueError("Appendix A takes the F_k of eq. (12): share must be 'equal' where the n_k differ")
    if not params.sigma > 0:
        raise ValueError(f"sigma must be positive, got {params.sigma}")
    return f.n / params.sigma


def init(problem: LinearProblem, params: Params, alpha: Array | None = None) -> State:
    """From dual variables ``alpha (..., n)``, 0 unless given: w^0 = X alpha / (lambda n), g_k^0 of line 5."""
    f = problem.f
    alpha = zeros(f.examples) if alpha is None else alpha
    w = f.primal(alpha)
    images = f.per_client(alpha[..., None] * f.dense().X, -2) * f.n / f.examples
    return State(w, eta(problem, params) * (images - f.lam * w[..., None, :]))


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step of the primal method."""
    f, ratio = problem.f, eta(problem, params)
    local = f.gradient(state.w[..., None, :])
    a = local - (ratio * local + state.g)
    models = perturbed_minimisers(problem, state.w, a, f.lam * (ratio - 1))
    w = models.sum(axis=-2) / f.n
    return State(w, state.g + f.lam * ratio * (models - w[..., None, :]))


def fixed_point(problem: LinearProblem, params: Params) -> State:
    """At the optimum g_k = -eta grad F_k(w*)."""
    w = problem.x_star
    return State(w, -eta(problem, params) * problem.f.gradient(w[..., None, :]))


def invariant(problem: LinearProblem, params: Params, state: State) -> Array:
    """Lemma 4: sum_k g_k, ``(..., d)``."""
    return state.g.sum(axis=-2)


algorithm = method("perturbed-primal", step, Params, State, init, fixed_point=fixed_point, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- (1/K) sum_k w_k, w_k = argmin F_k(v) - <a_k, v> + (mu/2)|v - w|^2",
    "g": "g_k <- g_k + lambda eta (w_k - w+)",
}


def _example(given: Given) -> Any:
    equal = (given.problem.f.sizes == given.problem.f.sizes[0]).all()
    return Params(0.75 * given.problem.n) if equal else None


#: A small problem's parameters.
EXAMPLE = Example("rows", _example)
