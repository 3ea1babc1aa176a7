"""Potentials in closed form: from a method and its class alone, the weights and the rate as functions of the letters.

At points of the letters a bisection finds the best rate of the span, or the most that a step gains; simple functions of
the letters that lie just beyond these numbers are tried, the nearest first. With one of them the weights are multipliers
of a proof like all others, and the search for multipliers names them. What comes out is a claim: it is shown by
whoever checks it, and by nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers import symbols
from fedtheory.numbers.rational import Array
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity
from verify.best import rates, spans
from verify.best.spans import Measure
from verify.multipliers import naming
from verify.multipliers.cases import cases
from verify.multipliers.forms import ProductSum
from verify.multipliers.points import Programs, SamplePoints, values
from verify.multipliers.posing import NeverOccurs, OfOneClient, OfTwoParts, Posed, pose
from verify.multipliers.ratios import Ratio, terms
from verify.multipliers.search import Search
from verify.multipliers.work import Work
from verify.reading.source import Unread

Say = Callable[[str], None]

#: Points of the letters, how often intervals are halved, functions that are tried, and the work for the weights of one.
POINTS, _HALVED, _TRIED, WORK = 14, 24, 12, 4000
#: The least part of 1 that a rate leaves, and how far gains may be from size one, as powers of ten.
_LEFT, _SIZES = 1e-6, 5
#: Relative differences that count as none.
_SAME = 1e-4
#: Recipes that are looked through for an instance.
_RECIPES = 200


@dataclass(frozen=True)
class Found:
    """A claim about a potential. ``weights``: of the measures, by their words; ``rate``: by which it contracts, or None;
    ``gain``: what a step gains, the words of a measure and its weight, or None."""

    claim: Claim
    weights: dict[str, sympy.Expr]
    rate: sympy.Expr | None
    gain: tuple[str, sympy.Expr] | None


@dataclass(frozen=True, eq=False)
class _Span:
    """Measures of a setting, posed for all letters, with points of these."""

    setting: Setting
    requires: tuple[sympy.Basic, ...]
    measures: tuple[Measure, ...]
    posed: Posed

    def before(self, m: Measure) -> ProductSum:
        return _form(self.posed, m.before)

    def after(self, m: Measure) -> ProductSum:
        return _form(self.posed, m.after)


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
    setting, at = _with_letters(setting, tuple(requires))
    every = spans.measures(setting.algorithm, setting.functions, at)
    for level in sorted({m.level for m in every}):
        span = _posed(setting, tuple(requires), [m for m in every if m.level <= level])
        if span is None or (level and not any(m.level == level for m in span.measures)):
            continue
        say(f"potentials of {', '.join(m.words for m in span.measures)}")
        points = _Points(span)
        yield from _contracting(points, say)
        yield from _gaining(points, say)


def _with_letters(setting: Setting, requires: tuple[sympy.Basic, ...]) -> tuple[Setting, Instance]:
    """The setting with all its letters, and an instance whose optimum and gradients there are not 0."""
    assert setting.algorithm is not None and setting.functions is not None
    part = setting.algorithm.State._fields[0]
    size = Measure(sympy.Symbol("Q", real=True), "", spans.size(part), False, 0)
    claim = _stated(setting, requires, size.after.expression, size.before.expression, [size])
    rng = np.random.default_rng(0)
    for _, recipe in zip(range(_RECIPES), claim.instances.recipes(rng), strict=False):
        try:
            built = claim.instances.build(recipe, True)
        except (ValueError, ArithmeticError):
            continue
        problem = built.problem
        if problem.d > 1 and (problem.x_star != 0).any() and (problem.n == 1 or (problem.y_star != 0).any()):
            break
    else:
        raise ValueError(f"no instance of {setting.text} with {setting.algorithm.name} is found")
    if setting.letters:
        return setting, built
    named = {str(x): x for x in (*setting.functions.letters, *sympy.Tuple(*requires, *setting.domain).free_symbols)}
    numbers = [k for k, v in built.params._asdict().items() if isinstance(v, int | Fraction)]
    own = [a for a in ("omega",) if hasattr(getattr(built.params, "compressors", None), a)]
    known = {"n": symbols.n, "omega": symbols.omega}
    letters = {name: named.get(name, known.get(name, sympy.Symbol(name, positive=True))) for name in (*named, *numbers, *own, "n")}
    return replace(setting, letters=tuple(letters.values())), built


def _stated(
    setting: Setting,
    requires: tuple[sympy.Basic, ...],
    left: sympy.Expr,
    right: sympy.Expr,
    of: Sequence[Measure],
    factor: sympy.Expr | None = None,
) -> Claim:
    assert setting.algorithm is not None
    used = left.free_symbols | right.free_symbols
    quantities: tuple[Quantity, ...] = tuple(
        q for m in of for q in (m.before, m.after) if q.expression in used
    )
    statement = OneStep(setting.algorithm, left, right, quantities, factor)
    return Claim(f"{setting.algorithm.name}/found", setting=setting, statement=statement, requires=requires)


def _posed(setting: Setting, requires: tuple[sympy.Basic, ...], of: Sequence[Measure]) -> _Span | None:
    """The span of those measures that can be posed; None where there are none."""
    used: list[Measure] = []
    posed = None
    for m in of:
        try:
            found = _pose(setting, requires, [*used, m], sympy.S.One)
        except Unread:
            continue
        if found is not None:
            used, posed = [*used, m], found
    return None if posed is None else _Span(setting, requires, tuple(used), posed)


def _pose(
    setting: Setting, requires: tuple[sympy.Basic, ...], of: Sequence[Measure], rate: sympy.Expr
) -> Posed | None:
    """The sum of all measures, posed: of several cases the one that is least special. ``Unread`` if it cannot be."""
    left, right = (sympy.Add(*(q.expression for q in side)) for side in zip(*((m.after, m.before) for m in of)))
    claim = _stated(setting, requires, left, rate * right, of)
    waiting = cases(claim)[::-1]
    while waiting:
        case = waiting.pop(0)
        try:
            return pose(claim, case)
        except OfOneClient:
            waiting.insert(0, replace(case, alone=False))
        except OfTwoParts as two:
            waiting[:0] = [replace(case, parts=(*case.parts, part)) for part in two.parts]
        except NeverOccurs:
            continue
    return None


def _form(posed: Posed, quantity: Quantity) -> ProductSum:
    found = posed.env[quantity.expression]
    return found if isinstance(found, ProductSum) else ProductSum.number(found)


class _Points:
    """Programs at points of the letters: how much a span can, there."""

    def __init__(self, span: _Span) -> None:
        self.span, posed = span, span.posed
        forms = {f"{k} {m.symbol}": f for m in span.measures for k, f in (("b", span.before(m)), ("a", span.after(m)))}
        self.names = [*forms, *posed.known]
        every = replace(posed, known={**forms, **posed.known})
        rng = np.random.default_rng(0)
        sample = SamplePoints(posed, rng)
        if len(sample.X) < 4:
            raise ValueError("no values of the letters were found that meet the conditions")
        self.programs = Programs(every, sample.choose(POINTS), Work(10**9))
        self.gradings = naming.gradings(every)
        self.letters = {
            x: values(c, self.programs.X)
            for x, c in posed.env.items()
            if isinstance(c, Ratio) and isinstance(x, sympy.Symbol) and not (c.num.is_constant() and c.den.is_constant())
        }

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
            C[0, place[_gained(gain[0])]] += gain[1]
        for row, name in enumerate(known, 1 + len(others)):
            C[row, place[name]] = 1
        names = [*(str(m.symbol) for m in others), *known]
        return self.programs.combined(p, names, C).feasible(0, range(len(names)), {})

    def least_rate(self, p: int, unit: Measure) -> float:
        """The least rate at a point; 1 where nothing contracts."""
        of = self.span.measures
        if not self.feasible(p, unit, 1 - _LEFT, None, of):
            return 1.0
        if self.feasible(p, unit, 0.0, None, of):
            return 0.0
        low, high = np.log(_LEFT), 0.0
        for _ in range(_HALVED):
            middle = (low + high) / 2
            low, high = (middle, high) if self.feasible(p, unit, 1 - np.exp(middle), None, of) else (low, middle)
        return float(1 - np.exp(low))

    def most_gain(self, p: int, unit: Measure, of: Measure) -> float:
        """The most that a step gains at a point; 0 where it gains nothing."""
        scale = self.programs.scale[p]
        size = float(scale[self.place(f"a {unit.symbol}")] / scale[self.place(_gained(of))])

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


def _gained(m: Measure) -> str:
    """What a bound on a gain is about: values after a step; of gradients those before it, of which a step knows."""
    return f"{'b' if m.symbol.name.startswith('G') else 'a'} {m.symbol}"


def _contracting(points: _Points, say: Say) -> Iterator[Found]:
    span, count = points.span, len(points.programs.X)
    first = [[points.least_rate(p, m) for p in range(3)] for m in span.measures]
    sums = [sum(r) for r in first]
    if min(sums) > 3 * (1 - _LEFT) - _LEFT:
        return
    unit = span.measures[next(k for k, s in enumerate(sums) if s <= min(sums) + 1e-5)]
    least = np.array([points.least_rate(p, unit) for p in range(count)])
    say(f"the best rates at {count} points are {', '.join(f'{r:.6g}' for r in least)}")
    if (least >= 1).any():
        return
    candidates = rates.rates(points.products(np.zeros(len(points.gradings))), least)
    for rate in candidates[:_TRIED]:
        say(f"rate {rate.expression}, loss {rate.loss:.4g}")
        yield from _weighed(points, unit, rate, None, say)


def _gaining(points: _Points, say: Say) -> Iterator[Found]:
    span, count = points.span, len(points.programs.X)
    for of in [m for m in span.measures if m.gain]:
        for unit in [m for m in span.measures if m.level == 0 or m.level == span.measures[0].level]:
            first = points.most_gain(0, unit, of)
            if not 0 < first < np.inf:
                continue
            most = np.array([points.most_gain(p, unit, of) for p in range(count)])
            say(f"the most gains of {of.words} are {', '.join(f'{r:.6g}' for r in most)}")
            if not ((most > 0) & (most < np.inf)).all():
                continue
            k, j = points.place(_gained(of)), points.place(f"a {unit.symbol}")
            degree = np.array([f[j] - f[k] for _, f in points.gradings])
            for gain in rates.gains(points.products(degree), most)[:_TRIED]:
                say(f"gain {gain.expression}, loss {gain.loss:.4g}")
                yield from _weighed(points, unit, gain, of, say)


def _weighed(points: _Points, unit: Measure, number: rates.Named, of: Measure | None, say: Say) -> Iterator[Found]:
    """The claim with weights in closed form, where they are found."""
    span, used = points.span, list(points.span.measures)

    def holds(measures: Sequence[Measure]) -> bool:
        room = _SAME / 10
        for p, v in enumerate(number.values):
            rate, gain = (1 - (1 - v) * (1 - room), None) if of is None else (1.0, (of, v * (1 - room)))
            if not points.feasible(p, unit, rate, gain, measures):
                return False
        return True

    for m in reversed(span.measures):
        if m is not unit and holds(fewer := [one for one in used if one is not m]):
            used = fewer
    rate = number.expression if of is None else sympy.S.One
    shown = [m for m in span.measures if m in used or m is of]
    posed = _pose(span.setting, span.requires, shown, rate)
    if posed is None:
        return
    by = _ratio(posed, rate)
    target = _form(posed, unit.after) - _form(posed, unit.before) * by
    if of is not None:
        gained = of.before if _gained(of).startswith("b") else of.after
        target = target + _form(posed, gained) * _ratio(posed, number.expression)
    weights = {
        f"weight of {m.symbol}": _form(posed, m.before) * by - _form(posed, m.after) for m in used if m is not unit
    }
    looking = replace(posed, target=target, known={**weights, **posed.known})
    search = Search(looking, Work(WORK), say)
    proof = search.run()
    if proof is None:
        say(f"no weights: {search.why}")
        return
    found = {unit: sympy.S.One}
    for m in used:
        if m is not unit and (c := proof.multipliers.get(f"weight of {m.symbol}")) is not None:
            found[m] = _expression(posed, c)
    yield _found(span, found, None if of is not None else rate, None if of is None else (of, number.expression))


def _found(
    span: _Span,
    weights: dict[Measure, sympy.Expr],
    rate: sympy.Expr | None,
    gain: tuple[Measure, sympy.Expr] | None,
) -> Found:
    left = sympy.Add(*(w * m.after.expression for m, w in weights.items()))
    right = sympy.Add(*(w * m.before.expression for m, w in weights.items()))
    of = [m for m in span.measures if m in weights or (gain is not None and m is gain[0])]
    if gain is not None:
        m, t = gain
        left, right = (left, right - t * m.before.expression) if _gained(m).startswith("b") else (left + t * m.after.expression, right)
    claim = _stated(span.setting, span.requires, left, right if rate is None else rate * right, of, rate)
    named = {m.words: w for m, w in weights.items()}
    return Found(claim, named, rate, None if gain is None else (gain[0].words, gain[1]))


def _ratio(posed: Posed, e: sympy.Expr) -> Ratio:
    """An expression in letters as a quotient of polynomials; a maximum is the letter that stands for it."""
    if isinstance(e, sympy.Max):
        (letter,) = posed.branches
        return Ratio(posed.domain.ring.gen(letter), posed.domain.ring.constant(1))
    if e.is_Rational:
        return posed.one * Fraction(int(e.p), int(e.q))
    if e.is_Pow:
        return _ratio(posed, e.base) ** int(e.exp)
    if e.is_Add or e.is_Mul:
        parts = [_ratio(posed, a) for a in e.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if e.is_Add else total * part
        return total
    found = posed.env[e]
    assert isinstance(found, Ratio), "a letter is a number"
    return found


def _expression(posed: Posed, c: Ratio) -> sympy.Expr:
    """A quotient of polynomials as an expression in the letters of the claim."""
    ring = posed.domain.ring
    letters = {}
    for x, value in posed.env.items():
        if isinstance(value, Ratio) and isinstance(x, sympy.Symbol) and value.den == 1:
            letters.update({i: x for i in range(len(posed.names)) if value.num == ring.gen(i)})

    def polynomial(p: object) -> sympy.Expr:
        return sympy.Add(
            *(
                sympy.Rational(int(number.numerator), int(number.denominator))
                * sympy.Mul(*(letters[i] ** k for i, k in enumerate(m) if k))
                for m, number in terms(p)
            )
        )

    return sympy.factor(polynomial(c.num) / polynomial(c.den))
