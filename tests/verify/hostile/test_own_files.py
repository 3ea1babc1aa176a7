"""Files of theorems of one's own, which are Python and are run: what fails does so in a sentence with its line."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hostile import BYTES, bounded, damaged, drawn, sentence, unharmed
from hypothesis import given
from hypothesis import strategies as st
from places import EXAMPLES

from fedtheory import claims
from verify.base import own
from verify.cli import main

SOURCES = [(EXAMPLES / f"{name}.py").read_text() for name in ("heavy_ball", "proximal_point", "own_compressor")]
CONSTANTS: list[Any] = [0, -1, 1.5, "", "x", None, (), 10**30, float("nan"), True]


class _Changed(ast.NodeTransformer):
    """The source with one of its constants, names or arguments changed."""

    def __init__(self, at: int, new: Any) -> None:
        self.left, self.new = at, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.JoinedStr):
            # Its parts are no expressions of their own.
            return node
        self.left -= 1
        if self.left == 0 and isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            return ast.copy_location(ast.Constant(self.new), node)
        return super().generic_visit(node)


@st.composite
def sources(draw: Any) -> bytes:
    """A file that is almost an example: an expression that is another, a statement that is gone, or bytes changed.

    Nothing in the examples writes, loops or waits, and no change can make it.
    """
    source = draw(st.sampled_from(SOURCES))
    how = draw(st.sampled_from(["expression", "expression", "statement", "bytes"]))
    if how == "bytes":
        return draw(damaged(source.encode()))
    tree = ast.parse(source)
    if how == "statement":
        del tree.body[draw(st.integers(0, len(tree.body) - 1))]
    else:
        tree = _Changed(draw(st.integers(1, 400)), draw(st.sampled_from(CONSTANTS))).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)).encode()


@given(sources())
@drawn(0.3)
def test_own_files(tmp_path, monkeypatch, content):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(claims, "_own", {})
    # What Python says of code that looks odd to it goes to stderr.
    warnings.simplefilter("ignore")
    path = tmp_path / "mine.py"
    path.write_bytes(content)
    read(path)


def read(path: Path) -> None:
    with unharmed(path.parent):
        try:
            found = own.load(path)
        except ValueError as error:
            assert "mine.py" in sentence(error) or "registered twice" in sentence(error)
        else:
            assert found and all(isinstance(claim, claims.Claim) for claim in found)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.exit(0)\n",
        "raise SystemExit('bye')\n",
        "CLAIMS = " + "(" * 5000,
        "CLAIMS = " + "-" * 100_000 + "1",
        "def f(): return f()\nf()\n",
        f"bytes({4 * BYTES})\n",
        "\0",
        "# coding: nothing\n",
        "class B:\n def __repr__(self): return 1 / 0\nCLAIMS = (B(),)\n",
        "raise ValueError('\\x1b[2J\\n' * 50)\n",
    ],
)
def test_what_a_file_does_to_end_the_command_is_told_in_a_line(tmp_path, capfd, monkeypatch, text):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "mine.py"
    path.write_text(text)
    with bounded():
        status = main(["check", str(path)])
    out, err = capfd.readouterr()
    assert (status, out) == (2, "") and err.count("\n") == 1 and "mine.py" in err and "\x1b" not in err
