"""A compressor under test: is it unbiased with its omega, or a contraction, and independent from call to call?"""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from fedtheory.compressors import Compressor
from fedtheory.compressors.contractive import Contractive
from fedtheory.numbers.rational import Array
from verify.base.plain import counted
from verify.conformance.calls import (
    FLAT,
    PAIRED,
    SPECIAL,
    BadCall,
    CheckResult,
    Compress,
    Test,
    check_interface,
    generator,
    inputs,
    reproducible,
    shared_or_coarse,
    typed,
    valued,
)
from verify.conformance.independence import SAME, check_pairs
from verify.conformance.moments import check_moments
from verify.conformance.report import Failure, Report, check_seed, rounding_of
from verify.conformance.scales import edges, fresh
from verify.conformance.special import special_values
from verify.statistics.e_process import check_level

# Calls in all.
_CALLS = 200_000
# Entries of the values of all calls.
_ENTRIES = 60_000_000
# Values that are compared to determine the length of a message.
_MESSAGES = 20_000
# The relative error along x above which a mean is reported as biased.
_BIAS = 0.001
_INTERFACE = "shapes, types, zeros, finite values, its input and what it returned left as they were"


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
    skip: Collection[str] = (),
) -> Report:
    """Test ``compress(x, rng)`` on R^d: is it unbiased with variance ``omega``, or a contraction by ``alpha``?

    Exactly one of ``omega`` (LoCoDL, eq. (2)) and ``alpha`` is claimed. Errors of the compressor are in the report.

    Args:
        compress: Takes a vector ``(d,)`` and a ``numpy.random.Generator`` and returns what ``np.asarray`` takes. A
            sequence of functions: the compressors of as many clients, which must then be independent of each other. A
            function of one argument, or whose others are settings such as ``k=5``, has randomness of its own.
        d: The dimension.
        omega: The variance claimed: E C(x) = x and E|C(x) - x|^2 <= omega |x|^2.
        alpha: The contraction claimed: E|C(x) - x|^2 <= (1 - alpha)|x|^2.
        bits: The length of a message; fewer than 2^bits values may then occur, and where ``compress`` returns (value,
            bits), none may be longer.
        seed: The seed of the inputs and draws.
        level: The chance that a right compressor is rejected.
        batch: True if ``compress`` takes the rows ``(m, d)``, each compressed by itself with randomness of its own.
        tolerance: Relative errors of values that are rounding, by default by the type of the values.
        dtype: The type of the inputs.
        bound: All |C(x) - x| <= ``bound`` |x| is expected, in the Euclidean and the largest norm, by default 2 (1 +
            omega); where a value shows that this is not so, the tests of the mean rest on the variance alone.
        samples: The number of calls in all (rows, with ``batch``).
        skip: Inputs that it need not take, of :func:`inputs`, or "special values", as NaN and infinity.

    Returns:
        The report.

    Raises:
        ValueError: For arguments that make no sense.

    Examples:
        >>> from verify import conformance
        >>> def half(x, rng):
        ...     return x / 2
        >>> conformance.compressor(half, d=2, alpha=0.75, samples=500).ok
        True
    """
    test = _posed(compress, d, omega, alpha, bits, seed, level, batch, tolerance, dtype, bound, samples, skip)
    kind = "a contraction" if test.contractive else "unbiased"
    subject = f"the compressor on R^{d}, claimed to be {kind} with {test.constant},"
    with np.errstate(all="ignore"):
        try:
            test = typed(test, tolerance)
            extreme = check_interface(test)
            test = replace(test, skipped=(*test.skipped, *extreme))
            # Clients that were seeded alike are in step only while all have been called as often.
            pairs = check_pairs(test) if test.factor > 0 else CheckResult()
            found = check_moments(test)
            long = _bits(test)
            notes = (*found.notes, *pairs.notes, *reproducible(test), *shared_or_coarse(test))
            # Last: what a call that is broken off leaves behind is then of no account.
            notes += special_values(test) if SPECIAL not in test.skipped else ()
        except BadCall as broken:
            return Report(subject, test.level, test.tolerance, (broken.failure,), ("the interface",))
    # Means of rows that share their randomness say nothing.
    trusted = not any(f.where == "rows of one batch" for f in pairs.failures)
    # Values that are always the same are reported once.
    dependent = () if test.frozen and found.failures else pairs.failures
    if any(map(_biased, found.failures)):
        # The errors of a biased compressor have products whose mean is not 0, however independent they are.
        dependent = tuple(f for f in dependent if f.data[SAME] or f.where == "rows of one batch")
    failures = long.failures + dependent + (found.failures if trusted else ()) + tuple(extreme.values())
    return Report(
        subject,
        test.level,
        test.tolerance,
        failures,
        (_INTERFACE, *found.checked, *pairs.checked, *long.checked),
        {**found.detects, **pairs.detects, **long.detects},
        notes,
    )


