"""Loops over clients, as frameworks have them, right and with one slip each: what is right passes, a slip is named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from implementations import FORMS, report_of, scaffold, scaffold_drawn, scaffold_step, small
from in_turn import first_of_each

from fedtheory import algorithms
from verify import conformance
from verify.conformance.scenarios import known

SLIPS = [(form, slip) for form in FORMS for slip in FORMS[form][-1]]


# ``benchmarks/conformance.py`` goes on with a hundred seeds.
@pytest.mark.parametrize("form", first_of_each(FORMS, lambda form: FORMS[form][0]))
def test_what_is_right_conforms(form):
    """Of each algorithm one form."""
    report = report_of(form, None, 0, keep=small)
    assert report.ok, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_what_is_right_conforms_on_large_problems_too(form):
    report = report_of(form, None, 1)
    assert report.ok, str(report)


@pytest.mark.parametrize(("form", "slip"), first_of_each(SLIPS, lambda at: at[0], lambda at: at[1]))
def test_each_slip_is_named(form, slip):
    """Each slip, and of each form one."""
    report = report_of(form, slip, 0, keep=small)
    assert len(report.failures) == 1
    (failure,) = report.failures
    assert FORMS[form][-1][slip] in failure.evidence
    assert failure.replay.startswith("conformance.algorithm(")


def averaging(problem, params, rounds, rng, slip=None, x=None):
    """FedAvg, which departs from the method where few tests look."""
    x, found, past, queue = np.zeros(problem.d) if x is None else x, [], [], []
    for t in range(rounds):
        if slip == "shuffled by epochs":
            if len(queue) < params.tau:
                queue += list(rng.permutation([i for i in range(problem.n) if i not in queue]))
            chosen = [queue.pop(0) for _ in range(params.tau)]
        else:
            chosen = rng.choice(problem.n, params.tau, replace=False)
        past.append(x)
        strange = {
            "tripled from round 6 on": t >= 6,
            "more than 8 clients": problem.n > 8,
            "more than 16 dimensions": problem.d > 16,
            "not quadratic": not hasattr(problem.f, "H"),
        }.get(slip, False)
        models = []
        for i in chosen:
            y = (past[-2] if slip == "stale from round 9 on" and t >= 9 else x).copy()
            for _ in range(params.epochs):
                y -= (3 if strange else 1) * params.eta_l * conformance.client(problem, int(i)).gradient(y)
            models.append(y)
        x = np.mean(models, axis=0)
        found.append(x)
    return found


FAR = {
    "shuffled by epochs": "not independent of earlier ones",
    "tripled from round 6 on": "after round 7",
    "stale from round 9 on": "after round 10",
    "more than 8 clients": "n = 12",
    "more than 16 dimensions": "d = 20",
    "not quadratic": "logistic losses",
}


@pytest.mark.parametrize("slip", FAR)
def test_what_departs_late_or_on_large_or_other_problems_only(slip):
    def run(problem, params, rounds, rng):
        return averaging(problem, params, rounds, rng, slip)

    keep = {"keep": lambda problem, params: problem.n >= 4}
    (failure,) = conformance.algorithm("fedavg", run=run, **keep).failures
    assert FAR[slip] in failure.evidence


def test_how_far_is_looked_is_told():
    report = conformance.algorithm("fedavg", run=averaging)
    assert report.ok, str(report)
    told = {name: size for name, size in report.detects.items() if "wrong" in name}
    assert list(told.values()) == [64, 12, 20]
    assert "up to round: 64" in str(report)


@pytest.mark.parametrize("slip", [None, "late"])
def test_a_step_with_draws_that_goes_wrong_late(slip):
    def init(problem, params):
        return {"x": np.zeros(problem.d), "c": np.zeros(problem.d), "c_i": np.zeros((problem.n, problem.d)), "t": 0}

    def step(problem, params, state, draw):
        late = params._replace(eta_l=2 * params.eta_l) if slip and state["t"] >= 30 else params
        return {**scaffold_step(problem, late, state, np.flatnonzero(draw.clients), None), "t": state["t"] + 1}

    assert conformance.algorithm("scaffold", init=init, step=step).ok == (slip is None)


def scaffnew(problem, params, rounds, rng, systematic):
    x, found, start = np.zeros((problem.n, problem.d)), [], rng.random()
    h = np.zeros_like(x)
    for t in range(rounds):
        due = np.floor((t + 1) * params.p + start) > np.floor(t * params.p + start)
        y = x - params.gamma * (problem.f.gradient(x) - h)
        if due if systematic else rng.random() < params.p:
            x = np.tile((y - params.gamma / params.p * h).mean(axis=0), (problem.n, 1))
        else:
            x = y
        h = h + params.p / params.gamma * (x - y)
        found.append(x)
    return found


def test_local_steps_with_gradients_at_the_servers_model():
    def run(problem, params, rounds, rng):
        x, found = np.zeros(problem.d), []
        for _ in range(rounds):
            chosen = rng.choice(problem.n, params.tau, replace=False)
            slopes = [conformance.client(problem, i).gradient(x) for i in chosen]
            x = x - params.epochs * params.eta_l * np.mean(slopes, axis=0)
            found.append(x)
        return found

    (failure,) = conformance.algorithm("fedavg", run=run).failures
    assert "taken at the server's model, not at the client's own" in failure.evidence


@pytest.mark.parametrize(
    ("steps", "epochs", "told"),
    [
        (lambda epochs: epochs - 1, {}, "`epochs - 1` in place of `epochs`;"),
        # With two epochs alone, one less and one step are the same.
        (lambda epochs: epochs - 1, {2}, "`epochs - 1` in place of `epochs` (seen at epochs = 2 only);"),
        (lambda epochs: 1, {}, "`params.batches.per_epoch` in place of"),
        (lambda epochs: min(epochs, 2), {}, None),
        (lambda epochs: 2 * epochs, {}, None),
    ],
)
def test_a_name_holds_wherever_something_departs(steps, epochs, told):
    def run(problem, params, rounds, rng):
        return averaging(problem, params._replace(epochs=steps(params.epochs)), rounds, rng)

    keep = {"keep": lambda problem, params: params.epochs in epochs} if epochs else {}
    (failure,) = conformance.algorithm("fedavg", run=run, **keep).failures
    if told is None:
        assert failure.data["slip"] is None
        assert failure.evidence.startswith("x departs from")
    else:
        assert told in failure.evidence


def test_a_number_that_is_only_equal_to_a_parameter_is_none():
    """Each problem has parameters of its own, in no fixed relation to its functions."""

    def step(problem, params, state, draw):
        own = algorithms.get("fedavg")
        return own.step(problem, params._replace(eta_l=0.2 / problem.L), own.State(state["x"]), draw)._asdict()

    (failure,) = conformance.algorithm("fedavg", step=step).failures
    assert failure.data["slip"] is None


def test_a_forgotten_copy_changes_what_was_returned_too():
    """As in the documentation: clients train on the server's array, which is the iterate of the round before."""

    def run(problem, params, rounds, rng):
        x, found = np.zeros(problem.d), []
        for _ in range(rounds):
            models = []
            for i in rng.choice(problem.n, params.tau, replace=False):
                y = x
                for _ in range(params.epochs):
                    y -= params.eta_l * conformance.client(problem, i).gradient(y)
                models.append(y)
            x = np.mean(models, axis=0)
            found.append(x)
        return found

    (failure,) = conformance.algorithm("fedavg", run=run).failures
    assert "if more rounds follow: they change it in place" in failure.evidence
    assert "the global model is changed in place while clients still train on it" in failure.evidence


