"""What files of counterexamples and of certificates share: written as JSON, read back without trust.

A file says which claim, which changes of it and which instance. Everything is bounded before anything is computed, and
texts are read by :mod:`verify.evidence.parsing`, never run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from verify.evidence.parsing import expression, fraction, written
from verify.plain import quoted

T = TypeVar("T")

#: Parts of a statement that a counterexample's file can carry as text.
STORABLE = ("factor", "bound", "omega", "left", "right", "bits", "constant", "initial", "middle")
#: Bytes of a file; values of a recipe, how deep it nests, its largest integer.
FILE, VALUES, NESTED, INTEGER = 4_000_000, 5000, 6, 10**12
#: Bytes of an audit's file.
AUDIT = 200_000_000
#: Characters of a text, and of the name of something.
WORDS, NAME = 10_000, 200
_WORD = re.compile(r"[^\W\d]\w{0,39}'?", re.ASCII)


def changes(claim: Claim) -> dict[str, str | None]:
    """What was changed in a claim, as text; None where a file cannot hold it."""
    return {name: str(getattr(claim.statement, name)) if name in STORABLE else None for name in claim.changes}


def gist(claim: Claim) -> str:
    """What a claim says, in a line; of a changed one also what was changed, which its file says and no paper."""
    changed = ", ".join(f"{name} = {text}" for name, text in changes(claim).items())
    return f"{claim.gist}; changed to {changed}" if changed else claim.gist


def read(path: Path, most: int = FILE) -> dict[str, Any] | None:
    """The object in a JSON file of at most so many bytes, None if it holds something else.

    ``ValueError`` of one sentence, with the file, when it cannot be read, is too long, nests too deeply, or is not
    JSON, which has no NaN and gives no field twice.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > most:
        raise ValueError(f"{path} has more than {most} bytes")
    try:
        data = json.loads(content.decode(), parse_constant=_constant, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    return data if isinstance(data, dict) else None


def whole(data: Mapping[str, Any], fields: Sequence[str], what: str) -> None:
    """``ValueError`` unless an object has these fields and no others."""
    missing = [name for name in fields if name not in data]
    unknown = [name for name in data if name not in fields]
    if missing or unknown:
        found = f"{', '.join(missing)} missing" if missing else f"unknown field {quoted(unknown[0])}"
        raise ValueError(f"this is not a stored {what}: {found}")


def read_field(data: Mapping[str, Any], name: str, reader: Callable[[Any], T]) -> T:
    """What a reader makes of a field; its ``ValueError`` names the field."""
    try:
        return reader(data[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def changed_claim(data: Mapping[str, Any]) -> Claim:
    """The claim that the fields "claim" and "changes" speak of."""
    original = read_field(data, "claim", lambda value: claims.get(words(value, NAME).rstrip("*")))
    claim = read_field(data, "changes", lambda value: _changed(original, value))
    if data["claim"] != claim.id:
        raise ValueError(f"claim: {claim.id!r} was expected with these changes, got {quoted(data['claim'])}")
    return claim


def _changed(claim: Claim, changes: Any) -> Claim:
    if not isinstance(changes, dict) or not all(text is None or isinstance(text, str) for text in changes.values()):
        raise ValueError(f"texts by name were expected, got {quoted(changes)}")
    lost = [name for name, text in changes.items() if text is None]
    if lost:
        named = ", ".join(words(name, NAME) for name in lost)
        raise ValueError(f"{claim.id} was changed in {named}, which a file cannot hold: replay it in Python")
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
    return value if isinstance(value, int | str) else {"ratio": written(value)}


def recipe(value: Any) -> Recipe:
    """The recipe that :func:`encode` wrote."""
    if not isinstance(value, dict):
        raise ValueError(f"values by name were expected, got {quoted(value)}")
    left = [VALUES]
    found: Recipe = _decode(value, 0, left)
    return found


def _decode(value: Any, depth: int, left: list[int]) -> Any:
    """What a recipe holds at some depth; ``left``: how many more values it may hold."""
    left[0] -= 1
    if left[0] < 0 or depth > NESTED:
        raise ValueError(f"at most {VALUES} values, nested at most {NESTED} deep, were expected")
    if isinstance(value, dict):
        if set(value) == {"ratio"}:
            return fraction(value["ratio"])
        strange = next((key for key in value if not _WORD.fullmatch(key)), None)
        if strange is not None:
            raise ValueError(f"a letter or a word was expected as a name, got {quoted(strange)}")
        return {key: _decode(v, depth + 1, left) for key, v in value.items()}
    if isinstance(value, list):
        return tuple(_decode(v, depth + 1, left) for v in value)
    if isinstance(value, str):
        if not _WORD.fullmatch(value):
            raise ValueError(f"a word was expected, got {quoted(value)}")
        return value
    return integer(value, -INTEGER, INTEGER)


def integer(value: Any, least: int, most: int) -> int:
    """An integer in a range."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"an integer from {least} to {most} was expected, got {quoted(value)}")
    return value


def one_of(value: Any, known: tuple[int, ...]) -> int:
    """One of these integers."""
    if not isinstance(value, int) or isinstance(value, bool) or value not in known:
        raise ValueError(f"{' or '.join(map(str, known))} was expected, got {quoted(value)}")
    return value


def words(value: Any, most: int = WORDS) -> str:
    """A text of at most so many characters."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"a text of at most {most} characters was expected, got {quoted(value)}")
    return value


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {quoted(twice)} is given twice")
    return found
