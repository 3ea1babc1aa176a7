"""The worst states of instances that meet the hypotheses, and counterexamples that convince."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import Undefined
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.comparisons import exact, parts
from verify.comparisons.deciding import arithmetic, floats_in
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Attained, Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.search import choosing, seen, spectral, states
from verify.search.refutation import margin

#: Instances at which it is asked which sides are 0, at most.
_ASKED = 8
#: The largest distance of a margin from the stored one, relative to both: floats differ from processor to processor.
_NEAR = 1e-6
_NO_INSTANCE = "no instance met the hypotheses"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by the most convincing counterexample, or supported by instances that met the hypotheses, if any did."""
    claim, found = inquiry.claim, inquiry.hunt
    used = tuple(sorted(found.methods))
    if found.failed_assertion and not (found.refutations and claim.statement.scope is Scope.LIMIT):
        return method.found(Verdict.ILL_POSED, found.failed_assertion, used=used)
    if found.refutations:
        small = choosing.chosen(found.refutations)
        worst = min((small, *found.refutations), key=margin)
        return method.found(
            Verdict.REFUTED,
            f"confirmed {arithmetic(small.left, small.right)}",
            margin=margin(worst),
            instances=found.instances,
            counterexample=small,
            tightest=small.recipe,
            used=(*used, "rational"),
            attained=Attained(worst.recipe, worst.point, worst.rounds, worst.part, worst.entry),
        )
    if found.undefined is not None:
        why, where = found.undefined
        return method.found(Verdict.ILL_POSED, f"{why}, which no hypothesis excludes: at {where}", used=used)
    if found.instances == 0:
        return method.found(Verdict.NOT_TESTED, _unmet(claim, np.random.default_rng(inquiry.seed), inquiry.size))
    limit = claim.statement.scope is Scope.LIMIT
    note = (
        "the optimum is a fixed point; of the limit that says nothing"
        if limit
        else "no violation at the worst states of the instances"
    )
    if floating := states.floats(claim, found.met):
        note += (
            f"; not exact: {floats_in(floating)}: nothing stronger can be shown of it until it is written in fractions"
        )
    # Where no ratio could be measured the worst is infinite.
    least = round(1 - found.worst, 9) + 0.0 if math.isfinite(found.worst) else None
    looked = frozenset() if limit else found.looked
    note = "; ".join(filter(None, (note, seen.words(looked))))
    at = found.attained
    place = None
    if least is not None and at is not None and found.tightest is not None and np.isfinite(at.theta).all():
        place = Attained(found.tightest, tuple(map(Fraction, at.theta.tolist())), at.rounds)
    details = {"margin": least, "instances": found.instances, "tightest": found.tightest, "used": used, "seen": looked}
    return method.found(None if limit else Verdict.SUPPORTED, note, attained=place, **details)


