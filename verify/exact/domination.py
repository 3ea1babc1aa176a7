"""Posynomials bounded by others on a domain, by weights of the arithmetic-geometric mean inequality.

Where a_j b_j >= 1 for monomials b_j, nonnegative w_i and v_j with sum w_i = 1 and m = prod m_i^w_i prod b_j^-v_j give
m <= prod a_j^v_j sum w_i m_i. Weights are found by a linear program, in floats and, where that fails, in fractions;
what they show is computed in fractions from the weights alone.

A letter that goes to its limit before all others may count for more: m is then bounded by any multiple of the sum if
its power in what is left over says that that vanishes, whatever the powers of the letters that come later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import sympy
import z3

from verify.exact import solvers
from verify.exact.posynomials import (
    UNIT,
    Monomial,
    Posynomial,
    PosynomialRatio,
    at_most_power,
    difference,
    product,
    raised,
    times,
)

#: Denominators to which weights are rounded, the plainest first.
_DENOMINATORS = (60, 10**6)
#: Effort after which z3 gives up, in its own units.
_EFFORT = 2_000_000
#: The multiple with which a quantity counts that is bounded by any multiple.
VANISHING = Fraction(1, 1000)
#: Weights of constraints may not be more than this, so that a program has a solution.
_LARGEST = 1000


@dataclass(frozen=True)
class MonomialBound:
    """coefficient * monomial >= 1."""

    coefficient: Fraction
    monomial: Monomial


@dataclass(frozen=True)
class MonomialDomain:
    """The domain on which inequalities are shown: constraints, and what comes first.

    ``firsts``: letters that go to a limit before all later ones of them, and before those of ``others``, each with the
    sign of the exponents with which its powers vanish. A letter that is neither is a number of which only the
    constraints are known.
    """

    constraints: tuple[MonomialBound, ...] = ()
    firsts: tuple[tuple[int, int], ...] = ()
    others: frozenset[int] = frozenset()

    def with_constraints(self, *more: MonomialBound) -> MonomialDomain:
        """The part of it where further constraints hold."""
        return MonomialDomain((*self.constraints, *more), self.firsts, self.others)


@dataclass(frozen=True)
class DominationWeights:
    """Weights of monomials, which sum to 1, and of constraints; these alone where a domain is shown to be empty."""

    of_monomials: tuple[Fraction, ...]
    of_constraints: tuple[Fraction, ...]


def factor(
    m: Monomial, monomials: Sequence[Monomial], domain: MonomialDomain, weights: DominationWeights
) -> Fraction | None:
    """The constant c with m <= c sum w_i m_i on the domain that weights show; None where they show none."""
    w, v = weights.of_monomials, weights.of_constraints
    if len(w) != len(monomials) or len(v) != len(domain.constraints):
        return None
    if sum(w) != 1 or min((*w, *v), default=Fraction(0)) < 0:
        return None
    left = m
    for monomial, weight in zip(monomials, w, strict=True):
        left = times(left, raised(monomial, -weight))
    for constraint, weight in zip(domain.constraints, v, strict=True):
        left = times(left, raised(constraint.monomial, weight))
    if left != UNIT:
        return VANISHING if _vanishes(dict(left), domain) else None
    total = Fraction(1)
    for constraint, weight in zip(domain.constraints, v, strict=True):
        if weight:
            total *= at_most_power(constraint.coefficient, weight)
    return total


def _vanishes(powers: dict[int, Fraction], domain: MonomialDomain) -> bool:
    later = {letter for letter, _ in domain.firsts} | domain.others
    if not powers.keys() <= later:
        return False
    leading = next(((powers[letter], sign) for letter, sign in domain.firsts if letter in powers), None)
    return leading is not None and leading[0] * leading[1] > 0


def is_empty(domain: MonomialDomain, weights: DominationWeights) -> bool:
    """Return True if weights of constraints show that a domain is empty: prod b_j^v_j is 1 and prod a_j^v_j < 1, or it
    vanishes.
    """
    v = weights.of_constraints
    if len(v) != len(domain.constraints) or min(v, default=Fraction(0)) < 0:
        return False
    left, total = UNIT, Fraction(1)
    for constraint, weight in zip(domain.constraints, v, strict=True):
        if weight:
            left = times(left, raised(constraint.monomial, weight))
            total *= at_most_power(constraint.coefficient, weight)
    return total < 1 if left == UNIT else _vanishes(dict(left), domain)


def largest_share(
    small: Posynomial, large: Posynomial, domain: MonomialDomain, weights: Sequence[DominationWeights]
) -> Fraction | None:
    """The constant c with small <= c large on the domain that weights show, a set of them for each monomial of
    ``small``; None where they show none."""
    monomials, used = list(large), dict.fromkeys(large, Fraction(0))
    if len(weights) != len(small):
        return None
    for (m, c), found in zip(small.items(), weights, strict=True):
        bound = factor(m, monomials, domain, found)
        if bound is None:
            return None
        for monomial, weight in zip(monomials, found.of_monomials, strict=True):
            used[monomial] += c * bound * weight
    return max((used[m] / c for m, c in large.items()), default=Fraction(0))


def bounding(small: Posynomial, large: Posynomial, domain: MonomialDomain) -> tuple[DominationWeights, ...] | None:
    """Weights that show small <= c large on the domain for some c, or None where none are found."""
    monomials, found = list(large), []
    if small and not large:
        return None
    for m in small:
        weights = _single(m, monomials, domain) or _sought(m, monomials, domain)
        if weights is None:
            return None
        found.append(weights)
    return tuple(found)


def share(small: Posynomial, large: Posynomial, domain: MonomialDomain) -> Fraction | None:
    """A constant c < 1 with small <= c large on the domain, or None where none is found."""
    for weigh in (bounding, _together) if large else (bounding,):
        weights = weigh(small, large, domain)
        found = None if weights is None else largest_share(small, large, domain, weights)
        if found is not None and found < 1:
            return found
    return None


def emptying(domain: MonomialDomain) -> DominationWeights | None:
    """Weights that show that a domain is empty, or None where none are found."""
    program = _MeansProgram(UNIT, [], domain)
    costs = [_logarithm(c.coefficient) for c in domain.constraints]
    for gains, rows in ((costs, program.rows), *program.vanishing(domain)):
        solution = program.solved(gains, rows, most=1) if min(gains, default=0) < 0 else None
        if solution is not None and float(np.dot(gains, solution)) < -1e-9:
            for weights in program.rounded(solution):
                if is_empty(domain, weights):
                    return weights
    return None


def _solved(costs: Any, most: float, given: Mapping[str, Any]) -> Any:
    """scipy's answer to a linear program; it is loaded here, for that takes as long as numpy and sympy."""
    from scipy.optimize import linprog

    return linprog(costs, bounds=(0, most), method="highs-ds", **given)


