"""Bounds of T rounds by what is tried last: least values without weights, starts that are used up, weights in k."""

from itertools import islice

import numpy as np
import pytest
import sympy
from descending import mean_gradient, step

import fedtheory as ft
from fedtheory import claims
from verify.base.evaluate import meeting
from verify.methods import telescoping
from verify.methods.base import Inquiry

mu, L, gamma, eta = ft.letters("mu L gamma eta")
k, T, E = ft.round_index, ft.T, ft.E
short, brief = (gamma * L <= 1,), (eta * L <= 1,)


def square(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


gd = ft.method("descent", step, ["gamma"], {"x": "point"})
D, F, G = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap), ft.Quantity("G", square)


def recursive_init(problem, params, w=None):
    w = np.zeros(problem.d, dtype=int) if w is None else w
    return {"w": w, "v": mean_gradient(problem, w)}


def twice_init(problem, params, w=None):
    w = np.zeros(problem.d, dtype=int) if w is None else w
    return {"w": w, "v": 2 * mean_gradient(problem, w)}


def one_client(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def recursive(problem, params, state, draw):
    w = state.w - params.eta * state.v
    change = problem.f.gradient(w[..., None, :]) - problem.f.gradient(state.w[..., None, :])
    return {"w": w, "v": state.v + np.where(np.asarray(draw)[..., None], change, 0 * change).sum(axis=-2)}


def length(problem, params, state):
    return (state.v**2).sum(axis=-1)


def slope(problem, params, state):
    return (mean_gradient(problem, state.w) ** 2).sum(axis=-1)


def error(problem, params, state):
    return ((state.v - mean_gradient(problem, state.w)) ** 2).sum(axis=-1)


def value(problem, params, state):
    least = problem.f.value(problem.x_star[..., None, :]).sum(axis=-1) / problem.n
    return problem.f.value(state.w[..., None, :]).sum(axis=-1) / problem.n - least


TWO = {"w": "point", "v": "momentum"}
sarah, twice = (
    ft.method(name, recursive, ["eta"], TWO, init=init, draws=one_client)
    for name, init in (("recursive", recursive_init), ("recursive-twice", twice_init))
)
V, S, X, W = (ft.Quantity(name, of) for name, of in (("V", length), ("S", slope), ("X", error), ("W", value)))
a = eta * L / (2 - eta * L)


def start_at_zero(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    return {"x": x, "w": 0 * x}


def turned(problem, params, state, draw):
    return {"x": params.c * state.w, "w": params.e * state.x}


def first(problem, params, state):
    return (state.x**2).sum(axis=-1)


def second(problem, params, state):
    return (state.w**2).sum(axis=-1)


def second_again(problem, params, state):
    return (state.w * state.w).sum(axis=-1)


turn = ft.method(
    "turn",
    turned,
    [],
    {"x": "point", "w": "point"},
    init=start_at_zero,
    schedules={"c": 1 + k / (k + 2), "e": 9 / (10 * (k + 1))},
)
P, Z, Y = ft.Quantity("P", first), ft.Quantity("Z", second), ft.Quantity("Y", second_again)


def grown(of, k):
    t = k * gamma * L
    return L**2 * of[0] + 2 * t * L * of[1] + t * (1 + t) * of[2]


def premise(id, method, functions, relation):
    found = ft.Claim(
        f"later/{id}-{method.name}", setting=ft.Setting(algorithm=method, functions=functions), statement=relation
    )
    claims.register((found,))
    return (found.id,)


def shown(method, functions, relation, requires, since=0, follows=()):
    statement = ft.bound(method, relation, since=since)
    setting = ft.Setting(algorithm=method, functions=functions)
    claim = ft.Claim("later/bound", setting=setting, statement=statement, requires=requires, follows=follows)
    recipes = islice(claim.instances.recipes(np.random.default_rng(0)), 40)
    met = tuple(recipe for recipe, _ in islice(meeting(claim, recipes), 6))
    return telescoping.follow(Inquiry(claim, given=met))


def exact(times, per_round=4, last=T, method=gd):
    """The least squared gradient of gradient descent on smooth functions."""
    least = ft.minimum(G, 0, last, expected=True)
    since = 0 if last == T else 1
    return (
        method,
        ft.Smooth(L),
        least <= times * 4 * F.zero / (T * gamma * (per_round - gamma * L) + 2 / L),
        short,
        since,
    )


def recursive_bound(times, method=sarah, rate=2):
    of = ft.SmoothStronglyConvex(mu, L)
    return method, of, E(V.T) <= times * (1 - rate * mu * L * eta / (mu + L)) ** T * S.zero, (eta * (mu + L) <= 2,)


def gradient_norm(times, named=True):
    one = grown((D.next, F.next, G.next), k + 1), grown((D, F, G), k)
    follows = premise("grown", gd, ft.SmoothConvex(L), ft.one_step(gd, E(one[0]) <= one[1]))
    bound = E(G.T) <= L**2 * D.zero / (1 + times * T * gamma * L) ** 2
    return gd, ft.SmoothConvex(L), bound, short, 0, follows if named else ()


def averaged(of_value, of_error, method=sarah, weight=a):
    follows = premise(
        "error", method, ft.SmoothConvex(L), ft.one_step(method, E(X.next + weight * V.next) <= X + weight * V)
    )
    bound = E(ft.average(S)) <= of_value * W.zero / (eta * T) + of_error * a * S.zero
    return method, ft.SmoothConvex(L), bound, brief, 1, follows


def two_rounds():
    of = P + (k + 1) * Z + Y / 100
    after = P.next + (k + 1) * Z.next + Y.next / 100
    follows = premise("turn", turn, ft.SmoothConvex(L), ft.one_step(turn, E(after) <= of))
    return turn, ft.SmoothConvex(L), E(P.T) <= P.zero + Y.zero / 100, (), 0, follows


@pytest.mark.parametrize(
    "bound",
    [
        pytest.param(lambda: exact(1), id="least gradient", marks=pytest.mark.slow),
        pytest.param(lambda: recursive_bound(1), id="what is bounded begins as something else"),
        pytest.param(lambda: gradient_norm(1), id="weights in k", marks=pytest.mark.slow),
        pytest.param(lambda: gradient_norm(1, named=False), id="the gap as a link", marks=pytest.mark.slow),
        pytest.param(lambda: averaged(2, 1), id="what the start adds every round"),
    ],
)
def test_what_is_true_is_proved(bound):
    found = shown(*bound())
    assert not isinstance(found, str), found


@pytest.mark.parametrize(
    "bound",
    [
        pytest.param(lambda: exact(sympy.Rational(99, 100)), id="less", marks=pytest.mark.slow),
        pytest.param(lambda: exact(1, sympy.Rational(101, 25)), id="more a round", marks=pytest.mark.slow),
        # It does not hold at T = 1, where x_1 is none of the rounds.
        pytest.param(lambda: exact(1, last=T - 1), id="without the last round", marks=pytest.mark.slow),
        pytest.param(lambda: recursive_bound(sympy.Rational(99, 100)), id="less than the start"),
        pytest.param(lambda: recursive_bound(1, twice), id="another start"),
        pytest.param(lambda: recursive_bound(1, rate=sympy.Rational(51, 25)), id="faster", marks=pytest.mark.slow),
        pytest.param(lambda: gradient_norm(sympy.Rational(101, 100)), id="smaller gradients", marks=pytest.mark.slow),
        pytest.param(
            lambda: gradient_norm(sympy.Rational(101, 100), named=False),
            id="smaller gradients, none named",
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda: averaged(sympy.Rational(49, 25), 1), id="less of the value", marks=pytest.mark.slow),
        pytest.param(lambda: averaged(2, sympy.Rational(1, 2)), id="less of the start", marks=pytest.mark.slow),
        pytest.param(lambda: averaged(2, 1, twice), id="errors at the start"),
        # x_2 = 6/5 x_0, where w_0 = 0: the weight of Z is larger before round 1 than after round 0.
        pytest.param(two_rounds, id="weights that grow between rounds"),
    ],
)
def test_what_is_false_is_not(bound):
    found = shown(*bound())
    assert isinstance(found, str), found.note
