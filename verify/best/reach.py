"""How much the potentials of a span can at points of the letters: the best rate, the most that a step gains. In floats,
which propose and decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy

from fedtheory.numbers.rational import Array
from verify.best import rates
from verify.best.posed_spans import Span
from verify.best.spans import Measure
from verify.multipliers import naming
from verify.multipliers.points import Programs, SamplePoints, values
from verify.multipliers.ratios import Ratio, terms
from verify.multipliers.work import Work


@dataclass(frozen=True)
class ReachLimits:
    """The work on the reach of a span."""

    points: int = 14  # of the letters
    fewest: int = 4  # points without which there is no answer
    halvings: int = 24  # of an interval
    screen: int = 40  # further points, at which functions that are tried have to be enough


_LIMITS = ReachLimits()
#: The least part of 1 that a rate leaves.
LEFT = 1e-6
#: The sizes of gains are within this power of ten of one.
_SIZES = 5


class Reach:
    """Programs at points of the letters: how much a span can, there."""

    def __init__(self, span: Span) -> None:
        self.span, posed = span, span.posed
        forms = {f"{k} {m.symbol}": f for m in span.measures for k, f in (("b", span.before(m)), ("a", span.after(m)))}
        self.names = [*forms, *posed.known]
        every = replace(posed, target=next(iter(forms.values())), known={**forms, **posed.known})
        rng = np.random.default_rng(0)
        sample = SamplePoints(posed, rng)
        if len(sample.X) < _LIMITS.fewest:
            raise ValueError("no values of the letters were found that meet the conditions")
        self.programs = Programs(every, sample.choose(_LIMITS.points), Work(10**9))
        self._others = sample.choose(_LIMITS.screen), every
        self.gradings = naming.gradings(every)
        self.letters = self._letters()

    def _letters(self) -> dict[sympy.Symbol, Array]:
        return {
            x: values(c, self.programs.X)
            for x, c in self.span.posed.env.items()
            if isinstance(c, Ratio)
            and isinstance(x, sympy.Symbol)
            and not (c.num.is_constant() and c.den.is_constant())
        }

    def at(self, some: Array) -> Reach:
        """The same at some of the points."""
        found = copy(self)
        found.programs = copy(self.programs)
        found.programs.X, found.programs.scale = self.programs.X[some], self.programs.scale[some]
        found.programs.matrices = [A[some] for A in self.programs.matrices]
        found.programs.values = self.programs.values[some]
        found.letters = {x: v[some] for x, v in self.letters.items()}
        return found

    @cached_property
    def elsewhere(self) -> Reach:
        """The same at further points."""
        found = copy(self)
        X, every = self._others
        found.programs = Programs(every, X, Work(10**9))
        found.letters = found._letters()
        return found

    def evaluated(self, e: sympy.Expr) -> Array:
        """The values ``(points,)`` of a function of the letters."""
        of = sympy.lambdify(list(self.letters), e, "numpy")
        return np.broadcast_to(np.asarray(of(*self.letters.values()), float), len(self.programs.X))

    def degrees(self, c: Ratio) -> Array:
        """The degrees of a letter in the gradings."""
        (num, _), (den, _) = terms(c.num)[0], terms(c.den)[0]
        return np.array([np.dot(g, np.array(num) - np.array(den)) for g, _ in self.gradings])

    def products(self, of: Array) -> rates.Products:
        """Products of letters of the degrees ``of (gradings,)``."""
        env = {x: self.span.posed.env[x] for x in self.letters}
        degrees = {x: self.degrees(c) for x, c in env.items() if isinstance(c, Ratio)}
        return rates.products(self.letters, degrees, of)

    def feasible(
        self, p: int, unit: Measure, rate: float, gain: tuple[Measure, float] | None, of: Sequence[Measure]
    ) -> bool:
        """Return True if some weights, that of ``unit`` being 1, show the rate or the gain at a point."""
        program = self._program(p, unit, rate, gain, of)
        return program.feasible(0, range(len(program.names)), {})

    def weight(
        self, p: int, unit: Measure, rate: float, gain: tuple[Measure, float] | None, of: Sequence[Measure], k: int
    ) -> tuple[float, float]:
        """Between what bounds the weight of the measure at place ``k``, one of two, may be at a point."""
        program = self._program(p, unit, rate, gain, of)
        place = [m for m in of if m is not unit].index(of[k])
        return program.interval(0, place, range(len(program.names)), {}) or (np.inf, 0.0)

    def _program(
        self, p: int, unit: Measure, rate: float, gain: tuple[Measure, float] | None, of: Sequence[Measure]
    ) -> Programs:
        others = [m for m in of if m is not unit]
        place = {name: k + 1 for k, name in enumerate(self.names)}
        known = list(self.span.posed.known)
        C = np.zeros((1 + len(others) + len(known), 1 + len(self.names)))
        for row, m in enumerate([unit, *others]):
            sign = -1 if row else 1
            C[row, place[f"a {m.symbol}"]], C[row, place[f"b {m.symbol}"]] = sign, -sign * rate
        if gain is not None:
            C[0, place[_taken(gain[0])]] += gain[1]
        for row, name in enumerate(known, 1 + len(others)):
            C[row, place[name]] = 1
        names = [*(str(m.symbol) for m in others), *known]
        return self.programs.combined(p, names, C)

    def least_rate(self, p: int, unit: Measure, of: Sequence[Measure]) -> float:
        """The least rate of sums of measures at a point; 1 where nothing contracts."""
        if not self.feasible(p, unit, 1 - LEFT, None, of):
            return 1.0
        if self.feasible(p, unit, 0.0, None, of):
            return 0.0
        low, high = np.log(LEFT), 0.0
        for _ in range(_LIMITS.halvings):
            middle = (low + high) / 2
            low, high = (middle, high) if self.feasible(p, unit, 1 - np.exp(middle), None, of) else (low, middle)
        return float(1 - np.exp(low))

    def most_gain(self, p: int, unit: Measure, of: Measure) -> float:
        """The most that a step gains at a point; 0 where it gains nothing."""
        scale = self.programs.scale[p]
        size = float(scale[self.place(f"a {unit.symbol}")] / scale[self.gained(of)])

        def gains(power: float) -> bool:
            return self.feasible(p, unit, 1.0, (of, size * 10**power), self.span.measures)

        low, high = -float(_SIZES), float(_SIZES)
        if not gains(low):
            return 0.0
        if gains(high):
            return np.inf
        for _ in range(_LIMITS.halvings):
            middle = (low + high) / 2
            low, high = (middle, high) if gains(middle) else (low, middle)
        return float(size * 10**low)

    def degree(self, unit: Measure, of: Measure) -> Array:
        """The degrees of a weight of one measure beside another, in the gradings."""
        k, j = self.gained(of), self.place(f"a {unit.symbol}")
        return np.array([f[j] - f[k] for _, f in self.gradings])

    def place(self, name: str) -> int:
        """The place of a form."""
        return 1 + self.names.index(name)

    def gained(self, m: Measure) -> int:
        """The place of a measure that a step gains."""
        return self.place(_taken(m))


def _taken(m: Measure) -> str:
    return f"{'b' if m.gain == 'before' else 'a'} {m.symbol}"
