"""Digests of the code and the environment on which a verdict rests.

A verdict found by other code is worthless, so a digest includes too much rather than too little. It covers whole files
rather than functions: a statement holds functions, which can reach everything that their modules reach.

The digest of a paper's claim covers all of this package outside the papers; the modules of papers that this part names;
the modules in which the claim is stated, with everything they import; the records of the papers; and the list of other
claims, since the error level of the samplers is shared among them. Code that may look modules up at run time is assumed
to depend on every paper. The digest of an installed paper's claim covers all of this and the whole package that holds
the paper; it exists only if that package provably reads no file, clock or environment. Claims that files alone do not
determine, such as claims of a user's file and variants, have no digest.
"""

from __future__ import annotations

import ast
import hashlib
import json
import operator
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from verify.base import uses

#: Packages, besides this one, on whose version a verdict depends; some of them only where they are installed.
PACKAGES = (
    "clarabel",
    "cvxpy",
    "gmpy2",
    "mpmath",
    "numpy",
    "python-flint",
    "scikit-learn",
    "scipy",
    "sympy",
    "z3-solver",
)
#: The folders of this package and of the theory.
_ROOT = Path(__file__).resolve().parents[2]
_PAPERS, _CHECKER = "fedtheory/papers/", "verify/"
#: Results that the package carries, which no check reads, and which say of what code they are.
_CARRIED = _ROOT / "verify" / "results" / "audit.json"
#: Modules that look papers up by name, for commands and for the registry, and not for the check of a claim.
_REGISTRIES = frozenset({"claims", "plugins", "tables"})
_LOOKING_UP = frozenset(
    {
        *(f"fedtheory/{name}.py" for name in ("claims", "plugins", "tables/__init__")),
        *(
            f"verify/{name}.py"
            for name in (
                "agent/server",
                "base/uses",
                "cli/__init__",
                "cli/auditing",
                "cli/commands",
                "cli/listing",
                "conditions",
                "experiments/running",
                "export/commands",
                "export/latex",
                "export/latex_why",
                "report/atlas/cards",
                "report/experiments",
                "report/letters",
                "report/statement",
                "report/terminal",
                "results/__init__",
                "results/digests",
                "experiments/figures",
                "tightness/measure",
            )
        ),
    }
)
#: The packages of papers that run their experiments, and hold what was seen: claims on experiments alone rest on them.
_RERUNS = "/reruns/"
_SEEN = f"{_RERUNS}seen.json"
#: Names with which code finds modules that it does not import.
_DYNAMIC = frozenset({"import_module", "__import__", "exec", "eval"})
#: Names of which every module that uses papers, or their discovery, contains one.
_FINDING = re.compile(r"papers|\bplugins\.|\.plugins\b")


def everything() -> str:
    """A digest of all code of this package and of what it computes with."""
    return _everything()


def of(claim: Claim) -> str:
    """A digest of what the verdict of a registered claim rests on. ``ValueError`` for any other claim."""
    return _digest([*_surroundings(), _others(), *(f"{path} {_sums()[path]}" for path in sorted(files(claim)))])


def files(claim: Claim) -> frozenset[str]:
    """The files on which the verdict of a registered claim rests. ``ValueError`` for any other claim."""
    if not any(claim is known for known in claims.all()):
        raise ValueError(f"{claim.id} belongs to no paper, so the code that it depends on is unknown")
    place = plugins.installed().get(claim.paper)
    if place is not None:
        if foreign := _foreign(place):
            raise ValueError(f"{claim.id} rests on {min(foreign)}, whose changes cannot be detected")
        return frozenset(_sums())
    homes = _homes()
    premises = claims.behind(claim.id, lambda id: (*claims.get(id).follows, *claims.get(id).given))
    return _outside() | _seen(claim) | _closure(path for id, _ in premises for path in homes.get(id) or _all_papers())


def theory(claim: Claim) -> str:
    """A digest of what a registered claim says: of those files on which its verdict rests that are no part of the
    checker, without interpreter and packages. ``ValueError`` for any other claim."""
    return _digest(f"{path} {_sums()[path]}" for path in sorted(files(claim)) if not path.startswith(_CHECKER))


def checker() -> str:
    """A digest of the code that checks claims, without interpreter and packages."""
    return _digest(f"{path} {known}" for path, known in _sums().items() if path.startswith(_CHECKER))


def stamp() -> tuple[int, tuple[str, ...]]:
    """The time of the last change to a file of this package, in nanoseconds, and the files."""
    paths = _files().values()
    # Not the time of modification, which copies preserve.
    return max(path.stat().st_ctime_ns for path in paths), tuple(map(str, paths))


def _files() -> dict[str, Path]:
    """The files of this package and of those that hold installed papers, by their paths where packages are found."""
    found = {**plugins.inside(_ROOT / "fedtheory"), **plugins.inside(_ROOT / "verify")}
    for place in plugins.installed().values():
        found |= plugins.files(place)
    return {name: path for name, path in sorted(found.items()) if path != _CARRIED}


