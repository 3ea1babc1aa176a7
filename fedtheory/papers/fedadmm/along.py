"""FedADMM, runs of Algorithm 1 as its iterations: numbers of one iteration of a run, and statements on any
iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import sympy

from fedtheory.algorithms import fedadmm
from fedtheory.meanings import Cover, Resting
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm import runs, transition
from fedtheory.papers.fedadmm.letters import k, k0, q, s0
from fedtheory.problems.base import Problem
from fedtheory.settings.iterations import Along, At, Then
from fedtheory.settings.relations import Quantity


def largest_ratio(problem: Problem, run: runs.ScheduledRun) -> Scalar:
    """The largest of the alpha_i r_i/sigma_i."""
    return max(run.fed.alpha * run.r / run.fed.sigma)


def iterations(
    problem: Problem, run: runs.ScheduledRun, history: runs.History
) -> Iterator[tuple[transition.Params, transition.State]]:
    """The iterations 0, 1, ... of a run, for all its clients."""
    fed, ratio = run.fed, largest_ratio(problem, run)
    for j, (old, new) in enumerate(pairwise(history.states())):
        phi = fed.alpha[:, None] * problem.f.gradient(old.W) + old.Pi
        nothing = 0 * old.W
        active, begins = run.masks[j // fed.k0], int(j % fed.k0 == 0)
        point = transition.State(old.w, old.W, phi, new.W - old.W, nothing, nothing, old.Pi, old.eps, new.eps)
        yield transition.Params(fed.alpha, fed.sigma, fed.nu, run.r, active, ratio, begins, slice(None)), point  # type: ignore[arg-type]


def alone(
    problem: Problem, params: transition.Params, point: transition.State
) -> tuple[runs.ScheduledRun, runs.History]:
    """A run of one iteration: of its rounds, their length and its start nothing is known."""
    begun, ended = transition.before(problem, params, point), transition.later(problem, params, point)
    fed = fedadmm.Params(params.alpha, params.sigma, params.nu, None, None, None, None)  # type: ignore[arg-type]
    w, W, Pi = (begun.w, ended.w), (begun.W, ended.W), (begun.Pi, ended.Pi)
    history = runs.History(w, W, Pi, (begun.Z, ended.Z), (begun.eps, ended.eps))  # type: ignore[arg-type]
    return runs.ScheduledRun(fed, None, params.r, None, 0, params.i, None), history  # type: ignore[arg-type]


ALONG = Along(transition.ITERATION, iterations, k, alone)
_LETTERS = {**runs.LETTERS, transition.ratio: largest_ratio}
RUNS = replace(
    runs.RUN,
    text="Algorithm 1 on f_i with r_i-Lipschitz gradients, convex or not; any subsets, any points that meet (6), "
    "any W^0 and w^{tau_0}; any k. What is looked at are runs of at most 14 iterations in one to three variables, "
    "convex or bent along the first",
    letters=_LETTERS,
)


def _last(problem: Problem, run: runs.ScheduledRun) -> int:
    """k_i."""
    return run.last[run.i]


#: The last iteration up to k in which client i takes part, and the rounds before that of k, where k is in K.
k_i = sympy.Symbol("k_i", integer=True)
t = sympy.Symbol("t", integer=True, nonnegative=True)
#: Runs for statements on iterations that begin a round, of a client that may have taken part before.
AT_ROUNDS = replace(
    RUNS,
    letters={**_LETTERS, k_i: _last, t: lambda problem, run: run.k // run.fed.k0},
    drawing=runs.ROUND.drawing,
)
#: Scheme 4.1, and what it means of who takes part.
SCHEME = replace(runs.SCHEME, says=(Cover(transition.BEGINS, k0, s0),))
IDLE = replace(runs.IDLE, says=(Resting(k_i),))


def then(name: str, function: Any, index: sympy.Expr, later: bool = False, each: bool = False) -> Quantity:
    """A function of the state before the iteration of an index, or after it; ``each``: of the client i."""
    letters = tuple((letter, AT_ROUNDS.sources[letter]) for letter in (k, k0, s0, k_i) if index.has(letter))
    return Quantity(q(name), Then(ALONG, At(transition.ITERATION, function, later, each), index, letters))


__all__ = ["ALONG", "AT_ROUNDS", "IDLE", "RUNS", "SCHEME", "iterations", "k_i", "largest_ratio", "t", "then"]