def settling(problem, params, rounds, rng, kept):
    """FedAvg that keeps its model where ``kept(before, after)``."""
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        after = averaging(problem, params, 1, rng, x=x)[0]
        x = x if kept(x, after) else after
        found.append(x)
    return found


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (lambda before, after: np.linalg.norm(after - before) < 1e-6, "n = 2, d = 1"),
        (lambda before, after: np.linalg.norm(after) > 1e3, "n = 12, d = 20"),
    ],
)
def test_what_stops_once_it_has_converged_or_seems_to_diverge(kept, words):
    (failure,) = conformance.algorithm("fedavg", run=lambda *given: settling(*given, kept)).failures
    assert "x departs from" in failure.evidence and words in failure.evidence
    assert "float32" not in failure.evidence
    # Some iterates are the same array, which nothing overwrites.
    assert "copy it" not in failure.evidence


def test_a_step_that_gives_up_far_away():
    own = algorithms.get("diana")

    def step(problem, params, state, draw):
        before = own.State(**{k: state[k] for k in own.State._fields})
        return (before if np.linalg.norm(before.x) > 500 else own.step(problem, params, before, draw))._asdict()

    assert not conformance.algorithm("diana", step=step).ok


def test_coins_of_a_rounded_probability():
    """One of round(1/p), which is p for many p."""

    def run(problem, params, rounds, rng):
        class Rounded:
            def random(self):
                return 0.0 if rng.integers(round(1 / params.p)) == 0 else 1.0

        return scaffnew(problem, params, rounds, Rounded(), False)

    (failure,) = conformance.algorithm("scaffnew", run=run).failures
    assert "of the time, should be" in failure.evidence


