"""L2-regularised linear predictors on examples that are spread unevenly over clients (Federated Optimization, A.2).

f(w) = (1/n) sum_i phi_i(x_i'w) + (lambda/2) |w|^2, whose examples i of client k are P_k. All examples are the rows of
one matrix, client by client: a scipy CSR matrix where d and the number of clients are large, an array (perhaps of
fractions) where a method needs local models as dense vectors. Only who makes a sparse matrix needs scipy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from fedtheory.numbers.rational import Array, apply, exact, inverse, is_exact, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.losses import SQUARED, Loss
from fedtheory.problems.optimum import Optimum, newton
from fedtheory.problems.step_major import Block, block

#: An array, or a scipy CSR array.
Matrix: TypeAlias = Any
Share = Literal["own", "equal"]

# Outer Newton steps of a minimiser on sparse data, and conjugate gradient iterations in each.
_NEWTON_STEPS, _INNER_STEPS = 100, 500


class Snapshot(NamedTuple):
    """The whole objective at one model: ``predictions (..., n)``: x_i'w; ``slopes (..., n)``: phi_i' there;
    ``gradient (..., d)``: grad f(w)."""

    predictions: Array
    slopes: Array
    gradient: Array


@dataclass(frozen=True)
class LinearModels:
    r"""The local losses F_1, ..., F_K of one model on the examples of K clients.

    ``X (n, d)``: examples x_i as rows, client by client; ``y (n,)``: labels; ``sizes (K,)``: the n_k; ``lam``: lambda.
    ``share`` says which F_k are meant. ``own``, eq. (6): $F_k = \frac1{n_k} \sum_{i \in P_k} f_i$ and
    $f = \sum_k \frac{n_k}n F_k$. ``equal``, eq. (12): $F_k = \frac Kn \sum_{i \in P_k} \phi_i + \frac\lambda2 |w|^2$
    and $f = \frac1K \sum_k F_k$. They agree where all n_k do. Raises ``ValueError`` on wrong shapes, clients without
    examples, values that are not finite, or lambda < 0.
    """

    X: Matrix
    y: Array
    sizes: Array
    lam: Scalar
    loss: Loss = SQUARED
    share: Share = "own"

    def __post_init__(self) -> None:
        sizes = np.asarray(self.sizes)
        if self.X.ndim != 2 or self.y.shape != self.X.shape[:1] or 0 in self.X.shape:
            raise ValueError(f"X must be (n, d) and y (n,), none empty, got {self.X.shape} and {self.y.shape}")
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or sizes.min(initial=1) < 1 or sizes.sum() != len(self.y):
            raise ValueError(f"sizes must be positive numbers of examples that add up to n = {len(self.y)}")
        entries = self.X.data if self.sparse else self.X
        if not np.isfinite(to_float(entries)).all() or not np.isfinite(to_float(self.y)).all():
            raise ValueError("X and y must be finite")
        if self.lam < 0:
            raise ValueError(f"lambda must not be negative, got {self.lam}")
        if self.share not in get_args(Share):
            raise ValueError(f"share is one of {', '.join(get_args(Share))}, got {self.share!r}")
        if self.loss.name != "squared" and not np.isin(self.y, (-1, 1)).all():
            raise ValueError(f"the labels of the {self.loss.name} loss must be -1 or +1")
        object.__setattr__(self, "sizes", sizes)

    @property
    def n(self) -> int:
        """K, the number of clients and of functions F_k (the paper's n is ``examples``)."""
        return len(self.sizes)

    @property
    def examples(self) -> int:
        """The paper's n, the number of all examples."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.X.shape[1])

    @property
    def sparse(self) -> bool:
        """True if the examples are a sparse matrix."""
        return not isinstance(self.X, np.ndarray)

    @property
    def exact(self) -> bool:
        """True if the data are fractions."""
        return not self.sparse and is_exact(self.X)

    @cached_property
    def starts(self) -> Array:
        """The first row of each client, ``(K,)``."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @cached_property
    def owner(self) -> Array:
        """The client of each example, ``(n,)``."""
        return np.repeat(np.arange(self.n), self.sizes)

    @cached_property
    def one_pass(self) -> Block:
        """One pass of all clients over their examples, step by step."""
        return block(self.sizes, np.arange(self.n))

    @cached_property
    def shares(self) -> Array:
        """n_k / n, ``(K,)``, fractions where X holds them."""
        return self._number(self.sizes) / self.examples

    @cached_property
    def weights(self) -> Array:
        """The p_k with f = sum_k p_k F_k, ``(K,)``: n_k / n, or 1 / K."""
        return self.shares if self.share == "own" else self._number(np.ones(self.n, dtype=int)) / self.n

    @cached_property
    def _scale(self) -> Array:
        """The factor of the losses of its examples in F_k, ``(K,)``: 1 / n_k, or K / n."""
        return 1 / (self.examples * self.weights)

    def _number(self, count: Array) -> Array:
        return exact(count) if self.exact else to_float(count)

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        return np.full(self.n, self.lam)

    @cached_property
    def L(self) -> Array:
        """Largest eigenvalue of each Hessian bound, ``(K,)`` floats."""
        blocks = np.split(to_float(self._dense), self.starts[1:])
        top = np.array([np.linalg.norm(block, 2) ** 2 for block in blocks])
        return to_float(self._scale) * top / self.loss.gamma + float(self.lam)

    # The whole objective, at one model w (..., d); sparse data too

    def predictions(self, w: Array) -> Array:
        """x_i'w: ``(..., d) -> (..., n)``."""
        if not self.sparse:
            return apply(self.X, w)
        return (self.X @ w.reshape(-1, self.d).T).T.reshape(*w.shape[:-1], self.examples)

    def combined(self, coefficients: Array) -> Array:
        """sum_i c_i x_i: ``(..., n) -> (..., d)``."""
        if not self.sparse:
            return apply(self.X.T, coefficients)
        flat = coefficients.reshape(-1, self.examples)
        return (self._transposed @ flat.T).T.reshape(*coefficients.shape[:-1], self.d)

    @cached_property
    def _transposed(self) -> Any:
        return self.X.T

    @cached_property
    def squared_norms(self) -> Array:
        """|x_i|^2, ``(n,)``."""
        return (self.X * self.X).sum(axis=-1)

    def objective(self, w: Array) -> Array:
        """f(w), ``(..., d) -> (...)``."""
        losses = self.loss.value(self.predictions(w), self.y)
        return losses.sum(axis=-1) / self.examples + self.lam * (w**2).sum(axis=-1) / 2

    def snapshot(self, w: Array) -> Snapshot:
        """grad f(w), and what is computed on the way: ``(..., d)``."""
        predictions = self.predictions(w)
        slopes = self.loss.slope(predictions, self.y)
        return Snapshot(predictions, slopes, self.combined(slopes) / self.examples + self.lam * w)

    def full_gradient(self, w: Array) -> Array:
        """grad f(w), ``(..., d) -> (..., d)``."""
        return self.snapshot(w).gradient

    # Local losses, at local models (..., K, d), or (..., 1, d) for one that all share; dense data

    @cached_property
    def _dense(self) -> Array:
        if self.sparse:
            raise ValueError("local models as dense vectors need dense data: take dense()")
        return self.X

    def dense(self) -> LinearModels:
        """The same problem with X as an array."""
        return replace(self, X=self.X.toarray()) if self.sparse else self

    def _everywhere(self, x: Array) -> Array:
        return np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))

    def _local_predictions(self, x: Array) -> Array:
        """x_i'w_k for the examples of each client, ``(..., K, d) -> (..., n)``."""
        return (self._dense * x[..., self.owner, :]).sum(axis=-1)

    def per_client(self, values: Array, axis: int) -> Array:
        """Sums over the examples of each client along ``axis``."""
        return np.add.reduceat(values, self.starts, axis=axis)

    def solved(self, coupling: Scalar, shift: Scalar, target: Array) -> Array:
        """The roots u_k of coupling X_k'X_k u_k + shift u_k = target_k: ``(..., n) -> (..., n)``, exact on fractions.

        The columns of X_k are the examples of client k.
        """
        parts = []
        for start, size in zip(self.starts, self.sizes, strict=True):
            own = slice(start, start + size)
            gram = np.matmul(self._dense[own], self._dense[own].T) * coupling
            parts.append(apply(inverse(gram + shift * np.eye(size, dtype=int)), target[..., own]))
        return np.concatenate(parts, axis=-1)

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        x = self._everywhere(x)
        losses = self.per_client(self.loss.value(self._local_predictions(x), self.y), -1)
        return self._scale * losses + self.lam * (x**2).sum(axis=-1) / 2

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        x = self._everywhere(x)
        slopes = self.loss.slope(self._local_predictions(x), self.y)
        return self._scale[:, None] * self.per_client(slopes[..., None] * self._dense, -2) + self.lam * x

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        x = self._everywhere(x)
        bends = self.loss.curvature(self._local_predictions(x), self.y)
        outer = self._dense[:, :, None] * self._dense[:, None, :]
        eye = np.eye(self.d, dtype=int)
        return self._scale[:, None, None] * self.per_client(bends[..., None, None] * outer, -3) + self.lam * eye

    def example_gradient(self, x: Array, rows: Array) -> Array:
        """grad f_i(w_k), one example a client: ``x (..., K, d)``, ``rows (..., K)`` of X -> ``(..., K, d)``."""
        features = self._dense[rows]
        slopes = self.loss.slope((features * x).sum(axis=-1), self.y[rows])
        return slopes[..., None] * features + self.lam * x

    def example_change(self, x: Array, w: Array, rows: Array) -> Array:
        """grad f_i(w_k) - grad f_i(w), as :meth:`example_gradient`, at ``x`` and ``w (..., K or 1, d)``.

        The examples are gathered once, and weighted by the difference of the slopes.
        """
        features, y = self._dense[rows], self.y[rows]
        change = self.loss.slope(np.vecdot(features, x), y) - self.loss.slope(np.vecdot(features, w), y)
        return change[..., None] * features + self.lam * (x - w)

    def resolvent(self, shift: Scalar, target: Array) -> Array:
        """The roots w_k of grad F_k(w_k) + shift w_k = target_k, for shift > -lambda: ``(..., K, d) -> (..., K, d)``.

        Exact on fractions for the squared loss; Newton's method, to rounding, for others.
        """
        if self.loss.name == "squared":
            origin = np.zeros((1, self.d), dtype=int)
            H = self.hessian(origin) + shift * np.eye(self.d, dtype=int)
            return apply(inverse(H), target - self.gradient(origin))

        def slope(x: Array) -> Array:
            return self.gradient(x) + shift * x - target

        def bend(x: Array) -> Array:
            return self.hessian(x) + shift * np.eye(self.d)

        start = np.zeros(target.shape)
        scale = np.maximum(1, np.sqrt((target**2).sum(axis=-1)))
        return newton(slope, bend, start, 1e-15 * scale)[0]

    def conjugate_gradient(self, y: Array) -> Array:
        """grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i>: ``(..., n, d) -> (..., n, d)``."""
        return self.resolvent(0, y)

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""
        w = self.conjugate_gradient(y)
        return (y * w).sum(axis=-1) - self.value(w)

    # The dual (13)

    def primal(self, alpha: Array) -> Array:
        """w = X alpha / (lambda n), eq. (14): ``(..., n) -> (..., d)``."""
        return self.combined(alpha) / (self.lam * self.examples)

    def dual(self, alpha: Array) -> Array:
        """D(alpha) of eq. (13), to be maximised: ``(..., n) -> (...)``."""
        conjugates = self.loss.conjugate(alpha, self.y).sum(axis=-1)
        return -self.lam * (self.primal(alpha) ** 2).sum(axis=-1) / 2 - conjugates / self.examples

    def dual_of(self, w: Array) -> Array:
        """alpha_i = -phi_i'(x_i'w): at the minimiser the solution of the dual, ``(..., d) -> (..., n)``."""
        return -self.loss.slope(self.predictions(w), self.y)

    # The same as a family of n functions, for methods that know nothing of clients

    @cached_property
    def singles(self) -> LinearModels:
        """The f_i themselves: every example a client of its own."""
        return replace(self, sizes=np.ones(self.examples, dtype=int), share="own")


