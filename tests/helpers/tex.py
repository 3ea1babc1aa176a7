"""Whether a LaTeX file is well formed: by pdflatex where it is installed, else as far as its structure says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

#: What commands take that these packages bring.
BRINGS = {
    "amsmath": ("dfrac", "text", "begin{align", "begin{cases"),
    "amssymb": ("square", "mathbb", "varnothing"),
    "array": ("arraybackslash", "raggedright\\arraybackslash"),
    "booktabs": ("toprule", "midrule", "bottomrule", "addlinespace"),
    "graphicx": ("resizebox", "includegraphics"),
    "mathtools": ("coloneqq",),
}
PAPER = "\\documentclass[twocolumn]{{article}}\n{packages}\n\\begin{{document}}\n\\input{{part}}\n\\end{{document}}\n"


def packages(text: str) -> str:
    """The line that a paper needs, as the first line of the file says."""
    found = re.match(
        r"% A document by itself; in a paper: (\\usepackage\{[a-z,]+\}) and \\input of this file\.\n", text
    )
    assert found is not None, text[:100]
    return found[1]


def check(text: str, where: Path) -> None:
    """Fails unless the file is a document by itself, and part of a paper in two columns, and fits their pages."""
    loaded = packages(text)
    body = re.sub(r"(?<!\\)%.*", "", text)
    for package, commands in BRINGS.items():
        if any(f"\\{command}" in body for command in commands):
            assert package in loaded, package
    bare = re.sub(r"\\[{}]", "", body)
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", body):
        if name == "document":
            continue
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    inside = re.sub(r"\\\[.*?\\\]|\\\(.*?\\\)|(?<!\\)\$.*?(?<!\\)\$", "", bare.replace("\\\\", ""), flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[_^#$]", inside), re.search(r".{30}(?<!\\)[_^#$].{0,30}", inside, re.DOTALL)
    if shutil.which("pdflatex"):
        (where / "part.tex").write_text(text, encoding="utf-8")
        (where / "paper.tex").write_text(PAPER.format(packages=loaded), encoding="utf-8")
        for name in ("part", "paper"):
            command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
            assert subprocess.run(command, cwd=where, capture_output=True, timeout=120).returncode == 0, name
            log = (where / f"{name}.log").read_text(encoding="utf-8", errors="replace")
            assert not re.findall(r"Overfull.*|Float too large.*|.* multiply defined", log), name
