"""The algorithms of Federated Optimization, each against a plain loop written from the paper, and its equivalences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from fedtheory import algorithms
from fedtheory.algorithms import (
    cocoa_plus,
    dane,
    dane_svrg,
    dual_block_ascent,
    fsvrg,
    naive_fsvrg,
    perturbed_primal,
    rcd,
    sag,
    sgd,
    svrg,
)
from fedtheory.learning.dual_blocks import least_sigma, subproblem
from fedtheory.numbers.rational import exact, to_float
from fedtheory.papers.fedopt.reruns.text import generated
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC, SQUARED
from fedtheory.randomness import expectation

LOSSES = [SQUARED, LOGISTIC]
NAMES = [loss.name for loss in LOSSES]
LAM = Fraction(3, 10)


def pose(loss=SQUARED, share="own", sizes=(3, 1, 4, 2), d=5, seed=0, fractions=False):
    """Sparse integers; the last feature is one that nobody holds, the one before it one client alone."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < 0.6)
    X[:, 0], X[:, -1] = 1, 0
    X[sizes[0] :, -2] = 0
    X[0, -2] = 2
    y = rng.choice([-1, 1], n)
    number, lam = (exact, LAM) if fractions else (to_float, float(LAM))
    return LinearProblem(LinearModels(number(X), number(y), np.array(sizes), lam, loss, share))


def slopes(f):
    """grad f_i as functions, regulariser included."""
    return [lambda w, x=x, y=y: f.loss.slope(x @ w, y) * x + f.lam * w for x, y in zip(f.X, f.y, strict=True)]


def owned(f):
    return [range(start, start + size) for start, size in zip(f.starts, f.sizes, strict=True)]


def close(a, b, rtol=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(1e-300, float(abs(np.asarray(b)).max())))


# Methods for one machine


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_methods_for_one_machine_are_plain_loops(loss):
    f, rng = pose(loss).f, np.random.default_rng(1)
    problem, gradient, n = LinearProblem(f.singles), slopes(f), f.examples

    def full(w):
        return sum(g(w) for g in gradient) / n

    w0 = rng.standard_normal(f.d)
    table = rng.standard_normal((n, f.d))
    states = {
        "sgd": (sgd.Params(0.1, 0.5), sgd.init(problem, None, w0)),
        "rcd": (rcd.Params(np.linspace(0.1, 0.2, f.d)), rcd.algorithm.init(problem, None, w=w0)),
        "sag": (sag.Params(0.1), sag.init(problem, None, w0, table)),
        "svrg": (svrg.Params(0.1), svrg.algorithm.init(problem, None, w0)),
    }
    for name, (params, state) in states.items():
        w, snapshot, old = w0, w0, table.copy()
        for t in range(40):
            if name == "svrg" and t % 8 == 0:
                state, snapshot = svrg.renewed(state), w
            draw = algorithms.get(name).draws(problem, params, state).sample(rng)
            state = algorithms.get(name).step(problem, params, state, draw)
            (i,) = np.flatnonzero(draw)
            if name == "sgd":
                w = w - 0.1 / (1 + 0.5 * t) * gradient[i](w)
            elif name == "rcd":
                w = w.copy()
                w[i] -= np.linspace(0.1, 0.2, f.d)[i] * full(w)[i]
            elif name == "sag":
                old[i] = gradient[i](w)
                w = w - 0.1 * old.mean(axis=0)
            else:
                w = w - 0.1 * (gradient[i](w) - gradient[i](snapshot) + full(snapshot))
            close(state[0], w)


