"""How claims are named: what an id is, its paper or its beginning on a command line, and the names of its files.

Nothing is loaded here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

#: Characters of an unknown name in a message.
_LONGEST = 100
#: So many ids are all named.
_FEW = 6
#: Letters of the end of an id, at least, by which ids are found that are near.
_TELLING = 3
#: An id; what may follow it, the name of a reading and the star of a changed claim; how long it may be.
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_ID = re.compile(rf"{_PART}(?:/{_PART})*")
_MARKED = re.compile(rf"({_ID.pattern})(?:#{_PART})?\*?")
_LONGEST_ID = 120
#: Other names of papers, in small letters.
_PAPERS = {"fsvrg": "fedopt", "federated-optimization": "fedopt", "federated-optimisation": "fedopt"}


def check_id(id: str) -> None:
    """Raise ``ValueError`` unless it is the id of a claim, possibly of a reading or a variant of one."""
    if not isinstance(id, str) or len(id) > _LONGEST_ID or not _MARKED.fullmatch(id):
        shown = repr(id) if len(repr(id)) <= _LONGEST else f"{repr(id)[:_LONGEST]}..."
        raise ValueError(
            f"the id of a claim is at most {_LONGEST_ID} letters a to z, digits, '.', '-' and '_', in parts joined by "
            f"'/' that begin and end with a letter or a digit, as mine/theorem-1, got {shown}"
        )


def file_name(id: str) -> str:
    """A name for the file, or the page, of a claim or a paper; different ids have different ones.

    A name that is not an id, such as a variant's, gets a digest.
    """
    if len(id) <= _LONGEST_ID and _ID.fullmatch(id):
        # No part begins or ends with an underscore.
        return id.replace("_", "__").replace("/", "_")
    kept = re.sub(r"[^A-Za-z0-9.-]", "_", id)[:_LONGEST_ID].lstrip(".")
    return f"{kept}_{hashlib.sha256(id.encode('utf-8', 'replace')).hexdigest()[:12]}"


def select(names: Sequence[str], ids: Sequence[str], others: Iterable[str] = ()) -> list[str]:
    """The ids that are named, in their order and without repetitions; all when ``names`` is empty.

    Where a name ends with a part of an id, longer parts that begin with it are not meant: theorem-1 is not theorem-10.
    ``ValueError`` for a name that is none of these, nor one of ``others``, which are known and not selected.
    """
    chosen: set[str] = set()
    for name in names:
        matches = _named(name, ids) or _named(meant(name, ids), ids)
        if not matches and name not in others:
            raise ValueError(unknown(name, [*ids, *others]))
        chosen.update(matches)
    return [id for id in ids if id in chosen or not names]


def _named(name: str, ids: Sequence[str]) -> list[str]:
    prefix = name.rstrip("/") + "/"
    matches = [id for id in ids if id == name or id.startswith(prefix)]
    return matches or [id for id in ids if name and id.startswith(name)]


def meant(name: str, ids: Iterable[str]) -> str:
    """Return the id, or the beginning of ids, that is meant by a name with the paper's name as people write it, as
    "FedADMM/theorem-4.1" or "FSVRG"; the name itself if it is one of ``ids``, or if none is meant.
    """
    known = list(ids)
    if name in known:
        return name
    paper, slash, place = name.rstrip("/").partition("/")
    key = "-".join(paper.casefold().split())
    papers = {id.partition("/")[0]: None for id in known}
    found = next((other for other in papers if other.casefold() == _PAPERS.get(key, key)), paper)
    beginning = f"{found}{slash}{place}"
    spelled = next((id for id in known if id.casefold() == beginning.casefold()), None)
    return spelled or beginning


def unknown(id: str, known: Sequence[str], kind: str = "claim", listing: str = "fedtheory list") -> str:
    """Return the message that no claim has this id, with similar ids; or nothing of another ``kind``, listed by
    ``listing`` where they are many.
    """
    if id.endswith(".py"):
        return f"unknown {kind} {shortened(id)}: a file of your own is named by --own, or tested by `fedtheory check`"
    beginning = [other for other in known if id and other.startswith(f"{id.rstrip('/')}/")]
    if len(beginning) > 1:
        return f"{id!r} is not a {kind}, but the beginning of {len(beginning)} ids: `{listing} {id}` shows them"
    last = id.split("/")[-1]
    alike = [other for other in known if len(last) >= _TELLING and last in other]
    first = id.split("/")[0]
    of_paper = [other for other in alike if other.split("/")[0] == first]
    near = sorted(of_paper or alike, key=lambda other: not other.endswith(last))[:2]
    if not of_paper:
        # An id that begins with a paper's name is of that paper.
        close = get_close_matches(id, [other for other in known if other.startswith(f"{first}/")], n=2)
        near = [*close[: 2 - bool(near)], *near][:2]
    near = near or get_close_matches(id, sorted({other.split("/")[0] for other in known}), n=1)
    near = near or get_close_matches(id, known, n=2)
    # A file of one's own has few claims.
    rest = f": there are {', '.join(known)}" if 0 < len(known) <= _FEW else f": `{listing}` shows all"
    hint = f": did you mean {' or '.join(near)}?" if near else rest
    return f"unknown {kind} {shortened(id)}{hint}"


def shortened(id: str) -> str:
    """Return a name between quotation marks, as much of it as a message holds."""
    return repr(id if len(id) <= _LONGEST else f"{id[:_LONGEST]}...")
