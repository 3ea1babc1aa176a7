"""Samplers tested by sampling: what a simulation draws must be what the exact tests enumerate.

Exact tests never call a sampler, and beyond a few dimensions nothing can be enumerated. All tests of an audit share one
error level; a defect that is found can be replayed, because the samples are fixed by a seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.one_step import OneStep
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import Array
from fedtheory.randomness import map_leaves, support_of
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.comparisons.samplers import PREFIX, SHAPES, both, level, outcomes
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.search.refutation import margin
from verify.statistics import sequential

#: Draws of a step that are enumerated, at most.
MOST = 5000
#: Recipes among which one with random draws is looked for.
PROPOSED = 40


class Sampled(NamedTuple):
    """``counterexample``: a sampler that is not what is claimed, or None; ``note``: what would have been found."""

    counterexample: Counterexample | None
    note: str


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by a sampler that draws something else than what is enumerated; otherwise the defects that would be
    found."""
    drawn = test(inquiry.claim, inquiry.seed)
    if drawn is None:
        return method.skipped("no instance that meets the hypotheses has random draws")
    example = drawn.counterexample
    if example is None:
        return method.found(None, drawn.note, used=("sequential",))
    note = "what is enumerated holds; what is sampled does not"
    details = {"margin": margin(example), "counterexample": example, "tightest": example.recipe}
    return method.found(Verdict.REFUTED, note, used=("sequential",), **details)


def test(claim: Claim, seed: int) -> Sampled | None:
    """Samplers of a compressor, or of the draws of a step of a claim that is not refuted; None where there is nothing.

    The level is the claim's share of the audit's; a changed claim has that of the original.
    """
    statement = claim.statement
    if statement.scope is Scope.COMPRESSOR:
        recipes: list[Recipe] = [{"d": d, "k": k, "samples": size} for d, k, size in SHAPES]
    elif statement.stepping:
        recipes = _random(claim, seed)
    else:
        return None
    found: list[sequential.MeanTest] = []
    for recipe in recipes:
        case = Case(claim, {**recipe, "seed": seed, "tests": len(recipes)})
        for outcome in outcomes(case):
            if outcome.refuted:
                return Sampled(_counterexample(case, outcome), "")
            found.append(outcome)
    return Sampled(None, _words(claim, found)) if found else None


def _words(claim: Claim, found: Sequence[sequential.MeanTest]) -> str:
    """The smallest defects that all tests of a kind are sure to find."""
    parts = []
    for start_of_name, text in (
        ("mean at", "a mean off by {:.2g} |x||v|"),
        ("variance at", "a variance {:.2g} |x|^2 too large"),
        ("half", "a probability off by {:.2g}"),
    ):
        sizes = [o.smallest_defect for o in found if o.name.startswith(start_of_name)]
        # A variance without a bound may be any number too large.
        if sizes and math.isfinite(max(sizes)):
            parts.append(text.format(max(sizes)))
    return f"sampled at level {float(level(claim)):.1g}{', which finds ' if parts else ''}{' and '.join(parts)}"


def _random(claim: Claim, seed: int) -> list[Recipe]:
    """Return a list with the recipe that meets the hypotheses and has the most informative draws, or an empty one."""
    proposed = islice(claim.instances.recipes(np.random.default_rng(seed)), PROPOSED)
    found = [(_telling(Case(claim, recipe)), recipe) for recipe, _ in meeting(claim, proposed)]
    most, recipe = max(found, key=lambda pair: pair[0], default=(0.0, {}))
    return [recipe] if most > 0 else []


def _telling(case: Case) -> float:
    """How much a step's draws at this recipe tell, 0 of too many: the entropies of their parts, each a fair coin's at
    most. A coin that nearly always shows the same side hides its bias, however much is drawn beside it."""
    problem, state = case.floats.start(np.ones((1, case.floats.dimension)))
    draws = case.statement.algorithm.draws(problem, case.floats.params, state)
    if not 0 < (draws.count or 0) <= MOST:
        return 0.0
    support, p = support_of(draws, False)
    entropies: list[float] = []

    def add(part: Array) -> Array:
        _, place = np.unique(part.reshape(len(p), -1), axis=0, return_inverse=True)
        q = np.bincount(place.ravel(), p)
        entropies.append(min(float(-(q * np.log(q)).sum()), math.log(2)))
        return part

    map_leaves(add, support)
    return sum(entropies)


def _counterexample(case: Case, outcome: sequential.MeanTest) -> Counterexample:
    left, right = both(outcome)
    recipe = case.recipe
    where = ", ".join(f"{name}={recipe[name]}" for name in ("d", "k", "tau", "p", "omega", "seed") if name in recipe)
    text = f"{where}: {outcome.name}, {outcome.samples} samples, {outcome.decision} at level {outcome.level:.1g}"
    return Counterexample(case.claim, recipe, (), 0, PREFIX + outcome.name, 0, left, right, outcome.relation, text)


METHOD = Method(
    "sequential tests",
    "samplers, against the distributions that the exact tests enumerate",
    (CompressorClass, OneStep, Bound),
    run,
    role=Role.SAMPLES,
)
