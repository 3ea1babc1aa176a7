"""The features that a method has beyond its plain form, of those that are tested on request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from verify.conformance.scenarios import FEATURES, examples, scenarios


class _Asked(Collection[str]):
    """No features, but for the names of all that were looked for."""

    def __init__(self) -> None:
        self.names: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(name)
        return False

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def features_of(algorithm: Algorithm) -> tuple[str, ...]:
    """Return the features that a method has: those for which its example looks; of methods without an
    example, and of batches, those that its parameters and the problems of its claims have."""
    fields, asked = algorithm.Params._fields, _Asked()
    if not algorithms.is_known(algorithm):
        return ()
    if algorithms.example_of(algorithm) is None:
        asked.names |= {"shared compressors"} if "compressors" in fields else set()
        without = (scenario.problem.g is None for scenario in scenarios(algorithm, 0))
        beside = (scenario.problem.g is not None for scenario in scenarios(algorithm, 0, ("function g",)))
        asked.names |= {"function g"} if any(without) and any(beside) else set()
    else:
        for _ in examples(algorithm, np.random.default_rng(0), asked):
            continue
        asked.names -= set() if "batches" in fields else {"minibatches"}
    return tuple(name for name in FEATURES if name in asked.names)


def checked_features(
    algorithm: Algorithm, features: Collection[str], problems: Sequence[Any] | None
) -> tuple[str, ...]:
    """Return the features that are asked for. Raise ``ValueError`` if the method does not have one, or if the problems
    on which it is tested are given."""
    wanted = (features,) if isinstance(features, str) else tuple(features)
    unknown = [name for name in wanted if name not in FEATURES]
    if unknown:
        raise ValueError(f"unknown feature {unknown[0]!r}: choose from {', '.join(FEATURES)}")
    if wanted and problems:
        raise ValueError("features choose the problems: give either features or problems, whose params have them")
    own = features_of(algorithm) if wanted else ()
    for name in wanted:
        if name not in own:
            others = f"the features that it has are {', '.join(own)}" if own else "no feature is tested of it"
            raise ValueError(f"{algorithm.name} does not have the feature {name!r}: {others}")
    return wanted