@pytest.mark.parametrize("systematic", [False, True])
def test_coins_that_fall_at_equal_distances(systematic):
    report = conformance.algorithm("scaffnew", run=lambda *given: scaffnew(*given, systematic))
    assert report.ok != systematic, str(report)
    if systematic:
        assert "not independent of earlier ones" in report.failures[0].evidence


def test_what_asks_for_hessians_is_tested_on_quadratics():
    """Nothing says that the f_i have matrices; who takes them is tested where they are there, and told so."""

    def step(problem, params, state, draw):
        total = sum(problem.f.H[i] @ (state["x"] - problem.f.c[i]) for i in np.flatnonzero(draw.clients))
        return {"x": state["x"] - params.eta * total / params.tau}

    report = conformance.algorithm("minibatch-sgd", step=step)
    assert report.ok, str(report)
    assert any("not quadratic" in note and "has no attribute 'H'" in note for note in report.notes)


def test_float32_passes_at_its_own_tolerance_only():
    report = report_of("fedavg", "float32", 0, tolerance=1e-4, keep=small)
    assert report.ok
    assert report.tolerance == 1e-4
    assert "up to 0.0001 are rounding" in str(report)
    (failure,) = report_of("fedavg", "float32", 0, keep=small).failures
    # In as many digits as it takes.
    mine, due = re.findall(r"(?:it is|reference has) (\[[^]]*\])", failure.evidence)[:2]
    assert mine != due
    assert "if it computes in float32, pass tolerance=1e-0" in failure.evidence
    assert not report_of("fedavg", "all clients", 0, tolerance=1e-4, keep=small).ok


#: Methods of which a loop over clients is tested.
WRITTEN = {name for name, *_ in FORMS.values()}


@pytest.mark.parametrize("name", [name for name in known() if name not in WRITTEN])
def test_the_references_conform_to_themselves(name):
    own = algorithms.get(name)

    def step(problem, params, state, draw):
        return own.step(problem, params, own.State(**{k: state[k] for k in own.State._fields}), draw)._asdict()

    assert conformance.algorithm(name, step=step, keep=small).ok


def test_a_change_that_nobody_listed_is_told_by_its_line():
    own = algorithms.get("locodl")

    def step(problem, params, state, draw):
        wrong = params._replace(chi=params.rho, rho=params.chi)
        return own.step(problem, wrong, own.State(**{k: state[k] for k in own.State._fields}), draw)._asdict()

    (failure,) = conformance.algorithm("locodl", step=step).failures
    assert "departs from" in failure.evidence
    assert "rho" in failure.where


