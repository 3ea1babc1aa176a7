"""Limits from sums over all rounds: true ones are proved, and of their false neighbours nothing is."""

from itertools import islice

import numpy as np
import pytest
import sympy
from descending import mean_gradient, noisy_step, step

import fedtheory as ft
from verify.base.evaluate import meeting
from verify.methods import limits, telescoping
from verify.methods.base import Inquiry
from verify.multipliers.proving import prove

mu, L, gamma = ft.letters("mu L gamma")


def step_by_round(problem, params, state, draw):
    return {"x": state.x - params.round / (problem.L * (params.round + 1) ** 3) * mean_gradient(problem, state.x)}


def lazy_step(problem, params, state, draw):
    moved = state.x - mean_gradient(problem, state.x) / problem.L
    return {"x": np.where(np.asarray(draw)[..., None], moved, state.x)}


def half_step(problem, params, state, draw):
    # Of two parts the second is never changed.
    return {"x": state.x - mean_gradient(problem, state.x) / problem.L, "y": state.y}


def both(problem, params, state):
    return ft.distance(problem, params, state) + ((state.y - problem.x_star) ** 2).sum(axis=-1)


def less_than_nothing(problem, params, state):
    return -ft.distance(problem, params, state)


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


def square_of_gradients(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2))


def value(problem, params, state):
    return problem.f.value(state.x[..., None, :]).sum(axis=-1) / problem.n


gd = ft.method("a-step", step, ["gamma"], {"x": "point"})
noisy = ft.method("a-noisy-step", noisy_step, ["gamma", "sigma", "noise"], {"x": "point"})
by_round = ft.method("a-step-by-round", step_by_round, ["round"], {"x": "point"})
lazy = ft.method(
    "a-lazy-step", lazy_step, ["p"], {"x": "point"}, draws=lambda problem, params, state: ft.Bernoulli(params.p)
)
halves = ft.method("half-a-step", half_step, [], {"x": "point", "y": "point"})
PROBABILITY = sympy.Symbol("p", positive=True)
SMALL = ft.Hypothesis("gamma < 2/L", sympy.Lt(gamma, 2 / L, evaluate=False))
ANY_STEP = ft.Hypothesis("gamma <= 2/L", sympy.Le(gamma, 2 / L, evaluate=False))
LONG = ft.Hypothesis("gamma >= 4/mu", sympy.Ge(gamma, 4 / mu, evaluate=False))
STRONGLY, CONVEX = ft.SmoothStronglyConvex(mu, L), ft.SmoothConvex(L)


def limit(method, of, functions, *requires, potential=None, **setting):
    own = None if potential is None else ft.Quantity("P", potential)
    known = ft.Setting(algorithm=method, functions=functions, potential=own, **setting)
    statement = ft.Limit(method, ft.Quantity("Q", of), "it vanishes")
    return ft.Claim("own/limit", setting=known, statement=statement, requires=requires)


def found(claim):
    recipes = claim.instances.recipes(np.random.default_rng(0))
    given = tuple(recipe for recipe, _ in meeting(claim, islice(recipes, 30)))
    return telescoping.run(telescoping.METHOD, Inquiry(claim, given=given))


