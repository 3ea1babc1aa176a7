"""What a list of claims tells of each, without loading the claims: they take a second to load.

The results that the package carries hold the list of the code that found them. Of other code it is kept in the cache,
under the digest of that of the theory; the first list of such code loads the claims.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from fedtheory import plugins
from verify import results
from verify.base import cache
from verify.base.plain import clean

#: The package that holds the claims.
THEORY = ("fedtheory",)


class Row(NamedTuple):
    """What a list tells of a claim, with the names of :class:`fedtheory.claims.Claim`."""

    id: str
    kind: str
    where: str
    gist: str
    origin: str
    literal_of: str | None


def rows() -> tuple[Row, ...]:
    """All claims of the papers, in their order. A file in the cache that is not as it was written is told on stderr."""
    carried = results.shipped()
    complete = carried.gists and carried.gists.keys() == carried.entries.keys() and not plugins.installed()
    if complete and carried.code == results.code():
        return tuple(
            Row(id, e["kind"], e["where"], carried.gists[id], e["origin"], e["literal_of"])
            for id, e in carried.entries.items()
        )
    digest = _digest()
    path = cache.directory() / "claims" / f"{digest[:32]}.json"
    try:
        return _rows(cache.load(path), digest)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        print(clean(f"{path} is no list of claims that was stored ({error}): it is made anew"), file=sys.stderr)
    with _no_garbage():
        from fedtheory import claims

        found = tuple(Row(c.id, c.kind, c.where, c.gist, c.origin, c.literal_of) for c in claims.all())
    # What was loaded is of this code only if nothing has changed since.
    if _digest() == digest:
        try:
            cache.save(path, {"code": digest, "claims": found})
            cache.trim(path.parent, 2**20)
        except OSError:
            # A list can do without.
            pass
    return found


def _digest() -> str:
    """Of the theory's code as it is on the disk, with that of installed papers."""
    found = results.code.__wrapped__(THEORY)
    for place in plugins.installed().values():
        for name, path in plugins.files(place).items():
            found = hashlib.sha256(f"{found} {name}\0".encode() + path.read_bytes()).hexdigest()
    return str(found)


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Without the collector, nor looks of it at what was made meanwhile: modules and claims stay once they are loaded,
    and looking through them takes a seventh of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def _rows(data: Any, digest: str) -> tuple[Row, ...]:
    """The rows that were stored. ``ValueError`` where they are of other code, or no rows."""
    if not isinstance(data, dict) or data.get("code") != digest:
        raise ValueError("it is of other code")
    try:
        return tuple(Row(*row) for row in data["claims"])
    except (LookupError, TypeError) as error:
        raise ValueError("it cannot be read") from error
