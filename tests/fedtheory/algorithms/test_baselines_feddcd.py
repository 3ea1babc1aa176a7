"""The baselines of FedDCD's experiments, and what public implementations of them get wrong, planted and caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import algorithms
from fedtheory.algorithms import fedavg, fedprox, gradient_descent, minibatch_sgd, run, scaffold
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.minibatch_sgd import Round
from fedtheory.learning.batches import AllRows, Minibatches, Split
from fedtheory.learning.logistic import Logistic
from fedtheory.numbers.rational import apply, exact, inverse, to_float
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import Quadratics, diagonal
from fedtheory.randomness import UniformSubset, expectation

MODULES = (minibatch_sgd, fedavg, fedprox, scaffold)
Params = Any


def fractions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return exact(rng.integers(-4, 5, shape)) / exact(rng.integers(1, 4, shape))


def finite_sum(array: Any = exact, n: int = 3, m: int = 4, alike: bool = False) -> tuple[Problem, Split]:
    """Quadratics that are means of m parts, and these parts; ``alike``: all parts have one minimiser."""
    rng = np.random.default_rng(0)
    h, c = exact(rng.integers(2, 9, (n * m, 2))) / 2, fractions(rng, n * m, 2)
    parts = diagonal(array(h), array(c[:1] + 0 * c if alike else c))
    H = array(parts.H.reshape(n, m, 2, 2).sum(axis=1)) / m
    force = apply(parts.H, parts.c).reshape(n, m, 2).sum(axis=1) / m
    return Problem(Quadratics(H, apply(inverse(H), force))), Split(parts, m)


def parameters(array: Any, tau: int = 2, size: int | None = None) -> dict[str, Any]:
    """Parameters of each algorithm, none of them 1; ``size``: rows of a batch, all when None."""
    _, parts = finite_sum(array)
    batches = AllRows() if size is None else Minibatches(parts, size)
    one = array(1)[()]
    return {
        "minibatch-sgd": minibatch_sgd.Params(tau, one / 3, batches),
        "fedavg": fedavg.Params(tau, 2, one / 8, one * 3 / 2, batches),
        "fedprox": fedprox.Params(tau, one / 2, 2, one / 8, batches),
        "fedprox-exact": fedprox.Params(tau, one / 2, exact=True),
        "scaffold-I": scaffold.Params(tau, 2, one / 8, one * 3 / 2, batches, "I"),
        "scaffold-II": scaffold.Params(tau, 2, one / 8, one * 3 / 2, batches, "II"),
    }


NAMES = tuple(parameters(exact))
EVERY = pytest.mark.parametrize("name", NAMES)


def algorithm_of(name: str) -> Algorithm:
    return algorithms.get(name if name == "minibatch-sgd" else name.split("-")[0])


def enumerated(algorithm: Algorithm, posed: Problem, params: Params, state: Any) -> tuple[Any, np.ndarray]:
    drawn, p = algorithm.draws(posed, params, state).support(True)
    return algorithm.step(posed, params, state, drawn), p


def follow(algorithm: Algorithm, posed: Problem, params: Params, rounds: int, state: Any = None, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    state = algorithm.init(posed, params) if state is None else state
    for _ in range(rounds):
        state = algorithm.step(posed, params, state, algorithm.draws(posed, params, state).sample(rng))
    return state


def everyone(n: int = 3) -> Round:
    return Round(np.ones(n, dtype=bool), np.zeros(0))


def test_all_are_registered():
    for module in MODULES:
        assert algorithms.get(module.algorithm.name) is module.algorithm


@EVERY
@pytest.mark.parametrize("size", [None, 2])
def test_fractions_and_floats_agree(name, size):
    algorithm = algorithm_of(name)
    states = [
        follow(algorithm, finite_sum(array)[0], parameters(array, 2, size)[name], 3) for array in (exact, to_float)
    ]
    for a, b in zip(*states, strict=True):
        assert all(isinstance(v, int | Fraction) for v in a.flat) and b.dtype == np.float64
        np.testing.assert_allclose(to_float(a), b, rtol=1e-11, atol=1e-12)


@EVERY
@pytest.mark.parametrize("size", [None, 2])
def test_replicas_are_stepped_as_they_are_alone(name, size):
    algorithm, (posed, _), params = algorithm_of(name), finite_sum(to_float), parameters(to_float, 2, size)[name]
    rng = np.random.default_rng(1)
    single = algorithm.init(posed, params)
    states = algorithm.State(*(rng.standard_normal((3, 4, *field.shape)) for field in single))
    drawn = algorithm.draws(posed, params, states).sample(rng, (3, 4))
    together = algorithm.step(posed, params, states, drawn)
    alone = algorithm.State(*(field[2, 3] for field in states))
    later = algorithm.step(posed, params, alone, Round(*(part[2, 3] for part in drawn)))
    for a, b in zip(together, later, strict=True):
        np.testing.assert_allclose(a[2, 3], b, rtol=1e-12, atol=1e-12)


# Fixed points and invariants


@EVERY
def test_a_shared_minimiser_is_fixed_for_every_draw(name):
    posed, _ = finite_sum(alike=True)
    algorithm, params = algorithm_of(name), parameters(exact)[name]
    fixed = algorithm.fixed_point(posed, params)
    later, p = enumerated(algorithm, posed, params, fixed)
    assert all((a == b).all() for a, b in zip(later, fixed, strict=True)) and sum(p) == 1


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("minibatch-sgd", True),
        ("fedavg", False),
        ("fedprox", False),
        ("fedprox-exact", False),
        ("scaffold-I", True),
        ("scaffold-II", True),
    ],
)
def test_which_methods_stay_at_the_optimum_of_different_clients(name, stays):
    # Full participation: what is left is the drift of local steps.
    posed, _ = finite_sum()
    algorithm, params = algorithm_of(name), parameters(exact, tau=3)[name]
    fixed = algorithm.fixed_point(posed, params)
    later = algorithm.step(posed, params, fixed, everyone())
    assert bool((later.x == fixed.x).all()) == stays
    # One local step does not drift.
    if name == "fedavg":
        later = algorithm.step(posed, params._replace(epochs=1), fixed, everyone())
        assert (later.x == fixed.x).all()


@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_scaffold_stays_at_the_optimum_whoever_takes_part(option, tau):
    posed, _ = finite_sum()
    params = scaffold.Params(tau, 3, Fraction(1, 8), Fraction(3, 2), option=option)
    fixed = scaffold.fixed_point(posed, params)
    later, _ = enumerated(scaffold.algorithm, posed, params, fixed)
    assert all((a == b).all() for a, b in zip(later, fixed, strict=True))


@pytest.mark.parametrize("size", [None, 2])
@pytest.mark.parametrize("option", ["I", "II"])
def test_the_control_variate_of_the_server_is_the_mean_of_the_clients(option, size):
    posed, _ = finite_sum()
    params = parameters(exact, 2, size)[f"scaffold-{option}"]
    rng = np.random.default_rng(2)
    state = scaffold.algorithm.init(posed, params, fractions(rng, 2), fractions(rng, 3, 2))
    for _ in range(3):
        assert (scaffold.algorithm.invariant(posed, params, state) == 0).all()
        state = scaffold.step(posed, params, state, scaffold.draws(posed, params, state).sample(rng))


# Equivalences


@pytest.mark.parametrize("size", [None, 2])
def test_scaffold_without_control_variates_is_fedavg(size):
    # From zero variates the first round is FedAvg's; the second is not, or the variates would never be updated.
    posed, _ = finite_sum()
    average = parameters(exact, 2, size)["fedavg"]
    for option in ("I", "II"):
        controlled = scaffold.Params(*average[:5], option)
        one, other = (
            follow(a, posed, p, 1) for a, p in ((fedavg.algorithm, average), (scaffold.algorithm, controlled))
        )
        assert (one.x == other.x).all()
        one, other = (
            follow(a, posed, p, 2) for a, p in ((fedavg.algorithm, average), (scaffold.algorithm, controlled))
        )
        assert (one.x != other.x).any()


@pytest.mark.parametrize("size", [None, 2])
def test_fedprox_without_proximal_term_is_fedavg(size):
    posed, _ = finite_sum()
    average = parameters(exact, 2, size)["fedavg"]._replace(eta_g=1)
    proximal = fedprox.Params(2, Fraction(0), average.epochs, average.eta_l, average.batches)
    one, other = (follow(a, posed, p, 2) for a, p in ((fedavg.algorithm, average), (fedprox.algorithm, proximal)))
    assert (one.x == other.x).all()


@pytest.mark.parametrize("size", [None, 3])
def test_fedavg_with_one_local_step_is_minibatch_sgd(size):
    # Batches of three of four rows leave one batch an epoch.
    posed, parts = finite_sum()
    batches = AllRows() if size is None else Minibatches(parts, size)
    average = fedavg.Params(2, 1, Fraction(1, 8), Fraction(2), batches)
    single = minibatch_sgd.Params(2, Fraction(1, 4), batches)
    one, other = (follow(a, posed, p, 3) for a, p in ((fedavg.algorithm, average), (minibatch_sgd.algorithm, single)))
    assert (one.x == other.x).all()


def test_full_participation_on_all_rows_is_gradient_descent():
    posed, _ = finite_sum()
    x = fractions(np.random.default_rng(3), 2)
    descent = gradient_descent.step(
        posed, gradient_descent.Params(Fraction(1, 3)), gradient_descent.State(x), np.zeros(0)
    )
    params = minibatch_sgd.Params(3, Fraction(1, 3))
    assert (minibatch_sgd.step(posed, params, minibatch_sgd.State(x), everyone()).x == descent.x).all()
    # With c_i = grad f_i(x) every local step of option I starts along the average gradient.
    controlled = scaffold.Params(3, 1, Fraction(1, 3), 1, option="I")
    c_i = posed.f.gradient(np.broadcast_to(x, (3, 2)))
    assert (
        scaffold.step(posed, controlled, scaffold.algorithm.init(posed, controlled, x, c_i), everyone()).x == descent.x
    ).all()


def test_stochastic_gradients_and_participation_are_unbiased():
    posed, parts = finite_sum()
    x = fractions(np.random.default_rng(4), 2)
    params = minibatch_sgd.Params(2, Fraction(1, 3), Minibatches(parts, 3))
    later, p = enumerated(minibatch_sgd.algorithm, posed, params, minibatch_sgd.State(x))
    descent = gradient_descent.step(
        posed, gradient_descent.Params(Fraction(1, 3)), gradient_descent.State(x), np.zeros(0)
    )
    assert (expectation(later.x, p, axis=0) == descent.x).all()
    assert len(np.unique(to_float(later.x), axis=0)) > 3


def test_a_regulariser_g_is_part_of_every_clients_function():
    posed, _ = finite_sum()
    f: Any = posed.f
    h = exact([[2, 3]])
    shared = diagonal(h, exact([[1, -1]]))
    split = Problem(f, shared)
    H = f.H + shared.H
    whole = Problem(Quadratics(H, apply(inverse(H), apply(f.H, f.c) + apply(shared.H, shared.c))))
    for name in ("minibatch-sgd", "fedavg", "fedprox", "scaffold-I", "scaffold-II"):
        params = parameters(exact)[name]
        one, other = (follow(algorithm_of(name), posed, params, 2) for posed in (split, whole))
        assert (one.x == other.x).all()


def test_fedprox_steps_tend_to_the_exact_minimiser():
    posed, _ = finite_sum(to_float)
    many = fedprox.Params(2, 0.5, 300, 1 / 8)
    closed = fedprox.Params(2, 0.5, exact=True)
    one, other = (follow(fedprox.algorithm, posed, params, 2) for params in (many, closed))
    np.testing.assert_allclose(one.x, other.x, atol=1e-12)
    x = np.random.default_rng(5).standard_normal((4, 2))
    w = fedprox.proximal_point(posed, 0.5, x)
    np.testing.assert_allclose(posed.f.gradient(w), 0.5 * (x[:, None] - w), atol=1e-12)


# Planted errors


def by_the_lines(posed: Problem, params: Params, state: Any, draw: Round, fault: str = "") -> scaffold.State:
    """SCAFFOLD's Algorithm 1 (all rows), client by client, with one of the faults of public implementations."""
    x, c, c_i = state.x, state.c, list(state.c_i)
    n, chosen = posed.n, np.flatnonzero(draw.clients)
    shape = (posed.n, posed.d)
    moved, changes = [], []
    for i in chosen:
        y = x
        for _ in range(params.epochs):
            g = posed.f.gradient(np.broadcast_to(y, shape))[i]
            y = y - params.eta_l * (g + c_i[i] - c if fault == "sign" else g - c_i[i] + c)
        steps = 1 if fault == "batches, not batches x epochs" else params.epochs
        if params.option == "I":
            renewed = posed.f.gradient(np.broadcast_to(x, shape))[i]
        else:
            renewed = c_i[i] - c + (x - y) / (steps * params.eta_l)
        moved.append(y - x)
        changes.append(renewed if fault == "whole variate sent" else renewed - c_i[i])
        if fault != "never updated":
            c_i[i] = renewed
    share = len(chosen) if fault == "divided by the selected" else n
    if fault != "never updated":
        c = c + sum(changes) / share
    return scaffold.State(x + params.eta_g * sum(moved) / len(chosen), c, np.stack(c_i))


