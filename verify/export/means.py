"""Orders of growth as arithmetic: the weights of the inequality of means, and the constant that they show.

In each case of an order both sides are sums of monomials, and of some monomials it is known that they are at least
1/a. What is written are the exponents and the weights, and that they agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.claims import Claim
from fedtheory.kinds.order import Order
from verify import checker
from verify.comparisons import orders
from verify.exact import bounds
from verify.exact.domination import VANISHING, DominationWeights
from verify.exact.magnitudes import NoMagnitude
from verify.exact.posynomials import Monomial, Posynomial, at_most_power, raised_to
from verify.exact.writing import OrderSides
from verify.export.objects import sealed
from verify.report import statement

#: Steps of a calculation that is still written.
LONGEST = 200_000
_RULES = (
    "a monomial m of the left side is at most a (w_1 r_1 + w_2 r_2 + ...), with monomials r of the right side and "
    "weights w >= 0 that sum to 1, if m prod b^v = prod r^w for monomials b of which c b >= 1 is known, and "
    "a = prod c^v: the inequality of means",
    "where the two sides of that equation differ by a power that vanishes, as the letters tend to their limits one "
    "after the other, a may be any number",
    "that the sides are so is not shown here: factor_k is what stands in them besides their letters, as a root of a "
    "sum over the sum of the roots, of which no more than this is known",
)
#: A factor of a product of powers: a monomial and its exponent.
_Factor = tuple[Monomial, Fraction]


def of_orders(claim: Claim) -> list[dict[str, Any]]:
    """An object for each order of a claim. Raise ``ValueError`` if one has none."""
    assert isinstance(claim.statement, Order)
    parts = claim.statement.parts
    return [_object(claim, part, f"order {k} of {len(parts)}") for k, part in enumerate(parts, 1)]


def _object(claim: Claim, part: Order, which: str) -> dict[str, Any]:
    relations = orders.relations(claim, part)
    try:
        proof = bounds.proof(part, relations)
    except NoMagnitude as error:
        raise ValueError(str(error)) from error
    if all(shown.empty for shown in proof.cases):
        raise ValueError(f"no values of the letters meet the hypotheses of {which}")
    at, cs = _Calculation(), proof.constant
    says = [*statement.text(claim), f"{which}: {'; '.join(part.lines(statement.expression))}"]
    says += [f"left <= {cs} right in each of these cases, of which one occurs wherever the hypotheses hold", *_RULES]
    for k, (case, shown) in enumerate(zip(bounds.in_cases(part, relations, proof.chart), proof.cases, strict=True), 1):
        says.append(_Case(at, f"case {k}", case).written(shown, cs))
        if len(at.steps) > LONGEST:
            raise ValueError(f"{which} has more weights than are written")
    head = {"format": checker.FORMAT, "kind": "arithmetic", "claim": claim.id, "says": says}
    return sealed({**head, "at": {}, "steps": at.steps})


class _Calculation:
    """Steps of a calculation. Numbers are called what they are, and what is made of them is counted."""

    def __init__(self) -> None:
        self.steps: list[list[str]] = []
        self._names: dict[tuple[str, ...], str] = {}

    def number(self, value: Fraction) -> str:
        """A number that is given."""
        return self._named(str(value), str(value))

    def made(self, a: str, operation: str, b: str) -> str:
        """Return the name of the result of an operation on two numbers."""
        return self._named(f"t{len(self._names)}", operation, a, b)

    def need(self, what: str, a: str, relation: str, b: str) -> None:
        """A comparison that has to be so."""
        self.steps.append([f"{what} ({len(self.steps)})", relation, a, b])

    def combination(self, of: Sequence[tuple[Fraction, Fraction]]) -> str:
        """A sum of products of two numbers each."""
        return self.total([self.made(self.number(a), "*", self.number(b)) for a, b in of if a and b])

    def total(self, of: Sequence[str]) -> str:
        """A sum of numbers."""
        found = of[0] if of else self.number(Fraction(0))
        for other in of[1:]:
            found = self.made(found, "+", other)
        return found

    def power(self, name: str, exponent: int) -> str:
        """A whole power that is not negative."""
        if exponent < 2:
            return name if exponent else self.number(Fraction(1))
        half = self.power(name, exponent // 2)
        square = self.made(half, "*", half)
        return self.made(square, "*", name) if exponent % 2 else square

    def _named(self, name: str, *step: str) -> str:
        if step not in self._names:
            self._names[step] = name
            self.steps.append([name, *step])
        return self._names[step]


class _Case:
    """One case of an order: its sides, and what is known of its letters."""

    def __init__(self, at: _Calculation, name: str, case: OrderSides) -> None:
        self.at, self.name, self.domain, self.names = at, name, case.domain, case.names
        self.left, self.right = bounds.compared(case)

    def written(self, shown: bounds.CaseBound, constant: Fraction) -> str:
        """The case in words; its steps are added to the calculation."""
        used = {j for weights in shown.weights for j, v in enumerate(weights.of_constraints) if v}
        facts = [self.domain.constraints[j] for j in sorted(used)]
        known = ", ".join(f"{self._sum({c.monomial: c.coefficient})} >= 1" for c in facts)
        if shown.empty:
            self._never(shown.weights[0])
            return f"{self.name} never occurs: it has {known}"
        self._bounded(shown.weights, constant)
        sides = f"left = {self._sum(self.left)} and right = {self._sum(self.right)}, both times what is positive"
        return f"{self.name}: {sides}{known and f', where {known}'}{self._limits()}"

    def _bounded(self, shown: Sequence[DominationWeights], constant: Fraction) -> None:
        at, shares = self.at, list[list[str]]([] for _ in self.right)
        one, zero = at.number(Fraction(1)), at.number(Fraction(0))
        for k, ((m, c), weights) in enumerate(zip(self.left.items(), shown, strict=True), 1):
            here = f"{self.name}, term {k} of left: "
            for w in weights.of_monomials:
                at.need(f"{here}a weight is not negative", zero, "<=", at.number(w))
            at.need(f"{here}weights", at.total([at.number(w) for w in weights.of_monomials]), "==", one)
            bound = self._factor(here, {m: c}, weights)
            for share, w in zip(shares, weights.of_monomials, strict=True):
                if w:
                    share.append(at.made(at.made(at.number(c), "*", bound), "*", at.number(w)))
        for k, (share, c) in enumerate(zip(shares, self.right.values(), strict=True), 1):
            most = at.made(at.number(constant), "*", at.number(c))
            at.need(f"{self.name}: what is taken of term {k} of right", at.total(share), "<=", most)

    def _never(self, weights: DominationWeights) -> None:
        bound = self._factor(f"{self.name} does not occur: ", {}, weights)
        self.at.need(f"{self.name}: 1 is at most", bound, "<", self.at.number(Fraction(1)))

    def _factor(self, here: str, of: Posynomial, weights: DominationWeights) -> str:
        """Return the factor by which a monomial is at most the weighted sum, if it is."""
        at = self.at
        factors: list[_Factor] = [(m, Fraction(1)) for m in of]
        factors += [(m, -w) for m, w in zip(self.right, weights.of_monomials, strict=False) if w]
        taken = [(c, v) for c, v in zip(self.domain.constraints, weights.of_constraints, strict=True) if v]
        for _, v in taken:
            at.need(f"{here}an exponent is not negative", at.number(Fraction(0)), "<=", at.number(v))
        factors += [(c.monomial, v) for c, v in taken]
        if self._agree(here, factors):
            return at.number(VANISHING)
        bound = at.number(Fraction(1))
        for c, v in taken:
            bound = at.made(bound, "*", self._power(here, c.coefficient, v))
        return bound

    def _agree(self, here: str, factors: Sequence[_Factor]) -> bool:
        """Return True if a power of the first vanishing letter remains in a product; require the other exponents to be
        0.
        """
        powers = {letter: Fraction(0) for monomial, _ in factors for letter, _ in monomial}
        for monomial, exponent in factors:
            for letter, power in monomial:
                powers[letter] += exponent * power
        first = next(((x, sign) for x, sign in self.domain.firsts if powers.get(x)), None)
        place = [x for x, _ in self.domain.firsts].index(first[0]) if first else 0
        later = {x for x, _ in self.domain.firsts[place:]} | self.domain.others if first else frozenset()
        at, zero = self.at, self.at.number(Fraction(0))
        for x in sorted(powers):
            total = at.combination([(e, power) for m, e in factors for y, power in m if y == x])
            if first and x == first[0]:
                at.need(
                    f"{here}{self._letter(x)} vanishes", *((zero, "<", total) if first[1] > 0 else (total, "<", zero))
                )
            elif x not in later:
                at.need(f"{here}the exponent of {self._letter(x)}", total, "==", zero)
        return first is not None

    def _power(self, here: str, base: Fraction, exponent: Fraction) -> str:
        """A number that is at least a power, and that it is."""
        at, simple = self.at, raised_to(base, exponent)
        if simple != exponent:
            one, (low, high) = at.number(Fraction(1)), sorted((exponent, simple))
            at.need(f"{here}an exponent is rounded", at.number(low), "<=", at.number(high))
            sides = (one, at.number(base)) if simple > exponent else (at.number(base), one)
            at.need(f"{here}to a larger power", sides[0], "<=", sides[1])
        found = at.number(at_most_power(base, exponent))
        least = at.power(at.number(base), simple.numerator)
        at.need(f"{here}a power of {base}", least, "<=", at.power(found, simple.denominator))
        return found

    # In words

    def _limits(self) -> str:
        ends = [f"{self._letter(x)} -> {0 if sign > 0 else 'oo'}" for x, sign in self.domain.firsts]
        return f", as {', then '.join(ends)}" if ends else ""

    def _sum(self, of: Mapping[Monomial, Fraction]) -> str:
        return " + ".join(f"{c} {self._monomial(m)}".strip() for m, c in of.items()) or "0"

    def _monomial(self, of: Monomial) -> str:
        return " ".join(self._letter(x) if k == 1 else f"{self._letter(x)}^({k})" for x, k in of)

    def _letter(self, x: int) -> str:
        """Return the name of a letter; one outside the order is a factor known only by bounds."""
        return self.names.get(x, f"factor_{x}")
