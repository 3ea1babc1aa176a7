"""Bounds of models for PEPit as proof objects: the checker accepts both ends, and no better ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from verify import checker
from verify.cli import main
from verify.exact import elimination
from verify.export import objects as export
from verify.export import rocq
from verify.pepit import certify, objects

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP, Expression  # noqa: E402
from PEPit.functions import SmoothStronglyConvexFunction  # noqa: E402

EXAMPLE = "examples/pepit/gradient_descent.py"


def contraction():
    problem = PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, mu=0.1, L=1)
    minimiser, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    problem.set_performance_metric((x - f.gradient(x) - minimiser) ** 2)
    return problem


def by_a_matrix():
    """t^2 <= 2 |x - y|^2 = 8, from an equality and a positive semidefinite matrix: t is at most 4 where both are."""
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition((x - y) ** 2 == 8)
    t = Expression()
    problem.add_psd_matrix([[2 * (x - y) ** 2, t], [t, 1]])
    problem.set_performance_metric(t)
    return problem


def by_a_matrix_of_two_halves():
    """The same, with another expression for t below the diagonal."""
    problem = by_a_matrix()
    (x, y), (t,) = problem.list_of_points[:2], problem.list_of_performance_metrics
    s = Expression()
    problem.add_psd_matrix([[2 * (x - y) ** 2, s], [t, 1]])
    return problem


@pytest.fixture(
    scope="module",
    params=[contraction, by_a_matrix, by_a_matrix_of_two_halves],
    ids=["contraction", "by a matrix", "by two halves"],
)
def found(request):
    return certify(request.param())


def test_both_ends_are_objects_that_hold(found):
    ends = objects.of(found, "a model")
    assert ends["upper"]["kind"] == "identity" and ends["lower"]["kind"] == "arithmetic"
    for data in ends.values():
        assert checker.check(json.dumps(data)) == data
    assert "Theorem proof_1_step_1" in rocq.text(list(ends.values()))


def refused(found, **changed):
    """Return True if an end has no object that holds; the other one is left out."""
    others = {"upper": None, "lower": None}
    try:
        (data,) = objects.of(replace(found, **{**others, **changed}), "a model").values()
        checker.check(json.dumps(data))
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("change", [Fraction(1, 1000), Fraction(-1, 1000)])
def test_other_bounds_have_none(found, change):
    """A smaller upper bound is no sum of squares; at a larger lower one the objective is another."""
    assert refused(found, upper=replace(found.upper, bound=found.upper.bound - abs(change)))
    assert refused(found, lower=replace(found.lower, bound=found.lower.bound + change))


def test_other_points_and_multipliers_have_none(found):
    assert refused(found, lower=replace(found.lower, values=tuple(v + 1 for v in found.lower.values)))
    multipliers = {name: 2 * m for name, m in found.upper.multipliers.items()}
    assert refused(found, upper=replace(found.upper, multipliers=multipliers))


def test_a_matrix_with_a_negative_direction_is_no_sum_of_squares():
    for rows in ([[0, 1], [1, 0]], [[-1]], [[1, 2], [2, 1]]):
        with pytest.raises(ValueError):
            [*elimination.squares(tuple(tuple(map(Fraction, row)) for row in rows))]
    assert [*elimination.squares(((Fraction(2), Fraction(1)), (Fraction(1), Fraction(1, 2))))] == [
        (2, {0: 1, 1: Fraction(1, 2)})
    ]


def test_the_command_writes_them_with_their_checker(tmp_path, capsys):
    assert main(["certify", EXAMPLE, "--at", "n=1", "--proofs", str(tmp_path / "proofs")]) == 0
    names = {path.name for path in (tmp_path / "proofs").iterdir()}
    assert names == {"checker.py", "gradient_descent_1_upper.json", "gradient_descent_1_lower.json"}
    assert main(["replay", str(tmp_path / "proofs" / "gradient_descent_1_upper.json")]) == 0
    (tmp_path / "file").write_text("")
    capsys.readouterr()
    assert main(["certify", EXAMPLE, "--proofs", str(tmp_path / "file")]) == 2
    assert "cannot make the directory" in capsys.readouterr().err


LETTERS = ("--letters", "L", "gamma", "--where", "gamma*L <= 1", "--at", "n=1")


def test_a_proof_for_all_letters_travels(tmp_path):
    """The checker takes its object from a file, and none of another bound, other letters or other multipliers."""
    assert main(["certify", EXAMPLE, *LETTERS, "--proofs", str(tmp_path)]) == 0
    path = tmp_path / "gradient_descent_letters_1.json"
    assert {one.name for one in tmp_path.iterdir()} == {"checker.py", path.name}
    command = [sys.executable, str(tmp_path / "checker.py")]
    assert subprocess.run([*command, str(path)], capture_output=True, timeout=120).returncode == 0
    data = json.loads(path.read_text())
    assert data["letters"] == {"L": "> 0", "gamma": "> 0"} and len(data["domain"]) == 1
    (program,) = data["programs"]
    assert set(program["target"]) == {"tau", "1|1"}
    bound = program["target"]["1|1"]
    assert {len(bound[side]) for side in ("num", "den")} == {1, 2}
    smaller = {**bound, "num": [[str(Fraction(c) * Fraction(99, 100)), powers] for c, powers in bound["num"]]}
    changes = [
        {**data, "programs": [{**program, "target": {**program["target"], "1|1": smaller}}]},
        {**data, "domain": {}},
        {**data, "programs": [{**program, "known": program["known"][1:]}]},
    ]
    for changed in changes:
        with pytest.raises(ValueError):
            checker.check(json.dumps(export.sealed(changed)))


def test_a_proof_for_all_letters_is_a_theorem_for_rocq(tmp_path):
    assert main(["certify", EXAMPLE, *LETTERS, "--proofs", str(tmp_path), "--format", "rocq"]) == 0
    text = (tmp_path / "p_gradient_descent_letters.v").read_text()
    assert "Theorem proof_1_step_1" in text and (tmp_path / "Gram.v").exists()
    if shutil.which("coqc"):
        for name in ("Gram.v", "p_gradient_descent_letters.v"):
            assert subprocess.run(["coqc", name], cwd=tmp_path, capture_output=True, timeout=600).returncode == 0


def test_what_is_not_proved_has_no_files(tmp_path):
    assert main(["certify", EXAMPLE, "--letters", "L", "gamma", "--at", "n=1", "--proofs", str(tmp_path)]) == 1
    assert not [*tmp_path.iterdir()]
