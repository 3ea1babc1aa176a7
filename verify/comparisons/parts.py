"""The parts of claims that counterexamples name: what a claim says of each, after which rounds, and its two sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.order import Order
from fedtheory.kinds.untested import Untested
from verify.comparisons import cycles, determinants, exact, number_types, orders, samplers, stability
from verify.comparisons.deciding import certainly, is_open, plain
from verify.comparisons.exact import Coordinates
from verify.evaluate import hypotheses_hold
from verify.plain import quoted

#: The comparisons of a compressor's class.
_COMPRESSOR = {"mean": "==", "variance": "<=", "its own omega": "<=", "floats": "==", "sampled": "==", "bits": "=="}


def relation(claim: Claim, part: str) -> str:
    """What the claim says of the two sides of one of its parts; ``ValueError`` when it has no such part."""
    statement = claim.statement
    if isinstance(statement, Order):
        known = {f"order {index}": "<=" for index in range(len(statement.parts))}
    elif isinstance(statement, CompressorClass):
        known = _COMPRESSOR
    elif isinstance(statement, Invariant):
        known = {"residual": "=="}
    elif isinstance(statement, Limit):
        known = {"fixed point": "==", determinants.PART: "<", stability.PART: "<", cycles.PART: "<"}
    elif isinstance(statement, Eventually):
        known = {cycles.PART: "<"} if cycles.vanishing(claim) else {}
    elif isinstance(statement, Untested | Fails | Experiment):
        known = {}
    else:
        known = {str(index): comparison.relation for index, comparison in enumerate(statement.comparisons)}
        known["domain"] = "=="
    if part in known:
        return known[part]
    if part.startswith(samplers.PREFIX) and not isinstance(statement, Order | Untested):
        # Of what is sampled only a variance is bounded from one side.
        return "<=" if part.startswith(f"{samplers.PREFIX}variance") else "=="
    if part.startswith((number_types.FLOATS, number_types.AGAIN)) and number_types.runs_on_states(claim):
        return "=="
    raise ValueError(f"the claim {claim.id} has no comparison called {quoted(part)}")


def possible_rounds(claim: Claim, part: str) -> tuple[int, ...]:
    """The numbers of rounds that a counterexample can have there."""
    if isinstance(claim.statement, Order) or part.startswith(samplers.PREFIX):
        return (0,)
    if part == cycles.PART:
        return tuple(range(1, cycles.LONGEST + 1))
    return tuple(range(exact.LAST + 1)) if claim.statement.horizon else (1,)


@np.errstate(all="ignore")
def evaluate_at(
    claim: Claim, recipe: Recipe, point: Coordinates, rounds: int, part: str, entry: int
) -> tuple[Any, Any]:
    """(left, right) of one comparison, evaluated from the recipe.

    ``ValueError`` where the claim has no such comparison, or does not speak of the instance: it is not of the setting,
    or a hypothesis does not hold.
    """
    relation(claim, part)
    if isinstance(claim.statement, Order):
        return orders.sides_at(claim, recipe, int(part.split()[-1]))
    try:
        instance = claim.instances.build(recipe, True)
        if not hypotheses_hold(claim, instance):
            raise ValueError(f"the instance does not meet the hypotheses of {claim.id}")
        if part == determinants.PART:
            return determinants.sides(claim, instance)
        if part == stability.PART:
            return stability.sides(claim, instance)
        if part == cycles.PART:
            return cycles.sides(claim, instance, point, rounds, entry)
        if part.startswith(samplers.PREFIX):
            return samplers.sides(claim, recipe, part)
        if part.startswith((number_types.FLOATS, number_types.AGAIN)):
            return number_types.sides(claim, recipe, point, rounds, part, entry)

        def sides() -> tuple[Any, Any] | None:
            for found in exact.parts(claim, instance, point, rounds):
                if found.name == part:
                    return plain(found.left[entry]), plain(found.right[entry])
            return None

        both = certainly(sides, lambda found: found is not None and is_open(*found, relation(claim, part)))
        if both is not None:
            return both
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"the recipe does not describe an instance of {claim.id}: {error!r}") from error
    raise ValueError(f"the claim {claim.id} has no comparison called {part!r}")
