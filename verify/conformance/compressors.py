r"""Anybody's compressor against E C(x) = x and E|C(x) - x|^2 <= omega |x|^2, or E|C(x) - x|^2 <= (1 - alpha) |x|^2.

Nothing is enumerated. The tests of means are those of :mod:`verify.statistics.sequential`, of each coordinate the
empirical Bernstein bound. One statistic deserves a word: W = |C(x) - (1 + omega)/2 x|^2 is nonnegative, and the claim
makes its mean at most (1 + omega)^2/4 |x|^2. For rand-k and its like, whose variance is exactly what they claim, W is a
constant, so that a factor 1.01 too many is found in a few thousand calls instead of millions.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory.compressors import Compressor
from fedtheory.contractive import Contractive
from fedtheory.rational import Array
from verify.conformance.bounds import bernstein_defect, bernstein_radius
from verify.conformance.report import Failure, Report, raised
from verify.conformance.vectors import FLAT, SUBNORMAL, inputs
from verify.statistics.e_process import BETS, Assumed, average, check_level, growth
from verify.statistics.power import smallest_defect
from verify.statistics.sequential import Decision, prepare, race

#: ``compress(x, rng)`` for one vector or, in the batch form, for the rows of a matrix.
Compress = Callable[..., Any]

# Calls in all, entries of all their values, and how the calls are shared out.
_CALLS, _ENTRIES = 600_000, 60_000_000
_FLAT_SHARE, _PAIR_SHARE = 0.3, 0.05
# Pairs of calls, at least.
_FEWEST_PAIRS = 3000
# Entries of values held at once, and rows of one call of the batch form.
_AT_ONCE, _BATCH = 1_000_000, 256
# Inputs on which calls, and clients, are tested to be independent.
_PAIRED = ("Gaussian entries",)

UNBIASED, VARIANCE, INDEPENDENT = "locodl/eq-2", "locodl/eq-2", "locodl/eq-3/independent"
CONTRACTION = "baseline/ef21/one-step"


class _Broken(Exception):
    """The interface is not what was agreed; holds the failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.evidence)
        self.failure = failure


@dataclass(frozen=True)
class _Test:
    """What is tested: ``calls``: one compressor for each client; ``factor``: omega, or 1 - alpha if ``contractive``;
    ``range``: the type whose range the inputs keep to; ``frozen``: whether all values at one input seem to be the same.
    """

    calls: tuple[Compress, ...]
    d: int
    factor: float
    contractive: bool
    batch: bool
    bits: int | None
    seed: int
    level: float
    tolerance: float
    dtype: str
    range: str
    bound: float
    samples: int
    frozen: bool = False

    @property
    def vectors(self) -> dict[str, Array]:
        """The inputs, within the range of the values' type."""
        return {name: x.astype(self.dtype) for name, x in inputs(self.d, self.seed, self.range).items()}

    @property
    def constant(self) -> str:
        return f"alpha = {1 - self.factor:.4g}" if self.contractive else f"omega = {self.factor:.4g}"

    def replay(self, name: str | None = None) -> str:
        given = f"alpha={1 - self.factor!r}" if self.contractive else f"omega={self.factor!r}"
        batch = ", batch=True" if self.batch else ""
        again = f"conformance.compressor(compress, d={self.d}, {given}, seed={self.seed}{batch})"
        if name is None:
            return again
        return f"x = conformance.inputs({self.d}, {self.seed}, {self.range!r})[{name!r}]\n{again}"


class _Seen(NamedTuple):
    """Sums over n values of C(x)/scale: ``mean (d,)``, ``variance (d,)``, whether all were the same, the first."""

    n: int
    mean: Array
    variance: Array
    same: bool
    first: Array
    kept: Array


