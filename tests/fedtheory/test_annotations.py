"""``Any`` in annotations of the theory, counted: its share may only shrink."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fedtheory

#: The share of annotations that contain ``Any``, at most.
SHARE = 0.0785


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """The annotations of arguments, of results and of variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            found = [argument.annotation for argument in arguments if argument is not None]
            yield from (annotation for annotation in (*found, node.returns) if annotation is not None)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation


def anything(annotation: ast.expr) -> bool:
    """True if an annotation contains ``Any``."""
    return any(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(annotation))


def test_planted_annotations_are_counted():
    text = "x: Any = 1\ndef f(a: int, *b: list[Any], c, d: object) -> dict[str, int]: ...\n"
    assert [anything(found) for found in annotations(ast.parse(text))] == [True, False, False, True, False]


def test_the_share_of_any_only_shrinks():
    files = Path(fedtheory.__file__).parent.rglob("*.py")
    found = [anything(a) for file in files for a in annotations(ast.parse(file.read_text(encoding="utf-8")))]
    assert sum(found) <= SHARE * len(found), f"{sum(found)} of {len(found)} annotations contain Any"
