"""Store search results in a file, which can be checked without a solver and from which a search can resume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from fedtheory import claims
from fedtheory.claims import Claim
from verify.best import factors, parameters, places, potentials, states
from verify.best.factors import Interval
from verify.best.subjects import DIFFERENCE, Subject, by_difference, subject
from verify.evidence import certificates, formats, references
from verify.evidence.parsing import exact, texts
from verify.pep.prover import DoesNotHold


@dataclass(frozen=True)
class Record:
    """The result of a search for a claim: the interval of its smallest constant; or, for a ``letter``, a value at which
    the statement holds and one at which it fails; or the rate of the potential with ``weights``. ``over``: letters that
    were varied, without the hypotheses on them.
    """

    claim: Claim
    letter: str
    found: tuple[Interval, ...]
    weights: Mapping[str, Fraction] | None = None
    over: tuple[str, ...] = ()

    @property
    def of(self) -> Subject:
        """The number of the claim that is optimised."""
        free = parameters.freed(self.claim, (self.letter,) if self.letter else self.over)
        signed = self.letter and self.found and self.found[0].note == DIFFERENCE
        return by_difference(free) if signed else subject(free)

    def check(self) -> None:
        """Raise ``ValueError`` unless all is shown again by the claim's own code, in exact arithmetic."""
        if self.weights is not None:
            potentials.check(self.claim, potentials.Potential(self.weights, self.found[0]))
            return
        of = self.of
        for interval in self.found:
            factors.check(of, interval)
            if interval.lower is None and interval.upper is None:
                raise DoesNotHold("neither end is stored")
        if not self.letter:
            return
        holds, fails = self.found
        if holds.upper is None or holds.upper > holds.printed:
            raise DoesNotHold(
                f"that {self.claim.id} holds at {self.letter} = {holds.letters[self.letter]} is not shown"
            )
        if fails.lower is None or fails.lower <= fails.printed:
            raise DoesNotHold(
                f"that {self.claim.id} fails at {self.letter} = {fails.letters[self.letter]} is not shown"
            )
        if _others(holds, self.letter) != _others(fails, self.letter):
            raise DoesNotHold(f"other letters than {self.letter} differ between the two ends")

    def to_json(self) -> dict[str, Any]:
        """A JSON object; :func:`from_json` gives the record back."""
        found = [_interval(one) for one in self.found]
        asked = {"claim": self.claim.id, "letter": self.letter, "over": list(self.over)}
        return {**asked, "weights": texts(self.weights), "found": found}


def _others(of: Interval, letter: str) -> dict[str, str]:
    return {name: value for name, value in of.letters.items() if name != letter}


def from_json(data: Mapping[str, Any]) -> Record:
    """The record that ``to_json`` stored. ``ValueError`` names a field that is not right."""
    formats.checked("best", data)
    claim = references.read_field(data, "claim", claims.get)
    found = references.read_field(data, "found", lambda value: tuple(map(_read, value)))
    if len(found) != (2 if data["letter"] else 1):
        raise ValueError("found: one interval, or two where there is a letter, was expected")
    if sum((bool(data["letter"]), data["weights"] is not None, bool(data["over"]))) > 1:
        raise ValueError("one of a letter, weights, and letters that were varied was expected")
    return Record(claim, data["letter"], found, exact(data["weights"]), tuple(data["over"]))


def load(path: Path) -> Record:
    """The record in a JSON file; ``ValueError`` of one sentence, with the file and the field, if there is none."""
    return formats.load(path, from_json)


def same(found: Record, asked: Record, at: places.Letters) -> bool:
    """Return True if a record answers the question ``asked``, a record without results, at the given letters."""
    varied = (found.letter, *found.over)
    if (found.claim.id, *varied) != (asked.claim.id, asked.letter, *asked.over):
        return False
    if (found.weights is None) != (asked.weights is None):
        return False
    first = found.found[0]
    if not any(varied):
        return first.recipe == places.recipe(asked.claim, at)
    return all(first.letters.get(name, str(v)) == str(v) for name, v in at.items() if name not in varied)


def text(record: Record) -> str:
    """Return the contents of a file that stores a record."""
    return formats.text("best", record.to_json())


def _interval(of: Interval) -> dict[str, Any]:
    return {
        "recipe": references.encode(of.recipe),
        "letters": dict(of.letters),
        **texts({"printed": of.printed, "lower": of.lower, "upper": of.upper}),
        "witness": None if of.witness is None else of.witness.to_json(),
        "steps": certificates.stored(of.steps),
        "note": of.note,
    }


def _read(data: Mapping[str, Any]) -> Interval:
    return Interval(
        references.recipe(data["recipe"]),
        data["letters"],
        exact(data["printed"]),
        exact(data["lower"]),
        exact(data["upper"]),
        None if data["witness"] is None else states.from_json(data["witness"]),
        certificates.read_steps(data["steps"]),
        data["note"],
    )
