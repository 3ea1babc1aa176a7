"""How claims are named on a command line: by paper, by id, or by the beginning of an id. Nothing is loaded here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

#: Characters of an unknown name in a message.
_LONGEST = 100
#: Letters of the end of an id, at least, by which ids are found that are near.
_TELLING = 3


def select(names: Sequence[str], ids: Sequence[str], others: Iterable[str] = ()) -> list[str]:
    """The ids that are named, in their order and without repetitions; all when ``names`` is empty.

    Where a name ends with a part of an id, longer parts that begin with it are not meant: theorem-1 is not theorem-10.
    ``ValueError`` for a name that is none of these, nor one of ``others``, which are known and not selected.
    """
    chosen: set[str] = set()
    for name in names:
        prefix = name.rstrip("/") + "/"
        matches = [id for id in ids if id == name or id.startswith(prefix)]
        matches = matches or [id for id in ids if name and id.startswith(name)]
        if not matches and name not in others:
            raise ValueError(unknown(name, [*ids, *others]))
        chosen.update(matches)
    return [id for id in ids if id in chosen or not names]


def unknown(id: str, known: Sequence[str]) -> str:
    """That there is no claim of this id, and which are near."""
    beginning = [other for other in known if id and other.startswith(f"{id.rstrip('/')}/")]
    if len(beginning) > 1:
        return f"{id!r} is no claim, but the beginning of {len(beginning)} ids: `fedtheory list {id}` shows them"
    last = id.split("/")[-1]
    alike = [other for other in known if len(last) >= _TELLING and last in other]
    near = sorted(alike, key=lambda id: not id.endswith(last))[:2]
    near = near or get_close_matches(id, sorted({other.split("/")[0] for other in known}), n=1)
    near = near or get_close_matches(id, known, n=2)
    hint = f": did you mean {' or '.join(near)}?" if near else ": `fedtheory list` shows all"
    shown = id if len(id) <= _LONGEST else f"{id[:_LONGEST]}..."
    return f"unknown claim {shown!r}{hint}"
