"""Random directions in proofs. Every attack is a false statement that only their moments could let through."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

L, mu, gamma, r, d, p, sigma = ft.letters("L mu gamma r d p sigma")
LITTLE = STEP // 20


class Two(NamedTuple):
    u: Any
    w: Any


def gaussian(problem, params, state):
    return ft.Gaussian(problem.d)


def sphere(problem, params, state):
    return ft.Sphere(problem.d)


def two(problem, params, state):
    return ft.Product(Two, (ft.Gaussian(problem.d), ft.Gaussian(problem.d)))


def with_coin(problem, params, state):
    return ft.Product(Two, (ft.Gaussian(problem.d), ft.Bernoulli(params.p)))


def of_each(problem, params, state):
    return ft.Independent(ft.Gaussian(problem.d), problem.n)


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def value(problem, x):
    return problem.f.value(x[..., None, :]).mean(axis=-1)


def along(v, u):
    return (v * u).sum(axis=-1)[..., None]


def forward(problem, params, state, draw):
    return {"x": state.x - params.gamma * along(slope(problem, state.x), draw) * draw}


def walk(problem, params, state, draw):
    return {"x": state.x + params.gamma * draw}


def by_two(problem, params, state, draw):
    return {"x": state.x - params.gamma * along(slope(problem, state.x), draw.u) * draw.w}


def by_a_coin(problem, params, state, draw):
    moved = state.x - params.gamma * along(slope(problem, state.x), draw.u) * draw.u
    return {"x": np.where(np.asarray(draw.w)[..., None], moved, state.x)}


def differences(problem, params, state, draw):
    found = (value(problem, state.x + params.r * draw) - value(problem, state.x)) / params.r
    return {"x": state.x - params.gamma * found[..., None] * draw}


def normalised(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * along(g, draw) * draw / np.linalg.norm(draw, axis=-1)[..., None]}


def larger_slope(problem, params, state, draw):
    return {"x": state.x - params.gamma * np.maximum(along(slope(problem, state.x), draw), 0) * draw}


def at_moved_point(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, state.x + params.r * draw)}


def noisy(problem, params, state, draw):
    g = params.noise.apply(draw.w, problem.f.gradient(state.x[..., None, :])).mean(axis=-2)
    return {"x": state.x - params.gamma * along(g, draw.u) * draw.u}


def with_noise(problem, params, state):
    return ft.Product(Two, (ft.Gaussian(problem.d), params.noise.draws))


def own_directions(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :])
    return {"x": state.x - params.gamma * ((g * draw).sum(axis=-1)[..., None] * draw).mean(axis=-2)}


def square(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


F, G, D = ft.Quantity("F", ft.gap), ft.Quantity("G", square), ft.Quantity("D", ft.distance)
BIAS = L**2 * r**2 * d * (d + 2) * (d + 4) / 4


def claim(step, draws, statement, names=("gamma",), functions=None, adversaries=()):
    within = (p <= 1,) if "p" in names else ()
    method = ft.method("step", step, list(names), {"x": "point"}, draws=draws)
    setting = ft.Setting(algorithm=method, functions=functions or ft.Smooth(L), adversaries=adversaries, domain=within)
    return ft.Claim("a/step", setting=setting, statement=ft.one_step(method, statement))


def shown(*given, **named):
    return not isinstance(prove(claim(*given, **named), LITTLE), str)


def why(*given, **named):
    return prove(claim(*given, **named), LITTLE)


DESCENTS = {
    "the fourth moment of numbers": (forward, gaussian, 1, 1, d + 2, ("gamma",)),
    "on the sphere": (forward, sphere, 1 / d, 1 / d, 1, ("gamma",)),
    "two directions are independent": (by_two, two, 0, 1, d, ("gamma",)),
    "a coin": (by_a_coin, with_coin, p, p, d + 2, ("gamma", "p")),
}


@pytest.mark.parametrize("name", DESCENTS)
def test_moments_are_those_of_the_distribution(name):
    step, draws, first, share, second, names = DESCENTS[name]
    for less, true in ((0, True), (1, False)):
        right = F - gamma * first * G + gamma**2 * L * share * (second - less) / 2 * G
        assert shown(step, draws, ft.E(F.next) <= right, names=names) is true, less


def test_a_step_along_a_direction_alone_adds_its_square_and_moves_nowhere_on_average():
    for draws, square_of_u in ((gaussian, d), (sphere, 1)):
        assert shown(walk, draws, ft.E(D.next) <= D + gamma**2 * square_of_u)
        assert not shown(walk, draws, ft.E(D.next) <= D + gamma**2 * square_of_u / 2)
        assert not shown(walk, draws, ft.E(D.next) <= D)
        assert shown(walk, draws, ft.E(F.next) <= F + gamma**2 * L * square_of_u / 2)


def test_values_at_points_moved_along_a_direction():
    def descent(bias, rest=1):
        progress = F - gamma / 2 * (1 - 2 * gamma * L * (d + 2)) * G * rest
        return ft.E(F.next) <= progress + (gamma / 2 + gamma**2 * L) * bias

    names = ("gamma", "r")
    assert shown(differences, gaussian, descent(BIAS), names=names)
    assert not shown(differences, gaussian, descent(BIAS / (d + 4)), names=names)
    assert not shown(differences, gaussian, descent(BIAS / 5), names=names)
    assert not shown(differences, gaussian, descent(0), names=names)
    assert not shown(differences, gaussian, descent(BIAS, 2), names=names)
    assert shown(
        differences,
        sphere,
        ft.E(F.next)
        <= F - gamma / (2 * d) * (1 - 2 * gamma * L) * G + (gamma * d / 2 + gamma**2 * L) * L**2 * r**2 / 4,
        names=names,
    )


def test_values_of_functions_of_which_nothing_bounds_the_curvature():
    expected = ft.E(D.next) <= 2 * D + gamma
    assert not shown(differences, gaussian, expected, names=("gamma", "r"), functions=ft.Convex())


def test_noise_is_independent_of_the_direction():
    noise = {"names": ("gamma", "noise", "sigma"), "adversaries": (ft.NoisyGradients(independent=True),)}
    for second, true in ((d + 2, True), (d + 1, False)):
        right = F - gamma * G + gamma**2 * L * second / 2 * (G + sigma**2 / ft.n)
        assert shown(noisy, with_noise, ft.E(F.next) <= right, **noise) is true


@pytest.mark.parametrize(
    "step, draws, names, what",
    [
        (normalised, gaussian, ("gamma",), "depends on what is drawn"),
        (larger_slope, gaussian, ("gamma",), "depends on what is drawn"),
        (at_moved_point, gaussian, ("gamma", "r"), "direction"),
        (own_directions, of_each, ("gamma",), "each client draws a direction of its own"),
    ],
)
def test_what_is_more_than_moments_is_not_read(step, draws, names, what):
    assert what in why(step, draws, ft.E(D.next) <= 0 * D + 0 * gamma, names=names)


def test_a_product_of_quantities_is_not_read():
    assert isinstance(why(forward, gaussian, ft.E(D.next**2) <= D**2), str)
