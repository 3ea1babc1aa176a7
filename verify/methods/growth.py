"""Orders of growth: left = O(right).

Proved by a constant C with left <= C right at all values of the letters (:mod:`verify.exact.bounds`); refuted by a
curve along which left/right tends to infinity, found symbolically (:mod:`verify.comparisons.orders`); supported where
no direction of growth that the hypotheses allow makes it grow (:mod:`verify.exact.magnitudes`) though no constant is
found. What is none of these is not tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from math import lcm

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.order import Order
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.comparisons import orders
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.exact import bounds, magnitudes
from verify.exact.bounds import OrderProof
from verify.exact.magnitudes import Direction, NoMagnitude
from verify.methods.base import Inquiry, Method, Role

#: Curves tried in each direction, and of those tried where no direction is known.
_TRIED, _GUESSED = 300, 250
#: Coefficients of the powers of N, the plainest first.
_COEFFICIENTS = tuple(map(Fraction, ("1", "2", "3", "10", "1/2", "1/10")))
#: Offset, coefficient and exponent of a letter along a curve.
_Line = tuple[Fraction, Fraction, Fraction]


def _counterexample(case: Case, part: Order, index: int) -> Counterexample | None:
    """The counterexample to one order of the claim along the curve of a recipe, if it is one."""
    try:
        left, right = orders.sides_at(case, index)
    except ValueError:
        return None
    if left <= right:
        return None
    text = orders.describe_growth(case, part)
    return Counterexample(case.claim, case.recipe, (), 0, f"{orders.PREFIX}{index}", 0, left, right, "<=", text)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by the first order that fails along a curve; proved when all have constants; else supported or open."""
    claim, statement = inquiry.claim, inquiry.statement
    parts: tuple[Order, ...] = statement.parts
    left_open, proofs = [], []
    for index, part in enumerate(parts):
        if not any(_meets(Case(claim, recipe), part) for recipe in islice(_plain(claim, part), _GUESSED)):
            return method.found(Verdict.NOT_TESTED, "no instance met the hypotheses")
        try:
            proofs.append((part, bounds.proof(part, orders.relations(claim, part))))
            continue
        except NoMagnitude:
            why = "z3 decides nothing within its limit on work"
        try:
            found = list(magnitudes.directions(part, orders.relations(claim, part)))
            if not found:
                continue
            known = [direction for direction in found if direction is not None]
            why = f"({part.left})/({part.right}) is not shown to be bounded" if known else why
        except NoMagnitude as error:
            known, why = [], str(error)
        example = _along(claim, part, index, known)
        if example is not None:
            note = f"({part.left})/({part.right}) is unbounded: {example.text}".replace("**", "^")
            details = {"margin": -1.0, "counterexample": example}
            return method.found(Verdict.REFUTED, note, instances=len(parts), used=("symbolic",), **details)
        left_open.append(why)
    if left_open:
        note = f"left open: {left_open[0]}"
        return method.found(Verdict.NOT_TESTED, note, instances=len(parts), left_open=tuple(left_open))
    if len(proofs) == len(parts):
        return method.found(Verdict.PROVED, _constants_note(proofs), instances=len(parts), used=("symbolic",))
    note = (
        "left/right is bounded in every direction in which the letters may grow or vanish, by exact linear arithmetic"
    )
    if len(parts) > 1:
        note += f", in {len(parts)} orders; a constant is known for {len(proofs)} of them"
    return method.found(Verdict.SUPPORTED, note, instances=len(parts), used=("symbolic",))


