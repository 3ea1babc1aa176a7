"""Every notebook runs from beginning to end, as it is committed: without outputs."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient
from places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_is_kept_without_outputs(path, monkeypatch):
    # The kernel is another process: on one core, and with the project importable wherever the tests started.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    # A cell that raises ends this with its traceback; the time limit only ends a cell that hangs.
    client = NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}})
    client.execute()
    assert any(cell.outputs for cell in cells)