def test_start_of_sag():
    f = pose().f
    problem = LinearProblem(f.singles)
    state = sag.init(problem, None)
    assert (state.x == 0).all() and state.y.shape == (f.examples, f.d) and not state.y.any()
    close(sag.centred(problem, np.ones(f.d)).sum(axis=0), np.zeros(f.d), 1e288)
    assert sag.theory(problem).alpha == pytest.approx(1 / (16 * max((f.X**2).sum(axis=1) + 0.3)))


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_sdca_maximises_the_dual_along_one_variable(loss):
    problem, rng = pose(loss), np.random.default_rng(2)
    f, method = problem.f, algorithms.get("sdca")
    state = method.init(problem, None, f.y * 0.5)
    for _ in range(20):
        draw = method.draws(problem, None, state).sample(rng)
        (i,) = np.flatnonzero(draw)
        after = method.step(problem, None, state, draw)
        assert (np.delete(after.alpha, i) == np.delete(state.alpha, i)).all()
        for shift in (-1e-3, 1e-3):
            other = after.alpha.copy()
            other[i] += shift
            assert f.dual(other) <= f.dual(after.alpha) + 1e-14
        state = after
    for _ in range(2000):
        state = method.step(problem, None, state, method.draws(problem, None, state).sample(rng))
    close(f.primal(state.alpha), problem.x_star, 1e-9)


# Methods for many clients


def plain_naive(f, w, h, rows):
    gradient = slopes(f)
    full = sum(g(w) for g in gradient) / f.examples
    ends = []
    for picks in rows:
        v = w
        for i in picks:
            v = v - h * (gradient[i](v) - gradient[i](w) + full)
        ends.append(v)
    return w + sum(v - w for v in ends) / f.n


def plain_fsvrg(f, w, h, orders, absent=1):
    """Algorithm 4 and the list of Section 3.6.1, word by word."""
    gradient, n, K, clients = slopes(f), f.examples, f.n, owned(f)
    number = Fraction if f.exact else float
    full = sum(g(w) for g in gradient) / n
    nj = [number(sum(f.X[i, j] != 0 for i in range(n))) for j in range(f.d)]
    nkj = [[number(sum(f.X[i, j] != 0 for i in rows)) for j in range(f.d)] for rows in clients]
    total = 0 * w
    for k, rows in enumerate(clients):
        nk = len(rows)
        phi = [nj[j] / n for j in range(f.d)]
        own = [nkj[k][j] / nk for j in range(f.d)]
        S = np.array([phi[j] / own[j] if own[j] else absent for j in range(f.d)])
        v = w
        for i in orders[k]:
            v = v - h / nk * (S * (gradient[i](v) - gradient[i](w)) + full)
        total = total + number(nk) / n * (v - w)
    omega = [sum(nkj[k][j] != 0 for k in range(K)) for j in range(f.d)]
    return w + np.array([number(K) / o if o else 1 for o in omega]) * total


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_naive_fsvrg_is_algorithm_3(loss):
    problem, rng = pose(loss), np.random.default_rng(3)
    params, w = naive_fsvrg.Params(0.2, 3), rng.standard_normal(5)
    state = naive_fsvrg.algorithm.init(problem, params, w=w)
    for _ in range(10):
        draw = naive_fsvrg.draws(problem, params, state).sample(rng)
        w = plain_naive(problem.f, w, 0.2, draw)
        state = naive_fsvrg.step(problem, params, state, draw)
        close(state.w, w)


@pytest.mark.parametrize("absent", [1, 0, 2.5])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_fsvrg_is_algorithm_4(loss, sparse, absent):
    problem, rng = pose(loss), np.random.default_rng(4)
    dense = problem.f
    if sparse:
        problem = LinearProblem(replace(dense, X=sp.csr_array(dense.X)))
    params, w = fsvrg.theory(problem, 0.5, absent), rng.standard_normal(5)
    state = fsvrg.algorithm.init(problem, params, w=w)
    for _ in range(10):
        draw = fsvrg.draws(problem, params, state).sample(rng)
        w = plain_fsvrg(dense, w, 0.5, [draw[rows.start : rows.stop] for rows in owned(dense)], absent)
        state = fsvrg.step(problem, params, state, draw)
        close(state.w, w)


