"""Claims written as scripts for PEPit: its number is that of the program from which the claim is certified."""

from __future__ import annotations

from fractions import Fraction

import pytest
from cvxpy.error import SolverError

from fedtheory import claims
from verify.base.case import Case
from verify.cli import main
from verify.pep import programs
from verify.pepit import writing

pytest.importorskip("PEPit")

#: A contraction, one with compressors, one with noise, a bound for every T, and two comparisons.
CLAIMS = (
    "baseline/gradient-descent/one-step",
    "baseline/diana/one-step",
    "baseline/dcgd/one-step",
    "feddcd/theorem-4.1/eq-5",
    "feddcd/block-smoothness",
)
#: Of objectives whose coefficients reach 10^6 PEPit's solver leaves some more, or it ends without a number: which of
#: these it does depends on the processor.
WIDER = {"fedadmm/theorem-4.3/iteration": 1e-5, "fedadmm/eq-60": 1e-5}


def solved(text):
    """What a script prints."""
    printed = []
    exec(compile(text, "script", "exec"), {"print": lambda *values: printed.append(values)})
    return printed


def agree(id):
    claim = claims.get(id)
    instance, _ = writing.instance_of(claim, {})
    posed = writing.programs_of(Case.of(claim, instance))
    printed = solved(writing.script(claim, {}))
    assert len(printed) == len(posed)
    for (_, value, *_), one in zip(printed, posed, strict=True):
        found = programs.solve(programs.equilibrated(one.program)).value
        # Neither solver has a number where there is no worst case.
        assert (value is None) == (found is None)
        assert value is None or abs(value - found) <= WIDER.get(id, 1e-6) * max(1.0, abs(found))


@pytest.mark.parametrize("id", CLAIMS)
def test_pepit_finds_the_worst_case_of_a_claim(id):
    agree(id)


@pytest.mark.slow
@pytest.mark.parametrize("id", [c.id for c in claims.all() if c.statement.bounding and c.id not in CLAIMS])
def test_pepit_finds_the_worst_case_of_every_claim_that_is_posed(id):
    try:
        writing.script(claims.get(id), {})
    except ValueError as error:
        pytest.skip(str(error))
    try:
        agree(id)
    except SolverError as error:
        if id not in WIDER:
            raise
        pytest.skip(str(error))


def test_letters_are_fixed_by_at():
    text = writing.script(claims.get("baseline/dcgd/one-step"), {"n": Fraction(3)})
    assert "n = 3" in text and "f_3 is" in text and "f_4 is" not in text


def test_the_command_prints_the_script(capsys):
    assert main(["show", "baseline/dcgd/one-step", "--pepit", "--at", "n=2"]) == 0
    assert capsys.readouterr().out.startswith('"""baseline/dcgd/one-step\n')


@pytest.mark.parametrize(
    "command, message",
    [
        ("show feddcd/gap --pepit", "no worst case over a class is known"),
        ("show baseline/dcgd/one-step --pepit --at xi=2", "has no letter 'xi'"),
        ("show baseline/dcgd/one-step --at n=2", "--at is for --pepit"),
    ],
)
def test_what_has_no_script_is_said(capsys, command, message):
    assert main(command.split()) == 2
    assert message in capsys.readouterr().err
