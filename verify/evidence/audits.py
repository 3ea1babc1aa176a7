"""An audit as one JSON object: made of its entries, and read without trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from verify.base.plain import clean, quoted
from verify.evidence import formats


def document(
    entries: Sequence[dict[str, Any]], seed: int, budget: str, missing: Sequence[Claim] = ()
) -> dict[str, Any]:
    """The audit as one JSON object, from its entries; one that lacks claims says so, and which."""
    partial = {"partial": True, "missing": [claim.id for claim in missing]} if missing else {}
    head = {"version": version("fedtheory"), "seed": seed, "budget": budget, **partial}
    return formats.named("audit", {**head, "claims": list(entries)})


def read(path: Path) -> dict[str, Any]:
    """The audit in a file. ``ValueError`` of one sentence, with the file, when there is none."""
    data = formats.read(path, formats.AUDIT)
    try:
        return parsed(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def parsed(data: Any) -> dict[str, Any]:
    """The audit that :func:`document` made, with no character in its texts that acts on a screen.

    ``ValueError`` names what is not right.
    """
    found: dict[str, Any] = _cleaned(formats.checked("audit", data))
    seen: set[str] = set()
    for entry in found["claims"]:
        if entry["id"] in seen:
            raise ValueError(f"the claim {quoted(entry['id'])} is there twice")
        seen.add(entry["id"])
    return found


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(name): _cleaned(part) for name, part in value.items()}
    return [_cleaned(part) for part in value] if isinstance(value, list) else value
