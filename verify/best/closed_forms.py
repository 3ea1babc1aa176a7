"""Potentials in closed form: from a method and its class alone, the weights and the rate as functions of the letters.

At points of the letters a bisection finds the best rate of the span, or the most that a step gains; simple functions
of the letters that lie just beyond these numbers are tried, the nearest first. With one of them the weights are
multipliers of a proof like all others, and the search for multipliers names them. What comes out is a claim: it is
shown by whoever checks it, and by nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.settings import Setting
from verify.best import rates, spans
from verify.best.posed_spans import Span, expression, form, posed_sum, ratio, span, stated, with_letters
from verify.best.reach import LEFT, Reach
from verify.best.spans import Measure
from verify.multipliers.posing import Posed
from verify.multipliers.ratios import Ratio
from verify.multipliers.search import Search, splits
from verify.multipliers.work import Work
from verify.reading.source import Unread

Say = Callable[[str], None]

#: Functions that are tried, and the work for the weights of one.
_TRIED, WORK = 12, 2000
#: By how much of what is left of 1 a rate is larger at which measures are left out.
_ROOM = 1e-5


@dataclass(frozen=True)
class Found:
    """A claim about a potential. ``weights``: of the measures, by their words; ``rate``: by which it contracts, or
    None; ``gain``: what a step gains, the words of a measure and its weight, or None."""

    claim: Claim
    weights: dict[str, sympy.Expr]
    rate: sympy.Expr | None
    gain: tuple[str, sympy.Expr] | None


def discover(setting: Setting, requires: Sequence[sympy.Basic], say: Say = lambda text: None) -> Iterator[Found]:
    """Claims that a potential of a method contracts, or gains, those that say most first; none of them is checked.

    Args:
        setting: The method and the class of functions.
        requires: What is assumed of the letters.
        say: Called with what is being done.

    Raises:
        ValueError: If the setting has no method or functions, or what it states cannot be read.
    """
    if setting.algorithm is None or setting.functions is None:
        raise ValueError("a method and a class of functions are expected in a setting whose potential is sought")
    algorithm, functions = setting.algorithm, setting.functions
    setting, at = with_letters(setting, tuple(requires))
    why = ""
    every = spans.measures(algorithm, functions, at)
    for level in sorted({m.level for m in every}):
        try:
            of_span = span(setting, tuple(requires), [m for m in every if m.level <= level])
        except Unread as error:
            why = str(error)
            continue
        why = ""
        if not any(m.level == level for m in of_span.measures):
            continue
        say(f"potentials of {', '.join(m.words for m in of_span.measures)}")
        points = Reach(of_span)
        yield from _contracting(points, say)
        yield from _gaining(points, say)
    if why:
        raise ValueError(f"the method cannot be read: {why}")


def _contracting(points: Reach, say: Say) -> Iterator[Found]:
    of_span, count = points.span, len(points.programs.X)
    first = [[points.least_rate(p, m) for p in range(3)] for m in of_span.measures]
    sums = [sum(r) for r in first]
    if min(sums) > 3 * (1 - LEFT) - LEFT:
        return
    unit = of_span.measures[next(k for k, s in enumerate(sums) if s <= min(sums) + 1e-5)]
    least = np.array([points.least_rate(p, unit) for p in range(count)])
    say(f"the best rates at {count} points are {', '.join(f'{r:.6g}' for r in least)}")
    # Where even 0 is a rate, what is known contradicts itself, or all that is measured vanishes.
    if (least >= 1).any() or not (least > 0).any():
        return
    points = points.at(np.flatnonzero(least > 0))
    candidates = rates.rates(points.products(np.zeros(len(points.gradings))), least[least > 0])
    for rate in candidates[:_TRIED]:
        say(f"rate {rate.expression}, loss {rate.loss:.4g}")
        yield from _weighed(points, unit, rate, None, say)


def _gaining(points: Reach, say: Say) -> Iterator[Found]:
    of_span, count = points.span, len(points.programs.X)
    for of in [m for m in of_span.measures if m.gain != "never"]:
        for unit in [m for m in of_span.measures if m.level == of_span.measures[0].level]:
            first = points.most_gain(0, unit, of)
            if not 0 < first < np.inf:
                continue
            most = np.array([points.most_gain(p, unit, of) for p in range(count)])
            say(f"the most gains of {of.words} are {', '.join(f'{r:.6g}' for r in most)}")
            if not ((most > 0) & (most < np.inf)).all():
                continue
            k, j = points.gained(of), points.place(f"a {unit.symbol}")
            degree = np.array([f[j] - f[k] for _, f in points.gradings])
            for gain in rates.gains(points.products(degree), most)[:_TRIED]:
                say(f"gain {gain.expression}, loss {gain.loss:.4g}")
                yield from _weighed(points, unit, gain, of, say)


def _weighed(points: Reach, unit: Measure, number: rates.Named, of: Measure | None, say: Say) -> Iterator[Found]:
    """The claim with weights in closed form, where they are found."""
    of_span, used = points.span, list(points.span.measures)

    def holds(measures: Sequence[Measure]) -> bool:
        for p, v in enumerate(number.values):
            rate, gain = (1 - (1 - v) * (1 - _ROOM), None) if of is None else (1.0, (of, v * (1 - _ROOM)))
            if not points.feasible(p, unit, rate, gain, measures):
                return False
        return True

    for m in reversed(of_span.measures):
        if m is not unit and holds(fewer := [one for one in used if one is not m]):
            used = fewer
    rate = number.expression if of is None else sympy.S.One
    shown = [m for m in of_span.measures if m in used or m is of]
    posed = posed_sum(of_span.setting, of_span.requires, shown, rate)
    if posed is None:
        return
    by = ratio(posed, rate)
    target = form(posed, unit.after) - form(posed, unit.before) * by
    if of is not None:
        target = target + form(posed, of.gained) * ratio(posed, number.expression)
    weights = {
        f"weight of {m.symbol}": form(posed, m.before) * by - form(posed, m.after) for m in used if m is not unit
    }
    looking = replace(posed, target=target, known={**weights, **posed.known})
    gain = None if of is None else (of, number.expression)
    for multipliers in _multipliers(looking, say) if weights else ({},):
        found = {unit: sympy.S.One}
        for m in used:
            c = multipliers.get(f"weight of {m.symbol}")
            if c is not None and posed.domain.ratio_sign(c) is not None:
                found[m] = expression(posed, c)
        yield _found(of_span, found, None if gain else rate, gain)


def _multipliers(posed: Posed, say: Say) -> Iterator[Mapping[str, Ratio]]:
    """Multipliers of a proof; where a maximum hides them, those where one of its arguments is the largest."""
    search = Search(posed, Work(WORK), say)
    if (proof := search.run()) is not None:
        yield proof.multipliers
        return
    say(f"no weights: {search.why}")
    for p in splits(posed, search.all.X)[:1]:
        for side in (1, -1):
            if (proof := Search(posed.part(p * side), Work(WORK), say).run()) is not None:
                yield proof.multipliers


def _found(
    of_span: Span,
    weights: dict[Measure, sympy.Expr],
    rate: sympy.Expr | None,
    gain: tuple[Measure, sympy.Expr] | None,
) -> Found:
    left = sympy.Add(*(w * m.after.expression for m, w in weights.items()))
    right = sympy.Add(*(w * m.before.expression for m, w in weights.items()))
    of = [m for m in of_span.measures if m in weights or (gain is not None and m is gain[0])]
    if gain is not None:
        term = gain[1] * gain[0].gained.expression
        left, right = (left + term, right) if gain[0].gain == "after" else (left, right - term)
    claim = stated(of_span.setting, of_span.requires, left, right if rate is None else rate * right, of, rate)
    named = {m.words: w for m, w in weights.items()}
    return Found(claim, named, rate, None if gain is None else (gain[0].words, gain[1]))
