"""One function on every node: what follows from its optimum and from uniqueness is shown, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.algorithms import dane
from fedtheory.claims import Claim
from fedtheory.classes import Smooth
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedopt.any_functions import COPIES, CURVATURES, Nodes, copies_of
from fedtheory.papers.fedopt.dane import Perturbed
from fedtheory.settings import points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.data import proving
from verify.reading.source import Unread
from verify.search import hunting

D = "fedopt/dane/property-d"


@cache
def _drawn(name: str) -> list[Any]:
    claim = claims.get(name)
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    return [instance for _, instance in meeting(claim, islice(recipes, 40))]


def _why(claim: Claim, instances: list[Any] | None = None) -> str:
    try:
        return proving.prove(claim, _drawn(D) if instances is None else instances)
    except (Unread, ValueError) as error:
        return str(error)


@pytest.mark.parametrize("name", [D, "fedopt/dane/property-b/repaired"])
def test_true_claims_are_shown(name: str) -> None:
    assert not _why(claims.get(name), _drawn(name))


def _after(mu: int, eta: int) -> Any:
    def quantity(problem: Any, params: Any, state: Any) -> Array:
        return dane.step(copies_of(problem, params), dane.Params(mu, eta), dane.State(state.w), None).w

    return quantity


def _distance(of: Callable[..., Any]) -> Any:
    def quantity(problem: Any, params: Any, state: Any) -> Array:
        return square(of(problem, params, state) - problem.x_star)

    return quantity


def _optimum(problem: Any, params: Any, state: Any) -> Array:
    return problem.x_star + 0 * state.w


@pytest.mark.parametrize(("mu", "eta"), [(0, 2), (1, 1), (1, 0), (0, 0)])
def test_other_parameters_do_not_lead_to_the_optimum(mu: int, eta: int) -> None:
    equal = identity(Quantity("after", _after(mu, eta)), Quantity("optimum", _optimum))
    shown = _why(replace(claims.get(D), statement=equal))
    # With eta = 0 and mu = 0 nothing moves.
    assert shown
    still = identity(Quantity("after", _after(mu, eta)), Quantity("before", lambda problem, params, state: state.w))
    assert bool(_why(replace(claims.get(D), statement=still))) is (eta > 0)


def test_a_sum_is_not_a_mean() -> None:
    def twice(problem: Any, params: Any, state: Any) -> Array:
        return 2 * _after(0, 1)(problem, params, state)

    equal = identity(Quantity("after", twice), Quantity("optimum", _optimum))
    assert _why(replace(claims.get(D), statement=equal))


def test_a_root_need_not_be_unique_or_exist() -> None:
    claim = claims.get(D)
    assert _why(replace(claim, requires=()))
    low, high = CURVATURES
    smooth = Smooth(high, optimum="stationary")
    nonconvex = replace(COPIES, functions=smooth)
    assert _why(replace(claim, setting=nonconvex, requires=(Hypothesis("smooth", met=smooth.contains),)))
    letters = {letter: source for letter, source in COPIES.sources.items() if letter != low}
    assert _why(replace(claim, setting=replace(COPIES, letters=letters)))


def test_the_number_of_nodes_must_be_a_positive_whole_number() -> None:
    letters = {letter: source for letter, source in COPIES.sources.items() if source != "K"}
    assert _why(replace(claims.get(D), setting=replace(COPIES, letters=letters)))


def _nodes(problem: Any, params: Nodes) -> Perturbed:
    return Perturbed(problem.x_star, np.zeros((params.K, problem.d), dtype=int))


def test_gradients_are_those_of_their_own_points() -> None:
    def mean_of_gradients(problem: Any, params: Any, state: Any) -> Array:
        return copies_of(problem, params).f.gradient(state.a).sum(axis=-2) / params.K

    def gradient_of_mean(problem: Any, params: Any, state: Any) -> Array:
        return copies_of(problem, params).f.full_gradient(state.a.sum(axis=-2) / params.K)

    def at_common_points(problem: Any, params: Any, state: Any) -> Array:
        return copies_of(problem, params).f.gradient(state.w[..., None, :] + 0 * state.a).sum(axis=-2) / params.K

    def at_one(problem: Any, params: Any, state: Any) -> Array:
        return copies_of(problem, params).f.full_gradient(state.w)

    setting = replace(COPIES, algorithm=points(Perturbed, Nodes, _nodes))
    claim = replace(claims.get(D), setting=setting)
    made = [
        claim.instances.build(recipe, True) for recipe in islice(claim.instances.recipes(np.random.default_rng(0)), 20)
    ]
    apart = identity(Quantity("mean", mean_of_gradients), Quantity("gradient", gradient_of_mean))
    assert _why(replace(claim, statement=apart), made)
    alike = identity(Quantity("mean", at_common_points), Quantity("gradient", at_one))
    assert not _why(replace(claim, statement=alike), made)
