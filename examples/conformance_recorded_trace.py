"""A run of DIANA recorded by code that shares nothing with this package, checked from its file.

What is written here with numpy can be written from C++ or Julia: an npz file of plain arrays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from verify import conformance

N, D, K, ROUNDS = 3, 4, 2, 30


def record(path: Path, seed: int = 0, wrong_sign: bool = False) -> None:
    """Thirty steps of DIANA with rand-2 on least squares, written as ``check-trace`` reads them."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(N), (5, 8, 6))
    A, b = rng.standard_normal((len(owner), D)), rng.standard_normal(len(owner))
    mu = 0.5
    rows = [owner == i for i in range(N)]
    L = max(np.linalg.eigvalsh(A[r].T @ A[r] / r.sum())[-1] for r in rows) + mu
    omega = D / K - 1
    gamma, alpha = 1 / (L * (1 + 6 * omega / N)), 1 / (1 + omega)
    x, h, h_bar = np.ones(D), np.zeros((N, D)), np.zeros(D)
    xs, hs, h_bars, kept = [x], [h], [h_bar], []
    for _ in range(ROUNDS):
        gradient = np.stack([A[r].T @ (A[r] @ x - b[r]) / r.sum() + mu * x for r in rows])
        mask = np.argsort(rng.random((N, D)), axis=1) < K
        m = np.where(mask, D / K * (gradient - h), 0.0)
        x = x - gamma * ((-h_bar if wrong_sign else h_bar) + m.mean(axis=0))
        h, h_bar = h + alpha * m, h_bar + alpha * m.mean(axis=0)
        xs.append(x)
        hs.append(h)
        h_bars.append(h_bar)
        kept.append(mask)
    np.savez(
        path,
        **{"data.A": A, "data.b": b, "data.client": owner, "data.loss": "least-squares", "data.mu": mu},
        **{"params.gamma": gamma, "params.alpha": alpha, "params.compressors": f"rand-{K}"},
        **{"state.x": np.stack(xs), "state.h": np.stack(hs), "state.h_bar": np.stack(h_bars), "draw": np.stack(kept)},
    )


def main(directory: Path) -> tuple[conformance.Report, conformance.Report]:
    """The reports of a right run, and of one whose server subtracts its control variate."""
    reports = []
    for name, wrong in (("right.npz", False), ("wrong.npz", True)):
        record(directory / name, wrong_sign=wrong)
        reports.append(conformance.check_trace("diana", directory / name))
    return reports[0], reports[1]


if __name__ == "__main__":
    for report in main(Path.cwd()):
        print(report, end="\n\n")
