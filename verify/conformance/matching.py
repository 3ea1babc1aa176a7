"""The draws that explain what an implementation did: one transition, or a run of which only some letters are seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.schedules import at_round
from fedtheory.algorithms.starts import OtherStart
from fedtheory.numbers.rational import Array, to_float
from fedtheory.problems.base import Problem
from fedtheory.randomness import map_leaves, support_of
from verify.conformance.bounds import coin_defect, coin_refuted

# Draws that are sampled where the support is too large.
_SAMPLED = 64
# Hidden states that are followed.
_FOLLOWED = 256
# Pairs of functions of a draw that are compared.
_PAIRS = 24
# The largest support whose draws each have an indicator function.
_INDICATORS = 40
_STEP = 1e-6
#: Relative differences of hidden states that are the reference's own rounding.
_SAME = 1e-9


def stacked(state: Any) -> Any:
    """A state with a leading axis of length 1."""
    return type(state)(*(np.asarray(f, dtype=float)[None] for f in state))


def advanced(algorithm: Algorithm, problem: Problem, params: Any, states: Any, draws: Any) -> Any:
    """All states ``(B, ...)`` after all draws ``(K, ...)``: ``(B, K, ...)``."""
    spread = type(states)(*(f[:, None] for f in states))
    count = len(first_leaf(draws))
    after = algorithm.step(problem, params, spread, draws)
    return type(states)(
        *(
            np.broadcast_to(np.asarray(a, dtype=float), (len(b), count, *b.shape[1:]))
            for a, b in zip(after, states, strict=True)
        )
    )


def first_leaf(draws: Any) -> Array:
    """The first array of nested tuples of draws."""
    while isinstance(draws, tuple):
        draws = draws[0]
    return draws


def enumerated(
    algorithm: Algorithm, problem: Problem, params: Any, state: Any, largest: int, rng: np.random.Generator
) -> tuple[Any, Array, bool]:
    """Draws ``(K, ...)`` of a step, their probabilities, and whether these are all draws."""
    distribution = algorithm.draws(problem, params, state)
    if distribution.count is not None and distribution.count <= largest:
        draws, p = support_of(distribution)
        return draws, to_float(p), True
    return distribution.sample(rng, (_SAMPLED,)), np.full(_SAMPLED, 1 / _SAMPLED), False


def sizes(algorithm: Algorithm, problem: Problem, params: Any, state: Any, draws: Any) -> dict[str, float]:
    """Return the scale of the relative errors of each letter after a step.

    It combines the letter's size before and after, the size of the gradients that may cancel in it, and the effect of
    relative errors of the letters before the step: a computation with relative errors eps is off by a moderate multiple
    of eps times this scale.
    """
    fixed = _sizes_at_optimum(algorithm, problem, params, state)
    own = {name: max(_largest(value), fixed.get(name, 0.0)) for name, value in zip(state._fields, state, strict=True)}
    terms = _size_of_terms(problem)
    own |= {
        n: max(own[n], terms) for n, v in zip(state._fields, state, strict=True) if np.shape(v)[-1:] == (problem.d,)
    }
    near = [state]
    for name in state._fields:
        bump = _STEP * (own[name] or 1.0)
        value = np.asarray(getattr(state, name), dtype=float)
        for signs in (np.ones(value.shape), np.where(np.arange(value.size).reshape(value.shape) % 2, -1.0, 1.0)):
            near.append(state._replace(**{name: value + bump * signs}))
    together = type(state)(
        *(np.stack([np.asarray(f, dtype=float) for f in fields]) for fields in zip(*near, strict=True))
    )
    after = advanced(algorithm, problem, params, together, draws)
    found = {
        n: max(_largest(f[0]), own[n], _largest(f - f[:1]) / _STEP) for n, f in zip(after._fields, after, strict=True)
    }
    return {name: value or 1.0 for name, value in found.items()}


def _sizes_at_optimum(algorithm: Algorithm, problem: Problem, params: Any, state: Any) -> dict[str, float]:
    try:
        fixed = algorithm.fixed_point(problem, params)
        return {name: _largest(value) for name, value in zip(fixed._fields, fixed, strict=True)}
    except (ValueError, ArithmeticError):
        return dict.fromkeys(state._fields, 0.0)


def _size_of_terms(problem: Problem) -> float:
    """The largest gradient of one function, or one example, at the optimum, as a step of at most 1/L."""
    f: Any = getattr(problem.f, "singles", problem.f)
    try:
        slopes = f.gradient(np.broadcast_to(np.asarray(problem.x_star, dtype=float), (f.n, problem.d)))
        return _largest(slopes) / max(1.0, float(problem.L))
    except (ValueError, ArithmeticError):
        return 0.0


def _largest(value: Any) -> float:
    size = float(np.abs(np.asarray(value, dtype=float)).max(initial=0.0))
    return size if math.isfinite(size) else 0.0


def distances(after: Any, seen: Mapping[str, Array], scale: Mapping[str, float]) -> dict[str, Array]:
    """The distance of each letter seen from each candidate ``(..., shape of the letter)``, relative to its scale."""
    found = {}
    for name, value in seen.items():
        candidate = np.asarray(getattr(after, name))
        axes = tuple(range(candidate.ndim - value.ndim, candidate.ndim))
        gap = np.abs(candidate - value).max(axis=axes, initial=0.0) if axes else np.abs(candidate - value)
        found[name] = np.where(np.isfinite(gap), gap, np.inf) / scale[name]
    return found


@dataclass(frozen=True)
class Mismatch:
    """No draw explains what was seen: ``letters`` that no draw explains by themselves (the first of them departs), the
    nearest draw and the state it gives, and by how much each letter is off from that one."""

    letters: tuple[str, ...]
    draw: Any
    expected: Any
    seen: Mapping[str, Array]
    off: Mapping[str, float]
    round: int = 0

    @property
    def departing(self) -> str:
        """The first letter that departs."""
        return self.letters[0] if self.letters else max(self.off, key=lambda name: self.off[name])


class Matched(NamedTuple):
    """``weights (K,)``: the probabilities of the draws given what was seen, or None where no draw explains it."""

    weights: Array | None
    mismatch: Mismatch | None


def match(
    after: Any, p: Array, draws: Any, seen: Mapping[str, Array], scale: Mapping[str, float], tol: float
) -> Matched:
    """The draws that lead to what was seen, of the states ``after (K, ...)``."""
    off = distances(after, seen, scale)
    worst = np.max(np.stack(list(off.values())), axis=0)
    near = worst <= tol
    if near.any():
        weights = np.where(near, p, 0.0)
        return Matched(weights / weights.sum() if weights.sum() else near / near.sum(), None)
    return Matched(None, _nearest(after, draws, seen, off, tol))


def _nearest(after: Any, draws: Any, seen: Mapping[str, Array], off: Mapping[str, Array], tol: float) -> Mismatch:
    # The draw with most letters right, and among these the one that is least off.
    wrong = np.sum([v > tol for v in off.values()], axis=0)
    size = np.sum([np.minimum(v, 1e6) for v in off.values()], axis=0)
    k = int(np.lexsort((size, wrong))[0])
    letters = tuple(name for name, value in off.items() if not (value <= tol).any())
    letters = letters or tuple(name for name, value in off.items() if value[k] > tol)
    expected = type(after)(*(f[k] for f in after))
    return Mismatch(
        letters, map_leaves(lambda a: a[k], draws), expected, seen, {name: float(v[k]) for name, v in off.items()}
    )


@dataclass(frozen=True)
class Tracked:
    """A run followed by the reference: for each round the probabilities ``(K,)`` of its draws given what was seen.

    ``mismatch``: what no draw explains, with its round; ``complete``: False if hidden states had to be dropped, so that
    a mismatch proves nothing.
    """

    weights: tuple[Array, ...]
    mismatch: Mismatch | None
    complete: bool = True
    state: Any = None


class Begun(NamedTuple):
    """The states ``(B, ...)`` at which a run may begin, and their probabilities."""

    states: Any
    weights: Array

    @property
    def first(self) -> Any:
        """The first of them."""
        return type(self.states)(*(f[0] for f in self.states))


def begun(algorithm: Algorithm, other: OtherStart | None, problem: Problem, params: Any, **given: Any) -> Begun | None:
    """Where a run begins, as ``init`` has it or at another start; None if that has too many draws to follow each."""
    if other is None:
        return Begun(stacked(algorithm.init(problem, params, **given)), np.ones(1))
    draws, p = None, np.ones(1)
    if other.drawn:
        state, rng = algorithm.init(problem, params, **given), np.random.default_rng(0)
        draws, p, complete = enumerated(algorithm, problem, params, state, _FOLLOWED, rng)
        if not complete:
            return None
    states = other.begun(algorithm.init, problem, params, draws, **given)
    return Begun(type(states)(*(np.asarray(f, dtype=float) for f in states)), p)


def track(
    algorithm: Algorithm,
    problem: Problem,
    params: Any,
    start: Begun,
    seen: Sequence[Mapping[str, Array]],
    draws: Any,
    p: Array,
    tol: float,
    scales: dict[int, dict[str, float]] | None = None,
) -> Tracked:
    """Follow all hidden states that agree with the letters ``seen`` after each round. ``start``: where it begins.

    ``scales``: what errors are relative to in each round, of runs of the same problem, found by the first of them.
    """
    scales = {} if scales is None else scales
    states, weights = start
    found: list[Array] = []
    complete = True
    for t, letters in enumerate(seen):
        one = type(states)(*(f[0] for f in states))
        shown = tuple(name for name in letters if name in states._fields)
        now = at_round(algorithm.schedules, problem, params, t, False)
        if t not in scales:
            scales[t] = sizes(algorithm, problem, now, one, draws)
        after = advanced(algorithm, problem, now, states, draws)
        # Another run may have grown larger than the first.
        scale = {n: max(size, _largest(getattr(after, n))) for n, size in scales[t].items()}
        flat = type(after)(*(f.reshape(-1, *f.shape[2:]) for f in after))
        # Errors of the hidden letters add up.
        near = tol * (1 + 2 * t)
        off = distances(flat, {name: letters[name] for name in shown}, scale)
        worst = np.max(np.stack(list(off.values())), axis=0)
        chances = (weights[:, None] * p).reshape(-1)
        good = np.flatnonzero(worst <= near)
        if not len(good):
            repeated = _tiled(draws, len(weights))
            mismatch = _nearest(flat, repeated, letters, off, near)
            return Tracked(tuple(found), Mismatch(**{**vars(mismatch), "round": t + 1}), complete, one)
        kept = chances[good]
        kept = kept / kept.sum() if kept.sum() else np.full(len(good), 1 / len(good))
        found.append(np.bincount(good % len(p), kept, minlength=len(p)))
        states = type(flat)(*(f[good] for f in flat))
        # Observed values replace computed ones, so that errors do not add up.
        states = states._replace(**{n: np.broadcast_to(letters[n], getattr(states, n).shape) for n in shown})
        states, weights = _distinct(states, kept, scale)
        if len(weights) > _FOLLOWED:
            order = np.argsort(-weights)[:_FOLLOWED]
            states, weights = type(states)(*(f[order] for f in states)), weights[order] / weights[order].sum()
            complete = False
    return Tracked(tuple(found), None, complete, type(states)(*(f[0] for f in states)))


def _tiled(draws: Any, times: int) -> Any:
    return map_leaves(lambda a: np.tile(a, (times, *[1] * (a.ndim - 1))), draws)


def _distinct(states: Any, weights: Array, scale: Mapping[str, float]) -> tuple[Any, Array]:
    """States that are equal but for the reference's own rounding, once each, with their weights added.

    Those that an implementation's larger errors do not distinguish stay: they separate later.
    """
    if len(weights) == 1:
        return states, weights
    rows = [
        np.round(f.reshape(len(weights), -1) / (_SAME * scale.get(n, 1.0)))
        for n, f in zip(states._fields, states, strict=True)
    ]
    _, first, which = np.unique(np.concatenate(rows, axis=1), axis=0, return_index=True, return_inverse=True)
    return type(states)(*(f[first] for f in states)), np.bincount(which.ravel(), weights, minlength=len(first))


# Frequencies of draws


def functions(draws: Any, p: Array) -> tuple[Array, list[str]]:
    """Functions ``(F, K)`` of a draw with values in [0, 1], none constant, and what they are called."""
    columns: list[Array] = []
    names: list[str] = []
    flat = _entries(draws)
    for name, values in flat.items():
        columns.append(values)
        names.append(name)
    entries = list(flat.items())
    pairs = [(a, b) for i, a in enumerate(entries) for b in entries[i + 1 :]]
    for (one, x), (other, y) in pairs[:: max(1, len(pairs) // _PAIRS)][:_PAIRS]:
        columns.append(x * y)
        names.append(f"{one} and {other}")
    for name, x in _alike(draws):
        columns.append(x)
        names.append(name)
    if len(p) <= _INDICATORS:
        for k in range(len(p)):
            columns.append((np.arange(len(p)) == k) * 1.0)
            names.append(f"draw {k + 1} of {len(p)}: {words(map_leaves(lambda a, k=k: a[k], draws))}")
    varying = [i for i, c in enumerate(columns) if np.ptp(c) > 0]
    table = np.array([columns[i] for i in varying], dtype=float).reshape(len(varying), len(p))
    return table, [names[i] for i in varying]


def _entries(draws: Any, prefix: str = "") -> dict[str, Array]:
    """Return indicators of the values of coins and indices in a draw, as arrays ``(K,)`` of 0 and 1, by name."""
    if isinstance(draws, tuple):
        names = getattr(draws, "_fields", range(len(draws)))
        found: dict[str, Array] = {}
        for name, part in zip(names, draws, strict=True):
            found |= _entries(part, f"{prefix}{name}")
        return found
    values = np.asarray(draws)
    if values.dtype.kind not in "biu":
        return {}
    rows = values.reshape(len(values), -1)
    places = [f"{prefix or 'the draw'}{list(map(int, i)) if i else ''} is" for i in np.ndindex(values.shape[1:])]
    asked = [(j, int(v)) for j in range(len(places)) for v in ([1] if values.dtype == bool else np.unique(rows[:, j]))]
    return {f"{places[j]} {v}": (rows[:, j] == v) * 1.0 for j, v in asked}


def _alike(draws: Any, prefix: str = "") -> list[tuple[str, Array]]:
    """Return, by name, indicators ``(K,)`` of two clients having the same value in a draw ``(K, n, ...)``, such as a
    mask.
    """
    if isinstance(draws, tuple):
        names = getattr(draws, "_fields", range(len(draws)))
        return [found for name, part in zip(names, draws, strict=True) for found in _alike(part, f"{prefix}{name}")]
    values = np.asarray(draws)
    if values.dtype.kind not in "biu" or values.ndim < (3 if values.dtype == bool else 2):
        return []
    pairs = list(combinations(range(values.shape[1]), 2))
    rows = values.reshape(*values.shape[:2], -1)
    return [
        (f"{prefix or 'the draw'} is the same for {i} and {j}", (rows[:, i] == rows[:, j]).all(axis=-1) * 1.0)
        for i, j in pairs[:: max(1, len(pairs) // _PAIRS)][:_PAIRS]
    ]


def words(draw: Any) -> str:
    """A draw in words: its parts with the indices that are on."""
    if isinstance(draw, tuple):
        names = getattr(draw, "_fields", range(len(draw)))
        parts = [f"{name} {words(part)}" for name, part in zip(names, draw, strict=True) if np.size(first_leaf(part))]
        return ", ".join(parts)
    values = np.asarray(draw)
    if values.dtype == bool and values.ndim:
        return "{" + ", ".join(str(i[0] if len(i) == 1 else i) for i in np.argwhere(values).tolist()) + "}"
    return str(values.tolist())


class Frequencies(NamedTuple):
    """``wrong``: functions of the draw whose frequency is refuted, in words; ``defect``: the largest of the smallest
    errors of a probability that would be found."""

    wrong: tuple[str, ...]
    defect: float
    samples: int


def frequencies(draws: Any, p: Array, weights: Sequence[Array], level: float) -> Frequencies:
    """Test whether draws have the right frequencies, from their probabilities given the observations, one array per
    step.
    """
    table, names = functions(draws, p)
    n = len(weights)
    if not n or not len(table):
        return Frequencies((), 0.0, n)
    mean = table @ np.mean(weights, axis=0)
    expected = table @ p
    share = level / len(table)
    # Draws that the observations do not distinguish average to what is expected, and are never refuted.
    off = coin_refuted(np.clip(mean, 0, 1), np.clip(expected, 0, 1), n, share) & (abs(mean - expected) > 1e-9)
    order = np.argsort(-abs(mean - expected))
    wrong = tuple(f"{names[i]}: {mean[i]:.3g} of the time, should be {expected[i]:.3g}" for i in order if off[i])
    return Frequencies(wrong, max(coin_defect(float(e), n, share) for e in np.unique(np.round(expected, 6))), n)
