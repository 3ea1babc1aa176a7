r"""Draws made one after another: whether they are independent and the method's own, and which were made at all.

What is tested is a number in [-1, 1] whose mean is 0 given all that came before it, so that the capital of
:mod:`verify.statistics.e_process` bounds the chance of a false alarm however the tests were chosen. *Draws apart*: for
features phi_t in [0, 1] of a draw, with means p that are known, <phi_{t-l} - p, phi_t - p>, divided by the most that it
can be. *One draw*: where means are not known, those of fresh draws of the reference stand for them: their difference
has mean 0 exactly. Draws that were not recorded are tested by which entries of the state a step moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from fedtheory.randomness import Distribution, map_leaves
from verify.conformance.matching import stacked
from verify.conformance.seen import Setup, Transition
from verify.statistics.e_process import BETS, Assumed, log_capital

#: Draws that are compared.
MOST = 800
# The nearest distances, whose capital is computed.
_NEAREST = 8
# The distances of the largest sums, whose capital is computed.
_LARGEST = 16
# Features of a part of a draw.
_FEATURES = 256
# Values of an integer that are kept apart.
_VALUES = 16
# Clients that are examined one by one.
_PARTS = 24
# Pairs of clients that are examined.
_PAIRS = 300
# Fresh draws for each recorded one.
_FRESH = 32
# Fresh draws for all recorded ones together.
_LIKE = 512


class Features(NamedTuple):
    """Numbers ``(T, F)`` in [0, 1] of T draws, what they should have been on average, each given what came before it,
    ``(T, F)`` or ``(F,)``; some ``centre (F,)`` of them, known beforehand; and columns that are compared together."""

    values: Array
    means: Array
    centre: Array
    groups: Mapping[str, Array]


def apart(of: Features, level: float) -> str:
    """Return in words which draws depend on earlier ones; empty if none are found at this level."""
    values, means = of.values[:MOST], np.broadcast_to(of.means, of.values.shape)[:MOST]
    farthest = len(values) // 2
    if farthest < 8 or not of.groups:
        return ""
    need = math.log(2 * farthest * len(of.groups) / level)
    found: list[tuple[float, int, str, bool]] = []
    for name, columns in of.groups.items():
        after = values[:, columns] - means[:, columns]
        before = values[:, columns] - of.centre[columns]
        # Both are within [0, 1].
        most = np.abs(before).sum(axis=1)
        before = np.divide(before, most[:, None], out=np.zeros_like(before), where=most[:, None] > 0)
        table = before @ after.T
        sums = np.array([np.diagonal(table, lag).sum() for lag in range(1, farthest + 1)])
        chosen = {*range(1, min(_NEAREST, farthest) + 1), *(int(k) + 1 for k in np.argsort(-abs(sums))[:_LARGEST])}
        for lag in sorted(chosen):
            products = np.diagonal(table, lag)
            # Nearly all are far from it.
            if BETS[0] * abs(sums[lag - 1]) < need or _capital_at_most(products) < need:
                continue
            capital = _capital(products[:, None])[0]
            if capital >= need:
                found.append((capital, lag, name, bool(sums[lag - 1] > 0)))
    if not found:
        return ""
    # The nearest of those that are about as plain as the plainest.
    most_plain = max(found)[0]
    _, lag, name, alike = min((f for f in found if f[0] >= most_plain / 2), key=lambda f: f[1])
    which = "the draw before" if lag == 1 else f"the draw {lag} steps before"
    return f"{name}: a draw is too {'similar to' if alike else 'different from'} {which}, in {len(values)} draws"


def _capital(x: Array) -> Array:
    """Logarithm of the capital ``(S,)`` against mean 0 of samples ``(n, S)`` in [-1, 1], the larger of both sides."""
    zero, within = np.zeros(1), Assumed(-1.0, 1.0)
    x = np.clip(x, -1, 1)
    return np.maximum(log_capital(x, zero, within), log_capital(-x, zero, within))


def _capital_at_most(x: Array) -> float:
    """A bound on the capital of samples ``(n,)`` in [-1, 1]: log(1 + y) <= y - y^2/2 + y^3/3 for y > -1, as the
    difference of the two has the derivative -y^3/(1 + y)."""
    first, second, third = float(x.sum()), float((x * x).sum()), float((x * x * x).sum())
    return float((abs(BETS * first + BETS**3 / 3 * third) - BETS**2 / 2 * second).max())


def of_weights(draws: Any, p: Array, weights: Sequence[Array]) -> Features:
    """Features of steps of whose draws, of the ``draws (K, ...)``, the probabilities given what was seen are known."""
    table, groups = _table({name: _numbers(leaf, leaf) for name, leaf in _leaves(draws).items() if leaf[0].size})
    return Features(np.stack(weights) @ table, p @ table, p @ table, groups)


def _table(parts: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
    """The numbers of all parts ``(T, shape, V)`` side by side, ``(T, F)``, and the columns of each part, and of each
    client of it."""
    tables: list[Array] = []
    groups: dict[str, Array] = {}
    count = 0
    for name, part in parts.items():
        rows = part.reshape(len(part), -1)
        kept = _spread(rows.shape[1], _FEATURES)
        owner = kept // (rows.shape[1] // part.shape[1]) if part.ndim > 2 else np.zeros(len(kept), dtype=int)
        groups[name] = count + np.arange(len(kept))
        for i in _spread(int(owner.max()) + 1, _PARTS) if owner.any() else ():
            groups[f"{name}[{i}]"] = count + np.flatnonzero(owner == i)
        tables.append(rows[:, kept])
        count += len(kept)
    return np.concatenate(tables, axis=1) if tables else np.zeros((0, 0)), groups


def _spread(size: int, most: int) -> Array:
    return np.unique(np.linspace(0, size - 1, min(most, size)).astype(int))


# Draws that were recorded


def recorded(drawn: Sequence[Any], laws: Sequence[Distribution], level: float, rng: np.random.Generator) -> list[str]:
    """Return how consecutive draws deviate from the distributions ``laws``, in words, at this level."""
    drawn, laws = drawn[:MOST], laws[:MOST]
    if not drawn:
        return []
    one, several = _stacked(drawn), _stacked([law.sample(rng, (_FRESH,)) for law in laws])
    # Questions about a draw are settled by draws that serve nothing else.
    like = _leaves(laws[0].sample(rng, (_LIKE,)))
    asked = {name: leaf for name, leaf in like.items() if leaf[0].size and leaf.dtype.kind in "biuf"}
    mine, reference, known = (
        {name: _numbers(leaves[name], leaf) for name, leaf in asked.items()}
        for leaves in (_leaves(one), _leaves(several), like)
    )
    wrong = _off(mine, reference, known, level / 2)
    if not wrong:
        values, groups = _table(mine)
        means, _ = _table({name: part.mean(axis=1) for name, part in reference.items()})
        centre, _ = _table({name: part.mean(axis=0, keepdims=True) for name, part in known.items()})
        dependence = apart(Features(values, means, centre[0] if groups else np.zeros(0), groups), level / 2)
        wrong = [dependence] if dependence else []
    return wrong


def _stacked(draws: Sequence[Any]) -> Any:
    return map_leaves(lambda *leaves: np.stack([np.asarray(v) for v in leaves]), *draws)


def _leaves(draws: Any, name: str = "") -> dict[str, Array]:
    if isinstance(draws, tuple):
        names = getattr(draws, "_fields", range(len(draws)))
        found: dict[str, Array] = {}
        for part, value in zip(names, draws, strict=True):
            found |= _leaves(value, f"{name}.{part}" if name else str(part))
        return found
    return {name or "draw": np.asarray(draws)}


def _numbers(leaf: Array, like: Array) -> Array:
    """Entries ``(..., shape)`` as numbers in [0, 1], ``(..., shape, V)``: what integers are, uniforms and digits."""
    if leaf.dtype.kind == "f":
        inside = np.clip(leaf, 0, 1)
        return np.stack([inside, (inside * 2) % 1, (inside * 16) % 1], axis=-1)
    values = np.unique(like)[: _VALUES + 1]
    if len(values) <= 2:
        return (leaf == values[-1])[..., None] * 1.0
    if len(values) <= _VALUES:
        return np.stack([(leaf == v) * 1.0 for v in values], axis=-1)
    low, high = float(like.min()), float(like.max())
    return np.stack([np.clip((leaf - low) / (high - low), 0, 1), (leaf % 2) * 1.0], axis=-1)


def _off(
    mine: Mapping[str, Array], reference: Mapping[str, Array], known: Mapping[str, Array], level: float
) -> list[str]:
    """Entries that are not what they should be on average, and parts of one draw, as those of two clients, that have
    too much or too little in common; of each part of a draw ``(T, shape, V)``, with fresh ones ``(T, fresh, shape, V)``
    and others ``(fresh, shape, V)``."""
    tests: list[Array] = []
    names: list[str] = []
    for name, part in mine.items():
        gap = part.reshape(len(part), -1) - reference[name].mean(axis=1).reshape(len(part), -1)
        for k in _spread(gap.shape[1], _FEATURES):
            place = [int(i) for i in np.unravel_index(k, part.shape[1:])][:-1]
            tests.append(gap[:, k])
            names.append(f"{name}{place or ''} is not distributed as it should be")
        if part.ndim < 3 or part.shape[1] < 2:
            continue
        size = part.shape[1]
        centre = known[name].mean(axis=0).reshape(size, -1)
        rows = part.reshape(len(part), size, -1) - centre
        due = reference[name].reshape(*reference[name].shape[:2], size, -1) - centre
        pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
        for k in _spread(len(pairs), _PAIRS):
            i, j = pairs[k]
            own, fresh = (rows[:, i] * rows[:, j]).mean(axis=-1), (due[:, :, i] * due[:, :, j]).mean(axis=-1)
            # Each is of size 1 at most, their difference of 2.
            tests.append((own - fresh.mean(axis=1)) / 2)
            more = float(own.mean()) > float(fresh.mean())
            names.append(f"{name}: parts {i} and {j} have too {'much' if more else 'little'} in common")
            same, due_same = (part[:, i] == part[:, j]), (reference[name][:, :, i] == reference[name][:, :, j])
            gap_same = _all(same, 1) - _all(due_same, 2).mean(axis=1)
            tests.append(gap_same)
            often = "often" if gap_same.mean() > 0 else "seldom"
            names.append(f"{name}: parts {i} and {j} are the same too {often}")
    if not tests:
        return []
    capital = _capital(np.stack(tests, axis=1))
    refuted = np.flatnonzero(capital >= math.log(2 * len(tests) / level))
    order = refuted[np.argsort(-capital[refuted])]
    return [f"{names[k]} ({len(tests[k])} draws)" for k in order]


def _all(which: Array, leading: int) -> Array:
    """Return 1 where all entries are true and 0 elsewhere, keeping this many leading axes."""
    return which.reshape(*which.shape[:leading], -1).all(axis=-1).astype(float)


# Entries that move by less than this many tolerances stand still.
_STILL = 10
# Entries that move must move by this many times more.
_CLEAR = 100
# Fresh steps that show whether this can be tested.
_TRIED = 16


@dataclass(frozen=True)
class _Movement:
    """The entries that move in a step from a state, as a distribution; ``still``: by how much each letter may move and
    count as standing still."""

    algorithm: Algorithm
    problem: Any
    params: Any
    state: Any
    still: tuple[float, ...]

    def sample(self, rng: np.random.Generator, size: tuple[int, ...] = ()) -> Any:
        """Independent draws, with leading axes ``size``."""
        return type(self.state)(*(s > t for s, t in zip(self.sizes(rng, size), self.still, strict=True)))

    def sizes(self, rng: np.random.Generator, size: tuple[int, ...]) -> list[Array]:
        """The move of each entry in steps of the reference."""
        draws = self.algorithm.draws(self.problem, self.params, self.state).sample(rng, size)
        one = type(self.state)(*(f[0] for f in stacked(self.state)))
        spread = type(one)(*(np.broadcast_to(f, (*size, *f.shape)) for f in one))
        after = self.algorithm.step(self.problem, self.params, spread, draws)
        return [
            np.abs(np.broadcast_to(np.asarray(a, dtype=float), b.shape) - b) for a, b in zip(after, spread, strict=True)
        ]


def check_moved(setup: Setup, steps: Sequence[Transition], level: float) -> tuple[list[str], int]:
    """Test which entries moved; return the failures, and the number of steps in which this could be observed.

    None where the same entries move whatever is drawn.
    """
    problem, params = setup.scenarios[0].problem, setup.scenarios[0].params
    rng = np.random.default_rng(0)
    drawn: list[Any] = []
    laws: list[Any] = []
    varied = False
    for case in steps[:MOST]:
        still = tuple(
            _STILL * setup.tolerance * max(float(np.max(np.abs(np.asarray(f, dtype=float)), initial=0.0)), 1e-300)
            for f in case.before
        )
        law = _Movement(setup.algorithm, problem, params, case.before, still)
        moves = law.sizes(rng, (_TRIED,))
        # Entries that do not move, apart from rounding, tell nothing.
        if any(((m > t / _CLEAR) & (m < t * _CLEAR)).any() for m, t in zip(moves, still, strict=True)):
            continue
        varied = varied or any(((m > t) != (m > t)[:1]).any() for m, t in zip(moves, still, strict=True))
        gaps = (np.abs(np.asarray(a) - np.asarray(b)) for a, b in zip(case.after, case.before, strict=True))
        drawn.append(type(case.before)(*(g > t for g, t in zip(gaps, still, strict=True))))
        laws.append(law)
    return (recorded(drawn, laws, level, rng), len(drawn)) if varied and len(drawn) > 1 else ([], 0)
