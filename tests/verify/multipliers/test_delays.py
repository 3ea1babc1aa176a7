"""Delays: what holds whichever of several vectors each client saw is proved, and no more.

Every attack is false of some delays, and only what is not known of them could let it through.
"""

from fractions import Fraction as Fr

import numpy as np
import pytest
from first_found import first_found

import fedtheory as ft
from fedtheory.problems.delays import OLDEST, Stale
from fedtheory.sampling import building, drawing
from verify import Verdict, check
from verify.base.faults import Unrunnable
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")
E, LITTLE = ft.E, STEP // 20
POINTS = {"x": "point", "last": "point", "older": "point"}
LATE = {"x": "point", "held": "clients"}


def square(v):
    return (v**2).sum(axis=-1)


def mean(problem, v):
    return v.sum(axis=-2) / problem.n


def row(x):
    return x[..., None, :]


# Steps


def see_two(problem, params, state, draw):
    """The mean of what clients see of the last two iterates; these are kept."""
    return {"x": mean(problem, params.delays.seen(row(state.x), row(state.last))), "last": state.last, "older": state.x}


def see_three(problem, params, state, draw):
    seen = params.delays.seen(row(state.x), row(state.last), row(state.older))
    return {"x": mean(problem, seen), "last": state.last, "older": state.x}


def see_one(problem, params, state, draw):
    return {
        "x": mean(problem, params.delays.seen(row(state.x)) + 0 * problem.y_star),
        "last": state.x,
        "older": state.x,
    }


def see_twice(problem, params, state, draw):
    once, again = (params.delays.seen(row(state.x), row(state.last)) for _ in range(2))
    return {"x": mean(problem, once), "last": mean(problem, again), "older": state.x}


def descent(*parts):
    """Gradient descent with gradients at one of these parts of the state."""

    def step(problem, params, state, draw):
        seen = params.delays.seen(*(row(getattr(state, part)) for part in parts))
        slope = mean(problem, problem.f.gradient(seen))
        return {"x": state.x - params.gamma * slope, "last": state.x, "older": state.last}

    return step


def late(problem, params, state, draw):
    """Clients send what they hold, which arrives or not."""
    arrived = params.delays.seen(0 * state.held, state.held)
    computed = params.gamma * problem.f.gradient(row(state.x))
    return {"x": state.x - mean(problem, arrived), "held": state.held - arrived + computed}


def late_of_one_mind(problem, params, state, draw):
    """What clients hold in the mean arrives or not."""
    whole = row(mean(problem, state.held))
    arrived = params.delays.seen(0 * whole, whole)
    return {"x": state.x - mean(problem, arrived), "held": state.held - arrived}


# Quantities


def moved(problem, params, state):
    return square(state.x - state.last)


def moved_before(problem, params, state):
    return square(state.last - state.older)


def from_older(problem, params, state):
    return square(state.x - state.older)


def from_middle(problem, params, state):
    return square(state.x - (state.older + state.last) / 2)


def nothing(problem, params, state):
    return 0 * square(state.x)


def slope(problem, params, state):
    return square(mean(problem, problem.f.gradient(row(state.x))))


def potential(share):
    def of(problem, params, state):
        memory = share * params.gamma * problem.L**2 * square(state.x - state.last)
        return ft.gap(problem, params, state) + memory

    return of


def virtual(problem, params, state):
    return square(state.x - mean(problem, state.held) - problem.x_star)


def held(problem, params, state):
    return square(mean(problem, state.held))


D, B, A, M, N = (
    ft.Quantity(name, of)
    for name, of in zip("DBAMN", (moved, moved_before, from_older, from_middle, nothing), strict=True)
)
F, G, V, H = (ft.Quantity(name, of) for name, of in zip("FGVH", (ft.gap, slope, virtual, held), strict=True))
P_half, P_eighth = ft.Quantity("P", potential(Fr(1, 2))), ft.Quantity("P", potential(Fr(1, 8)))
SHORT = (gamma * L + gamma**2 * L**2 <= 1,)


def claim(step, relation, state=POINTS, requires=(), functions=None, params=(), more=(), **rest):
    adversaries = (ft.Delays(), *more)
    method = ft.method("m", step, ["gamma", *params, *(a.field for a in adversaries)], state)
    setting = ft.Setting(algorithm=method, functions=functions or ft.Smooth(L), adversaries=adversaries, **rest)
    return ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=requires)


