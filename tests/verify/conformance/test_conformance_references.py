"""Anybody's own method as the reference: of a module, of a file, with problems given; slips of its own source."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import pytest
from places import EXAMPLES

import fedtheory as ft
from fedtheory import algorithms
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify import conformance
from verify.base import own
from verify.cli import main
from verify.conformance.references import reference, written

HEAVY, DECREASING = EXAMPLES / "heavy_ball.py", EXAMPLES / "decreasing_step.py"
PROBLEM = Problem(diagonal([[2.0, 1.0], [4.0, 3.0], [1.0, 2.0]], [[1.0, 2.0], [0.0, 1.0], [-1.0, 1.5]]))
GIVEN = [(PROBLEM, {"gamma": 0.1, "beta": 0.5}), (PROBLEM, {"gamma": 0.2, "beta": 0.3})]


def mean_gradient(problem, x):
    return np.mean([conformance.client(problem, i).gradient(x) for i in range(problem.n)], axis=0)


def heavy(problem, params, rounds, rng, slip=None):
    x, before, found = np.zeros(problem.d), np.zeros(problem.d), []
    for _ in range(rounds):
        slope = mean_gradient(problem, x) * {"sign": -1, "sum": problem.n}.get(slip, 1)
        x, before = x - params.gamma * slope + (0 if slip == "no momentum" else params.beta) * (x - before), x
        found.append(x)
    return found


def decreasing(problem, params, rounds, rng, late=0):
    x, found = np.zeros(problem.d), []
    for k in range(rounds):
        x = x - params.c / (k + 1 + late) * mean_gradient(problem, x)
        found.append(x)
    return found


SLIPS = {
    "sign": "`state.x + params.gamma * slope` in place of `state.x - params.gamma * slope` (in step of heavy_ball.py)",
    "sum": ".sum(axis=-2)` in place of",
    "no momentum": "`0` in place of `beta`",
}


@pytest.mark.parametrize("slip", [None, *SLIPS])
def test_a_method_of_a_file_with_the_problems_of_its_claims(slip):
    report = conformance.algorithm(f"{HEAVY}:heavy-ball", run=lambda *given: heavy(*given, slip))
    assert report.ok == (slip is None), str(report)
    if slip is not None:
        assert SLIPS[slip] in report.failures[0].evidence
        # The line is told as it is written.
        assert "x <- state.x - params.gamma * slope + params.beta" in report.failures[0].where


@pytest.mark.parametrize("slip", [None, *SLIPS])
def test_a_method_that_is_given_itself_with_problems(slip):
    method = reference(f"{HEAVY}:heavy_ball")
    report = conformance.algorithm(method, run=lambda *given: heavy(*given, slip), problems=GIVEN)
    assert report.ok == (slip is None), str(report)
    if slip is not None:
        assert SLIPS[slip] in report.failures[0].evidence


@pytest.mark.parametrize("late", [0, 1])
def test_parameters_that_vary_with_the_round(late):
    report = conformance.algorithm(str(DECREASING), run=lambda *given: decreasing(*given, late))
    assert report.ok == (not late), str(report)
    if late:
        assert "those of one round later" in report.failures[0].evidence


def test_a_step_that_sees_the_parameters_of_its_round():
    def step(problem, params, state, draw):
        return {"x": state["x"] - params.c / (params.round + 1) * mean_gradient(problem, state["x"])}

    assert conformance.algorithm(str(DECREASING), step=step).ok


class Chosen(NamedTuple):
    clients: np.ndarray


def sampled(problem, params, state, draw, power):
    g = problem.f.gradient(state.x[..., None, :])
    mean = np.where(draw.clients[..., None], g, 0 * g).sum(axis=-2) / params.tau
    return {"x": state.x - params.gamma**power * mean}


def drawn(problem, params, state):
    return ft.Product(Chosen, (ft.UniformSubset(problem.n, params.tau),))


SAMPLED = ft.method("sampled", functools.partial(sampled, power=1), ["gamma", "tau"], {"x": "point"}, draws=drawn)


@pytest.mark.parametrize("slip", [None, "all", "replaced"])
def test_a_method_with_draws_whose_step_is_partial(slip):
    def run(problem, params, rounds, rng):
        x, found = np.zeros(problem.d), []
        for _ in range(rounds):
            chosen = rng.choice(problem.n, params.tau, replace=slip == "replaced")
            slopes = [conformance.client(problem, i).gradient(x) for i in chosen]
            x = x - params.gamma * sum(slopes) / (problem.n if slip == "all" else params.tau)
            found.append(x)
        return found

    problems = [(PROBLEM, {"gamma": 0.1, "tau": 2}), (PROBLEM, {"gamma": 0.2, "tau": 2})]
    report = conformance.algorithm(SAMPLED, run=run, problems=problems)
    assert report.ok == (slip is None), str(report)
    assert written(SAMPLED) is not None
    if slip == "replaced":
        assert "drawn with replacement" in report.failures[0].evidence


def test_a_method_with_the_name_of_ours_is_itself():
    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * state.x}

    method = ft.method("scaffold", step, ["gamma"], {"x": "point"})
    assert not algorithms.is_known(method) and algorithms.slips_of(method) == ()
    problems = [(PROBLEM, {"gamma": 0.5})]

    def right(problem, params, state, rng):
        return {"x": state["x"] * (1 - params.gamma)}

    assert conformance.algorithm(method, step=right, problems=problems).ok


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        (SAMPLED, {}, r"no problems are known for sampled: give problems=\[\(problem, params\), \.\.\.\], or CLAIMS"),
        (SAMPLED, {"problems": [(PROBLEM, {"gamma": 0.1})]}, r"Params\(gamma, tau\)"),
        (SAMPLED, {"problems": [(PROBLEM, {"gamma": 9.0, "tau": 2})]}, r"sampled itself diverges on problems\[0\]"),
        (f"{HEAVY}:nesterov", {}, "has no method 'nesterov': choose from .*:heavy-ball"),
        ("gone.py:step", {}, "no such file"),
        (7, {}, "by its name, or as an Algorithm, got a int"),
    ],
)
def test_bad_references(name, options, words):
    with pytest.raises(ValueError, match=words):
        conformance.algorithm(name, run=heavy, **options)


def test_a_file_without_a_method_or_with_several(tmp_path):
    path = tmp_path / "some.py"
    path.write_text("import fedtheory\n")
    with pytest.raises(ValueError, match=r"has no method: write NAME = fedtheory.method"):
        reference(str(path))
    path.write_text(
        "import fedtheory as ft\n"
        "def step(problem, params, state, draw):\n    return {'x': params.a * state.x}\n"
        "one, two = (ft.method(name, step, ['a'], {'x': 'point'}) for name in ('first', 'second'))\n"
    )
    with pytest.raises(ValueError, match=r"several methods, name one: .*:first, .*:second"):
        reference(str(path))
    assert reference(f"{path}:two").name == reference(f"{path}:second").name == "second"
    # Those that only claims speak of.
    assert reference(f"{EXAMPLES / 'gallery' / 'two_forms.py'}:dampened").name == "dampened"


@pytest.mark.parametrize(
    ("file", "options"),
    [(HEAVY, []), (DECREASING, ["--hide-draws"]), (EXAMPLES / "gallery" / "l_svrg.py", ["--iterates"])],
    ids=["heavy_ball", "decreasing_step", "l_svrg"],
)
def test_traces_of_a_method_of_a_file(file, options, tmp_path, capsys):
    path = str(tmp_path / "run.npz")
    assert main(["trace", str(file), "--out", path, "--rounds", "8", *options]) == 0
    assert main(["check-trace", str(file), path]) == 0, capsys.readouterr().out
    with np.load(path) as found:
        kept = {name: found[name] for name in found.files}
    letter = "iterates" if options == ["--iterates"] else f"state.{reference(str(file)).State._fields[0]}"
    kept[letter][4] *= 1.01
    np.savez(path, **kept)
    assert not conformance.check_trace(str(file), tmp_path / "run.npz").ok


def test_what_somebody_claims_of_a_method_rejects_no_right_implementation(tmp_path):
    """The claims give problems; the second claim of the file is false."""
    path = tmp_path / "false.py"
    text = (EXAMPLES / "gallery" / "l_svrg.py").read_text()
    path.write_text(text + "\nCLAIMS = CLAIMS[::-1]\n")
    method = reference(str(path))

    def step(problem, params, state, rng):
        draw = method.draws(problem, params, None).sample(rng, ())
        before = method.State(**{k: np.asarray(state[k])[None] for k in method.State._fields})
        after = method.step(problem, params, before, type(draw)(*(np.asarray(part)[None] for part in draw)))
        return {k: v[0] for k, v in after._asdict().items()}

    report = conformance.algorithm(method, step=step, keep=lambda problem, params: problem.n * problem.d <= 2)
    assert report.ok, str(report)


def test_a_battery_with_a_method_of_ones_own():
    mine = {"algorithms": {f"{HEAVY}:heavy-ball": {"run": heavy}, f"{HEAVY}: with problems": {"run": heavy}}}
    assert conformance.battery(mine).ok


def test_a_file_that_is_read_may_have_no_claims(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text("x = 1\n")
    assert own.read(path).x == 1
    with pytest.raises(ValueError, match="has no CLAIMS"):
        own.load(path)


@pytest.mark.slow
def test_a_step_in_which_the_reference_overflows_is_no_departure():
    reference = algorithms.get("fedcomgate")

    def step(problem, params, state, draw):
        before = reference.State(**{name: state[name] for name in reference.State._fields})
        return reference.step(problem, params, before, draw)._asdict()

    # At this seed the run of eighty rounds diverges to 1e306, and then to NaN.
    assert conformance.algorithm("fedcomgate", step=step, seed=19).ok
