"""What a step draws, at several states and in both kinds of numbers: it must be one distribution.

All states of an array share what is drawn, and so do all branches of the tree of draws: draws that depend on the state
would be those of another state. Proofs speak of what is drawn in fractions, and runs draw in floats.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.randomness import map_leaves, support_of
from fedtheory.rational import Array, exact, to_float
from verify.evaluate import dimension, start

#: Draws that are compared, at most; sizes of the states at which they are; how far floats may be off.
MOST, SIZES, OFF = 1000, (Fraction(0), Fraction(1), Fraction(-1000)), 1e-9


def check(claim: Claim, recipe: Recipe) -> None:
    """``ValueError`` where what a step of the claim's method draws depends on the state, or on the kind of numbers."""
    algorithm: Any = getattr(claim.statement, "algorithm", None)
    if algorithm is None:
        return
    found = []
    for kind in (True, False):
        instance = claim.instances.build(recipe, kind)
        generic = [Fraction((-1) ** i, i + 2) for i in range(dimension(claim, instance))]
        for size in SIZES:
            row = exact(np.array([[size * v for v in generic]], dtype=object).reshape(1, len(generic)))
            problem, state = start(claim, instance, row if kind else to_float(row))
            draws = algorithm.draws(problem, instance.params, state)
            if draws.count is None or draws.count > MOST:
                return
            found.append((kind, support_of(draws, kind)))
    for kind, one in found[1:]:
        if not _same(found[0][1], one):
            why = "on the state" if kind else "on whether numbers are floats or fractions"
            raise ValueError(f"what {algorithm.name} draws depends {why}: {claim.id} cannot be tested")


def _same(one: tuple[Any, Array], two: tuple[Any, Array]) -> bool:
    """Whether draws and probabilities are the same, to rounding."""
    same: list[bool] = []

    def compare(a: Array, b: Array) -> Array:
        same.append(np.shape(a) == np.shape(b) and np.allclose(to_float(a), to_float(b), rtol=OFF, atol=OFF))
        return a

    map_leaves(compare, one[0], two[0])
    compare(one[1], two[1])
    return all(same)
