"""What goes wrong in the wild, as changed references: an algorithm's module has the slips that it is known for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import Size, check_enumerable

#: ``step(problem, params, state, draw) -> state``.
Step = Callable[[Any, Any, Any, Any], Any]
#: What is done in words, the first letter that departs or "", and the step that does it, or all parts of the algorithm
#: that differ. The state may then hold more than the reference's. The most specific come first.
Table = tuple[tuple[str, str, Step | Mapping[str, Any]], ...]

IN_PLACE = (
    "the global model is changed in place while clients still train on it: each participant starts from where the one "
    "before it ended"
)


def changed(step: Step, **change: Callable[..., Any]) -> Step:
    """The step followed by a change of some letters: ``change[letter](problem, params, before, after, draw)``."""

    def after_change(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        after = step(problem, params, state, draw)
        return after._replace(**{k: f(problem, params, state, after, draw) for k, f in change.items()})

    return after_change


def never(letter: str, step: Step) -> Step:
    """The step that leaves one letter as it was."""
    return changed(
        step,
        **{letter: lambda problem, params, state, after, draw: getattr(state, letter) + 0 * getattr(after, letter)},
    )


@dataclass(frozen=True)
class Replaced:
    """``size`` of m clients picked one by one with replacement: those that were met, as a plan of so many rounds."""

    m: int
    size: int
    rounds: int = 1

    @property
    def count(self) -> int:
        """How many plans there are."""
        return sum(comb(self.m, k) for k in range(1, self.size + 1)) ** self.rounds

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent plans, with leading axes ``size``: masks ``(*size, rounds, m)``."""
        picks = rng.integers(self.m, size=(*size, self.rounds, self.size))
        return (picks[..., None] == np.arange(self.m)).any(axis=-2)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """The probabilities are not those of the picks: what is asked is which plans there are."""
        check_enumerable(self.count)
        rows = [mask for mask in product((False, True), repeat=self.m) if 1 <= sum(mask) <= self.size]
        plans = np.array(list(product(rows, repeat=self.rounds)))
        return plans, np.full(len(plans), 1 / len(plans))


@dataclass(frozen=True)
class Picks:
    """As many picks of a client's rows as it has, with replacement, where a pass would be: ``(n,)``."""

    sizes: Array

    @property
    def count(self) -> int:
        """How many sequences of picks there are."""
        return prod(int(size) ** int(size) for size in self.sizes)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent sequences of rows, with leading axes ``size``."""
        first = np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        return first + rng.integers(np.repeat(self.sizes, self.sizes), size=(*size, len(first)))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All sequences, and their probabilities."""
        check_enumerable(self.count)
        first = np.cumsum(self.sizes) - self.sizes
        ranges = [range(a, a + m) for a, m in zip(first, self.sizes, strict=True) for _ in range(m)]
        draws = np.array(list(product(*ranges)))
        return draws, np.full(len(draws), 1 / len(draws))
