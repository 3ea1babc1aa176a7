"""What is loaded when: nothing that computes for an error in the arguments, nothing that solves for a list."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from places import ROOT

#: Each takes from a tenth of a second to two seconds to load.
SOLVERS = {"cvxpy", "z3", "sklearn", "joblib", "matplotlib", "pandas", "scipy", "PEPit", "IPython", "distributed"}
MATHEMATICS = {"sympy", "numpy", "mpmath", "rich"}


def _loaded(program: str) -> set[str]:
    """The packages that a program has loaded at its end."""
    report = "import json, sys; print('\\n' + json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "program",
    [
        "import fedtheory",
        "import verify",
        "import verify.cli",
        "from verify.cli import main; assert main(['lst']) == 2",
        "from verify.cli import main; assert main(['audit', '--seed', 'x']) == 2",
        "from verify.cli import main; assert main([]) == 0",
    ],
)
def test_arguments_load_nothing_that_computes(program):
    assert not _loaded(program) & (SOLVERS | MATHEMATICS)


@pytest.mark.parametrize(
    "program",
    [
        "from fedtheory import claims; claims.all()",
        "from verify.cli import main; assert main(['list']) == 0",
        "from verify.cli import main; assert main(['list', '--verdict', 'refuted', '--verdict', 'ill-posed']) == 0",
        "from verify.cli import main; assert main(['show', 'locodl/eq-6', '--latex']) == 0",
        "from verify.cli import main; assert main(['show', 'baseline/gradient-descent/one-step']) == 0",
        "from verify.cli import main; assert main(['why', 'feddcd/theorem-6.1/eq-10']) == 0",
        "from verify.cli import main; assert main(['why', 'feddcd']) == 0",
        "from verify.cli import main; assert main(['completion', 'bash']) == 0",
        "from verify import Counterexample, Evidence, Verdict",
        "import fedtheory.data, fedtheory.tables.regions, fedtheory.learning.logistic",
    ],
)
def test_what_only_tells_loads_nothing_that_solves(program):
    assert not _loaded(program) & SOLVERS


def test_a_list_that_was_made_before_loads_no_claims():
    program = "from verify.cli import main; assert main(['list', 'feddcd']) == 0"
    _loaded(program)
    assert not _loaded(program) & {*SOLVERS, *MATHEMATICS} - {"rich"}


def test_that_no_claim_has_an_id_is_told_without_the_claims():
    """Where they are listed."""
    _loaded("from verify.cli import main; assert main(['list', 'feddcd']) == 0")
    commands = ("show", "why", "audit", "tight", "best", "repair", "export")
    program = f"from verify.cli import main\nfor name in {commands}: assert main([name, 'locodl/nothing']) == 2"
    assert not _loaded(program) & {*SOLVERS, *MATHEMATICS}


def test_checking_loads_no_solver_before_it_is_needed():
    assert not _loaded("from verify import check") & {"cvxpy", "sklearn", "matplotlib", "pandas"}


def test_verify_has_the_names_that_it_says():
    program = "import verify\nfor name in verify.__all__: getattr(verify, name)\nassert not hasattr(verify, 'nothing')"
    assert "sympy" in _loaded(program)
