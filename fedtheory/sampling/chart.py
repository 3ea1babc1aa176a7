"""A chart of an algorithm's states about its fixed point, derived from the algorithm itself.

The free parts of a state are the keywords of ``init``; the shapes of ``fixed_point`` say whether a part is one point
``(d,)`` or a block for each client ``(n, d)``; what ``init`` leaves of the linear ``invariant`` is solved for the last
blocks, so that the clients' blocks of a part whose sum is fixed are balanced. The same chart serves numbers and vectors
that are known only by their inner products.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, no_step
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.polynomials import NotPolynomial, coefficients, terms_of, unknowns, unseen
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import Array, exact
from fedtheory.problems.base import Problem
from fedtheory.problems.coupling import Coupling, LinearOperator
from fedtheory.problems.optimum import Optimum
from fedtheory.problems.quadratic import diagonal


@dataclass(frozen=True)
class StateChart:
    """Increments of the free parts of a state about ``fixed``, in coordinates.

    ``rows``: for each free part its number of blocks, None for a single point. ``basis (blocks, free blocks)``:
    integers or fractions that take free blocks to all of them, in the order of the parts; ``free``: which blocks these
    are.
    """

    fixed: Any
    rows: Mapping[str, int | None]
    basis: Array
    free: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """Number of free blocks."""
        return len(self.free)

    def parts(self, blocks: Array) -> dict[str, Array]:
        """The free parts of the state whose free blocks are ``(..., free blocks, d)`` away from the fixed point's."""
        every = _spread(self.basis, blocks)
        found, start = {}, 0
        for name, rows in self.rows.items():
            size = 1 if rows is None else rows
            increment = every[..., start, :] if rows is None else every[..., start : start + size, :]
            found[name] = getattr(self.fixed, name) + increment
            start += size
        return found

    def blocks(self, state: object) -> Array:
        """The free blocks ``(..., free blocks, d)`` of a state: the inverse of :meth:`parts`."""
        if not self.rows:
            # init determines all of a state.
            return _no_blocks(state, self.fixed)
        away = [getattr(state, name) - getattr(self.fixed, name) for name in self.rows]
        every = [a[..., None, :] if rows is None else a for a, rows in zip(away, self.rows.values(), strict=True)]
        return np.concatenate(every, axis=-2)[..., self.free, :]


def _no_blocks(state: Any, fixed: Any) -> Array:
    """``(..., 0, d)`` of a state: axes before those of the fixed point's fields are replicas."""
    replicas, d = (
        np.shape(state[0])[: np.ndim(state[0]) - np.ndim(fixed[0])],
        max(np.shape(part)[-1:] for part in fixed),
    )
    return np.zeros((*replicas, 0, *d), dtype=int)


def _is_identity(basis: Array) -> bool:
    return basis.shape[0] == basis.shape[1] and bool((basis == np.eye(len(basis), dtype=int)).all())


def _spread(basis: Array, blocks: Array) -> Array:
    if _is_identity(basis):
        return blocks
    if not basis.shape[1]:
        # One client whose only block must vanish.
        return np.zeros((*blocks.shape[:-2], len(basis), blocks.shape[-1]), dtype=int)
    # Row by row, so that vectors which are no numbers may stand in the blocks.
    rows = [sum(c * blocks[..., k, :] for k, c in enumerate(row) if c) + 0 * blocks[..., 0, :] for row in basis]
    return np.stack(rows, axis=-2)


@lru_cache(maxsize=100)
def keywords(algorithm: Algorithm) -> tuple[str, ...]:
    """Return the parts of a state that ``init`` takes. Raise ``ValueError`` if one is not a field of the state."""
    names = tuple(inspect.signature(algorithm.init).parameters)[2:]
    unknown = [name for name in names if name not in algorithm.State._fields]
    if unknown:
        raise ValueError(f"init of {algorithm.name} takes {unknown[0]!r}, which is not a part of its state")
    return names


def started(algorithm: Algorithm, problem: object, params: object, parts: Mapping[str, Array]) -> Any:
    """The state that ``init`` makes of these parts.

    Raise ``ValueError`` unless each stands in it as it was given: states that differ by what is dropped would be one.
    """
    state = algorithm.init(problem, params, **parts)
    for name, given in parts.items():
        if not _kept(getattr(state, name), given):
            raise ValueError(f"init of {algorithm.name} takes {name}, and the state that it makes has another")
    return state


def _kept(held: Array, given: Array) -> bool:
    """Return True if a part of a state equals the given one, also for vectors known by their inner products."""
    if held is given:
        return True
    try:
        one, two = np.broadcast_arrays(held, given)
    except ValueError:
        return False
    if one.dtype != object and two.dtype != object:
        return bool((one == two).all())
    return all(a is b or _same(a, b) for a, b in zip(one.flat, two.flat, strict=True))


