"""The problems of the FedADMM paper and plans of participants: derivatives, constants, roots, optima, laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import cvxpy as cp
import numpy as np
import pytest
from places import SHARED
from scipy.optimize import minimize
from scipy.stats import kstest

from fedtheory.algorithms.selections import Covering, Fixed, Uniform, covers, gaps
from fedtheory.data import load, split
from fedtheory.learning.least_squares import LeastSquares, example_5_1, from_rows, minimiser, three_laws
from fedtheory.learning.logistic import Logistic
from fedtheory.learning.receding import receding
from fedtheory.numbers.rational import exact, to_float
from fedtheory.problems.base import Problem, stationary_point, weighted_gradient, weighted_value
from fedtheory.problems.nonconvex import LessHuber, bent

Q = Fraction
DATA = SHARED / "data"


def floats(f):
    return type(f)(*(to_float(v) for v in vars(f).values() if isinstance(v, np.ndarray)))


def least_squares(array=exact) -> LeastSquares:
    rng = np.random.default_rng(3)
    rows = [array(rng.integers(-3, 4, (k, 3))) for k in (2, 5, 1, 4)]
    return from_rows(rows, [array(rng.integers(-3, 4, len(A))) for A in rows])


FAMILIES = {
    "bent": bent(4, 3, np.random.default_rng(0), exact),
    "receding": receding(4, 3, np.random.default_rng(0), exact),
    "least-squares": least_squares(),
}
ALL = pytest.mark.parametrize("name", FAMILIES)


@ALL
def test_gradient_and_hessian_are_the_derivatives(name):
    f = floats(FAMILIES[name])
    x = 2 * np.random.default_rng(1).standard_normal((20, f.n, f.d))
    h = 1e-6
    for e in np.eye(f.d):
        slope = (f.value(x + h * e) - f.value(x - h * e)) / (2 * h)
        np.testing.assert_allclose((f.gradient(x) * e).sum(-1), slope, rtol=1e-6, atol=1e-6)
        column = (f.gradient(x + h * e) - f.gradient(x - h * e)) / (2 * h)
        np.testing.assert_allclose((f.hessian(x) * e).sum(-1), column, rtol=1e-6, atol=1e-6)


@ALL
def test_fractions_stay_exact_and_agree_with_floats(name):
    f = FAMILIES[name]
    x = exact(np.random.default_rng(2).integers(-9, 10, (5, f.n, f.d))) / 3
    for oracle, approximate in ((f.value, floats(f).value), (f.gradient, floats(f).gradient)):
        answer = oracle(x)
        assert all(isinstance(v, int | Fraction) for v in answer.flat)
        np.testing.assert_allclose(to_float(answer), approximate(to_float(x)), rtol=1e-12, atol=1e-12)


@ALL
def test_constants_bound_the_curvature_and_are_attained(name):
    f = FAMILIES[name]
    g = floats(f)
    x = 3 * np.random.default_rng(3).standard_normal((4000, f.n, f.d))
    spectrum = np.linalg.eigvalsh(g.hessian(x))
    low, high = spectrum.min(axis=(0, 2)), abs(spectrum).max(axis=(0, 2))
    assert (low >= to_float(f.mu) - 1e-9).all()
    assert (high <= to_float(f.L) + 1e-9).all()
    s = np.maximum(0, -to_float(f.mu))
    assert (low >= -s - 1e-9).all()
    if name == "bent":
        # Along u, with h constant, the constants are attained.
        flat = replace(f, h=0 * f.h + 1)
        assert (floats(flat).hessian(g.u * (to_float(f.t) / (g.u**2).sum(-1))[:, None])).shape == (4, 3, 3)
        at_bend = floats(flat).hessian(g.u * (to_float(f.t) / (g.u**2).sum(-1))[:, None])
        np.testing.assert_allclose(np.linalg.eigvalsh(at_bend)[:, 0], to_float(flat.mu), atol=1e-12)
        assert (to_float(flat.s) > 0).any()


@ALL
def test_resolvents_are_roots_one_shift_for_each_client(name):
    f = FAMILIES[name] if name != "receding" else floats(FAMILIES[name])
    rng = np.random.default_rng(4)
    numbers = (lambda a: to_float(a)) if name == "receding" else exact
    shift = np.maximum(0 * f.mu, -f.mu) + numbers(rng.integers(1, 5, f.n)) / 2
    if name == "least-squares":
        shift = numbers(rng.integers(1, 5, f.n)) / 2
    target = numbers(rng.integers(-9, 10, (6, f.n, f.d))) / 2
    y = f.resolvent(shift, target)
    residual = f.gradient(y) + shift[:, None] * y - target
    if name == "receding":
        assert abs(residual).max() <= 1e-12 * (1 + abs(target).max())
    else:
        assert (residual == 0).all()
    one = f.resolvent(numbers(9)[()], target)
    assert abs(to_float(f.gradient(one) + 9 * one - target)).max() <= 1e-11


@pytest.mark.parametrize("gap", [1e-8, 1e-4, 1, 1e4])
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_proximal_points_of_receding_functions_are_right_to_rounding(gap, scale):
    """Where the curvature nearly vanishes, far away, and at round numbers; whatever is solved beside them."""
    f, rng = floats(FAMILIES["receding"]), np.random.default_rng(6)
    shift = f.s + gap * rng.uniform(0.5, 2, f.n)
    target = scale * rng.standard_normal((40, f.n, f.d))
    target[::4] = np.round(target[::4])
    y = f.resolvent(shift, target)
    terms = f.a + f.b + shift[:, None] * abs(y) + abs(target)
    assert (abs(f.gradient(y) + shift[:, None] * y - target) <= 1e-15 * terms).all()
    assert (f.resolvent(shift, target[7]) == y[7]).all()


def test_every_root_of_a_bend_is_found_and_the_resolvent_is_the_lowest():
    f = FAMILIES["bent"]
    target = exact(np.random.default_rng(5).integers(-60, 61, (400, f.n, f.d))) / 8
    y, there = f.roots(Q(1, 4), target)
    residual = f.gradient(y) + y / 4 - target
    assert (np.where(there[..., None], residual, 0 * residual) == 0).all()
    # Two at the edge of the strip, where one of three roots becomes two.
    assert {1, 3} <= set(there.sum(axis=0).ravel().tolist()) <= {1, 2, 3}
    best = f.resolvent(Q(1, 4), target)
    height = lambda x: f.value(x) + (x**2).sum(-1) / 8 - (target * x).sum(-1)  # noqa: E731
    assert (~there | (height(best)[None] <= height(y))).all()
    # From every start a local search ends at none that is lower.
    g, which = floats(f), np.argwhere(there.sum(axis=0) == 3)[0]
    k, i = which
    alone = LessHuber(*(v[i : i + 1] for v in (g.h, g.c, g.u, g.b, g.t, g.width)))
    goal = to_float(target[k, i])
    cost = lambda x: float(alone.value(x[None])[0] + x @ x / 8 - goal @ x)  # noqa: E731
    ends = [minimize(cost, s).fun for s in 5 * np.random.default_rng(0).standard_normal((20, f.d))]
    assert min(ends) == pytest.approx(float(height(best)[k, i]), abs=1e-8)


def test_a_family_has_a_stationary_point_where_it_is_wanted():
    f, alpha = FAMILIES["bent"], exact([1, 2, 3, 4]) / 10
    x = exact([1, -2, 3]) / 3
    moved = f.stationary_at(x, alpha)
    assert (weighted_gradient(Problem(moved), alpha, x) == 0).all()
    assert (moved.c - f.c == (moved.c - f.c)[0]).all()


def test_coercive_and_not():
    direction = np.ones((4, 3))
    far = [float(floats(FAMILIES["bent"]).value(t * direction).sum()) for t in (1e1, 1e3, 1e5)]
    assert far[0] < far[1] < far[2]
    f = floats(FAMILIES["receding"])
    limit = f.b.sum() / 2
    assert f.value(1e6 * direction).sum() == pytest.approx(limit, rel=1e-5)
    assert (f.value(np.random.default_rng(0).standard_normal((99, 4, 3)) * 50) >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_optima_agree_with_cvxpy(weighted):
    f = least_squares(to_float)
    alpha = np.array([0.1, 0.2, 0.3, 0.4]) if weighted else np.full(4, 0.25)
    x = cp.Variable(3)
    terms = [
        a * (cp.quad_form(x, cp.psd_wrap(H)) / 2 - q @ x + v) for a, H, q, v in zip(alpha, f.H, f.q, f.v, strict=True)
    ]
    cp.Problem(cp.Minimize(sum(terms))).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(minimiser(f, alpha).x, x.value, atol=1e-6)
    np.testing.assert_allclose(stationary_point(Problem(f), alpha), x.value, atol=1e-6)
    fractions = minimiser(least_squares(), exact(alpha))
    assert fractions.kkt == 0
    assert (weighted_gradient(Problem(least_squares()), exact(alpha), fractions.x) == 0).all()


def test_weighted_optimum_of_a_logistic_loss_agrees_with_scipy():
    rng = np.random.default_rng(0)
    f = Logistic(rng.standard_normal((4, 6, 3)), rng.choice([-1, 1], (4, 6)), 0.1)
    alpha = np.array([0.1, 0.2, 0.3, 0.4])
    problem = Problem(f)
    best = minimize(lambda x: float(weighted_value(problem, alpha, x)), np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(stationary_point(problem, alpha), best, atol=1e-6)


def test_no_stationary_point_is_an_error():
    with pytest.raises(ValueError, match="no stationary point"):
        f = floats(FAMILIES["bent"])
        stationary_point(Problem(replace(f, b=50 * f.b)), np.full(4, 0.25))


def test_example_5_1_is_least_squares_on_three_laws():
    rng = np.random.default_rng(0)
    rows, targets = three_laws(30, 4, rng)
    sizes = np.array([len(b) for b in targets])
    assert ((sizes >= 50) & (sizes <= 150)).all() and len(set(sizes)) > 5
    problem = example_5_1(30, 4, np.random.default_rng(0))
    x = np.random.default_rng(1).standard_normal(4)
    direct = [((A @ x - b) ** 2).sum() / (2 * len(b)) for A, b in zip(rows, targets, strict=True)]
    np.testing.assert_allclose(problem.f.value(np.broadcast_to(x, (30, 4))), direct, rtol=1e-12)
    stacked = np.concatenate([A / np.sqrt(len(A)) for A in rows])
    scaled = np.concatenate([b / np.sqrt(len(b)) for b in targets])
    np.testing.assert_allclose(problem.x_star, np.linalg.lstsq(stacked, scaled)[0], atol=1e-10)
    # Clients with fewer rows than features are allowed.
    assert example_5_1(5, 100, np.random.default_rng(2)).f.mu.min() < 1e-9


def test_example_5_1_deals_the_same_mixture_to_everybody():
    rows, targets = three_laws(40, 2, np.random.default_rng(1))
    values = [np.concatenate([A.ravel(), b]) for A, b in zip(rows, targets, strict=True)]
    everything = np.concatenate(values)
    # Within the uniform law's range there are a third of uniform values more than in the normal one.
    assert 0.25 < (abs(everything) > 2.5).mean() * 3 / 2 < 0.75
    levels = [kstest(v, everything).pvalue for v in values]
    assert min(levels) > 1e-4


def test_example_5_2_is_the_logistic_loss_of_libsvm_labels():
    rng = np.random.default_rng(0)
    A, labels = rng.standard_normal((2, 5, 3)), rng.choice([0, 1], (2, 5))
    x = rng.standard_normal((2, 3))
    inner = np.einsum("nmd,nd->nm", A, x)
    printed = (np.log1p(np.exp(inner)) - labels * inner).mean(-1) + 0.001 / 2 * (x**2).sum(-1)
    np.testing.assert_allclose(Logistic(A, 2 * labels - 1, 0.001).value(x), printed, rtol=1e-12)


def test_example_5_2_on_real_data():
    path = DATA / "qsar_oral_toxicity.gz"
    if not path.exists():
        pytest.skip("the shared data are not here")
    data = load(path)
    assert data.A.shape == (8992, 1024)
    A, b = split(data, 100, "equal", np.random.default_rng(0))
    assert Logistic(A, b, 0.001).L.shape == (100,)


BAD = [
    (lambda: LeastSquares(np.ones((2, 3, 2)), np.ones((2, 3)), np.ones(2)), "H, q, v must be"),
    (lambda: from_rows([np.ones((2, 3))], [np.ones(3)]), "every client needs rows"),
    (lambda: three_laws(3, 2, np.random.default_rng(0), (4, 3)), "expected clients"),
    (lambda: replace(FAMILIES["bent"], h=-FAMILIES["bent"].h), "must be positive"),
    (lambda: replace(FAMILIES["bent"], b=FAMILIES["bent"].b[:2]), "one number for each"),
    (lambda: replace(FAMILIES["bent"], u=FAMILIES["bent"].u[:2]), "h and u must be"),
    (lambda: replace(FAMILIES["receding"], a=-FAMILIES["receding"].a), "must not be negative"),
    (lambda: replace(FAMILIES["receding"], e=FAMILIES["receding"].e[:1]), "four arrays"),
    (lambda: FAMILIES["receding"].resolvent(Q(9), exact(np.zeros((4, 3)))), "irrational"),
    (lambda: floats(FAMILIES["receding"]).resolvent(0.1, np.zeros((4, 3))), "shift above s_i"),
    (lambda: Covering(5, 2, 2), "cannot cover"),
    (lambda: Covering(5, 6, 2), "between 1 and the 5"),
    (lambda: Fixed(np.ones((2, 3))), "a plan is a boolean array"),
]


@pytest.mark.parametrize("make, message", BAD)
def test_bad_input_is_a_value_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("m, size, s0", [(4, 2, 2), (4, 2, 3), (3, 1, 3), (5, 3, 2), (3, 3, 1), (4, 3, 2)])
def test_covering_plans_cover_and_are_uniform(m, size, s0):
    plan = Covering(m, size, s0)
    assert plan.rounds == s0
    masks, p = plan.support(exact=True)
    assert len(masks) == plan.count and p.sum() == 1
    drawn = plan.sample(np.random.default_rng(0), (4000,))
    assert drawn.shape == (4000, s0, m)
    assert (drawn.sum(axis=-1) == size).all()
    assert drawn.any(axis=-2).all()
    keys = {mask.tobytes(): 0 for mask in masks}
    for mask in drawn:
        keys[mask.tobytes()] += 1
    counts = np.array(list(keys.values()))
    expected = 4000 / len(counts)
    # Chi-squared with at most 400 cells: ten standard deviations.
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic <= len(counts) + 10 * np.sqrt(2 * len(counts)) + 10


def test_covering_plans_of_many_clients():
    plan = Covering(100, 50, 4)
    drawn = plan.sample(np.random.default_rng(0), (50,))
    assert drawn.any(axis=-2).all() and (drawn.sum(-1) == 50).all()
    ordinary = Uniform(100, 50, 4).sample(np.random.default_rng(0), (50,))
    assert not ordinary.any(axis=-2).all(axis=-1).any()
    assert plan.count < comb(100, 50) ** 4


def test_a_covering_scheme_still_has_gaps_of_twice_its_window_less_one():
    """FedADMM, eq. (21), allows s_0: client 1 waits from the first round of a window to the last of the next."""
    s0 = 3
    plan = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool)
    assert covers(plan, s0)
    assert gaps(plan)[0] == 2 * s0 - 1 > s0
    drawn = Covering(3, 1, s0).sample(np.random.default_rng(0), (400,)).reshape(200, 2 * s0, 3)
    assert max(gaps(rounds).max() for rounds in drawn) == 2 * s0 - 1
    assert not covers(plan[:4], 2)


def test_a_fixed_plan_is_what_it_says():
    masks = np.array([[True, False], [False, True]])
    plan = Fixed(masks)
    assert (plan.sample(np.random.default_rng(0), (3,)) == masks).all()
    assert (plan.support(True)[0][0] == masks).all() and plan.rounds == 2
