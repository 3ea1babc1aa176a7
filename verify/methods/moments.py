"""Compressors in U(omega), read in one coordinate: its mean and its variance, for every entry, d and k."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.compressors import power_below
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.numbers.rational import exact
from fedtheory.settings import COMPRESSOR
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods.base import Inquiry, Method, seen
from verify.reading import coordinate
from verify.reading.coordinate import CoordinateCompressor, chance, low, total, x
from verify.reading.source import Unread
from verify.search import hunting

#: Relations on which the cases of an entry are split, one after the other, at most.
DEEPEST = 8
#: Vectors at each instance at which what was read is compared with all that the compressor makes of them.
POINTS = 2
#: The cases of an entry: its sign, and its relation to the power of two below it.
_SIGNS = (
    (sympy.Eq(x, 0), sympy.Eq(low, 1)),
    (sympy.Gt(x, 0), sympy.Le(low, x), sympy.Lt(x, 2 * low)),
    (sympy.Lt(x, 0), sympy.Le(low, -x), sympy.Lt(-x, 2 * low)),
)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where mean and variance of a generic entry are as stated; otherwise nothing is known."""
    statement: CompressorClass = inquiry.statement
    if inquiry.claim.setting is not COMPRESSOR:
        return method.skipped("left open: the range of d and k is not known")
    try:
        with attributed(inquiry.claim):
            entry = coordinate.read(statement)
            domain = [sympy.Ge(statement.d, 1), sympy.Ge(statement.k, 1), sympy.Le(statement.k, statement.d)]
            if any(total in _symbols(outcome) for outcomes in entry.outcomes for outcome in outcomes):
                # Of the sum of all sizes, an entry's own is one.
                domain += [sympy.Ge(total, x), sympy.Ge(total, -x), sympy.Le(chance, 1)]
            outcome_cases = [tuple(_cases(outcomes, domain)) for outcomes in entry.outcomes]
            why = next(_unshown(statement, entry, domain, outcome_cases), "")
            if not why:
                _compare(statement, outcome_cases, seen(inquiry), hunting.generator(inquiry.claim, inquiry.seed))
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    if why:
        return method.skipped(f"left open: {why}")
    note = "read off the code, in one coordinate: for every d, k and vector; the mean is an identity"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _cases(outcomes: tuple[coordinate.EntryValue, ...], domain: list[sympy.Basic]) -> Iterator[Any]:
    """The cases that an entry may be in, each with its outcomes and their probabilities."""
    for sign in _SIGNS:
        yield from _split([*domain, *sign], outcomes, 0)


def _split(known: list[sympy.Basic], outcomes: tuple[coordinate.EntryValue, ...], depth: int) -> Iterator[Any]:
    if reals.contradictory(known):
        return
    kept = []
    for outcome in outcomes:
        open_ = [relation for relation in outcome.where if not reals.implied(relation, known)]
        if any(reals.contradictory([*known, relation]) for relation in open_):
            continue
        if open_:
            if depth == DEEPEST:
                raise Unread(f"an entry falls into more than 2^{DEEPEST} cases")
            for side in (open_[0], sympy.Not(open_[0])):
                yield from _split([*known, side], outcomes, depth + 1)
            return
        kept.append(outcome)
    yield known, [(_weight(outcome, known), outcome) for outcome in kept]


def _weight(outcome: coordinate.EntryValue, known: list[sympy.Basic]) -> sympy.Expr:
    """The probability of an outcome in a case."""
    if outcome.below is None:
        return outcome.probability
    threshold, below = outcome.below
    chance = _between(threshold, known)
    return outcome.probability * (chance if below else 1 - chance)


def _between(threshold: sympy.Expr, known: list[sympy.Basic]) -> sympy.Expr:
    """The probability that a uniform variate is below a number."""
    if reals.implied(sympy.Le(threshold, 0), known):
        return sympy.S.Zero
    if reals.implied(sympy.Ge(threshold, 1), known):
        return sympy.S.One
    if all(reals.implied(r, known) for r in (sympy.Ge(threshold, 0), sympy.Le(threshold, 1))):
        return threshold
    raise Unread("a uniform variate is compared with a number that is not known to be a probability")


