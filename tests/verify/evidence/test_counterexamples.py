"""Counterexamples in files: what was found comes back, and a file is believed in nothing that the claim decides."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from first_found import of_registered

from fedtheory import claims
from verify.base import limits
from verify.base.case import Case
from verify.cli import main
from verify.comparisons import parts, samplers
from verify.evidence import counterexamples, formats
from verify.evidence.counterexamples import Counterexample

IDS = ("feddcd/lemma-B.8/rate", "feddcd/theorem-4.1/proof-constants", "feddcd/projection", "locodl/uplink/literal")


@pytest.fixture(scope="module")
def found():
    """A stored counterexample of each kind, by the id of its claim."""
    return {id: of_registered(id).counterexample.to_json() for id in IDS}


@pytest.fixture
def replay(tmp_path, capfd):
    """Exit status, stdout and stderr of replaying a file with some content; stderr of what it starts included."""

    def run(content) -> tuple[int, str, str]:
        path = tmp_path / "a.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        status = main(["replay", str(path)])
        out, err = capfd.readouterr()
        return status, out, err

    return run


@pytest.mark.parametrize("id", IDS)
def test_what_was_found_is_confirmed(found, replay, id):
    status, out, err = replay(found[id])
    assert (status, err) == (0, "") and "agree with the stored ones and contradict the claim" in out


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("claim", "feddcd/no"),
        ("claim", "feddcd/lemma-B.8/rate*"),
        ("claim", 3),
        ("claim", "\ud800"),
        ("claim", "x" * 100_000),
        ("changes", {"factor": "9**9**9**9"}),
        ("changes", {"factor": "-" * 50_000 + "1"}),
        ("changes", {"factor": "1e999999999"}),
        ("changes", {"factor": "(" * 900 + "1" + ")" * 900}),
        ("changes", {"factor": "__import__('os')"}),
        ("changes", {"factor": 1}),
        ("changes", {"requires": "1"}),
        ("changes", {"requires": None}),
        ("changes", {"algorithm": "locodl"}),
        ("changes", []),
        ("recipe", {}),
        ("recipe", []),
        ("recipe", {"d": {"ratio": "1/0"}}),
        ("recipe", {"d": {"ratio": "9**9**9"}}),
        ("recipe", {"d": {"ratio": "1e999999999"}}),
        ("recipe", {"d": 10**13}),
        ("recipe", {"d": 0.5}),
        ("recipe", {"d": True}),
        ("recipe", {"d": None}),
        ("recipe", {"d": "two words"}),
        ("recipe", {"\x1b[2J": 1}),
        ("recipe", {"d": [1] * 100_000}),
        ("recipe", {"d": [[[[[[[[1]]]]]]]]}),
        ("point", ["1e999999999"]),
        ("point", ["nan"]),
        ("point", [1]),
        ("point", ["1"] * 100_000),
        ("point", "12"),
        ("rounds", -1),
        ("rounds", 0),
        ("rounds", 1_000_000_000),
        ("rounds", 1.0),
        ("rounds", True),
        ("rounds", "1"),
        ("part", "1"),
        ("part", "residual"),
        ("part", "no\nsuch"),
        ("part", 0),
        ("entry", -1),
        ("entry", 10**9),
        ("entry", "0"),
        ("left", "9**9**9**9"),
        ("left", "1e999999999"),
        ("left", "one"),
        ("left", 1),
        ("right", None),
        ("relation", "<"),
        ("relation", "=="),
        ("relation", "~"),
        ("relation", None),
        ("text", 3),
        ("text", "x" * 100_000),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_field_that_is_not_right_is_named(found, replay, field, value):
    status, out, err = replay({**found["feddcd/lemma-B.8/rate"], field: value})
    assert (status, out) == (2, "")
    assert err.startswith("fedtheory: ") and err.count("\n") == 1 and len(err) < 500 and err.isprintable() is False
    assert "a.json" in err and (field in err or "does not hold an instance of" in err)


@pytest.mark.parametrize("field", formats.schema("counterexample")["required"])
def test_a_missing_field_is_named(found, replay, field):
    data = dict(found["feddcd/lemma-B.8/rate"])
    del data[field]
    status, out, err = replay(data)
    assert (status, out) == (2, "") and f"a.json: this is not a stored counterexample: {field} missing" in err


def test_an_unknown_field_and_one_given_twice_are_named(found, replay):
    data = found["feddcd/lemma-B.8/rate"]
    assert "unknown field 'verdict'" in replay({**data, "verdict": "refuted"})[2]
    assert "'rounds' is given twice" in replay(json.dumps(data)[:-1].encode() + b', "rounds": 1}')[2]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"not JSON",
        b"3",
        b"[" * 100_000,
        b"[" * 900 + b"]" * 900,
        b'{"rounds": NaN}',
        b'{"rounds": Infinity}',
        b'{"rounds": ' + b"9" * 10_000 + b"}",
        b" " * (formats.FILE + 1),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_what_is_no_counterexample_is_one_sentence(replay, content):
    status, out, err = replay(content)
    assert (status, out) == (2, "") and err.startswith("fedtheory: ") and err.count("\n") == 1 and "a.json" in err


def test_the_claim_decides_what_is_contradicted(found, replay):
    """Equal sides contradict nothing here, and a file cannot make a "<" of what is claimed."""
    data = found["feddcd/projection"]
    zero = {"point": ["0"] * len(data["point"]), "left": "0", "right": "0"}
    status, out, _ = replay({**data, **zero})
    assert status == 1 and "do NOT contradict the claim" in out
    status, _, err = replay({**data, **zero, "relation": "<"})
    assert status == 2 and f"relation: feddcd/projection says {data['relation']!r} there" in err


def test_an_order_is_refuted_only_where_it_is_claimed(found, replay):
    data = found["locodl/uplink/literal"]
    # kappa = 1/2, kappa = -1, kappa = 1/N and no curve at all.
    for value in ([{"ratio": "1/2"}, 0, 0], [-1, 0, 0], [0, 1, -1], {"ratio": "2"}):
        status, _, err = replay({**data, "recipe": {**data["recipe"], "kappa": value}})
        assert status == 2 and "a.json does not hold an instance of locodl/uplink/literal" in err


def test_a_sampler_is_refuted_only_by_a_test_that_refutes():
    claim = next(claim for claim in claims.all() if claim.statement.kind == "compressor")
    recipe = {"d": 5, "k": 2, "samples": 2000, "seed": 0, "tests": len(samplers.SHAPES)}
    names = [outcome.name for outcome in samplers.outcomes(Case(claim, recipe))]
    with pytest.raises(ValueError, match="refutes nothing"):
        parts.evaluate_at(Case(claim, recipe), (), 0, samplers.PREFIX + names[0], 0)
    for change in ({"tests": Fraction(1, 10**9)}, {"samples": 10**9}):
        with pytest.raises(ValueError, match="tests other than those"):
            parts.evaluate_at(Case(claim, {**recipe, **change}), (), 0, samplers.PREFIX + names[0], 0)


def test_sizes_that_no_bound_foresees_end_at_the_limits(found, replay, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 2)
    monkeypatch.setattr(limits, "BYTES", 2**30)
    data = found["feddcd/projection"]
    for recipe in ({**data["recipe"], "d": 10**9}, {**data["recipe"], "n": 10**9}, {"d": 1, "k": 10**9}):
        status, _, err = replay({**data, "recipe": recipe})
        assert status in (0, 1, 2) and err.count("\n") == (status == 2)


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be forked")
def test_work_ends_at_its_limits():
    assert limits.limited(lambda: Fraction(1, 3)) == Fraction(1, 3)
    with pytest.raises(ValueError, match="stopped after 1 s"):
        limits.limited(lambda: 3 ** (10**9), seconds=1)
    with pytest.raises(ValueError, match="more memory than it may"):
        limits.limited(lambda: len(bytearray(2**33)), size=2**28)
    with pytest.raises(ValueError, match="KeyError: 'd'"):
        limits.limited(lambda: {}["d"])
    with pytest.raises(ValueError, match="its evaluation returned nothing"):
        limits.limited(lambda: lambda: None)


def test_sides_too_long_to_be_read_are_stored_as_decimals(found, tmp_path):
    example = Counterexample.from_json(found["feddcd/lemma-B.8/rate"])
    long = replace(example, left=Fraction(3**20_000, 7**10_000))
    path = tmp_path / "long.json"
    path.write_text(json.dumps(long.to_json()))
    assert abs(counterexamples.load(path).left / long.left - 1) < Fraction(1, 10**25)
    assert counterexamples._agree(long.left, counterexamples.load(path).left)
