"""Inequalities of a single client's states: its gradient at x* is 0, and where it is asked is compared with x*."""

from dataclasses import replace

import pytest
import sympy
from linked import shown

import fedtheory as ft
from fedtheory import claims

L, gamma = ft.letters("L gamma")
s = sympy.Symbol("s", nonnegative=True)
CHAIN = "fedadmm/theorem-3.1/proof/repaired"


def test_the_chain_of_fedadmm_is_shown_for_all_letters():
    claim = claims.get(CHAIN)
    assert shown(claim)
    penalty = next(h for h in claim.requires if "sigma" in h.text and "rho" in h.text)
    others = tuple(h for h in claim.requires if h is not penalty)
    assert not shown(replace(claim, id="mine/chain", requires=others))
    left, more = claim.statement.left, 2 * claim.statement.right
    assert not shown(replace(claim, id="mine/other", statement=replace(claim.statement, right=left - more)))


def _length(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2))


def _at_optimum(problem, params, state):
    return (problem.y_star**2).sum(axis=(-1, -2))


def _gap(problem, params, state):
    at_x = problem.f.value(state.x[..., None, :]) - problem.f.value(problem.x_star[..., None, :])
    return at_x.sum(axis=-1)


METHOD = ft.method("mine", lambda problem, params, state, draw: {"x": state.x}, ["gamma"], {"x": "point"})
G, Y, F = (ft.Quantity(name, of) for name, of in (("G", _length), ("Y", _at_optimum), ("F", _gap)))
D = ft.Quantity("D", ft.distance)


@pytest.mark.parametrize(
    ("relation", "clients", "right"),
    (
        (lambda: G <= L**2 * D / 2, (1,), False),
        # The gradients of several clients balance, and need not be 0.
        (lambda: Y <= 0, (1,), True),
        (lambda: Y <= 0, (1, 2, 3), False),
        (lambda: G <= L**2 * D, (1, 2, 3), False),
        (lambda: F <= L / 2 * D, (1,), True),
        (lambda: F <= s / 2 * D, (1,), False),
        # Of a weakly convex function s is at most r, and x* need not be a minimiser.
        (lambda: -F <= s / 2 * D, (1,), True),
        (lambda: -F <= L / 2 * D, (1,), True),
        (lambda: -F <= 0, (1,), False),
    ),
)
def test_what_is_known_at_the_stationary_point_of_one_client(relation, clients, right):
    functions = ft.WeaklyConvex(s, L, optimum="stationary")
    setting = ft.Setting(algorithm=METHOD, functions=functions, clients=clients)
    assert shown(ft.Claim("mine/one", setting=setting, statement=ft.inequality(relation()))) is right


@pytest.mark.parametrize(("relation", "right"), ((lambda: -F <= 0, True), (lambda: F <= 0, False)))
@pytest.mark.parametrize("clients", ((1,), (1, 2, 3)))
def test_inequalities_without_letters_are_posed(relation, right, clients):
    setting = ft.Setting(algorithm=METHOD, functions=ft.SmoothConvex(L), clients=clients)
    assert shown(ft.Claim("mine/plain", setting=setting, statement=ft.inequality(relation()))) is right