def _together(small: Posynomial, large: Posynomial, domain: MonomialDomain) -> tuple[DominationWeights, ...] | None:
    """Weights of all monomials at once, so that none of those that bound them is used for too many; of the constraints
    only those count that cost nothing."""
    free = [j for j, c in enumerate(domain.constraints) if c.coefficient <= 1]
    within = MonomialDomain(tuple(domain.constraints[j] for j in free))
    programs = [_MeansProgram(m, list(large), within) for m in small]
    width, total = len(large) + len(free), len(small) * (len(large) + len(free)) + 1
    equations, aims = [], []
    shares = np.zeros((len(large), total))
    shares[:, -1] = [-float(c) for c in large.values()]
    for k, (program, c) in enumerate(zip(programs, small.values(), strict=True)):
        sums = [1.0] * len(large) + [0.0] * len(free)
        for coefficients, aim in (*((program.row(x), program.aim.get(x, 0)) for x in program.rows), (sums, 1)):
            row = np.zeros(total)
            row[k * width : (k + 1) * width] = coefficients
            equations.append(row)
            aims.append(float(aim))
        shares[:, k * width : k * width + len(large)] += float(c) * np.eye(len(large))
    costs = np.zeros(total)
    costs[-1] = 1
    given = {"A_eq": np.array(equations), "b_eq": np.array(aims), "A_ub": shares, "b_ub": np.zeros(len(large))}
    answer = _solved(costs, _LARGEST, given)
    if answer.status != 0 or answer.x[-1] > 1:
        return None
    found = []
    for k, program in enumerate(programs):
        weights = program.rounded(answer.x[k * width : (k + 1) * width])[0]
        spread = dict(zip(free, weights.of_constraints, strict=True))
        constraints = tuple(spread.get(j, Fraction(0)) for j in range(len(domain.constraints)))
        found.append(DominationWeights(weights.of_monomials, constraints))
    return tuple(found)


