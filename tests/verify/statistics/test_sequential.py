"""Anytime-valid tests: they are valid, they stop, they find planted defects of the size they state, and no others."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest

from fedtheory import claims, compressors, randomness
from fedtheory.randomness import Bernoulli, UniformSubset, map_leaves
from verify.base.case import Case
from verify.cli import calibration
from verify.comparisons import sampling
from verify.statistics import e_process
from verify.statistics.e_process import Assumed
from verify.statistics.sequential import Ledger, Ruling, prepare, run
from verify.tightness import exceedance

LEVEL = 1e-6
UNIT = Assumed(0.0, 1.0)


def coins(p, seed=0):
    rng = np.random.default_rng(seed)
    return lambda n: (rng.random((n, len(np.atleast_1d(p)))) < p) * 1.0


# Validity.


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_the_capital_is_a_martingale_on_the_boundary(p):
    """Exactly: the expectation over all sequences of six coins, of the capital against E X <= p and E X >= p, is 1."""
    sequences = np.array(list(product([0.0, 1.0], repeat=6))).T
    weights = np.where(sequences == 1, p, 1 - p).prod(axis=0)
    for x, m, assumed in ((sequences, p, UNIT), (-sequences, -p, UNIT.mirrored)):
        wealth = np.exp(e_process.log_capital(x, np.full(64, m), assumed))
        assert weights @ wealth == pytest.approx(1, rel=1e-12)
        lower = np.exp(e_process.log_capital(x, np.full(64, m + 0.02), assumed))
        assert weights @ lower < 1


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_the_capital_under_a_variance_bound_is_a_supermartingale(p):
    sequences = np.array(list(product([0.0, 1.0], repeat=6))).T
    weights = np.where(sequences == 1, p, 1 - p).prod(axis=0)
    assumed = Assumed(variance=p * (1 - p))
    assert 0.5 < weights @ np.exp(e_process.log_capital(sequences, np.full(64, p), assumed)) <= 1 + 1e-12
    # Half of the true variance: the bound is needed.
    wrong = Assumed(variance=p * (1 - p) / 4)
    assert weights @ np.exp(e_process.log_capital(sequences, np.full(64, p), wrong)) > 1


def test_no_false_alarm_in_ten_thousand_cases_of_each_distribution():
    found = calibration.false_alarms(10_000, LEVEL, seed=1, size=100)
    assert len(found) == 12 and set(found.values()) == {0}


def test_false_alarms_are_measured_at_all():
    cases = 2000
    found = calibration.false_alarms(cases, 0.05, seed=2, size=400)
    assert max(found.values()) <= 0.05 * cases
    assert sum(found.values()) >= 0.001 * cases * len(found)


@pytest.mark.slow
def test_false_alarms_in_full():
    assert set(calibration.false_alarms().values()) == {0}
    assert all(10 <= count <= 500 for count in calibration.false_alarms(level=0.05).values())


def test_a_test_that_assumes_too_small_a_variance_raises_alarms(monkeypatch):
    case = calibration._cases()["Student 3, known variance"]
    wrong = case._replace(assumed=Assumed(variance=0.3))
    monkeypatch.setattr(calibration, "_cases", lambda: {"wrong": wrong})
    assert calibration.false_alarms(500, 0.05, size=400)["wrong"] > 100


@pytest.mark.parametrize("level", [0.05, 1e-4])
def test_the_stated_smallest_defect_is_found(level):
    cases = 400
    found = calibration.power(cases, level, seed=3)
    assert all(share >= 1 - level / 2 - 3 * math.sqrt(level / 2 / cases) for share in found.values())


def test_the_smallest_defect_is_not_absurdly_large():
    """A tenth of it is missed, and it is within 1.4 of the normal approximation for the same two errors."""
    size = 20_000
    plan = prepare(0.5, "==", UNIT, LEVEL, size)
    ideal = 0.5 * 2 * math.sqrt(2 * math.log(2 / LEVEL) / size)
    assert ideal <= plan.smallest_defect[0] <= 1.4 * ideal
    (outcome,) = run(plan, coins(0.5 + plan.smallest_defect[0] / 10))
    assert not outcome.refuted


def test_two_values_are_the_worst_for_betting():
    """No distribution of the same mean with no more variance, within the range, has a larger E[(1 + b(y - 1))^-s]."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        y = rng.gamma(0.5, 1, 4)
        p = rng.dirichlet(np.full(4, 0.5))
        mean, top = p @ y, y.max() * rng.uniform(1, 2)
        for variance in (p @ (y - mean) ** 2, math.inf):
            # The null E X <= 1 - 1e-12 with a least value of 0 leaves y as it is.
            value = min(mean + variance / mean, top)
            at_zero = 1 - mean / value
            for s in e_process._POWERS:
                worst = at_zero * (1 - e_process.BETS) ** -s + (1 - at_zero) * (1 + e_process.BETS * (value - 1)) ** -s
                here = (p[:, None] * (1 + e_process.BETS * (y[:, None] - 1)) ** -s).sum(axis=0)
                assert (here <= worst * (1 + 1e-9)).all()


