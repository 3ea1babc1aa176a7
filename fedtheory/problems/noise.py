"""Noise in what clients answer, enumerable and exact on fractions: stochastic gradients of a given variance, or of one
that the step bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, exact, is_exact, root_below
from fedtheory.numbers.scalar import Scalar
from fedtheory.randomness import Bernoulli, Distribution, Draw, Independent, Shared


@dataclass(frozen=True)
class Noise:
    """Noise of mean zero and of variance sigma^2/batch along a unit vector, the mean of ``batch`` coins' worth.

    Of each coin it is ``skew`` sigma with the probability 1/(1 + skew^2), else -sigma/skew: symmetric for a skew of 1.
    ``direction (d,)``: of length 1; ``joint``: "independent", or "shared" where all clients have the same noise;
    ``turning``: of the other sign where the first entry of a vector is negative, so that one draw at two vectors need
    not be the same noise.
    """

    n: int
    sigma: Scalar
    direction: Array
    batch: int = 1
    skew: Any = Fraction(1)
    joint: str = "independent"
    turning: bool = False

    @property
    def name(self) -> str:
        """A description in words."""
        turning = ", turned where the first entry is negative" if self.turning else ""
        return f"noise of {self.batch} coin{'s' if self.batch != 1 else ''} of the skew {self.skew}{turning}"

    @property
    def variance(self) -> Scalar:
        """Its variance, the same for all vectors that it is added to."""
        return self.sigma**2 / self.batch

    @property
    def draws(self) -> Distribution:
        """Coins of each client: ``(n, batch)``."""
        coins = Independent(Bernoulli(1 / (1 + self.skew**2)), self.batch)
        return Independent(coins, self.n) if self.joint == "independent" else Shared(coins, self.n)

    def apply(self, draw: Draw, x: Array) -> Array:
        """The vectors ``x (..., n, d)`` with their noise."""
        sizes = np.where(draw, self.skew, -1 / self.skew).sum(axis=-1) / self.batch
        if self.turning:
            sizes = sizes * np.where(x[..., 0] < 0, -1, 1)
        added = self.sigma * sizes[..., None] * self.direction
        return x + (added if is_exact(x) else added.astype(float))


@dataclass(frozen=True)
class NoiseWithin:
    """Noise of mean zero along a unit vector, whose variance is ``share``^2 of what the step allows, or a little less
    where that is not the square of a fraction.

    It is ``skew`` times its size with the probability 1/(1 + skew^2), else -1/skew times. ``direction (d,)``,
    ``joint`` and ``turning`` are as of :class:`Noise`.
    """

    n: int
    share: Fraction
    direction: Array
    skew: Any = Fraction(1)
    joint: str = "independent"
    turning: bool = False

    @property
    def name(self) -> str:
        """A description in words."""
        turning = ", turned where the first entry is negative" if self.turning else ""
        share = "" if self.share == 1 else f"{Fraction(self.share)} of "
        return f"noise of {share}the length allowed, of the skew {self.skew}{turning}"

    @property
    def draws(self) -> Distribution:
        """A coin of each client: ``(n,)``."""
        coin = Bernoulli(1 / (1 + self.skew**2))
        return Independent(coin, self.n) if self.joint == "independent" else Shared(coin, self.n)

    def apply(self, draw: Draw, x: Array, bound: Any) -> Array:
        """The vectors ``x (..., n, d)`` with noise of variances of at most ``bound``, a number or ``(..., n)``.

        ``ValueError`` where ``bound`` is negative, or of another shape.
        """
        kept = exact if is_exact(self.direction) else np.asarray
        x, bound = kept(x), kept(bound)
        if bound.ndim not in (0, x.ndim - 1):
            raise ValueError(
                f"noise is given a bound of shape {bound.shape} for vectors of shape {x.shape}: one number for each "
                "client is due, as by bound[..., None] for all of them"
            )
        if is_exact(bound) and (bound < 0).any():
            raise ValueError(f"no noise is there: its variance is at most {bound.min()}")
        sizes = np.where(draw, self.skew, -1 / self.skew)
        if self.turning:
            sizes = sizes * np.where(x[..., 0] < 0, -1, 1)
        added = (self.share * sizes * root_below(bound))[..., None] * self.direction
        return x + added
