"""What a method of verification is: what it speaks of, when it applies, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.search import hunting

#: Counterexamples collected before the simplest is made smaller.
REFUTATIONS = 4
#: What several methods speak of, in words.
CONSTANTS = "relations between constants, at all their values"
CLASS = "the whole class, in all dimensions, at exact parameters"


@dataclass(frozen=True)
class Inquiry:
    """A claim to examine, with a seed and how many instances the search proposes.

    ``given``: recipes that meet the hypotheses, in place of those that the search comes across; ``known``: verdicts of
    registered claims, by id, at this seed and size.
    """

    claim: Claim
    seed: int = 0
    size: int = 0
    given: tuple[Recipe, ...] | None = None
    known: Mapping[str, Verdict] = field(default_factory=dict)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The random numbers of the search, and of what comes after it."""
        return hunting.generator(self.claim, self.seed)

    @cached_property
    def hunt(self) -> hunting.Hunt:
        """The search for violations, which is made once."""
        return hunting.hunt(self.claim, self.rng, self.size, REFUTATIONS)

    @property
    def met(self) -> tuple[Recipe, ...]:
        """Recipes of instances that meet the hypotheses, at whose parameters a whole class is examined."""
        return self.hunt.met if self.given is None else self.given

    @property
    def others(self) -> int | None:
        """The seed of further choices of the parameters; None where they are for who gives them to say."""
        return self.seed if self.given is None else None


#: How a method has another claim examined on which its own rests.
Examine = Callable[[Inquiry], Iterable[Outcome]]


class Role(Enum):
    """What the outcome of a method is told for, beside its verdict."""

    #: It speaks of statements which no other method tests: it tells how much was examined, and nothing is added to it.
    ALONE = auto()
    #: It tells how much was examined, where none does that stands alone.
    MEASURES = auto()
    #: It would show more than the search: where it does not, what stood in its way is told.
    WHOLE = auto()
    #: What it looked at is told beside every verdict that is not against the claim.
    SAMPLES = auto()
    #: Where it decides nothing, the reason is told before all others.
    DERIVES = auto()
    #: Nothing but its verdict.
    SHOWS = auto()


@dataclass(frozen=True)
class Method:
    """A way to test a claim.

    ``name``: as outcomes are listed; ``covers``: what it speaks of, in words; ``applies(claim)``: whether it speaks of
    claims of this kind; ``run(method, inquiry)``: what it finds. Its outcome has no verdict where it decides nothing.
    ``shows``: the relations between two sides that its proofs show; no claim that states another is proved by it.
    ``role``: what its outcome is told for.
    Where something cannot be computed the outcome says so; a ``ValueError`` means that the claim cannot be tested at
    all, and any other error is a defect, which stops the check.
    """

    name: str
    covers: str
    applies: Callable[[Claim], bool]
    run: Callable[[Method, Inquiry], Outcome]
    shows: frozenset[str] = frozenset({"<="})
    role: Role = Role.SHOWS

    def unshown(self, claim: Claim) -> str:
        """A relation of the claim that a proof by this method does not show; empty where there is none."""
        stated = {comparison.relation for comparison in getattr(claim.statement, "comparisons", ())}
        return min(stated - self.shows, default="")

    def skipped(self, why: str, applied: bool = True) -> Outcome:
        """The outcome of a method that decides nothing, or (``applied`` False) that was not run."""
        return Outcome(self.name, self.covers, None, why, applied=applied)

    def found(self, verdict: Verdict | None, note: str, **details: Any) -> Outcome:
        """An outcome of this method; ``details`` are its fields."""
        return Outcome(self.name, self.covers, verdict, note, **details)


def states_a(*kinds: type) -> Callable[[Claim], bool]:
    """Whether the statement of a claim is one of these kinds."""
    return lambda claim: isinstance(claim.statement, kinds)
