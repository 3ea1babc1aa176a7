"""Slips that change two parts of the state at once are named; features that a method does not have are refused; what
is violated is printed in words, and notes say what values are."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory import algorithms
from verify import conformance
from verify.conformance import client, slips
from verify.conformance.features import features_of
from verify.conformance.report import Failure
from verify.conformance.scenarios import FEATURES, known


def gradients(problem, x):
    return np.array([client(problem, i).gradient(x) for i in range(problem.n)])


def diana(change):
    """DIANA whose server takes the mean of the clients' control variates."""

    def run(problem, params, rounds, rng):
        x, h, found = np.zeros(problem.d), np.zeros((problem.n, problem.d)), []
        for _ in range(rounds):
            m = params.compressors.sample(rng, gradients(problem, x) - h)
            x, h = x - params.gamma * (h + m).mean(axis=0), change(h, m, params, gradients(problem, x))
            found.append(x)
        return found

    return run


def ef21(change):
    """EF21 whose server takes the mean of the clients' estimates."""

    def run(problem, params, rounds, rng):
        x, found = np.zeros(problem.d), []
        g = gradients(problem, x)
        for _ in range(rounds):
            x = x - params.gamma * g.mean(axis=0)
            g = change(g, params.compressor.sample(rng, gradients(problem, x) - g), params)
            found.append(x)
        return found

    return run


DIANA = {
    "": lambda h, m, params, g: h + params.alpha * m,
    "overwritten": lambda h, m, params, g: m,
    "1` in place of `alpha": lambda h, m, params, g: h + m,
    "state.h - alpha * m": lambda h, m, params, g: h - params.alpha * m,
    "(1 - alpha) h_i + alpha m_i": lambda h, m, params, g: (1 - params.alpha) * h + params.alpha * m,
    "not compressed": lambda h, m, params, g: h + params.alpha * (g - h),
    "times 1/n": lambda h, m, params, g: h + params.alpha * m / len(m),
}
EF21 = {
    "": lambda g, m, params: g + m,
    "overwritten": lambda g, m, params: m,
    "times alpha": lambda g, m, params: g + params.alpha * m,
    "state.g - c": lambda g, m, params: g - m,
    "times 1/n": lambda g, m, params: g + m / len(m),
    "the mean of the messages is added": lambda g, m, params: g + m.mean(axis=0),
}


@pytest.mark.parametrize("words", DIANA)
def test_slips_of_diana_with_one_array_for_both(words):
    report = conformance.algorithm("diana", run=diana(DIANA[words]))
    assert report.ok == (not words) and words in str(report), str(report)


@pytest.mark.parametrize("words", EF21)
def test_slips_of_ef21_with_one_array_for_both(words):
    report = conformance.algorithm("ef21", run=ef21(EF21[words]))
    assert report.ok == (not words) and words in str(report), str(report)


def scaffold(option, over):
    def run(problem, params, rounds, rng):
        n, d, K = problem.n, problem.d, params.epochs
        x, c, c_i, found = np.zeros(d), np.zeros(d), np.zeros((n, d)), []
        for _ in range(rounds):
            moved, changed = np.zeros(d), np.zeros(d)
            for i in rng.choice(n, params.tau, replace=False):
                y = x
                for _ in range(K):
                    y = y - params.eta_l * (client(problem, i).gradient(y) - c_i[i] + c)
                renewed = client(problem, i).gradient(x)
                if option == "II":
                    renewed = c_i[i] - c + (x - y) / (K * params.eta_l)
                moved, changed, c_i[i] = moved + y - x, changed + renewed - c_i[i], renewed
            x, c = x + params.eta_g * moved / (params.tau if over == "tau" else n), c + changed / n
            found.append(x)
        return found

    return run


@pytest.mark.parametrize(
    ("option", "over", "features", "words"),
    [
        ("II", "tau", [], ""),
        ("I", "tau", ["option I"], ""),
        ("II", "tau", ["option I"], "by option II, the average of the local gradients, where option I is asked for"),
        ("I", "tau", [], "by option I, the gradient at the server's model, where option II is asked for"),
        ("II", "n", [], "averaged over all clients instead of the participants"),
    ],
)
def test_options_and_averages_of_scaffold(option, over, features, words):
    report = conformance.algorithm("scaffold", run=scaffold(option, over), features=features)
    assert report.ok == (not words) and words in str(report), str(report)


