"""The cache of verdicts: what is taken from it is what the code would find, and nothing else is taken."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from first_found import of_registered
from places import ROOT

from fedtheory import claims
from verify import check
from verify.base import own, uses
from verify.cli import saving
from verify.results import digests as code
from verify.results import files

#: Claims of three papers, which are quickly tested.
QUICK = ("fedopt/svrg/eq-5", "fedadmm/example-5.1", "feddcd/table-2", "locodl/eq-13", "baseline/dcgd")
#: An audit whose checks take no time; the claims that are checked are printed.
_PROGRAM = """
import sys, types
from verify.cli import main
from verify.evidence.record import Evidence
from verify.base.verdict import Verdict

def check(claim, seed=0, budget="quick", known=None, carried=None):
    print("checked", claim.id, file=sys.stderr)
    return Evidence(claim, Verdict.SUPPORTED, 0.5, ("search",), 7)

checking = types.ModuleType("verify.checking")
checking.check, checking.check_arguments = check, lambda seed, budget: None
sys.modules["verify.checking"] = checking
sys.exit(main(["audit", *sys.argv[1:], "--jobs", "1", "--out", "out"]))
"""
#: Two modules of papers, of which neither uses the other, by what begins the ids of claims that stand there.
_HOMES = {"fedadmm": "fedtheory/papers/fedadmm/waiting.py", "fedopt": "fedtheory/papers/fedopt/dane.py"}


def _command(at: Path, *names: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(at), "FEDTHEORY_CACHE": str(at / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *names], cwd=at, env=environment, stderr=subprocess.PIPE, text=True
    )


def _audit(at: Path, *names: str) -> list[str]:
    """The claims that an audit by the packages in a directory had to check, in the order of the registry."""
    process = _command(at, *names)
    _, told = process.communicate()
    assert process.returncode == 0, told
    # What follows from others is checked after them.
    order = {claim.id: place for place, claim in enumerate(claims.all())}
    return sorted(re.findall("^checked (.*)$", told, re.MULTILINE), key=order.__getitem__)


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """A copy of the packages that a test may change."""
    at = tmp_path_factory.mktemp("packages")
    for name in ("fedtheory", "verify"):
        shutil.copytree(ROOT / name, at / name, ignore=shutil.ignore_patterns("__pycache__"))
    return at


def _resting_on(path: str, names: tuple[str, ...]) -> list[str]:
    return [c.id for c in claims.select(names) if path in code.files(c)]


def test_what_a_change_reaches_is_tested_again_and_nothing_else(packages):
    papers = tuple(_HOMES)
    every = [c.id for c in claims.select(papers)]
    assert _audit(packages, *papers) == every
    for paper, path in _HOMES.items():
        resting = _resting_on(path, papers)
        assert 0 < len(resting) < 80 and all(id.startswith(paper) for id in resting)
        _change(packages / path)
    assert _audit(packages, *papers) == [id for path in _HOMES.values() for id in _resting_on(path, papers)]
    _change(packages / "verify/search/hunting.py")
    assert _audit(packages, *papers) == every
    # What is the same again is known.
    for path in (*_HOMES.values(), "verify/search/hunting.py"):
        (packages / path).write_text((ROOT / path).read_text())
    assert _audit(packages, *papers) == []


def _change(path: Path) -> None:
    with path.open("a") as file:
        file.write("# changed\n")


def test_two_audits_at_once_share_a_cache(packages):
    both = [_command(packages, "baseline") for _ in range(2)]
    for process in both:
        _, told = process.communicate()
        assert process.returncode == 0 and "not a verdict" not in told, told
    assert _audit(packages, "baseline") == []


@pytest.mark.parametrize("id", QUICK[1:4])
def test_a_check_runs_no_file_that_its_digest_leaves_out(id):
    """The functions that a check calls are recorded: those of papers are of files that the digest has."""
    claim = claims.select([id])[0]
    check(claim)  # What is loaded now, others load as well.
    ran: set[str] = set()

    def record(frame, event, argument):
        if event == "call":
            ran.add(frame.f_code.co_filename)

    sys.setprofile(record)
    try:
        check(claim)
    finally:
        sys.setprofile(None)
    papers = {Path(p).relative_to(ROOT).as_posix() for p in ran if str(ROOT / "fedtheory" / "papers") in p}
    assert papers <= code.files(claim)


def test_the_files_that_look_other_claims_up_are_known():
    """The digest has which claims there are, and of what kind, and not what they say: nobody else may ask."""
    looks = re.compile(r"\bclaims\.(all|get|of_paper|select)\(|\bplugins\.(every|get)\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("fedtheory", "verify")
        for path in (ROOT / package).rglob("*.py")
        if looks.search(path.read_text())
    }
    # Ids and kinds of claims, or the claim itself by its id.
    asking = {
        "verify/results/digests.py",
        "verify/evidence/record.py",
        "verify/comparisons/samplers.py",
        "verify/search/hunting.py",
    }
    asking |= {"verify/checking.py", "verify/evidence/references.py"}
    # The id under which multipliers of the same step are stored, which are checked in any case.
    asking |= {"verify/multipliers/contraction.py"}
    # The claims from which one follows, whose files are its own, or which are about the same setting.
    asking |= {"verify/methods/derivation.py", "verify/derivation/potentials.py", "verify/methods/limits.py"}
    # Loaded for commands, and not for a check.
    commands = {
        "verify/cli/commands.py",
        "verify/tightness/measure.py",
        "verify/conformance/references.py",
        "verify/cli/auditing.py",
        "verify/export/latex_why.py",
        "verify/export/commands.py",
        "verify/export/found.py",
        "fedtheory/claims.py",
    }
    commands |= {"verify/report/atlas/cards.py", "verify/audit/__init__.py", "fedtheory/tables/__init__.py"}
    commands |= {"verify/experiments/running.py", "verify/report/experiments.py"}
    # Figures of papers, which claims on experiments name; those rest on their files.
    asking |= {"verify/experiments/figures.py"}
    commands |= {"verify/results/__init__.py", "verify/cli/listing.py", "verify/cli/carry.py", "verify/report/why.py"}
    commands |= {"verify/cli/own_files.py", "verify/cli/tightening.py", "verify/repair/of_paper.py"}
    commands |= {"verify/report/statement.py", "verify/report/terminal.py", "verify/report/letters.py"}
    commands |= {"verify/export/latex.py"}
    # What is given is among the files on which a claim rests.
    asking |= {"verify/conditions.py"}
    papers = ("baseline/rates", "locodl/tables", "feddcd/table")
    tables = {f"fedtheory/papers/{name}.py" for name in papers}
    assert found == asking | commands | tables
    for path in tables:
        assert {p for p in code._imports(path) if "/fedadmm/" in p}


def test_a_claim_rests_on_the_files_of_those_that_it_follows_from(monkeypatch):
    claim = claims.get("fedopt/eq-7")
    home = "fedtheory/papers/fedadmm/differences.py"
    assert home not in code.files(claim)
    following = replace(claim, follows=("fedadmm/lemma-C.2/c",))
    monkeypatch.setitem(claims._registry(), claim.id, following)
    monkeypatch.setitem(claims.of_paper(claim.paper), claim.id, following)
    assert home in code.files(following)


def test_claims_on_experiments_alone_rest_on_what_was_seen():
    seen = "fedtheory/papers/fedadmm/reruns/seen.json"
    assert seen in code.files(claims.get("fedadmm/figure-2"))
    others = ("fedadmm/lemma-C.2/c", "locodl/figures-1-3", "locodl/theorem-3.1/one-step")
    assert not any(seen in code.files(claims.get(id)) for id in others)
    assert not any("/reruns/" in path for path in code.files(claims.get("locodl/theorem-3.1/one-step")))


def test_only_claims_of_papers_have_a_digest():
    claim = claims.get("locodl/theorem-3.1/one-step")
    assert code.of(claim) == code.of(claims.get(claim.id)) != code.of(claims.get("fedopt/svrg/eq-5"))
    with pytest.raises(ValueError, match="belongs to no paper"):
        code.of(claim.variant(requires=()))
    with pytest.raises(ValueError, match="belongs to no paper"):
        code.of(own.load(ROOT / "examples" / "heavy_ball.py")[0])


def test_a_package_that_changes_while_it_runs_leaves_nothing(tmp_path, monkeypatch):
    found = of_registered("feddcd/lemma-B.8/rate")
    told: list[str] = []
    kept = saving.Verdicts(tmp_path / "verdicts", 0, "quick", told.append)
    monkeypatch.setattr(code, "stamp", lambda: (0, ()))
    kept.store(found)
    assert found.claim.id in kept.entries and not kept.saved and not (tmp_path / "verdicts").exists()
    monkeypatch.setattr(code, "stamp", lambda: (2**80, ()))
    assert not told
    later = saving.Verdicts(tmp_path / "verdicts", 0, "quick", told.append)
    assert later.directory is None and "changed after it was loaded" in told[0] and later.read([found.claim]) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("refuted", "proved"),
        lambda text: text.replace('"margin": ', '"margin": 1'),
        lambda text: text.replace('"key": "', '"key": "0'),
        lambda text: "[" * 100_000,
        lambda text: "null",
        lambda text: json.dumps({**json.loads(text), "sum": 1}),
        lambda text: text.replace("quick", "\x00") + "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_a_verdict_that_was_damaged_is_found_again(tmp_path, damage):
    found = of_registered("feddcd/lemma-B.8/rate")
    told: list[str] = []
    kept = saving.Verdicts(tmp_path / "verdicts", 0, "quick", told.append)
    kept.store(found)
    (path,) = (tmp_path / "verdicts").iterdir()
    changed = damage(path.read_text())
    assert changed != path.read_text()
    path.write_text(changed)
    assert kept.read([found.claim]) == [] and len(told) == 1
    assert told[0].endswith(f": {found.claim.id} is tested again") and "\n" not in told[0]
    kept.store(found)
    assert len(kept.read([found.claim])) == 1 and len(told) == 1


def test_a_verdict_under_another_name_is_not_believed(tmp_path):
    found = of_registered("feddcd/lemma-B.8/rate")
    told: list[str] = []
    quick, full = (saving.Verdicts(tmp_path, 0, budget, told.append) for budget in ("quick", "full"))
    quick.store(found)
    full.store(found)
    first, second = sorted(tmp_path.iterdir())
    first.write_bytes(second.read_bytes())
    assert len(quick.read([found.claim])) + len(full.read([found.claim])) == 1 and len(told) == 1


def test_what_was_used_least_recently_goes_first(tmp_path):
    for number in range(4):
        files.save(tmp_path / f"{number}.json", "x" * 100)
        os.utime(tmp_path / f"{number}.json", (number, number))
    size = (tmp_path / "0.json").stat().st_size
    files.trim(tmp_path, 4 * size)
    assert len(list(tmp_path.iterdir())) == 4
    assert files.load(tmp_path / "0.json") == "x" * 100
    files.trim(tmp_path, 2 * size)
    assert {p.name for p in tmp_path.iterdir()} == {"0.json", "3.json"}
    files.trim(tmp_path / "nowhere")


def test_where_the_cache_is(monkeypatch):
    monkeypatch.setenv("FEDTHEORY_CACHE", "/a")
    assert files.directory() == Path("/a")
    monkeypatch.delenv("FEDTHEORY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert files.directory() == Path("/b/fedtheory")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert files.directory() == Path.home() / ".cache" / "fedtheory"


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nRATE = np.loadtxt('rates.csv')",
        "from numpy import random",
        "import numpy\nRATE = numpy.load('rates')",
        "import numpy as np\nother = np\nRATE = other.load('rates')",
        "RATE = open('rates').read()",
        "read = getattr(__builtins__, 'open')",
        "from pathlib import Path",
        "import time",
        "import scipy.io",
        "from fedtheory.data import load",
        "import fedtheory as ft\nRATE = ft.data.load('rates')",
        "import fedtheory.classes\nRATE = fedtheory.data.load('rates')",
        "import fedtheory as ft\nother = ft\nRATE = other.data.load('rates')",
        "from fedtheory import *",
        "from fedtheory.papers.feddcd import reruns",
        "from fedtheory.papers.feddcd.reruns.networks import draw",
        "from fedtheory.experiments import Figure",
        "from fedtheory.plugins import files",
        "from fedtheory import claims as known\nRATE = known.plugins.files('paper')",
        "from fedtheory.algorithms.base import Path",
        "from fedtheory.numbers.rational import np as numbers",
        "import importlib",
        "from operator import attrgetter",
        "import dataclasses\nRATE = dataclasses.sys.modules['os'].environ",
        "from sympy.core import cache\nRATE = cache.import_module('os').environ",
        "from numpy import linalg\nRATE = linalg._linalg.sys",
        "RATE = (lambda: 0).__globals__['rates']",
    ],
)
def test_a_paper_that_may_read_more_than_its_own_files_has_no_digest(text, tmp_path):
    assert _used_by(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "from paper.one import ft\nRATE = ft.data",
        "from .one import ft as other\nRATE = other.data",
        "from . import one\nRATE = one.ft.data",
        "import fedtheory.classes as ft\nfrom paper.one import *\nRATE = ft.data",
        "from paper.one import np as other\nRATE = other.load('rates')",
        "from paper import one\nRATE = one.np.load('rates')",
    ],
)
def test_modules_are_followed_from_one_file_of_a_paper_to_another(text, tmp_path):
    files = {"one.py": "import fedtheory as ft\nimport numpy as np\n", "two.py": text}
    for name, written in files.items():
        (tmp_path / name).write_text(written)
    assert uses.beyond({name: tmp_path / name for name in files}, "paper")
    assert not uses.beyond({"one.py": tmp_path / "one.py"}, "paper")


def test_what_is_compiled_may_do_anything(tmp_path):
    assert uses.beyond({"fast.so": tmp_path / "fast.so"}, "paper") == {"fast.so"}


def test_a_paper_that_computes_with_numbers_has_one(tmp_path):
    text = """
