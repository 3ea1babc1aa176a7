"""Shorter squares of a form whose coefficients depend on many letters.

The minors of its matrix, which elimination takes for weights, have many terms then. But often a form is smallest where
a letter is at a bound, so that it is the form there and what it is larger by. Where each is a sum of squares, one
letter after the other is at a bound, and what is left depends on few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

from verify.multipliers.charts import PolynomialConstraint, has_no_negative
from verify.multipliers.domains import Domain
from verify.multipliers.proofs import CaseProof, Matrix, WeightedSquare, eliminated, matrix, remainder
from verify.multipliers.ratios import Ratio, coefficients, degree, replaced, substituted

#: The size of squares for which nothing shorter is looked for.
_SHORT = 5_000


def squares(proof: CaseProof) -> Mapping[str, Sequence[WeightedSquare]]:
    """The squares of a proof by blocks, shorter ones in place of those that are long, where they are found."""
    return {block: _others(proof, block) or given for block, given in proof.squares.items()}


def _size(of: Sequence[WeightedSquare]) -> int:
    """As much as it takes to multiply out."""
    return sum(c.length**2 for square in of for c in (square.weight, *square.vector.values()))


def _others(proof: CaseProof, block: str) -> list[WeightedSquare] | None:
    given, posed = proof.squares[block], proof.posed
    if _size(given) <= _SHORT or proof.plans[block].maximum is not None:
        return None
    rows = sorted({row for square in given for row in square.vector})
    of = matrix(posed, remainder(posed, proof.multipliers), block, rows)
    tried = (at_bounds(posed.domain, of, rows, _SHORT, careful) for careful in (False, True))
    return next((found for found in tried if found is not None and _size(found) < _size(given)), None)


class _Lower(NamedTuple):
    """A matrix where a letter is at a bound, ``times`` what is taken out of it, the constraints there, and the squares
    that the whole one is larger by."""

    of: Matrix
    times: Ratio
    constraints: Sequence[PolynomialConstraint]
    more: Sequence[WeightedSquare]


def at_bounds(
    domain: Domain, of: Matrix, rows: list[str], short: int = 0, careful: bool = False
) -> list[WeightedSquare] | None:
    """Weights and squares whose sum a matrix is, one letter after the other at a bound; None where none are found.

    ``short``: the size of squares for which no more letters are put at bounds; ``careful``: letters are put where what
    is left is known to be a sum of squares, if there is such a bound, and what all entries share is taken out first.
    """
    constraints: Sequence[PolynomialConstraint] = domain.constraints
    found: list[WeightedSquare] = []
    of, times = _apart(domain, careful, of)
    while True:
        left = eliminated(domain, of, rows)
        if left is not None and _size(left) <= short:
            break
        lower = _lower(domain, constraints, of, rows, careful)
        if lower is None:
            break
        found += _multiplied(times, lower.more)
        of, times, constraints = lower.of, times * lower.times, lower.constraints
    return None if left is None else [*found, *_multiplied(times, left)]


def _lower(
    domain: Domain, constraints: Sequence[PolynomialConstraint], of: Matrix, rows: list[str], careful: bool
) -> _Lower | None:
    """The shortest of the ways to put a letter at a bound; ``careful``: of those after which elimination shows what is
    left, if there is one."""
    apart = partial(_apart, domain, careful)
    ways = []
    for i, bound in _bounds(domain, constraints, of):
        if (low := _at(of, i, bound)) is not None:
            larger = [[a - b for a, b in zip(*both, strict=True)] for both in zip(of, low, strict=True)]
            ways.append((i, bound, apart(low), apart(larger)))
    first = None
    for i, bound, (low, times), (larger, before) in sorted(ways, key=lambda way: _terms(way[3][0])):
        more = eliminated(domain, larger, rows)
        if more is None:
            continue
        images = [c._replace(poly=replaced(c.poly, i, bound.num, bound.den)) for c in constraints]
        left = [c for c in images if not has_no_negative(c.poly)]
        found = _Lower(low, times, left, _multiplied(before, more))
        if not careful or eliminated(domain, low, rows) is not None:
            return found
        first = first or found
    return first


def _apart(domain: Domain, careful: bool, of: Matrix) -> tuple[Matrix, Ratio]:
    """A matrix without the factor that all of its entries share, where that has a sign, and the factor, >= 0.

    Its letters would otherwise stand in every minor, and in what the form is larger by.
    """
    one = Ratio(domain.ring.constant(1), domain.ring.constant(1))
    entries = [c for row in of for c in row if not c.is_zero]
    if not entries or not careful:
        return of, one
    num = reduce(lambda p, q: p.gcd(q), (c.num for c in entries))
    den = reduce(lambda p, q: p * (q / p.gcd(q)), (c.den for c in entries))
    shared = next((c for c in (Ratio.of(num, den), Ratio.of(-num, den)) if domain.ratio_sign(c) is not None), one)
    return [[c / shared for c in row] for row in of], shared


def _multiplied(times: Ratio, squares: Sequence[WeightedSquare]) -> list[WeightedSquare]:
    return [square._replace(weight=times * square.weight) for square in squares]


def _terms(of: Matrix) -> int:
    return sum(c.length for row in of for c in row if not c.is_zero)


def _bounds(domain: Domain, constraints: Sequence[PolynomialConstraint], of: Matrix) -> Iterator[tuple[int, Ratio]]:
    """Letters of a matrix, each with what it is where a constraint is 0."""
    letters = {i for row in of for c in row for i in c.letters()}
    for constraint in constraints:
        for i in sorted(letters):
            if degree(constraint.poly, i) == 1:
                parts = coefficients(constraint.poly, i)
                if domain.never_zero(parts[1]):
                    yield i, Ratio.of(-parts.get(0, parts[1] * 0), parts[1])


def _at(of: Matrix, i: int, bound: Ratio) -> Matrix | None:
    """A matrix where a letter is at a bound; None where it is not finite there."""
    try:
        return [[substituted(c, {i: bound}) for c in row] for row in of]
    except ZeroDivisionError:
        return None
