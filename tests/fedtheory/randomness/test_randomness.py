"""Distributions of draws: exact laws, supports, samplers, and how they combine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory.numbers.rational import Array, exact
from fedtheory.randomness import (
    LARGEST_SUPPORT,
    Bernoulli,
    Constant,
    Distribution,
    Draw,
    Independent,
    Permutation,
    Product,
    Shared,
    Size,
    Uniform01,
    UniformSubset,
    WeightedSubset,
    expectation,
    map_leaves,
    support_of,
)
from fedtheory.randomness.participation import Categorical, Coins

#: Chance that a correct sampler fails one of the frequency tests.
LEVEL = 1e-9

WEIGHTS = exact([1, Fraction(1, 2), 4, Fraction(3, 7), 2])
COIN = Bernoulli(Fraction(2, 7))


class Pair(NamedTuple):
    """A coin and a mask."""

    coin: Array
    mask: Array


class Nested(NamedTuple):
    """A pair beside another coin."""

    pair: Pair
    again: Array


PAIR = Product(Pair, (COIN, UniformSubset(3, 2)))

FINITE: dict[str, Distribution] = {
    "constant": Constant(),
    "coin": COIN,
    "coin-0": Bernoulli(Fraction(0)),
    "coin-1": Bernoulli(1),
    "uniform-subset": UniformSubset(4, 2),
    "one-of-one": UniformSubset(1, 1),
    "weighted-subset": WeightedSubset(WEIGHTS, 3),
    "weighted-one": WeightedSubset(WEIGHTS, 1),
    "weighted-all": WeightedSubset(WEIGHTS, 5),
    "coins": Coins(exact([Fraction(1, 3), 1, Fraction(3, 4), 0])),
    "categorical": Categorical(exact([Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)])),
    "permutation": Permutation(3),
    "permutation-of-one": Permutation(1),
    "permutations": Independent(Permutation(2), 2),
    "product": PAIR,
    "nested": Product(Nested, (PAIR, COIN)),
    "independent": Independent(COIN, 3),
    "independent-subsets": Independent(UniformSubset(3, 1), 2),
    "independent-products": Independent(PAIR, 2),
    "independent-twice": Independent(Independent(COIN, 2), 2),
    "shared": Shared(UniformSubset(3, 2), 4),
    "shared-product": Shared(PAIR, 2),
    "independent-shared": Independent(Shared(COIN, 3), 2),
    "shared-independent": Shared(Independent(COIN, 2), 3),
}
INFINITE: dict[str, Distribution] = {
    "uniform": Uniform01((3,)),
    "uniform-scalar": Uniform01(()),
    "product": Product(Pair, (COIN, Uniform01((2,)))),
    "independent": Independent(Uniform01((2,)), 3),
    "shared": Shared(Uniform01((2,)), 3),
}
every_finite = pytest.mark.parametrize("distribution", FINITE.values(), ids=FINITE.keys())


def leaves(draw: Draw) -> list[Array]:
    """The arrays of a draw, in order."""
    return [leaf for part in draw for leaf in leaves(part)] if isinstance(draw, tuple) else [np.asarray(draw)]


def rows(draw: Draw, count: int) -> list[tuple[Any, ...]]:
    """``count`` draws on one leading axis, each as a flat tuple."""
    flat = np.concatenate([leaf.reshape(count, -1).astype(float) for leaf in leaves(draw)], axis=-1)
    return [tuple(row) for row in flat]


def hoeffding(cells: int, size: int) -> float:
    """t such that all of ``cells`` frequencies in ``size`` draws are within t of their means, but for LEVEL.

    Two-sided Hoeffding and a union bound: 2 cells exp(-2 size t^2) = LEVEL. A sampler with a probability off by
    2 t or more is caught with the same confidence.
    """
    return math.sqrt(math.log(2 * cells / LEVEL) / (2 * size))


def check_frequencies(distribution: Distribution, size: int, seed: int) -> None:
    """Sampled draws lie in the support, with frequencies within the Hoeffding bound of the probabilities."""
    draws, probabilities = distribution.support()
    law = dict(zip(rows(draws, len(probabilities)), probabilities, strict=True))
    sampled = np.array(rows(distribution.sample(np.random.default_rng(seed), (size,)), size))
    values, counts = np.unique(sampled, axis=0, return_counts=True)
    seen = {tuple(value): count / size for value, count in zip(values, counts, strict=True)}
    assert seen.keys() <= law.keys(), "a sampled draw is not in the support"
    worst = max(abs(seen.get(key, 0.0) - p) for key, p in law.items())
    assert worst <= hoeffding(len(law), size), f"a frequency is off by {worst}"


def one_sentence(error: pytest.ExceptionInfo[ValueError]) -> bool:
    """Whether the message of an error is one line and one sentence."""
    message = str(error.value)
    return bool(message) and "\n" not in message and ". " not in message and not message.endswith(".")


# Supports.


@every_finite
def test_support_is_an_exact_law(distribution: Distribution) -> None:
    draws, probabilities = distribution.support(exact=True)
    assert all(isinstance(p, Fraction) and p > 0 for p in probabilities)
    assert sum(probabilities) == 1
    assert len(probabilities) == distribution.count
    assert len(set(rows(draws, len(probabilities)))) == len(probabilities)
    assert all(len(leaf) == len(probabilities) for leaf in leaves(draws))


@every_finite
def test_float_support_agrees_with_the_exact_one(distribution: Distribution) -> None:
    (draws, p), (exact_draws, q) = distribution.support(), distribution.support(exact=True)
    assert p.dtype == np.float64
    np.testing.assert_allclose(p, q.astype(float), rtol=1e-14)
    for a, b in zip(leaves(draws), leaves(exact_draws), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_sure_coin_has_one_draw() -> None:
    for p in (0, 1):
        draws, probabilities = Bernoulli(p).support(exact=True)
        assert draws.tolist() == [bool(p)]
        assert probabilities.tolist() == [1]


def test_in_an_order_every_client_has_one_place_and_every_place_one_client() -> None:
    places, probabilities = Permutation(3).support(exact=True)
    masks = np.stack(places, axis=-2)
    assert masks.shape == (6, 3, 3) and (probabilities == Fraction(1, 6)).all()
    assert (masks.sum(axis=-1) == 1).all() and (masks.sum(axis=-2) == 1).all()
    assert len(np.unique(masks.reshape(6, -1), axis=0)) == 6


def test_clients_take_part_with_the_probabilities_of_their_own() -> None:
    p = exact([Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)])
    for distribution in (Coins(p), Categorical(p)):
        masks, probabilities = distribution.support(exact=True)
        assert [expectation(masks[:, i] * 1, probabilities) for i in range(3)] == list(p)
        both = expectation(masks[:, 0] * masks[:, 1] * 1, probabilities)
        assert both == (0 if isinstance(distribution, Categorical) else p[0] * p[1])


@pytest.mark.parametrize("p", [[Fraction(1, 2), Fraction(1, 3)], [Fraction(3, 2), Fraction(-1, 2)], [0.5, 0.6]])
def test_no_client_is_chosen_by_what_are_no_probabilities(p: Any) -> None:
    with pytest.raises(ValueError, match="the choice of a client") as error:
        Categorical(np.array(p))
    assert one_sentence(error)


@pytest.mark.parametrize("n", [0, -1, 2.0])
def test_no_clients_have_no_order(n: Any) -> None:
    with pytest.raises(ValueError, match="whole number from 1 on") as error:
        Permutation(n)
    assert one_sentence(error)


def test_subsets_are_all_subsets_once() -> None:
    for n in range(1, 6):
        for tau in range(1, n + 1):
            masks, p = UniformSubset(n, tau).support(exact=True)
            assert masks.dtype == bool
            assert [tuple(np.flatnonzero(m)) for m in masks] == list(combinations(range(n), tau))
            assert set(p) == {Fraction(1, math.comb(n, tau))}


@pytest.mark.parametrize("tau", [1, 2, 3, 4, 5])
def test_weighted_subset_has_the_law_of_lemma_B3(tau: int) -> None:
    """P(I) is proportional to e_I' L^-1 e_I with L = diag(1/weights) (FedDCD, Lemma B.3)."""
    masks, probabilities = WeightedSubset(WEIGHTS, tau).support(exact=True)
    L_inverse = np.diag(WEIGHTS)
    forms = [indicator @ L_inverse @ indicator for indicator in exact(masks.astype(int))]
    assert probabilities.tolist() == [form / sum(forms) for form in forms]
    n, W = len(WEIGHTS), sum(WEIGHTS)
    by_subset = [sum(WEIGHTS[list(I)]) / W / math.comb(n - 1, tau - 1) for I in combinations(range(n), tau)]
    assert probabilities.tolist() == by_subset