def test_fsvrg_on_fractions_is_algorithm_4_exactly():
    problem, rng = pose(fractions=True), np.random.default_rng(4)
    f, h = problem.f, Fraction(1, 2)
    params = fsvrg.theory(problem, h, Fraction(5, 2))
    models = exact(rng.integers(-3, 4, (2, 1, f.d)))
    draw = fsvrg.draws(problem, params, fsvrg.State(models)).sample(rng, (1, 3))
    after = fsvrg.step(problem, params, fsvrg.State(models), draw).w
    assert after.shape == (2, 3, f.d)
    for i, j in np.ndindex(2, 3):
        orders = [draw[0, j, rows.start : rows.stop] for rows in owned(f)]
        assert (after[i, j] == plain_fsvrg(f, models[i, 0], h, orders, Fraction(5, 2))).all()


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_sparse_epochs_of_many_clients(loss):
    """Blocks of several clients, sizes over two orders of magnitude, and examples without features."""
    rng = np.random.default_rng(5)
    sizes = np.array([1, 120, 3, 40, 7, 7, 1, 60])
    X = (rng.random((sizes.sum(), 40)) < 0.1) * rng.standard_normal((sizes.sum(), 40))
    f = LinearModels(X, rng.choice([-1.0, 1.0], len(X)), sizes, 1e-3, loss)
    assert (abs(X).sum(axis=1) == 0).any()
    problems = LinearProblem(f), LinearProblem(replace(f, X=sp.csr_array(X)))
    both = [fsvrg.theory(problem, 0.7) for problem in problems]
    states = [fsvrg.algorithm.init(problem, params) for problem, params in zip(problems, both, strict=True)]
    for _ in range(15):
        draw = fsvrg.draws(problems[0], both[0], states[0]).sample(rng)
        states = [fsvrg.step(p, q, s, draw) for p, q, s in zip(problems, both, states, strict=True)]
        close(states[1].w, states[0].w)
    replicas = fsvrg.draws(problems[1], both[1], states[1]).sample(rng, (2, 3))
    after = [fsvrg.step(p, q, s, replicas).w for p, q, s in zip(problems, both, states, strict=True)]
    assert after[1].shape == (2, 3, 40)
    close(after[1], after[0])


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_compiled_epochs_are_those_of_arrays(loss):
    pytest.importorskip("numba", reason="numba is not installed: there are no compiled loops")
    rng = np.random.default_rng(6)
    sizes = np.array([1, 90, 3, 40, 7])
    X = sp.csr_array((rng.random((sizes.sum(), 30)) < 0.1) * rng.standard_normal((sizes.sum(), 30)))
    for lam in (1e-3, 0.4):
        problem = LinearProblem(LinearModels(X, rng.choice([-1.0, 1.0], sizes.sum()), sizes, lam, loss))
        both = [fsvrg.theory(problem, 0.7, compiled=compiled) for compiled in (False, True)]
        states = [fsvrg.State(rng.standard_normal(30))] * 2
        for _ in range(5):
            draw = fsvrg.draws(problem, both[0], states[0]).sample(rng)
            states = [fsvrg.step(problem, q, s, draw) for q, s in zip(both, states, strict=True)]
            close(states[1].w, states[0].w)
    with pytest.raises(ValueError, match="sparse data"):
        fsvrg.theory(LinearProblem(replace(problem.f, X=X.toarray())), 0.7, compiled=True)


def test_sparse_fsvrg_with_the_largest_stepsizes():
    """c_k^j within 1e-9 of 1, where a step all but forgets what was before."""
    dense, rng = pose(sizes=(3, 6, 2)).f, np.random.default_rng(9)
    problem = LinearProblem(replace(dense, X=sp.csr_array(dense.X)))
    S = fsvrg.theory(problem, 1.0).S
    h = (1 - 1e-9) / (dense.lam * (S.s / np.repeat(S.sizes, np.diff(S.local.bounds))).max())
    for number in (h, h / 2):
        params, w = fsvrg.theory(problem, number), rng.standard_normal(5)
        draw = fsvrg.draws(problem, params, fsvrg.State(w)).sample(rng)
        expected = plain_fsvrg(dense, w, number, [draw[rows.start : rows.stop] for rows in owned(dense)])
        close(fsvrg.step(problem, params, fsvrg.State(w), draw).w, expected)


