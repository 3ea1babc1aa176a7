"""The problems on which an implementation is tested, of those that it takes: not next to none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.compressors.contractive import Contractive, top_k
from verify.conformance.beyond import LARGEST_BEYOND, REFUSED, Keep, beyond, stays, takes, tried
from verify.conformance.scenarios import LARGEST_SUPPORT, Scenario, proposed, scenarios, started

# The fewest problems that a test rests on.
_FEWEST = 3
# The fewest clients, entries and local steps of one of them.
_SEVERAL = 3
# (n, d) of further problems, a large one first.
_FURTHER = ((3, 3), (2, 1), (4, 3), (2, 3), (3, 1), (3, 2), (2, 2), (1, 1), (1, 3), (5, 4), (4, 1), (6, 3), (8, 5))
# Further problems that are tried.
_TRIED = 600
# Instances of claims that are proposed.
_PROPOSED = 240
# (n, d, k) of problems for methods with contractive compressors, with top-k.
_TOP = ((3, 3, 1), (2, 4, 2))


def chosen(
    algorithm: Algorithm, seed: int, features: Collection[str], keep: Keep | None, enumerated: bool
) -> tuple[Scenario, ...]:
    """The scenarios on which a method is tested; ``enumerated``: with few enough draws to try all.

    ``keep`` leaves some of them, and where these are few further ones are looked for. Raise ``ValueError`` if it leaves
    none, or one.
    """
    small = scenarios(algorithm, seed, features)
    small += _with_top_k(algorithm, small, seed)
    found = [s for s in small if takes(keep, s.problem, s.params)]
    found += beyond(algorithm, small, seed, features, enumerated, keep)
    if keep is None:
        return tuple(found)
    for scenario in _further(algorithm, small, seed, features, keep, lambda: len(found) < _FEWEST):
        if not next_to_nothing(found):
            break
        if len(found) < _FEWEST or _large(scenario):
            found.append(scenario)
    if len(found) < 2:
        left = (
            f"one problem alone is left to test on ({_size(found[0])})" if found else "no problems are left to test on"
        )
        raise ValueError(f"{left}: have keep leave more, or give problems=[(problem, params), ...]")
    return tuple(sorted(found, key=lambda s: (s.role != "", *(s.size if not s.role else ()))))


def next_to_nothing(found: Sequence[Scenario]) -> str:
    """Describe the scenarios tested if they are too few or too small to mean much; empty otherwise."""
    if len(found) >= _FEWEST and any(map(_large, found)):
        return ""
    most = max(found, key=lambda s: (_large(s), s.size), default=None)
    if most is None:
        return "no problem"
    if len(found) == 1:
        return f"one problem, {_size(most)}"
    several = f"n, d{'' if local_steps(most.params) is None else ', K'} >= {_SEVERAL}"
    lacking = "" if _large(most) else f", none with {several}"
    return f"{len(found)} problems, the largest with {_size(most)}{lacking}"


def local_steps(params: Any) -> int | None:
    """K, the local steps of a round; None for a method that has none."""
    epochs = getattr(params, "epochs", None)
    return None if epochs is None else int(epochs) * int(getattr(getattr(params, "batches", None), "per_epoch", 1))


def _size(scenario: Scenario) -> str:
    steps = local_steps(scenario.params)
    return f"n = {scenario.problem.n}, d = {scenario.problem.d}{'' if steps is None else f', K = {steps}'}"


def _large(scenario: Scenario) -> bool:
    steps = local_steps(scenario.params)
    return min(scenario.problem.n, scenario.problem.d, _SEVERAL if steps is None else steps) >= _SEVERAL


def _further(
    algorithm: Algorithm, around: Sequence[Scenario], seed: int, features: Collection[str], keep: Keep, few: Any
) -> Iterator[Scenario]:
    """Further scenarios that are kept; instances of claims last, and only while there are ``few``."""
    rng = np.random.default_rng([seed, 22])
    shapes = [(n, d, 3.0, 1.0) for n, d in _FURTHER]
    for problem, params in islice(tried(algorithm, around, "", rng, features, shapes, True), _TRIED):
        if takes(keep, problem, params):
            yield from _usable(algorithm, problem, params, rng)
    if few():
        for scenario in proposed(algorithm, rng, features, _PROPOSED):
            if takes(keep, scenario.problem, scenario.params):
                yield scenario


def _usable(algorithm: Algorithm, problem: Any, params: Any, rng: np.random.Generator) -> Iterator[Scenario]:
    try:
        with np.errstate(all="ignore"):
            scenario = started(algorithm, problem, params, rng.spawn(1)[0])
            if scenario.support <= min(LARGEST_SUPPORT, LARGEST_BEYOND) and stays(algorithm, scenario):
                yield scenario
    except REFUSED:
        return


def _with_top_k(algorithm: Algorithm, around: Sequence[Scenario], seed: int) -> tuple[Scenario, ...]:
    """Problems with the compressor that most implementations of error feedback have."""
    if not around or not any(isinstance(value, Contractive) for value in around[0].params):
        return ()
    rng = np.random.default_rng([seed, 23])
    found: list[Scenario] = []
    for n, d, k in _TOP:
        for problem, params in tried(algorithm, around, "", rng, (), [(n, d, 3.0, 1.0)], False):
            own = {name: top_k(d, k) for name, v in params._asdict().items() if isinstance(v, Contractive)}
            usable = list(_usable(algorithm, problem, params._replace(**own), rng))
            if usable:
                found += usable
                break
    return tuple(found)
