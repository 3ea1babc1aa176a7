"""Compressors that are right pass, and each slip is rejected for what it is."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from planted_compressors import OMEGA, RIGHT, SAMPLES, WRONG, D, made, natural, rand_k

from verify import conformance
from verify.conformance import special


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


def test_linear_algebra_rounds_otherwise_where_there_are_gaps():
    """BLAS does so; what reads wrong entries is off by more."""

    def rank_one(x, rng):
        M = x.reshape(4, 4)
        p = M @ rng.standard_normal((4, 1))
        p = p / (np.linalg.norm(p) or 1.0)
        return (p @ (p.T @ M)).ravel()

    assert conformance.compressor(rank_one, 16, alpha=1 / 4, samples=4000).ok

    def one_entry_off(x, rng):
        value = rank_one(x, rng)
        value[3] += 1e-6 * (x.strides[0] != x.itemsize)
        return value

    (failure,) = conformance.compressor(one_entry_off, 16, alpha=1 / 4, samples=4000).failures
    assert failure.claim == "interface/strides"


def test_what_is_wrong_on_extreme_inputs_does_not_hide_the_rest():
    """int8 by the inverse of its step, which overflows, and 2 % too large."""
    compress, options, _ = WRONG["int8, 2 % too large"]
    first, last = conformance.compressor(compress, D, samples=SAMPLES, **options).failures
    assert "too large" in first.evidence
    assert "gives inf on subnormal entries" in last.evidence or "gives nan on subnormal" in last.evidence
    assert "pass skip=['subnormal entries'], or a tolerance above 0.00024" in last.evidence
    for how in ({"skip": ["subnormal entries"]}, {"tolerance": 1e-3}):
        (failure,) = conformance.compressor(compress, D, samples=SAMPLES, **options, **how).failures
        assert "too large" in failure.evidence


@pytest.mark.parametrize("name", ["huge", "tiny", "subnormal entries", "sparse", "special values"])
def test_inputs_that_are_skipped(name):
    def breaking(x, rng):
        extreme = {"huge": abs(x).max() > 1e100, "tiny": 1e-300 < abs(x).max() < 1e-100}
        extreme |= {
            "subnormal entries": 0 < abs(x).max() < 1e-300,
            "sparse": 0 < np.count_nonzero(x) < 3 < abs(x).sum(),
        }
        return np.nan * x if extreme.get(name) else rand_k(x, rng)

    report = conformance.compressor(breaking, D, OMEGA, samples=4000, skip=[name])
    assert report.ok, str(report)
    assert any("NaN" in note for note in report.notes) == (name != "special values")


@pytest.mark.parametrize("name", ["equal entries", "Gaussian entries", "nothing"])
def test_inputs_that_cannot_be_skipped(name):
    with pytest.raises(ValueError, match=f"{name!r} cannot be skipped: choose from signs; "):
        conformance.compressor(rand_k, D, OMEGA, skip=[name])


def broken_by(what):
    """A compressor that does something else on infinite entries."""

    def compress(x, rng):
        while what == "loop" and np.isinf(x).any():
            pass
        if what == "crash" and np.isinf(x).any():
            os.abort()
        if what == "wait" and np.isinf(x).any():
            time.sleep(600)
        if what == "copy" and os.getpid() != HERE:
            os.abort()
        return rand_k(x, rng)

    return compress


HERE = os.getpid()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes")
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("loop", "all entries infinite: does not return"),
        ("wait", "all entries infinite: does not return"),
        ("crash", "all entries infinite: CRASHES the process"),
        ("copy", "not tried, as the compressor does not work in a copy of its process"),
        (None, "all entries infinite: stays visible in C(x)"),
    ],
)
def test_special_values_are_tried_apart(monkeypatch, what, words):
    """What does not end is broken off, with a note."""
    monkeypatch.setattr(special, "_COMPUTING", 0.1)
    monkeypatch.setattr(special, "_WAITING", 0.3 if what == "wait" else 60)
    report = conformance.compressor(broken_by(what), D, OMEGA, samples=2000)
    assert report.ok, str(report)
    assert any(words in note for note in report.notes), report.notes


def test_systems_without_copies_of_processes(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    report = conformance.compressor(rand_k, D, OMEGA, samples=2000)
    assert report.ok and any("this system has no copies of processes" in note for note in report.notes)


def test_what_numbers_so_small_become_is_no_claims():
    compress, options = RIGHT["subnormal numbers flushed"]
    report = conformance.compressor(compress, D, samples=4000, **options)
    assert any("on subnormal entries, which no claim is about" in note for note in report.notes)


def test_values_that_never_change_are_found_where_said():
    """A compressor without randomness whose errors are as large as the report says is rejected."""
    report = conformance.compressor(natural, D, 1 / 8, samples=4000)
    least = report.detects["error of a compressor without randomness, of |x|"]
    turned = np.roll(np.eye(D), 1, axis=0)

    def shifted(size):
        return lambda x, rng: (
            x + size * np.sqrt(x @ x / max(abs(x).max(), 1e-320) / max(abs(x).max(), 1e-320)) * abs(x).max() * turned[0]
        )

    assert not conformance.compressor(shifted(1.01 * least), D, 1 / 8, samples=4000).ok


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


def test_where_omega_may_be_what_is_wrong_a_larger_one_is_named():
    def masked(x, rng):
        return 4 * x * (rng.random() < 0.25)

    (failure,) = conformance.compressor(masked, d=16, omega=2.9).failures
    assert "omega about 3" in failure.evidence or "times as much" in failure.evidence
