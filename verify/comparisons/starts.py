"""The starts of runs: the states with which a run may begin, and the problem that it is on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.polynomials import Undetermined, unseen
from fedtheory.numbers.rational import Array, exact
from fedtheory.sampling.chart import nullspace
from verify.base.case import Case
from verify.base.evaluate import differing, rollout


def begun(case: Case, row: Array) -> tuple[Any, Any]:
    """The problem and the state of a run that begins with coordinates ``row (1, dimension)`` about its fixed point.

    Raise ``ValueError`` if none is found. Parts of the state that a run does not choose are what
    ``init`` makes them; the optimum may be any.
    """
    initial, around = case.instance.initial, case.instance.around
    if initial is None or only_start(case) is not None:
        return case.instance.at(row)
    own = case.instance.coordinates
    if own is None:
        raise ValueError(f"nothing tells at which coordinates a run of {case.claim.id} begins")
    size = case.instance.size_of_start

    def coordinates(theta: Array) -> tuple[Any, Any, Array]:
        problem, state = initial(theta)
        # Without another fixed point they are about the instance's own.
        read = own if around is None else around(problem)[1]
        return problem, state, np.asarray(read(state)).reshape(len(theta), -1)

    images = coordinates(exact(np.eye(size + 1, size, k=-1, dtype=int)))[2]
    # If init is not affine this is a guess: the result is compared with the row.
    equations = np.concatenate([(images[0] - row[0])[:, None], (images[1:] - images[0]).T], axis=1)
    solutions, free = nullspace(exact(equations))
    if 0 in free:
        problem, state, found = coordinates(exact(solutions[None, 1:, free.index(0)]))
        if (found == row).all():
            return problem, state
    raise ValueError(f"no run of {case.claim.id} begins there")


def only_start(case: Case) -> tuple[Any, Any] | None:
    """The problem of an instance whose states have no coordinates, and the one state where its run begins: what
    ``init`` makes of no parts. None of other instances."""
    if case.instance.dimension or case.problem is None:
        return None
    problem, state = case.instance.at(exact(np.zeros((1, 0), dtype=int)))
    made = case.statement.algorithm.init(problem, case.params)
    return (problem, state) if not differing(made, state) else None


def at_rest(case: Case, problem: Any, state: Any) -> Any:
    """A state that every step leaves as it is, without the parts of which none has a part in the others; else None.

    Such a part, an accuracy say, may be another after each step: it is what no code may look at.
    """
    try:
        moved = differing(rollout(case, problem, state, 1)[0], state)
        if not moved:
            return state
        hidden = {name: np.full(np.shape(getattr(state, name)), Undetermined(), dtype=object) for name in moved}
        with unseen():
            kept = state._replace(**hidden)
            later, _ = rollout(case, problem, kept, 1)
            stays = not differing(later, state, set(state._fields) - set(moved))
        return kept if stays else None
    except Exception:
        # At a state that is known the code need not fail.
        return None


def generic(size: int) -> Array:
    """Coordinates ``(1, size)`` in fractions among which no relation holds by chance that code might ask for."""
    return exact(np.array([[Fraction((-1) ** i, i + 2) for i in range(size)]], dtype=object).reshape(1, size))
