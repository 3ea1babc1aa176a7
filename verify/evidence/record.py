"""The evidence for a claim: what every method found, and the verdict that it amounts to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from html import escape
from typing import Any, NamedTuple

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.verdict import Verdict
from verify.comparisons import naming, orders
from verify.evidence import references
from verify.evidence.certificates import ClassCertificate
from verify.evidence.counterexamples import Counterexample
from verify.evidence.parsing import fraction, written

# Outcomes of the statements of a paper's experiments: not verdicts, and kept separate from those on theorems.

#: The outcomes of a statement on data, in the order in which they are counted.
SAID = ("seen", "not seen", "undecided", "no such data", "not run")


class Sighting(NamedTuple):
    """A statement of a ``figure`` on the data ``source``; ``said``: one of :data:`SAID`; the ``numbers``
    behind that; over how many ``seeds``, of which ``date`` and ``commit``: none where it was not run."""

    figure: str
    source: str
    text: str
    said: str
    numbers: str
    seeds: int
    date: str
    commit: str

    def __str__(self) -> str:
        run = f" ({self.numbers})" if self.numbers else ""
        return f"{self.figure} on {self.source}: {self.text}: {self.said}{run}"


def tally(sightings: Sequence[Sighting]) -> str:
    """Return the number of statements with each outcome, in words."""
    counts = Counter(one.said for one in sightings)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in SAID if counts[outcome])


#: Verdicts of methods, strongest first. What is refuted was confirmed exactly, and no proof stands against it.
STRENGTH = (
    Verdict.REFUTED,
    Verdict.ILL_POSED,
    Verdict.PROVED,
    Verdict.CERTIFIED,
    Verdict.SUPPORTED,
    Verdict.NOT_TESTED,
)
#: The author's assertions that are taken as they are, in the JSON, in notes and on the terminal.
ASSUMED = "assumed, not checked"
#: The stored results that do not hold, in the JSON.
FALLEN = "carried, and does not hold"
#: The claims whose bounds a claim restates, with their verdicts, in the JSON.
GIVEN = "given"


class Provenance(StrEnum):
    """How an outcome arose: found anew, re-checked from a carried one, or carried over because this code found nothing
    before.
    """

    ANEW = "found anew"
    RECHECKED = "re-checked"
    CARRIED = "as carried"


@dataclass(frozen=True)
class Attained:
    """The place where the margin of an outcome was seen, so that it can be measured again without a search.

    ``recipe`` and ``point`` fix the instance and its state; ``rounds``: after how many rounds; ``part``, ``entry``:
    those of the counterexample that it belongs to, none where nothing is violated.
    """

    recipe: Recipe
    point: tuple[Fraction, ...]
    rounds: int
    part: str = ""
    entry: int = 0

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives it back."""
        return {
            "recipe": references.encode(self.recipe),
            "point": [written(v) for v in self.point],
            "rounds": self.rounds,
            "part": self.part,
            "entry": self.entry,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Attained:
        """Read what ``to_json`` stored. Raise ``ValueError`` if it is malformed."""
        recipe, point = references.recipe(data["recipe"]), tuple(map(fraction, data["point"]))
        return Attained(recipe, point, data["rounds"], data["part"], data["entry"])


@dataclass(frozen=True)
class Outcome:
    """The outcome of one method on a claim.

    Attributes:
        method: The name of the method.
        covers: What the method covers, in words.
        verdict: The verdict, None where the method decides nothing.
        note: What the verdict rests on; without one, why: the method does not apply, or this was left open.
        margin: As :class:`Evidence` has it.
        instances: The number of instances that it examined.
        left_open: Instances, or choices of the parameters, that it could not decide, each with the reason.
        certificates: One for each choice of the parameters at which it certifies the claim.
        counterexample: The counterexample, if it refutes the claim.
        tightest: The recipe of the worst instance.
        exceeded: True if the worst case over the class exceeds the claim somewhere, None where that is not known.
        used: The ways in which it worked, as ``Evidence.methods`` names them.
        applied: False where the method was not run.
        seen: The functions on which it looked for a violation, as its note says.
        attained: Where the margin was seen.
        sightings: What is seen of experiments.
        source: Whether it was found, or what is carried was checked.
    """

    method: str
    covers: str
    verdict: Verdict | None
    note: str
    margin: float | None = None
    instances: int = 0
    left_open: tuple[str, ...] = ()
    certificates: tuple[ClassCertificate, ...] = ()
    counterexample: Counterexample | None = None
    tightest: Recipe | None = None
    exceeded: bool | None = None
    used: tuple[str, ...] = ()
    applied: bool = True
    seen: frozenset[Any] = frozenset()
    attained: Attained | None = None
    sightings: tuple[Sighting, ...] = ()
    source: Provenance = Provenance.ANEW

    def to_json(self) -> dict[str, Any]:
        """The outcome in the audit's JSON; the counterexample is the claim's."""
        finite = self.margin is not None and math.isfinite(self.margin)
        found = {
            "method": self.method,
            "covers": self.covers,
            "applied": self.applied,
            "verdict": None if self.verdict is None else str(self.verdict),
            "margin": self.margin if finite else None,
            "instances": self.instances,
            "note": self.note,
            "left_open": list(self.left_open),
            "certificates": [certificate.to_json() for certificate in self.certificates],
        }
        if self.attained is not None:
            # Numbers that are too long for a file are left out: the margin is then found anew.
            with suppress(ValueError):
                found["attained"] = self.attained.to_json()
        if self.sightings:
            found["sightings"] = [one._asdict() for one in self.sightings]
        if self.source is not Provenance.ANEW:
            found["source"] = str(self.source)
        return found

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Outcome:
        """The outcome stored by ``to_json``, as far as it is stored."""
        return Outcome(
            data["method"],
            data["covers"],
            None if data["verdict"] is None else Verdict(data["verdict"]),
            data["note"],
            margin=data["margin"],
            instances=data["instances"],
            left_open=tuple(data["left_open"]),
            certificates=tuple(ClassCertificate.from_json(certificate) for certificate in data["certificates"]),
            applied=data["applied"],
            attained=Attained.from_json(data["attained"]) if "attained" in data else None,
            sightings=tuple(Sighting(**one) for one in data.get("sightings", ())),
            source=Provenance(data.get("source", Provenance.ANEW)),
        )


@dataclass(frozen=True)
class Evidence:
    """The evidence about a claim, as :func:`verify.check` returns it.

    Attributes:
        claim: The claim.
        verdict: The strongest of the outcomes' verdicts, or the weakest of what is ``given``, if that is weaker.
        margin: 1 - (worst observed left side / right side), for an identity minus the relative residual; where the
            right side can vanish or be negative, relative to |left| + |right|; None when nothing was measured, -inf
            when a side is not a number (null in JSON, as is None).
        methods: The ways in which its methods worked, in the order used.
        instances: The number of instances that met the hypotheses.
        counterexample: The counterexample that refutes the claim, or None.
        tightest: The recipe of the worst instance.
        note: What the verdict rests on, or why there is none.
        seconds: The time that the check took.
        outcomes: What each method found, in the order in which they ran.
        assumed: What it takes from the claim's author as it is.
        fallen: What is carried of the claim and does not hold, so that it was found anew.
        given: The claims whose bounds it restates, with their verdicts: none of them is weaker.

    Examples:
        >>> import fedtheory as ft
        >>> from verify import check
        >>> x = ft.letters("x")
        >>> claim = ft.Claim("own/square", setting=ft.Setting(letters=(x,)), statement=ft.Inequality(2 * x, 1 + x**2))
        >>> evidence = check(claim)
        >>> evidence.verdict
        <Verdict.PROVED: 'proved'>
        >>> evidence.deciding
        ('search', 'signs of polynomials')
    """

    claim: Claim = field(repr=False)
    verdict: Verdict
    margin: float | None
    methods: tuple[str, ...]
    instances: int
    counterexample: Counterexample | None = None
    tightest: Recipe | None = None
    note: str = ""
    seconds: float = 0.0
    outcomes: tuple[Outcome, ...] = ()
    assumed: tuple[str, ...] = ()
    fallen: tuple[str, ...] = ()
    given: tuple[tuple[str, Verdict], ...] = ()

    def __str__(self) -> str:
        """The verdict in a line: "refuted: 64/3 <= 21", "proved, margin 0"."""
        example = self.counterexample
        if example is not None and not example.part.startswith(orders.PREFIX):
            left, right = naming.number(example.left), naming.number(example.right)
            return f"{self.verdict}: {left} {example.relation} {right}"
        return str(self.verdict) if self.margin is None else f"{self.verdict}, margin {self.margin:.3g}"

    def _repr_html_(self) -> str:
        """A small table, for notebooks."""
        rows = {
            "claim": self.claim.id,
            "verdict": str(self),
            "at" if self.counterexample else "because": self.counterexample.place()
            if self.counterexample
            else self.note,
            "instances": str(self.instances),
        }
        cells = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        return f'<table style="text-align:left">{cells}</table>'

    @property
    def deciding(self) -> tuple[str, ...]:
        """The methods that reached a verdict, by name, in the order in which they ran."""
        return tuple(outcome.method for outcome in self.outcomes if outcome.verdict is not None)

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Return what was observed of the statements of an experiment."""
        return tuple(one for outcome in self.outcomes for one in outcome.sightings)

    def to_json(self) -> dict[str, Any]:
        """The claim's entry in the audit's JSON."""
        repaired = claims.of_paper(self.claim.paper).get(f"{self.claim.id}/repaired")
        found = {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "kind": self.claim.kind,
            "origin": self.claim.origin,
            "literal_of": self.claim.literal_of,
            "verdict": str(self.verdict),
            "margin": self.margin if self.margin is not None and math.isfinite(self.margin) else None,
            "methods": list(self.methods),
            "instances": self.instances,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "repaired": repaired.id if repaired and repaired.repairs == self.claim.id else None,
            "note": self.note,
            ASSUMED: list(self.assumed),
            "seconds": round(self.seconds, 3),
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }
        if self.claim.root:
            found["root"] = self.claim.root
        if self.given:
            found[GIVEN] = {id: str(verdict) for id, verdict in self.given}
        return found | ({FALLEN: list(self.fallen)} if self.fallen else {})

    @staticmethod
    def from_json(claim: Claim, entry: Mapping[str, Any]) -> Evidence:
        """The evidence from the claim's entry in results that this package carries, or in its cache.

        Not stored, and so left out: the recipe of the worst instance, and a margin that is not finite.
        """
        example = entry["counterexample"]
        return Evidence(
            claim,
            Verdict(entry["verdict"]),
            entry["margin"],
            tuple(entry["methods"]),
            entry["instances"],
            counterexample=None if example is None else Counterexample.from_json(example),
            note=entry["note"],
            seconds=entry["seconds"],
            outcomes=tuple(Outcome.from_json(outcome) for outcome in entry["outcomes"]),
            assumed=tuple(entry.get(ASSUMED, ())),
            fallen=tuple(entry.get(FALLEN, ())),
            given=tuple((id, Verdict(verdict)) for id, verdict in entry.get(GIVEN, {}).items()),
        )


def strongest(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The first outcome with the strongest verdict; None if no method has one."""
    decided = [o for o in outcomes if o.verdict is not None]
    return min(decided, key=lambda o: STRENGTH.index(o.verdict or Verdict.NOT_TESTED), default=None)


@dataclass(frozen=True)
class Carried:
    """The stored evidence on a claim, found by the same code of its theory, with a ``seed`` and a ``budget``.

    ``alike``: whether the code that checks it is the same too; without that all that is not a proof is found anew.
    ``unread``: why there is nothing that could be read; ``evidence`` is None then.
    """

    evidence: Evidence | None
    seed: int
    budget: str
    alike: bool
    unread: str = ""
