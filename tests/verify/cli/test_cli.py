"""The command: what it prints and writes, its exit status, and that bad input is one line."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import mpmath
import pytest
from first_found import of_registered
from places import ROOT, SHARED
from rich.console import Console

from fedtheory import claims, tables
from verify import Verdict, checking
from verify.base.plain import clean
from verify.cli import arguments, completion, main
from verify.evidence import formats
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Evidence
from verify.report import consoles, progress, statement, terminal
from verify.tightness import emptiness, measure

KEYS = {
    "id",
    "paper",
    "where",
    "kind",
    "verdict",
    "margin",
    "methods",
    "instances",
    "counterexample",
    "repaired",
    "seconds",
}
SUBSET = ("feddcd/lemma-B.8/rate", "locodl/regimes", "locodl/eq-13")


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *argv: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    status = main(argv)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Path:
    """The results of a small audit."""
    out = tmp_path_factory.mktemp("audit")
    assert main(["audit", *SUBSET, "--jobs", "1", "--out", str(out)]) == 0
    return out


# Bad input


def _files(where: Path) -> None:
    (where / "nan.svm").write_text("1 1:0.5\n-1 1:nan\n")
    (where / "one.svm").write_text("1 1:0.5\n1 1:0.7\n")
    (where / "cut.svm").write_text("1 1:0.5\n-1 1:")
    (where / "cut.svm.gz").write_bytes(bytes.fromhex("1f8b08000000000000033350"))
    (where / "few.svm").write_text("1 1:0.5\n-1 1:0.7\n1 1:0.1\n")
    (where / "zero.svm").write_text("1 1:0\n-1 1:0\n1 1:0 2:0\n")
    (where / "words.json").write_text("not JSON")
    (where / "list.json").write_text("[1]")
    (where / "other.json").write_text('{"claim": "feddcd/projection"}')
    stored = {"claim": "feddcd/projection", "changes": {}, "recipe": {}, "point": [], "rounds": 1, "part": "0"}
    sides = {"entry": 0, "left": "1", "right": "0", "text": ""}
    (where / "empty.json").write_text(json.dumps({**stored, **sides, "relation": "=="}))
    (where / "relation.json").write_text(json.dumps({**stored, **sides, "relation": "~"}))
    (where / "unknown.json").write_text(json.dumps({**stored, **sides, "relation": "==", "claim": "feddcd/no"}))
    (where / "file").touch()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("prove", "invalid choice: 'prove'"),
        ("audit --data missing.svm", "there is no file missing.svm"),
        ("audit --data .", "is a directory"),
        ("audit --data cut.svm", "not in LIBSVM's text format"),
        ("audit --data cut.svm.gz", "truncated"),
        ("audit --data nan.svm", "NaN"),
        ("audit --data one.svm", "exactly two were expected"),
        ("audit --data zero.svm --clients 2", "no feature is other than 0"),
        ("audit --data few.svm", "3 rows of few cannot be split over 10 clients"),
        ("audit --clients 570", "569 rows of breast-cancer cannot be split over 570 clients"),
        ("audit --clients 1", "--clients: an integer of at least 2 was expected, got '1'"),
        ("audit feddcd/nothing", "unknown claim 'feddcd/nothing'"),
        ("audit eq-6", "did you mean locodl/eq-6"),
        ("audit --budget huge", "invalid choice: 'huge'"),
        ("audit --seed -1", "--seed: an integer of at least 0 was expected, got '-1'"),
        ("audit --seed one", "--seed: an integer of at least 0 was expected, got 'one'"),
        ("audit --jobs 0", "--jobs: an integer of at least 1 was expected, got '0'"),
        ("audit --out file", "cannot make the directory file"),
        ("export locodl/eq-15 --out /proc/x", "cannot make the directory /proc/x"),
        ("audit --json nowhere/a.json", "cannot write the file nowhere/a.json"),
        ("audit --json .", "cannot write the file ."),
        ("audit --json /proc/a.json", "cannot write the file /proc/a.json"),
        ("tight locodl/theorem-3.1/one-step --out /proc/a.png", "cannot write the file /proc/a.png"),
        ("repair feddcd/theorem-6.1/eq-10 --out /proc/a.json", "cannot write the file /proc/a.json"),
        ("audit --data a5a", "the data sets of LIBSVM are at"),
        ("audit --frob", "unrecognized arguments: --frob"),
        ("show", "ID"),
        ("show eq-6", "did you mean locodl/eq-6"),
        ("show locodl/eq-6 --budget huge", "invalid choice: 'huge'"),
        ("show locodl/eq-6 --seed -1", "--seed: an integer of at least 0"),
        ("list fedsomething", "unknown claim 'fedsomething'"),
        ("list --verdict false", "invalid choice: 'false'"),
        ("why eq-6", "did you mean locodl/eq-6"),
        ("why", "ID"),
        ("replay locodl/eq-6", "no counterexample ships for locodl/eq-6: it is proved"),
        ("show", "as in `fedtheory show feddcd/theorem-6.1/eq-10`"),
        ("show locodl", "'locodl' is not a claim, but the beginning of"),
        (
            "show locodl/eq-6 --chek",
            "unrecognized arguments: --chek, did you mean --check? (see fedtheory show --help)",
        ),
        ("list --verdict refutd", "invalid choice: 'refutd', did you mean 'refuted'? (see fedtheory list --help)"),
        ("sho locodl/eq-6", "invalid choice: 'sho', did you mean 'show'? (see fedtheory --help)"),
        ("why locdl", "unknown claim 'locdl': did you mean locodl?"),
        ("map locodl/table-2", "--x, --y, as in `fedtheory map locodl/table-2 --x n=1:1e6"),
        ("replay nosuch/id", "nosuch/id is neither a file nor a claim: unknown claim 'nosuch/id'"),
        (
            "replay locodl/eq-66",
            "is neither a file nor a claim: unknown claim 'locodl/eq-66': did you mean locodl/eq-6 or fedadmm/eq-66?",
        ),
        ("replay missing.json", "cannot read missing.json"),
        ("replay .", "cannot read ."),
        ("replay words.json", "words.json is not JSON"),
        ("replay list.json", "list.json: this is not a stored counterexample: an object was expected"),
        ("replay other.json", "not a stored counterexample"),
        ("replay empty.json", "empty.json does not hold an instance of feddcd/projection"),
        ("replay relation.json", "relation: '==' or '<=' or '<' was expected, got '~'"),
        ("replay unknown.json", "unknown claim 'feddcd/no'"),
        ("replay unknown.json", "(for a claim of your own, give its file: --own FILE)"),
    ],
)
def test_bad_input_is_one_line_and_status_2(here, capsys, monkeypatch, command, message):
    def never(*args: object, **more: object) -> None:
        raise AssertionError("the long work began before all input was checked")

    monkeypatch.setattr("verify.cli.auditing.audit", never)
    _files(here)
    status, out, err = run(capsys, *command.split())
    assert (status, out) == (2, "")
    assert err.startswith("fedtheory: ") and err.count("\n") == 1
    assert message in err and "Traceback" not in err


def test_an_interrupt_is_one_line_and_status_130(here, capsys, monkeypatch):
    def interrupted(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.cli.auditing.audit", interrupted)
    status, out, err = run(capsys, "audit", "locodl/eq-6", "--no-cache")
    assert (status, out) == (130, "") and err.splitlines()[1:] == ["fedtheory: interrupted"]


def test_help_tells_the_defaults(capsys):
    with pytest.raises(SystemExit) as left:
        main(["audit", "--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert "fedtheory-audit" in text and "default: 10" in text


def test_nothing_asked_for_is_help(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "") and out.startswith("usage: fedtheory") and "exit status: 0 success" in out


COMMANDS = (
    "audit",
    "show",
    "list",
    "why",
    "replay",
    "table",
    "map",
    "selftest",
    "tight",
    "best",
    "discover",
    "repair",
    "completion",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_and_the_exit_status(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert (
        f"  fedtheory {command} " in text
        and "exit status: 0 success; " in text
        and "2 bad input" in " ".join(text.split())
    )
    described = text[: text.index("example")]
    assert max(map(len, described.splitlines())) <= 80


def test_the_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0 and capsys.readouterr().out == f"fedtheory {version('fedtheory')}\n"


def test_the_choices_are_those_there_are(capsys):
    assert tuple(checking.BUDGETS) == arguments.BUDGETS
    # What is said of a program only is said of no claim.
    assert set(arguments.VERDICTS) == {str(verdict) for verdict in Verdict} - {"open"}
    assert arguments.FORMATS == tables.FORMATS
    assert tuple(emptiness.BASELINES) == arguments.BASELINES
    for shell in arguments.SHELLS:
        assert all(command in completion.script(shell, arguments.parser(), []) for command in COMMANDS)


# audit


def test_audit_ends_with_the_totals_what_differs_the_files_and_what_is_next(here, capsys):
    status, out, err = run(capsys, "audit", *SUBSET, "--jobs", "1")
    assert status == 0
    lines = out.splitlines()
    assert len(lines) <= 10 and lines[0].startswith("4 claims: ") and " 1 refuted; " in lines[0]
    assert lines[1] == "of the claims that do not hold: 1 false only if read literally"
    assert "verdicts that differ from those that ship: none" in lines
    assert lines[-2].startswith("in fedtheory-audit: report.txt ") and "counterexamples/ (1)" in lines[-2]
    assert lines[-1].startswith("next: fedtheory why feddcd/lemma-B.8/rate; ")
    # How far it is, by what claims cost, and what runs.
    told = err.splitlines()
    assert told[0].startswith("4 claims to test with 1 process: about ") and len(told) <= 1 + 20
    assert all(re.match(r" *\d+%, \d of 4 claims, about .* left", line) for line in told[1:])
    assert told[-1].startswith("100%, 4 of 4 claims") and any("; running: " in line for line in told)
    report = (here / "fedtheory-audit" / "report.txt").read_text().splitlines()
    assert report[0].split() == ["claim", "verdict", "margin", "methods", "instances", "seconds"]
    assert any(line.startswith("feddcd/lemma-B.8/rate: ") for line in report)


def test_a_verdict_that_differs_from_what_ships_is_told_at_the_end(here, capsys, monkeypatch):
    found = [Evidence(claims.get("locodl/eq-6"), Verdict.SUPPORTED, 0.5, ("search",), 10)]
    monkeypatch.setattr("verify.cli.auditing.audit", lambda *args, **more: [args[4](e) for e in found])
    status, out, _ = run(capsys, "audit", "locodl/eq-6", "--no-cache")
    assert (
        status == 0 and "verdicts that differ from those that ship: 1\n  locodl/eq-6: was proved, is supported\n" in out
    )
    status, out, _ = run(capsys, "audit", "locodl/eq-6", "--no-cache", "--seed", "1")
    assert "not compared with the results that ship" in out


def test_verbose_prints_a_table_refutations_and_a_summary(here, capsys):
    status, out, err = run(capsys, "audit", *SUBSET, "--jobs", "1", "-v")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split("\t") == ["claim", "verdict", "margin", "methods", "instances", "seconds"]
    row, repaired, *_ = lines[1:]
    assert row.split("\t")[:2] == ["feddcd/lemma-B.8/rate", "refuted"]
    assert repaired.split("\t")[:2] == ["feddcd/lemma-B.8/rate/repaired", "proved"]
    (refutation,) = [line for line in lines if line.startswith("feddcd/lemma-B.8/rate: ")]
    assert " is false at n=2, " in refutation and refutation.endswith("(repaired: feddcd/lemma-B.8/rate/repaired)")
    (summary,) = [line for line in lines if line.startswith("4 claims: ")]
    assert " 1 refuted; " in summary
    assert lines[lines.index(summary) - 1] == "of the claims that do not hold: 1 false only if read literally"
    # In a log there is a line for each claim.
    each = [line.split()[0] for line in err.splitlines() if line.startswith("[")]
    assert each == [f"[{i}/4]" for i in (1, 2, 3, 4)]
    assert {p.name for p in (here / "fedtheory-audit").iterdir()} == {"audit.json", "counterexamples", "report.txt"}


def test_progress_is_weighted_by_cost_and_estimates_from_what_was_done():
    now = [0.0]
    pace = progress.Pace({"a": 9.0, "b": 1.0}, 100.0, lambda: now[0])
    assert pace.share == 0 and pace.left == 100
    now[0] = 180.0
    pace.done("a")
    # Nine tenths took twice as long as expected.
    assert pace.share == 0.9 and 18 < pace.left < 21
    assert pace.line(["b"]) == " 90%, 1 of 2 claims, about 19 s left; running: b"
    pace.done("b")
    assert pace.left == 0
    thirds = progress.Pace({id: 0.1 for id in "abcdefghij"}, 100.0, lambda: now[0])
    for id in "abcdefghij":
        thirds.done(id)
    assert "about 0 s left" in thirds.line()
    assert [progress.duration(s) for s in (59, 600, 8000)] == ["59 s", "10 min", "2.2 h"]


def test_a_terminal_shows_what_runs_and_leaves_no_trace_of_it(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    with progress.shown(consoles.console(file), progress.Pace({"a/b": 1.0, "a/c": 1.0}, 60.0)) as told:
        told.run(["a/b"])
        told.arrive("a/b", "not shown")
        told.run(["a/c"])
        told.arrive("a/c", "not shown")
        told.run([])
    text = file.getvalue()
    assert "2 of 2 claims" in text and "running: a/c" in text and "not shown" not in text


def test_a_reader_of_a_pipe_may_go():
    command = [sys.executable, "-m", "fedtheory", "why", "feddcd"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_the_json_has_the_keys_that_other_programs_read(audited):
    result = json.loads((audited / "audit.json").read_text())
    assert set(result) == {"format", "version", "seed", "budget", "claims"}
    assert result["format"] == "fedtheory-audit-1" and formats.checked("audit", result)
    assert (result["seed"], result["budget"]) == (0, "quick")
    assert [c["id"] for c in result["claims"]] == [c.id for c in claims.select(SUBSET)]
    assert all(set(c) >= KEYS for c in result["claims"])
    refuted = result["claims"][0]
    assert refuted["repaired"] == "feddcd/lemma-B.8/rate/repaired" and refuted["margin"] < 0
    stored = json.loads((audited / "counterexamples" / "feddcd_lemma-B.8_rate.json").read_text())
    assert stored == {"format": "fedtheory-counterexample-1", **refuted["counterexample"]}
    assert formats.checked("counterexample", stored)


def test_the_number_of_jobs_changes_nothing_but_the_time(audited, tmp_path):
    copy = tmp_path / "copy.json"
    assert main(["audit", *SUBSET, "--jobs", "2", "--out", str(tmp_path), "--json", str(copy)]) == 0
    assert copy.read_text() == (tmp_path / "audit.json").read_text()
    one, two = (json.loads((where / "audit.json").read_text()) for where in (audited, tmp_path))
    for result in (one, two):
        for claim in result["claims"]:
            del claim["seconds"]
    assert one == two


def test_json_on_stdout_is_alone_there(here, capsys):
    status, out, err = run(capsys, "audit", "locodl/regimes", "--jobs", "1", "--json", "-", "--seed", "3")
    assert status == 0
    result = json.loads(out)
    assert result["seed"] == 3 and result["claims"][0]["verdict"] == "proved"
    assert "1 claim: 1 proved" in err


@pytest.fixture
def short_runs(monkeypatch):
    monkeypatch.setattr(measure, "_DECREASE", 0.8)


def test_naming_a_bound_measures_it(here, capsys, short_runs, monkeypatch):
    monkeypatch.setattr("verify.cli.auditing.audit", lambda *args, **more: [])
    status, out, err = run(capsys, "audit", "locodl/theorem-3.1", "--out", "deep/er", "-v")
    assert status == 0
    assert [p.name for p in sorted((here / "deep" / "er").iterdir())] == ["audit.json", "locodl.png", "report.txt"]
    assert re.search(r"LoCoDL, Algorithm 1 on real data, at most \S+ of its bound: deep/er/locodl.png", out)
    assert "of the bound locodl/theorem-3.1/eq-5" in out and "10 clients with 56 of 569 rows" in out
    assert "running LoCoDL" in err


@pytest.mark.parametrize(("wanted", "status"), [("refuted", 1), ("proved", 1), ("not-tested", 0), ("ill-posed", 0)])
def test_a_verdict_that_is_not_to_be_is_status_1(here, capsys, wanted, status):
    found, out, _ = run(capsys, "audit", *SUBSET[:2], "--jobs", "1", "--fail-on", "ill-posed", "--fail-on", wanted)
    assert found == status and "3 claims: " in out


def test_data_given_are_measured_whatever_the_claims(here, capsys, short_runs, monkeypatch):
    monkeypatch.setattr("verify.cli.auditing.audit", lambda *args, **more: [])
    rows = [f"{1 + i % 2} 1:{i % 5 - 2} 2:{i % 3 + 0.5} 3:{(i * i) % 7}" for i in range(24)]
    (here / "small.svm").write_text("\n".join(rows) + "\n")
    status, out, _ = run(capsys, "audit", "feddcd/eq-1", "locodl/eq-6", "--data", "small.svm", "--clients", "5")
    assert status == 0
    assert {p.name for p in (here / "fedtheory-audit").glob("*.png")} == {"feddcd.png", "locodl.png"}
    assert "small: 5 clients with 4 of 24 rows each, d = 3" in out
    assert all(id in out for id in measure.measured())


def test_shared_data_if_present(here, capsys, short_runs, monkeypatch):
    path = SHARED / "data" / "australian_scale"
    if not path.exists():
        pytest.skip("the shared data are not here")
    monkeypatch.setattr("verify.cli.auditing.audit", lambda *args, **more: [])
    status, out, _ = run(capsys, "audit", "locodl/regimes", "--data", str(path), "--clients", "20")
    assert status == 0 and "australian_scale: 20 clients with 34 of 690 rows" in out


# replay


def test_a_stored_counterexample_is_replayed(audited, capsys):
    status, out, err = run(capsys, "replay", str(audited / "counterexamples" / "feddcd_lemma-B.8_rate.json"))
    assert (status, err) == (0, "")
    assert "feddcd/lemma-B.8/rate" in out and "n=2, d=1, level=0, tau=2" in out
    stored, recomputed = (line.split(maxsplit=1)[1] for line in out.splitlines()[-3:-1])
    assert stored == recomputed
    assert "agree with the stored ones and contradict the claim" in out


@pytest.mark.parametrize(("side", "value"), [("left", "7/8"), ("right", "0.1"), ("left", "nan")])
def test_a_stored_side_that_differs_is_told(audited, capsys, tmp_path, side, value):
    stored = json.loads((audited / "counterexamples" / "feddcd_lemma-B.8_rate.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps({**stored, side: value}))
    status, out, _ = run(capsys, "replay", str(tmp_path / "a.json"))
    assert status == 1 and "DIFFER from the stored ones and contradict the claim" in out


def test_an_instance_that_does_not_contradict_is_told(capsys, tmp_path):
    found = of_registered("feddcd/projection").counterexample
    assert found is not None
    # Both projections of 0 are 0.
    changes = {"point": ["0"] * len(found.point), "left": "0", "right": "0"}
    (tmp_path / "a.json").write_text(json.dumps({**found.to_json(), **changes}))
    status, out, _ = run(capsys, "replay", str(tmp_path / "a.json"))
    assert status == 1 and "agree with the stored ones and do NOT contradict the claim" in out


# show and list


def test_show_tells_the_statement_and_the_evidence(capsys):
    status, out, err = run(capsys, "show", "feddcd/lemma-B.8/rate", "--check")
    assert (status, err) == (0, "")
    for part in (
        "feddcd/lemma-B.8/rate  (one-step; Lemma B.8)",
        "E[h(y) - h(x*)] <= h(x)*(1 - mu_min/L_max) - h(x*)",
        "1 < tau <= n",
        "x in C, without which",
        "algorithm, left, right, quantities, factor, strict, requires",
        "verdict: refuted",
        "claimed 0 <= -1/4, which is false",
        "left: E[h(y) - h(x*)] = 0",
        "repaired: feddcd/lemma-B.8/rate/repaired",
        "factor = 1 - mu_min*(tau - 1)/(L_max*(n - 1))",
    ):
        assert part in out


def test_show_latex_prints_the_statement_alone(capsys):
    status, out, _ = run(capsys, "show", "locodl/theorem-3.1/eq-5", "--latex")
    assert status == 0
    assert out.startswith(r"\mathbb{E}\left[\Psi^t\right] \le \Psi^0 \max\left(")
    assert "verdict" not in out


def test_every_claim_can_be_told():
    for claim in claims.all():
        text, latex = statement.text(claim), statement.latex(claim)
        assert text and all(text) and "**" not in "".join(text)
        assert latex.count("{") == latex.count("}") and latex.count(r"\left") == latex.count(r"\right")
        for part in statement.parts(claim):
            assert part in ("requires", "bound") or part in claim.statement.part_names()
        assert terminal.description(claim)


def test_no_side_of_a_statement_is_called_left_or_right():
    for claim in claims.all():
        names = {s.name for c in getattr(claim.statement, "comparisons", ()) for s in (c.left - c.right).free_symbols}
        assert not names & {"left", "right"}, claim.id


def test_identities_are_told_as_formulas():
    assert statement.text(claims.get("feddcd/lemma-B.3/eq-17")) == ["y' G_I x == y' G_I^T L G_I x"]
    assert statement.formulas(claims.get("fedopt/eq-7")) == [r"f(w) = \sum_k((n_k/n)F_k(w))"]


def test_list_has_a_line_for_each_claim(capsys):
    status, out, _ = run(capsys, "list", "locodl")
    assert status == 0
    lines = out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [c.id for c in claims.select(["locodl"])]
    assert all(line == line.strip() and line.count("\t") == 5 for line in lines)
    assert "omega_av = omega/n" in out
    origins = {line.split("\t")[0]: line.split("\t")[-1] for line in lines}
    assert origins["locodl/uplink"] == "printed" and origins["locodl/uplink/literal"] == "printed (read literally)"
    _, out, _ = run(capsys, "list", "locodl", "--origin", "implied")
    ids = [line.split("\t")[0] for line in out.splitlines()]
    assert "locodl/table-2/from-table-1" in ids and ids == [
        c.id for c in claims.select(["locodl"]) if c.origin == "implied"
    ]


def test_a_summary_counts_what_falls_apart(capsys):
    status, out, _ = run(capsys, "list", "--summary", "locodl", "baseline")
    rows = [line.split("\t") for line in out.splitlines()]
    assert status == 0 and rows[0][:3] == ["paper", "claims", "of them printed"] and len(rows[0]) == 7
    count = len(claims.select(["locodl"]))
    assert rows[1][:2] == ["locodl", str(count)] and rows[1][5] == "1" and rows[2][2:6] == ["0", "0", "0", "0"]


# The terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_that_leaves_no_trace(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    with consoles.progress(consoles.console(file), "claims", 3) as advance:
        for _ in range(3):
            advance("not shown")
    text = file.getvalue()
    assert "3/3" in text and "not shown" not in text


def told(capsys, *argv: str) -> str:
    status, out, _ = run(capsys, *argv)
    assert status == 0
    return out


def test_the_margin_of_the_worst_instance_is_not_that_of_the_counterexample(capsys):
    out = told(capsys, "show", "feddcd/theorem-6.1/eq-10")
    assert "the worst with margin -0.0986" in out and "which is false: the left side is 1.05 times the right one" in out


@pytest.mark.parametrize(
    ("left", "right", "relation", "said"),
    [
        (Fraction(10007, 10), Fraction(1000), "<=", ": the left side is 1.0007 times the right one"),
        (Fraction(10**40), Fraction(1), "<=", ": the left side is 1.0e+40 times the right one"),
        (Fraction(2), Fraction(1), "<", ": the left side is 2 times the right one"),
        (Fraction(1), Fraction(1), "<", ""),
        (Fraction(2), Fraction(0), "<=", ""),
        (Fraction(2), Fraction(1), "==", ""),
        (mpmath.inf, Fraction(1), "<=", ""),
    ],
)
def test_a_counterexample_says_by_how_much_the_claim_fails(left, right, relation, said):
    example = Counterexample(claims.get("locodl/eq-6"), {}, (), 0, "0", 0, left, right, relation, "")
    numbers = f"{terminal.shown(left)} {relation} {terminal.shown(right)}"
    assert terminal.claimed(example) == f"claimed {numbers}, which is false{said}"


def test_show_tells_only_of_the_methods_that_ran(capsys):
    out = told(capsys, "show", "locodl/theorem-3.1/eq-5")
    assert "does not apply" not in out and "not run" not in out
    # The margins after many rounds are a line.
    assert re.search(r"^  margin at T=0: 0, T=1: 0, .*; at \d+ more up to T=\d+: at least 0$", out, re.M)


def test_short_fractions_are_shown_as_such_and_other_numbers_as_decimals():
    assert terminal.shown(Fraction(1, 3)) == "1/3"
    assert terminal.shown(Fraction(10**40, 3 * 10**40 + 1)) == "about 0.333333333333"
    assert terminal.shown(mpmath.sqrt(2)) == "about 1.41421356237"
    assert terminal.shown(mpmath.mpf(10) ** -400) == "about 1.0e-400"
    assert terminal.shown(mpmath.mpf(0)) == "0"
    assert terminal.shown(Fraction(10**400)) == "about 1.0e+400"


def on_terminal(monkeypatch, *argv: str) -> str:
    """What a command writes on a terminal of 80 columns."""
    screen = Terminal()
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "stdout", screen)
        assert main(argv) == 0
    return screen.getvalue()


def test_at_80_columns_an_id_is_never_broken(monkeypatch):
    lines = on_terminal(monkeypatch, "list").splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [c.id for c in claims.all()]


@pytest.mark.parametrize("command", [("why", "feddcd"), ("show", "fedadmm/theorem-4.3/proof-constants/repaired")])
def test_at_80_columns_lines_break_between_words(monkeypatch, command):
    monkeypatch.setenv("NO_COLOR", "1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(monkeypatch, *command))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) > 30
    ids = {c.id for c in claims.select([command[1]])}
    named = {word.rstrip(",:") for line in lines for word in line.split() if word.startswith("fed") and "/" in word}
    assert named and named <= {c.id for c in claims.all()} and named & ids


# The longest id takes 59 columns.
@pytest.mark.parametrize("width", [84, 100, 200])
def test_a_table_of_verdicts_breaks_no_id(monkeypatch, width):
    monkeypatch.setenv("TERM", "xterm")
    found = [Evidence(c, Verdict.NOT_TESTED, -0.123, ("symbolic", "spectral", "search"), 1234) for c in claims.all()]
    screen = Terminal()
    console = Console(file=screen, width=width, color_system=None, force_terminal=True)
    consoles.show(console, terminal.verdicts(found, width))
    lines = screen.getvalue().splitlines()
    assert all(len(line) <= width for line in lines) and len(lines) == 1 + len(found)
    assert [line.removeprefix("└ ").split()[0] for line in lines[1:]] == [c.id for c in claims.all()]
    assert all("not-tested" in line and "-0.123" in line for line in lines[1:])


def test_no_color_is_obeyed(monkeypatch, here):
    command = ("audit", "locodl/regimes", "--jobs", "1", "-v")
    monkeypatch.delenv("NO_COLOR", raising=False)
    green = "\x1b[1;32m"
    assert green in on_terminal(monkeypatch, *command)
    monkeypatch.setenv("NO_COLOR", "1")
    assert green not in on_terminal(monkeypatch, *command)


def test_control_characters_are_not_passed_on(here, capsys):
    assert clean("a\x1b[2Jb\x07\r\u202ec\u2028d\x9be\ud800\n") == r"a\x1b[2Jb\x07\r\u202ec\u2028d\x9be\ud800" + "\n"
    assert clean("κ ≤ 1, └ x'") == "κ ≤ 1, └ x'"
    found = of_registered("feddcd/lemma-B.8/rate").counterexample
    assert found is not None
    text = "\x1b]0;title\x07\x1b[2J\u202e"
    (here / "a\x1b[31m.json").write_text(json.dumps({**found.to_json(), "text": text}))
    status, out, err = run(capsys, "replay", "a\x1b[31m.json")
    # What is told of the instance is not the file's text but what its recipe gives.
    assert (status, err) == (0, "") and "title" not in out and "\x1b" not in out
    status, out, err = run(capsys, "replay", "b\x1b[31m.json")
    assert (status, out) == (2, "") and r"b\x1b[31m.json" in err and "\x1b" not in err


def test_what_an_encoding_lacks_is_written_out():
    done = subprocess.run(
        [sys.executable, "-m", "fedtheory", "show", "baseline/adiana/one-step", "--latex"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.isascii()


@pytest.mark.parametrize("module", ["fedtheory", "verify"])
def test_the_command_is_a_module_too(module):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", module, "prove"], env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("fedtheory: argument COMMAND: invalid choice: 'prove'")


def test_claims_are_selected_by_the_beginning_of_an_id():
    def selected(name):
        return [c.id for c in claims.select([name])]

    assert selected("feddcd/theorem") == [c.id for c in claims.all() if c.id.startswith("feddcd/theorem")]
    # A whole part of an id is not the beginning of a longer one.
    assert selected("locodl/eq-1") == [c.id for c in claims.all() if c.id.startswith("locodl/eq-1")] or all(
        id == "locodl/eq-1" or id.startswith("locodl/eq-1/") for id in selected("locodl/eq-1")
    )
    for name in ("", "theorem", "feddcd/nothing"):
        with pytest.raises(ValueError, match="unknown claim"):
            claims.select([name])


# Completion


def _completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    typed = " ".join(f"'{word}'" for word in ("fedtheory", *words))
    asked = f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _fedtheory; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_bash_completes_commands_options_values_and_ids(capsys):
    status, script, err = run(capsys, "completion", "bash")
    assert (status, err) == (0, "")
    assert _completed(script, "se") == ["selftest", "serve"]
    assert _completed(script, "audit", "--fa") == ["--fail-on"]
    assert _completed(script, "audit", "--budget", "") == ["quick", "full"]
    assert _completed(script, "table", "--format", "la") == ["latex"]
    assert _completed(script, "list", "--verdict", "ref") == ["refuted"]
    for command in ("show", "why"):
        found = _completed(script, command, "feddcd/lemma-B.8/ra")
        assert found == [c.id for c in claims.select(["feddcd/lemma-B.8/rate"])]
    assert _completed(script, "completion", "") == ["-h", "--help", "--json", *arguments.SHELLS]


@pytest.mark.parametrize("shell", arguments.SHELLS)
def test_a_shell_reads_its_script(capsys, tmp_path, shell):
    status, script, _ = run(capsys, "completion", shell)
    assert status == 0 and "feddcd/lemma-B.8/rate/repaired" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    file = tmp_path / "script"
    file.write_text(script)
    subprocess.run([shell, "-n", str(file)], check=True)


def test_a_check_fails_on_what_is_not_to_be(here, capsys, monkeypatch):
    from verify.cli import checking as own

    given = "from dataclasses import replace\nfrom fedtheory import claims\n"
    Path("mine.py").write_text(f"{given}CLAIMS = [replace(claims.get('locodl/eq-6'), id='mine/one')]\n")
    monkeypatch.setattr(
        own, "_tested", lambda claim, args: (Evidence(claim, Verdict.REFUTED, None, (), 0, note=""), "", "", "", None)
    )
    assert run(capsys, "check", "mine.py")[0] == 0
    assert run(capsys, "check", "mine.py", "--fail-on", "ill-posed", "--fail-on", "refuted")[0] == 1
    assert run(capsys, "check", "mine.py", "--fail-on", "not-tested")[0] == 0
