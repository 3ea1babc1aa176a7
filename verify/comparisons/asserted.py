"""What the author of a claim asserts of a method, compared with its code at exact instances.

That draws are one distribution: all states of an array share what is drawn, and so do all branches of the tree of
draws, so that draws that depend on the state would be those of another state; and proofs speak of what is drawn in
fractions, where runs draw in floats. That what is known of states is so. That a step leaves the fixed point there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from fedtheory.instances.chart import nullspace
from fedtheory.randomness import map_leaves, support_of
from fedtheory.rational import Array, exact, to_float
from fedtheory.statements import Limit
from verify.evaluate import dimension, rollout, start

#: Draws that are compared, at most; sizes of the states at which they are; how far floats may be off.
MOST, SIZES, OFF = 1000, (Fraction(0), Fraction(1), Fraction(-1000)), 1e-9
#: Coordinates up to which a state that stays is solved for.
LARGEST = 12


def check_draws(claim: Claim, recipe: Recipe) -> None:
    """``ValueError`` where what a step of the claim's method draws depends on the state, or on the kind of numbers."""
    algorithm: Any = getattr(claim.statement, "algorithm", None)
    if algorithm is None:
        return
    found = []
    for kind in (True, False):
        instance = claim.instances.build(recipe, kind)
        for row in _rows(dimension(claim, instance)):
            problem, state = start(claim, instance, row if kind else to_float(row))
            draws = algorithm.draws(problem, instance.params, state)
            if draws.count is None or draws.count > MOST:
                return
            found.append((kind, support_of(draws, kind)))
    for kind, one in found[1:]:
        if not _same(found[0][1], one):
            why = "on the state" if kind else "on whether numbers are floats or fractions"
            raise ValueError(f"what {algorithm.name} draws depends {why}: {claim.id} cannot be tested")


def unknown(claim: Claim, instance: Instance) -> str:
    """Why what the setting says of all its states is not so at an exact instance; empty where nothing is wrong."""
    known = claim.setting.known
    if known is None:
        return ""
    for row in _rows(instance.dimension):
        problem, state = instance.at(row)
        if any(v > 0 for v in np.asarray(known(problem, instance.params, state)).flat):
            return "what the setting says is known of all states is not so at a state that init makes"
    return ""


def unheld(claim: Claim, instance: Instance) -> str:
    """Why an invariant is none at an exact instance: it does not hold where a method starts; else empty."""
    algorithm = claim.setting.algorithm if claim.setting.special is None else None
    if algorithm is None or algorithm.invariant is None or instance.initial is None:
        return ""
    for row in _rows(instance.initial_dimension or instance.dimension):
        problem, state = instance.initial(row)
        if any(v != 0 for v in np.asarray(algorithm.invariant(problem, instance.params, state)).flat):
            return f"the invariant of {algorithm.name} does not hold at its initial states"
    return ""


def unfixed(claim: Claim, instance: Instance) -> str:
    """Why a limit has no meaning at an exact instance: a step leaves the fixed point of its method; else empty."""
    statement = claim.statement
    if not isinstance(statement, Limit) or _stays(claim, instance, *_fixed(claim, instance)):
        return ""
    return f"a step of {statement.algorithm.name} leaves what is given as its fixed point"


def resting(claim: Claim, instance: Instance) -> tuple[Any, Any] | None:
    """The problem of an exact instance, and a state that every step of a limit's method leaves as it is; or None.

    The fixed point, or what solves the equations of one where the coordinates move by affine maps.
    """
    problem, state = _fixed(claim, instance)
    if _stays(claim, instance, problem, state):
        return problem, state
    size = instance.dimension
    if instance.coordinates is None or not 0 < size <= LARGEST:
        return None
    problem, states = instance.at(exact(np.eye(size + 1, size, k=-1, dtype=int)))
    later, p = rollout(claim, instance, problem, states, 1)
    images = np.asarray(instance.coordinates(later))[:, np.asarray(p > 0)]
    # Of z: (A_k - I) z + b_k = 0 for each draw k.
    A = np.moveaxis(images[1:] - images[:1], 0, -1) - np.eye(size, dtype=int)
    solutions, free = nullspace(np.concatenate([images[0][..., None], A], axis=-1).reshape(-1, size + 1))
    if 0 not in free:
        return None
    problem, state = instance.at(exact(solutions[None, 1:, free.index(0)]))
    return (problem, state) if _stays(claim, instance, problem, state) else None


def _fixed(claim: Claim, instance: Instance) -> tuple[Any, Any]:
    problem, _ = instance.at(exact(np.zeros((1, instance.dimension), dtype=int)))
    fixed = claim.statement.algorithm.fixed_point(problem, instance.params)  # type: ignore[union-attr]
    return problem, type(fixed)(*(np.asarray(part)[None, None] for part in fixed))


def _stays(claim: Claim, instance: Instance, problem: Any, state: Any) -> bool:
    """Whether a step leaves a state as it is, whatever is drawn."""
    later, _ = rollout(claim, instance, problem, state, 1)
    return all(bool((np.asarray(one) == np.asarray(two)).all()) for one, two in zip(later, state, strict=True))


def _rows(size: int) -> Iterator[Array]:
    """Coordinates ``(1, size)`` of a few states, in fractions."""
    generic = [Fraction((-1) ** i, i + 2) for i in range(size)]
    for scale in SIZES:
        yield exact(np.array([scale * v for v in generic], dtype=object).reshape(1, size))


def _same(one: tuple[Any, Array], two: tuple[Any, Array]) -> bool:
    """Whether draws and probabilities are the same, to rounding."""
    same: list[bool] = []

    def compare(a: Array, b: Array) -> Array:
        same.append(np.shape(a) == np.shape(b) and np.allclose(to_float(a), to_float(b), rtol=OFF, atol=OFF))
        return a

    map_leaves(compare, one[0], two[0])
    compare(one[1], two[1])
    return all(same)
