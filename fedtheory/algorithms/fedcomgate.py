"""FedCOMGATE: local steps with gradient tracking and compression (Haddadpour et al. 2021, full gradients).

Minimises (1/n) sum_j f_j. One step is a round: K local steps at each client, one compressed message, one update of the
gradient corrections delta_j, which learn grad f_j(w*).
"""

from __future__ import annotations

from fedtheory.algorithms.dialect import Array, Draw, Gradients, NamedTuple, Point, Problem, Scalar, method
from fedtheory.compressors import Family


class Params(NamedTuple):
    """``eta``, ``gamma``: local and global stepsizes; ``K``: local steps a round; ``compressors``: Q_1, ..., Q_n."""

    eta: Scalar
    gamma: Scalar
    K: int
    compressors: Family


class State(NamedTuple):
    """``w (..., d)``: model; ``delta (..., n, d)``: gradient corrections, which should sum to zero."""

    w: Point
    delta: Gradients


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of FedCOMGATE."""
    eta, gamma, K, compressors = params
    start = state.w[..., None, :] + 0 * state.delta
    w = start
    for _ in range(K):
        w = w - eta * (problem.f.gradient(w) - state.delta)
    Delta = compressors.apply(draw, (start - w) / eta)
    mean = Delta.sum(axis=-2) / problem.n
    return State(state.w - eta * gamma * mean, state.delta + (Delta - mean[..., None, :]) / K)


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """sum_j delta_j, ``(..., d)``."""
    return state.delta.sum(axis=-2)


def theory(problem: Problem, compressors: Family, K: int) -> Params:
    """gamma = 1 and eta K = 1/(2 L (1 + omega)), the effective stepsize behind the complexity (1 + omega) kappa.

    The theorem's own constants are not used: with omega (n-1)/n > 1 no stepsize makes the corrections stable.
    """
    omega = float(compressors.omega)
    return Params(1 / (2 * problem.L * (1 + omega) * K), 1.0, K, compressors)


algorithm = method("fedcomgate", step, Params, State, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- w - eta gamma (mean of Delta_j), Delta_j = Q_j((w - w_j)/eta), w_j after K steps "
    "v <- v - eta (grad f_j(v) - delta_j) from w",
    "delta": "delta_j <- delta_j + (Delta_j - mean of Delta)/K",
}
