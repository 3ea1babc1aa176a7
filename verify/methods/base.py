"""The interface of a verification method (what it covers, when it applies, what it finds), and how methods are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.base import Statement
from verify.base.evaluate import meeting
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.reading import held, loading
from verify.search import hunting

#: Counterexamples collected before the simplest is made smaller.
REFUTATIONS = 4
#: Recipes beyond those that the search came across, at which code is seen.
MORE = 60
#: The subject of several methods, in words.
CONSTANTS = "relations between constants, at all their values"
CLASS = "the whole class, in all dimensions, at exact parameters"
#: The beginning of the note of a proof that does not count, as what is read may not be what is run.
UNCOUNTED = "left open: shown, but "
#: Verdicts of proofs.
PROVEN = (Verdict.PROVED, Verdict.CERTIFIED)


@dataclass(frozen=True)
class Inquiry:
    """A claim to examine, with a seed and how many instances the search proposes.

    ``given``: recipes that meet the hypotheses, in place of those that the search comes across; ``known``: verdicts of
    registered claims, by id, at this seed and size; ``methods``: by which claims are examined on which this one rests.
    """

    claim: Claim
    seed: int = 0
    size: int = 0
    given: tuple[Recipe, ...] | None = None
    known: Mapping[str, Verdict] = field(default_factory=dict)
    methods: tuple[Method, ...] = ()
    climbing: bool = True

    @property
    def statement(self) -> Any:
        """The claim's statement, of one of the method's kinds."""
        return self.claim.statement

    @cached_property
    def rng(self) -> np.random.Generator:
        """The random numbers of the search, and of what comes after it."""
        return hunting.generator(self.claim, self.seed)

    @cached_property
    def hunt(self) -> hunting.Hunt:
        """The search for violations, which is made once."""
        return hunting.hunt(self.claim, self.rng, self.size, REFUTATIONS, self.climbing)

    @property
    def met(self) -> tuple[Recipe, ...]:
        """Recipes of instances that meet the hypotheses, at whose parameters a whole class is examined."""
        return self.hunt.met if self.given is None else self.given

    @property
    def others(self) -> int | None:
        """The seed of further choices of the parameters; None where they are for who gives them to say."""
        return self.seed if self.given is None else None


def seen(inquiry: Inquiry) -> list[Instance]:
    """Instances that meet the hypotheses, of several sizes: at them it is seen of what kinds parameters and states are,
    and what is read of code is compared with it. Raise ``ValueError`` if there are none."""
    claim = inquiry.claim
    found = [claim.instances.build(recipe, True) for recipe in inquiry.met]
    if not found:
        raise ValueError("no instance meets the hypotheses")
    more = claim.instances.recipes(hunting.generator(claim, inquiry.seed))
    return found + [instance for _, instance in meeting(claim, islice(more, MORE))]


class Role(Enum):
    """The report of a method's outcome, apart from its verdict."""

    #: It handles statements that no other method tests: it reports how much was examined, and nothing is added to it.
    ALONE = auto()
    #: It reports how much was examined, unless a method that stands alone does.
    MEASURES = auto()
    #: It would show more than the search: where it does not, the obstacle is reported.
    WHOLE = auto()
    #: What it examined is reported beside every verdict but a refutation.
    SAMPLES = auto()
    #: Where it decides nothing, its reason is reported before all others.
    DERIVES = auto()
    #: Nothing but its verdict.
    SHOWS = auto()


@dataclass(frozen=True)
class Method:
    """A way to test a claim.

    ``name``: as outcomes are listed; ``covers``: what it covers, in words; ``kinds``: of the statements that it
    involves; ``run(method, inquiry)``: what it finds. Its outcome has no verdict where it decides nothing. ``shows``:
    the relations between two sides that its proofs show; no claim that states another is proved by it. ``role``: what
    its outcome is reported for. ``applies(claim)``: whether it handles a claim of these kinds, where not all are.
    ``recheck(method, inquiry, stored)``: the outcome that a stored proof amounts to now, for less than ``run`` takes.
    Raise ``ValueError`` if it does not hold. Without it a proof is found again by ``run``.
    ``guard(method, inquiry, stored)``: what a little of it finds beside a proof that holds, with the stored margin if
    that is so. Raise ``ValueError`` if it is not. Without it ``run`` is all there is.
    Where something cannot be computed the outcome says so; a ``ValueError`` means that the claim cannot be tested at
    all, and any other error is a defect, which stops the check.
    """

    name: str
    covers: str
    kinds: tuple[type[Statement], ...]
    run: Callable[[Method, Inquiry], Outcome]
    shows: frozenset[str] = frozenset({"<="})
    role: Role = Role.SHOWS
    applies: Callable[[Claim], bool] | None = None
    recheck: Callable[[Method, Inquiry, Outcome], Outcome] | None = None
    guard: Callable[[Method, Inquiry, Outcome], Outcome] | None = None
    reads: bool = True

    def speaks_of(self, claim: Claim) -> bool:
        """Return True if the method applies to a claim."""
        return isinstance(claim.statement, self.kinds) and (self.applies is None or self.applies(claim))

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


def _met_any(inquiry: Inquiry) -> bool:
    """Return True if an instance of the search met the hypotheses."""
    return "hunt" in vars(inquiry) and bool(inquiry.hunt.met)


def examined(
    inquiry: Inquiry, methods: tuple[Method, ...], find: Callable[[Method, Inquiry], Outcome] | None = None
) -> Iterator[Outcome]:
    """Yield each method's outcome in order; once a verdict is final, the remaining ones are skipped with a note.

    ``find(method, inquiry)``: what a method that applies finds, by default by running it.
    """
    final = ""
    files = loading.files(inquiry.claim.id)
    reached = held.Reached((inquiry.claim, files))
    for method in methods:
        if not method.speaks_of(inquiry.claim):
            why = f"does not apply: the statement is of the kind {inquiry.claim.statement.kind}"
            outcome = method.skipped(why, applied=False)
        elif final:
            outcome = method.skipped(f"not run: {final}", applied=False)
        else:
            with attributed(inquiry.claim):
                outcome = method.run(method, inquiry) if find is None else find(method, inquiry)
            if outcome.verdict in PROVEN and (relation := method.unshown(inquiry.claim)):
                outcome = method.skipped(
                    f"left open: the claim says {relation}, which a proof by this method does not show"
                )
            if outcome.verdict in PROVEN and (method.reads or files) and (why := reached.changing()):
                outcome = method.skipped(f"{UNCOUNTED}{why}")
            # Sides that are 0 wherever the hypotheses hold are compared by proofs alone.
            alike = outcome.verdict is Verdict.NOT_TESTED and method.role is Role.MEASURES and _met_any(inquiry)
            if outcome.verdict not in (None, Verdict.SUPPORTED) and not alike:
                final = f"{outcome.verdict} by the method {method.name!r}"
        yield outcome
