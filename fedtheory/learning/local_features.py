"""The features that each client holds, and the numbers that Federated Optimization scales by (Section 3.6.1).

A client's support is the set of features that are not zero in some example of its own. With K clients and d features
local models as dense vectors are K d numbers; on the supports alone they are one flat vector of sum_k |support_k|
numbers, client by client, and all local predictions are one sparse product with ``Z``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.numbers.rational import Array, exact
from fedtheory.problems.linear_models import LinearModels

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True)
class LocalFeatures:
    """The supports of all clients as one list of M pairs (client, feature), sorted by client, then feature.

    ``bounds (K+1,)``: where each client's pairs begin; ``feature (M,)``; ``count (M,)``: n_k^j, the examples of the
    client with that feature; ``Z``: CSR ``(n, M)``, X with features numbered as pairs, so that ``Z @ u`` are the
    predictions of the local models ``u (M,)``.
    """

    bounds: Array
    feature: Array
    count: Array
    Z: sp.csr_array

    @property
    def client(self) -> Array:
        """The client of each pair, ``(M,)``."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def local_features(f: LinearModels) -> LocalFeatures:
    """The supports of the clients of ``f``; its X must be sparse."""
    import scipy.sparse as sp

    X = f.X
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    index = np.int32 if X.nnz < 2**31 else np.int64
    columns = np.empty(X.nnz, dtype=index)
    features, counts, total = [], [], 0
    bounds = np.zeros(f.n + 1, dtype=np.int64)
    edges = X.indptr[np.append(f.starts, f.examples)]
    for k in range(f.n):
        part = slice(edges[k], edges[k + 1])
        feature, inverse, count = np.unique(X.indices[part], return_inverse=True, return_counts=True)
        columns[part] = total + inverse
        total += len(feature)
        bounds[k + 1] = total
        features.append(feature)
        counts.append(count)
    Z = sp.csr_array((X.data, columns, X.indptr.astype(index, copy=False)), shape=(f.examples, total))
    return LocalFeatures(bounds, np.concatenate(features).astype(index), np.concatenate(counts), Z)


def appearances(f: LinearModels) -> Array:
    """n_k^j: examples of client k in which feature j is not zero, integers ``(K, d)``; dense data."""
    return f.per_client((f.dense().X != 0).astype(int), 0)


def local_scaling(f: LinearModels, absent: Any = 1) -> Array:
    """The diagonals s_k^j = phi^j / phi_k^j of S_k, ``(K, d)``; dense data; exact where X is.

    The definition leaves features open that client k does not hold, phi_k^j = 0. There the losses of k do not depend
    on w_j, and s_k^j meets the gradient of the regulariser alone. ``absent`` is taken: 1 leaves that as it is.
    """
    count = appearances(f)
    number = exact if f.exact else np.asarray
    held = count > 0
    ratio = number(count.sum(axis=0)) * number(f.sizes)[:, None] / (f.examples * number(np.where(held, count, 1)))
    return np.where(held, ratio, absent)


def aggregation(f: LinearModels, absent: Any = 1, local: LocalFeatures | None = None) -> Array:
    """The diagonal a^j = K / omega^j of A, ``(d,)``, omega^j the number of clients that hold feature j.

    The definition leaves features open that nobody holds, omega^j = 0: all clients shrink such a coordinate alike, and
    ``absent`` = 1 averages what they agree on. ``local``: the supports of sparse data, where they are known.
    """
    if f.sparse:
        holders = np.bincount((local or local_features(f)).feature, minlength=f.d)
    else:
        holders = (appearances(f) > 0).sum(axis=0)
    number = exact if f.exact else np.asarray
    return np.where(holders > 0, number(np.full(f.d, f.n)) / number(np.maximum(holders, 1)), absent)