@pytest.mark.parametrize("tau", [1, 2, 4, 5])
def test_weighted_subset_inclusion_probabilities(tau: int) -> None:
    """P(i in I) = w_i/W + (1 - w_i/W) (tau-1)/(n-1): the first member by weight, the rest uniformly."""
    masks, p = WeightedSubset(WEIGHTS, tau).support(exact=True)
    share = WEIGHTS / WEIGHTS.sum()
    inclusion = expectation(masks.astype(int), p, axis=0)
    assert inclusion.tolist() == (share + (1 - share) * Fraction(tau - 1, len(WEIGHTS) - 1)).tolist()


def test_uniform_subset_first_two_moments() -> None:
    n, tau = 5, 3
    masks, p = UniformSubset(n, tau).support(exact=True)
    ones = masks.astype(int)
    second = expectation(ones[:, :, None] * ones[:, None, :], p, axis=0)
    for i, j in product(range(n), repeat=2):
        expected = Fraction(tau, n) if i == j else Fraction(tau * (tau - 1), n * (n - 1))
        assert second[i, j] == expected


def test_equal_weights_are_uniform_and_a_common_factor_is_irrelevant() -> None:
    uniform, weighted = UniformSubset(5, 2), WeightedSubset(exact([3] * 5), 2)
    assert weighted.support(exact=True)[1].tolist() == uniform.support(exact=True)[1].tolist()
    scaled = WeightedSubset(WEIGHTS * Fraction(22, 7), 2).support(exact=True)[1]
    assert scaled.tolist() == WeightedSubset(WEIGHTS, 2).support(exact=True)[1].tolist()


