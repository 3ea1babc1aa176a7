"""SAGA's worst case over the class of its theorem: PEPit, our program, and our program reduced by symmetry.

``python -m benchmarks.worst_cases [N ...]`` prints seconds and values for N functions (default 5, 10, 20, 10000; PEPit
and the full program up to 20). PEPit keeps a vector for each function and each point and writes an interpolation
inequality for each pair of points, its proximal term included; our full program leaves that term out and subtracts the
tangents at the optimum; the reduced one has one row for the mean and one for the deviation of each vector, whatever N.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from PEPit.examples.stochastic_and_randomized_convex_minimization import wc_saga

from benchmarks.timing import Line, compared
from tests.helpers.models import Clients, Exchangeable, Explicit, saga
from verify.pep import rounding
from verify.pep.programs import equilibrated, ratio, solve

MU, L = Fraction(1, 10), Fraction(1)
#: Functions beyond which PEPit and the full program take minutes.
LARGEST = 20


def ours(clients: Clients, n: int) -> float:
    """The worst case of SAGA's potential over one step, with PEPit's stepsize and weight."""
    gamma = 1 / (2 * (MU * n + L))
    step = saga(clients, MU, L, gamma, 1 / (2 * gamma * (1 - gamma * MU) * n))
    value = solve(equilibrated(ratio(step.quantities["Phi_next"], step.quantities["Phi"], step.constraints))).value
    if value is None:
        raise ValueError(f"the solver found no value for n = {n}")
    return float(value)


def stages(n: int) -> dict[str, float]:
    """Seconds of posing the reduced program, solving it, and rounding its multipliers to a proof, for n functions."""
    times = [time.perf_counter()]
    gamma = 1 / (2 * (MU * n + L))
    step = saga(Exchangeable(n), MU, L, gamma, 1 / (2 * gamma * (1 - gamma * MU) * n))
    program = ratio(step.quantities["Phi_next"], step.quantities["Phi"], step.constraints)
    times.append(time.perf_counter())
    value = solve(equilibrated(program)).value
    times.append(time.perf_counter())
    if value is None or rounding.upper_bound(program, value) is None:
        raise ValueError(f"nothing is proved for n = {n}")
    times.append(time.perf_counter())
    return dict(zip(("posing", "solving", "rounding"), (b - a for a, b in pairwise(times)), strict=True))


def lines() -> Iterator[Line]:
    """PEPit against the reduced program, how the reduced one grows, and how its time divides."""
    ours(Exchangeable(2), 2)  # loads the solver
    for n in (5, 10):

        def theirs(n: int = n) -> float:
            return float(wc_saga(L=1.0, mu=0.1, n=n, wrapper="cvxpy", solver="CLARABEL", verbose=-1)[0])

        found = compared(theirs, lambda n=n: ours(Exchangeable(n), n), 2)
        yield Line("PEPit / our program", f"SAGA, n = {n}", found.ratio, "times", at_least=10, note=found.words)
    small = min(sum(stages(10).values()) for _ in range(3))
    large = min(sum(stages(10_000).values()) for _ in range(3))
    yield Line("growth of our program", "n = 10000 over n = 10", large / small, "times", at_most=2)
    for name, seconds in stages(10).items():
        yield Line("our program, n = 10", name, 1e3 * seconds, "ms")


def timed(run: Callable[[], float]) -> str:
    """The value, and the seconds it took."""
    begun = time.perf_counter()
    value = run()
    return f"{value:.8f} {time.perf_counter() - begun:8.3f} s"


def main(sizes: list[int]) -> None:
    """Print a line for each number of functions."""
    ours(Exchangeable(2), 2)  # loads the solver
    print(f"{'n':>6}  {'PEPit':>21}  {'ours, full':>21}  {'ours, reduced':>21}  1 - gamma mu")
    for n in sizes:
        columns = ["-".rjust(21)] * 2
        if n <= LARGEST:

            def theirs(n: int = n) -> float:
                return float(wc_saga(L=1.0, mu=0.1, n=n, wrapper="cvxpy", solver="CLARABEL", verbose=-1)[0])

            columns = [timed(theirs), timed(lambda n=n: ours(Explicit(n), n))]
        columns.append(timed(lambda n=n: ours(Exchangeable(n), n)))
        print(f"{n:>6}  {'  '.join(columns)}  {float(1 - MU / (2 * (MU * n + L))):.8f}", flush=True)


if __name__ == "__main__":
    try:
        asked = [int(text) for text in sys.argv[1:]]
    except ValueError:
        sys.exit("python -m benchmarks.worst_cases takes numbers of functions, such as 5 10")
    if any(n < 1 for n in asked):
        sys.exit("a number of functions must be at least 1")
    main(asked or [5, 10, 20, 10_000])
