"""The runs of FedADMM's figures on tiny instances: stopping rules, gradients that are counted, what is measured."""

import numpy as np
import pytest

from fedtheory.data import Dataset
from fedtheory.papers.fedadmm.reruns import FIGURES, runs
from fedtheory.papers.fedadmm.reruns.names import METHODS, RIVALS, Setting, key
from fedtheory.problems.base import stationary_point, weighted_value
from fedtheory.problems.logistic import Logistic

SETTING = Setting(6, 0.5, 2)


def synthetic(rng=None):
    return runs.synthetic(6, 20, rng or np.random.default_rng(0))


def test_fedadmm_stops_by_rule_30(monkeypatch):
    task, slopes, slope = synthetic(), [], runs.Instance.slope
    goal = min(task.slope(np.zeros(20)) / 5, 5 * 1e-3 * 20 / (6 * task.rows))
    monkeypatch.setattr(runs.Instance, "slope", lambda task, w: slopes.append(slope(task, w)) or slopes[-1])
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
