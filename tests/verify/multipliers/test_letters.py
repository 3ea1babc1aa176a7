"""Letters that a class bounds, and square roots in hypotheses: what is true is proved, and no more is assumed."""

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify.multipliers.proving import prove

mu, L, gamma, alpha, a, b = ft.letters("mu L gamma alpha a b")
D = ft.Quantity("D", ft.distance)


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def compressed_step(problem, params, state, draw):
    x = state.x - params.gamma * mean_gradient(problem, state.w)
    sent = params.compressor.apply(draw, (x - state.w)[..., None, :]).sum(axis=-2)
    return {"x": x, "w": state.w + sent}


def relaxed(problem, params, state):
    return state.x - params.alpha * params.gamma * mean_gradient(problem, state.x)


def relaxed_step(problem, params, state, draw):
    return {"x": relaxed(problem, params, state)}


def relaxed_beside(problem, params, state, draw):
    sent = params.compressor.apply(draw, state.w[..., None, :]).sum(axis=-2)
    return {"x": relaxed(problem, params, state), "w": sent}


def unbiased_beside(problem, params, state, draw):
    sent = params.compressors.apply(draw, state.w[..., None, :]).sum(axis=-2)
    return {"x": relaxed(problem, params, state), "w": sent}


def by_two(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x)}


def potential(problem, params, state):
    error = ((state.w - state.x) ** 2).sum(axis=-1)
    return ft.distance(problem, params, state) + 8 * params.gamma * problem.L / params.alpha * error


def prox_step(problem, params, state, draw):
    old = problem.f.gradient(state.w[..., None, :])
    shifted = state.x[..., None, :] - params.gamma * (old.mean(axis=-2, keepdims=True) - old)
    near = problem.f.resolvent(1 / params.gamma, shifted / params.gamma)
    return {"x": np.where(np.asarray(draw)[..., None], near, 0 * near).sum(axis=-2), "w": state.w}


def one_client(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def old_distance(problem, params, state):
    return ((state.w - problem.x_star) ** 2).sum(axis=-1)


POINTS = {"x": "point", "w": "point"}
compressed = ft.method("compressed", compressed_step, ["gamma", "alpha", "compressor"], POINTS)
alone = ft.method("relaxed", relaxed_step, ["gamma", "alpha"], {"x": "point"})
beside = ft.method("beside", relaxed_beside, ["gamma", "alpha", "compressor"], POINTS)
unbiased = ft.method("unbiased", unbiased_beside, ["gamma", "alpha", "compressors"], POINTS)
two = ft.method("two", by_two, ["gamma", "a", "b"], {"x": "point"})
svrp = ft.method("svrp", prox_step, ["gamma"], POINTS, draws=one_client)
W = ft.Quantity("W", old_distance)
biased = {"adversaries": (ft.ContractiveCompressors(),), "clients": (1,)}
strong, convex = ft.SmoothStronglyConvex(mu, L), ft.SmoothConvex(L)
up_to_two, root = (gamma * L <= 2,), sympy.sqrt(a * (a + 1) / b)


def shown(method, functions, statement, requires, **more):
    setting = ft.Setting(algorithm=method, functions=functions, **more)
    return prove(ft.Claim("letters/one", setting=setting, statement=statement, requires=requires))


def falls(method):
    return ft.one_step(method, ft.E(D.next) <= D)


def test_compressors_that_contract_bound_alpha_and_a_server_may_compress():
    rate = ft.contracts(compressed, potential, 1 - gamma * mu / 2)
    assert not isinstance(shown(compressed, strong, rate, (16 * gamma * L <= alpha,), **biased), str)
    # alpha <= 1 is of the compressors, whatever else the step does with it.
    assert not isinstance(shown(beside, convex, falls(beside), up_to_two, **biased), str)


@pytest.mark.parametrize(
    ("method", "more"),
    [(alone, {"clients": (1,)}), (unbiased, {"adversaries": (ft.UnbiasedCompressors(),), "clients": (1,)})],
)
def test_a_letter_of_that_name_is_bounded_by_no_other_class(method, more):
    assert "multipliers" in shown(method, convex, falls(method), up_to_two, **more)


def test_two_orders_of_two_points_are_left_out_together():
    bound = (D + gamma**2 * L**2 * W) / (1 + gamma * mu) ** 2
    assert not isinstance(shown(svrp, strong, ft.one_step(svrp, ft.E(D.next) <= bound), ()), str)


@pytest.mark.parametrize(
    "requires",
    [
        # No letter is written by these roots.
        (gamma * L * (1 + root) <= 2,),
        (gamma * L + root <= 2,),
        # A letter is, as the other is positive.
        (gamma * L * (1 + sympy.sqrt((1 - a) / a)) <= 2, a <= 1),
    ],
)
def test_a_root_makes_a_step_shorter(requires):
    assert not isinstance(shown(two, convex, falls(two), requires), str)


@pytest.mark.parametrize(
    "requires",
    [
        (gamma * L <= 2 + root,),
        (gamma * L <= 2 * (1 + root),),
        (gamma * L <= 2 * root,),
        (gamma * L >= root,),
        (gamma * L * (1 - root) <= 2,),
        (gamma * L / root <= 2,),
        (gamma * L <= 2 * sympy.sqrt((1 - a) / a), a <= 1),
        (gamma * L * sympy.sqrt((1 - a) / (1 + a)) <= 2, a <= 1),
        (gamma * L * sympy.sqrt((3 - a) / (1 + a)) <= 2,),
    ],
)
def test_a_root_that_makes_it_longer_shows_nothing(requires):
    assert "multipliers" in shown(two, convex, falls(two), requires)