TRUE = {
    "no farther than the other": (see_two, E(A.next) <= D, {}),
    "within the diameter": (see_two, E(M.next) <= D / 4, {}),
    "by the steps between": (see_three, E(A.next) <= 2 * (D + B), {}),
    "by the distances": (see_three, E(A.next) <= D + A, {}),
    "of one vector there is no choice": (see_one, E(D.next) <= N, {}),
    "two answers are both near": (see_twice, E(D.next) <= D, {}),
    "a round of delay": (descent("x", "last"), E(P_half.next) <= P_half - gamma / 2 * G, {"requires": SHORT}),
    "no delay": (descent("x"), E(F.next) <= F - gamma / 2 * G, {"requires": (gamma * L <= 1,)}),
    "what is under way does not matter": (
        late,
        E(V.next) <= (1 - gamma * mu / 2) * V + 3 * L * gamma * H,
        {"state": LATE, "functions": ft.SmoothStronglyConvex(mu, L), "requires": (4 * gamma * L <= 1,)},
    ),
    "what arrives is no longer held": (late_of_one_mind, E(V.next) <= V, {"state": LATE}),
    "no more is held": (late_of_one_mind, E(H.next) <= H, {"state": LATE}),
}
FALSE = {
    "half as far": (see_two, E(A.next) <= D / 2, {}),
    "within less than the diameter": (see_two, E(M.next) <= D / 5, {}),
    "the latest": (see_two, E(A.next) <= N, {}),
    "the older one": (see_two, E(D.next) <= N, {}),
    "one of three in the ball of two": (see_three, E(M.next) <= D / 4, {}),
    "one of three near the second": (see_three, E(A.next) <= D, {}),
    "fewer steps between": (see_three, E(A.next) <= D + B, {}),
    "two answers alike": (see_twice, E(D.next) <= N, {}),
    "no memory": (descent("x", "last"), E(F.next) <= F - gamma / 2 * G, {"requires": (4 * gamma * L <= 1,)}),
    "less memory": (descent("x", "last"), E(P_eighth.next) <= P_eighth - gamma / 2 * G, {"requires": SHORT}),
    "a round for two": (
        descent("x", "last", "older"),
        E(P_half.next) <= P_half - gamma / 2 * G,
        {"requires": (4 * gamma * L <= 1,)},
    ),
    "always late": (descent("older"), E(P_half.next) <= P_half - gamma / 2 * G, {"requires": (4 * gamma * L <= 1,)}),
    "all arrives": (late_of_one_mind, E(H.next) <= N, {"state": LATE}),
    "half arrives": (late_of_one_mind, E(H.next) <= H / 4, {"state": LATE}),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_for_all_delays_is_proved(name):
    step, relation, more = TRUE[name]
    assert not isinstance(prove(claim(step, relation, **more)), str)


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_for_some_delays_is_refuted_and_not_proved(name):
    step, relation, more = FALSE[name]
    of = claim(step, relation, **more)
    assert isinstance(prove(of, LITTLE), str)
    assert first_found(of).verdict is Verdict.REFUTED


def test_that_delays_are_bounded_is_a_hypothesis():
    of = claim(see_two, E(A.next) <= D, drawing=ft.Drawing(classes_stated=True))
    assert isinstance(prove(of, LITTLE), str)


def test_what_is_drawn_is_not_delayed():
    def step(problem, params, state, draw):
        noisy = params.noise.apply(draw, problem.f.gradient(row(state.x)))
        seen = params.delays.seen(0 * noisy, noisy)
        return {"x": mean(problem, seen), "last": state.x, "older": state.x}

    of = claim(step, E(D.next) <= 10**6 * (D + sigma**2), params=("sigma",), more=(ft.NoisyGradients(),))
    assert "drawn" in prove(of, LITTLE)


def test_delays_are_asked_for_in_steps_and_of_clients():
    def outside(problem, params, state):
        return square(mean(problem, params.delays.seen(row(state.x), row(state.last))))

    with pytest.raises(Unrunnable, match="outside of a step"):
        check(claim(see_two, E(ft.Quantity("O", outside, after=True)) <= D))
    delays = Stale(2, (0, OLDEST)).in_step()
    with pytest.raises(ValueError, match="write x"):
        delays.seen(np.zeros((1, 1, 3, 2)), np.zeros((1, 1, 3, 2)))


def test_each_client_sees_one_of_the_vectors_another_one_each_time():
    given = [np.full((4, 1, 1, 3), Fr(k), dtype=object) for k in range(4)]
    asked = Stale(3, (0, 1, OLDEST, 2)).in_step()
    assert asked.seen(*given)[0, 0, :, 0].tolist() == [0, 1, 3]
    assert asked.seen(*given)[3, 0, :, 2].tolist() == [1, 3, 2]
    assert asked.seen(*given[:2])[3, 0, :, 2].tolist() == [1, 1, 0]
    # Each client may have vectors of its own.
    own = np.arange(6).reshape(1, 3, 2)
    assert Stale(3, (0, 1)).in_step().seen(0 * own, own)[0].tolist() == [[0, 0], [2, 3], [0, 0]]


def test_delays_that_are_drawn_differ_between_clients_and_belong_to_the_class():
    method = ft.method("m", see_three, ["delays"], POINTS)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(ft.Delays(),))
    rng, seen = np.random.default_rng(0), set()
    for _ in range(80):
        instance = building.build(setting, drawing.drawn(setting, rng), True)
        assert ft.Delays().contains(instance.problem, instance.params)
        seen.add(instance.params.delays.ages)
    assert {(0,) * 6, (1,) * 6, (OLDEST,) * 6} <= seen and len(seen) > 10
    with pytest.raises(ValueError, match="digits"):
        building.build(setting, {**drawing.drawn(setting, rng), "delays_digits": -1}, True)
