"""Turning points of a claim's expressions: values of its letters at which it may be false between the points.

A statement that holds at some points is false elsewhere where its own formulas do something else there. What a sum of
letters can do is vanish, beside a pole, a kink or a narrow bump that it makes in what it stands in; and turn, where its
derivative vanishes. So each sum in a side or in a hypothesis is to vanish at some point, if the hypotheses allow it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, cycle, islice, pairwise
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe, value_of
from fedtheory.numbers.rational import evaluate, holds
from fedtheory.sampling import drawing, nearby
from verify.base.case import Case
from verify.exact import reals
from verify.reading.whole import Code, letter

#: The size below which a sum counts as vanishing, relative to its terms: its zeros may be irrational.
_NEARLY = sympy.Rational(1, 10**9)
#: By which powers of two a constant is changed to where a sum vanishes, and how simple the factor is to be.
_POWERS, _SIMPLE = range(-12, 13), (12, 1000, 10**6, 10**12)
#: The most clients that are looked at.
MOST_CLIENTS = 260
#: Functions whose value is one of several expressions.
KINKED = (sympy.Max, sympy.Min, sympy.Abs)
#: The number of times that several sums are tested for vanishing at once.
_ASKED = 200
#: The largest value of a whole letter that is looked at.
MOST_WHOLE = 1000
#: Steps of a search for where several sums vanish.
_EVALUATIONS = 25


def letters(case: Case, e: sympy.Expr) -> Mapping[sympy.Expr, Any]:
    """The values of the letters of an expression at a recipe: those of the claim, others by their names."""
    bound = case.letters
    others = e.free_symbols - set(bound)
    return {**bound, **{x: value_of(str(x), case.problem, case.params) for x in others}}


def is_free(claim: Claim, e: sympy.Expr) -> bool:
    """Return True if its letters are drawn parameters of the problem or the method.

    A letter that code computes from others may have a restricted range, which is unknown.
    """
    hooks = claim.setting.drawing
    return (
        hooks.special is None
        and hooks.parameters is None
        and all(isinstance(claim.setting.sources.get(x, str(x)), str) for x in e.free_symbols)
    )


def sums(claim: Claim) -> list[sympy.Expr]:
    """The sums of letters in the sides of a claim and in those of its hypotheses, simple ones first.

    Where a hypothesis holds with equality other points are looked at.
    """
    compared = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    found = sympy.Tuple(*compared, *drawing.sides(claim), *drawing.relations(claim)).atoms(sympy.Add)
    known = set(claim.setting.sources)
    return sorted((e for e in found if e.free_symbols <= known), key=lambda e: (e.count_ops(), str(e)))


def ties(claim: Claim, given: Sequence[sympy.Basic]) -> list[sympy.Expr]:
    """The differences of two terms of a maximum or a minimum of letters that may be equal: where several are it turns
    in all directions at once, though no sum of letters vanishes."""
    compared = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    nodes = sympy.Tuple(*compared, *drawing.sides(claim)).atoms(sympy.Max, sympy.Min)
    known = set(claim.setting.sources)
    between = (a - b for node in sorted(nodes, key=str) for a, b in combinations(sorted(node.args, key=str), 2))
    return vanishing(dict.fromkeys(e for e in between if e.free_symbols <= known), given)


def in_code(claim: Claim, code: Code) -> list[sympy.Expr]:
    """The sums of letters in the code of a claim that are not in its statement too."""
    named = in_its_letters(claim)
    found = [e.subs(named) for e in code.sums()]
    stated = sums(claim)
    # Constants of compressors that are not letters of the claim are drawn with them.
    return [e for e in dict.fromkeys(found) if e.is_Add and e not in stated and not _is_of_compressors(e)]


def _is_of_compressors(e: sympy.Expr) -> bool:
    return any("." in str(x) for x in e.free_symbols)


def in_its_letters(claim: Claim) -> Mapping[sympy.Expr, sympy.Expr]:
    """Map the names that code uses, including those of parts of compressors, to the letters of a claim."""
    of = ("", *(f"{adversary.field}." for adversary in claim.setting.adversaries))
    return {letter(f"{p}{s}"): x for x, s in claim.setting.sources.items() if isinstance(s, str) for p in of}


def vanishing(expressions: Iterable[sympy.Expr], given: Sequence[sympy.Basic]) -> list[sympy.Expr]:
    """Those that z3 sees vanish at some values of the letters that meet what is given."""
    return [e for e in expressions if reals.possible([*given, sympy.Eq(e, 0, evaluate=False)])]


def turns(expressions: Iterable[sympy.Expr], given: Sequence[sympy.Basic]) -> list[sympy.Expr]:
    """Factors of derivatives of sums, by one letter, that may vanish."""
    above: dict[sympy.Expr, None] = {}
    for e in expressions:
        for piece in _pieces(e):
            derivatives = (sympy.diff(piece, x) for x in sorted(e.free_symbols, key=str))
            above |= {sympy.fraction(sympy.together(one))[0]: None for one in derivatives}
    factors = (part for e in above for part in sympy.Mul.make_args(sympy.factor(e)))
    bases = (part.base if part.is_Pow else part for part in factors)
    return vanishing(dict.fromkeys(part for part in bases if part.is_Add), given)


def _pieces(e: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield the smooth pieces of an expression: each maximum or minimum replaced by one of its arguments, each absolute
    value by its argument with a sign.
    """
    kinks = sorted(e.atoms(*KINKED), key=sympy.default_sort_key)
    inner = next((node for node in kinks if not any(part.has(*KINKED) for part in node.args)), None)
    if inner is None:
        yield e
        return
    for one in (inner.args[0], -inner.args[0]) if isinstance(inner, sympy.Abs) else inner.args:
        yield from _pieces(e.xreplace({inner: one}))


