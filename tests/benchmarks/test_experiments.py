"""The experiments of FedDCD's Section 8, on tiny instances: splits, optima, rounds, tables, sentences."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from matplotlib.image import imread

from fedtheory.algorithms import accfeddcd, feddcd, run
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import solve

runs = importlib.import_module("feddcd_runs")
experiments = importlib.import_module("feddcd_experiments")

CLIENTS, ROUNDS, SEEDS = 6, 6, 2


def data(classes: int = 3, rows: int = 90, features: int = 4):
    rng = np.random.default_rng(0)
    b = np.arange(rows) % classes
    A = rng.standard_normal((rows, features)) + b[:, None]
    return runs.Data("synthetic", np.column_stack([A, np.ones(rows)]), b)


def tasks(classes: int = 3, model: str = runs.LINEAR, features: int = 4):
    given = data(classes, features=features)
    return {t.split: t for t in runs.tasks(given, (model,), CLIENTS, np.random.default_rng(1), 0.1)}


def grids(task, method: str, tau: int = 3, seeds: int = SEEDS):
    if method in runs.PRIMAL:
        return [runs.primal_grid(task, method, tau, epochs, seeds) for epochs in runs.EPOCHS]
    return [runs.dual_grid(task, method, tau, seeds)]


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_both_splits_hold_the_same_rows_and_the_skewed_one_few_labels(classes):
    b = data(classes, 100).b
    dealt = runs.deal(b, CLIENTS, 10, np.random.default_rng(0))
    iid, skewed = dealt.rows[runs.IID], dealt.rows[runs.SKEWED]
    assert iid.shape == skewed.shape == (CLIENTS, 10)
    assert sorted(iid.ravel()) == sorted(skewed.ravel())
    assert len(set(iid.ravel())) == iid.size
    assert not set(iid.ravel()) & set(dealt.test)
    assert len(dealt.test) >= 20
    assert {len(set(row)) for row in b[skewed].tolist()} <= ({1} if classes == 2 else {1, 2})


def test_too_few_rows_for_the_clients():
    with pytest.raises(ValueError, match="too few for 6 clients"):
        runs.deal(np.arange(12) % 3, CLIENTS, 10, np.random.default_rng(0))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("split", [runs.IID, runs.SKEWED])
def test_the_gap_is_that_of_the_average_risk_from_the_true_optimum(classes, split):
    task = tasks(classes)[split]
    x = solve(Problem(task.f)).x
    # The risk is strongly convex, so that a zero gradient is proof enough.
    assert abs(task.f.gradient(x[None]).mean(axis=0)).max() < 1e-11
    assert task.gap(x) == pytest.approx(0, abs=1e-13)
    trials = x + 0.1 * np.random.default_rng(2).standard_normal((50, task.f.d))
    risks = task.f.value(np.repeat(trials[:, None], CLIENTS, axis=1)).mean(axis=1)
    np.testing.assert_allclose(task.gap(trials), risks - task.best, atol=1e-14)
    assert task.gap(trials).min() > 1e-4
    assert task.gap(np.full(task.f.d, 1e308)) == np.inf


def test_gradients_of_the_binary_model_on_batches():
    f = tasks(2)[runs.SKEWED].f
    x = np.random.default_rng(3).standard_normal((2, CLIENTS, f.d))
    rows = np.broadcast_to(np.arange(f.m), (CLIENTS, f.m))
    np.testing.assert_allclose(f.batch_gradient(x, rows), f.gradient(x), atol=1e-14)
    each = [f.batch_gradient(x, rows[:, j : j + 1]) for j in range(f.m)]
    np.testing.assert_allclose(np.mean(each, axis=0), f.gradient(x), atol=1e-14)


# With 4 features Newton systems are in the whole space, with 40 in the span of a client's rows.
@pytest.mark.parametrize("features", [4, 40])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", runs.DUAL)
def test_dual_methods_are_those_of_the_theory_with_the_average_of_the_uploads(features, classes, method):
    task = tasks(classes, features=features)[runs.SKEWED]
    (grid,) = grids(task, method)
    inner = {"FedDCD": feddcd, "AccFedDCD": accfeddcd}[method].algorithm
    size, exact = len(grid.settings) * SEEDS, Problem(task.f)
    start = inner.State(*grid.state[:-1])
    y = run(inner, exact, grid.params, ROUNDS, np.random.default_rng(4), lambda s: s.y, size, start)
    mine, x = [], []

    def observe(state):
        mine.append(state.y)
        x.append(state.x)
        return state.y

    run(grid.algorithm, grid.problem, grid.params, ROUNDS, np.random.default_rng(4), observe, size, grid.state)
    np.testing.assert_allclose(mine, y, atol=1e-9)
    # The first set of clients is asked at y = 0: the server's model is the average of their local minimisers.
    draw = inner.draws(exact, grid.params, start).sample(np.random.default_rng(4), (size,))
    masks = (draw,) if method == "FedDCD" else draw
    local = task.f.conjugate_gradient(np.zeros((CLIENTS, task.f.d)))
    uploads = [np.where(mask[..., None], local, 0).sum(axis=1) / 3 for mask in masks]
    np.testing.assert_allclose(x[1][:, 0], uploads[0], atol=1e-9)
    np.testing.assert_allclose(x[1][:, -1], np.mean(uploads, axis=0), atol=1e-9)


@pytest.mark.parametrize("model", [runs.LINEAR, runs.PERCEPTRON])
@pytest.mark.parametrize("method", runs.METHODS)
def test_curves_have_a_point_a_round_and_start_alike(model, method):
    task = tasks(model=model)[runs.IID]
    curves = runs.measure(task, grids(task, method), ROUNDS, SEEDS, np.random.default_rng(5))
    assert curves.gap.shape == curves.accuracy.shape == (len(curves.settings), ROUNDS + 1)
    np.testing.assert_allclose(curves.gap[:, 0], task.gap(task.start), rtol=1e-12)
    assert curves.exchanges == (2 if method == "AccFedDCD" else 1)
    assert curves.gap[curves.best, -1] < curves.gap[curves.best, 0]
    assert ((curves.accuracy >= 0) & (curves.accuracy <= 1)).all()


def curve(gaps, exchanges: int = 1):
    gap = np.atleast_2d(np.array(gaps, dtype=float))
    return runs.Curves(tuple(f"setting {k}" for k in range(len(gap))), gap, np.full(gap.shape, 0.5), exchanges)


def test_rounds_are_those_of_the_soonest_setting_and_an_iteration_may_be_two():
    found = curve([[1, 0.2, 0.2, 0.1, 0.02], [1, 0.3, 0.1, 0.05, 0.05]], exchanges=2)
    assert [found.rounds_to(v) for v in (1, 0.25, 0.1, 0.03, 0.01)] == [0, 1, 2, 4, np.inf]
    assert [found.rounds_to(v, once=True) for v in (1, 0.25, 0.1, 0.03, 0.01)] == [0, 1, 1, 2, np.inf]
    assert found.best == 1
    assert curve([np.inf, np.inf]).rounds_to(1) == np.inf


SCALE = runs.Scale(CLIENTS, (2, 3), 8, SEEDS)


def results(dual: float, primal: float):
    """Gaps that are multiplied by a number in every round, for both dual and for all primal methods."""
    found = {}
    for split in (runs.IID, runs.SKEWED):
        for tau in SCALE.taus:
            for method in runs.METHODS:
                factor = dual if method in runs.DUAL else primal
                speed = (tau / 3) * (1 if split == runs.IID else 0.9)
                gaps = factor ** (speed * np.arange(SCALE.rounds + 1))
                found[runs.LINEAR, split, tau, method] = curve(gaps, 2 if method == "AccFedDCD" else 1)
    return found


def test_the_table_has_the_rounds_with_the_fewest_in_bold():
    lines = experiments.table(results(0.3, 0.5), SCALE).splitlines()
    assert len(lines) == 2 + 2 * 2 * 3
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert len({len(row) for row in cells}) == 1
    assert cells[0][4:] == [*runs.METHODS, "AccFedDCD, iterations"]
    # tau = 3, i.i.d.: 0.3^2 < 0.1 < 0.3, 0.5^4 < 0.1 < 0.5^3, and 0.5^8 > 0.001.
    assert cells[5] == ["linear model", "i.i.d.", "3", "0.1", "4", "4", "4", "**2**", "**2**", "1"]
    assert cells[7] == ["linear model", "i.i.d.", "3", "0.001", "> 8", "> 8", "> 8", "**6**", "**6**", "3"]
    assert experiments.accuracies(results(0.3, 0.5), 3).count("50.00%") == len(runs.METHODS)


def verdicts(dual: float, primal: float) -> list[str]:
    sentences = list(experiments.orderings(results(dual, primal), SCALE))
    assert all(s.endswith(".") for s in sentences)
    return [s.split(": ")[-1].split(" (")[0].split(",")[0] for s in sentences]


def test_orderings_are_judged_both_ways():
    # Figure 1, the same without SCAFFOLD, Table 2, its trend, Section 4.1, Figure 2, Section 8.4, Table 4.
    once = "held only if an iteration of AccFedDCD counts once"
    assert verdicts(0.3, 0.5) == ["held"] * 5 + [once, "held", "did not hold"]
    assert verdicts(0.5, 0.3)[:3] == ["did not hold"] * 3
    assert experiments.compare("x", lambda once: [(np.inf, np.inf)]) == "x: not decided, nobody got there."
    assert "held only if" in experiments.compare("x", lambda once: [(1, 2) if once else (2, 1)])
    assert "held (4 of 5" in experiments.compare("x", lambda once: [(1, 2)] * 4 + [(2, 1)], share=0.8)
    assert "did not hold (1 of 2" in experiments.compare("x", lambda once: [(1, 2), (2, 2)])
    assert "held (2 of 2" in experiments.compare("x", lambda once: [(1, 2), (2, 2)], strict=False)


def test_the_command_writes_its_files(tmp_path, monkeypatch, capsys):
    given = data()
    rows = (
        f"{c} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in enumerate(row)) for row, c in zip(*given[1:], strict=True)
    )
    path = tmp_path / "three.libsvm"
    path.write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.setattr(experiments, "QUICK", SCALE)
    assert experiments.main(["--quick", "--mlp", "--data", str(path), "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "three.libsvm: 6 clients with 12 rows each" in out
    assert "| perceptron | skewed | 3 | 0.001 |" in out
    assert "The paper's orderings:" in out
    for name in ("figure-1.png", "figure-2.png"):
        assert imread(tmp_path / "out" / name).std() > 0.01
    assert (tmp_path / "out" / "table-2.md").read_text(encoding="utf-8").startswith("| model | clients | tau |")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("1 1:0.5\n1 1:0.7\n", "two or more different labels"),
        ("no numbers", "cannot be read"),
    ],
)
def test_unreadable_data_are_one_line_and_status_2(tmp_path, capsys, content, message):
    path = tmp_path / "file"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert experiments.main(["--quick", "--data", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and message in captured.err
