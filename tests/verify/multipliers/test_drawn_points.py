"""Values of functions at points that are drawn: what compressed and sampled gradients make of the mean, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import E
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

L, gamma, omega = ft.letters("L gamma omega")
n, tau = ft.integers("n tau")

GAP, NEXT = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)


def _gradients(problem: Any, state: Any) -> Any:
    return problem.f.gradient(state.x[..., None, :])


def _of_mean(problem: Any, params: Any, state: Any) -> Any:
    mean = _gradients(problem, state).sum(axis=-2) / problem.n
    return (mean**2).sum(axis=-1)


def _mean_of_squares(problem: Any, params: Any, state: Any) -> Any:
    return (_gradients(problem, state) ** 2).sum(axis=(-1, -2)) / problem.n


MEAN, SQUARES = ft.Quantity("g", _of_mean), ft.Quantity("G", _mean_of_squares)
EXACT = GAP - gamma * (1 - gamma * L / 2) * MEAN


def _compressed(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    sent = params.compressors.apply(draw, _gradients(problem, state))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


COMPRESSED = ft.method(
    "compressed",
    _compressed,
    ["gamma", "compressors"],
    {"x": "point"},
    draws=lambda problem, params, state: params.compressors.draws,
)


def compressed(more: Any, independent: bool = True) -> ft.Claim:
    family = ft.UnbiasedCompressors(independent=independent)
    setting = ft.Setting(algorithm=COMPRESSED, functions=ft.Smooth(L), adversaries=(family,))
    statement = ft.one_step(COMPRESSED, E(NEXT) <= EXACT + more * SQUARES)
    return ft.Claim("mine/compressed", setting=setting, statement=statement)


def _sampled(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    g = _gradients(problem, state)
    return {"x": state.x - params.gamma * np.where(draw[..., None], g, 0 * g).sum(axis=-2) / params.tau}


SAMPLED = ft.method(
    "sampled",
    _sampled,
    ["gamma", "tau"],
    {"x": "point"},
    draws=lambda problem, params, state: ft.UniformSubset(problem.n, params.tau),
)


def sampled(share: Any) -> ft.Claim:
    setting = ft.Setting(algorithm=SAMPLED, functions=ft.Smooth(L), domain=(sympy.Le(tau, n), sympy.Ge(n, 2)))
    statement = ft.one_step(SAMPLED, E(NEXT) <= EXACT + gamma**2 * L / 2 * share * (SQUARES - MEAN))
    return ft.Claim("mine/sampled", setting=setting, statement=statement)


def shown(claim: ft.Claim, work: int = STEP) -> bool:
    found = prove(claim, work)
    return not isinstance(found, str)


VARIANCE = gamma**2 * L * omega / (2 * n)
SHARE = (n - tau) / (tau * (n - 1))


@pytest.mark.parametrize("claim", (compressed(VARIANCE), compressed(n * VARIANCE, independent=False), sampled(SHARE)))
def test_variance_is_what_the_value_loses(claim):
    assert shown(claim)


@pytest.mark.parametrize(
    "claim",
    (
        compressed(VARIANCE * sympy.Rational(99, 100)),
        compressed(VARIANCE, independent=False),
        sampled(SHARE * sympy.Rational(99, 100)),
        sampled((n - tau) / (tau * n)),
        sampled(0),
    ),
)
def test_less_than_the_variance_is_not_enough(claim):
    assert not shown(claim)
