"""The worst answers of adversaries, found together with the worst states: no draw of a direction comes upon them.

A state and a direction for each answer are climbed to where the sides are nearest to a violation, in floats, from many
starts whose coordinates differ by orders of magnitude. Directions become rational vectors of length 1, so that the
answers are feasible exactly, and the violation is then confirmed as every other one is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.numbers.rational import Array
from fedtheory.problems.hostile import Asked, Hostile
from fedtheory.sampling.compressors import HostileSampler, samplers
from fedtheory.sampling.stiff import stiff
from verify.base.case import Case
from verify.base.evaluate import has_rounds, hypotheses_hold, rollout, sides
from verify.comparisons.exact import is_enumerable
from verify.evidence.counterexamples import Counterexample
from verify.search import spectral, states
from verify.search.climbing import ascend


@dataclass(frozen=True)
class HostileLimits:
    """The instances at which an adversary's answers are looked for, and the starts at each."""

    stiff: int = 24  # instances with curvatures far apart
    nearest: int = 6  # instances met that came nearest to a violation
    starts: int = 400  # random states and answers that are compared
    climbed: int = 4  # the worst of these, from which the search climbs


LIMITS = HostileLimits()
#: Coordinates of a start may be smaller than others by this power of 10.
SMALLER = 4
#: Sides below this share of the largest that are seen are rounding.
NEGLIGIBLE = 1e-8
#: Rounds after which answers are looked for.
ROUNDS = (1, 3)
#: Denominators of the coordinates from which rational directions are made, the simplest first.
DENOMINATORS = (1, 3, 10, 100, 10**4)


class Worst(NamedTuple):
    """A case with directions of an adversary's answers, its worst state, and the violation there, if there is one."""

    case: Case
    finding: states.Finding
    found: Counterexample | None


def applies(claim: Claim) -> bool:
    """Return True if a step asks adversaries, and its statement is compared at states of drawn functions."""
    setting, statement = claim.setting, claim.statement
    plain = statement.stepping and not states.pointwise(claim)
    return plain and setting.functions is not None and any(isinstance(s, HostileSampler) for s in samplers(setting))


def worst(claim: Claim, nearest: Sequence[Recipe], rng: np.random.Generator) -> Iterator[Worst]:
    """Yield the worst answers and states at each of some instances: the first of the ``nearest``, and those with
    curvatures far apart."""
    if not applies(claim):
        return
    for recipe in (*nearest[: LIMITS.nearest], *stiff(claim, rng, LIMITS.stiff)):
        case = Case(claim, recipe)
        try:
            met = hypotheses_hold(case) and not states.too_many(case)
            search = _search(case.floats) if met else None
        except (ValueError, ArithmeticError):
            continue
        if search is None:
            continue
        for rounds in ROUNDS if claim.statement.horizon else ROUNDS[:1]:
            if has_rounds(case, rounds) and is_enumerable(case, rounds):
                yield from _at(search, rounds, rng)


@dataclass(frozen=True)
class _Counting(Hostile):
    """An adversary that keeps the shapes of the vectors about which it is asked, ``asked``."""

    asked: list[tuple[int, ...]] = field(default_factory=list)

    def in_step(self) -> Asked:
        """The adversary as one step asks it."""
        return _CountingAsked(self)


@dataclass
class _CountingAsked(Asked):
    def answer(self, centre: Array, *given: Any, **named: Any) -> Array:
        """As the adversary answers."""
        assert isinstance(self.of, _Counting)
        self.of.asked.append(np.shape(centre))
        return super().answer(centre, *given, **named)


class _Search(NamedTuple):
    """A case in floats, and of each adversary how many directions it needs: answers and clients."""

    case: Case
    shapes: dict[HostileSampler, tuple[int, int]]

    def split(self, points: Array) -> tuple[Array, dict[HostileSampler, Array]]:
        """States ``(M, size)`` and directions ``(M, K, m, d)`` of length 1 of points ``(M, size + directions)``."""
        d = self.case.problem.d
        size = self.case.dimension
        directions, used = {}, size
        for sampler, (answers, clients) in self.shapes.items():
            count = answers * clients * d
            u = points[:, used : used + count].reshape(len(points), answers, clients, d)
            lengths = np.sqrt((u**2).sum(axis=-1, keepdims=True))
            directions[sampler] = u / np.where(lengths > 0, lengths, 1)
            used += count
        return points[:, :size], directions

    def sides(self, points: Array, rounds: int, part: int) -> tuple[Array, Array]:
        """Both sides of a comparison at such points."""
        theta, directions = self.split(points)
        e = np.eye(1, self.case.problem.d)[0]
        hostile = {s.field: Hostile(1.0, e, directions=u) for s, u in directions.items()}
        posed = replace(self.case.instance, params=self.case.params._replace(**hostile))
        left, right = sides(self.case.with_instance(posed), theta, rounds)[part]
        return np.asarray(left, dtype=float), np.asarray(right, dtype=float)

    @property
    def size(self) -> int:
        """The number of coordinates of a point."""
        d = self.case.problem.d
        return self.case.dimension + sum(k * m * d for k, m in self.shapes.values())


