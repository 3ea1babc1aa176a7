"""Counterexamples: instances on which claims fail, which can be evaluated again, in Python and from files.

A file says which claim, which changes of it, which instance and what the two sides were. What the claim says of them
it cannot say: the relation follows from the claim and the part of it. Everything is bounded before anything is
computed, and nothing of a file is run (:mod:`verify.evidence.formats`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.numbers.intervals import Interval
from verify.base import limits
from verify.base.case import Case
from verify.base.plain import quoted
from verify.comparisons import deciding, naming, parts, samplers, second_moments
from verify.evidence import formats, references
from verify.evidence.parsing import fraction, number, real, written

#: The words that may follow an instance and its state: why it is a counterexample, without equations.
_WHY = re.compile(r"|(?::|, where) [^=]*")


@dataclass(frozen=True)
class Counterexample:
    """An instance on which a claim fails.

    Attributes:
        claim: The claim.
        recipe: The rationals from which the problem and the parameters are built.
        point: The coordinates of the state, fractions.
        rounds: The number of rounds after which the claim fails.
        part: Which comparison of the statement fails.
        entry: Which entry of it.
        left: The left side, a fraction or an interval.
        right: The right side, likewise.
        relation: The relation that the claim states between them.
        text: The instance in words.

    Examples:
        >>> import fedtheory as ft
        >>> from verify import check
        >>> x = ft.letters("x")
        >>> claim = ft.Claim("own/square", setting=ft.Setting(letters=(x,)), statement=ft.Inequality(3 * x, 1 + x**2))
        >>> example = check(claim).counterexample
        >>> example.place(), str(example.left), str(example.right)
        ('x=1', '3', '2')
        >>> example.replay() == (example.left, example.right)
        True
    """

    claim: Claim = field(repr=False)
    recipe: Recipe
    point: tuple[Fraction, ...]
    rounds: int
    part: str
    entry: int
    left: Any
    right: Any
    relation: str
    text: str

    @property
    def case(self) -> Case:
        """The claim at the recipe, in fractions; made anew each time."""
        return Case(self.claim, self.recipe)

    def replay(self) -> tuple[Any, Any]:
        """Evaluate both sides again from the recipe, in fractions or by intervals.

        Returns:
            (left, right).
        """
        return parts.evaluate_at(self.case, self.point, self.rounds, self.part, self.entry)

    def place(self) -> str:
        """The instance and its state in words: those of ``text`` where they are as the recipe and the point have it."""
        try:
            case = self.case
            text = case.instance.text
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            # An order has a curve, and no instance.
            return self.text
        later = naming.later(self.claim, self.rounds)
        found = naming.place(text, naming.clause(case, self.point))
        for known in (found + later, found, text):
            # The rest gives the reason in words, so that a file cannot make another state of it.
            if self.text.startswith(known) and _WHY.fullmatch(self.text.removeprefix(known)):
                return self.text
        return found + later

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives the counterexample back."""
        return {
            "claim": self.claim.id,
            "changes": references.changes(self.claim),
            "recipe": references.encode(self.recipe),
            "point": [written(v) for v in self.point],
            "rounds": self.rounds,
            "part": self.part,
            "entry": self.entry,
            "left": number(self.left),
            "relation": self.relation,
            "right": number(self.right),
            "text": self.text,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Counterexample:
        """The counterexample stored by ``to_json``. Raise ``ValueError`` if a part is missing or cannot be rebuilt."""
        formats.checked("counterexample", data)
        claim, part = references.changed_claim(data), data["part"]
        relation = references.read_field(data, "part", lambda value: parts.relation(claim, value))
        if data["relation"] != relation:
            raise ValueError(f"relation: {claim.id} says {relation!r} there, {data['relation']!r} was got")
        return Counterexample(
            claim,
            references.read_field(data, "recipe", references.recipe),
            references.read_field(data, "point", lambda value: tuple(map(fraction, value))),
            references.read_field(data, "rounds", lambda value: _round(claim, part, value)),
            part,
            data["entry"],
            references.read_field(data, "left", real),
            references.read_field(data, "right", real),
            relation,
            data["text"],
        )


def load(path: Path) -> Counterexample:
    """Read the counterexample in a JSON file. The claim is rebuilt, nothing is evaluated.

    Args:
        path: The file, as ``fedtheory check --save`` and ``fedtheory audit`` write it.

    Returns:
        The counterexample.

    Raises:
        ValueError: In one sentence, with the file and the field, if there is none.
    """
    return formats.load(path, Counterexample.from_json)


class Replayed(NamedTuple):
    """A stored counterexample, evaluated again: in words, both sides ``before`` and ``now``, and what the claim says.

    ``same``: whether the sides are those stored; ``fails``: whether they contradict the claim.
    """

    id: str
    where: str
    gist: str
    text: str
    relation: str
    before: tuple[Any, Any]
    now: tuple[Any, Any]
    same: bool
    fails: bool


def replay(path: Path) -> Replayed:
    """Evaluate the counterexample in a file again, with limits on time and memory.

    Args:
        path: The file.

    Returns:
        Both sides, as stored and as they are now, and whether they contradict the claim.

    Raises:
        ValueError: As for :func:`load`, and when the file does not describe an instance of its claim.
    """
    return limits.limited(lambda: _replayed(load(path), str(path)), limits.SECONDS, limits.BYTES, str(path))


def replay_entry(entry: Mapping[str, Any]) -> Replayed:
    """As :func:`replay`, for the counterexample in a claim's entry in an audit's JSON."""
    example = Counterexample.from_json(entry["counterexample"])
    name = f"what is carried of {entry['id']}"
    return limits.limited(lambda: _replayed(example, name), limits.SECONDS, limits.BYTES, name)


def _replayed(example: Counterexample, name: str) -> Replayed:
    """``name``: of where the counterexample is from."""
    claim, relation, before = example.claim, example.relation, (example.left, example.right)
    try:
        now, text = example.replay(), example.place()
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError) as error:
        raise ValueError(f"{name} does not hold an instance of {claim.id}: {error!r}") from error
    same = all(_agree(a, b) for a, b in zip(now, before, strict=True))
    fails = deciding.violated(*now, relation)
    return Replayed(claim.id, claim.where, references.gist(claim), text, relation, before, now, same, fails)


def _agree(computed: Any, before: Any) -> bool:
    """Return True if a side equals the stored value: exactly for fractions, to the stored digits for other numbers."""
    if not (_is_number(computed) and _is_number(before)):
        return not _is_number(computed) and not _is_number(before) and str(float(computed)) == str(float(before))
    a, b = (fraction(number(v)) for v in (computed, before))
    if isinstance(computed, int | Fraction) and a == computed:
        return a == b
    of_floats = isinstance(computed, float) or (isinstance(computed, Interval) and computed.where)
    return abs(a - b) <= Fraction(1, 10 ** (9 if of_floats else 25)) * max(abs(a), abs(b))


def _is_number(side: Any) -> bool:
    """Return True if a side is neither infinite nor NaN."""
    return deciding.finite(side)


def _round(claim: Claim, part: str, value: int) -> int:
    known = parts.possible_rounds(claim, part)
    later = claim.statement.horizon and not part.startswith(samplers.PREFIX)
    if value not in known and not (later and second_moments.is_long(value)):
        raise ValueError(f"{' or '.join(map(str, known))} was expected, got {quoted(value)}")
    return value