def _single(m: Monomial, monomials: Sequence[Monomial], domain: MonomialDomain) -> DominationWeights | None:
    """The weights where the monomial is one of those that bound it."""
    if m not in monomials:
        return None
    chosen = tuple(Fraction(monomial == m) for monomial in monomials)
    return DominationWeights(chosen, (Fraction(0),) * len(domain.constraints))


def _sought(m: Monomial, monomials: Sequence[Monomial], domain: MonomialDomain) -> DominationWeights | None:
    program = _MeansProgram(m, monomials, domain)
    # Among ways that are equally good, the one with the fewest constraints.
    costs = [0.0] * len(monomials) + [_logarithm(c.coefficient) + 0.001 for c in domain.constraints]
    for gains, rows in (*program.vanishing(domain), (costs, program.rows)):
        solution = program.solved(gains, rows)
        for weights in program.rounded(solution) if solution is not None else ():
            if factor(m, monomials, domain, weights) is not None:
                return weights
    exact = program.exact()
    return exact if exact is not None and factor(m, monomials, domain, exact) is not None else None


def _logarithm(value: Fraction) -> float:
    return float(np.log(float(value))) if 1e-300 < value < 1e300 else 700.0 * (1 if value > 1 else -1)


class _MeansProgram:
    """sum w_i m_i - sum v_j b_j = m in the exponents of each letter, and sum w_i = 1 where there are monomials."""

    def __init__(self, m: Monomial, monomials: Sequence[Monomial], domain: MonomialDomain) -> None:
        self.monomials, self.constraints = monomials, domain.constraints
        self.columns = [*map(dict, monomials), *(dict(raised(c.monomial, Fraction(-1))) for c in domain.constraints)]
        self.aim = dict(m)
        self.rows = sorted(set(self.aim).union(*self.columns))

    def row(self, letter: int) -> list[float]:
        """The exponents of a letter in each column."""
        return [float(column.get(letter, 0)) for column in self.columns]

    def vanishing(self, domain: MonomialDomain) -> Iterator[tuple[list[float], list[int]]]:
        """Costs and equations with which what is left over vanishes with a letter that comes first: the powers of those
        that come later are free."""
        for place, (letter, sign) in enumerate(domain.firsts):
            if letter in self.rows:
                free = {later for later, _ in domain.firsts[place:]} | domain.others
                yield [sign * x for x in self.row(letter)], [row for row in self.rows if row not in free]

    def solved(self, costs: Sequence[float], rows: Sequence[int], most: float = _LARGEST) -> np.ndarray | None:
        """A solution of least cost that meets the equations of some letters, in floats."""
        sums = [1.0] * len(self.monomials) + [0.0] * len(self.constraints)
        equations = [*map(self.row, rows), *([sums] if self.monomials else [])]
        aims = [*(float(self.aim.get(letter, 0)) for letter in rows), *([1.0] if self.monomials else [])]
        if not self.columns:
            return None
        given = {"A_eq": np.array(equations), "b_eq": np.array(aims)} if equations else {}
        answer = _solved(costs, most, given)
        return answer.x if answer.status == 0 else None

    def rounded(self, solution: np.ndarray) -> list[DominationWeights]:
        """Weights of small denominators near a solution."""
        found = []
        for denominator in _DENOMINATORS:
            x = [Fraction(float(value)).limit_denominator(denominator) for value in solution]
            found.append(DominationWeights(tuple(x[: len(self.monomials)]), tuple(x[len(self.monomials) :])))
        return found

    def exact(self) -> DominationWeights | None:
        """A solution in fractions, which need not be of least cost."""
        unknowns = [z3.Real(f"weight {k}") for k in range(len(self.columns))]
        conditions = [*(x >= 0 for x in unknowns), z3.Sum(unknowns[: len(self.monomials)]) == 1]
        for letter in self.rows:
            terms = [_number(column.get(letter, 0)) * x for column, x in zip(self.columns, unknowns, strict=True)]
            conditions.append(z3.Sum(terms) == _number(self.aim.get(letter, 0)))
        solver = solvers.solver(conditions, _EFFORT, "QF_LRA")
        if solver.check() != z3.sat:
            return None
        x = solvers.values(solver, unknowns)
        return DominationWeights(tuple(x[: len(self.monomials)]), tuple(x[len(self.monomials) :]))


