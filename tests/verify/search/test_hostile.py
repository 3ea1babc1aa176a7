"""The worst answers of adversaries: found together with the worst states, and feasible exactly."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy
from first_found import at_few, first_found

import fedtheory as ft
from fedtheory.numbers.rational import exact
from fedtheory.problems.hostile import Hostile
from fedtheory.sampling.compressors import samplers
from fedtheory.sampling.stiff import stiff
from verify import Verdict
from verify.evidence import references
from verify.search import hostile, hunting, states

mu, L, gamma, delta, sigma = ft.letters("mu L gamma delta sigma")
QUARTER = sympy.Rational(1, 4)
STRONG = ft.SmoothStronglyConvex(mu, L)
D_0, D_T = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
RATE = (1 - gamma * mu * (1 - delta)) ** 2


def square(x):
    return (x**2).sum(axis=-1)


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def inexact(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * params.adversary.answer(g, params.delta**2 * square(g))}


def of_clients(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :])
    bound = params.delta**2 * square(slope(problem, state.x))
    return {"x": state.x - params.gamma * params.adversary.answer(g, bound[..., None]).mean(axis=-2)}


def asked_twice(problem, params, state, draw):
    g = slope(problem, state.x)
    middle = state.x - params.gamma * params.adversary.answer(g, params.delta**2 * square(g))
    h = slope(problem, middle)
    return {"x": middle - params.gamma * params.adversary.answer(h, params.delta**2 * square(h))}


def within_two_balls(problem, params, state, draw):
    g = slope(problem, state.x)
    bound = params.delta**2 * square(g)
    answer = params.adversary.answer(g, bound, within=((g / 2, square(g)),), feasible=g)
    return {"x": state.x - params.gamma * answer}


def not_against_the_gradient(problem, params, state, draw):
    g = slope(problem, state.x)
    answer = params.adversary.answer(g, params.delta**2 * square(g), along=((g, square(g) / 2),))
    return {"x": state.x - params.gamma * answer}


def inexact_point(problem, params, state, draw):
    moved = params.gamma * slope(problem, state.x)
    return {"x": params.adversary.answer(state.x - moved, params.delta**2 * square(moved))}


def by_two(problem, params, state, draw):
    g = slope(problem, state.x)
    bound = params.delta**2 * square(g)
    return {"x": state.x - params.gamma * (params.adversary.answer(g, bound) + params.other.answer(g, bound)) / 2}


def with_noise(problem, params, state, draw):
    noisy = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :])).mean(axis=-2)
    g = slope(problem, state.x)
    error = params.adversary.answer(0 * g, params.delta**2 * square(g))
    return {"x": state.x - params.gamma * (noisy + error)}


def claim(step, statement, requires, functions=STRONG, letters=("gamma", "delta"), adversaries=("adversary",), more=()):
    """A claim about one step, or a run, of a method that asks adversaries."""
    method = ft.method("asking", step, [*letters, *adversaries], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=functions, adversaries=(*map(ft.Adversary, adversaries), *more))
    return ft.Claim("asking/claim", setting=setting, statement=statement(method), requires=requires)


def one_step(comparison):
    return lambda method: ft.one_step(method, comparison)


SHORT = (gamma * L <= 1, delta < QUARTER)
CONTRACTS = one_step(ft.E(D_next) <= RATE * D)
FALSE = {
    "small error": claim(inexact, CONTRACTS, SHORT),
    "tiny error": claim(inexact, CONTRACTS, (gamma * L <= 1, delta < sympy.Rational(1, 100))),
    "short step": claim(inexact, CONTRACTS, (gamma * L <= sympy.Rational(1, 10), delta < QUARTER)),
    "error below mu/L": claim(inexact, CONTRACTS, (gamma * L <= 1, delta * L <= mu)),
    "each client": claim(of_clients, CONTRACTS, SHORT),
    "asked twice": claim(asked_twice, one_step(ft.E(D_next) <= RATE**2 * D), SHORT),
    "two balls": claim(within_two_balls, CONTRACTS, SHORT),
    "half-space": claim(not_against_the_gradient, CONTRACTS, SHORT),
    "answers are points": claim(inexact_point, CONTRACTS, SHORT),
    "two adversaries": claim(by_two, CONTRACTS, SHORT, adversaries=("adversary", "other")),
    "noise too": claim(
        with_noise,
        one_step(ft.E(D_next) <= RATE * D + gamma**2 * sigma**2),
        SHORT,
        letters=("gamma", "delta", "sigma", "noise"),
        more=(ft.NoisyGradients(),),
    ),
    "flat directions": claim(
        inexact, one_step(ft.E(D_next) <= D), (gamma * L <= 1, delta <= sympy.Rational(1, 10)), ft.SmoothConvex(L)
    ),
    "a run": claim(inexact, lambda method: ft.bound(method, ft.E(D_T) <= RATE**ft.T * D_0), SHORT),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_rates_are_refuted_by_the_worst_answers(name):
    of = FALSE[name]
    rng = hunting.generator(of, hunting.ANSWERS)
    found = next((one.found for one in hostile.worst(of, (), rng) if one.found is not None), None)
    assert found is not None
    left, right = found.replay()
    assert left > right


@pytest.mark.slow
def test_a_check_refutes_an_error_below_a_quarter_and_proves_what_holds():
    assert first_found(FALSE["small error"]).verdict is Verdict.REFUTED
    holds = one_step(ft.E(D_next) <= (1 - gamma * mu + gamma * L * delta) ** 2 * D)
    assert at_few(claim(inexact, holds, (gamma * L <= 1, delta <= 1))).verdict is Verdict.PROVED


def test_what_is_attained_is_not_refuted():
    attained = claim(
        inexact, one_step(ft.E(F_next) <= (1 - gamma * mu * (1 - delta**2)) * F), (gamma * L <= 1, delta <= 1)
    )
    found = list(islice(hostile.worst(attained, (), np.random.default_rng(0)), 8))
    assert found and all(one.found is None for one in found)
    # Ratios of floats may be rounding; what exact arithmetic says of them is not.
    ratios = [states.settled(one.case, one.finding).ratio for one in found]
    assert max(ratios) == pytest.approx(1, abs=1e-6) and max(ratios) <= 1


def test_claims_without_adversaries_are_left_as_they_are():
    plain = ft.method("plain", lambda problem, params, state, draw: state, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=plain, functions=STRONG)
    of = ft.Claim("plain/claim", setting=setting, statement=ft.one_step(plain, ft.E(D_next) <= D), requires=())
    assert not hostile.applies(of)
    assert not list(hostile.worst(of, (), np.random.default_rng(0)))


@pytest.mark.parametrize("seed", range(5))
def test_directions_are_of_length_one_exactly(seed):
    u = np.random.default_rng(seed).standard_normal(1 + seed)
    for denominator in hostile.DENOMINATORS:
        found = hostile.rational(u, denominator)
        assert sum(v * v for v in found) == 1
    assert np.allclose([float(v) for v in found], u / np.sqrt((u**2).sum()), atol=1e-3)


def test_each_answer_and_client_has_its_own_direction():
    rows = exact([[[1, 0], [0, 1]], [[0, -1], [-1, 0]]])
    asked = Hostile(1, exact([1, 0]), directions=rows).in_step()
    centre, bound = exact(np.zeros((1, 1, 2, 2), dtype=int)), exact([[[4, 9]]])
    first, second, third = (asked.answer(centre, bound) for _ in range(3))
    assert first.tolist() == third.tolist() == [[[[2, 0], [0, 3]]]]
    assert second.tolist() == [[[[0, -2], [-3, 0]]]]


def test_directions_of_many_states_meet_their_own_states():
    rows = np.array([[[[1.0, 0.0]]], [[[0.0, 1.0]]]])
    asked = Hostile(1.0, np.array([1.0, 0.0]), directions=rows).in_step()
    assert asked.answer(np.zeros((2, 3, 2)), np.float64(4)).tolist() == [[[2, 0]] * 3, [[0, 2]] * 3]


@pytest.mark.parametrize("directions", [(((1, 1),),), (((1,),),), (((1, 0), (0, 1), (1, 0)),), ()])
def test_answers_that_may_be_too_far_away_are_no_instance(directions):
    of = FALSE["each client"]
    recipe = next(iter(stiff(of, np.random.default_rng(0), 1)))
    (sampler,) = samplers(of.setting)
    of.instances.build(sampler.along(recipe, (((Fraction(3, 5), Fraction(4, 5)),),)), True)
    with pytest.raises(ValueError, match="adversary"):
        of.instances.build(sampler.along(recipe, directions), True)


def test_a_counterexample_is_read_back_from_its_file():
    of = FALSE["asked twice"]
    found = next(one.found for one in hostile.worst(of, (), np.random.default_rng(0)) if one.found is not None)
    assert references.recipe(references.encode(found.recipe)) == found.recipe


@pytest.mark.parametrize(
    ("share", "turning", "words"),
    [
        (1, False, "answers c + r u, with c the centre, r the radius, u = (3/5, 4/5)"),
        (-1, False, "answers c - r u, with c the centre, r the radius, u = (3/5, 4/5)"),
        (Fraction(1, 2), False, "answers c + 1/2 r u, with c the centre, r the radius, u = (3/5, 4/5)"),
        (0, False, "answers c, the centre"),
        (
            Fraction(-1, 3),
            True,
            "answers c - 1/3 r u, with c the centre, r the radius, u = (3/5, 4/5), and every other time c + 1/3 r u",
        ),
    ],
)
def test_answers_are_told_as_they_are_written_by_hand(share, turning, words):
    assert Hostile(share, exact([Fraction(3, 5), Fraction(4, 5)]), turning=turning).name == words
