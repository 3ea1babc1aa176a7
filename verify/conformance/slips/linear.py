"""What goes wrong in FSVRG, naive FSVRG, DANE and CoCoA+, whose clients hold examples of one linear model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from fedtheory.algorithms import cocoa_plus, dane, fsvrg, naive_fsvrg
from fedtheory.numbers.rational import Array
from fedtheory.problems.dual_blocks import one_pass
from fedtheory.randomness import Constant, Distribution, Independent, Size, check_enumerable
from verify.conformance.slips.changes import Step, Table, changed


def _fsvrg(
    scaled: Literal["difference", "all", "nothing"] = "difference",
    weights: Literal["shares", "equal"] = "shares",
    aggregated: bool = True,
    divided: bool = True,
    snapshot: Literal["server", "none", "local"] = "server",
) -> Step:
    """FSVRG that scales something else by S_k, weighs clients otherwise, leaves out A or the division of h by n_k, or
    corrects by something else than gradients at the server's model."""

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        f, w = problem.f, state.w[..., None, :]
        full = f.gradient(w) if snapshot == "local" else f.full_gradient(state.w)[..., None, :]
        h = params.h / (f.sizes if divided else np.ones(f.n))
        local = np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))
        for t in range(f.sizes.max()):
            rows = draw[..., f.starts + np.minimum(t, f.sizes - 1)]
            change = f.example_gradient(local, rows)
            if snapshot != "none":
                change = change - f.example_gradient(w, rows)
            slope = {
                "difference": params.S * change + (0 if snapshot == "none" else full),
                "all": params.S * (change + full),
                "nothing": change + full,
            }[scaled]
            local = np.where((t < f.sizes)[:, None], local - h[:, None] * slope, local)
        p = f.shares if weights == "shares" else np.full(f.n, 1 / f.n)
        return fsvrg.State(state.w + (params.A if aggregated else 1) * (p[:, None] * (local - w)).sum(axis=-2))

    return step


def _naive(weighted: bool, local_full: bool) -> Step:
    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        f, w = problem.f, state.w[..., None, :]
        full = f.gradient(w) if local_full else f.full_gradient(state.w)[..., None, :]
        local = np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))
        for t in range(params.m):
            rows = draw[..., t]
            local = local - params.h * (f.example_gradient(local, rows) - f.example_gradient(w, rows) + full)
        p = f.shares if weighted else np.full(f.n, 1 / f.n)
        return naive_fsvrg.State(state.w + (p[:, None] * (local - w)).sum(axis=-2))

    return step


def _dane(sign: int = 1, own: int = 1, weighted: bool = False) -> Step:
    """DANE with a_k = sign (own grad F_k(w) - eta grad f(w)), or the average weighted by n_k/n."""

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        f, w = problem.f, state.w
        a = sign * (own * f.gradient(w[..., None, :]) - params.eta * f.full_gradient(w)[..., None, :])
        models = dane.perturbed_minimisers(problem, w, a, params.mu)
        p = f.shares if weighted else np.full(f.n, 1 / f.n)
        return dane.State((p[:, None] * models).sum(axis=-2))

    return step


def _cocoa(sigma: Any = None, gamma: Any = None, start: bool = True) -> Step:
    """CoCoA+ with another sigma' or gamma; without ``start`` local steps do not see the dual variables they add to."""

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        f = problem.f
        inside = params.sigma if sigma is None else sigma(f)
        alpha = state.alpha if start else 0 * state.alpha
        u = (params.gamma if gamma is None else gamma(f)) * params.solver.answer(f, alpha, state.w, inside, draw)
        return cocoa_plus.State(state.alpha + u, state.w + f.primal(u))

    return step


