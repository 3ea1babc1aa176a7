"""The experiments of the FedADMM paper on tiny instances: stopping rules, medians, sentences, files."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest
from matplotlib.image import imread

from fedtheory.data import bundled
from fedtheory.problems.base import stationary_point

runs = importlib.import_module("fedadmm_runs")
experiments = importlib.import_module("fedadmm_experiments")

SETTING = runs.Setting(6, 0.5, 2)


def synthetic(seed: int = 0):
    return runs.synthetic(6, 20, np.random.default_rng(seed))


def test_fedadmm_stops_by_rule_30():
    task = synthetic()
    outcome, w = runs.admm(task, SETTING, 400, np.random.default_rng(0))
    goal = min(task.slope(np.zeros(20)) / 5, 5 * 1e-3 * 20 / (6 * task.rows))
    assert np.isfinite(outcome.rounds) and len(outcome.values) == outcome.rounds
    assert task.slope(w) < goal
    shorter, before = runs.admm(task, SETTING, int(outcome.rounds) - 1, np.random.default_rng(0))
    assert np.isinf(shorter.rounds) and task.slope(before) >= goal
    assert task.value(w) == outcome.values[-1]


@pytest.mark.parametrize("method", runs.RIVALS)
def test_rivals_stop_near_the_goal_and_the_goal_is_above_the_optimum(method):
    task = synthetic()
    best = task.value(stationary_point(task.problem, task.alpha))
    size = 1 / float(task.problem.f.L.max())
    goal = best + 0.05
    setting = SETTING._replace(k0=1, rho=1.0)
    outcome = runs.rival(task, method, setting, size, goal, 500, np.random.default_rng(0))
    assert np.isfinite(outcome.rounds)
    assert best <= outcome.values[-1] <= goal + 2e-4 * (1 + goal)
    assert (outcome.values[:-1] > goal + 2e-4 * (1 + goal)).all()
    never = runs.rival(task, method, setting, size, best - 1, 3, np.random.default_rng(0))
    assert np.isinf(never.rounds) and len(never.values) == 3


def test_a_diverging_run_is_given_up():
    task = synthetic()
    outcome = runs.rival(task, "FedAvg", SETTING, 1e200, 0.0, 50, np.random.default_rng(0))
    assert np.isinf(outcome.rounds) and len(outcome.values) < 50


def test_medians_leave_no_instance_out():
    outcomes = tuple(runs.Outcome(r, 1.0, np.zeros(1)) for r in (3.0, np.inf, 5.0))
    at = runs.Point(SETTING, {method: outcomes for method in runs.METHODS})
    assert at.rounds("FedADMM") == 5 and at.seconds("FedADMM") == 1
    worse = runs.Point(SETTING, {"FedADMM": outcomes[1:2] * 2 + outcomes[:1]})
    assert np.isinf(worse.rounds("FedADMM")) and np.isinf(worse.seconds("FedADMM"))


def points(numbers, method_factor=2.0):
    """One point for each number of FedADMM's rounds; the others need more by the factor."""
    made = []
    for k0, rounds in enumerate(numbers, 1):
        each = {m: rounds * (1.0 if m == "FedADMM" else method_factor) for m in runs.METHODS}
        setting = runs.Setting(10 * k0, k0 / 10, k0)
        made.append(runs.Point(setting, {m: (runs.Outcome(v, v, np.full(8, v)),) for m, v in each.items()}))
    return made


def test_sentences_say_seen_not_seen_and_not_decided():
    falling, rising, never = points([9, 7, 4]), points([4, 7, 9], 0.5), points([np.inf] * 3)
    lines = [line.seen for line in experiments.orderings({("Example 5.1", 2): falling})]
    # FedADMM falls; the others fall too, where the text has them rise; times fall; fewest; fastest.
    assert lines == [True, False, False, True, True]
    assert [line.seen for line in experiments.orderings({("Example 5.1", 2): rising})] == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert {line.seen for line in experiments.orderings({("Example 5.2", 2): never})} == {None}
    texts = [str(line) for line in experiments.orderings({("Example 5.2", 2): never})]
    assert all("not decided" in text for text in texts)
    first = list(experiments.orderings({("Example 5.1", 1): falling}))
    assert [line.seen for line in first] == [True, False, True]


@pytest.mark.parametrize("figure", [3, 4, 5])
@pytest.mark.parametrize("example", ["Example 5.1", "Example 5.2"])
def test_every_figure_has_sentences(figure, example):
    lines = list(experiments.orderings({(example, figure): points([9, 7, 4])}))
    assert len(lines) >= 3 and all(line.text.startswith(f"Figure {figure}, {example}: ") for line in lines)


def test_trends():
    assert experiments.trend([1, 2, 3], [5, 6, 9]) == pytest.approx(1)
    assert experiments.trend([1, 2, 3], [5, np.inf, 5]) == pytest.approx(0)
    assert experiments.trend([1, 2], [5, np.inf]) == pytest.approx(1)
    assert np.isnan(experiments.trend([1, 2], [np.inf, np.inf]))


def test_example_5_2_uses_the_rows_once():
    task = runs.real(bundled(), 6, np.random.default_rng(0))
    assert task.rows == 6 * (569 // 6) and task.problem.n == 6


def test_the_command_writes_tables_and_figures(tmp_path, capsys, monkeypatch):
    small = experiments.Scale(4, 6, 2, 8, (1, 2), (1, 2), (0.5, 1.0), (3, 5), (4, 6))
    monkeypatch.setattr(experiments, "QUICK", small)
    assert experiments.main(["--quick", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    table = (tmp_path / "table-synthetic.md").read_text(encoding="utf-8")
    assert table.splitlines()[0] in shown and table.count("Example 5.1 |") == 10
    assert imread(tmp_path / "figure-1-synthetic.png").ndim == 3
    assert len(list(tmp_path.glob("figure-*.png"))) == 5


def test_what_was_seen_is_recorded_by_figure_and_data(tmp_path, capsys, monkeypatch):
    small = experiments.Scale(4, 6, 2, 8, (1, 2), (1, 2), (0.5, 1.0), (3, 5), (4, 6))
    monkeypatch.setattr(experiments, "QUICK", small)
    path = tmp_path / "seen.json"
    path.write_text(json.dumps({"figure-2": [{"name": "other", "data": "other, m = 3", "orderings": []}]}))
    record = ["--quick", "--out", str(tmp_path), "--record", str(path), "--figures", "2"]
    for _ in range(2):
        assert experiments.main(record) == 0
    first, other = json.loads(path.read_text())["figure-2"]
    assert (
        first["data"] == "Example 5.1, m = 4, n = 6, 2 instances, at most 8 rounds, seed 0" and other["name"] == "other"
    )
    assert [one["text"] for one in first["orderings"]][:1] == ["FedADMM's rounds fall with k0"]
    path.write_text("[]")
    assert experiments.main(record) == 2
    assert "does not hold what was seen" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--data", "nowhere"], ["--instances", "0"]])
def test_bad_arguments_end_with_a_sentence(arguments, capsys, tmp_path):
    assert experiments.main([*arguments, "--quick", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("fedadmm_experiments: ")
