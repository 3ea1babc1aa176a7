"""What falls, told apart: as it is meant, by its letter only, and what no paper prints."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from fedtheory import claims, plugins
from verify.report import falls
from verify.report.atlas import mathml
from verify.report.falls import Fall
from verify.results import shipped


class Stated(NamedTuple):
    id: str
    origin: str
    literal_of: str | None = None
    root: str = ""


@pytest.mark.parametrize(
    ("claim", "verdict", "meant", "way"),
    [
        (Stated("a", "printed"), "refuted", "-", Fall.MEANT),
        # What is ill-posed is not false, whoever states it.
        (Stated("a", "printed"), "ill-posed", "-", Fall.UNDEFINED),
        (Stated("a", "printed", "b"), "refuted", "proved", Fall.LETTER),
        (Stated("a", "printed", "b"), "ill-posed", "supported", Fall.UNDEFINED),
        # What is meant falls too: it is not the letter alone.
        (Stated("a", "printed", "b"), "refuted", "refuted", Fall.MEANT),
        (Stated("a", "printed", "b"), "refuted", "ill-posed", Fall.MEANT),
        (Stated("a", "implied"), "refuted", "-", Fall.UNPRINTED),
        (Stated("a", "observed"), "ill-posed", "-", Fall.UNDEFINED),
        (Stated("a", ""), "refuted", "-", Fall.UNSAID),
        *((Stated("a", "printed"), verdict, "-", None) for verdict in ("proved", "supported", "not-tested", "-")),
    ],
)
def test_the_ways_in_which_a_claim_falls(claim, verdict, meant, way):
    assert falls.fall(claim, {"a": verdict, "b": meant}) is way


def test_a_table_counts_each_claim_once():
    found = falls.table(claims.all(), shipped().verdicts)
    headings = [column.header for column in found.columns]
    ways = (Fall.MEANT, Fall.LETTER, Fall.UNDEFINED, Fall.UNPRINTED)
    assert headings == ["paper", "claims", "of them printed", *ways]
    assert [*found.columns[0].cells] == list(plugins.every())
    groups = falls.grouped(claims.all(), shipped().verdicts)
    for column, way in zip(found.columns[3:], ways, strict=True):
        assert sum(int(cell.split()[0]) for cell in column.cells) == len(groups[way])
    assert Fall.UNSAID not in groups


def test_claims_that_fall_with_one_fault_have_one_root():
    first, second, third = (
        Stated("p/1", "printed", root="a slip"),
        Stated("p/2", "printed", root="a slip"),
        Stated("p/3", "printed"),
    )
    assert falls.by_root([first, second, third]) == {"a slip": ["p/1", "p/2"], "p/3": ["p/3"]}
    assert falls.number([first, second, third], "false") == "3 false (2 roots)"
    assert falls.number([first, second]) == "2 (1 root)" and falls.number([third]) == "1"
    assert falls.counted({Fall.MEANT: ["p/1", "p/2"], Fall.LETTER: ["p/3"]}, [first, second, third]) == (
        "2 false as meant (1 root); 1 false only if read literally"
    )


@pytest.mark.parametrize(("paper", "claims_and_roots"), [("feddcd", "19 (6 roots)"), ("fedadmm", "8 (4 roots)")])
def test_faults_of_the_papers_are_few(paper, claims_and_roots):
    found = falls.table(claims.of_paper(paper).values(), shipped().verdicts)
    assert [*found.columns[3].cells] == [claims_and_roots]


def test_a_root_is_of_claims_that_fall():
    for claim in claims.all():
        assert not claim.root or shipped().verdict(claim.id) in falls.FALLEN, claim.id
    with pytest.raises(ValueError, match="there is no claim feddcd/none"):
        claims.with_roots("feddcd", claims.all(), {"a slip": ("none",)})
    with pytest.raises(ValueError, match="two roots"):
        claims.with_roots("feddcd", claims.all(), {"a slip": ("gap",), "another": ("gap",)})


def test_what_is_printed_and_falls_has_its_formula():
    groups = falls.grouped(claims.all(), shipped().verdicts)
    assert all(claims.get(id).formula for way in (Fall.MEANT, Fall.LETTER) for id in groups[way])
    assert not any(claims.get(id).formula for id in groups[Fall.UNPRINTED])


def test_what_falls_by_its_letter_only_is_named_in_the_registry():
    """A letter that holds would be none: its claim would speak of what is meant."""
    verdicts = shipped().verdicts
    for claim in claims.all():
        if claim.literal_of and verdicts.get(claim.id, "-") != "-":
            assert falls.fall(claim, verdicts) in (Fall.LETTER, Fall.UNDEFINED), claim.id


@pytest.mark.parametrize("claim", [c for c in claims.all() if c.formula], ids=lambda c: c.id)
def test_printed_formulas_are_typeset(claim):
    found = mathml.formula(claim.formula)
    assert found.startswith("<math") and "\\" not in found
