"""Compressors: unbiased, of the variance they state, attained where they say so; samplers that obey the enumeration.

All expectations are exact sums of fractions over ``outcomes``. The checks are functions that raise AssertionError, and
the same functions are run on planted errors at the end.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fedtheory import compressors
from fedtheory.compressors import Compressor, Family, power_below
from fedtheory.numbers.rational import Array, exact, to_float
from fedtheory.randomness import Distribution, Draw, Product, Uniform01, map_leaves

EXACT = settings(derandomize=True, database=None, deadline=None, max_examples=30, report_multiple_bugs=False)
#: The same examples without shrinking, for planted errors: only whether one fails matters.
PLANTED = settings(EXACT, phases=[Phase.generate])

#: At |x| = (4/3) 2^k natural compression has its largest variance, 1/8.
WORST = Fraction(4, 3)

Check = Callable[[Compressor, Array], None]

# What to test on.

reals = st.one_of(
    st.just(Fraction(0)),
    st.fractions(-5, 5, max_denominator=7),
    st.builds(lambda sign, k: sign * Fraction(2) ** k, st.sampled_from([-1, 1]), st.integers(-4, 4)),
    st.builds(lambda sign, k: sign * WORST * Fraction(2) ** k, st.sampled_from([-1, 1]), st.integers(-4, 4)),
)
dimensions = st.integers(1, 4)
omegas = st.fractions(0, 6, max_denominator=5)


def vectors(d: int) -> st.SearchStrategy[Array]:
    """Vectors of small fractions: zeros, negatives, powers of two and their worst multiples among them."""
    return st.lists(reals, min_size=d, max_size=d).map(exact)


def worst_vectors(d: int) -> st.SearchStrategy[Array]:
    """Vectors with all |x_j| equal to one (4/3) 2^k: there every compressor attains its omega."""
    signs = st.lists(st.sampled_from([-1, 1]), min_size=d, max_size=d)
    return st.builds(lambda s, k: exact(s) * WORST * Fraction(2) ** k, signs, st.integers(-4, 4))


def _with_k(make: Callable[[int, int], Compressor]) -> st.SearchStrategy[Compressor]:
    return dimensions.flatmap(lambda d: st.integers(1, d).map(lambda k: make(d, k)))


KINDS: dict[str, st.SearchStrategy[Compressor]] = {
    "identity": dimensions.map(compressors.identity),
    "bernoulli": st.builds(compressors.bernoulli, dimensions, omegas),
    "rand-k": _with_k(compressors.rand_k),
    "natural": dimensions.map(compressors.natural),
    "rand-k-natural": _with_k(compressors.rand_k_natural),
    "l1-selection": dimensions.map(compressors.l1_selection),
}
LINEAR = ("identity", "bernoulli", "rand-k")
#: One compressor of each kind for the tests that need no search.
SOME = (
    compressors.identity(3),
    compressors.bernoulli(3, Fraction(3, 2)),
    compressors.rand_k(3, 2),
    compressors.natural(3),
    compressors.rand_k_natural(3, 2),
    compressors.l1_selection(3),
)
every_kind = pytest.mark.parametrize("kind", KINDS)
each = pytest.mark.parametrize("compressor", SOME, ids=lambda c: c.name)


def search(
    check: Check,
    kind: st.SearchStrategy[Compressor],
    where: Callable[[int], st.SearchStrategy[Array]] = vectors,
    profile: settings = EXACT,
) -> None:
    """Run ``check`` on compressors of a kind and vectors of their dimension; raises at the first failure, shrunk."""

    @profile
    @given(kind.flatmap(lambda c: st.tuples(st.just(c), where(c.d))))
    def run(case: tuple[Compressor, Array]) -> None:
        check(*case)

    run()


def anywhere(d: int) -> st.SearchStrategy[Array]:
    """Vectors of both sorts, as often."""
    return st.one_of(vectors(d), worst_vectors(d))


# The checks: exact, on a vector of fractions.


def error_and_square(compressor: Compressor, x: Array) -> tuple[Fraction, Fraction]:
    """E|C(x) - x|^2 and |x|^2."""
    values, p = compressor.outcomes(x)
    return (((values - x) ** 2).sum(axis=-1) * p).sum(), (x**2).sum()


def check_law(compressor: Compressor, x: Array) -> None:
    """``outcomes`` is a law on R^d with exact probabilities."""
    values, p = compressor.outcomes(x)
    assert values.shape == (len(p), compressor.d)
    assert all(isinstance(v, Fraction) for v in p)
    assert all(v >= 0 for v in p)
    assert p.sum() == 1


def check_unbiased(compressor: Compressor, x: Array) -> None:
    """E C(x) = x."""
    values, p = compressor.outcomes(x)
    mean = (values * p[:, None]).sum(axis=0)
    assert mean.tolist() == x.tolist(), f"{compressor.name}: the mean at {x} is {mean}"


def check_variance(compressor: Compressor, x: Array) -> None:
    """E|C(x) - x|^2 <= omega |x|^2 (LoCoDL, eq. (2))."""
    error, square = error_and_square(compressor, x)
    assert error <= compressor.omega * square, f"{compressor.name}: {error} > {compressor.omega} * {square} at {x}"


def check_class(compressor: Compressor, x: Array) -> None:
    """C is in U(omega)."""
    check_law(compressor, x)
    check_unbiased(compressor, x)
    check_variance(compressor, x)


def check_tight(compressor: Compressor, x: Array) -> None:
    """E|C(x) - x|^2 = omega |x|^2."""
    error, square = error_and_square(compressor, x)
    assert error == compressor.omega * square, f"{compressor.name}: {error} != {compressor.omega} * {square} at {x}"


def law(values: Array, p: Array) -> Counter[tuple[Any, ...]]:
    """Probability of each distinct value."""
    total: Counter[tuple[Any, ...]] = Counter()
    for value, q in zip(values.tolist(), p.tolist(), strict=True):
        total[tuple(value)] += q
    return Counter({value: q for value, q in total.items() if q})


def grid(distribution: Distribution, points: int) -> tuple[Draw, Array]:
    """The support of a distribution whose uniform variates are replaced by all ``points`` midpoints of [0, 1)."""
    if isinstance(distribution, Uniform01):
        axes = [(np.arange(points) + 0.5) / points] * math.prod(distribution.shape)
        draws = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, *distribution.shape)
        return draws, np.full(len(draws), 1 / len(draws))
    if isinstance(distribution, Product):
        (first, p), (second, q) = (grid(part, points) for part in distribution.parts)
        left = map_leaves(lambda a: np.repeat(a, len(q), axis=0), first)
        right = map_leaves(lambda a: np.concatenate([a] * len(p)), second)
        return distribution.make(left, right), np.repeat(p, len(q)) * np.concatenate([q] * len(p))
    return distribution.support()


def check_sampler(compressor: Compressor, x: Array) -> None:
    """``apply``, integrated over all draws (a midpoint grid of N points for each uniform variate), obeys ``outcomes``.

    An interval of uniform variates of length p contains N p midpoints up to one, and up to one half if it starts at 0:
    so a frequency is within 1/N of the probability for the one variate of l1-selection and within m/(2N) for the m <= 3
    of natural compression. Without uniform variates the laws are equal.
    """
    variates = 1 if compressor.name.startswith("l1") else compressor.d
    points = {1: 1024, 2: 32, 3: 12}[variates]
    draws, weights = grid(compressor.draws, points)
    finite = compressor.draws.count is not None
    tolerance = 0.0 if finite else max(1.0, variates / 2) / points
    vector = to_float(x)
    integrated = law(np.broadcast_to(compressor.apply(draws, vector), (len(weights), compressor.d)), weights)
    stated = law(*compressor.outcomes(vector))
    for value in integrated.keys() | stated.keys():
        gap = abs(integrated[value] - stated[value])
        assert gap <= tolerance + 1e-12, f"{compressor.name}: P(C(x) = {value}) differs by {gap} at {x}"


def check_marginals(compressor: Compressor, x: Array) -> None:
    """As ``check_sampler`` for each coordinate of natural compression by itself: within 1/(2N), N = 1024."""
    points = 1024
    u = (np.arange(points) + 0.5) / points
    vector = to_float(x)
    rounded = compressor.apply(np.repeat(u[:, None], compressor.d, axis=1), vector)
    values, p = compressor.outcomes(vector)
    for j in range(compressor.d):
        integrated = law(rounded[:, j : j + 1], np.full(points, 1 / points))
        stated = law(values[:, j : j + 1], p)
        for value in integrated.keys() | stated.keys():
            assert abs(integrated[value] - stated[value]) <= 0.5 / points + 1e-12


# One compressor.


@every_kind
def test_unbiased_and_of_the_stated_variance(kind: str) -> None:
    search(check_class, KINDS[kind], anywhere)


@pytest.mark.parametrize("kind", LINEAR)
def test_variance_is_attained_everywhere(kind: str) -> None:
    search(check_tight, KINDS[kind])


@every_kind
def test_variance_is_attained_at_the_worst_vectors(kind: str) -> None:
    search(check_tight, KINDS[kind], worst_vectors)


def test_natural_variance_is_attained_coordinatewise() -> None:
    """Different powers of two and zeros, each |x_j| = (4/3) 2^k or 0."""
    x = exact([WORST / 8, -WORST * 4, 0, WORST])
    check_tight(compressors.natural(4), x)
    for k in range(1, 4):
        check_tight(compressors.rand_k_natural(4, k), exact([WORST / 8, -WORST * 4, 16 * WORST, WORST]))


def test_l1_variance_is_attained_at_equal_sizes_only() -> None:
    for d in range(2, 5):
        check_tight(compressors.l1_selection(d), exact([Fraction(3, 7), -Fraction(3, 7)] * d)[:d])
        error, square = error_and_square(compressors.l1_selection(d), exact(range(1, d + 1)))
        assert error < (d - 1) * square


def test_natural_has_no_variance_at_powers_of_two() -> None:
    error, _ = error_and_square(compressors.natural(4), exact([Fraction(1, 8), -2, 0, 1]))
    assert error == 0


@each
def test_zero_stays_zero(compressor: Compressor) -> None:
    for zero in (np.zeros(3), exact([0, 0, 0])):
        values, p = compressor.outcomes(zero)
        assert (values == 0).all()
        assert abs(p.sum() - 1) < 1e-15
        assert (compressor.sample(np.random.default_rng(0), np.zeros((50, 3))) == 0).all()


@every_kind
def test_float_and_exact_outcomes_agree(kind: str) -> None:
    def check(compressor: Compressor, x: Array) -> None:
        (values, p), (floats, q) = compressor.outcomes(x), compressor.outcomes(to_float(x))
        assert floats.dtype == q.dtype == np.float64
        np.testing.assert_allclose(floats, to_float(values), rtol=1e-14, atol=0)
        np.testing.assert_allclose(q, to_float(p), rtol=1e-12, atol=1e-15)

    search(check, KINDS[kind], anywhere)


def test_outcomes_by_hand() -> None:
    half = Fraction(1, 2)
    three = exact([3, -1])
    laws = {
        "identity": (compressors.identity(2), {(3, -1): 1}),
        "bernoulli": (compressors.bernoulli(2, 3), {(12, -4): Fraction(1, 4), (0, 0): Fraction(3, 4)}),
        "rand-k": (compressors.rand_k(2, 1), {(6, 0): half, (0, -2): half}),
        "natural": (compressors.natural(2), {(2, -1): half, (4, -1): half}),
        "rand-k-natural": (
            compressors.rand_k_natural(2, 1),
            {(4, 0): Fraction(1, 4), (8, 0): Fraction(1, 4), (0, -2): half},
        ),
        "l1": (compressors.l1_selection(2), {(4, 0): Fraction(3, 4), (0, -4): Fraction(1, 4)}),
    }
    for compressor, expected in laws.values():
        assert law(*compressor.outcomes(three)) == expected


def test_omega_is_the_printed_one() -> None:
    for d in range(1, 7):
        assert compressors.identity(d).omega == 0
        assert compressors.natural(d).omega == Fraction(1, 8)
        assert compressors.l1_selection(d).omega == d - 1
        for k in range(1, d + 1):
            assert compressors.rand_k(d, k).omega == Fraction(d, k) - 1
            assert compressors.rand_k_natural(d, k).omega == Fraction(9 * d, 8 * k) - 1


def test_bits_are_the_printed_ones() -> None:
    """LoCoDL, Section 4."""
    for d in range(1, 70):
        index = math.ceil(math.log2(d))
        assert compressors.natural(d).bits == 9 * d
        assert compressors.l1_selection(d).bits == 32 + index
        assert compressors.identity(d).bits == 32 * d
        assert compressors.bernoulli(d, 2).bits == 32 * d + 1
        for k in range(1, d + 1):
            assert compressors.rand_k(d, k).bits == 32 * k + k * index
            assert compressors.rand_k_natural(d, k).bits == 9 * k + k * index
    assert compressors.rand_k(300, 7).bits == 7 * (32 + 9)
    assert compressors.rand_k_natural(256, 7).bits == 7 * (9 + 8)
    assert compressors.l1_selection(257).bits == 32 + 9


# Samplers.


@every_kind
def test_sampler_obeys_the_enumeration(kind: str) -> None:
    small = KINDS[kind].filter(lambda c: c.d <= 3)
    search(check_sampler, small, anywhere)


def test_natural_rounds_each_coordinate_with_its_probability() -> None:
    search(check_marginals, KINDS["natural"], anywhere)


def test_every_mask_of_rand_k_is_an_outcome() -> None:
    """The outcomes are the C(d, k) vectors that keep k coordinates times d/k, each as likely, in the order of draws."""
    x = exact([Fraction(1, 3), -2, 5, Fraction(7, 2)])
    for k in range(1, 5):
        compressor = compressors.rand_k(4, k)
        masks, _ = compressor.draws.support()
        values, p = compressor.outcomes(x)
        expected = [[x[j] * Fraction(4, k) if j in kept else 0 for j in range(4)] for kept in combinations(range(4), k)]
        assert values.tolist() == expected
        assert set(p) == {Fraction(1, math.comb(4, k))}
        assert [compressor.apply(mask, x).tolist() for mask in masks] == expected


@each
@pytest.mark.parametrize("leading", [(), (5,), (2, 3), (0,)])
def test_sample_has_the_shape_of_the_vectors_and_their_outcomes(
    compressor: Compressor, leading: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(7)
    x = np.array([1.25, 0.0, -3.0])
    sampled = compressor.sample(rng, np.broadcast_to(x, (*leading, 3)))
    assert sampled.shape == (*leading, 3)
    assert sampled.dtype == np.float64
    possible = {tuple(v) for v in compressor.outcomes(x)[0].tolist()}
    assert {tuple(v) for v in sampled.reshape(-1, 3).tolist()} <= possible


@each
def test_sample_is_fresh_for_every_vector_and_reproducible(compressor: Compressor) -> None:
    # At most 12 outcomes, each of probability at least 1/12: one is missing with chance 12 (11/12)^600 < 1e-20.
    x = np.full((600, 3), 1.5)
    first, again = (compressor.sample(np.random.default_rng(8), x) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    distinct = len(np.unique(first, axis=0))
    assert distinct == len(law(*compressor.outcomes(x[0])))


@each
def test_apply_broadcasts_draws_against_vectors(compressor: Compressor) -> None:
    rng = np.random.default_rng(9)
    x = rng.standard_normal((5, 3))
    draws = compressor.draws.sample(rng, (4, 1))
    together = compressor.apply(draws, x)
    assert together.shape == (4, 5, 3)
    for a, i in product(range(4), range(5)):
        one = map_leaves(lambda leaf, a=a: leaf[a, 0], draws)
        np.testing.assert_array_equal(together[a, i], compressor.apply(one, x[i]))


@each
def test_apply_is_exact_on_fractions(compressor: Compressor) -> None:
    x = exact([Fraction(1, 3), -2, Fraction(5, 7)])
    possible = {tuple(v) for v in compressor.outcomes(x)[0].tolist()}
    draws = compressor.draws.sample(np.random.default_rng(10), (20,))
    assert {tuple(v) for v in compressor.apply(draws, x).tolist()} <= possible


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_never_becomes_finite(compressor: Compressor, bad: float) -> None:
    """Compressors do not validate: a run that diverges must not look as if it had recovered."""
    rng = np.random.default_rng(11)
    for j in range(3):
        x = np.array([1.5, -3.0, 0.0])
        x[j] = bad
        with np.errstate(all="ignore"):
            sampled = compressor.sample(rng, np.broadcast_to(x, (100, 3)))
        assert not np.isfinite(sampled).all(axis=-1).any()


def test_l1_selection_never_selects_a_zero() -> None:
    """At the ends of [0, 1), where the rounding of partial sums could: trailing zeros, leading zeros."""
    rng = np.random.default_rng(12)
    compressor = compressors.l1_selection(12)
    x = rng.standard_normal((500, 12))
    x[:, :2] = x[:, -2:] = 0
    for u in (0.0, 1 - 2.0**-53):
        selected = compressor.apply(np.array([u]), x)
        j = np.flatnonzero(selected.any(axis=0))
        assert j.tolist() == [2 if u == 0 else 9]
        assert ((selected != 0).sum(axis=-1) == 1).all()
        np.testing.assert_allclose(abs(selected).sum(axis=-1), abs(x).sum(axis=-1), rtol=1e-14)


# Powers of two.


@EXACT
@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_power_below_on_fractions(x: Fraction) -> None:
    for value in (x, -x):
        power = power_below(exact([value]))[0]
        assert power <= x < 2 * power
        assert power.numerator == 1 or power.denominator == 1
        assert (max(power.numerator, power.denominator) & (max(power.numerator, power.denominator) - 1)) == 0


def test_power_below_on_floats() -> None:
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    np.testing.assert_array_equal(power_below(powers), powers)
    np.testing.assert_array_equal(power_below(-powers), powers)
    np.testing.assert_array_equal(power_below(np.nextafter(powers[60:], 0)), powers[59:-1])
    np.testing.assert_array_equal(power_below(np.nextafter(powers[60:], np.inf)), powers[60:])
    assert power_below(np.array([0.0, -0.0])).tolist() == [1, 1]
    assert power_below(exact([0])).tolist() == [1]
    assert power_below(np.array([np.inf, -np.inf])).tolist() == [2.0**1023] * 2


# Families.


def joint_errors(family: Family, x: Array) -> tuple[Array, Array]:
    """All values of (1/n) sum_i (C_i(x_i) - x_i) ``(K, d)`` and their probabilities, for fractions ``x (n, d)``.

    Infinite supports: independent compressors by the product of their outcomes; a shared variate in [0, 1) by the
    intervals on which every C_i(x_i) is constant (natural compression with d = 1, and l1-selection).
    """
    compressor, n = family.compressor, family.n
    if compressor.draws.count is not None:
        draws, p = family.draws.support(exact=True)
        return (family.apply(draws, x) - x).sum(axis=1) / n, p
    if family.joint == "independent":
        laws = [compressor.outcomes(row) for row in x]
        choices = list(product(*(range(len(p)) for _, p in laws)))
        values = np.stack([sum(laws[i][0][k] - x[i] for i, k in enumerate(choice)) / n for choice in choices])
        return values, exact([math.prod(laws[i][1][k] for i, k in enumerate(choice)) for choice in choices])
    assert isinstance(compressor.draws, Uniform01)
    assert compressor.draws.shape == (1,)
    ends = {Fraction(0), Fraction(1)}
    for row in x:
        ends |= set(np.cumsum(compressor.outcomes(row)[1]).tolist())
    breaks = sorted(ends)
    middles = exact([(a + b) / 2 for a, b in pairwise(breaks)])
    lengths = exact([b - a for a, b in pairwise(breaks)])
    return (family.apply(middles[:, None, None], x) - x).sum(axis=1) / n, lengths


def check_joint(family: Family, x: Array) -> None:
    """Mean zero and E|(1/n) sum_i (C_i(x_i) - x_i)|^2 <= (omega_av/n) sum_i |x_i|^2 (LoCoDL, eq. (3))."""
    values, p = joint_errors(family, x)
    assert p.sum() == 1
    assert not (values * p[:, None]).sum(axis=0).any()
    left, right = ((values**2).sum(axis=-1) * p).sum(), family.omega_av * (x**2).sum() / family.n
    assert left <= right, f"{family.compressor.name}, {family.joint}: {left} > {right} at {x}"


def check_joint_tight(family: Family, x: Array) -> None:
    """Equality in eq. (3)."""
    values, p = joint_errors(family, x)
    left, right = ((values**2).sum(axis=-1) * p).sum(), family.omega_av * (x**2).sum() / family.n
    assert left == right, f"{family.compressor.name}, {family.joint}: {left} != {right} at {x}"


def joint_search(
    check: Callable[[Family, Array], None],
    make: Callable[[Compressor, int], Family],
    compressor: Compressor,
    profile: settings = EXACT,
) -> None:
    """Run ``check`` on one to three copies, at small vectors and at worst ones (all clients alike among them)."""
    d = compressor.d

    @profile
    @given(st.data())
    def run(data: st.DataObject) -> None:
        n = data.draw(st.integers(1, 3))
        rows = data.draw(
            st.one_of(
                st.lists(anywhere(d), min_size=n, max_size=n).map(np.stack),
                anywhere(d).map(lambda row: np.stack([row] * n)),
            )
        )
        check(make(compressor, n), rows)

    run()


SMALL = (
    compressors.identity(2),
    compressors.bernoulli(2, Fraction(3, 2)),
    compressors.rand_k(3, 1),
    compressors.rand_k(3, 2),
    compressors.natural(1),
    compressors.natural(2),
    compressors.rand_k_natural(2, 1),
    compressors.l1_selection(2),
    compressors.l1_selection(3),
)


def independent(compressor: Compressor, n: int) -> Family:
    """n independent copies."""
    return Family(compressor, n)


def shared(compressor: Compressor, n: int) -> Family:
    """n copies with one randomness."""
    return Family(compressor, n, "shared")


@pytest.mark.parametrize("omega", [Fraction(3, 2), 2, 0])
def test_omega_av(omega: Any) -> None:
    for n in (1, 2, 3, 7):
        family = Family(compressors.bernoulli(2, omega), n)
        assert family.omega == omega
        assert family.omega_av == Fraction(omega) / n
        assert isinstance(family.omega_av, Fraction)
        assert shared(family.compressor, n).omega_av == omega


@pytest.mark.parametrize("compressor", SMALL, ids=lambda c: f"{c.name}, d={c.d}")
def test_eq_3_independent(compressor: Compressor) -> None:
    joint_search(check_joint, independent, compressor)


@pytest.mark.parametrize(
    "compressor",
    [c for c in SMALL if c.draws.count or getattr(c.draws, "shape", None) == (1,)],
    ids=lambda c: f"{c.name}, d={c.d}",
)
def test_eq_3_shared(compressor: Compressor) -> None:
    joint_search(check_joint, shared, compressor)


@pytest.mark.parametrize("compressor", SMALL[:4], ids=lambda c: c.name)
def test_eq_3_is_attained_by_independent_linear_compressors(compressor: Compressor) -> None:
    joint_search(check_joint_tight, independent, compressor)


def test_eq_3_shared_is_attained_where_all_clients_agree_and_nowhere_else() -> None:
    for compressor in (compressors.bernoulli(2, Fraction(3, 2)), compressors.rand_k(2, 1), compressors.natural(1)):
        row = exact([WORST, -WORST])[: compressor.d]
        check_joint_tight(shared(compressor, 3), np.stack([row] * 3))
        with pytest.raises(AssertionError):
            check_joint_tight(shared(compressor, 3), np.stack([row, row, -row]))


@each
@pytest.mark.parametrize("leading", [(), (4,), (2, 3)])
def test_family_shapes(compressor: Compressor, leading: tuple[int, ...]) -> None:
    rng = np.random.default_rng(13)
    x = rng.standard_normal((*leading, 5, 3))
    for make in (independent, shared):
        family = make(compressor, 5)
        assert family.sample(rng, x).shape == x.shape
        draws = family.draws.sample(rng, (7, *(1 for _ in leading)))
        assert family.apply(draws, x).shape == (7, *x.shape)


@each
def test_shared_compressors_agree_and_independent_ones_do_not(compressor: Compressor) -> None:
    # Independent clients agree in one row with chance below 1/2, in all 100 with chance below 1e-30.
    x = np.full((100, 5, 3), 1.5)
    together = shared(compressor, 5).sample(np.random.default_rng(14), x)
    assert (together == together[:, :1]).all()
    apart = independent(compressor, 5).sample(np.random.default_rng(14), x)
    assert compressor.omega == 0 or (apart != apart[:, :1]).any()
    assert compressor.omega == 0 or (together != together[:1]).any()


def test_many_clients_without_compression_are_enumerated() -> None:
    x = exact(np.arange(300).reshape(100, 3))
    family = independent(compressors.identity(3), 100)
    draws, p = family.draws.support(exact=True)
    assert p.tolist() == [1]
    assert family.apply(draws, x).tolist() == [x.tolist()]


# Errors.


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: compressors.rand_k(3, 4), "between 1 and d = 3 coordinates, got k = 4"),
        (lambda: compressors.rand_k(3, 0), "got k = 0"),
        (lambda: compressors.rand_k(0, 1), "between 1 and d = 0"),
        (lambda: compressors.rand_k_natural(3, 4), "got k = 4"),
        (lambda: compressors.rand_k_natural(3, -1), "got k = -1"),
        (lambda: compressors.bernoulli(3, -0.5), "omega must be at least 0 and finite, got -0.5"),
        (lambda: compressors.bernoulli(3, Fraction(-1, 9)), "omega must be at least 0 and finite, got -1/9"),
        (lambda: compressors.bernoulli(3, float("nan")), "omega must be at least 0 and finite, got nan"),
        (lambda: compressors.bernoulli(3, float("inf")), "omega must be at least 0 and finite, got inf"),
        (lambda: Family(SOME[0], 2, "joint"), "'independent' or 'shared', got 'joint'"),
        (lambda: Family(SOME[0], 0), "at least one compressor, got n = 0"),
        (lambda: compressors.natural(18).outcomes(np.ones(18)), "262144 draws"),
        (lambda: compressors.rand_k_natural(17, 8).outcomes(np.ones(17)), "3186360320 draws"),
        (lambda: compressors.rand_k(40, 20).outcomes(np.ones(40)), "sample it instead"),
        *((lambda c=c: c.outcomes(np.ones(4)), r"one vector of length 3, got shape \(4,\)") for c in SOME),
        *((lambda c=c: c.outcomes(np.ones((2, 3))), r"one vector of length 3, got shape \(2, 3\)") for c in SOME),
    ],
)
def test_a_user_error_is_one_sentence(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        make()
    message = str(error.value)
    assert "\n" not in message
    assert ". " not in message
    assert not message.endswith(".")


def test_compressors_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        SOME[0].omega = 1  # type: ignore[misc]


# Planted errors: the checks above, run as above, must fail on them.


def overlooked_scale(compressor: Compressor) -> Compressor:
    """rand-k with 0.98 d/k instead of d/k."""
    return replace(compressor, apply=lambda draw, x: compressor.apply(draw, x) * Fraction(98, 100))


def _down(draw: Any, x: Array) -> Array:
    return np.where(x == 0, 0 * x, np.sign(x) * power_below(x))


def always_down(compressor: Compressor) -> Compressor:
    """Natural compression that always rounds towards zero."""
    return replace(compressor, apply=_down, enumerate=lambda x: (_down(None, x)[None], exact([1])))


def uniform_choice(compressor: Compressor) -> Compressor:
    """l1-selection with j uniform instead of proportional to |x_j|."""
    d = compressor.d

    def apply(draw: Array, x: Array) -> Array:
        chosen = np.arange(d) == np.floor(draw * d)
        return np.where(chosen, np.sign(x) * abs(x).sum(axis=-1, keepdims=True), 0 * x)

    def enumerate_outcomes(x: Array) -> tuple[Array, Array]:
        return np.diag(np.sign(x) * abs(x).sum()) + 0 * x, exact([Fraction(1, d)] * d)

    return replace(compressor, apply=apply, enumerate=enumerate_outcomes)


def understated(compressor: Compressor) -> Compressor:
    """omega 2 % too small."""
    return replace(compressor, omega=compressor.omega * Fraction(98, 100))


ERRORS = [
    ("rand-k", overlooked_scale, check_unbiased),
    ("natural", always_down, check_unbiased),
    ("l1-selection", uniform_choice, check_unbiased),
    ("bernoulli", understated, check_variance),
    ("rand-k", understated, check_variance),
    ("natural", understated, check_variance),
    ("rand-k-natural", understated, check_variance),
    ("l1-selection", understated, check_variance),
]


@pytest.mark.parametrize(("kind", "plant", "check"), ERRORS, ids=lambda v: getattr(v, "__name__", v))
def test_a_planted_error_is_found(kind: str, plant: Callable[[Compressor], Compressor], check: Check) -> None:
    with pytest.raises(AssertionError):
        search(check, KINDS[kind].map(plant), anywhere, PLANTED)


@pytest.mark.parametrize(("kind", "plant"), [("natural", always_down), ("l1-selection", uniform_choice)])
def test_a_sampler_that_disobeys_the_enumeration_is_found(kind: str, plant: Callable[[Compressor], Compressor]) -> None:
    """The enumeration is right and only ``apply`` is wrong."""
    small = KINDS[kind].filter(lambda c: c.d <= 3).map(lambda c: replace(c, apply=plant(c).apply))
    with pytest.raises(AssertionError):
        search(check_sampler, small, anywhere, PLANTED)


def test_a_family_that_is_not_independent_is_found() -> None:
    """Shared randomness with the constant omega/n of independent compressors; independent with 0.98 omega/n."""

    class Optimistic(Family):
        @property
        def omega_av(self) -> Any:
            return self.omega / self.n

    class Understated(Family):
        @property
        def omega_av(self) -> Any:
            return self.omega / self.n * Fraction(98, 100)

    for compressor in (compressors.bernoulli(2, Fraction(3, 2)), compressors.rand_k(3, 1), compressors.natural(1)):
        with pytest.raises(AssertionError):
            joint_search(check_joint, lambda c, n: Optimistic(c, n, "shared"), compressor, PLANTED)
        with pytest.raises(AssertionError):
            joint_search(check_joint, Understated, compressor, PLANTED)
