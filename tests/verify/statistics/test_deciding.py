"""What is said of a statement over seeds: the level that is stated, and how many seeds it would take."""

import pytest

from verify.experiments import deciding
from verify.experiments.deciding import LEVEL, Observed, decide


def test_six_seeds_that_agree_decide_and_five_never_do():
    assert decide([True] * 6) == (Observed.SEEN, 6)
    assert decide([False] * 6) == (Observed.NOT_SEEN, 6)
    for held in ([True] * 5, [False] * 5):
        assert decide(held) == (Observed.UNDECIDED, 6)


def test_a_decision_stands_whatever_comes_after():
    assert decide([True] * 6 + [False] * 3).outcome is Observed.SEEN


def test_seeds_that_are_open_count_against_both():
    assert decide([None] * 9) == (Observed.UNDECIDED, None)
    assert decide([True] * 5 + [None] * 2).outcome is Observed.UNDECIDED
    assert decide([True, False] * 5) == (Observed.UNDECIDED, None)


@pytest.mark.parametrize("held", [[True] * 5 + [False], [False] * 5 + [True] + [False] * 3])
def test_as_many_seeds_decide_as_are_said(held):
    wanted = decide(held).seeds
    share = sum(value is held[0] for value in held) / len(held)
    right = int(share * wanted)
    # The order in which they come is the most favourable one.
    assert decide([held[0]] * right + [not held[0]] * (wanted - right)).outcome is not Observed.UNDECIDED


def test_fair_coins_are_decided_at_most_as_often_as_the_level_says():
    # All runs of a fair coin: the chance that its first 14 seeds are ever said to agree, exactly.
    left, decided = {0: 1.0}, 0.0
    for count in range(1, 15):
        after: dict[int, float] = {}
        for agreeing, chance in left.items():
            for more in (0, 1):
                after[agreeing + more] = after.get(agreeing + more, 0.0) + chance / 2
        crossed = {agreeing for agreeing in after if count >= deciding.LEAST and deciding._rejected(agreeing, count)}
        decided += sum(after[agreeing] for agreeing in crossed)
        left = {agreeing: chance for agreeing, chance in after.items() if agreeing not in crossed}
    assert 1 / 64 <= decided <= LEVEL / 2
