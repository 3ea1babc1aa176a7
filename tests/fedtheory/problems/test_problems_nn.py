"""Softmax regression, perceptrons and hard functions: derivatives, conjugates, constants, truncation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import accfeddcd, fedavg, inexact_feddcd, run
from fedtheory.learning import lower_bounds
from fedtheory.learning.batches import Batches, Minibatches
from fedtheory.learning.logistic import Logistic
from fedtheory.learning.solvers import gradient_descent
from fedtheory.numbers.rational import exact, to_float
from fedtheory.papers.feddcd.reruns.networks import Perceptron, Softmax, minimiser
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import solve
from fedtheory.randomness import expectation


def data(n: int = 3, m: int = 5, p: int = 3, classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m, p)), rng.integers(classes, size=(n, m))


def softmax(m: int = 5, p: int = 3, mu: Any = 0.1, classes: int = 4) -> Softmax:
    return Softmax(*data(3, m, p, classes), mu, classes)


def perceptron(decay: float = 0.1) -> Perceptron:
    return Perceptron(*data(), classes=4, hidden=6, decay=decay)


SOFTMAX = {
    "more rows": softmax(),
    "fewer rows": softmax(m=2),
    "one row": softmax(m=1),
    "unequal mu": softmax(mu=np.array([0.1, 1.0, 5.0])),
    "two classes": softmax(classes=2),
}
MODELS = {**SOFTMAX, "perceptron": perceptron(), "perceptron without decay": perceptron(0.0)}
ALL = pytest.mark.parametrize("f", MODELS.values(), ids=MODELS.keys())
CONVEX = pytest.mark.parametrize("f", SOFTMAX.values(), ids=SOFTMAX.keys())


@ALL
def test_gradients_are_the_derivatives(f):
    x = np.random.default_rng(1).standard_normal((2, f.n, f.d))
    h = 1e-6
    shifted = h * np.eye(f.d)[:, None, None]
    slopes = np.moveaxis((f.value(x + shifted) - f.value(x - shifted)) / (2 * h), 0, -1)
    np.testing.assert_allclose(f.gradient(x), slopes, rtol=1e-6, atol=1e-8)


@CONVEX
def test_hessians_are_the_derivatives(f):
    x = np.random.default_rng(2).standard_normal((2, f.n, f.d))
    h = 1e-5
    for j, e in enumerate(np.eye(f.d)):
        column = (f.gradient(x + h * e) - f.gradient(x - h * e)) / (2 * h)
        np.testing.assert_allclose(f.hessian(x)[..., j], column, rtol=1e-6, atol=1e-8)


@ALL
def test_batches_average_to_the_gradient(f):
    x = np.random.default_rng(3).standard_normal((f.n, f.d))
    for size in range(1, f.m + 1):
        rows, p = Batches(f.m, size, 1).support()
        mean = expectation(f.batch_gradient(x, np.repeat(rows, f.n, axis=1)), p, axis=0)
        np.testing.assert_allclose(mean, f.gradient(x), rtol=1e-10, atol=1e-12)
    # A batch of some rows is the gradient of the function with these rows only.
    rows = np.stack([np.random.default_rng(4).permutation(f.m)[:1] for _ in range(f.n)])
    clients = np.arange(f.n)[:, None]
    part = replace(f, A=f.A[clients, rows], b=f.b[clients, rows])
    np.testing.assert_allclose(f.batch_gradient(x, rows), part.gradient(x), rtol=1e-12, atol=1e-12)


@ALL
def test_replicas_and_shared_points(f):
    x = np.random.default_rng(5).standard_normal((2, 3, f.n, f.d))
    names = ["value", "gradient"] + (["hessian", "conjugate", "conjugate_gradient"] if isinstance(f, Softmax) else [])
    for name in names:
        oracle = getattr(f, name)
        together = oracle(x)
        for index in np.ndindex(2, 3):
            np.testing.assert_allclose(together[index], oracle(x[index]), rtol=1e-8, atol=1e-9)
        shared = oracle(x[:, :, :1])
        np.testing.assert_allclose(shared, oracle(np.repeat(x[:, :, :1], f.n, axis=-2)), rtol=1e-8, atol=1e-9)


# Softmax regression


def test_softmax_is_what_it_says():
    f = softmax()
    x = np.random.default_rng(6).standard_normal((f.n, f.d))
    for i in range(f.n):
        W = x[i].reshape(4, 3)
        losses = [np.log(np.exp(W @ a).sum()) - (W @ a)[label] for a, label in zip(f.A[i], f.b[i], strict=True)]
        np.testing.assert_allclose(f.value(x)[i], np.mean(losses) + 0.1 / 2 * (x[i] ** 2).sum(), rtol=1e-12)


def test_two_classes_are_logistic_regression():
    # Scores (-x, x)/2 differ by x, and their squared norm is |x|^2/2.
    A, b = data(classes=2)
    f, g = Softmax(A, b, 0.4, 2), Logistic(A, 2 * b - 1, 0.2)
    x = np.random.default_rng(7).standard_normal((3, 3))
    halves = np.concatenate([-x, x], axis=-1) / 2
    np.testing.assert_allclose(f.value(halves), g.value(x), rtol=1e-12)
    np.testing.assert_allclose(f.L - 0.4, 2 * (g.L - 0.2), rtol=1e-12)


@CONVEX
def test_constants_bound_the_spectrum(f):
    rng = np.random.default_rng(8)
    scales = 10 ** rng.uniform(-2, 3, (40, 1, 1))
    x = np.concatenate([np.zeros((1, f.n, f.d)), scales * rng.standard_normal((40, f.n, f.d))])
    spectra = np.linalg.eigvalsh(f.hessian(x))
    assert (spectra[..., 0] >= f.mu * (1 - 1e-9)).all()
    assert (spectra[..., -1] <= f.L * (1 + 1e-12)).all()
    np.testing.assert_allclose(spectra[..., 0].min(axis=0), f.mu, rtol=1e-6)
    if f.classes == 2:
        np.testing.assert_allclose(spectra[0, :, -1], f.L, rtol=1e-12)


def test_the_smoothness_constant_is_approached_with_more_classes():
    # Rows on one side of the origin: two classes can share all the probability on every row.
    rng = np.random.default_rng(9)
    f = Softmax(rng.uniform(0.5, 1.5, (2, 4, 3)), rng.integers(3, size=(2, 4)), 0.1, 3)
    x = np.repeat(np.array([[40.0] * 6 + [-40.0] * 3]), 2, axis=0)
    np.testing.assert_allclose(np.linalg.eigvalsh(f.hessian(x))[:, -1], f.L, rtol=1e-9)


@CONVEX
def test_conjugate_gradient_inverts_the_gradient(f):
    rng = np.random.default_rng(10)
    for scale in (0.0, 1e-3, 1.0, 1e3):
        y = scale * rng.standard_normal((2, f.n, f.d))
        w = f.conjugate_gradient(y)
        error = np.linalg.norm(f.gradient(w) - y, axis=-1)
        assert (error <= 3e-12 * np.maximum(1, np.linalg.norm(y, axis=-1))).all()
        x = scale * rng.standard_normal((f.n, f.d))
        np.testing.assert_allclose(f.conjugate_gradient(f.gradient(x)), x, rtol=1e-7, atol=1e-9)


@CONVEX
def test_fenchel_young(f):
    rng = np.random.default_rng(11)
    x = rng.standard_normal((4, f.n, f.d))
    y = f.gradient(x)
    np.testing.assert_allclose(f.value(x) + f.conjugate(y), (x * y).sum(-1), rtol=1e-10, atol=1e-10)
    other = y + rng.standard_normal(y.shape)
    assert (f.value(x) + f.conjugate(other) > (x * other).sum(-1)).all()


@pytest.mark.parametrize("mu", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_conjugates_of_strong_y_and_weak_regularisation(mu, scale):
    for m in (4, 12):
        f = softmax(m=m, p=6, mu=mu)
        y = scale * np.random.default_rng(12).standard_normal((2, f.n, f.d))
        w = f.conjugate_gradient(y)
        error = np.linalg.norm(f.gradient(w) - y, axis=-1)
        rounding = 1e-15 * f.L * np.linalg.norm(w, axis=-1)
        assert (error <= 2e-12 * np.maximum(1, np.linalg.norm(y, axis=-1)) + rounding).all()


def test_two_ways_to_the_optimum():
    f = softmax()
    by_newton, by_cvxpy = minimiser(f), solve(Problem(f))
    np.testing.assert_allclose(by_newton.x, by_cvxpy.x, atol=1e-8)
    np.testing.assert_allclose(by_newton.y, by_cvxpy.y, atol=1e-8)
    unequal = softmax(mu=np.array([0.1, 1.0, 5.0]))
    np.testing.assert_allclose(minimiser(unequal).x, solve(Problem(unequal)).x, atol=1e-8)
    assert max(o.kkt for o in (by_newton, by_cvxpy)) <= 1e-10


def test_accelerated_feddcd_learns_a_softmax_model():
    f = softmax(m=12, mu=0.3)
    posed = Problem(f, known=minimiser(f))
    gaps = run(
        accfeddcd.algorithm,
        posed,
        accfeddcd.theory(posed, 2),
        150,
        np.random.default_rng(13),
        lambda state: ((f.conjugate_gradient(state.y) - posed.x_star) ** 2).sum(axis=(-1, -2)),
    )
    assert gaps[-1, 0] < 1e-9 * gaps[0, 0]
    labels = f.predict(posed.x_star, f.A.reshape(-1, 3))
    assert (labels == f.b.ravel()).mean() > 1 / 4


def test_a_conjugate_that_is_not_found_is_refused(monkeypatch):
    monkeypatch.setattr(
        "fedtheory.learning.minimising.newton",
        lambda gradient, hessian, start, tolerance, iterations: (start, np.zeros(start.shape[:-1], dtype=bool)),
    )
    with pytest.raises(ValueError, match="no conjugate of the softmax loss found"):
        softmax().conjugate_gradient(np.ones((3, 12)))


# Perceptron


def test_the_perceptron_is_what_it_says():
    f = perceptron()
    x = np.random.default_rng(14).standard_normal((f.n, f.d))
    assert f.d == 6 * 4 + 4 * 7
    for i in range(f.n):
        U, u, V, v = (x[i, s] for s in (slice(0, 18), slice(18, 24), slice(24, 48), slice(48, 52)))
        losses = []
        for a, label in zip(f.A[i], f.b[i], strict=True):
            scores = V.reshape(4, 6) @ np.maximum(U.reshape(6, 3) @ a + u, 0) + v
            losses.append(np.log(np.exp(scores).sum()) - scores[label])
        np.testing.assert_allclose(f.value(x)[i], np.mean(losses) + 0.1 / 2 * (x[i] ** 2).sum(), rtol=1e-12)


def test_the_perceptron_learns_what_a_linear_model_cannot():
    # The classes of exclusive or, which no linear model separates, by local SGD and by inexact FedDCD.
    rng = np.random.default_rng(15)
    A = rng.uniform(-1, 1, (4, 50, 2))
    b = (A[..., 0] * A[..., 1] > 0).astype(int)
    f = Perceptron(A, b, classes=2)
    assert f.hidden == 32
    posed, x = Problem(f), f.initial(rng)
    average = fedavg.Params(2, 5, 0.2, batches=Minibatches(f, 10))
    state, rows = fedavg.State(x), A.reshape(-1, 2)
    for _ in range(60):
        state = fedavg.step(posed, average, state, fedavg.draws(posed, average, state).sample(rng))
    assert (f.predict(state.x, rows) == b.ravel()).mean() > 0.95
    linear = Softmax(np.concatenate([A, np.ones((4, 50, 1))], axis=-1), b, 1e-3, 2)
    ones = np.ones((len(rows), 1))
    assert (linear.predict(minimiser(linear).x, np.concatenate([rows, ones], axis=-1)) == b.ravel()).mean() < 0.75
    # Zero weights are a stationary point of both layers, so the printed w^(-1) = 0 is replaced.
    inexact = inexact_feddcd.Params(2, np.full(4, 10.0), 1.0, gradient_descent(20, 0.5))
    dual = inexact_feddcd.algorithm.init(posed, inexact, w=np.tile(x, (4, 1)))
    before = f.value(dual.w).sum()
    for _ in range(20):
        dual = inexact_feddcd.step(posed, inexact, dual, inexact_feddcd.draws(posed, inexact, dual).sample(rng))
    assert abs(dual.y.sum(axis=0)).max() < 1e-12
    assert f.value(np.broadcast_to(dual.w.mean(axis=0), (4, f.d))).sum() < before / 2
    assert (f.gradient(np.zeros((4, f.d)))[:, :-2] == 0).all()


# Hard functions


CASES = [
    # alpha, beta, N: many functions of the chain, one each
    (Fraction(1), Fraction(27), 3),
    (Fraction(1), Fraction(8), 2),
    (Fraction(1), Fraction(16), 1),
    # alpha >= beta/N: several clients share a function
    (Fraction(1), Fraction(5, 2), 5),
    (Fraction(1), Fraction(3, 2), 4),
    (Fraction(2), Fraction(8), 4),
]
HARD = pytest.mark.parametrize(("alpha", "beta", "N"), CASES)


def test_the_first_matrices_are_those_printed():
    # Eq. (42) with three functions on seven coordinates, counted by hand: M^(1) couples 1-2, 4-5 and 7-8.
    M = lower_bounds.chain(1, 3, 7)
    assert M.tolist() == [
        [2, -1, 0, 0, 0, 0, 0],
        [-1, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, -1, 0, 0],
        [0, 0, 0, -1, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1],
    ]
    assert np.argwhere(lower_bounds.chain(3, 3, 7) == -1).tolist() == [[2, 3], [3, 2], [5, 6], [6, 5]]


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 5), dimension=st.integers(2, 11))
def test_the_matrices_add_up_to_the_tridiagonal_one(m, dimension):
    matrices = [lower_bounds.chain(k, m, dimension) for k in range(1, m + 1)]
    wanted = 2 * np.eye(dimension, dtype=int) - np.eye(dimension, k=1, dtype=int) - np.eye(dimension, k=-1, dtype=int)
    assert (sum(matrices) == wanted).all()
    for M in matrices:
        spectrum = np.linalg.eigvalsh(M)
        assert spectrum[0] >= -1e-12 and spectrum[-1] <= 4


@HARD
def test_hard_functions_are_those_printed(alpha, beta, N):
    posed: Any = lower_bounds.hard(alpha, beta, N, 5)
    m, f = lower_bounds.links(alpha, beta, N), posed.f
    assert (m == N) == (alpha < beta / N)
    assert m * alpha < beta and (m == N or beta <= (m + 1) * alpha)
    owners = lower_bounds.blocks(N, m)
    assert sorted(set(owners)) == list(range(m)) and owners == sorted(owners)
    w = exact(np.random.default_rng(16).integers(-3, 4, (4, 1, 5)))
    values = f.value(np.repeat(w, N, axis=-2))
    for i, j in enumerate(owners):
        M = lower_bounds.chain(j + 1, m, 5)
        for value, point in zip(values[:, i], w[:, 0], strict=True):
            chain = (beta - m * alpha) / 8 * (point @ M @ point - (2 * point[0] if j == 0 else 0))
            assert value == (chain + alpha / 2 * (point @ point)) / owners.count(j)
    assert all(isinstance(v, Fraction) for v in (*f.H.flat, *f.c.flat, *f.v.flat))


@HARD
def test_which_hard_functions_are_in_the_class(alpha, beta, N):
    posed: Any = lower_bounds.hard(float(alpha), float(beta), N, 8)
    assert max(posed.f.L) <= beta * (1 + 1e-12)
    # A function shared by a block of clients is divided by its size, and so is its strong convexity: the second case of
    # Appendix F is not in the class it is said to be in, unless every block is a single client.
    m = lower_bounds.links(alpha, beta, N)
    owners = lower_bounds.blocks(N, m)
    sizes = np.array([owners.count(j) for j in owners])
    if m > 1:
        np.testing.assert_allclose(posed.f.mu, float(alpha) / sizes, rtol=1e-9)
    assert ((posed.f.mu < float(alpha) * (1 - 1e-9)) == (sizes > 1)).all()
    assert (alpha * N < beta) <= (sizes == 1).all()


@HARD
def test_the_minimiser_and_its_truncation_error(alpha, beta, N):
    for dimension in (2, 5, 9):
        posed: Any = lower_bounds.hard(float(alpha), float(beta), N, dimension)
        wanted = to_float(lower_bounds.solution(alpha, beta, N, 400))
        padded = np.concatenate([posed.x_star, np.zeros(400 - dimension)])
        error, bound = np.linalg.norm(padded - wanted), lower_bounds.truncation_error(alpha, beta, N, dimension)
        assert bound / 2 < error <= bound * (1 + 1e-9)


def test_the_minimiser_on_all_coordinates_is_exact():
    # kappa = 27/3 = 9 gives q = 1/2; all equations but the last are those of the infinite system.
    posed: Any = lower_bounds.hard(Fraction(1), Fraction(27), 3, 6)
    w = lower_bounds.solution(Fraction(1), Fraction(27), 3, 6)
    assert w.tolist() == [Fraction(1, 2) ** j for j in range(1, 7)]
    slopes = posed.f.gradient(np.broadcast_to(w, (3, 6))).sum(axis=0)
    assert (slopes[:-1] == 0).all()
    # The last one misses the coupling to w_7, with weight (beta - N alpha)/4 = 6.
    assert slopes[-1] == 6 * Fraction(1, 2) ** 7


@pytest.mark.parametrize("tau", [2, 3])
def test_coordinates_are_found_one_after_another(tau):
    # The first client finds coordinates 1 and 2 in one round; each further one needs its own client after the last.
    posed = lower_bounds.hard(1.0, 27.0, 3, 12)
    params = accfeddcd.theory(posed, tau)
    state = accfeddcd.init(posed, params)
    rng = np.random.default_rng(17)
    for rounds in range(1, 8):
        state = accfeddcd.step(posed, params, state, accfeddcd.draws(posed, params, state).sample(rng))
        found = 1 + np.flatnonzero((state.y != 0).any(axis=0)).max(initial=-1)
        assert found == rounds + 1 if tau == 3 else found <= rounds + 1


@pytest.mark.parametrize("dimension", [8, 20])
def test_truncation_cannot_be_seen_before_the_last_coordinate_moves(dimension):
    params = accfeddcd.theory(lower_bounds.hard(1.0, 27.0, 3, 2), 3)
    states = []
    for size in (dimension, 40):
        posed = lower_bounds.hard(1.0, 27.0, 3, size)
        state = accfeddcd.init(posed, params)
        for _ in range(dimension - 2):
            drawn = accfeddcd.Subsets(np.ones(3, dtype=bool), np.ones(3, dtype=bool))
            state = accfeddcd.step(posed, params, state, drawn)
        states.append(np.pad(state.y, ((0, 0), (0, 40 - size))))
    np.testing.assert_allclose(states[0], states[1], atol=1e-14)
    assert (states[1][:, dimension - 2] != 0).all() and (states[1][:, dimension - 1 :] == 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lower_bounds.hard(1, 1, 3, 4), r"0 < alpha < beta, got 3, 1, 1"),
        (lambda: lower_bounds.hard(1, 4, 0, 4), "N >= 1"),
        (lambda: lower_bounds.hard(1, 4, 3, 1), "at least 2 coordinates"),
        (lambda: lower_bounds.chain(4, 3, 5), "k must be between 1 and 3"),
        (lambda: Softmax(np.ones((3, 4)), np.ones(3), 1.0, 2), r"A must be \(n, m, p\)"),
        (lambda: Softmax(np.ones((2, 3, 4)) * np.nan, np.ones((2, 3)), 1.0, 2), "not finite"),
        (lambda: Softmax(np.ones((2, 3, 4)), np.full((2, 3), 2), 1.0, 2), "one of the classes 0, ..., 1"),
        (lambda: Softmax(np.ones((2, 3, 4)), np.ones((2, 3)), 0.0, 2), "mu must be a positive number"),
        (lambda: softmax().gradient(np.zeros((2, 4))), r"shape \(\.\.\., 3, 12\)"),
        (lambda: softmax().conjugate_gradient(np.full((3, 12), np.nan)), "finite y"),
        (lambda: Perceptron(np.ones((2, 3, 4)), np.ones((2, 3)), 2, 0), "hidden units and a decay"),
        (lambda: perceptron().value(np.zeros((2, 4))), r"shape \(\.\.\., 3, 52\)"),
    ],
)
def test_user_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
