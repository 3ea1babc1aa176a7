"""The algorithms of the FedADMM paper against plain loops over clients, in fractions; planted errors are found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import algorithms
from fedtheory.algorithms import exact_admm, fedadmm, fedalt, fedavg_stale, fedprox, fedsim, run
from fedtheory.algorithms.selections import Covering, Fixed, Uniform, covers
from fedtheory.learning.least_squares import example_5_1
from fedtheory.learning.logistic import Logistic
from fedtheory.learning.receding import receding
from fedtheory.learning.subproblems import Adversary, Exact, InnerSteps, Task, root_below
from fedtheory.numbers.rational import exact, to_float
from fedtheory.problems.base import Problem, weighted_gradient
from fedtheory.problems.nonconvex import bent
from fedtheory.problems.optimum import Optimum
from fedtheory.problems.quadratic import Quadratics, diagonal

Q = Fraction
M, D = 4, 2
ALPHA = exact([1, 2, 3, 4]) / 10
SQUARED = exact([1, 2, 5, 9])


def quadratics() -> Problem:
    rng = np.random.default_rng(0)
    h, c = exact(rng.integers(1, 7, (M, D))) / 2, exact(rng.integers(-3, 4, (M, D)))
    return Problem(diagonal(h, c), None, (Q(1, 2), Q(3)))


def curved() -> Problem:
    """Nonconvex, with a stationary point of the weighted sum that is known exactly."""
    x = exact([1, -1])
    f = bent(M, D, np.random.default_rng(3), exact).stationary_at(x, ALPHA)
    assert (f.s > 0).any()
    return Problem(f, known=Optimum(x, f.gradient(np.broadcast_to(x, (M, D))), 0.0))  # type: ignore[arg-type]


PROBLEMS = {"quadratic": quadratics(), "nonconvex": curved()}
EVERY_PROBLEM = pytest.mark.parametrize("posed", PROBLEMS.values(), ids=PROBLEMS)


def constants(problem: Problem) -> np.ndarray:
    return exact(problem.f.L)


def params(problem: Problem, solver: Any = None, k0: int = 2, plan: Any = None) -> fedadmm.Params:
    r = constants(problem)
    sigma = ALPHA * r * exact([4, 5, 6, 7]) / 2 + ALPHA
    return fedadmm.Params(
        ALPHA,
        sigma,
        exact([2, 3, 4, 6]) / 8 + Q(1, 4),
        SQUARED / 400,
        k0,
        Uniform(M, 2) if plan is None else plan,
        InnerSteps(r) if solver is None else solver,
    )


def start(problem: Problem, p: fedadmm.Params) -> fedadmm.State:
    rng = np.random.default_rng(1)
    return fedadmm.init(problem, p, W=exact(rng.integers(-6, 7, (M, D))) / 2)


def plain(problem: Problem, p: fedadmm.Params, state: fedadmm.State, masks: np.ndarray) -> fedadmm.State:
    """Algorithm 1 with the inner steps as eq. (15) prints them, one client and one number at a time."""
    w, W, Pi, Z, eps = (np.array(field, dtype=object) for field in state)
    r = constants(problem)

    def slope(i: int, x: np.ndarray) -> np.ndarray:
        everywhere = np.broadcast_to(x, (M, D))
        return np.asarray(problem.f.gradient(everywhere)[i])

    for k in range(len(masks) * p.k0):
        if k % p.k0 == 0:
            w = sum(Z[i] for i in range(M)) / sum(p.sigma[i] for i in range(M))
        for i in range(M):
            if not masks[k // p.k0, i]:
                continue
            eps[i] = p.nu[i] * eps[i]
            v = w
            while True:
                residual = p.alpha[i] * slope(i, v) + Pi[i] + p.sigma[i] * (v - w)
                if sum(residual**2) <= eps[i]:
                    break
                a = p.alpha[i] * r[i]
                v = (a * v + p.sigma[i] * w - (p.alpha[i] * slope(i, v) + Pi[i])) / (a + p.sigma[i])
            W[i] = v
            Pi[i] = Pi[i] + p.sigma[i] * (W[i] - w)
            Z[i] = p.sigma[i] * W[i] + Pi[i]
    return fedadmm.State(w, W, Pi, Z, eps)


def same(one: Any, other: Any) -> bool:
    return all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(one, other, strict=True))


def agrees_with_the_loop(step: Any, problem: Problem) -> bool:
    p = params(problem, k0=3, plan=Uniform(M, 2, 2))
    state, rng = start(problem, p), np.random.default_rng(2)
    for _ in range(2):
        draw = fedadmm.draws(problem, p, state).sample(rng)
        after = step(problem, p, state, draw)
        if not same(after, plain(problem, p, state, draw.clients)):
            return False
        state = after
    return True


def keeps_the_messages(step: Any, problem: Problem) -> bool:
    """Eq. (8) for all clients, eq. (37) for the residual, and the server's optimality (36) in the round to come."""
    p = params(problem, k0=2, plan=Uniform(M, 2))
    state, rng = start(problem, p), np.random.default_rng(3)
    for _ in range(3):
        state = step(problem, p, state, fedadmm.draws(problem, p, state).sample(rng))
        phi = p.alpha[:, None] * problem.f.gradient(state.W) + state.Pi
        w = fedadmm.average(p, state.Z)
        good = (
            (fedadmm.invariant(problem, p, state) == 0).all()
            and ((phi**2).sum(axis=-1) <= state.eps).all()
            and ((p.sigma[:, None] * (state.W - w) + state.Pi).sum(axis=-2) == 0).all()
        )
        if not good:
            return False
    return True


