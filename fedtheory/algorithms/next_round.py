"""What comes after one more round, in expectation, as a quantity of the state before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import expectation, map_leaves, support_of


@dataclass(frozen=True)
class NextRound:
    """The expectation of ``of(problem, params, state, after)`` over the draws of one round: all of them are tried.

    ``draws(problem, params, state)``: what the round draws from; ``step(problem, params, state, draw)``: the state
    after it, or what ``of`` needs of it.
    """

    name = "the next round"
    draws: Any
    step: Any
    of: Any

    def __call__(self, problem: Problem, params: Any, state: Any) -> Array:
        """``(...)``; ``ValueError`` where the draws are too many, or infinitely many."""
        draws, chances = support_of(self.draws(problem, params, state), True)
        values = []
        for k in range(len(chances)):
            after = self.step(problem, params, state, map_leaves(lambda a, k=k: a[k], draws))
            values.append(np.asarray(self.of(problem, params, state, after)))
        return expectation(np.stack(values, axis=-1), chances)
