"""What ``keep`` leaves is enough to test on, or the report says that it is not; batches, and one's own compressor."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory import algorithms
from fedtheory.compressors import contractive
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import Quadratics, diagonal
from verify import conformance
from verify.conformance.kept import chosen, local_steps, next_to_nothing


def everybody(problem, params):
    return params.tau == problem.n


def alone(problem, params):
    return params.tau == 1


@pytest.mark.parametrize(
    ("name", "keep"),
    [
        ("fedavg", everybody),
        ("fedavg", alone),
        ("fedavg", lambda problem, params: params.tau == problem.n - 1 and problem.n > 2),
        ("fedavg", lambda problem, params: params.epochs == 4),
        ("fedavg", lambda problem, params: problem.n == 3),
        ("fedavg", lambda problem, params: hasattr(problem.f, "H") and problem.d == 3),
        ("fedprox", everybody),
        ("scaffold", everybody),
        ("scaffold", alone),
        ("minibatch-sgd", everybody),
        ("fedalt", everybody),
        ("inexact-feddcd", everybody),
        ("feddcd", everybody),
        ("5gcs-cc", lambda problem, params: problem.f.H.shape[0] > 2),
        ("ef21", lambda problem, params: params.compressor.name.startswith("top-")),
        ("diana", lambda problem, params: problem.n == 3),
        ("sag", lambda problem, params: problem.d > 2),
        ("fsvrg", lambda problem, params: problem.d == 3),
    ],
)
def test_what_is_kept_is_enough(name, keep):
    """Three problems, one of them with three clients, entries and local steps."""
    found = chosen(algorithms.get(name), 0, (), keep, True)
    assert all(keep(s.problem, s.params) for s in found)
    assert len(found) >= 3 and next_to_nothing(found) == ""
    assert any(min(s.problem.n, s.problem.d, local_steps(s.params) or 3) >= 3 for s in found)


@pytest.mark.parametrize(
    ("name", "keep", "words"),
    [
        ("fedavg", lambda problem, params: problem.d == 1, "n = 5, d = 1, K = 2, none with n, d, K >= 3"),
        ("fedavg", lambda problem, params: problem.n == 2 and params.tau == 2, "none with n, d, K >= 3"),
        ("scaffold", lambda problem, params: params.epochs == 1, "n = 12, d = 20, K = 1, none with n, d, K >= 3"),
        ("diana", lambda problem, params: problem.n * problem.d <= 3, "none with n, d >= 3"),
    ],
)
def test_what_is_next_to_nothing_is_told(name, keep, words):
    found = chosen(algorithms.get(name), 0, (), keep, True)
    told = next_to_nothing(found)
    assert len(found) >= 3
    assert told.startswith(f"{len(found)} problems, ")
    assert words in told


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        (lambda problem, params: problem.n > 20, "no problems are left to test on: have keep leave more, or give"),
        (
            lambda problem, params: problem.f.c[0, 0] == CENTRE,
            r"one problem alone is left to test on \(n = 2, d = 1, K",
        ),
    ],
)
def test_a_report_rests_on_more_than_one_problem(keep, words):
    with pytest.raises(ValueError, match=words):
        conformance.algorithm("fedavg", run=averaging, keep=keep)


CENTRE = chosen(algorithms.get("fedavg"), 0, (), None, True)[0].problem.f.c[0, 0]


def averaging(problem, params, rounds, rng, kind=None):
    """FedAvg on batches, right or with something else done to them."""
    x, found, b = np.zeros(problem.d), [], params.batches
    for _ in range(rounds):
        models = []
        for i in rng.choice(problem.n, params.tau, replace=False):
            y = x.copy()
            for _ in range(params.epochs):
                rows = rng.permutation(b.parts.m) if hasattr(b, "parts") else None
                steps = b.per_epoch
                if rows is not None:
                    steps = {"one": 1, "kept": -(-b.parts.m // b.size), "dropped": b.parts.m // b.size}.get(kind, steps)
                for k in range(steps):
                    if rows is None:
                        slope = conformance.client(problem, i).gradient(y)
                    else:
                        batch = rows[k * b.size : (k + 1) * b.size]
                        points = np.tile(y, (problem.n, 1)), np.tile(batch, (problem.n, 1))
                        factor = {"summed": len(batch), "of one size": len(batch) / b.size}.get(kind, 1)
                        slope = factor * b.parts.batch_gradient(*points)[i]
                    y -= params.eta_l * slope
            models.append(y)
        x = np.mean(models, axis=0)
        found.append(x)
    return found


BATCHES = {
    "summed": "gradients of a batch are summed instead of averaged",
    "of one size": "a smaller last batch are divided by the size of the others",
    "kept": "are a batch, which are dropped here",
    "dropped": "are dropped, which are a batch here",
    "one": "an epoch is one batch instead of a pass over all rows",
}


@pytest.mark.parametrize("kind", [None, *BATCHES])
def test_batches(kind):
    def run(*given):
        return averaging(*given, kind)

    keep = {} if kind else {"keep": lambda problem, params: problem.n == 2}
    report = conformance.algorithm("fedavg", run=run, features=["minibatches"], **keep)
    if kind is None:
        assert report.ok, str(report)
    else:
        (failure,) = report.failures
        assert BATCHES[kind] in failure.evidence


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "scaffold", "minibatch-sgd"])
def test_problems_with_batches_bite(name):
    """Several rows a batch, a smaller last one that counts, and one that is dropped."""
    found = [s.params.batches for s in chosen(algorithms.get(name), 0, ("minibatches",), None, True)]
    assert all(hasattr(b, "parts") for b in found)
    assert {(b.parts.m % b.size != 0, b.drop_last) for b in found} >= {(True, True), (True, False), (False, True)}
    assert {b.size for b in found} == {1, 2, 3}


def top(x, k):
    kept = np.argsort(-abs(x), axis=-1, kind="stable")[..., :k]
    value = np.zeros_like(x)
    np.put_along_axis(value, kept, np.take_along_axis(x, kept, -1), -1)
    return value


@pytest.mark.parametrize("kind", ["own", "sampled", "old gradient"])
def test_error_feedback_with_a_compressor_of_ones_own(kind):
    def step(problem, params, state, rng):
        x = state["x"] - params.gamma * state["g_bar"]
        at = state["x"] if kind == "old gradient" else x
        error = problem.f.gradient(np.tile(at, (problem.n, 1))) - state["g"]
        k = int(params.compressor.name.removeprefix("top-"))
        c = params.compressor.sample(rng, error) if kind == "sampled" else top(error, k)
        return {"x": x, "g": state["g"] + c, "g_bar": state["g_bar"] + c.mean(axis=0)}

    def keep(problem, params):
        return params.compressor.name.startswith("top-")

    report = conformance.algorithm("ef21", step=step, keep=keep)
    assert report.ok == (kind != "old gradient"), str(report)


def test_rows_are_compressed_independently():
    x = np.arange(1.0, 9.0).reshape(2, 4)
    own = contractive.top_k(4, 1)
    np.testing.assert_array_equal(own.sample(np.random.default_rng(0), x), top(x, 1))


@pytest.mark.parametrize("given", [Quadratics, diagonal([[1.0]], [[0.0]])])
def test_functions_are_no_problem(given):
    params = algorithms.get("fedavg").Params(1, 1, 0.1)
    with pytest.raises(ValueError, match=r"problem a Problem\(f\), not the (class|object) Quadratics"):
        conformance.algorithm("fedavg", run=averaging, problems=[(given, params)])


def test_the_first_line_of_a_report_that_rests_on_little():
    params = algorithms.get("fedavg").Params(1, 2, 0.1)
    problem = Problem(diagonal([[1.0], [2.0]], [[0.5], [-1.0]]))
    report = conformance.algorithm("fedavg", run=averaging, problems=[(problem, params)])
    assert report.ok
    first = str(report).splitlines()[0]
    assert first.endswith("which is next to nothing: one problem, n = 2, d = 1, K = 2") and "conforms" not in first
    both = conformance.battery(
        {"algorithms": {"fedavg": {"run": averaging, "keep": lambda problem, params: problem.d == 1}}}
    )
    assert both.ok and "next to nothing: algorithm fedavg, 5 problems, the largest with" in str(both).splitlines()[0]


def momentum(problem, params, rounds, rng, forgetful):
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        models = []
        for i in rng.choice(problem.n, params.tau, replace=False):
            y, buffer = x, np.zeros(problem.d)
            for _ in range(params.epochs):
                kept = 0 * buffer if forgetful else params.momentum * buffer
                buffer = kept + conformance.client(problem, i).gradient(y)
                y = y - params.eta_l * buffer
            models.append(y)
        x = np.mean(models, axis=0)
        found.append(x)
    return found


def test_a_name_takes_no_parameter_that_is_not_there():
    """As counts of clients, which are None here, in place of momentum."""
    (failure,) = conformance.algorithm(
        "fedavg", run=lambda *given: momentum(*given, True), features=["momentum"]
    ).failures
    assert "without `momentum`" in failure.evidence
    assert "params.counts" not in failure.evidence


def test_a_median_is_no_mean_over_the_same_client_again():
    def run(problem, params, rounds, rng):
        x, found = np.zeros(problem.d), []
        for _ in range(rounds):
            models = []
            for i in rng.choice(problem.n, params.tau, replace=False):
                y = x
                for _ in range(params.epochs):
                    y = y - params.eta_l * conformance.client(problem, i).gradient(y)
                models.append(y)
            x = np.median(models, axis=0)
            found.append(x)
        return found

    (failure,) = conformance.algorithm("fedavg", run=run).failures
    assert failure.data["slip"] is None


def lone(problem, params, rounds, rng, kind):
    """A peer that trains by itself, and returns its model as it is."""
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        y = x if kind == "overwritten" else x.copy()
        for _ in range(params.epochs):
            y -= params.eta_l * conformance.client(problem, 0).gradient(y)
        found.append(x)
    return found


@pytest.mark.parametrize("kind", ["kept", "overwritten"])
def test_the_same_array_every_round_is_overwritten_or_not(kind):
    (failure,) = conformance.algorithm(
        "fedavg", run=lambda *given: lone(*given, kind), keep=lambda problem, params: params.tau == 1
    ).failures
    assert ("which later ones overwrite: copy it" in failure.evidence) == (kind == "overwritten")


def test_a_brief_report():
    report = conformance.algorithm("fedavg", run=lambda *given: averaging(*given, "one"), features=["minibatches"])
    lines = report.brief.splitlines()
    assert len(lines) == 3 and all(len(line) < 800 for line in lines)
    assert lines[0] == str(report).splitlines()[0]
    assert BATCHES["one"] in lines[1] and "conformance.algorithm(" in lines[2]
