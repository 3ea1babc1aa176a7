"""CoCoA+: blocks of the dual solved to relative accuracy Theta and added (Ma et al. 2015; Federated Optimization, A.3).

With exact solutions, gamma = 1 and sigma' = sigma it is Algorithm 6. A local solver is a value: :func:`scaled` is the
worst that accuracy Theta allows along the exact solution; :func:`passes` runs coordinate ascent, on sparse data too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Draw, NamedTuple, Scalar, Table, edits, method, zeros
from fedtheory.algorithms.examples import Example, Given, Picks
from fedtheory.algorithms.selections import ClientPermutations
from fedtheory.learning.dual_blocks import maximisers, one_pass
from fedtheory.learning.local_features import LocalFeatures, local_features
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.step_major import Block, blocks, entries
from fedtheory.randomness import Constant, Independent


@dataclass(frozen=True)
class Solver:
    """``draws(f)``: its randomness; ``answer(f, alpha, w, sigma, draw)``: dual steps of all examples, ``(..., n)``."""

    name: str
    draws: Callable[[LinearModels], Distribution]
    answer: Callable[[LinearModels, Array, Array, Scalar, Draw], Array]


def scaled(contraction: Scalar = 0) -> Solver:
    """(1 - ``contraction``) times the exact solution: Theta = contraction^2 for the squared loss, with equality.

    For any loss Theta <= contraction, by concavity. Deterministic, and exact on fractions; 0 is the exact solver.
    """
    if not 0 <= contraction < 1:
        raise ValueError(f"the contraction of a local solver must be in [0, 1), got {contraction}")

    def answer(f: LinearModels, alpha: Array, w: Array, sigma: Scalar, draw: Draw) -> Array:
        return (1 - contraction) * maximisers(f, alpha, w, sigma)

    return Solver(f"scaled({contraction})", lambda f: Constant(), answer)


def passes(count: int) -> Solver:
    """``count`` passes of exact coordinate ascent, each in a random order; small dense data."""
    if count < 1:
        raise ValueError(f"the number of passes must be positive, got {count}")

    def answer(f: LinearModels, alpha: Array, w: Array, sigma: Scalar, draw: Draw) -> Array:
        lead = np.broadcast_shapes(alpha.shape[:-1], w.shape[:-1], draw.shape[:-2])
        u = np.zeros((*lead, f.examples), dtype=np.result_type(alpha, f.y))
        for k in range(count):
            u = one_pass(f, alpha, w, sigma, u, draw[..., k, :])
        return u

    return Solver(f"passes({count})", lambda f: Independent(ClientPermutations(f.sizes), count), answer)


@dataclass(frozen=True)
class SparsePasses:
    """:func:`passes` on sparse data, steps batched over clients; one replica. Made for one family of models."""

    f: LinearModels
    count: int

    @cached_property
    def local(self) -> LocalFeatures:
        """The features of each client's examples."""
        return local_features(self.f)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The clients, in blocks of about the same number of examples."""
        return blocks(self.f.sizes)

    def draws(self, f: LinearModels) -> Distribution:
        """An order of the examples of each client, for each pass."""
        return Independent(ClientPermutations(f.sizes), self.count)

    def answer(self, f: LinearModels, alpha: Array, w: Array, sigma: object, draw: Draw) -> Array:
        """The changes of the dual variables, ``(n,)``, after the passes from ``alpha (n,)`` at the model ``w (d,)``."""
        coupling = sigma / (f.lam * f.examples)
        u, predictions = np.zeros(f.examples), f.predictions(w)
        image = np.zeros(len(self.local.feature))
        for order in draw:
            for block in self.blocks:
                found = entries(block, self.local.Z, order)
                for here, part in found.steps:
                    rows, p, value, row = found.rows[here], found.position[part], found.value[part], found.row[part]
                    prediction = predictions[rows] + np.bincount(row, value * image[p], len(rows))
                    rise = f.loss.ascent(alpha[rows] + u[rows], prediction, coupling * f.squared_norms[rows], f.y[rows])
                    image[p] += coupling * value * rise[row]
                    u[rows] += rise
        return u


class Params(NamedTuple):
    """``sigma``: sigma', at least gamma times the least sigma (gamma K always is); ``gamma``: 1 adds the steps."""

    sigma: Scalar
    gamma: Scalar = 1
    solver: Solver | SparsePasses = scaled()


