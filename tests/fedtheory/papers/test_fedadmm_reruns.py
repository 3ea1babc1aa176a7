"""The runs of FedADMM's figures on tiny instances: stopping rules, gradients that are counted, what is measured."""

import numpy as np
import pytest

from fedtheory.algorithms import fedadmm, fedalt, fedavg_stale, fedprox, fedsim
from fedtheory.algorithms.selections import Uniform
from fedtheory.data import Dataset
from fedtheory.learning.logistic import Logistic
from fedtheory.papers.fedadmm.reruns import FIGURES, runs
from fedtheory.papers.fedadmm.reruns.names import METHODS, RIVALS, RoundSetting, key
from fedtheory.problems.base import stationary_point, weighted_value

SETTING = RoundSetting(6, 0.5, 2)


def synthetic(rng=None):
    return runs.synthetic(6, 20, rng or np.random.default_rng(0))


def test_fedadmm_stops_by_rule_30(monkeypatch):
    task, slopes, slope = synthetic(), [], runs.ExampleProblem.slope
    goal = min(task.slope(np.zeros(20)) / 5, 5 * 1e-3 * 20 / (6 * task.rows))
    monkeypatch.setattr(runs.ExampleProblem, "slope", lambda task, w: slopes.append(slope(task, w)) or slopes[-1])
    outcome = runs.admm(task, SETTING, 1.0, 400, np.random.default_rng(0))
    assert np.isfinite(outcome.rounds) and len(outcome.values) == outcome.rounds
    # The first is that of the start, which the rule names.
    assert slopes[-1] < goal <= min(slopes[1:-1])
    shorter = runs.admm(task, SETTING, 1.0, int(outcome.rounds) - 1, np.random.default_rng(0))
    assert np.isinf(shorter.rounds) and (shorter.values == outcome.values[:-1]).all()
    # Three participants, two iterations a round, each with a step and the test that ends it at least.
    assert len(outcome.gradients) == outcome.rounds and outcome.gradients[-1] >= 3 * 2 * 2 * outcome.rounds
    end = outcome.reaching(outcome.values[3])
    assert end.rounds <= 4 and end.values[-1] <= outcome.values[3]
    assert np.isinf(outcome.reaching(-1.0).rounds)


@pytest.mark.parametrize("method", RIVALS)
def test_rivals_stop_near_the_goal(method):
    task = synthetic()
    best = task.value(stationary_point(task.problem, task.alpha))
    goal, setting = best + 0.05, SETTING._replace(k0=1, rho=1.0)
    outcome = runs.rival(task, method, setting, 1.0, goal, 500, np.random.default_rng(0))
    assert np.isfinite(outcome.rounds)
    assert best <= outcome.values[-1] <= goal + 2e-4 * (1 + goal)
    assert (outcome.values[:-1] > goal + 2e-4 * (1 + goal)).all()
    assert outcome.gradients[-1] == 6 * len(outcome.values) * (2 if method in ("FedAlt", "FedSim") else 1)
    never = runs.rival(task, method, setting, 1.0, best - 1, 3, np.random.default_rng(0))
    assert np.isinf(never.rounds) and len(never.values) == 3


def test_a_run_that_tunes_is_given_up_when_it_falls_too_slowly():
    falling = [1 / t for t in range(1, 41)]
    # The second half falls from 1/20 to 1/40, as much again as there is left in 20 rounds of a straight line.
    assert not runs.hopeless(falling, 0.0, 61) and runs.hopeless(falling, 0.0, 59)
    assert not runs.hopeless(falling[:39], 0.0, 40) and runs.hopeless([1.0] * 10, 0.5, 10**6)
    task, still = synthetic(), SETTING._replace(k0=30)
    given_up = runs.rival(task, "FedAvg", still, 1.0, -1.0, 300, np.random.default_rng(0), patient=False)
    assert np.isinf(given_up.rounds) and len(given_up.values) < 100


def test_a_diverging_run_is_given_up():
    outcome = runs.rival(synthetic(), "FedAvg", SETTING, 1e200, 0.0, 50, np.random.default_rng(0))
    assert np.isinf(outcome.rounds) and len(outcome.values) < 50


def test_sparse_rows_give_the_same_values():
    rng = np.random.default_rng(0)
    A = np.where(rng.random((12, 30)) < 0.1, 1.0, 0.0)
    task = runs.real(Dataset("sparse", A, np.where(np.arange(12) % 2, 1.0, -1.0)), 3, rng)
    f, w = task.problem.f, rng.normal(size=30)
    assert f.sparse_rows is not None
    plain = Logistic(f.A, f.b, f.mu)
    x = rng.normal(size=(2, 3, 30))
    np.testing.assert_allclose(f.gradient(x), plain.gradient(x), atol=1e-14)
    assert task.value(w) == pytest.approx(float(weighted_value(task.problem, task.alpha, w)))


