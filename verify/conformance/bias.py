"""Test whether an unbiased compressor could have returned given values: values that never change, or biased errors.

Tests of each coordinate need a number of samples proportional to the largest possible error, and miss a bias that is
small in every coordinate. These tests use the claimed variance only. Let e = C(x) - x, of mean 0 and E|e|^2 <= s^2 =
omega |x|^2.

*One value.* If C(x) = v with probability p, and delta = v - x, then p <= q = s^2/(s^2 + |delta|^2), by Cantelli's
inequality: Y = <e, delta>/|delta| has mean 0 and E Y^2 <= s^2, and equals |delta| with probability at least p. So for
every t >= 0 p (|delta| + t)^2 <= E (Y + t)^2 <= s^2 + t^2, and t = s^2/|delta| gives q. For n independent values let K
be q^-(n - 1) if all equal the same v, and 0 otherwise. Then E K = sum_v p_v^n q_v^-(n - 1) <= sum_v p_v <= 1. So (1 +
K)/2 has a mean of at most 1, and the product of these over several inputs exceeds 1/level with probability at most
level (Markov).

*One direction.* For a unit vector u chosen in advance, <e, u> has mean 0 and variance at most s^2. We take the
direction of the mean error of earlier values, at the input where that error is largest; fresh values decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance.calls import LEAN_SHARE, SUBNORMAL, UNBIASED, Sums, Test, generator, sampled
from verify.conformance.report import Failure
from verify.statistics.e_process import Assumed, log_capital


class Answers(NamedTuple):
    """Statistics of one client's compressor at one input: ``sums`` of errors, and of ``z``, which is the input ``x``
    divided by 2^exponent, the first value.
    """

    client: int
    name: str
    x: Array
    z: Array
    exponent: int
    sums: Sums


def check_bias(test: Test, answers: Sequence[Answers], level: float) -> tuple[tuple[Failure, ...], dict[str, float]]:
    """Failures of values that never change, and of errors that lean one way, at this level; what is sure to be found.

    Rounding alone causes a bias at subnormal inputs, which are left out. With omega = 0 the variance says it all.
    """
    chosen = [a for a in answers if a.name != SUBNORMAL]
    if test.contractive or test.factor == 0 or not chosen:
        return (), {}
    need = math.log(2 / level)
    calls = sum(a.sums.n - 1 for a in chosen)
    least = math.sqrt(test.factor * math.expm1((need + len(chosen) * math.log(2)) / calls))
    detects = {"error of a compressor without randomness, of |x|": least + _rounding(test)}
    return _unchanging(test, chosen, need) or _leaning(test, chosen, need), detects


def _rounding(test: Test) -> float:
    """The tolerance of an error, as a share of |x|: values are rounded, of mean size (1 + sqrt(omega)) |x| at most."""
    return test.tolerance * (1 + math.sqrt(test.factor))


def _unchanging(test: Test, answers: Sequence[Answers], need: float) -> tuple[Failure, ...]:
    """The failure of values that are always the same, of all inputs together."""
    capital, calls = 0.0, 0
    worst: tuple[float, Answers] | None = None
    for own in answers:
        if not own.sums.same:
            capital -= math.log(2)
            continue
        size = math.sqrt(own.z @ own.z)
        error = math.sqrt(((own.sums.first - own.z) ** 2).sum()) / size
        error = max(0.0, error - test.tolerance * (1 + math.sqrt(own.sums.first @ own.sums.first) / size))
        gained = math.log1p(error**2 / test.factor)
        capital += float(np.logaddexp(0.0, (own.sums.n - 1) * gained)) - math.log(2)
        calls += own.sums.n
        if worst is None or gained > worst[0]:
            worst = gained, own
    if worst is None or capital < need:
        return ()
    gained, own = worst
    text = (
        f"gives the same value at all {own.sums.n} calls{test.of_client(own.client)} on {own.name}, and it is not x: "
        f"an unbiased one gives a value so far from x at most {math.exp(-gained):.3g} of the time; it has no "
        f"randomness, or does not use it, or seeds it anew at every call ({calls} calls at all inputs, level "
        f"{2 * math.exp(-need):.1g})"
    )
    data = {"x": own.z, "mean": own.sums.first, "samples": own.sums.n}
    return (Failure(UNBIASED, "randomness", text, test.replay(own.name), data),)


def _leaning(test: Test, answers: Sequence[Answers], need: float) -> tuple[Failure, ...]:
    """The failure of errors that have a component of one sign, in the direction in which they seemed to lean."""

    def seen(own: Answers) -> float:
        # The contribution of noise to the square of a mean is subtracted.
        noise = (own.sums.variance - own.sums.mean**2).sum() / own.sums.n
        return float((own.sums.mean @ own.sums.mean - noise) / (own.z @ own.z))

    own = max(answers, key=seen)
    if seen(own) <= 0:
        return ()
    n = max(200, int(test.samples * LEAN_SHARE))
    size = math.sqrt(own.z @ own.z)
    direction = own.sums.mean / math.sqrt(own.sums.mean @ own.sums.mean)
    values = np.ldexp(sampled(test, own.client, own.x.copy(), generator(test, 10), n, own.name), -own.exponent)
    along = (values - own.z) @ direction / size
    slack = np.array([_rounding(test)])
    if log_capital(along[:, None], slack, Assumed(variance=np.array([test.factor])))[0] < need:
        return ()
    mean = values.mean(axis=0)
    most = int(np.argmax(abs(direction)))
    text = (
        f"errors lean one way{test.of_client(own.client)} on {own.name}: their mean is about {along.mean():.3g} |x| "
        f"long in a direction that was chosen before, and must be 0; most in coordinate {most}, {mean[most]:.5g} in "
        f"place of {own.z[most]:.5g} ({n} values, level {2 * math.exp(-need):.1g}; both divided by a power of two)"
    )
    return (Failure(UNBIASED, "mean", text, test.replay(own.name), {"x": own.z, "mean": mean, "samples": n}),)
