"""A compressor under test at new inputs of every size: what it does must not depend on how large they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance.calls import (
    CONTRACTION,
    SIZE_SHARE,
    UNBIASED,
    VARIANCE,
    BadCall,
    CheckResult,
    Test,
    generator,
    valued,
)
from verify.conformance.report import Failure
from verify.statistics.e_process import Assumed, smallest_defect
from verify.statistics.sequential import Ruling, prepare, race

# Sizes of entries, as powers of two: every fourth in the middle, and some beyond.
_MIDDLE = 40
_EDGES = (-120, -60, *range(-_MIDDLE, _MIDDLE + 1, 4), 60, 120)


def edges(test: Test) -> Array:
    """Powers of two between which entries are drawn, all within the range of the type; none beyond the middle ones
    where huge or tiny inputs are skipped."""
    far = int(0.4 * float(np.finfo(np.dtype(test.range)).maxexp))
    found = np.array([-far, *(e for e in _EDGES if -far < e < far), far])
    least, most = (_MIDDLE if name in test.skipped else far for name in ("tiny", "huge"))
    return found[(found >= -least) & (found <= most)]


def fresh(d: int, between: Array, rng: np.random.Generator) -> Array:
    """For each two neighbouring powers an input with entries of such sizes, ``(rungs, d)``: alike or not, some of them
    0, all of one sign or not."""
    low, high = between[:-1, None], between[1:, None]
    shape = (len(low), d)
    alike, thin, sign = (rng.integers(0, count, (len(low), 1)) for count in (2, 4, 3))
    x = np.where(alike == 1, 1.0, rng.uniform(0.25, 1.0, shape))
    kept = rng.random(shape) < 0.5
    kept[np.arange(len(low)), rng.integers(d, size=len(low))] = True
    x = np.where((thin == 0) & ~kept, 0.0, x)
    signs = np.where(sign == 2, rng.choice([-1.0, 1.0], shape), np.where(sign == 1, -1.0, 1.0))
    return signs * x * np.exp2(rng.uniform(low, high))


def check_sizes(test: Test, level: float) -> CheckResult:
    """Test the mean along x and the second moments at inputs of every size, all together at this level."""
    between = edges(test)
    many = len(between) - 1
    n = max(24, int(test.samples * SIZE_SHARE / many))
    rng, inputs = generator(test, 8), generator(test, 9)
    w, spread = test.factor, 1 + math.sqrt(test.factor)
    tol, c = test.tolerance * spread, (1 + test.factor) / 2
    targets, relations, variances = [w], ["<="], [math.inf]
    slack, low = [tol * (2 * math.sqrt(w) + tol)], [0.0]
    if not test.contractive:
        targets, relations, variances = [*targets, c * c, 1.0], [*relations, "<=", "=="], [math.inf, math.inf, w]
        slack, low = [*slack, tol * (2 * c + tol), tol], [0.0, 0.0, -math.inf]
    # The last column of each statistic is its average over all sizes.
    columns = many + 1
    total, taken, turn = np.zeros(len(targets) * columns), 0, 0

    def source(count: int) -> Array:
        nonlocal total, taken, turn
        rows = np.concatenate([fresh(test.d, between, inputs) for _ in range(count)]).astype(test.dtype)
        # Any of them may be the first row of a batch.
        order = inputs.permutation(len(rows))
        given, values = rows[order], np.empty((len(rows), test.d))
        values[order] = valued(test, turn % len(test.calls), given, rng, "inputs of many sizes")
        turn += 1
        if not np.array_equal(given, rows[order]):
            raise BadCall(Failure("interface/in-place", "compress", "changes its input in place", test.replay()))
        shift = -np.frexp(abs(rows).max(axis=1, keepdims=True))[1]
        z, values = np.ldexp(rows.astype(float), shift), np.ldexp(values, shift)
        square = (z**2).sum(axis=1)
        seen = [((values - z) ** 2).sum(axis=1)]
        if not test.contractive:
            seen += [((values - c * z) ** 2).sum(axis=1), (values * z).sum(axis=1)]
        by_size = [(v / square).reshape(count, many) for v in seen]
        found = np.concatenate([np.column_stack([v, v.mean(axis=1)]) for v in by_size], axis=1)
        total, taken = total + found.sum(axis=0), taken + count
        return found

    def each(values: list[Any]) -> Array:
        return np.repeat(np.array(values), columns)

    plan = prepare(
        each(targets),
        each(relations),
        Assumed(each(low), math.inf, each(variances) / np.tile([1.0] * many + [float(many)], len(targets))),
        level / (len(targets) * columns),
        n,
        math.inf,
        each(slack),
    )
    decisions = race(plan, source, together=True, largest=256).decisions.reshape(len(targets), columns)
    mean = (total / taken).reshape(len(targets), columns)
    checked = (f"the same at inputs of {many} sizes, from 2^{between[0]} to 2^{between[-1]}, {n} values each",)
    detects = {}
    if not test.contractive:
        assumed = Assumed(*(np.array([v]) for v in (-math.inf, math.inf, max(w, 1e-12))))
        size = float(smallest_defect(np.ones(1), assumed, plan.level, n)[0])
        detects["mean along x, of |x|, at inputs of one size"] = size + tol
    return CheckResult(_refuted(test, between, decisions, mean, taken), checked, detects)


def _refuted(test: Test, between: Array, decisions: Array, mean: Array, taken: int) -> tuple[Failure, ...]:
    wrong = np.isin(decisions, (Ruling.ABOVE, Ruling.BELOW))
    if not wrong.any():
        return ()
    # The mean along x says most, if it is off.
    if len(mean) > 2 and wrong[1:].any():
        worst = int(np.argmax(np.where(wrong[1:].any(axis=0), abs(mean[2] - 1), -1.0)))
        text = f"E<C(x), x> is about {mean[2, worst]:.4g} |x|^2, and must be |x|^2"
        claim, where = UNBIASED, "mean"
    else:
        worst = int(np.argmax(np.where(wrong[0], mean[0], -1.0)))
        text = f"E|C(x) - x|^2 is about {mean[0, worst]:.4g} |x|^2; claimed at most {test.factor:.6g}"
        claim, where = CONTRACTION if test.contractive else VARIANCE, "variance"
    sizes = (between[worst], between[worst + 1]) if worst + 1 < len(between) else (between[0], between[-1])
    text += f", on inputs whose entries are about 2^{sizes[0]} to 2^{sizes[1]} in size ({taken} of each size)"
    return (Failure(claim, where, text, test.replay()),)
