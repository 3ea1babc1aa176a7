"""The places where a command is asked to write: checked before the work, not after it."""

from __future__ import annotations

import tempfile
from pathlib import Path


def directory(path: Path) -> Path:
    """The directory, made if there is none. Raise ``ValueError`` if it cannot be written to."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the directory {path}: {error.strerror}") from error
    if (why := _unwritable(path)) is not None:
        raise ValueError(f"cannot write to the directory {path}: {why}")
    return path


def writable(path: Path) -> Path:
    """The file, if it can be written; ``ValueError`` otherwise."""
    if path.is_dir():
        raise ValueError(f"cannot write the file {path}: it is a directory")
    if (why := _unwritable(path.parent)) is not None:
        raise ValueError(f"cannot write the file {path}: {why}")
    return path


def _unwritable(folder: Path) -> str | None:
    """Why no file can be made in a folder, by making one: what a superuser may do nobody else tells."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or str(error)
