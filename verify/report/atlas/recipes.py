"""The instance of a counterexample, as an audit stores it, in letters and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verify.report.outcomes import short


@dataclass(frozen=True)
class Table:
    """Part of an instance in which several have the same letters: clients, for example."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def scalars(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The letters that have one value each."""
    return [(name, _value(value)) for name, value in recipe.items() if _rows(value) is None]


def tables(recipe: Mapping[str, Any]) -> list[Table]:
    """The parts that repeat."""
    return [Table(name, *rows) for name, value in recipe.items() if (rows := _rows(value)) is not None]


def _rows(value: Any) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None:
    """Columns and rows of a list of objects with values by name; None for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(part, Mapping) for part in value):
        return None
    if any(set(part) == {"ratio"} for part in value):
        return None
    columns = tuple(dict.fromkeys(name for part in value for name in part))
    return columns, tuple(tuple(_value(part[name]) if name in part else "" for name in columns) for part in value)


def _value(value: Any) -> str:
    """A part of an instance as text: fractions as they are, vectors in brackets."""
    if isinstance(value, Mapping):
        if set(value) == {"ratio"}:
            return short(str(value["ratio"]))
        return ", ".join(f"{name} = {_value(part)}" for name, part in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(_value, value))})"
    return str(value)
