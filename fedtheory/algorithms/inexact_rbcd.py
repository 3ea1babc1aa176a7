"""Inexact random block coordinate descent for min sum_i h_i(x_i) with sum_i x_i = 0: FedDCD, Algorithm 3.

The problem's ``f`` holds the h_i; the paper takes scalar blocks, here they have any dimension d.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from fedtheory.algorithms import rbcd
from fedtheory.algorithms.dialect import Array, Clients, Distribution, Draw, NamedTuple, Problem, Scalar, method
from fedtheory.numbers.rational import evaluate, inverse, is_exact
from fedtheory.problems.functions import Functions
from fedtheory.problems.oracles import Oracle
from fedtheory.randomness import Product, WeightedSubset

_ratio = sympy.Symbol("ratio", positive=True)


@dataclass(frozen=True)
class Conjugate:
    """The functions h_1^*, ..., h_n^*, whose conjugates are the h_i: an oracle for them approximates grad h_i."""

    h: Functions

    @property
    def n(self) -> int:
        """Number of blocks."""
        return self.h.n

    @property
    def d(self) -> int:
        """Dimension of a block."""
        return self.h.d

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        return 1 / self.h.L

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""
        return 1 / self.h.mu

    def value(self, x: Array) -> Array:
        """h_i^*(x_i): ``(..., n)`` for ``x (..., n, d)``."""
        return self.h.conjugate(x)

    def gradient(self, x: Array) -> Array:
        """grad h_i^*(x_i), in the shape of ``x (..., n, d)``."""
        return self.h.conjugate_gradient(x)

    def hessian(self, x: Array) -> Array:
        """The inverse of the Hessian of h_i at grad h_i^*(x_i): ``(..., n, d, d)``."""
        return inverse(np.array(self.h.hessian(self.h.conjugate_gradient(x))))

    def conjugate(self, y: Array) -> Array:
        """h_i(y_i): ``(..., n)`` for ``y (..., n, d)``."""
        return self.h.value(y)

    def conjugate_gradient(self, y: Array) -> Array:
        """grad h_i(y_i), in the shape of ``y (..., n, d)``."""
        return self.h.gradient(y)


class Params(NamedTuple):
    """``tau``: blocks a step; ``L (n,)``: smoothness constants; ``eta``: step length; ``oracle``: for the grad h_i.

    ``idle``: the gradient estimate of a block outside I_t, from which its next call to the oracle starts.

    - ``"reset"``: it becomes 0, as line 46 is printed. Then the optimum is not a fixed point: the call after an idle
    step starts from 0, not from an earlier answer.
    - ``"keep"``: it stays as it was computed last.
    - ``"refresh"``: every block calls its oracle in every step, as the recursion that proves Lemma C.2 assumes.
    """

    tau: int
    L: Array
    eta: Scalar
    oracle: Oracle
    idle: str = "reset"


class State(NamedTuple):
    """``x``: all blocks x^{(t)}, feasible; ``slope``: the estimates of grad h(x^{(t-1)}), 0 before the first step,
    where the paper gives none; both ``(..., n, d)``."""

    x: Clients
    slope: Clients


#: The effect of a step on the parts of the state, where the h_i are a problem's f_i.
PARTS = {
    "x": f"x <- x - eta {rbcd.SCALED}, s = slope, the new one, h_i = f_i",
    "slope": "slope_i <- the oracle's answer for h_i'(x_i), with slope_i as its guess, for blocks in I; for others "
    "it is 0, kept, or an answer too (idle: reset, keep, refresh)",
}


class Draws(NamedTuple):
    """``blocks (n,)``: the set I_t; ``oracle``: the randomness of the oracles."""

    blocks: Array
    oracle: Draw


class Constants(NamedTuple):
    """``kappa``, ``delta``, ``eta`` of Theorem C.1; its oracle is delta/2-inexact."""

    kappa: Scalar
    delta: Scalar
    eta: Scalar


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The set I_t, by the L^{-1}-weighted sampling of Appendix B, and the oracles' randomness."""
    if params.idle not in ("reset", "keep", "refresh"):
        raise ValueError(f"idle must be 'reset', 'keep' or 'refresh', got {params.idle!r}")
    return Product(Draws, (WeightedSubset(1 / params.L, params.tau), params.oracle.draws(Conjugate(problem.f))))


def slopes(problem: Problem, params: Params, state: State, draw: Draws) -> Array:
    """The estimates of grad h(x^{(t)}) after this step's calls, ``(..., n, d)``: lines 46 to 48."""
    answer = params.oracle.answer(Conjugate(problem.f), state.x, state.slope, draw.oracle).w
    if params.idle == "refresh":
        return answer
    return np.where(draw.blocks[..., None], answer, state.slope if params.idle == "keep" else 0 * answer)


def step(problem: Problem, params: Params, state: State, draw: Draws) -> State:
    """One step, deterministic given its draw."""
    slope = slopes(problem, params, state, draw)
    return State(state.x - params.eta * rbcd.G(params.L, draw.blocks, slope), slope)


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum with exact estimates; with ``idle="reset"`` the method leaves it."""
    x = rbcd.constrained_minimiser(problem)
    return State(x, problem.f.gradient(x))


def constants(mu: Scalar, L: Array, tau: int) -> Constants:
    """kappa, delta and eta as printed in Theorem C.1, for ``L (n,)``; fractions where they are rational."""
    low, high = min(L), max(L)
    quarter, r = Fraction(1, 4), Fraction(tau - 1, len(L) - 1)
    if not is_exact(mu):
        quarter, r = float(quarter), float(r)  # type: ignore[assignment]
    ratio = low**3 / (r * high**3)
    eta = quarter if ratio >= 1 else quarter * evaluate(sympy.sqrt(_ratio), {_ratio: ratio})
    kappa = r * mu / (8 * high) * eta
    return Constants(kappa, (1 - kappa) / 2, eta)


algorithm = method("inexact-rbcd", step, Params, State, draws=draws, fixed_point=fixed_point, invariant=rbcd.invariant)
