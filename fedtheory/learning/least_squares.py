"""Least squares whose Hessians may be singular: clients with fewer rows than features, and unequally many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.numbers.rational import Array, apply, inverse, to_float
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import Optimum

if TYPE_CHECKING:
    import cvxpy as cp


@dataclass(frozen=True)
class LeastSquares:
    """f_i(x) = x'H_i x / 2 - q_i'x + v_i with ``H (n, d, d)`` positive semidefinite, ``q (n, d)``, ``v (n,)``.

    Of rows A_i and targets b_i: H_i = A_i'A_i/d_i, q_i = A_i'b_i/d_i, v_i = |b_i|^2/(2 d_i), see :func:`from_rows`.
    Bounded from below if q_i is in the range of H_i, which rows see to. Fractions are kept exact. ``ValueError`` on
    wrong shapes.
    """

    H: Array
    q: Array
    v: Array

    def __post_init__(self) -> None:
        n, d = self.q.shape if self.q.ndim == 2 else (0, 0)
        if n == 0 or self.H.shape != (n, d, d) or self.v.shape != (n,):
            raise ValueError(
                f"H, q, v must be (n, d, d), (n, d), (n,), got {self.H.shape}, {self.q.shape}, {self.v.shape}"
            )

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.q.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.q.shape[1])

    @cached_property
    def _spectrum(self) -> Array:
        return np.linalg.eigvalsh(to_float(self.H))

    @property
    def mu(self) -> Array:
        """Least eigenvalues, ``(n,)``; those of singular Hessians are 0 up to rounding."""
        return np.maximum(self._spectrum[:, 0], 0)

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""
        return self._spectrum[:, -1]

    def _image(self, x: Array) -> Array:
        """H_i x_i; replicas become the columns of one product for each client."""
        if x.ndim == 2:
            return apply(self.H, x)
        columns = np.moveaxis(x.reshape(-1, self.n, self.d), 0, -1)
        return np.moveaxis(np.matmul(self.H, columns), -1, 0).reshape(x.shape)

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        return (x * (self._image(x) / 2 - self.q)).sum(axis=-1) + self.v

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self._image(x) - self.q

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        return np.broadcast_to(self.H, (*x.shape[:-1], self.d, self.d))

    def resolvent(self, shift: object, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, for positive shifts: one, or one for each client."""
        return apply(inverse(self.H + np.asarray(shift)[..., None, None] * np.eye(self.d, dtype=int)), target + self.q)

    def cvxpy_value(self, x: cp.Variable) -> cp.Expression:
        """sum_i f_i(x) for a cvxpy variable ``(d,)``."""
        import cvxpy as cp

        H, q, v = (to_float(part).sum(axis=0) for part in (self.H, self.q, self.v))
        return cp.quad_form(x, cp.psd_wrap(H)) / 2 - q @ x + v


def from_rows(rows: Sequence[Array], targets: Sequence[Array]) -> LeastSquares:
    """f_i(x) = |A_i x - b_i|^2 / (2 d_i) for ``rows[i] (d_i, d)`` and ``targets[i] (d_i,)`` (FedADMM, Example 5.1)."""
    if len(rows) != len(targets) or any(
        A.ndim != 2 or b.shape != A.shape[:1] for A, b in zip(rows, targets, strict=False)
    ):
        raise ValueError("every client needs rows (d_i, d) and targets (d_i,)")
    pairs = list(zip(rows, targets, strict=True))
    H = np.stack([A.T @ A / len(A) for A, _ in pairs])
    q = np.stack([A.T @ b / len(A) for A, b in pairs])
    return LeastSquares(H, q, np.array([b @ b / (2 * len(b)) for _, b in pairs]))


def minimiser(f: LeastSquares, alpha: Array | None = None) -> Optimum:
    """The minimiser of sum_i alpha_i f_i, weights 1 unless given. Raise ``ValueError`` if the sum is not strongly
    convex.
    """
    weight = np.ones(f.n, dtype=int) if alpha is None else alpha
    H = (weight[:, None, None] * f.H).sum(axis=0)
    x = apply(inverse(H), (weight[:, None] * f.q).sum(axis=0))
    y = f.gradient(np.broadcast_to(x, (f.n, f.d)))
    residual = to_float((weight[:, None] * y).sum(axis=0))
    return Optimum(x, y, float(np.linalg.norm(residual) / max(1.0, np.linalg.norm(to_float(y), axis=-1).sum())))


def three_laws(
    m: int, n: int, rng: np.random.Generator, sizes: tuple[int, int] = (50, 150)
) -> tuple[list[Array], list[Array]]:
    """The data of FedADMM's Example 5.1: rows ``(d_i, n)`` and targets ``(d_i,)`` of m clients.

    d_1, ..., d_m are uniform integers in ``sizes``, both ends included, and d is their sum. Of the d samples (a, b),
    ceil(d/3) have standard normal entries, ceil(d/3) entries from Student's t with 5 degrees of freedom, and the others
    entries uniform in [-5, 5]; b is drawn like the entries of a and does not depend on them. The samples are shuffled
    before they are dealt out, so that every client sees the same mixture of laws.
    """
    if m < 1 or n < 1 or not 1 <= sizes[0] <= sizes[1]:
        raise ValueError(f"expected clients, features and sizes of 1 or more, got {m}, {n}, {sizes}")
    lengths = rng.integers(sizes[0], sizes[1] + 1, m)
    d = int(lengths.sum())
    third = -(-d // 3)
    laws = (
        rng.standard_normal((third, n + 1)),
        rng.standard_t(5, (third, n + 1)),
        rng.uniform(-5, 5, (max(0, d - 2 * third), n + 1)),
    )
    samples = rng.permutation(np.concatenate(laws)[:d])
    parts = np.split(samples, np.cumsum(lengths)[:-1])
    return [part[:, :-1] for part in parts], [part[:, -1] for part in parts]


def example_5_1(m: int, n: int, rng: np.random.Generator, sizes: tuple[int, int] = (50, 150)) -> Problem:
    """Linear regression on :func:`three_laws`, with its minimiser for equal weights. Raise ``ValueError`` if the rows
    are too few for one."""
    f = from_rows(*three_laws(m, n, rng, sizes))
    return Problem(f, known=minimiser(f))  # type: ignore[arg-type]
