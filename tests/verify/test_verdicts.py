"""Every claim has the verdict that is carried: none is weaker, none flips, and what falls has a repair that holds."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
from in_turn import first_of_each

from fedtheory import claims, plugins
from verify import Counterexample, Evidence, Verdict, check
from verify.comparisons.deciding import violated
from verify.evidence.record import STRENGTH, Carried
from verify.results import Shipped, shipped

ENTRIES = shipped().entries
VERDICTS = {id: Verdict(verdict) for id, verdict in shipped().verdicts.items()}
SURE = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)
#: Claims of which a result is carried; one that is new has none until `make results`, and a test of its own says so.
KNOWN = [c for c in claims.all() if c.id in ENTRIES]
HOLDING = [c for c in KNOWN if ENTRIES[c.id]["verdict"] in SURE]


#: Seconds that a claim of the sample takes at most, but for those of kinds of which all take longer: these take so many
#: from scratch at most, or it is what is carried that is checked again.
LONGEST, AT_MOST = 2, 4
#: How many others are examined from scratch; the golden audit examines all.
OTHERS = 5


def soonest(found: Shipped) -> dict[str, str]:
    """Of each kind of statement the claim that is checked soonest."""
    kinds: dict[str, str] = {}
    for claim in sorted(KNOWN, key=lambda c: found.entries[c.id]["seconds"]):
        kinds.setdefault(claim.statement.kind, claim.id)
    return kinds


def sample(found: Shipped) -> tuple[list[str], list[str]]:
    """The ids of claims to examine from scratch, and of those whose proofs or counterexamples are checked again.

    The latter are, for each paper, kind of statement and verdict, one that is quickly tested, and the cheapest of each
    kind of which all take long; the former the cheapest of each verdict and of each other kind, and some more.
    """
    quickest = soonest(found)
    anew = {kind: id for kind, id in quickest.items() if found.entries[id]["seconds"] < AT_MOST}
    again: dict[object, str] = {kind: id for kind, id in quickest.items() if kind not in anew}
    for claim in sorted(KNOWN, key=lambda c: found.entries[c.id]["seconds"]):
        kind, verdict = claim.statement.kind, found.verdict(claim.id)
        anew.setdefault(verdict, claim.id)
        if found.entries[claim.id]["seconds"] < LONGEST:
            again.setdefault((claim.paper, kind, verdict), claim.id)
    quick = [c.id for c in KNOWN if found.entries[c.id]["seconds"] < LONGEST and c.id not in anew.values()]
    others = sorted(quick, key=lambda id: zlib.crc32(id.encode()))[:OTHERS]
    scratch = {*anew.values(), *others}
    return sorted(scratch), sorted({*again.values()} - scratch)


ANEW, AGAIN = sample(shipped())
SOONEST = {id for id in soonest(shipped()).values() if ENTRIES[id]["seconds"] < LONGEST}


def disagreement(found: Verdict, entry: dict) -> str:
    """How a verdict falls short of the one that is carried; of what holds it may be stronger."""
    known = Verdict(entry["verdict"])
    stronger = {known, found} <= set(SURE) and STRENGTH.index(found) < STRENGTH.index(known)
    return "" if found is known or stronger else f"{entry['id']}: was {known}, is {found}"


def test_every_claim_has_a_result():
    assert list(ENTRIES) == [c.id for c in claims.all()]


def test_the_sample_has_all_papers_verdicts_and_kinds_of_statement():
    chosen = [claims.get(id) for id in (*ANEW, *AGAIN)]
    assert {c.paper for c in chosen} == set(plugins.every())
    assert {c.statement.kind for c in chosen} == {c.statement.kind for c in KNOWN}
    assert {ENTRIES[id]["verdict"] for id in ANEW} == {entry["verdict"] for entry in ENTRIES.values()}


@pytest.mark.parametrize("claim", [claims.get(id) for id in ANEW], ids=ANEW)
def test_verdict(claim):
    # As in an audit, what a claim follows from is not examined again.
    known = {id: verdict for id, verdict in VERDICTS.items() if id != claim.id}
    evidence = check(claim, known=known)
    assert not disagreement(evidence.verdict, ENTRIES[claim.id]), evidence.note
    # On any processor: of others of the sample the instance with the least margin may be another.
    if claim.id in SOONEST and ENTRIES[claim.id]["margin"] is not None:
        assert evidence.margin == pytest.approx(ENTRIES[claim.id]["margin"], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("id", AGAIN)
def test_what_is_carried_of_a_claim_shows_its_verdict(id):
    claim, known = claims.get(id), {other: verdict for other, verdict in VERDICTS.items() if other != id}
    evidence = Evidence.from_json(claim, ENTRIES[id])
    found = check(claim, known=known, carried=Carried(evidence, shipped().seed, shipped().budget, True))
    assert not disagreement(found.verdict, ENTRIES[id]), found.note


def test_what_is_wrong_is_told_from_what_is_carried():
    claim = claims.get("feddcd/lemma-B.8/rate/repaired")
    entry = ENTRIES[claim.id]
    assert not disagreement(check(claim).verdict, entry)
    # The claim as printed, under the id of the one that holds.
    printed = replace(claims.get(claim.repairs), origin="", formula="", literal_of=None)
    assert disagreement(check(replace(printed, id=claim.id)).verdict, entry)
    assert disagreement(Verdict.SUPPORTED, entry | {"verdict": "certified"})
    assert disagreement(Verdict.PROVED, entry | {"verdict": "refuted"})
    assert disagreement(Verdict.NOT_TESTED, entry | {"verdict": "supported"})
    assert not disagreement(Verdict.PROVED, entry | {"verdict": "supported"})


@pytest.mark.parametrize("id", [id for id, entry in ENTRIES.items() if entry["counterexample"] is not None])
def test_a_counterexample_that_is_carried_contradicts_its_claim(id):
    example = Counterexample.from_json(ENTRIES[id]["counterexample"])
    assert example.claim.id == id and violated(*example.replay(), example.relation)


def test_every_refuted_claim_has_a_repaired_one_or_a_meaning_that_holds():
    for id, entry in ENTRIES.items():
        if entry["verdict"] == Verdict.REFUTED:
            meant = claims.get(id).literal_of
            # Where idle clients answer anew the same holds as where they keep their answers.
            repairs = claims.repairing(id.removesuffix("/refreshed"))
            assert any(c in HOLDING for c in (*repairs, *((claims.get(meant),) if meant else ()))), id


def paper_and_kind(id):
    return claims.get(id).paper, claims.get(id).statement.kind


@pytest.mark.slow
@pytest.mark.parametrize("id", first_of_each([c.id for c in HOLDING if ENTRIES[c.id]["seconds"] < 60], paper_and_kind))
def test_no_claim_that_holds_is_refuted_at_another_seed(id):
    """Of each paper and kind of statement one; of all, and at more seeds, ``fedtheory selftest`` looks for them."""
    assert check(claims.get(id), seed=1).verdict in SURE
