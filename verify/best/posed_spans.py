"""The span of potentials of a method for all letters: its measures, before and after a step, as forms whose
coefficients are quotients of polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers import symbols
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity
from verify.best import spans
from verify.best.spans import Measure
from verify.multipliers.cases import cases
from verify.multipliers.forms import ProductSum
from verify.multipliers.posing import NeverOccurs, OfOneClient, OfTwoParts, Posed, pose
from verify.multipliers.proving import PARTS
from verify.multipliers.ratios import Ratio, terms
from verify.reading.source import Unread

#: Recipes that are looked through for an instance.
_RECIPES = 200


@dataclass(frozen=True, eq=False)
class Span:
    """Measures of a setting, posed for all letters."""

    setting: Setting
    requires: tuple[sympy.Basic, ...]
    measures: tuple[Measure, ...]
    posed: Posed

    def before(self, m: Measure) -> ProductSum:
        """A measure before a step."""
        return form(self.posed, m.before)

    def after(self, m: Measure) -> ProductSum:
        """Its expectation after one."""
        return form(self.posed, m.after)


def with_letters(setting: Setting, requires: tuple[sympy.Basic, ...]) -> tuple[Setting, Instance]:
    """The setting with all its letters, and an instance whose optimum and gradients there are not 0."""
    assert setting.algorithm is not None and setting.functions is not None
    size = Measure(sympy.Symbol("Q", real=True), "", spans.size(0), "never", 0)
    claim = stated(setting, requires, size.after.expression, size.before.expression, [size])
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
    letters = {
        name: named.get(name, known.get(name, sympy.Symbol(name, positive=True)))
        for name in (*named, *numbers, *own, "n")
    }
    return replace(setting, letters=tuple(letters.values())), built


def stated(
    setting: Setting,
    requires: tuple[sympy.Basic, ...],
    left: sympy.Expr,
    right: sympy.Expr,
    of: Sequence[Measure],
    factor: sympy.Expr | None = None,
) -> Claim:
    """The claim that left <= right after a step, of measures that may occur."""
    assert setting.algorithm is not None
    used = left.free_symbols | right.free_symbols
    quantities: tuple[Quantity, ...] = tuple(q for m in of for q in (m.before, m.after) if q.expression in used)
    statement = OneStep(setting.algorithm, left, right, quantities, factor)
    return Claim(f"{setting.algorithm.name}/found", setting=setting, statement=statement, requires=requires)


def span(setting: Setting, requires: tuple[sympy.Basic, ...], of: Sequence[Measure]) -> Span:
    """The span of those measures that can be posed. ``Unread``, with the first obstacle, where there are none."""
    used: list[Measure] = []
    posed, why = None, None
    for m in of:
        try:
            found = posed_sum(setting, requires, [*used, m], sympy.S.One)
        except Unread as error:
            why = why or error
            continue
        if found is not None:
            used, posed = [*used, m], found
    if posed is None:
        raise why or Unread("no letters meet the hypotheses")
    return Span(setting, requires, tuple(used), posed)


def posed_sum(
    setting: Setting, requires: tuple[sympy.Basic, ...], of: Sequence[Measure], rate: sympy.Expr
) -> Posed | None:
    """The sum of all measures, posed: of several cases the one that is least special; None if none ever occurs.

    ``Unread`` if it cannot be.
    """
    left, right = sympy.Add(*(m.after.expression for m in of)), sympy.Add(*(m.before.expression for m in of))
    claim = stated(setting, requires, left, rate * right, of)
    waiting = cases(claim)[::-1]
    while waiting:
        case = waiting.pop(0)
        try:
            return pose(claim, case)
        except OfOneClient:
            waiting.insert(0, replace(case, alone=False))
        except OfTwoParts as two:
            if len(case.parts) < PARTS:
                waiting[:0] = two.of(case)
        except NeverOccurs:
            continue
    return None


def form(posed: Posed, quantity: Quantity) -> ProductSum:
    """A quantity of the statement that is posed."""
    found = posed.env[quantity.expression]
    return found if isinstance(found, ProductSum) else ProductSum.number(found)


def ratio(posed: Posed, e: sympy.Expr) -> Ratio:
    """An expression in letters as a quotient of polynomials; a maximum is the letter that stands for it."""
    if isinstance(e, sympy.Max):
        (letter,) = posed.branches
        return Ratio(posed.domain.ring.gen(letter), posed.domain.ring.constant(1))
    if e.is_Rational:
        return posed.one * Fraction(int(e.p), int(e.q))
    if e.is_Pow:
        return ratio(posed, e.base) ** int(e.exp)
    if e.is_Add or e.is_Mul:
        parts = [ratio(posed, a) for a in e.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if e.is_Add else total * part
        return total
    found = posed.env[e]
    assert isinstance(found, Ratio), "a letter is a number"
    return found


def expression(posed: Posed, c: Ratio) -> sympy.Expr:
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
