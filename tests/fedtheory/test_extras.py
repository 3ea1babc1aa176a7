"""The core does without what the extra brings, and says so where it cannot."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

from places import ROOT

from fedtheory import extras

#: Where a package is imported under another name than it is installed.
INSTALLED = {"flint": "python-flint", "sklearn": "scikit-learn", "z3": "z3-solver"}

SCRIPT = """
import sys

from fedtheory import extras

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in extras.AUDIT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())

from fedtheory import algorithms
from verify import conformance
from verify.cli import main

def step(problem, params, state, draw):
    f = problem.f.gradient(state["x"][None])
    return {"x": state["x"] - params.eta * (draw.clients[:, None] * f).sum(axis=0) / params.tau}

few = dict(keep=lambda problem, params: problem.n * problem.d <= 3)
assert conformance.algorithm("minibatch-sgd", step=step, **few).ok
assert conformance.algorithm("saga", step=algorithms.get("saga").step, **few).ok
assert conformance.compressor(lambda x, rng: x, 3, 0, samples=2000).ok
assert not conformance.compressor(lambda x, rng: x / 2, 3, 0, samples=2000).ok
assert main(["trace", "diana", "--rounds", "3", "--out", sys.argv[1]]) == 0
assert main(["check-trace", "diana", sys.argv[1]]) == 0
assert main(["audit", "locodl/eq-2"]) == 2
assert not {name.split(".")[0] for name in sys.modules} & set(extras.AUDIT)
try:
    from verify import check
except extras.MissingExtra as error:
    print(error)
"""


def test_conformance_without_the_extra(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "run.npz")], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"fedtheory: \S.* cannot be imported: .*pip install '\.\[audit\]' in a copy of the source.*\n", done.stderr
    )
    assert "'FILE.whl[audit]' of a wheel" in done.stdout.splitlines()[-1]


READING = """
import contextlib, io

with contextlib.redirect_stdout(io.StringIO()) as out:
    # One of each sort: refuted, proved, and with a certificate.
    assert main(["list", "feddcd", "--verdict", "refuted"]) == 0
    assert main(["why", "feddcd/theorem-6.1/eq-10"]) == 0
    assert main(["show", "locodl/theorem-3.1/one-step"]) == 0
    assert main(["show", "feddcd/theorem-6.1/eq-12"]) == 0
assert "claimed 64/729 <= 1/12, which is false" in out.getvalue()
assert not {name.split(".")[0] for name in sys.modules} & set(extras.AUDIT)
"""


def test_stored_results_are_read_without_the_extra():
    begin, _, _ = SCRIPT.partition("from fedtheory import algorithms\n")
    script = begin + "from verify.cli import main\n" + READING
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_the_names_are_those_of_the_extra():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    listed = [re.split(r"[<>=]", entry)[0] for entry in project["optional-dependencies"]["audit"]]
    assert sorted(listed) == sorted(INSTALLED.get(name, name) for name in extras.AUDIT)
    assert "fedtheory[agent,audit,compiled,pepit]" in project["optional-dependencies"]["dev"]


def test_other_errors_are_left_alone():
    error = ModuleNotFoundError("No module named 'elsewhere'", name="elsewhere")
    assert extras.explained(error) is error
    there = ImportError("cannot import name 'x' from 'z3'", name="z3")
    assert extras.explained(there) is there