def test_sparse_fsvrg_refuses_what_its_closed_form_cannot_do():
    problem = pose()
    problem = LinearProblem(replace(problem.f, X=sp.csr_array(problem.f.X)))
    state = fsvrg.algorithm.init(problem, None)
    with pytest.raises(ValueError, match="stepsize is too large"):
        fsvrg.step(problem, fsvrg.theory(problem, 100.0), state, np.arange(10))
    free = LinearProblem(replace(problem.f, lam=0))
    with pytest.raises(ValueError, match="lambda > 0"):
        fsvrg.step(free, fsvrg.theory(free, 0.1), state, np.arange(10))


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize(("mu", "eta"), [(0, 1), (0.5, 1), (0.2, 0.7)])
def test_dane_solves_its_subproblems(loss, mu, eta):
    problem, rng = pose(loss), np.random.default_rng(6)
    f, params = problem.f, dane.Params(mu, eta)
    w = rng.standard_normal(f.d)
    after = dane.step(problem, params, dane.State(w), None).w
    full, ends = f.full_gradient(w), []
    for rows in owned(f):
        gradient = [slopes(f)[i] for i in rows]

        def own(v, gradient=gradient):
            return sum(g(v) for g in gradient) / len(gradient)

        v = w
        for _ in range(3000):
            v = v - 0.05 * (own(v) - (own(w) - eta * full) + mu * (v - w))
        ends.append(v)
    close(after, np.mean(ends, axis=0), 1e-10)


def test_one_shot_averaging_and_where_it_fails():
    problem = pose(fractions=True)
    method = algorithms.get("one-shot-averaging")
    state = method.step(problem, method.Params(), method.init(problem, method.Params()), None)
    f, average = problem.f, 0
    for rows in owned(f):
        X, y = f.X[list(rows)], f.y[list(rows)]
        H = X.T @ X / Fraction(len(rows)) + LAM * np.eye(f.d, dtype=int)
        local = np.linalg.solve(to_float(H), to_float(X.T @ y / Fraction(len(rows))))
        average = average + len(rows) / f.examples * local
    close(to_float(state.w), average, 1e-10)
    assert abs(to_float(state.w - problem.x_star)).max() > 0.01


# Proposition 1


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_proposition_1_sample_by_sample(loss):
    problem, rng = pose(loss), np.random.default_rng(7)
    one, other = naive_fsvrg.Params(0.2, 6), dane_svrg.Params(0.2, 6)
    w = rng.standard_normal((3, 5))
    a, b = naive_fsvrg.State(w), dane_svrg.State(w)
    for _ in range(40):
        draw = naive_fsvrg.draws(problem, one, a).sample(rng, (3,))
        a, b = naive_fsvrg.step(problem, one, a, draw), dane_svrg.step(problem, other, b, draw)
        close(a.w, b.w)


def test_proposition_1_exactly_and_with_other_parameters_not():
    problem, rng = pose(fractions=True, sizes=(2, 1, 2), d=4), np.random.default_rng(8)
    h = Fraction(1, 5)
    one = naive_fsvrg.Params(h, 3)
    w = exact(rng.integers(-3, 4, 4))
    same = dane_svrg.Params(h, 3)
    altered = [dane_svrg.Params(h, 3, Fraction(1, 7)), dane_svrg.Params(h, 3, 0, Fraction(9, 10))]
    a = naive_fsvrg.State(w)
    for _ in range(3):
        draw = naive_fsvrg.draws(problem, one, a).sample(rng)
        after = naive_fsvrg.step(problem, one, a, draw)
        assert (after.w == dane_svrg.step(problem, same, a, draw).w).all()
        for params in altered:
            assert (after.w != dane_svrg.step(problem, params, a, draw).w).any()
        a = after


