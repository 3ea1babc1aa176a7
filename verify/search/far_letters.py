"""Letters made much larger or smaller: what no hypothesis bounds may break a claim only far from where it is drawn.

Letters are drawn about the constants of the functions, so that few instances have a stepsize of a thousand times 1/mu,
and fewer still have functions for which it matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.sampling import drawing, nearby
from verify.base.case import Case
from verify.base.faults import attributed
from verify.evidence.counterexamples import Counterexample
from verify.search import states

#: Factors of a letter: draws of one that nothing bounds end at a hundred times the unit.
FACTORS = (Fraction(100), Fraction(10**4), Fraction(1, 100), Fraction(1, 10**4))
#: The numbers of instances in which letters are scaled: those nearest to a violation, and the first that were met.
NEAREST, FIRST = 3, 2


def violations(
    claim: Claim, nearest: Sequence[Recipe], first: Sequence[Recipe], rng: np.random.Generator
) -> Iterator[Counterexample]:
    """Yield confirmed violations at instances where one letter is scaled.

    In each instance, and in it with all curvatures at either end of the class.
    """
    if claim.setting.functions is None or not claim.statement.stepping:
        return
    seen: list[Recipe] = []
    for start in (*nearest[:NEAREST], *first[:FIRST]):
        for recipe in nearby.at_ends(claim, start):
            scaled = (nearby.scaled(claim, recipe, name, f) for name in drawing.fractions(recipe) for f in FACTORS)
            for far in scaled:
                if far is None or far in seen:
                    continue
                seen.append(far)
                with attributed(claim, far):
                    case = Case(claim, far)
                    found = states.first_confirmed(case, states.examine(case, rng) or [])
                if found is not None:
                    yield found
