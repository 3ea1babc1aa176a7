"""Whether calls of a compressor, clients and the rows of a batch have random numbers of their own."""

from __future__ import annotations

import math

import numpy as np

from fedtheory.rational import Array
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

# Pairs of calls, at least.
_FEWEST_PAIRS = 3000
# Inputs on which calls, and clients, are tested to be independent.
_PAIRED = ("Gaussian entries",)


def check_pairs(test: Test) -> Found:
    """Whether two calls, two clients, and two rows of a batch have independent randomness."""
    kinds = ["clients" if len(test.calls) > 1 else "clients with generators of their own", "successive calls"]
    if test.batch:
        kinds.append("rows of one batch")
    vectors = test.vectors
    x = vectors[_PAIRED[0]]
    n = max(_FEWEST_PAIRS, int(test.samples * PAIR_SHARE / len(kinds) / 2))
    level = test.level / 4 / len(kinds)
    failures: list[Failure] = []
    for number, kind in enumerate(kinds):
        refuted, mean, same, taken = _correlation(test, kind, x, n, level, number)
        if refuted:
            alike = " (the two are always the same)" if same else ""
            text = (
                f"E<C(x) - x, C'(x) - x> is about {mean:.4g} |x|^2 for two {kind}, and must be 0 if they are "
                f"independent{alike}: {_reason(kind)} ({taken} pairs, level {level:.1g})"
            )
            failures.append(Failure(INDEPENDENT, kind, text, test.replay(_PAIRED[0])))
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


def _correlation(test: Test, kind: str, x: Array, n: int, level: float, number: int) -> tuple[bool, float, bool, int]:
    """Whether the errors of the two are correlated; their mean product; whether they were always equal; pairs used."""
    z = x.astype(float)
    square = float(z @ z)
    name = _PAIRED[0]
    streams = [generator(test, 3, number, i) for i in range(2)]
    other = len(test.calls) - 1
    centre = z if not test.contractive else sampled(test, 0, x, generator(test, 4), max(64, n // 4), name).mean(axis=0)
    total, taken, same = 0.0, 0, True

    def pair(count: int) -> tuple[Array, Array]:
        if kind == "successive calls":
            # In the batch form, row by row of two successive batches.
            if test.batch:
                both = [sampled(test, 0, x, streams[0], min(count, BATCH), name) for _ in range(2 * -(-count // BATCH))]
                return np.concatenate(both[::2])[:count], np.concatenate(both[1::2])[:count]
            values = sampled(test, 0, x, streams[0], 2 * count, name)
            return values[::2], values[1::2]
        if kind == "rows of one batch":
            values = sampled(test, 0, x, streams[0], 2 * count, name)
            return values[::2], values[1::2]
        a, b = (sampled(test, c, x, s, count, name) for c, s in zip((0, other), streams, strict=True))
        return a, b

    def source(count: int) -> Array:
        nonlocal total, taken, same
        a, b = pair(count)
        product = ((a - centre) * (b - centre)).sum(axis=1) / square
        total, taken, same = total + float(product.sum()), taken + count, same and bool((a == b).all())
        return product[:, None]

    if test.contractive:
        # The mean of a biased compressor is not known: only values that are always the same are told.
        first = source(min(n, 256))
        deterministic = bool((abs(first) <= 1e-20).all())
        return same and not deterministic, total / taken, same, taken
    w = test.factor
    slack = test.tolerance * (1 + w)
    # Of independent errors the product has the square of their variances as its second moment, at most.
    plan = prepare([0.0], "==", Assumed(variance=w**2), level, n, math.inf, slack)
    decision = race(plan, source, largest=max(64, AT_ONCE // test.d)).decisions[0]
    return decision in (Decision.ABOVE, Decision.BELOW), total / taken, same, taken
