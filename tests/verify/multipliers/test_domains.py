"""Signs of polynomials and regular domains, where charts leave constraints that are linear in no letter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from verify.multipliers.charts import has_no_negative
from verify.multipliers.domains import Domain
from verify.multipliers.ratios import coefficients, degree, from_terms, polynomials, terms

RING = polynomials(("x", "y", "z"))
X, Y, Z = RING.gens()
ONE = RING.constant(1)


def domain(*constraints, positive=(0, 1, 2)):
    found = Domain(RING, frozenset(positive))
    for p, strict in constraints:
        found = found.with_constraint(p, strict)
    return found


def value(p, at):
    return sum((c * np.prod([v**k for v, k in zip(at, m, strict=True)]) for m, c in terms(p)), Fraction(0))


SHORT = (ONE - X**2 * Y**2 * Z - X * Y, False)


def test_parts_of_polynomials_are_those_of_their_terms():
    rng = np.random.default_rng(0)
    for _ in range(200):
        of = {tuple(map(int, rng.integers(0, 4, 3))): Fraction(int(rng.integers(-2, 9)), 7) for _ in range(8)}
        p = from_terms(RING, dict(list(of.items())[: int(rng.integers(0, 9))]))
        assert has_no_negative(p) is all(c > 0 for _, c in terms(p))
        for i in range(3):
            assert degree(p, i) == max((m[i] for m, _ in terms(p)), default=0)
            found = coefficients(p, i)
            assert sum((c * RING.gen(i) ** k for k, c in found.items()), RING.constant(0)) == p
            assert all(c != 0 and degree(c, i) == 0 for c in found.values())


def test_what_a_constraint_without_a_linear_letter_implies():
    quadratic = domain((ONE - Y**2 * X**2 - X, False))
    assert quadratic.is_regular()
    assert quadratic.sign(1 - X) and not quadratic.sign(1 - 2 * X) and not quadratic.sign(1 - Y)
    assert domain(SHORT).sign(Z - X * Y * Z) and not domain(SHORT).sign(Z - 2 * X * Y * Z)


@pytest.mark.parametrize(
    "constraints",
    (
        # An equation, and an inequality that only holds where it is one.
        ((ONE - X**2 * Y**2 - X, False), (X**2 * Y**2 + X - 1, False)),
        (SHORT, ((X * Y - 1) ** 2 * -1, False)),
        # Two parts of which one is thin: x <= 1 with any y, and x = 2.
        (((1 - X) * (X - 2) ** 2, False),),
        # Nothing at all.
        ((ONE - X**2 * Y**2 - X, False), (X - 2, False)),
    ),
)
def test_thin_and_empty_parts_are_not_regular(constraints):
    assert not domain(*constraints).is_regular()


def test_a_letter_that_may_be_zero_makes_no_room():
    # Where x = 0 the constraint does not hold better for a smaller x: y = 1 is left alone there with z.
    thin = domain((Y - Z, False), (Z - Y - X * Z**2 * Y**2, False), positive=(1, 2))
    assert not thin.is_regular()


def test_signs_hold_at_points():
    rng = np.random.default_rng(0)

    def drawn(count):
        found = {}
        for _ in range(count):
            found[tuple(map(int, rng.integers(0, 2, 3)))] = int(rng.integers(-3, 4))
        return RING.from_dict({m: c for m, c in found.items() if c})

    shown = 0
    for _ in range(8):
        constraints = [(p, bool(rng.integers(2))) for p in (drawn(3), drawn(4)) if p != 0]
        here = domain(*constraints, positive=(0, 1))
        points = [tuple(Fraction(int(a), int(b)) for a, b in rng.integers(1, 9, (3, 2))) for _ in range(60)]
        points += [(x, y, Fraction(0)) for x, y, _ in points[:20]]
        inside = [at for at in points if all(v > 0 if s else v >= 0 for p, s in constraints for v in [value(p, at)])]
        for p in (drawn(2), drawn(3), drawn(3), *(p + drawn(1) for p, _ in constraints)):
            for strict in (False, True):
                if p != 0 and here.sign(p, strict) is not None:
                    shown += 1
                    assert all(value(p, at) > 0 if strict else value(p, at) >= 0 for at in inside)
    assert shown > 4
