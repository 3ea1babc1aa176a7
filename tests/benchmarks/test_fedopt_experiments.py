"""Figure 2 of Federated Optimization and FSVRG at scale, on tiny instances."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from matplotlib.image import imread

from fedtheory.papers.fedopt import figure
from fedtheory.papers.fedopt.text import generated
from fedtheory.problems.linear_models import minimiser

experiments = importlib.import_module("fedopt_experiments")
scale = importlib.import_module("fedopt_scale")

TINY = ["--clients", "8", "--features", "60", "--mean", "6", "--rounds", "4"]


@pytest.fixture(scope="module")
def data():
    return generated(8, 60, 6, np.random.default_rng(0))


@pytest.fixture(scope="module")
def results(data):
    return experiments.experiment(data, 4, 0, lambda line: None)


def test_every_method_starts_from_zero_and_none_beats_the_optimum(data, results):
    f = experiments.problem_of(data).f
    least = f.objective(minimiser(f))
    assert tuple(results) == experiments.METHODS
    for name, curves in results.items():
        for curve in curves:
            assert curve.objective.shape == curve.error.shape == (5,)
            assert curve.objective[0] == pytest.approx(np.log(2))
            finite = curve.objective[np.isfinite(curve.objective)]
            assert (finite >= least - 1e-12).all() and ((curve.error >= 0) & (curve.error <= 1)).all()
        chosen = experiments.best(curves)
        assert all(not c.objective[-1] < chosen.objective[-1] for c in curves), name
    assert experiments.best(results["FSVRG"]).objective[-1] < np.log(2)


def test_a_curve_that_diverged_is_never_the_best():
    wrong = np.zeros(2)
    lost = figure.Curve("lost", np.array([1.0, np.nan]), wrong)
    found = figure.Curve("found", np.array([1.0, 5.0]), wrong)
    assert experiments.best([lost, found]) is found


def test_the_statements_of_the_text_have_outcomes_that_follow_the_curves(data, results):
    f = experiments.problem_of(data).f
    w = minimiser(f)
    optimum = float(f.objective(w)), experiments.error(data, w)
    lines = list(experiments.orderings(data, results, optimum))
    assert len(lines) == 11 and all(line.text and line.numbers and isinstance(line.seen, bool) for line in lines)
    swapped = {**results, "GD": results["FSVRG"], "FSVRG": results["GD"]}
    before, after = (
        next(line for line in experiments.orderings(data, given, optimum) if "FSVRG is better than GD" in line.text)
        for given in (results, swapped)
    )
    assert before.seen and not after.seen


def test_command_draws_and_tells(tmp_path, capsys):
    assert experiments.main([*TINY, "--single", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "8 clients" in out and "| FSVRGR |" in out and "The paper's statements:" in out
    assert imread(tmp_path / "figure-2-generated.png").shape[0] > 400


def test_command_reads_plays(tmp_path, capsys):
    lines = ("Who goes there?", "I go. You come!", "Is it you? It is I.", "Good night. Good night to you?")
    path = tmp_path / "plays.txt"
    path.write_text("".join(f"{role}:\n{line}\n\n" for line in lines * 4 for role in ("ANNE", "BEN", "CARL")))
    assert experiments.main(["--plays", str(path), "--features", "20", "--rounds", "2", "--out", str(tmp_path)]) == 0
    assert "plays: 3 clients" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (experiments, ["--plays", "nowhere.txt"]),
        (experiments, ["--seed", "-1"]),
        (experiments, ["--rounds", "0"]),
        (scale, ["--features", "2"]),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, command, arguments):
    assert command.main(arguments if command is scale else [*arguments, "--out", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_fsvrg_at_scale_tells_time_and_memory(capsys):
    assert scale.main(TINY) == 0
    out = capsys.readouterr().out
    assert "8 clients" in out and out.count("round ") == 5 and "GiB" in out
