"""Audits that are killed, interrupted, or on a disk that is full: what was found is kept, and the next run goes on.

Each audit is a process of its own, in which the check of one claim does what ends it: nothing depends on time.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from first_found import of_registered
from places import ROOT

from fedtheory import claims
from fedtheory.naming import file_name
from verify.cli import main, saving
from verify.report import terminal
from verify.results import files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")

SELECTED = ("locodl/eq-6", "locodl/eq-13", "feddcd/table-2", "feddcd/lemma-B.8/rate")
IDS = [claim.id for claim in claims.select(SELECTED)]

#: An audit whose checks take no time; that of the claim AT runs ``{then}`` first. The claims checked are in a file.
_PROGRAM = """
import os, resource, signal, sys, types
from verify.cli import main
from verify.evidence.record import Evidence
from verify.base.verdict import Verdict

log = open(os.environ["CHECKED"], "a")
# Who started the tests may have told them to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def room(size):
    # The kernel's limit on the size of files stands for a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def check(claim, seed=0, budget="quick", known=None, carried=None):
    print(claim.id, file=log, flush=True)
    if claim.id == os.environ["AT"]:
        {then}
    return Evidence(claim, Verdict.SUPPORTED, 0.1 + 0.2, ("search",), 7, note="a note", seconds=1 / 3)

