"""Changes of a step of a reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import Size, check_enumerable


class Slip(NamedTuple):
    """``text``: what is done, in words; ``algorithm``: the reference with it; ``letter``: the first that departs."""

    text: str
    algorithm: Algorithm
    letter: str = ""


#: ``step(problem, params, state, draw) -> state``.
Step = Callable[[Any, Any, Any, Any], Any]
#: (what is done in words, the first letter that departs, the step that does it).
Table = tuple[tuple[str, str, Step], ...]

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


class _Scaled(NamedTuple):
    """Compressors whose values are off by a factor."""

    own: Any
    factor: float

    def apply(self, draw: Any, x: Array) -> Array:
        return self.factor * self.own.apply(draw, x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def biased(step: Step, factor: float) -> Step:
    """The step whose compressors' values are ``factor`` times what they should be."""

    def scaled(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        name = "compressors" if hasattr(params, "compressors") else "compressor"
        return step(problem, params._replace(**{name: _Scaled(getattr(params, name), factor)}), state, draw)

    return scaled