# Stopping.


def test_it_stops_early_in_both_directions():
    plan = prepare(0.5, "==", UNIT, LEVEL, 20_000, defect=0.1)
    decisions, samples = {}, {}
    for p in (0.5, 0.7, 0.3):
        (outcome,) = run(plan, coins(p))
        decisions[p], samples[p] = outcome.decision, outcome.samples
        assert outcome.mean == pytest.approx(p, abs=0.1)
    assert decisions == {0.5: Ruling.WITHIN, 0.7: Ruling.ABOVE, 0.3: Ruling.BELOW}
    assert max(samples.values()) < 10_000


def test_a_one_sided_statement_is_not_refuted_from_the_other_side():
    plan = prepare(0.5, "<=", UNIT, LEVEL, 5000)
    assert [run(plan, coins(p))[0].decision for p in (0.2, 0.7)] == [Ruling.WITHIN, Ruling.ABOVE]


def test_what_is_neither_shown_nor_excluded_is_undecided():
    (outcome,) = run(prepare(0.5, "<=", UNIT, LEVEL, 500, defect=0.01), coins(0.505))
    assert outcome.decision is Ruling.UNDECIDED and outcome.samples == 500 and not outcome.refuted


def test_a_mean_without_upper_bound_is_never_accepted():
    rng = np.random.default_rng(7)
    plan = prepare(1.0, "<=", Assumed(low=0.0), LEVEL, 2000)
    (true,) = run(plan, lambda n: rng.lognormal(-2, 2, (n, 1)))
    (false,) = run(plan, lambda n: 1.5 * rng.gamma(2, 0.5, (n, 1)))
    assert true.decision is Ruling.UNDECIDED and true.smallest_defect == math.inf
    assert false.decision is Ruling.ABOVE


def test_a_bounded_variance_lets_a_heavy_tail_be_accepted():
    rng = np.random.default_rng(8)
    plan = prepare(1.0, "<=", Assumed(low=0.0, variance=math.e - 1), LEVEL, 5000)
    (outcome,) = run(plan, lambda n: rng.lognormal(-0.5, 1, (n, 1)))
    assert outcome.decision is Ruling.WITHIN and outcome.defect < 0.3


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan, math.inf])
def test_a_sample_outside_the_range_is_told(value):
    (outcome,) = run(prepare(0.5, "==", UNIT, LEVEL, 100), lambda n: np.full((n, 1), value))
    assert outcome.decision is Ruling.OUTSIDE and outcome.refuted


def test_a_mean_that_the_range_excludes_is_refuted():
    decided = [run(prepare(2.0, "==", Assumed(3.0, 4.0), LEVEL, 100), lambda n: np.full((n, 1), 3.0))[0]]
    decided += [run(prepare(5.0, "==", Assumed(3.0, 4.0), LEVEL, 100), lambda n: np.full((n, 1), 4.0))[0]]
    assert [o.decision for o in decided] == [Ruling.ABOVE, Ruling.BELOW]