def test_a_setting_measures_what_statements_compare():
    found = runs.measured(synthetic, SETTING, "k0 = 2", 2, 60, (0, 1), "costs")
    assert set(found.numbers) >= {key(of, m, "k0 = 2") for of in ("rounds", "gradients") for m in METHODS}
    assert all(len(spans) == 2 for spans in found.numbers.values())
    assert len(found.notes) == len(METHODS) and len(found.curves) == 2 * len(METHODS)
    values = runs.measured(synthetic, SETTING, "k0 = 2", 2, 20, (0,), "values")
    assert {curve.panel for curve in values.curves} == {"k0 = 2"}


@pytest.mark.parametrize("figure", FIGURES[:5], ids=lambda figure: figure.id)
def test_statements_compare_what_the_settings_measure(figure):
    data = Dataset("rows", np.eye(500), np.where(np.arange(500) % 2, 1.0, -1.0))
    labels = {*figure.tasks(None, (0,)), *(figure.tasks(data, (0,)) if figure.read else ())}
    measured = {key(of, m, label) for of in ("rounds", "gradients", "early value") for m in METHODS for label in labels}
    assert {k for s in figure.statements for part in s.parts for k in part.keys} <= measured


def test_the_least_value_is_that_of_the_stationary_point():
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(40) % 2, 1.0, -1.0)
    for task in (synthetic(), runs.real(Dataset("rows", rng.normal(size=(40, 5)), labels), 4, rng)):
        best = task.value(stationary_point(task.problem, task.alpha))
        assert best - 1e-12 <= task.least <= best + 1e-8


def _of_library(task, method, factor):
    """The library's method with the parameters of the figures, and the model that the server makes of a state."""
    m, k0, size = SETTING.m, SETTING.k0, factor * (1 if method == "FedADMM" else runs.unit(task, method))
    if method == "FedADMM":
        parts = (task.alpha, runs.PENALTY * task.r / m / size, np.full(m, runs.NU), np.full(m, float(k0**2)), k0)
        params = fedadmm.Params(*parts, Uniform(m, 3), runs.Counting(task.r, least=1, counted=[]))
        origin = np.zeros((m, task.problem.d))
        state = fedadmm.init(task.problem, params, W=origin, Pi=origin, w=origin[0])
        return fedadmm.algorithm, params, state, lambda state: fedadmm.average(params, state.Z)
    algorithm = {"FedAvg": fedavg_stale, "FedProx": fedprox, "FedAlt": fedalt, "FedSim": fedsim}[method].algorithm
    params = {
        "FedAvg": fedavg_stale.Params(size * m, k0, Uniform(m, 3)),
        "FedProx": fedprox.Params(3, runs.PROXIMAL, k0, size),
    }.get(method, fedalt.Params(3, k0, runs.PERSONAL, runs.TIE, size, size))
    state = algorithm.init(task.problem, params)
    state = type(state)(*(np.asarray(field, dtype=float) for field in state))
    return algorithm, params, state, lambda state: state.W.mean(axis=0) if method == "FedAvg" else state[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "share, d", [(None, 20), (0.1, 300), (1, 5), (1, 50)], ids=["squares", "sparse", "few", "many"]
)
def test_what_participants_compute_alone_is_what_the_library_computes_of_all(method, share, d):
    rng = np.random.default_rng(1)
    if share is None:
        task = runs.synthetic(SETTING.m, d, rng)
    else:
        rows = np.where(rng.random((120, d)) < share, rng.normal(size=(120, d)), 0)
        task = runs.real(Dataset("rows", rows, np.where(np.arange(120) % 2, 1.0, -1.0)), SETTING.m, rng)
    if method == "FedADMM":
        found = runs.admm(task, SETTING, 0.7, 10, np.random.default_rng(2))
    else:
        found = runs.rival(task, method, SETTING, 0.7, -9.0, 10, np.random.default_rng(2))
    algorithm, params, state, model = _of_library(task, method, 0.7)
    rng, values = np.random.default_rng(2), []
    for _ in found.values:
        draw = algorithm.draws(task.problem, params, state).sample(rng)
        state = algorithm.step(task.problem, params, state, draw)
        values.append(weighted_value(task.problem, task.alpha, model(state)))
    np.testing.assert_allclose(found.values, values, rtol=1e-12)
    if method == "FedADMM":
        counted = np.array(params.solver.counted).reshape(-1, SETTING.k0).sum(axis=1)
        assert (found.gradients == np.cumsum(counted)).all()
