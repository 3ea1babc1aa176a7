"""Logistic regression on rows that are mostly zeros."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.logistic import Logistic

#: Data with a smaller share of nonzeros are kept sparse.
_DENSE = 0.25


@dataclass(frozen=True)
class SparseLogistic(Logistic):
    """Logistic losses whose values and gradients use sparse rows where the data are sparse: several times faster, where
    one in ten entries is none."""

    @cached_property
    def _rows(self) -> Any:
        """All clients' signed rows as one block-diagonal matrix ``(n m, n d)`` and its transpose, and all rows
        ``(n m, d)``; or None."""
        import scipy.sparse as sp

        if np.count_nonzero(self.A) > _DENSE * self.A.size:
            return None
        rows = sp.block_diag([sp.csr_array(a) for a in self._signed], format="csr")
        return rows, rows.T.tocsr(), sp.csr_array(self._signed.reshape(-1, self.d))

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        from scipy.special import expit

        if self._rows is None:
            return super().gradient(x)
        rows, columns, _ = self._rows
        x = self._points(x)
        slopes = expit(-(rows @ x.reshape(-1, self.n * self.d).T))
        found: Array = self.mu[:, None] * x - (columns @ slopes).T.reshape(x.shape) / self.m
        return found

    def average(self, x: Array) -> Array:
        """(1/n) sum_i f_i(x) at one point for all clients: ``(R, d) -> (R,)``."""
        rows = self._signed.reshape(-1, self.d) if self._rows is None else self._rows[2]
        losses: Array = np.logaddexp(0, -(rows @ x.T)).mean(axis=0)
        return losses + self.mu.mean() / 2 * (x**2).sum(axis=-1)
