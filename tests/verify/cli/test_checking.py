"""``fedtheory check``: a line a claim, errors of one claim beside the others, limits on what somebody's code takes."""

import json
import os
import signal

import pytest

from verify.base.verdict import Verdict
from verify.cli import main
from verify.evidence.record import Evidence, Outcome
from verify.report import terminal

FILE = """
import numpy as np

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :]}


def broken(problem, params, state, draw):
    return {"x": state.nothing}


def greedy(problem, params, state, draw):
    np.ones(10**12)
    return descent(problem, params, state, draw)


def endless(problem, params, state, draw):
    while True:
        pass


def claim(name, step, factor):
    method = ft.method(name, step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    return ft.Claim(f"mine/{name}", setting=setting, statement=ft.contracts(method, ft.distance, factor))


CLAIMS = (
    claim("broken", broken, 1),
    claim("too-fast", descent, 0),
    claim("greedy", greedy, 1),
    claim("endless", endless, 1),
)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return str(path)


def test_errors_of_some_claims_do_not_end_the_file(file, capsys, tmp_path):
    stored = tmp_path / "found.json"
    status = main(["check", file, "--seconds", "2", "--memory", "1", "--json", str(stored)])
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:2] for row in rows] == [
        ["mine/broken", "failed"],
        ["mine/too-fast", "refuted"],
        ["mine/greedy", "failed"],
        ["mine/endless", "stopped"],
    ]
    said = {row[0]: row[3] for row in rows}
    assert "its own code fails in broken (mine.py, line 14): AttributeError" in said["mine/broken"]
    assert "no attribute 'nothing' (it has x)" in said["mine/broken"]
    assert "<= 0 is false at n=1, d=1" in said["mine/too-fast"] and "; x = " in said["mine/too-fast"]
    assert "more memory than it may" in said["mine/greedy"]
    assert "stopped after 2 s of processor time" in said["mine/endless"]
    assert status == 2 and err.count("\n") == 1 and err.startswith("fedtheory: 3 of 4 claims could not be tested: ")
    entries = json.loads(stored.read_text())["claims"]
    assert [e["verdict"] for e in entries] == ["not-tested", "refuted", "not-tested", "not-tested"]
    assert entries[3]["note"].startswith("stopped after 2 s of processor time; until then ")
    assert len(entries[3]["outcomes"]) > 0


def test_a_step_that_asks_for_the_round_is_told_what_gives_it(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(FILE.replace('"x": state.x - params.gamma', '"x": state.x - params.gamma / (params.round + 1)'))
    assert main(["check", str(path), "mine/too-fast"]) == 2
    out = capsys.readouterr().out
    assert "no attribute 'round' (only a method with schedules knows the round: method(..., schedules={" in out


def test_details_of_one_claim(file, capsys):
    assert main(["check", file, "mine/too-fast", "--details"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("mine/too-fast  (one-step)\n") and "\n  by hand\n" in out and "mine/broken" not in out
    assert main(["check", file, "mine/no-such"]) == 2


def test_a_line_on_a_terminal_is_cut_unless_the_claim_failed():
    row = terminal.ResultLine("mine/a", "refuted", "-1", "1 <= 0 is false at " + 20 * "n=1, ")
    (line,) = terminal.lines(row, (8, 10), 60)
    assert len(line) == 60 and line.plain.endswith("...")
    head, why = terminal.lines(row._replace(verdict=terminal.FAILED, over="it fails " * 20), (8, 10), 60)
    assert "failed" in head.plain and why.plain.strip() == ("it fails " * 20).strip()


def test_errors_of_the_authors_code_in_a_proof_are_told_once():
    class Found:
        outcomes = tuple(
            Outcome(
                "m", "", None, f"left open: mine/a: its own code fails in step (mine.py, line 5): {error}; write so"
            )
            for error in ("TypeError: no", "TypeError: no")
        )

    assert terminal.faults(Found) == ["its own code fails in step (mine.py, line 5): TypeError: no"]


_ENDING = """
CLAIMS = (claim("too-fast", descent, 0), claim("ended", descent, 1), claim("left", descent, 1))
"""


@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_found_is_kept_when_the_command_is_ended(as_json, tmp_path, capsys, monkeypatch):
    path, out = tmp_path / "mine.py", tmp_path / "out"
    path.write_text(FILE.partition("CLAIMS")[0] + _ENDING)

    def check(claim, seed, budget, keep):
        outcome = Outcome("search", "", Verdict.SUPPORTED, "none found")
        found = Evidence(claim, Verdict.SUPPORTED, None, (), 1, note="none found", outcomes=(outcome,))
        keep(found)
        if claim.id == "mine/ended":
            os.kill(os.getppid(), signal.SIGTERM)
            signal.pause()
        return found

    monkeypatch.setattr("verify.checking.check", check)
    status = main(["check", str(path), "--json" if as_json else "--out", "-" if as_json else str(out)])
    printed, err = capsys.readouterr()
    assert status == 128 + signal.SIGTERM, err
    assert err.splitlines()[-2:] == ["not tested: 1 of 3 claims", "fedtheory: ended by SIGTERM"]
    if as_json:
        answer = json.loads(printed)
        assert answer["error"] == "ended by SIGTERM" and answer["status"] == status
        entries, failed = answer["claims"], answer["claims"][1]["failed"]
    else:
        entries = json.loads((out / "audit.json").read_text())["claims"]
        rows = [line.split("\t") for line in printed.splitlines()]
        assert [row[:2] for row in rows] == [["mine/too-fast", "supported"], ["mine/ended", "stopped"]]
        failed = rows[1][3]
    assert failed == "mine/ended: ended by SIGTERM; found by then: supported"
    assert [entry["id"] for entry in entries] == ["mine/too-fast", "mine/ended"]
    assert entries[1]["note"] == "ended by SIGTERM; none found"
