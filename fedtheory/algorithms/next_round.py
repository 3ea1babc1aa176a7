"""The expectation of a quantity after one more round, as a quantity of the state before that round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import expectation, map_leaves, support_of


@dataclass(frozen=True)
class NextRound:
    """The expectation of ``of(problem, params, state, after)`` over the draws of one round, by enumeration.

    ``draws(problem, params, state)``: what the round draws from; ``step(problem, params, state, draw)``: the state
    after it, or what ``of`` needs of it; ``scalar``: a part of the state that is one number.
    """

    name = "the next round"
    draws: Any
    step: Any
    of: Any
    scalar: str

    def __call__(self, problem: Problem, params: object, state: object) -> Array:
        """``(...)``. Raise ``ValueError`` if the draws are too many, or infinitely many."""
        draws, chances = support_of(self.draws(problem, params, state), True)
        # The draws are on an axis before those of replicas, which the problem has too.
        replicas = (1,) * np.ndim(getattr(state, self.scalar))
        draws = map_leaves(lambda a: a.reshape(a.shape[:1] + replicas + a.shape[1:]), draws)
        after = self.step(problem, params, state, draws)
        return expectation(self.of(problem, params, state, after), chances, axis=0)
