"""Letters next to bounds that no fraction attains, letters of a root far apart: what fails only there is refuted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import E
from verify.base.verdict import Verdict
from verify.methods import METHODS, edges, search
from verify.methods.base import Inquiry

mu, L, gamma, A, B, phi = ft.letters("mu L gamma A B phi")


def _descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


D = ft.Quantity("D", ft.distance)
GOLDEN = (phi**2 <= phi + 1, phi > 1)


def _claim(*requires, letters=("A", "B"), domain=()):
    method = ft.method("descent", _descend, ["gamma", *letters], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,), domain=domain)
    # It holds if, and only if, gamma (mu + L) <= 2.
    statement = ft.one_step(method, E(D.next) <= (1 - gamma * mu) ** 2 * D)
    return ft.Claim("own/edges", setting=setting, statement=statement, requires=requires)


def _rooted(most, root=B / A):
    return _claim(gamma * (mu + L) * (1 + sympy.sqrt(root)) <= most, domain=(A <= 1,))


def _golden(share):
    return _claim(*GOLDEN, gamma * (mu + L) <= phi * share, letters=("phi",))


def _found(claim):
    assert edges.METHOD.speaks_of(claim)
    return edges.METHOD.run(edges.METHOD, Inquiry(claim, 0, 0, given=()))


FALSE = {
    "a ratio under a root is small": _rooted(Fraction(21, 10)),
    "its inverse is": _rooted(Fraction(21, 10), A / B),
    "a product is": _rooted(Fraction(21, 10), A * B),
    "a letter is next to an irrational bound": _golden(Fraction(5, 4)),
    "a root of one letter": _claim(gamma * (mu + L) <= 2 + sympy.sqrt(A) / 10, domain=(A <= 1,)),
}
TRUE = {
    "a ratio under a root": _rooted(2),
    "its inverse": _rooted(2, A / B),
    "next to the golden ratio": _golden(Fraction(1236, 1000)),
    "a root of one letter": _claim(gamma * (mu + L) <= 2 - sympy.sqrt(A) / 10, domain=(A <= 1,)),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_next_to_such_bounds_is_refuted(name, monkeypatch):
    monkeypatch.setattr(edges, "REFUTATIONS", 1)
    found = _found(FALSE[name])
    assert found.verdict is Verdict.REFUTED
    example = found.counterexample
    assert example.replay() == (example.left, example.right) and example.left > example.right
    assert all(isinstance(side, Fraction) for side in example.replay())


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_there_is_not(name):
    found = _found(TRUE[name])
    assert found.verdict is None and found.instances > 20


def test_hypotheses_that_fractions_attain_are_left_to_draws():
    assert not edges.bent(_claim(gamma * (mu + L) <= 2))
    assert not edges.bent(_claim(gamma * (mu + L) * A <= B))
    assert edges.bent(_golden(1)) == (GOLDEN[0],)
    # An equality is met where it can be solved, or never.
    assert not edges.bent(_claim(sympy.Eq(phi**2, phi + 1), letters=("phi",)))


def test_values_next_to_a_bound_are_simple_and_inside():
    values = {phi: Fraction(1)}
    near = list(edges._next_to_bounds(phi, values, GOLDEN, Fraction(1, 10**6)))
    assert all(1 < value and value**2 < value + 1 for value in near)
    assert abs(float(max(near)) - (1 + 5**0.5) / 2) < 2e-6 and max(near).denominator < 2000
    assert edges._simplest(Fraction(1001, 1000), Fraction(11, 10)) == Fraction(11, 10)
    assert edges._simplest(Fraction(7, 10), Fraction(8, 10)) == Fraction(3, 4)


def test_it_is_asked_of_what_is_not_proved():
    names = [method.name for method in METHODS]
    assert names.index("derivation") < names.index("edges") < names.index("grid runs") < names.index("late rounds")


@pytest.mark.parametrize(
    ("equation", "never"),
    [
        (sympy.Eq(phi**2, phi + 1), True),
        (sympy.Eq(phi, 1 + 1 / phi), True),
        (sympy.Eq(phi**2, 2), True),
        (sympy.Eq(phi**2, Fraction(9, 4)), False),
        (sympy.Eq(phi**2, A), False),
        (sympy.Eq(phi**2, sympy.sqrt(2) * phi), False),
        (phi**2 <= 2, False),
    ],
)
def test_an_equation_that_no_fraction_satisfies_is_named(equation, never):
    assert search._is_met_by_no_fraction(equation) is never


def test_a_claim_with_such_an_equation_says_so():
    claim = _claim(sympy.Eq(phi**2, phi + 1), letters=("phi",))
    found = search._unmet(claim, np.random.default_rng(0), 8)
    assert "Eq(phi**2, phi + 1) holds at no fraction" in found and "phi**2 <= phi + 1" in found
