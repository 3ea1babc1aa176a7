"""Samplers tested by sampling: what a simulation draws must be what the exact tests enumerate.

Exact tests never call a sampler, and beyond a few dimensions nothing can be enumerated. All tests of an audit share one
error level; a defect that is found can be replayed, because the samples are fixed by a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.rational import evaluate
from fedtheory.statements import Bound, CompressorClass, OneStep
from verify.evaluate import dimension, meeting, start
from verify.evidence import Counterexample
from verify.statistics import sampling
from verify.statistics.alpha_spending import Ledger
from verify.statistics.sequential import Decision, Outcome

#: Chance of any false alarm in an audit of all claims with one seed.
TOTAL = Fraction(1, 10**6)
#: Dimensions, coordinates kept and numbers of samples at which compressors are sampled: one shape that is enumerated as
#: well, one that is not.
SHAPES = ((5, 2, 100_000), (200, 20, 20_000))
#: Samples of the draws of a step, at most.
SIZE = 8000
#: Draws of a step that are enumerated, at most.
MOST = 5000
#: Draws that are enumerated to see how evenly they fall, at most.
MANY = 1000
#: Recipes among which one with random draws is looked for.
PROPOSED = 40
#: The parts of counterexamples that this module replays.
PREFIX = "sampled: "


class Sampled(NamedTuple):
    """``counterexample``: a sampler that is not what is claimed, or None; ``note``: what would have been found."""

    counterexample: Counterexample | None
    note: str


#: What the share of a bound's measured runs is called in the ledger.
_MEASURED = "{}, measured"


@cache
def _ledger() -> Ledger:
    registered = [(c.id, c.statement) for c in claims.all()]
    names = [id for id, statement in registered if isinstance(statement, CompressorClass | OneStep | Bound)]
    return Ledger(names + [_MEASURED.format(id) for id, statement in registered if isinstance(statement, Bound)], TOTAL)


def measured_level(claim: Claim) -> float:
    """The error level at which measured runs are compared with a bound."""
    return float(_ledger().share(_MEASURED.format(claim.id)))


def test(claim: Claim, seed: int) -> Sampled | None:
    """Samplers of a compressor, or of the draws of a step of a claim that is not refuted; None where there is nothing.

    The level is the claim's share of ``TOTAL``; a changed claim has that of the original.
    """
    statement = claim.statement
    if isinstance(statement, CompressorClass):
        recipes: list[Recipe] = [{"d": d, "k": k, "samples": size} for d, k, size in SHAPES]
    elif isinstance(statement, OneStep | Bound):
        recipes = _random(claim, seed)
    else:
        return None
    found: list[Outcome] = []
    for recipe in recipes:
        seeded = {**recipe, "seed": seed, "tests": len(recipes)}
        for outcome in _outcomes(claim, seeded):
            if outcome.refuted:
                return Sampled(_counterexample(claim, seeded, outcome), "")
            found.append(outcome)
    return Sampled(None, _words(claim, found)) if found else None


def _words(claim: Claim, found: Sequence[Outcome]) -> str:
    """The smallest defects that all tests of a kind are sure to find."""
    kinds = {
        "mean at": "a mean off by {:.2g} |x||v|",
        "variance at": "a variance {:.2g} |x|^2 too large",
        "half": "a probability off by {:.2g}",
    }
    parts = []
    for start_of_name, text in kinds.items():
        sizes = [o.smallest_defect for o in found if o.name.startswith(start_of_name)]
        if sizes:
            parts.append(text.format(max(sizes)))
    return f"; sampled at level {float(_level(claim)):.1g}, which finds {' and '.join(parts)}"


def _random(claim: Claim, seed: int) -> list[Recipe]:
    """Of the recipes that meet the hypotheses the one with most draws, if it has more than one, in a list."""
    proposed = islice(claim.instances.recipes(np.random.default_rng(seed)), PROPOSED)
    found: tuple[tuple[int, float], list[Recipe]] = ((1, 1.0), [])
    for recipe, _ in meeting(claim, proposed):
        draws = _draws(claim, recipe)
        if draws[0] <= MOST:
            found = max(found, (draws, [recipe]), key=lambda pair: pair[0])
    return found[1]


def sides(claim: Claim, recipe: Recipe, part: str) -> tuple[Any, Any]:
    """The mean sampled and the mean claimed, of the test that ``part`` names.

    ``ValueError`` when there is none, when it refutes nothing, and when the recipe asks for more samples, or a larger
    share of the error level, than tests are given.
    """
    tests, most = (len(SHAPES), max(size for *_, size in SHAPES)) if "samples" in recipe else (1, SIZE)
    if recipe["tests"] < tests or recipe.get("samples", 0) > most:
        raise ValueError("the recipe has other tests than those that refute")
    found = {PREFIX + outcome.name: outcome for outcome in _outcomes(claim, recipe)}
    if part not in found:
        raise ValueError(f"the recipe has no test {part!r}")
    if not found[part].refuted:
        raise ValueError(f"the test {part!r} refutes nothing")
    return _sides(found[part])


def _level(claim: Claim) -> Fraction:
    """The share of a registered claim in an audit's level; somebody's own claim has as much."""
    ledger, id = _ledger(), claim.id.rstrip("*")
    return ledger.share(id if ledger.has(id) else next(iter(ledger)))


def _draws(claim: Claim, recipe: Recipe) -> tuple[int, float]:
    """How many different draws a step has at this recipe, and the least probability of one: a coin that nearly always
    shows the same side hides its bias."""
    instance = claim.instances.build(recipe, False)
    problem, state = start(claim, instance, np.ones((1, dimension(claim, instance))))
    draws = claim.statement.algorithm.draws(problem, instance.params, state)  # type: ignore[union-attr]
    count = draws.count or 0
    return count, float(min(draws.support(False)[1])) if 0 < count <= MANY else 0.0


def _outcomes(claim: Claim, recipe: Recipe) -> list[Outcome]:
    statement, seed = claim.statement, recipe["seed"]
    level = float(_level(claim) / recipe["tests"])
    if isinstance(statement, CompressorClass):
        d, k = recipe["d"], recipe["k"]
        omega = evaluate(statement.omega.subs({statement.d: d, statement.k: k}), {})
        return sampling.compressor(statement.compressor(d, k), seed, level, omega, recipe["samples"])
    instance = claim.instances.build(recipe, False)
    return sampling.step_sampler(claim, instance, np.ones(dimension(claim, instance)), seed, level, SIZE)


def _sides(outcome: Outcome) -> tuple[Any, Any]:
    # A sample outside the range or the support has no mean to compare.
    return (1.0, 0.0) if outcome.decision is Decision.OUTSIDE else (outcome.mean, outcome.target)


def _counterexample(claim: Claim, recipe: Recipe, outcome: Outcome) -> Counterexample:
    left, right = _sides(outcome)
    where = ", ".join(f"{name}={recipe[name]}" for name in ("d", "k", "tau", "p", "omega", "seed") if name in recipe)
    text = f"{where}: {outcome.name}, {outcome.samples} samples, {outcome.decision} at level {outcome.level:.1g}"
    return Counterexample(claim, recipe, (), 0, PREFIX + outcome.name, 0, left, right, outcome.relation, text)
