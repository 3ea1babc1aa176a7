"""Accelerated random block coordinate descent for min sum_i h_i(x_i) with sum_i x_i = 0: FedDCD, Algorithm 4.

Both sets of a step are drawn by the L^{-1}-weighted sampling of Appendix B. The problem's ``f`` holds the h_i; the
paper takes scalar blocks, here they have any dimension d.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import rbcd
from fedtheory.algorithms.accfeddcd import Subsets, acceleration
from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Scalar, method, zeros
from fedtheory.randomness import Product, WeightedSubset


class Params(NamedTuple):
    """``tau``: blocks in each of the two sets; ``L (n,)``: smoothness constants of the h_i; ``a``, ``b``: weights."""

    tau: int
    L: Array
    a: Scalar
    b: Scalar


class State(NamedTuple):
    """``x``, ``z``: iterates of steps to come; ``y``, ``u``: combinations last computed; all ``(..., n, d)``."""

    x: Array
    z: Array
    y: Array
    u: Array


#: The effect of a step on the parts of the state, where the h_i are a problem's f_i.
PARTS = {
    "y": "y <- (1 - a) x + a z; u <- (a^2 z + b y)/(a^2 + b)",
    "x": f"x <- y - {rbcd.SCALED}, s = grad h(y), h_i = f_i, for a first set I, with the new y",
    "z": "z <- u - (a r/(a^2 + b)) G_I grad h(y) for a second set I, r = (tau - 1)/(n - 1), "
    "a = s/(1/r + s), b = s^2 a r^2, s = sqrt(mu/L_max), with the new u",
}


def init(problem: Problem, params: Params, x: Array | None = None, z: Array | None = None) -> State:
    """x^0 = z^0 = 0 unless feasible ``x`` is given; then z^0 = x^0 unless feasible ``z`` is given."""
    x = zeros(problem.n, problem.d) if x is None else x
    return State(x, x if z is None else z, x, x)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    one = WeightedSubset(1 / params.L, params.tau)
    return Product(Subsets, (one, one))


def step(problem: Problem, params: Params, state: State, draw: Subsets) -> State:
    """One step, deterministic given its draw."""
    tau, L, a, b = params
    y = (1 - a) * state.x + a * state.z
    u = (a**2 * state.z + b * y) / (a**2 + b)
    gradient = problem.f.gradient(y)
    long = a * (tau - 1) / ((problem.n - 1) * (a**2 + b))
    return State(y - rbcd.G(L, draw.first, gradient), u - long * rbcd.G(L, draw.second, gradient), y, u)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    return State(*(rbcd.constrained_minimiser(problem),) * 4)


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """sum_i x_i and sum_i z_i, ``(..., 2 d)``."""
    return np.concatenate([state.x.sum(axis=-2), state.z.sum(axis=-2)], axis=-1)


def theory(problem: Problem, tau: int, L: Array | None = None) -> Params:
    """The parameters printed in line 51, for L_i those of the h_i unless given, and mu the problem's."""
    L = problem.f.L if L is None else L
    return Params(tau, L, *acceleration(problem.mu / L.max(), tau, problem.n))


algorithm = method("accelerated-rbcd", step, Params, State, init, draws, fixed_point, invariant)