def test_one_refutation_ends_all_tests_of_a_claim():
    plan = prepare([0.5, 0.5], ["==", "<="], UNIT, LEVEL, 5000)
    together = run(plan, coins([0.5, 0.9]))
    alone = run(plan, coins([0.5, 0.9]), together=False)
    assert [o.decision for o in together] == [Ruling.UNDECIDED, Ruling.ABOVE]
    assert [o.decision for o in alone] == [Ruling.WITHIN, Ruling.ABOVE]
    assert [o.relation for o in together] == ["==", "<="]


@pytest.mark.parametrize(
    "change",
    [
        {"relation": "<"},
        {"level": 0.0},
        {"level": 1},
        {"level": "small"},
        {"size": 0},
        {"target": math.nan},
        {"assumed": Assumed(1.0, 0.0)},
        {"assumed": Assumed()},
        {"assumed": Assumed(low=0.0)},
        {"assumed": Assumed(variance=-1.0)},
        {"defect": -0.1},
    ],
)
def test_bad_arguments(change):
    given = {"target": 0.5, "relation": "==", "assumed": UNIT, "level": 0.05, "size": 100} | change
    with pytest.raises(ValueError):
        prepare(**given)


def test_bad_samples():
    with pytest.raises(ValueError, match="shape"):
        run(prepare(0.5, "==", UNIT, 0.05, 100), lambda n: np.zeros(n))


# The ledger.


def test_shares_depend_on_the_names_alone():
    a, b = Ledger(["x", "y", "z"]), Ledger(["z", "x", "y"])
    assert a.share("y") == b.share("y") == Fraction(1, 3 * 10**6)
    first = [a.spend(name) for name in ("x", "y", "z")]
    assert sorted(first) == sorted(b.spend(name) for name in ("z", "y", "x"))
    assert a.spent == a.total and sum(map(Fraction, first)) <= a.total


def test_the_ledger_refuses_to_spend_more_than_it_has():
    ledger = Ledger(["x", "y"])
    ledger.spend("x", Fraction(1, 4 * 10**6))
    ledger.spend("x")
    for overspending in (
        lambda: ledger.spend("x"),
        lambda: ledger.spend("y", 1e-6),
        lambda: ledger.spend("y", 0),
        lambda: ledger.spend("y", -1e-9),
        lambda: ledger.spend("w"),
    ):
        with pytest.raises(ValueError):
            overspending()
    assert ledger.left("y") == ledger.share("y")


def test_a_share_is_split_without_end():
    ledger = Ledger(["x"])
    levels = [ledger.split("x", k) for k in range(1, 200)]
    assert levels[0] == pytest.approx(0.5e-6) and ledger.spent < ledger.total
    assert ledger.left("x") == ledger.total / 200
    with pytest.raises(ValueError):
        ledger.split("x", 1)
    with pytest.raises(ValueError):
        ledger.split("x", 0)


@pytest.mark.parametrize(("names", "total"), [([], 0.1), (["x", "x"], 0.1), ({"x": 0}, 0.1), (["x"], 0), (["x"], 1)])
def test_bad_ledgers(names, total):
    with pytest.raises(ValueError):
        Ledger(names, total)


# Samplers with a defect: the support is right, the probabilities are not.


@dataclasses.dataclass(frozen=True)
class BiasedCoin(Bernoulli):
    def sample(self, rng, size=()):
        return rng.random(size) < 1.25 * float(self.p)


