"""What the floats of somebody's own code denote where it runs in fractions; and what they do to fractions elsewhere."""

import math
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.numbers.intervals import Interval, Undecided
from fedtheory.numbers.literals import in_fractions
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import exact

TENTH = 0.1
THIRD = 1 / 3
ALMOST = 0.3 + 1e-17
ROOT = math.sqrt(2)
CHANGED = 0.5
CHANGED *= 3
OF_TEXT = float("0.1")
LOST = 1e16 + 1 - 1e16
State = namedtuple("State", ["x"])


class Held:
    def tenth(self):
        return 0.3 - 0.2


HELD = Held()


def closing(times):
    return lambda x: 0.1 * times * x


CLOSED = closing(1)


def helper(x):
    return 0.1 * x


def factory(a):
    return lambda s: a * s.x


def in_place(s):
    y = s.x
    y /= 10
    return y


def with_default(s, a=0.1):
    return a * s.x


def nested(s):
    def inner(y):
        return 0.1 * y

    return inner(s.x)


def remembers(s):
    global CALLS
    CALLS = 1
    return 0.1 * s.x


#: By what they say they multiply.
READ = {
    "literal": (lambda s: 0.1 * s.x, "1/10"),
    "all its digits": (lambda s: 1.00000000000000001 * s.x, "100000000000000001/100000000000000000"),
    "exponent": (lambda s: 1e-3 * s.x, "1/1000"),
    "sign": (lambda s: -0.1 * s.x, "-1/10"),
    "difference": (lambda s: (1 - 0.9) * s.x, "1/10"),
    "sum": (lambda s: (0.1 + 0.2) * s.x, "3/10"),
    "quotient": (lambda s: 1 / 3 * s.x, "1/3"),
    "power": (lambda s: 10**-1 * s.x, "1/10"),
    "root": (lambda s: 100**-0.5 * s.x, "1/10"),
    "root of an array": (lambda s: (s.x**2 / 100) ** 0.5, "1/10"),
    "numpy's root": (lambda s: np.sqrt(s.x**2) / 10, "1/10"),
    "constant": (lambda s: TENTH * s.x, "1/10"),
    "constant quotient": (lambda s: THIRD * s.x, "1/3"),
    "constant with all its digits": (lambda s: ALMOST * s.x, "30000000000000001/100000000000000000"),
    "helper": (lambda s: helper(s.x), "1/10"),
    "nested": (nested, "1/10"),
    "default": (with_default, "1/10"),
    "in place": (in_place, "1/10"),
    "array": (lambda s: np.array([0.1, 0.2])[0] * s.x, "1/10"),
    "filled array": (lambda s: (np.ones(3) / 10)[0] * s.x, "1/10"),
    "integers": (lambda s: (np.arange(3) / 10)[1] * s.x, "1/10"),
    "mean of a mask": (lambda s: (np.arange(10) < 1).mean() * s.x, "1/10"),
    "numpy's mean": (lambda s: np.mean(np.arange(10) < 1) * s.x, "1/10"),
    "mask of floats": (lambda s: (np.arange(2) < 1).astype(float)[0] / 10 * s.x, "1/10"),
    "sum of tenths": (lambda s: sum([0.1] * 10) / 10 * s.x, "1/10"),
    "accurate sum": (lambda s: math.fsum([0.1, 0.2]) / 3 * s.x, "1/10"),
    "constant of a text": (lambda s: OF_TEXT * s.x, "1/10"),
    "text": (lambda s: float("1e-1") * s.x, "1/10"),
    "large and small": (lambda s: (1e16 + 1 - 1e16) / 10 * s.x, "1/10"),
    "constant large and small": (lambda s: LOST / 10 * s.x, "1/10"),
    "grid": (lambda s: np.linspace(0, 1, 11)[1] * s.x, "1/10"),
    "range": (lambda s: np.arange(0, 1, 0.1)[1] * s.x, "1/10"),
    "remainder": (lambda s: (0.3 % 0.2) * s.x, "1/10"),
    "whole quotient": (lambda s: 0.3 // 0.1 / 30 * s.x, "1/10"),
    "cumulative sum": (lambda s: np.cumsum([0.1, 0.2])[1] / 3 * s.x, "1/10"),
    "inner product": (lambda s: np.dot([0.1, 0.2], [1, 0]) * s.x, "1/10"),
    "mean of a list": (lambda s: np.mean([0.1] * 3) * s.x, "1/10"),
    "array of floats": (lambda s: np.array([0.1], dtype=float)[0] * s.x, "1/10"),
    "float of a number": (lambda s: float(s.x[0]) / 20 * s.x, "1/10"),
    "method": (lambda s: HELD.tenth() * s.x, "1/10"),
    "closure of a function": (lambda s: CLOSED(s.x), "1/10"),
    "float64": (lambda s: np.float64(0.1) * s.x, "1/10"),
}
#: What these floats stand for is not known.
UNREAD = {
    "closure": (factory(0.1), 0.1),
    "short closure": (factory(0.5), 0.5),
    "constant that changes": (lambda s: CHANGED * s.x, 1.5),
    "code that changes its module": (remembers, 0.1),
    "single precision": (lambda s: np.float32(0.1) * s.x, float(np.float32(0.1))),
    "another function": (lambda s: math.gamma(0.5) * s.x, math.pi**0.5),
}
#: These are enclosed.
ENCLOSED = {
    "root": (lambda s: math.sqrt(2) * s.x, 2**0.5),
    "numpy's root": (lambda s: np.sqrt(2) * s.x, 2**0.5),
    "constant root": (lambda s: ROOT * s.x, 2**0.5),
    "pi": (lambda s: np.pi * s.x, math.pi),
    "e": (lambda s: math.e * s.x, math.e),
    "exponential": (lambda s: math.exp(-0.1) * s.x, math.exp(-0.1)),
    "sine": (lambda s: np.sin(0.1) * s.x, math.sin(0.1)),
    "cosine": (lambda s: math.cos(1) * s.x, math.cos(1)),
    "logarithm": (lambda s: np.log(s.x), math.log(2) / 2),
    "norm": (lambda s: np.linalg.norm(np.array([0.1, 0.2])) * s.x, 0.05**0.5),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_written_is_a_fraction(name):
    function, meant = READ[name]
    read = in_fractions(function)
    (found,) = np.asarray(read(State(exact([2])))).tolist()
    assert isinstance(found, Fraction) and found == 2 * Fraction(meant)
    # In floats the code runs as it is.
    (rounded,) = np.asarray(read(State(np.array([2.0])))).tolist()
    assert type(rounded) is float and rounded == np.asarray(function(State(np.array([2.0]))))[0]


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_computed_in_floats_is_told(name):
    function, about = UNREAD[name]
    (found,) = np.asarray(in_fractions(function)(State(exact([2])))).tolist()
    assert isinstance(found, Interval) and "test_literals.py, line" in found.where
    # There is a guess, and no bound.
    assert float(found) == pytest.approx(2 * about)
    assert found.low < -(Fraction(10) ** 400) and Fraction(10) ** 400 < found.high


@pytest.mark.parametrize("name", ENCLOSED)
def test_what_is_irrational_is_enclosed(name):
    function, about = ENCLOSED[name]
    (found,) = np.asarray(in_fractions(function)(State(exact([2])))).tolist()
    assert isinstance(found, Interval) and not found.where
    assert found.high < found.low + Fraction(1, 10**45) and float(found) == pytest.approx(2 * about, rel=1e-14)


def test_what_is_left_where_floats_cancel_may_be_nothing():
    tenths = [0.1] * 10
    (found,) = np.asarray(in_fractions(lambda s: (sum(tenths) - 1) * s.x)(State(exact([2])))).tolist()
    assert sum(tenths) != 1 and found.low < 0 < found.high


def test_what_changes_is_looked_up_again(monkeypatch):
    read = in_fractions(lambda s: TENTH * s.x)
    assert read(State(exact([1])))[0] == Fraction(1, 10)
    monkeypatch.setitem(globals(), "TENTH", 0.2)
    # It is no longer what the module says.
    assert isinstance(read(State(exact([1])))[0], Interval)
    monkeypatch.setitem(globals(), "helper", lambda x: 3 * x)
    assert in_fractions(READ["helper"][0])(State(exact([1])))[0] == 3


def test_a_function_is_read_once_and_known_by_its_name():
    assert in_fractions(helper) is in_fractions(helper) and in_fractions(in_fractions(helper)) is in_fractions(helper)
    assert in_fractions(helper).__wrapped__ is helper and in_fractions(helper).__name__ == "helper"
    # What is no function of somebody's own stays what it is.
    assert in_fractions(exact) is exact and in_fractions(np.sqrt) is np.sqrt and in_fractions(None) is None


def test_integers_of_a_state_have_fractions_for_means():
    assert in_fractions(lambda s: s.x.mean())((State(np.array([1, 2])), Quotient(1))[0]) == 1.5
    both = namedtuple("Both", ["x", "y"])
    (found,) = [in_fractions(lambda s: s.x.mean() + s.y[0])(both(np.array([1, 2]), exact([0])))]
    assert isinstance(found, Fraction) and found == Fraction(3, 2)


def test_which_of_two_intervals_is_the_larger_is_known_or_is_not():
    root = Interval.of(2).sqrt()
    assert 1.4 < root < Fraction(3, 2) and root != 1 and max(root, 2) == 2
    with pytest.raises(Undecided):
        assert root**2 == 2
    with pytest.raises(Undecided):
        assert Quotient(1, 10) < 0.1
    with pytest.raises(Undecided):
        assert Quotient(3) * 0.1 < 100
    assert Quotient(1, 2) == 0.5 and Quotient(1, 10) < 0.11


def test_what_is_read_has_the_builtins_of_its_module():
    def looked_up(s):
        return "__builtins__" in globals(), s.x

    assert in_fractions(looked_up)(State(exact([1])))[0]
