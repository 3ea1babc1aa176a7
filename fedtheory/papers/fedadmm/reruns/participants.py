"""Compute only what the participants of a round need, in coordinates that make it cheap.

The methods are those of the library, up to rounding. Least squares use the eigenvectors of each client's Hessian as a
basis: there a gradient costs as much as a vector operation, and only the server's average is transformed back. For a
logistic loss, local steps need only the scores of the client's rows, which are few if it has fewer rows than features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from fedtheory.algorithms import fedadmm
from fedtheory.learning.least_squares import LeastSquares
from fedtheory.learning.logistic import SparseLogistic
from fedtheory.numbers.rational import Array

Gradient = Callable[[Array], Array]


class Move(NamedTuple):
    """A local step of two models of a client, both at once: w by ``rate_w`` grad f_i(w) + ``tie_w`` (w - v), v by
    ``rate_v`` grad f_i(v) + ``tie_v`` (v - w); ``times``: so many of them."""

    times: int
    rate_w: float = 0.0
    tie_w: float = 0.0
    rate_v: float = 0.0
    tie_v: float = 0.0


class Clients(Protocol):
    """All clients' functions. ``here (i,)``: the places of those that take part; their models are ``(i, d)``, each in
    coordinates of its own."""

    def home(self, w: Array) -> Array:
        """The server's model in the coordinates of every client, ``(d,) -> (m, d)``."""

    def total(self, X: Array) -> Array:
        """The sum of the models of all clients in the server's coordinates, ``(m, d) -> (d,)``."""

    def gradient(self, here: Array, at: Array) -> Gradient:
        """Gradients of the participants, ``(i, 1, d) -> (i, 1, d)``, of which those ``at (i, 1, d)`` are often asked
        for."""

    def moved(self, here: Array, W: Array, V: Array, moves: Sequence[Move]) -> tuple[Array, Array]:
        """The participants' models ``W``, ``V (i, d)`` after these steps."""


def clients(f: Any) -> Clients:
    """Those of least squares or logistic losses."""
    return Turned(f) if isinstance(f, LeastSquares) else Rows(f)


@dataclass(frozen=True)
class Turned:
    """Clients with least squares, each in the basis of its Hessian's eigenvectors."""

    f: LeastSquares

    @cached_property
    def _turned(self) -> tuple[Array, Array, Array]:
        """Eigenvalues ``(m, d)``, eigenvectors as the rows of ``(m, d, d)``, and q in their basis ``(m, d)``."""
        curvatures, columns = np.linalg.eigh(self.f.H)
        basis = np.ascontiguousarray(np.swapaxes(columns, -1, -2))
        return curvatures, basis, np.matmul(basis, self.f.q[..., None])[..., 0]

    def home(self, w: Array) -> Array:
        """Inner products with all eigenvectors."""
        return np.matmul(self._turned[1].reshape(-1, self.f.d), w).reshape(-1, self.f.d)

    def total(self, X: Array) -> Array:
        """Sums over all eigenvectors."""
        return np.matmul(X.ravel(), self._turned[1].reshape(-1, self.f.d))

    def gradient(self, here: Array, at: Array) -> Gradient:
        """The Hessians are diagonal."""
        curvatures, _, q = (part[here, None] for part in self._turned)
        return lambda x: curvatures * x - q

    def moved(self, here: Array, W: Array, V: Array, moves: Sequence[Move]) -> tuple[Array, Array]:
        """Step by step."""
        curvatures, q = self._turned[0][here], self._turned[2][here]
        return _moved(lambda x: curvatures * x - q, W, V, moves)


