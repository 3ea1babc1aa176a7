"""The pytest plugin, alone and under xdist, and the battery of a provider."""

from __future__ import annotations

from importlib.metadata import entry_points
from types import SimpleNamespace

import numpy as np
import pytest
from places import ROOT

from fedtheory import pytest_plugin
from verify import conformance

pytest_plugins = ["pytester"]

#: Where the package is not installed with its entry point the plugin is named.
PLUGIN = [] if "fedtheory" in entry_points(group="pytest11").names else ["-p", "fedtheory.pytest_plugin"]

TESTS = """
    import pytest

    def keep_half(x, rng):
        return 2 * x * (rng.random(x.shape) < 0.5)

    @pytest.mark.fedtheory(d=6, omega=1, samples=4000)
    def test_right(conformance):
        assert conformance.compressor(keep_half).ok

    @pytest.mark.fedtheory(d=6, omega=1, samples=4000)
    def test_wrong(conformance):
        conformance.compressor(lambda x, rng: 1.5 * keep_half(x, rng))

    def descend(problem, params, rounds, rng):
        x, found = [0.0] * problem.d, []
        for _ in range(rounds):
            points = [x] * problem.n
            import numpy as np
            x = x - params.gamma * problem.f.gradient(np.array(points)).mean(axis=0)
            found.append(x)
        return found

    @pytest.mark.fedtheory("minibatch-sgd")
    def test_named(conformance):
        def run(problem, params, rounds, rng):
            return descend(problem, params._replace(), rounds, rng)
        with pytest.raises(pytest.fail.Exception, match="no attribute 'gamma'"):
            conformance.algorithm(run=run)
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_the_plugin(pytester, workers):
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(*PLUGIN, "--strict-markers", "-p", "no:cacheprovider", *workers)
    result.assert_outcomes(passed=2, failed=1)
    text = result.stdout.str()
    assert "does NOT conform" in text
    assert "too large" in text or "times as much" in text
    # The report, and no lines of the package.
    assert "compressors.py" not in text


@pytest.mark.parametrize("other", ["verify.py", "verify/__init__.py", "verify/notes.txt"])
def test_another_verify_is_told(pytester, other, monkeypatch):
    """There is one among the registered packages, and many a project has a file of that name."""
    path = pytester.path / other
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    pytester.makepyfile(
        """
        def test_mine(conformance):
            conformance.compressor(lambda x, rng: x, d=3, omega=0, samples=3000)

        def test_without():
            pass
        """
    )
    # Whatever is installed, and however: the plugin of this tree, on the path.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    result = pytester.runpytest_subprocess("-p", "fedtheory.pytest_plugin", "-p", "no:cacheprovider")
    if other.endswith("txt"):
        # A folder without code stands behind a package.
        result.assert_outcomes(passed=2)
        return
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([f"*another package or file called 'verify' (*{other}) is imported instead*"])


def halved(x, rng):
    return 2 * x * (rng.random(x.shape) < 0.5)


def sgd(problem, params, state, draw):
    total = sum(conformance.client(problem, i).gradient(state["x"]) for i in np.flatnonzero(draw.clients))
    return {"x": state["x"] - params.eta * total / params.tau}


def test_a_provider(tmp_path):
    conformance.record("ef21", tmp_path / "run.npz", rounds=4)

    offered = {
        "compressors": {"half": {"compress": halved, "d": 5, "omega": 1, "samples": 4000}},
        "algorithms": {"minibatch-sgd": {"step": sgd}},
        "traces": {"ef21": tmp_path / "run.npz"},
    }
    Mine = type("Mine", (), offered)
    report = conformance.battery(Mine)
    assert report.ok, str(report)
    assert report.subject == "Mine"
    assert report.level == pytest.approx(1e-6)

    def negated(problem, params, state, draw):
        return {"x": 2 * state["x"] - sgd(problem, params, state, draw)["x"]}

    report = conformance.battery(type("Wrong", (Mine,), {"algorithms": {"minibatch-sgd: negated": {"step": negated}}}))
    assert [f.where.split(":")[0] for f in report.failures] == ["algorithm minibatch-sgd"]


@pytest.mark.parametrize("provider", [object(), type("Empty", (), {"compressors": {}})])
def test_a_provider_of_nothing(provider):
    with pytest.raises(ValueError, match="a provider has one of the mappings"):
        conformance.battery(provider)


@pytest.mark.parametrize(
    ("verbosity", "words", "whole"),
    [(0, (), False), (2, ("-vv",), True), (1, ("-vv",), True), (1, ("-v", "-v"), True), (1, ("-v",), False)],
)
def test_the_whole_report_is_shown_if_asked_for_whatever_an_ini_file_says(verbosity, words, whole):
    """With ``addopts = -q`` the verbosity that pytest reports for ``-vv`` is 1."""
    config = SimpleNamespace(invocation_params=SimpleNamespace(args=words), get_verbosity=lambda: verbosity)
    assert pytest_plugin._verbose(config) == whole
