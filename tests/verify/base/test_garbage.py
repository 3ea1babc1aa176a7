"""How often garbage is looked for."""

import gc

import pytest

from verify.base import garbage


@pytest.fixture(autouse=True)
def _as_before():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_what_was_set_before_holds_again_even_after_an_error():
    gc.set_threshold(700, 10, 10)
    with pytest.raises(ValueError, match="inside"), garbage.seldom():
        assert gc.get_threshold()[0] > 700
        raise ValueError("inside")
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("first", [0, 10**6])
def test_who_looks_less_often_or_not_at_all_keeps_to_it(first):
    gc.set_threshold(first, 10, 10)
    with garbage.seldom():
        assert gc.get_threshold()[0] == first