def _unshown(
    statement: CompressorClass,
    entry: CoordinateCompressor,
    domain: list[sympy.Basic],
    outcome_cases: list[tuple[Any, ...]],
) -> Iterator[str]:
    """Yield what could not be shown."""
    for before, demand in entry.demands:
        given = [*domain, *before]
        if not reals.implied(demand, given) and not all(_follows(demand, [*given, *sign]) for sign in _SIGNS):
            yield f"{demand} is not shown to hold for all d, k and entries"
    if (part := reals.undefined_part((statement.omega,), domain)) is not None:
        yield f"{part} is not shown to be a real number for all d and k"
    if not reals.implied(sympy.Le(entry.omega, statement.omega), domain):
        yield "its own omega is not shown to be at most the stated one"
    if statement.bits is not None and sympy.expand(entry.bits - statement.bits) != 0:
        yield f"its message has {entry.bits} bits"
    for cases in outcome_cases:
        moments = [
            (known, options, *(sum(w * of for w, of in values) for values in _moments(options)))
            for known, options in cases
        ]
        share = next((a for known, _, _, off in moments if (a := _share_of_total(off, known))), sympy.S.Zero)
        for known, options, mean, off in moments:
            # The sum over all entries of total |x| - d x^2 is at most 0, by the inequality of Cauchy and Schwarz.
            left = entry.omega * x**2 - off + share * (total * _size(known) - statement.d * x**2)
            if not _is_zero(sum(w for w, _ in options) - 1, known) or not _is_zero(mean - x, known):
                yield "the mean of an entry is not shown to equal the entry"
            elif not reals.implied(sympy.Ge(sympy.expand(left), 0), known):
                yield "the variance of an entry is not shown to be at most omega times its square"


def _share_of_total(off: sympy.Expr, known: Any) -> sympy.Expr:
    """Return the number of times that the sum of all sizes times the size of an entry occurs in an expression; 0 unless
    it is a positive number."""
    size = _size(known)
    share = sympy.cancel(sympy.expand(off).coeff(total, 1) / size) if size != 0 else sympy.S.Zero
    return share if share.is_Rational and share > 0 else sympy.S.Zero


def _size(known: Any) -> sympy.Expr:
    """Return |x| in a case, where the sign of x is known."""
    return next(
        size
        for relation, size in ((sympy.Eq(x, 0), 0 * x), (sympy.Gt(x, 0), x), (sympy.Lt(x, 0), -x))
        if relation in known
    )


def _symbols(outcome: coordinate.EntryValue) -> set[sympy.Symbol]:
    """Return the symbols of a value, its conditions and its chance."""
    below = () if outcome.below is None else (outcome.below[0],)
    return {s for e in (*outcome.where, *below, outcome.value) for s in sympy.sympify(e).free_symbols}


def _follows(relation: sympy.Basic, known: list[sympy.Basic]) -> bool:
    return reals.implied(relation, known) or reals.contradictory(known)


def _moments(options: list[tuple[sympy.Expr, coordinate.EntryValue]]) -> Iterator[list[tuple[sympy.Expr, sympy.Expr]]]:
    yield [(w, outcome.value) for w, outcome in options]
    yield [(w, (outcome.value - x) ** 2) for w, outcome in options]


def _is_zero(expression: sympy.Expr, known: list[sympy.Basic]) -> bool:
    return sympy.cancel(expression) == 0 or reals.implied(sympy.Eq(expression, 0), known)


def _compare(
    statement: CompressorClass, outcome_cases: list[tuple[Any, ...]], instances: Any, rng: np.random.Generator
) -> None:
    """Raise ``Unread`` if mean or second moment of what was read are not those of the compressor itself."""
    shapes = {tuple(instance.params) for instance in instances}
    for d, k in sorted(shapes, key=lambda of: (of[0], of[1]))[:6]:
        letters = {statement.d: d, statement.k: k}
        for _ in range(POINTS):
            point = exact(rng.integers(-7, 8, d)) / exact(rng.integers(1, 5, d))
            values, p = statement.compressor(d, k).outcomes(point)
            whole = {total: sympy.Rational(abs(point).sum()), chance: sympy.S.Zero}
            mean, second = (values * p[:, None]).sum(axis=0), ((values**2).sum(axis=-1) * p).sum()
            for cases in outcome_cases:
                found = [
                    _at(cases, {**letters, **whole, x: sympy.Rational(v), low: sympy.Rational(below)})
                    for v, below in zip(point, power_below(point), strict=True)
                ]
                if [m for m, _ in found] != list(mean) or sum(s for _, s in found) != second:
                    raise Unread("the symbolic result differs from what the compressor returns")


def _at(cases: tuple[Any, ...], at: dict[Any, Any]) -> tuple[Fraction, Fraction]:
    """Mean and second moment of a given entry."""
    for known, options in cases:
        if all(sympy.sympify(relation).subs(at) == sympy.true for relation in known):
            numbers = [(w.subs(at), sympy.sympify(outcome.value).subs(at)) for w, outcome in options]
            pair = sum(w * v for w, v in numbers), sum(w * v**2 for w, v in numbers)
            return Fraction(int(pair[0].p), int(pair[0].q)), Fraction(int(pair[1].p), int(pair[1].q))
    raise Unread("an entry falls into none of the cases found")


METHOD = Method(
    "moments of a compressor",
    "mean and variance of a generic entry, for every d, k and vector",
    (CompressorClass,),
    run,
    frozenset({"==", "<="}),
)
