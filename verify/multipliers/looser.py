"""Statements that are looser than they have to be: of multipliers that are not unique most are not simple.

A larger number on the right leaves room for many multipliers. Those that are proposed at points near 1 may fail for
large n or small steps alone, so that points further apart are looked at. Then the numbers on the right are made as
small as programs at points allow: a proof of the tighter statement is one of the looser, with what was taken off as
squares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from verify.multipliers.forms import Key, ProductSum
from verify.multipliers.points import FAR, Programs
from verify.multipliers.posing import Posed
from verify.multipliers.proofs import CaseProof, WeightedSquare, Wrong, check
from verify.multipliers.ratios import Ratio, from_terms, terms
from verify.multipliers.search import Say, Search
from verify.multipliers.work import Work

#: The number of times that a number is halved, at most.
_HALVED = 10
#: How many times the least number is tried, the first first.
_ROOM = (2, 1)
#: The known inequality -1 <= 0.
_ONE = "1"


@dataclass(frozen=True, eq=False)
class _Summand:
    """A positive term of a number or of a square on the right side of what is to be shown."""

    key: Key
    value: Ratio

    def times(self, share: Fraction) -> ProductSum:
        return ProductSum({} if share == 0 else {self.key: self.value * share})


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def search_further(posed: Posed, work: Work, say: Say = lambda text: None) -> CaseProof | None:
    """A proof of a case that was not found among points near 1, with the work that is left."""
    far = Search(posed, work, say, spread=FAR)
    found = far.run()
    if found is not None or not far.keep:
        return found
    for shares in _least_shares(posed, far.programs):
        say(f"as tight as {[(s.key, str(s.value), str(share)) for s, share in shares.items()]}")
        tight = Search(_tighter(posed, shares), work, say, spread=FAR).run()
        found = None if tight is None else _loosened(posed, tight, shares)
        if found is not None or work.is_spent:
            break
    return found


def _summands(posed: Posed) -> list[_Summand]:
    found = []
    for key, c in posed.target.of.items():
        if key == ProductSum.ONE or (key[0] != "value" and key[1] == key[2]):
            sides = [1 if coefficient > 0 else -1 for _, coefficient in terms(c.den)]
            found += [
                _Summand(key, Ratio.of(from_terms(posed.domain.ring, {m: -a}), c.den))
                for m, a in terms(c.num)
                if all(a * side < 0 for side in sides)
            ]
    return found


def _tighter(posed: Posed, shares: Mapping[_Summand, Fraction]) -> Posed:
    """A claim that the left side is at most the right side with shares of its summands."""
    target = posed.target
    for summand, share in shares.items():
        target = target + summand.times(1 - share)
    return replace(posed, target=target)


def _least_shares(posed: Posed, programs: Programs) -> Iterator[dict[_Summand, Fraction]]:
    """Yield shares with which there are multipliers at all points: little more than what is left where all are
    halved in turn, and that."""
    shares = {summand: Fraction(1) for summand in _summands(posed)}

    def feasible(of: Mapping[_Summand, Fraction]) -> bool:
        tighter = Programs(_tighter(posed, of), programs.X, programs.work)
        every = range(len(posed.known))
        return not programs.work.is_spent and all(tighter.feasible(p, every, {}) for p in range(len(programs.X)))

    halving = list(shares)
    for _ in range(_HALVED):
        for summand in list(halving):
            less = {**shares, summand: shares[summand] / 2}
            if feasible(less):
                shares = less
            else:
                halving.remove(summand)
    seen: list[dict[_Summand, Fraction]] = [dict.fromkeys(shares, Fraction(1))]
    for room in _ROOM:
        more = {summand: min(Fraction(1), room * share) for summand, share in shares.items()}
        if more not in seen:
            seen.append(more)
            yield more


def _loosened(posed: Posed, tight: CaseProof, shares: Mapping[_Summand, Fraction]) -> CaseProof | None:
    """A proof from one of a tighter statement, checked anew; None where it is none."""
    multipliers, plans = dict(tight.multipliers), dict(tight.plans)
    for summand, share in shares.items():
        excess = summand.value * (1 - share)
        if excess.is_zero:
            continue
        if summand.key == ProductSum.ONE:
            multipliers[_ONE] = multipliers.get(_ONE, posed.zero) + excess
            continue
        block, row, _ = summand.key
        plan = plans[block]
        plans[block] = plan._replace(stated=(*plan.stated, WeightedSquare(None, excess, {row: posed.one})))
    try:
        return check(posed, multipliers, plans)
    except Wrong:
        return None
