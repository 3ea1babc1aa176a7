"""Certificates on which several limits rest, made once in a process for as long as its code stays as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.verdict import Verdict
from verify.evidence import certificates
from verify.pep import posing

#: Packages whose functions a certificate may reach.
_PACKAGES = ("fedtheory", "verify")
#: The functions with which what is remembered was found, by where they stand, and their code.
_found_with: dict[tuple[str, ...], tuple[Any, Any]] = {}


def uncertified(claim: Claim, recipe: Recipe) -> str:
    """Why a claim is not certified at the constants and draws of a recipe; empty if it is.

    ``ValueError`` where the worst case over the class exceeds it.
    """
    return _why(claim, _Place(recipe))


def refresh() -> None:
    """Forget what was found with functions that others have taken the place of, or whose code was changed."""
    now = {place: (function, getattr(function, "__code__", None)) for place, function in _functions()}
    # What is loaded later adds functions, and changes none.
    if any(place in now and now[place] != found for place, found in _found_with.items()):
        _why.cache_clear()
        _found_with.clear()
    _found_with.update(now)


def _functions() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The functions of modules and of their classes, by their places."""
    for module, loaded in list(sys.modules.items()):
        if module.partition(".")[0] in _PACKAGES:
            for name, value in list(vars(loaded).items()):
                if isinstance(value, FunctionType):
                    yield (module, name), value
                elif isinstance(value, type):
                    for part, member in list(vars(value).items()):
                        if isinstance(member, FunctionType | property | staticmethod | classmethod):
                            yield (module, name, part), member


@dataclass(frozen=True, eq=False)
class _Place:
    """A recipe as a key."""

    recipe: Recipe

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and self.recipe == other.recipe

    def __hash__(self) -> int:
        return hash(repr(self.recipe))


@lru_cache(maxsize=4096)
def _why(claim: Claim, place: _Place) -> str:
    recipe = place.recipe
    try:
        if not claim.statement.bounding:
            posing.check_coordinates(claim, claim.instances.build(recipe, True))
            held = certificates.formal(claim, "all states", recipe)
            return "" if held is not None else "it does not hold in all states"
        found, _ = certificates.certified(claim, recipe)
    except (ValueError, ArithmeticError) as error:
        return str(error)
    if found.verdict is Verdict.REFUTED:
        raise ValueError(f"{claim.id} is exceeded over the class")
    return "" if found.verdict is Verdict.CERTIFIED else found.note or str(found.verdict)