@dataclasses.dataclass(frozen=True)
class Skewed(UniformSubset):
    """The first half of the clients is chosen less often."""

    def sample(self, rng, size=()):
        keys = rng.random((*size, self.n)) ** np.where(np.arange(self.n) < self.n // 2, 1.0, 1.3)
        order = np.argsort(keys, axis=-1)
        mask = np.zeros((*size, self.n), dtype=bool)
        np.put_along_axis(mask, order[..., : self.tau], True, axis=-1)
        return mask


@dataclasses.dataclass(frozen=True)
class Cyclic(UniformSubset):
    """Neighbours on a circle: every client is as likely as it should be, pairs are not."""

    def sample(self, rng, size=()):
        first = rng.integers(self.n, size=size)
        return (np.arange(self.n) - first[..., None]) % self.n < self.tau


@dataclasses.dataclass(frozen=True)
class NeverLast(UniformSubset):
    def sample(self, rng, size=()):
        mask = UniformSubset(self.n - 1, self.tau).sample(rng, size)
        return np.concatenate([mask, np.zeros((*size, 1), dtype=bool)], axis=-1)


@dataclasses.dataclass(frozen=True)
class Misweighted:
    """Draws of another distribution, the later ones of its support more often."""

    one: object

    @property
    def count(self):
        return self.one.count

    def support(self, exact=False):
        return self.one.support(exact)

    def sample(self, rng, size=()):
        draws, p = self.one.support()
        weights = p * (1 + np.arange(len(p)) / len(p))
        chosen = rng.choice(len(p), size, p=weights / weights.sum())
        return map_leaves(lambda a: a[chosen], draws)


def scaled(one, factor):
    return dataclasses.replace(one, apply=lambda draw, x: factor * one.apply(draw, x))


def with_draws(one, kind):
    return dataclasses.replace(one, draws=kind(*(getattr(one.draws, f.name) for f in dataclasses.fields(one.draws))))


def opaque(one):
    """The same compressor, with draws of which nothing is known."""

    class Draws:
        count = None

        @staticmethod
        def sample(rng, size=()):
            return one.draws.sample(rng, size)

    return dataclasses.replace(one, draws=Draws(), enumerate=None)


def rounded_up_too_often(one):
    return dataclasses.replace(one, apply=lambda draw, x: one.apply(draw**1.05, x))


def rotated(d, k):
    """rand-k in another basis: its draws keep coordinates, but not those of x."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    one = compressors.rand_k(d, k)
    return dataclasses.replace(one, apply=lambda draw, x: one.apply(draw, x @ Q.T) @ Q)


def rarely_huge(d):
    """Each coordinate times 1001 or -999 with probability 10^-4 each: the ends of the variate do not show it."""

    def apply(u, x):
        jump = 1000.0 * ((abs(u - 0.3) < 5e-5) * 1.0 - (abs(u - 0.7) < 5e-5))
        return x * (1 + jump)

    return dataclasses.replace(compressors.natural(d), apply=apply, omega=Fraction(200), enumerate=None)


RAND_K, NATURAL = compressors.rand_k(1000, 10), compressors.natural(200)

TRUE = {
    "rand-k": RAND_K,
    "rand-k, small": compressors.rand_k(6, 2),
    "natural": NATURAL,
    "rand-k natural": compressors.rand_k_natural(100, 10),
    "l1": compressors.l1_selection(300),
    "Bernoulli": compressors.bernoulli(1000, 9),
    "identity": compressors.identity(50),
    "one entry": compressors.rand_k(1, 1),
    "opaque rand-k": opaque(RAND_K),
    "rotated": rotated(64, 16),
    "rarely huge": rarely_huge(64),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_compressors_pass(name):
    outcomes = sampling.compressor(TRUE[name], 0, LEVEL)
    assert len(outcomes) == 18
    assert [(o.name, o.decision) for o in outcomes if o.refuted] == []
    assert sum(o.level for o in outcomes) <= LEVEL
    assert all(o.decision is Ruling.WITHIN for o in outcomes if math.isfinite(o.smallest_defect))


PLANTED = {
    "rand-k scale": scaled(RAND_K, 0.98),
    "natural scale": scaled(NATURAL, 0.98),
    "skewed subsets": with_draws(compressors.rand_k(1000, 100), Skewed),
    "last entry never": with_draws(RAND_K, NeverLast),
    "biased coin": with_draws(compressors.bernoulli(100, 3), BiasedCoin),
    "natural, rounded up too often": rounded_up_too_often(NATURAL),
    "opaque coin": opaque(with_draws(compressors.bernoulli(100, 1), BiasedCoin)),
    "rotated and scaled": scaled(rotated(64, 32), 0.7),
}


@pytest.mark.parametrize("name", PLANTED)
def test_defective_compressors_are_caught(name):
    assert any(o.refuted for o in sampling.compressor(PLANTED[name], 0, LEVEL))


@pytest.mark.parametrize(("one", "omega"), [(RAND_K, 98), (NATURAL, Fraction(1, 9))])
def test_too_small_a_variance_is_refuted(one, omega):
    refuted = [o for o in sampling.compressor(one, 0, LEVEL, omega=omega) if o.refuted]
    assert refuted and all(o.name.startswith("variance") and o.decision is Ruling.ABOVE for o in refuted)


def test_a_value_outside_the_derived_range_only_costs_the_range(monkeypatch):
    """The first run meets a value that the draws did not suggest; the second assumes the variance claimed instead."""
    monkeypatch.setattr(sampling, "_PROBED", 0)
    x = np.ones(64)
    assert sampling._ranges(TRUE["rarely huge"], x, x[None] / 8)[0].high == pytest.approx(1)
    outcomes = sampling.compressor(TRUE["rarely huge"], 0, LEVEL)
    assert all(math.isinf(o.assumed.low) for o in outcomes if o.relation == "==")
    assert not any(o.refuted for o in outcomes)


def test_the_same_seed_gives_the_same_outcomes():
    small = compressors.rand_k(20, 3)
    assert sampling.compressor(small, 5, LEVEL, size=500) == sampling.compressor(small, 5, LEVEL, size=500)


def test_a_compressor_that_changes_the_shape():
    broken = dataclasses.replace(RAND_K, apply=lambda draw, x: RAND_K.apply(draw, x)[..., :-1])
    with pytest.raises(ValueError):
        sampling.compressor(broken, 0, LEVEL)


# An algorithm's draws.

RIGHT = [
    UniformSubset(10, 3),
    randomness.WeightedSubset(np.arange(1.0, 8.0), 3),
    Bernoulli(Fraction(1, 10)),
    randomness.Independent(UniformSubset(4, 2), 3),
    randomness.Shared(UniformSubset(5, 2), 3),
    randomness.Product(compressors.SparseNatural, (UniformSubset(4, 1), Bernoulli(0.3))),
]


@pytest.mark.parametrize("one", RIGHT, ids=lambda one: type(one).__name__)
def test_samplers_agree_with_their_supports(one):
    outcomes = sampling.sampler(one, 0, LEVEL)
    assert {o.decision for o in outcomes} == {Ruling.WITHIN}
    assert any(o.refuted for o in sampling.sampler(Misweighted(one), 0, LEVEL))


@pytest.mark.parametrize("one", [BiasedCoin(0.1), Skewed(10, 3), Cyclic(10, 3), NeverLast(6, 2)], ids=repr)
def test_wrong_samplers_are_caught(one):
    assert any(o.refuted for o in sampling.sampler(one, 0, LEVEL))


def test_a_draw_outside_the_support():
    class TooMany(UniformSubset):
        def sample(self, rng, size=()):
            return np.ones((*size, self.n), dtype=bool)

    assert sampling.sampler(TooMany(4, 2), 0, LEVEL)[0].decision is Ruling.OUTSIDE


def test_samplers_that_cannot_be_compared():
    assert sampling.sampler(randomness.Constant(), 0, LEVEL) == []
    with pytest.raises(ValueError, match="no finite support"):
        sampling.sampler(randomness.Uniform01((3,)), 0, LEVEL)
    with pytest.raises(ValueError, match="one value"):
        sampling.sampler(UniformSubset(4, 2), 0, LEVEL, values={"wrong": np.zeros(5)})


@pytest.mark.parametrize("id", ["locodl/theorem-3.1/one-step", "feddcd/theorem-5.2/eq-8", "baseline/diana/one-step"])
def test_the_draws_of_a_step(id):
    claim = claims.get(id)
    algorithm = claim.statement.algorithm
    wrong = dataclasses.replace(algorithm, draws=lambda *at: Misweighted(algorithm.draws(*at)))
    rng = np.random.default_rng(0)
    tested = 0
    for recipe in islice(claim.instances.recipes(rng), 20):
        try:
            instance = claim.instances.build(recipe, False)
        except ValueError:
            # One client, of which no two can take part.
            continue
        theta = rng.standard_normal(Case.of(claim, instance).dimension)
        right = sampling.step_sampler(Case.of(claim, instance), theta, 0, LEVEL, 8000)
        assert not any(o.refuted for o in right)
        if right:
            tested += 1
            outcomes = sampling.step_sampler(Case.of(claim.variant(algorithm=wrong), instance), theta, 0, LEVEL, 8000)
            assert any(o.refuted for o in outcomes)
            assert any(o.name.endswith("after a step") for o in right)
        if tested == 2:
            return
    pytest.fail("too few instances draw anything")


def test_only_steps_are_sampled():
    claim = claims.get("locodl/eq-2/rand-k")
    with pytest.raises(ValueError, match="no step"):
        sampling.step_sampler(Case(claim, {}), np.zeros(1), 0, LEVEL)


# Measured runs.


def measured(mean, seeds=20, rounds=30, seed=0):
    rng = np.random.default_rng(seed)
    bound = 0.9 ** np.arange(rounds + 1)
    return mean * bound[:, None] * rng.lognormal(-0.125, 0.5, (rounds + 1, seeds)), bound


def test_a_bound_that_holds_is_not_exceeded():
    found = exceedance.exceedance(*measured(0.8), LEVEL)
    assert not found.refuted and found.e_value < 1 and 0 <= found.confidence < 0.9
    assert len(found.rounds) <= 16 and found.rounds[0] >= 1 and found.rounds[-1] == 30
    assert "not shown" in found.sentence


def test_a_bound_that_fails_is_exceeded():
    found = exceedance.exceedance(*measured(5.0), LEVEL)
    assert found.refuted and found.confidence > 1 - LEVEL and found.e_value > 1 / LEVEL
    assert found.mean_ratio > 4 and found.worst in found.rounds


def test_the_defect_stated_for_measured_runs_is_found():
    runs, bound = measured(1.0, seeds=200)
    stated = exceedance.exceedance(runs, bound, 0.01)
    assert 0.1 < stated.smallest_defect < 2
    found = 0
    for seed in range(20):
        # The whole excess in one round; the others vanish.
        ratio = np.zeros((31, 200))
        s2 = math.log1p(stated.variance / (1 + stated.smallest_defect) ** 2)
        rng = np.random.default_rng(seed)
        ratio[30] = (1 + stated.smallest_defect) * rng.lognormal(-s2 / 2, math.sqrt(s2), 200)
        found += exceedance.exceedance(ratio * bound[:, None], bound, 0.01).refuted
    assert found == 20


def test_e_values_of_true_bounds_have_mean_at_most_one():
    rng = np.random.default_rng(9)
    values = [
        exceedance.exceedance(np.r_[np.ones((1, 10)), rng.lognormal(-0.125, 0.5, (3, 10))], np.ones(4), 0.05)
        for _ in range(150)
    ]
    assert 0.6 < np.mean([v.e_value for v in values]) < 1.4
    assert np.mean([v.refuted for v in values]) <= 0.05


@pytest.mark.parametrize(
    ("runs", "bound"),
    [
        (np.ones(5), np.ones(5)),
        (np.ones((5, 3)), np.ones(4)),
        (np.ones((1, 3)), np.ones(1)),
        (np.ones((5, 1)), np.ones(5)),
        (-np.ones((5, 3)), np.ones(5)),
        (np.full((5, 3), np.nan), np.ones(5)),
        (np.ones((5, 3)), np.zeros(5)),
    ],
)
def test_bad_measurements(runs, bound):
    with pytest.raises(ValueError):
        exceedance.exceedance(runs, bound, 0.05)


def test_every_planted_sampler_keeps_the_outcomes():
    """What is planted above is invisible to a look at single values: all are in the support."""
    coin = with_draws(compressors.bernoulli(4, 3), BiasedCoin)
    values = coin.sample(np.random.default_rng(0), np.ones((200, 4)))
    assert {tuple(v) for v in values} <= {tuple(v) for v in coin.outcomes(np.ones(4))[0]}