def compressor(
    compress: Compress | Sequence[Compress] | Compressor | Contractive,
    d: int,
    omega: Any = None,
    *,
    alpha: Any = None,
    bits: int | None = None,
    seed: int = 0,
    level: float = 1e-6,
    batch: bool = False,
    tolerance: float | None = None,
    dtype: str = "float64",
    bound: float | None = None,
    samples: int | None = None,
) -> Report:
    """Test ``compress(x, rng)`` on R^d: is it unbiased with variance ``omega``, or a contraction by ``alpha``?

    ``compress`` takes a vector ``(d,)`` and a ``numpy.random.Generator`` and returns what ``np.asarray`` takes; with
    ``batch`` it takes the rows ``(m, d)``, each compressed by itself with randomness of its own. A sequence of
    functions: the compressors of as many clients, which must then be independent of each other. A function of one
    argument has randomness of its own. Exactly one of ``omega`` and ``alpha`` (E|C(x) - x|^2 <= (1 - alpha)|x|^2) is
    claimed. ``bits``: the length of a message; fewer than 2^bits values may then occur, and where ``compress`` returns
    (value, bits), none may be longer.

    ``level``: the chance that a right compressor is rejected. It takes all |C(x) - x| <= ``bound`` |x|, in the
    Euclidean and the largest norm, by default 2 (1 + omega); where a value shows that this is not so, the tests of the
    mean rest on the variance alone. ``samples``: calls in all (rows, with ``batch``). ``tolerance``: relative errors of
    values that are rounding, by default by the type of the values. ``dtype``: of the inputs. ``ValueError`` for
    arguments that make no sense; whatever the compressor does wrong is in the report.
    """
    test = _posed(compress, d, omega, alpha, bits, seed, level, batch, tolerance, dtype, bound, samples)
    kind = "a contraction" if test.contractive else "unbiased"
    subject = f"the compressor on R^{d}, claimed to be {kind} with {test.constant},"
    with np.errstate(all="ignore"):
        try:
            test = _typed(test, tolerance)
            _interface(test)
            # Clients that were seeded alike are in step only while all have been called as often.
            pairs = _pairs(test) if test.factor > 0 else _Found()
            found = _statistics(test)
        except _Broken as broken:
            return Report(subject, test.level, test.tolerance, (broken.failure,), ("the interface",))
        notes = (*found.notes, *pairs.notes, *_special_values(test))
    # Means of rows that share their randomness say nothing.
    trusted = not any(f.where == "rows of one batch" for f in pairs.failures)
    # Values that are always the same are told once.
    dependent = () if test.frozen and found.failures else pairs.failures
    failures = _bits(test, found.distinct) + dependent + (found.failures if trusted else ())
    return Report(
        subject,
        test.level,
        test.tolerance,
        failures,
        (*_interface_words(test), *found.checked, *pairs.checked),
        {**found.detects, **pairs.detects},
        notes,
    )


class _Found(NamedTuple):
    failures: tuple[Failure, ...] = ()
    checked: tuple[str, ...] = ()
    detects: Mapping[str, float] = {}
    notes: tuple[str, ...] = ()
    distinct: int = 0


