"""Runs that begin at another start of the method, and faults that would hide behind one."""

import numpy as np
import pytest

from fedtheory.algorithms.diana import Params
from fedtheory.compressors import Family, rand_k
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify import conformance


def ef21(problem, params, rounds, rng, start="compressed", slip=""):
    x, found = np.zeros(problem.d), []
    slopes = problem.f.gradient(x[None, :])
    g = params.compressor.sample(rng, slopes) if start == "compressed" else slopes
    if start == "halved":
        g = g / 2
    for _ in range(rounds):
        old, x = x, x - params.gamma * (g.sum(axis=0) if slip == "sum" else g.mean(axis=0))
        at = old if slip == "stale" else x
        c = params.compressor.sample(rng, problem.f.gradient(at[None, :]) - (0 if slip == "no feedback" else g))
        g = c if slip == "no feedback" else g + c
        found.append(x.copy())
    return found


def diana(problem, params, rounds, rng, start="gradients", slip=""):
    x, found = np.zeros(problem.d), []
    h = problem.f.gradient(x[None, :]) if start == "gradients" else np.zeros((problem.n, problem.d))
    if start == "mean":
        h = np.tile(problem.f.gradient(x[None, :]).mean(axis=0), (problem.n, 1))
    h_bar = np.zeros(problem.d) if slip == "h_bar from 0" else h.mean(axis=0)
    alpha = params.gamma if slip == "alpha" else params.alpha
    for _ in range(rounds):
        m = params.compressors.sample(rng, problem.f.gradient(x[None, :]) - h)
        x = x - params.gamma * (h_bar + m.mean(axis=0))
        h, h_bar = h + alpha * m, h_bar + alpha * m.mean(axis=0)
        found.append(x.copy())
    return found


def scaffnew(problem, params, rounds, rng, start="gradients", slip=""):
    x, found = np.zeros((problem.n, problem.d)), []
    h = problem.f.gradient(x)
    if start != "not centred":
        h = (h - h.mean(axis=0)) / (2 if start == "halved" else 1)
    for _ in range(rounds):
        y = x - params.gamma * (problem.f.gradient(x) - h)
        mean = (y - params.gamma / params.p * h).mean(axis=0)
        x = np.tile(mean, (problem.n, 1)) if rng.random() < params.p else y
        h = h + (1 if slip == "no p" else params.p) / params.gamma * (x - y)
        found.append(x)
    return found


def scaffold(problem, params, rounds, rng, start="gradients", slip=""):
    x, found = np.zeros(problem.d), []
    c_i = problem.f.gradient(np.zeros((problem.n, problem.d)))
    c = 0 * x if slip == "c from 0" else c_i.mean(axis=0)
    for _ in range(rounds):
        chosen = rng.choice(problem.n, params.tau, replace=False)
        moved, renewed = 0 * x, c_i.copy()
        for i in chosen:
            y = x.copy()
            for _ in range(params.epochs):
                y = y - params.eta_l * (conformance.client(problem, int(i)).gradient(y) - c_i[i] + c)
            moved += (y - x) / params.tau
            renewed[i] = c_i[i] - c + (x - y) / (params.epochs * params.eta_l)
        c = c + (renewed - c_i).sum(axis=0) / (params.tau if slip == "tau" else problem.n)
        x, c_i = x + params.eta_g * moved, renewed
        found.append(x)
    return found


def sag(problem, params, rounds, rng):
    x, found = np.zeros(problem.d), []
    y = problem.f.gradient(x[None, :])
    for _ in range(rounds):
        i = rng.integers(problem.n)
        y[i] = conformance.client(problem, int(i)).gradient(x)
        x = x - params.alpha / problem.n * y.sum(axis=0)
        found.append(x)
    return found


def small(problem, params):
    """Two clients in few dimensions."""
    return problem.n == 2 and problem.d <= 2