def nearly(e: sympy.Expr) -> sympy.Basic:
    """Return the relation that a sum vanishes, or nearly."""
    return sympy.Le(sympy.Abs(e), _NEARLY * _size(e), evaluate=False)


def _size(e: sympy.Expr) -> sympy.Expr:
    """The size of the terms of a sum."""
    return sympy.Add(*map(sympy.Abs, sympy.Add.make_args(e)))


def at_zero(case: Case, e: sympy.Expr, rng: np.random.Generator) -> Iterator[Recipe]:
    """Recipes where a sum vanishes, or nearly: the given one with one constant changed, and the letters that follow it
    as they are or at their bounds."""
    for name in drawing.fractions(case.recipe):
        factor = _zero(case.claim, e, partial(nearby.scaled, case.claim, case.recipe, name))
        found = None if factor is None else nearby.scaled(case.claim, case.recipe, name, factor)
        yield from (
            at
            for at in (found, found and nearby.bounded(case.claim, found, rng))
            if at and _vanishes(Case(case.claim, at), e)
        )


def together(expressions: Sequence[sympy.Expr], given: Sequence[sympy.Basic]) -> list[tuple[sympy.Expr, ...]] | None:
    """The largest sets of several sums that may vanish at once, as far as z3 does not exclude it; None where there are
    too many to look at."""
    different = list(dict.fromkeys(expressions))
    known: dict[frozenset[sympy.Expr], bool] = {}

    def possible(chosen: frozenset[sympy.Expr]) -> bool:
        if chosen not in known:
            if len(known) == _ASKED:
                raise _TooMany
            known[chosen] = not reals.contradictory([*given, *(sympy.Eq(e, 0, evaluate=False) for e in chosen)])
        return known[chosen]

    def largest(chosen: frozenset[sympy.Expr], rest: Sequence[sympy.Expr]) -> Iterator[frozenset[sympy.Expr]]:
        if any(chosen.union(rest) <= one for one in found):
            return
        if possible(chosen.union(rest)):
            yield chosen.union(rest)
            return
        first, *others = rest
        if possible(chosen | {first}):
            yield from largest(chosen | {first}, others)
        yield from largest(chosen, others)

    found: list[frozenset[sympy.Expr]] = []
    try:
        for one in largest(frozenset(), different):
            found.append(one)
    except _TooMany:
        return None
    several = [one for one in found if len(one) > 1 and not any(one < other for other in found)]
    return [tuple(sorted(one, key=str)) for one in several]


class _TooMany(Exception):
    """More sets of sums than are looked at."""


def at_zeros(case: Case, sums: Sequence[sympy.Expr]) -> Recipe | None:
    """The recipe with constants, and the number of its clients, changed such that several sums nearly vanish at once;
    None where none is found."""
    symbols = {x for e in sums for x in e.free_symbols}
    of_n = {x for x in symbols if case.setting.sources.get(x, str(x)) == "n"}
    if of_n and case.setting.any_clients and case.recipe.get("clients"):
        _, times = _nearest(case, sums, symbols, of_n)
        number = min(max(round(len(case.recipe["clients"]) * times), 1), MOST_CLIENTS)
        case = Case(case.claim, {**case.recipe, "clients": tuple(islice(cycle(case.recipe["clients"]), number))})
    found, _ = _nearest(case, sums, symbols, set())
    if found is None:
        return None
    there = Case(case.claim, found)
    return found if all(_vanishes(there, e) for e in sums) else None


