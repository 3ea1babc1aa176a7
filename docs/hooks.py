"""The site has the atlas of all claims, proofs that the package carries, the notebooks with their outputs, and a table
of all methods; notes are set with their formulas; docstrings name each other by roles, as :func:`check`, of which a
page shows the name alone.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from verify import results
from verify.agent import pages
from verify.evidence import formats
from verify.report.atlas import mathml, site

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import shown

#: The proofs that the package carries, as pages link to them, and where the site has them.
_PROOFS, _THERE = "../verify/results/proofs/", "proofs/"
#: The pages of all claims, and the errata.
_ATLAS = "atlas/"
#: The executed notebooks.
_NOTEBOOKS = "../notebooks/"


def on_config(config: Any, **_: Any) -> Any:
    """Of pages that are published there are versions."""
    if config["extra"]["published"]:
        config["extra"]["version"] = {"provider": "mike"}
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """The files of the site, the proofs and the notebooks among them."""
    docs = Path(config["docs_dir"])
    for path in sorted((docs / _PROOFS).glob("*.tex")):
        files.append(File.generated(config, _THERE + path.name, abs_src_path=str(path.resolve())))
    for path in sorted((docs / _NOTEBOOKS).glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        page = "\n\n".join((*_colab(path.name, config), *(part for cell in cells for part in _shown(cell))))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    files.append(File.generated(config, METHODS, content="\n".join(methods())))
    # Claims keep their address from version to version.
    published = config["extra"]["published"]
    address = published and f"{published.rstrip('/')}/latest/{_ATLAS}"
    at = site.Place(address, "../index.html", config["repo_url"] or "")
    for path, text in site.pages(formats.read_audit(results.FILE), at):
        files.append(File.generated(config, _ATLAS + path, content=text))
    return files


#: The page of all methods.
METHODS = "api/methods.md"


def methods() -> Iterator[str]:
    """A table of every method: what it is, and the letters of its parameters, its state and a draw, with their types
    and meaning."""
    # The table has the room of a table of contents.
    yield "---\nhide: [toc]\n---\n\n# All methods\n"
    yield "`fedtheory.algorithms.get(NAME)` is each of them: `Params` and `State` have these letters, in this order.\n"
    yield "| method | parameters | state | draw |"
    yield "| --- | --- | --- | --- |"
    for m in pages.methods():
        letters = " | ".join(map(_cell, (m.params, m.state, m.draw)))
        yield f"| **`{m.name}`**<br>{_cell(m.what)} | {letters} |"


def _cell(text: str) -> str:
    # Of a type with a remark the remark is enough.
    text = re.sub(r"Annotated\[[^\]]*, '([^']*)'\]", r"\1", " ".join(text.split()))
    return shown(text).replace("|", "&#124;")


def _colab(name: str, config: Any) -> Iterator[str]:
    """A link that opens the notebook which installs what it needs, where it is known in which repository it is."""
    host, _, repository = (config["repo_url"] or "").rstrip("/").partition("github.com/")
    if host and repository and name == "own_theorem.ipynb":
        yield f"[Open in Colab](https://colab.research.google.com/github/{repository}/blob/main/notebooks/{name})"


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
    markdown = re.sub(
        r"\$\$([^$]+)\$\$", lambda found: f"\n\n<div>{mathml.formula(found[1].strip())}</div>\n\n", markdown
    )
    # A line that began with the formula itself would be a block of its own.
    return re.sub(r"\$([^$]+)\$", lambda found: f"<span>{mathml.inline(found[1])}</span>", markdown)


def on_page_markdown(markdown: str, page: Any = None, **_: Any) -> str:
    """The text of a page that links to what the site has; of a note with its formulas."""
    markdown = markdown.replace(_PROOFS, _THERE)
    if page is not None and page.file.src_uri.startswith("notes/"):
        markdown = noted(markdown)
    return re.sub(rf"\]\({re.escape(_NOTEBOOKS)}(\w+)\.ipynb\)", r"](notebooks/\1.md)", markdown)


#: What is Markdown in a note: code, links, bold type, and how a line begins; in a table the bars too.
_MARKUP = r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\*\*|^#+ |^\s*[-+] |^\s*\d+\. "
_LINE, _ROW = re.compile(f"({_MARKUP})"), re.compile(rf"({_MARKUP}|(?<!\\)\||-{{3,}})")


def noted(markdown: str) -> str:
    """A note in which letters, signs and scripts are set."""
    found, code = [], False
    for line in markdown.split("\n"):
        code ^= line.startswith("```")
        if code or line.startswith("```"):
            found.append(line)
            continue
        parts = (_ROW if line.startswith("|") else _LINE).split(line)
        found.append("".join(part if k % 2 else _typeset(part) for k, part in enumerate(parts)))
    return "\n".join(found)


def _typeset(text: str) -> str:
    plain = re.sub(r"\\([*_|\\<>])", r"\1", html.unescape(text))
    return str(mathml.typeset(plain)).replace("*", "&#42;").replace("_", "&#95;").replace("|", "&#124;")


def on_page_content(html: str, **_: Any) -> str:
    """The page without the words of roles before names."""
    return re.sub(r":(?:func|class|meth|mod|data|attr):<code>", "<code>", html)
