"""Accelerated federated dual coordinate descent: FedDCD, Algorithm 2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import feddcd
from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Product, Scalar, method, zeros
from fedtheory.numbers.rational import evaluate

_ratio = sympy.Symbol("ratio", positive=True)


class Params(NamedTuple):
    """``tau``: clients in each of the two sets; ``Lambda (N,)``: diagonal scaling; ``a``, ``b``: see ``theory``."""

    tau: int
    Lambda: Array
    a: Scalar
    b: Scalar


class State(NamedTuple):
    """``y``, ``z``: dual variables of rounds to come; ``v``, ``u``: combinations last computed; all ``(..., N, d)``."""

    y: Array
    z: Array
    v: Array
    u: Array


class Subsets(NamedTuple):
    """``first``, ``second``: the participants I_t^1 and I_t^2 ``(N,)``: an iteration is two exchanges with clients."""

    first: Array
    second: Array


def init(problem: Problem, params: Params, y: Array | None = None, z: Array | None = None) -> State:
    """y = z = v = 0 unless feasible ``y`` is given; then z^{(0)} = y^{(0)} unless feasible ``z`` is given.

    u^{(0)} is computed before it is used; here it starts as v^{(0)} = y^{(0)}.
    """
    y = zeros(problem.n, problem.d) if y is None else y
    return State(y, y if z is None else z, y, y)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """Two independent uniformly random tau-subsets."""
    one = feddcd.draws(problem, params, state)  # type: ignore[arg-type]
    return Product(Subsets, (one, one))


def step(problem: Problem, params: Params, state: State, draw: Subsets) -> State:
    """One step of accelerated federated dual coordinate descent."""
    tau, Lambda, a, b = params
    v = (1 - a) * state.y + a * state.z
    u = (a**2 * state.z + b * v) / (a**2 + b)
    scaled = problem.f.conjugate_gradient(v) / Lambda[:, None]

    def w_hat(mask: Array) -> Array:
        return feddcd.project(Lambda, mask, np.where(mask[..., None], scaled, 0 * scaled))

    # a r / (a^2 + b) with r = (tau - 1)/(N - 1), written so that it has the type of a and b.
    long = a * (tau - 1) / ((problem.n - 1) * (a**2 + b))
    return State(v - w_hat(draw.first), u - long * w_hat(draw.second), v, u)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    return State(*(problem.y_star,) * 4)


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """Dual feasibility of y and z: sum_i y_i and sum_i z_i, ``(..., 2 d)``."""
    return np.concatenate([state.y.sum(axis=-2), state.z.sum(axis=-2)], axis=-1)


def acceleration(ratio: Scalar, tau: int, n: int) -> tuple[Any, Any]:
    """(a, b) of Algorithms 2 and 4 for ``ratio`` = alpha/beta or mu/L_max: a = s/(1/r + s), b = ratio a r^2.

    Here s = sqrt(ratio) and r = (tau - 1)/(n - 1). Algorithm 2 as extracted from the paper shows "1/z" for 1/r;
    Algorithm 4 and the rate of Theorem 6.1 settle it. Fractions if ``ratio`` is one, and then ``ValueError`` unless it
    is the square of a fraction.
    """
    s = evaluate(sympy.sqrt(_ratio), {_ratio: ratio})
    if isinstance(ratio, int | Fraction) and not isinstance(s, Fraction):
        raise ValueError(f"a and b are rational only for the square of a fraction, got the condition ratio {ratio}")
    a = s * (tau - 1) / ((n - 1) + s * (tau - 1))
    return a, ratio * a * (tau - 1) ** 2 / (n - 1) ** 2


def theory(problem: Problem, tau: int) -> Params:
    """The parameters of Theorem 6.1: Lambda = I/alpha, and a, b as printed in line 15."""
    a, b = acceleration(problem.mu / problem.L, tau, problem.n)
    return Params(tau, np.full(problem.n, 1 / problem.mu), a, b)


algorithm = method("accfeddcd", step, Params, State, init, draws, fixed_point, invariant)

LINES = {
    "y": f"y <- v - {feddcd.PROJECTION}, w = grad f^*(v), for a first set I",
    "z": "z <- u - (a r/(a^2 + b)) proj_{C_I}(Lambda^-1 w) for a second set I, r = (tau - 1)/(N - 1), "
    "a = s/(1/r + s), b = s^2 a r^2, s = sqrt(alpha/beta)",
    "v": "v <- (1 - a) y + a z",
    "u": "u <- (a^2 z + b v)/(a^2 + b), with the new v",
}
