"""What classes say of the average alone, and what noise and compressors do to a single client."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import sympy

import fedtheory as ft
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP
from verify.reading.declarations import declarations

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")
RATE = 1 - 2 * gamma * mu + (gamma * L) ** 2


def shown(claim, work=STEP):
    return not isinstance(prove(claim, work), str)


def _claim(step, functions, statement, requires=(), params=("gamma",), parts=None, **more):
    method = ft.method("mine", step, list(params), parts or {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=functions, **more)
    return ft.Claim("mine/step", setting=setting, statement=statement(method), requires=requires)


def _contracts(factor, of=ft.distance):
    return lambda method: ft.contracts(method, of, factor)


def _mean(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def _twice(problem, params, state, draw):
    y = state.x - params.gamma * _mean(problem, state.x)
    return {"x": y - params.gamma * _mean(problem, y)}


def _locally_twice(problem, params, state, draw):
    x = state.x[..., None, :]
    y = x - params.gamma * problem.f.gradient(x)
    y = y - params.gamma * problem.f.gradient(y)
    return {"x": y.sum(axis=-2) / problem.n}


def _descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * _mean(problem, state.x)}


def _proximal(problem, params, state, draw):
    return {"x": problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma).sum(axis=-2) / problem.n}


def _if_there_are_resolvents(problem, params, state, draw):
    longer = 1 if hasattr(problem.f, "resolvent") else 3
    return {"x": state.x - longer * params.gamma * _mean(problem, state.x)}


@pytest.mark.parametrize(
    ("step", "factor", "right"),
    (
        (_descent, RATE, True),
        (_descent, 1 - gamma * mu, False),
        (_twice, RATE**3, False),
        # Of what a client does alone nothing is said.
        (_locally_twice, RATE**2, False),
        # Some members of the class have no proximal points.
        (_proximal, sympy.Integer(1), False),
        (_if_there_are_resolvents, RATE, False),
    ),
)
def test_restricted_secants_are_of_the_average_from_the_minimiser(step, factor, right):
    assert shown(_claim(step, ft.RestrictedSecant(mu, L), _contracts(factor))) is right


def test_restricted_secants_say_nothing_of_two_other_points():
    # The gap of a smooth function would not grow.
    claim = _claim(_descent, ft.RestrictedSecant(mu, L), _contracts(sympy.Integer(1), ft.gap), (gamma * L <= 1,))
    assert not shown(claim)


@dataclass(frozen=True)
class Steeper(ft.RestrictedSecant):
    """A class of somebody's own, whose formulas say too much."""

    def average(self, problem, params):
        def formulas(x, gap, gradient):
            yield "no such thing", x**2

        return formulas


def test_classes_of_which_nothing_of_the_kind_is_known_show_nothing():
    assert declarations(Steeper(mu, L)).bounds is None and declarations(ft.RestrictedSecant(mu, L)).bounds is not None
    for functions in (Steeper(mu, L), ft.Convex()):
        assert not shown(_claim(_descent, functions, _contracts(sympy.Integer(1))))


@pytest.mark.parametrize(("most", "right"), ((1, True), (sympy.Rational(11, 10), False)))
def test_below_a_parabola_steps_may_not_be_longer(most, right):
    F = ft.Quantity("F", ft.gap)
    D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)

    def statement(method):
        return ft.one_step(method, ft.E(D_next) <= D - 2 * gamma * F)

    claim = _claim(_descent, ft.ConvexQuadraticGrowth(L), statement, (gamma * L <= most,), clients=(1,))
    assert shown(claim) is right


def _noisy(problem, params, state, draw):
    noisy = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * noisy.sum(axis=-2) / problem.n}


def _noise_less_noise(problem, params, state, draw):
    # One draw at two vectors need not be the same noise.
    slope = problem.f.gradient(state.x[..., None, :])
    change = params.noise.apply(draw, slope) - params.noise.apply(draw, 2 * slope) + 2 * slope
    return {"x": state.x - params.gamma * change.sum(axis=-2) / problem.n}


def _at_a_noisy_point(problem, params, state, draw):
    there = params.noise.apply(draw, state.x[..., None, :])
    return {"x": state.x - params.gamma * problem.f.gradient(there).sum(axis=-2) / problem.n}


NOISE = {"params": ("gamma", "sigma", "noise"), "adversaries": (ft.NoisyGradients(),), "clients": (1,)}


@pytest.mark.parametrize(
    ("step", "variance", "right"),
    (
        (_noisy, gamma**2 * sigma**2, True),
        (_noisy, gamma**2 * sigma**2 * sympy.Rational(99, 100), False),
        (_noisy, 0, False),
        (_noise_less_noise, 0, False),
        (_noise_less_noise, 2 * gamma**2 * sigma**2, False),
        (_at_a_noisy_point, gamma**2 * sigma**2, False),
    ),
)
def test_noise_of_a_single_client(step, variance, right):
    D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)

    def statement(method):
        return ft.one_step(method, ft.E(D_next) <= (1 - gamma * mu) * D + variance)

    claim = _claim(step, ft.SmoothStronglyConvex(mu, L), statement, (gamma * L <= 1,), **NOISE)
    assert shown(claim) is right


def _compressed(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


@pytest.mark.parametrize(("omega", "right"), ((ft.omega, True), (ft.omega / 2, False)))
def test_unbiased_compression_by_a_single_client(omega, right):
    claim = _claim(
        _compressed,
        ft.SmoothStronglyConvex(mu, L),
        _contracts(1 - gamma * mu),
        (gamma * L * (1 + omega) <= 1,),
        ("gamma", "compressors"),
        adversaries=(ft.UnbiasedCompressors(),),
        clients=(1,),
    )
    assert shown(claim) is right