@pytest.mark.parametrize("dtype", [int, float, object])
def test_exact_weighted_support_needs_no_fractions_as_weights(dtype: type) -> None:
    probabilities = WeightedSubset(np.array([1, 2, 3], dtype=dtype), 2).support(exact=True)[1]
    assert all(isinstance(p, Fraction) for p in probabilities)
    assert probabilities.tolist() == [Fraction(1, 4), Fraction(1, 3), Fraction(5, 12)]


# Samples.


@every_finite
@pytest.mark.parametrize("size", [(), (4,), (2, 3), (2, 1, 3), (0,), (2, 0)])
def test_sample_shapes(distribution: Distribution, size: Size) -> None:
    support, _ = distribution.support()
    draw = distribution.sample(np.random.default_rng(0), size)
    assert isinstance(draw, type(support)) or not isinstance(support, tuple)
    for sampled, listed in zip(leaves(draw), leaves(support), strict=True):
        assert sampled.shape == (*size, *listed.shape[1:])
        assert sampled.dtype == listed.dtype


@pytest.mark.parametrize("size", [(), (4,), (2, 3)])
def test_sample_shapes_without_a_finite_support(size: Size) -> None:
    shapes = {
        name: [leaf.shape for leaf in leaves(d.sample(np.random.default_rng(0), size))] for name, d in INFINITE.items()
    }
    assert shapes == {
        "uniform": [(*size, 3)],
        "uniform-scalar": [size],
        "product": [size, (*size, 2)],
        "independent": [(*size, 3, 2)],
        "shared": [(*size, 3, 2)],
    }


