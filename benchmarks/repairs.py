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
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.base import measured
from verify import results
from verify.base.evaluate import meeting
from verify.repair.searching import Search
from verify.repair.trials import Bench

#: Instances at which two repairs are compared, and how near two sides are that are the same.
INSTANCES, NEAR = 40, 1e-9


def pairs() -> Iterator[tuple[Claim, list[Claim]]]:
    """The refuted claims with the repairs made by hand."""
    shipped = results.shipped().entries
    for claim in claims.all():
        by_hand = [c for c in claims.repairing(claim.id)]
        if by_hand and shipped[claim.id]["verdict"] == "refuted":
            yield claim, by_hand


def compared(machine: Claim, hand: Claim) -> str:
    """How a repair by machine compares with one by hand: same, stronger, weaker, or other."""
    extra = {h.text for h in machine.requires} - {h.text for h in hand.requires}
    missing = {h.text for h in hand.requires} - {h.text for h in machine.requires}
    asks = "other" if extra and missing else "weaker" if extra else "stronger" if missing else "same"
    said = _sides(machine, hand)
    both = {asks, said} - {"same"}
    return "same" if not both else both.pop() if len(both) == 1 else "other"


def _sides(machine: Claim, hand: Claim) -> str:
    ours, theirs = machine.statement.comparisons, hand.statement.comparisons
    if set(ours) < set(theirs):
        return "weaker"
    quantities = measured(machine.statement) | measured(hand.statement)
    functions = [{q.expression: q.of for q in c.statement.quantities} for c in (machine, hand)]
    alike = functions[0].keys() == functions[1].keys() and machine.setting.sources.keys() == hand.setting.sources.keys()
    if len(ours) != len(theirs) or not ours or not alike:
        return "other"
    if ours == theirs:
        return "same"
    if any(a.relation != b.relation for a, b in zip(ours, theirs, strict=True)):
        return "other"
    rng, found = np.random.default_rng(0), set[str]()
    recipes = machine.instances.recipes(rng)
    for _, instance in islice(meeting(machine, islice(recipes, 50 * INSTANCES)), INSTANCES):
        values: dict[Any, Any] = dict(machine.setting.bind(instance.problem, instance.params))
        values |= {q: Fraction(int(rng.integers(1, 99)), 10) for q in quantities}
        values[sympy.Symbol("T", integer=True, nonnegative=True)] = int(rng.integers(0, 9))
        for a, b in zip(ours, theirs, strict=True):
            rooms = [_room(c, values) for c in (a, b)]
            if None in rooms:
                continue
            if a.relation == "==" and abs(rooms[0] - rooms[1]) > NEAR:
                return "other"
            # The less room an inequality leaves, the more it says.
            if abs(rooms[0] - rooms[1]) > NEAR * (abs(rooms[0]) + abs(rooms[1])):
                found.add("stronger" if rooms[0] < rooms[1] else "weaker")
    return "same" if not found else found.pop() if len(found) == 1 else "other"


def _room(comparison: Any, values: dict[Any, Any]) -> float | None:
    """The right side less the left one at values of all that they speak of."""
    put = (comparison.right - comparison.left).subs({s: _number(values, s) for s in comparison_symbols(comparison)})
    return float(put) if put.is_number and put.is_real else None


def comparison_symbols(comparison: Any) -> set[sympy.Symbol]:
    """The symbols of both sides."""
    return comparison.left.free_symbols | comparison.right.free_symbols


def _number(values: dict[Any, Any], symbol: sympy.Symbol) -> Any:
    by_name = {str(name): value for name, value in values.items()}
    value = values.get(symbol, by_name.get(str(symbol), 2))
    return sympy.Rational(str(Fraction(value))) if isinstance(value, int | Fraction) else sympy.Float(float(value))


def worked() -> float:
    """Seconds of processor time of this process and those that it started: other work on the machine counts not."""
    return sum(os.times()[:4])


def measure(claim: Claim, by_hand: list[Claim], seconds: float) -> dict[str, Any]:
    """One row of the table."""
    begun = worked()
    search = Search(Bench(claim, 0, begun + seconds, worked))
    found = search.run()
    row: dict[str, Any] = {
        "id": claim.id,
        "seconds": round(worked() - begun),
        "tried": found.tried,
        "of": found.of,
    }
    told = [r for r in (found.least, found.proven) if r is not None]
    order = ("same", "stronger", "weaker", "other")
    best = min(
        ((order.index(compared(r.change.claim, hand)), r, hand) for r in told for hand in by_hand),
        key=lambda one: one[0],
        default=None,
    )
    if best is None:
        return {**row, "result": "none"}
    place, repair, hand = best
    hand_verdict = results.shipped().entries[hand.id]["verdict"]
    return {
        **row,
        "result": order[place],
        "verdict": repair.word,
        "change": repair.change.text,
        "by hand": hand_verdict,
    }


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
    counts = Counter(row["result"] for row in rows)
    print(f"{len(rows)} claims:", ", ".join(f"{count} {result}" for result, count in counts.most_common()))


#: What is printed of each row.
COLUMNS = ("id", "result", "verdict", "by hand", "seconds", "tried", "of", "change")

if __name__ == "__main__":
    main()
