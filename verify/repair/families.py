"""A change of a claim and its cost: the more it departs from what is printed, the more it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import sympy
from sympy import primerange

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement, free_symbols, measured
from fedtheory.settings.relations import Comparison
from verify.base.evaluate import meeting

#: The cost of each sort of change, before the size of its number is counted.
COSTS: Mapping[str, float] = {
    # An equality of two sides asserts more than an inequality.
    "equality": 0.5,
    "relation": 0.6,
    # The rate and the hypotheses are kept.
    "noise": 0.9,
    "factor": 0.92,
    "constant": 1.0,
    "assignment": 1.0,
    "prefactor": 1.1,
    "term": 1.2,
    "count": 1.25,
    "power": 1.25,
    "hypothesis tightened": 1.3,
    "offset": 1.4,
    "round": 1.5,
    "exponent": 1.6,
    "sign": 1.6,
    "operator": 1.6,
    "grouping": 1.7,
    "letter exchanged": 1.7,
    "quantity exchanged": 1.7,
    "reading": 1.75,
    "reversed": 1.8,
    "inequality": 1.9,
    "start": 1.9,
    "option": 1.95,
    "hypothesis of the paper": 2.0,
    "letter": 2.1,
    "maximum": 2.2,
    "hypothesis": 2.3,
    "left out": 2.4,
    "hypothesis on two letters": 2.6,
}
#: The cost of doubling or halving a number.
_DOUBLING = 0.2
#: Added if a relation of a rule changes.
_REQUIRED = 1.0
#: Added for each letter that no longer occurs.
_LOST = 1.0
#: Added for a fraction if the printed number does not have that denominator.
_FRACTION = 0.15
#: The largest usual denominator.
_USUAL = 4
#: Added for the last resorts: a number that nobody prints, and a contraction that is no longer one.
_LAST = 3.0
#: Instances at which rates are compared.
_PROPOSED = 200


@dataclass(frozen=True)
class Change:
    """A changed claim: the ``sort``, the change in words, the claim, and its cost. ``remark``: why it comes after other
    changes, in words; "" if nothing speaks against it. ``family``: of what it is a member, and ``amount``: by which.
    """

    sort: str
    text: str
    claim: Claim
    cost: float
    remark: str = ""
    family: Family | None = None
    amount: sympy.Expr = sympy.S.One


@dataclass(frozen=True)
class Family:
    """Changes of one sort in one place that differ in a number only.

    ``amounts``: a grid, from the least departure; ``make(amount)``: the words, and the arguments of ``variant``, or
    None if that changes nothing. ``ordered``: True if amounts larger than one that serves are taken to serve too, so
    that the least may be searched for between them; no reported result rests on it. ``unit``: the number that an amount
    multiplies, if any: their product is to be simple.
    """

    sort: str
    make: Callable[[sympy.Expr], tuple[str, dict[str, Any]] | None]
    amounts: tuple[sympy.Expr, ...] = (sympy.S.One,)
    ordered: bool = False
    unit: sympy.Expr = sympy.S.One
    further: float = 0.0

    @property
    def cost(self) -> float:
        """The least cost of its changes."""
        return COSTS[self.sort] + self.further

    def change(self, claim: Claim, amount: sympy.Expr) -> Change | None:
        """Return the change by an amount; None if there is none, or if the result is not a statement."""
        made = self.make(amount)
        if made is None or not made[1]:
            return None
        text, parts = made
        try:
            changed = _changed(claim, {name: part for name, part in parts.items() if name != "setting"})
            if "setting" in parts:
                changed = replace(changed, setting=parts["setting"], changes=changed.changes or ("setting",))
        except (ValueError, TypeError):
            return None
        if any(
            side.has(sympy.zoo, sympy.nan, sympy.I) for c in changed.statement.comparisons for side in (c.left, c.right)
        ):
            return None
        if _says_nothing(claim, changed):
            return None
        size = abs(math.log2(abs(float(amount)))) if amount.is_number and amount != 0 else 0.0
        # Whatever uses a constant requires its relations; and a statement that mentions less asserts less.
        lost = free_symbols(claim.statement) - free_symbols(changed.statement)
        further = (
            _DOUBLING * size
            + _REQUIRED * ("relations" in parts and bool(changed.statement.assignments))
            + _LOST * len(lost)
        )
        fraction, remark = _unusual(self.unit, amount)
        if has_unusual_power(claim.statement, changed.statement):
            remark = "an unusual exponent"
        if no_longer_contracts(claim, changed):
            remark = "no contraction any more"
        cost = self.cost + further + fraction + _LAST * bool(remark)
        return Change(self.sort, text, changed, cost, remark, self, amount)


def _unusual(unit: sympy.Expr, amount: sympy.Expr) -> tuple[float, str]:
    """Return the cost of a number in place of ``unit`` as a fraction, and a remark if it is one that nobody prints."""
    value = unit * amount
    if value.free_symbols:
        return 0.0, ""
    if not value.is_Rational or not value:
        return 0.0, "" if value.is_Rational else "an unusual constant"
    # For numbers below 1 the inverses count.
    denominator = min(value.q, abs(value.p))
    if denominator == 1 or (unit.is_Rational and unit.q % value.q == 0):
        return 0.0, ""
    return _FRACTION, "" if denominator <= _USUAL else "an unusual constant"


def has_unusual_power(before: Statement, now: Statement) -> bool:
    """Return True if a sum has another power than before that reads as no theorem does: above the second, unless it is
    one less than before or a half of it, or a fraction other than a root.
    """
    known = _powers(before)
    for base, exponent in _powers(now) - known:
        nearby = {part for old_base, old in known if old_base == base for part in (old - 1, old / 2)}
        if not (exponent in (sympy.S.Half, 1, 2) or (exponent in nearby and exponent.is_Integer)):
            return True
    return False


def _powers(statement: Statement) -> set[tuple[sympy.Expr, sympy.Rational]]:
    """Return the sums in a statement with the sizes of their powers."""
    sides = [side for c in statement.comparisons for side in (c.left, c.right)]
    sides += [] if (factor := rate(statement)) is None else [factor]
    powers = (power for side in sides for power in side.atoms(sympy.Pow))
    return {(p.base, abs(p.exp)) for p in powers if p.base.is_Add and p.exp.is_Rational}


def no_longer_contracts(claim: Claim, changed: Claim) -> bool:
    """Return True if the claim's rate is below 1 at an instance where the changed claim's is not."""
    before, now = rate(claim.statement), rate(changed.statement)
    if before is None or now is None or before == now:
        return False
    letters = sorted(before.free_symbols | now.free_symbols, key=str)
    values = [at for at in _letters(claim) if all(np.ndim(at.get(s, ())) == 0 and s in at for s in letters)]
    try:
        both = sympy.lambdify(letters, (before, now), "math")
        return any(was < 1 <= is_now for was, is_now in (both(*(float(at[s]) for s in letters)) for at in values))
    except (ValueError, TypeError, ArithmeticError):
        return False


def rate(statement: Statement) -> sympy.Expr | None:
    """Return the factor of a potential in one round; None if the statement gives none."""
    if statement.geometric is not None or statement.factor is not None:
        return statement.factor
    before = potential(statement)
    if before is None:
        return None
    right = sympy.expand(sympy.sympify(getattr(statement, "right", 0)))
    found = right.coeff(before)
    return found if found != 0 and not found.has(before) and not (right - found * before).expand().has(before) else None


def potential(statement: Statement) -> sympy.Expr | None:
    """Return the quantity before a step that alone is on the left side after it; None if there is none."""
    if not statement.stepping or statement.horizon:
        return None
    left = getattr(statement, "left", None)
    after = next((q for q in statement.quantities if q.after and q.expression == left), None)
    before = (q.expression for q in statement.quantities if after and not q.after and q.of == after.of)
    return next(before, None)


@cache
def _letters(claim: Claim) -> tuple[Mapping[sympy.Expr, Any], ...]:
    """Return the letters at instances that meet the hypotheses."""
    proposed = islice(claim.instances.recipes(np.random.default_rng(0)), _PROPOSED)
    return tuple(claim.setting.bind(at.problem, at.params) for _, at in meeting(claim, proposed))


def _changed(claim: Claim, parts: dict[str, Any]) -> Claim:
    """Return the claim with other parts, or with a statement of another kind."""
    if "statement" not in parts:
        return claim.variant(**parts)
    made = claim.variant(requires=claim.requires)
    return replace(made, statement=parts["statement"], kind="", changes=("statement",))


def _says_nothing(claim: Claim, changed: Claim) -> bool:
    """Return True if a change compares something with itself or with its multiple, or a side with one that was positive
    and is now negative, or makes a contraction an expansion.
    """
    now, before = changed.statement.comparisons, claim.statement.comparisons
    quantities = measured(claim.statement)
    negated = len(now) == len(before) and any(
        new.relation != "=="
        and (_negated(old.left, new.left, quantities) or _negated(old.right, new.right, quantities))
        for new, old in zip(now, before, strict=True)
    )
    if {-rate for rate in _rates(claim)} & _rates(changed) or _expands(claim, changed):
        return True
    # delta |w|^2 <= |w|^2 is a statement about delta alone.
    named = quantities | measured(changed.statement)
    both = [(c.left.free_symbols & named, c.right.free_symbols & named) for c in now]
    if any(left == right and len(left) == 1 for left, right in both) and not any(
        c.left.free_symbols & c.right.free_symbols & quantities for c in before
    ):
        return True
    # Constants that are assigned may well be the least that meet their relations.
    return negated or (not changed.statement.assignments and _with_itself(before, now, named))


def _with_itself(before: Sequence[Comparison], now: Sequence[Comparison], named: set[sympy.Symbol]) -> bool:
    """Return True if a line compares something with itself. Two sides in letters alone that are stated to be equal may
    well come out the same, if other lines assert more.
    """
    same = [c.left == c.right for c in now]
    if not any(same) or all(same) or len(before) != len(now):
        return any(same)
    sides = {(c.left, c.right) for c in before}
    equal = [(c.right, c.left) in sides and not (c.left.free_symbols | c.right.free_symbols) & named for c in before]
    return any(a and not b for a, b in zip(same, equal, strict=True))


def _expands(claim: Claim, changed: Claim) -> bool:
    """Return True if the factor of a bound, below 1 before, no longer is."""
    before, now = claim.statement.geometric, changed.statement.geometric
    if before is None or now is None or before.factor == now.factor:
        return False
    values = _at_primes(before.factor, now.factor)
    return bool(values) and bool(values[0] < 1 <= values[1])


def _rates(claim: Claim) -> set[sympy.Expr]:
    """Return each r, if not a number, of a factor 1 + r, in letters, of a quantity, if the statement involves a
    step.
    """
    quantities = measured(claim.statement)
    if not any(q.after for q in claim.statement.quantities):
        return set()
    factors = [bound.factor] if (bound := claim.statement.geometric) is not None else []
    for comparison in claim.statement.comparisons:
        for product in comparison.left.atoms(sympy.Mul) | comparison.right.atoms(sympy.Mul):
            if product.free_symbols & quantities:
                factors += product.args
    return {f - 1 for f in factors if f.is_Add and f.args[0] == 1 and not f.free_symbols & quantities}


def _negated(old: sympy.Expr, new: sympy.Expr, quantities: set[sympy.Symbol]) -> bool:
    """Return True if a side is the negative of its former self; or is in letters alone, and negative where it was
    positive.
    """
    if new == old or (quantities & (old.free_symbols | new.free_symbols) and new != -old):
        return False
    if new == -old:
        return True
    values = _at_primes(old, new)
    return bool(values) and bool(values[0] > 0 > values[1])


def _at_primes(*expressions: sympy.Expr) -> list[sympy.Expr]:
    """Return the values of expressions in letters, with a different prime for each letter; empty if one is not a real
    number.
    """
    letters = sorted(set().union(*(e.free_symbols for e in expressions)), key=str)
    at = dict(zip(letters, map(sympy.Integer, primerange(2, 100)), strict=False))
    try:
        values = [e.subs(at).evalf(15) for e in expressions]
    except (ValueError, TypeError):
        # Somewhere it divides by zero, say.
        return []
    return values if all(v.is_Float or v.is_Integer for v in values) else []