@every_finite
def test_sampled_draws_lie_in_the_support_and_have_its_frequencies(distribution: Distribution) -> None:
    check_frequencies(distribution, 20_000, seed=1)


@pytest.mark.parametrize("distribution", [UniformSubset(7, 3), WeightedSubset(WEIGHTS, 3)], ids=["uniform", "weighted"])
def test_masks_have_tau_members(distribution: UniformSubset | WeightedSubset) -> None:
    masks, _ = distribution.support()
    assert set(masks.sum(axis=-1)) == {distribution.tau}
    sampled = distribution.sample(np.random.default_rng(2), (50, 20))
    assert sampled.dtype == bool
    assert set(sampled.sum(axis=-1).ravel()) == {distribution.tau}


def test_subsets_too_many_to_list_are_still_sampled() -> None:
    for distribution in (UniformSubset(60, 30), WeightedSubset(np.linspace(1, 2, 60), 30)):
        assert distribution.count > LARGEST_SUPPORT
        assert set(distribution.sample(np.random.default_rng(3), (10,)).sum(axis=-1)) == {30}


@pytest.mark.parametrize("tau", [1, 2, 3])
def test_weighted_sampler_has_the_law_of_lemma_B3(tau: int) -> None:
    """At 100,000 draws every frequency is within 0.011 (``hoeffding``); the laws below are off by 0.059 or more."""
    check_frequencies(WeightedSubset(WEIGHTS, tau), 100_000, seed=4)


@dataclass(frozen=True)
class Pretender:
    """A planted error: claims the law of ``claimed`` but samples by ``sampler(rng, size)``."""

    claimed: Distribution
    sampler: Callable[[np.random.Generator, Size], Draw]

    @property
    def count(self) -> int | None:
        return self.claimed.count

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Draw:
        return self.sampler(rng, size)

    def support(self, exact: bool = False) -> tuple[Draw, Array]:
        return self.claimed.support(exact)


def _uniformly(rng: np.random.Generator, size: Size) -> Array:
    return UniformSubset(len(WEIGHTS), 3).sample(rng, size)


def _all_by_weight(rng: np.random.Generator, size: Size) -> Array:
    """Every member by weight, without replacement (exponential races): another law than Lemma B.3's."""
    races = rng.exponential(size=(*size, len(WEIGHTS))) / WEIGHTS.astype(float)
    return races.argsort(axis=-1).argsort(axis=-1) < 3


def _two_members(rng: np.random.Generator, size: Size) -> Array:
    return UniformSubset(len(WEIGHTS), 2).sample(rng, size)


@pytest.mark.parametrize("sampler", [_uniformly, _all_by_weight, _two_members])
def test_a_wrong_sampler_is_caught(sampler: Callable[[np.random.Generator, Size], Draw]) -> None:
    with pytest.raises(AssertionError):
        check_frequencies(Pretender(WeightedSubset(WEIGHTS, 3), sampler), 100_000, seed=4)


def test_uniform_variates_are_uniform() -> None:
    """Dvoretzky-Kiefer-Wolfowitz: sup |F_N - F| <= sqrt(log(2/LEVEL)/(2N)), 0.0134 here, but for LEVEL."""
    values = np.sort(Uniform01((3,)).sample(np.random.default_rng(5), (20_000,)).ravel())
    assert values[0] >= 0
    assert values[-1] < 1
    steps = np.arange(len(values) + 1) / len(values)
    distance = max(np.max(steps[1:] - values), np.max(values - steps[:-1]))
    assert distance <= math.sqrt(math.log(2 / LEVEL) / (2 * len(values)))