FAULTS = ("sign", "batches, not batches x epochs", "divided by the selected", "whole variate sent", "never updated")
Step = Callable[..., scaffold.State]


def leaves_the_optimum(step: Step, option: str) -> bool:
    posed, _ = finite_sum()
    params = scaffold.Params(2, 3, Fraction(1, 8), Fraction(3, 2), option=option)
    fixed = scaffold.fixed_point(posed, params)
    draw = Round(np.array([True, False, True]), np.zeros(0))
    return any((a != b).any() for a, b in zip(step(posed, params, fixed, draw), fixed, strict=True))


def breaks_the_mean(step: Step, option: str) -> bool:
    posed, _ = finite_sum()
    params = scaffold.Params(2, 3, Fraction(1, 8), Fraction(3, 2), option=option)
    state = scaffold.algorithm.init(posed, params)
    for subset in ([True, False, True], [True, True, False]):
        state = step(posed, params, state, Round(np.array(subset), np.zeros(0)))
    return bool((scaffold.algorithm.invariant(posed, params, state) != 0).any())


def drifts(step: Step, option: str) -> bool:
    """Whether runs of full participation end away from the optimum."""
    posed, _ = finite_sum(to_float)
    params = scaffold.Params(3, 3, 0.05, 1.0, option=option)
    state = scaffold.algorithm.init(posed, params)
    for _ in range(200):
        state = step(posed, params, state, everyone())
    return not abs(state.x - posed.x_star).max() < 1e-9


