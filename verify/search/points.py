"""The choices of the parameters at which a claim is certified, and whether they are all there are.

A certificate is about one choice. Of another value of a letter, or of more clients, many certificates say as little as
one: what holds at all of them may fail between them, or beyond. So a claim is certified where its programs depend on
nothing but numbers that equations among its hypotheses fix, and on numbers of clients that are listed, each of which
has a certificate. The class of functions has to state that its letters say all that it says of its functions; there
are no compressors and no oracles, and no schedules.

Units are read off the claim: choices are counted that differ by more than units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms.schedules import OF_PROBLEM
from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.case import Case
from verify.exact import symbolic
from verify.reading import theory, whole
from verify.reading.program import kinds_at_rest, starts_as_declared
from verify.search.units import scalings

#: Letters of a choice that a note names.
_NAMED = 6


def free(claim: Claim) -> str:
    """Return what a certificate may depend on that no equation among the hypotheses fixes, in words;
    empty if nothing.
    """
    setting = claim.setting
    functions, algorithms = setting.functions, _algorithms(claim)
    if functions is None or not functions.alike or setting.hints.coordinates or setting.drawing.special is not None:
        return "its functions have more constants than its letters"
    made_of = getattr(functions, "of", functions)
    parts = made_of if isinstance(made_of, tuple) else (made_of,)
    if other := next((of for of in (functions, *parts) if not theory.is_class(of)), None):
        return f"the class {type(other).__name__} is not part of this package"
    if setting.adversaries:
        return "its compressors and oracles are more than its letters say"
    if any(getattr(algorithm, "schedules", None) for algorithm in algorithms):
        return "its parameters vary with the round (claim it of any value of them, without schedules)"
    if setting.any_clients:
        return "there may be any number of clients"
    fixed = values(symbolic.assumed(claim))
    counted = {letter for letter, source in setting.sources.items() if source == "n"}
    of_class = functions.letters
    fields = [field for algorithm in algorithms for field in getattr(algorithm.Params, "_fields", ())]
    if x := next((x for x in (*of_class, *setting.sources) if x not in fixed and x not in counted), None):
        constant = next((field for field in fields if field in ("mu", "L")), None)
        advice = f" (write problem.{constant} for params.{constant}, to have it read for all)"
        return f"{x} may have other values{advice if constant else ''}"
    if x := next((x for x, source in of_class.items() if not _is_same(setting.sources.get(x, source), source)), None):
        return f"{x} is a letter of the class, and its value that of something else"
    named = set(setting.sources.values()) - set(OF_PROBLEM)
    named |= _given(claim)
    if field := next((field for field in fields if field not in named), None):
        return f"the parameter {field} may have other values"
    made = [a.init for a in algorithms if a.feasible or not starts_as_declared(a.init, a.State)]
    made += [a.fixed_point for a in algorithms if kinds_at_rest(a) is None]
    if not all(map(theory.holds, [*made, *(a.invariant for a in algorithms)])):
        return "code of its own says where the method starts and stays"
    return ""


def _given(claim: Claim) -> set[str]:
    """The parameters that are letters of the class: instances give them these values, unless the author makes them."""
    setting = claim.setting
    if setting.functions is None or setting.drawing.parameters is not None:
        return set()
    return {str(x) for x in setting.functions.letters}


def _is_same(one: Any, other: Any) -> bool:
    """Return True if two sources of a letter are the same name, or functions with the same code, made
    anew by a class.
    """
    return bool(getattr(one, "__code__", one) == getattr(other, "__code__", other))


@dataclass(frozen=True)
class Choices:
    """The choices of the parameters at which a claim is certified, as recipes; each is built once."""

    claim: Claim
    recipes: Sequence[Recipe]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The claim at each of the recipes."""
        return tuple(Case(self.claim, recipe) for recipe in self.recipes)

    @cached_property
    def code(self) -> whole.Code:
        """The claim's code, as it is read at the first of them."""
        return whole.read(self.cases[0])

    def uncovered(self) -> str:
        """Return what the claim covers without a certificate at these choices, in words; empty if nothing."""
        claim, setting = self.claim, self.claim.setting
        if why := free(claim):
            return why
        fixed = values(symbolic.assumed(claim))
        seen = set()
        for k, case in enumerate(self.cases):
            bound = case.letters
            if why := _unfixed(claim, whole.read(case) if k else self.code):
                return why
            if all(bound[x] == fixed[x] for x in fixed if x in bound):
                seen.add((case.problem.n, case.problem.g is not None))
        sizes = product(sorted(set(setting.clients)), sorted(set(setting.drawing.g)))
        number, with_g = next((size for size in sizes if size not in seen), (0, False))
        return f"none has n = {number}" + (", with g" if with_g else "") if number else ""

    def describe(self) -> str:
        """Their number, those that differ by units counted once, and one of them."""
        units = tuple(scalings(self.claim, symbolic.assumed(self.claim)))
        places = {_scaled(case.letters, units): case for case in self.cases}
        largest = max(places.values(), key=lambda case: len(case.recipe.get("clients", ())))
        named = _letters(largest.letters)
        if len(places) == 1:
            return "one choice of the parameters" + (f", {named}" if named else "")
        return f"{len(places)} choices of the parameters" + (f", among them {named}" if named else "")


