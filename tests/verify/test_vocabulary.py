"""Retired words, counted by folder: the numbers may only shrink (docs/glossary.md says what to write instead)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import fedtheory
import verify

ROOT = Path(fedtheory.__file__).parents[1]
#: Words of code and prose alike; as parts of names too.
WORDS = {
    "told": re.compile(r"(?<![a-zA-Z])told(?![a-z])"),
    "said": re.compile(r"(?<![a-zA-Z])said(?![a-z])"),
    "speak of": re.compile(r"\bspeaks? of\b"),
    "spoken": re.compile(r"(?<![a-zA-Z])spoken(?![a-z])"),
    "is no": re.compile(r"(?<!there )\bis no\b(?! (?:longer|more)\b)", re.IGNORECASE),
}
#: Names; in prose numbers fall, and something is done once.
NAMES = re.compile(r"(^|_)(fall|falls|numberless|untrue)(_|$)|^(Fall|Often|Once|_?Told)$")
BEGINS = re.compile(r"(What|Whether)\b")
#: How often each stands in a folder at most; no more than 0 where nothing is listed.
BUDGET: dict[str, dict[str, int]] = {
    "fedtheory/papers/fedadmm": {"names": 9},
    "fedtheory/papers/feddcd": {"said": 2},
    "fedtheory/papers/locodl": {"is no": 1, "said": 1},
    "verify": {"speak of": 1},
    "verify/evidence": {"said": 4},
    "verify/methods": {"said": 1},
    "verify/multipliers": {"is no": 1},
}


def folder(file: Path) -> str:
    """The folder of a module for which words are counted: ``verify/export``, or ``verify`` for modules outside one."""
    return file.relative_to(ROOT).parent.as_posix()


def modules() -> Iterator[Path]:
    for package in (fedtheory, verify):
        yield from sorted(Path(str(package.__file__)).parent.rglob("*.py"))


def retired(text: str) -> Counter[str]:
    """How often each retired word stands in the source text of a module."""
    found = Counter({word: len(pattern.findall(text)) for word, pattern in WORDS.items()})
    # Most modules have neither, which is seen without parsing them.
    if any(NAMES.search(word) for word in set(re.findall(r"\w+", text))):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            found["names"] += token.type == tokenize.NAME and bool(NAMES.search(token.string))
    if re.search(r"[\"']\s*(What|Whether)\b", text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found["What, Whether"] += bool(BEGINS.match(ast.get_docstring(node) or ""))
    return found


def test_planted_words_are_counted():
    text = (
        '"""What is told."""\nuntrue = told_apart = 1\ndef fall():\n    """Whether x is no number; there is no y."""\n'
    )
    assert retired(text) == {
        "told": 2,
        "said": 0,
        "speak of": 0,
        "spoken": 0,
        "is no": 1,
        "names": 2,
        "What, Whether": 2,
    }


@pytest.mark.parametrize("text", ["the rounds fall with rho", "# it is no longer there", "retold = installed = 1"])
def test_other_words_are_left_alone(text):
    assert not +retired(text if "=" in text or "#" in text else f'x = "{text}"')


def test_retired_words_only_become_fewer():
    found: dict[str, Counter[str]] = {}
    for file in modules():
        found.setdefault(folder(file), Counter()).update(retired(file.read_text(encoding="utf-8")))
    more = [
        f"{name}: {word!r} stands {count} times, {BUDGET.get(name, {}).get(word, 0)} are allowed"
        for name, words in found.items()
        for word, count in words.items()
        if count > BUDGET.get(name, {}).get(word, 0)
    ]
    assert not more, "\n".join(["see docs/glossary.md for what to write instead:", *more])
