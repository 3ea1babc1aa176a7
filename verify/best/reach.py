"""How much the potentials of a span can at points of the letters: the best rate, the most that a step gains. In floats,
which propose and decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

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

#: Points of the letters, at least so many of them, and how often intervals are halved.
POINTS, _FEWEST, _HALVED = 14, 4, 24
#: The least part of 1 that a rate leaves, and how far gains may be from size one, as powers of ten.
LEFT, _SIZES = 1e-6, 5


class Reach:
    """Programs at points of the letters: how much a span can, there."""

    def __init__(self, span: Span) -> None:
        self.span, posed = span, span.posed
        forms = {f"{k} {m.symbol}": f for m in span.measures for k, f in (("b", span.before(m)), ("a", span.after(m)))}
        self.names = [*forms, *posed.known]
        every = replace(posed, target=next(iter(forms.values())), known={**forms, **posed.known})
        rng = np.random.default_rng(0)
        sample = SamplePoints(posed, rng)
        if len(sample.X) < _FEWEST:
            raise ValueError("no values of the letters were found that meet the conditions")
        self.programs = Programs(every, sample.choose(POINTS), Work(10**9))
        self.gradings = naming.gradings(every)
        self.letters = {
            x: values(c, self.programs.X)
            for x, c in posed.env.items()
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
        return self.programs.combined(p, names, C).feasible(0, range(len(names)), {})

    def least_rate(self, p: int, unit: Measure) -> float:
        """The least rate at a point; 1 where nothing contracts."""
        of = self.span.measures
        if not self.feasible(p, unit, 1 - LEFT, None, of):
            return 1.0
        if self.feasible(p, unit, 0.0, None, of):
            return 0.0
        low, high = np.log(LEFT), 0.0
        for _ in range(_HALVED):
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
        for _ in range(_HALVED):
            middle = (low + high) / 2
            low, high = (middle, high) if gains(middle) else (low, middle)
        return float(size * 10**low)

    def place(self, name: str) -> int:
        """The place of a form."""
        return 1 + self.names.index(name)

    def gained(self, m: Measure) -> int:
        """The place of a measure that a step gains."""
        return self.place(_taken(m))


def _taken(m: Measure) -> str:
    return f"{'b' if m.gain == 'before' else 'a'} {m.symbol}"