def _posed(
    compress: Any,
    d: int,
    omega: Any,
    alpha: Any,
    bits: int | None,
    seed: int,
    level: float,
    batch: bool,
    tolerance: float | None,
    dtype: str,
    bound: float | None,
    samples: int | None,
) -> _Test:
    if isinstance(compress, Compressor | Contractive):
        own = compress
        if isinstance(own, Contractive):
            alpha = own.alpha if alpha is None and omega is None else alpha
        else:
            omega = own.omega if omega is None and alpha is None else omega
        batch = True

        def compress(x: Array, rng: np.random.Generator) -> Array:
            return own.apply(own.draws.sample(rng, x.shape[:-1]), x)

    calls = tuple(compress) if isinstance(compress, Sequence) else (compress,)
    if not calls or not all(callable(call) for call in calls):
        raise ValueError("a compressor is a function compress(x, rng), or a sequence of them, one a client")
    if (omega is None) == (alpha is None):
        raise ValueError("a compressor claims either omega (unbiased) or alpha (contractive)")
    inputs(d, 0, dtype)
    check_level(level)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"the seed must be a nonnegative integer, got {seed}")
    if omega is not None and not 0 <= omega < math.inf:
        raise ValueError(f"omega must be at least 0 and finite, got {omega}")
    if alpha is not None and not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], got {alpha}")
    for name, value in (("tolerance", tolerance), ("bound", bound), ("samples", samples), ("bits", bits)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    factor = float(omega) if alpha is None else 1 - float(alpha)
    most = samples or max(2000, min(_CALLS, _ENTRIES // d))
    return _Test(
        calls=tuple(_two_arguments(call) for call in calls),
        d=int(d),
        factor=factor,
        contractive=alpha is not None,
        batch=batch,
        bits=bits,
        seed=int(seed),
        level=float(level),
        tolerance=rounding_of(dtype) if tolerance is None else float(tolerance),
        dtype=str(np.dtype(dtype)),
        range=str(np.dtype(dtype)),
        bound=2 * (1 + factor) if bound is None else float(bound),
        samples=int(most),
    )


def rounding_of(dtype: Any) -> float:
    """The relative error that counts as rounding, unless stated: 1e-9 in double precision, 1024 units of others."""
    return float(min(max(1e-9, 1024 * np.finfo(dtype).eps), 0.02))


def _two_arguments(call: Compress) -> Compress:
    """The function of (x, rng), whether or not it takes a generator."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return call
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    if len(positional) == 1 and positional[0].kind is not positional[0].VAR_POSITIONAL:
        return lambda x, rng: call(x)
    return call


# The interface


def _generator(test: _Test, *purpose: int) -> np.random.Generator:
    return np.random.default_rng([test.seed, *purpose])


def _call(test: _Test, client: int, x: Array, rng: np.random.Generator, name: str) -> tuple[Array, int | None]:
    """What the compressor makes of an array, as an array of the same shape, and the length of its message."""
    try:
        value = test.calls[client](x, rng)
    except Exception as error:
        raise _Broken(
            Failure("interface/raises", "compress", f"{raised(error)}, on {name}", test.replay(name))
        ) from None
    length = None
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[1]) == 0 and np.shape(value[0]) == x.shape:
        value, length = value[0], int(value[1])
    try:
        array = np.asarray(value)
    except Exception as error:
        text = f"returns a {type(value).__name__} that np.asarray does not take ({raised(error)})"
        raise _Broken(Failure("interface/value", "compress", text, test.replay(name))) from None
    if array.shape != x.shape:
        text = f"turns an array of shape {x.shape} into one of shape {array.shape}, on {name}"
        raise _Broken(Failure("interface/shape", "compress", text, test.replay(name)))
    if array.dtype.kind not in "fiub":
        text = f"returns entries of type {array.dtype}, not real numbers"
        raise _Broken(Failure("interface/dtype", "compress", text, test.replay(name)))
    return array, length


def _shaped(test: _Test, x: Array) -> Array:
    return np.tile(x, (2, 1)) if test.batch else x.copy()


def _interface(test: _Test) -> None:
    """A few values for each input; raises what is wrong with shapes, types, zeros, finiteness and changes in place."""
    vectors = {"zeros": np.zeros(test.d, test.dtype), **test.vectors}
    for client in range(len(test.calls)):
        rng = _generator(test, 1, client)
        for name, x in vectors.items():
            for _ in range(4):
                given = _shaped(test, x)
                before = given.copy()
                value, _ = _call(test, client, given, rng, name)
                kept = value.copy()
                if not np.array_equal(given, before):
                    text = f"changes its input in place, on {name}: the caller's vector is not what it was"
                    raise _Broken(Failure("interface/in-place", "compress", text, test.replay(name)))
                if not np.isfinite(value).all():
                    bad = value[~np.isfinite(value)][0]
                    text = f"gives {bad} on {name}, all of whose entries are finite"
                    raise _Broken(Failure(_id(test, "finite"), "compress", text, test.replay(name)))
                if name == "zeros" and value.any():
                    text = f"C(0) has an entry {value[value != 0][0]:.3g}, and must be 0: its variance is at most 0"
                    raise _Broken(Failure(_id(test, "zero"), "compress", text, test.replay()))
                _call(test, client, _shaped(test, x), rng, name)
                if not np.array_equal(value, kept):
                    text = "returns the same array at every call: a later call changes what an earlier one returned"
                    raise _Broken(Failure("interface/aliased", "compress", text, test.replay(name)))


def _id(test: _Test, part: str) -> str:
    return CONTRACTION if test.contractive else VARIANCE


def _typed(test: _Test, tolerance: float | None) -> _Test:
    """The test with the range and the tolerance of the type that the values have."""
    rng, name = _generator(test, 0), "Gaussian entries"
    found = [
        _call(test, client, _shaped(test, test.vectors[name]), rng, name)[0].copy()
        for _ in range(32)
        for client in range(len(test.calls))
    ]
    test = replace(test, frozen=all(np.array_equal(v, found[0]) for v in found))
    kind = found[0].dtype
    if kind.kind != "f":
        return test
    narrow = min(kind, np.dtype(test.dtype), key=lambda k: np.finfo(k).maxexp)
    rounding = rounding_of(kind) if tolerance is None else tolerance
    return replace(test, range=str(narrow), tolerance=max(test.tolerance, rounding))


def _interface_words(test: _Test) -> tuple[str, ...]:
    return ("shapes, types, zeros, finite values, its input left as it was, a new array at every call",)


def _values(test: _Test, client: int, x: Array, rng: np.random.Generator, n: int, name: str) -> Array:
    """n values of C(x), ``(n, d)``."""
    out = np.empty((n, test.d))
    if test.batch:
        for start in range(0, n, _BATCH):
            rows = min(_BATCH, n - start)
            out[start : start + rows] = _call(test, client, np.tile(x, (rows, 1)), rng, name)[0]
        return out
    for i in range(n):
        value, length = _call(test, client, x, rng, name)
        out[i] = value
        if length is not None and test.bits is not None and length > test.bits:
            text = f"a message of {length} bits, on {name}; {test.bits} are claimed"
            raise _Broken(Failure("locodl/eq-2/bits", "bits", text, test.replay(name)))
    return out


# Means and variances


def _statistics(test: _Test) -> _Found:
    vectors = test.vectors
    clients = range(len(test.calls))
    # A quarter of the level for the tests of each vector, of each coordinate, of all vectors together, of independence.
    share = test.level / 4 / (len(vectors) * len(test.calls))
    pool = _Pool(test.bound, test.factor, test.tolerance)
    failures: list[Failure] = []
    notes: list[str] = []
    detects: dict[str, float] = {}
    counted = 0
    for client in clients:
        rest = test.samples * (1 - _FLAT_SHARE - _PAIR_SHARE) / (len(vectors) - 1)
        for number, (name, x) in enumerate(vectors.items()):
            n = max(200, int((test.samples * _FLAT_SHARE if name == FLAT else rest) / len(test.calls)))
            rng = _generator(test, 2, client, number)
            one = _vector(test, client, name, x, rng, n, share, pool)
            failures += one.failures
            notes += one.notes
            counted += n
            for what, size in one.detects.items():
                detects[what] = max(detects.get(what, 0.0), size)
    if not test.contractive:
        failures += [] if failures else pool.failures(test)
        detects["mean along x, of |x|, all inputs together, whatever the noise"] = pool.defect(test)
    said = "variance" if test.contractive else "mean, coordinate by coordinate, and variance"
    checked = (f"{said} at {len(vectors)} inputs, {counted} values",)
    count = _distinct(test, vectors) if test.bits is not None and test.bits < 40 else 0
    return _Found(_collected(failures), checked, detects, tuple(dict.fromkeys(notes)), count)


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

    def failures(self, test: _Test) -> list[Failure]:
        if not np.isfinite(self.logs).all() or average(self.logs).max() < math.log(2 / (test.level / 4)):
            return []
        mean = self.total / self.n
        text = f"E<C(x), x> is about {mean:.5g} |x|^2 over all inputs, and must be |x|^2: values are {_times(mean)}"
        return [Failure(UNBIASED, "mean", f"{text} ({self.n} values, level {test.level / 4:.1g})", test.replay())]

    def defect(self, test: _Test) -> float:
        variance = Assumed(*self.assumed[:2], np.array([max(test.factor, 1e-12)]))
        return float(smallest_defect(np.ones(1), variance, test.level / 4, max(self.n, 1))[0]) + self.slack


def _vector(
    test: _Test, client: int, name: str, x: Array, rng: np.random.Generator, n: int, level: float, pool: _Pool
) -> _Found:
    """The tests at one input, at this level, and at this level those of its coordinates."""
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
        values = np.ldexp(_values(test, client, given, rng, count, name), -exponent)
        if not np.array_equal(given, x):
            text = f"changes its input in place, on {name}"
            raise _Broken(Failure("interface/in-place", "compress", text, test.replay(name)))
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

    tol = test.tolerance
    # What rounding adds to |C(x) - x|^2: values may be off by tol |C(x)|, which is at most of size 1 + sqrt(omega).
    spread = 1 + math.sqrt(test.factor)
    if name == SUBNORMAL:
        tol = max(tol, 2.0**-12 * spread)
    slack = [tol * spread * (2 * math.sqrt(test.factor) + tol * spread)]
    targets, relations, low, high = [test.factor], ["<="], [0.0], [math.inf]
    if full:
        c = (1 + test.factor) / 2
        targets += [c * c, 1.0]
        relations += ["<=", "=="]
        low += [0.0, 1 - test.bound * (1 + tol)]
        high += [math.inf, 1 + test.bound * (1 + tol)]
        slack += [tol * spread * (2 * c + tol * spread), tol * spread]
    unknown = [math.inf] * (len(targets) - 1) + [test.factor]
    plan = prepare(
        targets, relations, Assumed(low, high, unknown if full else [math.inf]), level / 2, n, math.inf, slack
    )
    largest_batch = max(64, _AT_ONCE // test.d)
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
    if full and decisions[2] is Decision.OUTSIDE:
        # No range is known: what is left is the variance that the claim allows. A fresh sample, and half of the level.
        plan = prepare([1.0], "==", Assumed(variance=test.factor), level / 2, n, math.inf, slack[2])

        def along(count: int) -> Array:
            values = np.ldexp(_values(test, client, given, rng, count, name), -exponent)
            return (values @ z / square)[:, None]

        decisions[2] = race(plan, along, largest=largest_batch).decisions[0]
    mean = sums / taken
    notes: tuple[str, ...] = ()
    if outside:
        notes = (f"|C(x) - x| exceeds {test.bound:.3g} |x| on {name}: means are tested by the variance alone",)
    where = dict(seen=_Seen(taken, total / taken, squares / taken, same, first if first is not None else z, ever), z=z)
    failures = _refuted(test, client, name, decisions, mean, taken, level, where)
    detects: dict[str, float] = {}
    if not failures and full and not outside:
        failures = _coordinates(test, client, name, where, largest, level)
        deviation = float((squares / taken - (total / taken) ** 2).max())
        if name == FLAT:
            width = 2 * test.bound * largest
            detects["bias of a coordinate, equal entries, of its size"] = (
                bernstein_defect(deviation, width, taken, level / test.d) / largest
            )
    if name == FLAT:
        detects |= _sure(test, level / 2, n, float(square), total, squares, taken) if full else {}
    if name != SUBNORMAL:
        detects |= _variance_sure(test, level / 2, n)
    return _Found(failures, (), detects, notes)


def _sure(
    test: _Test, level: float, n: int, square: float, total: Array, squares: Array, taken: int
) -> dict[str, float]:
    """The smallest factor too many that is found in a compressor without noise along x, as rand-k at equal entries."""

    def least(variance: float) -> float:
        assumed = Assumed(*(np.array([v]) for v in (1 - test.bound, 1 + test.bound, variance)))
        return float(smallest_defect(np.ones(1), assumed, level, n)[0]) + test.tolerance

    return {
        "mean along x, of |x|, without noise along x": least(1e-12),
    }


def _variance_sure(test: _Test, level: float, n: int) -> dict[str, float]:
    """The smallest relative excess of a variance that is found, if |C(x) - x|^2 has a variance of at most omega^2."""
    if test.factor == 0:
        return {}
    assumed = Assumed(*(np.array([v]) for v in (0.0, math.inf, test.factor**2)))
    size = float(smallest_defect(np.array([test.factor]), assumed, level, n)[0])
    return {"variance too large, of what is claimed": size / test.factor}


def _refuted(
    test: _Test,
    client: int,
    name: str,
    decisions: Sequence[Decision],
    mean: Array,
    taken: int,
    level: float,
    where: Mapping[str, Any],
) -> tuple[Failure, ...]:
    """The failure that the decisions at one input amount to, if any."""
    wrong = [d in (Decision.ABOVE, Decision.BELOW, Decision.OUTSIDE) for d in decisions]
    if len(wrong) > 2 and decisions[2] is Decision.OUTSIDE:
        wrong[2] = False
    if not any(wrong):
        return ()
    seen, z = where["seen"], where["z"]
    of = f" of client {client + 1}" if len(test.calls) > 1 else ""
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
    return (Failure(UNBIASED, "mean and variance", text + tail, test.replay(name), data),)


def _frozen(test: _Test, taken: int, of: str, name: str, data: Mapping[str, Any]) -> Failure:
    text = (
        f"gives the same value at all {taken} calls{of} on {name}, and it is not x: its generator is seeded anew at "
        "every call, or the randomness is not used"
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
    test: _Test, client: int, name: str, where: Mapping[str, Any], largest: float, level: float
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
    of = f" of client {client + 1}" if len(test.calls) > 1 else ""
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
        more = f"; likewise at {len(others)} more inputs" if others else ""
        found.append(Failure(first.claim, first.where, first.evidence + more, first.replay, first.data))
    return tuple(found)


# Independence


def _pairs(test: _Test) -> _Found:
    """Whether two calls, two clients, and two rows of a batch have independent randomness."""
    kinds = ["clients" if len(test.calls) > 1 else "clients with generators of their own", "successive calls"]
    if test.batch:
        kinds.append("rows of one batch")
    vectors = test.vectors
    x = vectors[_PAIRED[0]]
    n = max(_FEWEST_PAIRS, int(test.samples * _PAIR_SHARE / len(kinds) / 2))
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
    return _Found(tuple(failures), checked, detects if not test.contractive else {}, ())


def _reason(kind: str) -> str:
    return {
        "successive calls": "a call repeats or continues the random numbers of the one before",
        "rows of one batch": "one draw is shared by all rows, which stand for the clients",
        "clients": "they share their random numbers, or were seeded alike",
        "clients with generators of their own": "the generator given is not used, and another is seeded anew",
    }[kind]


def _correlation_defect(test: _Test, n: int, level: float) -> float:
    w = test.factor
    assumed = Assumed(*(np.array([v]) for v in (-math.inf, math.inf, w**2)))
    return float(smallest_defect(np.zeros(1), assumed, level, n)[0]) / w


def _correlation(test: _Test, kind: str, x: Array, n: int, level: float, number: int) -> tuple[bool, float, bool, int]:
    """Whether the errors of the two are correlated; their mean product; whether they were always equal; pairs used."""
    z = x.astype(float)
    square = float(z @ z)
    name = _PAIRED[0]
    streams = [_generator(test, 3, number, i) for i in range(2)]
    other = len(test.calls) - 1
    centre = z if not test.contractive else _values(test, 0, x, _generator(test, 4), max(64, n // 4), name).mean(axis=0)
    total, taken, same = 0.0, 0, True

    def pair(count: int) -> tuple[Array, Array]:
        if kind == "successive calls":
            # In the batch form, row by row of two successive batches.
            if test.batch:
                both = [
                    _values(test, 0, x, streams[0], min(count, _BATCH), name) for _ in range(2 * -(-count // _BATCH))
                ]
                return np.concatenate(both[::2])[:count], np.concatenate(both[1::2])[:count]
            values = _values(test, 0, x, streams[0], 2 * count, name)
            return values[::2], values[1::2]
        if kind == "rows of one batch":
            values = _values(test, 0, x, streams[0], 2 * count, name)
            return values[::2], values[1::2]
        a, b = (_values(test, c, x, s, count, name) for c, s in zip((0, other), streams, strict=True))
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
    decision = race(plan, source, largest=max(64, _AT_ONCE // test.d)).decisions[0]
    return decision in (Decision.ABOVE, Decision.BELOW), total / taken, same, taken


# Messages and special values


def _distinct(test: _Test, vectors: Mapping[str, Array]) -> int:
    """How many different values a few thousand calls give: a message must tell them apart."""
    found: set[bytes] = set()
    for number, (name, x) in enumerate(vectors.items()):
        values = _values(test, 0, x.copy(), _generator(test, 5, number), max(16, min(2000, _AT_ONCE // test.d)), name)
        found |= {row.tobytes() for row in values}
    return len(found)


def _bits(test: _Test, distinct: int) -> tuple[Failure, ...]:
    if test.bits is None or distinct <= 2.0**test.bits:
        return ()
    text = f"{distinct} different values were seen, and a message of {test.bits} bits can tell {2**test.bits} apart"
    return (Failure("locodl/eq-2/bits", "bits", text, test.replay()),)


def _special_values(test: _Test) -> tuple[str, ...]:
    """What the compressor does on NaN and infinite entries, in words, and whether its generator decides its values."""
    notes = []
    for name, value in (("NaN", np.nan), ("infinite", np.inf)):
        for which, count in (("one entry", 1), ("all entries", test.d)):
            x = test.vectors[FLAT].copy()
            x[:count] = value
            notes.append(f"{which} {name}: {_reaction(test, x)}")
    return (*notes, *_reproducible(test))


def _reaction(test: _Test, x: Array) -> str:
    rng = _generator(test, 6)
    try:
        values = [np.asarray(_call(test, 0, _shaped(test, x), rng, "NaN")[0], dtype=float) for _ in range(8)]
    except _Broken as broken:
        return broken.failure.evidence.split(", on ")[0]
    finite = sum(bool(np.isfinite(v).all()) for v in values)
    if finite == 0:
        return "stays visible in C(x)"
    return "is HIDDEN: C(x) is finite" if finite == len(values) else "is hidden in some draws, where C(x) is finite"


def _reproducible(test: _Test) -> tuple[str, ...]:
    x = test.vectors["Gaussian entries"]
    pair = [_values(test, 0, x, _generator(test, 7), 16, "Gaussian entries") for _ in range(2)]
    if np.array_equal(pair[0], pair[1]):
        return ()
    return ("the generator given does not decide the values: runs cannot be repeated by their seed",)
