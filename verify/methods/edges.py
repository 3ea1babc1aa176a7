"""Letters at the edge of hypotheses with roots or powers, the other letters of these far apart.

Draws place a letter at a bound that is a fraction. Where gamma L (1 + sqrt(B/A)) <= 1, or phi^2 <= 1 + phi, no fraction
is the bound, and where it is one the ratio B/A is never small. Here another letter of such a hypothesis is made much
larger or smaller, and then one letter is put next to its bound, on the side on which the hypotheses hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe, pick
from fedtheory.kinds.base import Statement
from fedtheory.numbers.rational import Array, Undefined, to_float
from fedtheory.sampling import building, drawing, letter_values, nearby
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import REFUTATIONS, Inquiry, Method
from verify.search import choosing, states
from verify.search.refutation import margin


@dataclass(frozen=True)
class EdgeLimits:
    """The work of looking next to bounds."""

    drawn: int = 240  # choices of functions and letters
    states: int = 150  # worst states that are looked for: one of each comparison after each number of rounds
    grid: int = 121  # values of a letter among which hypotheses change
    finer: int = 4  # grids within a grid


LIMITS = EdgeLimits()
#: A bent hypothesis, the letter that is put next to its bound, and another of its letters with a factor.
_Choice = tuple[sympy.Rel, sympy.Symbol, sympy.Symbol, Fraction]
#: Factors of another letter, squares, so that roots of quotients may be fractions.
FACTORS = tuple(Fraction(v) for v in ("1/10000", "1/100", 1, 100, 10000))
#: Distances from a bound, relative to it.
BESIDE = (Fraction(1, 100), Fraction(1, 1000), Fraction(1, 10**6))
#: The exponents of ten between which letters lie.
_SCALES = (-6.0, 6.0)


def bent(claim: Claim) -> tuple[sympy.Rel, ...]:
    """Return the inequalities between letters that are drawn in which a root stands, or a power of one of them that
    makes its bound the root of a polynomial."""
    if claim.setting.functions is None or claim.setting.drawing.special is not None:
        return ()
    wanted = set(drawing.drawn_letters(claim.setting))
    parts = [part for r in drawing.relations(claim) for part in (r.args if isinstance(r, sympy.And) else (r,))]
    kept = (r for r in parts if isinstance(r, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt))
    return tuple(r for r in kept if r.free_symbols & wanted and _is_bent(r.lhs - r.rhs, wanted))


def _is_bent(gap: sympy.Expr, letters: set[sympy.Expr]) -> bool:
    if any(p.exp.is_Rational and not p.exp.is_Integer and p.free_symbols & letters for p in gap.atoms(sympy.Pow)):
        return True
    above = sympy.fraction(sympy.together(gap))[0]
    own = (x for x in gap.free_symbols & letters if above.is_polynomial(x))
    return any(sympy.degree(sympy.expand(above), x) > 1 for x in own)


def recipes(claim: Claim, rng: np.random.Generator) -> Iterator[Recipe]:
    """Yield recipes with a letter of a bent hypothesis next to its bound, another one far from where it is drawn,
    and all others at their bounds."""
    pairs = [
        (relation, x, y)
        for relation in bent(claim)
        for x in _movable(claim, relation)
        for y in (_movable(claim, relation))
    ]
    choices = [(relation, x, y, factor) for relation, x, y in pairs for factor in (FACTORS if x != y else FACTORS[2:3])]
    # Of one client there is least room.
    settings = (claim.setting, *((replace(claim.setting, clients=(1,)),) if 1 in claim.setting.clients else ()))
    order = [choices[int(i)] for i in rng.permutation(len(choices))]
    for trial in range(LIMITS.drawn if order else 0):
        try:
            recipe = drawing.drawn(pick(rng, settings), rng)
            yield from _placed(claim, recipe, order[trial % len(order)], BESIDE[trial % len(BESIDE)], rng)
        except (ValueError, ArithmeticError, Undefined):
            continue


def _movable(claim: Claim, relation: sympy.Rel) -> list[sympy.Symbol]:
    """The letters of a relation that are drawn, and positive."""
    wanted = drawing.drawn_letters(claim.setting)
    return [x for x in claim.setting.sources if x in wanted and x in relation.free_symbols and _is_real(x)]


def _is_real(x: sympy.Symbol) -> bool:
    return bool(x.is_positive) and not x.is_integer


def _placed(
    claim: Claim, recipe: Recipe, choice: _Choice, share: Fraction, rng: np.random.Generator
) -> Iterator[Recipe]:
    setting, hypotheses = claim.setting, drawing.relations(claim)
    relation, last, other, factor = choice
    wanted = {x: name for x, name in drawing.drawn_letters(setting).items() if name not in recipe}
    if not {last, other} <= set(wanted):
        return
    known = drawing.known(setting, recipe, building.problem_of(setting, recipe, True))

    def drawn(given: dict[sympy.Expr, Any]) -> dict[sympy.Symbol, Any] | None:
        order = tuple(x for x in setting.sources if x in wanted and x not in given)
        plan = letter_values.plan(order, frozenset(given), hypotheses, drawing.sides(claim))
        return letter_values.draw(plan, given, {}, rng, cornered=True, crossed=False)

    first = drawn(known)
    if first is None:
        return
    values = {**known, **first, other: first[other] * factor}
    kept = {x: values[x] for x in (*known, *_movable(claim, relation))}
    for value in _next_to_bounds(last, values, hypotheses, share):
        # What else the letter bounds follows it.
        rest = drawn({**kept, last: value})
        if rest is not None:
            yield {**recipe, **{name: {**kept, last: value, **rest}[x] for x, name in wanted.items()}}


def _next_to_bounds(
    letter: sympy.Symbol, values: dict[sympy.Expr, Any], hypotheses: tuple[Any, ...], share: Fraction
) -> Iterator[Fraction]:
    """Yield values of a letter beside those at which a hypothesis begins or ceases to hold, where all hold in
    floats, at most so far from there."""
    parts = [p for r in hypotheses for p in (r.args if isinstance(r, sympy.And) else (r,)) if letter in p.free_symbols]
    names = tuple(sorted({x for p in parts for x in p.free_symbols} - {letter}, key=str))
    gaps = [p.lhs - p.rhs if isinstance(p, sympy.Le | sympy.Lt) else p.rhs - p.lhs for p in parts]
    strict = [isinstance(p, sympy.Lt | sympy.Gt) for p in parts]
    if any(isinstance(p, sympy.Eq) for p in parts) or not all(x in values for x in names):
        return
    given = [float(values[x]) for x in names]
    compiled = sympy.lambdify((letter, *names), gaps, modules="numpy")

    def holds(at: Array) -> Array:
        with np.errstate(all="ignore"):
            found = [np.broadcast_to(to_float(side), at.shape) for side in compiled(at, *given)]
        return np.all([side < 0 if open_ else side <= 0 for side, open_ in zip(found, strict, strict=True)], axis=0)

    first = np.geomspace(10.0 ** _SCALES[0], 10.0 ** _SCALES[1], LIMITS.grid)
    for k in np.flatnonzero(np.diff(holds(first).astype(int))):
        low, high = first[k], first[k + 1]
        rising = not holds(first[k : k + 1])[0]
        for _ in range(LIMITS.finer):
            grid = np.geomspace(low, high, LIMITS.grid)
            j = int(np.flatnonzero(np.diff(holds(grid).astype(int)))[0]) if np.diff(holds(grid)).any() else 0
            low, high = grid[j], grid[j + 1]
        inside = Fraction(float(high if rising else low))
        yield _simplest(*((inside, inside * (1 + share)) if rising else (inside * (1 - share), inside)))


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator between two positive numbers, by their continued fractions."""
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    floor = low.numerator // low.denominator
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by a state in fractions at an instance that meets the hypotheses exactly, or how many were looked at."""
    claim, looked, spent = inquiry.claim, 0, 0
    rng, found = np.random.default_rng([inquiry.seed, 11]), []
    for place in recipes(claim, rng):
        try:
            met = hypotheses_hold(Case(claim, place))
        except (ValueError, ArithmeticError, Undefined):
            continue
        if not met:
            continue
        for recipe in nearby.at_ends(claim, place):
            with attributed(claim, recipe):
                case = Case(claim, recipe)
                findings = states.examine(case, rng) or []
                example = states.first_confirmed(case, findings)
            looked, spent = looked + bool(findings), spent + len(findings)
            if example is not None:
                found.append(example)
                break
        if len(found) == REFUTATIONS or spent >= LIMITS.states:
            break
    if found:
        small = choosing.chosen(found)
        worst = min((small, *found), key=margin)
        details = {"instances": looked, "counterexample": small, "tightest": small.recipe}
        note = "next to the bound that a hypothesis sets: confirmed in exact arithmetic"
        return method.found(Verdict.REFUTED, note, margin=margin(worst), used=("exact", "rational"), **details)
    if not looked:
        return method.skipped("no instance next to the bound of a root or power was found: open")
    words = ", ".join(str(r) for r in bent(claim))
    return method.found(None, f"no violation at {looked} instances next to the bounds of {words}", instances=looked)


METHOD = Method(
    "edges",
    "letters next to bounds that are roots, the others far apart",
    (Statement,),
    run,
    applies=lambda claim: claim.statement.searched and bool(bent(claim)),
)
