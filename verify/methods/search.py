"""Worst instances: those of a setting that meet the hypotheses, in every way in which the maxima of a claim bind."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from fedtheory.rational import Undefined, evaluate
from fedtheory.statements import (
    CompressorClass,
)
from verify.evaluate import hypotheses_hold, meeting, sides
from verify.evidence import Counterexample
from verify.faults import attributed
from verify.methods import states

#: One in how many instances is looked at far away too, and how many next to the optimum, in fractions.
EVERY, CLOSE = 4, 2
#: So many times more recipes are proposed where one is looked for that a changed claim alone allows.
SOUGHT = 10
#: Instances of each way in which maxima bind at which a bound that is nearly attained is evaluated exactly: what floats
#: cannot tell from equality may exceed it.
TIES = 3


@dataclass(frozen=True)
class Hunt:
    """What a search over instances found.

    ``instances``: how many met the hypotheses and said something; ``met``: recipes of some of them, those with the
    largest ratios first; ``worst``: the largest ratio without a violation, at the recipe ``tightest``; ``by_round``:
    the largest by number of rounds;
    ``methods``: how states were found; ``refutations``: violations confirmed exactly, of as many instances;
    ``undefined``: values of the letters that meet the hypotheses, where a side is no real number, and why.
    """

    instances: int
    met: tuple[Recipe, ...]
    worst: float
    tightest: Recipe | None
    by_round: Mapping[int, float]
    methods: frozenset[str]
    refutations: tuple[Counterexample, ...]
    undefined: tuple[Recipe, str] | None = None


def _undefined(claim: Claim, recipe: Recipe) -> tuple[Recipe, str] | None:
    """Values of the letters alone that meet the hypotheses, and a side that is no real number there; or None."""
    if not claim.setting.of_constants or isinstance(claim.statement, CompressorClass):
        return None
    try:
        built = claim.family.build(recipe, True)
        if not hypotheses_hold(claim, built):
            return None
    except (ValueError, ZeroDivisionError):
        return None
    try:
        sides(claim, built, np.zeros((1, 0), dtype=object))
    except Undefined as error:
        return recipe, str(error)
    except (ValueError, ArithmeticError):
        return None
    return None


def generator(claim: Claim, seed: int) -> np.random.Generator:
    """The random numbers of a search for violations of a claim, or of a changed one with the same id but for a "*"."""
    return np.random.default_rng([seed, zlib.crc32(claim.id.rstrip("*").encode())])


def hunt(claim: Claim, rng: np.random.Generator, size: int, enough: int) -> Hunt:
    """Examine up to ``size`` instances, until ``enough`` of them have confirmed violations."""
    methods: set[str] = set()
    instances, worst, tightest = 0, -np.inf, None
    by_round: dict[int, float] = {}
    refutations: list[Counterexample] = []
    met: list[tuple[float, Recipe]] = []
    ties: Counter[tuple[int, ...]] = Counter()
    undefined: tuple[Recipe, str] | None = None
    for index, recipe in enumerate(proposed(claim, rng, size)):
        with attributed(claim, recipe):
            findings = states.examine(claim, recipe, rng)
            tied = _tied(claim, recipe, findings or [], ties)
            found = states.first_confirmed(claim, recipe, findings or [], tied)
            if found is None and findings:
                far = index % EVERY == 0
                more = list(states.elsewhere(claim, recipe, far, len(met) < CLOSE))
                found = states.first_confirmed(claim, recipe, more)
        if not findings:
            undefined = undefined or _undefined(claim, recipe)
            continue
        if len(recipe.get("clients", ())) <= states.MANY or not met:
            # Programs of many clients are large, and say no more.
            met.append((findings[0].ratio, recipe))
        # A comparison whose left side vanishes says nothing.
        instances += any(f.ratio != 0 for f in findings)
        methods.update(f.method for f in findings)
        if found is not None:
            refutations.append(found)
            if len(refutations) == enough:
                break
            continue
        for finding in (states.settled(claim, recipe, f) for f in findings):
            by_round[finding.rounds] = max(by_round.get(finding.rounds, 0.0), finding.ratio)
            if finding.ratio > worst:
                worst, tightest = finding.ratio, recipe
    chosen = tuple(recipe for _, recipe in _telling(claim, met, max(3, size // 250)))
    return Hunt(instances, chosen, worst, tightest, by_round, frozenset(methods), tuple(refutations), undefined)


def proposed(claim: Claim, rng: np.random.Generator, size: int) -> Iterator[Recipe]:
    """``size`` recipes; before them, where hypotheses were changed, up to as many that only the change allows."""
    recipes = claim.family.recipes(rng)
    # Somebody's own claim is not registered: of it nothing but the changed hypotheses is known.
    original = next((c for c in claims.all() if c.id == claim.id.rstrip("*")), None)
    if "requires" in claim.changes and original is not None:
        fresh = (
            recipe for recipe, built in meeting(claim, islice(recipes, SOUGHT * size)) if not _meets(original, built)
        )
        yield from islice(fresh, size)
    yield from islice(recipes, size)


def _meets(claim: Claim, built: Instance) -> bool:
    """Whether an instance of a changed claim meets what the claim says of the letters that the instance has."""
    values = claim.setting.bind(built.problem, built.params)
    about = tuple(h for h in claim.requires if h.relation is None or h.relation.free_symbols <= set(values))
    try:
        return all(h.holds(built.problem, built.params, values) for h in about)
    except Undefined:
        return False


def _telling(claim: Claim, met: list[tuple[float, Recipe]], count: int) -> list[tuple[float, Recipe]]:
    """One for each way in which the maxima of the statement bind, and then up to ``count`` others.

    Two thirds of these came nearest to a violation, the rest are the first that were met; all are among the simplest
    quarter, whose programs are not ill-conditioned for no reason.
    """
    simple = sorted(met, key=lambda pair: wildness(pair[1]))
    binding: dict[tuple[int, ...], tuple[float, Recipe]] = {}
    for pair in simple:
        binding.setdefault(regime(claim, pair[1]), pair)
    tame = simple[: max(count, len(simple) // 4)]
    met = [pair for pair in met if pair in tame]
    ordered = sorted(met, key=lambda pair: -pair[0])
    nearest = ordered[: count - count // 3]
    nearest += [pair for pair in binding.values() if pair not in nearest]
    return nearest + [pair for pair in met if pair not in nearest][: count // 3]


def wildness(recipe: Recipe) -> float:
    """How far the constants of a recipe are from small rationals: the digits of numerators and denominators."""
    constants = [v for v in recipe.values() if isinstance(v, Fraction) and v != 0]
    return sum(math.log(abs(v.numerator)) + math.log(v.denominator) for v in constants)


def regime(claim: Claim, recipe: Recipe) -> tuple[int, ...]:
    """Which argument of each maximum and minimum in the statement is the one that counts at a recipe's parameters.

    Those of quantities are left out.
    """
    sides = [side for c in getattr(claim.statement, "comparisons", ()) for side in (c.left, c.right)]
    nodes = sorted(sympy.Tuple(*sides).atoms(sympy.Max, sympy.Min), key=sympy.default_sort_key)
    if not nodes:
        return ()
    built = claim.family.build(recipe, True)
    values = claim.setting.bind(built.problem, built.params)
    found = []
    for node in nodes:
        if all(symbol in values for symbol in node.free_symbols):
            arguments = [float(evaluate(argument, values)) for argument in node.args]
            extreme = max if isinstance(node, sympy.Max) else min
            found.append(arguments.index(extreme(arguments)))
    return tuple(found)


def _tied(claim: Claim, recipe: Recipe, findings: list[states.Finding], ties: Counter[tuple[int, ...]]) -> bool:
    """Whether a bound is attained as far as floats can tell, and it is not known yet that it holds where it is."""
    if states.pointwise(claim) or not any(abs(f.ratio - 1) <= states.SUSPECT for f in findings):
        return False
    try:
        binding = regime(claim, recipe)
    except (ValueError, ArithmeticError):
        return False
    ties[binding] += 1
    return ties[binding] <= TIES
