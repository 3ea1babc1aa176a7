"""LoCoDL without g (Section 3.1) and with partial participation (Remark 2.2): other problems and families for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.compressors import Family
from fedtheory.numbers.rational import Array, apply, inverse, is_exact
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.logistic import Logistic
from fedtheory.problems.optimum import Optimum
from fedtheory.problems.piecewise import PiecewiseQuadratic
from fedtheory.problems.quadratic import Quadratics
from fedtheory.randomness import Distribution, Draw, Product, UniformSubset


def split(problem: Problem) -> Problem:
    """The same problem with a g: f_i - (mu/4)|.|^2 and g = (mu/4)|.|^2, as in Section 3.1.

    Declares mu~ = mu/2 and L~ = L - mu/2. Raises ``ValueError`` if there is a g already, or for functions that cannot
    be changed.
    """
    if problem.g is not None:
        raise ValueError("the problem already has a function g, so its regulariser cannot be split off")
    mu, L, f, d = problem.mu, problem.L, problem.f, problem.d
    half = mu / 2
    known = problem.known
    if known is not None:
        known = Optimum(known.x, known.y - half * known.x[..., None, :], known.kkt)
    return Problem(_less_convex(f, half), share(mu, d), (half, L - half), known)


def share(mu: Any, d: int) -> Quadratics:
    """The g = (mu/4)|.|^2 that the functions give up."""
    identity = np.eye(d, dtype=int)
    zero = 0 * (mu / 2 * identity[:1])
    return Quadratics(mu / 2 * identity[None], zero)


def _less_convex(f: Functions, a: Any) -> Functions:
    """The functions f_i - (a/2)|.|^2, for a below every mu_i (constants of piecewise quadratics are dropped)."""
    if isinstance(f, Quadratics):
        H = f.H - a * np.eye(f.d, dtype=int)
        # (x-c)'H(x-c) - a|x|^2 = (x-c~)'H~(x-c~) + c'Hc - c~'H~c~, with H~ c~ = H c.
        Hc = apply(f.H, f.c)
        c = apply(inverse(H), Hc)
        return Quadratics(H, c, f.v + ((f.c - c) * Hc).sum(axis=-1) / 2)
    if isinstance(f, PiecewiseQuadratic):
        return replace(f, slopes=tuple(slope - a for slope in f.slopes), tilt=f.tilt - a * f.kinks[0])
    if isinstance(f, Logistic):
        return replace(f, mu=f.mu - a)
    raise ValueError(
        f"{type(f).__name__} functions cannot be split: quadratics, piecewise quadratics and logistic ones can"
    )


class Participation(NamedTuple):
    """``sampled (..., n)``: the clients that participate; ``compression``: the randomness of all compressors."""

    sampled: Array
    compression: Draw


@dataclass(frozen=True)
class Participating(Family):
    """A family of which m clients, drawn uniformly, send (n/m) C_i(x_i), the others nothing (d_i = 0).

    For LoCoDL with rho = 1, by which the local models of idle clients are never used (Remark 2.2). The compressors of
    the clients at work are independent.
    """

    m: int = 1
    joint: str = "sampled"

    def __post_init__(self) -> None:
        if not 1 <= self.m <= self.n:
            raise ValueError(f"between 1 and all {self.n} clients participate, got m = {self.m}")
        if self.joint != "sampled":
            raise ValueError("a family with partial participation takes no other dependence")

    @property
    def omega(self) -> Any:
        """(n/m)(1 + omega) - 1."""
        return Fraction(self.n, self.m) * (1 + self.compressor.omega) - 1

    @property
    def omega_av(self) -> Any:
        r"""$((n/m)(1+\omega) - q)/n$, $q = \frac{n(m-1)}{m(n-1)}$ (1 where n = 1).

        From $E|\sum_i C_i(x_i)|^2 = q |\sum_i x_i|^2 + ((n/m)(1+\omega) - q) \sum_i |x_i|^2$ at worst, and $q \le 1$.
        """
        n, m = self.n, self.m
        q = Fraction(n * (m - 1), m * (n - 1)) if n > 1 else Fraction(1)
        return (Fraction(n, m) * (1 + self.compressor.omega) - q) / n

    @property
    def draws(self) -> Distribution:
        """Who takes part, and what every compressor draws."""
        compression = Family(self.compressor, self.n).draws
        return Product(Participation, (UniformSubset(self.n, self.m), compression))

    def apply(self, draw: Participation, x: Array) -> Array:
        """(n/m) C_i(x_i) of those who take part and 0 of the others, for ``x (..., n, d)``."""
        value = self.compressor.apply(draw.compression, x)
        scale = Fraction(self.n, self.m)
        value = (scale if is_exact(value) else float(scale)) * value
        return np.where(draw.sampled[..., None], value, 0 * value)