def _number(value: Fraction | int) -> z3.ArithRef:
    return z3.RealVal(str(Fraction(value)))


# Parts of a domain, and in which of them one quotient of posynomials is at most another.

#: Terms of a sum of which one is the largest in a case of its own.
SPLIT = 6


class SignedRatio(NamedTuple):
    """A number as its sign, which may also be that of 0, and its size."""

    sign: int
    size: PosynomialRatio


@dataclass(frozen=True)
class DomainPart:
    """A part of the domain: constraints there, and what expressions are."""

    domain: MonomialDomain
    values: Mapping[sympy.Expr, SignedRatio] = field(default_factory=lambda: MappingProxyType({}))

    def where(self, *constraints: MonomialBound) -> DomainPart:
        """The part of it where constraints hold."""
        return replace(self, domain=self.domain.with_constraints(*constraints)) if constraints else self


#: The value of an expression, and its domain.
Found = list[tuple[SignedRatio, DomainPart]]


def cleared(above: PosynomialRatio, below: PosynomialRatio) -> tuple[Posynomial, Posynomial, Posynomial]:
    """above - below as (plus - minus)/bottom."""
    if above.bottom == below.bottom:
        return *difference(above.top, below.top), above.bottom
    plus, minus = difference(product(above.top, below.bottom), product(below.top, above.bottom))
    return plus, minus, product(above.bottom, below.bottom)


def ordered(low: PosynomialRatio, high: PosynomialRatio, case: DomainPart, split: int = SPLIT) -> list[DomainPart]:
    """The cases in which one number is at most another; perhaps more, of a sum of more than ``split`` terms."""
    plus, minus, _ = cleared(high, low)
    if not minus:
        return [case]
    if len(plus) > split:
        return [case]
    found = []
    for monomial, c in plus.items():
        # Each term of a sum may be the largest, which is at least its share.
        rest = {m: k for m, k in plus.items() if m != monomial}
        bounded = [(m, k / len(plus)) for m, k in minus.items()] + list(rest.items())
        part = case.where(*(MonomialBound(c / k, times(monomial, raised(m, Fraction(-1)))) for m, k in bounded))
        if emptying(part.domain) is None:
            found.append(part)
    return found


def largest(
    size: PosynomialRatio, others: Sequence[PosynomialRatio], case: DomainPart, split: int = SPLIT
) -> list[DomainPart]:
    """The cases in which a number is at least each of some others; perhaps more than those."""
    cases = [case]
    for other in others:
        cases = [one for each in cases for one in ordered(other, size, each, split)]
    return cases
