"""Files that are either what they were or what they are to be, never something between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file, of the same kind, that takes the place of ``path`` once it is written.

    It is on the disk before it does; when something fails, it goes and ``path`` is as it was.
    """
    # What a link points to is replaced, not the link.
    path = path.resolve()
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _settle(path.parent)


def write(path: Path, text: str) -> None:
    """Make ``text`` the content of the file, all of it or nothing. ``OSError`` names the file."""
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe cannot be replaced.
            path.write_text(text, encoding="utf-8")
            return
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _settle(directory: Path) -> None:
    """Have the names in a directory on the disk too, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError:
        # Some file systems cannot; the file itself is safe.
        pass
    finally:
        os.close(handle)
