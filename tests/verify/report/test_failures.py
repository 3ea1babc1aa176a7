"""What falls, told apart: as it is meant, by its letter only, and what no paper prints."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from fedtheory import claims, plugins
from verify.report import failures
from verify.report.atlas import mathml
from verify.report.failures import FailureMode
from verify.results import shipped


class Stated(NamedTuple):
    id: str
    origin: str
    literal_of: str | None = None
    root: str = ""


@pytest.mark.parametrize(
    ("claim", "verdict", "meant", "way"),
    [
        (Stated("a", "printed"), "refuted", "-", FailureMode.MEANT),
        # What is ill-posed is not false, whoever states it.
        (Stated("a", "printed"), "ill-posed", "-", FailureMode.UNDEFINED),
        (Stated("a", "printed", "b"), "refuted", "proved", FailureMode.LETTER),
        (Stated("a", "printed", "b"), "ill-posed", "supported", FailureMode.UNDEFINED),
        # What is meant falls too: it is not the letter alone.
        (Stated("a", "printed", "b"), "refuted", "refuted", FailureMode.MEANT),
        (Stated("a", "printed", "b"), "refuted", "ill-posed", FailureMode.MEANT),
        (Stated("a", "implied"), "refuted", "-", FailureMode.UNPRINTED),
        (Stated("a", "observed"), "ill-posed", "-", FailureMode.UNDEFINED),
        (Stated("a", ""), "refuted", "-", FailureMode.UNKNOWN_ORIGIN),
        *((Stated("a", "printed"), verdict, "-", None) for verdict in ("proved", "supported", "not-tested", "-")),
    ],
)
def test_the_ways_in_which_a_claim_falls(claim, verdict, meant, way):
    assert failures.failure_mode(claim, {"a": verdict, "b": meant}) is way


def test_a_table_counts_each_claim_once():
    found = failures.table(claims.all(), shipped().verdicts)
    headings = [column.header for column in found.columns]
    ways = (FailureMode.MEANT, FailureMode.LETTER, FailureMode.UNDEFINED, FailureMode.UNPRINTED)
    assert headings == ["paper", "claims", "of them printed", *ways]
    assert [*found.columns[0].cells] == list(plugins.every())
    groups = failures.grouped(claims.all(), shipped().verdicts)
    for column, way in zip(found.columns[3:], ways, strict=True):
        assert sum(int(cell.split()[0]) for cell in column.cells) == len(groups[way])
    assert FailureMode.UNKNOWN_ORIGIN not in groups


def test_claims_that_fall_with_one_fault_have_one_root():
    first, second, third = (
        Stated("p/1", "printed", root="a slip"),
        Stated("p/2", "printed", root="a slip"),
        Stated("p/3", "printed"),
    )
    assert failures.by_root([first, second, third]) == {"a slip": ["p/1", "p/2"], "p/3": ["p/3"]}
    assert failures.number([first, second, third], "false") == "3 false (2 roots)"
    assert failures.number([first, second]) == "2 (1 root)" and failures.number([third]) == "1"
    assert failures.counted(
        {FailureMode.MEANT: ["p/1", "p/2"], FailureMode.LETTER: ["p/3"]}, [first, second, third]
    ) == ("2 false as meant (1 root); 1 false only if read literally")


@pytest.mark.parametrize(("paper", "claims_and_roots"), [("feddcd", "19 (6 roots)"), ("fedadmm", "8 (4 roots)")])
def test_faults_of_the_papers_are_few(paper, claims_and_roots):
    found = failures.table(claims.of_paper(paper).values(), shipped().verdicts)
    assert [*found.columns[3].cells] == [claims_and_roots]


def test_a_root_is_of_claims_that_fall():
    for claim in claims.all():
        assert not claim.root or shipped().verdict(claim.id) in failures.FAILED, claim.id


def test_what_is_printed_and_falls_has_its_formula():
    groups = failures.grouped(claims.all(), shipped().verdicts)
    assert all(claims.get(id).formula for way in (FailureMode.MEANT, FailureMode.LETTER) for id in groups[way])
    assert not any(claims.get(id).formula for id in groups[FailureMode.UNPRINTED])


def test_what_falls_by_its_letter_only_is_named_in_the_registry():
    """A letter that holds would be none: its claim would speak of what is meant."""
    verdicts = shipped().verdicts
    for claim in claims.all():
        if claim.literal_of and verdicts.get(claim.id, "-") != "-":
            assert failures.failure_mode(claim, verdicts) in (FailureMode.LETTER, FailureMode.UNDEFINED), claim.id


@pytest.mark.parametrize("claim", [c for c in claims.all() if c.formula], ids=lambda c: c.id)
def test_printed_formulas_are_typeset(claim):
    found = mathml.formula(claim.formula)
    assert found.startswith("<math") and "\\" not in found
