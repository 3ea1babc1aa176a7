"""What is said of whole runs, computed along the tree of draws and by hand."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import fedtheory as ft
from verify.base.case import Case
from verify.base.evaluate import sides, sides_along

gamma, p = ft.letters("gamma p")
k, T, E = ft.round_index, ft.T, ft.E


def step(problem, params, state, draw):
    coin = np.asarray(draw)[..., None]
    return {"x": np.where(coin, state.x / 2, 2 * state.x - problem.x_star)}


def draws(problem, params, state):
    return ft.Bernoulli(params.p)


def first(problem, params, state):
    return state.x[..., 0]


def square(problem, params, state):
    return (state.x**2).sum(axis=-1)


coin = ft.method("coin", step, ["p"], {"x": "point"}, draws=draws)
X, S, S_T = ft.Quantity("X", first), ft.Quantity("S", square), ft.Quantity("S_T", square, after=True)


def claimed(left, since=1, right=0):
    setting = ft.Setting(algorithm=coin, functions=ft.Convex(), domain=(p <= 1,), clients=(1,))
    return ft.Claim("own/runs", setting=setting, statement=ft.bound(coin, left <= right + S, since=since))


def runs(instance, claim, rounds):
    """All runs, with their probabilities: lists of x_0, ..., x_T."""
    problem, state = instance.initial(np.array([[Fraction(3)] * instance.size_of_start], dtype=object))
    star, chance = problem.x_star[0, 0] * Fraction(1), instance.params.p
    for falls in product((True, False), repeat=rounds):
        at, weight, path = state.x[0, 0] * Fraction(1), Fraction(1), []
        for fell in falls:
            path.append(at)
            at, weight = (at / 2, weight * chance) if fell else (2 * at - star, weight * (1 - chance))
        yield [*path, at], weight


def found(left, rounds, **given):
    claim = claimed(left, **given)
    recipe = next(r for r in claim.instances.recipes(np.random.default_rng(1)) if 0 < r["p"] < 1)
    instance = claim.instances.build(recipe, True)
    theta = np.array([[Fraction(3)] * instance.size_of_start], dtype=object)
    one = sides(Case.of(claim, instance), theta, rounds)[0][0][0]
    (along,) = sides_along(Case.of(claim, instance), theta, (rounds,))
    assert along[0][0][0] == one
    return one, list(runs(instance, claim, rounds))


def squared(x):
    return (x**2).sum()


def expected(paths, of):
    return sum(weight * of(path) for path, weight in paths)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_sums_are_over_the_rounds_that_are_named(rounds):
    value, paths = found(E(ft.total((k + 1) * S)), rounds)
    assert value == expected(paths, lambda x: sum((t + 1) * squared(x[t]) for t in range(rounds)))
    value, paths = found(E(ft.total(S, 1, T)), rounds)
    assert value == expected(paths, lambda x: sum(squared(x[t]) for t in range(1, rounds + 1)))
    value, paths = found(E(ft.average(S, weight=2**k)), rounds)
    whole = sum(2**t for t in range(rounds))
    assert value == expected(paths, lambda x: sum(2**t * squared(x[t]) for t in range(rounds))) / whole
    value, paths = found(E(S_T - ft.total(S, 0, T)), rounds)
    assert value == -expected(paths, lambda x: sum(squared(x[t]) for t in range(rounds)))


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_the_least_is_along_each_run_or_of_expectations(rounds):
    value, paths = found(E(ft.minimum(S, 0, T)), rounds)
    assert value == expected(paths, lambda x: min(map(squared, x)))
    other, _ = found(ft.minimum(S, 0, T, expected=True), rounds)
    assert other == min(expected(paths, lambda x, t=t: squared(x[t])) for t in range(rounds + 1))
    assert value <= other


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_an_average_is_of_the_iterates(rounds):
    value, paths = found(E(ft.at_average(S, 1, T)), rounds)
    assert value == expected(paths, lambda x: squared(sum(x[1:]) / rounds))
    value, paths = found(E(ft.at_average(S, weight=k + 1)), rounds)
    whole = sum(range(1, rounds + 1))
    assert value == expected(paths, lambda x: squared(sum((t + 1) * x[t] for t in range(rounds)) / whole))


def test_a_sum_of_nothing_is_0_and_nothing_has_no_least():
    assert found(E(ft.total(S)), 0, since=0)[0] == 0
    with pytest.raises(ValueError, match=r"write bound\(..., since=1\)"):
        claimed(E(ft.at_average(S)), since=0)
    with pytest.raises(ValueError, match="write bound"):
        claimed(ft.minimum(S, expected=True), since=0)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: ft.total(S_T), "before a step"),
        (lambda: ft.total(S**2), "multiples of quantities"),
        (lambda: ft.total(gamma), "of quantities"),
        (lambda: ft.total(ft.total(S)), "before a step"),
        (lambda: ft.total(S, -1), "counted from"),
        (lambda: ft.total(S, 0, T - 2), "T - 1 or T"),
        (lambda: ft.at_average(S, weight=T), "depends on T"),
        (lambda: ft.minimum(S_T), "before a step"),
        (lambda: E(ft.total(S) ** 2), "of a whole run"),
        (lambda: ft.one_step(coin, E(ft.total(S)) <= S), "only a bound has"),
        (lambda: claimed(ft.total(S)), r"write E\("),
        (lambda: claimed(E(ft.total(ft.Quantity("S", first)))), "two functions"),
    ],
)
def test_what_cannot_be_meant_is_refused(made, said):
    with pytest.raises(ValueError, match=said):
        made()


def test_weights_speak_of_letters():
    with pytest.raises(ValueError, match="gamma"):
        setting = ft.Setting(algorithm=coin, functions=ft.Convex(), letters=(p,), domain=(p <= 1,), clients=(1,))
        ft.Claim("own/letters", setting=setting, statement=ft.bound(coin, E(ft.total(gamma * S)) <= S))
