"""States at which a comparison is nearly broken, or is, found by trying: where its sides are no forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from verify.search import spectral

#: Steps along gradients, of differences between states this far apart; what is smaller than the last counts as nothing.
ASCENTS, DIFFERENCE, NEGLIGIBLE = 60, 1e-5, 1e-300


def climb(both: Any, dimension: int, rng: np.random.Generator, sweeps: int = 6, size: int = 36) -> tuple[Array, float]:
    """A state that nearly maximises left/right: random starts at several scales, then shrinking perturbations.

    ``both(theta (M, dimension)) -> (left, right)``; all starts are evaluated at once.
    """
    scales = 10.0 ** rng.integers(-1, 3, (size, 1))
    signs = rng.choice([-1.0, 0.0, 1.0], (size // 2, dimension))
    theta = np.concatenate([signs, scales * rng.standard_normal((size, dimension))])
    best, found, largest = theta, -np.inf, 0.0
    for sweep in range(sweeps):
        left, right = both(theta)
        magnitude = abs(left) + abs(right)
        largest = max(largest, float(magnitude.max()))
        # Where both sides nearly vanish their ratio is rounding.
        ratios = np.where(magnitude > 1e-8 * largest, spectral.ratio(left, right), -np.inf)
        order = np.argsort(-spectral.steady(ratios), kind="stable")[:6]
        best, found = theta[order], float(ratios[order[0]])
        step = 0.7 ** (sweep + 1) * abs(best).max(axis=1, keepdims=True, initial=0)
        children = best[:, None, :] + step[:, None, :] * rng.standard_normal((6, size // 6, dimension))
        theta = np.concatenate([best, *children])
    return best[0], found if np.isfinite(found) else 0.0


def ascend(both: Any, theta: Array) -> tuple[Array, float]:
    """A state where the difference of the sides, relative to their sizes, is largest near ``theta``, by L-BFGS.

    As :func:`climb`; a random search in many coordinates gets nowhere. It ends where left > right.
    """
    scale = max(float(abs(theta).max(initial=0.0)), NEGLIGIBLE)
    steps = DIFFERENCE * np.concatenate([np.zeros((1, len(theta))), np.eye(len(theta)), -np.eye(len(theta))])

    def loss(x: Array) -> tuple[float, Array]:
        left, right = both(scale * (x + steps))
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.nan_to_num((right - left) / (abs(left) + abs(right) + NEGLIGIBLE), nan=1.0)
        return float(found[0]), (found[1 : len(x) + 1] - found[len(x) + 1 :]) / (2 * DIFFERENCE)

    def enough(intermediate_result: Any) -> None:
        if intermediate_result.fun < -DIFFERENCE:
            raise StopIteration

    from scipy.optimize import minimize

    found = minimize(loss, theta / scale, jac=True, method="L-BFGS-B", callback=enough, options={"maxiter": ASCENTS})
    here = scale * np.where(np.isfinite(found.x), found.x, 0)
    ratio = float(spectral.ratio(*both(here[None]))[0])
    return here, ratio if np.isfinite(ratio) else 0.0
