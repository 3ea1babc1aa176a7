"""Cycles of runs without randomness: seen in floats, solved for in fractions.

Near a cycle that avoids the kinks of the functions some rounds together are an affine map, z -> A z + b, which
fractions give exactly; the state of the cycle is a root of (I - A) z = b, and counts only where it is led back to.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import sympy
from sympy.polys.matrices import DomainMatrix

from fedtheory.instances import Instance
from fedtheory.numbers.rational import Array, apply, exact, to_float
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, rollout, unrolled
from verify.comparisons import limits, naming
from verify.comparisons.exact import Coordinates
from verify.evidence.counterexamples import Counterexample

#: Rounds after which a run is taken to be near its cycle, and how near, relative to its size.
SETTLED, NEAR = 160, 1e-4
#: The size at which something has vanished, relative to the start.
VANISHED = 1e-5
#: Runs that are looked at in fractions, of each array.
MOST = 4
#: Coordinates of a state beyond which cycles are not solved for.
LARGEST = 12
#: The distance of the states by which the affine map is found.
_STEP = Fraction(1, 10**12)


def candidates(case: Case, theta: Array) -> list[int]:
    """The starts ``theta (M, dimension)`` that lead, in floats, to a cycle that is not the optimum."""
    if case.instance.coordinates is None:
        return []
    found = _periods(case, theta)
    near = np.flatnonzero(found > 0)
    return [int(i) for i in near[np.argsort(found[near], kind="stable")][:MOST]]


def _periods(case: Case, theta: Array) -> Array:
    """The period of the cycle near which each run ends, 0 where there is none, or what must vanish has: ``(M,)``."""
    states = list(_trail(case, theta))
    later = states[-1][0]
    problem = states[-1][1]
    size = abs(later).max(axis=1, initial=0)
    alive = np.zeros(len(theta), dtype=bool)
    for quantity in limits.vanishing(case.claim):
        ended, begun = (
            to_float(limits.size(quantity, problem, case.params, state)) for state in (states[-1][2], states[0][2])
        )
        alive |= np.isfinite(ended) & (ended > VANISHED**2 * np.where(begun > 0, begun, 1))
    period = np.zeros(len(theta), dtype=int)
    for P in range(limits.LONGEST, 0, -1):
        before = states[-1 - P][0]
        period = np.where(abs(later - before).max(axis=1, initial=0) <= NEAR * size, P, period)
    return np.where(alive & np.isfinite(size) & (size > 0), period, 0)


def _trail(case: Case, theta: Array) -> Iterator[tuple[Array, Any, Any]]:
    """The first state and the last ones of long runs, flattened, in floats, with the problem."""
    problem, state = case.instance.at(theta)
    yield to_float(_flat(case.instance, state)), problem, state
    after = unrolled(case, problem, state)
    for later, _ in islice(after, SETTLED - limits.LONGEST - 1, SETTLED):
        # Fractions in somebody's code make objects of floats.
        yield to_float(_flat(case.instance, later)), problem, later


def _flat(instance: Instance, state: Any) -> Array:
    """The coordinates of states ``(M, 1, ...)``: ``(M, dimension)``."""
    assert instance.coordinates is not None
    return np.asarray(instance.coordinates(state)).reshape(len(state[0]), -1)


def cycle(case: Case, theta: Array) -> Counterexample | None:
    """The cycle to which one of the starts leads, exactly; None where fractions show none."""
    try:
        posed = case.instance
        if posed.coordinates is None or posed.dimension > LARGEST or not hypotheses_hold(case):
            return None
        if not limits.is_autonomous(case):
            return None
        for index in candidates(case.floats, theta)[:2]:
            period = int(_periods(case.floats, theta[index : index + 1])[0])
            ((start, _, _),) = islice(_trail(case.floats, theta[index : index + 1]), 1, 2)
            found = _solved(case, start[0], period) if period else None
            if found is not None:
                return found
    except (ValueError, ArithmeticError):
        return None
    return None


def _solved(case: Case, near: Array, period: int) -> Counterexample | None:
    """The cycle of so many rounds near a state, from its exact affine map."""
    m = case.instance.dimension
    z = exact([Fraction(v).limit_denominator(10**9) for v in near.tolist()])
    rows = np.concatenate([z[None], z + _STEP * np.eye(m, dtype=int)])
    problem, state = case.instance.at(rows)
    later, _ = rollout(case, problem, state, period)
    images = _flat(case.instance, later)
    A = ((images[1:] - images[0]) / _STEP).T
    point = _fixed(A, images[0] - apply(A, z), z)
    for entry in range(len(limits.vanishing(case.claim))):
        try:
            after, before = limits.sides_of_cycle(case, point, period, entry)
        except (ValueError, ArithmeticError):
            continue
        where = naming.clause(case, point)
        back = f"where {period} round{'s' if period != 1 else ''} lead back, and what is to vanish is not 0"
        text = f"{case.instance.text}{where}, {back}"
        return Counterexample(case.claim, case.recipe, point, period, limits.CYCLE, entry, after, before, "<", text)
    return None


def _fixed(A: Array, b: Array, near: Array) -> Coordinates:
    """A root of z = A z + b in fractions; of several, that with the free coordinates of a state ``near`` it.

    Raise ``ValueError`` if there is none.
    """
    m = len(b)
    rows = np.concatenate([np.eye(m, dtype=int) - A, b[:, None]], axis=1)
    entries = [[sympy.QQ(*Fraction(v).as_integer_ratio()) for v in row] for row in rows]
    reduced, pivots = DomainMatrix(entries, (m, m + 1), sympy.QQ).rref()
    if m in pivots:
        raise ValueError("an affine map leads no state back")
    found = {j: Fraction(near[j]) for j in range(m) if j not in pivots}
    for row, pivot in zip(reduced.to_list(), pivots, strict=False):
        *linear, right = (Fraction(int(v.numerator), int(v.denominator)) for v in row)
        found[pivot] = right - sum((linear[j] * found[j] for j in range(m) if j not in pivots), Fraction(0))
    return tuple(found[j] for j in range(m))
