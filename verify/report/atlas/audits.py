"""An audit's JSON, read without trust: every part that pages show has its type, and no character acts on a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verify.evidence import stored
from verify.plain import clean, quoted
from verify.verdict import Verdict

#: How deep an audit's file nests.
_NESTED = 30


@dataclass(frozen=True)
class Certificate:
    """A proof for a class at one choice of the parameters: ``letters`` are their values; ``steps``: by name, the bound
    and the number of multipliers."""

    method: str
    text: str
    letters: Mapping[str, str]
    steps: Mapping[str, tuple[str, int]]


@dataclass(frozen=True)
class Outcome:
    """What one method found; ``verdict`` is None where it says nothing, ``applied`` False where it was not run."""

    method: str
    covers: str
    applied: bool
    verdict: Verdict | None
    margin: float | None
    instances: int
    note: str
    left_open: tuple[str, ...]
    certificates: tuple[Certificate, ...]


@dataclass(frozen=True)
class Example:
    """A counterexample; numbers are texts. ``stored``: the JSON object that ``fedtheory replay`` reads."""

    text: str
    left: str
    relation: str
    right: str
    rounds: int
    point: tuple[str, ...]
    recipe: Mapping[str, Any]
    stored: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """What an audit says of one claim."""

    id: str
    paper: str
    where: str
    kind: str
    verdict: Verdict
    margin: float | None
    methods: tuple[str, ...]
    instances: int
    note: str
    seconds: float
    repaired: str | None
    example: Example | None
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Audit:
    """An audit; ``missing``: ids of claims that it was to test, and did not come to; ``commit``, ``date``: of the code
    that made it and when, "" where that is not told."""

    version: str
    seed: int
    budget: str
    entries: tuple[Entry, ...] = field(repr=False)
    missing: tuple[str, ...] = ()
    commit: str = ""
    date: str = ""


def read(path: Path) -> Audit:
    """The audit in a file. ``ValueError`` of one sentence, with the file, when there is none."""
    data = stored.read(path, stored.AUDIT)
    if data is None or "claims" not in data:
        raise ValueError(f"{path} does not hold an audit: a JSON object with the field 'claims' was expected")
    try:
        return parsed(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def parsed(document: Mapping[str, Any]) -> Audit:
    """The audit that ``verify.audit.document`` wrote. ``ValueError`` names a field that is not right."""
    reader = _Reader(_cleaned(document, 0), "")
    entries = tuple(_entry(entry) for entry in reader.objects("claims"))
    seen: set[str] = set()
    for entry in entries:
        if entry.id in seen:
            raise ValueError(f"the claim {quoted(entry.id)} is there twice")
        seen.add(entry.id)
    made = reader.text("version", ""), reader.integer("seed"), reader.text("budget", "")
    return Audit(*made, entries, reader.texts("missing"), reader.text("commit", ""), reader.text("date", ""))


def _entry(reader: _Reader) -> Entry:
    id = reader.text("id")
    if not id:
        raise ValueError(f"{reader.where}id: a name was expected, got ''")
    verdict = reader.verdict("verdict")
    if verdict is None or verdict is Verdict.OPEN:
        raise ValueError(f"{reader.where}verdict: a verdict was expected, got {quoted(reader.data.get('verdict'))}")
    example = reader.object("counterexample")
    return Entry(
        id,
        reader.text("paper", id.split("/")[0]),
        reader.text("where", ""),
        reader.text("kind", ""),
        verdict,
        reader.number("margin"),
        reader.texts("methods"),
        reader.integer("instances"),
        reader.text("note", ""),
        reader.number("seconds") or 0.0,
        reader.text("repaired", "") or None,
        None if example is None else _example(example),
        tuple(map(_outcome, reader.objects("outcomes"))),
    )


def _example(reader: _Reader) -> Example:
    recipe = reader.object("recipe")
    return Example(
        reader.text("text", ""),
        reader.text("left"),
        reader.text("relation"),
        reader.text("right"),
        reader.integer("rounds"),
        reader.texts("point"),
        {} if recipe is None else recipe.data,
        reader.data,
    )


def _outcome(reader: _Reader) -> Outcome:
    return Outcome(
        reader.text("method"),
        reader.text("covers", ""),
        reader.data.get("applied", True) is True,
        reader.verdict("verdict"),
        reader.number("margin"),
        reader.integer("instances"),
        reader.text("note", ""),
        reader.texts("left_open"),
        tuple(map(_certificate, reader.objects("certificates"))),
    )


def _certificate(reader: _Reader) -> Certificate:
    letters, steps = reader.object("letters"), reader.object("steps")
    found = {}
    for name in () if steps is None else steps.data:
        step = steps.object(name) if steps is not None else None
        if step is not None:
            multipliers = step.object("multipliers")
            found[name] = (step.text("bound"), 0 if multipliers is None else len(multipliers.data))
    values = {} if letters is None else {name: letters.text(name) for name in letters.data}
    return Certificate(reader.text("certificate"), reader.text("text", ""), values, found)


class _Reader:
    """Reads the fields of an object; ``where``: what they are called in a message."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise ValueError(f"{where.rstrip('.') or 'the audit'}: an object was expected, got {quoted(data)}")
        self.data, self.where = data, where

    def _bad(self, name: str, wanted: str) -> ValueError:
        return ValueError(f"{self.where}{name}: {wanted} was expected, got {quoted(self.data.get(name))}")

    def text(self, name: str, default: str | None = None) -> str:
        value = self.data.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self._bad(name, "a text")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._sequence(name, str, "a list of texts"))

    def integer(self, name: str) -> int:
        value = self.data.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._bad(name, "an integer")
        return value

    def number(self, name: str) -> float | None:
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._bad(name, "a number")
        return float(value)

    def verdict(self, name: str) -> Verdict | None:
        value = self.data.get(name)
        if value is None:
            return None
        if value not in tuple(Verdict):
            raise self._bad(name, "a verdict")
        return Verdict(value)

    def object(self, name: str) -> _Reader | None:
        value = self.data.get(name)
        return None if value is None else _Reader(value, f"{self.where}{name}.")

    def objects(self, name: str) -> list[_Reader]:
        found = self._sequence(name, Mapping, "a list of objects")
        return [_Reader(value, f"{self.where}{name}[{index}].") for index, value in enumerate(found)]

    def _sequence(self, name: str, kind: type, wanted: str) -> Sequence[Any]:
        value = self.data.get(name) or []
        if not isinstance(value, list) or not all(isinstance(part, kind) for part in value):
            raise self._bad(name, wanted)
        return value


def _cleaned(value: Any, depth: int) -> Any:
    """The value with no character in its texts that acts on a screen."""
    if depth > _NESTED:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [_cleaned(part, depth + 1) for part in value]
    return value
