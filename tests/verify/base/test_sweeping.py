"""Sweeps in processes and on a cluster, which gives the same report, also when one of its workers is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from places import ROOT

from fedtheory import claims
from verify.audit import audit, sweeping
from verify.cli import main
from verify.evidence.formats import audit as document
from verify.results import digests as code

SELECTED = ("feddcd/table-2", "locodl/table-2", "fedadmm/example-5.1")


def _report(found) -> str:
    """The audit's JSON but for the seconds, which are no two times the same."""
    return json.dumps(document([{**e.to_json(), "seconds": 0} for e in found], 0, "quick"), indent=2)


def _times(a: int, b: int) -> int:
    return a * b


def test_tasks_come_back_in_order():
    tasks = [(a, a + 1) for a in range(5)]
    for jobs in (1, 2):
        assert list(sweeping.sweep(_times, tasks, jobs)) == [a * (a + 1) for a in range(5)]
        assert sorted(sweeping.sweep(_times, tasks, jobs, ordered=False)) == [a * (a + 1) for a in range(5)]
    assert list(sweeping.sweep(_times, [], 3)) == []


def test_a_worker_with_other_code_is_refused():
    with pytest.raises(ValueError, match="a worker has other code"):
        sweeping._checked("0" * 64, _times, (1, 2))
    assert sweeping._checked(code.everything(), _times, (3, 2)) == 6


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--backend", "dask"), "--backend dask and --scheduler ADDRESS go together"),
        (("--scheduler", "tcp://127.0.0.1:1"), "--backend dask and --scheduler ADDRESS go together"),
        (("--backend", "spark"), "argument --backend: invalid choice: 'spark'"),
    ],
)
def test_a_backend_and_its_address_go_together(tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    assert main(["audit", "locodl/eq-6", *more]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1


def test_without_distributed_it_is_said_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["audit", "locodl/eq-6", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == (
        "fedtheory: --backend dask takes the package distributed: pip install '.[dask]' in a copy of the source, "
        "or pip install 'FILE.whl[dask]' of a wheel, brings it\n"
    )


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:{port}", "tcp://", "carrier://pigeon:1"])
def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch, capfd, address):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweeping, "PATIENCE", 0.5)
    with socket.socket() as held:
        # A port that nobody listens to.
        held.bind(("127.0.0.1", 0))
        asked = address.format(port=held.getsockname()[1])
        assert main(["audit", "locodl/eq-6", "--backend", "dask", "--scheduler", asked]) == 2
    told = capfd.readouterr().err
    assert told.startswith(f"fedtheory: no Dask scheduler answers at {asked!r}") and told.count("\n") == 1


class Cluster:
    """A scheduler and workers on this machine, each a process."""

    def __init__(self, at: Path) -> None:
        self._file = at / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file")
        while not self._file.exists() or not self._file.read_text():
            time.sleep(0.05)
        self.address = json.loads(self._file.read_text())["address"]

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *arguments, str(self._file)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._processes.append(subprocess.Popen(command, env=environment, cwd=self._file.parent, **quiet))
        return self._processes[-1]

    def worker(self) -> subprocess.Popen[bytes]:
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--scheduler-file")
        return self._start("worker", *options)

    def stop(self, *processes: subprocess.Popen[bytes]) -> None:
        for process in processes or self._processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed")
    started = Cluster(tmp_path)
    try:
        yield started
    finally:
        started.stop()


def test_the_report_is_the_same_when_a_worker_is_killed(cluster):
    first, _second = cluster.worker(), cluster.worker()
    selected, done = claims.select(SELECTED), []

    def kill(evidence) -> None:
        if not done:
            os.kill(first.pid, signal.SIGKILL)
        done.append(evidence.claim.id)

    with sweeping.cluster(cluster.address):
        found = audit(selected, progress=kill)
    assert sorted(done) == sorted(c.id for c in selected) and first.wait() == -signal.SIGKILL
    assert _report(found) == _report(audit(selected))


def test_commands_run_on_a_cluster(cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cluster.worker()
    command = ["audit", "feddcd/table-2", "--no-cache", "--json", "-"]
    assert main([*command, "--backend", "dask", "--scheduler", cluster.address]) == 0
    there = json.loads(capsys.readouterr().out)
    assert main([*command, "--jobs", "1"]) == 0
    here = json.loads(capsys.readouterr().out)
    for entry in (*there["claims"], *here["claims"]):
        entry["seconds"] = 0
    assert here == there


def test_a_cluster_without_workers_is_told_in_a_line(cluster, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweeping, "PATIENCE", 2)
    assert main(["audit", "locodl/eq-6", "--backend", "dask", "--scheduler", cluster.address]) == 2
    assert capfd.readouterr().err == f"fedtheory: the Dask scheduler at {cluster.address!r} has no worker\n"


def test_a_cluster_that_is_lost_is_told_in_a_line(cluster, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    cluster.worker()

    def gone(evidence):
        cluster.stop()

    with pytest.raises(ChildProcessError, match="the cluster was lost"), sweeping.cluster(cluster.address):
        audit(claims.select(SELECTED), progress=gone)
