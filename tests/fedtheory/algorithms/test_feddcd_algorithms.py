"""The variants of FedDCD and of coordinate descent, and their oracles: exact fixed points, invariants, equivalences."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import algorithms
from fedtheory.algorithms import accelerated_rbcd, accfeddcd, feddcd, inexact_feddcd, inexact_rbcd, rbcd, run
from fedtheory.learning import solvers
from fedtheory.learning.batches import Batches, Split
from fedtheory.learning.logistic import logistic_with_condition
from fedtheory.numbers.rational import apply, exact, inverse, to_float
from fedtheory.problems import oracles
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import Quadratics, diagonal
from fedtheory.randomness import expectation
from verify.search import spectral

Case = tuple[Any, Problem, Any]


def fractions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return exact(rng.integers(-4, 5, shape)) / exact(rng.integers(1, 4, shape))


def feasible(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    y = fractions(rng, n, d)
    return y - y.sum(axis=-2, keepdims=True) / n


def finite_sum(array: Any = exact, n: int = 3, m: int = 2, d: int = 2) -> tuple[Problem, Split]:
    """Quadratics with spectra in [1, 4] that are means of m parts, and these parts; ``array``: exact or to_float."""
    rng = np.random.default_rng(0)
    h, c = exact(rng.integers(2, 9, (n * m, d))) / 2, fractions(rng, n * m, d)
    parts = diagonal(array(h), array(c))
    H = array(parts.H.reshape(n, m, d, d).sum(axis=1)) / m
    force = apply(parts.H, parts.c).reshape(n, m, d).sum(axis=1) / m
    one = array(1)[()]
    return Problem(Quadratics(H, apply(inverse(H), force)), None, (one, 4 * one)), Split(parts, m)


def dual(posed: Problem) -> Problem:
    """The conjugates of quadratics, which are quadratics too, with L = 1/alpha and mu = 1/beta."""
    f: Any = posed.f
    slopes = apply(f.H, f.c)
    return Problem(
        Quadratics(f.H_inverse, -slopes, -(f.c * slopes).sum(axis=-1) / 2 - f.v), None, (1 / posed.L, 1 / posed.mu)
    )


def local_solvers(parts: Split, one: Any) -> list[oracles.Oracle]:
    return [
        oracles.exact,
        oracles.worst_case(one / 3),
        solvers.gradient_descent(2, one / 4),
        solvers.svrg(parts, 1, 2, one / 8),
        solvers.saga(parts, 2, one / 8),
        solvers.inexact_newton(1, one / 2),
    ]


def cases(array: Any) -> dict[str, Case]:
    """Every algorithm with parameters that hide nothing (none is 1), in fractions or in floats."""
    posed, parts = finite_sum(array)
    one, Lambda, L = array(1)[()], array([1, 2, 3]), array([1, 2, 3])
    slopes = dual(posed)
    found: dict[str, Case] = {
        "accfeddcd": (accfeddcd.algorithm, posed, accfeddcd.Params(2, Lambda, one / 5, one / 3)),
        "accelerated-rbcd": (accelerated_rbcd.algorithm, slopes, accelerated_rbcd.Params(2, L, one / 5, one / 3)),
    }
    for oracle in local_solvers(parts, one):
        params = inexact_feddcd.Params(2, Lambda, one / 4, oracle)
        found[f"inexact-feddcd-{oracle.name.split('(')[0]}"] = (inexact_feddcd.algorithm, posed, params)
    for idle in ("keep", "refresh"):
        oracle = oracles.worst_case(-one / 2)
        found[f"inexact-feddcd-{idle}"] = (
            inexact_feddcd.algorithm,
            posed,
            inexact_feddcd.Params(2, Lambda, one / 4, oracle, idle),
        )
        found[f"inexact-rbcd-{idle}"] = (
            inexact_rbcd.algorithm,
            slopes,
            inexact_rbcd.Params(2, L, one / 2, oracle, idle),
        )
    return found


EXACT, FLOAT = cases(exact), cases(to_float)
EVERY = pytest.mark.parametrize("name", EXACT)


def start(case: Case, seed: int = 1) -> Any:
    """A random state that meets the invariant, in fractions."""
    algorithm, posed, _ = case
    rng = np.random.default_rng(seed)
    return algorithm.State(*(feasible(rng, posed.n, posed.d) for _ in algorithm.State._fields))


def enumerated(case: Case, state: Any) -> tuple[Any, np.ndarray]:
    """The states after one step, for every draw along a leading axis, and the probabilities."""
    algorithm, posed, params = case
    drawn, p = algorithm.draws(posed, params, state).support(True)
    return algorithm.step(posed, params, state, drawn), p


def follow(case: Case, state: Any, rounds: int, seed: int = 0) -> Any:
    """The state after some rounds with the draws of a seed."""
    algorithm, posed, params = case
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        state = algorithm.step(posed, params, state, algorithm.draws(posed, params, state).sample(rng))
    return state


def equal(one: Any, other: Any) -> bool:
    return all((a == b).all() for a, b in zip(one, other, strict=True))


def test_all_are_registered():
    for module in (accfeddcd, accelerated_rbcd, inexact_feddcd, inexact_rbcd):
        assert algorithms.get(module.algorithm.name) is module.algorithm


@EVERY
def test_the_optimum_is_fixed_for_every_draw(name):
    algorithm, posed, params = EXACT[name]
    fixed = algorithm.fixed_point(posed, params)
    assert equal(enumerated(EXACT[name], fixed)[0], fixed)


@EVERY
def test_feasibility_is_kept_exactly_for_every_draw(name):
    algorithm, posed, params = EXACT[name]
    for state in (algorithm.init(posed, params), start(EXACT[name])):
        later, p = enumerated(EXACT[name], state)
        assert (algorithm.invariant(posed, params, later) == 0).all()
        assert sum(p) == 1


@EVERY
def test_fractions_stay_fractions_and_agree_with_floats(name):
    algorithm, posed, params = EXACT[name]
    precise = follow(EXACT[name], algorithm.init(posed, params), 3)
    assert all(isinstance(v, int | Fraction) for field in precise for v in field.flat)
    in_floats = follow(FLOAT[name], algorithm.init(posed, params), 3)
    for a, b in zip(precise, in_floats, strict=True):
        assert b.dtype == np.float64
        np.testing.assert_allclose(to_float(a), b, rtol=1e-11, atol=1e-12)


@EVERY
def test_replicas_are_stepped_as_they_are_alone(name):
    case = FLOAT[name]
    algorithm, posed, params = case
    rng = np.random.default_rng(2)
    single = algorithm.init(posed, params)
    states = algorithm.State(*(rng.standard_normal((4, 5, *field.shape)) for field in single))
    drawn = algorithm.draws(posed, params, states).sample(rng, (4, 5))
    together = algorithm.step(posed, params, states, drawn)

    def pick(value: Any, index: tuple[int, ...]) -> Any:
        return type(value)(*(pick(v, index) for v in value)) if isinstance(value, tuple) else value[index]

    for index in ((0, 0), (3, 4)):
        alone = algorithm.step(posed, params, pick(states, index), pick(drawn, index))
        for a, b in zip(pick(together, index), alone, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


# Equivalences


@pytest.mark.parametrize("idle", ["keep", "refresh"])
def test_inexact_feddcd_with_the_exact_oracle_is_feddcd(idle):
    posed, _ = finite_sum()
    eta, Lambda = Fraction(1, 3), exact([1, 2, 3])
    inexact = (inexact_feddcd.algorithm, posed, inexact_feddcd.Params(2, Lambda, eta, oracles.exact, idle))
    plain = (feddcd.algorithm, posed, feddcd.Params(2, Lambda, eta))
    y = feasible(np.random.default_rng(3), 3, 2)
    one, other = (
        enumerated(inexact, inexact_feddcd.algorithm.init(posed, inexact[2], y=y)),
        enumerated(plain, feddcd.init(posed, plain[2], y)),
    )
    assert (one[0].y == other[0].y).all()
    assert (one[1] == other[1]).all()


def test_accelerated_feddcd_is_algorithm_4_on_the_conjugates():
    # Equal L_i make the weighted sampling uniform. Dimension 2 as well: blocks need not be scalar.
    for d in (1, 2):
        posed, _ = finite_sum(d=d)
        slopes = dual(posed)
        dual_L = exact([1 / posed.mu] * 3)
        first = (accfeddcd.algorithm, posed, accfeddcd.theory(posed, 2))
        second = (accelerated_rbcd.algorithm, slopes, accelerated_rbcd.theory(slopes, 2, dual_L))
        assert first[2][2:] == second[2][2:]
        rng = np.random.default_rng(4)
        y, z = feasible(rng, 3, d), feasible(rng, 3, d)
        one, p = enumerated(first, accfeddcd.init(posed, first[2], y, z))
        other, q = enumerated(second, accelerated_rbcd.init(slopes, second[2], y, z))
        assert equal(one, other) and (p == q).all()


def test_accelerated_feddcd_follows_the_lines_of_algorithm_2():
    posed, _ = finite_sum(d=1)
    f: Any = posed.f
    N, tau, alpha, Lambda = 3, 2, Fraction(1), [Fraction(1)] * 3
    r, s = Fraction(tau - 1, N - 1), Fraction(1, 2)
    a = s / (1 / r + s)
    b = alpha * a * r**2 / 4
    w = [lambda y, i=i: y / f.H[i, 0, 0] + f.c[i, 0] for i in range(N)]
    y = [Fraction(1), Fraction(-3), Fraction(2)]
    z = [Fraction(0), Fraction(1, 2), Fraction(-1, 2)]
    params = accfeddcd.theory(posed, tau)
    state = accfeddcd.init(posed, params, exact(y)[:, None], exact(z)[:, None])
    for first, second in (({0, 1}, {1, 2}), ({0, 2}, {0, 2})):
        v = [(1 - a) * y[i] + a * z[i] for i in range(N)]
        u = [a**2 / (a**2 + b) * z[i] + b / (a**2 + b) * v[i] for i in range(N)]
        mean = {subset: sum(w[i](v[i]) for i in subset) / tau for subset in map(frozenset, (first, second))}
        y = [v[i] - (w[i](v[i]) - mean[frozenset(first)]) / Lambda[i] * (i in first) for i in range(N)]
        step = a * r / (a**2 + b)
        z = [u[i] - step * (w[i](v[i]) - mean[frozenset(second)]) / Lambda[i] * (i in second) for i in range(N)]
        masks = [np.array([i in subset for i in range(N)]) for subset in (first, second)]
        state = accfeddcd.step(posed, params, state, accfeddcd.Subsets(*masks))
        assert equal(state, (exact(field)[:, None] for field in (y, z, v, u)))


@pytest.mark.parametrize("idle", ["keep", "refresh"])
def test_inexact_feddcd_is_algorithm_3_on_the_conjugates(idle):
    posed, parts = finite_sum()
    slopes, L = dual(posed), exact([1, 1, 1])
    rng = np.random.default_rng(5)
    y, w = feasible(rng, 3, 2), fractions(rng, 3, 2)
    for oracle in local_solvers(parts, Fraction(1)):
        params = inexact_feddcd.Params(2, L, Fraction(1, 4), oracle, idle)
        blocks = inexact_rbcd.Params(2, L, Fraction(1, 4), oracle, idle)
        one = inexact_feddcd.algorithm.init(posed, params, y=y, w=w)
        other = inexact_rbcd.algorithm.init(slopes, blocks, x=y, slope=w)
        for _ in range(2):
            draw = inexact_feddcd.draws(posed, params, one).sample(rng)
            one = inexact_feddcd.step(posed, params, one, draw)
            other = inexact_rbcd.step(slopes, blocks, other, inexact_rbcd.Draws(*draw))
            assert equal(one, other)


def test_inexact_coordinate_descent_with_the_exact_oracle_is_coordinate_descent():
    slopes, L = dual(finite_sum()[0]), exact([1, 2, 3])
    x = feasible(np.random.default_rng(6), 3, 2)
    for idle in ("reset", "keep", "refresh"):
        inexact = (inexact_rbcd.algorithm, slopes, inexact_rbcd.Params(2, L, 1, oracles.exact, idle))
        later, p = enumerated(inexact, inexact_rbcd.algorithm.init(slopes, inexact[2], x=x))
        exactly, q = enumerated((rbcd.algorithm, slopes, rbcd.Params(2, L)), rbcd.State(x))
        assert (later.x == exactly.x).all() and (p == q).all()


def test_conjugates_have_the_oracles_of_the_dual_quadratics():
    posed, _ = finite_sum()
    one, other = inexact_rbcd.Conjugate(posed.f), dual(posed).f
    x = fractions(np.random.default_rng(7), 2, 3, 2)
    for name in ("value", "gradient", "hessian", "conjugate", "conjugate_gradient"):
        assert (getattr(one, name)(x) == getattr(other, name)(x)).all()
    assert (one.mu == other.mu).all() and (one.L == other.L).all() and (one.n, one.d) == (3, 2)


# What a client that sits out keeps


def oracle_errors(case: Case, state: Any) -> np.ndarray:
    """E sum_i |w_i^(t) - grad f_i^*(y_i^(t))|^2 over the next draw, for states along leading axes."""
    algorithm, posed, params = case
    drawn, p = algorithm.draws(posed, params, state).support(True)
    states = algorithm.State(*(field[..., None, :, :] for field in state))
    w = inexact_feddcd.models(posed, params, states, drawn)
    error = ((w - posed.f.conjugate_gradient(states.y)) ** 2).sum(axis=(-1, -2))
    return expectation(error, p)


@pytest.mark.parametrize(("idle", "bounded"), [("refresh", True), ("keep", False)])
def test_lemma_c2_needs_every_client_to_call_its_oracle(idle, bounded):
    # Oracles that are delta/2-inexact with delta = 1/8, from exact first models: then both sides of Lemma C.2 are 0 at
    # t = 0, and at t = 1 it bounds the error by delta E sum_i |grad f_i^*(y_i^0) - grad f_i^*(y_i^1)|^2.
    posed, _ = finite_sum()
    oracle = oracles.worst_case(Fraction(1, 4))
    case = (
        inexact_feddcd.algorithm,
        posed,
        inexact_feddcd.Params(2, exact([1, 1, 1]), Fraction(1, 4), oracle, idle),
    )
    y = feasible(np.random.default_rng(8), 3, 2)
    state = inexact_feddcd.algorithm.init(posed, case[2], y=y, w=posed.f.conjugate_gradient(y))
    assert oracle_errors(case, state) == 0
    later, p = enumerated(case, state)
    jumps = expectation(((posed.f.conjugate_gradient(later.y) - state.w) ** 2).sum(axis=(-1, -2)), p)
    error = expectation(oracle_errors(case, later), p)
    assert jumps > 0
    # Refreshed, the error is delta/2 times the jump. Kept, it is the whole jump for the third that sits out.
    assert error == jumps * (Fraction(1, 16) if bounded else Fraction(1, 16) * 2 / 3 + Fraction(1, 3))
    assert (error <= jumps / 8) == bounded


def test_first_guesses_of_zero_let_the_dual_gap_grow():
    # w_i^(-1) = 0 is as far off as w* is from 0, which the dual gap does not see: eq. (8) fails at T = 1.
    f = diagonal(exact([[1], [1]]), exact([[99], [101]]))
    posed = Problem(f, None, (Fraction(1), Fraction(1)))
    contraction = Fraction(12, 25)
    assert contraction**2 <= (1 - inexact_feddcd.kappa(posed, 2)) / 4
    oracle = oracles.worst_case(exact([contraction, -contraction]))
    params = inexact_feddcd.theory(posed, 2, oracle)
    state = inexact_feddcd.algorithm.init(posed, params)
    later, _ = enumerated((inexact_feddcd.algorithm, posed, params), state)
    before, after = (f.conjugate(s.y).sum(axis=-1) - f.conjugate(posed.y_star).sum() for s in (state, later))
    assert before == 1 and (after == Fraction(45, 4) ** 2).all()


def test_a_client_that_sat_out_starts_as_far_away_as_it_was():
    # Client 0 takes part in rounds 0 and 2. Lemma C.2 gives the jump of round 0 the weight delta^2 = 1/64 in its error
    # at t = 2; with "keep" no call was made in between and it still has the weight delta/2 = 1/16.
    posed, _ = finite_sum()
    subsets = np.array([[True, True, False], [False, True, True], [True, False, True]])
    y = feasible(np.random.default_rng(9), 3, 2)
    weights = {}
    for idle in ("keep", "refresh"):
        oracle = oracles.worst_case(Fraction(1, 4))
        params = inexact_feddcd.Params(2, exact([1, 1, 1]), Fraction(1, 4), oracle, idle)
        state = inexact_feddcd.algorithm.init(posed, params, y=y, w=posed.f.conjugate_gradient(y))
        for subset in subsets[:2]:
            state = inexact_feddcd.step(posed, params, state, inexact_feddcd.Draws(subset, np.zeros(0)))
        w = inexact_feddcd.models(posed, params, state, inexact_feddcd.Draws(subsets[2], np.zeros(0)))
        target = posed.f.conjugate_gradient(state.y)
        jump = ((target - posed.f.conjugate_gradient(y))[0] ** 2).sum()
        weights[idle] = ((w - target)[0] ** 2).sum() / jump
    assert weights == {"keep": Fraction(1, 16), "refresh": Fraction(1, 256)}


def test_algorithm_3_as_printed_leaves_the_optimum():
    # Line 46 sets the estimates of idle blocks to 0, so that the next call forgets what was known.
    slopes, L = dual(finite_sum()[0]), exact([1, 2, 3])
    subsets = np.array([[True, True, False], [False, True, True]])
    for idle, stays in (("reset", False), ("keep", True)):
        params = inexact_rbcd.Params(2, L, Fraction(1, 2), oracles.worst_case(Fraction(1, 2)), idle)
        state = fixed = inexact_rbcd.fixed_point(slopes, params)
        for subset in subsets:
            state = inexact_rbcd.step(slopes, params, state, inexact_rbcd.Draws(subset, np.zeros(0)))
        assert bool((state.x == fixed.x).all()) == stays


# Oracles


SIGNS = exact([Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2)])


@pytest.mark.parametrize("contraction", [Fraction(0), Fraction(1, 3), Fraction(-9, 10), SIGNS])
def test_the_worst_case_oracle_attains_definition_5_1(contraction):
    posed, _ = finite_sum()
    rng = np.random.default_rng(10)
    y, guess = fractions(rng, 4, 3, 2), fractions(rng, 4, 3, 2)
    oracle = oracles.worst_case(contraction)
    gradient = posed.f.conjugate_gradient(y)
    w = oracle.answer(posed.f, y, guess, np.zeros(0)).w
    error, initial = ((w - gradient) ** 2).sum(-1), ((guess - gradient) ** 2).sum(-1)
    assert (error == oracle.delta * initial).all() and np.all(oracle.delta == contraction**2)
    assert oracles.exact.delta == 0 and solvers.gradient_descent(1, 1).delta is None


def test_gradient_descent_contracts_as_stated():
    # In one dimension delta = (1 - mu/L)^(2 steps) is attained, since the Hessian is mu; stepsizes may differ.
    f = diagonal(exact([[1], [3]]), exact([[2], [5]]))
    start_at, y = exact([[7], [-4]]), exact([[1], [1]])
    oracle = solvers.gradient_descent(3, exact([Fraction(1, 4), Fraction(1, 4)]))
    w, steps = oracle.answer(f, y, start_at, np.zeros(0))
    target = f.conjugate_gradient(y)
    assert ((w - target) == exact([[Fraction(3, 4) ** 3], [Fraction(1, 4) ** 3]]) * (start_at - target)).all()
    assert steps.tolist() == [3, 3]


def test_variance_reduced_oracles_are_gradient_steps_on_average():
    # On quadratics the expectation of unbiased steps is that of gradient descent, whatever the variance.
    posed, parts = finite_sum(n=1)
    rng = np.random.default_rng(11)
    y, guess, step = fractions(rng, 1, 2), fractions(rng, 1, 2), Fraction(1, 8)
    descent = [guess]
    for _ in range(3):
        descent.append(descent[-1] - step * (posed.f.gradient(descent[-1]) - y))
    for oracle, mean, count in (
        (solvers.saga(parts, 3, step), descent[3], 2 + 3),
        # One of the iterates before the three inner steps is kept, each with the same probability.
        (solvers.svrg(parts, 1, 3, step), (descent[0] + descent[1] + descent[2]) / 3, 2 + 2 * 3),
    ):
        drawn, p = oracle.draws(posed.f).support(True)
        w, steps = oracle.answer(posed.f, y, guess, drawn)
        assert (expectation(w, p, axis=0) == mean).all()
        assert (steps == count).all()
        assert len(np.unique(to_float(w), axis=0)) > 2


def test_variance_reduced_oracles_reach_the_conjugate_gradient():
    # With constant stepsizes plain SGD would stay away from it.
    posed, parts = finite_sum(to_float)
    rng = np.random.default_rng(12)
    y, guess = rng.standard_normal((50, 3, 2)), rng.standard_normal((50, 3, 2))
    target = posed.f.conjugate_gradient(y)
    for oracle in (solvers.saga(parts, 400, 1 / 12), solvers.svrg(parts, 40, 40, 1 / 40)):
        w = oracle.answer(posed.f, y, guess, oracle.draws(posed.f).sample(rng, (50,))).w
        assert abs(w - target).max() < 1e-5


def test_newton_solves_quadratics_in_one_step_and_then_rests():
    posed, _ = finite_sum()
    rng = np.random.default_rng(13)
    y, guess = fractions(rng, 3, 2), fractions(rng, 3, 2)
    target = posed.f.conjugate_gradient(y)
    guess[0] = target[0]
    w, steps = solvers.inexact_newton(5).answer(posed.f, y, guess, np.zeros(0))
    assert (w == target).all() and steps.tolist() == [0, 1, 1]


def test_newton_meets_its_forcing_term():
    rng = np.random.default_rng(14)
    root = rng.standard_normal((3, 6, 6))
    f = Quadratics(root @ root.swapaxes(1, 2) + 0.1 * np.eye(6), rng.standard_normal((3, 6)))
    y, guess = rng.standard_normal((3, 6)), rng.standard_normal((3, 6))
    before = np.linalg.norm(f.gradient(guess) - y, axis=-1)
    # Truncated conjugate gradients may stop early, and do: a forcing term of 1/2 is not the exact step.
    for forcing in (0.5, 1e-3, 0):
        w = solvers.inexact_newton(1, forcing).answer(f, y, guess, np.zeros(0)).w
        after = np.linalg.norm(f.gradient(w) - y, axis=-1)
        assert (after <= forcing * before + 1e-9).all()
        assert forcing == 0 or (after > 1e-6 * forcing).any()


def test_newton_converges_on_logistic_losses():
    rng = np.random.default_rng(15)
    f = logistic_with_condition(rng.standard_normal((3, 8, 4)), rng.choice([-1, 1], (3, 8)), 50.0)
    y = f.gradient(rng.standard_normal((3, 4)))
    w = solvers.inexact_newton(8, 1e-3).answer(f, y, np.zeros((3, 4)), np.zeros(0)).w
    np.testing.assert_allclose(w, f.conjugate_gradient(y), atol=1e-10)


def test_batches_are_passes_in_random_order():
    batches = Batches(5, 2, 3)
    drawn, p = batches.support(True)
    # One pass has (5 choose 2)(3 choose 2) = 30 pairs of batches, the first batch of the next pass 10.
    assert drawn.shape == (300, 3, 2) and batches.count == 300 and sum(p) == 1
    assert len(np.unique(drawn.reshape(300, -1), axis=0)) == 300
    sample = batches.sample(np.random.default_rng(16), (4, 7))
    assert sample.shape == (4, 7, 3, 2)
    for rows in (drawn, sample):
        first_pass = np.sort(rows[..., :2, :].reshape(-1, 4), axis=-1)
        assert (np.diff(first_pass, axis=-1) > 0).all()
    posed, parts = finite_sum()
    x = fractions(np.random.default_rng(17), 3, 2)
    rows, p = Batches(2, 1, 1).support(True)
    mean = expectation(parts.batch_gradient(x, np.repeat(rows, 3, axis=1)), p, axis=0)
    assert (mean == posed.f.gradient(x)).all()


# Parameters and rates


def test_the_parameters_of_the_theorems():
    posed, _ = finite_sum()
    # alpha/beta = 1/4, r = 1/2: a = (1/2)/(2 + 1/2), b = (1/4)(1/5)(1/4).
    assert accfeddcd.theory(posed, 2)[2:] == (Fraction(1, 5), Fraction(1, 80))
    assert accfeddcd.theory(finite_sum(to_float)[0], 2)[2:] == pytest.approx((0.2, 0.0125))
    params = inexact_feddcd.theory(posed, 2, oracles.exact)
    assert (params.Lambda == 1).all() and params.eta == Fraction(1, 4) and params.idle == "keep"
    # Theorem C.1 with equal L_i is Theorem 5.2: mu = 1/beta, L = 1/alpha.
    same = inexact_rbcd.constants(Fraction(1, 4), exact([1, 1, 1]), 2)
    assert same.kappa == inexact_feddcd.kappa(posed, 2) == Fraction(1, 256)
    assert same == ((Fraction(1, 256), Fraction(255, 512), Fraction(1, 4)))
    # r = 1/2, (L_min/L_max)^3 / r = 2/64: not the square of a fraction; with L = (1, 4, 4, ...) and r = 1 it is.
    assert inexact_rbcd.constants(Fraction(1), exact([1, 4]), 2).eta == Fraction(1, 32)
    assert float(inexact_rbcd.constants(Fraction(1), exact([1, 4, 4]), 2).eta) == pytest.approx(2**0.5 / 32)
    assert inexact_rbcd.constants(1.0, np.array([1.0, 4.0]), 2).eta == pytest.approx(1 / 32)


def lyapunov_ratio(r: Any, tau: int, n: int) -> float:
    """Largest E[potential after]/((1 - a) potential) of Algorithm 4's proof, over all states, with this r in it."""
    L, h = np.array([1.0] * n), np.array([1.0, 0.01] * n)[:n]
    slopes = Problem(diagonal(h[:, None], np.zeros((n, 1))), None, (0.01, 1.0))
    a = 0.1 / (1 / r + 0.1)
    b = 0.01 * a * r**2
    params = accelerated_rbcd.Params(tau, L, a, b)

    def potential(x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return slopes.f.value(x).sum(axis=-1) + (a**2 + b) / (2 * r**2) * (z**2).sum(axis=(-1, -2))

    def both(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        free = theta.reshape(len(theta), 2, 1, n - 1, 1)
        x, z = np.moveaxis(np.concatenate([free, -free.sum(axis=-2, keepdims=True)], axis=-2), 1, 0)
        state = accelerated_rbcd.init(slopes, params, x, z)
        drawn, p = accelerated_rbcd.draws(slopes, params, state).support()
        later = accelerated_rbcd.step(slopes, params, state, drawn)
        # The step has r = (tau - 1)/(n - 1) built in; another r stretches the change of z.
        stretched = later.u + (later.z - later.u) * r * (n - 1) / (tau - 1)
        return expectation(potential(later.x, stretched), p), (1 - a) * potential(x, z)[:, 0]

    sides = spectral.forms(both, 2 * (n - 1))
    assert sides is not None
    return spectral.worst(*sides).ratio


def test_tau_over_n_in_place_of_the_participation_factor_is_caught():
    assert lyapunov_ratio(2 / 3, 3, 4) <= 1 + 1e-9
    assert lyapunov_ratio(1 / 3, 2, 4) <= 1 + 1e-9
    assert lyapunov_ratio(3 / 4, 3, 4) > 1 + 1e-4
    assert lyapunov_ratio(2 / 4, 2, 4) > 1 + 1e-2


def test_all_converge_on_logistic_losses():
    rng = np.random.default_rng(18)
    f = logistic_with_condition(rng.standard_normal((4, 8, 3)), rng.choice([-1, 1], (4, 8)), 10.0)
    posed = Problem(f)
    kappa = inexact_feddcd.kappa(posed, 3)
    oracle = oracles.worst_case(float(np.sqrt((1 - kappa) / 4)))
    settings = (
        (accfeddcd.algorithm, posed, accfeddcd.theory(posed, 3), 250),
        (inexact_feddcd.algorithm, posed, inexact_feddcd.theory(posed, 3, oracle, "refresh"), 600),
        (inexact_feddcd.algorithm, posed, inexact_feddcd.theory(posed, 3, oracle), 600),
        (inexact_feddcd.algorithm, posed, feddcd_with_descent(posed), 250),
    )
    for algorithm, problem, params, rounds in settings:

        def distance(state: Any, problem: Problem = problem) -> np.ndarray:
            return ((state.y - problem.y_star) ** 2).sum(axis=(-1, -2))

        gaps = run(algorithm, problem, params, rounds, np.random.default_rng(19), distance, replicas=2)
        assert (gaps[-1] < 1e-9 * gaps[0]).all()


def feddcd_with_descent(posed: Problem) -> inexact_feddcd.Params:
    oracle = solvers.gradient_descent(30, 1 / posed.L)
    return inexact_feddcd.Params(3, np.full(posed.n, 1 / posed.mu), 1.0, oracle)


def test_algorithm_4_converges_with_unequal_constants():
    rng = np.random.default_rng(20)
    L = np.array([1.0, 3.0, 10.0, 1.0])
    slopes = Problem(diagonal(L[:, None] * np.array([[1, 0.5]]), rng.standard_normal((4, 2))))
    params = accelerated_rbcd.theory(slopes, 2, L)
    centre = rbcd.constrained_minimiser(slopes)
    gaps = run(
        accelerated_rbcd.algorithm,
        slopes,
        params,
        400,
        np.random.default_rng(21),
        lambda state: ((state.x - centre) ** 2).sum(axis=(-1, -2)),
        replicas=3,
    )
    assert (gaps[-1] < 1e-12 * gaps[0]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: oracles.worst_case(1), r"in \(-1, 1\), got 1"),
        (lambda: solvers.gradient_descent(0, 1.0), "steps must be at least 1"),
        (lambda: solvers.inexact_newton(1, 1.0), r"forcing term .* in \[0, 1\)"),
        (lambda: Batches(3, 4, 1), "between 1 and 3 rows"),
        (lambda: Batches(3, 1, 0), "must be positive"),
        (lambda: Split(diagonal(np.ones((3, 1)), np.ones((3, 1))), 2), "3 functions are not 2 parts"),
        (lambda: accfeddcd.acceleration(Fraction(1, 2), 2, 3), "the square of a fraction, got the condition ratio 1/2"),
    ],
)
def test_user_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_rule_for_idle_clients_is_refused():
    posed, _ = finite_sum()
    params = inexact_feddcd.Params(2, exact([1, 1, 1]), 1, oracles.exact, "reset")
    with pytest.raises(ValueError, match="idle must be 'keep' or 'refresh', got 'reset'"):
        inexact_feddcd.draws(posed, params, inexact_feddcd.algorithm.init(posed, params))
    other = inexact_rbcd.Params(2, exact([1, 1, 1]), 1, oracles.exact, "forget")
    with pytest.raises(ValueError, match="got 'forget'"):
        inexact_rbcd.draws(posed, other, inexact_rbcd.algorithm.init(posed, other))
