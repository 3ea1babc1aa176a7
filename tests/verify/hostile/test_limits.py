"""The limits on each input: what hangs, what fills the memory and what harms a file is found."""

from __future__ import annotations

import pytest
from hostile import Overdue, bounded, refusal, unharmed


def test_what_hangs_is_ended():
    with pytest.raises(Overdue), bounded(seconds=1):
        while True:
            try:
                pow(3, 10**6)
            except Exception:  # A reader that takes every failure for bad input.
                continue


def test_what_fills_the_memory_is_ended():
    with pytest.raises(MemoryError), bounded(size=2**24):
        bytes(2**28)
    assert len(bytes(2**28)) == 2**28


def test_a_file_that_is_harmed_is_noticed(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    for harm in (lambda: path.write_text("2"), path.unlink, (tmp_path / "b").mkdir):
        with pytest.raises(AssertionError), unharmed(tmp_path):
            harm()


@pytest.mark.parametrize(
    "answer", [(0, "", "fedtheory: no\n"), (2, "x", "fedtheory: no\n"), (2, "", "a\nb\n"), (2, "", "fedtheory: \x1b\n")]
)
def test_what_is_no_refusal_is_noticed(answer):
    with pytest.raises(AssertionError):
        refusal(*answer)
