"""Compressors that are right pass, and each slip is rejected for what it is."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory import compressors, contractive
from verify import conformance

D, K = 20, 5
OMEGA = D / K - 1
SAMPLES = 30_000
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))]


def rand_k(x, rng):
    value, kept = np.zeros_like(x), rng.permutation(x.size)[:K]
    value[kept] = x[kept] * (x.size / K)
    return value


def natural(x, rng):
    exponent = np.frexp(np.where(x == 0, 1, x))[1]
    low = np.ldexp(0.5, exponent)
    up = rng.random(x.shape) < abs(x) / low - 1
    return np.where(x == 0, 0, np.sign(x) * np.where(up, 2 * low, low))


def bernoulli(x, rng):
    return 2 * x if rng.random() < 0.5 else 0 * x


def qsgd(x, rng, levels=4):
    norm = np.sqrt((x / max(abs(x).max(), 1e-320)) @ (x / max(abs(x).max(), 1e-320))) * abs(x).max()
    if norm == 0:
        return 0 * x
    level = abs(x) / norm * levels
    return np.sign(x) * norm / levels * (np.floor(level) + (rng.random(x.shape) < level - np.floor(level)))


def top_k(x, rng, k=K):
    value, kept = np.zeros_like(x), np.argsort(-abs(x), kind="stable")[:k]
    value[kept] = x[kept]
    return value


def rows(X, rng):
    return np.stack([rand_k(x, rng) for x in X])


RIGHT = {
    "rand-k": (rand_k, {"omega": OMEGA}),
    "natural": (natural, {"omega": 1 / 8}),
    "bernoulli": (bernoulli, {"omega": 1.0}),
    "qsgd": (qsgd, {"omega": min(D / 16, D**0.5 / 4)}),
    "top-k": (top_k, {"alpha": K / D}),
    "rand-k, scaled": (lambda x, rng: rand_k(x, rng) * K / D, {"alpha": K / D}),
    "rows": (rows, {"omega": OMEGA, "batch": True}),
    "float32": (lambda x, rng: rand_k(x.astype(np.float32), rng), {"omega": OMEGA}),
    "float32 inputs": (rand_k, {"omega": OMEGA, "dtype": "float32"}),
    "identity, of one argument": (lambda x: x, {"omega": 0}),
    "a list": (lambda x, rng: rand_k(x, rng).tolist(), {"omega": OMEGA}),
    "two clients": ([rand_k, rand_k], {"omega": OMEGA}),
    "the package's": (compressors.rand_k_natural(D, K), {}),
    "the package's top-k": (contractive.top_k(D, K), {}),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_conforms(name, seed):
    compress, options = RIGHT[name]
    report = conformance.compressor(compress, D, samples=SAMPLES, seed=seed, **options)
    assert report.ok, str(report)
    assert report.level == 1e-6
    assert report.checked


def shared_rows(X, rng):
    kept = rng.permutation(X.shape[1])[:K]
    value = np.zeros_like(X)
    value[:, kept] = X[:, kept] * (X.shape[1] / K)
    return value


def in_place(x, rng):
    x *= 2 * (rng.random(x.shape) < 0.5)
    return x


def with_replacement(x, rng):
    value, kept = np.zeros_like(x), rng.integers(0, x.size, K)
    value[kept] = x[kept] * (x.size / K)
    return value


def never_the_last(x, rng):
    value, kept = np.zeros_like(x), rng.permutation(x.size - 1)[:K]
    value[kept] = x[kept] * (x.size / K)
    return value


def reused():
    buffer = np.zeros(D)

    def compress(x, rng):
        buffer[:] = rand_k(x, rng)
        return buffer

    return compress


def round_robin():
    turn = [0]

    def compress(x, rng):
        kept = (np.arange(K) + K * turn[0]) % x.size
        turn[0] += 1
        value = np.zeros_like(x)
        value[kept] = x[kept] * (x.size / K)
        return value

    return compress


def seeded(seed):
    own = np.random.default_rng(seed)
    return lambda x, rng: rand_k(x, own)


def flushed(x, rng):
    return np.where(abs(x) < 1e-300, 0, natural(x, rng))


#: The compressor, its claim, and what the first failure must speak of.
WRONG = {
    "1 % too large": (lambda x, rng: 1.01 * rand_k(x, rng), {"omega": OMEGA}, "1.01"),
    "1 % too small": (lambda x, rng: 0.99 * rand_k(x, rng), {"omega": OMEGA, "samples": 120_000}, "too small"),
    "natural, 1 % too large": (lambda x, rng: 1.01 * natural(x, rng), {"omega": 1 / 8}, "1.00% too large"),
    "seeded anew": (lambda x, rng: rand_k(x, np.random.default_rng(0)), {"omega": OMEGA}, "seeded anew at every call"),
    "in place": (in_place, {"omega": 1.0}, "in place"),
    "shared by all rows": (shared_rows, {"omega": OMEGA, "batch": True}, "one draw is shared by all rows"),
    "clients seeded alike": ([seeded(1), seeded(1)], {"omega": OMEGA}, "seeded alike"),
    "with replacement": (with_replacement, {"omega": OMEGA}, "too small"),
    "never the last": (never_the_last, {"omega": OMEGA}, "never anything but 0"),
    "round robin": (round_robin(), {"omega": OMEGA}, "successive calls"),
    "one buffer": (reused(), {"omega": OMEGA}, "a later call changes"),
    "omega too small": (rand_k, {"omega": 0.9 * OMEGA}, "times as much"),
    "k - 1 entries": (lambda x, rng: top_k(x, rng, K - 1), {"alpha": K / D}, "times as much"),
    "biased, claimed unbiased": (top_k, {"omega": OMEGA}, "not x"),
    "0/0 at zero": (lambda x, rng: rand_k(x, rng) * (x @ x) / (x @ x), {"omega": OMEGA}, "gives nan on zeros"),
    "subnormal numbers flushed": (flushed, {"omega": 1 / 8}, "subnormal"),
    "another shape": (lambda x, rng: rand_k(x, rng)[None], {"omega": OMEGA}, "shape"),
    "complex": (lambda x, rng: rand_k(x, rng) * (1 + 0j), {"omega": OMEGA}, "complex"),
    "raises": (lambda x, rng: rng.normal_(x), {"omega": OMEGA}, "normal_"),
    "nothing": (lambda x, rng: None, {"omega": OMEGA}, "shape"),
    "two bits": (rand_k, {"omega": OMEGA, "bits": 2}, "can tell 4 apart"),
    "long messages": (lambda x, rng: (rand_k(x, rng), 200), {"omega": OMEGA, "bits": 185}, "200 bits"),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WRONG)
def test_each_slip_is_told(name, seed):
    compress, options, words = WRONG[name]
    report = conformance.compressor(compress, D, seed=seed, **{"samples": SAMPLES, **options})
    assert not report.ok
    assert words in report.failures[0].evidence
    assert "conformance.compressor(" in report.failures[0].replay
    with pytest.raises(conformance.ConformanceError, match="does NOT conform"):
        report.raise_if_failed()


def test_high_dimensions_are_not_enumerated():
    def sparse(x, rng):
        value, kept = np.zeros_like(x), rng.permutation(x.size)[:20]
        value[kept] = x[kept] * (x.size / 20)
        return value

    report = conformance.compressor(sparse, 200, 9, samples=40_000)
    assert report.ok, str(report)
    assert not conformance.compressor(lambda x, rng: 1.02 * sparse(x, rng), 200, 9, samples=40_000).ok


def test_what_is_sure_to_be_found_is_stated_and_found():
    report = conformance.compressor(rand_k, D, OMEGA, samples=SAMPLES)
    size = report.detects["mean along x, of |x|, without noise along x"]
    assert 0 < size < 0.03
    scaled = conformance.compressor(lambda x, rng: (1 - size) * rand_k(x, rng), D, OMEGA, samples=SAMPLES)
    assert not scaled.ok


def test_nan_is_told_and_is_no_failure():
    report = conformance.compressor(rand_k, D, OMEGA, samples=5000)
    assert report.ok
    assert any(note.startswith("one entry NaN: is") and "idden" in note.lower() for note in report.notes)


def test_the_report_is_the_same_for_the_same_seed():
    first, second = (conformance.compressor(rand_k, D, 2.9, samples=5000, seed=4) for _ in range(2))
    assert str(first) == str(second)


def test_the_inputs_can_be_had_again():
    again = conformance.inputs(D, 3)
    assert all((again[name] == x).all() for name, x in conformance.inputs(D, 3).items())
    assert again["subnormal entries"].any()
    assert (abs(again["subnormal entries"]) < 2.3e-308).all()


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((rand_k, D), {}, "either omega .* or alpha"),
        ((rand_k, D, 1), {"alpha": 0.5}, "either omega .* or alpha"),
        ((rand_k, D, -1), {}, "omega must be at least 0"),
        ((rand_k, 0, 1), {}, "at least one entry"),
        ((rand_k, D), {"alpha": 2}, "alpha must be in"),
        ((3, D, 1), {}, "a compressor is a function"),
        (([], D, 1), {}, "a compressor is a function"),
        ((rand_k, D, 1), {"level": 1.5}, "error level"),
        ((rand_k, D, 1), {"seed": -1}, "seed must be"),
        ((rand_k, D, 1), {"dtype": "int64"}, "floating-point"),
        ((rand_k, D, 1), {"tolerance": -1}, "tolerance must be positive"),
    ],
)
def test_bad_arguments(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        conformance.compressor(*arguments, **options)
