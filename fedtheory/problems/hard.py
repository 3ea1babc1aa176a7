r"""The hard functions of FedDCD's lower bound (Theorem 7.1, Appendix F), truncated to finitely many coordinates.

They are quadratics on $\ell_2$. Every coordinate of the minimiser of their sum can only be found after the one before
it, and neighbours are coupled by different clients. Readings: the index $pn + k$ of eq. (42) has n = N, the number of
functions among which the chain is dealt out, and p runs from 0; where blocks of one client overlap (a single function)
they add up, as they do in the sum over clients that the appendix states.

Truncation keeps the first D coordinates and drops the coupling of coordinates D and D+1, but not the 1 that it adds to
entry (D, D), so the sum stays tridiagonal with 2 on its diagonal. A method that has not yet moved coordinate D behaves
exactly as on $\ell_2$; ``truncation_error`` bounds what truncation does to the minimiser.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.numbers.rational import Array, evaluate, inverse
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import Quadratics

_kappa = sympy.Symbol("kappa", positive=True)


def links(alpha: Any, beta: Any, N: int) -> int:
    """Number of functions that share the chain: N if alpha < beta/N, else the largest m with m alpha < beta.

    ``ValueError`` unless 0 < alpha < beta and N >= 1; the appendix has no functions for alpha = beta.
    """
    if not 0 < alpha < beta or N < 1:
        raise ValueError(f"the hard functions need N >= 1 and 0 < alpha < beta, got {N}, {alpha}, {beta}")
    return N if alpha * N < beta else math.ceil(beta / alpha) - 1


def chain(k: int, m: int, dimension: int) -> Array:
    """M^(k) of eq. (42), its first ``dimension`` rows and columns, for a chain dealt out to m functions; integers.

    Blocks [[1, -1], [-1, 1]] at rows (and columns) pm + k, pm + k + 1; the first block of M^(1) is [[2, -1], [-1, 1]].
    """
    if not 1 <= k <= m:
        raise ValueError(f"k must be between 1 and {m}, got {k}")
    M = np.zeros((dimension + 1, dimension + 1), dtype=int)
    for start in range(k - 1, dimension, m):
        M[start : start + 2, start : start + 2] += np.array([[1, -1], [-1, 1]])
    M[0, 0] += k == 1
    return M[:dimension, :dimension]


def blocks(N: int, m: int) -> list[int]:
    """For each of N clients, which of the m functions it has a share of (from 0): blocks of floor(N/m), the rest to the
    last, as printed."""
    return [min(i // (N // m), m - 1) for i in range(N)]


def hard(alpha: Any, beta: Any, N: int, dimension: int) -> Problem:
    """The N functions of Appendix F on ``dimension`` coordinates, exact for fractions; declared (alpha, beta).

    alpha < beta/N: f_i(w) = (beta - N alpha)/8 (w'M^(i)w - 1_{i=1} 2 w_1) + (alpha/2)|w|^2, eq. (41). Otherwise m
    functions of that form, with m for N, each divided equally among a block of clients. Divided functions are only
    (alpha/|block|)-strongly convex: what is declared is what the appendix states, not what the functions have.
    """
    if dimension < 2:
        raise ValueError(f"the hard functions need at least 2 coordinates, got {dimension}")
    m = links(alpha, beta, N)
    stiffness = (beta - m * alpha) / 4
    whole = [stiffness * chain(k, m, dimension) + alpha * np.eye(dimension, dtype=int) for k in range(1, m + 1)]
    owners = blocks(N, m)
    shares = [owners.count(j) for j in owners]
    H = np.stack([whole[j] / share for j, share in zip(owners, shares, strict=True)])
    # The linear term -stiffness w_1 of the first function puts its minimiser at c = stiffness H_1^{-1} e_1, which
    # involves only the coordinates that the function couples to the first.
    coupled = 2 if m > 1 else dimension
    minimiser = stiffness * inverse(whole[0][:coupled, :coupled])[:, 0]
    c, v = 0 * H[:, 0], 0 * H[:, 0, 0]
    for i, (j, share) in enumerate(zip(owners, shares, strict=True)):
        if j == 0:
            c[i, :coupled] = minimiser
            v[i] = -stiffness * minimiser[0] / (2 * share)
    return Problem(Quadratics(H, c, v), None, (alpha, beta))


def decay(alpha: Any, beta: Any, N: int) -> Any:
    """q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1) with kappa = beta/(m alpha): the minimiser on l_2 is (q, q^2, q^3, ...).

    A fraction if kappa is the square of one, else a float.
    """
    root = evaluate(sympy.sqrt(_kappa), {_kappa: beta / (links(alpha, beta, N) * alpha)})
    q = (root - 1) / (root + 1)
    return q if isinstance(q, Fraction) else float(q)


def solution(alpha: Any, beta: Any, N: int, dimension: int) -> Array:
    """The first coordinates of the minimiser on l_2 of the sum of the hard functions, ``(dimension,)``."""
    q = decay(alpha, beta, N)
    return np.array([q**j for j in range(1, dimension + 1)])


def truncation_error(alpha: Any, beta: Any, N: int, dimension: int) -> float:
    r"""A bound on the distance in l_2 between the minimisers of the truncated and of the infinite sum.

    $q^{D+1} \sqrt{(1 + q^2)/(1 - q^2)}$: the coordinates left out weigh $q^{2(D+1)}/(1-q^2)$, and coordinate j <= D
    of the truncated minimiser is $(q^j - q^{2(D+1)-j})/(1 - q^{2(D+1)})$, off by at most $q^{2(D+1)-j}$.
    """
    q = float(decay(alpha, beta, N))
    return q ** (dimension + 1) * math.sqrt((1 + q**2) / (1 - q**2))


def dimension_for(alpha: Any, beta: Any, N: int, tolerance: float) -> int:
    """The smallest dimension, at least 2, whose truncation error is at most ``tolerance`` > 0."""
    if not tolerance > 0:
        raise ValueError(f"the tolerance must be positive, got {tolerance}")
    dimension = 2
    while truncation_error(alpha, beta, N, dimension) > tolerance:
        dimension += 1
    return dimension
