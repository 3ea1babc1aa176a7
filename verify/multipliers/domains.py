"""Signs of polynomials on the set of letters that a claim allows, by writing every letter through slacks.

A constraint ``A x + B >= 0`` whose A is positive says x = -B/A + t with a t >= 0; one whose A is negative says, of an
x > 0, x = B/(-A (1 + t)). Letters are replaced one after another, and what then has no negative coefficient is
nonnegative. Where a term is left of letters and slacks that are positive, it is positive. The slack takes the place of
its letter, so that polynomials stay in one ring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from verify.multipliers.charts import (
    LARGEST,
    Multiples,
    Pick,
    PolynomialConstraint,
    SlackChart,
    follows,
    has_no_negative,
)
from verify.multipliers.ratios import Ratio, coefficients, degree, key, replaced
from verify.reading.terms import Term
from verify.reading.values import Condition

#: Charts that are tried.
CHARTS = 24
#: Charts in which constraints that they leave are used too, and how often.
_LEFT, _USES = 6, 4


class Sign(NamedTuple):
    """The proof of the sign of a polynomial: a product of ``constant``, even powers, and factors of known sign, each
    with the picks of the chart that shows it.
    """

    positive: bool
    factors: tuple[tuple[str, int, tuple[Pick, ...]], ...]


@dataclass(eq=False)
class Domain:
    """Letters that are all >= 0, ``positive`` ones > 0, with constraints.

    ``bounded``: letters that stand for maxima, each with the places of the constraints that bound it from below.
    """

    ring: Any
    positive: frozenset[int]
    constraints: tuple[PolynomialConstraint, ...] = ()
    bounded: dict[int, tuple[int, ...]] = field(default_factory=dict)
    #: Returns True if a search for a proof that a polynomial is >= 0 would be in vain.
    doubts: Callable[[Any], bool] | None = None
    _charts: list[SlackChart] | None = None
    _signs: dict[tuple[str, bool], Sign | None] = field(default_factory=dict)
    _factors: dict[tuple[str, bool], tuple[Pick, ...] | None] = field(default_factory=dict)
    _begun: list[SlackChart] | None = None
    _beyond: dict[tuple[str, bool], tuple[Any, Multiples]] = field(default_factory=dict)

    def with_constraint(self, p: Any, strict: bool, bounds: int | None = None) -> Domain:
        """The part where p >= 0 (> 0). ``bounds``: the letter that stands for a maximum that p bounds."""
        p = self.plain.stripped(p)
        name = (key(p), strict)
        if bounds is None and (
            (has_no_negative(p) and (not strict or (p.is_constant() and p != 0)))
            or any(key(c.poly) == name[0] and c.strict >= strict for c in self.constraints)
        ):
            return self
        bounded = dict(self.bounded)
        if bounds is not None:
            bounded[bounds] = (*bounded.get(bounds, ()), len(self.constraints))
        return Domain(self.ring, self.positive, (*self.constraints, PolynomialConstraint(p, strict)), bounded)

    @property
    def is_empty(self) -> bool:
        """True if a constraint on a constant contradicts its value."""
        numbers = (c for c in self.constraints if c.poly.is_constant())
        return any(not (has_no_negative(c.poly) and (c.poly != 0 or not c.strict)) for c in numbers)

    @property
    def plain(self) -> SlackChart:
        """No letter replaced."""
        return SlackChart((), self.positive, self.constraints)

    @property
    def charts(self) -> list[SlackChart]:
        """Charts in which the constraints on letters that stand for no maximum are solved as far as they can be."""
        if self._charts is None:
            found: dict[str, SlackChart] = {}
            for chart in islice(self._solved(), 4 * CHARTS):
                found.setdefault(str([(i, key(a), key(b)) for i, a, b in chart.steps]), chart)
                if len(found) >= CHARTS:
                    break
            ordered = sorted(found.values(), key=lambda chart: len(self._open(chart)))
            self._charts = ordered
        return self._charts

    def _open(self, chart: SlackChart) -> list[PolynomialConstraint]:
        return [c for c in chart.left if not any(degree(c.poly, i) for i in self.bounded)]

    def _solved(self) -> Iterator[SlackChart]:
        """Charts by depth first, with more and more choices at each step."""
        for width in (1, 2, 3):
            yield from self._deeper(self.plain, width)

    def _deeper(self, chart: SlackChart, width: int) -> Iterator[SlackChart]:
        done = {i for i, _, _ in chart.steps}
        choices = []
        for place, (g, _) in enumerate(chart.left):
            if any(degree(g, i) for i in self.bounded):
                continue
            for i in range(len(self.ring.names())):
                if degree(g, i) != 1:
                    continue
                parts = coefficients(g, i)
                slope, rest = parts[1], parts.get(0, g.context().constant(0))
                # A bound that keeps the letter's own sign first, then those from above, then those that lose it.
                if has_no_negative(slope):
                    rank = 0 if has_no_negative(-rest) else 2
                elif has_no_negative(-slope):
                    rank = 0 if has_no_negative(rest) else 1
                else:
                    continue
                # Slacks are solved for where letters are not.
                choices.append((rank + 3 * (i in done), len(g), place, i))
        tried = 0
        for _, _, place, i in sorted(choices):
            after = chart.step((place, i))
            if after is None:
                continue
            tried += 1
            yield from self._deeper(after, width)
            if tried == width:
                return
        if not tried:
            yield chart

    @property
    def _prefixes(self) -> list[SlackChart]:
        """Return common beginnings of charts, the longest last, if all charts leave constraints."""
        if self._begun is None:
            left = self.charts and self._open(self.charts[0])
            self._begun = self._beginnings() if left else []
        return self._begun

    def _beginnings(self) -> list[SlackChart]:
        seen = {chart.picks[:k] for chart in self.charts[:_LEFT] for k in range(len(chart.picks) + 1)}
        return [self.follow(picks) for picks in sorted(seen, key=lambda picks: (len(picks), picks))]

    def follow(self, picks: Sequence[Pick]) -> SlackChart:
        """The chart that these picks make. ``ValueError`` where a constraint does not allow one."""
        chart = self.plain
        for pick in picks:
            if not 0 <= pick[0] < len(chart.left):
                raise ValueError("a chart uses a constraint that does not exist")
            after = chart.step(pick)
            if after is None:
                raise ValueError("a chart solves a constraint for a letter that it does not determine")
            chart = after
        return chart

    # Signs

    def sign(self, p: Any, strict: bool = False) -> Sign | None:
        """Return the proof that a polynomial is >= 0 (> 0) in the domain; None if this is not shown."""
        name = (key(p), strict)
        if name not in self._signs:
            self._signs[name] = None if self.doubts is not None and self.doubts(p) else self._sign(p, strict)
        return self._signs[name]

    def _sign(self, p: Any, strict: bool) -> Sign | None:
        if p == 0:
            return None if strict else Sign(False, ())
        c, factors = p.factor()
        sign = c > 0
        shown: list[tuple[str, int, tuple[Pick, ...]]] = []
        for factor, power in factors:
            even = int(power) % 2 == 0
            if even and not strict:
                shown.append((key(factor), int(power), ()))
                continue
            picks = None
            for side in (1, -1):
                if self.doubts is None or not self.doubts(factor * side):
                    picks = self._picks(factor * side, strict)
                if picks is not None:
                    break
            if picks is None:
                return None
            if side < 0 and not even:
                sign = not sign
            shown.append((key(factor), int(power), picks))
        return Sign(strict, tuple(shown)) if sign else None

    def taken_off(self, p: Any, strict: bool) -> tuple[Any, Multiples]:
        """Return what else shows the sign of an irreducible polynomial in its chart: a positive polynomial that it is
        multiplied by, and the multiples of constraints that are subtracted then.
        """
        return self._beyond.get((key(p), strict), (self.ring.constant(1), ()))

    def _picks(self, p: Any, strict: bool) -> tuple[Pick, ...] | None:
        """As ``_shown``, which is asked once."""
        name = (key(p), strict)
        if name not in self._factors:
            self._factors[name] = self._shown(p, strict)
        return self._factors[name]

    def _shown(self, p: Any, strict: bool) -> tuple[Pick, ...] | None:
        """The picks of a chart in which no coefficient is negative."""

        def right(chart: SlackChart, q: Any) -> bool:
            return chart.is_positive(q) if strict else has_no_negative(q)

        for start in self._starts(p):
            q = start.image(p)
            if q is None:
                continue
            if right(start, q):
                return start.picks
            for k, chart in enumerate(self.charts):
                found = self._along(start, chart, q, right)
                if found is not None:
                    # The argument that decided one sign is likely to decide the next.
                    self.charts.insert(0, self.charts.pop(k))
                    return found
        for chart in self._prefixes:
            left = [c.poly for c in self._open(chart)]
            q = chart.image(p) if left else None
            positive = [self.ring.gen(i) for i in sorted(chart.positive) if i not in self.bounded]
            for c in [] if q is None else [self.ring.constant(1), *positive]:
                found = follows(q * c, left, partial(right, chart), _USES)
                if found is not None:
                    self._beyond[key(p), strict] = c, found
                    return chart.picks
        return None

    def _starts(self, p: Any) -> Iterator[SlackChart]:
        """Charts in which letters that stand for maxima are replaced by one of their bounds and a slack, then none."""
        for i, places in self.bounded.items():
            if degree(p, i):
                for place in places:
                    after = self.plain.step((place, i))
                    if after is not None:
                        yield after
        yield self.plain

    def _along(self, start: SlackChart, chart: SlackChart, q: Any, right: Any) -> tuple[Pick, ...] | None:
        """The picks up to the step of a chart after which no coefficient is negative."""
        here = start
        for n, (i, num, den) in enumerate(chart.steps):
            if start.picks:
                pick = self._same(here, chart, n)
                if pick is None:
                    return None
                after = here.step(pick)
            else:
                after = SlackChart(chart.steps[: n + 1], frozenset(), (), chart.picks[: n + 1])
            if after is None:
                return None
            q = replaced(q, i, num, den)
            if len(q) > LARGEST:
                return None
            here = after
            if has_no_negative(q):
                known = here if start.picks else self.follow(here.picks)
                if right(known, q):
                    return known.picks
        return None

    def _same(self, here: SlackChart, chart: SlackChart, n: int) -> Pick | None:
        """The pick by which a chart that began otherwise takes the same step."""
        i, num, den = chart.steps[n]
        for place, (g, _) in enumerate(here.left):
            if degree(g, i) == 1:
                after = here.step((place, i))
                if after is not None and after.steps[-1][1] == num and after.steps[-1][2] == den:
                    return place, i
        return None

    def ratio_sign(self, ratio: Ratio, strict: bool = False) -> Sign | None:
        """Return the proof that a quotient is >= 0 (> 0) where its denominator is not zero; None if there is none."""
        return self.sign(ratio.num * ratio.den, strict)

    def never_zero(self, p: Any) -> bool:
        """Return True if a polynomial is shown to be zero nowhere in the domain."""
        return self.sign(p, True) is not None or self.sign(-p, True) is not None

    def regular_chart(self) -> SlackChart | None:
        """A chart whose slacks may be any, and lead into the domain: what is shown at almost all of it holds at all.

        Let F take slacks to letters, each step of the chart from the last to the first. Three things make every point
        x of the domain a limit of points of the domain where a given polynomial, not identically zero, is not zero.

        - *x = F(t) with a t >= 0, at which F is continuous.* A constraint A x_i + B >= 0 with A > 0 holds where
          t_i = x_i + B/A is >= 0; with A < 0 and x_i > 0, where t_i = B/(-A x_i) - 1 is. All that F divides by is
          shown to be positive wherever the constraints hold, as they do at x.
        - *F takes points with t > 0 into the domain*, boundaries that it excludes too. Letters, slacks that a later
          step writes by others, what F divides by and all constraints are there polynomials without negative
          coefficients over products of such: positive, as none is identically zero. This is asked of this chart alone.
        - *The polynomial of F is not identically zero.* Each step can be undone: x_i is a quotient of degree one in
          t_i, and B is not identically zero where A < 0.

        So t + e s, with s > 0 where the polynomial of F is not zero along the line for small e > 0, leads to such
        points. Letters that stand for maxima are only bounded from below, by what is continuous on the domain: they
        may be a little larger, and so need no chart.
        """
        return next((chart for chart in self.charts if not self._open(chart) and self._leads_inside(chart)), None)

    def is_regular(self) -> bool:
        """Return True if every point of the domain is a limit of points of it where a given polynomial is not zero,
        unless the polynomial is zero everywhere.

        Beside a regular chart it is enough that all constraints that a chart leaves hold better the larger some slack
        is, or the smaller one is that is not 0: however little it is changed, they hold with room, and all slacks may
        be changed a little.
        """
        slacks = [i for i in range(len(self.ring.names())) if i not in self.bounded]
        return self.regular_chart() is not None or any(
            self._leads_inside(chart)
            and any(
                self._improves(chart, i, 1) or (i in chart.positive and self._improves(chart, i, -1)) for i in slacks
            )
            for chart in self._beginnings()
        )

    def _improves(self, chart: SlackChart, i: int, side: int) -> bool:
        """Return True if all constraints that a chart leaves become larger as the slack ``i`` grows, or shrinks if
        ``side`` is -1: all terms with it have that sign, and one is not 0 where the slack is not.
        """
        never_zero = chart.positive | {i}
        for g, _ in self._open(chart):
            with_it = {m: c for m, c in g.to_dict().items() if m[i]}
            always = any(all(k in never_zero for k, power in enumerate(m) if power) for m in with_it)
            if not always or any(c * side < 0 for c in with_it.values()):
                return False
        return True

    def _leads_inside(self, chart: SlackChart) -> bool:
        """Return True if positive slacks make the letters on the way, and the constraints not left, positive."""
        left = {key(c.poly) for c in self._open(chart)}
        of = [(self.ring.gen(i), 0) for i in range(len(self.ring.names())) if i not in self.bounded]
        of += [(c.poly, 0) for c in self.constraints if not any(degree(c.poly, i) for i in self.bounded)]
        for k, (i, _, den) in enumerate(chart.steps, 1):
            of += [(self.ring.gen(i), k), (den, k)]
        images = (chart.image(p, since) for p, since in of)
        return all(q is not None and q != 0 and (has_no_negative(q) or key(chart.stripped(q)) in left) for q in images)


def has_answer(condition: Any, answer: bool, number: Callable[[Term], Ratio], domain: Domain) -> bool:
    """Return True if a condition, or a known truth value, is seen to have the given answer everywhere in a domain.

    ``number``: maps the sides of comparisons to quotients in the letters.
    """
    if not isinstance(condition, Condition):
        return bool(condition) is answer
    if condition.by == "not":
        return has_answer(condition.of[0], not answer, number, domain)
    if condition.by in ("and", "or"):
        found = [has_answer(part, answer, number, domain) for part in condition.of]
        return all(found) if (condition.by == "and") is answer else any(found)
    left, right = map(number, condition.of)
    if not (domain.never_zero(left.den) and domain.never_zero(right.den)):
        return False
    if condition.by in ("==", "!="):
        equal, difference = (condition.by == "==") is answer, left - right
        return difference.is_zero if equal else domain.never_zero(difference.num)
    small, large = (left, right) if answer else (right, left)
    return domain.ratio_sign(large - small, (condition.by == "<") is answer) is not None
