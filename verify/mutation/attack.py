"""The checker attacked by mutants that are wrong in a region only: what it says of each, and whether that is so.

The truth is looked for by what the checker does not know, the region: a search among instances inside it alone. What
that search does not refute is not thereby true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.checking import check
from verify.mutation import Mutant, regions
from verify.mutation.selftest import mapped
from verify.search import hunting, states

#: Recipes that are drawn in search of instances inside a region.
DRAWN = 3000
#: Recipes that are drawn in search of one that a changed hypothesis allows, each sought among several.
ALLOWED = 300
#: Instances that are examined.
EXAMINED = 60


@dataclass(frozen=True)
class Attack:
    """The checker's verdicts on one mutant.

    ``quick``, ``full``: its verdicts at the two budgets, ``full`` where "quick" left a mutant standing that is false
    (None elsewhere, and unless that budget was asked for); both None where the mutant does not run. ``false``: whether
    a counterexample was confirmed. ``note``: what the verdict rests on.
    """

    id: str
    quick: Verdict | None
    full: Verdict | None
    false: bool
    note: str

    @property
    def verdict(self) -> Verdict | None:
        """The last verdict."""
        return self.full or self.quick

    @property
    def believed(self) -> bool:
        """True if a false statement was proved or certified, the worst error of a checker."""
        vouching = (Verdict.PROVED, Verdict.CERTIFIED)
        return self.false and (self.quick in vouching or self.full in vouching)


def drawn(holding: tuple[Claim, ...], seed: int, size: int) -> tuple[Mutant, ...]:
    """``size`` mutants of claims that hold."""
    return tuple(islice(regions.drawn(holding, seed), size))


def attacks(mutants: Sequence[Mutant], seed: int = 0, budget: str = "quick", jobs: int = 1) -> Iterator[Attack]:
    """Yield the checker's verdicts on the mutants, in order, as they become known."""
    return mapped(_attack, [(m, seed, budget) for m in mutants], jobs)


def _attack(mutant: Mutant, seed: int, budget: str) -> Attack:
    (claim,) = mutant.claims
    try:
        found = check(claim, seed, "quick")
    except Exception as error:  # Changed code may fail in any way.
        return Attack(mutant.id, None, None, False, f"{type(error).__name__}: {error}")
    if found.verdict is Verdict.REFUTED:
        return Attack(mutant.id, found.verdict, None, True, found.note)
    false = _refuted_inside(mutant, seed)
    if not false or budget != "full":
        return Attack(mutant.id, found.verdict, None, false, found.note)
    again = check(claim, seed, "full")
    return Attack(mutant.id, found.verdict, again.verdict, True, again.note)


def _refuted_inside(mutant: Mutant, seed: int) -> bool:
    """Return True if an instance on which the mutant differs refutes it."""
    (claim,), inside, examined = mutant.claims, mutant.inside, 0
    # Other draws than those of the check.
    rng = hunting.generator(claim, seed + 1_000_003)
    with threadpool_limits(limits=1):
        for recipe in hunting.proposed(claim, rng, ALLOWED if "requires" in claim.changes else DRAWN):
            case = Case(claim, recipe)
            try:
                if inside is not None and not inside(case.problem, case.params):
                    continue
                findings = states.examine(case, rng) or []
                scales = hunting.scales(claim, examined, examined)
                more = states.elsewhere(case, findings, scales) if findings else ()
                found = states.first_confirmed(case, [*findings, *more])
            except Exception:  # Changed code may fail in any way.
                continue
            if found is not None:
                return True
            examined += bool(findings)
            if examined == EXAMINED:
                break
    return False