def test_dane_with_svrg_needs_averages_of_examples():
    problem = pose(share="equal")
    with pytest.raises(ValueError, match="share must be 'own'"):
        dane_svrg.step(problem, dane_svrg.Params(0.1, 1), dane_svrg.State(np.zeros(5)), np.zeros((4, 1), dtype=int))


# Algorithms 5 and 6, CoCoA+


@pytest.mark.parametrize("sizes", [(3, 3, 3), (3, 1, 4, 2), (2, 5)])
@pytest.mark.parametrize("position", [0.0, 0.3, 1.0])
def test_theorem_5_along_the_trajectory(sizes, position):
    problem, rng = pose(share="equal", sizes=sizes), np.random.default_rng(9)
    f = problem.f
    sigma = least_sigma(f) + position * (f.n - least_sigma(f))
    primal, dual = perturbed_primal.Params(sigma), dual_block_ascent.Params(sigma)
    alpha = rng.standard_normal(f.examples)
    a, b = perturbed_primal.init(problem, primal, alpha), dual_block_ascent.init(problem, dual, alpha)
    scale = abs(a.g).max()
    for _ in range(60):
        close(a.w, f.primal(b.alpha))
        assert abs(perturbed_primal.invariant(problem, primal, a)).max() <= 1e-12 * scale
        a, b = perturbed_primal.step(problem, primal, a, None), dual_block_ascent.step(problem, dual, b, None)


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(3, 2), Fraction(3), Fraction(1, 2), Fraction(5)])
def test_theorem_5_exactly_for_any_sigma(sigma):
    problem, rng = pose(share="equal", sizes=(2, 1, 2), d=4, fractions=True), np.random.default_rng(10)
    f = problem.f
    alpha = exact(rng.integers(-3, 4, f.examples))
    primal, dual, cocoa = perturbed_primal.Params(sigma), dual_block_ascent.Params(sigma), cocoa_plus.Params(sigma)
    a = perturbed_primal.init(problem, primal, alpha)
    b, c = dual_block_ascent.init(problem, dual, alpha), cocoa_plus.init(problem, cocoa, alpha)
    for _ in range(4):
        assert (a.w == f.primal(b.alpha)).all() and (b.alpha == c.alpha).all() and (a.w == c.w).all()
        assert (perturbed_primal.invariant(problem, primal, a) == 0).all()
        ratio = f.n / sigma
        images = f.per_client(b.alpha[:, None] * f.X, -2) * f.n / f.examples
        assert (a.g == ratio * (images - f.lam * a.w)).all()
        a, b = perturbed_primal.step(problem, primal, a, None), dual_block_ascent.step(problem, dual, b, None)
        c = cocoa_plus.step(problem, cocoa, c, None)


def test_planted_errors_break_theorem_5():
    problem, rng = pose(share="equal", sizes=(2, 1, 2), d=4), np.random.default_rng(11)
    f, sigma = problem.f, 2.0
    alpha = rng.standard_normal(f.examples)
    primal, dual = perturbed_primal.Params(sigma), dual_block_ascent.Params(sigma)

    def gap(first, second, start=None):
        a = perturbed_primal.init(problem, primal, alpha) if start is None else start
        b = dual_block_ascent.init(problem, dual, alpha)
        for _ in range(3):
            a, b = first(a), second(b)
        return abs(a.w - f.primal(b.alpha)).max()

    def honest(a):
        return perturbed_primal.step(problem, primal, a, None)

    def ascent(b):
        return dual_block_ascent.step(problem, dual, b, None)

    assert gap(honest, ascent) < 1e-12
    start = perturbed_primal.init(problem, primal, alpha)
    planted = {
        "g is never renewed": lambda a: honest(a)._replace(g=a.g),
        "g with lambda for lambda eta": lambda a: (s := honest(a))._replace(g=a.g + (s.g - a.g) * sigma / f.n),
        "g with the wrong sign": lambda a: (s := honest(a))._replace(g=2 * a.g - s.g),
        "another sigma": lambda a: perturbed_primal.step(problem, perturbed_primal.Params(1.9), a, None),
    }
    for name, step in planted.items():
        assert gap(step, ascent) > 1e-6, name
    assert gap(honest, ascent, start._replace(g=-start.g)) > 1e-6
    assert gap(honest, lambda b: dual_block_ascent.step(problem, dual_block_ascent.Params(2.1), b, None)) > 1e-6


