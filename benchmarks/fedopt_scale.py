"""FSVRG at the size of Federated Optimization's experiment: time and peak memory.

    python -m benchmarks.fedopt_scale [--compiled] [--clients K] [--features d] [--mean M] [--rounds T] [--stepsize h]
        [--seed S]

By default 10,000 clients with 204 examples on average (2 million in all), 20,002 features, 30 rounds, one process, and
h = 10, at which the test error falls (at h = 1 it stays where it was). `fedtheory experiment fedopt/scale` tunes FSVRG
and GD alike on fewer examples of as many clients.
Data are generated (fedtheory.papers.fedopt.reruns.text); lambda = 1/n; a pass over all examples is one sparse path of
fedtheory's FSVRG.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence

import numpy as np

from fedtheory.algorithms import fsvrg
from fedtheory.papers.fedopt.reruns.text import generated
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC

# Kilobytes of getrusage in a gibibyte.
_GIB = 2**20


def _peak() -> float:
    """Peak resident memory so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _GIB


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--clients", type=int, default=10_000, help="K (10000)")
    parser.add_argument("--features", type=int, default=20_002, help="d (20002)")
    parser.add_argument("--mean", type=float, default=200, help="mean number of examples of a client (200)")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of communication (30)")
    parser.add_argument("--stepsize", type=float, default=10.0, help="h (10)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and passes (0)")
    parser.add_argument("--compiled", action="store_true", help="passes as a loop that numba compiles")
    given = parser.parse_args(arguments)
    rng = np.random.default_rng(given.seed)
    begun = time.perf_counter()
    try:
        data = generated(given.clients, given.features, given.mean, rng)
    except ValueError as error:
        print(f"fedopt_scale: {error}", file=sys.stderr)
        return 2
    train, test = data.train, data.test
    f = LinearModels(train.X, train.y, train.sizes, 1 / len(train.y), LOGISTIC)
    problem = LinearProblem(f)
    print(
        f"{f.n} clients, {f.examples} training examples (n_k from {f.sizes.min()} to {f.sizes.max()}), d = {f.d}, "
        f"{train.X.nnz / f.examples:.1f} features an example; data: {time.perf_counter() - begun:.0f} s",
        flush=True,
    )
    start = time.perf_counter()
    params = fsvrg.theory(problem, given.stepsize, compiled=given.compiled)
    state = fsvrg.algorithm.init(problem, params)
    print(f"supports of the clients: {time.perf_counter() - start:.0f} s", flush=True)
    rounds: list[tuple[float, float]] = []
    for t in range(given.rounds + 1):
        wrong = float((np.where(test.X @ state.w > 0, 1, -1) != test.y).mean())
        spent = sum(seconds for seconds, _ in rounds)
        print(f"round {t:2d}: f = {f.objective(state.w):.6f}, test error {wrong:.2%}, {spent:.0f} s", flush=True)
        if t < given.rounds:
            start, busy = time.perf_counter(), time.process_time()
            state = fsvrg.step(problem, params, state, fsvrg.draws(problem, params, state).sample(rng))
            rounds.append((time.perf_counter() - start, time.process_time() - busy))
    print(f"{given.rounds} rounds: {spent:.0f} s; all: {time.perf_counter() - begun:.0f} s; peak {_peak():.2f} GiB")
    if rounds:
        # The first one compiles.
        seconds, busy = np.median(rounds, axis=0)
        print(f"a round: {seconds:.2f} s by the clock, {busy:.2f} s of processor (medians)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
