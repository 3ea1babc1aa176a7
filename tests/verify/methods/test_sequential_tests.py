"""Samplers whose outcomes are right and whose probabilities are not: only sampling finds them."""

import dataclasses
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory import algorithms, claims, compressors
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.one_step import OneStep
from verify import Verdict, check
from verify.comparisons import samplers
from verify.evidence.counterexamples import Counterexample
from verify.methods import sequential_tests


@dataclass(frozen=True)
class Skewed:
    """A distribution that is sampled again, three times in five, where a coin of it shows True."""

    inner: Any

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def sample(self, rng, size=()):
        first, second = self.inner.sample(rng, size), self.inner.sample(rng, size)
        coin, other = (d[0] if isinstance(d, tuple) else d for d in (first, second))
        again = (rng.random(size) < 0.6) & (coin if coin.ndim == len(size) else coin[..., -1])
        changed = np.where(again if coin.ndim == len(size) else again[..., None], other, coin)
        return type(first)(changed, *first[1:]) if isinstance(first, tuple) else changed


def _skewed_rand_k(d, k):
    one = compressors.rand_k(d, k)
    return dataclasses.replace(one, draws=Skewed(one.draws))


def _skewed_method(name):
    method = algorithms.get(name)
    return dataclasses.replace(method, draws=lambda *at: Skewed(method.draws(*at)))


@pytest.mark.parametrize(
    ("id", "changes"),
    [
        ("locodl/eq-2/rand-k", {"compressor": _skewed_rand_k}),
        ("locodl/theorem-3.1/one-step", {"algorithm": _skewed_method("locodl")}),
        ("feddcd/theorem-4.1/eq-3", {"algorithm": _skewed_method("feddcd")}),
        ("baseline/scaffnew/one-step", {"algorithm": _skewed_method("scaffnew")}),
    ],
)
def test_a_wrong_sampler_is_refuted_and_replayed(id, changes):
    evidence = check(claims.get(id).variant(**changes))
    assert evidence.verdict is Verdict.REFUTED and "sequential" in evidence.methods
    found = evidence.counterexample
    assert found is not None and found.part.startswith(samplers.PREFIX)
    assert found.replay() == (found.left, found.right)
    assert evidence.margin < 0


@pytest.mark.parametrize("id", ["locodl/eq-2/rand-k", "locodl/theorem-3.1/one-step", "feddcd/theorem-4.1/eq-3"])
def test_a_right_sampler_is_not_and_what_would_be_found_is_said(id):
    found = sequential_tests.test(claims.get(id), 0)
    assert found is not None and found.counterexample is None
    assert "off by 0.0" in found.note


def test_what_is_not_random_is_not_sampled():
    assert sequential_tests.test(claims.get("locodl/eq-6"), 0) is None


def test_all_tests_of_an_audit_share_one_level():
    kinds = CompressorClass | OneStep | Bound
    about = [c for c in claims.all() if isinstance(c.statement, kinds)]
    shares = [samplers.level(c) for c in about]
    measured = [samplers.measured_level(c) for c in about if isinstance(c.statement, Bound)]
    assert sum(shares) + sum(measured) == pytest.approx(float(samplers.TOTAL)) and len(about) > 40
    changed = claims.get("locodl/eq-2/rand-k").variant(omega=1)
    assert samplers.level(changed) == samplers.level(claims.get("locodl/eq-2/rand-k"))


def test_a_stored_part_that_is_not_there():
    claim = claims.get("locodl/eq-2/rand-k")
    recipe = {"d": 5, "k": 2, "samples": 1000, "seed": 0, "tests": 2}
    wrong = Counterexample(claim, recipe, (), 0, samplers.PREFIX + "nothing", 0, 1.0, 0.0, "==", "")
    with pytest.raises(ValueError, match="no test"):
        wrong.replay()


def test_a_defect_that_no_number_of_samples_finds_is_not_said_to_be_found():
    sizes = {"mean at e": 0.5, "variance at e": np.inf}
    found = [SimpleNamespace(name=name, smallest_defect=size) for name, size in sizes.items()]
    claim = claims.get("locodl/eq-2/rand-k")
    assert sequential_tests._words(claim, found).endswith(", which finds a mean off by 0.5 |x||v|")
    assert "which finds" not in sequential_tests._words(claim, found[1:])
