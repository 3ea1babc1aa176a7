"""Potentials, starts and premises of bounds of T rounds: false statements that only one of these could let through."""

from itertools import islice

import numpy as np
import pytest
import sympy
from descending import mean_gradient, noisy_step, step

import fedtheory as ft
from fedtheory import claims
from verify.base.evaluate import meeting
from verify.derivation import telescoping as by_rounds
from verify.derivation.spare import vanishing_squares
from verify.methods import telescoping
from verify.methods.base import Inquiry
from verify.multipliers.cases import cases
from verify.multipliers.posing import Falling, pose
from verify.reading.source import Unread

mu, L, gamma, sigma, c, r = ft.letters("mu L gamma sigma c r")
k, T, E = ft.round_index, ft.T, ft.E
convex, nonconvex, strong = ft.SmoothConvex(L), ft.Smooth(L), ft.SmoothStronglyConvex(mu, L)
short = (gamma * L <= 1,)
noise = {"adversaries": (ft.NoisyGradients(),), "clients": (1,)}
TWO = {"x": "point", "z": "point"}


def both_stay(problem, params, state, draw):
    return {"x": state.x, "z": state.z}


def one_moves(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x), "z": state.z}


def first_only(problem, params, state, draw):
    fresh = params.noise.apply(draw, 0 * problem.f.gradient(state.x[..., None, :])).sum(axis=-2) / problem.n
    moved = state.z + fresh
    return {"x": state.x + moved, "z": moved}


def held_noise(problem, params, state, draw):
    fresh = params.noise.apply(draw, 0 * problem.f.gradient(state.x[..., None, :])).sum(axis=-2) / problem.n
    return {"x": state.x + state.z + fresh, "z": fresh}


def at_z(problem, params, state, draw):
    x = state.x - params.gamma * mean_gradient(problem, state.z)
    return {"x": x, "z": x}


def at_z_that_stays(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.z), "z": state.z}


def at_z_before(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.z), "z": state.x}


def projected(problem, params, state, draw):
    return {"x": problem.project(state.x - params.gamma * mean_gradient(problem, state.x))}


def given(problem, x):
    return np.zeros(problem.d, dtype=int) if x is None else x


def doubled(problem, params, x=None):
    x = given(problem, x)
    return {"x": x, "z": 2 * x}


def negative(problem, params, x=None):
    x = given(problem, x)
    return {"x": x, "z": -x}


def one_step_on(problem, params, x=None):
    x = given(problem, x)
    return {"x": x, "z": x - params.gamma * mean_gradient(problem, x)}


def at_zero(problem, params, x=None):
    x = given(problem, x)
    return {"x": x, "z": 0 * x}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


def other_distance(problem, params, state):
    return ((state.z - problem.x_star) ** 2).sum(axis=-1)


def apart(problem, params, state):
    return ((state.x - state.z) ** 2).sum(axis=-1)


def length(problem, params, state):
    return (state.x**2).sum(axis=-1)


def by_stepsize(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1) / params.gamma


gd = ft.method("gd", step, ["gamma"], {"x": "point"})
sgd = ft.method("sgd", noisy_step, ["gamma", "sigma", "noise"], {"x": "point"})
growing = ft.method("growing", step, ["c"], {"x": "point"}, schedules={"gamma": c * (k + 1)})
walk, later = (
    ft.method(of.__name__, of, ["sigma", "noise"], {"x": "point", "z": "momentum"}) for of in (first_only, held_noise)
)
anywhere = ft.method("projected", projected, ["gamma"], {"x": "point"})
F, D, G, Z, A, N = (
    ft.Quantity(name, of)
    for name, of in (
        *(("F", ft.gap), ("D", ft.distance), ("G", square_of_gradient), ("Z", other_distance)),
        *(("A", apart), ("N", length)),
    )
)


def begun(init, moves=both_stay):
    return ft.method(f"from-{getattr(init, '__name__', 'x')}", moves, ["gamma"], TWO, init=init)


equal = ft.method("equal", both_stay, ["gamma"], {"x": "point", "z": "point from x"})
moving = ft.method("moving", one_moves, ["gamma"], {"x": "point", "z": "point from x"})
free = {"drawing": ft.Drawing(start=("x",))}
near, stays, before = (
    ft.method(of.__name__, of, ["gamma"], {"x": "point", "z": "point from x"})
    for of in (at_z, at_z_that_stays, at_z_before)
)
apart_at_first = ft.method("apart-at-first", at_z, ["gamma"], {"x": "point", "z": "point"})
by_rate = E(D.T) <= (1 - gamma * mu) ** T * D.zero
to_start = D.zero / (2 * gamma)

