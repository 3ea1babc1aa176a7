"""The site has proofs that the package carries, and the notebooks with their outputs; and docstrings name each other
by roles, as :func:`check`, of which a page shows the name alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from verify.report.atlas import mathml

#: The proofs that the package carries, as pages link to them, and where the site has them.
_PROOFS, _THERE = "../verify/results/proofs/", "proofs/"
#: The executed notebooks.
_NOTEBOOKS = "../notebooks/"


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """The files of the site, the proofs and the notebooks among them."""
    docs = Path(config["docs_dir"])
    for path in sorted((docs / _PROOFS).glob("*.tex")):
        files.append(File.generated(config, _THERE + path.name, abs_src_path=str(path.resolve())))
    for path in sorted((docs / _NOTEBOOKS).glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        page = "\n\n".join(part for cell in cells for part in _shown(cell))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    return files


def _shown(cell: dict[str, Any]) -> Iterator[str]:
    """A cell of a notebook in Markdown, with what it printed and drew."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield _with_formulas(source)
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            yield f"![what the cell draws](data:image/png;base64,{''.join(data['image/png']).strip()})"
        elif "text/html" in data:
            yield "".join(data["text/html"])
        elif "text/markdown" in data:
            yield _with_formulas("".join(data["text/markdown"]))
        elif text := "".join(output.get("text", data.get("text/plain", ""))):
            yield f"```text\n{text.rstrip()}\n```"


def _with_formulas(markdown: str) -> str:
    # A line that began with the formula itself would be a block of its own.
    return re.sub(r"\$([^$]+)\$", lambda found: f"<span>{mathml.inline(found[1])}</span>", markdown)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page that links to what the site has."""
    markdown = markdown.replace(_PROOFS, _THERE)
    return re.sub(rf"\]\({re.escape(_NOTEBOOKS)}(\w+)\.ipynb\)", r"](notebooks/\1.md)", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """The page without the words of roles before names."""
    return re.sub(r":(?:func|class|meth|mod|data|attr):<code>", "<code>", html)
