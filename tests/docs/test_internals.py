"""The session of the page on the internals is what Python prints."""

from __future__ import annotations

import doctest
import re

from places import ROOT

PAGE = ROOT / "docs" / "internals.md"


def session(page):
    """The blocks of a page that are Python sessions, as one."""
    return "\n".join(re.findall(r"(?ms)^```pycon\n(.*?)^```$", page))


def failures(text, report=lambda line: None):
    """How many examples of a session print something else."""
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    return doctest.DocTestRunner().run(test, out=report).failed


def test_the_page_shows_what_python_prints(monkeypatch):
    monkeypatch.chdir(ROOT)
    lines = []
    assert failures(session(PAGE.read_text(encoding="utf-8")), lines.append) == 0, "".join(lines)


def test_another_output_is_found():
    text = session("```pycon\n>>> 1 + 1\n3\n```\n\n```python\n>>> 1 / 0\n```\n")
    assert failures(text) == 1
