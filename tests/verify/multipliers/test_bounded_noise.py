"""Noise of which the step says how large its variance may be: what its moments give is proved, and no more.

Every attack is a false statement, or one of states without any noise, that only such noise could let through.
"""

import re
from typing import NamedTuple

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from fedtheory.numbers.rational import exact
from fedtheory.problems.noise import NoiseWithin
from fedtheory.randomness import expectation, support_of
from verify import Verdict
from verify.base.faults import Unrunnable
from verify.methods import worst_cases
from verify.methods.base import Inquiry
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

L, gamma, zeta, rho, p, A = ft.letters("L gamma zeta rho p A")
eta = sympy.Symbol("eta", real=True)
E, LITTLE, n = ft.E, STEP // 20, ft.n
BOTH = {"x": "point", "w": "point"}
INDEPENDENT, ANY = ft.BoundedNoise(independent=True), ft.BoundedNoise()


def square(v):
    return (v**2).sum(axis=-1)


def slopes(problem, state):
    return problem.f.gradient(state.x[..., None, :])


def of_mean(problem, params, state):
    return square(slopes(problem, state).mean(axis=-2))


def of_each(problem, params, state):
    return square(slopes(problem, state)).mean(axis=-1)


def moved(problem, params, state):
    return square(state.x - state.w)


F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
G, H, M_next = ft.Quantity("G", of_mean), ft.Quantity("H", of_each), ft.Quantity("M_next", moved, after=True)


def claim(step, relation, params, requires=(), noise=ANY, draws=None, domain=(), more=(), **setting_of):
    fields = [noise.field, *(other.field for other in more)]
    method = ft.method("m", step, [*params, *fields], BOTH, draws=draws)
    setting = ft.Setting(
        algorithm=method, functions=ft.Smooth(L), adversaries=(noise, *more), domain=domain, **setting_of
    )
    return ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=requires)


def proves(of, work=LITTLE):
    return not isinstance(prove(of, work), str)


def relative(problem, params, state, draw):
    g = slopes(problem, state)
    sent = params.noise.apply(draw, g, params.zeta**2 * square(g))
    return {"x": state.x - params.gamma * sent.mean(axis=-2), "w": state.x}


def of_the_mean(problem, params, state, draw):
    g = slopes(problem, state)
    bound = params.zeta**2 * square(g.mean(axis=-2))
    return {"x": state.x - params.gamma * params.noise.apply(draw, g, bound[..., None]).mean(axis=-2), "w": state.x}


def by_the_gap(problem, params, state, draw):
    x, optimum = state.x[..., None, :], problem.x_star[..., None, :]
    gap = (problem.f.value(x) - problem.f.value(optimum)).mean(axis=-1)
    sent = params.noise.apply(draw, slopes(problem, state), 2 * params.A * gap[..., None])
    return {"x": state.x - params.gamma * sent.mean(axis=-2), "w": state.x}


def twice_one_draw(problem, params, state, draw):
    g = slopes(problem, state)
    one, other = params.noise.apply(draw, g, square(g)), params.noise.apply(draw, 2 * g, square(g))
    return {"x": state.x - (one - other + g).mean(axis=-2), "w": state.x}


def same_vector_other_bound(problem, params, state, draw):
    g = slopes(problem, state)
    one, other = params.noise.apply(draw, g, square(g)), params.noise.apply(draw, g, 4 * square(g))
    return {"x": state.x - (one - other / 2 - g / 2).mean(axis=-2), "w": state.x}


def same_vector_same_bound(problem, params, state, draw):
    g = slopes(problem, state)
    one, other = (params.noise.apply(draw, g, square(g)) for _ in range(2))
    return {"x": state.x - (one - other).mean(axis=-2), "w": state.x}


