"""Functions of the state of Algorithm 1, ``at``, before an iteration or after it: of these statements are composed.

``params`` are those of Algorithm 1, or any that have its ``alpha``, ``sigma`` and ``nu (m,)``.
"""

from __future__ import annotations

from typing import Any

from fedtheory.algorithms.fedadmm import State
from fedtheory.numbers.rational import Array, square
from fedtheory.problems.base import Problem, weighted_value
from fedtheory.settings.quantities import Difference, Image, Shared, Square, Total


def steepest(problem: Problem, params: Any, W: Array) -> Array:
    """-alpha_i grad f_i(w_i), ``(..., m, d) -> (..., m, d)``."""
    return -(params.alpha[:, None] * problem.f.gradient(W))


def lagrangian(problem: Problem, params: Any, at: Any) -> Array:
    """The augmented Lagrangian, eq. (12): sum_i (alpha_i f_i(w_i) + <pi_i, w_i - w> + (sigma_i/2) |w_i - w|^2)."""
    gap = at.W - at.w[..., None, :]
    terms = params.alpha * problem.f.value(at.W) + (gap * at.Pi).sum(axis=-1)
    return (terms + params.sigma * square(gap) / 2).sum(axis=-1)


def tolerance(problem: Problem, params: Any, at: Any) -> Array:
    """The weighted tolerances of the clients, ``(..., m)``."""
    return at.eps / ((1 - params.nu) * params.sigma)


#: The weighted sum of all tolerances.
tolerances = Total(tolerance)


def objective(problem: Problem, params: Any, at: Any) -> Array:
    """The objective at the model of the server, sum_i alpha_i f_i(w)."""
    return weighted_value(problem, params.alpha, at.w)


def accuracy(problem: Problem, params: object, at: State) -> Array:
    """The tolerances of the clients, ``(..., m)``."""
    return at.eps


def server_model(problem: Problem, params: object, at: State) -> Array:
    """The server's model."""
    return at.w


def models(problem: Problem, params: object, at: State) -> Array:
    """The models of the clients."""
    return at.W


def multipliers(problem: Problem, params: object, at: State) -> Array:
    """The multipliers of the clients."""
    return at.Pi


#: Each client's distance of its model to that of the server, as a vector and squared.
gaps = Difference(models, Shared(server_model))
disagreement = Square(gaps)
#: Each client's -g_i, and phi_i = pi_i + g_i of eq. (37).
downhill = Image(steepest, models)
residual = Difference(multipliers, downhill)