@dataclass(frozen=True)
class Rows:
    """Clients with logistic losses, whose coordinates are those of the server."""

    f: SparseLogistic

    def home(self, w: Array) -> Array:
        """The model itself."""
        return np.broadcast_to(w, (self.f.n, self.f.d))

    def total(self, X: Array) -> Array:
        """The sum."""
        return X.sum(axis=0)

    def _read(self, here: Array) -> tuple[Gradient, Gradient]:
        """The scores ``(i, d) -> (i, rows)`` of the participants' signed rows, and sums of these rows with weights
        ``(i, rows) -> (i, d)``."""
        f = self.f
        if f.sparse_rows is None:
            dense = f.signed_rows[here]
            return (
                lambda X: np.matmul(dense, X[..., None])[..., 0],
                lambda weights: np.matmul(weights[:, None], dense)[:, 0],
            )
        rows = f.sparse_rows[0][(here[:, None] * f.m + np.arange(f.m)).ravel()]

        def scores(X: Array) -> Array:
            points = np.zeros((f.n, f.d))
            points[here] = X
            return np.asarray(rows @ points.ravel()).reshape(-1, f.m)

        def summed(weights: Array) -> Array:
            return np.asarray(rows.T @ weights.ravel()).reshape(f.n, f.d)[here]

        return scores, summed

    def gradient(self, here: Array, at: Array) -> Gradient:
        """Those that are often asked for are computed once."""
        (scores, summed), m, mu = self._read(here), self.f.m, self.f.mu[here, None, None]

        def slope(x: Array) -> Array:
            return mu * x - summed(expit(-scores(x[:, 0])))[:, None] / m

        known = slope(at)
        return lambda x: known if np.array_equal(x, at) else slope(x)

    def moved(self, here: Array, W: Array, V: Array, moves: Sequence[Move]) -> tuple[Array, Array]:
        """A model is a combination of the first two and of the client's rows: steps change its scores and weights."""
        (scores, summed), m, mu = self._read(here), self.f.m, self.f.mu[here, None]
        if m > self.f.d:
            return _moved(lambda x: mu * x - summed(expit(-scores(x))) / m, W, V, moves)
        gram = self.f.gram[here]

        def slope(at: Array) -> Array:
            s, found = expit(-at[:, :m]) / m, mu * at
            found[:, :m] -= np.matmul(s[:, None], gram)[:, 0]
            found[:, m : 2 * m] -= s
            return found

        def models(at: Array) -> Array:
            return at[:, -2, None] * W + at[:, -1, None] * V + summed(at[:, m : 2 * m])

        both = np.zeros((2, len(here), 2 * m + 2))
        both[0, :, :m] = scores(W)
        both[1, :, :m] = both[0, :, :m] if V is W else scores(V)
        both[0, :, -2] = both[1, :, -1] = 1
        after, other = _moved(slope, both[0], both[1], moves)
        still = not any(move.rate_v or move.tie_v for move in moves)
        return models(after), V if still else models(other)


def _moved(gradient: Gradient, W: Array, V: Array, moves: Sequence[Move]) -> tuple[Array, Array]:
    for times, rate_w, tie_w, rate_v, tie_v in moves:
        for _ in range(times):
            apart = W - V
            W, V = (
                W - rate_w * gradient(W) - tie_w * apart if rate_w else W,
                V - rate_v * gradient(V) + tie_v * apart if rate_v else V,
            )
    return W, V


def average(all_clients: Clients, params: fedadmm.Params, Z: Array) -> Array:
    """The server's model of FedADMM, eq. (4), ``(m, d) -> (d,)``."""
    return all_clients.total(Z) / params.sigma.sum()


def admm_round(
    all_clients: Clients, params: fedadmm.Params, state: fedadmm.State, draw: fedadmm.Draws
) -> fedadmm.State:
    """A round of FedADMM, with ``W``, ``Pi``, ``Z`` and w in the clients' coordinates, so that ``w`` is ``(m, d)``.

    Each participant is a replica of a problem with one client, on which the library's local updates run.
    """
    here = np.flatnonzero(draw.clients[0])
    w = all_clients.home(average(all_clients, params, state.Z))
    own = fedadmm.State(w[here], *(field[here, None] for field in state[1:]))
    solver: Any = params.solver
    letters = params._replace(
        alpha=params.alpha[here, None],
        sigma=params.sigma[here, None],
        nu=params.nu[here, None],
        solver=replace(solver, r=solver.r[here, None]),
    )
    f = SimpleNamespace(gradient=all_clients.gradient(here, w[here, None]))
    problem: Any = SimpleNamespace(n=1, d=w.shape[1], f=f)
    everybody = np.ones((len(here), 1), dtype=bool)
    for k in range(params.k0):
        own = fedadmm.local_update(problem, letters, own, everybody, draw.solver, k)
    after = [field.copy() for field in state[1:]]
    for field, changed in zip(after, own[1:], strict=True):
        field[here] = changed[:, 0]
    return fedadmm.State(w, *after)
