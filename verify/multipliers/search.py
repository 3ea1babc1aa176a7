"""The search for multipliers: floats, solvers and luck; none of them is trusted.

At points of the domain semidefinite programs say between what bounds each multiplier may be. A name is a function of
the letters that lies between them at all points: a value at which a diagonal entry vanishes, or a product of powers of
factors of the program. One multiplier after another is named; function values tell the others. Points where what is
found fails are added, and it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from verify.exact.elimination import eliminate
from verify.multipliers import naming
from verify.multipliers.charts import has_no_negative
from verify.multipliers.forms import Key
from verify.multipliers.points import NEAR, Floats, Programs, SamplePoints, exact_values, values
from verify.multipliers.posing import PREMISE, Posed
from verify.multipliers.proofs import (
    CaseProof,
    Matrix,
    SplitProof,
    Tree,
    Wrong,
    blocks,
    check,
    eliminated,
    lowered,
    matrix,
    pivots,
    planned,
    remainder,
)
from verify.multipliers.ratios import Ratio, from_terms, key, terms
from verify.multipliers.reasons import Between
from verify.multipliers.work import COSTS, Work

#: Points at which programs are solved.
POINTS = 28
#: The number of times that points where a candidate failed are added.
ROUNDS = 8
#: The largest amount below zero of a least eigenvalue in floats at which a matrix is still tried.
_ROUGH = -1e-3
#: The same of the rest of a proof.
_FINE = -1e-6
#: Multiples of values at which an entry of the diagonal vanishes, where a multiplier may be as large as need be.
_TIMES = (1, 2, 4, 8)
#: The number of points that have to say so without the errors of terms that cancel.
_SURE = 4

Say = Callable[[str], None]


@dataclass(eq=False)
class Search:
    """A search in one case.

    ``work``: what it may spend; ``say``: called with what happens; ``without``: inequalities that are not used;
    ``forward``: of those of which some are enough, the first ones are left out first; ``later``: of multipliers that
    function values tie together, the later ones are named, as 1 + c is not a product where c is one; ``spread``: how
    far apart the points are at which it looks; ``other_than``: exponents of multipliers that are not tried again, by
    name; ``ample``: inequalities whose multipliers may be as large as need be.
    """

    posed: Posed
    work: Work
    say: Say = lambda text: None
    seed: int = 0
    points: int = POINTS
    without: frozenset[str] = frozenset()
    forward: bool = False
    later: bool = False
    spread: float = NEAR
    other_than: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ample: frozenset[str] = frozenset()
    failing: list[Array] = field(default_factory=list)
    named: dict[int, Ratio] = field(default_factory=dict)
    fixed: list[dict[int, float]] = field(default_factory=list)
    keep: list[int] = field(default_factory=list)
    programs: Programs = field(init=False)
    #: The exponents of the multipliers that were named, and those of what was not shown to be a proof in the end.
    powers: dict[int, tuple[int, ...]] = field(default_factory=dict)
    unshown: dict[str, tuple[int, ...]] = field(default_factory=dict)
    #: Inequalities whose multipliers were found to be infinite somewhere, in what is otherwise a proof.
    infinite: set[str] = field(default_factory=set)
    why: str = "no multipliers were found"

    def run(self) -> CaseProof | None:
        """A proof that was checked, or None, which says nothing."""
        if not self.prepared():
            return None if self.names else self._checked({})
        for _ in range(ROUNDS):
            self.failing, self.named = [], {}
            self.fixed = [{} for _ in self.programs.X]
            found = self._next(0)
            if found is not None or not self.failing or self.work.is_spent:
                return found
            new = np.unique(np.array(self.failing), axis=0)[:10]
            programs = Programs(self.posed, new, self.work)
            every = self._usable()
            good = [p for p in range(len(new)) if programs.feasible(p, every, {}, self.slack)]
            self.say(f"more points {len(good)} of {len(new)}: {self.why}")
            if not good:
                return None
            self.programs = Programs(self.posed, np.concatenate([self.programs.X, new[good]]), self.work)
            if not all(programs.feasible(p, self.keep, {}, self.slack) for p in good):
                # The multipliers that sufficed before do not suffice there.
                self._support()
        return None

    def prepared(self) -> bool:
        """Choose points and what is needed at them; return False if there are no points, or no multipliers at them."""
        self.rng = np.random.default_rng(self.seed)
        self.names = list(self.posed.known)
        self.all = SamplePoints(self.posed, self.rng, self.spread)
        self.some = self.all.X[np.random.default_rng(0).permutation(len(self.all.X))[:400]]
        if len(self.all.X) < 4:
            self.why = "no points of the domain were found"
            return False
        if not self.names or not self._posed_at(self.all.choose(self.points)):
            return False
        self._support()
        self.atoms, self.fixed = self._atoms(), [{} for _ in self.programs.X]
        return True

    def _usable(self) -> list[int]:
        return [k for k, name in enumerate(self.names) if name not in self.without]

    def _posed_at(self, X: Array) -> bool:
        """Return True if programs at most points have multipliers, perhaps with a little room."""
        every = self._usable()
        programs = Programs(self.posed, X, self.work)
        for self.slack in (0.0, 1e-6):
            good = [p for p in range(len(X)) if programs.feasible(p, every, {}, self.slack)]
            self.say(f"feasible at {len(good)} of {len(X)} points, slack {self.slack}")
            if len(good) >= 0.9 * len(X):
                break
        bad = [p for p in range(len(X)) if p not in good]
        if bad:
            self.example = dict(zip(self.posed.names, X[bad[0]], strict=True))
        if len(good) < 0.5 * len(X):
            self.why = f"there are no multipliers at {len(bad)} of {len(X)} points"
            return False
        self.programs = Programs(self.posed, X[good], self.work)
        return True

    def _support(self) -> None:
        """Inequalities that are needed, and those whose multipliers follow from the others by function values."""
        keep = self._usable()
        every = range(len(self.programs.X))
        for k in list(keep) if self.forward else list(reversed(keep)):
            rest = [j for j in keep if j != k]
            if all(self.programs.feasible(p, rest, {}, self.slack) for p in every):
                keep = rest
        for both in self._orders(keep):
            # Function values may tie them together: then neither can be left out alone.
            rest = [j for j in keep if j not in both]
            if len(rest) == len(keep) - 2 and all(self.programs.feasible(p, rest, {}, self.slack) for p in every):
                keep = rest
        self.keep, self.determined = keep, self._by_values(keep)
        free = [k for k in keep if k not in self.determined]
        alone = [(block, rows[0], rows[0]) for block, rows in blocks(self.posed).items() if len(rows) == 1]
        forms = list(self.posed.known.values())
        self.order = sorted(
            free, key=lambda k: (self.names[k] in self.ample, -sum(key in forms[k].of for key in alone), k)
        )
        self.say(f"needed {[self.names[k] for k in keep]}, free {[self.names[k] for k in self.order]}")

    def _orders(self, keep: Sequence[int]) -> list[set[int]]:
        """Inequalities between the same two points, in either order."""
        reasons = {k: self.posed.reasons.get(self.names[k]) for k in keep}
        place = {self.names[k]: k for k in keep}
        opposite = {k: why.opposite for k, why in reasons.items() if isinstance(why, Between)}
        return [{k, place[name]} for k, name in opposite.items() if k < place.get(name, -1)]

    def _by_values(self, keep: list[int]) -> dict[int, tuple[Ratio, dict[int, Ratio]]]:
        """Multipliers that function values determine: a constant, and coefficients of the others."""
        forms = list(self.posed.known.values())
        value_keys = sorted({k for f in (self.posed.target, *forms) for k in f.of if k[0] == "value"})
        zero = self.posed.zero
        M = [[*(forms[k].of.get(v, zero) for k in keep), self.posed.target.of.get(v, zero)] for v in value_keys]
        columns = range(len(keep))
        pivots = eliminate(M, columns if self.later else reversed(columns), attrgetter("is_zero"))
        return {
            keep[c]: (
                row[-1],
                {keep[j]: -row[j] for j in range(len(keep)) if j not in pivots and not row[j].is_zero},
            )
            for row, c in zip(M, pivots, strict=False)
        }

    def _atoms(self) -> list[Any]:
        """Factors of one sign, positive, that are homogeneous."""
        self.gradings = naming.gradings(self.posed)
        found = []
        for p in naming.factors(self.posed):
            v, _ = Floats(p)(self.all.X)
            graded = all(naming.degree_in(p, g) is not None for g, _ in self.gradings)
            if graded and ((v > 0).all() or (v < 0).all()):
                found.append(p if v[0] > 0 else -p)
        self.say(f"factors {[key(p) for p in found]}")
        return found

    # One multiplier after another

    def _next(self, place: int) -> CaseProof | None:
        if self.work.is_spent:
            return None
        if place == len(self.order):
            return self._finish()
        k = self.order[place]
        for candidate in self.proposed(k):
            self.named[k] = candidate
            for f, v in zip(self.fixed, values(candidate, self.programs.X), strict=True):
                f[k] = float(v)
            self.say(f"{' ' * place}{self.names[k]} = {candidate}")
            found = self._next(place + 1)
            if found is not None:
                return found
            for f in self.fixed:
                f.pop(k, None)
            del self.named[k]
        return None

    def proposed(self, k: int) -> Iterator[Ratio]:
        """Yield what a multiplier may be beside those that are named."""
        intervals = [self.programs.interval(p, k, self.keep, f, self.slack) for p, f in enumerate(self.fixed)]
        live = [p for p, found in enumerate(intervals) if found is not None]
        if len(live) < 0.8 * len(intervals):
            return
        low, high = (np.array([intervals[p][s] for p in live]) for s in (0, 1))  # type: ignore[index]
        tried = set()
        for candidate in self._candidates(k, live, low, high):
            if candidate.key in tried:
                continue
            tried.add(candidate.key)
            yield candidate

    def _candidates(self, k: int, live: list[int], low: Array, high: Array) -> Iterator[Ratio]:
        X = self.programs.X[live]
        # Values that are not products of powers have none.
        self.powers.pop(k, None)
        room = 1e-2 if self.slack else 1e-4
        if self.names[k] in self.ample and (high > _TIMES[-1] * low).all():
            yield from (ratio for ratio in self._sums(k, X) if (values(ratio, X) >= low * (1 - room)).all())
            return
        if (low <= 1e-3 * self.programs.sizes(k, live)).all():
            yield self.posed.zero
        tight = list(self._tight(k))
        for ratio in [*tight, *(ratio * times for times in _TIMES[1:] if self.ample for ratio in tight)]:
            v = values(ratio, X)
            if (v >= low * (1 - room) - 1e-9).all() and (v <= high * (1 + room) + 1e-9).all():
                yield ratio
        low = np.where(low < 1e-6 * np.where(np.isfinite(high), high, 1), 0, low)
        at = np.array([Floats(p)(X)[0] for p in self.atoms]).reshape(len(self.atoms), len(X))
        units = [
            (np.array([naming.degree_in(p, g) for p in self.atoms], float), f[0] - f[k + 1]) for g, f in self.gradings
        ]
        units = [(u, d) for u, d in units if np.abs(u).max(initial=0) > 0 or abs(d) > 0]
        weights = np.array([1 + 0.4 * (len(p) - 1) for p in self.atoms])
        tolerance = 1e-2 if self.slack else 2e-4
        other_than = self.other_than.get(self.names[k])
        for c, powers in naming.names(at, low, high, self.rng, weights, units, 4, tolerance, self.work, other_than):
            self.powers[k] = powers
            ratio = self.posed.one * c
            for p, power in zip(self.atoms, powers, strict=True):
                if power:
                    ratio = ratio * Ratio(p, self.posed.domain.ring.constant(1)) ** power
            yield ratio

    def _sums(self, k: int, X: Array) -> Iterator[Ratio]:
        """Multiples of the sum of the values at which an entry of the diagonal vanishes."""
        tight = {ratio.key: ratio for ratio in self._tight(k)}
        positive = [ratio for ratio in tight.values() if (values(ratio, X) > 0).all()]
        yield from (sum(positive, self.posed.zero) * times for times in _TIMES if positive)

    def _vanishing(self, block: str, rows: Sequence[str]) -> Iterator[Key]:
        """Entries of the diagonal, and those beside one that is 0 whatever the multipliers are, which are 0 then."""
        forms = (self.posed.target, *self.posed.known.values())
        for row in rows:
            yield block, row, row
            if not any((block, row, row) in form.of for form in forms):
                yield from ((block, *sorted((row, other))) for other in rows if other != row)

    def _tight(self, k: int) -> Iterator[Ratio]:
        """Values at which an entry of the diagonal vanishes, and the same without its negative terms."""
        forms, zero = list(self.posed.known.values()), self.posed.zero
        for block, rows in blocks(self.posed).items():
            for entry in ((block, row, row) for row in rows) if not self.ample else self._vanishing(block, rows):
                slope, base = forms[k].of.get(entry, zero), -self.posed.target.of.get(entry, zero)
                for j, v in self.named.items():
                    base = base + v * forms[j].of.get(entry, zero)
                known = True
                for d, (constant, others) in self.determined.items():
                    c = forms[d].of.get(entry)
                    if c is None:
                        continue
                    base = base + constant * c
                    for j, w in others.items():
                        if j == k:
                            slope = slope + w * c
                        elif j in self.named:
                            base = base + w * self.named[j] * c
                        else:
                            known = False
                if not known or slope.is_zero or base.is_zero:
                    continue
                found = -base / slope
                yield found
                for side in (1, -1):
                    if has_no_negative(found.den * side):
                        kept = {m: c for m, c in terms(found.num) if c * side > 0}
                        if 0 < len(kept) < len(found.num):
                            yield Ratio.of(from_terms(self.posed.domain.ring, kept), found.den)

    def _finish(self) -> CaseProof | None:
        full = dict(self.named)
        for k, (constant, others) in self.determined.items():
            total = constant
            for j, w in others.items():
                total = total + w * self.named[j]
            full[k] = total
        multipliers = {self.names[k]: v for k, v in full.items() if not v.is_zero}
        for name, negative in self.posed.equal.items():
            if (less := multipliers.pop(negative, None)) is not None:
                more = multipliers.pop(name, self.posed.zero) - less
                multipliers |= {} if more.is_zero else {name: more}
        if self._refuted(multipliers):
            return None
        return self._checked(multipliers)

    def _refuted(self, multipliers: Mapping[str, Ratio]) -> bool:
        """Return True if floats show that these multipliers are not a proof; record where."""
        X = self.all.X
        for name, v in multipliers.items():
            at = values(v, X)
            if name not in self.posed.equal and (at < -1e-9 * np.abs(at).max()).any():
                self.failing.extend(X[np.argsort(at)[:3]])
                self.why = f"the multiplier of {name} is negative"
                return True
        left = remainder(self.posed, multipliers)
        for block, rows in blocks(self.posed).items():
            least = self._least(matrix(self.posed, left, block, rows))
            if least.min() < _FINE:
                worst = np.argsort(least)[:_SURE]
                self.failing.extend(x for x, w in zip(self.some[worst], least[worst], strict=True) if w < _FINE)
                self.why = "what the multipliers leave is not a sum of squares for some values of the letters"
                return True
        return False

    def _checked(self, multipliers: Mapping[str, Ratio]) -> CaseProof | None:
        doubting = replace(self.posed, domain=replace(self.posed.domain, doubts=self._doubts))
        try:
            left = remainder(doubting, multipliers)
            plans = {}
            for block, rows in blocks(doubting).items():
                of = matrix(doubting, left, block, rows)
                for plan in planned(doubting, of, rows):
                    below, _ = lowered(doubting, of, rows, plan)
                    if self._least(below).min(initial=0) < _ROUGH:
                        continue
                    found = eliminated(doubting.domain, below, rows)
                    if found is not None:
                        plans[block] = plan._replace(order=pivots(found))
                        break
                else:
                    raise Wrong(f"the block {block} is not shown to be a sum of squares")
            return check(self.posed, multipliers, plans)
        except Wrong as error:
            self.infinite |= {name for name, c in multipliers.items() if not self.posed.domain.never_zero(c.den)}
            self.why = str(error)
            self.unshown = {self.names[k]: powers for k, powers in self.powers.items() if k in self.named}
            self.say(f"not shown: {error}, {dict(multipliers)}")
            return None

    def _doubts(self, p: Any) -> bool:
        """Return True if floats say that a polynomial is negative somewhere, or the search has to stop."""
        self.work.spend(COSTS.sign)
        v, size = Floats(p)(self.some)
        return self.work.is_spent or bool((v < -1e-9 * size).any())

    def _least(self, of: Matrix) -> Array:
        """The least eigenvalues of a matrix, its diagonal scaled to ones, at some points.

        Where an entry is next to nothing its scaled rounding errors look like anything: the worst are made anew.
        """
        least = _least(of, self.some, values)
        sure = 0
        for p in np.argsort(least):
            if least[p] >= _FINE or sure == _SURE:
                break
            least[p] = _least(of, self.some[[p]], exact_values)[0]
            sure += least[p] < _FINE
        return least


def _least(of: Matrix, X: Array, at: Callable[[Ratio, Array], Array]) -> Array:
    A = np.array([[at(c, X) for c in row] for row in of]).reshape(len(of), len(of), -1).transpose(2, 0, 1)
    # Where rounding errors leave nothing of a denominator, a point says nothing.
    A = np.where(np.isfinite(A).all(axis=(1, 2))[:, None, None], A, 0.0)
    size = np.sqrt(np.maximum(np.abs(np.einsum("pii->pi", A)), 1e-300))
    return np.linalg.eigvalsh(A / size[:, :, None] / size[:, None, :])[:, 0]


def search(posed: Posed, work: Work, say: Say = lambda text: None, seed: int = 0) -> Tree | str:
    """Proofs of a case, or why none were found with the work that is left.

    Multipliers of premises may be as large as need be: such are looked for first, if there are premises. Where the
    whole is not shown, it is split by the sign of a difference between bounds of a maximum, and inequalities
    are left out whose multipliers become infinite at the end of the domain. Of inequalities of which some are enough,
    the last ones are left out first, and at the end the first ones.
    """
    premises = frozenset(name for name in posed.known if name.startswith(PREMISE))
    if premises and (ample := Search(posed, work, say, seed, ample=premises).run()) is not None:
        return ample
    whole = Search(posed, work, say, seed)
    found = whole.run()
    if found is not None:
        return found
    for p in splits(posed, whole.all.X):
        say(f"split by the sign of {key(p)}")
        halves = []
        for side in (1, -1):
            half = Search(posed.part(p * side), work, say, seed).run()
            if half is None:
                break
            halves.append(half)
        else:
            return SplitProof(p, halves[0], halves[1])
    # Which of several inequalities are used is the solver's choice; others may do where these do not.
    infinite = frozenset(whole.infinite)
    while infinite:
        say(f"without {sorted(infinite)}")
        again = Search(posed, work, say, seed, without=infinite)
        found = again.run()
        if found is not None:
            return found
        infinite = frozenset() if again.infinite <= infinite else infinite | again.infinite
    if not whole.keep:
        return whole.why
    say("inequalities are left out in the other order")
    return Search(posed, work, say, seed, forward=True).run() or whole.why


def search_others(posed: Posed, work: Work, say: Say = lambda text: None, seed: int = 0) -> CaseProof | None:
    """Return a proof of a case in which other multipliers are named than in :func:`search`, or None: of those that
    function values tie together the later ones, and then such as have other exponents than those that do not do."""
    later = Search(posed, work, say, seed, later=True)
    found = later.run()
    for name, powers in later.unshown.items() if found is None else ():
        say(f"{name} by other powers")
        found = Search(posed, work, say, seed, later=True, other_than={name: powers}).run()
        if found is not None:
            break
    return found


def splits(posed: Posed, X: Array) -> list[Any]:
    """Factors of differences between bounds of a maximum that have both signs, the shortest first."""
    found: dict[str, Any] = {}
    for bounds in posed.branches.values():
        for a, b in combinations(bounds, 2):
            for factor, power in (a - b).num.factor()[1] if not (a - b).is_zero else ():
                v, size = Floats(factor)(X)
                if int(power) % 2 and (v > 1e-9 * size).any() and (v < -1e-9 * size).any():
                    found.setdefault(key(factor), factor)
    return sorted(found.values(), key=len)
