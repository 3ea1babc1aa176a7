"""Methods on clients of several kinds side by side: those that agree are shown to, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.algorithms import scaffnew
from fedtheory.claims import Claim
from fedtheory.papers.locodl import remarks
from verify.base.evaluate import meeting
from verify.data import proving
from verify.reading.source import Unread
from verify.search import hunting

LIFTED = "locodl/not-scaffnew/lifted"


@cache
def _drawn() -> list[Any]:
    claim = claims.get(LIFTED)
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    return [instance for _, instance in meeting(claim, islice(recipes, 40))]


def _why(claim: Claim) -> str:
    try:
        return proving.prove(claim, _drawn())
    except (Unread, ValueError) as error:
        return str(error)


def _claim(step: Callable[..., Any] | None = None, **more: Any) -> Claim:
    claim = claims.get(LIFTED)
    second = claim.statement.second if step is None else replace(claim.statement.second, step=step)
    return replace(claim, statement=replace(claim.statement, second=second, **more))


def _lifted(
    of_f: int = 1, of_g: int = 1, swapped: bool = False, always: bool = False, cut: int = 0, keeps: bool = False
) -> Callable[..., Any]:
    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        size = problem.n + cut
        own, common = state.x[..., :size, :], state.x[..., size:, :]
        parts = [of_f * problem.f.gradient(own), of_g * problem.g.gradient(common)]
        gradient = np.concatenate([parts[1], parts[0]] if swapped else parts, axis=-2)
        x_hat = state.x - params.gamma * (gradient - state.h)
        after = scaffnew.communicate(params.gamma, params.p, x_hat, state.h, draw)
        mean = (x_hat - params.gamma / params.p * state.h).sum(axis=-2, keepdims=True) / (2 * problem.n)
        x = mean + 0 * x_hat if always else after.x
        return scaffnew.State(x, state.h if keeps else after.h)

    return step


def test_the_true_claim_is_shown() -> None:
    assert not _why(_claim())
    assert not _why(_claim(_lifted()))


@pytest.mark.parametrize(
    "step",
    [
        _lifted(of_f=2),
        _lifted(of_g=2),
        _lifted(swapped=True),
        _lifted(always=True),
        _lifted(cut=1),
        _lifted(keeps=True),
    ],
)
def test_other_steps_do_not_agree(step: Callable[..., Any]) -> None:
    assert _why(_claim(step))


def test_a_mean_over_n_clients_is_not_one_over_two_n() -> None:
    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        after = _lifted()(problem, params, state, draw)
        return scaffnew.State(2 * after.x, after.h)

    assert _why(_claim(step))


def test_other_starts_do_not_agree() -> None:
    def without_h(problem: Any, params: Any, state: Any) -> Any:
        given, lifted = remarks._as_lifted(problem, params, state)
        return given, scaffnew.State(lifted.x, 0 * lifted.h)

    def negative(problem: Any, params: Any, state: Any) -> Any:
        given, lifted = remarks._as_lifted(problem, params, state)
        return given, scaffnew.State(-1 * lifted.x, lifted.h)

    assert _why(_claim(counterpart=without_h))
    assert _why(_claim(counterpart=negative))


def test_functions_of_the_clients_are_not_one_function() -> None:
    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        size = problem.n
        own, common = state.x[..., :size, :], state.x[..., size:, :]
        # The mean of all gradients at each point: f_1 = ... = f_n it would be.
        mean = problem.f.gradient(own).sum(axis=-2, keepdims=True) / size
        gradient = np.concatenate([mean + 0 * own, problem.g.gradient(common)], axis=-2)
        x_hat = state.x - params.gamma * (gradient - state.h)
        return scaffnew.communicate(params.gamma, params.p, x_hat, state.h, draw)

    assert _why(_claim(step))


def test_the_claim_that_is_false_is_not_shown() -> None:
    false = claims.get("locodl/not-scaffnew")
    assert _why(replace(false, statement=false.statement.of))
