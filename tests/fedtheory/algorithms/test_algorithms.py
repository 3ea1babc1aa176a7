"""The reference implementations: fixed points, invariants, exact arithmetic, and Lyapunov decrease (Hypothesis)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import algorithms, compressors
from fedtheory.algorithms import base, feddcd, gradient_descent, locodl, parts, rbcd
from fedtheory.compressors import Family
from fedtheory.numbers.rational import exact
from fedtheory.papers import feddcd as feddcd_paper
from fedtheory.papers import locodl as locodl_paper
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal, with_spectra
from fedtheory.randomness import expectation

settings.register_profile("exact", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("exact")

ratios = st.fractions(min_value=-3, max_value=3, max_denominator=4)
curvatures = st.fractions(min_value=1, max_value=6, max_denominator=2)


def problem_of(rng, n=4, d=3, with_g=False):
    f = with_spectra(rng.uniform(1, 10, (n, d)), rng)
    g = with_spectra(rng.uniform(1, 10, (1, d)), rng) if with_g else None
    return Problem(f, g)


def cases():
    rng = np.random.default_rng(0)
    dual = problem_of(rng)
    lifted = problem_of(rng, n=3, with_g=True)
    family = Family(compressors.rand_k(3, 1), 3)
    return {
        "gradient-descent": (lifted, gradient_descent.Params(0.1)),
        "feddcd": (dual, feddcd.theory(dual, 2)),
        "rbcd": (dual, rbcd.Params(2, dual.f.L)),
        "locodl": (lifted, locodl.theory(lifted, family)),
    }


CASES = cases()


def test_the_cases_are_registered():
    assert set(CASES) <= set(algorithms.names())


@pytest.mark.parametrize("name", CASES)
def test_the_optimum_is_a_fixed_point(name):
    problem, params = CASES[name]
    algorithm = algorithms.get(name)
    state = algorithm.fixed_point(problem, params)
    draws, _ = algorithm.draws(problem, params, state).support()
    after = algorithm.step(problem, params, state, draws)
    for before, later in zip(state, after, strict=True):
        np.testing.assert_allclose(later, np.broadcast_to(before, later.shape), atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_runs_converge_and_keep_the_invariant(name):
    problem, params = CASES[name]
    algorithm = algorithms.get(name)
    target = algorithm.fixed_point(problem, params)
    first = algorithm.State._fields[0]
    residual = algorithm.invariant or (lambda problem, params, state: 0 * state[0])

    def observe(state):
        distance = abs(getattr(state, first) - getattr(target, first))
        drift = abs(residual(problem, params, state))
        return np.stack([distance.reshape(len(distance), -1).max(axis=1), drift.reshape(len(drift), -1).max(axis=1)])

    seen = algorithms.run(algorithm, problem, params, 600, np.random.default_rng(1), observe, replicas=5)
    assert seen.shape == (601, 2, 5)
    assert seen[-1, 0].max() < 1e-3 * seen[0, 0].max()
    assert seen[:, 1].max() < 1e-10


def test_fractions_and_floats_agree():
    h, c = [[1, 2], [3, 1], [2, 2]], [[1, 0], [-1, 2], [3, -2]]
    for arithmetic in (exact, np.asarray):
        as_float = arithmetic is np.asarray
        f = diagonal(arithmetic(h) * (1.0 if as_float else 1), arithmetic(c))
        g = diagonal(arithmetic([[2, 1]]) * (1.0 if as_float else 1), arithmetic([[0, 1]]))
        problem = Problem(f, g, (1, 3))
        omega = 1.0 if as_float else Fraction(1)
        half = 0.5 if as_float else Fraction(1, 2)
        params = locodl.Params(half, half, half, half, omega, Family(compressors.bernoulli(2, omega), 3))
        state = locodl.init(problem, params)
        algorithm = algorithms.get("locodl")
        draws, p = algorithm.draws(problem, params, state).support(not as_float)
        for _ in range(2):
            after = algorithm.step(
                problem, params, locodl.State(*(np.repeat(s[None], len(p), 0) for s in state)), draws
            )
            state = locodl.State(*(expectation(s, p, axis=0) for s in after))
        values = np.concatenate([np.asarray(s, dtype=float).ravel() for s in state])
        if arithmetic is exact:
            assert all(isinstance(v, int | Fraction) for s in state for v in np.asarray(s).flat)
            kept = values
    np.testing.assert_allclose(values, kept, rtol=1e-14, atol=1e-14)


@given(st.data())
def test_feddcd_gap_decreases_in_expectation(data):
    """Theorem 4.1, eq. (3), for one round from random feasible states: exact, no tolerance."""
    n = data.draw(st.integers(2, 4))
    tau = data.draw(st.integers(2, n))
    h = exact([[data.draw(curvatures)] for _ in range(n)])
    problem = Problem(diagonal(h, exact([[data.draw(ratios)] for _ in range(n)])), None, (min(h.flat), max(h.flat)))
    y = exact([[data.draw(ratios)] for _ in range(n)])
    params = feddcd.theory(problem, tau)
    state = feddcd.init(problem, params, y - y.sum(axis=0) / n)
    masks, p = feddcd.draws(problem, params, state).support(True)
    after = feddcd.step(problem, params, state, masks)
    assert (feddcd.invariant(problem, params, after) == 0).all()
    gap = expectation(feddcd_paper.dual_gap(problem, params, after), p)
    before = feddcd_paper.dual_gap(problem, params, state)
    rate = 1 - Fraction(tau - 1, n - 1) * problem.mu / problem.L
    assert 0 <= gap <= rate * before


@given(st.data())
def test_locodl_lyapunov_decreases_in_expectation(data):
    """LoCoDL, eq. (19), from random feasible states: exact, no tolerance."""
    n = data.draw(st.integers(1, 3))
    h = exact([[data.draw(curvatures)] for _ in range(n + 1)])
    c = exact([[data.draw(ratios)] for _ in range(n + 1)])
    problem = Problem(diagonal(h[:n], c[:n]), diagonal(h[n:], c[n:]), (min(h.flat), max(h.flat)))
    omega = data.draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3)]))
    family = Family(compressors.bernoulli(1, omega), n, data.draw(st.sampled_from(["independent", "shared"])))
    rho = data.draw(st.sampled_from([Fraction(1), Fraction(1, 2)])) / (1 + family.omega_av)
    chi = 2 * rho - rho**2 * (1 + family.omega_av)
    gamma = data.draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(3, 2)])) / problem.L
    p = data.draw(st.sampled_from([Fraction(1), Fraction(1, 3)]))
    params = locodl.Params(gamma, chi, rho, p, omega, family)
    x, u = (exact([[data.draw(ratios)] for _ in range(n)]) for _ in range(2))
    state = locodl.init(problem, params, x, exact([data.draw(ratios)]), u)
    draws, probabilities = locodl.draws(problem, params, state).support(True)
    after = locodl.step(problem, params, state, draws)
    tau = max((1 - gamma * problem.mu) ** 2, (1 - gamma * problem.L) ** 2, 1 - p**2 * chi / (1 + 2 * omega))
    psi = expectation(locodl_paper.Psi(problem, params, after), probabilities)
    assert psi <= tau * locodl_paper.Psi(problem, params, state)


@given(st.data())
def test_projection_is_the_nearest_feasible_point(data):
    """Several block sizes, non-uniform weights, partial sets: feasible, and orthogonal to C_I in the Lambda-norm."""
    n, d = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    mask = np.array([True] + [data.draw(st.booleans()) for _ in range(n - 1)])
    weights = exact([data.draw(curvatures) for _ in range(n)])
    x = exact([[data.draw(ratios) for _ in range(d)] for _ in range(n)])
    y = feddcd.project(weights, mask, x)
    assert (y[mask].sum(axis=0) == 0).all()
    assert (y[~mask] == x[~mask]).all()
    normal = weights[:, None] * (x - y)
    assert (normal[mask] == normal[mask][0]).all()


def test_errors_name_what_was_wrong():
    problem, _ = CASES["feddcd"]
    with pytest.raises(ValueError, match="tau must be between 2"):
        feddcd.draws(problem, feddcd.theory(problem, 1), None)
    with pytest.raises(ValueError, match="unknown algorithm 'sgdx'"):
        algorithms.get("sgdx")
    params = CASES["locodl"][1]
    with pytest.raises(ValueError, match="needs the function g"):
        locodl.step(problem, params, locodl.init(problem, params), None)


def _stay(problem, params, state, draw):
    return state


def _states(**kinds):
    return NamedTuple("State", list(kinds.items()))


KINDS = {kind: getattr(parts, kind.capitalize()) for kind in parts.KINDS if kind not in ("feasible", "dual")}


def test_a_method_of_classes_is_that_of_their_names():
    """Where parts start, where they are at the optimum, and that one may be given."""
    State, Params = _states(**KINDS), NamedTuple("Params", [("gamma", float)])
    of_classes = base.method("kinds", _stay, Params, State)
    of_names = base.method("kinds", _stay, ["gamma"], dict.fromkeys(KINDS) | {kind: kind for kind in KINDS})
    problem = problem_of(np.random.default_rng(3))
    x, y = problem.x_star, problem.y_star
    for method in (of_classes, of_names):
        start, rest = method.init(problem, None, gradients=y), method.fixed_point(problem, None)
        assert [part.shape for part in start] == [part.shape for part in rest] == [(3,), (3,), (4, 3), (4, 3), (4, 3)]
        assert start.gradients is y and not any(part.any() for part in start[:-1])
        for part, expected in zip(rest, (x, 0 * x, 0 * y, x + 0 * y, y), strict=True):
            assert (part == expected).all()
    assert type(of_classes.init(problem, None)) is of_classes.State is State and of_classes.Params is Params
    assert type(of_names.init(problem, None)) is of_names.State


def test_what_a_class_of_states_does_not_say_is_asked_for():
    State = _states(x=KINDS["point"], age=Any)

    def init(problem, params, x=None):
        return State(parts.zeros(problem.d) if x is None else x, parts.zeros())

    with pytest.raises(ValueError, match="the part age of the state must be one of point"):
        base.method("aging", _stay, ["gamma"], State, init)
    aging = base.method(
        "aging", _stay, ["gamma"], State, init, fixed_point=lambda problem, params: init(problem, params)
    )
    assert aging.init(problem_of(np.random.default_rng(4)), None).age.shape == ()
    with pytest.raises(ValueError, match="params are the names of the others"):
        base.method("aging", _stay, NamedTuple("P", [("c", float)]), {"x": "point"}, schedules={"gamma": 1})


def test_a_part_of_the_state_that_is_none_is_refused():
    def init(problem, params, x=None):
        return {"x": x}

    method = base.method("forgetful", lambda problem, params, state, draw: {"x": None}, [], {"x": "point"}, init=init)
    with pytest.raises(ValueError, match=r"line \d+\) gives None for the part x of the state"):
        method.init(None, None)
