"""The proof objects of a claim: for all letters where there are such proofs, else those of certificates at points."""

from __future__ import annotations

from typing import Any

from fedtheory import claims
from verify import results
from verify.evidence.certificates import ClassCertificate
from verify.export import letters, objects
from verify.methods import multipliers
from verify.multipliers.proving import prove


def of_claim(id: str) -> tuple[list[dict[str, Any]], str]:
    """The proof objects of a claim of which the package carries the verdict, and where there are none the reason.

    One for each case where it is proved for all letters, else one for each choice of its parameters. ``ValueError``
    where a certificate does not hold, or the id is unknown.
    """
    entry = results.shipped().entries.get(id)
    if entry is None:
        return [], f"the package carries no results of {id}"
    how = next((o["method"] for o in entry["outcomes"] if o["verdict"] == entry["verdict"]), "none")
    if how == multipliers.METHOD.name:
        shown = prove(claims.get(id), multipliers.SECONDS)
        return ([], shown) if isinstance(shown, str) else (letters.of(shown), "")
    stored = [data for outcome in entry["outcomes"] for data in outcome["certificates"]]
    made = [objects.of(ClassCertificate.from_json(data)) for data in stored]
    found = [data for data in made if data is not None]
    why = f"{entry['verdict']} by the method {how!r}: a computation, to be done again by fedtheory show {id} --check"
    return found, "" if found else why
