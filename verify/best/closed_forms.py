"""Potentials in closed form: from a method and its class alone, the weights and the rate as functions of the letters.

At points of the letters a bisection finds the best rate of the span, or the most that a step gains; simple functions
of the letters that lie just beyond these numbers are tried, the nearest first. With one of them the weights are
multipliers of a proof like all others, and the search for multipliers names them. What comes out is a claim: it is
shown by whoever checks it, and by nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.settings import Setting
from verify.best import rates, spans
from verify.best.posed_spans import Span, expression, form, posed_sum, ratio, span, stated, with_letters
from verify.best.reach import LEFT, Reach
from verify.best.spans import Measure
from verify.multipliers.posing import Posed
from verify.multipliers.proving import prove
from verify.multipliers.ratios import Ratio
from verify.multipliers.search import Search, splits
from verify.multipliers.work import Work
from verify.reading.source import Unread

Say = Callable[[str], None]

#: The most rates that are tried for a set of measures, and the most gains for a measure.
_TRIED = 6
#: The work of each search for the weights that go with one of them.
WORK = 4000
#: The most weights that are tried with a rate, each in a proof of its own.
_WEIGHTS = 8
#: The work of each of these proofs.
_EACH = 1000
#: The most measures of a smaller set that is tried in place of all of them.
_TOGETHER = 3
#: The most smaller sets that are tried.
_SUBSETS = 3
#: A smaller set may have a rate that is larger by this share of 1 - rate.
_EQUAL = 1e-3
#: The room of weights: a rate is enlarged by this share of 1 - rate, a gain is lowered by this share of itself.
_ROOM = 1e-5
#: The share of 1 - rate by which a rate is enlarged when it is tried at further points.
_HARDLY = 1e-2
#: The largest share of the points at which a solver may find nothing.
_UNSURE = 0.1
#: The largest share of the further points at which a rate may fail.
_FEW = 0.05


@dataclass(frozen=True)
class Found:
    """A claim about a potential.

    Attributes:
        claim: That it contracts, or gains.
        floor: That it is nowhere negative, without which the other one says little.
        weights: Of the measures, by their words.
        rate: By which it contracts, or None.
        gain: What a step gains, the words of a measure and its weight, or None.
        silent: Parts of the state on which the potential does not depend.
    """

    claim: Claim
    floor: Claim
    weights: dict[str, sympy.Expr]
    rate: sympy.Expr | None
    gain: tuple[str, sympy.Expr] | None
    silent: tuple[str, ...]


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
    every = points.span.measures
    first = [min(points.least_rate(p, m, every) for m in every) for p in range(3)]
    if min(first) > 1 - 2 * LEFT:
        return
    for used in _subsets(points, first):
        unit = used[0]
        least = np.array([points.least_rate(p, unit, used) for p in range(len(points.programs.X))])
        places = (", ".join(f"{x}={v[p]:.4g}" for x, v in points.letters.items()) for p in range(len(least)))
        rates_at = "; ".join(f"{rate:.6g} at {place}" for rate, place in zip(least, places, strict=True))
        say(f"{_listed(used)}: the best rates at {len(least)} points: {rates_at}")
        # Where even 0 is a rate, what is known contradicts itself, or all that is measured vanishes; at one point or
        # another a solver finds nothing where there is little room.
        good = np.flatnonzero((least > 0) & (least < 1))
        if (least >= 1).mean() > _UNSURE or not len(good):
            continue
        there = points.at(good)
        candidates = rates.rates(there.products(np.zeros(len(points.gradings))), least[good])
        exact = [rate for rate in candidates if rate.loss <= rates.EXACT][:_TRIED]
        for rate in exact:
            yield from _shown(there, unit, [rate], used, say)
        # Where there is little room a solver is unsure of the best rate, so only the others are tested elsewhere.
        others = (c for c in candidates if c.loss > rates.EXACT and _is_enough(points.elsewhere, unit, c, used))
        yield from _shown(there, unit, [*islice(others, _TRIED - len(exact))], used, say)


def _shown(
    points: Reach, unit: Measure, some: Sequence[rates.Named], used: Sequence[Measure], say: Say
) -> Iterator[Found]:
    """Claims with rates: first those whose weight is a product, which take little."""
    for rate in some:
        say(f"rate {rate.expression}, loss {rate.loss:.4g}")
        yield from _by_products(points, unit, rate, used, say)
    for rate in some:
        say(f"rate {rate.expression}, by a search")
        yield from _weighed(points, unit, rate, None, used, say)


def _subsets(points: Reach, least: Sequence[float]) -> Iterator[tuple[Measure, ...]]:
    """Yield some of the measures that contract as fast as all of them, at the first points: the fewest first."""
    found: list[tuple[Measure, ...]] = []
    ends = [1 - (1 - r) * (1 - _EQUAL) for r in least]
    for size in range(1, _TOGETHER + 1):
        for some in combinations(points.span.measures, size):
            if any(set(one) <= set(some) for one in found):
                continue
            if all(points.feasible(p, some[0], r, None, some) for p, r in enumerate(ends)):
                found.append(some)
                yield some
            if len(found) == _SUBSETS:
                return


def _is_enough(points: Reach, unit: Measure, rate: rates.Named, used: Sequence[Measure]) -> bool:
    """Return True if a rate, or one that is hardly larger, is one at nearly all points."""
    values = points.evaluated(rate.expression)
    bad = 0
    for p, r in enumerate(values):
        bad += not points.feasible(p, unit, 1 - (1 - r) * (1 - _HARDLY), None, used)
        if bad > _FEW * len(values):
            return False
    return True


def _listed(measures: Sequence[Measure]) -> str:
    return ", ".join(m.words for m in measures)


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
            for gain in rates.gains(points.products(points.degree(unit, of)), most)[:_TRIED]:
                say(f"gain {gain.expression}, loss {gain.loss:.4g}")
                yield from _weighed(points, unit, gain, of, of_span.measures, say)


def _ends(points: Reach, number: rates.Named, of: Measure | None) -> list[tuple[float, tuple[Measure, float] | None]]:
    """A rate and a gain at each point, with a little room: one of them is the number."""
    numbers = points.evaluated(number.expression)
    if of is None:
        return [(1 - (1 - v) * (1 - _ROOM), None) for v in numbers]
    return [(1.0, (of, v * (1 - _ROOM))) for v in numbers]


def _by_products(points: Reach, unit: Measure, rate: rates.Named, used: Sequence[Measure], say: Say) -> Iterator[Found]:
    """Claims about two measures, whose weight is a product that lies between what is possible at all points: each one
    that multipliers prove."""
    if len(used) != 2:
        return
    (place,) = (k for k, m in enumerate(used) if m is not unit)
    between = [points.weight(p, unit, *end, used, place) for p, end in enumerate(_ends(points, rate, None))]
    low, high = np.array(between).T
    sure = np.flatnonzero(low <= high)
    if len(sure) < (1 - _UNSURE) * len(low):
        return
    there = points.at(sure)
    for weight in rates.between(there.products(points.degree(unit, used[place])), low[sure], high[sure])[:_WEIGHTS]:
        found = _found(points.span, {unit: sympy.S.One, used[place]: weight.expression}, rate.expression, None)
        why = prove(found.claim, work=_EACH)
        say(f"weight {weight.expression}: {why if isinstance(why, str) else 'proved'}")
        if not isinstance(why, str):
            yield found


def _weighed(
    points: Reach, unit: Measure, number: rates.Named, of: Measure | None, used: Sequence[Measure], say: Say
) -> Iterator[Found]:
    """Claims whose weights are multipliers of a proof, where these are found."""
    of_span, used, ends = points.span, list(used), _ends(points, number, of)

    def holds(measures: Sequence[Measure]) -> bool:
        return all(points.feasible(p, unit, *end, measures) for p, end in enumerate(ends))

    for m in reversed(used):
        if m is not unit and holds(fewer := [one for one in used if one is not m]):
            used = fewer
    rate = number.expression if of is None else sympy.S.One
    gain = None if of is None else (of, number.expression)
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
    for multipliers in _multipliers(looking, say) if weights else ({},):
        named = {unit: sympy.S.One}
        for m in used:
            c = multipliers.get(f"weight of {m.symbol}")
            if c is not None and posed.domain.ratio_sign(c) is not None:
                named[m] = expression(posed, c)
        yield _found(of_span, named, None if gain else rate, gain)


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
    right = potential = sympy.Add(*(w * m.before.expression for m, w in weights.items()))
    before = tuple(m.before for m in weights)
    of = [m for m in of_span.measures if m in weights or (gain is not None and m is gain[0])]
    if gain is not None:
        term = gain[1] * gain[0].gained.expression
        left, right = (left + term, right) if gain[0].gain == "after" else (left, right - term)
    claim = stated(of_span.setting, of_span.requires, left, right if rate is None else rate * right, of, rate)
    floor = replace(claim, id=f"{claim.id}/floor", statement=Inequality(-potential, sympy.S.Zero, before))
    named = {m.words: w for m, w in weights.items()}
    assert of_span.setting.algorithm is not None
    parts = of_span.setting.algorithm.State._fields
    silent = tuple(name for k, name in enumerate(parts) if not any(k in m.parts for m in of))
    return Found(claim, floor, named, rate, None if gain is None else (gain[0].words, gain[1]), silent)