checking = types.ModuleType("verify.checking")
checking.check, checking.check_arguments = check, lambda seed, budget: None
sys.modules["verify.checking"] = checking
sys.exit(main(["audit", *sys.argv[1:], "--jobs", "1", "--out", "out"]))
"""


@pytest.fixture
def audit(tmp_path):
    """Run an audit in a process of its own; gives the process and the claims that it checked."""

    def run(at: str, then: str = "pass", more=()):
        checked = tmp_path / "checked"
        checked.write_text("")
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(then=then), *SELECTED, *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "CHECKED": str(checked), "AT": at, "FEDTHEORY_CACHE": "cache"},
            capture_output=True,
            text=True,
        )
        return done, checked.read_text().split()

    return run


def _audit_json(tmp_path: Path) -> dict:
    return json.loads((tmp_path / "out" / "audit.json").read_text())


def _kept(tmp_path: Path) -> dict[str, Path]:
    """The verdicts in the cache, by their claims."""
    return {path.name.rpartition("-")[0]: path for path in (tmp_path / "cache" / "verdicts").glob("*.json")}


@pytest.mark.parametrize("name", ["SIGKILL", pytest.param("SIGTERM", marks=pytest.mark.slow), "SIGINT"])
def test_an_audit_that_is_ended_goes_on(audit, tmp_path, name):
    number = getattr(signal, name)
    ended, checked = audit(IDS[2], f"os.kill(os.getpid(), {int(number)})")
    assert checked == IDS[:3] and "Traceback" not in ended.stderr
    if name == "SIGKILL":
        assert ended.returncode == -number
    else:
        assert ended.returncode == 128 + number
        word = "interrupted" if name == "SIGINT" else f"ended by {name}"
        assert ended.stderr.splitlines()[-1] == f"fedtheory: {word}"
        assert "2 of 5 verdicts are kept in cache/verdicts: run the same command to resume" in ended.stderr
    partial = _audit_json(tmp_path)
    assert partial["partial"] is True and [c["id"] for c in partial["claims"]] == IDS[:2]
    assert partial["missing"] == IDS[2:]
    assert len(_kept(tmp_path)) == 2

    resumed, checked = audit("none")
    assert resumed.returncode == 0 and checked == IDS[2:]
    assert "2 of 5 verdicts are taken from cache/verdicts" in resumed.stderr
    whole = _audit_json(tmp_path)
    assert "partial" not in whole and "missing" not in whole and [c["id"] for c in whole["claims"]] == IDS
    assert whole["claims"][:2] == partial["claims"]
    assert not list(tmp_path.rglob(".*.json"))
    again, checked = audit("none")
    assert again.returncode == 0 and not checked and _audit_json(tmp_path) == whole
    told = [[line for line in run.stdout.splitlines() if "claims: " not in line] for run in (again, resumed)]
    assert told[0] == told[1]


def test_other_arguments_and_files_that_were_changed_are_not_believed(audit, tmp_path):
    audit(IDS[3], "os.kill(os.getpid(), 9)")
    kept = _kept(tmp_path)
    first, second, _third = (kept[file_name(id)] for id in IDS[:3])
    first.write_text(first.read_text().replace('"instances": 7', '"instances": 8'))
    second.write_text(second.read_text()[:100])
    resumed, checked = audit("none")
    assert resumed.returncode == 0 and checked == [IDS[0], IDS[1], *IDS[3:]]
    assert (
        f"{first.relative_to(tmp_path)} is not a verdict that was stored (its contents were changed)" in resumed.stderr
    )
    assert f"{second.relative_to(tmp_path)} is not a verdict that was stored" in resumed.stderr

    assert audit("none", more=("--seed", "1"))[1] == IDS
    assert not audit("none")[1]


def test_without_a_cache_nothing_is_read_or_written(audit, tmp_path):
    assert audit("none", more=("--no-cache",))[1] == IDS and not (tmp_path / "cache").exists()
    assert audit("none")[1] == IDS
    assert audit("none", more=("--no-cache",))[1] == IDS


def test_a_full_disk_ends_no_audit(audit, tmp_path):
    done, _ = audit(IDS[2], "log.close(); globals().update(log=sys.stderr); room(0)")
    # All verdicts are told, whatever the disk does.
    lines = done.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines[1:6]] == IDS and "5 claims: " in done.stdout
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.count("; the audit goes on") == 1
    assert done.stderr.splitlines()[-1].startswith("fedtheory: out/audit.json: ")
    # What could be written is whole, and says what it lacks.
    partial = _audit_json(tmp_path)
    assert partial["partial"] is True and [c["id"] for c in partial["claims"]] == IDS[:2]
    assert not [path for path in tmp_path.rglob("*.json") if path.stat().st_size == 0]
    assert not list(tmp_path.rglob(".*.json"))

    resumed, checked = audit("none")
    assert resumed.returncode == 0 and checked == IDS[2:]
    assert "partial" not in _audit_json(tmp_path)


def test_a_disk_that_is_full_for_a_while_loses_nothing(audit, tmp_path):
    full = f"log.close(); globals().update(log=sys.stderr); room(0); os.environ['AT'] = {IDS[3]!r}"
    done, _ = audit(IDS[2], f"room(resource.RLIM_INFINITY) if claim.id == {IDS[3]!r} else exec({full!r}, globals())")
    assert done.returncode == 0 and "; the audit goes on" in done.stderr
    whole = _audit_json(tmp_path)
    assert "partial" not in whole and [c["id"] for c in whole["claims"]] == IDS


@pytest.mark.parametrize("margin", ["found", None, -np.inf, 0.1 + 0.2])
def test_a_verdict_that_is_kept_comes_back(tmp_path, margin):
    found = of_registered("feddcd/lemma-B.8/rate")
    if margin != "found":
        found = replace(found, margin=margin)
    told: list[str] = []
    before, after = (saving.Verdicts(tmp_path / "verdicts", 0, "quick", told.append) for _ in range(2))
    before.store(found)
    (again,) = after.read([found.claim])
    assert after.entries == before.entries == {found.claim.id: found.to_json()} and not told
    assert again.margin == found.margin and again.counterexample.replay() == found.counterexample.replay()
    assert terminal.remarks([again]) == terminal.remarks([found])


def test_a_check_that_failed_is_not_kept(tmp_path, monkeypatch, capsys):
    def failing(claim, seed, budget, known, carried):
        raise MemoryError if claim.id == IDS[0] else KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("verify.checking.check", failing)
    assert main(["audit", *SELECTED, "--jobs", "1", "--out", "out"]) == 130
    assert "the check itself failed: MemoryError" in (tmp_path / "out" / "audit.json").read_text()
    assert "verdicts are kept" not in capsys.readouterr().err and not list(files.directory().rglob("*.json"))


def test_a_process_that_is_killed_is_told_in_a_line(tmp_path, capsys, monkeypatch):
    def killed(*args, **more):
        raise ChildProcessError("a process that tested claims was killed, perhaps for want of memory")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("verify.cli.auditing.audit", killed)
    assert main(["audit", "locodl/eq-6", "--no-cache"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("fedtheory: a process that tested claims was killed")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_file_is_what_it_was_or_what_it_is_to_be(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.json"
    files.write(path, "before")
    link = tmp_path / "link"
    link.symlink_to(path)

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device", ".tmp")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full) if failing == "fsync" else patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space left") as caught:
            files.write(path, "after")
        assert caught.value.filename == str(path)
    assert path.read_text() == "before" and {p.name for p in tmp_path.iterdir()} == {"a.json", "link"}
    files.write(link, "after")
    assert link.is_symlink() and path.read_text() == "after"
    files.write(Path(os.devnull), "nothing is replaced")
    assert Path(os.devnull).is_char_device()
