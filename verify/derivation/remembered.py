"""Certificates on which several limits rest, made once in a process for as long as its code stays as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.verdict import Verdict
from verify.evidence import certificates
from verify.evidence.certificates import ClassCertificate
from verify.evidence.derivations import Part
from verify.pep import certifying, posing
from verify.pep.prover import DoesNotHold

#: Packages whose functions a certificate may reach.
_PACKAGES = ("fedtheory", "verify")
#: How what is no bound is certified.
FORMALLY = "all states"
#: The functions with which what is remembered was found, by where they stand, and their code.
_found_with: dict[tuple[str, ...], tuple[Any, Any]] = {}


class Tried(NamedTuple):
    """Why a claim is not certified at the constants and draws of a recipe, empty if it is, and then the certificate."""

    why: str
    certificate: ClassCertificate | None = None


def tried(claim: Claim, recipe: Recipe) -> Tried:
    """What is found of a claim at the constants and draws of a recipe.

    ``ValueError`` where the worst case over the class exceeds it.
    """
    return _tried(claim, _Place(recipe))


def checked(parts: Sequence[Part]) -> Callable[[Claim, Recipe], Tried]:
    """What stored certificates show, in place of :func:`tried`: each is checked, and nothing is solved.

    ``ValueError`` where one does not hold.
    """
    known = {(part.name, _Place(part.recipe)): part for part in parts}

    def look(claim: Claim, recipe: Recipe) -> Tried:
        part = known.get((claim.id, _Place(recipe)))
        if part is None:
            return Tried("no certificate is stored")
        _check(claim, _Place(recipe), _Stored(part))
        return Tried("")

    return look


def refresh() -> None:
    """Forget what was found with functions that others have taken the place of, or whose code was changed."""
    now = {place: (function, getattr(function, "__code__", None)) for place, function in _functions()}
    # What is loaded later adds functions, and changes none.
    if any(place in now and now[place] != found for place, found in _found_with.items()):
        _tried.cache_clear()
        _check.cache_clear()
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


@dataclass(frozen=True, eq=False)
class _Stored:
    """A stored certificate as a key: two are the same where all that they say is."""

    part: Part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stored) and self.part == other.part

    def __hash__(self) -> int:
        return hash((self.part.name, repr(self.part.recipe)))


@lru_cache(maxsize=4096)
def _tried(claim: Claim, place: _Place) -> Tried:
    recipe = place.recipe
    try:
        if not claim.statement.bounding:
            posing.check_read(claim, claim.instances.build(recipe, True))
            held = certificates.formal(claim, FORMALLY, recipe)
            return Tried("", held) if held is not None else Tried("it does not hold in all states")
        found, certificate = certificates.certified(claim, recipe)
    except (ValueError, ArithmeticError) as error:
        return Tried(str(error))
    if found.verdict is Verdict.REFUTED:
        raise ValueError(f"{claim.id} is exceeded over the class")
    return Tried("" if certificate is not None else found.note or str(found.verdict), certificate)


@lru_cache(maxsize=4096)
def _check(claim: Claim, place: _Place, stored: _Stored) -> None:
    if not claim.statement.bounding:
        posing.check_read(claim, claim.instances.build(place.recipe, True))
    wanted = certifying.WORST_CASE if claim.statement.bounding else FORMALLY
    if stored.part.method != wanted:
        raise DoesNotHold(f"a certificate of the kind {wanted!r} is wanted of {claim.id}")
    stored.part.check(claim)