@pytest.mark.parametrize("distribution", [*FINITE.values(), *INFINITE.values()])
def test_the_seed_decides(distribution: Distribution) -> None:
    first, second = (distribution.sample(np.random.default_rng(6), (5,)) for _ in range(2))
    for a, b in zip(leaves(first), leaves(second), strict=True):
        np.testing.assert_array_equal(a, b)


# Combinations.


def test_product_is_a_named_tuple_of_independent_draws() -> None:
    draws, probabilities = PAIR.support(exact=True)
    assert isinstance(draws, Pair)
    (coins, p), (masks, q) = COIN.support(exact=True), UniformSubset(3, 2).support(exact=True)
    expected = [
        (c, tuple(m), a * b) for (c, a), (m, b) in product(zip(coins, p, strict=True), zip(masks, q, strict=True))
    ]
    assert [(c, tuple(m), r) for c, m, r in zip(draws.coin, draws.mask, probabilities, strict=True)] == expected
    sample = PAIR.sample(np.random.default_rng(0), (2, 5))
    assert isinstance(sample, Pair)
    assert (sample.coin.shape, sample.mask.shape) == ((2, 5), (2, 5, 3))


def test_nested_products_keep_their_structure() -> None:
    distribution = Product(Nested, (PAIR, COIN))
    for draw in (distribution.support()[0], distribution.sample(np.random.default_rng(0), (12,))):
        assert isinstance(draw, Nested)
        assert isinstance(draw.pair, Pair)
        assert draw.pair.mask.shape == (12, 3)
    copies = Independent(distribution, 2).support()[0]
    assert isinstance(copies.pair, Pair)
    assert copies.pair.mask.shape == (144, 2, 3)


def test_independent_copies_multiply() -> None:
    draws, probabilities = Independent(COIN, 3).support(exact=True)
    law = {True: COIN.p, False: 1 - COIN.p}
    expected = {flips: math.prod(law[f] for f in flips) for flips in product([True, False], repeat=3)}
    assert dict(zip(map(tuple, draws.tolist()), probabilities, strict=True)) == expected


def test_independent_copies_differ_and_shared_ones_agree() -> None:
    one = Uniform01((2,))
    independent = Independent(one, 6).sample(np.random.default_rng(0), (4,))
    assert len(np.unique(independent)) == independent.size
    shared = Shared(one, 6).sample(np.random.default_rng(0), (4,))
    assert (shared == shared[:, :1]).all()
    assert len(np.unique(shared[:, 0])) == 8


def test_shared_support_is_that_of_one_copied() -> None:
    draws, probabilities = Shared(PAIR, 4).support(exact=True)
    one, p = PAIR.support(exact=True)
    assert isinstance(draws, Pair)
    assert probabilities.tolist() == p.tolist()
    assert (draws.coin.shape, draws.mask.shape) == ((6, 4), (6, 4, 3))
    for i in range(4):
        np.testing.assert_array_equal(draws.coin[:, i], one.coin)
        np.testing.assert_array_equal(draws.mask[:, i], one.mask)


def test_counts() -> None:
    assert Product(Pair, (COIN, UniformSubset(5, 2))).count == 20
    assert Independent(UniformSubset(4, 2), 3).count == 6**3
    assert Shared(UniformSubset(4, 2), 3).count == 6
    assert all(distribution.count is None for distribution in INFINITE.values())


def test_many_certain_copies_are_enumerated() -> None:
    """More copies than numpy has axes, in a support of one draw."""
    for one in (Constant(), Bernoulli(1)):
        draws, probabilities = Independent(one, 500).support(exact=True)
        assert draws.shape[:2] == (1, 500)
        assert probabilities.tolist() == [1]


