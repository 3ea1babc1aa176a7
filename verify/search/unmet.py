"""Why no instance met the hypotheses of a claim, and what its author can write to be tested."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np

from fedtheory.claims import Claim
from fedtheory.numbers.rational import Undefined

NO_INSTANCE = "no instance met the hypotheses"


def reason(claim: Claim, rng: np.random.Generator, size: int) -> str:
    """What stood in the way of ``size`` recipes: the hypotheses that failed, how often, and the next step."""
    failed: Counter[str] = Counter()
    met = 0
    for recipe in islice(claim.instances.recipes(rng), size):
        try:
            instance = claim.instances.build(recipe, True)
        except ValueError as error:
            failed[f"cannot be built ({error})"] += 1
            continue
        values = claim.setting.bind(instance.problem, instance.params)
        broken = False
        for hypothesis in claim.requires:
            try:
                holds = hypothesis.holds(instance.problem, instance.params, values)
            except (Undefined, ArithmeticError):
                failed[f"leave {hypothesis.text!r} undefined"] += 1
                broken = True
                continue
            if not holds:
                failed[f"break {hypothesis.text!r}"] += 1
                broken = True
        met += not broken
    if met:
        return (
            f"{NO_INSTANCE} and said something: on the {met} of {size} that met them its sides vanish or are undefined"
        )
    told = ", ".join(f"{count} {what}" for what, count in failed.most_common(3))
    further = "" if claim.setting.of_constants else ", or write Drawing(draw=...) so that they do"
    return f"{NO_INSTANCE}: of {size} proposed {told}; check that they can hold together{further}"
