"""Every command has ``--json``, and its answer is of the schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import verify.agent
from verify.cli import arguments, main

ANSWER = jsonschema.Draft202012Validator(json.loads(Path(verify.agent.__file__).with_name("answer.json").read_text()))


def answer(capsys, *argv):
    status = main(argv)
    found = json.loads(capsys.readouterr().out)
    ANSWER.validate(found)
    assert found["status"] == status and found["command"] == argv[0]
    return found


def test_every_command_has_it():
    (commands,) = (a for a in arguments.parser()._actions if a.choices and "audit" in a.choices)
    assert [name for name, parser in commands.choices.items() if "--json" not in parser._option_string_actions] == []


def test_lists_are_rows(capsys):
    found = answer(capsys, "list", "locodl", "--verdict", "refuted", "--json")
    assert {row["verdict"] for row in found["claims"]} == {"refuted"}
    # Each row once, and a table too; counts are lines.
    assert not found["lines"] and not answer(capsys, "table", "locodl/table-2", "--json")["lines"]
    counted = answer(capsys, "list", "locodl", "--summary", "--json")
    assert counted["lines"] and "claims" not in counted


def test_a_claim_that_falls_has_its_counterexample_and_what_holds_instead(capsys):
    for command in ("why", "show"):
        (claim,) = answer(capsys, command, "feddcd/theorem-6.1/eq-10", "--json")["claims"]
        assert (claim["verdict"], claim["failure_mode"]) == ("refuted", "false as meant")
        assert (claim["counterexample"]["left"], claim["counterexample"]["right"]) == ("64/729", "1/12")
        assert claim["relies_on"] == ["feddcd/theorem-D.1"]
        assert claim["instead"][0]["id"] == "feddcd/theorem-6.1/eq-10/repaired" and claim["next"]


def test_what_is_only_supported_says_what_is_open(capsys):
    (claim,) = answer(capsys, "show", "feddcd/theorem-6.1/eq-10/repaired-tight", "--json")["claims"]
    assert claim["verdict"] == "supported" and claim["not_searched"]


def test_tables_and_lines_of_other_commands(capsys):
    assert answer(capsys, "table", "locodl/table-2", "--json")["table"]["rows"][0]["method"] == "DIANA"
    assert answer(capsys, "replay", "feddcd/theorem-6.1/eq-10", "--json")["lines"][-1].endswith("contradict the claim")


def test_pictures_are_drawn_only_where_they_are_asked_for(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = ["map", "locodl/table-2", "--x", "n=1:1e6", "--y", "d=1:1e6", "--at", "kappa=1e4"]
    assert answer(capsys, *drawn, "--json")["lines"] and not list(tmp_path.iterdir())
    at = ["--at", "n=2", "omega=1", "gamma=1", "kappa=10", "--jobs", "1"]
    assert answer(capsys, "tight", "locodl/theorem-3.1/one-step", *at, "--json")["worst_cases"]
    assert not list(tmp_path.iterdir())


def test_bad_input_is_an_answer_too(capsys):
    found = answer(capsys, "show", "nosuch", "--json")
    assert found["status"] == 2 and found["error"].startswith("unknown claim 'nosuch'") and not found["lines"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("repair mine.py", "cannot read mine.py: no such file"),
        ("why mine.py", "unknown claim 'mine.py': a file of your own is named by --own"),
        ("audit mine.py", "unknown claim 'mine.py': a file of your own is named by --own"),
        ("audit --jobs 0", "argument --jobs: an integer of at least 1 was expected"),
        ("audit locodl/eq-6 --data missing", "there is no file missing"),
        ("table rates --format pdf", "argument --format: invalid choice: 'pdf'"),
        ("check null.py", "null.py: source code string cannot contain null bytes"),
        ("check missing.py", "cannot read missing.py: no such file"),
        ("certify missing.py", "cannot read missing.py: no such file"),
        ("certify .", "cannot read .: no such file"),
        ("selftest --mutants -1", "argument --mutants: an integer of at least 0 was expected"),
        ("replay .", "cannot read ."),
        ("experiment locodl/figure-2", "there are no data of locodl/figure-2 on diabetes: --data names"),
        ("export locodl/eq-6 --out null.py/x", "cannot make the directory null.py/x: "),
    ],
)
def test_bad_input_is_a_sentence_and_an_answer(arguments, error, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "null.py").write_bytes(b"\0")
    assert main(arguments.split()) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith(f"fedtheory: {error}") and err.count("\n") == 1
    found = answer(capsys, *arguments.split(), "--json")
    assert found["status"] == 2 and found["error"].startswith(error) and not found["lines"]


def test_a_server_has_no_answer(capsys):
    assert answer(capsys, "serve", "--json")["error"].startswith("serve speaks a protocol over standard output")


@pytest.mark.parametrize("text", ["CLAIMS = 3\n", "1/0\n"])
def test_a_file_that_cannot_be_loaded_is_an_answer(capsys, tmp_path, text):
    (tmp_path / "mine.py").write_text(text)
    assert answer(capsys, "check", str(tmp_path / "mine.py"), "--json", "-")["error"]
