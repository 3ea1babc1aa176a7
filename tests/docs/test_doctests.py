"""What docstrings show is so."""

from __future__ import annotations

import doctest
import re
from importlib import import_module

import pytest
from places import ROOT

SHOWN = sorted(
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
    for package in ("fedtheory", "verify")
    for path in (ROOT / package).rglob("*.py")
    if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
)


@pytest.mark.parametrize("name", SHOWN)
def test_a_docstring_shows_what_is_so(name):
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
