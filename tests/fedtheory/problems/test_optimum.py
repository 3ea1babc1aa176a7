"""Reference optima: closed forms, cvxpy, polishing, strong duality."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from fedtheory.data import bundled, split
from fedtheory.learning.logistic import Logistic, logistic_with_condition
from fedtheory.numbers.rational import exact, to_float
from fedtheory.problems import optimum
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import newton, solve
from fedtheory.problems.quadratic import Quadratics, diagonal, least_squares, with_spectra


def logistic(n: int = 3, m: int = 12, d: int = 4, kappa: float = 1e3, seed: int = 0) -> Logistic:
    rng = np.random.default_rng(seed)
    return logistic_with_condition(rng.standard_normal((n, m, d)), rng.choice([-1, 1], (n, m)), kappa)


def quadratics(n: int = 3, d: int = 4, seed: int = 0) -> Quadratics:
    rng = np.random.default_rng(seed)
    return with_spectra(10 ** rng.uniform(-3, 1, (n, d)), rng)


def real_problem(kappa: float) -> Problem:
    return Problem(logistic_with_condition(*split(bundled(), 10, "label", np.random.default_rng(0)), kappa))


PROBLEMS = {
    "quadratic": Problem(quadratics()),
    "quadratic-g": Problem(quadratics(), quadratics(n=1, seed=1)),
    "logistic": Problem(logistic()),
    "logistic-g": Problem(logistic(), diagonal(np.full((1, 4), 0.1), np.zeros((1, 4)))),
    "logistic-logistic": Problem(logistic(), logistic(n=1, seed=2)),
    "mixed": Problem(quadratics(), logistic(n=1)),
    "real": real_problem(1e4),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_is_stationary(name):
    problem = PROBLEMS[name]
    answer = solve(problem)
    shared = answer.x[None, :]
    y = problem.f.gradient(np.repeat(shared, problem.n, axis=0))
    total = y.sum(axis=0) + (0 if problem.g is None else problem.n * problem.g.gradient(shared)[0])
    residual = np.linalg.norm(total) / max(1, np.linalg.norm(y, axis=-1).sum())
    assert answer.kkt <= 1e-10
    assert answer.kkt == pytest.approx(residual, rel=1e-3, abs=1e-16)
    np.testing.assert_array_equal(answer.y, y)
    assert problem.x_star.shape == (problem.d,) and problem.y_star.shape == (problem.n, problem.d)


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_point_around_is_better(name):
    problem = PROBLEMS[name]
    rng = np.random.default_rng(3)
    around = solve(problem).x + 1e-2 * rng.standard_normal((20, problem.d))

    def objective(x: np.ndarray) -> np.ndarray:
        shared = np.repeat(x[..., None, :], problem.n, axis=-2)
        smooth = problem.f.value(shared).sum(axis=-1)
        return smooth if problem.g is None else smooth + problem.n * problem.g.value(x[..., None, :])[..., 0]

    assert (objective(around) > objective(solve(problem).x)).all()


@pytest.mark.parametrize("name", ["quadratic-g", "logistic", "logistic-g"])
def test_agrees_with_a_direct_statement_to_cvxpy(name):
    problem = PROBLEMS[name]
    f, x = problem.f, cp.Variable(problem.d)
    if isinstance(f, Logistic):
        loss = sum(
            cp.sum(cp.logistic(-cp.multiply(f.b[i], f.A[i] @ x))) / f.m + f.mu[i] / 2 * cp.sum_squares(x)
            for i in range(f.n)
        )
    else:
        assert isinstance(f, Quadratics)
        loss = sum(cp.quad_form(x - f.c[i], cp.psd_wrap(f.H[i])) / 2 for i in range(f.n))
    if isinstance(problem.g, Quadratics):
        loss = loss + problem.n * cp.quad_form(x - problem.g.c[0], cp.psd_wrap(problem.g.H[0])) / 2
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert x.value is not None
    np.testing.assert_allclose(solve(problem).x, x.value, atol=2e-4)


@pytest.mark.parametrize("with_g", [False, True])
def test_quadratics_are_solved_exactly_on_fractions(with_g):
    rng = np.random.default_rng(4)
    H = exact([[[2, 1], [1, 3]], [[5, 0], [0, 1]]])
    c = exact(rng.integers(-5, 6, (3, 2, 2))) / exact(7)
    g = Quadratics(exact([[[1, 0], [0, 2]]]), exact([[1, -1]])) if with_g else None
    answer = solve(Problem(Quadratics(H, c), g))
    assert answer.kkt == 0.0
    assert answer.x.shape == (3, 2) and answer.y.shape == (3, 2, 2)
    assert all(isinstance(value, Fraction) for value in (*answer.x.flat, *answer.y.flat))
    total = answer.y.sum(axis=-2)
    if g is not None:
        total = total + 2 * g.gradient(answer.x[..., None, :])[..., 0, :]
    assert (total == 0).all()
    floats = None if g is None else Quadratics(to_float(g.H), to_float(g.c))
    in_floats = solve(Problem(Quadratics(to_float(H), to_float(c)), floats))
    np.testing.assert_allclose(to_float(answer.x), in_floats.x, rtol=1e-13)
    assert in_floats.kkt < 1e-15


def test_replicas_of_quadratics_are_solved_one_by_one():
    rng = np.random.default_rng(5)
    f = quadratics()
    c = rng.standard_normal((2, 3, f.n, f.d))
    g = Quadratics(quadratics(n=1, seed=6).H, rng.standard_normal((2, 3, 1, f.d)))
    together = solve(Problem(Quadratics(f.H, c), g))
    for index in np.ndindex(2, 3):
        alone = solve(Problem(Quadratics(f.H, c[index]), Quadratics(g.H, g.c[index])))
        np.testing.assert_allclose(together.x[index], alone.x, rtol=1e-12)
        np.testing.assert_allclose(together.y[index], alone.y, rtol=1e-9, atol=1e-12)


def test_closed_form_of_ill_conditioned_quadratics():
    f = with_spectra(np.geomspace(1e-6, 1e6, 20)[None, :], np.random.default_rng(9))
    H = np.repeat(f.H, 4, axis=0)
    assert solve(Problem(Quadratics(H, np.random.default_rng(10).standard_normal((4, 20))))).kkt < 1e-11


DUALS = {
    "quadratic": Problem(quadratics()),
    "least-squares": Problem(least_squares(np.random.default_rng(6).standard_normal((3, 9, 4)), np.ones((3, 9)))),
    "logistic": Problem(logistic()),
    "unequal-mu": Problem(dataclasses.replace(logistic(), mu=np.array([0.01, 0.1, 1.0]))),
    "real": real_problem(1e4),
}


@pytest.mark.parametrize("name", DUALS)
def test_strong_duality(name):
    f = DUALS[name].f
    found = solve(DUALS[name])
    least, greatest = f.value(np.repeat(found.x[None, :], f.n, axis=0)).sum(), f.conjugate(found.y).sum()
    assert least + greatest == pytest.approx(0, abs=1e-8 * max(1, abs(least)))
    np.testing.assert_allclose(found.y.sum(axis=0), 0, atol=1e-10 * max(1, np.abs(found.y).sum()))


def test_what_cvxpy_sees_is_the_objective():
    f = dataclasses.replace(logistic(n=2, m=5, d=3), mu=np.array([0.1, 1.0]))
    x = cp.Variable(f.d, value=np.array([1.0, -2.0, 0.5]))
    shared = np.repeat(np.array([[1.0, -2.0, 0.5]]), f.n, axis=0)
    assert f.cvxpy_value(x).value == pytest.approx(f.value(shared).sum(), rel=1e-12)


def test_newton_solves_replicas_of_different_difficulty():
    # Pseudo-Huber losses of very different sharpness, started far away: full steps would diverge.
    sharp = np.array([1.0, 1e2, 1e4])
    x, done = newton(
        lambda x: x * sharp[:, None] / np.sqrt(1 + (sharp[:, None] * x) ** 2) + 1e-3 * (x - 2),
        lambda x: (sharp[:, None] * (1 + (sharp[:, None] * x) ** 2) ** -1.5 + 1e-3)[..., None],
        np.full((3, 1), 50.0),
        np.full(3, 1e-13),
    )
    assert done.all()
    np.testing.assert_allclose(x[:, 0], 2e-3 / (sharp + 1e-3), rtol=1e-5)


def test_newton_reports_what_it_did_not_reach():
    x, done = newton(
        lambda x: x**3 + x - 5, lambda x: (3 * x**2 + 1)[..., None], np.array([[9.0], [1.0]]), np.zeros(2), 1
    )
    assert not done.any() and np.isfinite(x).all()


@pytest.mark.parametrize("name", ["logistic-g", "logistic-logistic", "mixed", "real"])
def test_cvxpy_alone_comes_close_and_newton_has_the_right_hessian(name, monkeypatch):
    problem = PROBLEMS[name]
    expected = solve(problem).x

    def checked(gradient, hessian, start, tolerance):
        np.testing.assert_allclose(start, expected, rtol=1e-2, atol=1e-3)
        for e in np.eye(problem.d):
            column = (gradient(start + 1e-5 * e) - gradient(start - 1e-5 * e)) / 2e-5
            np.testing.assert_allclose(hessian(start) @ e, column, rtol=1e-6, atol=1e-8)
        return newton(gradient, hessian, start, tolerance)

    monkeypatch.setattr(optimum, "newton", checked)
    np.testing.assert_allclose(solve(problem).x, expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["logistic", "real"])
def test_the_answer_does_not_depend_on_the_solver(name, monkeypatch):
    expected = solve(PROBLEMS[name]).x
    monkeypatch.setattr(optimum, "_minimised", lambda program, variable: np.zeros(variable.shape))
    np.testing.assert_allclose(solve(PROBLEMS[name]).x, expected, rtol=1e-8)


def test_a_solver_that_fails_leaves_the_answer_to_newton(monkeypatch):
    def fails(program, solver, max_threads):
        raise cp.SolverError("none")

    expected = solve(PROBLEMS["logistic"]).x
    monkeypatch.setattr(cp.Problem, "solve", fails)
    np.testing.assert_allclose(solve(PROBLEMS["logistic"]).x, expected, rtol=1e-10)


def test_an_answer_that_is_not_one_is_refused(monkeypatch):
    monkeypatch.setattr(optimum, "newton", lambda gradient, hessian, start, tolerance: (start + 1, True))
    with pytest.raises(ValueError, match="no optimum found: relative KKT residual"):
        solve(PROBLEMS["logistic"])


def test_problems_that_cannot_be_solved_are_refused():
    f = quadratics()
    replicated = Quadratics(f.H, np.zeros((2, f.n, f.d)))
    with pytest.raises(ValueError, match="replica axes"):
        solve(Problem(replicated, logistic(n=1)))
    stranger = SimpleNamespace(n=1, d=2, f=None)
    with pytest.raises(ValueError, match="SimpleNamespace has no value"):
        solve(Problem(stranger))
