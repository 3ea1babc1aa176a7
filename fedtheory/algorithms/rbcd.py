"""Random block coordinate descent for min h(x) = sum_i h_i(x_i) subject to sum_i x_i = 0: FedDCD, Appendix B.

One step is x <- x - G_I grad h(x) with I drawn by the L^{-1}-weighted sampling of Lemma B.3. The problem's ``f`` holds
the h_i; the paper takes scalar blocks, here they have any dimension d.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Clients, Distribution, NamedTuple, Problem, method
from fedtheory.algorithms.feddcd import project
from fedtheory.problems.constrained import multiplier
from fedtheory.randomness import WeightedSubset


class Params(NamedTuple):
    """``tau``: blocks a step; ``L``: smoothness constants of the h_i ``(n,)``."""

    tau: int
    L: Array


class State(NamedTuple):
    """``x``: all blocks, ``(..., n, d)``, feasible."""

    x: Clients


def G(L: Array, mask: Array, gradient: Array) -> Array:
    """G_I applied to ``gradient (..., n, d)``: the L-norm projection on C_I of the scaled gradient restricted to I."""
    return project(L, mask, np.where(mask[..., None], gradient / L[:, None], 0 * gradient))


#: The value of :func:`G` at a vector s, in words.
SCALED = "G_I s [(s_i - m)/L_i for blocks in I, m the mean of their s_i with weights 1/L_i; 0 for others]"
#: The effect of a step on the parts of the state, where the h_i are a problem's f_i.
PARTS = {"x": f"x <- x - {SCALED}, s = grad h(x), h_i = f_i"}


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return WeightedSubset(1 / params.L, params.tau)


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """One step of random block coordinate descent for min h."""
    return State(state.x - G(params.L, draw, problem.f.gradient(state.x)))


def constrained_minimiser(problem: Problem) -> Array:
    """argmin h on C for quadratic h: x_i = grad h_i^*(lambda), which has the gradient lambda for every i."""
    return problem.f.conjugate_gradient(multiplier(problem)[..., None, :])


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    return State(constrained_minimiser(problem))


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """sum_i x_i, ``(..., d)``."""
    return state.x.sum(axis=-2)


algorithm = method("rbcd", step, Params, State, draws=draws, fixed_point=fixed_point, invariant=invariant)
