"""What the author of a claim asserts of a method, compared with its code at exact instances.

That draws are one distribution: all states of an array share what is drawn, and so do all branches of the tree of
draws, so that draws that depend on the state would be those of another state; and proofs speak of what is drawn in
fractions, where runs draw in floats. That what is known of states is so. That a step leaves the fixed point there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms.base import no_step
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from fedtheory.instances.chart import nullspace, rank, skeleton, untied
from fedtheory.randomness import map_leaves, support_of
from fedtheory.rational import Array, exact, to_float
from fedtheory.statements import Bound, Invariant, Limit, OneStep
from verify.evaluate import dimension, rollout, start

#: What is said of others.
SAME = "draws must be the same in all states"
#: Draws that are compared, at most; sizes of the states at which they are; how far floats may be off.
MOST, SIZES, OFF = 1000, (Fraction(0), Fraction(1), Fraction(-1000)), 1e-9
#: Coordinates up to which a state that stays is solved for.
LARGEST = 12


class _Sealed:
    """An entry of a state that refuses to be looked at: arithmetic and conversions it does not have."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError("an entry of a state was looked at")

    def __bool__(self) -> bool:
        raise TypeError("an entry of a state was looked at")


def check_draws(claim: Claim, recipe: Recipe) -> None:
    """``ValueError`` where what a step of the claim's method draws depends on the state, or on the kind of numbers."""
    algorithm: Any = getattr(claim.statement, "algorithm", None)
    if algorithm is None:
        return
    found = []
    for kind in (True, False):
        instance = claim.instances.build(recipe, kind)
        row = _generic(dimension(claim, instance))
        problem, state = start(claim, instance, row if kind else to_float(row))
        draws = algorithm.draws(problem, instance.params, state)
        if draws.count is not None and draws.count > MOST:
            return
        sealed = type(state)(*(np.full(np.shape(part), _Sealed(), dtype=object) for part in state))
        try:
            again = algorithm.draws(problem, instance.params, sealed)
        except Exception as error:
            raise ValueError(f"what {algorithm.name} draws depends on the state ({error}): {SAME}") from error
        if draws.count is None:
            continue
        found += [support_of(draws, kind), support_of(again, kind)]
    for index, one in enumerate(found[1:]):
        if not _same(found[0], one):
            why = "on the state" if index != 1 else "on whether numbers are floats or fractions"
            raise ValueError(f"what {algorithm.name} draws depends {why}: {SAME}")


def check_chart(claim: Claim, instance: Instance) -> None:
    """``ValueError`` where the states that are looked at are not all that the invariant of the method allows."""
    algorithm = claim.setting.algorithm if claim.setting.special is None else None
    if algorithm is None or algorithm.invariant is None or instance.problem is None:
        return
    n, with_g = instance.problem.n, instance.problem.g is not None
    untied(algorithm, skeleton(algorithm, n, instance.params, with_g), n, instance.params, with_g)


def untrue(claim: Claim, instance: Instance) -> str:
    """What is not so at an exact instance of what the author of a claim asserts of its states; empty if all is.

    ``ValueError`` as :func:`check_chart`.
    """
    check_chart(claim, instance)
    return unknown(claim, instance) or unheld(claim, instance)


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
    """Why the invariant of a setting's method is none at an exact instance; empty where nothing is wrong.

    It holds where the method starts and at the states of the chart, and where a claim speaks of steps these keep it.
    """
    algorithm = claim.setting.algorithm if claim.setting.special is None else None
    if algorithm is None or algorithm.invariant is None:
        return ""
    kept = replace(claim, statement=Invariant(algorithm, algorithm.invariant, ""))
    steps = isinstance(claim.statement, OneStep | Bound | Limit) and algorithm.step is not no_step
    starts = [("its initial states", instance.initial, instance.initial_dimension or instance.dimension)]
    starts += [("states about its fixed point", instance.at, instance.dimension)]
    for where, at, size in starts:
        if at is None:
            continue
        problem, state = at(_generic(size))
        if _breaks(algorithm, problem, instance, state):
            return f"the invariant of {algorithm.name} does not hold at {where}"
        if steps and _breaks(algorithm, problem, instance, rollout(kept, instance, problem, state, 1)[0]):
            return f"a step of {algorithm.name} from {where} breaks its invariant"
    return ""


def _breaks(algorithm: Any, problem: Any, instance: Instance, state: Any) -> bool:
    """Whether the invariant does not hold at some of these states."""
    return any(v != 0 for v in np.asarray(algorithm.invariant(problem, instance.params, state)).flat)


def reaches(instance: Instance) -> bool:
    """Whether the coordinates of an exact instance move every entry of its state, each by itself: an exact rank.

    False where they do so by no affine map.
    """
    size = instance.dimension
    generic = _generic(size)
    _, state = instance.at(np.concatenate([exact(np.eye(size + 1, size, k=-1, dtype=int)), generic]))
    parts = [np.asarray(part) for part in (state if isinstance(state, tuple) else (state,))]
    if any(part.shape[:1] not in ((1,), (size + 2,)) for part in parts):
        return False
    flat = [np.broadcast_to(part, (size + 2, *part.shape[1:])).reshape(size + 2, -1) for part in parts]
    found = exact(np.concatenate([*flat, np.zeros((size + 2, 0), dtype=int)], axis=1))
    moved, other = (found[1:-1] - found[:1]).T, found[-1] - found[0]
    return rank(moved) == len(moved) and bool((moved @ generic[0] == other).all())


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
    for scale in SIZES:
        yield scale * _generic(size)


def _generic(size: int) -> Array:
    return exact(np.array([[Fraction((-1) ** i, i + 2) for i in range(size)]], dtype=object).reshape(1, size))


def _same(one: tuple[Any, Array], two: tuple[Any, Array]) -> bool:
    """Whether draws and probabilities are the same, to rounding."""
    same: list[bool] = []

    def compare(a: Array, b: Array) -> Array:
        same.append(np.shape(a) == np.shape(b) and np.allclose(to_float(a), to_float(b), rtol=OFF, atol=OFF))
        return a

    map_leaves(compare, one[0], two[0])
    compare(one[1], two[1])
    return all(same)
