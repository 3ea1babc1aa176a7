"""Execute every notebook, or those that are named, and store it with its outputs: the same code gives the same file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of its cells; ``CellExecutionError`` where one fails."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # A cell that hangs ends; one that raises ends this with its traceback.
    resources = {"metadata": {"path": str(HERE.parent)}}
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources=resources, record_timing=False).execute()
    return clean(notebook)


def clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what differs from machine to machine: versions, times and what a library warns of."""
    notebook.metadata = nbformat.from_dict({"kernelspec": _KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type != "code":
            continue
        cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
        for output in cell.outputs:
            output.pop("metadata", None)
            if output.output_type in ("display_data", "execute_result"):
                output.metadata = nbformat.from_dict({})
                output.data = nbformat.from_dict(_told(output.data))
    return notebook


def _told(data: nbformat.NotebookNode) -> dict[str, str]:
    """A figure or a table as it is seen: what stands for it where it cannot be shown holds an address in memory."""
    shown = {kind: value for kind, value in data.items() if kind != "text/plain"}
    return shown or dict(data)


def main(names: list[str]) -> None:
    """Store the notebooks of these names, or all."""
    for path in sorted(HERE.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        nbformat.write(execute(path), path)
        print(path.name, f"{path.stat().st_size // 1024} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