def _nearest(
    case: Case, sums: Sequence[sympy.Expr], symbols: set[sympy.Basic], of_n: set[sympy.Basic]
) -> tuple[Recipe | None, float]:
    """The recipe with constants changed such that several sums are as near to vanishing as is found; and with how many
    times as many clients, if that number, which letters ``of_n`` stand for, could be any."""
    from scipy.optimize import least_squares

    used = {*map(str, symbols), *(case.setting.sources.get(x) for x in symbols)}
    if "kappa" in used and case.setting.functions is not None:
        used |= set(map(str, case.setting.functions.letters))
    # A constant of which nothing depends is not to leave the class by rounding.
    names = [x for x, value in case.recipe.items() if x in used and isinstance(value, Fraction) and value > 0]

    def changed(powers: Sequence[float]) -> Recipe | None:
        found: Recipe | None = case.recipe
        for name, power in zip(names, powers, strict=False):
            factor = Fraction(2.0**power).limit_denominator(_SIMPLE[-1])
            found = None if found is None else nearby.scaled(case.claim, found, name, factor)
        return found

    def residuals(powers: Sequence[float]) -> list[float]:
        try:
            at = changed(powers)
            assert at is not None
            times = {x: Fraction(2.0 ** powers[-1]) for x in of_n}
            there = Case(case.claim, at)
            values = (dict(letters(there, e)) for e in sums)
            return [
                _unbalanced(e, {x: v * times.get(x, 1) for x, v in each.items() if x in symbols})
                for e, each in zip(sums, values, strict=True)
            ]
        except (AssertionError, ValueError, ArithmeticError):
            return [float(-_POWERS[0])] * len(sums)

    unknown = [0.0] * (len(names) + bool(of_n))
    if not unknown:
        return case.recipe, 1.0
    ends = (float(_POWERS[0]), float(_POWERS[-1]))
    found = least_squares(residuals, unknown, bounds=ends, max_nfev=_EVALUATIONS, ftol=1e-15, xtol=1e-15).x
    return changed(found), 2.0 ** float(found[-1]) if of_n else 1.0


def _unbalanced(e: sympy.Expr, values: Mapping[sympy.Expr, Any]) -> float:
    """The logarithm of the positive terms of a sum over the negative ones: of two products it is linear in those of
    the letters. Raise ``ValueError`` if all are of one sign."""
    terms = [evaluate(term, values) for term in sympy.Add.make_args(e)]
    return math.log(sum(v for v in terms if v > 0)) - math.log(-sum(v for v in terms if v < 0))


def with_clients(case: Case, e: sympy.Expr) -> Iterator[Recipe]:
    """The recipe with as many of its clients, in turn, as make a sum vanish; none where it does whatever they are."""
    of_n = {x for x in e.free_symbols if case.setting.sources.get(x, str(x)) == "n"}
    if not of_n or not case.setting.any_clients or not case.recipe.get("clients"):
        return
    values = letters(case, e)
    for number in range(1, MOST_CLIENTS + 1):
        try:
            if holds(nearly(e), {**values, **dict.fromkeys(of_n, number)}):
                yield {**case.recipe, "clients": tuple(islice(cycle(case.recipe["clients"]), number))}
        except (ValueError, ArithmeticError):
            continue


def with_whole(case: Case, e: sympy.Expr) -> Iterator[Recipe]:
    """The recipe with another value of a whole letter, at which a sum vanishes or beside which it changes its sign."""
    values = letters(case, e)
    for x in sorted(e.free_symbols, key=str):
        name = str(case.setting.sources.get(x, x))
        if not (x.is_integer and isinstance(case.recipe.get(name), int)):
            continue
        seen: list[tuple[int, float]] = []
        for value in range(1, MOST_WHOLE + 1):
            try:
                seen.append((value, float(evaluate(e, {**values, x: value}))))
            except (ValueError, ArithmeticError):
                continue
        turned = {v for (a, u), (b, w) in pairwise(seen) if u * w <= 0 for v in (a, b)}
        yield from ({**case.recipe, name: value} for value in sorted(turned))


def _vanishes(case: Case, e: sympy.Expr) -> bool:
    try:
        return holds(nearly(e), letters(case, e))
    except (ValueError, ArithmeticError):
        return False


def _zero(claim: Claim, e: sympy.Expr, times: Callable[[Fraction], Recipe | None]) -> Fraction | None:
    """A factor of a constant at which a sum changes its sign, as simple as can be."""
    from scipy.optimize import brentq

    def at(factor: Fraction) -> Any:
        recipe = times(factor)
        try:
            return math.nan if recipe is None else evaluate(e, letters(Case(claim, recipe), e))
        except (ValueError, ArithmeticError):
            return math.nan

    factors = [Fraction(2) ** power for power in _POWERS]
    try:
        seen = [(factor, float(at(factor))) for factor in factors]
        if (exact := next((factor for factor, value in seen if value == 0), None)) is not None:
            return exact
        crossed = [(a, b) for (a, u), (b, v) in pairwise(seen) if u * v < 0]
        if not crossed:
            return None
        low, high = min(crossed, key=lambda ends: abs(math.log2(ends[0]) + 0.5))
        root = Fraction(brentq(lambda factor: float(at(Fraction(factor))), float(low), float(high), xtol=1e-15))
    except (ValueError, ArithmeticError):
        return None
    simple = [root.limit_denominator(most) for most in _SIMPLE]
    return next((factor for factor in simple if factor > 0 and at(factor) == 0), simple[-1])
