"""DANE: perturbed local losses minimised and averaged (Shamir et al. 2014; Federated Optimization, Algorithm 2)."""

from __future__ import annotations

from fedtheory.algorithms.dialect import Array, Draw, Example, NamedTuple, Point, Scalar, edits, method
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
LINES = {"w": "w <- (1/K) sum_k argmin F_k(v) - <grad F_k(w) - eta grad f(w), v> + (mu/2)|v - w|^2"}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params(0.5, 0.75))

#: Known mistakes of implementations.
SLIPS = edits("""
w: the sign of the perturbation a_k is swapped
    a = perturbation => a = -perturbation
w: the perturbation lacks the client's own gradient
    return f.gradient => return 0 * f.gradient
w: there is no perturbation: the clients minimise their own losses
    a = perturbation => a = 0 * perturbation
w: clients are weighted by n_k/n instead of 1/K
    return State(perturbed_minimisers => return State((problem.f.shares[:, None] * perturbed_minimisers
    params.mu).sum(axis=-2) / problem.n => params.mu)).sum(axis=-2)
""")
