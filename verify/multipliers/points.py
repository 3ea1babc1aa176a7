"""Floats for the search of multipliers: points of a domain, and programs at them. Nothing here decides anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import combinations
from typing import Any

import clarabel
import flint
import numpy as np
from scipy import sparse

from fedtheory.numbers.rational import Array
from verify.base import panics
from verify.multipliers.posing import Posed
from verify.multipliers.proofs import blocks
from verify.multipliers.ratios import Ratio, terms
from verify.multipliers.work import Work

#: Points that are drawn of a domain.
DRAWN = 3000
#: The largest power of ten by which a slack of a point may differ from 1: at first, and where those showed too little.
NEAR, FAR = 1.5, 3.0
#: Pairs of points between which a point is drawn where two branches of a maximum tie.
TIES = 300
#: The solver's words for results that may be solutions all the same, where there is little room.
_NEARLY = ("AlmostSolved", "InsufficientProgress")
#: Significant digits of points.
_DIGITS = 9
#: Significant digits of a solver's answers.
_SURE = 6
#: Room that is given to programs that have none.
_ROOM = 1e-7


def rounded(X: Array, digits: int) -> Array:
    """Numbers that are 0, finite or not, to so many significant digits: those on which processors agree."""
    size = np.floor(np.log10(np.abs(np.where((X == 0) | ~np.isfinite(X), 1.0, X))))
    unit = 10.0 ** (digits - 1 - size)
    return np.where(np.isfinite(X), np.round(np.where(np.isfinite(X), X, 0.0) * unit) / unit, X)


class Floats:
    """Values of a polynomial at points with positive coordinates ``(points, letters)``, and the sums of the absolute
    values of its terms there."""

    def __init__(self, p: Any) -> None:
        of = terms(p)
        self.powers = np.array([m for m, _ in of], float)
        self.factors = np.array([float(c) for _, c in of])

    def __call__(self, X: Array) -> tuple[Array, Array]:
        """``(points,)`` each."""
        if not len(self.factors):
            return np.zeros(len(X)), np.zeros(len(X))
        # Where there are no letters a ring has one all the same.
        parts = np.exp(np.log(X) @ self.powers[:, : X.shape[1]].T) * self.factors
        return parts.sum(axis=1), np.abs(parts).sum(axis=1)


def values(ratio: Ratio, X: Array) -> Array:
    """A quotient at points, infinite or undefined where rounding makes the divisor 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return Floats(ratio.num)(X)[0] / Floats(ratio.den)(X)[0]


def exact_values(ratio: Ratio, X: Array) -> Array:
    """A quotient at points, without the errors of the terms that cancel: made of fractions, and rounded once."""
    found = []
    for x in X:
        at = [flint.fmpq(*float(v).as_integer_ratio()) for v in x]
        value = ratio.num(*at) / ratio.den(*at)
        found.append(int(value.p) / int(value.q))
    return np.array(found)


