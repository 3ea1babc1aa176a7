"""Letters written through slacks, so that a constraint holds where its slack is nonnegative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from verify.multipliers.ratios import coefficients, degree, replaced

#: Terms that a polynomial may come to have on the way.
LARGEST = 20_000


class PolynomialConstraint(NamedTuple):
    """A polynomial that is >= 0, or > 0 where ``strict``."""

    poly: Any
    strict: bool


#: A constraint, by its place among those that are left, and the letter for which it is solved.
Pick = tuple[int, int]


def has_no_negative(p: Any) -> bool:
    """Return True if no coefficient is negative."""
    return all(c.p > 0 for c in p.coeffs())


@dataclass(frozen=True, eq=False)
class SlackChart:
    """Letters written through slacks: ``steps`` are letters with what takes their place, ``positive``: the letters and
    slacks that are not 0, ``left``: constraints that were not used."""

    steps: tuple[tuple[int, Any, Any], ...]
    positive: frozenset[int]
    left: tuple[PolynomialConstraint, ...]
    picks: tuple[Pick, ...] = ()

    def is_positive(self, p: Any) -> bool:
        """Return True if a polynomial in the slacks has no negative coefficient, and a term that is not 0."""
        return has_no_negative(p) and any(all(i in self.positive for i, k in enumerate(m) if k) for m in p.monoms())

    def stripped(self, p: Any) -> Any:
        """A polynomial without its factors that are positive."""
        if p == 0:
            return p
        c, factors = p.factor()
        found = p.context().constant(1 if c > 0 else -1)
        for factor, power in factors:
            if self.is_positive(factor):
                continue
            if self.is_positive(-factor):
                found = found * (-1) ** int(power)
                continue
            found = found * factor ** int(power)
        return found

    def step(self, pick: Pick) -> SlackChart | None:
        """One more letter replaced; None where the constraint does not allow it."""
        place, i = pick
        g, strict = self.left[place]
        if degree(g, i) != 1:
            return None
        parts = coefficients(g, i)
        slope, rest = parts[1], parts.get(0, g.context().constant(0))
        slack = g.context().gen(i)
        more: tuple[PolynomialConstraint, ...] = ()
        if self.is_positive(slope):
            num, den = slope * slack - rest, slope
        elif self.is_positive(-slope) and i in self.positive:
            num, den = rest, -slope * (1 + slack)
            more = (PolynomialConstraint(rest, True),)
        else:
            return None
        positive = self.positive | {i} if strict else self.positive - {i}
        after = SlackChart((*self.steps, (i, num, den)), positive, (), (*self.picks, pick))
        others = [c for k, c in enumerate(self.left) if k != place]
        left = [PolynomialConstraint(after.stripped(replaced(c.poly, i, num, den)), c.strict) for c in others]
        left += [PolynomialConstraint(after.stripped(c.poly), c.strict) for c in more]
        kept = tuple(c for c in left if not has_no_negative(c.poly))
        return SlackChart(after.steps, positive, kept, after.picks)

    def image(self, p: Any, since: int = 0) -> Any | None:
        """A positive multiple of a polynomial, in the slacks; None where it becomes too long."""
        for i, num, den in self.steps[since:]:
            p = replaced(p, i, num, den)
            if len(p) > LARGEST:
                return None
        return p


#: Multiples of constraints in slacks: each with what it is multiplied by, which has no negative coefficient.
Multiples = tuple[tuple[Any, Any], ...]


def follows(q: Any, left: list[Any], right: Callable[[Any], bool], uses: int) -> Multiples | None:
    """Multiples of some polynomials that are nonnegative, less which a polynomial is right: of each, a term cancels one
    that is negative. None where none are found."""
    if right(q):
        return ()
    negative = next(((m, c) for m, c in q.to_dict().items() if c < 0), None)
    if negative is None or not uses:
        return None
    m, c = negative
    for g in left:
        for monomial, b in g.to_dict().items():
            powers = tuple(int(k) - int(j) for k, j in zip(m, monomial, strict=True))
            if b < 0 and min(powers, default=0) >= 0:
                times = q.context().from_dict({powers: c / b})
                found = follows(q - times * g, left, right, uses - 1)
                if found is not None:
                    return ((times, g), *found)
    return None
