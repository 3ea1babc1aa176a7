"""Loops over clients, as frameworks have them, right and with one slip each: what is right passes, a slip is named."""

from __future__ import annotations

import numpy as np
import pytest
from implementations import FORMS, report_of, scaffold, scaffold_drawn, scaffold_step, small

from fedtheory import algorithms
from verify import conformance
from verify.conformance.scenarios import known

# ``benchmarks/conformance.py`` goes on with a hundred.
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_right_conforms(form, seed):
    report = report_of(form, None, seed, **({} if seed else {"keep": small}))
    assert report.ok, str(report)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("form", "slip"), [(form, slip) for form in FORMS for slip in FORMS[form][-1]])
def test_each_slip_is_named(form, slip, seed):
    report = report_of(form, slip, seed, **({} if seed else {"keep": small}))
    assert len(report.failures) == 1
    (failure,) = report.failures
    assert FORMS[form][-1][slip] in failure.evidence
    assert failure.replay.startswith("conformance.algorithm(")


def test_float32_passes_at_its_own_tolerance_only():
    report = report_of("fedavg", "float32", 0, tolerance=1e-4)
    assert report.ok
    assert report.tolerance == 1e-4
    assert "up to 0.0001 are rounding" in str(report)
    assert not report_of("fedavg", "float32", 0).ok
    assert not report_of("fedavg", "all clients", 0, tolerance=1e-4).ok


@pytest.mark.parametrize("name", known())
def test_the_references_conform_to_themselves(name):
    own = algorithms.get(name)

    def step(problem, params, state, draw):
        return own.step(problem, params, own.State(**{k: state[k] for k in own.State._fields}), draw)._asdict()

    assert conformance.algorithm(name, step=step).ok


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
