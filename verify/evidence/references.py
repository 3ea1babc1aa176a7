"""References in the files of counterexamples and certificates: a claim, its changes, and an instance.

Everything is bounded before anything is computed, and texts are read by :mod:`verify.evidence.parsing`, never run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.plain import quoted
from verify.evidence.parsing import expression, fraction, written

T = TypeVar("T")

#: Parts of a statement that a counterexample's file can carry as text.
STORABLE = ("factor", "bound", "omega", "left", "right", "bits", "constant", "initial", "middle")
#: Values of a recipe, and how deep it nests.
VALUES, NESTED = 5000, 6
#: The largest whole number that a file has as one, and less 0 the smallest: letters beyond are written as texts.
COUNTS = 10**12


def changes(claim: Claim) -> dict[str, str | None]:
    """Return the changed parts of a claim as text, None for a part that a file cannot store."""
    return {name: str(getattr(claim.statement, name)) if name in STORABLE else None for name in claim.changes}


def gist(claim: Claim) -> str:
    """Return a claim's gist in one line, followed by its changes if it is a variant."""
    changed = ", ".join(f"{name} = {text}" for name, text in changes(claim).items())
    return f"{claim.gist}; changed to {changed}" if changed else claim.gist


def read_field(data: Mapping[str, Any], name: str, reader: Callable[[Any], T]) -> T:
    """Apply a reader to a field. A ``ValueError`` of the reader is raised again with the field's name."""
    try:
        return reader(data[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def changed_claim(data: Mapping[str, Any]) -> Claim:
    """The claim that the fields "claim" and "changes" name."""
    original = read_field(data, "claim", lambda value: _known(value.rstrip("*")))
    claim = read_field(data, "changes", lambda value: _changed(original, value))
    if data["claim"] != claim.id:
        raise ValueError(f"claim: {claim.id!r} was expected with these changes, got {quoted(data['claim'])}")
    return claim


def _known(id: str) -> Claim:
    try:
        return claims.get(id)
    except ValueError as error:
        raise ValueError(f"{error} (for a claim of your own, give its file: --own FILE)") from error


def _changed(claim: Claim, changes: Mapping[str, str | None]) -> Claim:
    lost = [name for name, text in changes.items() if text is None]
    if lost:
        raise ValueError(
            f"{claim.id} was changed in {quoted(', '.join(lost))}, which a file cannot hold: replay it in Python"
        )
    alien = [name for name in changes if name not in STORABLE]
    if alien:
        raise ValueError(f"one of {', '.join(STORABLE)} was expected, got {quoted(alien[0])}")
    if not changes:
        return claim
    symbols = {str(s): s for s in _symbols(claim)}
    return claim.variant(**{name: expression(text, symbols) for name, text in changes.items()})


def _symbols(claim: Claim) -> set[sympy.Symbol]:
    found: set[sympy.Symbol] = set()
    for name in (*STORABLE, "d", "k"):
        part = getattr(claim.statement, name, None)
        if isinstance(part, sympy.Basic):
            found |= part.free_symbols
    return found


def encode(value: Any) -> Any:
    """A recipe as JSON; :func:`recipe` gives it back."""
    if isinstance(value, Mapping):
        return {key: encode(v) for key, v in value.items()}
    if isinstance(value, tuple):
        return [encode(v) for v in value]
    counted = isinstance(value, int) and abs(value) <= COUNTS
    return value if counted or isinstance(value, str) else {"ratio": written(value)}


def recipe(value: Mapping[str, Any]) -> Recipe:
    """The recipe that :func:`encode` wrote; ``ValueError`` for one of too many values, or nested too deeply."""
    left = [VALUES]
    return {name: _decode(part, 1, left) for name, part in value.items()}


def _decode(value: Any, depth: int, left: list[int]) -> Any:
    """Decode a value of a recipe, nested ``depth`` levels deep; ``left[0]`` counts how many more values it
    may contain.
    """
    left[0] -= 1
    if left[0] < 0 or depth > NESTED:
        raise ValueError(f"at most {VALUES} values, nested at most {NESTED} deep, were expected")
    if isinstance(value, dict):
        # A letter may be called ratio too.
        if not isinstance(value.get("ratio"), str):
            return {name: _decode(part, depth + 1, left) for name, part in value.items()}
        if len(value) > 1:
            raise ValueError(f"a ratio alone was expected, got {quoted(value)}")
        found = fraction(value["ratio"])
        return int(found) if found.denominator == 1 and abs(found) > COUNTS else found
    return tuple(_decode(part, depth + 1, left) for part in value) if isinstance(value, list) else value
