"""Every public name documents its arguments, what it returns, and has an example; ``test_doctests.py`` runs these."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from enum import EnumType

import pytest
import sympy

import fedtheory
import verify
from fedtheory import algorithms, claims
from fedtheory.algorithms import base
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify import checker, conformance, pepit, results
from verify.audit import audit
from verify.base import own
from verify.export import found

#: Names that pages use beside those that the packages offer.
FURTHER = [
    algorithms.get,
    algorithms.names,
    base.run,
    claims.get,
    claims.register,
    Problem,
    diagonal,
    audit,
    checker.check,
    found.of_own,
    own.load,
    pepit.certify,
    results.shipped,
]
OFFERED = [getattr(package, name) for package in (fedtheory, verify, conformance) for name in package.__all__]
#: Letters are values: the page of their module describes them.
PUBLIC = [*(thing for thing in OFFERED if inspect.isclass(thing) or inspect.isfunction(thing)), *FURTHER]

_SECTION = re.compile(r"(?m)^(Args|Attributes|Returns|Raises|Examples):\n((?:(?:    .*)?\n?)*)")
_ENTRY = re.compile(r"(?m)^    \**(\w+): ")


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring, by their titles."""
    return {title: body for title, body in _SECTION.findall(text)}


def taken(thing: object) -> set[str]:
    """The names of the arguments that somebody may give, or of the fields that somebody may read."""
    if isinstance(thing, EnumType):
        return set(thing.__members__)
    if is_dataclass(thing):
        return {field.name for field in fields(thing)}
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return set()
    return set(inspect.signature(thing).parameters)


def missing(thing: object) -> list[str]:
    """The parts of its documentation that a name lacks."""
    parts = sections(inspect.getdoc(thing) or "")
    described = set(_ENTRY.findall(parts.get("Args", "") + parts.get("Attributes", "")))
    lacking = [f"the argument {name}" for name in sorted(taken(thing) - described)]
    # Smooth takes letters by their places too.
    lacking += [f"no argument {name}" for name in sorted(described - taken(thing) - {"letters"})]
    returns = inspect.isfunction(thing) and inspect.signature(thing).return_annotation not in (None, "None")
    lacking += ["Returns"] if returns and "Returns" not in parts else []
    return lacking + ([] if ">>> " in parts.get("Examples", "") else ["an example"])


@pytest.mark.parametrize("thing", PUBLIC, ids=lambda thing: f"{thing.__module__}.{thing.__qualname__}")
def test_a_public_name_is_documented(thing):
    assert missing(thing) == []


def test_what_is_missing_is_found():
    def half(x: float, y: float) -> float:
        """Return half of x.

        Args:
            x: A number.
            z: Another one.
        """
        return x / 2

    assert missing(half) == ["the argument y", "no argument z", "Returns", "an example"]


def test_letters_are_described_with_their_module():
    letters = [name for name in fedtheory.__all__ if isinstance(getattr(fedtheory, name), sympy.Symbol)]
    page = inspect.getdoc(inspect.getmodule(fedtheory.letters)) or ""
    assert letters and [name for name in letters if f"``{name}``" not in page] == []
