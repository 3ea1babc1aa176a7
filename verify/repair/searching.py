"""The search for the least change: families of changes, the cheapest first, the least number of each that no search
refutes, and the verdicts of all methods on those that survive.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import free_symbols
from verify.repair.changes import families, misreadings
from verify.repair.families import COSTS, Change, Family
from verify.repair.lines import altered
from verify.repair.numbers import between, named
from verify.repair.restating import restated
from verify.repair.trials import FIRST, FURTHER, Bench, Ended, Verdict, collapsed

#: Verdicts of claims that hold, strongest first.
HOLDING = ("proved", "certified", "supported")
#: Instances of a longer search, as of a check.
LONG = 160
#: The number of repairs of a sort that are reported if only supported.
_SUPPORTED = 2
#: Letters that are subtracted from the least number that is shown.
_LETTERS = 6
#: Named numbers that are tried beside it.
_NAMES = 2
#: Numbers that hold without being shown, after which no more are tried.
_UNSHOWN = 2
#: Numbers that are checked below one that is only supported.
_LOWERED = 3
#: The cost of stating the same in another setting.
RESTATED = 0.1
#: Counterexamples that are enough to begin with.
_KNOWN = 4
#: The share of the trials that changes take.
_SHARE = 0.8
#: The most that a single change may cost before two together are tried.
_TWO = 3.6
#: Single changes from which pairs are made, one of a sort.
_BEAM = 8
#: Other changes that join them.
_JOINING = 120


@dataclass(frozen=True)
class Repair:
    """A change that survives: in words, its cost, the changed claim, and its verdict.

    ``verdict``: that of all methods; ``searches``: the number of further seeds at which a search found nothing either;
    ``nearer``: a smaller change, against which a short search found nothing, and which is not reported as a repair: the
    least number that survives a search is the one at which the search is weakest.
    """

    change: Change
    verdict: Verdict
    searches: int = 0
    nearer: str = ""

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return self.verdict.word


@dataclass
class Found:
    """The results so far: ``repairs``, the number of changes ``tried``, ``of`` how many, and True if ``complete``."""

    repairs: list[Repair] = field(default_factory=list)
    tried: int = 0
    of: int = 0
    complete: bool = False

    @property
    def least(self) -> Repair | None:
        """The repair that departs least from what is printed."""
        return min(self.repairs, key=lambda r: r.change.cost, default=None)

    @property
    def proven(self) -> Repair | None:
        """The least one that is more than supported."""
        return min(self._shown, key=lambda r: r.change.cost, default=None)

    @property
    def first(self) -> Repair | None:
        """The one to report first: of the family of the least one that is shown, the one that asserts most, even if its
        number is less simple; if none is shown, the least one.
        """
        least = self.proven
        if least is None or not least.change.amount.is_number:
            return least or self.least
        of, remark = least.change.family, bool(least.change.remark)
        alike = [r for r in self._shown if r.change.family is of and bool(r.change.remark) == remark]
        numbers = [r for r in alike if r.change.amount.is_number and of is not None and of.ordered]
        return min(numbers, key=lambda r: (_size(r.change.amount), r.change.cost), default=least)

    @property
    def _shown(self) -> list[Repair]:
        return [r for r in self.repairs if r.word in HOLDING[:2]]


#: True if a change survived in an earlier run, by its words: verdicts are found again, not taken over.
Known = dict[str, bool]


@dataclass(frozen=True)
class _Standing:
    """A change that survives a short search, its family and amount, and the largest amount that fails."""

    change: Change
    family: Family
    amount: sympy.Expr
    fallen: sympy.Expr


@dataclass
class Search:
    """A search for repairs of a claim.

    ``known``: by the words of a change, if it survived in an earlier run, to which it adds; ``say``: called with each
    result, in words; ``advance``: called for each family that is tried.
    """

    bench: Bench
    known: Known = field(default_factory=dict)
    say: Callable[[str], object] = lambda text: None
    found: Found = field(default_factory=Found)
    advance: Callable[[], object] = lambda: None
    _seen: set[str] = field(default_factory=set)
    _open: dict[str, _Standing] = field(default_factory=dict)

    @property
    def claim(self) -> Claim:
        """The claim to repair."""
        return self.bench.claim

    @cached_property
    def agenda(self) -> list[Family]:
        """The families of changes, the cheapest first."""
        return families(self.claim)

    def run(self) -> Found:
        """Search until a repair is proved or certified, all changes are tried, or the trials are over."""
        bench = self.bench
        # Some effort is kept for further searches against repairs that are only supported.
        kept, until, now = (1 - _SHARE) * bench.effort, bench.until, bench.clock()
        bench.effort, bench.until = bench.effort - kept, now + _SHARE * (until - now)
        try:
            self._run()
            self.found.complete = True
        except Ended:
            pass
        bench.effort, bench.until = max(bench.effort, 0) + kept, until
        with suppress(Ended):
            self._search_on()
        return self.found

    def _search_on(self) -> None:
        """Search at other seeds for counterexamples to the least unproved repair, as long as one of these fails.

        Among many changes, the survivors are those against which the drawn instances are weakest.
        """
        while (least := self.found.first) is not None:
            if least.searches or least.word == "proved":
                return
            if self.bench.fails_at_once(least.change.claim):
                self._drop(least)
                continue
            searches = 0
            for seed in range(1, FURTHER + 1):
                found = self.bench.search(least.change.claim, LONG, self.bench.seed + seed, 1)
                if found.places:
                    break
                searches += not found.why
            else:
                at, searched = self.found.repairs.index(least), replace(least, searches=searches)
                self.found.repairs[at] = searched
                if self._lowered(searched):
                    continue
                if (nearer := self._nearer(searched)) is not None:
                    self.found.repairs[at] = replace(searched, nearer=nearer.text)
                return
            self._drop(least)

    def _drop(self, repair: Repair) -> None:
        self.found.repairs.remove(repair)
        self.known[repair.change.text] = False

    def _run(self) -> None:
        self._collect()
        self.found.of = len(self.agenda)
        standing: list[_Standing] = []
        for family in self._all():
            # A surviving change that costs less than all that are to come is examined first.
            self._examine(standing, family.cost)
            if self._done(family.cost):
                return
            self.found.tried += 1
            self.advance()
            standing += self._least(family)
        self._examine(standing, float("inf"))
        if self.found.proven is None or self.found.proven.change.cost > _TWO:
            self._pairs(self.agenda)

    def _all(self) -> Iterator[Family]:
        """Yield the agenda, with changes of readings inserted from their cost on."""
        begun = sum(family.cost < COSTS["reading"] for family in self.agenda)
        yield from self.agenda[:begun]
        further = misreadings(self.claim, self.bench.misreadings())
        self.found.of += len(further)
        yield from heapq.merge(further, self.agenda[begun:], key=lambda family: family.cost)

    def _collect(self) -> None:
        """Collect counterexamples to the printed claim."""
        if self.claim.statement.refutable:
            for seed in range(2):
                if len(self.bench.pool) < _KNOWN:
                    self.bench.search(self.claim, LONG, self.bench.seed + seed, FIRST)

    def _done(self, cost: float) -> bool:
        proven = self.found.proven
        return proven is not None and proven.change.cost <= cost

    def _examine(self, standing: list[_Standing], cost: float) -> None:
        """Examine by all methods the changes that survive and cost at most this much, the cheapest first."""
        while standing:
            one = min(standing, key=lambda s: s.change.cost)
            if one.change.cost > cost or self._done(one.change.cost):
                return
            standing.remove(one)
            if self._enough(one.change):
                continue
            repair = self._checked(one.change)
            if repair is None:
                standing += self._least(one.family, one.amount) if one.family.ordered else []
                continue
            self._tell(repair)
            if one.family.ordered:
                self._refine(one, repair)

    def _tell(self, repair: Repair) -> None:
        self.found.repairs.append(repair)
        self.say(f"{repair.word}: {repair.change.text}")

    def _refine(self, one: _Standing, repair: Repair) -> None:
        """Try simpler numbers between the ones that fail and that survive, if the repair is shown: as far as they are
        shown too, then the least minus a letter, then numbers with names above those that fail.
        """
        if repair.word not in HOLDING[:2]:
            # The nearest failing change is sought for reported repairs only.
            self._open[repair.change.text] = one
            if repair is self.found.least:
                self._lowered(repair)
            return
        family, least = one.family, one.amount
        # A number that holds, but is not shown to, is as a rule one of many.
        unshown = 0

        def stands(amount: sympy.Expr) -> bool:
            return self._stands(family.change(self.claim, amount))

        def checked(amount: sympy.Expr) -> Repair | None:
            change = family.change(self.claim, amount)
            return self._checked(change) if change is not None and self._stands(change) else None

        def shows(amount: sympy.Expr) -> bool:
            nonlocal unshown
            found = checked(amount) if unshown < _UNSHOWN else None
            if found is None or found.word not in HOLDING[:2]:
                unshown += found is not None
                return False
            self._tell(found)
            return True

        _, least = _halved(family, one.fallen, least, shows)
        letters = sorted((s for s in free_symbols(self.claim.statement) if s.is_nonnegative), key=str)
        # To lower a hypothesis, or a number that is made smaller, makes the claim assert less.
        for letter in letters[:_LETTERS] if family.amounts[-1] > 1 else ():
            shows(least - letter / family.unit)
        fallen, open_ = _halved(family, one.fallen, least, stands)
        if open_ != least:
            # The least number that survives a search is below the least that holds.
            for number in islice(named(family.unit * fallen, family.unit * least), _NAMES):
                if (found := checked(number / family.unit)) is not None:
                    self._tell(found)
                    return

    def _nearer(self, repair: Repair) -> Change | None:
        """Return, for a repair that is only supported, the change by the least number that survives a short search, if
        it is another one.
        """
        one = self._open.get(repair.change.text)
        if one is None:
            return None
        family = one.family

        def stands(amount: sympy.Expr) -> bool:
            return self._stands(family.change(self.claim, amount))

        fallen, open_ = _halved(family, one.fallen, one.amount, stands)
        # A hypothesis has numbers that are simple.
        names = named(family.unit * fallen, family.unit * open_) if family.amounts[-1] > 1 else ()
        numbers = (n / family.unit for n in names)
        nearer = next((n for n in numbers if stands(n)), open_)
        change = None if nearer == one.amount else family.change(self.claim, nearer)
        reported = {r.change.text for r in self.found.repairs}
        return None if change is None or change.text in reported else change

    def _lowered(self, repair: Repair) -> bool:
        """Return True if a number smaller than that of a supported repair holds too; it is then reported."""
        for _ in range(_LOWERED):
            # A failing change is known from then on, and the next one is another.
            nearer = self._nearer(repair)
            further = None if nearer is None else self._checked(nearer)
            if further is not None:
                self._tell(further)
                return True
        return False

    def _enough(self, change: Change) -> bool:
        """Return True if enough repairs of a sort are only supported to give up the search for a proof among others."""
        return sum(r.word == "supported" and r.change.sort == change.sort for r in self.found.repairs) >= _SUPPORTED

    def _checked(self, change: Change) -> Repair | None:
        """Return a change with the verdict of all methods; None if it does not hold."""
        if self.bench.fails_at_once(change.claim):
            return None
        verdict = self.bench.check(change.claim)
        self.known[change.text] = verdict.word in HOLDING
        if verdict.word not in HOLDING:
            return None
        if verdict.word == "supported":
            for claim in restated(change.claim):
                elsewhere = self.bench.check(claim)
                if elsewhere.word in HOLDING[:2]:
                    return Repair(replace(change, claim=claim, cost=change.cost + RESTATED), elsewhere)
        return Repair(change, verdict)

    def _stands(self, change: Change | None) -> bool:
        """Return True if a short search finds nothing against a change."""
        if change is None or self.bench.fails_at_once(change.claim):
            return False
        if change.text in self.known:
            return self.known[change.text]
        if not change.claim.statement.refutable:
            return True
        searched = self.bench.search(altered(change.claim, self.claim))
        stands = not searched.places and not searched.why and not collapsed(change.claim, self.claim)
        self.known[change.text] = stands
        return stands

    def _new(self, change: Change | None) -> bool:
        """Return True if a change asserts something that no cheaper one did."""
        if change is None:
            return False
        content = f"{change.claim.statement.comparisons} {[(h.text, h.relation) for h in change.claim.requires]}"
        # Quantities of the same names may have other code.
        content += f" {change.claim.setting.text} {[id(q.of) for q in change.claim.statement.quantities]}"
        new = content not in self._seen and change.claim.statement != self.claim.statement
        elsewhere = "requires" in change.claim.changes or change.claim.setting != self.claim.setting
        new = new or (content not in self._seen and elsewhere)
        self._seen.add(content)
        return new

    def _least(self, family: Family, above: sympy.Expr = sympy.S.One) -> Iterator[_Standing]:
        """Yield the least amount on the grid of a family that survives, beyond one that does not."""
        fallen = above
        grid = [a for a in family.amounts if above == 1 or _size(a) > _size(above)]
        if family.ordered and not self._may_stand(family, grid):
            return
        for amount in grid:
            change = family.change(self.claim, amount)
            if change is not None and not self._new(change):
                # Another family has made this change, and makes the rest.
                return
            if change is not None and self._stands(change):
                yield _Standing(change, family, amount, fallen)
                return
            fallen = amount

    def _may_stand(self, family: Family, grid: list[sympy.Expr]) -> bool:
        """Return True if the largest amount, which serves if any does, holds at the known counterexamples to others."""
        change = family.change(self.claim, grid[-1]) if grid else None
        return change is not None and not self.bench.fails_at_once(change.claim)

    def _pairs(self, agenda: list[Family]) -> None:
        """Try two changes together: of each sort the one that mends most of the known counterexamples, with any other.

        A further hypothesis mends every counterexample that does not meet it, so it comes second. A reported repair
        needs nothing more; and a statement that is reversed as well as changed is another one.
        """
        once = (f for f in agenda if f.sort != "reversed")
        singles = [c for f in once for a in f.amounts[:2] if (c := f.change(self.claim, a)) is not None]
        holding = [(r.change.claim.statement, r.change.claim.requires) for r in self.found.repairs]
        reported = {c.text for c in singles if (c.claim.statement, c.claim.requires) in holding}
        shares = [(self.bench.share(c.claim), c) for c in singles if "requires" not in c.claim.changes]
        first: dict[str, Change] = {}
        for share, change in sorted(shares, key=lambda one: (-one[0], one[1].cost)):
            if share > 0 and change.text not in reported:
                first.setdefault(change.sort, change)
        for change in list(first.values())[:_BEAM]:
            standing = []
            # A replacement is not replaced again: that is a single change.
            again = " for " + change.text.split(" for ")[0].removeprefix("the right side times ")
            for family in families(change.claim)[:_JOINING]:
                for amount in family.amounts[:2] if family.sort != "reversed" else ():
                    second = family.change(change.claim, amount)
                    if second is None or second.text in reported or second.text.endswith(again):
                        continue
                    pair = Change(
                        f"{change.sort}, {second.sort}",
                        f"{change.text}, and {second.text}",
                        second.claim,
                        change.cost + second.cost,
                        change.remark or second.remark,
                    )
                    if self._new(pair) and self._stands(pair):
                        standing.append(pair)
            for pair in sorted(standing, key=lambda c: c.cost):
                if self._enough(pair):
                    continue
                repair = self._checked(pair)
                if repair is not None:
                    self._tell(repair)
                    if repair.word in HOLDING[:2]:
                        return


def _halved(
    family: Family, fallen: sympy.Expr, least: sympy.Expr, holds: Callable[[sympy.Expr], bool]
) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the largest amount that does not hold and the least that does, as far as simple numbers lie between
    them.
    """
    unit = family.unit
    while (number := between(unit * fallen, unit * least)) is not None:
        fallen, least = (fallen, number / unit) if holds(number / unit) else (number / unit, least)
    return fallen, least


def _size(amount: sympy.Expr) -> float:
    """Return the factor by which an amount departs from 1, up or down; for an added number, its size."""
    value = float(abs(amount))
    return max(value, 1 / value) if value else 1.0
