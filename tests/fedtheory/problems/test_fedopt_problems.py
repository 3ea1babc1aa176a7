"""Linear models of unevenly spread examples: oracles, duals by cvxpy, supports, text data, and bad input."""

from __future__ import annotations

import gzip
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from places import SHARED
from scipy.special import expit

from fedtheory.algorithms.selections import ClientPermutations, ClientPicks
from fedtheory.learning.dual_blocks import least_sigma, maximisers, subproblem
from fedtheory.learning.local_features import aggregation, appearances, local_features, local_scaling
from fedtheory.numbers.rational import exact, to_float
from fedtheory.papers.fedopt.reruns.text import generated, plays, reshuffled
from fedtheory.problems.linear_models import LinearModels, LinearProblem, minimiser
from fedtheory.problems.losses import LOGISTIC, SQUARED
from fedtheory.problems.step_major import blocks, entries

PLAYS = SHARED / "data" / "shakespeare.txt.gz"
LOSSES = [SQUARED, LOGISTIC]
NAMES = [loss.name for loss in LOSSES]


def models(loss=SQUARED, share="own", sizes=(3, 1, 4, 2), d=3, seed=0, lam=0.3):
    """Small integers for features, the first of them a bias."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    X[:, 0] = 1
    return LinearModels(X, rng.choice([-1.0, 1.0], n), np.array(sizes), lam, loss, share)


# Losses


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_slope_curvature_and_conjugate_of_a_loss(loss):
    t, y = np.linspace(-3, 3, 13), np.where(np.arange(13) % 2, 1.0, -1.0)
    step = 1e-5
    slope = (loss.value(t + step, y) - loss.value(t - step, y)) / (2 * step)
    bend = (loss.slope(t + step, y) - loss.slope(t - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.slope(t, y), slope, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(loss.curvature(t, y), bend, rtol=1e-8, atol=1e-9)
    assert (loss.curvature(t, y) <= 1 / loss.gamma).all()
    # Fenchel's equality at a = -phi'(t), and inequality elsewhere.
    alpha = -loss.slope(t, y)
    np.testing.assert_allclose(loss.conjugate(alpha, y), -alpha * t - loss.value(t, y), atol=1e-12)
    assert (loss.conjugate(alpha / 2, y) >= -alpha / 2 * t - loss.value(t, y)).all()


def test_conjugate_of_the_logistic_loss_at_its_ends_and_beyond():
    np.testing.assert_array_equal(
        LOGISTIC.conjugate(np.array([0.0, 1.0, -1.0, -0.1]), np.array([1.0, 1, -1, 1])), [0, 0, 0, np.inf]
    )


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("c", [0.0, 0.01, 1.0, 30.0, 1e3, 1e5])
def test_ascent_maximises_along_one_variable(loss, c):
    """Also from the ends of the box and at large predictions, where Newton's method alone would cycle."""
    b, t, y = (v.ravel() for v in np.meshgrid([0, 1e-9, 0.3, 0.5, 0.9, 1], [-3e3, -50, -1, 0, 2, 50, 3e3], [-1.0, 1.0]))
    alpha = y * b
    delta = loss.ascent(alpha, t, c, y)
    if loss is LOGISTIC:
        # The derivative, in the form that keeps its accuracy at the ends of the box.
        new = (alpha + delta) * y
        low, high = expit(-y * t - c * (new - b) - 1e-6), expit(-y * t - c * (new - b) + 1e-6)
        slack = 1e-9 * (1 + c) * np.finfo(float).eps / 1e-16
        assert ((new >= low * (1 - slack) - 1e-15) & (new <= high * (1 + slack) + 1e-15)).all()
    else:
        np.testing.assert_allclose(alpha + delta - y + t + c * delta, 0, atol=1e-9 * (1 + c))


# Local losses and their mean