def _biased(failure: Failure) -> bool:
    """Return True if a failure of moments shows a mean other than x."""
    along = failure.data.get("statistics", ())
    return failure.where.startswith("mean") or (len(along) > 2 and abs(along[2] - 1) > _BIAS)


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
    skip: Collection[str],
) -> Test:
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
    skipped = (skip,) if isinstance(skip, str) else tuple(skip)
    choices = [*(name for name in inputs(d, 0, dtype) if name not in (FLAT, PAIRED)), SPECIAL]
    for name in skipped:
        if name not in choices:
            raise ValueError(f"{name!r} cannot be skipped: choose from {'; '.join(choices)}")
    check_level(level)
    check_seed(seed)
    given = {"omega": omega, "alpha": alpha, "tolerance": tolerance, "bound": bound, "samples": samples, "bits": bits}
    for name, value in given.items():
        if value is not None and not isinstance(value, Real):
            raise ValueError(f"{name} must be a number, got {value!r}")
    if omega is not None and not 0 <= omega < math.inf:
        raise ValueError(f"omega must be at least 0 and finite, got {omega}")
    if alpha is not None and not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], got {alpha}")
    for name in ("tolerance", "bound", "samples", "bits"):
        value = given[name]
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    factor = float(omega) if alpha is None else 1 - float(alpha)
    most = samples or max(2000, min(_CALLS, _ENTRIES // d))
    return Test(
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
        skipped=skipped,
    )


def _two_arguments(call: Compress) -> Compress:
    """Return the function of (x, rng), whether or not it takes a generator. A parameter whose default cannot stand for
    one, such as k in ``compress(x, k=5)`` or f in ``lambda x, f=f``, keeps it, unless it is called a seed."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return call
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    if len(positional) > 1 and _is_setting(positional[1]):
        free = [p.name for p in positional[2:] if p.kind is p.POSITIONAL_OR_KEYWORD and not _is_setting(p)]
        if free:
            return lambda x, rng: call(x, **{free[0]: rng})
        positional = positional[:1]
    if len(positional) == 1 and positional[0].kind is not positional[0].VAR_POSITIONAL:
        named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
        if len(named) == 1:
            return lambda x, rng: call(x, **{named[0]: rng})
        return lambda x, rng: call(x)
    return call


def _is_setting(parameter: inspect.Parameter) -> bool:
    if parameter.default is parameter.empty:
        return False
    kept = isinstance(parameter.default, Real | str | tuple | list | dict | np.ndarray) or callable(parameter.default)
    return kept and parameter.name not in ("rng", "seed", "random_state")


# Messages


def _distinct(test: Test, most: int) -> tuple[int, int]:
    """The number of values seen, each at an input of its own, and the number of distinct ones."""
    rng, drawn = generator(test, 5), generator(test, 5, 1)
    between = edges(test)
    found: set[bytes] = set()
    taken = 0
    while taken < most and len(found) <= 2 ** (test.bits or 0):
        rows = fresh(test.d, between, drawn).astype(test.dtype)
        values = valued(test, taken // (len(between) - 1) % len(test.calls), rows, rng, "inputs of many sizes")
        # Zeros of both signs are one value.
        found |= {(row + 0.0).tobytes() for row in values}
        taken += len(rows)
    return taken, len(found)


def _bits(test: Test) -> CheckResult:
    """Test whether b bits can distinguish the values: there are at most 2^b of them for any input.

    If no two of m independent values are equal, of 2^b that there can be, then with probability at most exp(-m (m -
    1)/2^(b + 1)): values that are equally likely are equal least often.
    """
    if test.bits is None:
        return CheckResult()
    most = min(_MESSAGES, max(2000, test.samples // 8))
    level = test.level / 8
    sure = math.floor(math.log2(most * (most - 1) / (2 * math.log(1 / level))))
    detects = {"bits of a message, if values never repeat, too few from": float(sure)}
    taken, distinct = _distinct(test, most)
    message = f"a message of {counted(test.bits, 'bit')}"
    if distinct > 2**test.bits:
        text = f"{distinct} different values were seen, and {message} can tell {2**test.bits} apart"
    elif distinct == taken and taken * (taken - 1) >= 2.0 ** (test.bits + 1) * math.log(1 / level):
        text = (
            f"no two of {taken} values were the same, and {message} can tell no more than "
            f"{2**test.bits} apart (level {level:.1g})"
        )
    else:
        return CheckResult(checked=(f"length of messages, {taken} values",), detects=detects)
    return CheckResult((Failure("locodl/eq-2/bits", "bits", text, test.replay()),))