def test_map_leaves_keeps_the_structure() -> None:
    draw = Nested(Pair(np.array([1, 2]), np.array([3, 4])), np.array([5, 6]))
    total = map_leaves(lambda a, b: a + 10 * b, draw, draw)
    assert isinstance(total, Nested)
    assert isinstance(total.pair, Pair)
    assert [leaf.tolist() for leaf in leaves(total)] == [[11, 22], [33, 44], [55, 66]]


# Expectation.


def test_expectation_is_exact_on_fractions() -> None:
    values = exact([[1, Fraction(1, 3)], [Fraction(-2, 7), 0], [5, Fraction(1, 11)]])
    p = exact([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    mean = expectation(values, p, axis=0)
    assert mean.tolist() == [
        Fraction(1, 2) - Fraction(2, 21) + Fraction(5, 6),
        Fraction(1, 6) + Fraction(1, 66),
    ]
    assert all(isinstance(m, Fraction) for m in mean)
    assert expectation(values.T, p).tolist() == mean.tolist()
    assert expectation(values[:, 0], p) == mean[0]


def test_expectation_of_integers_and_masks_is_exact() -> None:
    masks, p = UniformSubset(3, 2).support(exact=True)
    assert expectation(masks, p, axis=0).tolist() == [Fraction(2, 3)] * 3
    assert expectation(masks.sum(axis=-1), p) == 2


def test_expectation_of_floats_is_float() -> None:
    for p in (np.array([0.25, 0.75]), exact([0.25, 0.75])):
        mean = expectation(np.array([[1.0, 2.0], [3.0, 6.0]]), p)
        assert mean.dtype == np.float64
        assert mean.tolist() == [1.75, 5.25]


def test_expectation_agrees_with_counting() -> None:
    draws, p = Independent(COIN, 4).support(exact=True)
    heads = Counter[int]()
    for flips, q in zip(draws, p, strict=True):
        heads[int(flips.sum())] += q
    assert heads == {h: math.comb(4, h) * COIN.p**h * (1 - COIN.p) ** (4 - h) for h in range(5)}
    assert expectation(draws.sum(axis=-1), p) == 4 * COIN.p


# Errors.


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UniformSubset(3, 4), "between 1 and the 3 clients, got 4"),
        (lambda: UniformSubset(3, 0), "between 1 and the 3 clients, got 0"),
        (lambda: UniformSubset(3, -1), "got -1"),
        (lambda: UniformSubset(0, 1), "between 1 and the 0 clients"),
        (lambda: WeightedSubset(WEIGHTS, 6), "between 1 and the 5 clients, got 6"),
        (lambda: WeightedSubset(WEIGHTS, 0), "between 1 and the 5 clients, got 0"),
        (lambda: WeightedSubset(np.array([1.0, 0.0]), 1), "weights .* must be positive"),
        (lambda: WeightedSubset(exact([1, Fraction(-1, 2)]), 1), "weights .* must be positive"),
        (lambda: WeightedSubset(np.array([1.0, np.nan]), 1), "weights .* must be positive"),
        (lambda: WeightedSubset(np.array([1.0, np.inf]), 1), "weights .* must be positive and finite"),
        (lambda: Bernoulli(Fraction(8, 7)), r"probability of a coin must be in \[0, 1\], got 8/7"),
        (lambda: Bernoulli(-0.1), r"must be in \[0, 1\], got -0.1"),
        (lambda: Bernoulli(float("nan")), r"must be in \[0, 1\], got nan"),
        *((d.support, "no finite support") for d in INFINITE.values()),
        (UniformSubset(40, 20).support, f"more than {LARGEST_SUPPORT}"),
        (WeightedSubset(np.ones(40), 20).support, f"more than {LARGEST_SUPPORT}"),
        (Independent(COIN, 18).support, f"the support has 262144 draws, more than {LARGEST_SUPPORT}"),
        (Shared(UniformSubset(40, 20), 2).support, f"more than {LARGEST_SUPPORT}"),
        (Product(Pair, (Independent(COIN, 10), Independent(COIN, 10))).support, "has 1048576 draws"),
    ],
)
def test_a_user_error_is_one_sentence(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        make()
    assert one_sentence(error)


def test_a_subset_has_its_size_where_numbers_are_equal():
    class Equal:
        def random(self, size):
            return np.broadcast_to([0.5, 0.25, 0.5, 0.5, 0.75], size)

    masks = UniformSubset(5, 3).sample(Equal(), (2,))
    assert masks.tolist() == [[True, True, True, False, False]] * 2


@dataclass(frozen=True)
class Table:
    """Somebody's own distribution: draws 1, ..., K with any probabilities, those in floats besides."""

    p: Any
    floats: Any = None
    count: int = 2

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Draw:
        return rng.integers(1, 3, size)

    def support(self, exact: bool = False) -> tuple[Draw, Any]:
        return np.arange(1, 3), np.array(self.p if exact or self.floats is None else self.floats, dtype=object)


HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("distribution", "exact", "words"),
    [
        (Table((HALF, Fraction(2, 5))), True, "sum to 9/10, where 1 is due"),
        (Table((0.5, 0.4)), False, "sum to 0.9, where 1 is due"),
        (Table((HALF, HALF + Fraction(1, 10**20))), True, "where 1 is due"),
        (Table((Fraction(3, 2), -HALF)), True, "negative"),
        (Table((1.001, -0.001)), False, "negative"),
        (Table((1.0, -1e-16)), True, "negative"),
        (Table((float("nan"), 1.0)), False, "negative, or no number"),
        (Table((1 / 3, 2 / 3)), True, "the probability 0.333.*, a float, in fractions"),
        (Table((HALF, HALF), count=3), True, "2 probabilities, and .*3.* draws"),
        (Table((HALF,) * 3), True, "where 1 is due"),
        (Table((Fraction(1, 3),) * 3, count=3), True, "3 probabilities, and .*2.* draws"),
        (Table(((HALF, HALF),)), True, r"shape \(1, 2\)"),
        (Independent(Table((-HALF, Fraction(3, 2))), 2), True, "negative"),
        (Product(Pair, (Table((-HALF, -HALF)), Table((-HALF, -HALF)))), True, "negative"),
    ],
)
def test_probabilities_that_are_none_are_told(distribution, exact, words):
    with pytest.raises(ValueError, match=words) as error:
        support_of(distribution, exact)
    assert one_sentence(error)


