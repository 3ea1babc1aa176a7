"""The list of claims in the cache: what the claims say, and nothing that was damaged or is of other code."""

from __future__ import annotations

import gc

import pytest

from fedtheory import claims, naming
from verify import results
from verify.base.verdict import Verdict
from verify.cli import main
from verify.report.consoles import STYLES
from verify.results import files


@pytest.fixture(autouse=True)
def _other_code(monkeypatch):
    """The results that ship are of other code: the list is not theirs."""
    found = results.shipped()._replace(code="0" * 64)
    monkeypatch.setattr(results, "shipped", lambda: found)


def _expected() -> tuple[results.ListedClaim, ...]:
    return tuple(
        results.ListedClaim(c.id, c.kind, c.where, c.gist, c.origin, c.literal_of, c.root) for c in claims.all()
    )


def _stored():
    (path,) = (files.directory() / "claims").iterdir()
    return path


def test_the_list_is_of_the_claims(capsys):
    assert results.rows() == _expected()
    assert _stored().is_file() and results.rows() == _expected()
    assert gc.isenabled()
    assert main(["list"]) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == [c.id for c in claims.all()]


def test_the_list_of_results_of_this_very_code_is_theirs(monkeypatch):
    found = results.shipped()._replace(code=results.code())
    monkeypatch.setattr(results, "shipped", lambda: found)
    assert results.rows() == _expected()
    assert not (files.directory() / "claims").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:100],
        lambda text: text.replace("locodl/eq-6", "locodl/eq-7"),
        lambda text: "{}",
        lambda text: "[" * 50_000,
    ],
)
def test_a_list_that_was_damaged_is_made_anew(capsys, damage):
    results.rows()
    _stored().write_text(damage(_stored().read_text()))
    assert results.rows() == _expected()
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "is not a stored list of claims" in told and "Traceback" not in told
    assert results.rows() == _expected() and not capsys.readouterr().err


def test_a_list_of_other_code_is_not_believed(capsys):
    results.rows()
    path = _stored()
    files.save(path, {"code": "0" * 64, "claims": [["a", "b", "c", "d"]]})
    assert results.rows() == _expected() and "it is of other code" in capsys.readouterr().err
    files.save(path, {"code": results.code(results.THEORY), "claims": [["too short"]]})
    assert results.rows() == _expected() and "it cannot be read" in capsys.readouterr().err


def test_a_list_needs_no_cache(monkeypatch, capsys):
    monkeypatch.setenv("FEDTHEORY_CACHE", "/dev/null/nowhere")
    assert results.rows() == _expected()


def test_the_list_of_the_code_that_found_the_results_is_carried(monkeypatch):
    gists = {c.id: c.gist for c in claims.all()}
    fields = ("kind", "where", "origin", "literal_of", "root")
    entries = {c.id: {field: getattr(c, field) for field in fields} for c in claims.all()}
    expected, carried = _expected(), results.shipped()._replace(code=results.code(), gists=gists, entries=entries)
    monkeypatch.setattr(results, "shipped", lambda: carried)
    monkeypatch.setattr(claims, "all", lambda: 1 / 0)
    assert results.rows() == expected and not files.directory().exists()
    # Of other code they are not believed.
    monkeypatch.setattr(results, "shipped", lambda: carried._replace(code="0" * 64))
    with pytest.raises(ZeroDivisionError):
        results.rows()


def test_names_mean_what_they_did():
    ids = ("a/theorem-1", "a/theorem-10", "a/theorem-1/repaired", "b/eq-1")
    assert naming.select((), ids) == list(ids)
    assert naming.select(("a/theorem-1",), ids) == ["a/theorem-1", "a/theorem-1/repaired"]
    assert naming.select(("b", "a/theo"), ids) == list(ids)
    assert naming.select(("mine",), ids, ("mine",)) == []
    with pytest.raises(ValueError, match=r"unknown claim 'eq-1': did you mean b/eq-1\?"):
        naming.select(("eq-1",), ids)
    with pytest.raises(ValueError, match="unknown claim ''"):
        naming.select(("",), ids)


def test_each_verdict_has_a_colour():
    assert set(STYLES) == set(Verdict)
