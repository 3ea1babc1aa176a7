"""Gradients at points that errors move: what holds of vectors that are correlated with them is proved, and no more.

Each false statement is one that a correlation left out, or one taken for zero, would let through.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma, sigma, p = ft.letters("mu L gamma sigma p")
E, n, omega = ft.E, ft.n, ft.omega
STRONG, ONE = ft.SmoothStronglyConvex(mu, L), {"clients": (1,)}
D, F, H = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap), ft.Quantity("H", ft.heterogeneity)
NOISE, COMPRESSED = ft.NoisyGradients(independent=True), ft.UnbiasedCompressors(independent=True)


class Two(NamedTuple):
    """Two draws of one kind."""

    first: Any
    second: Any


class Drawn(NamedTuple):
    """A coin, and noise."""

    coin: Any
    noise: Any


def two_of_noise(problem, params, state):
    return ft.Product(Two, (params.noise.draws, params.noise.draws))


def two_of_compressors(problem, params, state):
    return ft.Product(Two, (params.compressors.draws, params.compressors.draws))


def coin_and_noise(problem, params, state):
    return ft.Product(Drawn, (ft.Bernoulli(params.p), params.noise.draws))


def slopes(problem, x):
    return problem.f.gradient(x[..., None, :])


def local(problem, params, state, draw):
    y = state.x[..., None, :] - params.gamma * params.noise.apply(draw.first, slopes(problem, state.x))
    y = y - params.gamma * params.noise.apply(draw.second, problem.f.gradient(y))
    return {"x": y.sum(axis=-2) / problem.n}


def same_draw(problem, params, state, draw):
    y = state.x[..., None, :] - params.gamma * params.noise.apply(draw, slopes(problem, state.x))
    y = y - params.gamma * params.noise.apply(draw, problem.f.gradient(y))
    return {"x": y.sum(axis=-2) / problem.n}


def error_kept(problem, params, state, draw):
    error = params.noise.apply(draw, 0 * slopes(problem, state.x))
    y = state.x[..., None, :] - params.gamma * (slopes(problem, state.x) + error)
    return {"x": state.x + params.gamma * (error - problem.f.gradient(y)).sum(axis=-2) / problem.n}


def later_error_kept(problem, params, state, draw):
    error = params.noise.apply(draw.first, 0 * slopes(problem, state.x))
    y = state.x[..., None, :] - params.gamma * (slopes(problem, state.x) + error)
    z = y - params.gamma * params.noise.apply(draw.second, problem.f.gradient(y))
    return {"x": state.x + params.gamma * (error - problem.f.gradient(z)).sum(axis=-2) / problem.n}


def sampled(problem, params, state, draw):
    y = state.x[..., None, :] - params.gamma * params.noise.apply(draw.noise, slopes(problem, state.x))
    moved = np.where(draw.coin[..., None, None], problem.f.gradient(y) / params.p, 0 * y)
    return {"x": state.x - params.gamma * moved.sum(axis=-2) / problem.n}


def twice_compressed(problem, params, state, draw):
    once = params.compressors.apply(draw.first, slopes(problem, state.x))
    sent = params.compressors.apply(draw.second, once)
    return {"x": state.x - params.gamma * (sent - slopes(problem, state.x)).sum(axis=-2) / problem.n}


def compressed_twice_by_one_draw(problem, params, state, draw):
    once = params.compressors.apply(draw, slopes(problem, state.x))
    sent = params.compressors.apply(draw, once)
    return {"x": state.x - params.gamma * (sent - slopes(problem, state.x)).sum(axis=-2) / problem.n}


def prox(problem, params, state, draw):
    y = state.x[..., None, :] - params.gamma * params.noise.apply(draw, slopes(problem, state.x))
    return {"x": problem.f.resolvent(1 / params.gamma, y / params.gamma).sum(axis=-2) / problem.n}


def square_of_gradient(problem, params, state):
    return (slopes(problem, state.x).mean(axis=-2) ** 2).sum(axis=-1)


def of_each(problem, params, state):
    return (slopes(problem, state.x) ** 2).sum(axis=-1).sum(axis=-1) / problem.n


def sgd(problem, params, state, draw):
    return {"x": state.x - params.gamma * params.noise.apply(draw, slopes(problem, state.x)).mean(axis=-2)}


G, S = ft.Quantity("G", square_of_gradient), ft.Quantity("S", of_each)
NOISY = (["gamma", "sigma", "noise"], (NOISE,))
VECTORS = (["gamma", "compressors"], (COMPRESSED,))


def shown(step, relation, draws=None, of=NOISY, requires=(gamma * L <= 1,), functions=STRONG, **more):
    names, adversaries = of
    method = ft.method("m", step, names, {"x": "point"}, draws=draws)
    setting = ft.Setting(algorithm=method, functions=functions, adversaries=adversaries, **more)
    claim = ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=requires)
    return not isinstance(prove(claim, STEP // 8), str)


SLOW = (8 * gamma * L <= 1,)
RATE = 1 - gamma * mu


def test_two_noisy_local_steps_of_one_client():
    assert shown(local, E(D.next) <= RATE * D + 2 * gamma**2 * sigma**2, two_of_noise, **ONE)
    assert not shown(local, E(D.next) <= RATE * D + gamma**2 * sigma**2, two_of_noise, **ONE)


def test_two_noisy_local_steps_of_many_clients():
    drift = 8 * gamma**3 * L * H
    assert shown(local, E(D.next) <= RATE * D + 2 * gamma**2 * sigma**2 + drift, two_of_noise, requires=SLOW)
    assert not shown(local, E(D.next) <= RATE * D + gamma**2 * sigma**2 / n + drift, two_of_noise, requires=SLOW)


def test_a_vector_is_compressed_again():
    still = D + 2 * gamma**2 * (omega**2 + 2 * omega) * S
    more = {"requires": (), "functions": ft.Smooth(L), **ONE}
    assert shown(twice_compressed, E(D.next) <= still, two_of_compressors, VECTORS, **more)
    less = D + gamma**2 * 2 * omega * S
    assert not shown(twice_compressed, E(D.next) <= less, two_of_compressors, VECTORS, **more)


# With f = L/2 |x|^2 and x = x*, the step is (1 + gamma L) gamma times the error, or (1 + gamma L - (gamma L)^2) gamma.
@pytest.mark.parametrize(("step", "draws"), [(error_kept, None), (later_error_kept, two_of_noise)])
def test_an_error_and_a_gradient_that_it_moved_are_correlated(step, draws):
    more = {"draws": draws, "requires": (2 * gamma * L <= 1,), **ONE}
    alone = gamma**2 * (1 + 2 * (gamma * L) ** 2) * sigma**2
    assert not shown(step, E(D.next) <= D + alone, **more)
    assert not shown(step, E(D.next) <= 2 * D + alone, **more)


@pytest.mark.parametrize(("step", "of"), [(same_draw, NOISY), (compressed_twice_by_one_draw, VECTORS), (prox, NOISY)])
def test_what_is_asked_by_the_same_draw_or_solved_is_refused(step, of):
    large = 100 * (D + H + S) + (100 * gamma**2 * sigma**2 if of is NOISY else 0)
    assert not shown(step, E(D.next) <= large, None, of, **ONE)


def mixed(problem, params, state, draw):
    y = state.x - params.gamma * params.noise.apply(draw, problem.f.gradient(state.x))
    return {"x": params.W.mix(y - params.gamma * problem.f.gradient(y))}


def spread(problem, params, state):
    return ((state.x - problem.x_star[..., None, :]) ** 2).sum(axis=-1).sum(axis=-1)


def test_what_a_matrix_mixes_is_not_drawn():
    names, adversaries = ["gamma", "sigma", "noise", "W", "delta"], (NOISE, ft.MixingMatrix())
    method = ft.method("m", mixed, names, {"x": "models"})
    setting = ft.Setting(algorithm=method, functions=STRONG, adversaries=adversaries)
    V = ft.Quantity("V", spread)
    large = 100 * (V + n * H + n * gamma**2 * sigma**2)
    claim = ft.Claim("mine/mixed", setting=setting, statement=ft.one_step(method, E(V.next) <= large))
    assert prove(claim).endswith("mixes what is drawn")


def gathered(problem, params, state, draw):
    received = np.where(draw[..., None], slopes(problem, state.x), 0 * slopes(problem, state.x))
    x = state.x - params.gamma * received.sum(axis=-2) / params.tau
    return {"x": x + params.gamma * slopes(problem, x).sum(axis=-2) / problem.n}


def subset(problem, params, state):
    return ft.UniformSubset(problem.n, params.tau)


# With f_i = |x - (-1)^i|^2/2 and one of two clients the step is (1 + gamma) gamma long at x*: the sum over those that
# take part is correlated with the gradient after it.
@pytest.mark.parametrize("functions", [ft.SmoothConvex(L), ft.Smooth(L), STRONG])
def test_a_gradient_after_a_sum_over_those_that_take_part_is_refused(functions):
    tau = ft.integers("tau")
    method = ft.method("m", gathered, ["gamma", "tau"], {"x": "point"}, draws=subset)
    setting = ft.Setting(algorithm=method, functions=functions, domain=(tau <= n, n >= 2))
    statement = ft.one_step(method, E(D.next) <= 20 * D + 20 * gamma**2 * H)
    claim = ft.Claim("mine/step", setting=setting, statement=statement, requires=(2 * gamma * L <= 1,))
    assert "depends on a sum over the clients that are drawn" in prove(claim)


def test_masks_beside_gradients_at_drawn_points():
    of = (["gamma", "p", "sigma", "noise"], (NOISE,))
    more = {"requires": (2 * gamma * L <= p,), "domain": (p <= 1,), **ONE}
    assert shown(sampled, E(D.next) <= D + 4 * gamma**2 * sigma**2, coin_and_noise, of, **more)
    assert not shown(sampled, E(D.next) <= (1 - gamma * mu / 2) ** 4 * D, coin_and_noise, of, **more)
    longer = {**more, "requires": (gamma * L <= 1,)}
    assert not shown(sampled, E(D.next) <= D + 4 * gamma**2 * sigma**2, coin_and_noise, of, **longer)


def test_gradients_after_a_step():
    assert not shown(sgd, E(G.next) <= G, **ONE)
    assert not shown(sgd, E(G.next) <= G + (gamma * L * sigma) ** 2 / 2, **ONE)
    assert shown(sgd, E(G.next) <= 10 * G + 10 * (gamma * L * sigma) ** 2, functions=ft.Smooth(L), **ONE)


def test_kinks_are_refused():
    relation = E(D.next) <= 100 * D + 100 * gamma**2 * sigma**2
    assert not shown(local, relation, two_of_noise, requires=(), functions=ft.StronglyConvex(mu), **ONE)