def test_no_slip_of_one_array_is_the_method_itself():
    """As a right implementation would be given its name where another one departs."""
    for name in ("diana", "ef21", "scaffold", "adiana", "feddyn"):
        reference = algorithms.get(name)
        assert slips.tied(reference.invariant) is not None
        assert next(slips._tied(reference)).algorithm.step is not reference.step


@pytest.mark.parametrize(
    ("name", "feature"), [("fedavg", "option I"), ("scaffold", "momentum"), ("diana", "counts"), ("dgc", "momentum")]
)
def test_a_feature_that_a_method_does_not_have_is_refused(name, feature):
    with pytest.raises(ValueError, match=f"{name} does not have the feature '{feature}'"):
        conformance.algorithm(name, run=lambda *given: [], features=[feature])


def test_features_beside_problems_are_refused():
    with pytest.raises(ValueError, match="either features or problems"):
        conformance.algorithm("fedavg", run=lambda *given: [], features=["counts"], problems=[(None, None)])


@pytest.mark.slow
def test_each_feature_belongs_to_a_method():
    own = {name: features_of(algorithms.get(name)) for name in known()}
    assert {feature for features in own.values() for feature in features} == set(FEATURES)
    assert own["fedavg"] == ("counts", "momentum", "server stepsize", "minibatches", "own local steps")
    assert own["gradient-descent"] == ("function g",)


def test_gradient_descent_needs_no_function_beside_the_clients():
    def run(problem, params, rounds, rng, g=False):
        x, found = np.zeros(problem.d), []
        for _ in range(rounds):
            beside = problem.g.gradient(x[None])[0] if g and problem.g is not None else 0
            x = x - params.gamma * (gradients(problem, x).mean(axis=0) + beside)
            found.append(x)
        return found

    assert conformance.algorithm("gradient-descent", run=run).ok
    beside = conformance.algorithm("gradient-descent", run=run, features=["function g"])
    assert not beside.ok and "problem.g" in str(beside)
    assert conformance.algorithm("gradient-descent", run=lambda *given: run(*given, g=True), features="function g").ok


def identity(x):
    return x


def quantised(x, rng, s=4):
    norm = np.linalg.norm(x)
    levels = s * abs(x) / norm if norm > 0 else x
    low = np.floor(levels)
    return np.sign(x) * norm / s * (low + (rng.random(x.shape) < levels - low))


def notes(compress, **claimed):
    return " ".join(conformance.compressor(compress, d=16, samples=500, skip=["subnormal entries"], **claimed).notes)


def test_the_identity_shares_the_memory_of_its_input():
    assert "shares its memory" in notes(identity, omega=0)
    assert "shares its memory" not in notes(np.copy, omega=0)
    assert "a new array" not in str(conformance.compressor(identity, d=4, omega=0, samples=500))


def test_values_of_single_precision_are_noted():
    single = "the precision of float32"
    assert single in notes(lambda x, rng: quantised(x.astype(np.float32), rng), omega=1)
    assert single in notes(lambda x: x.astype(np.float32).astype(float), alpha=0.999)
    for coarse in (np.copy, lambda x: np.sign(x) * 2.0 ** np.floor(np.log2(np.where(x == 0, 1, abs(x))))):
        assert single not in notes(coarse, alpha=0.5)
    assert single not in notes(quantised, omega=1)


def test_what_is_violated_is_printed_in_words():
    for claim, words in {
        "reference/diana/step": "the update of diana",
        "reference/my/method/draws": "how the draws of my/method are distributed",
        "interface/shape": "the interface: it returns arrays of the shape that is expected",
        "compressor/contraction": "E|C(x) - x|^2 <= (1 - alpha) |x|^2",
        "baseline/diana/invariant": "baseline/diana/invariant, a claim: fedtheory show baseline/diana/invariant",
    }.items():
        assert f"violates  {words}" in str(Failure(claim, "x", "", ""))
