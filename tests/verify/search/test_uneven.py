"""Clients of which one dominates, or nearly vanishes: what is false of such clients only is refuted.

Each attack takes a mean for what it is not a mean of, and holds where the clients are about as large.
"""

from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.sampling.uneven import uneven
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.search import hunting, states

mu, L, gamma, c, p_sum = ft.letters("mu L gamma c p_sum")
FUNCTIONS = ft.SmoothEach(mu, L)
ANY = (1, 2, 2, 3, 3, 4)


def broken(claim):
    """Return True if one of the uneven instances is a counterexample."""
    recipes = uneven(claim, hunting.generator(claim, hunting.BOUNDARIES))
    return any(states.violation(Case(claim, recipe)) is not None for recipe in recipes)


def mean_of_L(problem, params):
    return problem.f.L.sum() / problem.n


def inverse_mean(problem, params):
    return problem.n / (1 / problem.f.L).sum()


def but_the_largest(problem, params):
    return 2 * (problem.f.L.sum() - max(problem.f.L)) / problem.n


def least(problem, params):
    return min(problem.f.L)


def largest(problem, params):
    return max(problem.f.L)


def uniform(problem, params):
    return (1 + 0 * problem.f.L) / problem.n


def by_L(problem, params):
    return problem.f.L / problem.f.L.sum()


def against_L(problem, params):
    return 1 / problem.f.L / (1 / problem.f.L).sum()


def half_by_L(problem, params):
    return (uniform(problem, params) + by_L(problem, params)) / 2


def own(problem, params):
    return params.p


def sampled(chances, constant, clients=ANY, short=2 * gamma * c <= 1, **more):
    """SGD with one client, drawn with these chances; ``constant``: what stepsizes are short for."""

    def step(problem, params, state, draw):
        gradient = problem.f.gradient(state.x[..., None, :])
        weighted = gradient / (problem.n * chances(problem, params)[..., None])
        return {"x": state.x - params.gamma * np.where(draw[..., None], weighted, 0 * gradient).sum(axis=-2)}

    def draws(problem, params, state):
        return ft.Categorical(chances(problem, params))

    def noise(problem, params, state):
        return ((problem.y_star**2).sum(axis=-1) / chances(problem, params)).sum(axis=-1) / problem.n**2

    method = ft.method("sgd", step, ["gamma", *more.get("own", ())], {"x": "point"}, draws=draws)
    letters = {**FUNCTIONS.letters, gamma: "gamma", c: constant}
    if "own" in more:
        letters |= {p_sum: lambda problem, params: params.p.sum()}
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, letters=letters, clients=clients, **more)
    statement = ft.contracts(method, ft.distance, 1 - gamma * mu, noise={noise: 2 * gamma**2})
    requires = (short, sympy.Eq(p_sum, 1)) if "own" in more else (short,)
    return ft.Claim("mine/sampled", setting=setting, statement=statement, requires=requires)


def descent(constant, clients=ANY, weights=uniform, **more):
    """Gradient descent with weights, as if the average were as smooth as ``constant`` says."""

    def slope(problem, params, state):
        return (weights(problem, params)[..., None] * problem.f.gradient(state.x[..., None, :])).sum(axis=-2)

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * slope(problem, params, state)}

    def value(problem, params, state):
        return (weights(problem, params) * problem.f.value(state.x[..., None, :])).sum(axis=-1)

    def size(problem, params, state):
        return (slope(problem, params, state) ** 2).sum(axis=-1)

    method = ft.method("gd", step, ["gamma", *more.get("own", ())], {"x": "point"})
    letters = {**FUNCTIONS.letters, gamma: "gamma", c: constant}
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, letters=letters, clients=clients, **more)
    F, G = ft.Quantity("F", value), ft.Quantity("G", size)
    statement = ft.one_step(method, ft.E(F.next) <= F - gamma / 2 * G)
    return ft.Claim("mine/descent", setting=setting, statement=statement, requires=(gamma * c <= 1,))


def gathered(total):
    """The square of the sum of the p_i, against ``total`` of their squares."""

    def step(problem, params, state, draw):
        return {"x": state.x}

    def square(problem, params, state):
        return params.p.sum() ** 2 * (state.x**2).sum(axis=-1)

    def squares(problem, params, state):
        return total * (params.p**2).sum() * (state.x**2).sum(axis=-1)

    method = ft.method("still", step, ["p"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, own=("p",))
    S, Q = ft.Quantity("S", square), ft.Quantity("Q", squares)
    return ft.Claim("mine/gathered", setting=setting, statement=ft.inequality(Q <= S))


FALSE = {
    "uniform draws": sampled(uniform, mean_of_L),
    "uniform draws of eight": sampled(uniform, mean_of_L, (8,)),
    "uniform draws of five or six": sampled(uniform, mean_of_L, (5, 6)),
    "draws half by L": sampled(half_by_L, inverse_mean),
    "draws against L": sampled(against_L, mean_of_L),
    "draws by L, for the mean of 1/L": sampled(by_L, inverse_mean),
    "draws by L, the largest left out": sampled(by_L, but_the_largest),
    "draws by chances of the clients' own": sampled(own, mean_of_L, own=("p",)),
    "descent, for the mean of 1/L": descent(inverse_mean),
    "descent, for the mean of 1/L of eight": descent(inverse_mean, (8,)),
    "descent, the largest left out": descent(but_the_largest),
    "weights by L": descent(mean_of_L, weights=by_L),
    "weights of the clients' own": descent(mean_of_L, weights=lambda f, a: a.p / a.p.sum(), own=("p",)),
    "half of the square of a sum": gathered(2),
}
TRUE = {
    "draws by L": sampled(by_L, mean_of_L),
    "draws half by L": sampled(half_by_L, lambda f, a: 2 * mean_of_L(f, a)),
    "uniform draws": sampled(uniform, largest),
    "uniform draws of eight": sampled(uniform, largest, (8,)),
    "descent": descent(mean_of_L),
    "weights by L": descent(lambda f, a: (f.f.L * by_L(f, a)).sum(), weights=by_L),
    "weights of the clients' own": descent(largest, weights=lambda f, a: a.p / a.p.sum(), own=("p",)),
    "the square of a sum": gathered(1),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_only_clients_of_two_sizes_contradict_is_refuted(name):
    assert broken(FALSE[name])


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_not(name):
    assert not broken(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_most_of_them_meet_the_hypotheses(name):
    of = FALSE[name]
    recipes = list(uneven(of, hunting.generator(of, hunting.BOUNDARIES)))
    assert len(list(meeting(of, islice(recipes, 24)))) >= 6


def test_draws_of_registered_claims_are_what_they_were():
    # None of these has clients with constants of their own, but where letters say so. Some have no functions at all.
    of = [claim for claim in claims.all() if claim.setting.drawing.special is None]
    reached = {claim.id for claim in of if any(True for _ in islice(uneven(claim, np.random.default_rng(0)), 1))}
    assert reached <= {"baseline/gradient-descent/one-step", "baseline/gradient-descent/nonconvex"}
