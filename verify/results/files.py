"""Files that are either what they were or what they are to be, never something between."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file, of the same kind, that takes the place of ``path`` once it is written.

    It is on the disk before it does; when something fails, it goes and ``path`` is as it was.
    """
    # The target of a link is replaced, not the link.
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


# What was found before and can be taken up again: files in the user's cache directory that are as they were written.
#
# Everything here can be computed again, so a file that is not as it was written is computed anew, and the files that
# were used least recently go when there are too many. Several processes may read and write at once: files are
# replaced whole.

#: The environment variable that names the directory.
VARIABLE = "FEDTHEORY_CACHE"
#: Bytes that are kept at most, and bytes of one file.
MOST, LONGEST = 256 * 2**20, 64 * 2**20


def directory() -> Path:
    """$FEDTHEORY_CACHE, or fedtheory in $XDG_CACHE_HOME, by default ~/.cache. Nothing is made."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    # A path that is not absolute is to be ignored, says the specification.
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~"), ".cache")) / "fedtheory"


def load(path: Path) -> Any:
    """Load what was saved. Raise ``OSError`` if there is no such file, ``ValueError`` if it was changed."""
    if path.stat().st_size > LONGEST:
        raise ValueError("it is too long")
    try:
        data = json.loads(path.read_bytes())
        content, written = data["content"], data["sum"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError("it cannot be read") from error
    if written != _sum(content):
        raise ValueError("its contents were changed")
    # Files in use are kept longest.
    with suppress(OSError):
        os.utime(path)
    return content


def save(path: Path, content: Any) -> None:
    """Write what JSON can hold, all of it or nothing. ``OSError`` names the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, json.dumps({"sum": _sum(content), "content": content}) + "\n")


def trim(folder: Path, most: int = MOST) -> None:
    """Remove the files that were used least recently until the others have no more than ``most`` bytes."""
    found = []
    for path in folder.rglob("*") if folder.is_dir() else ():
        # Another process may remove them too.
        with suppress(OSError):
            status = path.stat()
            if path.is_file():
                found.append((status.st_mtime_ns, status.st_size, path))
    size = sum(length for _, length, _ in found)
    for _, length, path in sorted(found):
        if size <= most:
            return
        with suppress(OSError):
            path.unlink()
        size -= length


def _sum(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
