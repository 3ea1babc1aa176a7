"""The claims of the file of a user's that a command names by ``--own``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedtheory.claims import Claim


def loaded(path: Path | None) -> tuple[Claim, ...]:
    """Return the claims of a file, which commands then know by their ids; none without a file."""
    from verify.base import own

    return () if path is None else own.load(path)


def asked(path: Path | None, id: str | None) -> Claim:
    """Return the claim that is named, among those of a file too; without a name the only one of the file."""
    from fedtheory import claims

    own = loaded(path)
    if id is not None:
        return claims.get(id)
    if path is None:
        raise ValueError("name a claim, as `fedtheory list` lists them, or a file with --own")
    if len(own) > 1:
        raise ValueError(f"{path} has several claims, name one: {', '.join(c.id for c in own)}")
    return own[0]