def test_a_claim_that_is_broken_is_named():
    (failure,) = report_of("scaffold, drawn", "participants", 0).failures
    assert failure.claim == "reference/scaffold/invariant"
    (failure,) = report_of("diana", "stale", 0).failures
    assert failure.claim == "baseline/diana/invariant"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda problem, params, state, draw: {"x": state["x"]}, "has no 'c'"),
        (lambda problem, params, state, draw: {**state, "x": state["x"][None]}, "x has shape"),
        (lambda problem, params, state, draw: {**state, "x": "no"}, "not an array of numbers"),
        (lambda problem, params, state, draw: state["z"], "KeyError"),
        (lambda problem, params, state, draw: None, "NoneType"),
    ],
)
def test_an_interface_that_is_not_kept_is_told(step, words):
    (failure,) = conformance.algorithm("scaffold", step=step).failures
    assert failure.claim.startswith("interface/")
    assert words in failure.evidence


def test_an_initial_state_of_its_own():
    def init(problem, params):
        zeros = np.zeros(problem.d)
        return {"x": zeros, "c": zeros, "c_i": np.zeros((problem.n, problem.d)), "round": 0}

    def step(problem, params, state, draw):
        return {
            **scaffold_step(problem, params, state, np.flatnonzero(draw.clients), None),
            "round": state["round"] + 1,
        }

    assert conformance.algorithm("scaffold", init=init, step=step).ok
    (failure,) = conformance.algorithm(
        "scaffold", init=lambda problem, params: {**init(problem, params), "x": np.ones(problem.d)}, step=step
    ).failures
    assert failure.where == "init, x"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either step or run"),
        ({"step": scaffold_drawn, "run": scaffold}, "either step or run"),
        ({"run": scaffold, "init": lambda problem, params: {}}, "init= belongs to step="),
        ({"step": scaffold_drawn, "features": ["magic"]}, "unknown feature 'magic'"),
        ({"step": scaffold_drawn, "level": 0}, "error level"),
        ({"step": scaffold_drawn, "randomness": "both"}, "randomness must be"),
        ({"step": scaffold_drawn, "keep": lambda problem, params: False}, "no problems are left"),
        ({"step": scaffold_drawn, "tolerance": 2}, "tolerance"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        conformance.algorithm("scaffold", **options)


def test_an_unknown_algorithm():
    with pytest.raises(ValueError, match="unknown algorithm 'sgd2'"):
        conformance.algorithm("sgd2", step=scaffold_drawn)


def error_feedback(problem, params, rounds, rng, zero=(), g=None):
    """EF21, of which only the models are seen; with ``zero``: letters that begin at 0; ``g``: other estimates."""
    x = np.zeros(problem.d)
    slopes = problem.f.gradient(x[None, :]) if g is None else g
    g = 0 * slopes if "g" in zero else slopes
    g_bar = np.zeros(problem.d) if "g_bar" in zero else slopes.mean(axis=0)
    iterates = []
    for _ in range(rounds):
        x = x - params.gamma * g_bar
        c = params.compressor.sample(rng, problem.f.gradient(x[None, :]) - g)
        g, g_bar = g + c, g_bar + c.mean(axis=0)
        iterates.append(x.copy())
    return iterates


def smallest(problem, params):
    """Two clients or fewer, in two dimensions or fewer."""
    return problem.n <= 2 and problem.d <= 2


def begun_at_zero(*names):
    def run(problem, params, rounds, rng):
        return error_feedback(problem, params, rounds, rng, names)

    # Where coins decide whether anything is sent, 0 is C_i(grad f_i(x^0)) for some draws.
    return conformance.algorithm("ef21", run=run, keep=lambda problem, params: problem.d > 2)


def test_a_start_at_zero_that_is_not_seen_is_named():
    (failure,) = begun_at_zero("g").failures
    assert "the run begins at g^0 = 0, the method at g^0 = " in failure.evidence


def test_estimates_that_begin_at_zero_are_those_of_the_method():
    assert "runs begin at g_i^0 = 0, which is a start of the method too" in begun_at_zero("g", "g_bar").notes


def test_another_fault_than_the_start_is_not_called_one():
    def run(problem, params, rounds, rng):
        return [1.5 * x for x in error_feedback(problem, params, rounds, rng)]

    report = conformance.algorithm("ef21", run=run, keep=smallest)
    assert not report.ok and "the run begins at" not in str(report)
    assert conformance.algorithm("ef21", run=error_feedback, keep=smallest).ok