def _unfixed(claim: Claim, code: whole.Code) -> str:
    """Return the number without a letter on which the code depends, in words; empty if there is none."""
    named = {"n", *(source for source in claim.setting.sources.values() if isinstance(source, str)), *_given(claim)}
    others = sorted(code.numbers() - named)
    return code.unread or (f"its code depends on {others[0]}, which is not a letter" if others else "")


def _letters(known: Mapping[sympy.Expr, Any]) -> str:
    """The letters' values at a choice, in a few words."""
    named = [f"{letter}={value}" for letter, value in known.items() if str(letter) != "d" and len(str(value)) <= 12]
    return ", ".join(named[:_NAMED])


def values(relations: Iterable[sympy.Basic]) -> Mapping[sympy.Expr, Fraction]:
    """The letters that equations fix, one after the other, each linear in the one that it fixes."""
    fixed: dict[sympy.Expr, Fraction] = {}
    equations = [r.lhs - r.rhs for r in symbolic.conjuncts(relations) if isinstance(r, sympy.Eq)]
    while True:
        left = (e.subs({x: sympy.Rational(v.numerator, v.denominator) for x, v in fixed.items()}) for e in equations)
        found = next((one for e in left if (one := _solved(e)) is not None), None)
        if found is None:
            return fixed
        fixed[found[0]] = found[1]


def _solved(e: sympy.Expr) -> tuple[sympy.Expr, Fraction] | None:
    """The one letter of an equation e = 0 that is linear in it, and its value."""
    letters = e.free_symbols
    if len(letters) != 1 or not e.is_polynomial(*letters):
        return None
    (x,) = letters
    of = sympy.Poly(e, x)
    if of.degree() != 1 or not all(c.is_Rational for c in of.all_coeffs()):
        return None
    value = -of.nth(0) / of.nth(1)
    return x, Fraction(int(value.p), int(value.q))


def _algorithms(claim: Claim) -> tuple[Any, ...]:
    """The algorithms of a claim: that of its setting, and those of its statement."""
    candidates = (claim.setting.algorithm, claim.statement.algorithm, getattr(claim.statement, "second", None))
    return tuple(algorithm for algorithm in candidates if algorithm is not None)


def _scaled(
    found: Mapping[sympy.Expr, Any], units: Sequence[Mapping[sympy.Expr, Fraction]]
) -> tuple[tuple[str, str], ...]:
    """The letters' values in units in which those that set a unit are 1."""
    scaled = dict(found)
    for powers in units:
        unit = next(letter for letter, power in powers.items() if power == 1)
        size = scaled[unit]
        if not (_is_ratio(size) and size > 0):
            continue
        for letter, power in powers.items():
            if power.denominator == 1 and _is_ratio(scaled[letter]):
                scaled[letter] = Fraction(scaled[letter]) / Fraction(size) ** int(power)
    return tuple(sorted((str(letter), str(value)) for letter, value in scaled.items()))


def _is_ratio(value: Any) -> bool:
    return isinstance(value, int | Fraction | np.integer)