short = (gamma * L <= 1,)
#: A step, its letters, a bound that holds, one that does not, and what else.
CASES = {
    "of each, independent": (
        relative,
        ("gamma", "zeta"),
        E(M_next) <= gamma**2 * (G + zeta**2 * H / n),
        E(M_next) <= gamma**2 * (G + zeta**2 * G / n),
        {"noise": INDEPENDENT},
    ),
    "of each, dependent": (
        relative,
        ("gamma", "zeta"),
        E(M_next) <= gamma**2 * (G + zeta**2 * H),
        E(M_next) <= gamma**2 * (G + zeta**2 * H / n),
        {},
    ),
    "the same bound for all, independent": (
        of_the_mean,
        ("gamma", "zeta"),
        E(F_next) <= F - gamma * (1 - gamma * L / 2 * (1 + zeta**2 / n)) * G,
        E(F_next) <= F - gamma * (1 - gamma * L / 2 * (1 + zeta**2 / n**2)) * G,
        {"noise": INDEPENDENT},
    ),
    "as large as the gap": (
        by_the_gap,
        ("gamma", "A"),
        E(F_next) <= (1 + gamma**2 * L * A) * F - gamma * (1 - gamma * L / 2) * G,
        E(F_next) <= (1 + gamma**2 * L * A / 2) * F - gamma * (1 - gamma * L / 2) * G,
        {},
    ),
    "mean zero, not 0": (
        relative,
        ("gamma", "zeta"),
        E(F_next) <= F - gamma * G + gamma**2 * L / 2 * (G + zeta**2 * H),
        E(F_next) <= F - gamma * G + gamma**2 * L / 2 * G,
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_moments_give_is_proved_and_no_more(name):
    step, params, true, false, more = CASES[name]
    assert proves(claim(step, true, params, **more), STEP)
    assert not proves(claim(step, false, params, **more))
    assert first_found(claim(step, false, params, **more)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("step", [twice_one_draw, same_vector_other_bound])
def test_the_noise_of_two_vectors_or_bounds_with_one_draw_may_be_correlated(step):
    """As if it were uncorrelated, or the same."""
    for right in (0 * G, G, 2 * H):
        assert not proves(claim(step, E(M_next) <= right, (), noise=INDEPENDENT))
    of = claim(step, E(M_next) <= H / 100, (), noise=INDEPENDENT)
    assert first_found(of).verdict in (Verdict.REFUTED, Verdict.SUPPORTED)


def test_one_vector_within_one_bound_with_one_draw_has_one_noise():
    assert proves(claim(same_vector_same_bound, E(M_next) <= 0 * G, (), noise=ANY), STEP)


class Draw(NamedTuple):
    first: object
    second: object


def both(problem, params, state):
    return ft.Product(Draw, (params.noise.draws, params.noise.draws))


def test_two_draws_are_two_noises():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        one, other = (params.noise.apply(of, g, square(g)) for of in (draw.first, draw.second))
        return {"x": state.x - (one - other).mean(axis=-2), "w": state.x}

    true, false = E(M_next) <= 2 * H, E(M_next) <= H
    assert proves(claim(step, true, (), draws=both), STEP) and not proves(claim(step, false, (), draws=both))
    assert first_found(claim(step, false, (), draws=both)).verdict is Verdict.REFUTED


def never(params, g, away):
    return -square(g) - 1


def not_always(params, g, away):
    return square(away)[..., None] - square(g)


def by_any_letter(params, g, away):
    return params.eta * square(g)


def by_one_less(params, g, away):
    return (params.rho - 1) * square(g)


@pytest.mark.parametrize("bound", [never, not_always, by_any_letter, by_one_less])
def test_nothing_is_proved_of_states_without_noise(bound):
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        sent = params.noise.apply(draw, g, bound(params, g, state.x - problem.x_star))
        return {"x": state.x - sent.mean(axis=-2), "w": state.x}

    params = ("eta",) if bound is by_any_letter else ("rho",)
    of = claim(step, E(M_next) <= (G + eta**2 * H if bound is by_any_letter else G), params)
    assert re.search("not seen to be nonnegative|the sign of eta is not known", prove(of, LITTLE))
    if bound is by_one_less:
        held = claim(step, E(M_next) <= G + (rho - 1) * H, params, domain=(rho >= 1,))
        assert proves(held, STEP)
        assert not proves(claim(step, E(M_next) <= G, params, domain=(rho >= 1,)))
        return
    with pytest.raises(Unrunnable, match="no noise is there"):
        first_found(of)


class Coin(NamedTuple):
    coin: object
    noise: object


def coin_and_noise(problem, params, state):
    return ft.Product(Coin, (ft.Bernoulli(params.p), params.noise.draws))


def test_a_bound_that_is_drawn_is_not_read_as_its_mean():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        bound = np.where(draw.coin, 4, 0)[..., None] * square(g)
        sent = params.noise.apply(draw.noise, g, bound)
        return {"x": state.x - np.where(draw.coin, 1, 0)[..., None] * (sent - g).mean(axis=-2), "w": state.x}

    of = claim(step, E(M_next) <= 4 * p**2 * H, ("p",), draws=coin_and_noise, domain=(p <= 1,))
    assert isinstance(prove(of, LITTLE), str)
    assert first_found(of).verdict is Verdict.REFUTED


def test_a_bound_is_of_each_client_or_a_number():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        return {"x": state.x - params.noise.apply(draw, g, square(g.mean(axis=-2))).mean(axis=-2), "w": state.x}

    of = claim(step, E(D_next) <= 9 * D, ())
    assert "one bound for vectors of all clients" in prove(of, LITTLE)
    with pytest.raises(Unrunnable, match=re.escape("bound[..., None]")):
        first_found(of)


def test_nothing_is_asked_of_functions_at_noisy_points():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        there = state.x - params.noise.apply(draw, g, square(g)).mean(axis=-2)
        return {"x": there - problem.f.gradient(there[..., None, :]).mean(axis=-2), "w": state.x}

    assert isinstance(prove(claim(step, E(F_next) <= F, ()), LITTLE), str)


def test_noise_is_not_compressed_as_if_it_were_known():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        sent = params.compressors.apply(draw.compressors, params.noise.apply(draw.noise, g, square(g)))
        return {"x": state.x - sent.mean(axis=-2), "w": state.x}

    class Drawn(NamedTuple):
        noise: object
        compressors: object

    def draws(problem, params, state):
        return ft.Product(Drawn, (params.noise.draws, params.compressors.draws))

    of = claim(step, E(M_next) <= 2 * H, (), draws=draws, more=(ft.UnbiasedCompressors(),))
    assert isinstance(prove(of, LITTLE), str)


def test_that_noise_is_small_and_independent_are_hypotheses():
    drawing = ft.Drawing(classes_stated=True)
    step, params, true, _, _ = CASES["of each, dependent"]
    of = claim(step, true, params, drawing=drawing)
    assert isinstance(prove(of, LITTLE), str)
    step, params, true, _, _ = CASES["of each, independent"]
    assert not proves(claim(step, true, params, noise=ANY))


def test_worst_cases_of_noise_are_bounded_by_its_moments():
    fixed = (sympy.Eq(gamma, 1), sympy.Eq(L, 1), sympy.Eq(zeta, 1))
    step, params, true, false, _ = CASES["of each, independent"]
    for relation, noise, bounded in ((true, INDEPENDENT, True), (false, INDEPENDENT, False), (true, ANY, False)):
        of = claim(step, relation, params, fixed, noise=noise, clients=(2,))
        found = worst_cases.METHOD.run(worst_cases.METHOD, Inquiry(of, 0, 4))
        assert ("bounded over the whole class" in found.note) is bounded


@pytest.mark.parametrize("joint", ["independent", "shared"])
@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("skew", [1, 3])
def test_members_have_mean_zero_and_variances_within_the_bounds(joint, turning, skew):
    direction = exact([sympy.Rational(3, 5), sympy.Rational(4, 5)])
    noise = NoiseWithin(2, exact(1).item(), direction, exact(skew).item(), joint, turning)
    x, bound = exact([[[1, 2], [-3, 4]]]), exact([[4, 2]])
    draws, probabilities = support_of(noise.draws, True)
    errors = noise.apply(draws[None], x[:, None], bound[:, None]) - x[:, None]
    assert (expectation(np.moveaxis(errors, 1, -1), probabilities) == 0).all()
    variances = expectation(np.moveaxis(square(errors), 1, -1), probabilities)
    assert (variances <= bound).all() and variances[0, 0] == 4 and variances[0, 1] > 2 - exact(1).item() / 10**6
