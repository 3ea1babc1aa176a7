"""Files of counterexamples, certificates and audits, and the cache: taken, or refused in a sentence that names them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hostile
from hostile import drawn, files, sentence, unharmed
from hypothesis import given
from hypothesis import strategies as st

from verify import results
from verify.base import limits
from verify.cli import main
from verify.cli.carry import main as carry
from verify.comparisons import parts
from verify.evidence import certificates, counterexamples, formats
from verify.results import files as stored_files

ENTRIES = results.shipped().entries
EXAMPLES = [entry["counterexample"] for entry in ENTRIES.values() if entry["counterexample"] is not None]


def _certificates() -> list[dict[str, Any]]:
    """Of each method the shortest ones, of different claims."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in ENTRIES.values():
        parts = [certificate for each in entry["outcomes"] for certificate in each["certificates"]]
        for certificate in parts[:1]:
            found.setdefault(certificate["certificate"], []).append(certificate)
    return [c for known in found.values() for c in sorted(known, key=lambda c: len(json.dumps(c)))[:8]]


CERTIFICATES = _certificates()
#: An audit of a few claims, of every verdict.
AUDIT = {
    "version": "0",
    "seed": 0,
    "budget": "quick",
    "missing": ["a/b"],
    "claims": list({entry["verdict"]: entry for entry in ENTRIES.values()}.values()),
}


CACHED = {"sum": "0", "content": {"code": "0", "claims": [["a", "b", "c", "d"]]}}


def read_counterexample(path: Path) -> None:
    with unharmed(path.parent):
        try:
            found = counterexamples.load(path)
        except ValueError as error:
            assert str(path) in sentence(error)
        else:
            assert found.relation == parts.relation(found.claim, found.part)


def read_certificate(path: Path) -> None:
    with unharmed(path.parent):
        try:
            found = certificates.load(path)
        except ValueError as error:
            assert str(path) in sentence(error)
        else:
            assert found is None or found.to_json()["certificate"] == found.method


def read_audit(path: Path) -> None:
    with unharmed(path.parent):
        try:
            found = formats.read_audit(path)
        except ValueError as error:
            assert str(path) in sentence(error)
        else:
            assert all(entry["id"] for entry in found["claims"])


@given(files(lambda: EXAMPLES))
@drawn()
def test_counterexamples(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    read_counterexample(path)


@given(files(lambda: CERTIFICATES))
@drawn()
def test_certificates(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    read_certificate(path)


@given(files(lambda: [AUDIT]))
@drawn()
def test_audits(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    read_audit(path)


@given(files(lambda: [AUDIT]))
@drawn(0.1)
def test_no_audit_that_is_not_whole_becomes_the_results(tmp_path, monkeypatch, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    monkeypatch.setattr(results, "FILE", tmp_path / "carried.json")
    with unharmed(tmp_path):
        try:
            carry(path)
        except ValueError as error:
            assert str(path) in sentence(error)
        else:
            raise AssertionError("a part of the claims was taken for all of them")


@given(files(lambda: [CACHED]), st.booleans())
@drawn()
def test_the_cache_is_believed_only_as_it_was_written(tmp_path, content, summed):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    if summed:
        # Whatever somebody may have put there with a right sum.
        try:
            stored_files.save(path, json.loads(content))
        except (ValueError, RecursionError):
            summed = False
    with unharmed(tmp_path):
        try:
            found = stored_files.load(path)
            results._rows(found, "0")
        except ValueError as error:
            sentence(error)
        else:
            assert summed


@given(files(lambda: EXAMPLES) | files(lambda: CERTIFICATES))
@drawn(0.1)
def test_replays_end(tmp_path, capfd, monkeypatch, content):
    """Instances that nobody drew: confirmed, or refused in one line, within the limits."""
    monkeypatch.setattr(limits, "SECONDS", 5)
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with hostile.bounded(60):
        status = main(["replay", str(path)])
    out, err = capfd.readouterr()
    if status == 2:
        hostile.refusal(status, out, err)
        assert "a.json" in err
    else:
        assert status in (0, 1) and out and not err
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_refused(tmp_path, capfd):
    """A device without end, a directory, nothing."""
    for name in ("/dev/zero", str(tmp_path), str(tmp_path / "none.json"), "/dev/null"):
        with hostile.bounded():
            status = main(["replay", name])
        hostile.refusal(status, *capfd.readouterr())
