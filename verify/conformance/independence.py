"""Test whether calls of a compressor, clients and the rows of a batch use independent random numbers."""

from __future__ import annotations

import math
from collections import Counter
from hashlib import blake2b
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance.calls import (
    AT_ONCE,
    BATCH,
    INDEPENDENT,
    PAIR_SHARE,
    PAIRED,
    CheckResult,
    Test,
    generator,
    sampled,
)
from verify.conformance.report import Failure
from verify.statistics.e_process import Assumed, log_capital, smallest_defect
from verify.statistics.sequential import Ruling, prepare, race

# The fewest successive calls that are compared with one another.
_FEWEST = 1500
# The most of them.
_MOST = 6000
#: The key in a failure's data that says whether the two were always the same.
SAME = "same"
# Calls are compared if they are at most the length of the series over this apart.
_FARTHEST = 2
# Values of a contraction are compared for being the same, at most the length of the series over this apart.
_FARTHEST_SAME = 8
# The nearest distances, whose capital is computed.
_NEAREST = 8
# The distances of the largest products, whose capital is computed.
_LARGEST = 24
_CALLS, _ROWS, _CLIENTS, _OWN = (
    "successive calls",
    "rows of one batch",
    "clients",
    "clients with generators of their own",
)
_REASONS = {
    _CALLS: "a call repeats or continues the random numbers of an earlier one",
    _ROWS: "one draw is shared by all rows, which stand for the clients, or by some",
    _CLIENTS: "they share their random numbers, or were seeded alike",
    _OWN: "the generator given is not used, and another is seeded anew",
}


