"""FedDCD: the run on which the bounds of Theorem 4.1 are measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fedtheory.algorithms import feddcd
from fedtheory.learning.logistic import Logistic, logistic_with_condition
from fedtheory.numbers.rational import Array
from fedtheory.plugins import Run
from fedtheory.problems.base import Problem

#: The condition number: a round solves n local problems.
KAPPA = 50


@dataclass(frozen=True)
class Remembering(Logistic):
    """Logistic losses that keep their last conjugate gradients: a step and all that is measured ask for the same."""

    @cached_property
    def _kept(self) -> dict[int, tuple[Array, Array]]:
        return {}

    def conjugate_gradient(self, y: Array) -> Array:
        """The gradients at ``y``, computed once for each of the last few arrays."""
        found = self._kept.pop(id(y), None) or (y, super().conjugate_gradient(y))
        # The array is kept too, so that its id stays its own. Three: the points before and after, and the optimum.
        self._kept[id(y)] = found
        if len(self._kept) > 3:
            del self._kept[next(iter(self._kept))]
        return found[1]


def run(A: Array, b: Array) -> Run:
    """Algorithm 1 on logistic regression. Raise ``ValueError`` if no regularisation gives the condition number."""
    f = logistic_with_condition(A, b, KAPPA)
    problem = Problem(Remembering(f.A, f.b, f.mu))
    params = feddcd.theory(problem, tau=max(2, f.n // 2))
    return Run(
        "FedDCD, Algorithm 1",
        "round",
        problem,
        params,
        # Newton's method on every client: about five Hessians and their factorisations a round.
        5 * f.n * (f.m * f.d**2 + f.d**3),
        # Under a minute on one core of 2020.
        3e11,
        (
            f"f: logistic loss + (α/2)|w|², κ = β/α = {KAPPA}, α = {problem.mu:.3g}",
            f"as in Theorem 4.1: τ = {params.tau} of N = {f.n} clients a round, Λ = I/α, η = 1",
        ),
    )