CHECKS = (leaves_the_optimum, breaks_the_mean, drifts)


@pytest.mark.parametrize("option", ["I", "II"])
def test_scaffold_follows_its_lines_and_passes_every_check(option):
    posed, _ = finite_sum()
    params = scaffold.Params(2, 3, Fraction(1, 8), Fraction(3, 2), option=option)
    one = other = scaffold.algorithm.init(posed, params)
    for subset in ([True, False, True], [True, True, False]):
        draw = Round(np.array(subset), np.zeros(0))
        one, other = scaffold.step(posed, params, one, draw), by_the_lines(posed, params, other, draw)
        assert all((a == b).all() for a, b in zip(one, other, strict=True))
    assert not any(check(scaffold.step, option) for check in CHECKS)


CAUGHT = {
    ("sign", "I"): {"leaves_the_optimum", "drifts"},
    ("sign", "II"): {"leaves_the_optimum", "drifts"},
    # At the optimum the clients do not move, so the wrong divisor shows only away from it.
    ("batches, not batches x epochs", "II"): {"drifts"},
    ("divided by the selected", "I"): {"breaks_the_mean"},
    ("divided by the selected", "II"): {"breaks_the_mean"},
    ("whole variate sent", "I"): {"leaves_the_optimum", "breaks_the_mean", "drifts"},
    ("whole variate sent", "II"): {"leaves_the_optimum", "breaks_the_mean", "drifts"},
    ("never updated", "I"): {"drifts"},
    ("never updated", "II"): {"drifts"},
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("fault", "option"), CAUGHT)
def test_the_errors_of_public_implementations_are_caught(fault, option):
    def step(*arguments: Any) -> scaffold.State:
        return by_the_lines(*arguments, fault=fault)

    assert {check.__name__ for check in CHECKS if check(step, option)} == CAUGHT[fault, option]


