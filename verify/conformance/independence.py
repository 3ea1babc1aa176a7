"""Whether calls of a compressor, clients and the rows of a batch have random numbers of their own."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance.calls import (
    AT_ONCE,
    BATCH,
    INDEPENDENT,
    PAIR_SHARE,
    Found,
    Test,
    generator,
    sampled,
)
from verify.conformance.report import Failure
from verify.statistics.e_process import Assumed
from verify.statistics.power import smallest_defect
from verify.statistics.sequential import Decision, prepare, race

# Pairs of calls, at least, where as many calls are affordable.
_FEWEST_PAIRS = 3000
# Inputs on which calls, and clients, are tested to be independent.
_PAIRED = ("Gaussian entries",)
#: Of a failure's data: whether the two were always the same.
SAME = "same"
# Successive calls, or rows, any two of which are compared.
_SUCCESSIVE = 4


def check_pairs(test: Test) -> Found:
    """Whether two calls, two clients, and two rows of a batch have independent randomness."""
    kinds = ["clients" if len(test.calls) > 1 else "clients with generators of their own", "successive calls"]
    if test.batch:
        kinds.append("rows of one batch")
    vectors = test.vectors
    x = vectors[_PAIRED[0]]
    n = max(min(_FEWEST_PAIRS, test.samples // 4), int(test.samples * PAIR_SHARE / len(kinds) / 2))
    level = test.level / 4 / len(kinds)
    failures: list[Failure] = []
    for number, kind in enumerate(kinds):
        found = _correlation(test, kind, x, n, level, number)
        if found is not None:
            alike = " (the two are always the same)" if found.same else ""
            text = (
                f"E<C(x) - x, C'(x) - x> is about {found.mean:.4g} |x|^2 for {found.which}, and must be 0 if they are "
                f"independent{alike}: {_reason(kind)} ({found.taken} pairs, level {level:.1g})"
            )
            failures.append(Failure(INDEPENDENT, kind, text, test.replay(_PAIRED[0]), {SAME: found.same}))
    # Rows that share their randomness, and then calls that repeat it, look dependent in every other way too.
    told = ("rows of one batch", "successive calls")
    failures = next(([f] for kind in told for f in failures if f.where == kind), failures)
    checked = (f"independence of {', of '.join(kinds)}, {n} pairs of each",)
    detects = {"correlation of two errors, of omega |x|^2": _correlation_defect(test, n, level)}
    return Found(tuple(failures), checked, detects if not test.contractive else {}, ())


def _reason(kind: str) -> str:
    return {
        "successive calls": "a call repeats or continues the random numbers of the one before",
        "rows of one batch": "one draw is shared by all rows, which stand for the clients",
        "clients": "they share their random numbers, or were seeded alike",
        "clients with generators of their own": "the generator given is not used, and another is seeded anew",
    }[kind]


def _correlation_defect(test: Test, n: int, level: float) -> float:
    w = test.factor
    assumed = Assumed(*(np.array([v]) for v in (-math.inf, math.inf, w**2)))
    return float(smallest_defect(np.zeros(1), assumed, level, n)[0]) / w


class _Dependent(NamedTuple):
    """``which`` two are correlated; the mean product of their errors; whether they were always equal; pairs used."""

    which: str
    mean: float
    same: bool
    taken: int


def _correlation(test: Test, kind: str, x: Array, n: int, level: float, number: int) -> _Dependent | None:
    """The two, of all clients or of a few successive calls or rows, whose errors are most correlated, if any are."""
    z = x.astype(float)
    square = float(z @ z)
    name = _PAIRED[0]
    clients = len(test.calls) if kind == "clients" else 2
    streams = [generator(test, 3, number, i) for i in range(clients)]
    centre = z if not test.contractive else sampled(test, 0, x, generator(test, 4), max(64, n // 4), name).mean(axis=0)
    groups = clients if kind.startswith("clients") else _SUCCESSIVE
    pairs = list(combinations(range(groups), 2))
    # As many calls however many are grouped.
    n = max(64, n * 2 // groups)
    total, taken, same = np.zeros(len(pairs)), 0, np.ones(len(pairs), dtype=bool)

    def grouped(count: int) -> list[Array]:
        if kind == "successive calls" and test.batch:
            # Row by row of successive batches.
            batches = [
                sampled(test, 0, x, streams[0], min(count, BATCH), name) for _ in range(groups * -(-count // BATCH))
            ]
            return [np.concatenate(batches[i::groups])[:count] for i in range(groups)]
        if kind.startswith("clients"):
            own = range(groups) if kind == "clients" else (0, 0)
            return [sampled(test, c, x, stream, count, name) for c, stream in zip(own, streams, strict=True)]
        values = sampled(test, 0, x, streams[0], groups * count, name)
        return [values[i::groups] for i in range(groups)]

    def source(count: int) -> Array:
        nonlocal total, taken, same
        values = grouped(count)
        products = (
            np.column_stack([((values[a] - centre) * (values[b] - centre)).sum(axis=1) for a, b in pairs]) / square
        )
        total, taken = total + products.sum(axis=0), taken + count
        same &= np.array([bool((values[a] == values[b]).all()) for a, b in pairs])
        return products

    if test.contractive:
        # The mean of a biased compressor is not known: only values that are always the same are told.
        deterministic = (abs(source(min(n, 256))) <= 1e-20).all(axis=0)
        refuted = same & ~deterministic
    else:
        w = test.factor
        slack = test.tolerance * (1 + w)
        # Of independent errors the product has the square of their variances as its second moment, at most.
        plan = prepare([0.0] * len(pairs), "==", Assumed(variance=w**2), level / len(pairs), n, math.inf, slack)
        decisions = race(plan, source, largest=max(64, AT_ONCE // (test.d * groups))).decisions
        refuted = np.isin(decisions, (Decision.ABOVE, Decision.BELOW))
    if not refuted.any():
        return None
    worst = int(np.argmax(np.where(refuted, abs(total), -1.0)))
    a, b = pairs[worst]
    which = f"clients {a + 1} and {b + 1}" if kind == "clients" else f"two {kind}"
    which += f", {b - a} apart" if kind == "successive calls" and b - a > 1 else ""
    return _Dependent(which, float(total[worst]) / taken, bool(same[worst]), taken)
