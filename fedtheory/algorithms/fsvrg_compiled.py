"""The local epochs of FSVRG on sparse data as one compiled loop, by numba (the extra ``fedtheory[compiled]``).

The same map as the arrays of :mod:`fedtheory.algorithms.fsvrg_sparse`, which are its reference: sums are added up in
another order, so that results agree to rounding. numba is imported here alone, and compiles at the first round.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from fedtheory.learning.local_features import LocalFeatures
from fedtheory.numbers.rational import Array
from fedtheory.problems.linear_models import LinearModels, Snapshot
from fedtheory.problems.losses import LOGISTIC

#: Up to here five terms of the series of log(1 + x) and of exp(x) - 1 are exact to rounding.
_SMALL = 1e-3
#: Parts of the clients, each with sums of its own: results do not depend on how many threads there are.
_PARTS = 16


def passes(
    f: LinearModels, local: LocalFeatures, s: Array, at: Snapshot, h: float, order: Array, apart: Array
) -> Array:
    """sum_k ((n_k / n) (w_k - w) - apart_k grad f(w)) over the clients that hold a feature, ``(d,)``, after one pass of
    each client.

    ``s (M,)``: the s_k^j; ``order (n,)``: a pass over the rows, client by client; ``apart (K,)``. ``ValueError`` for a
    loss that is neither logistic nor squared.
    """
    if f.loss is not LOGISTIC and f.loss.name != "squared":
        raise ValueError(f"compiled FSVRG knows the logistic and the squared loss, not {f.loss.name!r}")
    bend = 0.0 if f.loss is LOGISTIC else 1 / float(f.loss.gamma)
    edges, y = np.append(f.starts, f.examples), np.asarray(f.y, dtype=np.float64)
    parts = np.linspace(0, f.n, _PARTS + 1).astype(np.int64)
    pairs = (local.bounds, local.feature, s, at.gradient)
    rows = (edges, local.Z.indptr, local.Z.indices, local.Z.data, at.predictions, at.slopes, y)
    total = _passes(parts, np.asarray(order), apart, pairs, rows, h, float(f.lam), bend)
    return np.asarray(total.sum(axis=0))


@numba.njit(cache=True)
def _slope(t: float, y: float, bend: float) -> float:
    """phi'(t): of the squared loss bend (t - y), of the logistic one where bend is 0."""
    if bend > 0:
        return bend * (t - y)
    # The exponent is not positive, so that nothing overflows.
    small = math.exp(-abs(t))
    return -y * (small if y * t > 0 else 1.0) / (1.0 + small)


@numba.njit(cache=True)
def _expm1(x: float) -> float:
    if abs(x) > _SMALL:
        return math.expm1(x)
    return x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120)))))


@numba.njit(cache=True)
def _log1p(x: float) -> float:
    if abs(x) > _SMALL:
        return math.log1p(x)
    return x * (1 - x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5)))))


@numba.njit(cache=True, parallel=True)
def _passes(parts: Any, order: Any, apart: Any, pairs: Any, rows: Any, h: float, lam: float, bend: float) -> Any:
    """The sum of each part of the clients, ``(parts, d)``; ``pairs``, ``rows``: as :func:`passes` has them."""
    bounds, feature, s, full = pairs
    edges, indptr, indices, values, predictions, slopes, y = rows
    total = np.zeros((len(parts) - 1, len(full)))
    widest = 0
    for k in range(len(edges) - 1):
        widest = max(widest, bounds[k + 1] - bounds[k])
    for part in numba.prange(len(parts) - 1):
        # For the pairs of one client: w_k - w, h_k s_k^j, log(1 - c_k^j), minus the fixed point, the steps done.
        delta, rate, decay, aim = np.empty(widest), np.empty(widest), np.empty(widest), np.empty(widest)
        seen = np.empty(widest, np.int64)
        for k in range(parts[part], parts[part + 1]):
            first, width, size = bounds[k], bounds[k + 1] - bounds[k], edges[k + 1] - edges[k]
            for j in range(width):
                p = first + j
                delta[j], seen[j] = 0.0, 0
                rate[j], aim[j] = h * s[p] / size, full[feature[p]] / (lam * s[p])
                decay[j] = _log1p(-lam * rate[j])
            for t in range(size):
                row = order[edges[k] + t]
                change = 0.0
                for e in range(indptr[row], indptr[row + 1]):
                    j = indices[e] - first
                    if seen[j] < t:
                        delta[j] += _expm1(decay[j] * (t - seen[j])) * (delta[j] + aim[j])
                    change += values[e] * delta[j]
                bent = _slope(predictions[row] + change, y[row], bend) - slopes[row]
                for e in range(indptr[row], indptr[row + 1]):
                    j = indices[e] - first
                    delta[j] -= rate[j] * (lam * (delta[j] + aim[j]) + values[e] * bent)
                    seen[j] = t + 1
            for j in range(width):
                moved = delta[j] + _expm1(decay[j] * (size - seen[j])) * (delta[j] + aim[j])
                p = first + j
                total[part, feature[p]] += size / len(order) * moved - apart[k] * full[feature[p]]
    return total
