"""A difference between an audit and what ships is found in every field, and named; what is no such audit is refused."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from verify.audit import golden
from verify.evidence import formats
from verify.results import shipped

REFUTED = "feddcd/table-1/feddcd/literal"
#: Another value of each field that is compared.
PLANTED = {
    "paper": "other",
    "where": "other",
    "kind": "other",
    "origin": "other",
    "literal_of": "other",
    "root": "other",
    "verdict": "proved",
    "margin": 0.25,
    "methods": [],
    "instances": 10**6,
    "counterexample": None,
    "repaired": "other",
    "note": "other",
    "assumed, not checked": ["other"],
}


def entries(*changed):
    """What ships, with copies of those that are to be changed: all would be some megabytes for each test."""
    return {**shipped().entries, **{id: deepcopy(shipped().entries[id]) for id in changed or [REFUTED]}}


def stored(tmp_path, entries, seed=0, budget="quick"):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(formats.audit(list(entries.values()), seed, budget)), encoding="utf-8")
    return str(path)


def test_every_field_is_compared_or_left_out_on_purpose():
    assert set(shipped().entries[REFUTED]) == {*PLANTED, *golden.IGNORED, "id", "outcomes"}


@pytest.mark.parametrize("field", PLANTED)
def test_a_difference_in_a_field_is_named(field):
    found = entries()
    found[REFUTED][field] = PLANTED[field]
    (difference,) = golden.differences(shipped().entries, found)
    assert (difference.id, difference.field) == (REFUTED, field) and difference.shipped != difference.found


@pytest.mark.parametrize("field", ["verdict", "margin", "note", "left_open", "certificates", "source", "applied"])
def test_a_difference_in_an_outcome_is_named_with_its_method(field):
    found = entries()
    outcome = found[REFUTED]["outcomes"][0]
    outcome[field] = "planted"
    (difference,) = golden.differences(shipped().entries, found)
    assert difference.field == f"{outcome['method']}, {field}" and "planted" in difference.found


def test_a_missing_claim_and_an_additional_one_are_named():
    found = entries()
    found["own/claim"] = found.pop(REFUTED)
    assert [str(difference) for difference in golden.differences(shipped().entries, found)] == [
        f"{REFUTED}: entry: ships an entry, is nothing",
        "own/claim: entry: ships nothing, is an entry",
    ]


def test_times_and_digests_of_code_are_not_compared(tmp_path, capsys):
    found = entries(*shipped().entries)
    for entry in found.values():
        entry["seconds"] += 1
        entry.pop("rests_on")
    assert golden.main([stored(tmp_path, found)]) == 0
    assert capsys.readouterr().out == f"{len(found)} entries, none differs\n"


def test_a_difference_is_an_error_of_one_short_line(tmp_path, capsys):
    found = entries()
    found[REFUTED]["note"] += " and more"
    assert golden.main([stored(tmp_path, found)]) == 1
    line, last = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{REFUTED}: note: ships ") and "and more" in line and len(line) < 250
    assert last == f"{len(found)} entries, 1 differ"


@pytest.mark.parametrize(("seed", "budget"), [(1, "quick"), (0, "full")])
def test_an_audit_of_another_seed_or_budget_is_refused(tmp_path, capsys, seed, budget):
    assert golden.main([stored(tmp_path, entries(), seed, budget)]) == 2
    assert "what ships has seed 0" in capsys.readouterr().err


def test_what_is_no_audit_is_refused(tmp_path, capsys):
    path = tmp_path / "audit.json"
    path.write_text("{}", encoding="utf-8")
    for arguments in ([], [str(path)], [str(tmp_path / "missing.json")]):
        assert golden.main(arguments) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


#: Values that another processor may find, and values that it may not.
BY_ROUNDING = {
    "margin": (0.204489774, 0.205342012),
    "note": ("d=1, 2, 4; T=5: 0.755967, T=6: 1", "d=1, 2; T=5: 0.755965, T=6: 1"),
}
NOT_BY_ROUNDING = {
    "margin": (0.204, 0.21),
    "note": ("T=5: 0.755967, T=6: 1", "T=5: 0.755967, T=7: 1"),
    "verdict": ("proved", "supported"),
    "counterexample": ({"x": "1/2"}, {"x": "1/3"}),
    "instances": (5, None),
}
#: Certificates on another processor, and other certificates.
CERTIFICATES = [
    (
        [{"bound": "6/7", "f[0]": "1099422394907/245191092994048"}],
        [{"bound": "6/7", "f[0]": "26900846557/59992"}],
        True,
    ),
    ([{"bound": "6/7", "f[0]": "1/2"}], [{"bound": "5/7", "f[0]": "1/2"}], False),
    ([{"bound": "6/7", "f[0]": "1/2"}], [], False),
]


@pytest.mark.parametrize("field", BY_ROUNDING)
def test_last_digits_are_counted_and_no_error(field, monkeypatch, tmp_path, capsys):
    before, found = entries(), entries()
    before[REFUTED][field], found[REFUTED][field] = BY_ROUNDING[field]
    (difference,) = golden.differences(before, found)
    assert difference.by_rounding
    monkeypatch.setattr(golden, "compare", lambda path: (1, [difference]))
    assert golden.main([stored(tmp_path, found)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 entries, none differs",
        "as on other processors: other points, multipliers or last digits in 1",
    ]


@pytest.mark.parametrize("field", NOT_BY_ROUNDING)
def test_other_differences_are_errors(field):
    before, found = entries(), entries()
    before[REFUTED][field], found[REFUTED][field] = NOT_BY_ROUNDING[field]
    (difference,) = golden.differences(before, found)
    assert not difference.by_rounding


@pytest.mark.parametrize(("before", "now", "by_rounding"), CERTIFICATES)
def test_certificates_differ_in_long_fractions_alone(before, now, by_rounding):
    first, second = entries(), entries()
    first[REFUTED]["outcomes"][0]["certificates"], second[REFUTED]["outcomes"][0]["certificates"] = before, now
    (difference,) = golden.differences(first, second)
    assert difference.by_rounding is by_rounding


def test_lines_of_files_in_notes_are_not_compared():
    found = entries()
    id, before = next((id, text) for id, of in found.items() if ".py), line " in (text := json.dumps(of)))
    found[id] = json.loads(before.replace(".py), line ", ".py), line 1"))
    assert golden.differences(shipped().entries, found) == []
