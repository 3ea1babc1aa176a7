"""The runs of FedDCD's Section 8, on tiny instances: splits, optima, local solvers, methods, what tasks measure."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fedtheory.algorithms import accfeddcd, feddcd
from fedtheory.data import Images
from fedtheory.experiments import Span
from fedtheory.papers.feddcd.reruns import FIGURES, dealing, methods, panels
from fedtheory.papers.feddcd.reruns.dealing import IID, SKEWED, Data
from fedtheory.papers.feddcd.reruns.local import newton_steps
from fedtheory.papers.feddcd.reruns.names import DUAL, LINEAR, METHODS, PERCEPTRON, SETUPS
from fedtheory.problems.base import Problem

CLIENTS = 6


def data(classes=3, rows=90, features=4):
    rng = np.random.default_rng(0)
    b = np.arange(rows) % classes
    A = rng.standard_normal((rows, features)) + b[:, None]
    return Data("synthetic", np.column_stack([A, np.ones(rows)]), b)


def task(model=LINEAR, split=SKEWED, classes=3):
    return methods.pose(data(classes), model, split, CLIENTS)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_both_splits_hold_the_same_rows_and_the_skewed_one_few_labels(classes):
    b = data(classes, 100).b
    dealt = dealing.deal(b, CLIENTS, 10, np.random.default_rng(0))
    iid, skewed = dealt.rows[IID], dealt.rows[SKEWED]
    assert iid.shape == skewed.shape == (CLIENTS, 10)
    assert sorted(iid.ravel()) == sorted(skewed.ravel())
    assert len(set(iid.ravel())) == iid.size
    assert not set(iid.ravel()) & set(dealt.test)
    assert {len(set(row)) for row in b[skewed].tolist()} <= ({1} if classes == 2 else {1, 2})
    with pytest.raises(ValueError, match="too few for 6 clients"):
        dealing.deal(np.arange(12) % 3, CLIENTS, 10, np.random.default_rng(0))


def test_images_become_means_of_squares_without_their_border():
    pixels = np.arange(28 * 28, dtype=float).reshape(1, 28, 28) / 784
    small = dealing._smaller(Images("images", pixels.reshape(1, -1), np.zeros(1, dtype=int)))
    assert small.shape == (1, 64)
    assert small[0, 0] == pytest.approx(pixels[0, 2:5, 2:5].mean())
    assert small[0, -1] == pytest.approx(pixels[0, 23:26, 23:26].mean())


def test_files_are_read_or_refused(tmp_path):
    path = tmp_path / "three"
    path.write_text("1 1:0.5\n2 2:1\n7 1:1 2:1\n")
    found = dealing.read((path,))
    assert (found.classes, found.A.tolist()) == (3, [[0.5, 0, 1], [0, 1, 1], [1, 1, 1]])
    for text, why in (
        ("1 1:1\n1 1:2\n", "two or more different labels"),
        ("1 x\n", "LIBSVM"),
        ("1 1:1\n2 9999:1\n", "weights"),
        ("1 1:1\n2 1:nan\n", "NaN or infinite features"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=why):
            dealing.read((path,))


@pytest.mark.parametrize("split", [IID, SKEWED])
def test_the_gap_is_that_of_the_average_risk_from_the_optimum(split):
    t = task(split=split)
    f = t.f
    assert t.gap(t.start) == pytest.approx(f.value(t.start[None]).mean() - t.best)
    x = np.random.default_rng(2).standard_normal(f.d)
    assert t.gap(x) == pytest.approx(f.value(x[None]).mean() - t.best) and t.gap(x) > 0
    assert t.gap(np.full(f.d, 1e308)) == np.inf
    assert 0 <= t.accuracy(x) <= 1


def test_local_newton_steps_are_gradients_of_the_conjugate(monkeypatch):
    monkeypatch.setattr("fedtheory.papers.feddcd.reruns.local._TOLERANCE", 1e-12)
    f = task().f
    rng = np.random.default_rng(1)
    y, clients = 3 * rng.standard_normal((CLIENTS, f.d)), np.array([1, 4])
    found = newton_steps(f)(clients, y[clients], 5 * rng.standard_normal((2, f.d)))
    np.testing.assert_allclose(found, f.conjugate_gradient(y)[clients], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("method", DUAL)
def test_dual_methods_are_those_of_the_theory_with_the_average_of_the_answers(method, monkeypatch):
    monkeypatch.setattr("fedtheory.papers.feddcd.reruns.local._TOLERANCE", 1e-13)
    t, tau, ratio = task(), 3, 0.01
    module = {"FedDCD": feddcd, "AccFedDCD": accfeddcd}[method]
    Lambda = np.full(CLIENTS, 1 / (0.5 * methods.ALPHA))
    extra = () if method == "FedDCD" else accfeddcd.acceleration(ratio, tau, CLIENTS)
    problem, params = Problem(t.f), module.Params(tau, Lambda, *extra)
    zero, rng = np.zeros((CLIENTS, t.f.d)), np.random.default_rng(4)
    state = module.State(zero, zero) if method == "FedDCD" else module.State(zero, zero, zero, zero)
    trial = methods.dual(t, tau, methods.ALPHA, None if method == "FedDCD" else ratio)
    for x in itertools.islice(trial(0.5, np.random.default_rng(4)), 3):
        draw = module.draws(problem, params, state).sample(rng)
        before = state
        state = module.step(problem, params, state, draw)
        at = before.y if method == "FedDCD" else state.v
        w, masks = t.f.conjugate_gradient(at), (draw,) if method == "FedDCD" else draw
        np.testing.assert_allclose(x, np.mean([w[mask].mean(axis=0) for mask in masks], axis=0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("model", [LINEAR, PERCEPTRON])
@pytest.mark.parametrize("method", METHODS)
def test_methods_learn_and_repeat_themselves(model, method):
    t = task(model, IID)
    for trial in methods.trials(t, method, 3).values():
        first, again = ([*itertools.islice(trial(1.0, np.random.default_rng(5)), 4)] for _ in range(2))
        np.testing.assert_array_equal(first, again)
        assert t.gap(first[-1]) < t.gap(t.start)


def test_the_control_variates_of_scaffold_are_those_of_all_clients():
    # With all clients in each round the optimum of unlike clients is found, which FedAvg misses.
    t = task()
    last = {}
    for method in ("FedAvg", "SCAFFOLD"):
        *_, x = itertools.islice(methods.primal(t, method, CLIENTS, 5)(1.0, np.random.default_rng(0)), 300)
        last[method] = t.gap(x)
    assert last["SCAFFOLD"] < 0.1 * last["FedAvg"]


def test_tasks_measure_what_the_statements_compare(monkeypatch):
    monkeypatch.setattr(methods, "CLIENTS", CLIENTS)
    monkeypatch.setattr(panels, "pose", lambda data, model, split: methods.pose(data, model, split, CLIENTS))
    monkeypatch.setattr(panels, "tune", lambda cost, grid: type("T", (), {"factor": 1.0, "tried": {1.0: cost(1.0)}})())
    monkeypatch.setattr(panels, "ROUNDS", 4)
    monkeypatch.setattr(panels, "SETUPS", [(m, min(tau, 4), e) for m, tau, e in SETUPS])
    monkeypatch.setattr(methods, "EPOCHS", (1,))
    table = [task() for task in panels.table(data(), (0, 1)).values()]
    keys = {key.replace("tau = 4", "tau = 30") for result in table for key in result.numbers}
    wanted = {
        key.replace("tau = 10", "tau = 30").replace("tau = 5,", "tau = 30,")
        for s in FIGURES[0].statements
        for part in s.parts
        for key in part.keys
    }
    assert wanted <= keys and all(len(spans) == 2 for result in table for spans in result.numbers.values())


def test_shares_of_rounds_are_bounded_by_what_is_known_of_both():
    assert panels._ratio(Span(2, 2), Span(8, 8)) == Span(0.25, 0.25)
    assert panels._ratio(Span(2, 2), Span(100, np.inf)) == Span(0, 0.02)
    assert panels._ratio(Span(100, np.inf), Span(4, 4)) == Span(25, np.inf)


@pytest.mark.parametrize("target", [0.1, -np.inf])
def test_runs_that_are_behind_are_cut_short_and_the_same_setting_is_found(target, monkeypatch):
    rounds, most = {}, 12
    rng = np.random.default_rng(0)

    def run(task, trial, factor, draws, target, limit):
        # Gaps fall to 0.1 within some rounds of this factor's own, or do not come there.
        speed = rounds.setdefault((trial, factor, draws[-1]), rng.uniform(0.5, 30))
        gaps = 10.0 ** (-np.arange(limit + 1) / speed)
        reached = np.flatnonzero(gaps <= target)
        return panels.Ran(tuple(gaps[: reached[0] + 1] if len(reached) else gaps), gaps)

    monkeypatch.setattr(panels, "_run", run)
    for case in range(20):
        names = {name: f"{name} {case}" for name in ("5 epochs", "20 epochs")}
        monkeypatch.setattr(panels, "trials", lambda task, method, tau, names=names: names)
        _, trial, tuned = panels._best(task(), "FedAvg", 3, target, most)

        def cost(trial, factor):
            ran = [run(None, trial, factor, [k], target, most) for k in range(2)]
            return max(one.to(target) if np.isfinite(one.to(target)) else 1e6 * (1 + one.gaps[-1]) for one in ran)

        costs = {(other, f): cost(names[other], f) for other in names for f in (0.5, 1.0, 2.0)}
        assert cost(trial, tuned.factor) <= min(costs.values())
        assert min(tuned.tried.values()) == cost(trial, tuned.factor)
