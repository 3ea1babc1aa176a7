"""Recorded runs: right ones conform, tampered ones do not, and bad files are one line."""

from __future__ import annotations

import jsonschema
import numpy as np
import pytest

from fedtheory import algorithms
from fedtheory.algorithms import diana
from fedtheory.compressors import Family, rand_k
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify import conformance
from verify.cli import main
from verify.conformance import npz
from verify.conformance.scenarios import known
from verify.evidence import formats

#: What a trace may leave out.
WITHOUT = ("", "draws", "states")
#: Those with an inexact oracle among their parameters cannot be written.
NAMES = [name for name in known() if "oracle" not in algorithms.get(name).Params._fields]


def changed(path, **arrays):
    with np.load(path) as file:
        kept = {key: file[key] for key in file.files}
    for key, value in arrays.items():
        kept.pop(key, None) if value is None else kept.__setitem__(key, value)
    np.savez(path, **kept)


@pytest.mark.parametrize(
    ("name", "without"),
    # Of each method one, and each of some methods.
    [(name, WITHOUT[at % len(WITHOUT)]) for at, name in enumerate(NAMES)],
)
def test_a_run_of_the_reference_conforms_however_little_is_recorded(name, without, tmp_path):
    path = tmp_path / "run.npz"
    conformance.record(name, path, rounds=6, **({without: False} if without else {}))
    report = conformance.check_trace(name, path)
    assert report.ok, str(report)
    assert report.checked


@pytest.mark.parametrize("name", ["diana", "locodl", "cocoa-plus", "fsvrg"])
def test_what_is_recorded_names_its_format_and_is_of_it(name, tmp_path):
    path = tmp_path / "run.npz"
    for states in (True, False):
        conformance.record(name, path, rounds=1, states=states)
        told = npz.described(npz.read(path))
        assert next(iter(told.items())) == ("format", "fedtheory-trace-1")
        assert formats.checked("trace", told) == told
        jsonschema.Draft202012Validator(formats.schema("trace")).validate(told)


@pytest.mark.parametrize("options", [{}, {"draws": False}])
@pytest.mark.parametrize("letter", ["x", "c", "c_i"])
def test_a_letter_that_is_off_is_named(letter, options, tmp_path):
    path = tmp_path / "run.npz"
    conformance.record("scaffold", path, rounds=6, **options)
    with np.load(path) as file:
        value = file[f"state.{letter}"]
    value[3] *= 1.05
    changed(path, **{f"state.{letter}": value})
    report = conformance.check_trace("scaffold", path)
    assert not report.ok
    assert letter in report.failures[0].where


def test_iterates_alone_are_enough(tmp_path):
    path = tmp_path / "run.npz"
    conformance.record("scaffold", path, rounds=6, states=False)
    with np.load(path) as file:
        value = file["iterates"]
    value[4] += 0.01
    changed(path, iterates=value)
    assert "after round 4" in conformance.check_trace("scaffold", path).failures[0].evidence


def test_a_run_that_is_too_short_to_tell_how_often_draws_occur_is_told_so(tmp_path):
    path = tmp_path / "run.npz"
    conformance.record("fedavg", path, rounds=6, states=False)
    report = conformance.check_trace("fedavg", path)
    assert report.ok and any("too short" in note for note in report.notes)


def test_rows_of_data_with_the_client_of_each(tmp_path):
    rng = np.random.default_rng(0)
    A, b, owner = rng.standard_normal((9, 2)), rng.standard_normal(9), np.array([0, 1, 0, 1, 1, 0, 1, 1, 1])
    parts = [(A[owner == i], b[owner == i]) for i in range(2)]
    eta, x, found = 0.1, np.zeros(2), [np.zeros(2)]
    for _ in range(5):
        x = x - eta * np.mean([a.T @ (a @ x - t) / len(t) + 0.3 * x for a, t in parts], axis=0)
        found.append(x)
    path = tmp_path / "run.npz"
    data = {"data.A": A, "data.b": b, "data.client": owner, "data.mu": 0.3, "params.tau": 2, "params.eta": eta}
    np.savez(path, **data, **{"state.x": np.stack(found)})
    assert conformance.check_trace("minibatch-sgd", path).ok
    changed(path, **{"params.eta": 0.11})
    assert not conformance.check_trace("minibatch-sgd", path).ok


def test_too_many_draws_to_ask_for(tmp_path):
    path = tmp_path / "run.npz"
    d, n, rng = 40, 6, np.random.default_rng(0)
    H, c = np.stack([np.diag(rng.uniform(1, 2, d)) for _ in range(n)]), rng.standard_normal((n, d))
    x, h, h_bar = np.zeros(d), np.zeros((n, d)), np.zeros(d)
    states = [(x, h, h_bar)]
    for _ in range(20):
        kept = np.argsort(rng.random((n, d)), axis=1) < 10
        m = np.where(kept, 4 * ((np.einsum("nij,nj->ni", H, x - c)) - h), 0)
        x, h, h_bar = x - 0.05 * (h_bar + m.mean(axis=0)), h + 0.25 * m, h_bar + 0.25 * m.mean(axis=0)
        states.append((x, h, h_bar))
    arrays = {f"state.{k}": np.stack([s[i] for s in states]) for i, k in enumerate(("x", "h", "h_bar"))}
    given = {
        "problem.H": H,
        "problem.c": c,
        "params.gamma": 0.05,
        "params.alpha": 0.25,
        "params.compressors": "rand-10",
    }
    np.savez(path, **given, **arrays)
    report = conformance.check_trace("diana", path)
    assert report.ok, str(report)
    assert any("expected decrease" in text for text in report.checked)
    assert any("too many" in note for note in report.notes)
    arrays["state.h_bar"][10:] += 0.1
    np.savez(path, **given, **arrays)
    assert conformance.check_trace("diana", path).failures[0].claim == "baseline/diana/invariant"


