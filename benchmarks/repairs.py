"""Repairs found by machine beside those made by hand, which the search does not see.

For each refuted claim that has a repair made by hand, ``fedtheory repair`` is run for some seconds of processor time,
and what it finds is compared with that repair: ``same``, ``stronger`` or ``weaker`` where both speak of the same
quantities, ``other`` where they do not, ``none`` where nothing is found. The comparison is made at instances that meet
the hypotheses, with numbers in place of the quantities: it measures, and proves nothing. Run it as

    python benchmarks/repairs.py --seconds 300 --out repairs.json
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.numbers.rational import evaluate
from verify import results
from verify.base.case import Case
from verify.base.evaluate import meeting, sides
from verify.repair.searching import HOLDING, Search
from verify.repair.trials import Bench

#: Instances on which two repairs are compared; of these those at which their sides are, and states of each; and how
#: near to each other what is the same comes out.
INSTANCES, STATED, NEAR = 40, 12, 1e-9


def pairs() -> Iterator[tuple[Claim, list[Claim]]]:
    """The refuted claims with the repairs made by hand."""
    shipped = results.shipped().entries
    for claim in claims.all():
        by_hand = [c for c in claims.repairing(claim.id)]
        if by_hand and shipped[claim.id]["verdict"] == "refuted":
            yield claim, by_hand


def compared(machine: Claim, hand: Claim) -> tuple[str, bool]:
    """How a repair by machine compares with one by hand: same, stronger, weaker, or other; and whether the one by hand
    says a further line, with which nothing is compared."""
    if _word_for_word(machine, hand):
        return "same", False
    said, further = _says(machine, hand)
    both = {_asks(machine, hand), said} - {"same"}
    return "same" if not both else both.pop() if len(both) == 1 else "other", further


def _word_for_word(machine: Claim, hand: Claim) -> bool:
    """Whether the one by machine says the lines of the other one in the setting and under the hypotheses that are
    printed, where the one by hand is of a setting of its own: instances of both there are none then. It may say other
    lines, too."""
    asks = {"requires", "setting", "algorithm"} & set(machine.changes)
    ours, theirs = (
        {(sympy.expand(c.left), c.relation, sympy.expand(c.right)) for c in claim.statement.comparisons}
        for claim in (machine, hand)
    )
    return bool(theirs) and not asks and machine.setting is not hand.setting and theirs <= ours


def _asks(machine: Claim, hand: Claim) -> str:
    """Which of the two is made of more instances; other where each is of some that the other one is not of."""
    found = set[str]()
    for claim, of_less, word in ((machine, hand, "stronger"), (hand, machine, "weaker")):
        for recipe, _ in _met(claim):
            if not _meets(of_less, recipe):
                found.add(word)
    return "same" if not found else found.pop() if len(found) == 1 else "other"


def _met(claim: Claim) -> Iterator[tuple[Any, Any]]:
    recipes = claim.instances.recipes(np.random.default_rng(0))
    return islice(meeting(claim, islice(recipes, 20 * INSTANCES)), INSTANCES)


def _meets(claim: Claim, recipe: Any) -> bool:
    try:
        return next(meeting(claim, [recipe]), None) is not None
    except (AttributeError, LookupError, TypeError):
        # It is an instance of another setting.
        return False


def _says(machine: Claim, hand: Claim) -> tuple[str, bool]:
    """Which of the two says more in the lines that both have; and whether the one by hand has others."""
    ours, theirs = machine.statement.comparisons, hand.statement.comparisons
    if not ours and not theirs:
        # Of limits nothing is compared at states: either they are of the same quantities or not.
        alike = machine.statement.lines(str) == hand.statement.lines(str)
        return "same" if alike else "other", False
    if _named_alike(machine, hand):
        return "other", False
    pairs = _paired(ours, theirs)
    further = len({j for _, j in pairs}) < len(theirs)
    if len(pairs) < len(ours) or not pairs:
        return "other", further
    found, seen = set[str](), 0
    for i, j in pairs:
        order = _RELATIONS.index(ours[i].relation) - _RELATIONS.index(theirs[j].relation)
        found |= {"stronger"} if order > 0 else {"weaker"} if order < 0 else set()
    for rooms in _rooms(machine, hand):
        for i, j in pairs:
            a, b = rooms[0][i], rooms[1][j]
            if not (np.isfinite(a).all() and np.isfinite(b).all()):
                continue
            seen += 1
            apart = abs(a - b) > NEAR * (1 + abs(a) + abs(b))
            if ours[i].relation == theirs[j].relation == "==":
                found |= {"other"} if apart.any() else set()
            else:
                # The less room an inequality leaves, the more it says.
                found |= {"stronger"} if (apart & (a < b)).any() else set()
                found |= {"weaker"} if (apart & (a > b)).any() else set()
    if not seen:
        return "other", further
    found |= _in_the_long_run(machine, hand)
    return "same" if not found else found.pop() if len(found) == 1 else "other", further


def _in_the_long_run(machine: Claim, hand: Claim) -> set[str]:
    """Which of two bounds says more after many rounds: that of the smaller factor."""
    if machine.statement.geometric is None or hand.statement.geometric is None:
        return set()
    found = set[str]()
    for recipe, _ in islice(_met(machine), STATED):
        instance = machine.instances.build(recipe, False)
        values = machine.setting.bind(instance.problem, instance.params)
        try:
            a, b = (float(evaluate(claim.statement.factor, values)) for claim in (machine, hand))
        except (ValueError, TypeError, ArithmeticError):
            # By hand it has other letters.
            return set()
        if abs(a - b) > NEAR:
            found.add("stronger" if a < b else "weaker")
    return found


def _named_alike(machine: Claim, hand: Claim) -> bool:
    """Whether quantities of the same name are different numbers, at instances and states of the one by machine."""
    names = {q.expression: q for q in hand.statement.quantities if not q.after}
    both = [(q, names[q.expression]) for q in machine.statement.quantities if not q.after and q.expression in names]
    rng = np.random.default_rng(0)
    for recipe, _ in islice(_met(machine), STATED if both else 0):
        try:
            case = Case(machine, recipe, exact=False)
            problem, state = case.start(rng.normal(size=(STATED, case.dimension)))
            values = [[np.asarray(q.of(problem, case.params, state), float) for q in pair] for pair in both]
        except (ValueError, AttributeError, LookupError, TypeError, ArithmeticError):
            # By hand it is of other states.
            continue
        if any(a.shape != b.shape or (abs(a - b) > NEAR * (1 + abs(a) + abs(b))).any() for a, b in values):
            return True
    return False


#: Relations, from the one that says least.
_RELATIONS = ("<=", "<", "==")


def _paired(ours: Any, theirs: Any) -> list[tuple[int, int]]:
    """Which lines of the one are lines of the other: those in the same place, or those that share a side."""
    if len(ours) == len(theirs):
        return [(i, i) for i in range(len(ours))]
    found = []
    for i, one in enumerate(ours):
        alike = [j for j, other in enumerate(theirs) if one.left == other.left or one.right == other.right]
        alike.sort(key=lambda j, one=one: (one.left != theirs[j].left) + (one.right != theirs[j].right))
        found += [(i, alike[0])] if alike else []
    return found


def _rooms(machine: Claim, hand: Claim) -> Iterator[tuple[list[Any], list[Any]]]:
    """At instances of the one by machine, and states: what each line of both leaves between its sides."""
    rng = np.random.default_rng(0)
    for recipe, _ in islice(_met(machine), STATED):
        try:
            both = [Case(claim, recipe, exact=False) for claim in (machine, hand)]
            theta = rng.normal(size=(STATED, both[0].dimension))
            with np.errstate(all="ignore"):
                found = [sides(case, theta) for case in both]
        except (ValueError, AttributeError, LookupError, TypeError, ArithmeticError):
            # It is no instance of both, or no number there.
            continue
        yield tuple([np.asarray(r, float) - np.asarray(l, float) for l, r in lines] for lines in found)


def worked() -> float:
    """Seconds of processor time of this process and those that it started: other work on the machine counts not."""
    return sum(os.times()[:4])


def measure(claim: Claim, by_hand: list[Claim], seconds: float) -> dict[str, Any]:
    """One row of the table."""
    begun = worked()
    search = Search(Bench(claim, 0, 10**9, begun + seconds, worked))
    found = search.run()
    row: dict[str, Any] = {
        "id": claim.id,
        "seconds": round(worked() - begun),
        "tried": found.tried,
        "of": found.of,
    }
    compared_with = []
    for repair in found.repairs:
        for hand in by_hand:
            if hand.statement.kind == "counterexample":
                continue
            result, further = compared(repair.change.claim, hand)
            verdict = results.shipped().entries[hand.id]["verdict"]
            counted = counts(result, repair.word, verdict)
            compared_with.append(
                (not counted, ORDER.index(result), HOLDING.index(repair.word), repair, verdict, further)
            )
    if not compared_with:
        return {**row, "result": "none"}
    _, place, _, repair, verdict, further = min(compared_with, key=lambda one: one[:3])
    return {
        **row,
        "result": ORDER[place],
        "verdict": repair.word,
        "change": repair.change.text,
        "by hand": verdict,
        "further": further,
    }


def counts(result: str, verdict: str, by_hand: str) -> bool:
    """Whether a repair by machine is at least as strong as one by hand: it is the same; or it says more, and is as well
    founded; or the two are not comparable, and it is shown."""
    if result == "stronger" and by_hand in HOLDING:
        return HOLDING.index(verdict) <= max(1, HOLDING.index(by_hand))
    return result == "same" or (result in ("stronger", "other") and verdict in HOLDING[:2])


def main() -> None:
    """Run what is not in the file yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ids", nargs="*", help="refuted claims (default: all with a repair by hand)")
    parser.add_argument("--seconds", type=float, default=300, help="of processor time for each claim (default: 300)")
    parser.add_argument("--out", type=Path, default=Path("repairs.json"), help="rows, kept as they are found")
    args = parser.parse_args()
    rows = json.loads(args.out.read_text()) if args.out.exists() else []
    for claim, by_hand in pairs():
        if claim.id in {row["id"] for row in rows} or (args.ids and claim.id not in args.ids):
            continue
        try:
            rows.append(measure(claim, by_hand, args.seconds))
        except Exception as error:  # One claim must not end the table.
            rows.append({"id": claim.id, "result": "failed", "change": repr(error)[:200]})
        args.out.write_text(json.dumps(rows, indent=1))
        print("\t".join(str(rows[-1].get(k, "")) for k in COLUMNS), flush=True)
    tally = Counter(row["result"] for row in rows)
    print(f"{len(rows)} claims:", ", ".join(f"{count} {result}" for result, count in tally.most_common()))
    strong = sum("verdict" in row and counts(row["result"], row["verdict"], row["by hand"]) for row in rows)
    print(f"at least as strong: {strong}")


#: How repairs compare, from what is best.
ORDER = ("same", "stronger", "other", "weaker")
#: What is printed of each row.
COLUMNS = ("id", "result", "verdict", "by hand", "seconds", "tried", "of", "change")

if __name__ == "__main__":
    main()
