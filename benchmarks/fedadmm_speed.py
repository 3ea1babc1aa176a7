"""One communication round of FedADMM: all clients at once, against a loop over clients and the bare products.

    python benchmarks/fedadmm_speed.py [--clients 100] [--features 100] [--k0 10] [--repeats 20]

Example 5.1; ``--steps`` inner steps (15) an iteration, so that all variants do the same work. The bare products are one
Hessian times a vector for each participant and inner step (all that a loop over clients could not avoid), in one
batched call an inner step; the gradients of idle clients, which the batch computes and throws away, are not among them.
Medians and least times of interleaved repeats, in milliseconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.selections import Uniform
from fedtheory.learning.least_squares import example_5_1
from fedtheory.learning.subproblems import InnerSteps
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


def one_client_at_a_time(
    problem: Problem, params: fedadmm.Params, state: fedadmm.State, clients: Array
) -> fedadmm.State:
    """The same round with a Python loop over the participants."""
    f, steps, r = problem.f, params.solver.steps, problem.f.L  # type: ignore[attr-defined]
    w = state.Z.sum(axis=0) / params.sigma.sum()
    W, Pi, Z, eps = state.W.copy(), state.Pi.copy(), state.Z.copy(), state.eps.copy()
    for _ in range(params.k0):
        for i in np.flatnonzero(clients):
            alpha, sigma = params.alpha[i], params.sigma[i]
            eps[i] *= params.nu[i]
            v = w
            for _ in range(steps):
                v = v - (alpha * (f.H[i] @ v - f.q[i]) + Pi[i] + sigma * (v - w)) / (alpha * r[i] + sigma)  # type: ignore[attr-defined]
            W[i] = v
            Pi[i] = Pi[i] + sigma * (v - w)
            Z[i] = sigma * v + Pi[i]
    return fedadmm.State(w, W, Pi, Z, eps)


def products(problem: Problem, params: fedadmm.Params, clients: Array) -> Callable[[], object]:
    """The participants' Hessians times vectors, k_0 times the inner steps."""
    H = problem.f.H[clients]  # type: ignore[attr-defined]
    V = np.ones((*H.shape[:2], 1))
    return lambda: [np.matmul(H, V) for _ in range(params.k0 * params.solver.steps)]  # type: ignore[attr-defined]


def measure(m: int, n: int, k0: int, steps: int, share: float, repeats: int) -> dict[str, Array]:
    """Seconds of each variant, ``(repeats,)``; ``ValueError`` if batch and loop do not agree."""
    rng = np.random.default_rng(0)
    problem = example_5_1(m, n, rng)
    alpha, r = np.full(m, 1 / m), problem.f.L
    selection = Uniform(m, max(1, round(share * m)))
    params = fedadmm.theory(
        problem, alpha, selection, InnerSteps(r, steps), k0, np.full(m, 0.95), np.full(m, float(k0**2))
    )
    state = fedadmm.init(problem, params)
    draw = fedadmm.draws(problem, params, state).sample(rng)
    clients = draw.clients[0]
    variants: dict[str, Callable[[], object]] = {
        "batch": lambda: fedadmm.step(problem, params, state, draw),
        "loop over clients": lambda: one_client_at_a_time(problem, params, state, clients),
        "bare products": products(problem, params, clients),
    }
    state = fedadmm.State(*(np.asarray(field, dtype=float) for field in state))
    for one, other in zip(variants["batch"](), variants["loop over clients"](), strict=True):  # type: ignore[call-overload]
        if not np.allclose(one, other, rtol=1e-9, atol=1e-12):
            raise ValueError("the batch and the loop over clients disagree")
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(repeats):
        for name, variant in variants.items():
            begun = time.perf_counter()
            variant()
            times[name].append(time.perf_counter() - begun)
    return {name: np.array(values) for name, values in times.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--k0", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3, help="inner steps of an iteration (3)")
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args(arguments)
    if min(given.clients, given.features, given.k0, given.steps, given.repeats) < 1:
        print("fedadmm_speed: all numbers must be 1 or more", file=sys.stderr)
        return 2
    print(
        "| participants | variant | median, ms | least, ms | against the products |\n| --- | --- | ---: | ---: | ---: |"
    )
    for share in (1.0, 0.5):
        times = measure(given.clients, given.features, given.k0, given.steps, share, given.repeats)
        unit = float(np.median(times["bare products"]))
        for name, seconds in times.items():
            middle = float(np.median(seconds))
            print(f"| {share:.0%} | {name} | {1e3 * middle:.2f} | {1e3 * seconds.min():.2f} | {middle / unit:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
