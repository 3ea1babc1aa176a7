"""Tests by sampling: compressors in high dimension, and samplers beside their supports.

Each function divides its level among the tests it performs; see :mod:`verify.statistics.sequential` for the tests. A
statement is refuted at that level if any outcome is ``refuted``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from fedtheory.compressors import Compressor
from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Distribution, Draw, Product, Uniform01, UniformSubset, support_of
from fedtheory.settings.relations import OfRun, of_one_state
from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.statistics.e_process import Assumed, check_level
from verify.statistics.sequential import ROUNDING, MeanTest, Ruling, prepare, run

# Entries of sampled vectors, by default.
_ENTRIES = 6_000_000
# Entries at once, at most.
_AT_ONCE = 1_000_000
# Outcomes (times d) that are enumerated to find a range.
_LARGEST_TABLE = 4_000_000
# Entries of the values that must be made of coordinates before a range is derived from them.
_PROBED = 200_000


class _Entries(NamedTuple):
    """Terms ``(d,)`` of a sum over ``kept`` coordinates: the least, the mean claimed and the largest of each."""

    low: Array
    mean: Array
    high: Array
    kept: int

    @property
    def assumed(self) -> Assumed:
        """Range of the sum over a uniformly random set of coordinates, and its variance for independent terms."""
        d, k = len(self.mean), self.kept
        low, high = np.sort(self.low)[:k].sum(), np.sort(self.high)[d - k :].sum()
        within = (self.high - self.mean) * (self.mean - self.low)  # Bhatia and Davis (2000)
        between = self.mean.var() * d / max(d - 1, 1)
        return Assumed(low, high, max(k / d * within.sum() + k * (1 - k / d) * between, 0.0))


def compressor(one: Compressor, seed: int, level: float, omega: Any = None, size: int | None = None) -> list[MeanTest]:
    """Sampled values of C(x) against E<C(x), v> = <x, v> and E|C(x) - x|^2 <= omega |x|^2.

    For three vectors x, each with five directions v (x itself, its first half, its first and its last entry, x with
    random signs). Means are in units of |x||v|, variances of |x|^2. Nothing is enumerated in high dimension: the range
    is that of the outcomes where they are few, else of the coordinates that may be kept and their values at both ends
    of the rounding's uniform variate, which some thousand draws must respect. Where neither is known, <C(x), v> has
    variance at most omega |x|^2 |v|^2 *if the claim is true*, so that rejecting its mean (by Catoni's capital) refutes
    the claim as well; the error |C(x) - x|^2 is nonnegative, and nothing else is assumed of it. The smallest defects
    are for samplers with no more variance than the claim has. ``omega``: by default the compressor's own. ``size``:
    samples of each C(x), by default six million entries in all but between 1000 and 20,000. ``ValueError`` for values
    of another shape.
    """
    check_level(level)
    bound = float(one.omega if omega is None else omega)
    rng = np.random.default_rng(seed)
    size = min(max(_ENTRIES // one.d, 1000), 20_000) if size is None else size
    pairs = [(x, _directions(x, rng)) for x in _points(one.d, rng)]
    names, target, relations, unknown, ranges = [], [], [], [], []
    for i, (x, V) in enumerate(pairs, 1):
        names += [*(f"mean at vector {i} along {kind}" for kind in _DIRECTIONS), f"variance at vector {i}"]
        target += [*(V @ x / np.linalg.norm(x)), bound]
        relations += [*["=="] * len(V), "<="]
        unknown += [*[Assumed(variance=bound)] * len(V), Assumed(low=0.0)]
        ranges += _ranges(one, x, V) or unknown[-len(V) - 1 :]

    def source(n: int) -> Array:
        return np.concatenate([_statistics(_values(one, rng, x, n), x, V) for x, V in pairs], axis=1)

    def tested(assumed: list[Assumed]) -> list[MeanTest]:
        low, high, variance = np.array(assumed).T
        slack = ROUNDING * np.maximum.reduce([*(np.where(np.isfinite(a), abs(a), 1) for a in (low, high)), low**0])
        # Half of the level is for the second run.
        widened = Assumed(low - 2 * slack, high + 2 * slack, variance)
        plan = prepare(target, relations, widened, level / 2 / len(names), size, rounding=slack)
        found = run(plan, source, largest=max(64, _AT_ONCE // one.d))
        return [replace(o, name=name) for o, name in zip(found, names, strict=True)]

    found = tested(ranges)
    if any(o.decision is Ruling.OUTSIDE for o in found) and not _enumerable(one):
        # The values are not made of coordinates as the draws suggest: no range is known.
        return tested(unknown)
    return found


#: Directions v for one vector x, in words.
_DIRECTIONS = ("x", "its first half", "its first entry", "its last entry", "x with random signs")


def _points(d: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """Vectors of size 1 an entry: all ones; +-4/3, where natural compression varies most; Gaussian."""
    return np.ones(d), 4 / 3 * rng.choice([-1.0, 1.0], d), rng.standard_normal(d)


def _directions(x: Array, rng: np.random.Generator) -> Array:
    """Unit vectors ``(5, d)`` as in ``_DIRECTIONS``."""
    place = np.arange(len(x))
    kept = np.stack([place >= 0, place < (len(x) + 1) // 2, place == 0, place == len(x) - 1, place >= 0])
    V = np.where(kept, x, 0.0)
    V[-1] *= rng.choice([-1.0, 1.0], len(x))
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def _values(one: Compressor, rng: np.random.Generator, x: Array, n: int) -> Array:
    values = to_float(one.sample(rng, np.broadcast_to(x, (n, one.d))))
    if values.shape != (n, one.d):
        raise ValueError(f"the compressor turned vectors {(n, one.d)} into values of shape {values.shape}")
    return values


def _statistics(values: Array, x: Array, V: Array) -> Array:
    """<C(x), v>/|x| for each unit vector v, and |C(x) - x|^2/|x|^2: ``(n, 6)``."""
    return np.column_stack([values @ V.T / np.linalg.norm(x), ((values - x) ** 2).sum(axis=-1) / (x @ x)])


def _enumerable(one: Compressor) -> bool:
    if one.draws.count is not None:
        return one.draws.count * one.d <= _LARGEST_TABLE
    try:
        return one.enumerate is not None and one.d**2 <= _LARGEST_TABLE and len(one.outcomes(np.ones(one.d))[1]) > 0
    except ValueError:
        return False


def _ranges(one: Compressor, x: Array, V: Array) -> list[Assumed] | None:
    """Return the known range and variance of each statistic, or None."""
    if _enumerable(one):
        values, p = one.outcomes(x)
        found = _statistics(to_float(values), x, V)
        p = to_float(p)
        variance = p @ (found - p @ found) ** 2
        return [Assumed(*c) for c in zip(found.min(axis=0), found.max(axis=0), variance, strict=True)]
    entries = _entries(one, x)
    if entries is None:
        return None
    low, high, kept = entries
    size = np.linalg.norm(x)
    # The mean that the claim gives a coordinate that is kept, within what it can be.
    mean = np.clip(len(x) / kept * x, low, high)
    terms = [_Entries(np.minimum(low * v, high * v), mean * v, np.maximum(low * v, high * v), kept) for v in V / size]
    ends = np.stack([(low - x) ** 2, (high - x) ** 2])
    least = np.where((low < x) & (x < high), 0.0, ends.min(axis=0))
    average = np.clip((mean - x) ** 2 + (high - mean) * (mean - low), least, ends.max(axis=0))
    most, square = ends.max(axis=0), x @ x
    error = _Entries((least - x**2) / square, (average - x**2) / square, (most - x**2) / square, kept).assumed
    return [*(term.assumed for term in terms), Assumed(error.low + 1, error.high + 1, error.variance)]


def _entries(one: Compressor, x: Array) -> tuple[Array, Array, int] | None:
    """Least and largest value ``(d,)`` of each coordinate that is kept, and how many are; None if not so made.

    For compressors whose draws keep a set of coordinates, round each by itself, or both.
    """
    parts = _parts(one.draws, one.d)
    if parts is None:
        return None
    extremes, kept = parts
    corners = to_float([one.apply(draw, x) for draw in extremes])
    low, high = corners.min(axis=0), corners.max(axis=0)
    count = max(16, _PROBED // one.d)
    draws = one.draws.sample(np.random.default_rng(0), (count,))
    probes = to_float(one.apply(draws, np.broadcast_to(x, (count, one.d))))
    slack = ROUNDING * abs(corners).max()
    dropped = probes == 0
    made_so = (dropped | ((probes >= low - slack) & (probes <= high + slack))).all()
    return (low, high, kept) if made_so and ((~dropped).sum(axis=1) <= kept).all() else None


def _parts(draws: Distribution, d: int) -> tuple[list[Draw], int] | None:
    """Draws that keep every coordinate and give it its extreme values, and how many coordinates a draw keeps."""
    match draws:
        case UniformSubset(n=n, tau=tau) if n == d:
            return [np.ones(d, dtype=bool)], tau
        case Uniform01(shape=shape) if shape == (d,):
            return [np.zeros(d), np.full(d, np.nextafter(1.0, 0.0))], d
        case Product():
            found = [_parts(part, d) for part in draws.parts]
            if any(part is None for part in found):
                return None
            known = [part for part in found if part is not None]
            corners = [draws.make(*choice) for choice in product(*(extremes for extremes, _ in known))]
            return corners, min(kept for _, kept in known)
    return None


def sampler(
    distribution: Distribution,
    seed: int,
    level: float,
    size: int = 20_000,
    values: Mapping[str, Array] | None = None,
) -> list[MeanTest]:
    """Sampled draws against the support and its probabilities.

    A sampled draw is looked up in the support: one that is not there is ``OUTSIDE``. Means over the samples of
    functions of the draw are compared with their exact expectations; their ranges and variances are known, so that the
    smallest defects hold for samplers of the support with no more variance than it has. The functions: entries of the
    draw and products of two entries (sixteen of each at most, the first and the last among them), membership in eight
    random halves of the support, and ``values``, arrays ``(K,)`` over the support by name. Constant functions are left
    out; no outcome remains for a distribution with one draw. ``ValueError`` for a support that cannot be enumerated.
    """
    check_level(level)
    draws, p = support_of(distribution)
    p = to_float(p)
    rows = _rows(draws, len(p))
    rng = np.random.default_rng(seed)
    tables = _functions(rows, rng) | {name: to_float(v) for name, v in (values or {}).items()}
    wrong = [name for name, table in tables.items() if table.shape != p.shape]
    if wrong:
        raise ValueError(f"{wrong[0]} must have one value for each of the {len(p)} draws")
    tables = {name: t for name, t in tables.items() if np.isfinite(t).all() and np.ptp(t) > ROUNDING * abs(t).max()}
    if not tables:
        return []
    table = np.column_stack(list(tables.values()))
    mean = p @ table
    slack = ROUNDING * abs(table).max(axis=0)
    assumed = Assumed(table.min(axis=0) - 2 * slack, table.max(axis=0) + 2 * slack, p @ (table - mean) ** 2)
    place = {row.tobytes(): i for i, row in enumerate(rows)}
    looked_up = np.concatenate([table, np.full((1, table.shape[1]), np.nan)])

    def source(n: int) -> Array:
        sampled = _rows(distribution.sample(rng, (n,)), n)
        return looked_up[[place.get(row.tobytes(), -1) for row in sampled]]

    plan = prepare(mean, "==", assumed, level / table.shape[1], size, rounding=slack)
    found = run(plan, source, largest=max(64, _AT_ONCE // max(rows.shape[1], 1)))
    return [replace(o, name=name) for o, name in zip(found, tables, strict=True)]


def _rows(draw: Draw, n: int) -> Array:
    """Draws with one leading axis as the rows of one matrix ``(n, entries)``."""
    if isinstance(draw, tuple):
        return np.concatenate([_rows(part, n) for part in draw], axis=1)
    # Adding 0 turns -0 into 0: rows are compared by their bytes.
    return np.ascontiguousarray(to_float(draw).reshape(n, -1) + 0.0)


def _functions(rows: Array, rng: np.random.Generator) -> dict[str, Array]:
    K, F = rows.shape
    at = np.unique(np.linspace(0, F - 1, min(16, F)).astype(int))
    pairs = {tuple(sorted(map(int, rng.choice(F, 2, replace=False)))) for _ in range(14)} if F > 1 else set()
    pairs |= {(0, 1), (F - 2, F - 1)} if F > 1 else set()
    found = {f"entry {i}": rows[:, i] for i in at}
    found |= {f"entries {i} and {j}": rows[:, i] * rows[:, j] for i, j in sorted(pairs)}
    return found | {f"half {i}": rng.permutation(K) % 2 * 1.0 for i in range(8)}


def step_sampler(case: Case, theta: Array, seed: int, level: float, size: int = 20_000) -> list[MeanTest]:
    """The sampler of an algorithm's draws at the state ``theta (dimension,)``, as :func:`sampler` tests it.

    The quantities that the claim takes after a step are among the functions compared, so that simulations have the
    expectation that the exact test of the claim has. The instance is in floats and meets the hypotheses.
    ``ValueError`` for a statement other than of one step or a bound.
    """
    statement = case.statement
    if not statement.stepping:
        raise ValueError(f"{case.claim.id} is a statement of kind {statement.kind}: it has no step to sample")
    problem, state = case.start(np.asarray(theta)[None])
    later, _ = rollout(case, problem, state, 1)
    along = [q for q in statement.quantities if isinstance(q.of, OfRun)]
    after = [q for q in statement.quantities if q.after and q not in along] + list(of_one_state(along))
    values = {f"{q.expression} after a step": q.of(problem, case.params, later) for q in after}
    draws = statement.algorithm.draws(problem, case.params, state)
    return sampler(draws, seed, level, size, {name: to_float(v)[0] for name, v in values.items()})