def test_a_short_decimal_is_the_fraction_that_it_denotes_and_what_has_no_probability_is_not_drawn():
    _, p = support_of(Table((0.1, 0.9)), True)
    assert p.tolist() == [Fraction(1, 10), Fraction(9, 10)]
    # In floats what is left over of a sum is nothing.
    draws, p = support_of(Table((-1e-16, 1.0)), False)
    assert draws.tolist() == [2] and p.tolist() == [1]
    draws, p = support_of(Table((0, 1)), True)
    assert (draws.tolist(), p.tolist()) == ([2], [1])


class Keys:
    """In place of a generator: these numbers."""

    def __init__(self, keys):
        self.keys = np.array(keys)

    def random(self, size):
        return np.broadcast_to(self.keys, size)


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ([0.5, 0.25, 0.75], [1, 0]),
        # Equal in half of the bits, or in all.
        ([0.5 + 2**-50, 0.5, 0.25, 0.5 + 2**-51], [2, 1]),
        ([0.5 - 2**-50, 0.5, 0.25, 0.5 + 2**-51], [2, 0]),
        ([0.75, 0.5, 0.5, 0.5], [1, 2]),
        ([1 - 2**-53, 1 - 2**-52, 1 - 2**-51], [2, 1]),
    ],
)
def test_a_subset_has_the_least_numbers_to_their_last_bits(keys, chosen):
    mask = UniformSubset(len(keys), 2).sample(Keys(keys), (3,))
    assert (mask == np.isin(np.arange(len(keys)), chosen)).all()
