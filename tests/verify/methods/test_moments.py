"""Compressors read in one coordinate: what is right is shown for all d and k, and what is not, never."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.claims import Claim, compressor_claim
from fedtheory.compressors import Compressor, natural, power_below, rand_k
from fedtheory.numbers.rational import is_exact
from fedtheory.numbers.symbols import d, k
from fedtheory.randomness import Bernoulli, Independent, Uniform01, UniformSubset
from verify.base.verdict import Verdict
from verify.methods import moments
from verify.methods.base import Inquiry


def outcome(claim: Claim) -> tuple[Verdict | None, str]:
    """What the method finds by itself, whatever a search would."""
    found = moments.run(moments.METHOD, Inquiry(claim, 0, 6, ({"d": 3, "k": 2},)))
    return found.verdict, found.note


def of(compressor, omega, bits=None) -> tuple[Verdict | None, str]:
    return outcome(compressor_claim("a/compressor", compressor, omega, bits))


@pytest.mark.parametrize("name", ["rand-k", "natural", "rand-k-natural"])
def test_compressors_of_the_paper(name: str) -> None:
    assert outcome(claims.get(f"locodl/eq-2/{name}"))[0] is Verdict.PROVED


def test_a_coin_for_each_coordinate() -> None:
    def right(d, k):
        share = Fraction(k, d)
        return Compressor(
            "", d, Independent(Bernoulli(share), d), lambda m, x: np.where(m, x, 0) / share, 1 / share - 1
        )

    assert of(right, d / k - 1)[0] is Verdict.PROVED
    assert "omega" in of(right, d / k - 1 - sympy.Rational(1, 10**9) / d)[1]


def test_a_smaller_omega_and_other_bits_are_not_shown() -> None:
    assert "omega" in of(rand_k, d / k - sympy.Rational(1000001, 1000000))[1]
    assert "omega" in of(lambda d, k: natural(d), sympy.Rational(1249, 10000))[1]
    assert "bits" in of(rand_k, d / k - 1, 32 * k)[1]


def rounded(times):
    """Natural compression whose chance to round up is ``times`` what it should be."""

    def apply(u, x):
        low = power_below(x)
        return np.where(x == 0, 0 * x, np.sign(x) * np.where(u < times * (abs(x) / low - 1), 2 * low, low))

    return lambda d, k: Compressor("", d, Uniform01((d,)), apply, Fraction(1, 8), 0, natural(d).enumerate)


def test_a_biased_chance_is_not_shown() -> None:
    assert of(rounded(1), sympy.Rational(1, 8))[0] is Verdict.PROVED
    assert "mean" in of(rounded(Fraction(999, 1000)), sympy.Rational(1, 8))[1]


def sparse(apply, omega=lambda d, k: Fraction(d, k) - 1):
    return lambda d, k: Compressor("", d, UniformSubset(d, k), lambda m, x: apply(d, k, m, x), omega(d, k))


def _outer(d, k, m, x):
    return (np.where(m, Fraction(d, k), 0) * x[..., None] * x).sum(axis=-1)


def _in_python(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * x if x > 0 else 0 * x


def _both(d, k, m, x):
    return np.where((x > 0) and (x < 1), 0, np.where(m, Fraction(d, k), 0) * x)


def _added(d, k, m, x):
    return (m + m) * Fraction(d, 2 * k) * x


def _floats(d, k, m, x):
    return np.where(m, Fraction(d, k) if is_exact(x) else float(Fraction(k, d)), 0) * x


def _far(d, k, m, x):
    return np.where(m, Fraction(d, k) if d <= 40 else Fraction(d, 2 * k), 0) * x


def _guarded(d, k, m, x):
    if d > 40:
        raise ValueError("too large")
    return np.where(m, Fraction(d, k), 0) * x


def _large(d, k, m, x):
    return np.where(abs(x) < 10**6, np.where(m, Fraction(d, k), 0) * x, 0 * x)


def _one(d, k, m, x):
    return np.where(x == 7, 7 * np.where(m, 1, 0), np.where(m, Fraction(d, k), 0) * x)


def _reversed(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * x[..., ::-1]


def _rolled(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * np.roll(x, 1, axis=-1)


def _rounded(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * np.round(x)


def _divided(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * x * (x / x)


def _summed(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * (x if d <= 40 else x.sum())


def _counted(d, k, m, x):
    return np.where(m, Fraction(d, k) if d <= 40 else m.sum(), 0) * x


def _unused(d, k, m, x):
    unused = Fraction(1, d - 40)  # noqa: F841
    return np.where(m, Fraction(d, k), 0) * x


def _divides_where_it_asks(d, k, m, x):
    return np.where(m, Fraction(d, k) if 1 / Fraction(d - 40) > 2 else 1 / Fraction(k, d), 0) * x


def _compares_no_number(d, k, m, x):
    return np.where(m, Fraction(d, k) if 1 / (Fraction(d) - d) > 2 else 1 / Fraction(k, d), 0) * x


def _divides_by_an_entry(d, k, m, x):
    return np.where(m, Fraction(d, k), 0) * np.where(x == 10**7, x, x * (x - 10**7) / (x - 10**7))


def _minus(d, k, m, x):
    return (-(-m) if d > 40 else m * 1) * Fraction(d, k) * x  # noqa: B002


def _less(d, k, m, x):
    return (1 - (True - m) if d > 40 else m * 1) * Fraction(d, k) * x


def _truth(d, k, m, x):
    return np.where(bool(x) if d > 40 else x != 0, np.where(m, Fraction(d, k), 0) * x, 0 * x)


def _in_between(d, k, m, x):
    kept = np.where(m, Fraction(d, k), 0) * x
    return np.where(x < 5 < 7, kept, kept) if d > 40 else kept


def _beside(d, k, m, x):
    kept = np.where(m, Fraction(d, k), 0) * x
    return np.where(x < 5 and True, kept, kept) if d > 40 else kept


def _inverted(d, k, m, x):
    kept, late = np.where(m, Fraction(d, k), 0) * x, False if d <= 40 else True  # noqa: SIM211
    return np.where(~late, kept if d <= 40 else 0 * x, kept)


def _wide(d, k, m, x):
    return np.where(m, d**11, 0) * np.where(m, d**11, 1) * x * Fraction(d, k) / d**22


def _far_floats(d, k, m, x):
    return np.where(m, Fraction(d, k) if d <= 40 else float(Fraction(d, k)), 0) * x


@pytest.mark.parametrize(
    "apply",
    [
        _outer,
        _in_python,
        _both,
        _added,
        _floats,
        _far,
        _guarded,
        _large,
        _one,
        _reversed,
        _rolled,
        _rounded,
        _divided,
        _summed,
        _counted,
        _unused,
        _divides_where_it_asks,
        _compares_no_number,
        _divides_by_an_entry,
        _minus,
        _less,
        _truth,
        _in_between,
        _beside,
        _inverted,
        _far_floats,
        _wide,
    ],
)
def test_what_is_wrong_somewhere_is_not_shown(apply) -> None:
    assert of(sparse(apply), d / k - 1)[0] is None


def test_a_condition_on_d_is_read_on_both_sides() -> None:
    def apply(d, k, m, x):
        return np.where(m, Fraction(d, k) if d <= 40 else 1 / Fraction(k, d), 0) * x

    assert of(sparse(apply), d / k - 1)[0] is Verdict.PROVED


def test_randomness_that_is_used_twice_is_refused() -> None:
    def twice(u, x):
        low = power_below(x)
        up = np.where(u < abs(x) / low - 1, 2 * low, low)
        return np.where(x == 0, 0 * x, np.sign(x) * np.where(u < Fraction(1, 2), up, up))

    made = lambda d, k: Compressor("", d, Uniform01((d,)), twice, Fraction(1, 8))  # noqa: E731
    assert "more than once" in of(made, sympy.Rational(1, 8))[1]


def test_its_own_omega_is_demanded() -> None:
    def right(d, k, m, x):
        return np.where(m, Fraction(d, k), 0) * x

    assert of(sparse(right), d / k - 1)[0] is Verdict.PROVED
    assert "variance" in of(sparse(right, lambda d, k: Fraction(d, 2 * k) - 1), d / k - 1)[1]
    assert "own omega" in of(sparse(right, lambda d, k: Fraction(d, k)), d / k - 1)[1]


@pytest.mark.parametrize("more", [1 / (d - 50) ** 2, sympy.sqrt(50 - d)])
def test_an_omega_is_a_number_for_all_sizes(more) -> None:
    assert "real number" in of(rand_k, d / k - 1 + more)[1]


def test_what_is_divided_by_on_one_side_of_a_condition_is_asked_there_alone() -> None:
    def apply(d, k, m, x):
        return np.where(m, Fraction(d, k) * (Fraction(1, d - 1) * (d - 1) if d > 1 else 1), 0) * x

    assert of(sparse(apply), d / k - 1)[0] is Verdict.PROVED


def selecting(scale=1, of=abs, power=0, strict=False, clipped=1, shape=(1,)):
    """l1-selection, with a value that is scaled, sizes of something else, or other draws."""

    def made(d, k):
        def apply(draw, x):
            size = of(x)
            below = np.cumsum(size, axis=-1)
            total = below[..., -1:]
            level = below < draw * total if strict else below <= draw * total
            j = level.sum(axis=-1, keepdims=True).clip(max=d - clipped)
            return np.where(np.arange(d) == j, scale * np.sign(x) * total + power * x, 0 * x)

        return Compressor("", d, Uniform01((d,) if shape is None else shape), apply, Fraction(d - 1))

    return made


@pytest.fixture
def as_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read decides alone: these compressors cannot be enumerated, and would not be compared."""
    monkeypatch.setattr(moments, "_compare", lambda *given: None)


