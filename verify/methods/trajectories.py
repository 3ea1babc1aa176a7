"""Two algorithms side by side, in floats: how far apart rounding takes what exact arithmetic says is the same."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from fedtheory.kinds.agreement import Agreement
from fedtheory.numbers.rational import to_float
from verify.base.evaluate import meeting
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method

#: Instances that are run, rounds of each, and the relative difference that counts as rounding.
RUNS, ROUNDS, ROUNDING = 5, 40, 1e-12


def apart(statement: Agreement, problem: Any, params: Any, state: Any, seed: int) -> float:
    """The largest difference along a run with the same draws, over the largest value seen; inf where it diverges."""
    rng = np.random.default_rng(seed)
    other, second = statement.counterpart(problem, params, state)
    worst, size = 0.0, 1e-300
    for _ in range(ROUNDS):
        draw = statement.algorithm.draws(problem, params, state).sample(rng)
        state = statement.algorithm.step(problem, params, state, draw)
        second = statement.second.step(problem, other, second, draw)
        one, two = (
            to_float(statement.seen[0](problem, params, state)),
            to_float(statement.seen[1](problem, other, second)),
        )
        if not (np.isfinite(one).all() and np.isfinite(two).all()):
            return float("inf")
        worst, size = max(worst, float(abs(one - two).max())), max(size, float(abs(one).max()))
    return worst / size


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Compare runs in floats; rounding decides nothing, since the search decides in fractions."""
    claim, statement = inquiry.claim, inquiry.statement
    found = []
    recipes = claim.instances.recipes(np.random.default_rng(inquiry.seed))
    for recipe, _ in meeting(claim, islice(recipes, 4 * RUNS)):
        instance = claim.instances.build(recipe, False)
        problem, state = instance.at(np.ones((1, instance.dimension)))
        one = type(state)(*(np.asarray(field)[0, 0] for field in state))
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found.append(apart(statement, problem, instance.params, one, inquiry.seed))
        except ValueError:
            # A run that diverges leaves the numbers with which a step can be computed.
            found.append(float("inf"))
        if len(found) == RUNS:
            break
    near = [value for value in found if value <= ROUNDING]
    agreement = f"differ by at most {ROUNDING:g} of their largest value"
    note = f"in floats {len(near)} of {len(found)} runs of {ROUNDS} rounds {agreement}"
    far = [value for value in found if value > ROUNDING]
    if far:
        note += f", the others by up to {max(far):.1g}: ill-conditioned data, or a method that diverges"
    return method.found(None, note, instances=len(found), used=("search",) if near else ())


METHOD = Method("trajectories", "whole runs in floats, with the same draws", (Agreement,), run)
