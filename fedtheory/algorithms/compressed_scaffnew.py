"""CompressedScaffnew: Scaffnew with permutation-based compression (Condat, Agarsky, Richtarik 2022).

Minimises (1/n) sum_i f_i. All clients agree on one random permutation of the columns of a d x n template of zeros and
ones; client i sends the entries that its column marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial, prod

import numpy as np
from sympy.utilities.iterables import multiset_permutations

from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Scalar, method
from fedtheory.algorithms.scaffnew import State, invariant
from fedtheory.randomness import Bernoulli, Product, Size, check_enumerable


class Params(NamedTuple):
    """``gamma``, ``eta``: stepsizes; ``p``: communication probability; ``s``: clients that send each coordinate."""

    gamma: Scalar
    eta: Scalar
    p: Scalar
    s: int


class Coins(NamedTuple):
    """``theta (...)``: whether this iteration communicates; ``mask (..., n, d)``: which entries each client sends."""

    theta: Array
    mask: Array


@dataclass(frozen=True)
class Pattern:
    """The random masks ``(n, d)``: the columns of the template in random order, one a client.

    Row k of the template has s ones, in the columns s k, ..., s k + s - 1 modulo n. Where s d < n (few coordinates,
    many clients) they do not wrap around: s d clients send one entry each, the others nothing. Else every client sends
    floor(s d/n) or ceil(s d/n) entries.
    """

    n: int
    d: int
    s: int

    def __post_init__(self) -> None:
        if not 2 <= self.s <= self.n:
            raise ValueError(f"s must be between 2 and the {self.n} clients, got {self.s}")

    @cached_property
    def columns(self) -> Array:
        """The columns of the template, as rows: ``(n, d)`` booleans."""
        out = np.zeros((self.n, self.d), dtype=bool)
        for k in range(self.d):
            out[(self.s * k + np.arange(self.s)) % self.n, k] = True
        return out

    @cached_property
    def _distinct(self) -> tuple[Array, Array, Array]:
        """Different columns, which of them each column is, and how often each occurs."""
        values, which, counts = np.unique(self.columns, axis=0, return_inverse=True, return_counts=True)
        return values, which.reshape(-1), counts

    @property
    def count(self) -> int:
        """Permutations, those that exchange equal columns taken as one; all are equally likely."""
        return factorial(self.n) // prod(factorial(int(c)) for c in self._distinct[2])

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return self.columns[np.argsort(rng.random((*size, self.n)), axis=-1)]

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(self.count)
        values, which, _ = self._distinct
        masks = values[np.array(list(multiset_permutations(which.tolist())))]
        share = Fraction(1, self.count)
        return masks, np.full(len(masks), share, dtype=object) if exact else np.full(len(masks), float(share))


def reals(n: int, d: int, s: int) -> int:
    """Uplink of one communication: the largest number of entries that a client sends, ceil(s d/n)."""
    return -(-s * d // n)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Product(Coins, (Bernoulli(params.p), Pattern(problem.n, problem.d, params.s)))


def step(problem: Problem, params: Params, state: State, draw: Coins) -> State:
    """One step, without randomness of its own: CompressedScaffnew."""
    gamma, eta, p, s = params
    x_hat = state.x - gamma * problem.f.gradient(state.x) + gamma * state.h
    x_bar = np.where(draw.mask, x_hat, 0 * x_hat).sum(axis=-2, keepdims=True) / s
    correction = np.where(draw.mask, x_bar - x_hat, 0 * x_hat)
    talk = draw.theta[..., None, None]
    return State(
        x=np.where(talk, x_bar, x_hat),
        h=np.where(talk, state.h + p * eta / gamma * correction, state.h),
    )


def theory(problem: Problem, s: int | None = None, p: float | None = None) -> Params:
    """gamma = 2/(L + mu), eta = n (s-1)/(s (n-1)), s = max(2, floor(n/d)), p = min(1, sqrt(n/(s kappa))).

    The rate improves with p^2 until 1 - p^2 eta (s-1)/(n-1) meets (1 - gamma mu)^2; s and p may be given.
    """
    n, d, mu, L = problem.n, problem.d, problem.mu, problem.L
    s = max(2, n // d) if s is None else s
    Pattern(n, d, s)
    p = min(1.0, float(np.sqrt(n * mu / (s * L)))) if p is None else p
    return Params(2 / (L + mu), n * (s - 1) / (s * (n - 1)), p, s)


algorithm = method("compressed-scaffnew", step, Params, State, draws=draws, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x_i <- x_bar = (1/s) sum_j q_j . x_hat_j with probability p, else x_hat_i = x_i - gamma (grad f_i - h_i)",
    "h": "h_i <- h_i + (p eta/gamma) q_i . (x_bar - x_hat_i), where there is a communication",
}