def check_pairs(test: Test) -> CheckResult:
    """Test the independence of calls at any distance, of two clients, and of the rows of a batch."""
    clients = _CLIENTS if len(test.calls) > 1 else _OWN
    n = max(min(_FEWEST, test.samples // 4), min(_MOST, int(test.samples * PAIR_SHARE / 2)))
    level = test.level / 8
    failures: list[Failure] = []
    for found in (_between_clients(test, clients, n, level), _in_a_row(test, n, level)):
        if found is not None:
            alike = " (the two are always the same)" if found.same else ""
            text = (
                f"E<C(x) - x, C'(x) - x> is about {found.mean:.4g} |x|^2 for {found.which}, and must be 0 if they are "
                f"independent{alike}: {_REASONS[found.kind]} ({found.taken} pairs, level {level:.1g})"
            )
            failures.append(Failure(INDEPENDENT, found.kind, text, test.replay(PAIRED), {SAME: found.same}))
    # Rows that share their randomness, and then calls that repeat it, look dependent in every other way too.
    priority = (_ROWS, _CALLS)
    failures = next(([f] for kind in priority for f in failures if f.where == kind), failures)
    apart = n // (_FARTHEST_SAME if test.contractive else _FARTHEST)
    rows = ", of rows of one batch" if test.batch else ""
    checked = f"independence of {clients}, of {n} successive calls up to {apart} apart{rows}"
    detects = {} if test.contractive else {"correlation of two errors, of omega |x|^2": _smallest(test, n, level)}
    return CheckResult(tuple(failures), (checked,), detects, ())


def _smallest(test: Test, n: int, level: float) -> float:
    """The least correlation of calls at one distance that is found, for errors that are as long as each other."""
    assumed = Assumed(*(np.array([v]) for v in (-math.inf, math.inf, 1.0)))
    farthest = n // _FARTHEST
    return float(smallest_defect(np.zeros(1), assumed, level / farthest, n - farthest)[0])


class _Dependent(NamedTuple):
    """``which`` two are correlated, of which ``kind``; the mean product of their errors, by |x|^2; whether they were
    always equal; pairs used."""

    kind: str
    which: str
    mean: float
    same: bool
    taken: int


def _in_a_row(test: Test, n: int, level: float) -> _Dependent | None:
    """The distance of calls, or of rows, whose errors are most correlated, if any are.

    X = <e, e'>/|e| of an error e and a later one e' has mean 0 given all that came before e', and a variance of at most
    omega |x|^2. The level is shared out over all distances; half of it is for values that are all the same as before,
    however small their errors are.
    """
    x = test.vectors[PAIRED]
    z = x.astype(float)
    square = float(z @ z)
    values = sampled(test, 0, x, generator(test, 3, 1), n, PAIRED)
    if (values == values[:1]).all():
        return None
    farthest = max(1, n // (_FARTHEST_SAME if test.contractive else _FARTHEST))
    error = values - z
    period = _period(values, farthest, math.log(2 * farthest / level))
    if period:
        mean = float((error[:-period] * error[period:]).sum(axis=1).mean()) / square
        return _Dependent(_kind(test, period), _words(test, period), mean, True, n - period)
    if test.contractive:
        # The mean of a biased compressor is not known.
        return None
    length = np.sqrt((error**2).sum(axis=1, keepdims=True))
    before = np.divide(error, length, out=np.zeros_like(error), where=length > 0)
    w, variance = test.factor, np.array([test.factor * square])
    slack = test.tolerance * (1 + math.sqrt(w)) * math.sqrt(square)
    sums = _lagged(before, error, farthest)
    chosen = {*range(1, min(_NEAREST, farthest) + 1), *(int(k) + 1 for k in np.argsort(-abs(sums))[:_LARGEST])}
    need = math.log(4 * farthest / level)
    refuted: list[tuple[float, int]] = []
    for apart in sorted(chosen):
        product = (before[:-apart] * error[apart:]).sum(axis=1)
        capital = [
            float(log_capital(sign * product[:, None], np.array([slack]), Assumed(variance=variance))[0])
            for sign in (1, -1)
        ]
        if max(capital) >= need:
            refuted.append((max(capital), apart))
    if not refuted:
        return None
    # The nearest of those that are about as plain as the plainest.
    most = max(capital for capital, _ in refuted)
    apart = min(apart for capital, apart in refuted if capital >= most / 2)
    mean = float((error[:-apart] * error[apart:]).sum(axis=1).mean()) / square
    same = bool((values[apart:] == values[:-apart]).all())
    return _Dependent(_kind(test, apart), _words(test, apart), mean, same, n - apart)


def _period(values: Array, farthest: int, need: float) -> int:
    """The least distance at which all values are the same as before, 0 if there is none.

    All orders of independent values are equally likely. Those of them that repeat at a distance k are as many as there
    are orders of the first k, at most: at each distance independent values repeat with probability exp(-need) at most.
    """
    first = np.flatnonzero((values[1 : farthest + 1] == values[0]).all(axis=1)) + 1
    for apart in map(int, first):
        few = slice(apart, min(2 * apart + 64, len(values)))
        if not (values[few] == values[: few.stop - apart]).all():
            continue
        if (values[apart:] == values[:-apart]).all():
            return apart if _orders(_counted(values)) - _orders(_counted(values[:apart])) >= need else 0
    return 0


def _counted(values: Array) -> Counter[bytes]:
    """The number of times that each of the values ``(n, d)`` occurs, by their digests; zeros of both signs are one."""
    return Counter(blake2b((row + 0.0).tobytes(), digest_size=16).digest() for row in values)


def _orders(counts: Counter[bytes]) -> float:
    """The logarithm of how many orders there are of values that occur so often."""
    return math.lgamma(counts.total() + 1) - sum(math.lgamma(many + 1) for many in counts.values())


def _lagged(before: Array, after: Array, farthest: int) -> Array:
    """sum_t <before_t, after_{t+l}> for l = 1, ..., ``farthest``, by Fourier transforms."""
    size = 2 ** math.ceil(math.log2(2 * len(before)))
    spectrum = np.conj(np.fft.rfft(before, size, axis=0)) * np.fft.rfft(after, size, axis=0)
    return np.fft.irfft(spectrum.sum(axis=1), size)[1 : farthest + 1]


def _kind(test: Test, apart: int) -> str:
    return _ROWS if test.batch and apart < BATCH else _CALLS


def _words(test: Test, apart: int) -> str:
    if not test.batch:
        return f"two successive calls{f', {apart} apart' if apart > 1 else ''}"
    if apart < BATCH:
        return "two rows of one batch"
    return f"rows of two batches of {BATCH}, {apart} rows apart"


def _between_clients(test: Test, kind: str, n: int, level: float) -> _Dependent | None:
    """The two clients, or calls with generators of their own, whose errors are most correlated, if any are."""
    x = test.vectors[PAIRED]
    z = x.astype(float)
    square = float(z @ z)
    own = range(len(test.calls)) if kind == _CLIENTS else (0, 0)
    streams = [generator(test, 3, 0, i) for i in range(len(own))]
    centre = (
        z if not test.contractive else sampled(test, 0, x, generator(test, 4), max(64, n // 4), PAIRED).mean(axis=0)
    )
    pairs = list(combinations(range(len(own)), 2))
    # As many calls however many clients there are.
    n = max(64, n * 2 // len(own))
    total, taken, same = np.zeros(len(pairs)), 0, np.ones(len(pairs), dtype=bool)
    counts: list[Counter[bytes]] = [Counter() for _ in own]

    def source(count: int) -> Array:
        nonlocal total, taken, same
        values = [sampled(test, c, x, stream, count, PAIRED) for c, stream in zip(own, streams, strict=True)]
        products = (
            np.column_stack([((values[a] - centre) * (values[b] - centre)).sum(axis=1) for a, b in pairs]) / square
        )
        total, taken = total + products.sum(axis=0), taken + count
        for counted, value in zip(counts, values, strict=True):
            counted.update(_counted(value))
        same &= np.array([bool((values[a] == values[b]).all()) for a, b in pairs])
        return products

    if test.contractive:
        # As above: only what is always the same.
        source(min(n, 256))
        refuted = np.zeros(len(pairs), dtype=bool)
    else:
        w = test.factor
        slack = test.tolerance * (1 + w)
        # The second moment of a product of independent errors is at most the square of their largest variance.
        plan = prepare([0.0] * len(pairs), "==", Assumed(variance=w**2), level / len(pairs), n, math.inf, slack)
        decisions = race(plan, source, largest=max(64, AT_ONCE // (test.d * len(own)))).decisions
        refuted = np.isin(decisions, (Ruling.ABOVE, Ruling.BELOW))
    # The other half of the level: of all orders of a client's values one is that of the other's.
    need = math.log(2 * len(pairs) / level)
    refuted |= same & np.array([_orders(counts[b]) >= need for _, b in pairs])
    if not refuted.any():
        return None
    worst = int(np.argmax(np.where(refuted, abs(total), -1.0)))
    a, b = pairs[worst]
    which = f"clients {a + 1} and {b + 1}" if kind == _CLIENTS else f"two {kind}"
    return _Dependent(kind, which, float(total[worst]) / taken, bool(same[worst]), taken)
