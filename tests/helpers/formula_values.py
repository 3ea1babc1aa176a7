"""Numbers and vectors as formulas of classes take them: of values alone, so that a formula gives a value."""

from __future__ import annotations


class Number:
    """A number, times and over constants."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + other.value)

    def __sub__(self, other):
        return Number(self.value - other.value)

    def __rmul__(self, c):
        return Number(c * self.value)

    def __truediv__(self, c):
        return Number(self.value / c)


class Vector:
    """A vector, of which only inner products are taken."""

    def __init__(self, v):
        self.v = v

    def __mul__(self, other):
        return Number((self.v * other.v).sum())

    def __pow__(self, exponent):
        return self * self