def _search(case: Case) -> _Search | None:
    """The search at a case in floats; None if its adversaries are not asked, or its states have no coordinates."""
    hostile = [s for s in samplers(case.setting) if isinstance(s, HostileSampler)]
    e = np.eye(1, case.problem.d)[0]
    counting = {s: _Counting(0.0, e) for s in hostile}
    posed = replace(case.instance, params=case.params._replace(**{s.field: c for s, c in counting.items()}))
    at = case.with_instance(posed)
    rollout(at, *at.start(np.ones((1, case.dimension))), 1)
    shapes = {}
    for s, of in counting.items():
        each = {shape[-2] for shape in of.asked if len(shape) > 3 and shape[-2] == case.problem.n}
        if of.asked:
            shapes[s] = len(of.asked), max(each, default=1)
    return _Search(case, shapes) if shapes and case.dimension else None


def _at(search: _Search, rounds: int, rng: np.random.Generator) -> Iterator[Worst]:
    """Yield the worst of what is found at one instance for each comparison."""
    for part, comparison in enumerate(search.case.statement.comparisons):
        if comparison.relation == "==":
            continue
        with np.errstate(all="ignore"):
            climbed = [one for one in _climbed(search, rounds, part, rng) if np.isfinite(one[1]).all()]
        # Where sides cancel a ratio may be all rounding: the next one need not be.
        tried = [_confirmed(search, *one, rounds) for one in sorted(climbed, key=lambda one: -one[0])]
        confirmed = (one for one in tried if one.found is not None)
        if tried:
            yield next(confirmed, tried[0])


def _climbed(search: _Search, rounds: int, part: int, rng: np.random.Generator) -> Iterator[tuple[float, Array]]:
    """Yield large ratios of the sides, and where they are."""
    size = search.case.dimension
    starts = rng.standard_normal((LIMITS.starts, search.size))
    smaller = rng.random((LIMITS.starts, size)) * rng.integers(0, 2, (LIMITS.starts, 1))
    smaller[np.arange(LIMITS.starts), rng.integers(size, size=LIMITS.starts)] = 0
    starts[:, :size] *= 10.0 ** (-SMALLER * smaller)
    left, right = search.sides(starts, rounds, part)
    magnitude = abs(left) + abs(right)
    # Where both sides nearly vanish their ratio is rounding.
    seen = magnitude > NEGLIGIBLE * np.nanmax(magnitude, initial=0.0)
    ratios = np.where(seen, np.nan_to_num(spectral.ratio(left, right), nan=0.0), -np.inf)
    for k in np.argsort(-spectral.steady(ratios), kind="stable")[: LIMITS.climbed]:
        if not seen[k]:
            continue
        # Each coordinate of the state in its own unit: steps are as large as the largest.
        unit = np.concatenate([np.maximum(abs(starts[k, :size]), 10.0**-SMALLER), np.ones(search.size - size)])

        def both(points: Array, unit: Array = unit) -> tuple[Array, Array]:
            return search.sides(points * unit, rounds, part)

        point, ratio = ascend(both, starts[k] / unit)
        yield max((float(ratios[k]), starts[k]), (ratio, point * unit), key=lambda one: one[0])


def _confirmed(search: _Search, ratio: float, point: Array, rounds: int) -> Worst:
    """The point with rational directions, the simplest at which a violation is confirmed if one is to be."""
    theta, directions = search.split(point[None])
    finding = states.Finding(ratio, theta[0], rounds, "search")
    suspected = ratio > 1 + states.SUSPECT
    for denominator in DENOMINATORS if suspected else DENOMINATORS[-1:]:
        recipe = search.case.recipe
        for sampler, u in directions.items():
            rows = tuple(tuple(rational(v, denominator) for v in answer) for answer in u[0])
            recipe = sampler.along(recipe, rows)
        case = Case(search.case.claim, recipe)
        found = states.confirm(case, finding) if suspected else None
        if found is not None:
            break
    return Worst(case, finding, found)


def rational(u: Array, denominator: int) -> tuple[Fraction, ...]:
    """A rational vector of length 1 near ``u (d,)``, by the stereographic projection of a point with so large
    denominators."""
    pole = int(abs(u).argmax())
    size = float(np.sqrt((u**2).sum())) or 1.0
    sign = -1 if u[pole] < 0 else 1
    t = [Fraction(round(float(v) / (size + abs(float(u[pole]))) * denominator), denominator) for v in u]
    t[pole] = Fraction(0)
    square = sum((v * v for v in t), Fraction(0))
    return tuple(sign * (1 - square) / (1 + square) if j == pole else 2 * v / (1 + square) for j, v in enumerate(t))
