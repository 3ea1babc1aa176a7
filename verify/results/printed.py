"""The printed proofs that the package carries, by the ids of their claims."""

from __future__ import annotations

from pathlib import Path

from fedtheory.naming import file_name

#: Where they are. A test says that they are what is exported today.
PROOFS = Path(__file__).with_name("proofs")


def printed(id: str) -> str | None:
    """The proof of a claim in LaTeX; None where none is carried."""
    path = PROOFS / f"{file_name(id)}.tex"
    return path.read_text(encoding="utf-8") if path.is_file() else None
