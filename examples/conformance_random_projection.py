"""A compressor from a published package: scikit-learn's random projections, x -> R' R x.

E R' R = I, and for k rows of independent Gaussians of variance 1/k the variance is E|R' R x - x|^2 = (d + 1)/k |x|^2:
it is in U(omega) with omega = (d + 1)/k. A sender of k numbers needs no index: both sides know the seed of R.
"""

from __future__ import annotations

import numpy as np
from sklearn.random_projection import GaussianRandomProjection

from verify import conformance

D, K = 24, 6


def compress(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Project to k numbers, and back."""
    seed = int(rng.integers(2**32))
    projection = GaussianRandomProjection(K, random_state=seed).fit(np.zeros((1, D)))
    R = projection.components_
    return R.T @ (R @ x)


def main(seed: int = 0, samples: int = 12_000) -> tuple[conformance.Report, conformance.Report]:
    """With the omega that it has, and with the omega = d/k - 1 of rand-k, which it does not have."""
    right = conformance.compressor(compress, D, (D + 1) / K, seed=seed, samples=samples)
    return right, conformance.compressor(compress, D, D / K - 1, seed=seed, samples=samples)


if __name__ == "__main__":
    for report in main():
        print(report, end="\n\n")
