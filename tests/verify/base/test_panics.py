"""A solver's panic is an exception, and says nothing on standard error."""

import os

import pytest

from verify.base import panics


class PanicException(BaseException):
    """As the solver has one."""


def test_a_panic_is_an_exception_without_words(capfd):
    with pytest.raises(panics.Panicked), panics.caught():
        os.write(2, b"thread panicked")
        raise PanicException
    os.write(2, b"afterwards")
    assert capfd.readouterr().err == "afterwards"


def test_one_that_is_inside_another_leaves_it_quiet(capfd):
    with panics.caught():
        with panics.caught():
            pass
        os.write(2, b"inside")
    assert capfd.readouterr().err == ""


def test_other_errors_go_on():
    with pytest.raises(KeyboardInterrupt), panics.caught():
        raise KeyboardInterrupt


def test_what_a_solver_says_of_its_development_is_not_written(capfd):
    with panics.unheard():
        os.write(1, b"tmpSolver.run();")
    os.write(1, b"a verdict")
    assert capfd.readouterr().out == "a verdict"