@pytest.mark.parametrize("share", ["own", "equal"])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_oracles_are_those_of_the_definition(loss, share):
    f, rng = models(loss, share), np.random.default_rng(2)
    n, K = f.examples, f.n
    w = rng.standard_normal((2, K, f.d))

    def of_client(k, v):
        rows = slice(f.starts[k], f.starts[k] + f.sizes[k])
        scale = 1 / f.sizes[k] if share == "own" else K / n
        return scale * sum(loss.value(x @ v, y) for x, y in zip(f.X[rows], f.y[rows], strict=True)) + 0.15 * v @ v

    value = np.array([[of_client(k, replica[k]) for k in range(K)] for replica in w])
    np.testing.assert_allclose(f.value(w), value, rtol=1e-13)
    for j, unit in enumerate(np.eye(f.d)):
        slope = (f.value(w + 1e-5 * unit) - f.value(w - 1e-5 * unit)) / 2e-5
        bend = (f.gradient(w + 1e-5 * unit) - f.gradient(w - 1e-5 * unit)) / 2e-5
        np.testing.assert_allclose(f.gradient(w)[..., j], slope, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(f.hessian(w)[..., j, :], bend, rtol=1e-7, atol=1e-8)
    shared = w[:, :1]
    np.testing.assert_allclose(f.objective(w[:, 0]), f.value(shared) @ f.weights, rtol=1e-13)
    np.testing.assert_allclose(
        f.full_gradient(w[:, 0]), (f.weights[:, None] * f.gradient(shared)).sum(axis=-2), atol=1e-13
    )
    rows = np.array([0, 3, 5, 8])
    expected = loss.slope((f.X[rows] * w).sum(axis=-1), f.y[rows])[..., None] * f.X[rows] + 0.3 * w
    np.testing.assert_allclose(f.example_gradient(w, rows), expected, rtol=1e-13)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_resolvent_and_conjugate(loss):
    f, rng = models(loss), np.random.default_rng(3)
    target = rng.standard_normal((2, f.n, f.d))
    w = f.resolvent(0.7, target)
    np.testing.assert_allclose(f.gradient(w) + 0.7 * w, target, atol=1e-12)
    v = f.conjugate_gradient(target)
    np.testing.assert_allclose(f.conjugate(target), (target * v).sum(axis=-1) - f.value(v), rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_sparse_and_dense_agree(loss):
    f = models(loss)
    g, w = replace(f, X=sp.csr_array(f.X)), np.random.default_rng(4).standard_normal((5, f.d))
    np.testing.assert_allclose(f.objective(w), g.objective(w), rtol=1e-14)
    np.testing.assert_allclose(f.full_gradient(w), g.full_gradient(w), atol=1e-14)
    np.testing.assert_allclose(minimiser(f), minimiser(g), atol=1e-12)
    assert (g.dense().X == f.X).all() and g.sparse and not f.sparse
    np.testing.assert_allclose(f.squared_norms, g.squared_norms)
    with pytest.raises(ValueError, match="dense data"):
        g.gradient(w[:, None])


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_minimiser_is_that_of_cvxpy(loss):
    f = models(loss)
    w = cp.Variable(f.d)
    t = f.X @ w
    losses = cp.sum(cp.logistic(-cp.multiply(f.y, t))) if loss is LOGISTIC else cp.sum_squares(t - f.y) / 2
    program = cp.Problem(cp.Minimize(losses / f.examples + f.lam / 2 * cp.sum_squares(w)))
    program.solve(solver=cp.CLARABEL)
    problem = LinearProblem(f)
    np.testing.assert_allclose(problem.x_star, w.value, atol=1e-4)
    assert abs(program.value - f.objective(problem.x_star)) < 1e-8 and problem.optimum.kkt < 1e-13


def test_fractions_give_the_exact_optimum():
    f = models()
    exactly = LinearModels(exact(f.X), exact(f.y), f.sizes, Fraction(3, 10))
    problem = LinearProblem(exactly)
    assert (exactly.full_gradient(problem.x_star) == 0).all()
    np.testing.assert_allclose(to_float(problem.x_star), minimiser(f), atol=1e-12)
    assert sum(exactly.shares) == 1 and isinstance(exactly.shares[0], Fraction)


# Duals


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_dual_is_that_of_cvxpy_and_maps_to_the_minimiser(loss):
    f = models(loss)
    alpha, n = cp.Variable(f.examples), f.examples
    if loss is SQUARED:
        conjugates = cp.sum_squares(alpha) / 2 - f.y @ alpha
    else:
        b = cp.multiply(alpha, f.y)
        conjugates = -cp.sum(cp.entr(b) + cp.entr(1 - b))
    value = -cp.sum_squares(f.X.T @ alpha) / (2 * f.lam * n**2) - conjugates / n
    program = cp.Problem(cp.Maximize(value))
    program.solve(solver=cp.CLARABEL)
    best = minimiser(f)
    np.testing.assert_allclose(f.dual_of(best), alpha.value, atol=1e-4)
    np.testing.assert_allclose(f.primal(alpha.value), best, atol=1e-4)
    np.testing.assert_allclose(f.dual(f.dual_of(best)), program.value, atol=1e-8)
    np.testing.assert_allclose(f.dual(f.dual_of(best)), f.objective(best), rtol=1e-13)
    np.testing.assert_allclose(f.primal(f.dual_of(best)), best, atol=1e-13)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_blocks_of_the_dual_are_those_of_cvxpy(loss):
    f, rng = models(loss), np.random.default_rng(5)
    alpha = f.y * rng.random(f.examples)
    w, sigma, n = f.primal(alpha), 2.5, f.examples
    u = maximisers(f, alpha, w, sigma)
    for k in range(f.n):
        rows = slice(f.starts[k], f.starts[k] + f.sizes[k])
        v = cp.Variable(f.sizes[k])
        level, image = alpha[rows] + v, f.X[rows].T @ v
        if loss is SQUARED:
            conjugates = cp.sum_squares(level) / 2 - f.y[rows] @ level
        else:
            b = cp.multiply(level, f.y[rows])
            conjugates = -cp.sum(cp.entr(b) + cp.entr(1 - b))
        value = w @ image / n + sigma * cp.sum_squares(image) / (2 * f.lam * n**2) + conjugates / n
        program = cp.Problem(cp.Minimize(value))
        program.solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(u[rows], v.value, atol=1e-4)
        np.testing.assert_allclose(subproblem(f, alpha, w, sigma, u)[k], program.value, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_least_sigma_is_the_generalised_eigenvalue(seed):
    f = models(sizes=(2, 1, 2), d=4, seed=seed)
    X = np.random.default_rng(seed).standard_normal(f.X.shape)
    f = replace(f, X=X)
    gram, block = X @ X.T, np.zeros((5, 5))
    for start, size in zip(f.starts, f.sizes, strict=True):
        rows = slice(start, start + size)
        block[rows, rows] = gram[rows, rows]
    from scipy.linalg import eigh

    assert least_sigma(f) == pytest.approx(eigh(gram, block, eigvals_only=True)[-1], rel=1e-10)
    assert 1 - 1e-12 <= least_sigma(f) <= f.n


# Who holds which feature


def held():
    """Three clients; feature 0 is held by all, 1 by the first alone, 2 by two of them, 3 by nobody."""
    X = np.array([[1, 0, 0, 0], [1, 5, 0, 0], [1, 0, 2, 0], [1, 0, 0, 0], [1, 0, -1, 0], [1, 0, 1, 0.0]])
    return LinearModels(X, np.ones(6), np.array([2, 2, 2]), 0.1)


def test_scaling_and_aggregation_where_all_some_one_or_none_hold_a_feature():
    f = held()
    np.testing.assert_array_equal(appearances(f), [[2, 1, 0, 0], [2, 0, 1, 0], [2, 0, 2, 0]])
    np.testing.assert_allclose(local_scaling(f), [[1, 1 / 3, 1, 1], [1, 1, 1, 1], [1, 1, 0.5, 1]])
    np.testing.assert_allclose(local_scaling(f, 0)[:, 1], [1 / 3, 0, 0])
    np.testing.assert_allclose(aggregation(f), [1, 3, 1.5, 1])
    np.testing.assert_allclose(aggregation(f, 0), [1, 3, 1.5, 0])
    np.testing.assert_allclose(aggregation(replace(f, X=sp.csr_array(f.X))), [1, 3, 1.5, 1])
    exactly = replace(f, X=exact(f.X), y=exact(f.y), lam=Fraction(1, 10))
    assert local_scaling(exactly)[0, 1] == Fraction(1, 3) and aggregation(exactly)[2] == Fraction(3, 2)


def test_supports_of_the_clients():
    f = held()
    row, column = np.nonzero(f.X)
    # A stored zero is no feature.
    X = sp.csr_array((np.append(f.X[row, column], 0.0), (np.append(row, 0), np.append(column, 3))), shape=f.X.shape)
    assert X.nnz == len(row) + 1
    local = local_features(replace(f, X=X))
    np.testing.assert_array_equal(local.bounds, [0, 2, 4, 6])
    np.testing.assert_array_equal(local.feature, [0, 1, 0, 2, 0, 2])
    np.testing.assert_array_equal(local.count, [2, 1, 2, 1, 2, 2])
    np.testing.assert_array_equal(local.client, [0, 0, 1, 1, 2, 2])
    u = np.random.default_rng(0).standard_normal(6)
    W = np.zeros((3, 4))
    W[local.client, local.feature] = u
    np.testing.assert_allclose(local.Z @ u, (f.X * W[f.owner]).sum(axis=-1))


# Draws


def test_passes_and_picks_stay_with_their_clients():
    sizes, rng = np.array([3, 1, 2]), np.random.default_rng(0)
    owner = np.repeat(np.arange(3), sizes)
    order = ClientPermutations(sizes).sample(rng, (50,))
    assert order.shape == (50, 6) and (owner[order] == owner).all() and (np.sort(order) == np.arange(6)).all()
    orders, p = ClientPermutations(sizes).support(exact=True)
    assert orders.shape == (12, 6) and sum(p) == 1 and len(np.unique(orders, axis=0)) == 12
    picks = ClientPicks(sizes, 2)
    drawn = picks.sample(rng, (50,))
    assert drawn.shape == (50, 3, 2) and (owner[drawn] == np.arange(3)[:, None]).all()
    every, p = picks.support(exact=True)
    assert every.shape == (36, 3, 2) == (picks.count, 3, 2) and len(np.unique(every, axis=0)) == 36 and sum(p) == 1
    with pytest.raises(ValueError, match="positive"):
        ClientPicks(sizes, 0)


@pytest.mark.parametrize("examples", [1, 7, 100])
def test_blocks_take_every_example_once_and_no_client_twice_a_step(examples):
    sizes = np.array([3, 1, 9, 2, 9, 1])
    owner = np.repeat(np.arange(6), sizes)
    made = blocks(sizes, examples)
    np.testing.assert_array_equal(np.sort(np.concatenate([block.slots for block in made])), np.arange(25))
    starts = np.cumsum(sizes) - sizes
    for block in made:
        for t, (a, b) in enumerate(zip(block.edges, block.edges[1:], strict=False)):
            step = block.slots[a:b]
            assert (owner[step] == block.clients[: len(step)]).all() and (step - starts[owner[step]] == t).all()


def test_entries_of_a_pass_are_those_of_its_rows():
    """Rows without entries among them."""
    rng = np.random.default_rng(7)
    sizes = np.array([3, 1, 9, 2, 9, 1])
    Z = sp.random_array((25, 8), density=0.2, rng=rng, format="csr")
    order = ClientPermutations(sizes).sample(rng)
    assert (np.diff(Z.indptr) == 0).any()
    for block in blocks(sizes, 7):
        found = entries(block, Z, order)
        np.testing.assert_array_equal(found.rows, order[block.slots])
        assert found.position.dtype == np.intp and len(found.steps) == len(block.edges) - 1
        for (rows, part), a, b in zip(found.steps, block.edges, block.edges[1:], strict=False):
            assert (rows.start, rows.stop) == (a, b)
            dense = np.zeros((b - a, 8))
            dense[found.row[part], found.position[part]] = found.value[part]
            np.testing.assert_array_equal(dense, Z[found.rows[rows]].toarray())


# Text


def test_generated_authors_have_the_papers_shape():
    data = generated(120, 2002, 30, np.random.default_rng(0))
    again = generated(120, 2002, 30, np.random.default_rng(0))
    train, test = data.train, data.test
    assert (train.X != again.train.X).nnz == 0 and (train.y == again.train.y).all()
    assert data.K == 120 and data.d == 2002 and train.sizes.max() >= 100 * train.sizes.min()
    assert train.sizes.sum() == len(train.y) and test.sizes.sum() == len(test.y)
    np.testing.assert_allclose(test.sizes / train.sizes, 1 / 3, atol=1)
    assert set(np.unique(train.X.data)) == {1.0} and (train.X[:, [0]].toarray() == 1).all()
    f = LinearModels(train.X, train.y, train.sizes, 1 / len(train.y), LOGISTIC)
    holders = np.bincount(local_features(f).feature, minlength=data.d)
    assert holders[0] == 120 and holders[1] > 100
    # Most features are rare, and the author says more about the label than its average does.
    assert (holders < 60).mean() > 0.75
    majority = np.sign(np.add.reduceat(train.y, f.starts))
    assert (np.repeat(majority, test.sizes) != test.y).mean() < 0.75 * (test.y > 0).mean()


def test_reshuffled_keeps_sizes_and_examples():
    data = generated(20, 100, 10, np.random.default_rng(0))
    mixed = reshuffled(data, np.random.default_rng(1))
    assert (mixed.train.sizes == data.train.sizes).all() and mixed.test is data.test
    assert (mixed.train.y != data.train.y).any()
    np.testing.assert_array_equal(mixed.train.X.sum(axis=0), data.train.X.sum(axis=0))


@pytest.mark.parametrize("arguments", [(0, 10, 5), (3, 2, 5), (3, 10, 0.5)])
def test_generator_refuses_what_makes_no_data(arguments):
    with pytest.raises(ValueError, match="expected K >= 1"):
        generated(*arguments, np.random.default_rng(0))


SCENE = "ROMEO:\nWho goes? It's me, it's me!\n\nALL:\n\nJULIET:\nMe.\n\nROMEO:\nMe\nagain\n"


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_plays_are_read_by_role_and_sentence(tmp_path, suffix):
    path = tmp_path / f"scene{suffix}"
    path.write_bytes(gzip.compress(SCENE.encode()) if suffix.endswith("gz") else SCENE.encode())
    data = plays(path, d=5)
    np.testing.assert_array_equal(data.train.sizes, [2, 1])
    np.testing.assert_array_equal(data.test.sizes, [1, 0])
    np.testing.assert_array_equal(data.train.y, [1, -1, -1])
    # Words by the number of training sentences that have them: me in 2, then goes, it's, who in 1 each.
    np.testing.assert_array_equal(data.train.X.toarray(), [[1, 1, 0, 1, 0], [1, 0, 1, 0, 1], [1, 0, 1, 0, 0]])
    np.testing.assert_array_equal(data.test.X.toarray(), [[1, 1, 1, 0, 0]])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.txt", None, "no file"),
        ("bad.txt.gz", b"not compressed", "cannot be read"),
        ("bad.txt", b"\xff\xfe", "cannot be read"),
        ("empty.txt", b"", "has no speech"),
        ("silent.txt", b"ROMEO:\n\nJULIET:\n...\n", "has no speech"),
    ],
)
def test_plays_refuse_other_files(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        plays(tmp_path / name)


@pytest.mark.skipif(not PLAYS.exists(), reason="the plays are not here")
def test_real_plays():
    data = plays(PLAYS)
    assert data.K == 299 and data.train.sizes.min() == 1 and data.train.sizes.max() > 200
    assert 0.1 < (data.train.y > 0).mean() < 0.3


# Bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.ones(3)}, "none empty"),
        ({"y": np.ones(3)}, "none empty"),
        ({"sizes": np.array([3, 1, 4])}, "add up to n = 10"),
        ({"sizes": np.array([3, 1, 4, 2, 0])}, "positive numbers"),
        ({"sizes": np.array([3.0, 1, 4, 2])}, "positive numbers"),
        ({"X": np.full((10, 3), np.nan)}, "finite"),
        ({"lam": -1}, "must not be negative"),
        ({"share": "none"}, "share is one of"),
        ({"loss": LOGISTIC, "y": np.zeros(10)}, "-1 or \\+1"),
    ],
)
def test_models_refuse_what_is_not_a_problem(change, message):
    with pytest.raises(ValueError, match=message):
        replace(models(), **change)