def guard(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, at few instances; the margin is the least of theirs and of the stored one, measured again where
    that was seen."""
    found, at = run(method, inquiry), stored.attained
    if found.verdict is not Verdict.SUPPORTED or stored.margin is None:
        return replace(found, margin=found.margin if found.verdict is Verdict.REFUTED else None)
    if at is None or found.margin is None:
        raise ValueError("the stored result does not record where its margin was attained")
    if not agree(now := margin_at(inquiry.claim, at), stored.margin):
        raise ValueError(f"{stored.margin:g} is carried, and it is {now:g} where that was seen")
    return replace(found, margin=min(found.margin, stored.margin), attained=at, tightest=at.recipe)


def _unmet(claim: Claim, rng: np.random.Generator, size: int) -> str:
    """Why none of ``size`` recipes met the hypotheses: which failed, how often, and what the author can write."""
    failed: Counter[str] = Counter()
    met, kept = 0, list[Case]()
    for recipe in islice(claim.instances.recipes(rng), size):
        case = Case(claim, recipe)
        try:
            problem, params = case.problem, case.params
        except ValueError as error:
            failed[f"cannot be built ({error})"] += 1
            continue
        values = case.letters
        broken = False
        for hypothesis in claim.requires:
            try:
                holds = hypothesis.holds(problem, params, values)
            except (Undefined, ArithmeticError):
                failed[f"leave {hypothesis.text!r} undefined"] += 1
                broken = True
                continue
            if not holds:
                failed[f"break {hypothesis.text!r}"] += 1
                broken = True
        met += not broken
        kept += [] if broken else [case]
    if met and isinstance(claim.statement, Invariant):
        return (
            f"no state was found at which the residual vanishes, on the {met} of {size} instances that met the "
            "hypotheses: of others the claim says nothing"
        )
    if met:
        idle = f"nothing was compared: at the {met} of {size} instances that met the hypotheses {_idle(kept)}"
        return idle + (_STARTS if claim.statement.scope is Scope.ROUNDS and not claim.setting.drawing.start else "")
    counted = ", ".join(f"{count} {what}" for what, count in failed.most_common(3))
    if (never := next((r for h in claim.requires if _is_met_by_no_fraction(r := h.relation)), None)) is not None:
        why = f"{never} holds at no fraction, and instances consist of fractions"
        return f"{_NO_INSTANCE}: of {size} proposed {counted}; {why}: ask for {never.lhs} <= {never.rhs} or the like"
    further = "" if claim.setting.of_constants else ", or write Drawing(draw=...) so that they do"
    return f"{_NO_INSTANCE}: of {size} proposed {counted}; check that they can hold together{further}"


def _is_met_by_no_fraction(relation: object) -> bool:
    """Return True if a relation is an equation of one letter with an irrational number, or a polynomial in it without
    rational roots."""
    if not isinstance(relation, sympy.Eq) or len(relation.free_symbols) != 1:
        return False
    (letter,) = relation.free_symbols
    if relation.lhs == letter and relation.rhs.is_irrational:
        return True
    above = sympy.fraction(sympy.together(relation.lhs - relation.rhs))[0]
    if not above.is_polynomial(letter):
        return False
    polynomial = sympy.Poly(above, letter)
    return all(c.is_Rational for c in polynomial.all_coeffs()) and not polynomial.ground_roots()


#: What to do where all runs start at one point.
_STARTS = (
    '; runs start where init puts them, by default at 0: Setting(drawing=ft.Drawing(start=("x",))) frees the part x'
)


def _idle(cases: Sequence[Case]) -> str:
    """Return why sides are not compared at instances: one of them is 0 there, or not a number."""
    seen: list[tuple[bool, bool]] = []
    for case in cases[:_ASKED]:
        for value in (Fraction(0), Fraction(1)):
            try:
                compared = list(exact.parts(case, (value,) * case.instance.dimension, 1))
            except (ValueError, ArithmeticError):
                continue
            seen += [(not np.any(c.left != 0), not np.any(c.right != 0)) for c in compared]
    if seen and all(left and right for left, right in seen):
        return "both sides are 0"
    return "the left side is 0" if seen and all(left for left, _ in seen) else "a side is undefined"


def margin_at(claim: Claim, at: Attained) -> float:
    """The margin of a claim where one was seen.

    Raise ``ValueError`` or ``ArithmeticError`` if the claim involves no such state, or cannot be evaluated there.
    """
    if at.part:
        left, right = parts.evaluate_at(Case(claim, at.recipe), at.point, at.rounds, at.part, at.entry)
        relation = parts.relation(claim, at.part)
        return margin(
            Counterexample(claim, at.recipe, at.point, at.rounds, at.part, at.entry, left, right, relation, "")
        )
    case = Case(claim, at.recipe)
    if not states.is_examined(case):
        raise ValueError(f"the instance does not meet the hypotheses of {claim.id}")
    theta = np.array([float(v) for v in at.point])
    with np.errstate(all="ignore"):
        ratio = states.ratio_at(case, at.point, at.rounds)
    finding = states.settled(case, states.Finding(ratio, theta, at.rounds, ""))
    return round(1 - float(spectral.steady(finding.ratio)), 9) + 0.0


def agree(one: float | None, other: float | None) -> bool:
    """Return True if two margins agree up to rounding."""
    if one is None or other is None:
        return one is other
    return one == other or abs(one - other) <= _NEAR * max(1.0, abs(one), abs(other))


METHOD = Method(
    "search",
    "the worst states of instances that satisfy the hypotheses",
    (Statement,),
    run,
    role=Role.MEASURES,
    applies=lambda claim: claim.statement.searched,
    guard=guard,
)