@cache
def _foreign(place: str) -> frozenset[str]:
    """Return what an installed paper's package uses beyond files that have digests."""
    return uses.beyond(plugins.files(place), place.partition(":")[0].partition(".")[0])


@cache
def _sums() -> dict[str, str]:
    """The digest of each file of this package and of installed papers, by its path."""
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in _files().items()}


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _everything() -> str:
    # Outcomes are written while other experiments are still running, and are not code.
    code = (f"{path} {known}" for path, known in _sums().items() if not path.endswith(_SEEN))
    return _digest([*_surroundings(), *code])


@cache
def _surroundings() -> tuple[str, ...]:
    """Return the environment: the interpreter, the platform, the versions of packages."""
    found = [sys.version, str(sys.flags.optimize), platform.system(), platform.machine()]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return tuple(found)


@cache
def _others() -> str:
    """Return the list of claims as text, for digests."""
    return json.dumps([(claim.id, type(claim.statement).__name__) for claim in claims.all()])


@cache
def _outside() -> frozenset[str]:
    """All files of this package outside the papers, the papers' data and records, and the modules of papers that any of
    the files outside imports."""
    ours = [path for path in _sums() if path.startswith(("fedtheory/", "verify/")) and _RERUNS not in path]
    records = {path for path in ours if path.startswith(_PAPERS) and path.endswith("/__init__.py")}
    found = {path for path in ours if not path.startswith(_PAPERS) or not path.endswith(".py")}
    named = {module for path in found - _LOOKING_UP if path.endswith(".py") for module in _imports(path)}
    return frozenset(found | records | _closure(named))


def _seen(claim: Claim) -> set[str]:
    """The files that run the figures of a claim, and those that hold what was seen of them."""
    papers = {figure.split("/")[0] for figure in getattr(claim.statement, "figures", ())}
    return {path for path in _sums() for paper in papers if path.startswith(f"{_PAPERS}{paper}{_RERUNS}")}


@cache
def _homes() -> dict[str, set[str]]:
    """The modules of papers in which the registered claims stand, by the claims' ids."""
    registered = {claim.id: claim for claim in claims.all()}
    found: dict[str, set[str]] = {}
    for name, module in sorted(sys.modules.items()):
        path = _path(module) if name.startswith("fedtheory.papers.") else None
        if path is not None and not path.endswith("/__init__.py"):
            for value in vars(module).values():
                for claim in value if isinstance(value, tuple | list) else (value,):
                    if isinstance(claim, Claim) and _same(claim, registered.get(claim.id)):
                        found.setdefault(claim.id, set()).add(path)
    return found


def _same(claim: Claim, registered: Claim | None) -> bool:
    """Return True if the registered claim equals this one, apart from remarks on its print and proof, which no check
    reads.
    """
    if registered is None:
        return False
    unread = ("uses", "flaw", "root", "origin", "formula", "literal_of")
    parts = [part.name for part in fields(Claim) if part.name not in unread]
    pairs = [(getattr(claim, part), getattr(registered, part)) for part in parts]
    # A tuple is copied with the claim, what is in it is not.
    return all(
        len(one) == len(other) and all(map(operator.is_, one, other)) if isinstance(one, tuple) else one is other
        for one, other in pairs
    )


def _path(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve().relative_to(_ROOT).as_posix()


@cache
def _all_papers() -> set[str]:
    return {path for path in _sums() if path.startswith(_PAPERS) and path.endswith(".py")}


def _closure(paths: Iterable[str]) -> set[str]:
    """Modules of papers, with those that they import."""
    found: set[str] = set()
    left = list(paths)
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left.extend(_imports(path))
    return found


@cache
def _imports(path: str) -> frozenset[str]:
    """The modules of papers that a file may come to use. The package of a paper, which gathers its modules, is one
    only where it is named itself."""
    text = (_ROOT / path).read_text(encoding="utf-8")
    if not path.startswith(_PAPERS) and not _FINDING.search(text):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # Relative imports are not used, and not followed.
            names = [f"{node.module}.{alias.name}" for alias in node.names] if not node.level else ["fedtheory.claims"]
        elif isinstance(node, ast.Name) and node.id in _DYNAMIC:
            names = ["fedtheory.claims"]
        for name in names:
            if _looks_up(name):
                return frozenset(_all_papers())
            found |= _modules(name) or _modules(name.rpartition(".")[0])
    return frozenset(found)


def _looks_up(name: str) -> bool:
    """Return True if the imported name can look up any claim of any paper."""
    package, _, rest = name.partition(".")
    module, _, thing = rest.partition(".")
    if (
        package != "fedtheory"
        or module not in _REGISTRIES
        or f"fedtheory/{module}/{thing.partition('.')[0]}.py" in _sums()
    ):
        return False
    return not thing or thing[0].islower()


def _modules(name: str) -> set[str]:
    """The file of a module of a paper, if there is one of this name."""
    path = name.replace(".", "/")
    return {file for file in (f"{path}.py", f"{path}/__init__.py") if file.startswith(_PAPERS) and file in _sums()}
