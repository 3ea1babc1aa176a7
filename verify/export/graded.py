"""Shorter squares of a form whose coefficients depend on many letters.

The minors of its matrix, which elimination takes for weights, have many terms then. But often a form is smallest where
a letter is at a bound, so that it is the form there and what it is larger by. Where each is a sum of squares, one
letter after the other is at a bound, and what is left depends on few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verify.multipliers.charts import PolynomialConstraint, has_no_negative
from verify.multipliers.domains import Domain
from verify.multipliers.proofs import CaseProof, Matrix, WeightedSquare, eliminated, matrix, remainder
from verify.multipliers.ratios import Ratio, coefficients, degree, replaced, substituted

#: The size of squares for which nothing shorter is looked for.
_SHORT = 5_000


def squares(proof: CaseProof) -> Mapping[str, Sequence[WeightedSquare]]:
    """The squares of a proof by blocks, shorter ones in place of those that are long, where they are found."""
    return {block: min(given, _others(proof, block) or given, key=_size) for block, given in proof.squares.items()}


def _size(of: Sequence[WeightedSquare]) -> int:
    """As much as it takes to multiply out."""
    return sum(c.length**2 for square in of for c in (square.weight, *square.vector.values()))


def _others(proof: CaseProof, block: str) -> list[WeightedSquare] | None:
    given, posed = proof.squares[block], proof.posed
    if _size(given) <= _SHORT or proof.plans[block].maximum is not None:
        return None
    rows = sorted({row for square in given for row in square.vector})
    return at_bounds(posed.domain, matrix(posed, remainder(posed, proof.multipliers), block, rows), rows)


def at_bounds(domain: Domain, of: Matrix, rows: list[str]) -> list[WeightedSquare] | None:
    """Weights and squares whose sum a matrix is, one letter after the other at a bound; None where none are found."""
    constraints: Sequence[PolynomialConstraint] = domain.constraints
    found: list[WeightedSquare] = []
    while lower := _lower(domain, constraints, of, rows):
        of, constraints, more = lower
        found += more
    left = eliminated(domain, of, rows)
    return None if left is None else [*found, *left]


def _lower(
    domain: Domain, constraints: Sequence[PolynomialConstraint], of: Matrix, rows: list[str]
) -> tuple[Matrix, Sequence[PolynomialConstraint], Sequence[WeightedSquare]] | None:
    """A matrix and its constraints where a letter is at a bound, and squares that are what it was larger by."""
    ways = [(i, bound, low) for i, bound in _bounds(domain, constraints, of) if (low := _at(of, i, bound)) is not None]
    larger = [[[a - b for a, b in zip(*both, strict=True)] for both in zip(of, low, strict=True)] for *_, low in ways]
    for k in sorted(range(len(ways)), key=lambda k: sum(c.length for row in larger[k] for c in row if not c.is_zero)):
        more = eliminated(domain, larger[k], rows)
        if more is not None:
            i, bound, low = ways[k]
            images = [c._replace(poly=replaced(c.poly, i, bound.num, bound.den)) for c in constraints]
            return low, [c for c in images if not has_no_negative(c.poly)], more
    return None


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
