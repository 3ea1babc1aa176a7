"""No number depends on how many threads a solver has, and a process that has solved something may fork."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory
import verify

ROOTS = [Path(package.__file__).parent for package in (fedtheory, verify)]


def test_every_call_of_the_solver_asks_for_one_thread():
    for root in ROOTS:
        for path in root.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for call in re.findall(r"\.solve\(solver=cp\.CLARABEL.*\)", text):
                assert "max_threads=1" in call, path
            asked = text.count("clarabel.DefaultSettings()")
            assert text.count("settings.max_threads = 1") == asked, path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_has_solved_forks():
    code = """
import os, cvxpy as cp
from verify.pep import programs
def solve():
    X = cp.Variable((20, 20), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.diag(X) <= 1])
    assert programs.run(problem) == "optimal"
    return float(problem.value)
value = solve()
child = os.fork()
if child == 0:
    os._exit(0 if solve() == value else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