def _same(a: object, b: object) -> bool:
    # Formal vectors cannot be compared; they are distinguished by their key.
    return bool(a.key == b.key if hasattr(a, "key") and hasattr(b, "key") else a == b)


def chart(algorithm: Algorithm, problem: Problem, params: object) -> StateChart:
    """The chart about the fixed point of an algorithm on a problem; one without functions has a size ``n`` only."""
    bones = skeleton(algorithm, problem.n, params, getattr(problem, "g", None) is not None)
    return replace(bones, fixed=algorithm.fixed_point(problem, params))


class _Plain(Problem):
    """The simplest problem, which stands for all that have as many clients: it has no blocks of coordinates."""

    def part(self, v: Array, block: int) -> Array:
        """``ValueError``."""
        raise ValueError("problem.part is for steps and quantities, and not for fixed_point and invariant")


class _PlainOperator(LinearOperator):
    """The operator of the simplest problem, which stands for all: it is applied to 0 only, as at fixed points."""

    def __call__(self, x: Array) -> Array:
        """0. Raise ``ValueError`` for other vectors."""
        if (x != 0).any():
            raise ValueError("problem.K is for steps and quantities, and at a fixed point, and not for an invariant")
        return x

    @property
    def T(self) -> LinearOperator:
        """The adjoint."""
        return self


@lru_cache(maxsize=100)
def plain(n: int, with_g: bool) -> Problem:
    """n functions |x|^2/2 of one variable (and g, another), the simplest problem there is."""
    one, zero = Quotient(1), np.array([Quotient(0)], dtype=object)
    parts = [diagonal(np.array([[one]] * k, dtype=object), np.array([zero] * k)) for k in (n, 1)]
    axis = np.array([[one]], dtype=object)
    coupling = Coupling(_PlainOperator(axis, axis[0], axis, 1, one), parts[1], zero)
    optimum = Optimum(zero, np.array([zero] * n), 0.0)
    return _Plain(parts[0], parts[1] if with_g else None, (one, one), optimum, coupling=coupling)


def skeleton(algorithm: Algorithm, n: int, params: object, with_g: bool) -> StateChart:
    """The chart on the simplest problem with n clients: blocks are the same on all, the fixed point is not."""
    problem = plain(n, with_g)
    fixed = algorithm.fixed_point(problem, params)
    names = [name for name in keywords(algorithm) if np.ndim(getattr(fixed, name)) > 0]
    rows = {name: None if np.ndim(getattr(fixed, name)) == 1 else getattr(fixed, name).shape[-2] for name in names}
    size = sum(1 if r is None else r for r in rows.values())
    whole = StateChart(fixed, rows, np.eye(size, dtype=int), tuple(range(size)))
    if algorithm.invariant is None:
        return whole
    relations = _relations(algorithm.invariant, algorithm.init, whole, problem, params)
    if not relations.any():
        return whole
    basis, free = nullspace(relations)
    return StateChart(fixed, rows, basis, free)


def untied(algorithm: Algorithm, about: StateChart, n: int, params: object, with_g: bool) -> list[str]:
    """Fields of the state that ``init`` computes and no invariant ties to the others: they may be anything later on.

    Raise ``ValueError`` unless the invariant is affine in the state, and the chart reaches all that it allows, with
    these fields free: by exact ranks, on the simplest problem with n clients. What is tied to the others only in part
    would be taken for what ``init`` makes of it in every round.
    """
    fields: tuple[str, ...] = algorithm.State._fields
    names = [name for name in fields if name not in about.rows]
    if algorithm.step is no_step:
        return []
    if algorithm.invariant is None:
        return names
    problem, fixed = plain(n, with_g), about.fixed
    held = np.asarray(algorithm.invariant(problem, params, fixed))
    free = [
        name
        for name in names
        if (algorithm.invariant(problem, params, fixed._replace(**{name: getattr(fixed, name) + 1})) == held).all()
    ]
    _check_reach(algorithm, about, problem, params, free)
    return free


def ties_less(algorithm: Algorithm, problem: Problem, params: object) -> bool:
    """Return True if the invariant leaves the state more directions on a problem than the chart has, by exact ranks.

    The chart is that of the simplest problem with as many clients. Raise ``ValueError`` unless the invariant is affine
    in the state.
    """
    with_g = problem.g is not None
    bones = skeleton(algorithm, problem.n, params, with_g)
    loose = untied(algorithm, bones, problem.n, params, with_g)
    fixed = algorithm.fixed_point(problem, params)
    ends = np.cumsum([np.size(part) for part in fixed])
    free = int(ends[-1]) - rank(_linear_part(algorithm, problem, params, fixed, ends))
    return free > bones.dimension * problem.d + sum(np.size(getattr(fixed, name)) for name in loose)