import functools
from fractions import Fraction
import numpy as np
import sympy
import fedtheory as ft
from fedtheory import algorithms, claims
from fedtheory.compressors import contractive
from fedtheory.numbers.symbols import kappa
from fedtheory.plugins import Paper
from fedtheory.tables import Column, Table
from paper.method import step
RATE, METHOD = ft.E, algorithms.base.Algorithm
class Rate:
    def __init__(self, value):
        if not isinstance(value, Fraction):
            raise ValueError(__name__)
        self.value = np.linalg.norm(np.sqrt(np.asarray([value, 1.0])))
"""
    assert not _used_by(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "def rate(id, *, input=1):\n    return [id, input]",
        "def rate(k):\n    hash = k + 1\n    return [hash for _ in (1, 2)]",
        "def rate(vars):\n    class Rate:\n        k = vars\n    return lambda: vars",
        "RATE = [id + 1 for id in (1, 2)]",
    ],
)
def test_a_name_of_a_function_s_own_is_not_what_is_built_in(text, tmp_path):
    assert not _used_by(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "def rate(k):\n    return id(k)",
        "def rate(open):\n    return open\ndef other(k):\n    return open(k)",
        "def rate(k, at=open('rates')):\n    return at",
        "class Rate:\n    if False:\n        open = 1\n    k = open('rates')",
        "if False:\n    open = 1\nRATE = open('rates')",
        "def rate(k):\n    global open\n    return open(k)",
        "def rate(input):\n    return [open(k) for k in input]",
    ],
)
def test_what_is_built_in_is_seen_beside_a_function_s_own(text, tmp_path):
    assert _used_by(text, tmp_path)


def _used_by(text, tmp_path):
    (tmp_path / "paper.py").write_text(text)
    return uses.beyond({"paper.py": tmp_path / "paper.py"}, "paper")


def test_this_package_imports_nothing_whose_changes_its_digests_do_not_have():
    ours = {"fedtheory", "verify"}
    screens = {"rich", "jinja2", "markupsafe", "latex2mathml", "matplotlib", "cycler", "pytest"}
    # PEPit poses models of its own, and mcp speaks with agents, by the types of pydantic; no claim rests on them.
    others = {"sklearn", "flint", "z3", "numba", "joblib", "distributed", "threadpoolctl", "PEPit", "mcp", "pydantic"}
    found = set()
    for path in code._files().values():
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add(node.module.partition(".")[0])
    assert found <= ours | screens | others | sys.stdlib_module_names | set(code.PACKAGES)
