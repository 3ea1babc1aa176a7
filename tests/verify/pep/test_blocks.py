"""Worst cases over functions that are smooth in blocks: what is true is certified, and what is false is not."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify import Verdict
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.pep.certifying import certify

L_1, L_2, L_3, gamma, p = ft.letters("L_1 L_2 L_3 gamma p")
E = ft.E
AT = tuple(sympy.Eq(letter, number) for letter, number in ((L_1, 1), (L_2, 4), (gamma, 1), (p, sympy.Rational(1, 2))))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def first(problem, params, state):
    return (problem.part(slope(problem, state.x), 0) ** 2).sum(axis=-1)


def second(problem, params, state):
    return (problem.part(slope(problem, state.x), 1) ** 2).sum(axis=-1)


P, Q = ft.Quantity("P", first), ft.Quantity("Q", second)


def one(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.part(slope(problem, state.x), 0)}


def longer(problem, params, state, draw):
    return {"x": state.x - 21 * params.gamma / 10 * problem.part(slope(problem, state.x), 0)}


def both(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, state.x)}


def parallel(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * (problem.part(g, 0) + problem.part(g, 1) / 4)}


def three(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * (problem.part(g, 0) + problem.part(g, 1) / 4 + problem.part(g, 2))}


def cyclic(problem, params, state, draw):
    x = state.x - params.gamma * problem.part(slope(problem, state.x), 0)
    return {"x": x - params.gamma / 4 * problem.part(slope(problem, x), 1)}


def by_coordinate(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * np.where(np.asarray(draw), problem.part(g, 0), 0 * g)}


def by_dimension(problem, params, state, draw):
    return {"x": state.x - 2 * params.gamma / problem.d * problem.part(slope(problem, state.x), 0)}


def by_name(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.part(slope(problem, state.x), int(params.p))}


def coins(problem, params, state):
    return ft.Independent(ft.Bernoulli(params.p), problem.d)


def posed(step, statement, letters=(L_1, L_2), requires=AT, **more):
    draws = {"draws": more.pop("draws")} if "draws" in more else {}
    method = ft.method("mine", step, ["gamma", "p"], {"x": "point"}, **draws)
    functions = ft.BlockSmoothConvex(letters)
    setting = ft.Setting(algorithm=method, functions=functions, domain=(p <= 1,), **{"clients": (1,), **more})
    claim = ft.Claim("mine/blocks", setting=setting, statement=statement(method), requires=requires)
    recipe, _ = next(islice(meeting(claim, claim.instances.recipes(np.random.default_rng(0))), 1))
    return claim, claim.instances.build(recipe, True)


def step(relation):
    return lambda method: ft.one_step(method, relation)


def state(relation):
    return lambda method: ft.inequality(relation)


THREE = {"letters": (L_1, L_2, L_3), "requires": (*AT, sympy.Eq(L_3, 1))}


@pytest.mark.parametrize(
    ("code", "statement", "more", "right"),
    (
        (one, step(E(F_next) <= F - P / 2), {}, True),
        (one, step(E(F_next) <= F - P / 2), {"clients": (2,)}, True),
        (one, step(E(F_next) <= F - P * sympy.Rational(51, 100)), {}, False),
        # In a block the function is smooth, and the way to x* is not the shorter.
        (one, step(E(D_next) <= D), {}, False),
        (longer, step(E(F_next) <= F), {}, False),
        (both, step(E(F_next) <= F), {}, False),
        # Of two coupled blocks the steps together are twice as long as they should be, which is just short enough.
        (parallel, step(E(F_next) <= F), {}, True),
        (three, step(E(F_next) <= F), THREE, False),
        (cyclic, step(E(F_next) <= F - P / 2), {}, True),
        (cyclic, step(E(F_next) <= F - P / 2 - Q / 8), {}, False),
        (one, state(P + Q <= 10 * F), {}, True),
        (one, state(P + Q <= 8 * F), {}, False),
        (one, state(P <= 2 * F), {}, True),
        (one, state(Q <= 2 * F), {}, False),
        (one, state(P <= D), {}, False),
    ),
)
def test_what_is_certified_of_blocks_is_true(code, statement, more, right):
    claim, instance = posed(code, statement, **more)
    assert (certify(Case.of(claim, instance)).verdict is Verdict.CERTIFIED) is right


@pytest.mark.parametrize(
    ("code", "more", "why"),
    (
        (by_coordinate, {"draws": coins}, "of which blocks have any number"),
        (by_dimension, {}, "depends on the dimension"),
        (by_name, {}, "not read"),
        (one, {"hints": ft.Hints(coordinates=True)}, "more that is drawn"),
    ),
)
def test_code_that_tells_coordinates_of_a_block_apart_is_refused(code, more, why):
    claim, instance = posed(code, step(E(F_next) <= F), **more)
    with pytest.raises(ValueError, match=why):
        certify(Case.of(claim, instance))


def test_without_the_class_nothing_is_known_of_the_functions():
    claim, _ = posed(one, step(E(F_next) <= F - P / 2))
    setting = replace(claim.setting, drawing=ft.Drawing(classes_stated=True))
    bare = ft.Claim("mine/bare", setting=setting, statement=claim.statement, requires=AT)
    recipe, _ = next(islice(meeting(bare, bare.instances.recipes(np.random.default_rng(0))), 1))
    assert certify(Case(bare, recipe)).verdict is not Verdict.CERTIFIED
