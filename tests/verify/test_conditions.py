"""What restates the bounds of others is no stronger than they are, and says on what it is conditional."""

from dataclasses import replace

import pytest

from fedtheory import claims
from verify import check
from verify.audit import _layers, audit
from verify.base.verdict import Verdict
from verify.conditions import conditional
from verify.evidence.record import Evidence
from verify.report import why

ROUNDS = "fedopt/dane/rounds"
P, C, S, N = Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED, Verdict.NOT_TESTED


def evidence(verdict: Verdict, *given: str) -> Evidence:
    return Evidence(replace(claims.get(ROUNDS), given=given), verdict, None, (), 0, note="by weights")


@pytest.mark.parametrize(
    ("own", "premises", "verdict", "note"),
    [
        (P, (P, P), P, "by weights"),
        (P, (P, C), C, "if fedopt/svrg/eq-5 holds, which is certified: by weights"),
        (
            P,
            (S, C),
            S,
            "if fedopt/dane/rounds/contraction holds, which is supported, and fedopt/svrg/eq-5 holds, which",
        ),
        (S, (P, C), S, "if fedopt/svrg/eq-5 holds, which is certified: by weights"),
        (S, (P, P), S, "by weights"),
        (P, (P, N), N, "if fedopt/svrg/eq-5 holds, which is not-tested"),
        # Of what does not hold nothing follows.
        (P, (Verdict.REFUTED, P), N, "if fedopt/dane/rounds/contraction holds, which is refuted"),
        (P, (Verdict.ILL_POSED, P), N, "if fedopt/dane/rounds/contraction holds, which is ill-posed"),
        # What is false is false whatever is given.
        (Verdict.REFUTED, (S, S), Verdict.REFUTED, "by weights"),
        (Verdict.ILL_POSED, (S, S), Verdict.ILL_POSED, "by weights"),
    ],
)
def test_no_verdict_is_stronger_than_what_is_given(own, premises, verdict, note):
    ids = ("fedopt/dane/rounds/contraction", "fedopt/svrg/eq-5")
    known = dict(zip(ids, premises, strict=True))
    found = conditional(evidence(own, *ids), lambda claim: known[claim.id])
    assert found.verdict is verdict and found.note.startswith(note)


def test_a_claim_that_is_given_nothing_asks_for_nothing():
    found = evidence(P)
    assert conditional(found, None) is found


def test_no_claim_is_given_itself():
    with pytest.raises(ValueError, match="would be given itself"):
        conditional(evidence(P, ROUNDS), lambda claim: P)


def test_rounds_are_supported_as_their_rate_is():
    found = check(claims.get(ROUNDS))
    assert found.verdict is S and found.given == (("fedopt/dane/rounds/contraction", S),)
    assert found.note.startswith("if fedopt/dane/rounds/contraction holds, which is supported: ")
    again = Evidence.from_json(found.claim, found.to_json())
    assert (again.given, again.verdict) == (found.given, found.verdict)
    assert "it holds if fedopt/dane/rounds/contraction does" in map(str, why.lines(found, {}, ""))


def test_an_audit_in_any_order_gives_the_same():
    both = (claims.get(ROUNDS), claims.get("fedopt/dane/rounds/contraction"))
    alone, first, last = audit(both[:1]), audit(both), audit(both[::-1])
    found = [next(e for e in each if e.claim.id == ROUNDS) for each in (alone, first, last)]
    assert len({(e.verdict, e.note, e.given) for e in found}) == 1


_MORE = ("fedopt/svrg/complexity", "feddcd/table-1/feddcd", "feddcd/table-1/accfeddcd/all-values")


@pytest.mark.parametrize("id", [ROUNDS, *(pytest.param(id, marks=pytest.mark.slow) for id in _MORE)])
def test_what_an_audit_knows_changes_nothing(id):
    claim = claims.get(id)
    known = {given: check(claims.get(given)).verdict for given in claim.given}
    found = [check(claim), check(claim, known=known)]
    assert claim.given and len({(e.verdict, e.note, e.given, e.margin) for e in found}) == 1


def test_what_is_given_is_examined_before():
    parts = _layers(claims.all())
    place = {claim.id: k for k, part in enumerate(parts) for claim in part}
    assert sum(map(len, parts)) == len(place) == len(claims.all())
    assert all(place[given] < place[claim.id] for claim in claims.all() for given in claim.given)
    assert place["feddcd/theorem-7.1/eq-14/repaired"] < place["feddcd/theorem-7.1/complexity"] < place["feddcd/gap"]


def test_what_a_proof_prints_is_not_what_ours_rests_on():
    """Theorem 4.1 is proved by us, whatever its printed proof relies on."""
    claim = claims.get("feddcd/theorem-4.1/eq-3")
    assert claim.uses and not claim.given