def _check_reach(algorithm: Any, about: StateChart, problem: Problem, params: object, free: Collection[str]) -> None:
    size = sum(1 if r is None else r for r in about.rows.values())
    whole = replace(about, basis=np.eye(size, dtype=int), free=tuple(range(size)))
    moved = _flat(algorithm.init(problem, params, **whole.parts(_units(size)[:, None, :, None])), about.fixed)
    reached = (moved[1:] - moved[:1]).T
    if not _is_identity(about.basis):
        reached = reached @ about.basis
    fields, ends = about.fixed._fields, np.cumsum([np.size(part) for part in about.fixed])
    total = int(ends[-1])
    freed = [k for k in range(total) if fields[int(np.searchsorted(ends, k, side="right"))] in free]
    allowed, _ = nullspace(_linear_part(algorithm, problem, params, about.fixed, ends))
    reached = np.concatenate([reached, np.eye(total, dtype=int)[:, freed]], axis=1)
    if rank(np.concatenate([reached, allowed], axis=1)) > rank(reached):
        raise ValueError(
            f"init of {algorithm.name} computes parts of the state that its invariant ties to the others only in part: "
            "let init take them"
        )


def _linear_part(algorithm: Any, problem: Problem, params: object, fixed: Any, ends: Array) -> Array:
    """The matrix ``(residuals, entries)`` of an invariant that is affine in the fields side by side, which end there.

    Raise ``ValueError`` unless it is: it runs on indeterminate entries, and is the same function of any others.
    """
    total = int(ends[-1])
    parts = np.split(unknowns(0, total), ends[:-1])
    state = (part.reshape(1, 1, *np.shape(like)) for part, like in zip(parts, fixed, strict=True))
    try:
        with unseen():
            residual = np.asarray(algorithm.invariant(problem, params, type(fixed)(*state)))
        constants = [terms_of(value).get((), 0) for value in residual.flat]
        linear = np.array([value - constant for value, constant in zip(residual.flat, constants, strict=True)])
        return coefficients(linear, 0, total).reshape(-1, total)
    except (NotPolynomial, TypeError) as error:
        raise ValueError(
            f"the invariant of {algorithm.name} is not affine in the state ({error}): give residuals that are"
        ) from error


def _units(size: int) -> Array:
    """0 and the unit vectors: ``(size + 1, size)``."""
    return np.eye(size + 1, size, k=-1, dtype=int)


def _flat(state: Any, fixed: Any) -> Array:
    """The fields of states ``(M, 1, ...)`` side by side: ``(M, entries)``."""
    size = max(len(part) if np.ndim(part) > np.ndim(like) else 1 for part, like in zip(state, fixed, strict=True))
    parts = (np.broadcast_to(part, (size, 1, *np.shape(like))) for part, like in zip(state, fixed, strict=True))
    return exact(np.concatenate([part.reshape(size, -1) for part in parts], axis=1))


def rank(A: Array) -> int:
    """The rank of a matrix of fractions."""
    return int(A.shape[1]) - len(nullspace(exact(A))[1])


def _relations(
    invariant: Callable[..., Array], init: Callable[..., object], whole: StateChart, problem: Problem, params: object
) -> Array:
    """Return the invariant's residuals when each block in turn is moved: ``(residuals, blocks)``.

    Blocks move along the first coordinate; the invariant treats coordinates alike.
    """
    size, d = whole.dimension, problem.d
    steps = np.zeros((size + 1, 1, size, d), dtype=int)
    steps[np.arange(1, size + 1), 0, np.arange(size), 0] = 1
    residual = np.asarray(invariant(problem, params, init(problem, params, **whole.parts(steps))))
    moved = (residual - residual[:1]).reshape(size + 1, -1)[1:].T
    # The middle of floats beside fractions: their room is far below what can be distinguished.
    plain = [[v.middle if isinstance(v, Interval) else v for v in row] for row in moved]
    return np.array([[Quotient(v).limit_denominator(10**6) if v else 0 for v in row] for row in plain], dtype=object)


def nullspace(A: Array) -> tuple[Array, tuple[int, ...]]:
    """A basis of {b: A b = 0} as columns, and which entries of b are its coordinates: the last are solved for."""
    size = A.shape[1]
    rows = [list(row) for row in A]
    pivots: list[int] = []
    for column in reversed(range(size)):
        lead = next((r for r in rows[len(pivots) :] if r[column] != 0), None)
        if lead is None:
            continue
        at = next(i for i, r in enumerate(rows) if r is lead)
        k = len(pivots)
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [v / lead[column] for v in lead]
        for i, other in enumerate(rows):
            if i != k and other[column] != 0:
                rows[i] = [v - other[column] * w for v, w in zip(other, rows[k], strict=True)]
        pivots.append(column)
    free = tuple(i for i in range(size) if i not in pivots)
    basis = np.zeros((size, len(free)), dtype=object)
    for k, i in enumerate(free):
        basis[i, k] = 1
        for row, pivot in zip(rows, pivots, strict=False):
            if row[i]:
                value = -row[i]
                basis[pivot, k] = int(value) if value.denominator == 1 else value
    return basis, free
