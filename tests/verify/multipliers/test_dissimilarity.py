"""Gradients of bounded dissimilarity: what follows, and false statements that a single slip would let through."""

import pytest

import fedtheory as ft
from verify.multipliers.proving import prove

L, gamma, zeta = ft.letters("L gamma zeta")
OF = ft.BoundedDissimilarity(ft.Smooth(L), zeta)


def still(problem, params, state, draw):
    return {"x": state.x, "z": state.z, "y": state.y}


method = ft.method("still", still, ["gamma"], {"x": "point", "z": "point", "y": "models"})


def gradients(problem, x):
    return problem.f.gradient(x[..., None, :])


def apart(v):
    return ((v - v.mean(axis=-2)[..., None, :]) ** 2).sum(axis=-1)


def at_one_point(problem, params, state):
    return apart(gradients(problem, state.x)).sum(axis=-1) / problem.n


def in_all(problem, params, state):
    return apart(gradients(problem, state.x)).sum(axis=-1)


def at_own_points(problem, params, state):
    return apart(problem.f.gradient(state.y)).sum(axis=-1) / problem.n


def of_differences(problem, params, state):
    return apart(gradients(problem, state.x) - gradients(problem, state.z)).sum(axis=-1) / problem.n


def at_two_points(problem, params, state):
    both = gradients(problem, state.x) - gradients(problem, state.z).mean(axis=-2)[..., None, :]
    return (both**2).sum(axis=-1).sum(axis=-1) / problem.n


def of_gradients(problem, params, state):
    return (gradients(problem, state.x) ** 2).sum(axis=-1).sum(axis=-1) / problem.n


def of_mean(problem, params, state):
    return (gradients(problem, state.x).mean(axis=-2) ** 2).sum(axis=-1)


def shown(left, right, of=OF, clients=(2, 3)):
    setting = ft.Setting(algorithm=method, functions=of, clients=clients)
    return not isinstance(
        prove(ft.Claim("mine/dissimilarity", setting=setting, statement=ft.inequality(left <= right))), str
    )


A, S, Y, B, Z, G, M = (
    ft.Quantity(name, of)
    for name, of in (
        ("A", at_one_point),
        ("S", in_all),
        ("Y", at_own_points),
        ("B", of_differences),
        ("Z", at_two_points),
        ("G", of_gradients),
        ("M", of_mean),
    )
)


@pytest.mark.parametrize(
    ("left", "right"), [(A, zeta**2), (S, ft.n * zeta**2), (B, 4 * zeta**2), (G, M + zeta**2)], ids="ASBG"
)
def test_what_follows_is_proved(left, right):
    assert shown(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [(A, zeta**2 / 2), (S, zeta**2), (Y, zeta**2), (B, zeta**2), (Z, zeta**2), (G, zeta**2), (A, zeta)],
    ids=["half", "of one client", "own points", "differences", "two points", "whole", "not squared"],
)
def test_what_is_false_is_not(left, right):
    assert not shown(left, right)


def test_other_classes_know_nothing_of_it():
    assert not shown(A, zeta**2, ft.WeaklyConvex(zeta, L))