def test_variates_that_are_never_updated_are_fedavg():
    posed, _ = finite_sum()
    params = scaffold.Params(3, 3, Fraction(1, 8), Fraction(3, 2))
    state, x = scaffold.algorithm.init(posed, params), fedavg.algorithm.init(posed, params)
    for _ in range(3):
        state = by_the_lines(posed, params, state, everyone(), "never updated")
        x = fedavg.step(posed, fedavg.Params(*params[:5]), x, everyone())
        assert (state.x == x.x).all()


def test_the_proximal_term_is_squared_and_taken_at_the_current_model():
    posed, _ = finite_sum(to_float)
    params = fedprox.Params(3, 0.5, 200, 1 / 8)
    x = np.array([2.0, -3.0])
    shape = (3, 2)

    def local(pull: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        y = np.broadcast_to(x, shape)
        for _ in range(params.epochs):
            y = y - params.eta_l * (posed.f.gradient(y) + params.mu * pull(y))
        return y.mean(axis=0)

    def unsquared(y: np.ndarray) -> np.ndarray:
        size = np.linalg.norm(y - x, axis=-1, keepdims=True)
        return (y - x) / np.where(size > 0, size, 1)

    right = fedprox.step(posed, params, fedprox.State(x), everyone()).x
    wanted = fedprox.proximal_point(posed, params.mu, x).mean(axis=0)
    np.testing.assert_allclose(right, wanted, atol=1e-12)
    np.testing.assert_allclose(local(lambda y: y - x), right, atol=1e-12)
    without = fedavg.step(posed, fedavg.Params(3, 200, 1 / 8), fedavg.State(x), everyone()).x
    for pull, is_fedavg in ((unsquared, False), (lambda y: x - x, True)):
        assert abs(local(pull) - wanted).max() > 1e-2
        assert np.allclose(local(pull), without) == is_fedavg


# Convergence


def test_baselines_on_logistic_losses():
    rng = np.random.default_rng(6)
    A, b = rng.standard_normal((4, 6, 3)), rng.choice([-1, 1], (4, 6))
    posed = Problem(Logistic(A, b, 0.3))
    parts = Split(Logistic(A.reshape(24, 1, 3), b.reshape(24, 1), 0.3), 6)
    step = 1 / posed.L

    def gaps(algorithm: Algorithm, params: Params, rounds: int) -> np.ndarray:
        return run(
            algorithm,
            posed,
            params,
            rounds,
            np.random.default_rng(7),
            lambda state: ((state.x - posed.x_star) ** 2).sum(axis=-1),
            replicas=4,
        )

    # SCAFFOLD finds the optimum under partial participation, the others a neighbourhood that shrinks with the stepsize.
    for option in ("I", "II"):
        assert (gaps(scaffold.algorithm, scaffold.Params(2, 3, step / 3, option=option), 400)[-1] < 1e-10).all()
    # All rows at once are stepped client by client, as their mean over one batch is step by step.
    averages = [fedavg.Params(3, 2, step / 2, batches=batches) for batches in (AllRows(), Minibatches(parts, 6))]
    chosen, _ = UniformSubset(4, 3).support()
    rows = np.broadcast_to(np.arange(6), (4, 2, 6))
    for clients in chosen:
        draw = minibatch_sgd.Round(clients, rows)
        together, apart = (fedavg.step(posed, params, fedavg.State(np.ones(3)), draw).x for params in averages)
        np.testing.assert_allclose(together, apart, rtol=0, atol=1e-14)
    for batches in (AllRows(), Minibatches(parts, 2)):
        for algorithm, long, short in (
            (minibatch_sgd.algorithm, minibatch_sgd.Params(2, step, batches), {"eta": step / 10}),
            (fedavg.algorithm, fedavg.Params(2, 2, step / 2, batches=batches), {"eta_l": step / 20}),
            (fedprox.algorithm, fedprox.Params(2, 0.1, 2, step / 2, batches), {"eta_l": step / 20}),
        ):
            far, near = (gaps(algorithm, params, 400)[-200:].mean() for params in (long, long._replace(**short)))
            assert 1e-7 < near < far / 2 < gaps(algorithm, long, 0)[0].mean()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda p: scaffold.draws(p, scaffold.Params(2, 1, 0.1, option="III"), None),
            "options 'I' and 'II', got 'III'",
        ),
        (lambda p: fedavg.draws(p, fedavg.Params(2, 0, 0.1), None), "at least one local epoch, got 0"),
        (lambda p: fedprox.draws(p, fedprox.Params(2, 0.1), None), "needs a local stepsize"),
        (lambda p: fedavg.draws(p, fedavg.Params(4, 1, 0.1), None), "tau must be between 1 and the 3 clients"),
        (
            lambda p: fedprox.proximal_point(Problem(Logistic(np.ones((2, 2, 1)), np.ones((2, 2)), 1)), 1, np.ones(1)),
            "closed form for quadratics",
        ),
    ],
)
def test_user_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call(finite_sum()[0])
