"""Bounds of T rounds from an inequality of one round: true ones are proved as printed, false neighbours are not."""

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy
from descending import mean_gradient, noisy_step, step

import fedtheory as ft
from fedtheory import claims
from verify.base.evaluate import meeting
from verify.methods import telescoping
from verify.methods.base import Inquiry

mu, L, gamma, sigma, M, c, p = ft.letters("mu L gamma sigma M c p")
k, T, E = ft.round_index, ft.T, ft.E


def step_by_round(problem, params, state, draw):
    return {"x": state.x - params.round / (problem.L * (params.round + 1)) * mean_gradient(problem, state.x)}


def prox_step(problem, params, state, draw):
    return {"x": problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma)[..., 0, :]}


class Draw(NamedTuple):
    whole: Any
    sent: Any


def marina_step(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = problem.f.gradient(x[..., None, :]) - problem.f.gradient(state.x[..., None, :])
    corrected = state.g + params.compressors.apply(draw.sent, change).sum(axis=-2) / problem.n
    return {"x": x, "g": np.where(np.asarray(draw.whole)[..., None], mean_gradient(problem, x), corrected)}


def marina_draws(problem, params, state):
    return ft.Product(Draw, (ft.Bernoulli(params.p), params.compressors.draws))


def from_gradient(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    return {"x": x, "g": mean_gradient(problem, x)}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


def page_step(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = problem.f.gradient(x[..., None, :]) - problem.f.gradient(state.x[..., None, :])
    one = np.where(np.asarray(draw.sent)[..., None], change, 0 * change).sum(axis=-2)
    return {"x": x, "g": np.where(np.asarray(draw.whole)[..., None], mean_gradient(problem, x), state.g + one)}


def page_draws(problem, params, state):
    return ft.Product(Draw, (ft.Bernoulli(params.p), ft.UniformSubset(problem.n, 1)))


def dasha_step(problem, params, state, draw):
    a = 1 / (2 * params.compressors.omega + 1)
    x = state.x - params.gamma * state.g.mean(axis=-2)
    here, there = problem.f.gradient(state.x[..., None, :]), problem.f.gradient(x[..., None, :])
    return {"x": x, "g": state.g + params.compressors.apply(draw, there - here - a * (state.g - here))}


def from_gradients(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    return {"x": x, "g": problem.f.gradient(x[..., None, :])}


def from_one_for_all(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    each = problem.f.gradient(x[..., None, :])
    return {"x": x, "g": 0 * each + each.mean(axis=-2, keepdims=True)}


def away_step(problem, params, state, draw):
    return {"x": state.x + params.gamma * mean_gradient(problem, state.x)}


def twice_step(problem, params, state, draw):
    first = state.x[..., None, :] - params.gamma * problem.f.gradient(state.x[..., None, :])
    return {"x": (first - params.gamma * problem.f.gradient(first)).mean(axis=-2)}


def squares_of_gradients(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n


def by_stepsize(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1) / params.gamma


gd = ft.method("gd", step, ["gamma"], {"x": "point"})
falling = ft.method("falling", step, ["c"], {"x": "point"}, schedules={"gamma": c / (k + 1)})
growing = ft.method("growing", step, ["c"], {"x": "point"}, schedules={"gamma": c * (k + 1)})
sgd = ft.method("sgd", noisy_step, ["gamma", "sigma", "noise"], {"x": "point"})
by_round = ft.method("by-round", step_by_round, ["round"], {"x": "point"})
prox = ft.method("prox", prox_step, ["gamma"], {"x": "point"})
MARINA = {"params": ["gamma", "p", "compressors"], "state": {"x": "point", "g": "point"}, "draws": marina_draws}
marina = ft.method("marina", marina_step, init=from_gradient, **MARINA)
from_zero = ft.method("from-zero", marina_step, **MARINA)
PAGE = {"params": ["gamma", "p"], "state": {"x": "point", "g": "point"}, "draws": page_draws}
page = ft.method("page", page_step, init=from_gradient, **PAGE)
page_from_zero = ft.method("page-from-zero", page_step, **PAGE)
DASHA = {"params": ["gamma", "compressors"], "state": {"x": "point", "g": "clients"}}
dasha = ft.method("dasha", dasha_step, init=from_gradients, **DASHA)
dasha_alike = ft.method("dasha-alike", dasha_step, init=from_one_for_all, **DASHA)
away = ft.method("away", away_step, ["gamma"], {"x": "point"})
twice = ft.method("twice", twice_step, ["gamma"], {"x": "point"})
noise = {"adversaries": (ft.NoisyGradients(),), "clients": (1,)}
sent = {"adversaries": (ft.UnbiasedCompressors(independent=True),), "domain": (p <= 1,)}
F, F_T = ft.Quantity("F", ft.gap), ft.Quantity("F_T", ft.gap, after=True)
D, D_T = ft.Quantity("D", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
G, G_T = ft.Quantity("G", square_of_gradient), ft.Quantity("G_T", square_of_gradient, after=True)
S, H = ft.Quantity("S", ft.heterogeneity), ft.Quantity("H", squares_of_gradients)
V, V_T = ft.Quantity("V", by_stepsize), ft.Quantity("V_T", by_stepsize, after=True)
short, sent_short = (gamma * L <= 1,), (gamma * L + gamma**2 * L**2 * (1 - p) * ft.omega / (p * ft.n) <= 1,)
seldom = (gamma * L * (1 + sympy.sqrt((1 - p) / p)) <= 1,)
independent = {"adversaries": (ft.UnbiasedCompressors(independent=True),)}
four_roots = (gamma * L * (1 + 4 * sympy.sqrt(ft.omega * (2 * ft.omega + 1) / ft.n)) <= 1,)
weights = (1 - gamma * mu) ** (-(k + 1))
W, lengths, squares = (sympy.Sum(of, (k, 0, T - 1)) for of in (weights, c / (k + 1), c**2 / (k + 1) ** 2))
convex, nonconvex, strong, lipschitz = (
    ft.SmoothConvex(L),
    ft.Smooth(L),
    ft.SmoothStronglyConvex(mu, L),
    ft.ConvexLipschitz(M),
)
to_average = D / (2 * gamma * T)

cocoercive = ft.Cocoercive(L)
mann = {"domain": (gamma * L < 2,)}
residual = gamma * (2 - gamma * L) / L * G_T

#: Name: method, class and what else the setting has, relation, hypotheses, least T.
TRUE = {
    "least": (gd, nonconvex, {}, ft.minimum(G, expected=True) <= 2 * F / (gamma * T), short, 1),
    "least-along": (gd, nonconvex, {}, E(ft.minimum(G)) <= 2 * F / (gamma * T), short, 1),
    "average-after": (gd, convex, {}, E(ft.at_average(F, 1, T)) <= to_average, short, 1),
    "average-before": (gd, convex, {}, E(ft.at_average(F)) <= to_average, short, 1),
    "last": (gd, convex, {}, E(F_T) <= to_average, short, 1),
    "sum-with-last": (gd, convex, {}, E(ft.total(F, 0, T)) <= D / (2 * gamma), short, 0),
    "sum-from-2": (gd, nonconvex, {}, E(ft.total(G, 2, T - 1)) <= 2 * F / gamma, short, 0),
    "ends": (gd, nonconvex, {}, E(ft.total(G)) <= 2 * (F - E(F_T)) / gamma, short, 0),
    "gap-by-distance": (gd, strong, {}, E(F_T) <= L / 2 * (1 - gamma * mu) ** T * D, short, 0),
    "discounted": (
        gd,
        strong,
        {},
        E(ft.total((1 - gamma * mu) ** (T - 1 - k) * F)) <= (1 - gamma * mu) ** T * D / gamma,
        (2 * gamma * L <= 1,),
        0,
    ),
    "weighted": (gd, strong, {}, E(ft.at_average(F, weight=weights)) <= D / (gamma * W), (2 * gamma * L <= 1,), 1),
    "subgradient": (gd, lipschitz, {}, E(ft.at_average(F)) <= to_average + gamma * M**2 / 2, (), 1),
    "schedule": (falling, lipschitz, {}, ft.minimum(F, expected=True) <= (D + M**2 * squares) / (2 * lengths), (), 1),
    "product": (
        falling,
        strong,
        {},
        E(D_T) <= sympy.Product((1 - c * mu / (k + 1)) ** 2, (k, 0, T - 1)) * D,
        (c * (mu + L) <= 2,),
        0,
    ),
    "noise": (sgd, strong, noise, E(D_T) <= (1 - gamma * mu) ** T * D + gamma * sigma**2 / mu, short, 0),
    "drawn": (sgd, nonconvex, noise, E(ft.average(G)) <= 2 * F / (gamma * T) + gamma * L * sigma**2, short, 1),
    "less-noise": (sgd, nonconvex, noise, E(ft.total(G - gamma * L * sigma**2)) <= 2 * F / gamma, short, 0),
    "prox": (prox, ft.Convex(), {"clients": (1,)}, E(F_T) <= to_average, (), 1),
    # What is bounded is less than what the start leaves; its weight at the start is left out of the potential.
    "residual": (gd, cocoercive, mann, E(residual) <= D / (T + 1), (), 0),
    "marina": (marina, nonconvex, sent, E(ft.average(G)) <= 2 * F / (gamma * T), sent_short, 1),
    # Roots of quotients: of one a letter is written by the root; the other is any number that is no smaller.
    "page": (page, nonconvex, {"domain": (p <= 1,)}, E(ft.average(G)) <= 2 * F / (gamma * T), seldom, 1),
    "dasha": (dasha, nonconvex, independent, E(ft.average(G)) <= 2 * F / (gamma * T), four_roots, 1),
    # What the problem adds in each round.
    "heterogeneity": (
        twice,
        convex,
        {},
        E(ft.average(F)) <= D / (gamma * T) + 96 * gamma**2 * L * S,
        (8 * gamma * L <= 1,),
        1,
    ),
}
FALSE = {
    # One round too many, or too few.
    "off-by-one": (gd, convex, {}, E(F_T) <= D / (2 * gamma * (T + 2)), short, 0),
    "sum-to-T": (gd, nonconvex, {}, E(ft.total(G, 0, T)) <= F / gamma, short, 0),
    # At T = 0 both sides vanish, and say nothing of the first round.
    "times-T": (gd, convex, {}, E(2 * T * D_T) <= T * D, short, 0),
    # x* need be no minimiser, so that f(x) - f(x*) may be negative.
    "stationary": (gd, ft.Smooth(L, optimum="stationary"), {}, E(ft.total(G)) <= 2 * F / gamma, short, 0),
    # Jensen's inequality is for convex functions, and for weights that are nonnegative.
    "jensen-gap": (gd, nonconvex, {}, E(ft.at_average(F)) <= F, short, 1),
    "jensen-gradient": (gd, nonconvex, {}, E(ft.at_average(G)) <= 2 * F / (gamma * T), short, 1),
    "negative-weights": (gd, convex, {}, E(ft.at_average(F, 0, T, weight=1 - 2 * k)) <= D / (2 * gamma), short, 1),
    # The least, and the last.
    "last-gradient": (gd, nonconvex, {}, E(T * G_T) <= 2 * F / gamma, short, 0),
    # Hypotheses.
    "any-step": (gd, nonconvex, {}, E(ft.average(G)) <= 2 * F / (gamma * T), (), 1),
    "long-step": (gd, nonconvex, {}, E(ft.average(G)) <= 2 * F / (gamma * T), (gamma * L <= 2,), 1),
    "negative-rate": (gd, strong, {}, E(D_T) <= (1 - 2 * gamma * mu) ** T * D, short, 0),
    # Noise of every round.
    "noise-once": (sgd, nonconvex, noise, E(ft.total(G)) <= 2 * F / gamma + gamma * L * sigma**2, short, 0),
    "noise-late": (sgd, nonconvex, noise, E(ft.total(G)) <= 2 * F / gamma + gamma * L * sigma**2 * (T - 1), short, 0),
    "noise-of-one-round": (sgd, strong, noise, E(D_T) <= (1 - gamma * mu) ** T * D + gamma**2 * sigma**2, short, 0),
    "half-the-noise": (
        sgd,
        nonconvex,
        noise,
        E(ft.average(G)) <= 2 * F / (gamma * T) + gamma * L * sigma**2 / 2,
        short,
        1,
    ),
    "half-the-constant": (sgd, nonconvex, noise, E(ft.total(G - gamma * L * sigma**2 / 2)) <= 2 * F / gamma, short, 0),
    # A potential that is not 0 where runs begin.
    "marina-from-zero": (from_zero, nonconvex, sent, E(ft.average(G)) <= 2 * F / (gamma * T), sent_short, 1),
    # A parameter that is called as the round is, and stays.
    "round": (by_round, convex, {}, E(ft.total(k / (L * (k + 1)) * F)) <= D / 2, (), 0),
    # Schedules.
    "growing": (growing, convex, {}, E(ft.total(c * (k + 1) * F)) <= D / 2, (c * L <= 1,), 0),
    "constant-weights": (falling, convex, {}, E(ft.total(c * F)) <= D / 2, (c * L <= 1,), 0),
    "later-stepsize": (falling, convex, {}, E(V_T) <= V, (c * L <= 1,), 0),
    "product-too-long": (
        falling,
        strong,
        {},
        E(D_T) <= sympy.Product((1 - c * mu / (k + 1)) ** 2, (k, 0, T)) * D,
        (c * (mu + L) <= 2,),
        0,
    ),
    # Which iterates are averaged, and how they are weighted.
    "subgradient-after": (gd, lipschitz, {}, E(ft.at_average(F, 1, T)) <= to_average + gamma * M**2 / 2, (), 1),
    "growing-weights": (gd, convex, {}, E(ft.total((k + 1) * F)) <= D / (2 * gamma), short, 0),
    # Signs that are lost.
    "twice-the-end": (gd, nonconvex, {}, E(ft.total(G)) <= 2 * (F - 2 * E(F_T)) / gamma, short, 0),
    "negative": (gd, nonconvex, {}, E(ft.total(-G / T)) <= -2 * F / (gamma * T), short, 1),
    "negative-divisor": (gd, nonconvex, {}, E(ft.total(G / (-T))) <= -100 * F / (gamma * T), short, 1),
    "residual-off-by-one": (gd, cocoercive, mann, E(residual) <= D / (T + 2), (), 0),
    "residual-smaller": (gd, cocoercive, mann, E(residual) <= D * 9 / (10 * (T + 1)), (), 0),
    # What is added in each round has to be the same in all states.
    "of-the-start": (away, convex, {}, E(D_T) <= (1 + T) * D, (5 * gamma * L <= 2,), 0),
    "gradients-of-the-start": (away, convex, {}, E(D_T) <= 2 * D + 2 * T**2 * gamma**2 * H, (gamma * L <= 1,), 0),
    "less-heterogeneity": (
        twice,
        convex,
        {},
        E(ft.average(F)) <= D / (gamma * T) + gamma**2 * L * S / 100,
        (8 * gamma * L <= 1,),
        1,
    ),
    "heterogeneity-once": (
        twice,
        convex,
        {},
        E(ft.total(F)) <= D / gamma + 96 * gamma**2 * L * S,
        (8 * gamma * L <= 1,),
        0,
    ),
    # The root of something else, and potentials that are not 0 where runs begin.
    "page-other-root": (
        page,
        nonconvex,
        {"domain": (p <= 1,)},
        E(ft.average(G)) <= 2 * F / (gamma * T),
        (gamma * L * (1 + sympy.sqrt(p / (1 + p))) <= 1,),
        1,
    ),
    "page-from-zero": (
        page_from_zero,
        nonconvex,
        {"domain": (p <= 1,)},
        E(ft.average(G)) <= 2 * F / (gamma * T),
        seldom,
        1,
    ),
    "dasha-alike": (dasha_alike, nonconvex, independent, E(ft.average(G)) <= 2 * F / (gamma * T), four_roots, 1),
    "dasha-square": (
        dasha,
        nonconvex,
        independent,
        E(ft.average(G)) <= 2 * F / (gamma * T),
        (gamma * L * (1 + ft.omega * (2 * ft.omega + 1) / ft.n) <= 1,),
        1,
    ),
    "third": (gd, strong, {}, E(F_T) <= L / 3 * (1 - gamma * mu) ** T * D, short, 0),
}


def claimed(id, method, functions, more, relation, requires, since, **given):
    setting = ft.Setting(algorithm=method, functions=functions, **more)
    return ft.Claim(
        f"rounds/{id}", setting=setting, statement=ft.bound(method, relation, since=since), requires=requires, **given
    )


def shown(claim):
    recipes = islice(claim.instances.recipes(np.random.default_rng(0)), 40)
    given = tuple(recipe for recipe, _ in islice(meeting(claim, recipes), 6))
    return telescoping.run(telescoping.METHOD, Inquiry(claim, 0, 20, given=given))


#: What notes of proofs tell.
TOLD = {
    "marina": "|g - grad f(x)|^2, which is 0 at the start",
    "page": "|g - grad f(x)|^2, which is 0 at the start",
    "dasha": "|sum_i (g - grad f_i(x))|^2",
    "heterogeneity": "S*gamma**3",
    "average-after": "Jensen",
    "gap-by-distance": "F_T <= D*L/2 in all states",
    "least": "the least of numbers is at most their average",
}
#: Cases that take longer.
LONGER = {
    "dasha",
    "dasha-alike",
    "dasha-square",
    "marina",
    "product",
    "product-too-long",
    "gap-by-distance",
    "weighted",
}


def each(cases):
    return [pytest.param(id, marks=pytest.mark.slow) if id in LONGER else id for id in cases]


@pytest.mark.parametrize("id", each(TRUE))
def test_what_telescopes_is_proved(id):
    found = shown(claimed(id, *TRUE[id]))
    assert found.verdict == "proved" and TOLD.get(id, "by induction on the rounds") in found.note, found.note


@pytest.mark.parametrize("id", each(FALSE))
def test_what_is_false_is_not(id):
    found = shown(claimed(id, *FALSE[id]))
    assert found.verdict is None and found.note.startswith("left open"), found.note


def test_a_potential_that_is_named_is_not_believed():
    setting = ft.Setting(algorithm=gd, functions=nonconvex)
    later = ft.Quantity("F_next", ft.gap, after=True)
    false = ft.one_step(gd, E(later) <= F - gamma * G)
    claims.register((ft.Claim("rounds/false-step", setting=setting, statement=false),))
    of_it = E(ft.total(G)) <= F / gamma
    found = shown(claimed("follows", gd, nonconvex, {}, of_it, (), 0, follows=("rounds/false-step",)))
    assert found.verdict is None


def test_where_a_part_holds_the_start_the_noise_of_all_rounds_is_counted():
    def walk(problem, params, state, draw):
        noise = params.noise.apply(draw, 0 * problem.f.gradient(state.x[..., None, :]))
        return {"x": state.x + noise.mean(axis=-2), "start": state.start}

    def moved(problem, params, state):
        return ((state.x - state.start) ** 2).sum(axis=-1)

    def twice(problem, params, state):
        return 2 * ((state.x - state.start) ** 2).sum(axis=-1)

    method = ft.method("walk", walk, ["sigma", "noise"], {"x": "point", "start": "point from x"})
    setting = ft.Setting(algorithm=method, functions=convex, **noise)
    V, W = ft.Quantity("V", moved), ft.Quantity("W", twice)
    one = ft.Claim("rounds/walk", setting=setting, statement=ft.one_step(method, E(V.next) <= V + sigma**2))
    claims.register((one,))
    half = ft.bound(method, E(W.T) <= sigma**2 * T + D)
    found = shown(ft.Claim("rounds/walk-half", setting=setting, statement=half, follows=("rounds/walk",)))
    assert found.verdict is None, found.note


@pytest.mark.parametrize("since", [1, 3])
def test_rounds_before_the_least_t_that_is_meant_are_rounds_too(since):
    # A weight that grows from round 0 to 1, and does not after that, is larger than it was at the start.
    def weight(k):
        return sympy.together(1 + 3 * k / (k**2 + 2))

    setting = ft.Setting(algorithm=gd, functions=convex)
    steady = ft.one_step(gd, E(weight(k) * D.next) <= weight(k) * D)
    id = f"rounds/bump-{since}"
    claims.register((ft.Claim(id, setting=setting, statement=steady, requires=short),))
    found = shown(claimed(f"{id}-of-T", gd, convex, {}, E(weight(T - 1) * D_T) <= D, short, since, follows=(id,)))
    assert found.verdict is None, found.note