def test_appendix_a_needs_its_own_local_losses():
    with pytest.raises(ValueError, match="share must be 'equal'"):
        perturbed_primal.init(pose(), perturbed_primal.Params(2))
    with pytest.raises(ValueError, match="sigma must be positive"):
        perturbed_primal.init(pose(share="equal"), perturbed_primal.Params(0))


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_dual_ascent_and_cocoa_converge(loss):
    problem, rng = pose(loss), np.random.default_rng(12)
    f = problem.f
    rounds, near = (400, 1e-5) if loss is SQUARED else (60, 1e-2)
    for params in (cocoa_plus.Params(4), cocoa_plus.Params(4, 1, cocoa_plus.scaled(0.5)), cocoa_plus.Params(1, 0.25)):
        state = cocoa_plus.init(problem, params)
        for _ in range(rounds):
            state = cocoa_plus.step(problem, params, state, None)
        close(state.w, problem.x_star, near)
        close(cocoa_plus.invariant(problem, params, state), np.zeros(5), 1e286)
    params = cocoa_plus.Params(4.0, 1, cocoa_plus.passes(2))
    state = cocoa_plus.init(problem, params)
    for _ in range(rounds):
        state = cocoa_plus.step(problem, params, state, cocoa_plus.draws(problem, params, state).sample(rng))
    close(state.w, problem.x_star, near)
    close(f.dual(state.alpha), f.objective(problem.x_star), near**2)


def test_scaled_solutions_have_the_accuracy_they_say():
    problem, rng = pose(fractions=True, sizes=(2, 1, 2), d=4), np.random.default_rng(13)
    f, sigma = problem.f, Fraction(3)
    alpha = exact(rng.integers(-2, 3, f.examples))
    w = f.primal(alpha)
    best, near = (cocoa_plus.scaled(c).answer(f, alpha, w, sigma, None) for c in (0, Fraction(1, 3)))
    start, end, here = (subproblem(f, alpha, w, sigma, u) for u in (0 * best, best, near))
    assert (here - end == Fraction(1, 9) * (start - end)).all()
    with pytest.raises(ValueError, match="must be in"):
        cocoa_plus.scaled(1)
    with pytest.raises(ValueError, match="positive"):
        cocoa_plus.passes(0)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_sparse_passes_of_cocoa(loss):
    problem, rng = pose(loss, sizes=(30, 1, 4, 2, 9), d=8), np.random.default_rng(14)
    sparse = LinearProblem(replace(problem.f, X=sp.csr_array(problem.f.X)))
    one = cocoa_plus.Params(5.0, 1, cocoa_plus.passes(2))
    other = cocoa_plus.Params(5.0, 1, cocoa_plus.SparsePasses(sparse.f, 2))
    a, b = cocoa_plus.init(problem, one), cocoa_plus.init(sparse, other)
    for _ in range(10):
        draw = cocoa_plus.draws(sparse, other, b).sample(rng)
        a, b = cocoa_plus.step(problem, one, a, draw), cocoa_plus.step(sparse, other, b, draw)
        close(b.alpha, a.alpha)
        close(b.w, a.w)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_cocoa_with_the_safe_sigma_never_lowers_the_dual(loss):
    """Unbalanced clients and lambda = 1/n, where coordinate ascent needs large steps of its one-variable solver."""
    rng, data = np.random.default_rng(16), generated(30, 200, 8, np.random.default_rng(0)).train
    f = LinearModels(data.X, data.y, data.sizes, 1 / len(data.y), loss)
    problem, params = LinearProblem(f), cocoa_plus.Params(30.0, 1, cocoa_plus.SparsePasses(f, 1))
    state, values = cocoa_plus.init(problem, params), []
    for _ in range(12):
        values.append(f.dual(state.alpha))
        state = cocoa_plus.step(problem, params, state, cocoa_plus.draws(problem, params, state).sample(rng))
    assert (np.diff(values) > 0).all() and values[-1] <= f.objective(problem.x_star)