#: Method, class and what else the setting has, relation, hypotheses, least T.
TRUE = {
    "parts that begin equal": (equal, convex, free, E(Z.T) <= D.zero, (), 0),
    "the start is held": (moving, convex, free, E(Z.T) <= D.zero, short, 0),
    "a further part that falls at the rate": (near, strong, {}, by_rate, (2 * gamma * L <= 1,), 0),
    "as it is": (gd, convex, {}, E(T * F.T + D.T / (2 * gamma)) <= to_start, short, 0),
    "noise of all rounds": (sgd, convex, noise, E(ft.total(F, 1, T)) <= to_start + gamma * sigma**2 * T, short, 0),
}
FALSE = {
    # Parts that do not begin equal.
    "begins doubled": (begun(doubled), convex, free, E(Z.T) <= D.zero, (), 0),
    "begins negative": (begun(negative), convex, free, E(Z.T) <= D.zero, (), 0),
    "begins a long step later": (begun(one_step_on), convex, free, E(Z.T) <= D.zero, (), 0),
    "begins at 0": (begun(at_zero), convex, free, E(Z.T) <= D.zero, (), 0),
    "the other way round": (moving, convex, free, E(Z.T) <= E(D.T), short, 0),
    "what is held is no average": (moving, convex, free, E(A.T) <= D.zero / 2, short, 0),
    # A further part of the potential that does not fall, does not fall as fast, or is not 0 at the start.
    "a further part that stays": (stays, strong, {}, by_rate, short, 0),
    "a further part of the round before": (before, strong, {}, by_rate, short, 0),
    "a further part that begins anywhere": (apart_at_first, strong, {}, by_rate, short, 0),
    "a further part, twice the rate": (near, strong, {}, E(D.T) <= (1 - gamma * mu) ** (2 * T + 1) * D.zero, short, 0),
    # Weights that are wrong at the first or at the last round.
    "one more at the end": (gd, convex, {}, E((T + 1) * F.T + D.T / (2 * gamma)) <= to_start, short, 1),
    "twice the first": (gd, convex, {}, E(ft.total(2 * F / (k + 1))) <= to_start, short, 0),
    "the first is not there": (gd, nonconvex, {}, E(ft.total(G)) <= 2 * (F.zero - 1 / T * F.zero) / gamma, short, 1),
    # T for T + 1, where the bound is attained.
    "last, one off": (gd, convex, {}, E(F.T) <= D.zero / (4 * gamma * (T + 1)), short, 1),
    "average of one more": (gd, convex, {}, E(ft.average(F, 0, T)) <= D.zero / (2 * gamma * (T + 2)), short, 0),
    "average of T": (gd, convex, {}, E(ft.average(F)) <= D.zero / (2 * gamma * (T + 1)), short, 1),
    "least of T": (gd, convex, {}, ft.minimum(F, expected=True) <= D.zero / (2 * gamma * (T + 1)), short, 1),
    # Noise that is short by a round.
    "noise from the second round": (
        *(sgd, strong, noise),
        *(
            E(D.T) <= (1 - gamma * mu) ** T * D.zero + gamma * sigma**2 / mu * (1 - (1 - gamma * mu) ** (T - 1)),
            short,
            1,
        ),
    ),
    "noise but for the last": (
        sgd,
        convex,
        noise,
        E(ft.total(F, 1, T)) <= to_start + sigma**2 * gamma * (T - 1),
        short,
        1,
    ),
    # Draws of one round that are used in all later ones, or in the next.
    "noise that stays": (walk, convex, noise, E(N.T) <= sigma**2 * T * (T + 1) / 2, (), 0),
    "noise of two rounds": (later, convex, noise, E(N.T) <= 2 * sigma**2 * T, (), 0),
    # x* is a minimiser in the set, or of f + h: elsewhere f may be less.
    "beside a set": (gd, ft.Constrained(convex), {}, E(ft.total(G)) <= 2 * F.zero / gamma, short, 0),
    "from outside of a set": (anywhere, ft.Constrained(convex), free, E(F.T) <= F.zero, short, 0),
    "beside h": (gd, ft.Coupled(convex, r), {}, E(ft.total(G)) <= 2 * F.zero / gamma, short, 0),
}


def claimed(id, method, functions, more, relation, requires, since, **given):
    setting = ft.Setting(algorithm=method, functions=functions, **more)
    statement = ft.bound(method, relation, since=since)
    return ft.Claim(
        f"potentials/{id.replace(' ', '-').replace(',', '')}",
        setting=setting,
        statement=statement,
        requires=requires,
        **given,
    )


def shown(claim):
    recipes = islice(claim.instances.recipes(np.random.default_rng(0)), 40)
    met = tuple(recipe for recipe, _ in islice(meeting(claim, recipes), 6))
    return telescoping.run(telescoping.METHOD, Inquiry(claim, 0, 20, given=met))


