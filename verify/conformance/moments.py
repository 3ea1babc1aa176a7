r"""A compressor under test against E C(x) = x and E|C(x) - x|^2 <= omega |x|^2, or E|C(x) - x|^2 <= (1 - alpha) |x|^2.

Nothing is enumerated. The tests of means are those of :mod:`verify.statistics.sequential`, of each coordinate the
empirical Bernstein bound. One statistic deserves a word: W = |C(x) - (1 + omega)/2 x|^2 is nonnegative, and the claim
makes its mean at most (1 + omega)^2/4 |x|^2. For rand-k and its like, whose variance is exactly what they claim, W is a
constant, so that a factor 1.01 too many is found in a few thousand calls instead of millions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from verify.base.plain import counted
from verify.conformance.bias import Answers, check_bias
from verify.conformance.bounds import bernstein_defect, bernstein_radius
from verify.conformance.calls import (
    AT_ONCE,
    COARSE,
    CONTRACTION,
    EXTREME,
    FLAT,
    FLAT_SHARE,
    LEAN_SHARE,
    PAIR_SHARE,
    SIZE_SHARE,
    SUBNORMAL,
    UNBIASED,
    VARIANCE,
    BadCall,
    CheckResult,
    Sums,
    Test,
    avoidable,
    generator,
    sampled,
)
from verify.conformance.report import Failure
from verify.conformance.scales import check_sizes
from verify.statistics.e_process import BETS, Assumed, average, growth, smallest_defect
from verify.statistics.sequential import Prepared, Ruling, prepare, race


def check_moments(test: Test) -> CheckResult:
    """Test by samples that means are x and second moments within the class, at the level of the test.

    Each input and coordinate has its share of the level; what would be found is in ``detects``.
    """
    vectors = test.vectors
    clients = range(len(test.calls))
    # A quarter of the level for every vector, and eighths: for every coordinate, for values that repeat or lean, for
    # all vectors together, for all sizes together; what is left is for independence and messages.
    share = test.level / 4 / (len(vectors) * len(test.calls))
    pool = _Pool(test.bound, test.factor, test.tolerance)
    failures: list[Failure] = []
    extreme: list[Failure] = []
    notes: list[str] = []
    detects: dict[str, float] = {}
    answers: list[Answers] = []
    for client in clients:
        rest = test.samples * (1 - FLAT_SHARE - SIZE_SHARE - PAIR_SHARE - LEAN_SHARE) / (len(vectors) - 1)
        for number, (name, x) in enumerate(vectors.items()):
            n = max(200, int((test.samples * FLAT_SHARE if name == FLAT else rest) / len(test.calls)))
            rng = generator(test, 2, client, number)
            one = _vector(test, client, name, x, rng, n, share, pool, answers)
            if name in EXTREME:
                extreme += [avoidable(failure, name) for failure in one.failures]
            else:
                failures += one.failures
            notes += one.notes
            for what, size in one.detects.items():
                detects[what] = max(detects.get(what, 0.0), size)
    counted = sum(own.sums.n for own in answers)
    sized = check_sizes(test, test.level / 8) if not failures else CheckResult()
    failures += sized.failures
    if not test.contractive:
        failures += [] if failures else pool.failures(test)
        detects["mean along x, of |x|, all inputs together, whatever the noise"] = pool.defect(test)
        biased, sure = check_bias(test, answers, test.level / 8) if not failures else ((), {})
        failures += biased
        detects |= sure
    statistics = (
        "variance" if test.contractive else "mean, coordinate by coordinate and where errors lean, and variance"
    )
    checked = (f"{statistics} at {len(vectors)} inputs, {counted} values",)
    return CheckResult(
        _collected([*failures, *extreme]),
        (*checked, *sized.checked),
        {**detects, **sized.detects},
        tuple(dict.fromkeys(notes)),
    )


class _Pool:
    """The capital against E<C(x), x> = |x|^2 from the values at all inputs together."""

    def __init__(self, bound: float, variance: float, tolerance: float) -> None:
        self.slack = tolerance * (1 + math.sqrt(variance))
        wide = bound * (1 + tolerance)
        self.assumed = Assumed(*(np.array([v]) for v in (1 - wide, 1 + wide, variance)))
        self.logs = np.zeros((2, len(BETS), 1))
        self.total, self.n = 0.0, 0

    def add(self, along: Array) -> None:
        """Samples ``(n,)`` of <C(x), x>/|x|^2; one outside the range would void the test, and ends it."""
        low, high, _ = self.assumed
        if not ((along >= low) & (along <= high)).all():
            self.logs -= math.inf
            return
        self.logs[0] += growth(along[:, None], np.array([1 + self.slack]), self.assumed)
        self.logs[1] += growth(-along[:, None], np.array([self.slack - 1]), self.assumed.mirrored)
        self.total, self.n = self.total + float(along.sum()), self.n + len(along)

    def failures(self, test: Test) -> list[Failure]:
        if not np.isfinite(self.logs).all() or average(self.logs).max() < math.log(2 / (test.level / 8)):
            return []
        mean = self.total / self.n
        text = f"E<C(x), x> is about {mean:.5g} |x|^2 over all inputs, and must be |x|^2: values are {_times(mean)}"
        return [Failure(UNBIASED, "mean", f"{text} ({self.n} values, level {test.level / 8:.1g})", test.replay())]

    def defect(self, test: Test) -> float:
        variance = Assumed(*self.assumed[:2], np.array([max(test.factor, 1e-12)]))
        return float(smallest_defect(np.ones(1), variance, test.level / 8, max(self.n, 1))[0]) + self.slack


def _vector(
    test: Test,
    client: int,
    name: str,
    x: Array,
    rng: np.random.Generator,
    n: int,
    level: float,
    pool: _Pool,
    answers: list[Answers],
) -> CheckResult:
    """The tests at one input, at this level, and at half of it those of its coordinates; adds what was seen."""
    given = x.copy()
    exponent = int(np.frexp(abs(x).max())[1])
    z = np.ldexp(x.astype(float), -exponent)
    square, largest = float(z @ z), float(abs(z).max())
    bounded = test.bound * math.sqrt(square)
    full = not test.contractive and name != SUBNORMAL
    total, squares, outside = np.zeros(test.d), np.zeros(test.d), False
    seen = 0
    first: Array | None = None
    same = True
    ever = np.zeros(test.d, dtype=bool)

    def source(count: int) -> Array:
        nonlocal seen, first, same, outside
        values = np.ldexp(sampled(test, client, given, rng, count, name), -exponent)
        if not np.array_equal(given, x):
            text = f"changes its input in place, on {name}"
            raise BadCall(Failure("interface/in-place", "compress", text, test.replay(name)))
        error = values - z
        size = (error**2).sum(axis=1)
        if full:
            outside |= bool((size > bounded**2).any() or (abs(error) > test.bound * largest).any())
            total.__iadd__(error.sum(axis=0))
            squares.__iadd__((error**2).sum(axis=0))
        first = values[0].copy() if first is None else first
        same = same and bool((values == first).all())
        ever.__ior__((values != 0).any(axis=0))
        seen += count
        columns = [size / square]
        if full:
            c = (1 + test.factor) / 2
            columns += [((values - c * z) ** 2).sum(axis=1) / square, 1 + error @ z / square]
            pool.add(columns[2])
        return np.column_stack(columns)

    tol, claimed = test.tolerance, test.factor
    # What rounding adds to |C(x) - x|^2: values may be off by tol |C(x)|, which is at most of size 1 + sqrt(omega).
    spread = 1 + math.sqrt(test.factor)
    if name == SUBNORMAL:
        # What is lost there is lost on processors that flush such numbers to 0, too, and so are their squares on any.
        tol, claimed = max(tol, COARSE * spread), max(claimed, 1.0)
    slack = [tol * spread * (2 * math.sqrt(claimed) + tol * spread)]
    targets, relations, low, high = [claimed], ["<="], [0.0], [math.inf]
    if full:
        c = (1 + test.factor) / 2
        targets += [c * c, 1.0]
        relations += ["<=", "=="]
        low += [0.0, 1 - test.bound * (1 + tol)]
        high += [math.inf, 1 + test.bound * (1 + tol)]
        slack += [tol * spread * (2 * c + tol * spread), tol * spread]
    unknown = [math.inf] * (len(targets) - 1) + [test.factor] if full else [math.inf]
    plan = _plan(tuple(targets), tuple(relations), tuple(low), tuple(high), tuple(unknown), tuple(slack), level / 2, n)
    largest_batch = max(64, AT_ONCE // test.d)
    sums = np.zeros(len(targets))
    taken = 0

    def adding(count: int) -> Array:
        nonlocal taken
        found = source(count)
        sums.__iadd__(found.sum(axis=0))
        taken += count
        return found

    raced = race(plan, adding, together=True, largest=largest_batch)
    decisions = list(raced.decisions)
    if full and decisions[2] is Ruling.OUTSIDE:
        # No range is known: what is left is the variance that the claim allows. A fresh sample, and half of the level.
        plan = prepare([1.0], "==", Assumed(variance=test.factor), level / 2, n, math.inf, slack[2])

        def along(count: int) -> Array:
            values = np.ldexp(sampled(test, client, given, rng, count, name), -exponent)
            return (values @ z / square)[:, None]

        decisions[2] = race(plan, along, largest=largest_batch).decisions[0]
    mean = sums / taken
    notes: tuple[str, ...] = ()
    if outside:
        notes = (f"|C(x) - x| exceeds {test.bound:.3g} |x| on {name}: means are tested by the variance alone",)
    if claimed > test.factor and mean[0] > test.factor + slack[0]:
        notes = (f"E|C(x) - x|^2 is about {mean[0]:.3g} |x|^2 on {name}, which no claim is about: they may become 0",)
    where = dict(seen=Sums(taken, total / taken, squares / taken, same, first if first is not None else z, ever), z=z)
    answers.append(Answers(client, name, x, z, exponent, where["seen"]))
    failures = _refuted(test, client, name, decisions, mean, taken, level, where)
    detects: dict[str, float] = {}
    if not failures and full and not outside:
        failures = _coordinates(test, client, name, where, largest, level / 2)
        deviation = float((squares / taken - (total / taken) ** 2).max())
        if name == FLAT:
            width = 2 * test.bound * largest
            detects["bias of a coordinate, equal entries, of its size"] = (
                bernstein_defect(deviation, width, taken, level / 2 / test.d) / largest
            )
    if name == FLAT:
        detects |= _sure(test, level / 2, n) if full else {}
    if name != SUBNORMAL:
        detects |= _variance_sure(test, level / 2, n)
    return CheckResult(failures, (), detects, notes)


@lru_cache(64)
def _plan(
    targets: tuple[float, ...],
    relations: tuple[str, ...],
    low: tuple[float, ...],
    high: tuple[float, ...],
    variance: tuple[float, ...],
    slack: tuple[float, ...],
    level: float,
    n: int,
) -> Prepared:
    """The tests at an input, which are the same at most of them."""
    return prepare(targets, relations, Assumed(low, high, variance), level, n, math.inf, slack)


@lru_cache(64)
def _smallest(target: float, low: float, high: float, variance: float, level: float, n: int) -> float:
    """The smallest defect that is found."""
    assumed = Assumed(*(np.array([v]) for v in (low, high, variance)))
    return float(smallest_defect(np.array([target]), assumed, level, n)[0])


def _sure(test: Test, level: float, n: int) -> dict[str, float]:
    """The smallest factor too many that is found in a compressor without noise along x, as rand-k at equal entries."""

    least = _smallest(1.0, 1 - test.bound, 1 + test.bound, 1e-12, level, n) + test.tolerance
    return {"mean along x, of |x|, without noise along x": least}


def _variance_sure(test: Test, level: float, n: int) -> dict[str, float]:
    """The smallest relative excess of a variance that is found, if |C(x) - x|^2 has a variance of at most omega^2."""
    if test.factor == 0:
        return {}
    size = _smallest(test.factor, 0.0, math.inf, test.factor**2, level, n)
    return {"variance too large, of what is claimed": size / test.factor}


def _refuted(
    test: Test,
    client: int,
    name: str,
    decisions: Sequence[Ruling],
    mean: Array,
    taken: int,
    level: float,
    where: Mapping[str, Any],
) -> tuple[Failure, ...]:
    """The failure that the decisions at one input amount to, if any."""
    wrong = [d in (Ruling.ABOVE, Ruling.BELOW, Ruling.OUTSIDE) for d in decisions]
    if len(wrong) > 2 and decisions[2] is Ruling.OUTSIDE:
        wrong[2] = False
    if not any(wrong):
        return ()
    seen, z = where["seen"], where["z"]
    of = test.of_client(client)
    tail = f" ({taken} values, level {level:.1g})"
    data = {"x": np.array(z), "mean": seen.mean + z, "samples": taken, "statistics": np.array(mean)}
    if test.frozen and not test.contractive:
        return (_frozen(test, taken, of, name, data),)
    if wrong[0]:
        claimed = f"{test.factor:.6g}"
        factor = f", {mean[0] / test.factor:.4g} times as much" if test.factor else ""
        text = f"E|C(x) - x|^2 is about {mean[0]:.6g} |x|^2 on {name}{of}; claimed at most {claimed}{factor}{tail}"
        if len(mean) > 2 and abs(mean[2] - 1) > 0.001:
            text += f"; its mean along x is about {mean[2]:.5g} x"
        return (Failure(CONTRACTION if test.contractive else VARIANCE, "variance", text, test.replay(name), data),)
    if wrong[2]:
        text = f"E<C(x), x> is about {mean[2]:.5g} |x|^2 on {name}{of}, and must be |x|^2: values are {_times(mean[2])}"
        return (Failure(UNBIASED, "mean", text + tail, test.replay(name), data),)
    excess = 4 * mean[1] / (1 + test.factor) ** 2
    text = (
        f"E|C(x) - (1+omega)/2 x|^2 is about {excess:.6g} times what an unbiased compressor with this omega can have, "
        f"on {name}{of}: values are about {_times(_scale(excess, test.factor, mean))}"
    )
    if excess > 1:
        # Then E|C(x)|^2 = (1 + omega) |x|^2 with another omega.
        text += f", or right on average with omega about {test.factor + (excess - 1) * (1 + test.factor) ** 2 / 4:.4g}"
    return (Failure(UNBIASED, "mean and variance", text + tail, test.replay(name), data),)


def _frozen(test: Test, taken: int, of: str, name: str, data: Mapping[str, Any]) -> Failure:
    text = (
        f"gives the same value at all {taken} calls{of} on {name}, and it is not x: its generator is seeded anew at "
        "every call, or the randomness is not used, or it has none"
    )
    return Failure(UNBIASED, "randomness", text, test.replay(name), data)


def _scale(excess: float, omega: float, mean: Array) -> float:
    """The factor s for which s C(x), C exactly as claimed, has this excess of W: s^2 - s + 1/4 grows so."""
    # E|sC - (1+w)/2 x|^2 = s^2 (1+w) - s (1+w) + (1+w)^2/4.
    c = (excess - 1) * (1 + omega) / 4
    return (1 + math.sqrt(max(1 + 4 * c, 0.0))) / 2


def _times(factor: float) -> str:
    return f"{abs(factor - 1):.2%} too {'large' if factor > 1 else 'small'}"


def _coordinates(
    test: Test, client: int, name: str, where: Mapping[str, Any], largest: float, level: float
) -> tuple[Failure, ...]:
    seen, z = where["seen"], where["z"]
    variance = np.maximum(seen.variance - seen.mean**2, 0.0) * seen.n / (seen.n - 1)
    width = np.full(test.d, 2 * test.bound * largest)
    slack = test.tolerance * (abs(z) + np.sqrt(variance))
    off = abs(seen.mean) - slack > bernstein_radius(variance, width, seen.n, level / test.d)
    if not off.any():
        return ()
    worst = int(np.argmax(np.where(off, abs(seen.mean), 0.0)))
    many = f", and {off.sum() - 1} more" if off.sum() > 1 else ""
    value = seen.mean[worst] + z[worst]
    never = "; it is never anything but 0" if not seen.kept[worst] else ""
    ratio = f", {value / z[worst]:.4g} times x_{worst}" if z[worst] else ""
    of = test.of_client(client)
    text = (
        f"E C(x)_{worst} is about {value:.5g} on {name}{of} where x_{worst} = {z[worst]:.5g}{ratio}{never}{many} "
        f"({seen.n} values, level {level:.1g}; both divided by a power of two)"
    )
    data = {"x": np.array(z), "mean": seen.mean + z, "samples": seen.n, "coordinates": np.flatnonzero(off)}
    if test.frozen:
        return (_frozen(test, seen.n, of, name, data),)
    return (Failure(UNBIASED, f"mean of coordinate {worst}", text, test.replay(name), data),)


def _collected(failures: list[Failure]) -> tuple[Failure, ...]:
    """One failure of each kind, the first, with the number of the others."""
    by_kind: dict[str, list[Failure]] = {}
    if any(f.where == "variance" for f in failures):
        # A variance that is too large says it all.
        failures = [f for f in failures if f.where != "mean and variance"]
    for failure in failures:
        by_kind.setdefault(failure.where.split(" of coordinate")[0], []).append(failure)
    found = []
    for first, *others in by_kind.values():
        more = f"; likewise at {counted(len(others), 'more input')}" if others else ""
        found.append(Failure(first.claim, first.where, first.evidence + more, first.replay, first.data))
    return tuple(found)
