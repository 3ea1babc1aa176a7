"""Every comparison of a claim at one exact state, and whether the two sides contradict it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from fedtheory.compressors import Compressor
from fedtheory.instances import Instance
from fedtheory.kinds.base import Statement
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.numbers.intervals import Interval, is_rounding
from fedtheory.numbers.polynomials import NotPolynomial, unseen
from fedtheory.numbers.rational import Array, evaluate, exact, is_exact, to_float
from fedtheory.randomness import expectation
from verify.base.case import Case
from verify.base.evaluate import Endless, check_number, leaving, params_after, rollout, sides, tree_size
from verify.comparisons import affine, asserted, second_moments
from verify.comparisons.starts import at_rest, begun

#: Rounds at which a bound "for every T" is tested by enumeration of the draws, at every instance.
ROUNDS = (0, 1, 2, 3)
#: The last round that is reached by enumeration at any instance.
LAST = 100
#: The same where nothing is drawn.
LATEST = 1000
#: Leaves of a tree of draws beyond which it is not enumerated.
LARGEST_TREE = 1000
#: The largest residual of floats that is taken for zero, relative to the state.
ROUNDED = 1e-9
#: A state in coordinates about the optimum.
Coordinates = tuple[Fraction, ...]


class Compared(NamedTuple):
    """One comparison: its name, both sides ``(entries,)``, and the relation claimed; ``among``: the largest of the
    numbers that cancel where one side must vanish, by which it is rounded."""

    name: str
    left: Array
    right: Array
    relation: str
    among: float = 0.0


def as_row(point: Coordinates) -> Array:
    """Coordinates as an exact array ``(1, dimension)``."""
    return exact([list(point)]) if point else np.zeros((1, 0), dtype=object)


def parts(case: Case, point: Coordinates, rounds: int) -> Iterator[Compared]:
    """Every comparison of the claim at one exact state, entries flattened. Raise ``NoNumber`` if one has no sides."""
    for compared in parts_at(case, as_row(point), rounds):
        for side in ("left", "right"):
            # Comparisons of a statement have no names but their numbers.
            of = "" if compared.name.isdigit() else f" of the {compared.name}"
            check_number(f"the {side} side{of}", getattr(compared, side))
        yield compared


def parts_at(case: Case, row: Array, rounds: int) -> Iterator[Compared]:
    """As :func:`parts`, at one state ``row (1, dimension)`` in the arithmetic of the instance."""
    if case.statement.searched:
        yield from _parts_of(case.statement, case, row, rounds)


#: The most by which floats may be off, in units of a vector.
_NEAR = 1e-9
#: The most outcomes of a compressor whose law is compared.
_LARGEST_LAW = 600


@singledispatch
def _parts_of(statement: Statement, case: Case, row: Array, rounds: int) -> Iterator[Compared]:
    """The comparisons that a statement lists."""
    residual = leaving(case, row)
    if residual is not None:
        yield _vanishing("domain", residual)
    if not statement.horizon or is_enumerable(case, rounds):
        found = sides(case, row, rounds)
    else:
        found = _followed(case, row, rounds)
    for index, (comparison, (left, right)) in enumerate(zip(statement.comparisons, found, strict=True)):
        yield Compared(str(index), np.asarray(left).ravel(), np.asarray(right).ravel(), comparison.relation)


def _followed(case: Case, row: Array, rounds: int) -> list[tuple[Array, Array]]:
    """Both sides after more rounds than draws are enumerated of, by second moments. Raise ``ValueError`` if these tell
    nothing."""
    why: ValueError = ValueError(f"{case.claim.id} cannot be evaluated after {rounds} rounds there: too many draws")
    if second_moments.applies(case):
        try:
            return [second_moments.sides_after(case, row, rounds)]
        except NotPolynomial as error:
            why = error
    try:
        return affine.sides_after(case, row, rounds)
    except NotPolynomial:
        if rounds > LATEST or tree_size(case, 1) > 1:
            raise why from None
        return sides(case, row, rounds)


@_parts_of.register
def _(statement: Invariant, case: Case, row: Array, rounds: int) -> Iterator[Compared]:
    problem, state = case.instance.at(row)
    now, params = (params_after(case, problem, rounds) for rounds in (0, 1))
    before = _vanishing("residual", statement.residual(problem, now, state))
    later, _ = rollout(case, problem, state, 1)
    after = _vanishing("residual", statement.residual(problem, params, later), _largest(later))
    if is_rounding():
        # Rounding hides whether it vanishes exactly.
        yield after
        return
    # States at which the residual does not vanish are outside the claim.
    in_fractions = is_exact(*state)
    if in_fractions:
        check_number("the residual", before.left)
    most = 0 if in_fractions else ROUNDED * _largest(state)
    yield after if (before.left <= most).all() else after._replace(left=after.left[:0], right=after.right[:0])


@_parts_of.register
def _(statement: Limit, case: Case, row: Array, rounds: int) -> Iterator[Compared]:
    # For a limit, a state that stays where it is says something, and one that is left does not.
    rest = asserted.resting(case)
    if rest is None:
        return
    potential = statement.potential.of(rest[0], case.params, rest[1])
    if case.instance.coordinates is not None and any(v != 0 for v in np.asarray(potential).flat):
        try:
            problem, state = begun(case, np.asarray(case.instance.coordinates(rest[1])).reshape(1, -1))
            kept = at_rest(case, problem, state)
            if kept is None:
                return
            with unseen():
                potential = statement.potential.of(problem, case.params, kept)
        except ValueError:
            return
    yield _vanishing("fixed point", potential)


@_parts_of.register
def _(statement: CompressorClass, case: Case, row: Array, rounds: int) -> Iterator[Compared]:
    return _compressor_parts(statement, case.instance, row[0])


def is_enumerable(case: Case, rounds: int) -> bool:
    """Return True if all draws of this many rounds are enumerated."""
    # One round always is: if its draws cannot be enumerated, the enumeration says so.
    try:
        return rounds <= 1 or (rounds <= LAST and tree_size(case, rounds) <= LARGEST_TREE)
    except Endless:
        return False


def _largest(state: Any) -> float:
    try:
        return max((float(abs(np.asarray(part)).max(initial=0)) for part in state), default=0.0)
    except OverflowError:
        return float("inf")


def _vanishing(name: str, residual: Any, among: float = 0.0) -> Compared:
    # True and false count as 1 and 0.
    flat = np.asarray(abs(np.asarray(residual) * 1)).ravel()
    if not len(flat):
        raise ValueError(f"the {name} has no entries: nothing is claimed to vanish")
    with np.errstate(invalid="ignore"):
        return Compared(name, flat, 0 * flat, "==", among)


def _compressor_parts(statement: CompressorClass, instance: Instance, x: Array) -> Iterator[Compared]:
    d, k = instance.params
    at = {statement.d: d, statement.k: k}
    compressor = statement.compressor(d, k)
    values, p = compressor.outcomes(x)
    yield Compared("mean", expectation(values, p, axis=0), x, "==")
    error = expectation(((values - x) ** 2).sum(axis=-1), p)
    omega, size = evaluate(statement.omega.subs(at), {}), (x**2).sum()
    yield Compared("variance", np.array([error]), np.array([omega * size]), "<=")
    if size > 0:
        # At 0 that would say nothing of an error, and at other vectors the variance comes first.
        yield Compared(
            "its own omega", np.array([error, compressor.omega]), np.array([compressor.omega * size, omega]), "<="
        )
    yield Compared("floats", *_as_floats(compressor, x, values, p), "==")
    yield Compared("sampled", *_sampled(compressor, x), "==")
    if statement.bits is not None:
        yield Compared("bits", np.array([compressor.bits]), np.array([evaluate(statement.bits.subs(at), {})]), "==")


def _as_floats(compressor: Compressor, x: Array, values: Array, p: Array) -> tuple[Array, Array]:
    """The distance of the outcomes and probabilities on floats from the exact ones, in units of |x|, and zeros.

    Where outcomes stand in another order, as where one is rounded down that nearly was a level, their probabilities are
    compared.
    """
    rounded, q = compressor.outcomes(to_float(x))
    size, values, p = max(float(abs(x).max(initial=0)), 1e-300), to_float(values), to_float(p)
    off = np.concatenate([abs(rounded - values).max(axis=-1) / size, abs(q - p)])
    if (off > _NEAR).any() and len(p) <= _LARGEST_LAW:
        every = np.concatenate([values, rounded])
        here, there = ((abs(every[:, None] - of).max(axis=-1) <= _NEAR * size) for of in (values, rounded))
        off = abs(here @ p - there @ q)
    return _measured(off), np.zeros(len(off))


def _measured(off: Array) -> Array:
    """The errors of floats, as numbers that are known to some digits."""
    return np.array([Interval.about(gap) if gap > _NEAR else 0.0 for gap in off], dtype=object)


def _sampled(compressor: Compressor, x: Array) -> tuple[Array, Array]:
    """For 32 sampled values of C(x), the distance to the nearest enumerated outcome, in units of |x|, and zeros."""
    vector = to_float(x)
    values = to_float(compressor.outcomes(vector)[0])
    sampled = to_float(compressor.sample(np.random.default_rng(0), np.repeat(vector[None], 32, axis=0)))
    distance = abs(sampled[:, None] - values[None]).max(axis=-1).min(axis=-1) / max(abs(vector).max(), 1e-300)
    return _measured(distance), np.zeros(32)
