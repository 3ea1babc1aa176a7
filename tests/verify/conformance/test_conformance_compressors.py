"""Compressors that are right pass, and each slip is rejected for what it is."""

from __future__ import annotations

import numpy as np
import pytest
from planted_compressors import OMEGA, RIGHT, SAMPLES, WRONG, D, made, rand_k

from verify import conformance


# ``benchmarks/conformance.py`` goes on with a hundred seeds.
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_conforms(name):
    compress, options = RIGHT[name]
    report = conformance.compressor(compress, D, samples=SAMPLES, seed=0, **options)
    assert report.ok, str(report)
    assert report.level == 1e-6
    assert report.checked


@pytest.mark.parametrize("name", WRONG)
def test_each_slip_is_told(name):
    compress, options, words = WRONG[name]
    report = conformance.compressor(made(compress), D, seed=0, **{"samples": SAMPLES, **options})
    assert not report.ok
    assert words in report.failures[0].evidence
    assert "conformance.compressor(" in report.failures[0].replay
    with pytest.raises(conformance.ConformanceError, match="does NOT conform"):
        report.raise_if_failed()


def test_a_forgotten_scaling_is_no_dependence():
    """The errors of a biased compressor have a common mean, however independent its calls are."""

    def unscaled(x, rng):
        kept = np.zeros_like(x)
        index = rng.choice(len(x), len(x) // 4, replace=False)
        kept[index] = x[index]
        return kept

    report = conformance.compressor(unscaled, 8, 3, samples=4000)
    assert [failure.where for failure in report.failures] == ["mean"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, value: 0 * value if abs(x.sum()) < 1e-9 * abs(x).sum() else value,
        lambda x, value: 1.2 * value if (np.diff(x) > 0).all() else value,
    ],
)
def test_inputs_that_are_sorted_or_sum_to_zero(wrong):
    report = conformance.compressor(lambda x, rng: wrong(x, rand_k(x, rng)), D, OMEGA, samples=SAMPLES)
    assert "increasing, of sum 0" in str(report.failures[0])


class Counting:
    """A compressor that does something else at some calls: not by how its input lies in memory."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x, rng):
        self.calls += 1
        return (1.5 if self.calls % 4 == 0 else 5 / 6) * rand_k(x, rng)


def test_entries_with_gaps_between_them_in_memory():
    def past(x, rng):
        start = np.lib.stride_tricks.as_strided(x, (x.size,), (x.itemsize,))
        return rand_k(start.copy(), rng)

    (failure,) = conformance.compressor(past, D, OMEGA, samples=SAMPLES).failures
    assert failure.claim == "interface/strides"
    report = conformance.compressor(Counting(), D, OMEGA, samples=SAMPLES)
    assert all(failure.claim != "interface/strides" for failure in report.failures)


def test_a_number_by_default_is_a_setting_and_no_place_for_a_generator():
    def top(x, k=2, rng=None):
        value, kept = np.zeros_like(x), np.argsort(-np.abs(x))[:k]
        value[kept] = x[kept]
        assert rng is None or isinstance(rng, np.random.Generator)
        return value

    assert conformance.compressor(lambda x, k=2: top(x, k), 6, alpha=1 / 3, samples=2000).ok
    assert conformance.compressor(top, 6, alpha=1 / 3, samples=2000).ok


def test_high_dimensions_are_not_enumerated():
    def sparse(x, rng):
        value, kept = np.zeros_like(x), rng.permutation(x.size)[:20]
        value[kept] = x[kept] * (x.size / 20)
        return value

    report = conformance.compressor(sparse, 200, 9, samples=16_000)
    assert report.ok, str(report)
    assert not conformance.compressor(lambda x, rng: 1.02 * sparse(x, rng), 200, 9, samples=16_000).ok


def test_what_is_sure_to_be_found_is_stated_and_found():
    report = conformance.compressor(rand_k, D, OMEGA, samples=30_000)
    size = report.detects["mean along x, of |x|, without noise along x"]
    assert 0 < size < 0.03
    scaled = conformance.compressor(lambda x, rng: (1 - size) * rand_k(x, rng), D, OMEGA, samples=30_000)
    assert not scaled.ok


def test_nan_is_told_and_is_no_failure():
    report = conformance.compressor(rand_k, D, OMEGA, samples=5000)
    assert report.ok
    assert any(note.startswith("one entry NaN: is") and "idden" in note.lower() for note in report.notes)


def test_the_report_is_the_same_for_the_same_seed():
    first, second = (conformance.compressor(rand_k, D, 2.9, samples=1000, seed=4) for _ in range(2))
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