METHODS = {"ef21": ef21, "diana": diana, "scaffnew": scaffnew, "scaffold": scaffold, "sag": sag}


@pytest.mark.parametrize("name", METHODS)
def test_runs_may_begin_at_any_start_of_the_method(name):
    report = conformance.algorithm(name, run=METHODS[name], keep=small)
    assert report.ok, str(report)
    assert sum("which is a start of the method too" in note for note in report.notes) == 1


def test_of_two_starts_the_one_that_explains_more_problems_is_that_of_the_evidence():
    # One client is its own sum, and shows nothing.
    report = conformance.algorithm("ef21", run=lambda *given: ef21(*given, slip="sum"))
    assert "n = 1" not in report.failures[0].evidence
    assert any("g_i^0 = C_i(grad f_i(x^0))" in note for note in report.notes)


WRONG = [
    ("ef21", {"slip": "stale"}, "gradients are taken at the old model"),
    ("ef21", {"slip": "no feedback"}, "there is no error feedback"),
    ("ef21", {"start": "halved"}, ""),
    ("ef21", {"slip": "sum"}, "2 gamma"),
    ("diana", {"slip": "alpha"}, "gamma"),
    ("diana", {"slip": "h_bar from 0"}, ""),
    ("diana", {"start": "mean"}, ""),
    ("scaffnew", {"slip": "no p"}, ""),
    ("scaffnew", {"start": "halved"}, ""),
    ("scaffnew", {"start": "not centred"}, ""),
    ("scaffold", {"slip": "c from 0"}, ""),
    ("scaffold", {"slip": "tau"}, "averaged over the participants"),
]


@pytest.mark.parametrize(("name", "fault", "words"), WRONG)
def test_no_fault_hides_behind_another_start(name, fault, words):
    def run(problem, params, rounds, rng):
        return METHODS[name](problem, params, rounds, rng, **fault)

    report = conformance.algorithm(name, run=run, keep=small)
    assert len(report.failures) == 1
    assert words in report.failures[0].evidence


def test_an_init_may_be_any_start_of_the_method():
    def step(problem, params, state, draw):
        x = state["x"] - params.gamma * state["g_bar"]
        c = params.compressor.apply(draw, problem.f.gradient(x[None, :]) - state["g"])
        return {"x": x, "g": state["g"] + c, "g_bar": state["g_bar"] + c.mean(axis=0)}

    def init(problem, params, factor=1.0):
        x = np.zeros(problem.d)
        g = factor * params.compressor.sample(np.random.default_rng(1), problem.f.gradient(x[None, :]))
        return {"x": x, "g": g, "g_bar": g.mean(axis=0)}

    report = conformance.algorithm("ef21", init=init, step=step, keep=small)
    assert report.ok, str(report)
    assert "runs begin at g_i^0 = C_i(grad f_i(x^0))" in str(report)
    report = conformance.algorithm("ef21", init=lambda *given: init(*given, 0.5), step=step, keep=small)
    assert report.failures[0].where == "init, g"


@pytest.mark.parametrize("right", [True, False])
def test_iterates_of_a_trace_may_begin_at_any_start(right, tmp_path):
    problem = Problem(diagonal([[1.0, 2.0], [3.0, 1.5]], [[1.0, -2.0], [0.5, 3.0]]))
    params = Params(0.1, 0.5, Family(rand_k(2, 1), 2, "independent"))
    models = diana(problem, params, 12, np.random.default_rng(0), slip="" if right else "alpha")
    file = tmp_path / "run.npz"
    given = {"params.gamma": 0.1, "params.alpha": 0.5, "params.compressors": "rand-1"}
    of = {"problem.H": problem.f.H, "problem.c": problem.f.c, "iterates": [np.zeros(2), *models]}
    np.savez(file, **given, **of)
    report = conformance.check_trace("diana", file)
    assert report.ok == right, str(report)
    assert ("runs begin at h_i^0 = grad f_i(x^0)" in str(report)) == right
