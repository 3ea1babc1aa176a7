"""Every claim has the verdict that it had: none is weaker, none flips, and what falls has a repair that holds."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fedtheory import claims
from verify import Verdict, check
from verify.outcome import STRENGTH

#: What evidence said when it was last looked at, claim by claim. A change here must be understood, not only accepted.
with (Path(__file__).parent / "verdicts.csv").open(encoding="utf-8", newline="") as file:
    KNOWN = {row["id"]: Verdict(row["verdict"]) for row in csv.DictReader(file)}
HOLDING = [c for c in claims.all() if KNOWN.get(c.id) in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)]


def test_every_claim_is_listed():
    assert [c.id for c in claims.all()] == list(KNOWN)


@pytest.mark.parametrize("claim", claims.all(), ids=lambda c: c.id)
def test_verdict(claim):
    evidence = check(claim)
    if claim in HOLDING:
        assert STRENGTH.index(evidence.verdict) <= STRENGTH.index(KNOWN[claim.id]), evidence.note
        assert evidence.verdict is not Verdict.REFUTED
    else:
        assert evidence.verdict is KNOWN[claim.id], evidence.note


def test_every_refuted_claim_has_a_repaired_one_that_holds():
    for claim in claims.all():
        if KNOWN[claim.id] is Verdict.REFUTED:
            repaired = claims.get(f"{claim.id}/repaired")
            assert repaired.repairs == claim.id and repaired in HOLDING


@pytest.mark.slow
@pytest.mark.parametrize("seed", (1, 2))
@pytest.mark.parametrize("claim", HOLDING, ids=lambda c: c.id)
def test_no_claim_that_holds_is_refuted(claim, seed):
    assert check(claim, seed=seed).verdict in (Verdict.SUPPORTED, Verdict.PROVED, Verdict.CERTIFIED)
