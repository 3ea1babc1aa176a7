"""The runs of Federated Optimization's Section 4, on few generated authors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fedtheory.experiments import Less, Within
from fedtheory.papers.fedopt import reruns
from fedtheory.papers.fedopt.reruns import panels
from fedtheory.papers.fedopt.reruns.text import chosen, generated
from fedtheory.problems.linear_models import minimiser

DATA = generated(12, 60, 8, np.random.default_rng(0))
PLAYS = panels.Plays(DATA, chosen(generated(12, 12, 8, np.random.default_rng(0)), np.arange(6)))


def test_some_authors_are_chosen_with_all_that_is_theirs():
    few = chosen(DATA, np.array([1, 5]))
    assert few.K == 2 and few.d == DATA.d
    starts = np.concatenate([[0], np.cumsum(DATA.train.sizes)])
    rows = np.r_[starts[1] : starts[2], starts[5] : starts[6]]
    np.testing.assert_array_equal(few.train.X.toarray(), DATA.train.X.toarray()[rows])
    np.testing.assert_array_equal(few.train.y, DATA.train.y[rows])
    assert len(few.test.y) == few.test.sizes.sum() == DATA.test.sizes[[1, 5]].sum()


@pytest.mark.parametrize("method", [panels.descent, panels.cocoa, panels.variance_reduced])
def test_every_method_begins_at_zero_and_nears_the_optimum(method):
    problem = panels.problem_of(DATA)
    models = [*itertools.islice(method(problem, 1.0, np.random.default_rng(0)), 40)]
    values = [float(problem.f.objective(w)) for w in models]
    assert not models[0].any()
    assert values[0] == pytest.approx(np.log(2))
    assert float(problem.f.objective(minimiser(problem.f))) < values[-1] < values[5] < values[0]


def test_what_diverges_stays_there_and_is_not_chosen():
    for method in (panels.descent, panels.variance_reduced):
        ran = panels._run(DATA, method, 1e9, np.random.default_rng(0), 6)
        assert ran.objective.shape == ran.error.shape == (7,) and ran.objective[-1] == np.inf
    tuned = panels._tuned([DATA], lambda problem, factor, rng: panels.descent(problem, factor**9, rng), 10)
    assert tuned.factor < 2


@pytest.mark.parametrize("figure", reruns.FIGURES, ids=lambda figure: figure.id)
def test_tasks_measure_what_the_statements_compare(figure, monkeypatch):
    monkeypatch.setattr(panels, "_AUTHORS", (12, 60, 8))
    monkeypatch.setattr(panels, "tune", lambda cost: type("T", (), {"factor": 1.0})())
    results = [task() for task in figure.tasks(PLAYS, (0, 1)).values()]
    keys = {key for result in results for key in result.numbers}
    assert {key for s in figure.statements for part in s.parts for key in part.keys} <= keys
    assert all(len(spans) == 2 for result in results for spans in result.numbers.values())
    assert all(isinstance(part, Less | Within) for s in figure.statements for part in s.parts)


def test_texts_with_few_roles_are_refused(tmp_path):
    path = tmp_path / "play.txt"
    path.write_text("A:\nIs it so? It is.\n\nB:\nIndeed. Why?\n")
    with pytest.raises(ValueError, match="has 2 roles"):
        panels.read((path,))
