"""Names of functions of the letters whose intervals at points are known: products of powers of simple factors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from fedtheory.numbers.rational import Array
from verify.base import panics
from verify.exact.elimination import leading
from verify.multipliers.posing import Posed
from verify.multipliers.ratios import Ratio, key, terms
from verify.multipliers.work import COSTS, Work

#: Numbers in front of products, the simplest first; the largest power of a factor; terms of a factor.
CONSTANTS = sorted(
    {Fraction(a, b) for a in range(1, 9) for b in range(1, 9) if a * b <= 24}, key=lambda c: c.numerator + c.denominator
)
_POWER, _TERMS = 3, 6
#: More than the logarithm of anything at a point.
_BIG = 60.0

#: A grading of letters, and what it makes of each form: degrees of letters, and of the target and what is known.
Grading = tuple[Array, Array]


def factors(posed: Posed, more: Sequence[Ratio] = ()) -> list[Any]:
    """Polynomials that multipliers may consist of: letters, constraints, what stands in the program, bounds."""
    found: dict[str, Any] = {}
    used = {i for f in (posed.target, *posed.known.values()) for c in f.of.values() for i in c.letters()}

    def add(p: Any) -> None:
        if p == 0 or p.is_constant():
            return
        for factor, _ in p.factor()[1]:
            if len(factor) <= _TERMS and not factor.is_constant() and key(-factor) not in found:
                found.setdefault(key(factor), factor)

    for i in sorted(used):
        add(posed.domain.ring.gen(i))
    for constraint in posed.domain.constraints:
        add(constraint.poly)
    for f in (posed.target, *posed.known.values()):
        for ratio in f.of.values():
            add(ratio.num)
            add(ratio.den)
    for bounds in posed.branches.values():
        for b in bounds:
            for ratio in (b, 1 - b):
                add(ratio.num)
                add(ratio.den)
    for ratio in (*posed.hints, *more):
        add(ratio.num)
        add(ratio.den)
    return [p for p in found.values() if {i for m, _ in terms(p) for i, k in enumerate(m) if k} <= used]


def gradings(posed: Posed) -> list[Grading]:
    """Scalings of letters, vectors and numbers under which all forms are homogeneous."""
    forms = [posed.target, *posed.known.values()]
    rows = sorted({r for f in forms for k in f.of for r in k[1:]})
    letters, place = len(posed.names), {r: i for i, r in enumerate(rows)}
    width = letters + len(rows) + len(forms)
    found = []
    for k, form in enumerate(forms):
        for entry, c in form.of.items():
            num, den = [m for m, _ in terms(c.num)], [m for m, _ in terms(c.den)]
            for m in num:
                row = np.zeros(width)
                row[:letters] = np.array(m) - np.array(den[0])
                for r in entry[1:]:
                    row[letters + place[r]] += 1
                row[letters + len(rows) + k] -= 1
                found.append(row)
            found += _differences(den, width, letters)
    for constraint in posed.domain.constraints:
        found += _differences([m for m, _ in terms(constraint.poly)], width, letters)
    kernel = _kernel(np.unique(np.array(found), axis=0))
    graded = [(v[:letters], v[letters + len(rows) :]) for v in kernel]
    return [(a, b) for a, b in graded if np.abs(a).max() > 0 or np.abs(b).max() > 0]


def _differences(monomials: list[tuple[int, ...]], width: int, letters: int) -> list[Array]:
    found = []
    for m in monomials[1:]:
        row = np.zeros(width)
        row[:letters] = np.array(m) - np.array(monomials[0])
        found.append(row)
    return found


def _kernel(of: Array) -> list[Array]:
    """A basis of the vectors that a matrix of whole numbers maps to zero."""
    echelon, rank = flint.fmpq_mat(flint.fmpz_mat([[int(v) for v in row] for row in of])).rref()
    pivots, width, found = leading(echelon, rank), of.shape[1], []
    for c in range(width):
        if c not in pivots:
            v = np.zeros(width)
            v[c] = 2
            for r, p in enumerate(pivots):
                v[p] = -2 * float(Fraction(int(echelon[r, c].p), int(echelon[r, c].q)))
            found.append(v)
    return found


def degree_in(p: Any, grading: Array) -> float | None:
    """The degree of a polynomial in a grading; None where it is not homogeneous."""
    degrees = {round(float(np.dot(grading, m)), 9) for m, _ in terms(p)}
    return degrees.pop() if len(degrees) == 1 else None


def names(
    at: Array,
    low: Array,
    high: Array,
    rng: np.random.Generator,
    weights: Array,
    units: Sequence[tuple[Array, float]],
    count: int,
    tolerance: float,
    work: Work,
    other_than: tuple[int, ...] | None = None,
) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Numbers c and exponents with low <= c times the product of powers <= high at all points but a few.

    ``at``: values of the factors ``(factors, points)``; ``other_than``: exponents that are not to be found again.
    Integer programs in logarithms, the simplest first.
    """
    count_of, points = at.shape
    if (high <= 0).any():
        return
    logs, below, above = np.log(at), low > 0, np.isfinite(high)
    least = np.where(below, np.log(np.where(below, low, 1)), -np.inf) - tolerance
    most = np.where(above, np.log(np.where(above, high, 1)), np.inf) + tolerance
    crossed = below & above & (low > high)
    least, most = np.where(crossed, np.minimum(least, most), least), np.where(crossed, np.maximum(least, most), most)
    K, C = count_of, len(CONSTANTS)
    made = np.hstack([logs.T, -logs.T, np.tile(np.log([float(c) for c in CONSTANTS]), (points, 1))])
    nothing = np.zeros(C + points)
    one = np.concatenate([np.zeros(2 * K), np.ones(C), np.zeros(points)])[None]
    given_up = np.concatenate([np.zeros(2 * K + C), np.ones(points)])[None]
    constraints = [
        LinearConstraint(np.hstack([made, _BIG * np.eye(points)]), least, np.inf),
        LinearConstraint(np.hstack([made, -_BIG * np.eye(points)]), -np.inf, most),
        LinearConstraint(one, 1, 1),
        LinearConstraint(given_up, 0, max(1, points // 10)),
        *(LinearConstraint(np.concatenate([u, -u, nothing])[None], d - 1e-6, d + 1e-6) for u, d in units),
    ]
    bounds = Bounds(np.zeros(2 * K + C + points), np.concatenate([np.full(2 * K, _POWER), np.ones(C + points)]))
    simple = [0.15 * (c.numerator + c.denominator - 2) for c in CONSTANTS]

    def solved(w: Array, *more: LinearConstraint) -> tuple[float, tuple[Fraction, tuple[int, ...]]] | None:
        cost = np.concatenate([w, w, simple, 2.5 * np.ones(points)])
        options = {"node_limit": COSTS.nodes, "mip_rel_gap": 0.01}
        every, whole = [*constraints, *more], np.ones(len(cost))
        with panics.unheard():
            found = milp(cost, constraints=every, integrality=whole, bounds=bounds, options=options)
        work.spend(COSTS.integer_program + COSTS.node * (found.mip_node_count or 0))
        if found.x is None:
            return None
        x = np.round(found.x).astype(int)
        powers = tuple(map(int, x[:K] - x[K : 2 * K]))
        return float(found.fun), (CONSTANTS[int(np.argmax(x[2 * K : 2 * K + C]))], powers)

    if other_than is not None:
        # One exponent is larger, or smaller.
        others = []
        for k, side in product(range(K), (1, -1)):
            if work.is_spent:
                break
            row = np.concatenate([np.eye(K)[k], -np.eye(K)[k], nothing])[None] * side
            others.append(solved(weights, LinearConstraint(row, side * other_than[k] + 1, np.inf)))
        yield from dict.fromkeys(name for _, name in sorted(one for one in others if one is not None))
        return
    seen = set()
    for attempt in range(count):
        if work.is_spent:
            return
        known = solved(weights * (1 if attempt == 0 else rng.uniform(0.5, 2.0, K)))
        if known is None:
            return
        if known[1] not in seen:
            seen.add(known[1])
            yield known[1]
