"""A paper of somebody else's, in a package outside the tree: all commands know its claims, and its files count."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import ROOT

from fedtheory import plugins

#: The package, as it is installed from there.
_EXAMPLE = ROOT / "examples" / "a-paper"
#: Commands in one process each, whose checks take no time; the claims that are checked are printed.
_PROGRAM = """
import sys, types
from verify.cli import main
from verify.evidence.record import Evidence
from verify.base.verdict import Verdict

def check(claim, seed=0, budget="quick", advance=None, known=None, carried=None):
    print("checked", claim.id)
    return Evidence(claim, Verdict.SUPPORTED, 0.5, ("search",), 7)

checking = types.ModuleType("verify.checking")
checking.check, checking.check_arguments, checking.METHODS = check, lambda seed, budget: None, ()
sys.modules["verify.checking"] = checking
for command in sys.argv[1:]:
    print(">", command)
    assert main(command.split()) == 0
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as that in which packages are installed."""
    project = tomllib.loads((_EXAMPLE / "pyproject.toml").read_text())
    told = project["project"]
    shutil.copytree(_EXAMPLE / "sketch", tmp_path / "sketch", ignore=shutil.ignore_patterns("__pycache__"))
    installed = tmp_path / f"{told['name']}-{told['version']}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
    points = [f"{name} = {place}" for name, place in told["entry-points"][plugins.GROUP].items()]
    (installed / "entry_points.txt").write_text("\n".join([f"[{plugins.GROUP}]", *points, ""]))
    assert project["tool"]["setuptools"]["packages"] == ["sketch"]
    return tmp_path


def _run(site: Path, *commands: str) -> list[str]:
    """What the commands print, each after its name."""
    path = os.pathsep.join((str(site), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path, "FEDTHEORY_CACHE": str(site / "cache")}
    program = [sys.executable, "-c", _PROGRAM, *commands]
    done = subprocess.run(program, cwd=site, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n> ")


def test_an_installed_paper_is_one_of_ours_to_every_command(site):
    audit = "audit sketch --jobs 1 --out out --html pages"
    listed, audited, why, shown, steps = _run(
        site, "list sketch", audit, "why sketch/theorem-1", "show sketch/corollary-1.1", "table sketch/steps"
    )
    ids = ["theorem-1", "theorem-1/repaired", "corollary-1.1", "corollary-1.1/factor"]
    assert [line.split("\t")[0] for line in listed.splitlines()[1:]] == [f"sketch/{id}" for id in ids]
    assert audited.count("checked") == 4
    assert [entry["id"] for entry in json.loads((site / "out" / "audit.json").read_text())["claims"]] == [
        f"sketch/{id}" for id in ids
    ]
    # What the audit left in the cache is told.
    assert "sketch/theorem-1  (Theorem 1): supported" in why and "checked" not in why + shown and "kappa" in steps
    assert "Sketch of a paper (2026)" in (site / "pages" / "papers" / "sketch.html").read_text()
    pages = {page.stem for page in (site / "pages" / "claims").glob("*.html")}
    assert pages == {f"sketch_{id.replace('/', '_')}" for id in ids}

    (again,) = _run(site, audit)
    assert "checked" not in again
    table = (_EXAMPLE / "sketch" / "table.py").read_text()
    (site / "sketch" / "table.py").write_text(f"{table}# changed\n")
    (changed,) = _run(site, audit)
    assert changed.count("checked") == 4
    # Nothing tells when code changes that is neither the paper's nor ours.
    (site / "sketch" / "table.py").write_text(f"import elsewhere\n{table}")
    for _ in range(2):
        (changed,) = _run(site, audit)
        assert changed.count("checked") == 4


def test_ours_are_found_once_without_being_installed():
    papers = list(plugins.every().values())
    assert papers == sorted(papers, key=lambda paper: (paper.order, paper.id))
    assert set(plugins.every()) == set(plugins.own()) and not plugins.installed()


class _Point:
    def __init__(self, name, value):
        self.name, self.value = name, value


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ([("locodl", "mine:PAPER")], "two installed packages register a paper named locodl"),
        ([("mine", "mine:PAPER"), ("mine", "other:PAPER")], "two installed packages register a paper named mine"),
        ([("mine", "nowhere_at_all:PAPER")], "the paper mine at nowhere_at_all:PAPER cannot be loaded"),
        ([("mine", "json:loads")], "json:loads must be the fedtheory.Paper of id mine"),
        ([("mine", "json")], "the paper mine at json cannot be loaded"),
        ([("mine", "fedtheory.papers.locodl:PAPER")], "must be the fedtheory.Paper of id mine"),
    ],
)
def test_what_is_no_paper_is_said_in_a_sentence(points, told, monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda group: [_Point(*point) for point in points])
    plugins.installed.cache_clear()
    try:
        with pytest.raises(ValueError, match=told):
            plugins.every.__wrapped__()
    finally:
        plugins.installed.cache_clear()


@pytest.mark.parametrize("id, title, claims", [("a/b", "A", ()), ("", "A", ()), ("a", "", ()), ("a", "A", (1,))])
def test_a_record_is_checked(id, title, claims):
    with pytest.raises(ValueError):
        plugins.Paper(id, title, claims)


def test_the_version_of_a_paper_is_a_text():
    with pytest.raises(ValueError, match="the version of the paper mine must be a text, got 2"):
        plugins.Paper("mine", "A", version=2)
