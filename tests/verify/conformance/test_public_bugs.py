"""Public bugs are rejected, by name where the table says so, and accepted when mended."""

from __future__ import annotations

import re
import sys

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT))
from benchmarks.public_bugs import BUGS, Told, row, told

NAMES = {bug.where: bug for bug in BUGS}
#: Compressors, a loop that is named and one that is not: those that are quick.
FEW = ("apple/pfl-research#65", "NVIDIA/TransformerEngine#2487", "KarhouTam/FL-bench#165", "alpemreacar/FedDyn#1")
TEXT = (ROOT / "docs" / "bugs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("where", [pytest.param(w, marks=() if w in FEW else pytest.mark.slow) for w in NAMES])
def test_what_is_said_of_a_bug(where):
    found = told(NAMES[where])
    assert found.rejected and found.accepted
    assert found.named == bool(NAMES[where].words), found.text


def test_the_page_has_what_the_benchmark_prints():
    lines = [row(Told(bug, True, bool(bug.words), True, "", 0.0)) for bug in BUGS]
    assert [line for line in TEXT.splitlines() if line.startswith("| [")] == lines
    named = sum(bool(bug.words) for bug in BUGS)
    assert f"{len(BUGS)} bugs: {len(BUGS)} rejected, {named} of them named; {len(BUGS)} accepted when mended" in TEXT


def test_reports_are_named_once_by_repository_and_number():
    assert len(NAMES) == len(BUGS) >= 20
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", where) for where in NAMES)
