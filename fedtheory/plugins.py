"""Papers, found as plugins are: those of this package are the folders of ``fedtheory.papers``, others are installed.

A package of the user's adds its claims to every command by an entry point, ``mine = "my_package:PAPER"`` in the
group ``fedtheory.papers``, the name being the paper's. Nothing here loads a paper before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from fedtheory import naming, papers

#: The group of entry points by which papers outside this package are found.
GROUP = "fedtheory.papers"


@dataclass(frozen=True)
class Run:
    """A run of a method on data, with the parameters of a theorem.

    ``name`` of the method; ``unit`` of its steps; ``work``: multiplications in a step; ``affordable``: as many may be
    spent on all steps and seeds; ``setup``: the problem and the parameters, a line each.
    """

    name: str
    unit: str
    problem: Any
    params: Any
    work: float
    affordable: float
    setup: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """A paper, as the package that holds it describes it.

    Args:
        id: What the ids of its claims begin with.
        title: Its authors and title, in a line.
        claims: Its claims, in order.
        glossary: Its letters, by the common ones of :mod:`fedtheory.numbers.symbols`.
        tables: The module that builds each of its tables (``build(name)``), by the table's name.
        measured: Bounds on expectations that are measured on data, and the names of their left sides, in words and in
            LaTeX, by the claims' ids.
        run: The module of the run on which they are measured, ``run(A, b)``, a :class:`Run` on data split over clients.
        experiments: The package whose ``FIGURES`` are its figures and tables, as :class:`fedtheory.experiments.Figure`
            has them.
        notation: How the paper writes numbers and vectors, "g_i^k", and their formulas in its letters.
        letters: The meanings of its letters, by what the ids of claims begin with; the longest beginning decides.
        order: Papers are listed by it, then by id.
        version: The version of its text that the claims are about, and its date.

    Raises:
        ValueError: If the id has a "/", the title or the version is not a text, or a claim belongs to another paper.

    Examples:
        >>> import fedtheory as ft
        >>> x = ft.letters("x")
        >>> statement = ft.Inequality(2 * x, 1 + x**2)
        >>> claim = ft.Claim("sketch/square", setting=ft.Setting(letters=(x,)), statement=statement)
        >>> ft.Paper("sketch", "A. Author: A sketch", claims=(claim,)).id
        'sketch'
    """

    id: str
    title: str
    claims: tuple[Any, ...] = ()
    glossary: Mapping[Any, Any] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    run: str = ""
    experiments: str = ""
    notation: Mapping[str, str] = field(default_factory=dict)
    letters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    order: int = 10
    version: str = ""

    def __post_init__(self) -> None:
        naming.check_id(self.id)
        if "/" in self.id or not isinstance(self.title, str) or not self.title:
            raise ValueError(f"the paper {self.id} must have a title, and an id without '/'")
        if not isinstance(self.version, str):
            raise ValueError(f"the version of the paper {self.id} must be a text, got {self.version!r:.100}")
        for claim in self.claims:
            if not str(getattr(claim, "id", "")).startswith(f"{self.id}/"):
                raise ValueError(f"ids of claims of {self.id} must begin with {self.id}/, got {claim!r:.100}")
        known = {claim.id for claim in self.claims}
        for claim in self.claims:
            for id in (claim.repairs, claim.literal_of, *claim.uses, *claim.follows, *claim.given):
                if id is not None and id.startswith(f"{self.id}/") and id not in known:
                    raise ValueError(f"{claim.id} names {id}, and the paper {self.id} has no claim of this id")


def own() -> tuple[str, ...]:
    """The ids of the papers in this package."""
    return tuple(module.name for module in iter_modules(papers.__path__) if module.ispkg)


@cache
def installed() -> Mapping[str, str]:
    """The places of the records of other papers, as "module:name", by the papers' ids."""
    found: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        if point.name in own() or found.setdefault(point.name, point.value) != point.value:
            raise ValueError(
                f"two installed packages register a paper named {point.name}, one of them at {point.value}"
            )
    return found


def files(place: str) -> dict[str, Path]:
    """The files of the package that holds an installed paper, by their paths from where the package is found."""
    spec = find_spec(place.partition(":")[0].partition(".")[0])
    if spec is None:
        raise ValueError(f"no package contains the paper at {place}")
    # A package may lie in several folders, a module has one file.
    folders = spec.submodule_search_locations or [str(spec.origin)]
    return {name: path for folder in folders for name, path in inside(Path(folder)).items()}


def inside(top: Path) -> dict[str, Path]:
    """The files of a package in this folder, or of a module that is this file, but for what is compiled."""
    paths = [top] if top.is_file() else sorted(_below(top))
    return {p.relative_to(top.parent).as_posix(): p for p in paths}


def _below(top: Path) -> Iterator[Path]:
    """The files in a folder, and in those that it links to, from which Python imports as well."""
    seen: set[str] = set()
    for folder, folders, names in os.walk(top, followlinks=True):
        # Links may lead in a circle.
        new = os.path.realpath(folder) not in seen and Path(folder).name != "__pycache__"
        seen.add(os.path.realpath(folder))
        folders[:] = folders if new else []
        yield from (Path(folder, name) for name in names if new and Path(folder, name).is_file())


def places() -> Mapping[str, str]:
    """The places of the records of all papers, as "module:name", by the papers' ids."""
    return {id: f"{papers.__name__}.{id}:PAPER" for id in own()} | dict(installed())


@cache
def get(id: str) -> Paper:
    """The paper of one of the ids in :func:`places`. Raise ``ValueError`` if it cannot be loaded or is not a paper."""
    return _loaded(id, places()[id])


@cache
def every() -> Mapping[str, Paper]:
    """All papers, in their order, by their ids. Raise ``ValueError`` if it cannot be loaded or is not a paper."""
    return {paper.id: paper for paper in sorted(map(get, places()), key=lambda paper: (paper.order, paper.id))}


def _loaded(id: str, place: str) -> Paper:
    module, _, name = place.partition(":")
    try:
        paper = getattr(import_module(module), name)
    except Exception as error:  # The package of a user may fail in any way.
        raise ValueError(f"the paper {id} at {place} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(paper, Paper) or paper.id != id:
        raise ValueError(f"{place} must be the fedtheory.Paper of id {id}, got {paper!r:.100}")
    return paper
