"""No modules import each other in a loop, nor do folders: at the top, inside functions or for annotations alone."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from places import ROOT


@cache
def _imports(text: str) -> list[ast.Import | ast.ImportFrom]:
    """The imports in a module's text, anywhere in it."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]


def _imported(path: Path, known: set[str]) -> set[str]:
    """Those of the known modules that a file imports anywhere."""
    found = set()
    for node in _imports(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert not node.level, f"{path}, line {node.lineno}: a relative import"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            # What is no module is a name in one.
            found |= {name if name in known else str(node.module) for name in names}
    return found & known


#: The folders of each package, each after those that it may import.
FOLDERS = {
    "fedtheory": (
        "numbers",
        "randomness",
        "compressors",
        "problems",
        "instances",
        "learning",
        "algorithms",
        "classes",
        "settings",
        "kinds",
        "sampling",
        "papers",
        "",
        "tables",
        "papers.fedadmm.reruns",
        "papers.fedadmm",
        "papers.feddcd.reruns",
        "papers.feddcd",
        "papers.fedopt.reruns",
        "papers.fedopt",
        "papers.locodl.reruns",
        "papers.locodl",
        "papers.baseline",
    ),
    "verify": (
        "base",
        "exact",
        "reading",
        "as_read",
        "statistics",
        "comparisons",
        "pep",
        "proofs",
        "step_models",
        "multipliers",
        "evidence",
        "results",
        "search",
        "derivation",
        "methods",
        "data",
        "entries",
        "",
        "audit",
        "tightness",
        "best",
        "experiments",
        "mutation",
        "conformance",
        "report",
        "report.atlas",
        "repair",
        "export",
        "pepit",
        "cli",
        "agent",
    ),
}


def _graph(root: Path, package: str) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The modules of a package that each imports, and the folder of each."""
    paths = {path: path.relative_to(root).with_suffix("") for path in sorted((root / package).rglob("*.py"))}
    names = {path: ".".join(at.parts).removesuffix(".__init__") for path, at in paths.items()}
    graph = {name: _imported(path, set(names.values())) for path, name in names.items()}
    return graph, {names[path]: ".".join(at.parent.parts[1:]) for path, at in paths.items()}


def _loop(root: Path, package: str) -> list[str]:
    """Modules of a package that import each other, each the one before it, the first once more at the end; or none."""
    graph, _ = _graph(root, package)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("package", ["fedtheory", "verify"])
def test_no_modules_import_each_other_in_a_loop(package):
    assert _loop(ROOT, package) == []


def _upward(root: Path, package: str, folders: tuple[str, ...]) -> list[tuple[str, str]]:
    """The imports of a folder that does not come before the importing one."""
    graph, folder = _graph(root, package)
    return sorted(
        (module, imported)
        for module, all_imported in graph.items()
        # What runs the command is imported by nothing.
        if not module.endswith("__main__")
        for imported in all_imported
        # What stands in no folder and imports nothing is below all.
        if (folder[imported] or graph[imported]) and folders.index(folder[imported]) > folders.index(folder[module])
    )


@pytest.mark.parametrize("package", ["fedtheory", "verify"])
def test_folders_import_only_those_before_them(package):
    assert _upward(ROOT, package, FOLDERS[package]) == []


#: What hangs on the trunk, beside classes of functions that only their list names: no module elsewhere imports these.
#: Papers are found as folders, and methods, commands, models of steps, data and lengths as letters, and outcomes of
#: figures by name.
LEAVES = (
    *("fedtheory.papers", "fedtheory.tables", "fedtheory.learning", "fedtheory.data", "fedtheory.experiments"),
    *("fedtheory.pytest_plugin", "fedtheory.sections", "verify.audit", "verify.checker", "verify.results"),
    *("verify.conformance", "verify.experiments", "verify.repair", "verify.mutation", "verify.export", "verify.pepit"),
    *(
        "verify.best",
        "verify.tightness",
        "verify.report",
        "verify.cli",
        "verify.agent",
        "verify.step_models",
        "verify.data",
        "verify.entries",
        "verify.as_read.ordered",
        "verify.proofs",
    ),
    # What only such methods rest on: moments of compressors entry by entry, and orders of growth.
    *("verify.reading.coordinate", "verify.reading.selecting", "verify.exact.bounds", "verify.exact.writing"),
    # What commands read files of users with, a family of compressors that settings of users name, and functions that
    # only classes name which are leaves themselves.
    *("verify.base.own", "fedtheory.compressors.permutation", "fedtheory.problems.growth"),
)
#: Methods of checking that only their list names, and that no other method rests on: they compare figures with stored
#: runs, samplers with their distributions, and floats with fractions; look once more where draws do not, at what is not
#: proved; or prove by a leaf.
_LISTED = tuple(
    f"verify.methods.{name}"
    for name in (
        "edges",
        "entry_by_entry",
        "experiment",
        "grid_runs",
        "growth",
        "identities",
        "late_rounds",
        "moments",
        "number_types",
        "sequential_tests",
        "squares",
        "trajectories",
    )
)
#: What belongs to neither: methods, and what starts a command.
_APART = ("fedtheory.algorithms", "fedtheory.__main__", "verify.__main__")
#: Lines of the trunk, all counted, at most: docs/architecture.md says what belongs to it. It may only shrink.
TRUNK = 57_650
#: The package alone, of which the folders are the papers.
_FOUND_AS_FOLDERS = ("fedtheory.plugins", "fedtheory.papers")


def _leaf(name: str) -> bool:
    return name in _LISTED or name in _listed_classes() or f"{name}.".startswith(tuple(f"{leaf}." for leaf in LEAVES))


@cache
def _listed_classes() -> frozenset[str]:
    """Modules of classes of functions that only their list names, as algorithms are: one file each, read by itself."""
    names = _names()
    known, folder = set(names.values()), "fedtheory.classes."
    listed = {name for name in known if name.startswith(folder)}
    modules = {name: path for path, name in names.items()}
    defined = {
        node.name: name
        for name in listed
        for node in ast.parse(modules[name].read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    used = {}
    for name, path in modules.items():
        if not name.startswith((*LEAVES, *_APART)) and name != folder[:-1]:
            imports = _imports(path.read_text(encoding="utf-8"))
            words = {alias.name for node in imports for alias in node.names} & set(defined)
            used[name] = {defined[word] for word in words} | _imported(path, known)
    while taken := {of for name, found in used.items() if name not in listed for of in found & listed}:
        listed -= taken
    return frozenset(listed)


@cache
def _names() -> dict[Path, str]:
    """All modules of both packages, by their files."""
    modules = [path for package in FOLDERS for path in sorted((ROOT / package).rglob("*.py"))]
    return {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in modules}


def test_the_trunk_imports_no_leaf():
    names = _names()
    known = set(names.values())
    assert all(leaf in known for leaf in LEAVES)
    found = {(names[path], name) for path in _trunk() for name in _imported(path, known) if _leaf(name)}
    lists = {"fedtheory.classes": _listed_classes(), "verify.methods": _LISTED}
    assert found == {_FOUND_AS_FOLDERS, *((where, name) for where, names in lists.items() for name in names)}
    assert {f"fedtheory.classes.{name}" for name in ("operators", "relative", "restricted_secant")} < _listed_classes()


def _trunk() -> list[Path]:
    """The modules of the trunk: neither leaves nor methods nor what starts a command."""
    return [path for path, name in _names().items() if not _leaf(name) and not name.startswith(_APART)]


def test_the_trunk_does_not_grow():
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in _trunk()) <= TRUNK


def _described() -> set[str]:
    """The modules that describe an algorithm."""
    folder = ROOT / "fedtheory" / "algorithms"
    assigned = re.compile(r"^algorithm = ", re.MULTILINE)
    return {path.stem for path in folder.glob("*.py") if assigned.search(path.read_text(encoding="utf-8"))}


def _speaks_of(text: str, methods: set[str]) -> set[str]:
    """The modules of algorithms that a text names, examples for the reader apart."""
    plain = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">>>"))
    return set(re.findall(r"\w+", plain)) & methods


def test_the_trunk_names_no_algorithm():
    methods, names = _described(), _names()
    assert {"rbcd", "inexact_feddcd", "gradskip", "compressed_scaffnew", "diana"} <= methods
    known = {f"fedtheory.algorithms.{method}" for method in methods}
    trunk = _trunk()
    assert not [
        (names[path], name) for path in trunk for name in _imported(path, known | {"fedtheory.algorithms"}) & known
    ]
    checker = {names[p]: p.read_text(encoding="utf-8") for p in trunk if names[p].startswith("verify.")}
    assert {name: found for name, text in checker.items() if (found := _speaks_of(text, methods))} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "from fedtheory.algorithms import base, rbcd",
        "from fedtheory.algorithms.rbcd import multiplier",
        "import fedtheory.algorithms.rbcd as blocks",
        "# as rbcd.multiplier does",
        "KNOWN = {'rbcd': 1}",
    ],
)
def test_a_planted_name_of_an_algorithm_is_found(planted):
    assert _speaks_of(planted, _described()) == {"rbcd"}
    assert _speaks_of(">>> rbcd\nrbcd_of, blocks", _described()) == set()


def _named(path: Path) -> set[str]:
    """All modules, and names in modules, that a file imports anywhere."""
    found = set()
    for node in _imports(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize(("package", "unknown"), [("verify", "fedtheory.papers."), ("fedtheory", "verify.")])
def test_the_evidence_knows_no_paper_and_no_paper_the_evidence(package, unknown):
    # What runs the command is no part of the theory.
    paths = [path for path in sorted((ROOT / package).rglob("*.py")) if path.name != "__main__.py"]
    assert paths and not [path for path in paths for name in _named(path) if f"{name}.".startswith(unknown)]


@pytest.mark.parametrize("planted", ["from verify.high import thing", "def late():\n    import verify.high.at"])
def test_a_planted_import_upwards_is_found(planted, tmp_path):
    for name in ("low", "high"):
        (tmp_path / "verify" / name).mkdir(parents=True)
        (tmp_path / "verify" / name / "__init__.py").write_text("")
    (tmp_path / "verify" / "high" / "at.py").write_text("from verify import low\n")
    assert _upward(tmp_path, "verify", ("low", "high")) == []
    (tmp_path / "verify" / "low" / "at.py").write_text(planted)
    assert [module for module, _ in _upward(tmp_path, "verify", ("low", "high"))] == ["verify.low.at"]


@pytest.mark.parametrize(
    "planted",
    [
        "from verify.low import thing",
        "import verify.low",
        "def late():\n    from verify import low",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from verify.low import Thing",
        "from verify import between",
        "from verify.between import name",
    ],
)
def test_a_planted_loop_is_found(planted, tmp_path):
    package = tmp_path / "verify"
    (package / "between").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "between" / "__init__.py").write_text("from verify.low import thing as name\n")
    (package / "low.py").write_text("from verify.lowest import thing\n")
    (package / "lowest.py").write_text("thing = 1\n")
    assert _loop(tmp_path, "verify") == []
    (package / "lowest.py").write_text(planted)
    assert {"verify.low", "verify.lowest"} <= set(_loop(tmp_path, "verify"))