# Fixed points, fractions and replicas


def cases(fractions):
    number = (lambda v: Fraction(v).limit_denominator(1000)) if fractions else float
    own, equal = (pose(share=share, sizes=(2, 1, 2), d=4, fractions=fractions) for share in ("own", "equal"))
    return {
        "rcd": (LinearProblem(own.f.singles), rcd.Params(np.array([number(0.1)] * 4))),
        "sag": (LinearProblem(own.f.singles), sag.Params(number(0.1))),
        "svrg": (LinearProblem(own.f.singles), svrg.Params(number(0.1))),
        "sdca": (own, algorithms.get("sdca").Params()),
        "dane": (own, dane.Params(number(0.5), number(0.7))),
        "dane-svrg": (own, dane_svrg.Params(number(0.1), 2)),
        "naive-fsvrg": (own, naive_fsvrg.Params(number(0.1), 2)),
        "fsvrg": (own, fsvrg.theory(own, number(0.1))),
        "perturbed-primal": (equal, perturbed_primal.Params(number(2))),
        "dual-block-ascent": (equal, dual_block_ascent.Params(number(2))),
        "cocoa-plus": (equal, cocoa_plus.Params(number(2))),
    }


@pytest.mark.parametrize("name", cases(False))
def test_the_optimum_is_a_fixed_point_of_every_draw_exactly(name):
    problem, params = cases(True)[name]
    method = algorithms.get(name)
    state = method.fixed_point(problem, params)
    draws, _ = method.draws(problem, params, state).support()
    for before, after in zip(state, method.step(problem, params, state, draws), strict=True):
        assert (after == before).all()


@pytest.mark.parametrize("name", [*cases(False), "sgd", "one-shot-averaging"])
def test_fractions_and_replicas_agree_with_floats(name):
    results = []
    for fractions in (True, False):
        problem, params = {**cases(fractions), "sgd": None, "one-shot-averaging": None}[name] or (
            (pose(sizes=(2, 1, 2), d=4, fractions=fractions), algorithms.get(name).Params())
            if name != "sgd"
            else (
                LinearProblem(pose(sizes=(2, 1, 2), d=4, fractions=fractions).f.singles),
                sgd.Params(Fraction(1, 10) if fractions else 0.1, 1),
            )
        )
        method, rng = algorithms.get(name), np.random.default_rng(15)
        state = method.init(problem, params)
        for _ in range(2):
            state = method.step(problem, params, state, method.draws(problem, params, state).sample(rng, (2, 3)))
        results.append(state)
    for exactly, floating in zip(*results, strict=True):
        close(floating, to_float(exactly))


def test_the_direction_of_svrg_is_unbiased_in_exact_arithmetic():
    f = pose(fractions=True).f
    problem = LinearProblem(f.singles)
    w, snapshot = exact(np.arange(5)), exact(np.arange(5) ** 2)
    state = svrg.algorithm.init(problem, None, w, snapshot)
    draws, p = svrg.draws(problem, None, state).support(exact=True)
    after = svrg.step(problem, svrg.Params(Fraction(1)), state, draws).w
    assert (w - expectation(after, p, axis=0) == f.full_gradient(w)).all()
