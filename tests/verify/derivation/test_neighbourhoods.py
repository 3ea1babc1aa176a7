"""Bounds of T rounds up to what is the same in all states, and of clients with numbers of their own.

Each false statement is one that a single slip would let through.
"""

from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from verify.base.evaluate import meeting
from verify.methods import induction, telescoping
from verify.methods.base import Inquiry

mu, L, gamma, c, least = ft.letters("mu L gamma c gamma_min")
T, E, k = ft.T, ft.E, ft.round_index
D = ft.Quantity("D", ft.distance)
H = ft.Quantity("H", ft.heterogeneity)
F = ft.Quantity("F", ft.gap)


def found_by(claim, method=telescoping):
    recipes = islice(claim.instances.recipes(np.random.default_rng(0)), 60)
    given = tuple(recipe for recipe, _ in islice(meeting(claim, recipes), 6))
    found = method.run(method.METHOD, Inquiry(claim, 0, 20, given=given))
    assert found.verdict == "proved" or (found.verdict is None and found.note.startswith("left open")), found.note
    return found


def shown(claim, method=telescoping):
    return found_by(claim, method).verdict == "proved"


# What is the same in all states


def step(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


def of_gradients(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=-1).sum(axis=-1) / problem.n


def by_stepsize(problem, params, state):
    return params.gamma * (problem.y_star**2).sum(axis=-1).sum(axis=-1) / problem.n


dcgd = ft.method("dcgd", step, ["gamma", "compressors"], {"x": "point"})
slower = ft.method("slower", step, ["c", "compressors"], {"x": "point"}, schedules={"gamma": c / (k + 1)})
COMPRESSED = (ft.UnbiasedCompressors(independent=True),)
SMALL = gamma * L * (1 + 2 * ft.omega / ft.n) <= 1
RATE, SIZE = (1 - gamma * mu) ** T, 2 * gamma * ft.omega / (mu * ft.n)
G, S = ft.Quantity("G", of_gradients), ft.Quantity("S", by_stepsize)
TOTAL = E(ft.total(F)) <= D.zero / gamma + T * 2 * gamma * ft.omega / ft.n * H.zero
STRONG = ft.SmoothStronglyConvex(mu, L)


def compressed(relation, of=STRONG, requires=(SMALL,), since=0, method=dcgd):
    setting = ft.Setting(algorithm=method, functions=of, adversaries=COMPRESSED)
    return ft.Claim("dcgd/T", setting=setting, statement=ft.bound(method, relation, since=since), requires=requires)


TRUE = {
    "neighbourhood": E(D.T) <= RATE * D.zero + SIZE * H.zero,
    "as it grows": E(D.T) <= RATE * D.zero + SIZE * (1 - RATE) * H.zero,
}
FALSE = {
    "a third": E(D.T) <= RATE * D.zero + SIZE / 3 * H.zero,
    "it fades": E(D.T) <= RATE * D.zero + SIZE * RATE * H.zero,
    "less at the start": E(D.T) <= RATE * D.zero + SIZE * (1 - 2 * RATE) * H.zero,
    "of the state at the start": E(D.T) <= RATE * D.zero + SIZE * G.zero,
    "taken off": E(D.T) <= RATE * D.zero - SIZE * H.zero,
}


@pytest.mark.parametrize("id", TRUE)
def test_bounds_up_to_a_neighbourhood_are_proved(id):
    assert shown(compressed(TRUE[id]))


@pytest.mark.parametrize("id", FALSE)
def test_smaller_neighbourhoods_are_not(id):
    assert not shown(compressed(FALSE[id]))


def test_sums_up_to_a_neighbourhood():
    smaller = 2 * gamma * L * (1 + 2 * ft.omega / ft.n) <= 1
    assert shown(compressed(TOTAL, ft.SmoothConvex(L), (smaller,)))
    late = E(ft.total(F)) <= D.zero / gamma + (T - 2) * 2 * gamma * ft.omega / ft.n * H.zero
    assert not shown(compressed(late, ft.SmoothConvex(L), (smaller,), since=2))


def test_what_varies_with_the_round_is_not_the_same_in_all_states():
    relation = E(D.T) <= D.zero + T * S.zero
    assert not shown(compressed(relation, requires=(2 * c * L * (1 + 2 * ft.omega / ft.n) <= 1,), method=slower))


# Clients with numbers of their own


def scaled_step(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :])
    moved = (params.w[..., None] * gradient).sum(axis=-2) + state.h.sum(axis=-2)
    return {"x": state.x - params.gamma * moved, "h": state.h}


def drifting_step(problem, params, state, draw):
    after = scaled_step(problem, params, state, draw)
    return {**after, "h": state.h + problem.f.gradient(state.x[..., None, :])}


def balance(problem, params, state):
    return state.h.sum(axis=-2)


def at_rest(problem, params):
    return {"x": problem.x_star, "h": 0 * problem.y_star}


def weighted(problem, params):
    """w_i L_i <= 1/n for each client"""
    return 1 - problem.n * params.w * problem.f.L


def weights(problem, params, state):
    return (params.w * (problem.f.value(state.x[..., None, :]) - problem.f.value(problem.x_star[..., None, :]))).sum(
        axis=-1
    )


def own(step, relation, start=("x",), requires=(gamma <= 1,), invariant=balance):
    parts = {"x": "point", "h": "clients"}
    method = ft.method("own", step, ["gamma", "w"], parts, fixed_point=at_rest, invariant=invariant)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothEach(mu, L), own=("w",), drawing=ft.Drawing(start=start))
    statement = ft.bound(method, relation)
    return ft.Claim("own/T", setting=setting, statement=statement, requires=(*requires, ft.each(weighted)))


def square(problem, params, state):
    slope = (params.w[..., None] * problem.f.gradient(state.x[..., None, :])).sum(axis=-2)
    return (slope**2).sum(axis=-1)


W, Q = ft.Quantity("W", weights), ft.Quantity("Q", square)


def test_a_step_client_by_client_gives_every_round():
    assert shown(own(scaled_step, E(W.T) + gamma / 2 * E(ft.total(Q)) <= W.zero))


def test_weights_that_vary_with_the_round_are_refused_there():
    assert not shown(own(scaled_step, E((T + 1) * W.T) + gamma / 2 * E(ft.total((k + 1) * Q)) <= W.zero))


@pytest.mark.parametrize("method", [telescoping, pytest.param(induction, marks=pytest.mark.slow)])
def test_where_the_invariant_is_not_kept_nothing_is_proved(method):
    assert not shown(own(drifting_step, E(W.T) <= W.zero), method)


def test_a_start_that_is_given_satisfies_the_invariant_and_the_note_says_so():
    claim = own(scaled_step, E(W.T) <= W.zero, start=("x", "h"))
    found = found_by(claim)
    assert found.verdict == "proved" and "from starts that satisfy the invariant" in found.note


def off_centre(problem, params, state):
    return state.h.sum(axis=-2) - problem.x_star


def square_of_sum(problem, params, state):
    return (state.h.sum(axis=-2) ** 2).sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("invariant", [off_centre, square_of_sum])
def test_of_other_invariants_nothing_is_assumed_where_runs_begin(invariant):
    claim = own(scaled_step, E(W.T) <= W.zero, start=("x", "h"), invariant=invariant)
    assert not shown(claim)


@pytest.mark.slow
def test_longer_steps_are_not_proved():
    assert not shown(own(scaled_step, E(W.T) + gamma / 2 * E(ft.total(Q)) <= W.zero, requires=(gamma <= 3,)))
