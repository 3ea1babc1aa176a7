"""Clients in a random order: certificates take every order, and none is taken for draws that are independent."""

from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify import Verdict
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.evidence import certificates
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

L = ft.letters("L")
E = ft.E


def slopes(problem, state):
    return problem.f.gradient(state.x[..., None, :])


def moved(problem, params, state):
    return ((state.x - state.w) ** 2).sum(axis=-1)


def of_each(problem, params, state):
    return (slopes(problem, state) ** 2).sum(axis=-1).mean(axis=-1)


def of_mean(problem, params, state):
    return (slopes(problem, state).mean(axis=-2) ** 2).sum(axis=-1)


def at(place, problem, state):
    return (place[..., None] * slopes(problem, state)).sum(axis=-2)


def first(problem, params, state, draw):
    return {"x": state.x + at(draw[0], problem, state), "w": state.x}


def both(problem, params, state, draw):
    return {"x": state.x + at(draw[0] & draw[1], problem, state), "w": state.x}


def difference(problem, params, state, draw):
    return {"x": state.x + at(draw[0], problem, state) - at(draw[1], problem, state), "w": state.x}


def total(problem, params, state, draw):
    return {"x": state.x + at(draw[0], problem, state) + at(draw[1], problem, state), "w": state.x}


M_next = ft.Quantity("M_next", moved, after=True)
H, G = ft.Quantity("H", of_each), ft.Quantity("G", of_mean)
#: Each with a bound that holds, and with one that would if places were drawn with replacement.
CASES = {
    "first": (first, E(M_next) <= H, E(M_next) <= G),
    "both": (both, E(M_next) <= 0 * H, H <= 4 * E(M_next)),
    "difference": (difference, E(M_next) <= 4 * H - 4 * G, E(M_next) <= 2 * H - 2 * G),
    "total": (total, E(M_next) <= 4 * G, E(M_next) <= H + 2 * G),
}


def order(problem, params, state):
    return ft.Permutation(2)


def verdict(step, relation):
    method = ft.method("m", step, [], {"x": "point", "w": "point"}, draws=order)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothConvex(L), clients=(2,))
    of = ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=(sympy.Eq(L, 1),))
    ((recipe, _),) = islice(meeting(of, of.instances.recipes(np.random.default_rng(0))), 1)
    # Moments of orders are not known: no proof may take them for those of independent draws.
    assert isinstance(prove(of, STEP // 20), str)
    return certificates.certified(Case(of, recipe))[0].verdict


@pytest.mark.parametrize("name", CASES)
def test_places_are_drawn_without_replacement(name):
    step, true, false = CASES[name]
    assert verdict(step, true) is Verdict.CERTIFIED
    assert verdict(step, false) is not Verdict.CERTIFIED
