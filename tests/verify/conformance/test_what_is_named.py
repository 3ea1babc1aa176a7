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


def scaffold_of_gradients(corrected):
    """SCAFFOLD whose clients keep the mean of their local gradients, as option II is mostly written."""

    def run(problem, params, rounds, rng):
        n, d = problem.n, problem.d
        x, c, c_i, found = np.zeros(d), np.zeros(d), np.zeros((n, d)), []
        for _ in range(rounds):
            moved, changed = np.zeros(d), np.zeros(d)
            for i in rng.choice(n, params.tau, replace=False):
                y, seen = x, []
                for _ in range(params.epochs):
                    seen.append(client(problem, i).gradient(y))
                    y = y - params.eta_l * (seen[-1] + corrected(c, c_i[i]))
                renewed = np.mean(seen, axis=0)
                moved, changed, c_i[i] = moved + y - x, changed + renewed - c_i[i], renewed
            x, c = x + params.eta_g * moved / params.tau, c + changed / n
            found.append(x)
        return found

    return run


OF_GRADIENTS = {
    "": lambda c, c_i: c - c_i,
    "the sign of the control variates is swapped": lambda c, c_i: c_i - c,
    "the sign of the client's own control variate is wrong": lambda c, c_i: c_i + c,
    "the sign of the server's control variate is wrong": lambda c, c_i: -c_i - c,
    "the clients' own control variates are left out of the local steps": lambda c, c_i: c + 0 * c_i,
}


@pytest.mark.parametrize("words", OF_GRADIENTS)
def test_signs_of_scaffold_with_means_of_gradients(words):
    report = conformance.algorithm("scaffold", run=scaffold_of_gradients(OF_GRADIENTS[words]))
    assert report.ok == (not words) and words in str(report), str(report)


def fedadam(of_kept, of_new):
    """FedAdam whose v keeps and takes these shares, of beta_1 and beta_2."""

    def run(problem, params, rounds, rng):
        x, m, found = np.zeros(problem.d), np.zeros(problem.d), []
        v, betas = np.full(problem.d, params.adaptivity**2), (params.beta_1, params.beta_2)
        for _ in range(rounds):
            changes = []
            for i in rng.choice(problem.n, params.tau, replace=False):
                y = x
                for _ in range(params.epochs):
                    y = y - params.eta_l * client(problem, i).gradient(y)
                changes.append(y - x)
            change = np.mean(changes, axis=0)
            m = params.beta_1 * m + (1 - params.beta_1) * change
            v = of_kept(*betas) * v + (1 - of_new(*betas)) * change**2
            x = x + params.eta * m / (np.sqrt(v) + params.adaptivity)
            found.append(x)
        return found

    return run


def _first(beta_1, beta_2):
    return beta_1


def _second(beta_1, beta_2):
    return beta_2


@pytest.mark.parametrize(
    ("of_kept", "of_new", "words"),
    [
        (_second, _second, ""),
        (_first, _first, "`beta_1` in place of `beta_2`;"),
        (_first, _second, "`params.beta_1` in place of `params.beta_2` (in second"),
    ],
)
def test_v_of_fedadam_with_the_other_beta(of_kept, of_new, words):
    report = conformance.algorithm("fedadam", run=fedadam(of_kept, of_new))
    assert report.ok == (not words) and words in str(report), str(report)


def ef21_with_memory(kind):
    """EF21 that also keeps what was not sent, in the ways that mix it up with EF14."""

    def run(problem, params, rounds, rng):
        x, g, found = np.zeros(problem.d), gradients(problem, np.zeros(problem.d)), []
        e = 0 * g
        for _ in range(rounds):
            if kind == "EF14's order":
                due = gradients(problem, x) + e
                g = params.compressor.sample(rng, due)
                x, e = x - params.gamma * g.mean(axis=0), due - g
                found.append(x)
                continue
            at, x = x, x - params.gamma * g.mean(axis=0)
            due = gradients(problem, at if kind == "the old x" else x) - g
            due = {"EF14": due + g + e, "twice": due + e, "C(g + e)": due + 2 * g}.get(kind, due)
            sent = params.compressor.sample(rng, due)
            g, e = sent if kind == "EF14" else g + sent, due - sent
            found.append(x)
        return found

    return run


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("", ""),
        ("EF14", "it is EF14"),
        ("EF14's order", "it is EF14"),
        ("twice", "what a correction does not send is added to the next one"),
        ("C(g + e)", "C_i(grad f_i + g_i)"),
        ("the old x", "gradients are taken at the old model"),
    ],
)
def test_ef21_mixed_up_with_error_feedback(kind, words):
    report = conformance.algorithm("ef21", run=ef21_with_memory(kind))
    assert report.ok == (not words) and words in str(report), str(report)


def scaffnew(kind):
    """Scaffnew whose clients communicate as ``kind`` says."""

    def run(problem, params, rounds, rng):
        n, d = problem.n, problem.d
        x, h, found = np.zeros((n, d)), np.zeros((n, d)), []
        for k in range(rounds):
            slopes = np.array([client(problem, i).gradient(x[i]) for i in range(n)])
            x_hat = x - params.gamma * (slopes - h)
            coins = rng.random(n) < params.p if "own" in kind else np.full(n, rng.random() < params.p)
            coins = np.full(n, k % round(1 / params.p) == 0) if kind == "in every so many rounds" else coins
            sent = x_hat - params.gamma / params.p * h
            if coins.any():
                mean = sent[coins].mean(axis=0) if kind == "own, among themselves" else sent.mean(axis=0)
                x = np.where(coins[:, None], mean, x_hat)
            else:
                x = x_hat
            h = h + params.p / params.gamma * (x - x_hat)
            found.append(x)
        return found

    return run


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("", ""),
        ("own", "each client tosses a coin of its own where one coin is for all; those that communicate take the"),
        ("own, among themselves", "those that communicate take the average among themselves"),
        ("in every so many rounds", "all runs make the same draws in the same rounds"),
    ],
)
def test_coins_of_scaffnew(kind, words):
    report = conformance.algorithm("scaffnew", run=scaffnew(kind))
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
