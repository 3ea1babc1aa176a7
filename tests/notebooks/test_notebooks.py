"""Every notebook runs from beginning to end, and is stored with the outputs of a run in which nothing failed."""

from __future__ import annotations

import ast
import importlib.util
import runpy
import sys
from types import ModuleType
from unittest.mock import patch

import matplotlib
import nbformat
import pytest
from places import ROOT

from verify import checking

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: Bytes that a stored notebook takes at most.
_LARGEST = 600_000
#: Imports of the first cell, and characters in a cell of a table, at most.
_IMPORTS, _WIDEST = 9, 500

_spec = importlib.util.spec_from_file_location("store", ROOT / "notebooks" / "store.py")
assert _spec is not None and _spec.loader is not None
store = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(store)


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def problems(notebook):
    """What is wrong with the stored outputs, in words."""
    cells = code_of(notebook)
    found = []
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        found.append("not executed from beginning to end")
    outputs = [output for cell in cells for output in cell.outputs]
    if not outputs:
        found.append("no outputs")
    if any(output.output_type == "error" for output in outputs):
        found.append("a cell failed")
    text = nbformat.writes(notebook)
    found += [f"holds {word}" for word in (str(ROOT), sys.prefix, "iopub", " object at 0x") if word in text]
    if sum(line.startswith(("import ", "from ")) for line in cells[0].source.split("\n")) > _IMPORTS:
        found.append("begins with many imports")
    if any("](#" in cell.source for cell in notebook.cells if cell.cell_type == "markdown"):
        found.append("a link to a heading, whose address differs from reader to reader")
    if any(
        len(line) > _WIDEST for output in outputs for line in output.get("data", {}).get("text/markdown", "").split("|")
    ):
        found.append("a cell of a table that nobody reads")
    for cell in cells:
        drawn = any("image/png" in output.get("data", {}) for output in cell.outputs)
        if drawn and "title" not in cell.source:
            found.append("a figure without a title")
    return found


def test_there_are_notebooks():
    names = {path.stem for path in NOTEBOOKS}
    assert names == {"conformance", "fedadmm", "feddcd", "fedopt", "locodl", "own_theorem", "tables"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_stored_with_its_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert problems(notebook) == []
    assert path.stat().st_size < _LARGEST


def test_what_is_wrong_with_a_stored_notebook_is_found():
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    first = code_of(notebook)[0]
    first.execution_count = None
    assert problems(notebook) == ["not executed from beginning to end"]
    first.execution_count = 1
    first.outputs = [nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])]
    assert problems(notebook) == ["a cell failed"]
    for cell in code_of(notebook):
        cell.outputs = []
    assert problems(notebook) == ["no outputs"]
    first.source = "import os\n" * 10 + first.source
    notebook.cells[0].source += "[below](#Below)"
    wide = {"text/markdown": f"| {'T=1: 0, ' * 100} |"}
    first.outputs = [nbformat.v4.new_output("execute_result", data=wide, execution_count=1)]
    assert [word.split()[0] for word in problems(notebook)] == ["begins", "a", "a"]


def names_of(notebook):
    """What the cells import, by the name they give it, and the attributes they take of what they imported."""
    cells = [node for cell in code_of(notebook) for node in ast.walk(ast.parse(cell.source))]
    imports = [node for node in cells if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {}
    exec(compile(ast.Module(imports, []), "imports", "exec"), imported)
    attributes = {
        (node.value.id, node.attr)
        for node in cells
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return imported, attributes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_names_of_a_notebook_exist(path):
    imported, attributes = names_of(nbformat.read(path, as_version=4))
    missing = [
        f"{name}.{attribute}"
        for name, attribute in attributes
        if isinstance(imported.get(name), ModuleType) and not hasattr(imported[name], attribute)
    ]
    assert imported
    assert missing == []


def test_the_code_of_the_shortest_notebook_runs(tmp_path):
    # As one file, without a kernel, and with searches that propose few instances.
    notebook = nbformat.read(ROOT / "notebooks" / "own_theorem.ipynb", as_version=4)
    file = tmp_path / "own_theorem.py"
    file.write_text("\n\n".join(cell.source for cell in code_of(notebook)), encoding="utf-8")
    with matplotlib.rc_context(), patch.dict(checking.BUDGETS, quick=40):
        found = runpy.run_path(str(file))
    assert found["false"].counterexample is not None
    matplotlib.pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path, monkeypatch):
    # The kernel is another process: on one core, and with the project importable wherever the tests started.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    assert problems(store.execute(path)) == []
