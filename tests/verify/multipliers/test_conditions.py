"""Several conditions on one answer of an adversary: what follows of all of them is proved, and no more.

Every attack is a false statement, or one of conditions that nothing meets, that only such conditions could let
through.
"""

import re

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from fedtheory.numbers.rational import exact, root_below
from fedtheory.problems.hostile import Hostile
from verify import Verdict
from verify.base.faults import Unrunnable
from verify.methods import worst_cases
from verify.methods.base import Inquiry
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

L, gamma, delta, zeta, nu, beta, p = ft.letters("L gamma delta zeta nu beta p")
E, LITTLE = ft.E, STEP // 20
BOTH = {"x": "point", "w": "point"}


def square(v):
    return (v**2).sum(axis=-1)


def slope(problem, state):
    return problem.f.gradient(state.x[..., None, :]).mean(axis=-2)


def of_mean(problem, params, state):
    return square(slope(problem, state))


def of_each(problem, params, state):
    return square(problem.f.gradient(state.x[..., None, :])).mean(axis=-1)


def moved(problem, params, state):
    return square(state.x - state.w)


def along(problem, params, state):
    return ((state.w - state.x) * slope(problem, state)).sum(axis=-1)


D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G, H, M_next = ft.Quantity("G", of_mean), ft.Quantity("H", of_each), ft.Quantity("M_next", moved, after=True)


def claim(step, relation, params, requires=(), state=None, draws=None, domain=(), **more):
    method = ft.method("m", step, [*params, "adversary"], state or BOTH, draws=draws)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(ft.Adversary(),), domain=domain, **more)
    return ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=requires)


def proves(of, work=LITTLE):
    return not isinstance(prove(of, work), str)


def with_answer(answer):
    """The step that goes by what ``answer(params, g, problem, state)`` gives."""

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * answer(params, slope(problem, state), problem, state), "w": state.x}

    return step


def two_balls(params, g, problem, state):
    return params.adversary.answer(g, params.delta**2 * square(g), within=((0 * g, square(g)),))


def lens(params, g, problem, state):
    return params.adversary.answer(0 * g, square(g), within=((2 * g, square(g)),), feasible=g)


def forwards(params, g, problem, state):
    return params.adversary.answer(g, params.delta**2 * square(g), along=((g, square(g)),))


def biased(params, g, problem, state):
    half = params.beta / 2
    at = ((g, params.nu * square(g)),)
    return params.adversary.answer(half * g, half**2 * square(g), along=at, feasible=params.beta * g)


def slab(params, g, problem, state):
    """Of length 2|g| at most, with an inner product with g of exactly |g|^2."""
    return params.adversary.answer(0 * g, 4 * square(g), along=((g, square(g)), (-g, -square(g))), feasible=g)


def home(params, g, problem, state):
    """Nearer to the optimum than the state is, and within a distance of it."""
    away = state.x - problem.x_star
    return params.adversary.answer(0 * g, params.zeta**2 * square(away), along=((away, 0 * square(g)),))


