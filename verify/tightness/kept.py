"""Worst cases after some rounds, as a file: they can be checked again without a solver, and a search goes on from it.

What is kept of a point is the recipe of its instance, the number of rounds, and what shows its ends: multipliers and a
run. The ends themselves, what is stated, and the verdict are computed again by the claim's own code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.numbers.quotients import Quotient
from verify.evidence import certificates, formats, references
from verify.evidence.parsing import exact, texts
from verify.pep.gram import BasisVector
from verify.pep.prover import DoesNotHold
from verify.results import files
from verify.tightness import rounds
from verify.tightness.comparison import Point
from verify.tightness.grids import Choice
from verify.tightness.rounds import Proof
from verify.tightness.tabulated import At


@dataclass(frozen=True)
class Kept:
    """The stored proof of a bound at an instance after this many rounds."""

    recipe: Recipe
    rounds: int
    proof: Proof

    def again(self, claim: Claim) -> Point:
        """The point, at the letters of its instance, shown again. Raise ``DoesNotHold`` if it is not."""
        try:
            instance = claim.instances.build(self.recipe, True)
            letters = claim.setting.bind(instance.problem, instance.params)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
            raise DoesNotHold(f"the stored recipe describes no instance of {claim.id}: {error}") from error
        exact = {str(x): Fraction(int(v) if isinstance(v, np.integer) else v) for x, v in letters.items() if _exact(v)}
        choice = Choice(tuple(exact.items()), (self.recipe,))
        (point,) = rounds.after_rounds(claim, choice, self.rounds, self.proof)
        return point


class Store:
    """The stored proofs of a claim, kept in a file if one is given, which is rewritten with each point.

    Raise ``ValueError`` if the file holds something else.
    """

    def __init__(self, claim: Claim, path: Path | None = None) -> None:
        self._claim, self._path = claim, path
        self.known: tuple[Kept, ...] = ()
        if path is not None and path.exists() and path.stat().st_size:
            of, self.known = load(path) if formats.is_of("rounds", path) else (None, ())
            if of is not claim:
                raise ValueError(f"{path} holds something else: give another file, or remove it")

    def add(self, found: Kept) -> None:
        """Keep a point, in place of what was known of it."""
        others = [one for one in self.known if (one.rounds, one.recipe) != (found.rounds, found.recipe)]
        self.known = (*others, found)
        if self._path is not None:
            files.write(self._path, text(self._claim, self.known))


def _exact(value: Any) -> bool:
    return isinstance(value, int | Fraction | np.integer) and not isinstance(value, bool)


def load(path: Path) -> tuple[Claim, tuple[Kept, ...]]:
    """The claim and the points of a file; ``ValueError`` of one sentence, with the file and the field, otherwise."""
    return formats.load(path, from_json, formats.AUDIT)


def from_json(data: Mapping[str, Any]) -> tuple[Claim, tuple[Kept, ...]]:
    """Read what :func:`text` wrote. Raise ``ValueError`` with the name of a field that is malformed."""
    formats.checked("rounds", data)
    claim = references.read_field(data, "claim", claims.get)
    return claim, references.read_field(data, "points", lambda value: tuple(map(_read, value)))


def text(claim: Claim, kept: Sequence[Kept]) -> str:
    """Return the contents of a file that stores these points."""
    return formats.text("rounds", {"claim": claim.id, "points": [_written(one) for one in kept]})


def _written(one: Kept) -> dict[str, Any]:
    return {
        "recipe": references.encode(one.recipe),
        "rounds": one.rounds,
        "steps": certificates.stored(one.proof.steps),
        "run": None if one.proof.run is None else _run(one.proof.run),
    }


def _run(at: At) -> dict[str, Any]:
    rows = [{"block": row.block, "name": row.name, "at": texts(list(place))} for row, place in at.coordinates.items()]
    return {"dimension": at.d, "rows": rows, "values": texts(at.values)}


def _read(data: Mapping[str, Any]) -> Kept:
    run = None if data["run"] is None else _read_run(data["run"])
    return Kept(references.recipe(data["recipe"]), data["rounds"], Proof(certificates.read_steps(data["steps"]), run))


def _read_run(data: Mapping[str, Any]) -> At:
    coordinates = {
        BasisVector(row["block"], row["name"]): np.array([*map(Quotient, exact(row["at"]))], dtype=object)
        for row in data["rows"]
    }
    if any(len(place) != data["dimension"] for place in coordinates.values()):
        raise ValueError("every row must have as many coordinates as there are dimensions")
    return At(coordinates, {name: Quotient(v) for name, v in exact(data["values"]).items()}, data["dimension"])