TRUE = {
    "distance": limit(gd, ft.distance, STRONGLY, SMALL),
    "gap": limit(gd, ft.gap, CONVEX, SMALL, potential=ft.distance),
    "gradient-of-any": limit(gd, square_of_gradient, ft.Smooth(L), SMALL, potential=ft.gap),
    "lazy": limit(lazy, ft.distance, STRONGLY, ft.Hypothesis("p <= 1", sympy.Le(PROBABILITY, 1, evaluate=False))),
}
FALSE = {
    # At gamma = 2/L it may go back and forth.
    "longest-step": limit(gd, ft.distance, STRONGLY, ANY_STEP),
    "no-stepsize": limit(gd, ft.distance, STRONGLY),
    # There are several minimisers, of which another one may be reached.
    "several-minimisers": limit(gd, ft.distance, CONVEX, SMALL),
    "not-convex": limit(gd, ft.gap, ft.Smooth(L), SMALL),
    # The gradients of single clients do not vanish where their sum does.
    "all-gradients": limit(gd, square_of_gradients, STRONGLY, SMALL, potential=ft.distance),
    "value": limit(gd, value, STRONGLY, SMALL, potential=ft.distance),
    # Both sides decrease without end.
    "falls-for-ever": limit(gd, less_than_nothing, STRONGLY, LONG),
    "potential-falls-for-ever": limit(gd, ft.distance, STRONGLY, LONG, potential=less_than_nothing),
    "noise": limit(
        noisy,
        ft.distance,
        STRONGLY,
        ft.Hypothesis("gamma <= 1/L", sympy.Le(gamma, 1 / L, evaluate=False)),
        adversaries=(ft.NoisyGradients(),),
    ),
    "parameter-of-the-round": limit(by_round, ft.distance, STRONGLY),
    "half": limit(halves, both, STRONGLY),
    "half-by-a-potential": limit(halves, both, STRONGLY, potential=ft.distance),
    "half-by-both": limit(halves, ft.distance, CONVEX, potential=both),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_proved(name):
    outcome = found(TRUE[name])
    assert str(outcome.verdict) == "proved", outcome.note


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not(name):
    assert found(FALSE[name]).verdict is None


def rate(factor, *requires):
    """A claim of the setting of the first true limit, from which it would follow."""
    statement = ft.contracts(gd, ft.distance, factor)
    return ft.Claim("own/rate", setting=TRUE["distance"].setting, statement=statement, requires=requires)


STEP = sympy.Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2)


def test_a_contraction_that_is_claimed_of_the_same_setting_is_shown_and_used(monkeypatch):
    monkeypatch.setattr(limits.claims, "all", lambda: (rate(STEP, SMALL),))
    outcome = found(TRUE["distance"])
    assert str(outcome.verdict) == "proved"
    assert "own/rate" in outcome.note


@pytest.mark.parametrize(
    "other",
    [
        # Its factor may be 1, it assumes more, and it is false.
        rate(STEP, ANY_STEP),
        rate(STEP, SMALL, ft.Hypothesis("gamma <= 1/L", sympy.Le(gamma, 1 / L, evaluate=False))),
        rate(sympy.Rational(1, 2), SMALL),
    ],
)
def test_another_claim_shows_nothing(other, monkeypatch):
    monkeypatch.setattr(limits.claims, "all", lambda: (other,))
    monkeypatch.setattr(limits, "potentials", lambda claim, of: [])
    for claim in (TRUE["distance"], FALSE["longest-step"]):
        assert found(claim).verdict is None


def of_all(problem, params, state):
    return (state.z**2).sum(axis=(-1, -2))


def of_mean(problem, params, state):
    return (state.z.mean(axis=-2) ** 2).sum(axis=-1)


def away(problem, params, state):
    return of_all(problem, params, state) - problem.n * of_mean(problem, params, state)


stays = ft.method("stays", lambda problem, params, state, draw: {"z": state.z}, [], {"z": "clients"})
CLIENTS = ft.Setting(algorithm=stays, functions=STRONGLY)


@pytest.mark.parametrize(
    ("of", "by", "is_bounded"),
    [(of_mean, of_all, True), (away, of_all, True), (of_all, of_mean, False), (of_all, away, False)],
)
def test_one_multiple_does_for_all_clients_and_states(of, by, is_bounded):
    claim = ft.Claim("own/of-clients", setting=CLIENTS, statement=ft.Limit(stays, ft.Quantity("Q", of), "it vanishes"))
    recipes = claim.instances.recipes(np.random.default_rng(0))
    given = tuple(recipe for recipe, _ in meeting(claim, islice(recipes, 10)))
    lemma, premise = limits.bounded(claim, of, by)
    assert isinstance(prove(lemma, premises=(premise,)), str) is not is_bounded
    alone = telescoping._client_by_client(Inquiry(claim, given=given), lemma, (premise,))
    assert isinstance(alone, str) is not is_bounded, alone
