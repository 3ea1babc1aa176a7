"""Messages are as long as the papers say and carry C(x); permuted families obey eq. (3) with their own constant."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory import compressors
from fedtheory.compressors import Compressor, Family
from fedtheory.compressors.codec import decode, encode
from fedtheory.compressors.permutation import Permuted, perm_k
from fedtheory.numbers.rational import exact

SIZES = (1, 2, 3, 5, 8, 9)


def every(d: int) -> list[Compressor]:
    sparse = [make(d, k) for make in (compressors.rand_k, compressors.rand_k_natural) for k in {1, (d + 1) // 2, d}]
    return [
        compressors.identity(d),
        compressors.bernoulli(d, Fraction(3, 2)),
        compressors.natural(d),
        compressors.l1_selection(d),
        *sparse,
    ]


ALL = [pytest.param(c, id=f"{c.name}, d={c.d}") for d in SIZES for c in every(d)]


def vectors(d: int) -> list[np.ndarray]:
    rng = np.random.default_rng(d)
    x = rng.normal(size=d) * 10.0 ** rng.integers(-20, 20, d)
    return [x, np.round(rng.normal(size=d)), np.zeros(d), -np.ones(d), np.where(np.arange(d) % 2, 0.0, -0.3)]


@pytest.mark.parametrize("compressor", ALL)
def test_messages_have_the_stated_length_and_carry_the_value(compressor):
    rng = np.random.default_rng(0)
    for x in vectors(compressor.d):
        for _ in range(5):
            draw = compressor.draws.sample(rng)
            message, value = encode(compressor, draw, x), compressor.apply(draw, x).astype(np.float32)
            silent = compressor.layout.flag and not value.any()
            assert len(message) == (1 if silent else compressor.bits)
            assert set(message) <= {"0", "1"}
            read = decode(compressor, message)
            assert read.dtype == np.float32
            np.testing.assert_array_equal(read, value)


@pytest.mark.parametrize("make", [compressors.rand_k, compressors.rand_k_natural])
def test_every_outcome_of_a_sparse_compressor_is_told_apart(make):
    """k of d coordinates: as many messages as outcomes, on a vector without zeros."""
    compressor, x = make(5, 2), np.array([1.0, -2, 4, 0.5, -8])
    masks, _ = compressors.rand_k(5, 2).draws.support()
    draws = masks if make is compressors.rand_k else compressors.SparseNatural(masks, np.full((10, 5), 0.5))
    kept = [
        draws[i] if make is compressors.rand_k else compressors.SparseNatural(masks[i], draws[1][i]) for i in range(10)
    ]
    assert len({encode(compressor, draw, x) for draw in kept}) == 10


def test_exact_vectors_are_encoded_too():
    compressor, x = compressors.rand_k(3, 1), exact([Fraction(1, 3), 2, 5])
    draw = np.array([True, False, False])
    assert decode(compressor, encode(compressor, draw, x)).tolist() == [1.0, 0, 0]


@pytest.mark.parametrize("q", [-126, -1, 0, 127])
@pytest.mark.parametrize("sign", [1, -1])
def test_nine_bits_reach_the_ends_of_the_normal_numbers(q, sign):
    compressor, x = compressors.natural(1), np.array([sign * 2.0**q])
    message = encode(compressor, np.array([0.5]), x)
    assert message == ("0" if sign > 0 else "1") + format(q + 127, "08b")
    assert decode(compressor, message)[0] == sign * 2.0**q


@pytest.mark.parametrize("x", [2.0**-127, 1e-45, 2.0**128, 1.5 * 2.0**127])
def test_nine_bits_say_nothing_subnormal_and_nothing_that_overflows(x):
    """The last of them is a single-precision number, but half of its roundings are not."""
    with pytest.raises(ValueError, match="9 bits cannot express"):
        encode(compressors.natural(1), np.array([0.0]), np.array([x]))


def test_the_scale_is_not_part_of_nine_bits():
    """A factor d/k that is not a power of two would not fit: the receiver multiplies."""
    compressor = compressors.rand_k_natural(3, 2)
    bare = replace(compressor, layout=compressor.layout._replace(scale=1))
    draw = compressors.SparseNatural(np.array([True, True, False]), np.full(3, 0.9))
    assert decode(compressor, encode(compressor, draw, np.ones(3))).tolist() == [1.5, 1.5, 0]
    with pytest.raises(ValueError, match="not a power of two"):
        encode(bare, draw, np.ones(3))


def test_a_length_that_is_not_the_true_one_is_caught():
    """rand-k without its indices: the message that is really written is longer, and one of that length unreadable."""
    claimed = replace(compressors.rand_k(8, 2), bits=64)
    message = encode(claimed, np.arange(8) < 2, np.ones(8))
    assert len(message) == 70 != claimed.bits
    with pytest.raises(ValueError, match="64 bits, got 70"):
        decode(claimed, message)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: encode(compressors.identity(2), np.zeros(0), np.ones(3)), "one vector of length 2"),
        (lambda: encode(compressors.identity(1), np.zeros(0), np.array([np.nan])), "not finite"),
        (lambda: encode(compressors.identity(1), np.zeros(0), np.array([1e39])), "overflows single precision"),
        (
            lambda: encode(replace(compressors.identity(1), layout=None), np.zeros(0), np.ones(1)),
            "no message format is known",
        ),
        (lambda: decode(compressors.identity(1), "01"), "is 32 bits, got 2"),
        (lambda: decode(compressors.natural(1), "0000000x0"), "is 9 bits, got 9"),
        (lambda: decode(compressors.natural(1), "011111111"), "field 255 does not encode a number"),
        (lambda: decode(compressors.l1_selection(3), "11" + "0" * 32), "coordinate 3 of a vector of length 3"),
        (lambda: perm_k(5, 2), "2 clients do not divide d = 5"),
        (lambda: Permuted(compressors.rand_k(4, 1), 2), "rand-k with n k = d, got rand-1"),
        (lambda: Permuted(compressors.rand_k(4, 2), 2, "shared"), "no other dependence"),
    ],
)
def test_bad_arguments(act, message):
    with pytest.raises(ValueError, match=message):
        act()


# Permuted families.


def joint_factor(family: Family) -> float:
    """sup of n E|(1/n) sum_i (C_i(x_i) - x_i)|^2 / sum_i |x_i|^2 over all x_i: the largest eigenvalue of a form.

    The family is linear in (x_1, ..., x_n), so that each draw is a matrix, which its values on the unit vectors give.
    """
    n, d = family.n, family.compressor.d
    units = np.eye(n * d).reshape(n * d, 1, n, d)
    draws, p = family.draws.support()
    errors = (family.apply(draws, units) - units).sum(axis=-2) / n
    return n * float(np.linalg.eigvalsh(np.einsum("akj,bkj,k->ab", errors, errors, p))[-1])


@pytest.mark.parametrize(("d", "n"), [(1, 1), (3, 1), (2, 2), (4, 2), (6, 2), (3, 3), (6, 3), (4, 4)])
def test_permuted_families_have_exactly_the_stated_constants(d, n):
    family = perm_k(d, n)
    draws, p = family.draws.support(exact=True)
    assert p.sum() == 1 and len(p) == family.draws.count
    x = exact(np.random.default_rng(d).integers(-5, 6, (n, d)))
    values = family.apply(draws, x)
    assert ((values * p[:, None, None]).sum(axis=0) == x).all()
    # Every draw covers each coordinate once, and each client alone attains omega = n - 1.
    assert (draws.sum(axis=1) == 1).all()
    assert family.omega == n - 1
    assert ((((values - x) ** 2).sum(axis=-1) * p[:, None]).sum(axis=0) == family.omega * (x**2).sum(axis=-1)).all()
    assert joint_factor(family) == pytest.approx(float(family.omega_av), abs=1e-12)


@pytest.mark.parametrize(("d", "n"), [(4, 2), (3, 3)])
def test_a_permuted_family_is_exact_on_equal_vectors_and_worse_than_independent_ones_on_others(d, n):
    family, independent = perm_k(d, n), Family(compressors.rand_k(d, d // n), n)
    draws, _ = family.draws.support(exact=True)
    same = exact(np.tile(np.arange(1, d + 1), (n, 1)))
    assert ((family.apply(draws, same) - same).sum(axis=1) == 0).all()
    assert joint_factor(independent) == pytest.approx((n - 1) / n)
    assert float(family.omega_av) > joint_factor(independent)


def test_sampled_blocks_are_disjoint_and_uniform():
    family = perm_k(6, 3)
    masks = family.draws.sample(np.random.default_rng(0), (4000,))
    assert masks.shape == (4000, 3, 6)
    assert (masks.sum(axis=1) == 1).all() and (masks.sum(axis=2) == 2).all()
    # 4000 fair draws of probability 1/3 deviate by 6 standard deviations once in 5e8.
    assert abs(masks.mean(axis=0) - 1 / 3).max() < 6 * np.sqrt(2 / 9 / 4000)