def keeps_its_fixed_point(step: Any, problem: Problem) -> bool:
    p = params(problem, Exact())
    star = fedadmm.fixed_point(problem, p)
    draw = fedadmm.draws(problem, p, star).sample(np.random.default_rng(4))
    moved = step(problem, p, star, draw)
    return same(moved, star) and bool((weighted_gradient(problem, p.alpha, star.w) == 0).all())


CHECKERS = {"loop": agrees_with_the_loop, "messages": keeps_the_messages, "fixed point": keeps_its_fixed_point}


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
@EVERY_PROBLEM
def test_fedadmm_passes(checker, posed):
    assert checker(fedadmm.step, posed)


def altered(change: Any) -> Any:
    """FedADMM with another local update: ``change(before, after, params, clients)`` replaces fields of the result."""

    def step(problem, p, state, draw):
        for k in range(draw.clients.shape[-2] * p.k0):
            clients = draw.clients[..., k // p.k0, :]
            if k % p.k0 == 0:
                state = state._replace(w=fedadmm.average(p, state.Z))
            after = fedadmm.local_update(problem, p, state, clients, draw.solver, k)
            state = after._replace(**change(state, after, p, clients))
        return state

    return step


def averaged_over_participants(problem, p, state, draw):
    mask = draw.clients[0][:, None]
    Z = np.where(mask, state.Z, 0 * state.Z)
    shrunk = p._replace(sigma=np.where(mask[:, 0], p.sigma, 0 * p.sigma))
    w = fedadmm.average(shrunk, Z)
    for k in range(p.k0):
        state = fedadmm.local_update(problem, p, state._replace(w=w), draw.clients[..., 0, :], draw.solver, k)
    return state


def averaged_in_every_iteration(problem, p, state, draw):
    for k in range(draw.clients.shape[-2] * p.k0):
        state = state._replace(w=fedadmm.average(p, state.Z))
        state = fedadmm.local_update(problem, p, state, draw.clients[..., k // p.k0, :], draw.solver, k)
    return state


def _anchor(s):
    return s.w[..., None, :]


#: A wrong step, and the checkers that must notice it.
PLANTED: dict[str, tuple[Any, set[str]]] = {
    "a message with the multiplier subtracted": (
        altered(lambda b, a, p, c: {"Z": p.sigma[:, None] * a.W - a.Pi}),
        {"loop", "messages", "fixed point"},
    ),
    "a multiplier step without sigma": (
        altered(lambda b, a, p, c: {"Pi": np.where(c[:, None], b.Pi + a.W - _anchor(a), b.Pi)}),
        {"loop", "messages"},
    ),
    "a multiplier step the other way": (
        altered(lambda b, a, p, c: {"Pi": b.Pi - (a.Pi - b.Pi)}),
        {"loop", "messages"},
    ),
    "multipliers of idle clients move": (
        altered(lambda b, a, p, c: {"Pi": b.Pi + p.sigma[:, None] * (a.W - _anchor(a))}),
        {"loop", "messages"},
    ),
    "tolerances of idle clients shrink": (altered(lambda b, a, p, c: {"eps": p.nu * b.eps}), {"loop"}),
    "stale messages": (altered(lambda b, a, p, c: {"Z": b.Z}), {"loop", "messages"}),
    "an average over participants": (averaged_over_participants, {"loop"}),
    "an average in every iteration": (averaged_in_every_iteration, {"loop"}),
    "weights left out": (
        lambda q, p, s, d: fedadmm.step(q, p._replace(alpha=0 * p.alpha + Q(1, M)), s, d),
        {"loop", "messages", "fixed point"},
    ),
    "an average by equal weights": (
        lambda q, p, s, d: fedadmm.step(q, p, s._replace(Z=s.Z / p.sigma[:, None] * p.sigma.sum() / M), d),
        {"loop", "fixed point"},
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_found(name):
    wrong, checkers = PLANTED[name]
    for checker in checkers:
        assert not CHECKERS[checker](wrong, PROBLEMS["quadratic"]), checker


def test_replicas_are_independent_runs_and_floats_agree_with_fractions():
    problem = PROBLEMS["nonconvex"]
    p = params(problem, k0=2, plan=Uniform(M, 2, 2))
    state = start(problem, p)
    draw = fedadmm.draws(problem, p, state).sample(np.random.default_rng(5), (3,))
    together = fedadmm.step(problem, p, state, draw)
    f: Any = problem.f
    numbers = replace(f, **{k: to_float(v) for k, v in vars(f).items() if isinstance(v, np.ndarray)})
    q = p._replace(**{k: to_float(getattr(p, k)) for k in ("alpha", "sigma", "nu", "eps")})
    q = q._replace(solver=InnerSteps(to_float(constants(problem))))
    rough = fedadmm.step(Problem(numbers), q, fedadmm.State(*map(to_float, state)), draw)
    for k in range(3):
        alone = fedadmm.step(problem, p, state, fedadmm.Draws(draw.clients[k], draw.solver[k]))
        assert same((field[k] for field in together), alone)
    for one, other in zip(together, rough, strict=True):
        np.testing.assert_allclose(to_float(one), other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("plan", [Uniform(M, 2), Uniform(M, 3, 2), Covering(M, 2, 2), Covering(M, 3, 2)])
def test_all_selections_can_be_enumerated_and_each_is_one_run(plan):
    problem = PROBLEMS["quadratic"]
    p = params(problem, Exact(), 2, plan)
    state = start(problem, p)
    draws, chances = fedadmm.draws(problem, p, state).support(exact=True)
    after = fedadmm.step(problem, p, state, draws)
    assert chances.sum() == 1 and len(chances) == plan.count == len(after.w)
    for k in (0, len(chances) // 2, len(chances) - 1):
        assert same((field[k] for field in after), plain_exact(problem, p, state, draws.clients[k]))


def plain_exact(problem: Problem, p: fedadmm.Params, state: fedadmm.State, masks: np.ndarray) -> fedadmm.State:
    """Algorithm 1 with exact answers, which quadratics have in closed form, one client at a time."""
    f: Any = problem.f
    w, W, Pi, Z, eps = (np.array(field, dtype=object) for field in state)
    for k in range(len(masks) * p.k0):
        if k % p.k0 == 0:
            w = sum(Z[i] for i in range(M)) / sum(p.sigma[i] for i in range(M))
        for i in np.flatnonzero(masks[k // p.k0]):
            h = np.diagonal(f.H[i])
            eps[i] = p.nu[i] * eps[i]
            W[i] = (p.alpha[i] * h * f.c[i] - Pi[i] + p.sigma[i] * w) / (p.alpha[i] * h + p.sigma[i])
            Pi[i] = Pi[i] + p.sigma[i] * (W[i] - w)
            Z[i] = p.sigma[i] * W[i] + Pi[i]
    return fedadmm.State(w, W, Pi, Z, eps)


def test_inner_steps_are_those_of_eq_15_and_stop_in_time():
    problem = PROBLEMS["quadratic"]
    p = params(problem)
    state = start(problem, p)
    task = Task(exact([1, 2]) / 3, state.Pi, p.eps, np.ones(M, dtype=bool), p.alpha, p.sigma)
    r, v = constants(problem), task.anchor + 0 * state.W
    for steps in range(4):
        answer = InnerSteps(r, steps).answer(problem, task, None, 0)
        assert (answer.w == v).all() and (answer.steps == steps).all()
        a, s = (p.alpha * r)[:, None], p.sigma[:, None]
        v = (a * v + s * task.anchor - (p.alpha[:, None] * problem.f.gradient(v) + task.Pi)) / (a + s)
    stopped = InnerSteps(r).answer(problem, task, None, 0)
    size = lambda w: (task.residual(problem, w) ** 2).sum(axis=-1)  # noqa: E731
    assert (size(stopped.w) <= task.eps).all()
    for i in range(M):
        if stopped.steps[i]:
            earlier = InnerSteps(r, int(stopped.steps[i]) - 1).answer(problem, task, None, 0).w
            assert size(earlier)[i] > task.eps[i]
    assert stopped.steps.max() >= 1
    loose = task._replace(eps=10**6 * task.eps)
    assert (InnerSteps(r).answer(problem, loose, None, 0).steps == 0).all()
    assert (InnerSteps(r, least=1).answer(problem, loose, None, 0).steps == 1).all()


def test_too_small_penalties_stop_the_inner_steps():
    problem = PROBLEMS["nonconvex"]
    p = params(problem, InnerSteps(constants(problem), limit=50))
    p = p._replace(sigma=p.sigma / 1000, eps=p.eps / 10**6)
    state = start(problem, p)
    f: Any = problem.f
    numbers = replace(f, **{k: to_float(v) for k, v in vars(f).items() if isinstance(v, np.ndarray)})
    q = p._replace(**{k: to_float(getattr(p, k)) for k in ("alpha", "sigma", "nu", "eps")})
    q = q._replace(solver=InnerSteps(to_float(constants(problem)), limit=50))
    with pytest.raises(ValueError, match="sigma_i > alpha_i s_i"):
        fedadmm.step(
            Problem(numbers), q, fedadmm.State(*map(to_float, state)), fedadmm.Draws(np.ones((1, M), dtype=bool), None)
        )


@EVERY_PROBLEM
def test_exact_and_adversarial_answers_meet_eq_6(posed):
    direction = exact(np.tile([3, 4], (M, 1))) / 5
    for solver in (Exact(), Adversary(direction), Adversary(-direction, Q(1, 2))):
        p = params(posed, solver)
        state = start(posed, p)
        draw = fedadmm.draws(posed, p, state).sample(np.random.default_rng(0))
        before = state
        for after in fedadmm.iterations(posed, p, state, draw):
            residual = p.alpha[:, None] * posed.f.gradient(after.W) + after.Pi
            size = (residual**2).sum(axis=-1)
            moved = draw.clients[0]
            share = 0 if isinstance(solver, Exact) else solver.share
            assert (size <= after.eps).all()
            assert (size[moved] == share**2 * root_below(after.eps)[moved] ** 2).all()
            assert same((before.W[~moved], before.Pi[~moved]), (after.W[~moved], after.Pi[~moved]))
            before = after


def test_square_roots_from_below():
    squares = exact([0, 4, 2, Q(1, 3), Q(10**9, 7)])
    roots = root_below(squares)
    assert (roots**2 <= squares).all() and ((roots + Q(1, 2**15)) ** 2 > squares).all()
    assert (roots[:2] == [0, 2]).all()
    assert root_below(np.array([4.0]))[0] == 2


def test_exact_admm_is_fedadmm_with_everybody_and_exact_answers():
    for problem in PROBLEMS.values():
        p = params(problem, Exact(), 1, Fixed(np.ones((1, M), dtype=bool)))
        one = start(problem, p)
        q = exact_admm.Params(p.alpha, p.sigma)
        other = exact_admm.State(one.w, one.W, one.Pi)
        for _ in range(4):
            one = fedadmm.step(problem, p, one, fedadmm.draws(problem, p, one).sample(np.random.default_rng(0)))
            other = exact_admm.step(problem, q, other, np.zeros(0))
            assert same((one.w, one.W, one.Pi), other)
        star = exact_admm.fixed_point(problem, q)
        assert same(exact_admm.step(problem, q, star, np.zeros(0)), star)


def test_the_average_minimises_the_augmented_lagrangian():
    """Eq. (13): the closed form of the server's step."""
    problem = PROBLEMS["quadratic"]
    p = params(problem)
    state = start(problem, p)

    def lagrangian(w):
        gap = state.W - w
        return ((gap * state.Pi).sum(-1) + p.sigma * (gap**2).sum(-1) / 2).sum()

    w = fedadmm.average(p, state.Z)
    for e in np.eye(D, dtype=int):
        assert lagrangian(w + e / Q(7)) == lagrangian(w - e / Q(7)) > lagrangian(w)


@pytest.mark.parametrize("family, rounds, accuracy", [(bent, 450, 1e-12), (receding, 150, 0.05)])
def test_fedadmm_reaches_stationary_points(family, rounds, accuracy):
    """Without convexity; and without coerciveness, where the gradients vanish as the models recede."""
    rng = np.random.default_rng(0)
    problem, alpha = Problem(family(M, 3, rng, to_float)), to_float(ALPHA)
    r = problem.f.L
    p = fedadmm.theory(problem, alpha, Covering(M, 2, 3), InnerSteps(r), 2, np.full(M, 0.5), np.ones(M))
    slopes = run(fedadmm.algorithm, problem, p, rounds, rng, lambda s: weighted_gradient(problem, alpha, s.w), 3)
    size = np.linalg.norm(slopes, axis=-1)
    assert (size[-1] < accuracy * size[0]).all()


def test_fedavg_is_algorithm_2():
    problem = PROBLEMS["quadratic"]
    p = fedavg_stale.Params(Q(1, 3), 3, Uniform(M, 2, 2))
    rng = np.random.default_rng(0)
    state = fedavg_stale.init(problem, p, exact(rng.integers(-4, 5, (M, D))))
    masks = fedavg_stale.draws(problem, p, state).sample(rng)
    after = fedavg_stale.step(problem, p, state, masks)
    several = fedavg_stale.step(problem, p, state, np.stack([masks, ~masks]))
    assert same((field[0] for field in several), after) and len(several.w) == len(several.W) == 2
    W = [v for v in state.W]
    for k in range(6):
        if k % 3 == 0:
            w = sum(W) / M
        for i in np.flatnonzero(masks[k // 3]):
            x = w if k % 3 == 0 else W[i]
            W[i] = x - p.gamma / M * problem.f.gradient(np.broadcast_to(x, (M, D)))[i]
    assert (after.w == w).all() and (np.array(W) == after.W).all()


def test_fedavg_with_one_local_step_and_everybody_is_gradient_descent_and_with_more_it_is_biased():
    f = Quadratics(exact([[[1]], [[3]]]), exact([[0], [1]]))
    problem = Problem(f)
    everybody = Fixed(np.ones((1, 2), dtype=bool))
    ends = []
    for k0 in (1, 2):
        p = fedavg_stale.Params(Q(1, 2), k0, everybody)
        state = fedavg_stale.init(problem, p)
        for _ in range(60):
            state = fedavg_stale.step(problem, p, state, everybody.masks)
        ends.append(float(state.w[0]))
    assert problem.x_star[0] == Q(3, 4)
    assert ends[0] == pytest.approx(0.75, abs=1e-12)
    # Fixed point of two local steps: 1 - (1 - h/4)^2 = 7/16 and 15/16 weigh the centres 0 and 1.
    assert ends[1] == pytest.approx(15 / 22, abs=1e-12)


def plain_personal(problem, p, state, mask, together):
    w, V, models = state.w, [v for v in state.V], []
    slope = lambda i, x: problem.f.gradient(np.broadcast_to(x, (M, D)))[i]  # noqa: E731
    for i in np.flatnonzero(mask):
        x = w
        in_w = lambda x, v, i=i: (1 - p.alpha) * slope(i, x) + p.mu * (x - v)  # noqa: E731
        in_v = lambda x, v, i=i: p.alpha * slope(i, v) + p.mu * (v - x)  # noqa: E731
        if together:
            for _ in range(p.k0):
                x, V[i] = x - p.gamma_w * in_w(x, V[i]), V[i] - p.gamma_v * in_v(x, V[i])
        else:
            for _ in range(p.k0):
                V[i] = V[i] - p.gamma_v * in_v(x, V[i])
            for _ in range(p.k0):
                x = x - p.gamma_w * in_w(x, V[i])
        models.append(x)
    return fedalt.State(sum(models) / len(models), np.array(V))


@pytest.mark.parametrize("module, together", [(fedalt, False), (fedsim, True)])
def test_fedalt_and_fedsim_against_plain_loops(module, together):
    for problem in PROBLEMS.values():
        p = fedalt.Params(2, 3, Q(1, 3), Q(1, 5), Q(1, 8), Q(1, 7))
        rng = np.random.default_rng(0)
        state = fedalt.State(exact([1, 2]), exact(rng.integers(-3, 4, (M, D))))
        for _ in range(2):
            mask = module.algorithm.draws(problem, p, state).sample(rng)
            after = module.step(problem, p, state, mask)
            assert same(after, plain_personal(problem, p, state, mask, together))
            assert not same(after, plain_personal(problem, p, state, mask, not together))
            state = after


@pytest.mark.parametrize("module", [fedalt, fedsim])
def test_fedalt_and_fedsim_keep_the_minimiser_of_their_losses(module):
    problem = PROBLEMS["quadratic"]
    p = fedalt.Params(M, 1, Q(1, 3), Q(1, 5), Q(1, 8), Q(1, 7))
    star = module.algorithm.fixed_point(problem, p)
    assert same(module.step(problem, p, star, np.ones(M, dtype=bool)), star)
    assert not (star.w == problem.x_star).all()


def test_fedprox_here_is_the_one_that_exists():
    """Section 5.3: k_0 gradient steps on f_i + (mu/2)|. - w|^2 from w, and the average (17) over the participants."""
    problem = PROBLEMS["quadratic"]
    p = fedprox.Params(2, Q(1, 4), 3, Q(1, 6))
    state = fedprox.State(exact([1, 2])) if hasattr(fedprox, "State") else None
    draw = fedprox.draws(problem, p, state).sample(np.random.default_rng(0))
    models = []
    for i in np.flatnonzero(draw.clients):
        x = state.x
        for _ in range(3):
            x = x - Q(1, 6) * (problem.f.gradient(np.broadcast_to(x, (M, D)))[i] + Q(1, 4) * (x - state.x))
        models.append(x)
    assert (fedprox.step(problem, p, state, draw).x == sum(models) / 2).all()


def test_the_algorithms_are_registered_and_start_as_printed():
    assert {"fedadmm", "exact-admm", "fedavg-stale", "fedalt", "fedsim"} <= set(algorithms.names())
    problem = PROBLEMS["quadratic"]
    p = params(problem)
    state = fedadmm.init(problem, p)
    assert (state.W == 0).all() and (state.w == 0).all()
    assert (state.Pi == -p.alpha[:, None] * problem.f.gradient(0 * state.Pi)).all()
    assert (state.Pi == state.Z).all() and (state.eps == p.eps).all()
    assert (fedadmm.init(problem, p, Pi=np.zeros((M, D), dtype=int)).Z == 0).all()


def test_a_plan_is_one_step_and_scheme_4_1_is_kept():
    problem = example_5_1(10, 3, np.random.default_rng(0))
    alpha = np.full(10, 0.1)
    p = fedadmm.theory(problem, alpha, Covering(10, 4, 3), InnerSteps(problem.f.L), 2, np.full(10, 0.5), np.ones(10))
    state, rng, masks = fedadmm.init(problem, p), np.random.default_rng(0), []
    for _ in range(20):
        draw = fedadmm.draws(problem, p, state).sample(rng)
        assert len(fedadmm.iterations(problem, p, state, draw)) == 6
        state = fedadmm.step(problem, p, state, draw)
        masks.append(draw.clients)
    assert covers(np.concatenate(masks), 3)
    # Every client has been met at least twenty times in 20 windows.
    assert (state.eps <= 0.5**40).all()


BAD = [
    (lambda q: fedadmm.draws(q, params(q, k0=0), None), "at least one iteration"),
    (lambda q: fedavg_stale.draws(q, fedavg_stale.Params(1, 0, Uniform(M, 2)), None), "at least one local step"),
    (lambda q: fedalt.draws(q, fedalt.Params(2, 1, Q(1), Q(1), Q(1), Q(1)), None), "alpha in"),
    (lambda q: fedalt.fixed_point(PROBLEMS["nonconvex"], fedalt.Params(2, 1, Q(1, 2), Q(1), Q(1), Q(1))), "quadratics"),
    (lambda q: Adversary(2 * np.ones((M, D))), "norm at most 1"),
    (lambda q: exact_admm.step(Problem(NoResolvent()), exact_admm.Params(ALPHA, ALPHA), None, None), "closed form"),  # type: ignore[arg-type]
]


class NoResolvent:
    n, d = M, D


@pytest.mark.parametrize("call, message", BAD)
def test_bad_input_is_a_value_error(call, message):
    with pytest.raises(ValueError, match=message):
        call(PROBLEMS["quadratic"])


@pytest.mark.parametrize("steps", [3, None])
def test_those_that_take_part_alone_answer_the_same(steps):
    rng = np.random.default_rng(0)
    problem = Problem(Logistic(rng.normal(size=(6, 5, 4)), rng.choice([-1, 1], (6, 5)), 0.3))
    found = []
    for alone in (False, True):
        solver = InnerSteps(problem.f.L, steps, alone=alone)
        p = fedadmm.theory(problem, np.full(6, 1 / 6), Uniform(6, 3), solver, 2, np.full(6, 0.9), np.ones(6))
        state, draws = fedadmm.init(problem, p), np.random.default_rng(1)
        for _ in range(20):
            state = fedadmm.step(problem, p, state, fedadmm.draws(problem, p, state).sample(draws))
        found.append(state)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
