"""Other starts of a run: a part of the state that begins at the gradients at another part.

What a method keeps as an estimate of gradients is in error at first wherever its paper starts it at 0, and many a
bound holds once the first estimate is exact. It costs one evaluation before the first round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.starts import GradientStart
from fedtheory.claims import Claim
from fedtheory.sampling.chart import keywords
from fedtheory.settings import Setting

#: Gradients, and those of the conjugates f_i^*, by the names that problems give them.
_MAPS = {"gradient": "grad f_i", "conjugate_gradient": "grad f_i^*"}


def starts(claim: Claim) -> Iterator[tuple[str, Setting, Algorithm]]:
    """Settings with other starts, in words each, and their method; of claims about runs that begin where ``init`` says.

    Only parts that hold one vector for each client begin elsewhere: gradients do too.
    """
    setting, algorithm = claim.setting, claim.statement.algorithm
    if algorithm is None or not claim.statement.horizon or setting.algorithm != algorithm or setting.drawing.special:
        return
    parts = _of_clients(claim)
    for part in parts:
        if part in setting.drawing.start:
            continue
        for point in parts:
            for mapping, word in _MAPS.items() if point != part else ():
                began = replace(algorithm, init=GradientStart(algorithm.init, part, mapping, point))
                text = f"{part}_i^0 = {word}({point}_i^0)"
                yield text, replace(setting, text=f"{setting.text}; but {text}", algorithm=began), began


def _of_clients(claim: Claim) -> list[str]:
    """The parts that ``init`` takes which hold a vector for each client, at some instance; none where there is none."""
    algorithm: Any = claim.statement.algorithm
    recipe = next(claim.instances.recipes(np.random.default_rng(0)), None)
    try:
        built = claim.instances.build(recipe, False)
        fixed = algorithm.fixed_point(built.problem, built.params)
        return [name for name in keywords(algorithm) if np.ndim(getattr(fixed, name)) == 2]
    except (ValueError, TypeError, AttributeError, LookupError):
        return []