def test_a_coordinate_is_selected_by_its_size(as_read: None) -> None:
    assert of(selecting(strict=True), d - 1)[0] is Verdict.PROVED


def test_l1_selection() -> None:
    assert outcome(claims.get("locodl/eq-2/l1-selection"))[0] is Verdict.PROVED


@pytest.mark.parametrize(
    "change",
    [
        {"scale": 2},
        {"scale": -1},
        {"scale": Fraction(1000001, 1000000)},
        {"power": 1},
        {"of": lambda x: x},
        {"of": lambda x: 2 * abs(x)},
        {"of": lambda x: abs(x) * abs(x)},
        {"clipped": 2},
        {"shape": None},
        {"shape": (2,)},
    ],
)
def test_other_selections_are_not_shown(change, as_read: None) -> None:
    assert of(selecting(**change), d - 1)[0] is None


def test_a_selection_has_no_smaller_omega(as_read: None) -> None:
    assert of(selecting(), d - 1 - sympy.Rational(1, 10**9))[0] is None


def test_a_selected_coordinate_that_is_not_scaled_is_biased(as_read: None) -> None:
    def kept(d, k):
        def apply(draw, x):
            below = np.cumsum(abs(x), axis=-1)
            j = (below <= draw * below[..., -1:]).sum(axis=-1, keepdims=True).clip(max=d - 1)
            return np.where(np.arange(d) == j, d * x, 0 * x)

        return Compressor("", d, Uniform01((1,)), apply, Fraction(d - 1))

    assert of(kept, d - 1)[0] is None


def test_a_vector_of_zeros_is_compressed_to_zeros(as_read: None) -> None:
    def moved(d, k):
        def apply(draw, x):
            below = np.cumsum(abs(x), axis=-1)
            total = below[..., -1:]
            j = (below <= draw * total).sum(axis=-1, keepdims=True).clip(max=d - 1)
            # Where all entries are 0 the last of them becomes 1.
            return np.where(np.arange(d) == j, np.where(total == 0, 1, np.sign(x) * total), 0 * x)

        return Compressor("", d, Uniform01((1,)), apply, Fraction(d - 1))

    assert of(moved, d - 1)[0] is None
