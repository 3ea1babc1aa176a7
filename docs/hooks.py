"""The site has proofs that the package carries; and docstrings name each other by roles, as :func:`check`, of which a
page shows the name alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

#: The proofs that the package carries, as pages link to them, and where the site has them.
_PROOFS, _THERE = "../verify/results/proofs/", "proofs/"


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """The files of the site, the proofs among them."""
    folder = Path(config["docs_dir"]) / _PROOFS
    for path in sorted(folder.glob("*.tex")):
        files.append(File.generated(config, _THERE + path.name, abs_src_path=str(path.resolve())))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page that links to what the site has."""
    return markdown.replace(_PROOFS, _THERE)


def on_page_content(html: str, **_: Any) -> str:
    """The page without the words of roles before names."""
    return re.sub(r":(?:func|class|meth|mod|data|attr):<code>", "<code>", html)
