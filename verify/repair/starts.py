"""Other starts of a run, and other options of its method.

A method's estimate of gradients is in error at first wherever its paper starts it at 0, and many a bound holds once the
first estimate is exact: a part of the state begins at the gradients at another part. It costs one evaluation before the
first round. An option is a parameter that is a word, such as the treatment of clients that sit out; other claims of the
paper may have another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.starts import GradientStart, WithOption
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.sampling.chart import keywords
from fedtheory.settings import Setting
from verify.base.evaluate import meeting
from verify.repair import of_paper

#: Gradients, and those of the conjugates f_i^*, by the names that problems give them.
_MAPS = {"gradient": "grad f_i", "conjugate_gradient": "grad f_i^*"}
#: Instances at which a start is tested.
_INSTANCES = 6
#: Recipes from which they are made.
_PROPOSED = 60


def starts(claim: Claim) -> Iterator[tuple[str, Setting, Algorithm]]:
    """Yield settings with other starts, in words each, and their method; for claims about runs that begin where
    ``init`` does.

    Only parts that hold one vector for each client begin elsewhere: gradients do too. A start that violates the
    method's invariant is not a start of the method, and one at its fixed point leaves nothing to state.
    """
    setting, algorithm = claim.setting, claim.statement.algorithm
    if algorithm is None or not claim.statement.horizon or setting.algorithm != algorithm or setting.drawing.special:
        return
    instances = _instances(claim, _INSTANCES)
    parts = _of_clients(algorithm, instances)
    for part, point in permutations(parts, 2):
        for mapping, word in _MAPS.items() if part not in setting.drawing.start else ():
            began = replace(algorithm, init=GradientStart(algorithm.init, part, mapping, point))
            if _is_start(began, instances):
                text = f"{part}_i starting from {word}({point}_i)"
                yield text, replace(setting, text=f"{setting.text}; with {text}", algorithm=began), began


def options(claim: Claim) -> Iterator[tuple[str, Setting]]:
    """Yield settings in which an option of the method is as other claims of the paper have it, in words each, the most
    frequent first.

    An option is known by its name. One that the method does not have leaves no instance.
    """
    setting = claim.setting
    if setting.algorithm is None or setting.drawing.parameters is None or setting.drawing.special is not None:
        return
    own, used, known = _words(claim), Counter[tuple[str, str]](), dict[Setting, dict[str, str]]()
    for other in of_paper.others(claim) if own else ():
        algorithm = other.setting.algorithm
        if algorithm is not None and own.keys() & set(getattr(algorithm.Params, "_fields", ())):
            used.update((known.get(other.setting) or known.setdefault(other.setting, _words(other))).items())
    for (name, value), _ in used.most_common():
        if own.get(name, value) != value:
            made = WithOption(setting.drawing.parameters, name, value)
            text = f"the method with {name} = {value}"
            drawing = replace(setting.drawing, parameters=made)
            yield text, replace(setting, text=f"{setting.text}; {text}", drawing=drawing)


def _words(claim: Claim) -> dict[str, str]:
    """Return the parameters that are words, at an instance."""
    found = _instances(claim, 1)
    params: Any = found[0].params if found else None
    fields = params._asdict() if hasattr(params, "_asdict") else {}
    return {name: value for name, value in fields.items() if type(value) is str}


def _instances(claim: Claim, count: int) -> list[Instance]:
    proposed = islice(claim.instances.recipes(np.random.default_rng(0)), _PROPOSED)
    return [instance for _, instance in islice(meeting(claim, proposed), count)]


def _of_clients(algorithm: Algorithm, instances: list[Instance]) -> list[str]:
    """Return the arguments of ``init`` that hold a vector for each client; empty if that is not known."""
    if not instances:
        return []
    try:
        fixed = algorithm.fixed_point(instances[0].problem, instances[0].params)
        return [name for name in keywords(algorithm) if np.ndim(getattr(fixed, name)) == 2]
    except (ValueError, TypeError, AttributeError, LookupError):
        return []


def _is_start(algorithm: Algorithm, instances: list[Instance]) -> bool:
    """Return True if runs that begin there satisfy the method's invariant, and do not begin at its fixed point
    everywhere.
    """
    moved = False
    for instance in instances:
        given = (instance.problem, instance.params)
        try:
            state = algorithm.init(*given)
            kept = algorithm.invariant is None or not np.any(algorithm.invariant(*given, state) != 0)
            fixed = algorithm.fixed_point(*given)
        except (ValueError, TypeError, ArithmeticError):
            return False
        if not kept:
            return False
        moved = moved or any(np.any(a != b) for a, b in zip(state, fixed, strict=True))
    return moved
