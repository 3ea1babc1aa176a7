"""Rounding refutes nothing, by whatever number it is multiplied; what is false beyond rounding is refuted."""

import math
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from verify.base.case import Case
from verify.methods import number_types
from verify.search.refutation import refute

mu, L, gamma = ft.letters("mu L gamma")
HUGE = 10**20
TABLE = {"a": (0.1 + 0.2 - 0.3) * 2**60}


def size(p, z):
    return ft.distance(p, None, z)


def made(k):
    return lambda p, q, z: k * size(p, z)


TRUE = {
    "sum": lambda p, q, z: (0.1 + 0.2 - 0.3) * HUGE * size(p, z),
    "root": lambda p, q, z: (math.sqrt(2) ** 2 - 2) * 10**12 * size(p, z),
    "text": lambda p, q, z: (float("0.1") * 3 - 0.3) * HUGE * size(p, z),
    "grid": lambda p, q, z: (np.linspace(0, 1, 11)[3] - 0.3) * HUGE * size(p, z),
    "single precision": lambda p, q, z: (np.float32(0.1) * 10 - 1) * HUGE * size(p, z),
    "cosine": lambda p, q, z: (np.cos(1.0) ** 2 + np.sin(1.0) ** 2 - 1) * HUGE * size(p, z),
    "exponential": lambda p, q, z: (math.exp(math.log(3)) - 3) * HUGE * size(p, z),
    "remainder": lambda p, q, z: (0.3 % 0.1) * size(p, z),
    "absorbed": lambda p, q, z: (1e16 + 1 - 1e16 - 1) * size(p, z),
    "state": lambda p, q, z: (0.1 * size(p, z) + 0.2 * size(p, z) - 0.3 * size(p, z)) * HUGE,
    "absorbed state": lambda p, q, z: ((size(p, z) + 10**16) - 10**16 - size(p, z)) * HUGE,
    "letter": lambda p, q, z: (q.gamma * 3 / 3 - q.gamma) * HUGE * size(p, z),
    "constant": lambda p, q, z: (p.L * 3 / 3 - p.L) * HUGE * size(p, z),
    "format": lambda p, q, z: (float(f"{0.1 + 0.2:.20f}") - 0.3) * HUGE * size(p, z),
    "table": lambda p, q, z: TABLE["a"] * size(p, z),
    "factory": made((0.1 + 0.2 - 0.3) * 2**60),
}
FALSE = {
    "sum": lambda p, q, z: (0.1 + 0.2 - 0.3001) * size(p, z),
    "root": lambda p, q, z: (math.sqrt(2) ** 2 - 2.0001) * size(p, z),
    "remainder": lambda p, q, z: (0.35 % 0.1) * size(p, z),
    "absorbed": lambda p, q, z: (1e16 + 1 - 1e16) * size(p, z),
    "pi": lambda p, q, z: (np.pi - 3.1415) * size(p, z),
}
STAYS = ft.method("stays", lambda problem, params, state, draw: {"x": state.x}, ["gamma"], {"x": "point"})
SETTING = ft.Setting(algorithm=STAYS, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))


def vanishes(function):
    def quantity(problem, params, state):
        return function(problem, params, state)

    nothing = 0 * ft.Quantity("D", ft.distance)
    return ft.Claim("vanishes", setting=SETTING, statement=ft.identity(ft.Quantity("V", quantity), nothing))


def refutes(claim):
    recipe = next(iter(claim.instances.recipes(np.random.default_rng(0))))
    dimension = claim.instances.build(recipe, True).dimension
    return refute(Case(claim, recipe), (Fraction(7, 3),) * dimension, 1)


@pytest.mark.parametrize("name", TRUE)
def test_rounding_that_is_magnified_refutes_nothing(name):
    claim = vanishes(TRUE[name])
    assert number_types.test(claim, 0, 4) is None and refutes(claim) is None


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_beyond_rounding_is_refuted(name):
    assert refutes(vanishes(FALSE[name])) is not None


def test_code_that_tells_types_apart_is_refuted():
    told = vanishes(lambda p, q, z: np.where(z.x.dtype == object, 0, 1) * size(p, z))
    assert number_types.test(told, 0, 4) is not None
