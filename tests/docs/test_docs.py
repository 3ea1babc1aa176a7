"""The documentation names what there is: methods, kinds of statement, pages, files that are linked."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules

import pytest
from places import ROOT

from fedtheory import algorithms, kinds
from fedtheory.kinds.base import Statement
from verify.methods import METHODS
from verify.report import experiments

PACKAGES = ("fedtheory", "verify")
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])


def links(text):
    """Files that a page links to."""
    found = re.findall(r"\]\(([^)#\s]+)", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL))
    # The pages of claims are made with the site, which fails where one is missing; the badge is where the code is kept.
    elsewhere = ("atlas/", "../../actions/")
    return [link for link in found if "://" not in link and not link.startswith(elsewhere)]


def test_every_method_has_its_line():
    rows = re.findall(r"(?m)^\| ([a-z ]+) \| ([^|]+) \|", (ROOT / "docs" / "methods.md").read_text())[1:]
    assert [(name, covers.partition(": [")[0]) for name, covers in rows] == [(m.name, m.covers) for m in METHODS]


def test_every_kind_of_statement_is_named():
    text = (ROOT / "docs" / "claims.md").read_text()
    for module in iter_modules(kinds.__path__):
        import_module(f"fedtheory.kinds.{module.name}")
    named = [kind.__name__ for kind in Statement.__subclasses__() if kind.__module__.startswith("fedtheory.")]
    assert [name for name in named if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert [link for link in links(page.read_text()) if not (page.parent / link).exists()] == []


def test_a_link_to_nothing_is_found():
    assert links("see [this](gone.md) and `[not](code.md)`") == ["gone.md"]


def test_every_page_stands_in_the_site():
    named = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE))
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if ROOT / "docs" in page.parents}
    # The table of all methods is made with the site.
    assert named == pages | {"api/methods.md"} | {
        f"notebooks/{path.stem}.md" for path in (ROOT / "notebooks").glob("*.ipynb")
    }


def test_folders_of_tests_are_folders_of_the_packages():
    found = {
        p.parent.relative_to(ROOT / "tests") for name in PACKAGES for p in (ROOT / "tests" / name).rglob("test_*.py")
    }
    # Bad input for all readers of files and arguments.
    assert sorted(str(folder) for folder in found if not (ROOT / folder).is_dir()) == ["verify/hostile"]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_what_is_listed_as_long_exists():
    lines = (ROOT / "tests" / "long.txt").read_text().splitlines()
    places = [re.fullmatch(r"([^:]+\.py)::(\w+)(\[.*\])?", line) for line in lines]
    assert lines == sorted(set(lines)) and all(places)
    assert [p[0] for p in places if f"def {p[2]}(" not in (ROOT / p[1]).read_text()] == []


def test_the_page_on_experiments_is_what_is_carried():
    # `fedtheory experiment --markdown > docs/experiments.md` writes it.
    assert (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8") == experiments.page()


def test_the_page_on_conformance_lists_the_parameters_of_every_algorithm():
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    for name in algorithms.names():
        fields = ", ".join(f"`{field}`" for field in algorithms.get(name).Params._fields)
        assert f"| `{name}` | {fields or 'none'} |" in page, name


@pytest.mark.parametrize("page", sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md")))
def test_no_stars_of_optima_are_read_as_italics(page):
    """Of two stars in a paragraph or a cell, as in x* and f*, the text between becomes italics, but for ``x\\*``."""
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    blocks = [
        cell for part in re.split(r"\n\s*\n|\n(?=\s*[-*|] )|\n(?=\|)", text) for cell in re.split(r"(?<!\\)\|", part)
    ]
    for block in blocks:
        plain = re.sub(r"`[^`]*`|\$[^$]*\$|\\\(.*?\\\)|\\\*|^\s*\* ", "", block, flags=re.M)
        left = re.sub(r"(?<![\w)'’])(\*{1,2})(?=[^\s*])[^*]*?(?<=[^\s*])\1", "", plain)
        assert re.search(r"\*(?=[^\s*])[^*]+(?<=[^\s*])\*", left) is None, block