@pytest.mark.parametrize("id", TRUE)
def test_what_is_true_is_proved(id):
    found = shown(claimed(id, *TRUE[id]))
    assert found.verdict == "proved", found.note


@pytest.mark.parametrize("id", FALSE)
def test_what_is_false_is_not(id):
    found = shown(claimed(id, *FALSE[id]))
    assert found.verdict is None and found.note.startswith("left open"), found.note


def words(claim):
    try:
        return [chain.words for chain in by_rounds.chains(claim)]
    except ValueError:
        return []


@pytest.mark.parametrize(("method", "used"), [(gd, True), (growing, False)])
def test_a_named_potential_that_depends_on_a_schedule_is_refused(method, used):
    V = ft.Quantity("V", by_stepsize)
    setting = ft.Setting(algorithm=method, functions=convex)
    premise = ft.Claim(
        f"potentials/{method.name}", setting=setting, statement=ft.one_step(method, E(V.next) + 2 * F <= V)
    )
    claims.register((premise,))
    relation = E(ft.total(2 * F)) <= D.zero / (gamma if used else c)
    statement = ft.bound(method, relation)
    claim = ft.Claim("potentials/scheduled", setting=setting, statement=statement, follows=(premise.id,))
    assert any("by_stepsize" in of for of in words(claim)) is used


def test_a_potential_that_grows_in_an_early_round_is_refused():
    # The weight of x_2 before round 2 is larger than after round 1, of which a bound from T = 2 on does not speak.
    falling = ft.method("falling", step, ["c"], {"x": "point"}, schedules={"gamma": c / (k + 1)})
    setting = ft.Setting(algorithm=falling, functions=convex)
    weight = (9 * k + 1) / (k + 2) ** 3
    of_step = ft.one_step(falling, E(weight * D.next) <= weight * D)
    premise = ft.Claim("potentials/weighted", setting=setting, statement=of_step, requires=(c * L <= 1,))
    claims.register((premise,))
    relation = E((9 * T - 8) / (T + 1) ** 3 * D.T) <= D.zero / 8
    statement = ft.bound(falling, relation, since=2)
    of = {"setting": setting, "statement": statement, "requires": premise.requires, "follows": (premise.id,)}
    weighted = f"E[D_T_next*(9*k + 1)/({sympy.expand((k + 2) ** 3)})] <= D_T*(9*k + 1)/({sympy.expand((k + 2) ** 3)})"
    assert weighted not in words(ft.Claim("potentials/early", **of))


@pytest.mark.parametrize(
    "step_of_premise",
    [
        pytest.param(lambda: E(F.next) <= F - gamma * G, id="more than a step gains"),
        pytest.param(lambda: E(F.next) <= F / 2 - gamma / 2 * G, id="of a potential that shrinks"),
        pytest.param(lambda: E(F.next + D.next) <= F + D - gamma * G, id="of another potential"),
    ],
)
def test_a_false_premise_proves_nothing(step_of_premise):
    setting = ft.Setting(algorithm=gd, functions=nonconvex)
    premise = ft.Claim("potentials/false", setting=setting, statement=ft.one_step(gd, step_of_premise()))
    claims.register((premise,))
    relation = E(ft.total(G)) <= F.zero / gamma
    found = shown(claimed("false premise", gd, nonconvex, {}, relation, short, 0, follows=(premise.id,)))
    assert found.verdict is None, found.note


def test_weights_of_further_parts_do_not_depend_on_the_state():
    # In each state another weight would do.
    normalized = ft.method(
        "normalized",
        lambda problem, params, state, draw: {
            "x": state.x
            - params.gamma
            * mean_gradient(problem, state.x)
            / np.linalg.norm(mean_gradient(problem, state.x), axis=-1, keepdims=True),
            "z": state.z,
        },
        ["gamma"],
        {"x": "point", "z": "point from x"},
    )
    claim = claimed("of-the-state", normalized, nonconvex, {}, E(F.T) <= F.zero, (), 0)
    (chain,) = islice(by_rounds.chains(claim), 1)
    (case,) = cases(chain.step)
    squares = vanishing_squares(claim, case)
    assert squares
    pose(chain.step, case, claim)
    with pytest.raises(Unread, match="beside numbers of a state"):
        pose(chain.step, case, claim, Falling(squares))


def test_further_parts_fall_as_weights_of_averages_grow():
    weight = (1 - gamma * mu) ** -(k + 1)
    average = E(ft.at_average(F, weight=weight)) <= D.zero / (gamma * sympy.Sum(weight, (k, 0, T - 1)))
    claim = claimed("weighted", gd, strong, {}, average, (2 * gamma * L <= 1,), 1)
    assert {sympy.simplify(c.decrease - (1 - gamma * mu)) for c in by_rounds.chains(claim)} == {0}
