"""Proofs for every number of clients, a million as well as two: the seconds in which they are checked.

    python -m benchmarks.every_n

Of all registered claims on a step these are the ones that are posed for a generic client: their programs do not change
as clients are permuted, and have the same size for every n. The stored multipliers are checked in exact arithmetic for
all letters, as an audit does it; seconds of processor, posing included. Claims that are posed and have no multipliers
are proved in other ways, of which the audit tells.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.timing import Line
from fedtheory import claims
from fedtheory.claims import Claim
from verify.multipliers import proving
from verify.multipliers.cases import cases
from verify.multipliers.posing import NeverOccurs, OfOneClient, pose
from verify.reading.source import Unread


def exchangeable() -> Iterator[Claim]:
    """The registered claims that are posed for a generic client."""
    for claim in claims.all():
        try:
            pose(claim, cases(claim)[0])
        except (OfOneClient, NeverOccurs):
            # Its first case is told apart further, or is none: it is posed all the same.
            pass
        except Unread:
            continue
        yield claim


def lines() -> Iterator[Line]:
    """A line for each claim whose multipliers are stored, one for all of them, and one that counts the others."""
    found = list(exchangeable())
    stored = [claim for claim in found if claim.id in proving.stored()]
    total = 0.0
    for claim in stored:
        begun = time.process_time()
        shown = proving.prove(claim, 0)
        if isinstance(shown, str):
            raise ValueError(f"{claim.id}: {shown}")
        seconds = time.process_time() - begun
        total += seconds
        yield Line("a proof for every n", claim.id, seconds, "s")
    yield Line("a proof for every n", f"all {len(stored)}", total, "s")
    others = [claim.id for claim in found if claim not in stored]
    yield Line("a proof for every n", "posed, without multipliers", len(others), "claims", note=", ".join(others))


def main() -> None:
    """Print the table."""
    print("| claim | | |\n| --- | ---: | --- |", flush=True)
    for line in lines():
        print(f"| {line.what} | {line.value:.2f} {line.unit} | {line.note} |", flush=True)


if __name__ == "__main__":
    main()
