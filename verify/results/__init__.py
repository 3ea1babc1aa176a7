"""The verdicts of the last audit of all claims, which the package carries: what they are of, and the entries.

They are printed at once, where a check takes from seconds to minutes. ``audit.json`` beside this module is an audit's
JSON, one claim a line, with the commit, the date and the digest of the code that found it; ``make results`` writes it.

They hold the list of the claims as well, which take a second to load. Of other code that list is kept in the cache,
under the digest of that of the theory; the first list of such code loads the claims.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory import plugins
from fedtheory.naming import file_name
from verify.base.plain import clean
from verify.evidence import formats
from verify.results import files as disk

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from verify.evidence.record import Carried

#: Their folder.
FILE = Path(__file__).with_name("audit.json")
#: The printed proofs that the package carries. A test says that they are what is exported today.
PROOFS = Path(__file__).with_name("proofs")
#: The packages whose code finds the results.
_PACKAGES = ("fedtheory", "verify")
#: The package that holds the claims.
THEORY = _PACKAGES[:1]
#: The fields of the file about all its entries.
FIELDS = ("version", "commit", "date", "code", "seed", "budget")
#: The digests of the code that checks claims, of the file, and of what a claim says, of an entry.
CHECKER, RESTS_ON = "checker", "rests_on"


class Shipped(NamedTuple):
    """An audit of all claims: with which ``seed`` and ``budget`` it was made, when, of which ``commit`` and of what
    ``code``, as :func:`code` gives it; ``entries``: what it found, by the claims' ids; ``gists``: each claim in
    a line, none where they are not carried; ``checker``: the digest of the code that checked, as
    :func:`verify.results.digests.checker` gives it."""

    version: str
    commit: str
    date: str
    code: str
    seed: int
    budget: str
    entries: dict[str, dict[str, Any]]
    gists: Mapping[str, str]
    checker: str = ""

    def verdict(self, id: str) -> str:
        """The verdict of the claim, "-" where none is shipped."""
        entry = self.entries.get(id)
        return "-" if entry is None else str(entry["verdict"])

    @property
    def verdicts(self) -> dict[str, str]:
        """All verdicts, by the claims' ids."""
        return {id: str(entry["verdict"]) for id, entry in self.entries.items()}

    def changes(self, verdicts: Mapping[str, str], seed: int, budget: str) -> list[str]:
        """A line for each claim whose verdict is another than the shipped one; none for another seed or budget."""
        if (seed, budget) != (self.seed, self.budget):
            return []
        both = [(id, self.verdict(id), now) for id, now in verdicts.items() if id in self.entries]
        return [f"{id}: was {before}, is {now}" for id, before, now in both if before != now]

    @property
    def origin(self) -> str:
        """Return the provenance of these results, in words."""
        return f"of {self.date}, commit {self.commit[:10]}, seed {self.seed}, budget {self.budget}"


@cache
def shipped() -> Shipped:
    """Return the results that the package carries. Nothing is computed, and nothing loaded that computes.

    Returns:
        The audit of all claims that ships.

    Examples:
        >>> from verify import results
        >>> results.shipped().verdict("locodl/theorem-3.1/one-step")
        'proved'
    """
    return read(FILE.read_text(encoding="utf-8"))


@cache
def code(packages: tuple[str, ...] = _PACKAGES) -> str:
    """Return a digest of this package's code, without other packages and the machine."""
    found = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for path in sorted(path for package in packages for path in (root / package).rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def read(text: str) -> Shipped:
    """The results in a file's text."""
    data = json.loads(text)
    entries = {entry["id"]: entry for entry in data["claims"]}
    head = {field: data[field] for field in FIELDS}
    return Shipped(**head, entries=entries, gists=data.get("gists", {}), checker=data.get(CHECKER, ""))


def written(found: Shipped) -> str:
    """The file's text: one claim a line, so that what changes from one audit to the next can be read."""
    extra = [name for name in (CHECKER, "gists") if getattr(found, name)]
    head = {field: getattr(found, field) for field in (*FIELDS, *extra)}
    head = formats.named("audit", head)
    lines = ",\n".join(json.dumps(entry) for entry in found.entries.values())
    return f'{json.dumps(head)[:-1]}, "claims": [\n{lines}\n]}}\n'


def carried(claim: Claim) -> Carried | None:
    """Return the stored evidence on a registered claim if it is of the same code of the theory, and None otherwise."""
    # Only this needs the modules that compute, which take long to load.
    from verify.evidence.record import Carried, Evidence
    from verify.results import digests

    found = shipped()
    entry = found.entries.get(claim.id)
    if entry is None or RESTS_ON not in entry:
        return None
    try:
        if entry[RESTS_ON] != digests.theory(claim):
            return None
    except ValueError:
        return None
    alike = found.checker == digests.checker()
    try:
        formats.checked("audit", formats.audit([entry], found.seed, found.budget))
        evidence = Evidence.from_json(claim, entry)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return Carried(None, found.seed, found.budget, False, f"what is carried of {claim.id} cannot be read: {error}")
    return Carried(evidence, found.seed, found.budget, alike)


class ListedClaim(NamedTuple):
    """The fields of a claim that lists show, named as in :class:`fedtheory.claims.Claim`."""

    id: str
    kind: str
    where: str
    gist: str
    origin: str
    literal_of: str | None
    root: str


def rows() -> tuple[ListedClaim, ...]:
    """All claims of the papers, in their order. A file in the cache that has been changed is reported on stderr."""
    carried = shipped()
    complete = carried.gists and carried.gists.keys() == carried.entries.keys() and not plugins.installed()
    if complete and carried.code == code():
        return tuple(
            ListedClaim(id, e["kind"], e["where"], carried.gists[id], e["origin"], e["literal_of"], e.get("root", ""))
            for id, e in carried.entries.items()
        )
    digest = _digest()
    path = disk.directory() / "claims" / f"{digest[:32]}.json"
    try:
        return _rows(disk.load(path), digest)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        print(clean(f"{path} is not a stored list of claims ({error}): it is made anew"), file=sys.stderr)
    with _no_garbage():
        from fedtheory import claims

        found = tuple(ListedClaim(c.id, c.kind, c.where, c.gist, c.origin, c.literal_of, c.root) for c in claims.all())
    # The loaded code is this code only if nothing has changed since.
    if _digest() == digest:
        try:
            disk.save(path, {"code": digest, "claims": found})
            disk.trim(path.parent, 2**20)
        except OSError:
            # A list can do without.
            pass
    return found


def _digest() -> str:
    """Return a digest of the theory's code on disk, with that of installed papers."""
    found = code.__wrapped__(THEORY)
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


def _rows(data: Any, digest: str) -> tuple[ListedClaim, ...]:
    """The rows that were stored. Raise ``ValueError`` if they are of other code, or no rows."""
    if not isinstance(data, dict) or data.get("code") != digest:
        raise ValueError("it is of other code")
    try:
        return tuple(ListedClaim(*row) for row in data["claims"])
    except (LookupError, TypeError) as error:
        raise ValueError("it cannot be read") from error


def printed(id: str) -> str | None:
    """The proof of a claim in LaTeX; None where none is carried."""
    path = PROOFS / f"{file_name(id)}.tex"
    return path.read_text(encoding="utf-8") if path.is_file() else None
