"""Of many planted errors, those that the fast subset looks for: some of every sort, the same on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Hashable
from typing import Any

import pytest
from places import ROOT

from fedtheory.claims import Claim

#: The names of tests that the fast subset leaves out by themselves, as pytest shows their parameters.
_LONG = {line.partition("[")[2][:-1] for line in (ROOT / "tests/long.txt").read_text(encoding="utf-8").splitlines()}


def first_of_each(names: Collection[Any], *sorts: Callable[[Any], Hashable]) -> list[Any]:
    """The names that are the first of some sort, in an order by their checksums; those that take long come last.

    ``sorts``: each tells of what sort a name is, in one respect. Names are strings, or tuples of several parameters.
    """
    kept: dict[Hashable, Any] = {}
    for name in sorted(names, key=lambda name: (name in _LONG, zlib.crc32(str(name).encode()))):
        for respect, sort in enumerate(sorts):
            kept.setdefault((respect, sort(name)), name)
    chosen = set(kept.values())
    return [name for name in names if name in chosen]


def in_turn(names: Collection[Any], *sorts: Callable[[Any], Hashable]) -> list[Any]:
    """All names as parameters; those that are not the first of some sort, or take long, are slow."""
    quick = set(first_of_each(names, *sorts)) - _LONG
    return [
        pytest.param(*(name if isinstance(name, tuple) else (name,)), marks=() if name in quick else pytest.mark.slow)
        for name in names
    ]


def of_claim(claim: Claim) -> Hashable:
    """The claim in which an error is planted, and the parts of it that are changed."""
    return claim.id, claim.changes


def of_kind(claim: Claim) -> Hashable:
    """The kind of statement in which an error is planted, and the parts of it that are changed."""
    return claim.statement.kind, claim.changes