@dataclass(frozen=True)
class LinearProblem(Problem):
    """minimise f(w); the optimum is exact on fractions (squared loss), else from Newton's method, on sparse data too.

    The functions of this problem are the F_k, so that in general f is their mean weighted by ``f.weights``. ``y_star``,
    the local gradients, needs dense data.
    """

    f: LinearModels

    @cached_property
    def optimum(self) -> Optimum:
        """The minimiser, the local gradients there, and the relative norm of what is left of the gradient."""
        if self.known is not None:
            return self.known
        x = self.x_star
        y = self.f.gradient(x[..., None, :])
        residual = to_float(self.f.full_gradient(x))
        return Optimum(x, y, float(np.linalg.norm(residual)) / max(1.0, float(abs(to_float(y)).sum())))

    @cached_property
    def x_star(self) -> Array:
        """The minimiser ``(d,)``."""
        return minimiser(self.f) if self.known is None else self.known.x


def minimiser(f: LinearModels, tolerance: float = 1e-13) -> Array:
    """argmin f, ``(d,)``: |grad f| <= ``tolerance`` (1 + |grad f(0)|), or as small as rounding allows.

    Exact on fractions for the squared loss. Otherwise Newton's method with a line search, each step by conjugate
    gradients on the Hessian as an operator: nothing of size d x d.
    """
    origin = np.zeros(f.d, dtype=int)
    if f.exact:
        bends = f.loss.curvature(f.predictions(origin), f.y) / f.examples
        H = np.matmul(f.X.T, bends[:, None] * f.X)
        return apply(inverse(H + f.lam * np.eye(f.d, dtype=int)), -f.full_gradient(origin))
    w = np.zeros(f.d)
    slope = f.full_gradient(w)
    goal = tolerance * (1 + np.linalg.norm(slope))
    for _ in range(_NEWTON_STEPS):
        size = np.linalg.norm(slope)
        if size <= goal:
            break
        bends = f.loss.curvature(f.predictions(w), f.y) / f.examples

        def image(v: Array, bends: Array = bends) -> Array:
            return f.combined(bends * f.predictions(v)) + f.lam * v

        step = _solved(image, -slope, min(0.1, float(size)))
        length, value, decrease = 1.0, f.objective(w), slope @ step
        while f.objective(w + length * step) > value + 1e-4 * length * decrease + 1e-15 * abs(value) and length > 1e-10:
            length /= 2
        moved = w + length * step
        after = f.full_gradient(moved)
        if length <= 1e-10 or (np.linalg.norm(after) >= size and size <= 1e3 * goal):
            break
        w, slope = moved, after
    return w


def _solved(image: Callable[[Array], Array], right: Array, tolerance: float) -> Array:
    """v with |A v - right| <= tolerance |right|, ``(d,)``, by conjugate gradients from 0; ``image(v)`` is A v."""
    v, residual = np.zeros_like(right), right
    direction, square = residual, residual @ residual
    goal = tolerance**2 * square
    for _ in range(_INNER_STEPS):
        if square <= goal:
            break
        bent = image(direction)
        length = square / (direction @ bent)
        v, residual = v + length * direction, residual - length * bent
        before, square = square, residual @ residual
        direction = residual + square / before * direction
    return v