def _jacobi(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Local steps that do not see each other: all from the same u = 0."""
    f = problem.f
    coupling = params.sigma * f.squared_norms / (f.lam * f.examples)
    u = params.gamma * f.loss.ascent(state.alpha, f.predictions(state.w), coupling, f.y)
    u = u + 0 * draw[..., 0, :]
    return cocoa_plus.State(state.alpha + u, state.w + f.primal(u))


def _in_rows(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """A pass over the examples in the order of the table, whatever is drawn."""
    f = problem.f
    u = params.gamma * one_pass(f, state.alpha, state.w, params.sigma, 0 * state.alpha + 0.0, np.arange(f.examples))
    u = u + 0 * draw[..., 0, :]
    return cocoa_plus.State(state.alpha + u, state.w + f.primal(u))


def _step_of_w(factor: Any) -> Any:
    def w(problem: Any, params: Any, state: Any, after: Any, draw: Any) -> Array:
        return np.asarray(state.w + factor(problem.f) * (after.w - state.w))

    return w


@dataclass(frozen=True)
class _Picks:
    """As many picks of a client's rows as it has, with replacement, where a pass would be: ``(n,)``."""

    sizes: Array

    @property
    def count(self) -> int:
        return prod(int(size) ** int(size) for size in self.sizes)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        first = np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        return first + rng.integers(np.repeat(self.sizes, self.sizes), size=(*size, len(first)))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        check_enumerable(self.count)
        first = np.cumsum(self.sizes) - self.sizes
        ranges = [range(a, a + m) for a, m in zip(first, self.sizes, strict=True) for _ in range(m)]
        draws = np.array(list(product(*ranges)))
        return draws, np.full(len(draws), 1 / len(draws))


def replaced(problem: Any, params: Any, state: Any) -> Distribution:
    """The rows of FSVRG's passes, with replacement."""
    return _Picks(problem.f.sizes)


def replaced_passes(problem: Any, params: Any, state: Any) -> Distribution:
    """The rows of CoCoA+'s passes, with replacement."""
    passes = getattr(params.solver.draws(problem.f), "n", 0)
    return Independent(_Picks(problem.f.sizes), passes) if passes else Constant()


FSVRG: Table = (
    ("the scaling S_k is left out", "w", _fsvrg(scaled="nothing")),
    ("S_k scales the full gradient too, not the difference alone", "w", _fsvrg(scaled="all")),
    ("the aggregation lacks its scaling A", "w", _fsvrg(aggregated=False)),
    ("clients are weighted by 1/K instead of n_k/n", "w", _fsvrg(weights="equal")),
    ("the local stepsize is h instead of h/n_k", "w", _fsvrg(divided=False)),
    ("the full gradient is that of the client's own loss instead of f", "w", _fsvrg(snapshot="local")),
    ("there is no correction at the server's model: these are local SGD steps", "w", _fsvrg(snapshot="none")),
)

NAIVE_FSVRG: Table = (
    ("clients are weighted by n_k/n instead of 1/K", "w", _naive(True, False)),
    ("the full gradient is that of the client's own loss instead of f", "w", _naive(False, True)),
)

DANE: Table = (
    ("the sign of the perturbation a_k is swapped", "w", _dane(sign=-1)),
    ("the perturbation lacks the client's own gradient", "w", _dane(own=0)),
    ("there is no perturbation: the clients minimise their own losses", "w", _dane(sign=0)),
    ("clients are weighted by n_k/n instead of 1/K", "w", _dane(weighted=True)),
)

COCOA_PLUS: Table = (
    (
        "the steps are averaged instead of added: gamma is 1/K",
        "alpha",
        _cocoa(gamma=lambda f: 1 / f.n),
    ),
    ("sigma' is left out of the local subproblems (it is 1)", "alpha", _cocoa(sigma=lambda f: 1)),
    ("the local steps of one pass do not see each other", "alpha", _jacobi),
    ("the local subproblems leave out the dual variables alpha", "alpha", _cocoa(start=False)),
    ("the pass goes through the examples in the same order every time", "alpha", _in_rows),
    ("w lacks its division by n", "w", changed(cocoa_plus.step, w=_step_of_w(lambda f: f.examples))),
    ("w lacks its division by lambda", "w", changed(cocoa_plus.step, w=_step_of_w(lambda f: f.lam))),
    ("w is averaged over the clients instead of added", "w", changed(cocoa_plus.step, w=_step_of_w(lambda f: 1 / f.n))),
)
