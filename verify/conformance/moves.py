"""Draws that were not recorded, by which entries of the state a step moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from verify.conformance.matching import stacked
from verify.conformance.seen import Case, Setup
from verify.conformance.series import MOST, recorded

# Entries that move by less than so many tolerances stand still; those that move must do so by so many times more.
_STILL, _CLEAR = 10, 100
# Fresh steps by which it is told whether that can be told.
_TRIED = 16


@dataclass(frozen=True)
class _Moved:
    """Which entries move in a step from a state, as a distribution; ``still``: by how much each letter may move and
    count as standing still."""

    algorithm: Algorithm
    problem: Any
    params: Any
    state: Any
    still: tuple[float, ...]

    def sample(self, rng: np.random.Generator, size: tuple[int, ...] = ()) -> Any:
        """Independent draws, with leading axes ``size``."""
        return type(self.state)(*(s > t for s, t in zip(self.sizes(rng, size), self.still, strict=True)))

    def sizes(self, rng: np.random.Generator, size: tuple[int, ...]) -> list[Array]:
        """By how much each entry moves in steps of the reference."""
        draws = self.algorithm.draws(self.problem, self.params, self.state).sample(rng, size)
        one = type(self.state)(*(f[0] for f in stacked(self.state)))
        spread = type(one)(*(np.broadcast_to(f, (*size, *f.shape)) for f in one))
        after = self.algorithm.step(self.problem, self.params, spread, draws)
        return [
            np.abs(np.broadcast_to(np.asarray(a, dtype=float), b.shape) - b) for a, b in zip(after, spread, strict=True)
        ]


def check_moved(setup: Setup, steps: Sequence[Case], level: float) -> tuple[list[str], int]:
    """What is wrong with which entries moved, and in how many steps that could be told; at this level."""
    problem, params = setup.scenarios[0].problem, setup.scenarios[0].params
    rng = np.random.default_rng(0)
    drawn: list[Any] = []
    laws: list[Any] = []
    for case in steps[:MOST]:
        still = tuple(
            _STILL * setup.tolerance * max(float(np.max(np.abs(np.asarray(f, dtype=float)), initial=0.0)), 1e-300)
            for f in case.before
        )
        law = _Moved(setup.algorithm, problem, params, case.before, still)
        moves = law.sizes(rng, (_TRIED,))
        # What stands still but for rounding cannot be told.
        if any(((m > t / _CLEAR) & (m < t * _CLEAR)).any() for m, t in zip(moves, still, strict=True)):
            continue
        gaps = (np.abs(np.asarray(a) - np.asarray(b)) for a, b in zip(case.after, case.before, strict=True))
        drawn.append(type(case.before)(*(g > t for g, t in zip(gaps, still, strict=True))))
        laws.append(law)
    return recorded(drawn, laws, level, rng) if len(drawn) > 1 else [], len(drawn)
