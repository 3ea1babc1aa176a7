"""Expectations over all draws of compressors, in quantities of claims about one step."""

import pytest

import fedtheory as ft
from fedtheory.numbers.rational import is_exact
from fedtheory.randomness import expectation, support_of
from verify.multipliers.proving import prove

mu, L, omega = ft.letters("mu L omega")
stays = ft.method("stays", lambda problem, params, state, draw: {"z": state.z}, ["compressors"], {"z": "clients"})
SETTING = ft.Setting(algorithm=stays, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.UnbiasedCompressors(),))


def compressed(params, z):
    draws, probabilities = support_of(params.compressors.draws, is_exact(z))
    return params.compressors.apply(draws, z[..., None, :, :]), probabilities


def of_all(problem, params, state):
    return (state.z**2).sum(axis=(-1, -2))


def size(problem, params, state):
    values, probabilities = compressed(params, state.z)
    return expectation((values**2).sum(axis=(-1, -2)), probabilities)


def error(problem, params, state):
    values, probabilities = compressed(params, state.z)
    return expectation(((values - state.z[..., None, :, :]) ** 2).sum(axis=(-1, -2)), probabilities)


def of_expected(problem, params, state):
    values, probabilities = compressed(params, state.z)
    mean = expectation(values.sum(axis=(-1, -2)), probabilities)
    return mean**2


def of_draws(problem, params, state):
    draws, probabilities = support_of(params.compressors.draws, is_exact(state.z))
    return of_all(problem, params, state) + expectation(draws, probabilities)


Z, Z_next = ft.Quantity("Z", of_all), ft.Quantity("Z_next", of_all, after=True)
S, R = ft.Quantity("S", size), ft.Quantity("R", error)
STATEMENTS = {
    "size": (ft.E(Z_next + S) <= (2 + omega) * Z, True),
    "error": (ft.E(Z_next + R) <= (1 + omega) * Z, True),
    "both": (ft.E(Z_next + S - R) <= 2 * Z, True),
    "less": (ft.E(Z_next + S) <= (2 + omega / 2) * Z, False),
    "no-variance": (ft.E(Z_next + S) <= 2 * Z, False),
    "error-at-least": (ft.E(Z_next - R) <= (1 - omega) * Z, False),
    "as-if-biased": (ft.E(Z_next + S - R) <= 3 * Z / 2, False),
    "of-the-expectation": (ft.E(Z_next + ft.Quantity("M", of_expected)) <= Z, False),
    "of-draws": (ft.E(Z_next + ft.Quantity("W", of_draws)) <= 2 * Z, False),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_expectations_over_compressors_are_those_of_their_moments(name):
    statement, is_true = STATEMENTS[name]
    claim = ft.Claim("own/step", setting=SETTING, statement=ft.one_step(stays, statement))
    assert isinstance(prove(claim), str) is not is_true
