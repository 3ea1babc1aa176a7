r"""The local epochs of FSVRG on sparse data, for many clients and features at once.

With $\delta = w_k - w^t$, a step of client k on example i changes coordinate j by

$\delta_j \leftarrow (1 - c_k^j) \delta_j - h_k \nabla_j f(w^t)
- h_k s_k^j x_{ij} (\phi_i'(x_i^\top w_k) - \phi_i'(x_i^\top w^t))$, with $c_k^j = h_k \lambda s_k^j$.

Where $x_{ij} = 0$ this is one affine map, whose powers are known: r steps multiply the distance from its fixed point,
$-\nabla_j f(w^t) / (\lambda s_k^j)$, by $(1 - c_k^j)^r$. So a step touches the features of its example alone, after
they have caught up with the steps in which they were zero, and no coordinate outside a client's support is formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.learning.local_features import LocalFeatures, local_features
from fedtheory.numbers.rational import Array
from fedtheory.problems.linear_models import LinearModels, Snapshot
from fedtheory.problems.step_major import Block, blocks, entries


@dataclass(frozen=True)
class SparseScaling:
    """S_k on the supports of the clients: ``s (M,)`` for the pairs of ``local``, ``absent`` everywhere else.

    ``sizes (K,)``: the n_k. ``compiled``: True if passes run as a loop compiled by numba, which is faster.
    """

    local: LocalFeatures
    s: Array
    sizes: Array
    absent: float = 1.0
    compiled: bool = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The clients, in blocks of about the same number of examples."""
        return blocks(self.sizes)

    @cached_property
    def steepest(self) -> float:
        """The largest s_k^j / n_k."""
        return float((self.s / np.repeat(self.sizes, np.diff(self.local.bounds))).max(initial=0.0))


def sparse_scaling(f: LinearModels, absent: float = 1.0, compiled: bool = False) -> SparseScaling:
    """s_k^j = phi^j / phi_k^j on the supports; see :func:`fedtheory.learning.local_features.local_scaling`."""
    local = local_features(f)
    everywhere = np.bincount(local.feature, weights=local.count, minlength=f.d)
    s = everywhere[local.feature] * np.repeat(f.sizes, np.diff(local.bounds)) / (f.examples * local.count)
    return SparseScaling(local, s, f.sizes, absent, compiled)


def moves(f: LinearModels, S: SparseScaling, at: Snapshot, h: float, order: Array) -> Array:
    """sum_k (n_k / n) (w_k - w), ``(d,)``, after one pass of every client from the model w of the snapshot ``at``.

    ``order (n,)``: a pass over the rows, client by client. Raises ``ValueError`` unless lambda > 0 and every c_k^j < 1,
    as any stepsize does with which the regulariser alone is stable.
    """
    local, lam = S.local, float(f.lam)
    outside = h * lam * S.absent / S.sizes
    if not lam > 0:
        raise ValueError("FSVRG on sparse data needs lambda > 0")
    if not max(h * lam * S.steepest, outside.max()) < 1:
        raise ValueError("FSVRG on sparse data needs h lambda s_k^j < n_k: the stepsize is too large")
    # What a client without a feature moves it by, over the full gradient there: -h where nothing pulls it back.
    pulled = np.expm1(S.sizes * np.log1p(-outside)) / (lam * S.absent) if S.absent else -h
    apart = pulled * S.sizes / f.examples
    if S.compiled:
        from fedtheory.algorithms.fsvrg_compiled import passes

        inside = passes(f, local, S.s, at, h, order, apart)
    else:
        inside = _passes(f, S, at, h, order, apart)
    return inside + apart.sum() * at.gradient


def _passes(f: LinearModels, S: SparseScaling, at: Snapshot, h: float, order: Array, apart: Array) -> Array:
    """sum_k ((n_k / n) (w_k - w) - apart_k grad f(w)) over the clients that hold a feature, ``(d,)``, after one pass of
    each client; ``apart (K,)``."""
    local, lam = S.local, float(f.lam)
    size = np.repeat(S.sizes, np.diff(local.bounds))
    rate = h * S.s / size
    full = at.gradient[local.feature]
    decay, aim = np.log1p(-lam * rate), full / (lam * S.s)
    delta, seen = np.zeros(len(aim)), np.zeros(len(aim), dtype=np.int32)
    for block in S.blocks:
        found = entries(block, local.Z, order)
        position, value, row = found.position, found.value, found.row
        gain, target, pace = (of_pairs.take(position) for of_pairs in (rate, aim, decay))
        pull, push = lam * gain, value * gain
        predictions, slopes, y = at.predictions[found.rows], at.slopes[found.rows], f.y[found.rows]
        for t, (rows, part) in enumerate(found.steps):
            p, of, fixed = position[part], row[part], target[part]
            here = delta.take(p)
            here += np.expm1(pace[part] * (t - seen.take(p))) * (here + fixed)
            change = np.bincount(of, value[part] * here, rows.stop - rows.start)
            bend = f.loss.slope(predictions[rows] + change, y[rows]) - slopes[rows]
            here -= pull[part] * (here + fixed) + push[part] * bend.take(of)
            delta[p], seen[p] = here, t + 1
    delta += np.expm1(decay * (size - seen)) * (delta + aim)
    moved = delta * (size / f.examples) - np.repeat(apart, np.diff(local.bounds)) * full
    return np.bincount(local.feature, moved, f.d)
