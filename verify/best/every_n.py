"""A number that is best for some clients, proved for every number of clients, the other letters as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.case import Case
from verify.best import places
from verify.best.factors import Interval, Say
from verify.best.subjects import Subject
from verify.multipliers.proving import prove
from verify.pep import rounding

#: The shares of 1 minus the best number by which one that is proved for every n may be larger, tried in turn.
_ROOM = (Fraction(0), Fraction(1, 100), Fraction(1, 10))


def proved(of: Subject, found: Interval, at: places.Letters, say: Say) -> tuple[Fraction | None, str]:
    """The least of a few numbers that is proved for every number of clients that the hypotheses allow, by multipliers
    that were checked; or None, and what stands in the way. ``at``: the letters that were given."""
    if found.upper is None or not of.claim.statement.stepping:
        return None, "it is asked of rates that are certified"
    case = places.case(of.claim, found.recipe)
    if tied := _tied(of.claim, found, at):
        return None, tied
    why = ""
    for number in _numbers(found.upper):
        say(f"is {float(number):.9g} proved for every number of clients?")
        shown = prove(_fixed(case.with_claim(of.at(number)), of.claim))
        if not isinstance(shown, str):
            return number, ""
        why = why or shown
    return None, why


def _tied(claim: Claim, found: Interval, at: places.Letters) -> str:
    """Why the letters do not leave the number of clients open, or nothing: more of them have to be possible."""
    size = "N" if "N" in claim.setting.drawing.sweep else "n"
    n = len(found.recipe["clients"])
    fixed = {name: Fraction(value) for name, value in found.letters.items() if name in places.known(claim)}
    for more in (n + 1, 4 * n):
        try:
            other = places.case(claim, places.recipe(claim, {**at, **fixed, size: Fraction(more)}))
        except ValueError as error:
            return f"with {more} clients, {error}"
        shown = {
            **places.shown(other),
            **{name: found.letters[name] for name in ("n", "N") if name in found.letters},
        }
        if shown != dict(found.letters):
            return f"with {more} clients other letters are no longer what they are"
    return ""


def _numbers(best: Fraction) -> Iterator[Fraction]:
    for room in _ROOM:
        above = best + room * abs(1 - best)
        yield max(best, rounding.simplest(float(above), float(room) * float(abs(1 - best)) / 4) if room else best)


def _fixed(case: Case, letters: Claim) -> Claim:
    """The claim with every letter but the number of clients, and the dimension, as it is at an instance."""
    values = letters.setting.bind(case.problem, case.params)
    sources = letters.setting.sources
    added = tuple(
        Hypothesis(f"{x} = {v}", sympy.Eq(x, sympy.Rational(int(v.numerator), int(v.denominator))))
        for x, v in values.items()
        if isinstance(v, int | Fraction | np.integer) and sources.get(x) not in ("n", "d")
    )
    # Stored multipliers belong to the claim as it is.
    return replace(case.claim, id=f"{case.claim.id.rstrip('*')}*", requires=(*case.claim.requires, *added))
