"""What is carried is checked again: it gives what is found from scratch, and nothing where it does not hold."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import claims
from verify import Evidence, Verdict, check, results
from verify.audit import audit
from verify.evidence import formats
from verify.evidence.record import Carried, Provenance
from verify.methods.search import agree
from verify.report import terminal
from verify.results import digests as code

#: One with certificates of some parameters only, one that is proved, and one that is false.
OTHER, PROVED, FALLS = ("fedopt/fsvrg/property-a", "locodl/eq-6", "feddcd/lemma-B.8/rate")
IDS = (OTHER, PROVED, FALLS)


@cache
def scratch(id: str) -> Evidence:
    return check(claims.get(id))


@cache
def entry(id: str) -> str:
    """What would be carried of a claim."""
    return json.dumps(scratch(id).to_json() | {results.RESTS_ON: code.theory(claims.get(id))})


def stored(*entries: dict) -> results.Shipped:
    by_id = {e["id"]: e for e in entries}
    return results.Shipped("0", "0" * 40, "", "", 0, "quick", by_id, {}, code.checker())


@pytest.fixture
def carry(monkeypatch):
    """Sets what is carried."""

    def put(*entries: dict, **changes) -> None:
        found = stored(*entries)._replace(**changes)
        monkeypatch.setattr(results, "shipped", lambda: found)

    return put


def again(id: str, seed: int = 0) -> Evidence:
    claim = claims.get(id)
    return check(claim, seed, carried=results.carried(claim))


def same(one: Evidence, other: Evidence) -> bool:
    """Whether two say the same of a claim, whatever they looked at."""
    return (one.verdict, one.margin, one.counterexample) == (other.verdict, other.margin, other.counterexample)


@pytest.mark.parametrize("id", IDS)
def test_what_is_checked_again_is_what_was_found(carry, id):
    carry(json.loads(entry(id)))
    found = again(id)
    assert same(found, scratch(id)) and not found.fallen
    # An identity is not found but checked: there is nothing to carry.
    assert id in (OTHER, PROVED) or any(o.source is Provenance.RECHECKED for o in found.outcomes)
    # What was checked can be carried in its turn.
    carry(json.loads(json.dumps(found.to_json() | {results.RESTS_ON: code.theory(claims.get(id))})))
    assert same(again(id), scratch(id))
    assert formats.checked("audit", formats.audit([found.to_json()], 0, "quick"))


def test_code_that_changed_is_found_anew(carry):
    data = json.loads(entry(PROVED))
    carry(data | {results.RESTS_ON: "0" * 64})
    assert results.carried(claims.get(PROVED)) is None
    del data[results.RESTS_ON]
    carry(data)
    assert results.carried(claims.get(PROVED)) is None
    assert results.carried(claims.get(OTHER)) is None
    # Of another checker only proofs are taken, and the search is made.
    carry(json.loads(entry(PROVED)), checker="0" * 64)
    found = again(PROVED)
    assert same(found, scratch(PROVED)) and found.instances == scratch(PROVED).instances


def _leaves(value, path=()):
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(part, (*path, name))
    else:
        yield path


def _at(data, path):
    for name in path:
        data = data[name]
    return data


#: Parts of an entry that no verdict rests on: they are told, or found again.
_TOLD = {"note", "covers", "seconds", "text", "where", "paper", "kind", "origin", "literal_of", "repaired", "methods"}


def _changed(value, draw):
    """Another value of the same sort."""
    if isinstance(value, bool) or value is None:
        return draw(st.sampled_from([True, False, None, "proved"]))
    if isinstance(value, int):
        return value + draw(st.sampled_from([-1, 1, 7]))
    if isinstance(value, float):
        return value + draw(st.sampled_from([-0.5, 0.01, 1.0]))
    try:
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        return draw(st.sampled_from(["proved", "certified", "refuted", "supported", "worst case", "all states", ""]))
    return str(draw(st.sampled_from([-number, number + 1, number * Fraction(10**6 + 1, 10**6), Fraction(0)])))


@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_a_forged_entry_gives_no_verdict_of_its_own(data):
    id = data.draw(st.sampled_from([OTHER, FALLS]))
    found = json.loads(entry(id))
    paths = [path for path in _leaves(found) if not _TOLD & set(map(str, path)) and path[0] != results.RESTS_ON]
    path = data.draw(st.sampled_from(paths))
    _at(found, path[:-1])[path[-1]] = _changed(_at(found, path), data.draw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "shipped", lambda: stored(found) if found["id"] == id else stored())
        now = again(id)
    # Where another proof of it is carried that holds, it may be proved by that.
    assert now.verdict is scratch(id).verdict and (now.margin is None or agree(now.margin, scratch(id).margin))
    if now.counterexample is not None:
        assert now.counterexample.replay() == (now.counterexample.left, now.counterexample.right)


def test_a_verdict_that_nothing_shows_is_not_believed(carry):
    # What falls, said to be certified by the method that would be asked.
    data = json.loads(entry(FALLS))
    data["counterexample"] = None
    for outcome in data["outcomes"]:
        outcome |= {"applied": True, "verdict": "proved"}
    carry(data | {"verdict": "proved"})
    assert same(again(FALLS), scratch(FALLS))
    # What holds, said to fall by the counterexample to another claim.
    data = json.loads(entry(PROVED))
    next(o for o in data["outcomes"] if o["method"] == "search")["verdict"] = "refuted"
    carry(data | {"verdict": "refuted", "counterexample": json.loads(entry(FALLS))["counterexample"]})
    found = again(PROVED)
    assert same(found, scratch(PROVED)) and found.fallen


def test_a_margin_is_measured_again(carry):
    data = json.loads(entry(PROVED))
    search = next(o for o in data["outcomes"] if "attained" in o)
    search["margin"] = data["margin"] = 0.5
    carry(data)
    found = again(data["id"])
    assert found.margin == scratch(data["id"]).margin and "the margin" in found.fallen[0]


def test_a_file_that_cannot_be_read_is_told(carry):
    data = json.loads(entry(OTHER))
    carry(data | {"outcomes": 3})
    found = again(OTHER)
    assert same(found, scratch(OTHER)) and "cannot be read" in found.fallen[0]


def test_an_audit_checks_what_is_carried_or_finds_all_anew(carry, monkeypatch):
    carry(json.loads(entry(FALLS)))
    (found,) = audit([claims.get(FALLS)], rechecking=True)
    assert terminal.sources([found]) == ["1 rechecked"]
    others = [scratch(PROVED), replace(scratch(PROVED), verdict=Verdict.SUPPORTED)]
    assert terminal.sources([found, *others]) == ["1 rechecked, 1 proved again, 1 searched anew"]
    (found,) = audit([claims.get(FALLS)])
    assert not terminal.sources([found]) and same(found, scratch(FALLS))


def test_what_is_not_the_claims_is_not_taken():
    found = check(claims.get(OTHER), carried=Carried(scratch(PROVED), 0, "quick", True))
    assert same(found, scratch(OTHER))