class SamplePoints:
    """Points of a domain, near its boundaries and where bounds of maxima tie too: ``X (points, letters)``, and ``tied``
    which of them are such. ``spread``: the largest power of ten by which a slack differs from 1."""

    def __init__(self, posed: Posed, rng: np.random.Generator, spread: float = NEAR) -> None:
        self.posed, self.rng, self.spread = posed, rng, spread
        self.constraints = [
            Floats(c.poly)
            for c in posed.domain.constraints
            if not any(m[i] for m, _ in terms(c.poly) for i in posed.branches)
        ]
        self.X = np.ones((0, len(posed.names)))
        self.tied = np.zeros(0, dtype=bool)
        if not posed.domain.charts:
            return
        X = rounded(self._of_chart(), _DIGITS)
        X = X[self._inside(X)]
        ties = [self._ties(X, letter) for letter in posed.branches]
        all_of = rounded(np.concatenate([X, *ties]), _DIGITS) if len(X) else X
        tied = np.arange(len(all_of)) >= len(X)
        all_of = rounded(self._with_maxima(all_of), _DIGITS)
        inside = self._inside(all_of)
        if spread > NEAR:
            inside &= self._finite(all_of)
        self.X, self.tied = all_of[inside], tied[inside]

    def _of_chart(self) -> Array:
        chart = self.posed.domain.charts[0]
        X = 10 ** self.rng.uniform(-self.spread, self.spread, (DRAWN, len(self.posed.names)))
        for i, _, _ in chart.steps:
            # On a boundary, or almost.
            X[:, i] *= np.where(self.rng.uniform(size=DRAWN) < 0.25, 1e-4, 1)
        for i, num, den in reversed(chart.steps):
            value = Floats(num)(X)[0] / Floats(den)(X)[0]
            X = X.copy()
            X[:, i] = np.where(value > 0, value, np.nan)
            X = X[np.isfinite(X).all(axis=1)]
        return X

    def _inside(self, X: Array) -> Array:
        good: Array = np.asarray(np.isfinite(X).all(axis=1) & (X > 0).all(axis=1))
        safe = np.where(good[:, None], X, 1.0)
        for g in self.constraints:
            v, size = g(safe)
            good = np.asarray(good & (v >= -1e-12 * size))
        return good

    def _finite(self, X: Array) -> Array:
        """Where nothing that is posed divides by what rounding errors make of it."""
        forms = [self.posed.target, *self.posed.known.values()]
        sizes = [np.abs(values(c, X)) for form in forms for c in form.of.values()]
        return np.asarray(np.max(sizes, axis=0, initial=0.0) < np.inf)

    def _ties(self, X: Array, letter: int) -> Array:
        """Points between those where one bound is the largest and those where another is."""
        bounds = np.array([values(b, X) for b in self.posed.branches[letter]])
        if not len(X) or len(bounds) < 2:
            return X[:0]
        top, found = bounds.argmax(axis=0), []
        for a, b in combinations(range(len(bounds)), 2):
            one, other = np.flatnonzero(top == a), np.flatnonzero(top == b)
            if not len(one) or not len(other):
                continue
            P, Q = X[self.rng.choice(one, TIES)], X[self.rng.choice(other, TIES)]
            low, high = np.zeros(TIES), np.ones(TIES)
            for _ in range(45):
                mid = (low + high) / 2
                Y = P ** (1 - mid[:, None]) * Q ** mid[:, None]
                above = values(self.posed.branches[letter][a], Y) > values(self.posed.branches[letter][b], Y)
                low, high = np.where(above, mid, low), np.where(above, high, mid)
            found.append(P ** (1 - low[:, None]) * Q ** low[:, None])
        return np.concatenate([X[:0], *found])

    def _with_maxima(self, X: Array) -> Array:
        """Points with letters for maxima at their bounds, or above."""
        X = X.copy()
        for letter, bounds in self.posed.branches.items():
            X[:, letter] = 1.0
            if len(X):
                top = np.max([values(b, X) for b in bounds], axis=0)
                above = self.rng.choice([1e-4, 1e-2, 0.3, 3.0], len(X))
                X[:, letter] = top + above * np.maximum(1 - top, 1e-3 * np.abs(top))
        return X

    def choose(self, count: int) -> Array:
        """Some of the points, half of them ties where there are any."""
        tied, free = (self.rng.permutation(np.flatnonzero(which)) for which in (self.tied, ~self.tied))
        pick = np.concatenate([tied[: count // 2], free[: count - min(len(tied), count // 2)]])
        return self.X[pick]


def _sizes(A: Array) -> Array:
    """Return the sizes of the rows ``(points, rows)`` of matrices ``(points, forms, rows, rows)``.

    They are the roots of the largest diagonal entries, and for rows without any those of the rows beside them.
    """
    d: Array = np.sqrt(np.abs(np.einsum("pkii->pki", A)).max(axis=1))
    beside = np.abs(A).max(axis=1) / np.where(d > 0, d, np.inf)[:, None, :]
    d = np.where(d > 0, d, beside.max(axis=2))
    return np.where(d > 0, d, 1.0)


class Programs:
    """Programs at points, whose unknowns are the multipliers ``names``: which are feasible, and between what bounds.

    Each one that is solved takes a unit of ``work``.

    In ``matrices`` and ``values`` the target comes first, then what is known: ``(points, 1 + known, ...)``.
    """

    def __init__(self, posed: Posed, X: Array, work: Work) -> None:
        self.posed, self.names, self.X, self.work = posed, list(posed.known), X, work
        forms = [posed.target, *posed.known.values()]
        self.matrices = []
        for block, rows in blocks(posed).items():
            place = {row: i for i, row in enumerate(rows)}
            A = np.zeros((len(X), len(forms), len(rows), len(rows)))
            for k, form in enumerate(forms):
                for key, c in form.of.items():
                    if key[0] == block:
                        i, j = place[key[1]], place[key[2]]
                        v = values(c, X) / (1 if i == j else 2)
                        A[:, k, i, j] = A[:, k, j, i] = v
            self.matrices.append(A)
        value_keys = sorted({key for form in forms for key in form.of if key[0] == "value"})
        self.values = np.zeros((len(X), len(forms), len(value_keys)))
        for k, form in enumerate(forms):
            for j, key in enumerate(value_keys):
                if key in form.of:
                    self.values[:, k, j] = values(form.of[key], X)
        self._scale()

    def _scale(self) -> None:
        """Choose units of the rows and of the forms, at each point."""
        units, scales = [], []
        for A in self.matrices:
            d = _sizes(A)
            units.append(1 / d)
            scales.append(np.abs(A / d[:, None, :, None] / d[:, None, None, :]).max(axis=(2, 3)))
        size = np.max(scales, axis=0, initial=0.0)
        # For function values alone, by these.
        size = np.where(size > 0, size, np.abs(self.values).max(axis=2, initial=0.0))
        self.units, self.scale = units, np.where(size > 0, size, 1.0)

    def combined(self, p: int, names: Sequence[str], of: Array) -> Programs:
        """The program at a point whose forms, the target first and then ``names``, are combinations of those here:
        ``of (1 + names, 1 + known)``."""
        found = copy(self)
        found.names, found.X = list(names), self.X[[p]]
        found.matrices = [np.einsum("fk,kij->fij", of, A[p])[None] for A in self.matrices]
        found.values = (of @ self.values[p])[None]
        found._scale()
        return found

    def sizes(self, k: int, at: Sequence[int]) -> Array:
        """Return the size of a multiplier ``(points,)`` at points where it matters."""
        return self.scale[at, 0] / self.scale[at, k + 1]

    def solve(
        self, p: int, objective: Array, keep: Sequence[int], fixed: Mapping[int, float], slack: float = 0.0
    ) -> Array | str | None:
        """Multipliers that minimise an objective at a point: None where there are none, "?" where that is not clear."""
        self.work.spend()
        own, free = self.scale[p], [k for k in keep if k not in fixed]
        fix = {k: v * own[k + 1] / own[0] for k, v in fixed.items()}
        if not free:
            # The solver takes no program without unknowns.
            return self._at(fixed) if self._holds(p, fix, slack) else None
        rows_A, rows_b, cones = [], [], []

        def affine(parts: Array) -> tuple[Array, Array]:
            """The constant and the columns of -target + sum of multiplier * known."""
            constant = -parts[0] / own[0] + sum((v * parts[k + 1] / own[k + 1] for k, v in fix.items()), 0 * parts[0])
            columns = [parts[k + 1] / own[k + 1] for k in free]
            return constant, np.array(columns).reshape(len(free), len(constant)).T

        if self.values.shape[2]:
            constant, columns = affine(self.values[p])
            rows_A.append(-columns)
            rows_b.append(constant)
            cones.append(clarabel.ZeroConeT(len(constant)))
        rows_A.append(-np.eye(len(free)))
        rows_b.append(np.zeros(len(free)))
        cones.append(clarabel.NonnegativeConeT(len(free)))
        for A, unit in zip(self.matrices, self.units, strict=True):
            r = A.shape[-1]
            u, v = np.triu_indices(r)
            order = np.lexsort((u, v))
            u, v = u[order], v[order]
            scaled = A[p] * np.outer(unit[p], unit[p])
            packed = scaled[:, u, v] * np.where(u == v, 1, np.sqrt(2))
            constant, columns = affine(packed)
            rows_A.append(-columns)
            rows_b.append(constant + slack * (u == v))
            cones.append(clarabel.PSDTriangleConeT(r))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        q = np.array([objective[k] for k in free])
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix((len(free), len(free))),
            q,
            sparse.csc_matrix(np.concatenate(rows_A)),
            np.concatenate(rows_b),
            cones,
            settings,
        )
        try:
            with panics.caught():
                found = solver.solve()
        except panics.Panicked:
            return "?"
        status = str(found.status)
        made = dict(zip(free, np.asarray(found.x), strict=True))
        if status == "Solved" or (status in _NEARLY and self._holds(p, {**fix, **made}, slack + 1e-6)):
            out = self._at(fixed)
            out[free] = np.asarray(found.x) / own[1:][free] * own[0]
            return out
        return None if status in ("PrimalInfeasible", "AlmostPrimalInfeasible") else "?"

    def _at(self, fixed: Mapping[int, float]) -> Array:
        """Multipliers, zero but for those given."""
        out = np.zeros(len(self.names))
        for k, value in fixed.items():
            out[k] = value
        return out

    def _holds(self, p: int, fix: Mapping[int, float], slack: float) -> bool:
        """Return True if the given values, in the scale of a point, are multipliers there."""
        own = self.scale[p]

        def left(parts: Array) -> Array:
            return -parts[0] / own[0] + sum((v * parts[k + 1] / own[k + 1] for k, v in fix.items()), 0)

        units = zip(self.matrices, self.units, strict=True)
        blocks = (left(A[p] * np.outer(unit[p], unit[p])) for A, unit in units)
        small = slack + 1e-8
        return bool((abs(left(self.values[p])) <= small).all()) and all(
            np.linalg.eigvalsh(block)[0] >= -small for block in blocks
        )

    def feasible(self, p: int, keep: Sequence[int], fixed: Mapping[int, float], slack: float = 0.0) -> bool:
        """Return True if there are multipliers at a point."""
        found: Array | str | None = "?"
        # An unclear case may have its minimisers far away, or no interior.
        for objective, room in ((1.0, slack), (0.0, slack), (1.0, _ROOM)):
            if isinstance(found, str):
                found = self.solve(p, np.full(len(self.names), objective), keep, fixed, room)
        return isinstance(found, np.ndarray)

    def interval(
        self, p: int, k: int, keep: Sequence[int], fixed: Mapping[int, float], slack: float = 0.0
    ) -> tuple[float, float] | None:
        """The least and the largest value that a multiplier may have at a point; None where there are none."""
        unit = np.zeros(len(self.names))
        unit[k] = 1
        low = self.solve(p, unit, keep, fixed, slack)
        if low is None:
            return None
        high = self.solve(p, 1e-9 - unit, keep, fixed, slack)
        ends = (
            max(float(low[k]), 0.0) if not isinstance(low, str) else 0.0,
            (float(high[k]) if isinstance(high, np.ndarray) else np.inf),
        )
        least, most = rounded(np.array(ends), _SURE)
        return float(least), float(most)
