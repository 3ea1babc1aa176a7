"""FedDCD with inexact gradient oracles: FedDCD, Algorithm 1 with eq. (7)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import feddcd
from fedtheory.algorithms.dialect import Array, Clients, Distribution, Draw, NamedTuple, Problem, Scalar, method
from fedtheory.algorithms.examples import Example, Given
from fedtheory.learning import solvers
from fedtheory.numbers.rational import is_exact, to_float
from fedtheory.problems.oracles import Oracle
from fedtheory.randomness import Product


class Params(NamedTuple):
    """``tau``, ``Lambda``, ``eta`` as in FedDCD; ``oracle``: how clients approximate grad f_i^*; ``idle``: see below.

    The paper does not say who computes in a round, nor which w_i^{(t-1)} a client that sat out starts from.

    - ``idle="keep"``: only the participants compute; an idle client keeps the w_i that it computed last. This is what
      Algorithm 1 with eq. (7) in its line 5 describes.
    - ``idle="refresh"``: every client calls the oracle in every round, participants alone are heard. Lemma C.2, and so
      Lemma E.1 and Theorem 5.2, need it: their bounds on the oracle's error assume a call by all i at every t.
    """

    tau: int
    Lambda: Array
    eta: Scalar
    oracle: Oracle
    idle: str = "keep"


class State(NamedTuple):
    """``y``: local dual variables y^{(t)}, feasible; ``w``: the clients' last answers w^{(t-1)}, first 0 as printed;
    both ``(..., N, d)``."""

    y: Clients
    w: Clients


class Draws(NamedTuple):
    """``clients (N,)``: the participants I_t; ``oracle``: the randomness of all clients' oracles."""

    clients: Array
    oracle: Draw


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The participating clients, a uniformly random tau-subset (Assumption 3.4), and the oracles' randomness."""
    if params.idle not in ("keep", "refresh"):
        raise ValueError(f"idle must be 'keep' or 'refresh', got {params.idle!r}")
    return Product(Draws, (feddcd.draws(problem, params, state), params.oracle.draws(problem.f)))  # type: ignore[arg-type]


def models(problem: Problem, params: Params, state: State, draw: Draws) -> Array:
    """w^{(t)}, the answers after this round's calls, ``(..., N, d)``: eq. (7) for those who compute.

    The paper's output w^{(T)} is one of these at y^{(T)}, so one call later than the w of the state after T steps.
    """
    answer = params.oracle.answer(problem.f, state.y, state.w, draw.oracle).w
    return answer if params.idle == "refresh" else np.where(draw.clients[..., None], answer, state.w)


def step(problem: Problem, params: Params, state: State, draw: Draws) -> State:
    """One step of FedDCD with inexact gradient oracles."""
    w = models(problem, params, state, draw)
    direction = np.where(draw.clients[..., None], w / params.Lambda[:, None], 0 * w)
    w_hat = feddcd.project(params.Lambda, draw.clients, direction)
    return State(state.y - params.eta * w_hat, w)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    return State(problem.y_star, problem.f.conjugate_gradient(problem.y_star))


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """Dual feasibility: sum_i y_i, ``(..., d)``."""
    return state.y.sum(axis=-2)


def kappa(problem: Problem, tau: int) -> Scalar:
    """The constant (tau - 1) alpha / (32 (N - 1) beta) of Theorem 5.2."""
    return (tau - 1) * problem.mu / (32 * (problem.n - 1) * problem.L)


def theory(problem: Problem, tau: int, oracle: Oracle, idle: str = "keep") -> Params:
    """The parameters of Theorem 5.2, Lambda = I/alpha and eta = 1/4, for an oracle with delta = (1 - kappa)/4.

    Idle clients keep their answers, as printed; the theorem's proof is of ``idle="refresh"``.
    """
    eta = Fraction(1, 4) if is_exact(problem.mu) else 0.25
    return Params(tau, np.full(problem.n, 1 / problem.mu), eta, oracle, idle)


algorithm = method("inexact-feddcd", step, Params, State, draws=draws, fixed_point=fixed_point, invariant=invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "y": f"y <- y - eta {feddcd.PROJECTION}, with the new w",
    "w": "w_i <- the oracle's answer at the old y_i, with w_i as its guess, for participants",
}


def _example(given: Given) -> Any:
    if given.tau < 2:
        return None
    Lambda = to_float(given.problem.f.L)
    return Params(given.tau, Lambda, 0.7, solvers.gradient_descent(given.epochs, 1 / Lambda))


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)
