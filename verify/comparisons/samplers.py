"""The mean of what is sampled and the mean that is claimed, at the level that a claim has in an audit.

All tests of an audit share one error level, and the samples are fixed by a seed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, singledispatch
from typing import Any

import numpy as np

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import evaluate
from verify.base.case import Case
from verify.comparisons import sampling
from verify.statistics.sequential import Ledger, MeanTest, Ruling

#: Chance of any false alarm in an audit of all claims with one seed.
TOTAL = Fraction(1, 10**6)
#: Dimensions, coordinates kept and numbers of samples at which compressors are sampled: one shape that is enumerated as
#: well, one that is not.
SHAPES = ((5, 2, 100_000), (200, 20, 20_000))
#: Samples of the draws of a step, at most.
SIZE = 8000
#: The names of these comparisons in counterexamples, before the name of the test.
PREFIX = "sampled: "
#: The ledger's name for the share of a bound's measured runs.
_MEASURED = "{}, measured"


@cache
def _ledger() -> Ledger:
    registered = [(c.id, c.statement) for c in claims.all()]
    names = [id for id, statement in registered if statement.scope is Scope.COMPRESSOR or statement.stepping]
    return Ledger(names + [_MEASURED.format(id) for id, statement in registered if statement.horizon], TOTAL)


def measured_level(claim: Claim) -> float:
    """The error level at which measured runs are compared with a bound."""
    return float(_ledger().share(_MEASURED.format(claim.id)))


def sides(case: Case, part: str) -> tuple[Any, Any]:
    """The mean sampled and the mean claimed, of the test that ``part`` names.

    Raise ``ValueError`` if there is none, when it refutes nothing, and when the recipe asks for more samples, or a
    larger share of the error level, than tests are given.
    """
    tests, most = (len(SHAPES), max(size for *_, size in SHAPES)) if "samples" in case.recipe else (1, SIZE)
    if case.recipe["tests"] < tests or case.recipe.get("samples", 0) > most:
        raise ValueError("the recipe names tests other than those that refute")
    found = {PREFIX + outcome.name: outcome for outcome in outcomes(case)}
    if part not in found:
        raise ValueError(f"the recipe has no test {part!r}")
    if not found[part].refuted:
        raise ValueError(f"the test {part!r} refutes nothing")
    return both(found[part])


def level(claim: Claim) -> Fraction:
    """The share of a registered claim in an audit's level; a user's own claim has as much."""
    ledger, id = _ledger(), claim.id.rstrip("*")
    return ledger.share(id if ledger.has(id) else next(iter(ledger)))


def outcomes(case: Case) -> list[MeanTest]:
    """All tests of the samplers that a claim's recipe names, with its seed: of a compressor, or of a step's draws."""
    return _outcomes(case.statement, case, float(level(case.claim) / case.recipe["tests"]))


@singledispatch
def _outcomes(statement: Statement, case: Case, share: float) -> list[MeanTest]:
    """Those of the draws of a step."""
    return sampling.step_sampler(case.floats, np.ones(case.floats.dimension), case.recipe["seed"], share, SIZE)


@_outcomes.register
def _(statement: CompressorClass, case: Case, share: float) -> list[MeanTest]:
    d, k = case.recipe["d"], case.recipe["k"]
    omega = evaluate(statement.omega.subs({statement.d: d, statement.k: k}), {})
    return sampling.compressor(statement.compressor(d, k), case.recipe["seed"], share, omega, case.recipe["samples"])


def both(outcome: MeanTest) -> tuple[Any, Any]:
    """The mean sampled and the mean claimed."""
    # A sample outside the range or the support has no mean to compare.
    return (1.0, 0.0) if outcome.decision is Ruling.OUTSIDE else (outcome.mean, outcome.target)
