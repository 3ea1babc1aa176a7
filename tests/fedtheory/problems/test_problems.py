"""Oracles against finite differences, conjugates against their definition, constants against spectra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.learning.logistic import Logistic, SparseLogistic, logistic_with_condition
from fedtheory.numbers.rational import exact, to_float
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import Quadratics, diagonal, least_squares, with_spectra


def logistic(seed: int = 0, n: int = 3, m: int = 7, d: int = 4, kappa: float = 50.0) -> Logistic:
    rng = np.random.default_rng(seed)
    return logistic_with_condition(rng.standard_normal((n, m, d)), rng.choice([-1, 1], (n, m)), kappa)


def small_fractions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return exact(rng.integers(-6, 7, shape)) / exact(rng.integers(1, 5, shape))


def rational_quadratics(seed: int, n: int, d: int, replicas: tuple[int, ...] = ()) -> Quadratics:
    rng = np.random.default_rng(seed)
    root = small_fractions(rng, n, d, d)
    H = np.matmul(root, np.swapaxes(root, -1, -2)) + exact(np.eye(d))
    return Quadratics(H, small_fractions(rng, *replicas, n, d), small_fractions(rng, n))


def families() -> list[Functions]:
    rng = np.random.default_rng(7)
    return [
        logistic(),
        Logistic(rng.standard_normal((3, 2, 4)), np.ones((3, 2)), np.array([0.1, 1.0, 5.0])),
        with_spectra(rng.uniform(0.1, 9, (3, 4)), rng),
        diagonal(rng.uniform(0.1, 9, (3, 4)), rng.standard_normal((3, 4)), 2.0),
        least_squares(rng.standard_normal((3, 7, 4)), rng.standard_normal((3, 7)), 0.1),
    ]


ALL = pytest.mark.parametrize("f", families(), ids=["logistic", "unequal-mu", "quadratic", "diagonal", "least-squares"])


@ALL
def test_gradient_and_hessian_are_the_derivatives(f):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, f.n, f.d))
    h = 1e-5
    for e in np.eye(f.d):
        slope = (f.value(x + h * e) - f.value(x - h * e)) / (2 * h)
        np.testing.assert_allclose((f.gradient(x) * e).sum(-1), slope, rtol=1e-7, atol=1e-8)
        column = (f.gradient(x + h * e) - f.gradient(x - h * e)) / (2 * h)
        np.testing.assert_allclose((f.hessian(x) * e).sum(-1), column, rtol=1e-7, atol=1e-8)


@ALL
def test_conjugate_gradient_inverts_the_gradient(f):
    rng = np.random.default_rng(2)
    for scale in (0.0, 1e-3, 1.0, 1e3):
        y = scale * rng.standard_normal((2, 3, f.n, f.d))
        w = f.conjugate_gradient(y)
        error = np.linalg.norm(f.gradient(w) - y, axis=-1)
        assert (error <= 2e-12 * np.maximum(1, np.linalg.norm(y, axis=-1))).all()
        x = scale * rng.standard_normal((f.n, f.d))
        np.testing.assert_allclose(f.conjugate_gradient(f.gradient(x)), x, rtol=1e-8, atol=1e-10)


@ALL
def test_fenchel_young(f):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, f.n, f.d))
    y = f.gradient(x)
    np.testing.assert_allclose(f.value(x) + f.conjugate(y), (x * y).sum(-1), rtol=1e-11, atol=1e-11)
    other = y + rng.standard_normal(y.shape)
    assert (f.value(x) + f.conjugate(other) > (x * other).sum(-1)).all()


@ALL
def test_constants_bound_the_spectrum_and_are_tight(f):
    rng = np.random.default_rng(4)
    x = np.concatenate(
        [np.zeros((1, f.n, f.d)), 10 ** rng.uniform(-2, 3, (40, 1, 1)) * rng.standard_normal((40, f.n, f.d))]
    )
    spectra = np.linalg.eigvalsh(f.hessian(x))
    assert (spectra[..., 0] >= f.mu * (1 - 1e-12)).all()
    assert (spectra[..., -1] <= f.L * (1 + 1e-12)).all()
    np.testing.assert_allclose(spectra[0, :, -1], f.L, rtol=1e-12)
    np.testing.assert_allclose(spectra[..., 0].min(axis=0), f.mu, rtol=0.2)


@ALL
def test_replicas_are_independent_of_each_other(f):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 3, f.n, f.d))
    for oracle in (f.value, f.gradient, f.hessian, f.conjugate, f.conjugate_gradient):
        together = oracle(x)
        for index in np.ndindex(2, 3):
            np.testing.assert_allclose(together[index], oracle(x[index]), rtol=1e-9, atol=1e-9)


@ALL
def test_a_point_shared_by_all_clients(f):
    shared = np.random.default_rng(6).standard_normal((2, 1, f.d))
    repeated = np.repeat(shared, f.n, axis=-2)
    np.testing.assert_allclose(f.value(shared), f.value(repeated), rtol=1e-12)
    np.testing.assert_allclose(f.gradient(shared), f.gradient(repeated), rtol=1e-12)
    np.testing.assert_allclose(f.conjugate_gradient(shared), f.conjugate_gradient(repeated), rtol=1e-12)


def test_diagonal_hessians_multiply_as_matrices_do():
    rng = np.random.default_rng(7)
    f = diagonal(rng.uniform(1, 2, (3, 4)), rng.standard_normal((3, 4)), rng.standard_normal(3))
    for x in (rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 1, 4))):
        slope = np.matmul(f.H, (x - f.c)[..., None])[..., 0]
        assert (f.gradient(x) == slope).all()
        assert (f.value(x) == ((x - f.c) * slope).sum(axis=-1) / 2 + f.v).all()


def test_least_squares_is_what_it_says():
    rng = np.random.default_rng(8)
    A, b, x = rng.standard_normal((2, 5, 3)), rng.standard_normal((2, 5)), rng.standard_normal((2, 3))
    direct = ((np.einsum("imd,id->im", A, x) - b) ** 2).sum(-1) / 10 + 0.3 / 2 * (x**2).sum(-1)
    np.testing.assert_allclose(least_squares(A, b, 0.3).value(x), direct, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3), d=st.integers(1, 3))
def test_quadratics_on_fractions_are_exact_and_agree_with_floats(seed, n, d):
    f = rational_quadratics(seed, n, d)
    g = Quadratics(to_float(f.H), to_float(f.c), to_float(f.v))
    x = small_fractions(np.random.default_rng(seed + 1), 2, n, d)
    y = f.gradient(x)
    assert all(isinstance(value, Fraction) for value in y.flat)
    assert (f.conjugate_gradient(y) == x).all()
    assert (f.value(x) + f.conjugate(y) == (x * y).sum(axis=-1)).all()
    for name in ("value", "gradient", "conjugate", "conjugate_gradient"):
        in_floats = getattr(g, name)(to_float(x))
        np.testing.assert_allclose(to_float(getattr(f, name)(x)), in_floats, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("long", [1, 100])
@pytest.mark.parametrize("numbers", [1, 25, 2**16])
def test_gradients_of_logistic_losses_do_not_depend_on_blocks_of_clients(monkeypatch, numbers, long):
    rng = np.random.default_rng(8)
    f = Logistic(rng.standard_normal((5, 4, 3)), rng.choice([-1, 1], (5, 4)), np.linspace(0.1, 0.5, 5))
    monkeypatch.setattr("fedtheory.learning.logistic._TWICE", numbers)
    monkeypatch.setattr("fedtheory.learning.logistic._LONG", long)
    for x in (rng.standard_normal((2, 3, 5, 3)), rng.standard_normal((2, 1, 3)), rng.standard_normal((5, 3))):
        at = np.broadcast_to(x, (*x.shape[:-2], 5, 3))
        margins = np.einsum("ij,ijd,...id->...ij", f.b, f.A, at)
        expected = f.mu[:, None] * at - np.einsum("ij,ijd,...ij->...id", f.b, f.A, 1 / (1 + np.exp(margins))) / 4
        np.testing.assert_allclose(f.gradient(x), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [Logistic, SparseLogistic])
@pytest.mark.parametrize("numbers", [1, 24, 10**6])
def test_steps_in_a_row_are_steps_one_by_one(kind, numbers, monkeypatch):
    rng = np.random.default_rng(12)
    A = rng.standard_normal((5, 4, 3)) * (rng.random((5, 4, 3)) < (0.2 if kind is SparseLogistic else 1))
    f = kind(A, rng.choice([-1, 1], (5, 4)), np.linspace(0.1, 0.5, 5))
    monkeypatch.setattr("fedtheory.learning.logistic._TWICE", numbers)
    one_for_all = np.broadcast_to(rng.standard_normal(3), (5, 3))
    for x in (rng.standard_normal((2, 3, 5, 3)), rng.standard_normal((2, 1, 3)), one_for_all):
        stepped, before = x, x.copy()
        for _ in range(4):
            stepped = stepped - 0.7 * f.gradient(stepped)
        found = f.descend(x, 0.7, 4)
        assert found.shape == stepped.shape and (x == before).all()
        np.testing.assert_allclose(found, stepped, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [Logistic, SparseLogistic])
def test_gradients_of_some_clients_are_those_of_all(kind):
    rng = np.random.default_rng(13)
    A = rng.standard_normal((5, 4, 3)) * (rng.random((5, 4, 3)) < (0.2 if kind is SparseLogistic else 1))
    f = kind(A, rng.choice([-1, 1], (5, 4)), np.linspace(0.1, 0.5, 5))
    for clients in ([0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 1, 1]):
        chosen = np.array(clients)
        for x in (rng.standard_normal((2, 3, 5, 3)), rng.standard_normal((2, 1, 3)), rng.standard_normal((5, 3))):
            found, whole = f.gradient_of(x, chosen), f.gradient(x)
            assert found.shape == whole.shape
            np.testing.assert_allclose(found[..., chosen == 1, :], whole[..., chosen == 1, :], rtol=0, atol=1e-14)


@pytest.mark.parametrize("kappa", [1.01, 10.0, 1e4, 1e8])
def test_condition_number_is_the_one_asked_for(kappa):
    f = logistic(kappa=kappa)
    assert f.L.max() / f.mu[0] == pytest.approx(kappa, rel=1e-12)
    assert Problem(f).L / Problem(f).mu == pytest.approx(kappa, rel=1e-12)


@pytest.mark.parametrize("shape", [(3, 7, 4), (2, 3, 11), (1, 1, 1)])
def test_logistic_is_what_it_says(shape):
    rng = np.random.default_rng(9)
    A, b = rng.standard_normal(shape), rng.choice([-1, 1], shape[:2])
    x = rng.standard_normal((shape[0], shape[2]))
    margins = b * np.einsum("imd,id->im", A, x)
    direct = np.log(1 + np.exp(-margins)).mean(-1) + 0.2 / 2 * (x**2).sum(-1)
    np.testing.assert_allclose(Logistic(A, b, 0.2).value(x), direct, rtol=1e-12)


def test_logistic_does_not_overflow():
    f = logistic()
    x = 1e6 * np.random.default_rng(10).standard_normal((f.n, f.d))
    for oracle in (f.value, f.gradient, f.hessian, f.conjugate_gradient):
        assert np.isfinite(oracle(x)).all()
    assert (f.hessian(x) == f.mu[:, None, None] * np.eye(f.d)).all()


def test_hessians_of_many_replicas_come_in_blocks():
    f = logistic(n=4, m=50, d=10)
    x = np.random.default_rng(11).standard_normal((70, f.n, f.d))
    np.testing.assert_allclose(f.hessian(x)[[0, 32, 69]], f.hessian(x[[0, 32, 69]]), rtol=1e-12)


@pytest.mark.parametrize("kappa", [1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1e4])
def test_conjugate_of_strong_y(kappa, scale):
    # Dual variables beyond the range of the loss gradient: the solution is far out. From the quadratic model
    # alone Newton's method fails for scale 0.1 and kappa 1e8.
    f = logistic(n=3, m=60, d=30, kappa=kappa)
    y = scale * np.random.default_rng(12).standard_normal((3, f.n, f.d))
    w = f.conjugate_gradient(y)
    error = np.linalg.norm(f.gradient(w) - y, axis=-1)
    rounding = 1e-15 * f.L * np.linalg.norm(w, axis=-1)
    assert (error <= 1e-12 * np.maximum(1, np.linalg.norm(y, axis=-1)) + rounding).all()


ONES = np.ones((2, 3, 4))
SIGNS = np.ones((2, 3))


@pytest.mark.parametrize(
    ("A", "b", "mu", "message"),
    [
        (np.ones((3, 4)), np.ones(3), 1.0, r"A must be \(n, m, d\)"),
        (ONES, np.ones((2, 4)), 1.0, r"A must be \(n, m, d\)"),
        (np.ones((2, 0, 4)), np.ones((2, 0)), 1.0, "none empty"),
        (ONES * np.nan, SIGNS, 1.0, "not finite"),
        (ONES, 0 * SIGNS, 1.0, "label"),
        (ONES, SIGNS, 0.0, "mu must be a positive number"),
        (ONES, SIGNS, np.inf, "mu must be a positive number"),
        (ONES, SIGNS, np.ones(3), "mu must be a positive number"),
    ],
)
def test_logistic_refuses(A, b, mu, message):
    with pytest.raises(ValueError, match=message):
        Logistic(A, b, mu)


@pytest.mark.parametrize("kappa", [1.0, 0.5, np.inf, np.nan])
def test_condition_number_refuses(kappa):
    with pytest.raises(ValueError, match="kappa must be finite and above 1"):
        logistic_with_condition(ONES, SIGNS, kappa)


def test_a_conjugate_that_is_not_found_is_refused(monkeypatch):
    monkeypatch.setattr(
        "fedtheory.learning.minimising.newton",
        lambda gradient, hessian, start, tolerance, iterations: (start, np.zeros(start.shape[:-1], dtype=bool)),
    )
    with pytest.raises(ValueError, match="no conjugate of the logistic loss found"):
        logistic().conjugate_gradient(np.ones((3, 4)))


def test_oracles_refuse():
    f = logistic()
    with pytest.raises(ValueError, match=r"shape \(\.\.\., 3, 4\)"):
        f.gradient(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="finite y"):
        f.conjugate_gradient(np.full((3, 4), np.nan))
    with pytest.raises(ValueError, match="data are all zero"):
        logistic_with_condition(0 * ONES, SIGNS, 10.0)
    with pytest.raises(ValueError, match="single function"):
        Problem(f, g=f)