def _constants_note(proofs: Sequence[tuple[Order, OrderProof]]) -> str:
    """The constants that proofs show, and the inequality of means that the largest of them rests on."""
    regimes = dict.fromkeys(", then ".join(f"{symbol} -> {end}" for symbol, end in p.regime) for p, _ in proofs)
    where = ", or ".join(filter(None, regimes))
    where = f"in the limit {where}" if where else "at all values of the letters"
    least, most = (bounds.rounded_up(f(each.constant for _, each in proofs)) for f in (min, max))
    constant = f"C = {most}" if least == most else f"C from {least} to {most}"
    constant += f" in {len(proofs)} orders" if len(proofs) > 1 else ""
    cases = sum(len(each.cases) for _, each in proofs)
    note = f"left <= C right {where}, {constant}: weights of the arithmetic-geometric mean inequality, checked exactly"
    note += f", in {cases} cases" if cases > 1 else ""
    means = next((each.means for _, each in proofs if each.means), "")
    return f"{note}; for one, {means}" if means else note


def _along(claim: Claim, part: Order, index: int, directions: Sequence[Direction]) -> Counterexample | None:
    """A counterexample along a curve in one of these directions, or along one that is guessed."""
    for direction in directions:
        for recipe in islice(_lines(claim, part, direction), _TRIED):
            if (found := _counterexample(Case(claim, recipe), part, index)) is not None:
                return found
    guessed = (_counterexample(Case(claim, recipe), part, index) for recipe in islice(_guesses(claim, part), _GUESSED))
    return next((found for found in guessed if found is not None), None)


def _lines(claim: Claim, part: Order, direction: Direction) -> Iterator[Recipe]:
    """Curves on which the letters are multiples of the powers that a direction gives, plain multiples first."""
    scale = lcm(*(power.denominator for power in direction.values()))
    names = orders.letters(claim, part)
    options: list[list[_Line]] = []
    for s in names:
        exponent = direction.get(s, Fraction(0)) * scale
        numbers = [c for c in _COEFFICIENTS if c.denominator == 1 or not s.is_integer]
        # A letter that may be 0 and is not in the direction is.
        zero = [] if s.is_positive or s in direction else [Fraction(0)]
        options.append([(Fraction(0), c, exponent) for c in (*zero, *numbers)])
    yield from _products(names, options)


def _plain(claim: Claim, part: Order) -> Iterator[Recipe]:
    """Curves on which the letters are numbers, or powers of N."""
    yield from _lines(claim, part, {})
    yield from _guesses(claim, part)


def _guesses(claim: Claim, part: Order) -> Iterator[Recipe]:
    """Curves on which each letter is a number, tends to one, or is a power of N, in all combinations."""
    names = orders.letters(claim, part)
    expressions = [part.left, part.right, *orders.relations(claim, part)]
    numbers = {Fraction(int(v.p), int(v.q)) for e in expressions for v in e.atoms(sympy.Rational) if v > 0} - {
        Fraction(1)
    }
    options: list[list[_Line]] = []
    one, nothing = Fraction(1), Fraction(0)
    for s in names:
        powers = [(nothing, one, nothing), (nothing, one, one)]
        if not s.is_positive:
            powers.append((nothing, nothing, nothing))
        if not s.is_integer:
            powers += [(nothing, one, -one), (one, one, -one), (one, -one, -one)]
        powers += [(nothing, one, Fraction(2)), (nothing, Fraction(2), nothing), (nothing, Fraction(3), nothing)]
        if not s.is_integer:
            powers.append((nothing, one, Fraction(-2)))
            powers += [(v, sign, -one) for v in sorted(numbers)[:2] for sign in (one, -one)]
        options.append(powers)
    yield from _products(names, options)


def _products(names: Sequence[sympy.Symbol], options: Sequence[Sequence[_Line]]) -> Iterator[Recipe]:
    """All combinations, those of the first options first."""
    most = sum(len(each) - 1 for each in options)
    indices = [range(len(each)) for each in options]
    for total in range(min(most, 12) + 1):
        for chosen in product(*indices):
            if sum(chosen) == total:
                yield {str(s): each[k] for s, each, k in zip(names, options, chosen, strict=True)}


def _meets(case: Case, part: Order) -> bool:
    try:
        orders.along(case, part)
    except ValueError:
        return False
    return True


METHOD = Method(
    "growth",
    "orders of growth, by a constant at all values of the letters, or along a curve",
    (Order,),
    run,
    role=Role.ALONE,
    reads=False,
)
