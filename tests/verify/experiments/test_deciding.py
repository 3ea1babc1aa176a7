"""What is said of a statement over seeds: the level that is stated, and how many seeds it would take."""

import numpy as np
import pytest

from verify.experiments.deciding import LEVEL, Observed, decide


def test_nine_seeds_that_agree_decide_and_five_never_do():
    assert decide([True] * 9) == (Observed.SEEN, 9)
    assert decide([False] * 9) == (Observed.NOT_SEEN, 9)
    for held in ([True] * 5, [False] * 5):
        assert decide(held) == (Observed.UNDECIDED, 9)


def test_a_decision_stands_whatever_comes_after():
    assert decide([True] * 9 + [False] * 3).outcome is Observed.SEEN


def test_seeds_that_are_open_count_against_both():
    assert decide([None] * 9) == (Observed.UNDECIDED, None)
    assert decide([True] * 7 + [None] * 2).outcome is Observed.UNDECIDED
    assert decide([True, False] * 5) == (Observed.UNDECIDED, None)


@pytest.mark.parametrize("held", [[True] * 6 + [False], [False] * 8 + [True]])
def test_as_many_seeds_decide_as_are_said(held):
    wanted = decide(held).seeds
    share = sum(value is held[0] for value in held) / len(held)
    right = int(share * wanted)
    # The order in which they come is the most favourable one.
    assert decide([held[0]] * right + [not held[0]] * (wanted - right)).outcome is not Observed.UNDECIDED


def test_fair_coins_are_decided_at_most_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    decided = [decide(list(rng.random(16) < 0.5)).outcome is not Observed.UNDECIDED for _ in range(60)]
    assert np.mean(decided) <= LEVEL