@pytest.mark.parametrize(("name", "states"), [("scaffold", True), ("fedavg", False)])
def test_numbers_in_float32_are_told(name, states, tmp_path):
    path = tmp_path / "run.npz"
    conformance.record(name, path, rounds=6, states=states)
    with np.load(path) as file:
        found = {key: file[key] for key in file.files if key.startswith("state.") or key == "iterates"}
    changed(path, **{key: value.astype(np.float32) for key, value in found.items()})
    (failure,) = conformance.check_trace(name, path).failures
    assert "if it computes in float32, pass --tolerance 1e-0" in failure.evidence
    enough = float(failure.evidence.partition("--tolerance ")[2].partition(",")[0])
    assert conformance.check_trace(name, path, tolerance=enough).ok


@pytest.mark.parametrize(
    ("shape", "hidden"), [((4, 12, 3), False), ((4, 12, 3), True), ((2, 4, 2), True), ((3, 6, 2), True)]
)
@pytest.mark.parametrize("joint", ["independent", "shared"])
def test_masks_that_clients_share(joint, shape, hidden, tmp_path):
    """Each step is one that the method can make; only together they are none of its."""
    (n, d, k), T, rng = shape, 300, np.random.default_rng(0)
    problem = Problem(diagonal(rng.uniform(0.5, 1, (n, d)), rng.standard_normal((n, d))))
    params = diana.Params(0.05, k / d, Family(rand_k(d, k), n, joint))
    states, draws = [diana.algorithm.init(problem, params)], []
    for _ in range(T):
        draws.append(params.compressors.draws.sample(rng, ()))
        states.append(diana.step(problem, params, states[-1], draws[-1]))
    arrays = {
        f"state.{name}": np.stack([getattr(s, name) for s in states]).astype(float) for name in ("x", "h", "h_bar")
    }
    given = {"problem.H": problem.f.H, "problem.c": problem.f.c, "params.gamma": 0.05, "params.alpha": k / d}
    path = tmp_path / "run.npz"
    np.savez(path, **given, **{"params.compressors": f"rand-{k}"}, **arrays, **({} if hidden else {"draw": draws}))
    report = conformance.check_trace("diana", path)
    assert report.ok == (joint == "independent"), str(report)
    if not report.ok:
        assert report.failures[0].claim == "reference/diana/draws"
    # Some are left out, and why.
    spaced = "67 of 300 transitions (the first and every 5th, as there are 3375 draws to try for each)"
    assert (spaced in str(report)) == (shape == (3, 6, 2))


def test_a_trace_names_a_slip_with_reserve(tmp_path):
    path = tmp_path / "run.npz"
    conformance.record("scaffnew", path, rounds=12)
    with np.load(path) as file:
        p = file["params.p"]
    changed(path, **{"params.p": p / 2})
    (failure,) = conformance.check_trace("scaffnew", path).failures
    assert failure.data["slip"]
    assert "with the parameters of the trace" in failure.evidence


def test_the_commands(tmp_path, capsys):
    path = tmp_path / "run.npz"
    assert main(["trace", "diana", "--out", str(path), "--rounds", "5", "--seed", "1"]) == 0
    assert main(["check-trace", "diana", str(path)]) == 0
    assert "conforms" in capsys.readouterr().out
    changed(path, **{"params.gamma": 1e-3})
    assert main(["check-trace", "diana", str(path)]) == 1
    assert "departs from" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"params.gamma": None}, "lacks params.gamma"),
        ({"problem.c": None}, "lacks problem.c"),
        ({"state.h": None}, "lacks state.h"),
        ({"state.x": np.zeros((3, 7))}, "state.x must have a row"),
        ({"params.compressors": "zip"}, "unknown compressor 'zip'"),
        ({"draw": np.zeros((2, 2))}, "draw must have a row"),
        ({"algorithm": "ef21"}, "a trace of 'ef21'"),
        ({"format": "fedtheory-trace-2"}, "format: 'fedtheory-trace-1' was expected, got 'fedtheory-trace-2'"),
        ({"problem.H": np.zeros((2, 2))}, "problem.H.shape: a list of 3 was expected, got one of 2"),
        ({"problem.c": 1.0}, "problem.c: an array of two axes was expected, got 1.0"),
        ({"data.loss": "hinge"}, "data.loss: 'least-squares' or 'logistic' was expected, got 'hinge'"),
    ],
)
def test_bad_files_are_one_line(arrays, words, tmp_path, capsys):
    path = tmp_path / "run.npz"
    conformance.record("diana", path, rounds=4)
    changed(path, **arrays)
    assert main(["check-trace", "diana", str(path)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_no_file_and_no_npz(tmp_path, capsys):
    assert main(["check-trace", "diana", str(tmp_path / "none.npz")]) == 2
    (tmp_path / "text.npz").write_text("hello")
    assert main(["check-trace", "diana", str(tmp_path / "text.npz")]) == 2
    assert main(["trace", "diana", "--out", str(tmp_path / "no" / "run.npz")]) == 2
    assert main(["trace", "nothing", "--out", str(tmp_path / "run.npz")]) == 2
    assert capsys.readouterr().err.count("\n") == 4
