"""No verdict knows the time."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from places import EXAMPLES

import fedtheory
import verify
from verify.base.own import load
from verify.multipliers.proofs import written
from verify.multipliers.proving import prove

ROOTS = [Path(package.__file__).parent for package in (fedtheory, verify)]
HERE = Path(__file__).parent
#: Modules that look at a clock, and why: they report how long something took, a user asked for it, or files have dates.
CLOCKS = {
    "report": {
        *("checking.py", "cli/checking.py", "cli/commands.py", "experiments/running.py", "export/prove.py"),
        *("cli/auditing.py", "report/progress.py"),
        *("pep/bounding.py", "pep/class_induction.py", "pep/prover.py", "pep/worst_case.py", "tightness/rounds.py"),
    },
    "asked": {
        *("best/factors.py", "best/parameters.py", "best/potentials.py", "best/thresholds.py", "cli/best.py"),
        *("cli/repairing.py", "repair/trials.py", "base/limits.py", "agent/isolated.py"),
        # What a compressor makes of NaN and infinity is a note, no verdict.
        "conformance/special.py",
    },
    "date": {"cli/carry.py", "__init__.py"},
}
#: Modules of Python that have clocks.
TIMES = {"time", "datetime", "timeit", "resource", "sched"}
CODE = """
import sys, time
from pathlib import Path
from verify.base.own import load
from verify.multipliers.proofs import written
from verify.multipliers.proving import prove
found = prove(load(Path(sys.argv[1]))[0])
print(*(type(getattr(time, name)).__name__ for name in ("time", "monotonic", "perf_counter", "process_time")))
print({name: written(tree) for name, tree in found.cases.items()})
"""


def _imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]


def test_few_modules_look_at_a_clock():
    looking = {
        path.relative_to(root).as_posix()
        for root in ROOTS
        for path in root.rglob("*.py")
        if TIMES & set(_imported(path))
    }
    assert looking <= set().union(*CLOCKS.values())


def test_a_proof_is_the_same_where_clocks_run_faster():
    """The longest search of the gallery, of which nothing is stored; `make golden` shows it of all verdicts."""
    file = EXAMPLES / "gallery" / "scaffold.py"
    path = os.pathsep.join([str(HERE.parent / "helpers" / "fast_clocks"), str(ROOTS[0].parent)])
    command, environment = [sys.executable, "-c", CODE, str(file)], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    clocks, found = done.stdout.splitlines()
    # In that process they are not those of Python.
    assert set(clocks.split()) == {"function"}
    assert found == str({name: written(tree) for name, tree in prove(load(file)[0]).cases.items()})
