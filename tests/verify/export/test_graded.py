"""Shorter squares: a form is the one where letters are at bounds, and what it is larger by."""

import json

import pytest

from fedtheory import claims
from verify import checker
from verify.export import for_all_letters, graded
from verify.multipliers.domains import Domain
from verify.multipliers.ratios import Ratio, polynomials, text

NAMES = ("L", "mu", "n")
RING = polynomials(NAMES)
L, MU, N = (Ratio(RING.gen(i), RING.constant(1)) for i in range(3))
DOMAIN = Domain(RING, frozenset({0, 1, 2})).with_constraint((L - MU).num, False).with_constraint((N - 1).num, False)
ROWS = ["a", "b"]


def _sum(squares):
    zero = L * 0
    return [
        [sum((s.weight * s.vector.get(a, 0) * s.vector.get(b, 0) for s in squares), zero) for b in ROWS] for a in ROWS
    ]


def test_what_a_form_is_larger_by_and_what_is_left_have_numbers():
    """n (L + mu) |a + b|^2 + mu |a|^2: elimination has a minor of three terms, and the bounds mu, 1 have none."""
    of = [[N * (L + MU) + MU, N * (L + MU)], [N * (L + MU), N * (L + MU)]]
    found = graded.at_bounds(DOMAIN, of, ROWS)
    assert [[text(c, NAMES) for c in row] for row in _sum(found)] == [[text(c, NAMES) for c in row] for row in of]
    assert all(DOMAIN.ratio_sign(s.weight) is not None for s in found)
    assert all(c.num.is_constant() and c.den.is_constant() for s in found for c in s.vector.values())


@pytest.mark.parametrize("less", [3, 1])
def test_a_form_that_is_negative_somewhere_has_none(less):
    """L |a|^2 - c mu |b|^2, and what is not finite at the bound: |a|^2/(L - mu) - n |b|^2."""
    of = [[L, L * 0], [L * 0, MU * -less]] if less > 1 else [[1 / (L - MU), L * 0], [L * 0, -N]]
    assert graded.at_bounds(DOMAIN, of, ROWS) is None


def test_what_all_entries_share_stays_out_of_the_squares():
    """The same, times (n - 1)/(L n): what the form is larger by where n is at its bound is not divided by n."""
    times = (N - 1) / (L * N)
    of = [[times * (N * (L + MU) + MU), times * N * (L + MU)], [times * N * (L + MU), times * N * (L + MU)]]
    found = graded.at_bounds(DOMAIN, of, ROWS, careful=True)
    assert [[text(c, NAMES) for c in row] for row in _sum(found)] == [[text(c, NAMES) for c in row] for row in of]
    assert all(DOMAIN.ratio_sign(s.weight) is not None for s in found)
    assert all(c.num.is_constant() and c.den.is_constant() for s in found for c in s.vector.values())


@pytest.mark.slow
@pytest.mark.parametrize("id", ["fedadmm/theorem-4.3/iteration", "feddcd/eq-31/repaired"])
def test_what_would_take_long_to_multiply_out_is_checked(id):
    (made,) = for_all_letters.of_each_client(claims.get(id))
    assert checker.check(json.dumps(made)) == made
    weights = [s["weight"] for program in made["programs"] for s in program["squares"]]
    assert max(len(w["num"]) + len(w["den"]) for w in weights if not isinstance(w, str)) < 130
