"""The parts of claims that counterexamples name: what a claim says of each, after which rounds, and its two sides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.order import Order
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold
from verify.base.plain import quoted
from verify.comparisons import exact, limits, number_types, orders, samplers
from verify.comparisons.deciding import certainly, is_open, plain
from verify.comparisons.exact import Coordinates


def relation(claim: Claim, part: str) -> str:
    """Return the relation between the two sides of one part of the claim. Raise ``ValueError`` if there is no such
    part.
    """
    known = _relations(claim.statement)
    if part == limits.CYCLE and limits.vanishing(claim):
        return "<"
    if part in known:
        return known[part]
    if part.startswith(samplers.PREFIX) and claim.statement.searched:
        # Only the variance of what is sampled is bounded, from one side.
        return "<=" if part.startswith(f"{samplers.PREFIX}variance") else "=="
    if part.startswith((number_types.FLOATS, number_types.AGAIN)) and number_types.runs_on_states(claim):
        return "=="
    raise ValueError(f"the claim {claim.id} has no comparison called {quoted(part)}")


@singledispatch
def _relations(statement: Statement) -> Mapping[str, str]:
    """Return the relations of a statement's parts, by name."""
    if not statement.searched:
        return {}
    return {**{str(index): c.relation for index, c in enumerate(statement.comparisons)}, "domain": "=="}


@_relations.register
def _(statement: Order) -> Mapping[str, str]:
    return {f"{orders.PREFIX}{index}": "<=" for index in range(len(statement.parts))}


@_relations.register
def _(statement: Invariant) -> Mapping[str, str]:
    return {"residual": "=="}


@_relations.register
def _(statement: Limit) -> Mapping[str, str]:
    return {"fixed point": "==", limits.PRODUCTS: "<", limits.SCHUR_COHN: "<"}


@_relations.register
def _(statement: CompressorClass) -> Mapping[str, str]:
    parts = ("mean", "variance", "its own omega", "floats", "sampled", "bits")
    return {part: "<=" if part in ("variance", "its own omega") else "==" for part in parts}


def possible_rounds(claim: Claim, part: str) -> tuple[int, ...]:
    """The numbers of rounds that a counterexample can have there."""
    if part.startswith((samplers.PREFIX, orders.PREFIX)):
        return (0,)
    if part == limits.CYCLE:
        return tuple(range(1, limits.LONGEST + 1))
    return tuple(range(claim.statement.since, exact.LAST + 1)) if claim.statement.horizon else (1,)


@np.errstate(all="ignore")
def evaluate_at(case: Case, point: Coordinates, rounds: int, part: str, entry: int) -> tuple[Any, Any]:
    """(left, right) of one comparison, evaluated from the recipe.

    Raise ``ValueError`` if the claim has no such comparison, or does not apply to the instance: it is not of the
    setting, or a hypothesis does not hold.
    """
    relation(case.claim, part)
    if part.startswith(orders.PREFIX):
        return orders.sides_at(case, int(part.split()[-1]))
    try:
        if not hypotheses_hold(case):
            raise ValueError(f"the instance does not meet the hypotheses of {case.claim.id}")
        if part == limits.PRODUCTS:
            return limits.sides_of_maps(case)
        if part == limits.SCHUR_COHN:
            return limits.stages(case)
        if part == limits.CYCLE:
            return limits.sides_of_cycle(case, point, rounds, entry)
        if part.startswith(samplers.PREFIX):
            return samplers.sides(case, part)
        if part.startswith((number_types.FLOATS, number_types.AGAIN)):
            return number_types.sides(case, point, rounds, part, entry)

        def sides() -> tuple[Any, Any] | None:
            for found in exact.parts(case, point, rounds):
                if found.name == part:
                    return plain(found.left[entry]), plain(found.right[entry])
            return None

        both = certainly(sides, lambda found: found is not None and is_open(*found, relation(case.claim, part)))
        if both is not None:
            return both
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"the recipe does not describe an instance of {case.claim.id}: {error!r}") from error
    raise ValueError(f"the claim {case.claim.id} has no comparison called {part!r}")