short = (gamma * L <= 1,)
#: What a step goes by, its letters, a bound that holds, one that does not, and what else.
CASES = {
    "two balls": (two_balls, ("delta",), E(M_next) <= gamma**2 * G, E(M_next) <= gamma**2 * delta**2 * G, {}),
    "a lens": (lens, (), E(M_next) <= gamma**2 * G, E(M_next) <= gamma**2 * G / 2, {}),
    "forwards": (
        forwards,
        ("delta",),
        E(F_next) <= F - gamma * G + gamma**2 * L / 2 * (1 + delta) ** 2 * G,
        E(F_next) <= F - gamma * G + gamma**2 * L / 2 * G,
        {},
    ),
    "biased": (
        biased,
        ("nu", "beta"),
        E(M_next) <= gamma**2 * beta**2 * G,
        E(M_next) <= gamma**2 * beta * nu * G,
        {"domain": (nu <= beta,)},
    ),
    "a slab": (
        slab,
        (),
        E(F_next) <= F - gamma * G + 2 * gamma**2 * L * G,
        E(F_next) <= F - gamma * G + gamma**2 * L / 2 * G,
        {},
    ),
    "home": (
        home,
        ("zeta",),
        E(D_next) <= (1 + gamma**2 * zeta**2) * D,
        E(D_next) <= (1 + gamma**2 * zeta**2 / 2) * D,
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_all_conditions_leave_is_proved_and_no_more(name):
    answer, letters, true, false, more = CASES[name]
    step, params = with_answer(answer), ("gamma", *letters)
    assert proves(claim(step, true, params, **more), STEP)
    assert not proves(claim(step, false, params, **more))
    assert first_found(claim(step, false, params, **more)).verdict is Verdict.REFUTED


def test_two_answers_to_the_same_conditions_are_two_vectors():
    def step(problem, params, state, draw):
        g = slope(problem, state)
        one, other = (
            params.adversary.answer(g, params.delta**2 * square(g), within=((0 * g, 4 * square(g)),)) for _ in range(2)
        )
        return {"x": state.x + one - other, "w": state.x}

    false, true = E(M_next) <= delta**2 * G, E(M_next) <= 4 * delta**2 * G
    assert proves(claim(step, true, ("delta",)), STEP) and not proves(claim(step, false, ("delta",)))
    assert first_found(claim(step, false, ("delta",))).verdict is Verdict.REFUTED


def no_centre(params, g, problem, state):
    """Vectors there are, as 2g, but what is to meet the conditions, g, does not."""
    return params.adversary.answer(g, square(g), along=((g, 2 * square(g)),))


def nowhere(params, g, problem, state):
    return params.adversary.answer(g, square(g), along=((g, 5 * square(g)),), feasible=3 * g)


def apart(params, g, problem, state):
    return params.adversary.answer(0 * g, square(g), within=((9 * g, square(g)),))


def sometimes(params, g, problem, state):
    """Where nu > beta nothing meets both."""
    return biased(params, g, problem, state)


def of_any_direction(params, g, problem, state):
    return params.adversary.answer(g, square(g), along=((state.x - problem.x_star, 0 * square(g)),))


def empty_ball(params, g, problem, state):
    return params.adversary.answer(g, square(g), within=((g, -square(g)),))


@pytest.mark.parametrize("answer", [no_centre, nowhere, apart, sometimes, of_any_direction, empty_ball])
def test_nothing_is_proved_where_no_vector_is_seen_to_meet_all_conditions(answer):
    """Of states without an answer anything is true, as that the distance is 0 after a step."""
    params = ("gamma", "nu", "beta") if answer is sometimes else ("gamma",)
    of = claim(with_answer(answer), E(D_next) <= 0 * D, params)
    assert re.search("is not seen", prove(of, LITTLE))
    if answer is of_any_direction:
        # Here and there it does.
        assert first_found(of).verdict is Verdict.REFUTED
        return
    with pytest.raises(Unrunnable, match=r"say feasible=|at most"):
        first_found(of)


def test_nor_is_anything_certified_there():
    fixed = (sympy.Eq(gamma, 1), sympy.Eq(L, 1))
    for answer, bounded in ((lens, True), (no_centre, False), (nowhere, False), (apart, False)):
        of = claim(with_answer(answer), E(M_next) <= G, ("gamma",), fixed, clients=(1,))
        found = worst_cases.METHOD.run(worst_cases.METHOD, Inquiry(of, 0, 4)) if bounded else None
        assert found is None or "bounded over the whole class" in found.note
        if not bounded:
            with pytest.raises((ValueError, Unrunnable)):
                worst_cases.METHOD.run(worst_cases.METHOD, Inquiry(of, 0, 4))


def coin(problem, params, state):
    return ft.Bernoulli(params.p)


@pytest.mark.parametrize("where", ["within", "along", "feasible"])
def test_a_condition_on_what_is_drawn_is_another_one_for_each_draw(where):
    def step(problem, params, state, draw):
        g = slope(problem, state)
        drawn = draw[..., None] * g
        more = {
            "within": {"within": ((drawn, 4 * square(g)),)},
            "along": {"along": ((drawn, -square(g)),)},
            "feasible": {"within": ((g, 4 * square(g)),), "feasible": drawn},
        }[where]
        return {"x": state.x - params.adversary.answer(g, square(g), **more), "w": state.x}

    of = claim(step, E(M_next) <= G, ("p",), draws=coin, domain=(p <= 1,))
    assert isinstance(prove(of, LITTLE), str)
    assert first_found(of).verdict is Verdict.REFUTED


def test_conditions_on_clients_are_of_each_and_not_of_their_mean():
    def step(problem, params, state, draw):
        g = problem.f.gradient(state.x[..., None, :])
        r = params.adversary.answer(g, square(g), within=((0 * g, square(g)),), feasible=0 * g)
        return {"x": state.x - r.mean(axis=-2), "w": state.x}

    for right, verdict in ((H, Verdict.SUPPORTED), (G, Verdict.REFUTED)):
        of = claim(step, E(M_next) <= right, ())
        assert isinstance(prove(of, LITTLE), str)
        assert first_found(of).verdict is verdict


@pytest.mark.parametrize("more", [{"within": (3,)}, {"along": 3}, {"within": ((1, 2, 3),)}])
def test_conditions_are_vectors_with_numbers(more):
    def step(problem, params, state, draw):
        g = slope(problem, state)
        return {"x": state.x - params.adversary.answer(g, square(g), **more), "w": state.x}

    of = claim(step, E(D_next) <= D, ())
    assert isinstance(prove(of, LITTLE), str)
    with pytest.raises(Unrunnable):
        first_found(of)


@pytest.mark.parametrize("radial", [False, True])
@pytest.mark.parametrize("share", [-1, 1, sympy.Rational(1, 2)])
def test_answers_meet_all_conditions_and_go_as_far_as_these_allow(share, radial):
    direction = exact([sympy.Rational(3, 5), sympy.Rational(4, 5)])
    hostile = Hostile(exact(share).item(), direction, radial)
    rng = np.random.default_rng(0)
    on_end = 0
    for _ in range(20):
        g = exact(rng.integers(-9, 10, (3, 1, 2)))
        beta, nu = exact(3), exact(2) / 3
        balls, halves = [(beta / 2 * g, beta**2 / 4 * square(g))], [(g, nu * square(g)), (0 * g, -1 + 0 * square(g))]
        r = hostile.at(*balls[0], along=halves, feasible=beta * g)
        room = [bound - square(r - c) for c, bound in balls] + [(r * v).sum(axis=-1) - least for v, least in halves]
        assert all((v >= 0).all() for v in room)
        on_end += bool(min(float(v[i, 0]) for v in room[:2] for i in range(3)) < 1e-4)
    assert on_end == 20 or share == sympy.Rational(1, 2)


def test_roots_from_below_are_exact_where_they_can_be():
    for value in (0, 4, sympy.Rational(9, 49), 2, sympy.Rational(1, 3), 10**30):
        (root,) = root_below(exact([value]))
        assert root**2 <= value
        assert (root**2 == value) is bool(sympy.sqrt(value).is_rational)
        assert float(value - root**2) <= 1e-6 * max(1, float(value))