class State(NamedTuple):
    """``alpha (..., n)``: the dual variables; ``w (..., d)``: X alpha / (lambda n)."""

    alpha: Array
    w: Array


def init(problem: LinearProblem, params: Params, alpha: Array | None = None) -> State:
    """alpha^0 = 0 unless given."""
    alpha = zeros(problem.f.examples) if alpha is None else alpha
    return State(alpha, problem.f.primal(alpha))


def draws(problem: LinearProblem, params: Params, state: State) -> Distribution:
    """The randomness of the local solver."""
    return params.solver.draws(problem.f)


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step of CoCoA+."""
    f = problem.f
    u = params.gamma * params.solver.answer(f, state.alpha, state.w, params.sigma, draw)
    return State(state.alpha + u, state.w + f.primal(u))


def fixed_point(problem: LinearProblem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    alpha = problem.f.dual_of(problem.x_star)
    return State(alpha, problem.f.primal(alpha))


def invariant(problem: LinearProblem, params: Params, state: State) -> Array:
    """w - X alpha / (lambda n), ``(..., d)``."""
    return state.w - problem.f.primal(state.alpha)


algorithm = method("cocoa-plus", step, Params, State, init, draws, fixed_point, invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "alpha": "alpha <- alpha + gamma u, u_k a local solution: ascent on each example once in a random order, "
    "delta = (y_i - x_i'(w + sigma'/(lambda n) X_k u_k) - alpha_i - u_i)/(1 + sigma' |x_i|^2/(lambda n))",
    "w": "w <- w + gamma/(lambda n) sum_k X_k u_k",
}


def _example(given: Given) -> Params:
    solver = scaled() if "exact solver" in given.features else passes(1)
    return Params(given.problem.n, 1 if given.epochs == 1 else 0.75, solver)


#: A small problem's parameters.
EXAMPLE = Example("rows", _example)


def _jacobi(f: LinearModels, params: Params, state: State, draw: Draw) -> Array:
    """Local steps that do not see each other: all from the same u = 0."""
    coupling = params.sigma * f.squared_norms / (f.lam * f.examples)
    return f.loss.ascent(state.alpha, f.predictions(state.w), coupling, f.y) + 0 * draw[..., 0, :]


def _in_rows(f: LinearModels, params: Params, state: State, draw: Draw) -> Array:
    """A pass over the examples in the order of the table, without draws."""
    u = one_pass(f, state.alpha, state.w, params.sigma, 0 * state.alpha + 0.0, np.arange(f.examples))
    return u + 0 * draw[..., 0, :]


def _with_replacement(problem: Any, params: Params, state: object) -> Distribution:
    """The rows of CoCoA+'s passes, with replacement."""
    passes = getattr(params.solver.draws(problem.f), "n", 0)
    return Independent(Picks(problem.f.sizes), passes) if passes else Constant()


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
alpha: the steps are averaged instead of added: gamma is 1/K
    u = params.gamma => u = 1 / f.n
alpha: sigma' is left out of the local subproblems (it is 1)
    params.sigma, draw) => 1, draw)
alpha: the local steps of one pass do not see each other
    params.solver.answer(f, state.alpha, state.w, params.sigma, draw) => _jacobi(f, params, state, draw)
alpha: the local subproblems leave out the dual variables alpha
    answer(f, state.alpha => answer(f, 0 * state.alpha
alpha: the pass goes through the examples in the same order every time
    params.solver.answer(f, state.alpha, state.w, params.sigma, draw) => _in_rows(f, params, state, draw)
w: w lacks its division by n
    state.w + f.primal(u) => state.w + f.examples * f.primal(u)
w: w lacks its division by lambda
    state.w + f.primal(u) => state.w + f.lam * f.primal(u)
w: w is averaged over the clients instead of added
    state.w + f.primal(u) => state.w + f.primal(u) / f.n
"""),
    ("a client's examples are drawn with replacement instead of each once", "", {"draws": _with_replacement}),
)
